"""Cases and mistakes for an exercise: the mask of a sliding window."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_length(draw: Draw) -> int:
    """A random length, so that no mask can be hard-coded."""
    return 7 + int(draw.ids(0, 20, 1))


_BOTH = "allowed & (distance < window)"
_RETURN = "return allowed if window is None else allowed & (distance < window)"

CASES = [
    case("three", "7 positions or more, a window of 3", sizes(length=_draw_length, window=3),
         "Each query sees itself and the two positions before it."),
    case("none", "7 positions or more, no window", sizes(length=_draw_length),
         "Without a window, each query sees all positions so far."),
    case("one", "7 positions or more, a window of 1", sizes(length=_draw_length, window=1),
         "A window of 1 leaves each position alone with itself."),
    case("wide", "a window that is wider than the text", sizes(length=_draw_length, window=27),
         "A window may be wider than the text.", tests="larger", aspect="limits"),
    case("long", "7 positions or more, a window of 5", sizes(length=_draw_length, window=5),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("one_off", "Each query sees one position more, or one fewer, than the window holds.",
          "Does the window include the query itself, and how many positions does a query see if the distance may "
          "be `window`?",
          edit("distance < window", "distance <= window"),
          edit("distance < window", "distance < window - 1", name="one_too_few")),
    wrong("not_itself", "A query does not see itself.",
          "What is the distance of a position to itself?",
          edit("distance >= 0", "distance > 0")),
    wrong("the_future", "Queries see the future: the window extends both ways, or rows and columns are swapped.",
          "What is the sign of the distance to a later position, and which dimension belongs to the queries?",
          edit(_BOTH, "distance < window"),
          edit(_BOTH, "distance.abs() < window", name="both_sides"),
          edit("positions[:, None] - positions", "positions - positions[:, None]", name="transposed")),
    wrong("window_ignored", "The window has no effect: this is the plain causal mask.",
          "How far back may a query look?",
          edit(_BOTH, "allowed")),
    wrong("inverted", "The mask is inverted: `True` is where a query must *not* look.",
          "What does `True` mean in this course?",
          edit(_RETURN, "return ~(allowed if window is None else allowed & (distance < window))"), tests="boolean"),
    wrong("far_past_only", "Queries see what lies *outside* the window.",
          "Which keys does a window keep: the nearest or the oldest ones?",
          edit("distance < window", "distance >= window")),
    wrong("first_positions", "All queries see the first positions of the text instead of their own past.",
          "Does the window move with the query?",
          edit(_BOTH, "allowed & (positions < window)")),
    wrong("start_wraps_around",
          "For the first queries, the start of your slice is negative. Python then counts from the end, and they see "
          "nothing.",
          "With a window of 4, where does the window of query 1 begin, and which entries is `mask[1, -2:2]`?",
          source("""
              def window_mask(length, window=None):
                  if window is None:
                      return attention.causal_mask(length)
                  mask = torch.zeros(length, length, dtype=torch.bool)
                  for i in range(length):
                      mask[i, i - window + 1 : i + 1] = True
                  return mask
              """)),
    wrong("chunks", "The text is cut into pieces, and no query sees the piece before its own.",
          "How many positions does the first query of a piece see?",
          edit(_BOTH, "allowed & (positions[:, None] // window == positions // window)")),
    wrong("without_a_window", "Without a window, your function fails or does not return the plain causal mask.",
          "What should the mask be if `window` is None?",
          edit(_RETURN, "return allowed & (distance < window)"),
          edit(_RETURN, "return allowed & (distance < (window or 1))", name="none_sees_itself"),
          edit("allowed if window is None", "torch.ones_like(allowed) if window is None", name="none_sees_all")),
    common("additive", edit(_RETURN,
                            "return torch.zeros(length, length).masked_fill("
                            "~(allowed if window is None else allowed & (distance < window)), -torch.inf)")),
    wrong("numbers", "The mask holds numbers, but this exercise asks for booleans.",
          "Which dtype does `torch.ones` use if you don't give one, and which does a comparison such as `a < b` give?",
          edit(_RETURN, "return (allowed if window is None else allowed & (distance < window)).float()"),
          edit(_RETURN, "return (allowed if window is None else allowed & (distance < window)).long()",
               name="integers")),
    wrong("numbers_without_a_window", "Without a window, the mask holds numbers; this exercise asks for booleans.",
          "Which dtype does `torch.ones` use if you don't give one?",
          edit("return allowed if", "return allowed.float() if"), tests="boolean"),
    wrong("a_row", "You return one row instead of a row for each query.",
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
    results="the mask", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
