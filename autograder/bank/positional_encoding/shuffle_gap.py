"""The shuffle gap."""

from __future__ import annotations

import torch

from autograder.bank.positional_encoding._shuffle_gap.accepted import ACCEPTED
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)
from autograder.student.probes.positional_encoding.functions import MIXERS, Mixer

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
    """Sentences in which one place's difference is larger than at all others."""

    def inputs(draw: Draw) -> Inputs:
        mix = MIXERS["the running sum"]
        while True:
            made = _shuffle(draw, "the running sum", 2, 4, 3)
            xs = draw.tensor(_AT_ONCE, 2, 4, 3)
            for x in xs:
                gap = mix(x[:, made["order"]]) - mix(x)[:, made["order"]]
                sizes = gap.abs().amax((0, 2)).tolist()
                largest = sizes.pop(place)
                if largest > 1.2 * max(sizes):
                    return made | {"x": x.clone()}

    return inputs


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
    below = torch.maximum(gap.amax((1, 2, 3)), _others(gap))
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


def _others(gap: torch.Tensor) -> torch.Tensor:
    """(N,): the largest difference in another sentence than the last one, 0 if none."""
    return torch.cat([gap[:, :1] * 0, gap[:, :-1]], 1).abs().amax((1, 2, 3))


EXERCISE = Specification(
    name="positional_encoding/shuffle_gap",
    title="The shuffle gap",
    target="shuffle_gap",
    promise=Promise(
        ways=(),
        sizes=special(
            as_many_sentences_as_words=lambda draw: _shuffle(
                draw,
                "the running sum, the average, each word without the batch's mean",
                *(5, 5, 6),
            ),
            equal_sizes=lambda draw: _shuffle(draw, "the running sum", 6, 6, 6),
            a_mixer_that_looks_at_all_sentences=lambda draw: _shuffle(
                draw, "the running sum of all sentences", 3, 5, 4
            ),
            small_numbers=_small,
            a_largest_difference_at_the_first_word=_largest_at(0),
            a_largest_difference_at_the_last_word=_largest_at(-1),
        ),
    ),
    cases=[
        CaseKind(
            name="average_and_sum",
            title="an average, and a running sum",
            inputs=lambda draw: _shuffle(draw, "the average, the running sum", 3, 5, 7),
            hint="The average does not see order, so its gap is 0; the running sum "
            "does.",
        ),
        CaseKind(
            name="similarity_and_step",
            title="a mix by similarity, and a step from the neighbour",
            inputs=lambda draw: _shuffle(
                draw, "a mix by similarity, the step from the neighbour", 2, 6, 8
            ),
            hint="Every position gets another vector here. Are both results in one "
            "order when you compare them?",
        ),
        CaseKind(
            name="alone_and_last",
            title="each vector by itself, what it is given, and the last vector for all",
            inputs=lambda draw: _shuffle(
                draw, "each vector by itself, what it is given, the last vector", 4, 5, 6
            ),
            tells=("flipped",),
            hint="A function that treats each vector by itself has no gap.",
        ),
        CaseKind(
            name="one_sentence",
            title="a single long sentence",
            inputs=lambda draw: _shuffle(
                draw, "the running sum, the average", 1, 9, 11
            ),
            hint="Does it work for a batch of one?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="not_shuffled_after",
            says="The mixed sentence is compared with the mixed shuffle as it is, so a "
            "vector that only moved counts as a change.",
            asks="Which position of `mix(x)` belongs to position 0 of the shuffled "
            "sentence?",
            ways=[Way(edits=[
                Edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
                     "shuffled_after = mix(x)"),
            ])],
        ),
        Mutant(
            name="not_shuffled_before",
            says="The sentence is mixed twice without a shuffle first.",
            asks="Which of the two ways shuffles *before* it mixes?",
            ways=[Way(edits=[
                Edit("shuffled_before = mix(x[:, order])  # (B, L, d_model)",
                     "shuffled_before = mix(x)"),
            ])],
        ),
        Mutant(
            name="never_shuffled",
            says="Your two ways never differ: the gap is 0, whatever the mixer.",
            asks="Where does `order` come in, and along which dimension?",
            ways=[
                Way(edits=[
                    Edit("shuffled_before = mix(x[:, order])  # (B, L, d_model)",
                         "shuffled_before = mix(x)"),
                    Edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
                         "shuffled_after = mix(x)"),
                ]),
                Way(name="shuffled_before_both", edits=[
                    Edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
                         "shuffled_after = mix(x[:, order])"),
                ]),
            ],
        ),
        Mutant(
            name="inverse_after",
            says="The two ways end in different orders: one of your shuffles goes the "
            "wrong way.",
            asks="Do both ways put the vector of place `order[n]` at place `n`?",
            ways=[Way(edits=[
                Edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
                     "shuffled_after = mix(x)[:, order.argsort()]"),
            ])],
        ),
        Mutant(
            name="inverse_before",
            says="The first way shuffles back instead of shuffling alike.",
            asks="Do both ways put the vector of place `order[n]` at place `n`?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    shuffled_before = mix(x[:, order.argsort()])
                    return (shuffled_before - mix(x)[:, order]).abs().max()
                """)],
        ),
        Mutant(
            name="inverse_order",
            says="Your shuffle is the inverse of `order`: it sends place n *to* "
            "`order[n]`.",
            asks="Which vector should stand at place 0 of the shuffled sentence?",
            ways=[
                Way(source="""
                    def shuffle_gap(mix, x, order):
                        back = order.argsort()
                        return (mix(x[:, back]) - mix(x)[:, back]).abs().max()
                    """),
                Way(name="scattered", source="""
                    def shuffle_gap(mix, x, order):
                        shuffled, after = torch.empty_like(x), torch.empty_like(x)
                        shuffled[:, order] = x
                        after[:, order] = mix(x)
                        return (mix(shuffled) - after).abs().max()
                    """),
            ],
        ),
        Mutant(
            name="features_shuffled",
            says="The numbers inside the vectors are shuffled, not the positions.",
            asks="Which of the three dimensions of `x` is the position?",
            ways=[Way(edits=[
                Edit("mix(x[:, order])", "mix(x[..., order])"),
                Edit("mix(x)[:, order]", "mix(x)[..., order]"),
            ])],
        ),
        Mutant(
            name="batch_shuffled",
            says="The sentences of the batch are shuffled, not their positions.",
            asks="Which of the three dimensions of `x` is the position?",
            ways=[Way(edits=[
                Edit("mix(x[:, order])", "mix(x[order])"),
                Edit("mix(x)[:, order]", "mix(x)[order]"),
            ])],
        ),
        Mutant(
            name="flipped",
            says="The sentence is reversed, whatever `order` says.",
            asks="Where does `order` come in?",
            ways=[Way(edits=[
                Edit("mix(x[:, order])", "mix(x.flip(1))"),
                Edit("mix(x)[:, order]", "mix(x).flip(1)"),
            ])],
        ),
        Mutant(
            name="average_gap",
            says="You return the average of the differences, not the largest.",
            asks="Could one wrong position hide in an average?",
            ways=[Way(edits=[Edit(".abs().max()", ".abs().mean()")])],
        ),
        Mutant(
            name="summed_gap",
            says="You return the sum of the differences, not the largest.",
            asks="What does the docstring say the result is?",
            ways=[Way(edits=[Edit(".abs().max()", ".abs().sum()")])],
        ),
        Mutant(
            name="distance",
            says="You return the length of the difference (its norm), not its largest "
            "number.",
            asks="What does the docstring say the result is?",
            ways=[Way(edits=[Edit(".abs().max()", ".norm()")])],
        ),
        Mutant(
            name="squared",
            says="You return the largest *squared* difference.",
            asks="In which unit should a gap be: that of `x`, or its square?",
            ways=[Way(edits=[Edit(".abs().max()", ".square().max()")])],
        ),
        Mutant(
            name="signed",
            says="Signs are kept, so a large negative difference goes unseen.",
            asks="Is a difference of -3 smaller than one of 1?",
            ways=[
                Way(edits=[Edit(".abs().max()", ".max()")]),
                Way(name="abs_too_late", edits=[Edit(".abs().max()", ".max().abs()")]),
            ],
        ),
        Mutant(
            name="smallest",
            says="You return the smallest difference, which is nearly always about 0.",
            asks="Could a large gap hide behind one number that happens to agree?",
            ways=[Way(edits=[Edit(".abs().max()", ".abs().min()")])],
        ),
        Mutant(
            name="first_sentence",
            says="Only the first sentence of the batch is compared.",
            asks="What if only the second sentence has a gap?",
            ways=[Way(edits=[
                Edit("(shuffled_before - shuffled_after)",
                     "(shuffled_before - shuffled_after)[0]"),
            ])],
        ),
        Mutant(
            name="first_position",
            says="Only the first position is compared.",
            asks="What if only the second position has a gap?",
            ways=[Way(edits=[
                Edit("(shuffled_before - shuffled_after)",
                     "(shuffled_before - shuffled_after)[:, 0]"),
            ])],
        ),
        Mutant(
            name="gap_per_sentence",
            says="You return one gap for each sentence instead of one for all.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit(".abs().max()", ".abs().amax((1, 2))")])],
        ),
        Mutant(
            name="yes_or_no",
            says="You return whether there is a gap. Asked for is how large it is.",
            asks="What does a yes say about a gap of 0.0000001?",
            ways=[Way(edits=[Edit(".abs().max()", ".abs().max() > 1e-6")])],
        ),
        Mutant(
            name="relative",
            says="The gap is divided by the size of the vectors.",
            asks="What does the docstring say the result is?",
            ways=[Way(edits=[Edit(".abs().max()", ".abs().max() / x.abs().max()")])],
        ),
        Mutant(
            name="without_the_mixer",
            says="The sentence is compared with its own shuffle, and the mixer is "
            "never used.",
            asks="Whose behaviour do you want to measure?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    return (x[:, order] - x).abs().max()
                """)],
        ),
        Mutant(
            name="shuffled_in_place",
            says="Your function shuffles the `x` that it was given, so the caller's "
            "sentence is changed and both ways see it shuffled.",
            asks="Does `x[:] = ...` make a new tensor?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    x[:] = x[:, order]
                    return (mix(x) - mix(x)[:, order]).abs().max()
                """)],
        ),
        Mutant(
            name="result_shuffled_in_place",
            says="You shuffle the mixer's result in place. A mixer may hand out the very "
            "`x` that it was given, and then that is changed.",
            asks="Whose tensor is it that `mix` returns?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    shuffled_before, after = mix(x[:, order]), mix(x).contiguous()
                    after[:] = after[:, order].clone()
                    return (shuffled_before - after).abs().max()
                """)],
        ),
        Mutant(
            name="sentences_if_they_fit",
            says="Where there are as many sentences as words, you shuffle the sentences.",
            asks="Which dimension of `x` are the places of the words?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    if x.size(0) == len(order):
                        return (mix(x[order]) - mix(x)[order]).abs().max()
                    return (mix(x[:, order]) - mix(x)[:, order]).abs().max()
                """)],
        ),
        Mutant(
            name="place_left_out",
            says="The first place of the sentence is not compared, or the last one.",
            asks="Over which places does your comparison run?",
            ways=[
                Way(edits=[Edit("after).abs()", "after)[:, :-1].abs()")]),
                Way(name="first_place_left_out", edits=[
                    Edit("after).abs()", "after)[:, 1:].abs()"),
                ]),
            ],
        ),
        Mutant(
            name="both_in_one_batch",
            says="The two ways go through the mixer as one batch, so that a mixer which "
            "looks at the batch sees other sentences.",
            asks="On which batch is `mix` to be called, and how often?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    both = mix(torch.cat((x[:, order], x)))
                    return (both[:len(x)] - both[len(x):][:, order]).abs().max()
                """)],
        ),
        Mutant(
            name="mixed_one_by_one",
            says="Each sentence is mixed by itself: a function that looks at the whole batch "
            "is measured wrongly.",
            asks="Of which shape is what `mix` is promised to get?",
            ways=[Way(edits=[
                Edit("shuffled_before = mix(x[:, order])  # (B, L, d_model)",
                     "shuffled_before = torch.cat([mix(one[None, order]) for one in x])"),
                Edit("shuffled_after = mix(x)[:, order]  # (B, L, d_model)",
                     "shuffled_after = torch.cat([mix(one[None])[:, order] for one in x])"),
            ])],
        ),
        Mutant(
            name="rounded",
            says="Small gaps become zero: a function that sees order a little is called "
            "blind.",
            asks="How small may a gap be and still be one?",
            ways=[Way(source="""
                def shuffle_gap(mix, x, order):
                    gap = (mix(x[:, order]) - mix(x)[:, order]).abs().max()
                    return torch.where(gap < 1e-3, torch.zeros(()), gap)
                """)],
        ),
    ],
    accepted=ACCEPTED,
)
