"""The shuffle gap."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.positional_encoding.probes.functions import MIXERS, Mixer

_SEE_ORDER = {"the running sum", "the step from the neighbour", "the last vector"}
_AT_ONCE = 64  # drawings of which the first that is good enough is taken


def _shuffle(draw: Draw, mixers: str, b: int, length: int, d_model: int) -> Inputs:
    names = _SEE_ORDER.intersection(mixers.split(", "))
    while True:
        orders = draw.tensor(_AT_ONCE, length).argsort(stable=True)
        xs = draw.tensor(_AT_ONCE, b, length, d_model)
        for order in orders[_moves(orders)][:1]:
            telling = torch.ones(_AT_ONCE, dtype=torch.bool)
            for name in names:
                telling &= _tells(MIXERS[name], xs, order)
            for x in xs[telling][:1]:
                return {"mixers": mixers, "x": x.clone(), "order": order.clone()}


def _small(draw: Draw) -> Inputs:
    """Vectors so small that their gap is far below one."""
    inputs = _shuffle(draw, "the running sum", 2, 5, 4)
    return inputs | {"x": inputs["x"] / 16384}


def _largest_at(place: int) -> Maker:
    """Sentences in which the largest difference is at one place of the sentence."""

    def make_inputs(draw: Draw) -> Inputs:
        mix = MIXERS["the running sum"]
        while True:
            inputs = _shuffle(draw, "the running sum", 2, 4, 3)
            xs = draw.tensor(_AT_ONCE, 2, 4, 3)
            for x in xs:
                gap = mix(x[:, inputs["order"]]) - mix(x)[:, inputs["order"]]
                sizes = gap.abs().amax((0, 2)).tolist()
                largest = sizes.pop(place)
                if largest > 1.2 * max(sizes):
                    return inputs | {"x": x.clone()}

    return make_inputs


def _moves(orders: torch.Tensor) -> torch.Tensor:
    """(N,): does each position move to another one than the inverse moves it to?

    No first part of the sentence moves onto itself.
    """
    places = torch.arange(orders.size(1))
    stays = (orders == places) | (orders == orders.argsort())  # (N, L)
    apart = orders.cummax(1).values[:, :-1] > places[:-1]
    return ~stays.any(1) & apart.all(1)


def _tells(mix: Mixer, xs: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """(N,): does every shortcut give another gap, so that none passes by luck?

    The gap's largest difference is negative, in the last sentence, neither first nor
    last in it, and no other shuffle leads to its size. ``xs`` are (N, B, L, d).
    """

    def mixed(x: torch.Tensor) -> torch.Tensor:
        return mix(x.flatten(0, 1)).reshape(*xs.shape[:2], *x.shape[2:])

    def size(x: torch.Tensor) -> torch.Tensor:
        return x.abs().amax((1, 2, 3))  # (N,)

    back = order.argsort()
    shuffled, after = mixed(xs[:, :, order]), mixed(xs)[:, :, order]
    gap = shuffled - after
    largest = -gap[:, -1, 1:-1].amin((1, 2))
    below = torch.maximum(gap.amax((1, 2, 3)), _largest_elsewhere(gap))
    tells = (largest >= 1) & (largest >= size(gap)) & (below <= 0.95 * largest)
    if mix is MIXERS["the last vector"]:  # the same at every position
        return tells
    shortcuts = (
        gap[:, :, :1],
        gap[:, :, -1:],
        mixed(xs) - after,
        shuffled - mixed(xs),
        mixed(xs[:, :, back]) - after,
        shuffled - mixed(xs)[:, :, back],
        mixed(xs[:, :, back]) - mixed(xs)[:, :, back],
        mixed(xs.flip(2)) - mixed(xs).flip(2),
        shuffled - shuffled[:, :, order],
    )
    for shortcut in shortcuts:
        tells &= (size(shortcut) - largest).abs() > 0.05 * largest
    return tells


def _largest_elsewhere(gap: torch.Tensor) -> torch.Tensor:
    """(N,): the largest difference in any sentence but the last one, 0 if none."""
    return torch.cat([gap[:, :1] * 0, gap[:, :-1]], 1).abs().amax((1, 2, 3))


CASES = [
    case("average_and_sum", "an average, and a running sum",
         lambda draw: _shuffle(draw, "the average, the running sum", 3, 5, 7),
         "The average does not see order, so its gap is 0; the running sum does."),
    case("similarity_and_step", "a similarity-weighted average, and the difference from the neighbour",
         lambda draw: _shuffle(draw, "a mix by similarity, the step from the neighbour", 2, 6, 8),
         "Here every position gets a different vector. Are both results in the same order when you compare them?"),
    case("alone_and_last", "each vector on its own, the input itself, and the last vector everywhere",
         lambda draw: _shuffle(draw, "each vector by itself, what it is given, the last vector", 4, 5, 6),
         "A function that treats each vector on its own has no gap."),
    case("one_sentence", "a single long sentence",
         lambda draw: _shuffle(draw, "the running sum, the average", 1, 9, 11),
         "Does it work for a batch of one?", hidden_only=True),
]

MISTAKES = [
    wrong("not_shuffled_after",
          "The result of `mix(x)` is compared unshuffled, so a vector that has merely moved counts as a change.",
          "Which position of `mix(x)` belongs to position 0 of the shuffled sentence?",
          edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)", "shuffled_after = mix(x)")),
    wrong("not_shuffled_before",
          "The sentence is never shuffled before it is mixed.",
          "Which of the two ways shuffles *before* it mixes?",
          edit("shuffled_before = mix(x[:, order])  # (B, L, d_model)", "shuffled_before = mix(x)")),
    wrong("never_shuffled",
          "Your two ways never differ, so the gap is 0 whatever the mixer.",
          "Where do you use `order`, and along which dimension?",
          edit("shuffled_before = mix(x[:, order])  # (B, L, d_model)", "shuffled_before = mix(x)",
               "shuffled_after = mix(x)[:, order]  # (B, L, d_model)", "shuffled_after = mix(x)")),
    wrong("inverse_after",
          "The two results that you compare are in different orders.",
          "For `order = [2, 0, 1]`: at which position is the vector of position 0 in either of the two results?",
          edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)", "shuffled_after = mix(x)[:, order.argsort()]"),
          tests="Position"),
    wrong("inverse_before",
          "Before mixing you apply the inverse of `order`, after mixing `order` itself.",
          "Do both ways move the vector at position `order[n]` to position `n`?",
          source("""
              def shuffle_gap(mix, x, order):
                  shuffled_before = mix(x[:, order.argsort()])
                  return (shuffled_before - mix(x)[:, order]).abs().max()
              """)),
    wrong("inverse_order",
          "Your shuffle is the inverse of `order`: it sends position `n` *to* `order[n]`.",
          "Which vector should be at position 0 of the shuffled sentence?",
          edit("mix(x[:, order])", "mix(x[:, order.argsort()])",
               "mix(x)[:, order]", "mix(x)[:, order.argsort()]")),
    wrong("features_shuffled",
          "The components of each vector are shuffled, not the positions.",
          "Which of the three dimensions of `x` holds the positions?",
          edit("mix(x[:, order])", "mix(x[..., order])", "mix(x)[:, order]", "mix(x)[..., order]")),
    wrong("batch_shuffled",
          "The sentences of the batch are shuffled, not their positions.",
          "Which of the three dimensions of `x` holds the positions?",
          edit("mix(x[:, order])", "mix(x[order])", "mix(x)[:, order]", "mix(x)[order]"), tests="sentences"),
    wrong("flipped",
          "The sentence is reversed, whatever `order` says.",
          "Where does your code use `order`?",
          edit("mix(x[:, order])", "mix(x.flip(1))", "mix(x)[:, order]", "mix(x).flip(1)")),
    wrong("average_gap",
          "You return the average of the differences, not the largest.",
          "Could one wrong position hide in an average?",
          edit(".abs().max()", ".abs().mean()")),
    wrong("summed_gap",
          "You return the sum of the differences, not the largest.",
          "What does the docstring say the result is?",
          edit(".abs().max()", ".abs().sum()")),
    wrong("distance",
          "You return the norm of the difference, not its largest absolute entry.",
          "What does the docstring say the result is?",
          edit(".abs().max()", ".norm()")),
    wrong("distance_per_position",
          "You return the largest norm of a position's difference, not the largest entry.",
          "How do the length of a vector and its largest entry compare?",
          edit(".abs().max()", ".norm(dim=-1).max()")),
    wrong("squared",
          "You return the largest *squared* difference.",
          "Should a gap have the units of `x`, or of its square?",
          edit(".abs().max()", ".square().max()")),
    wrong("signed",
          "The differences keep their signs, so a large negative one goes unnoticed.",
          "Is a difference of -3 smaller than one of 1?",
          edit(".abs().max()", ".max()")),
    wrong("smallest",
          "You return the smallest difference, which is nearly always about 0.",
          "Could a large gap hide behind one entry that happens to agree?",
          edit(".abs().max()", ".abs().min()")),
    wrong("first_sentence",
          "Only the first sentence of the batch is compared.",
          "What if only the second sentence has a gap?",
          edit("(shuffled_before - shuffled_after)", "(shuffled_before - shuffled_after)[0]")),
    wrong("first_position",
          "Only the first position is compared.",
          "What if only the second position has a gap?",
          edit("(shuffled_before - shuffled_after)", "(shuffled_before - shuffled_after)[:, 0]")),
    wrong("gap_per_sentence",
          "You return one gap per sentence instead of one for the whole batch.",
          "What shape does the docstring promise?",
          edit(".abs().max()", ".abs().amax((1, 2))"), tests="tensor"),
    wrong("mean_of_sentences",
          "The largest difference of each sentence is found, but these are averaged over the batch.",
          "What if only one sentence of many has a gap?",
          edit(".abs().max()", ".abs().amax((1, 2)).mean()")),
    wrong("yes_or_no",
          "You return whether there is a gap, not how large it is.",
          "What would a plain yes say about a gap of 0.0000001?",
          edit(".abs().max()", ".abs().max() > 1e-6")),
    wrong("relative",
          "The gap is divided by the largest absolute value of `x`.",
          "What does the docstring say the result is?",
          edit(".abs().max()", ".abs().max() / x.abs().max()")),
    wrong("without_the_mixer",
          "The sentence is compared with a shuffled copy of itself, and the mixer is "
          "never used.",
          "Whose behaviour do you want to measure?",
          source("""
              def shuffle_gap(mix, x, order):
                  return (x[:, order] - x).abs().max()
              """)),
    wrong("shuffled_in_place",
          "Your function shuffles its argument `x` in place, so the caller's sentence changes and both ways see it "
          "shuffled.",
          "Which of your lines modifies a tensor in place, and which tensor is that?",
          source("""
              def shuffle_gap(mix, x, order):
                  x[:] = x[:, order]
                  return (mix(x) - mix(x)[:, order]).abs().max()
              """), tests="modified"),
    wrong("result_shuffled_in_place",
          "You shuffle the mixer's result in place. If the mixer returns `x` itself, this changes the caller's `x`.",
          "Can you be sure that `mix` returns a new tensor?",
          source("""
              def shuffle_gap(mix, x, order):
                  shuffled_before, after = mix(x[:, order]), mix(x).contiguous()
                  after[:] = after[:, order].clone()
                  return (shuffled_before - after).abs().max()
              """)),
    wrong("sentences_if_they_fit",
          "When a batch has as many sentences as positions, you shuffle the sentences.",
          "Which dimension of `x` counts the positions?",
          source("""
              def shuffle_gap(mix, x, order):
                  if x.size(0) == len(order):
                      return (mix(x[order]) - mix(x)[order]).abs().max()
                  return (mix(x[:, order]) - mix(x)[:, order]).abs().max()
              """)),
    wrong("place_left_out",
          "The first or the last position of the sentence is not compared.",
          "Which positions does your comparison cover?",
          edit("after).abs()", "after)[:, :-1].abs()"),
          edit("after).abs()", "after)[:, 1:].abs()", name="first_place_left_out")),
    wrong("both_in_one_batch",
          "Both ways go through the mixer as one batch, so a mixer that looks across the batch sees extra sentences.",
          "On which batches should `mix` be called?",
          source("""
              def shuffle_gap(mix, x, order):
                  both = mix(torch.cat((x[:, order], x)))
                  return (both[:len(x)] - both[len(x):][:, order]).abs().max()
              """)),
    wrong("mixed_one_by_one",
          "Each sentence is mixed on its own, so a mixer that looks across the batch is measured incorrectly.",
          "What shape of input is `mix` promised?",
          edit("shuffled_before = mix(x[:, order])  # (B, L, d_model)",
               "shuffled_before = torch.cat([mix(one[None, order]) for one in x])",
               "shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
               "shuffled_after = torch.cat([mix(one[None])[:, order] for one in x])")),
    wrong("rounded",
          "Small gaps are rounded to zero, so a mixer that is only slightly sensitive to order seems blind to it.",
          "How small can a gap be and still count?",
          source("""
              def shuffle_gap(mix, x, order):
                  gap = (mix(x[:, order]) - mix(x)[:, order]).abs().max()
                  return torch.where(gap < 1e-3, torch.zeros(()), gap)
              """)),
]

ACCEPTED = [
    right("index_select", edit("mix(x[:, order])", "mix(x.index_select(1, order))",
                               "mix(x)[:, order]", "mix(x).index_select(1, order)")),
    right("shuffle_back", source("""
        def shuffle_gap(mix, x, order):
            back = mix(x[:, order])[:, torch.argsort(order)]
            return torch.max(torch.abs(back - mix(x)))
        """)),
    right("infinity_norm", edit(".abs().max()", ".flatten().norm(p=float('inf'))")),
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
    contract=Contract(
        ways=(),
        sizes=special(
            as_many_sentences_as_words=lambda draw: _shuffle(
                draw, "the running sum, the average, each word without the batch's mean", *(5, 5, 6)
            ),
            equal_sizes=lambda draw: _shuffle(draw, "the running sum", 6, 6, 6),
            a_mixer_that_looks_at_all_sentences=lambda draw: _shuffle(
                draw, "the running sum of all sentences", 3, 5, 4
            ),
            small_numbers=_small, a_largest_difference_at_the_first_word=_largest_at(0),
            a_largest_difference_at_the_last_word=_largest_at(-1),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
