"""Cases and mistakes for an exercise: the shuffle gap.

It says how far outputs change, apart from their order, if inputs are shuffled.
"""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_sizes(mixers: str, B: int, L: int, d_model: int, scale: float = 2.0) -> InputSizes:
    """Return the sizes from which the build draws sentences and a shuffled order.

    ``mixers`` names the probe's functions to measure, separated by ", ".
    """

    def draw_order(draw: Draw) -> torch.Tensor:
        return draw.tensor(L).argsort(stable=True)

    return sizes(B=B, L=L, d_model=d_model, mix=mixers, order=draw_order, scale=scale)


CASES = [
    case("average_and_sum", "an average, and a running sum", _draw_sizes("the average, the running sum", 3, 5, 7, scale=8.0),
         "The average does not see order, so its gap is 0; the running sum does."),
    case("similarity_and_step", "a similarity-weighted average, and the difference from the neighbour",
         _draw_sizes("a mix by similarity, the step from the neighbour", 2, 6, 8, scale=32.0),
         "Here every position gets a different vector. Are both results in the same order when you compare them?"),
    case("alone_and_last", "each vector on its own, the input itself, and the last vector everywhere",
         _draw_sizes("each vector by itself, what it is given, the last vector", 4, 5, 6),
         "A function that treats each vector on its own has no gap."),
    case("whole_batch", "mixers that look at all sentences, of which there are as many as positions",
         _draw_sizes("the running sum of all sentences, each word without the batch's mean", 5, 5, 5),
         "The mixer must be called on batches as they are."),
    case("small", "a gap far below one", _draw_sizes("the running sum", 4, 5, 4, scale=2**-11),
         "A small gap is a gap as well."),
    case("one_sentence", "a single long sentence", _draw_sizes("the running sum, the average", 1, 9, 11, scale=32.0),
         "Does it work for a batch of one?", hidden_only=True),
]

_BEFORE = "shuffled_before = mix(x[:, order])  # (B, L, d_model)"
_AFTER = "shuffled_after = mix(x)[:, order]  # (B, L, d_model)"
_DIFFERENCE = "(shuffled_before - shuffled_after)"
_INVERSE_BEFORE = "shuffled_before = mix(x[:, order.argsort()])"
_INVERSE_AFTER = "shuffled_after = mix(x)[:, order.argsort()]"

MISTAKES = [
    wrong("not_shuffled_after",
          "The result of `mix(x)` is compared unshuffled, so a vector that has merely moved counts as a change.",
          "Which position of `mix(x)` belongs to position 0 of the shuffled sentence?",
          edit(_AFTER, "shuffled_after = mix(x)")),
    wrong("not_shuffled_before", "The sentence is never shuffled before it is mixed.",
          "Which of the two ways shuffles *before* it mixes?",
          edit(_BEFORE, "shuffled_before = mix(x)")),
    wrong("never_shuffled", "Your two ways never differ, so the gap is 0 whatever the mixer.",
          "Where do you use `order`, and along which dimension?",
          edit(_BEFORE, "shuffled_before = mix(x)", _AFTER, "shuffled_after = mix(x)")),
    wrong("inverse_on_one_side", "The two results that you compare are in different orders.",
          "For `order = [2, 0, 1]`: at which position is the vector of position 0 in either of the two results?",
          edit(_AFTER, _INVERSE_AFTER),
          edit(_BEFORE, _INVERSE_BEFORE, name="inverse_before"), tests="Position"),
    wrong("inverse_order", "Your shuffle is the inverse of `order`: it sends position `n` *to* `order[n]`.",
          "Which vector should be at position 0 of the shuffled sentence?",
          edit(_BEFORE, _INVERSE_BEFORE, _AFTER, _INVERSE_AFTER)),
    wrong("other_dimension_shuffled",
          "The sentences of the batch or the components of each vector are shuffled, not the positions.",
          "Which of the three dimensions of `x` holds the positions?",
          edit("mix(x[:, order])", "mix(x[..., order])", "mix(x)[:, order]", "mix(x)[..., order]",
               name="features_shuffled"),
          edit("mix(x[:, order])", "mix(x[order])", "mix(x)[:, order]", "mix(x)[order]", name="batch_shuffled"),
          tests="sentences"),
    wrong("flipped", "The sentence is reversed, whatever `order` says.",
          "Where does your code use `order`?",
          edit("mix(x[:, order])", "mix(x.flip(1))", "mix(x)[:, order]", "mix(x).flip(1)")),
    wrong("averaged_or_summed", "You return an average, a sum or a norm of the differences, not the largest one.",
          "Could one wrong position hide in an average, or many tiny differences look like a large one in a sum?",
          edit(".abs().max()", ".abs().mean()"),
          edit(".abs().max()", ".abs().sum()", name="summed_gap"),
          edit(".abs().max()", ".norm()", name="distance"),
          edit(".abs().max()", ".norm(dim=-1).max()", name="distance_per_position"),
          edit(".abs().max()", ".abs().mean(-1).max()", name="mean_of_features"),
          edit(".abs().max()", ".abs().amax((1, 2)).mean()", name="mean_of_sentences")),
    wrong("squared", "You return the largest *squared* difference.",
          "Should a gap have the units of `x`, or of its square?",
          edit(".abs().max()", ".square().max()")),
    wrong("signed", "The differences keep their signs, so a large negative one goes unnoticed.",
          "Is a difference of -3 smaller than one of 1?",
          edit(".abs().max()", ".max()")),
    wrong("smallest", "You return the smallest difference, which is nearly always about 0.",
          "Could a large gap hide behind one entry that happens to agree?",
          edit(".abs().max()", ".abs().min()")),
    wrong("part_only", "Only some of the sentences or positions are compared.",
          "What if only the last position of the last sentence has a gap?",
          edit(_DIFFERENCE, f"{_DIFFERENCE}[0]", name="first_sentence"),
          edit(_DIFFERENCE, f"{_DIFFERENCE}[:, 0]", name="first_position"),
          edit(_DIFFERENCE, f"{_DIFFERENCE}[:, :-1]", name="last_position_left_out"),
          edit(_DIFFERENCE, f"{_DIFFERENCE}[:, 1:]", name="first_position_left_out")),
    wrong("gap_per_sentence", "You return one gap per sentence instead of one for the whole batch.",
          "What shape does the docstring promise?",
          edit(".abs().max()", ".abs().amax((1, 2))"), tests="tensor"),
    wrong("yes_or_no", "You return whether there is a gap, not how large it is.",
          "What would a plain yes say about a gap of 0.0000001?",
          edit(".abs().max()", ".abs().max() > 1e-6")),
    wrong("relative", "The gap is divided by the largest absolute value of `x`.",
          "What does the docstring say the result is?",
          edit(".abs().max()", ".abs().max() / x.abs().max()")),
    wrong("without_the_mixer",
          "The sentence is compared with a shuffled copy of itself, and the mixer is "
          "never used.",
          "Whose behaviour do you want to measure?",
          edit(_BEFORE, "shuffled_before = x[:, order]", _AFTER, "shuffled_after = x")),
    wrong("shuffled_in_place", "Your function shuffles a tensor in place, and with it the caller's `x`.",
          "Which of your lines modifies a tensor in place, and could a mixer return `x` itself?",
          edit(_BEFORE, """
              x[:] = x[:, order]
              shuffled_before = mix(x)
              """),
          edit(_AFTER, """
              shuffled_after = mix(x).contiguous()
              shuffled_after[:] = shuffled_after[:, order].clone()
              """, name="result_shuffled_in_place"), tests="modified"),
    wrong("other_batches",
          "The mixer is not called on the batch as it is, so one that looks across the batch is measured incorrectly.",
          "On which batches should `mix` be called?",
          edit(_BEFORE, "shuffled_before, after = mix(torch.cat((x[:, order], x))).chunk(2)",
               _AFTER, "shuffled_after = after[:, order]", name="both_in_one_batch"),
          edit(_BEFORE, "shuffled_before = torch.cat([mix(sentence[None, order]) for sentence in x])",
               _AFTER, "shuffled_after = torch.cat([mix(sentence[None])[:, order] for sentence in x])",
               name="mixed_one_by_one")),
    wrong("rounded",
          "Small gaps are rounded to zero, so a mixer that is only slightly sensitive to order seems blind to it.",
          "How small can a gap be and still count?",
          edit(".abs().max()", ".abs().max().round(decimals=3)")),
]

ACCEPTED = [
    right("shuffle_back", source("""
        def shuffle_gap(mix, x, order):
            back = mix(x[:, order])[:, torch.argsort(order)]
            return torch.max(torch.abs(back - mix(x)))
        """)),
    right("python_float", source("""
        def shuffle_gap(mix, x, order):
            return (mix(x[:, order]) - mix(x)[:, order]).abs().max().item()
        """)),
    right("permutation_matrix", source("""
        def shuffle_gap(mix, x, order):
            shuffle = torch.eye(len(order))[order].to(x.dtype)
            gap = mix(shuffle @ x) - shuffle @ mix(x)
            return gap.abs().amax()
        """)),
    right("loops", source("""
        def shuffle_gap(mix, x, order):
            shuffled = torch.stack([x[:, int(n)] for n in order], dim=1)
            before, after = mix(shuffled), mix(x)
            gap = torch.zeros(())
            for n, m in enumerate(order.tolist()):
                gap = torch.maximum(gap, (before[:, n] - after[:, m]).abs().max())
            return gap
        """)),
]

EXERCISE = Specification(
    tells={
        "one_sentence":
            "not_shuffled_before inverse_on_one_side inverse_before flipped last_position_left_out signed",
        "similarity_and_step":
            "inverse_on_one_side inverse_before inverse_order flipped last_position_left_out signed first_sentence",
        "small": "signed first_position_left_out",
    },
    results="the gap", gradients=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
