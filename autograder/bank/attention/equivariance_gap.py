"""The equivariance gap."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _shuffled(layer: str, length: int, d: int) -> Maker:
    """A layer and a permutation that is not its own inverse."""

    def inputs(draw: Draw) -> Inputs:
        tables = {
            "a mixture of positions": (d, length, length),
            "a faint mixture": (d, length, length),
            "attention with positions": (length, d),
        }
        shift = 1 + int(draw.ids(0, 2))
        return {
            "x": draw.tensor(length, d),
            "order": torch.arange(length).roll(shift),
            "layer": layer,
            "table": draw.tensor(*tables[layer]),
        }

    return inputs


_GAP = "(layer(x[order]) - layer(x)[order]).abs().max()"

EXERCISE = Specification(
    name="attention/equivariance_gap",
    title="The equivariance gap",
    target="equivariance_gap",
    cases=[
        CaseKind(
            name="positions",
            title="attention without and with positions",
            inputs=_shuffled("attention with positions", 5, 7),
            hint="Without positions the gap is zero, up to rounding; with positions it "
            "is not.",
        ),
        CaseKind(
            name="mixture",
            title="a layer that treats positions differently",
            inputs=_shuffled("a mixture of positions", 6, 3),
            hint="Compare the two ways: shuffle first, or shuffle last.",
        ),
        CaseKind(
            name="faint",
            title="a layer with a small gap",
            inputs=_shuffled("a faint mixture", 5, 4),
            hint="A small gap is a gap: only rounding is none, and that shows by itself.",
            atol=2e-6,
        ),
        CaseKind(
            name="long",
            title="a longer sequence, with as many features as positions",
            inputs=_shuffled("attention with positions", 9, 9),
            hint="The gap is one number, the largest of all differences.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="not_shuffled_back",
            says="One side of your difference was shuffled once more than the other, "
            "so you compare outputs of different words.",
            asks="How often does `order` act on each side of the minus?",
            ways=[
                Way(edits=[Edit(_GAP, "(layer(x[order]) - layer(x)).abs().max()")]),
                Way(name="shuffled_twice", edits=[
                    Edit(_GAP,
                         "(layer(x[order])[order] - layer(x)[order]).abs().max()"),
                ]),
            ],
        ),
        Mutant(
            name="never_shuffled",
            says="The input was not shuffled; only the outputs were.",
            asks="Which two ways lead from `x` to a shuffled output?",
            ways=[Way(edits=[Edit(_GAP, "(layer(x) - layer(x)[order]).abs().max()")])],
        ),
        Mutant(
            name="inverse",
            says="The two sides come in different orders: one of your shuffles goes "
            "the wrong way.",
            asks="Does indexing, `argsort` or a scattered assignment apply a "
            "permutation, or undo it?",
            ways=[
                Way(edits=[
                    Edit(_GAP,
                         "(layer(x[order]) - layer(x)[order.argsort()]).abs().max()"),
                ]),
                Way(name="scattered", source="""
                    def equivariance_gap(layer, x, order):
                        shuffled = torch.empty_like(layer(x))
                        shuffled[order] = layer(x)
                        return (layer(x[order]) - shuffled).abs().max()
                    """),
            ],
        ),
        Mutant(
            name="features_shuffled",
            says="You shuffled the features, the second dimension. Positions are the "
            "first.",
            asks="`x` has shape `(L, d)`. Which dimension does `order` belong to?",
            ways=[Way(edits=[
                Edit(_GAP, "(layer(x[:, order]) - layer(x)[:, order]).abs().max()"),
            ])],
        ),
        Mutant(
            name="features_too_where_it_fits",
            says="Where there are as many features as positions, you shuffle the features, "
            "too.",
            asks="What does your code find out by the size of a dimension?",
            ways=[Way(edits=[
                Edit("layer(x[order])",
                     "layer(x[order] if len(x) != x.size(1) else x[order][:, order])"),
            ])],
        ),
        Mutant(
            name="mean",
            says="You took the mean of the differences; the largest is wanted.",
            asks="Could a mean hide one bad position among many good ones?",
            ways=[Way(edits=[Edit(".max()", ".mean()")])],
        ),
        Mutant(
            name="sum",
            says="You summed the differences; the largest is wanted.",
            asks="Should the gap grow with the length of the sentence?",
            ways=[Way(edits=[Edit(".max()", ".sum()")])],
        ),
        Mutant(
            name="signed",
            says="The absolute value is missing, or comes after the maximum: a large "
            "negative difference goes unnoticed.",
            asks="Which is further from zero, 0.1 or -5, and which of them does `max` "
            "choose?",
            ways=[
                Way(edits=[Edit(".abs()", "")]),
                Way(name="absolute_of_maximum", edits=[
                    Edit(".abs().max()", ".max().abs()"),
                ]),
            ],
        ),
        Mutant(
            name="squared",
            says="You squared the differences.",
            asks="What is wanted: a largest difference or a squared error?",
            ways=[Way(edits=[Edit(".abs().max()", ".square().max()")])],
        ),
        Mutant(
            name="mean_square",
            says="You returned a mean squared error; the largest absolute difference "
            "is wanted.",
            asks="Could a mean hide one bad position among many good ones?",
            ways=[Way(edits=[
                Edit(_GAP, "F.mse_loss(layer(x[order]), layer(x)[order])"),
            ])],
        ),
        Mutant(
            name="norm",
            says="You took the length (norm) of all differences together.",
            asks="Which single number does the docstring ask for?",
            ways=[Way(edits=[Edit(".abs().max()", ".norm()")])],
        ),
        Mutant(
            name="yes_or_no",
            says="You returned yes or no. How *far* the layer is from equivariance is "
            "asked for.",
            asks="Which type does the docstring give for the result?",
            ways=[Way(edits=[
                Edit(_GAP,
                     "torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)"),
            ])],
        ),
        Mutant(
            name="invariance_or_so",
            says="You returned 1 for a difference and 0 for none. The size of the "
            "difference is asked for.",
            asks="Which type does the docstring give for the result?",
            ways=[
                Way(edits=[
                    Edit(_GAP,
                         "1.0 * bool((layer(x[order]) - layer(x)[order]).abs().max() > 1e-5)"),
                ]),
                Way(name="no_or_yes", edits=[
                    Edit(_GAP,
                         "(not torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5))"),
                ]),
            ],
        ),
        Mutant(
            name="per_position",
            says="You returned one gap for each position. One number for the layer is "
            "wanted.",
            asks="Over which dimensions does your maximum run?",
            ways=[Way(edits=[Edit(".max()", ".amax(-1)")])],
        ),
        Mutant(
            name="outputs_summed",
            says="You summed over the positions first. Then you test whether the *sum* "
            "is the same (invariance), which is a weaker claim.",
            asks="Could two outputs change places without changing their sum?",
            ways=[Way(edits=[
                Edit(_GAP, "(layer(x[order]).sum(0) - layer(x).sum(0)).abs().max()"),
            ])],
        ),
        Mutant(
            name="x_shuffled",
            says="The gap was measured, but `x` itself was shuffled on the way.",
            asks="What does an assignment to `x[...]` do to the caller's tensor?",
            ways=[Way(source="""
                def equivariance_gap(layer, x, order):
                    after = layer(x)[order]
                    x[:] = x[order]
                    return (layer(x) - after).abs().max()
                """)],
        ),
        Mutant(
            name="input_compared",
            says="You compared with the shuffled *input*; the layer was applied on one "
            "side only.",
            asks="Which two ways lead from `x` to a shuffled output?",
            ways=[Way(edits=[Edit(_GAP, "(layer(x[order]) - x[order]).abs().max()")])],
        ),
    ],
    accepted=[
        Accepted(name="index_select", edits=[
            Edit(_GAP,
                 "(layer(x.index_select(0, order)) - layer(x).index_select(0, order)).abs().max()"),
        ]),
        Accepted(name="undone", edits=[
            Edit(_GAP, "(layer(x[order])[order.argsort()] - layer(x)).abs().max()"),
        ]),
        Accepted(name="matrix", source="""
            def equivariance_gap(layer, x, order):
                p = torch.eye(len(order)).to(x)[order]
                return torch.max(torch.abs(layer(p @ x) - p @ layer(x)))
            """),
        Accepted(name="python_float", edits=[
            Edit(_GAP, "(layer(x[order]) - layer(x)[order]).abs().max().item()"),
        ]),
        Accepted(name="infinity_norm", edits=[
            Edit(".abs().max()", ".norm(p=float('inf'))"),
        ]),
        Accepted(name="loop", source="""
            def equivariance_gap(layer, x, order):
                one, other = layer(torch.stack([x[int(i)] for i in order])), layer(x)
                gaps = [(one[n] - other[int(i)]).abs().max() for n, i in enumerate(order)]
                return max(gaps)
            """),
    ],
)
