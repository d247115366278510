"""The equivariance gap."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


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

CASES = [
    case("positions", "attention without and with positions", _shuffled("attention with positions", 5, 7),
         "Without positions the gap is zero, up to rounding; with positions it is not."),
    case("mixture", "a layer that treats positions differently", _shuffled("a mixture of positions", 6, 3),
         "Compare the two ways: shuffle first, or shuffle last."),
    case("faint", "a layer with a small gap", _shuffled("a faint mixture", 5, 4),
         "A small gap is still a gap: return it as it is, with its rounding.", atol=2e-6),
    case("long", "a longer sequence, with as many features as positions", _shuffled("attention with positions", 9, 9),
         "The gap is one number, the largest of all differences.", hidden_only=True),
]

MISTAKES = [
    wrong("not_shuffled_back",
          "One side of your difference is shuffled once more than the other, so you compare outputs of different "
          "words.",
          "How many times is `order` applied on each side of the minus sign?",
          edit(_GAP, "(layer(x[order]) - layer(x)).abs().max()")),
    wrong("never_shuffled",
          "The input was not shuffled; only the outputs were.",
          "Which two ways lead from `x` to a shuffled output?",
          edit(_GAP, "(layer(x) - layer(x)[order]).abs().max()")),
    wrong("inverse",
          "The two sides are in different orders: one of your shuffles applies the inverse of `order`.",
          "Does indexing, `argsort` or a scattered assignment apply a permutation, or undo it?",
          edit(_GAP, "(layer(x[order]) - layer(x)[order.argsort()]).abs().max()")),
    wrong("features_shuffled",
          "You shuffled the features, dimension 1, but the positions are dimension 0.",
          "`x` has shape `(L, d)`. Which dimension does `order` belong to?",
          edit(_GAP, "(layer(x[:, order]) - layer(x)[:, order]).abs().max()")),
    wrong("mean",
          "You took the mean of the differences instead of the largest.",
          "Could a mean hide one bad position among many good ones?",
          edit(".max()", ".mean()")),
    wrong("sum",
          "You summed the differences instead of taking the largest.",
          "Should the gap grow with the length of the sentence?",
          edit(".max()", ".sum()")),
    wrong("signed",
          "The absolute value is missing, or comes after the maximum: a large negative difference goes unnoticed.",
          "Which is further from zero, 0.1 or -5, and which of them does `max` choose?",
          edit(".abs()", "")),
    wrong("squared",
          "You squared the differences.",
          "Which does the docstring ask for: a largest difference, or a squared error?",
          edit(".abs().max()", ".square().max()")),
    wrong("mean_square",
          "You returned a mean squared error instead of the largest absolute difference.",
          "Could a mean hide one bad position among many good ones?",
          edit(_GAP, "F.mse_loss(layer(x[order]), layer(x)[order])")),
    wrong("norm",
          "You took the norm of all differences together.",
          "Which single number does the docstring ask for?",
          edit(".abs().max()", ".norm()")),
    wrong("yes_or_no",
          "You returned yes or no, not how *far* the layer is from equivariance.",
          "Which type does the docstring give for the result?",
          edit(_GAP, "torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)")),
    wrong("invariance_or_so",
          "You returned 1 for a difference and 0 for none, not the size of the difference.",
          "Which type does the docstring give for the result?",
          edit(_GAP, "1.0 * bool((layer(x[order]) - layer(x)[order]).abs().max() > 1e-5)")),
    wrong("per_position",
          "You returned one gap per position instead of one number for the layer.",
          "Over which dimensions does your maximum run?",
          edit(".max()", ".amax(-1)")),
    wrong("outputs_summed",
          "You summed over the positions first, so you test whether the *sum* stays the same (invariance), which is a "
          "weaker claim.",
          "Could two outputs swap places without changing their sum?",
          edit(_GAP, "(layer(x[order]).sum(0) - layer(x).sum(0)).abs().max()")),
    wrong("x_shuffled",
          "The gap is correct, but `x` itself is shuffled on the way.",
          "What does an assignment to `x[...]` do to the caller's tensor?",
          source("""
              def equivariance_gap(layer, x, order):
                  after = layer(x)[order]
                  x[:] = x[order]
                  return (layer(x) - after).abs().max()
              """)),
    wrong("input_compared",
          "You compared with the shuffled *input*; the layer was applied on one side only.",
          "Which two ways lead from `x` to a shuffled output?",
          edit(_GAP, "(layer(x[order]) - x[order]).abs().max()")),
]

ACCEPTED = [
    right("index_select",
          edit(_GAP, "(layer(x.index_select(0, order)) - layer(x).index_select(0, order)).abs().max()")),
    right("undone", edit(_GAP, "(layer(x[order])[order.argsort()] - layer(x)).abs().max()")),
    right("matrix", source("""
        def equivariance_gap(layer, x, order):
            p = torch.eye(len(order)).to(x)[order]
            return torch.max(torch.abs(layer(p @ x) - p @ layer(x)))
        """)),
    right("python_float", edit(_GAP, "(layer(x[order]) - layer(x)[order]).abs().max().item()")),
    right("infinity_norm", edit(".abs().max()", ".norm(p=float('inf'))")),
    right("loop", source("""
        def equivariance_gap(layer, x, order):
            one, other = layer(torch.stack([x[int(i)] for i in order])), layer(x)
            gaps = [(one[n] - other[int(i)]).abs().max() for n, i in enumerate(order)]
            return max(gaps)
        """)),
]

EXERCISE = Specification(
    name="attention/equivariance_gap", title="The equivariance gap", target="equivariance_gap",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
