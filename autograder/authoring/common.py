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
        "Something of your module stands in the state dict that is none of its weights.",
        "What does `list(module.state_dict())` show?",
    ),
    "weights_detached": (
        "The numbers are right, but no gradient flows back through the weights that you return.",
        "What do the conventions say of gradients, and which results do they mean?",
    ),
    "returns_bool": (
        "Your test returns its verdict instead of raising `AssertionError`.",
        "Who looks at the return value of a test?",
    ),
    "batch_for_length": (
        "The number of *sentences* decides how many rows are taken.",
        "Which dimension of `x` is the position?",
    ),
    "width_for_length": (
        "`d_model` decides how many rows are taken.",
        "Which dimension of `x` is the position?",
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
        "Only the positions come back; the words are lost.",
        "What should the table be added to?",
    ),
    "in_place": (
        "The `x` that was handed in is changed.",
        "Does `x += ...` make a new tensor?",
    ),
    "base_1000": (
        "The base of the powers is 1000, not 10000.",
        "How many zeros has the base in the formula?",
    ),
    "double": (
        "The numbers are right, but in float64. The rest of the network is float32.",
        "Which tensor in your code is float64?",
    ),
    "log10": (
        "The speeds come from `exp` together with a base-10 logarithm.",
        "Which logarithm undoes `exp`?",
    ),
    "log2": (
        "The speeds come from `exp` together with a base-2 logarithm.",
        "Which logarithm undoes `exp`?",
    ),
    "base_100000": (
        "The base of the powers is 100000, not 10000.",
        "How many zeros has the base in the formula?",
    ),
    "swapped": (
        "Sine and cosine are swapped: the cosines stand in the even columns.",
        "Which function does the formula give to column 0?",
    ),
    "sine_everywhere": (
        "All columns are sines.",
        "Which function does the formula give to column 1?",
    ),
    "cosine_everywhere": (
        "All columns are cosines.",
        "Which function does the formula give to column 0?",
    ),
    "angle_times_two_pi": (
        "The angles are multiplied by 2 pi.",
        "Is there a pi in the formula?",
    ),
    "additive": (
        "You made an additive mask, with 0 and `-inf`. Here a boolean one is asked for.",
        "Which two values does a boolean have?",
    ),
    "keys_as_values": (
        "The keys are handed out as values; `w_v` plays no part.",
        "What size has the output, and which layer gives that size?",
    ),
    "query_key_swapped": (
        "Queries and keys have changed places on their way into attention.",
        "In which order does your attention take its arguments?",
    ),
    "mask_dropped": (
        "The mask never reaches attention.",
        "How many arguments does your attention take?",
    ),
    "mask_inverted": (
        "The mask is inverted on its way: closed becomes open.",
        "Do both functions agree on what `True` means?",
    ),
    "output_only": (
        "You returned the output alone; the weights are wanted, too.",
        "What does your attention return, and what does the docstring want?",
    ),
    "weights_first": (
        "Both results are there, but in the wrong order: output first, then weights.",
        "What does the docstring say comes first?",
    ),
    "value_size": (
        "`w_v` has the size of the keys. Values have a size of their own, `d_v`.",
        "Which size must the output have?",
    ),
    "no_bias": (
        "Your linear layers have no bias. Here they have one, PyTorch's default.",
        "Which argument of `nn.Linear` did you set?",
    ),
    "second_size": (
        "You read the size off dimension 1, which is `d_k` only while there is no batch.",
        "Which index names the last dimension, however many there are?",
    ),
    "whole_root": (
        "The root of `d_k` was cut down to a whole number.",
        "What is the root of 6, and what is `int` of it?",
    ),
    "capital_t": (
        "`k.T` reverses all dimensions, the batch too. That works for a plain matrix only.",
        "Which two dimensions should swap, counted from the end?",
    ),
    "bmm_only": (
        "`bmm` takes three dimensions exactly: no plain matrix, and no heads.",
        "Which product treats any leading dimensions as a batch?",
    ),
    "clamped": (
        "Usual scores are right, large ones are cut off.",
        "Does the docstring name a largest score?",
    ),
    "shares": (
        "Your rows sum to one: softmax has been applied already.",
        "Which of the two, scores or shares, is asked for here?",
    ),
    "only_output": (
        "Only the output comes back; the weights are asked for, too.",
        "What does the docstring list under Returns?",
    ),
    "results_swapped": (
        "Output and weights come back in the wrong order.",
        "Which of the two comes first, by the conventions of this course?",
    ),
    "one_dict_for_all": (
        "All calls fill one and the same dict: what an earlier call returned holds other weights now.",
        "When is your dict made: once, or in each call?",
    ),
    "transposed": (
        "The weights were transposed on the way.",
        "Do `nn.Linear` and `in_proj_weight` store outputs and inputs in the same order?",
    ),
    "output_transposed": (
        "The weight of `w_o` was transposed on the way.",
        "Is `out_proj` not simply an `nn.Linear`, too?",
    ),
    "names_without_kind": (
        "The names lack the kind: `load_state_dict` looks for `w_q.weight` and `w_q.bias`.",
        "Which keys does `nn.Linear(2, 3).state_dict()` have?",
    ),
    "nothing_returned": (
        "Nothing came back.",
        "Is there a `return` in your function, and is it outside the loop?",
    ),
    "first_sentence_only": (
        "All sentences got the mask of the first one.",
        "Does an index `0` or `[:1]` stand in your code where it should not?",
    ),
    "digits_lost": (
        "Numbers in float64 come back in float64, but with the digits of float32.",
        "What is lost on the way through `float()`?",
    ),
    "through_numpy": (
        "On the way through NumPy the gradient is lost.",
        "Which functions of PyTorch do the same reshaping?",
    ),
    "placement_swapped": (
        "Pre-norm and post-norm are exchanged.",
        "Do you hand on `norm_first`, or its opposite?",
    ),
    "always_post": (
        "Your layer is post-norm, even if `norm_first` is True.",
        "Who tells `add_and_norm` about `norm_first`?",
    ),
    "activation_ignored": (
        "`activation` does not reach the feed-forward network.",
        "Which arguments does `FeedForward` take?",
    ),
    "or_for_and": (
        'Padding and causal mask are joined by "or": each opens what the other had closed.',
        "Two guards must both say yes. Which logical word is that?",
    ),
    "ignore_fixed": (
        "Targets that do not count are -100, whatever `ignore` says.",
        "Which argument does not occur in your code?",
    ),
    "pad_fixed": (
        "You take 0 for padding, whatever `pad_id` says.",
        "Which argument does not occur in your code?",
    ),
    "ignore_zero_lost": (
        "An ignored target of 0 is taken for none at all.",
        "Is `0` true or false in Python, and what follows for `ignore or -100`?",
    ),
    "tensor": (
        "The number is right, but it comes as a tensor; a float is asked for.",
        "Which method of a tensor with one number gives that number?",
    ),
    "no_output_projection": (
        "The output projection `w_o` is missing.",
        "What happens to the heads after they are merged?",
    ),
    "pair_swapped": (
        "The pair is in the wrong order: first the output, then the cache.",
        "What does the docstring return first?",
    ),
    "returns_class": (
        "Your function returns the class, not a model made of it.",
        "What is missing behind the name of the class?",
    ),
    "returns_pair": (
        "Your function returns a pair; the model alone is asked for.",
        "What does the docstring return?",
    ),
    "a_tensor": (
        "You return a tensor, not a Python float.",
        "What does `.item()` do?",
    ),
}

# What becomes of a piece of the solution, where it is the same everywhere.
CHANGES = {
    "clamped": "({}).clamp(-100, 100)",
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
        f"{what} stand in the state dict twice, under two names.",
        "What does `list(module.state_dict())` show?",
        edit(line, f"{line}\n{again}"),
    )
