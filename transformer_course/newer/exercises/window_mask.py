"""The mask of a sliding window."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import whole


def _mask(length: int, window: int | None, *, growing: bool = False) -> Maker:
    """Draw a length of at least ``length``; if ``growing``, the window grows with it."""

    def make_inputs(draw: Draw) -> Inputs:
        extra = int(draw.ids(0, 20, 1))
        settings = {} if window is None else {"window": window + growing * extra}
        return whole(length=length + extra, **settings)

    return make_inputs


_BOTH = "allowed & (distance < window)"
_RETURN = "return allowed if window is None else allowed & (distance < window)"

CASES = [
    case("three", "6 positions or more, a window of 3", _mask(6, 3),
         "Each query sees itself and the two positions before it."),
    case("none", "5 positions or more, no window", _mask(5, None),
         "Without a window, each query sees all positions so far."),
    case("one", "4 positions or more, a window of 1", _mask(4, 1),
         "A window of 1 leaves each position alone with itself.", tests="larger"),
    case("wide", "a window that is wider than the text", _mask(3, 7, growing=True),
         "A window may be wider than the text."),
    case("long", "17 positions or more, a window of 5", _mask(17, 5),
         "As above.", hidden_only=True),
    case("exact", "a window as wide as the text", _mask(7, 7, growing=True),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("one_too_many",
          "Each query sees one position more than the window holds.",
          "Counted with itself, how many positions does a query see if the distance may be `window`?",
          edit("distance < window", "distance <= window")),
    wrong("one_too_few",
          "Each query sees one position fewer than the window holds.",
          "Does the window include the query itself?",
          edit("distance < window", "distance < window - 1")),
    wrong("not_itself",
          "A query does not see itself.",
          "What is the distance of a position to itself?",
          edit("distance >= 0", "distance > 0")),
    wrong("the_future",
          "Queries see the future.",
          "What is the sign of the distance to a later position?",
          edit(_BOTH, "distance < window")),
    wrong("both_sides",
          "The window extends to both sides: queries see the future.",
          "What is the sign of the distance to a later position?",
          edit(_BOTH, "distance.abs() < window")),
    wrong("window_ignored",
          "The window has no influence: this is the plain causal mask.",
          "How far back may a query look?",
          edit(_BOTH, "allowed")),
    wrong("transposed",
          "Rows and columns are exchanged: queries see what comes after them.",
          "Which dimension belongs to the queries: rows or columns?",
          edit("positions[:, None] - positions", "positions - positions[:, None]")),
    wrong("inverted",
          "The mask is inverted: `True` is where a query must *not* look.",
          "What does `True` mean in this course?",
          edit(_RETURN, "return ~(allowed if window is None else allowed & (distance < window))"), tests="boolean"),
    wrong("far_past_only",
          "Queries see what lies *outside* the window.",
          "Which keys does a window keep: the nearest or the oldest ones?",
          edit("distance < window", "distance >= window")),
    wrong("first_positions",
          "All queries see the first positions of the text instead of their own past.",
          "Does the window move with the query?",
          edit(_BOTH, "allowed & (positions < window)")),
    wrong("chunks",
          "The text is cut into pieces, and no query sees the piece before its own.",
          "How many positions does the first query of a piece see?",
          edit(_BOTH, "allowed & (positions[:, None] // window == positions // window)")),
    wrong("none_refused",
          "Your function fails if there is no window.",
          "What should the mask be if `window` is None?",
          edit(_RETURN, "return allowed & (distance < window)")),
    wrong("none_sees_itself",
          "Without a window, a query sees only itself.",
          "What should the mask be if `window` is None?",
          edit(_RETURN, "return allowed & (distance < (window or 1))")),
    wrong("none_sees_all",
          "Without a window, queries see the future.",
          "What should the mask be if `window` is None?",
          edit("allowed if window is None", "torch.ones_like(allowed) if window is None")),
    common("additive", edit(_RETURN,
                            "return torch.zeros(length, length).masked_fill("
                            "~(allowed if window is None else allowed & (distance < window)), -torch.inf)")),
    wrong("numbers",
          "The mask holds numbers, but this exercise asks for booleans.",
          "What does `torch.ones` return if you name no dtype?",
          edit(_RETURN, "return (allowed if window is None else allowed & (distance < window)).float()")),
    wrong("integers",
          "The mask holds integers, but this exercise asks for booleans.",
          "Which dtype does a comparison such as `a < b` have?",
          edit(_RETURN, "return (allowed if window is None else allowed & (distance < window)).long()")),
    wrong("a_row",
          "You return one row instead of a row for each query.",
          "What shape does the docstring promise?",
          edit(_RETURN, "return (allowed if window is None else allowed & (distance < window))[-1]")),
]

ACCEPTED = [
    right("triangles", source("""
        def window_mask(length, window=None):
            mask = torch.ones(length, length, dtype=torch.bool).tril()
            return mask if window is None else mask.triu(1 - window)
        """)),
    right("causal_mask", source("""
        def window_mask(length, window=None):
            mask = attention.causal_mask(length)
            if window is not None:
                mask = mask & ~attention.causal_mask(length).tril(-window)
            return mask
        """)),
    right("loops", source("""
        def window_mask(length, window=None):
            window = length if window is None else window
            mask = torch.zeros(length, length, dtype=torch.bool)
            for i in range(length):
                mask[i, max(0, i - window + 1) : i + 1] = True
            return mask
        """)),
    right("lists", source("""
        def window_mask(length, window=None):
            return torch.tensor([[j <= i and (window is None or i - j < window) for j in range(length)]
                                 for i in range(length)])
        """)),
]

EXERCISE = Specification(
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
