"""Cases and mistakes for an exercise: memory slots looked up in a page table."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_table(draw: Draw) -> torch.Tensor:
    """Draw a page table of six different pages, the first of which is not page 0."""
    return torch.cumsum(draw.ids(1, 5, 6), 0)[torch.tensor([3, 1, 4, 0, 5, 2])]


_POSITIONS = torch.tensor([0, 1, 3, 4, 5, 7, 8, 11])
_RETURN = "return table[positions // page_size] * page_size + positions % page_size"

CASES = [
    case("four", "pages of 4, 8 positions", sizes(table=_draw_table, positions=lambda draw: _POSITIONS, page_size=4),
         "Which page holds a position, and which place does it have there?"),
    case("three", "pages of 3", sizes(table=_draw_table, positions=lambda draw: draw.ids(0, 18, 7), page_size=3),
         "page_size is an argument."),
    case("one", "pages of 1", sizes(table=_draw_table, positions=lambda draw: draw.ids(0, 6, 7), page_size=1),
         "With pages of 1, each position has a page of its own."),
    case("backwards", "positions in falling order",
         sizes(table=_draw_table, positions=lambda draw: torch.arange(24).flip(0), page_size=5), "As above.",
         hidden_only=True, tests="order"),
]

MISTAKES = [
    wrong("table_ignored", "The table has no effect: positions stay where they are.",
          "Which page does the table name first?",
          edit("table[positions // page_size]", "(positions // page_size)")),
    wrong("pages_not_slots",
          "A part of `page * page_size + place` is missing: the page is not multiplied, or the place is not added.",
          "How many slots come before page 3?",
          edit(" + positions % page_size", ""),
          edit(" * page_size + positions % page_size", "", name="only_the_page"),
          edit("] * page_size +", "] +", name="not_multiplied")),
    wrong("by_remainder", "Quotient and remainder are exchanged.",
          "Which of them counts the pages before a position?",
          edit("positions // page_size", "positions % page_size", "+ positions % page_size", "+ positions // page_size"),
          edit("table[positions // page_size]", "table[positions % page_size % len(table)]", name="page_by_remainder")),
    wrong("table_size_for_page_size", "You multiply by the number of pages in the table.",
          "How many slots does one page have?",
          edit("] * page_size", "] * len(table)")),
    wrong("position_added", "The whole position is added to the beginning of its page.",
          "Which place does position 5 have in a page of 4?",
          edit("+ positions % page_size", "+ positions")),
    wrong("all_in_order", "You return the slots of all positions of the text.",
          "Which positions does the caller ask for?",
          edit(_RETURN, "return (table[:, None] * page_size + torch.arange(page_size)).flatten()[:len(positions)]")),
    wrong("counted_from_one", "Positions count from 0: the first one has place 0 in its page.",
          "Where is position 0?",
          edit(_RETURN, "return table[positions // page_size] * page_size + positions % page_size + 1"),
          edit(_RETURN, "return table[positions // page_size] * page_size + (positions - 1) % page_size",
               name="one_before")),
    wrong("rounded_page", "You round to the nearest page, so the second half of a page gets the next one.",
          "On which page is position 3 if pages hold 4?",
          edit("table[positions // page_size]",
               "table[(positions / page_size).round().long().clamp(max=len(table) - 1)]")),
    wrong("sorted", "Your slots are in the order of the sorted positions, not in that of `positions`.",
          "Which slot belongs to the first position that the caller asks for?",
          edit(_RETURN, f"positions = positions.sort().values; {_RETURN}"), tests="order"),
    wrong("as_numbers", "Your slots are floats, which cannot be an index.",
          "Which of your operations produces floats: a `/`, or a `torch.zeros` without a dtype?",
          edit(_RETURN, f"{_RETURN}.float()")),
]

ACCEPTED = [
    right("divmod", source("""
        def slots(table, positions, page_size):
            page, place = torch.div(positions, page_size, rounding_mode="floor"), positions.remainder(page_size)
            return page_size * table.gather(0, page) + place
        """)),
    right("all_then_some", edit(
        _RETURN, "return (table[:, None] * page_size + torch.arange(page_size)).flatten()[positions]")),
    right("loop", source("""
        def slots(table, positions, page_size):
            return torch.tensor([int(table[p // page_size]) * page_size + p % page_size for p in positions.tolist()])
        """)),
]

EXERCISE = Specification(results="the slots", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
