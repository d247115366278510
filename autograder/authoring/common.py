"""Mistakes that recur in many exercises: what to say and ask, once, and what to change.

common("whole_table", edit(ADD, "return x + self.pe"))
common("reversed", on="self.pe[: x.size(1)]")
"""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant, Way

# What is said, and what is asked.
TABLE = {
    "mask_in_the_state": (
        "The state dict of your module contains something that is not one of its weights.",
        "What does `list(module.state_dict())` show?",
    ),
    "reshaped": (
        "You reshaped the keys to make the shapes fit. That rearranges their entries; it does not transpose them.",
        "Try reshaping and transposing a 2 x 3 matrix with the entries 1 to 6. Where does the 2 go?",
    ),
    "twice": (
        "Your weights are far too uniform: softmax was applied twice.",
        "What does softmax do to numbers that are all between 0 and 1?",
    ),
    "weights_detached": (
        "No gradient flows through the attention weights that you return.",
        "What do the conventions say about gradients, and which results do they cover?",
    ),
    "returns_bool": (
        "Your test returns its verdict instead of raising `AssertionError`.",
        "Who looks at the return value of a test?",
    ),
    "batch_for_length": (
        "The number of *sentences* decides how many rows are added.",
        "Which dimension of `x` holds the positions?",
    ),
    "width_for_length": (
        "`d_model` decides how many rows are added.",
        "Which dimension of `x` holds the positions?",
    ),
    "whole_table": (
        "The whole table is added, so only sentences of full length fit.",
        "How many rows does a sentence of `L` vectors need?",
    ),
    "first_row_for_all": (
        "All positions get row 0 of the table.",
        "Which row belongs to position 3?",
    ),
    "last_rows": (
        "The *last* rows of the table are added.",
        "Which row belongs to position 0?",
    ),
    "reversed": (
        "The rows are added in reverse order.",
        "Which row belongs to position 0?",
    ),
    "position_only": (
        "You return only the positions; the words are lost.",
        "What should the table be added to?",
    ),
    "in_place": (
        "Your module modifies its argument `x` in place.",
        "Does `x += ...` create a new tensor?",
    ),
    "base_1000": (
        "The base of the powers is 1000, not 10000.",
        "How many zeros does the base in the formula have?",
    ),
    "double": (
        "The values are float64, while the rest of the network is float32.",
        "Where does your code need float64, and where is it no longer needed?",
    ),
    "log10": (
        "The frequencies are computed with `exp` and a base-10 logarithm.",
        "Which logarithm undoes `exp`?",
    ),
    "log2": (
        "The frequencies are computed with `exp` and a base-2 logarithm.",
        "Which logarithm undoes `exp`?",
    ),
    "base_100000": (
        "The base of the powers is 100000, not 10000.",
        "How many zeros does the base in the formula have?",
    ),
    "swapped": (
        "Sine and cosine are swapped: the cosines are in the even columns.",
        "Which function does the formula use for column 0?",
    ),
    "sine_everywhere": (
        "All columns are sines.",
        "Which function does the formula use for column 1?",
    ),
    "cosine_everywhere": (
        "All columns are cosines.",
        "Which function does the formula use for column 0?",
    ),
    "angle_times_two_pi": (
        "The angles are multiplied by 2 pi.",
        "Does pi appear in the formula?",
    ),
    "additive": (
        "You built an additive mask, with 0 and `-inf`, but this exercise asks for a boolean one.",
        "Which two values can a boolean have?",
    ),
    "keys_as_values": (
        "The keys also serve as the values, without `w_v`.",
        "How long is each output vector, and which layer sets that length?",
    ),
    "query_key_swapped": (
        "Queries and keys are swapped when they are passed to attention.",
        "In which order does your attention function take its arguments?",
    ),
    "mask_dropped": (
        "The mask is never passed to attention.",
        "How many arguments does your attention function take?",
    ),
    "mask_inverted": (
        "The mask is inverted on its way to attention: forbidden keys become allowed.",
        "Do both functions agree on what `True` means?",
    ),
    "output_only": (
        "You return only the output, without the attention weights.",
        "What does your attention function return, and what does the docstring ask for?",
    ),
    "weights_first": (
        "Output and weights are returned in the wrong order.",
        "Which one does the docstring list first?",
    ),
    "value_size": (
        "`w_v` maps to `d_k` features, but values have their own dimension, `d_v`.",
        "How long should each output vector be?",
    ),
    "no_bias": (
        "Your linear layers have no bias. Here they need one, which is PyTorch's default.",
        "Which argument of `nn.Linear` did you set?",
    ),
    "second_size": (
        "You read `d_k` from dimension 1, which is correct only without a batch.",
        "Which index refers to the last dimension, however many there are?",
    ),
    "whole_root": (
        "The square root of `d_k` was truncated to an integer.",
        "What is the square root of 6, and what is `int` of it?",
    ),
    "capital_t": (
        "`k.T` reverses all dimensions, including the batch, so it works only for a plain matrix.",
        "Which two dimensions should swap, counted from the end?",
    ),
    "bmm_only": (
        "`bmm` takes exactly three dimensions, so it fails for a plain matrix and for heads.",
        "Which matrix product treats any number of leading dimensions as a batch?",
    ),
    "only_output": (
        "You return only the output, without the attention weights.",
        "What does the docstring list under Returns?",
    ),
    "results_swapped": (
        "Output and weights are returned in the wrong order.",
        "By the conventions of this course, which of the two comes first?",
    ),
    "nothing_returned": (
        "Your function returns nothing.",
        "Is there a `return` in your function, and is it outside the loop?",
    ),
    "first_sentence_only": (
        "All sentences get the mask of the first one.",
        "Is there an index `0` or `[:1]` in your code that should not be there?",
    ),
    "digits_lost": (
        "A float64 input comes back as float64, but only with the precision of float32.",
        "What is lost on the way through float32?",
    ),
    "through_numpy": (
        "The gradient is lost on the way through NumPy.",
        "Which PyTorch functions do the same reshaping?",
    ),
    "placement_swapped": (
        "Pre-norm and post-norm are swapped.",
        "Do you pass on `norm_first`, or its opposite?",
    ),
    "always_post": (
        "Your layer is post-norm even when `norm_first` is True.",
        "How does `add_and_norm` learn about `norm_first`?",
    ),
    "activation_ignored": (
        "`activation` does not reach the feed-forward network.",
        "Which arguments does `FeedForward` take?",
    ),
    "or_for_and": (
        'The padding mask and the causal mask are combined with "or", so each allows what the other forbids.',
        "Two guards must both say yes. Which logical operator is that?",
    ),
    "ignore_fixed": (
        "Ignored targets are always -100, whatever `ignore` says.",
        "Which argument does your code never use?",
    ),
    "pad_fixed": (
        "Token 0 is treated as padding, whatever `pad_id` says.",
        "Which argument does your code never use?",
    ),
    "ignore_zero_lost": (
        "With `ignore=0`, the ignored targets are not set to 0.",
        "Is `0` true or false in Python, and what follows for `ignore or -100`?",
    ),
    "tensor": (
        "You return a tensor instead of a float.",
        "Which method turns a one-element tensor into a Python number?",
    ),
    "no_output_projection": (
        "The output projection `w_o` is missing.",
        "What happens to the heads after they are merged?",
    ),
    "pair_swapped": (
        "The two results are in the wrong order.",
        "Which comes first in the docstring: the output or the cache?",
    ),
    "returns_class": (
        "Your function returns the class, not an instance of it.",
        "What is missing after the name of the class?",
    ),
    "returns_pair": (
        "Your function returns a pair instead of just the model.",
        "What does the docstring say the function returns?",
    ),
}

# What becomes of a piece of the solution, where it is the same everywhere.
CHANGES = {
    "double": "{}.double()",
    "mask_in_the_state": '{}\nself.register_buffer("causal", torch.ones(8, 8).tril().bool())',
    "output_only": "{}[0]",
    "reversed": "{}.flip(0)",
    "weights_detached": "{}.detach()",
    "whole_root": "int({})",
}


def common(name: str, *ways: Way, on: str = "") -> Mutant:
    """A mistake of the table, made by its own change of ``on`` or in these ways."""
    first = [edit(on, CHANGES[name].replace("{}", on))] if on else []
    return wrong(name, *TABLE[name], *first, *ways)


def under_two_names(line: str, again: str, what: str = "The weights") -> Mutant:
    """A module that registers ``what`` a second time, by ``again`` behind ``line``."""
    return wrong(
        "under_two_names",
        f"{what} appear in the state dict twice, under two names.",
        "What does `list(module.state_dict())` show?",
        edit(line, f"{line}\n{again}"),
    )
