"""Cases and mistakes for an exercise: a test that finds faulty pools of pages.

In paged attention, a page holds keys and values of several positions of a text.
"""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import CaseKind, Inputs, Specification


def _draw_pool(draw: Draw, pages: int, size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draw the page tables, the lengths and the free pages of a correct pool.

    A row of the tables (3, 4) lists the pages of a text, padded with -1. Some bugs
    need a text that fills its last page, and rows that are not full.
    """
    lengths = torch.cat((draw.ids(1, size, 1), torch.tensor([2 * size]), draw.ids(size + 1, 2 * size, 1)))
    needed, order = -(-lengths // size), draw.tensor(pages).argsort()
    tables, used = torch.full((3, 4), -1), 0
    for row, count in enumerate(needed.tolist()):
        tables[row, :count] = order[used : used + count]
        used += count
    return tables, lengths, order[used:]


def _break_pool(name: str, tables: torch.Tensor, lengths: torch.Tensor, free: torch.Tensor) -> None:
    """Introduce the bug of this name into the pool, in place; the name "" stands for no bug."""
    pages = int((tables >= 0).sum()) + len(free)
    match name:
        case "shared":  # the page that would have been its own is free
            tables[2, 1] = tables[1, 0]
        case "shared, nothing lost":
            tables[2, 1], free[0] = tables[1, 0], tables[2, 1].clone()
        case "one more reader":  # a text that has grown by a page, which is another's
            lengths[0] += lengths[1] // 2
            tables[0, 1] = tables[1, 0]
        case "read twice":
            lengths[0] += lengths[1] // 2
            tables[0, 1] = tables[0, 0]
        case "freed too early":
            free[1] = tables[1, 1]
        case "freed twice":
            free[2] = free[0]
        case "lost":
            tables[0, 0] = pages
        case "stale":
            tables[1, 2] = free[0]
        case "one page too many":
            tables[1, 2], free[0] = free[0].clone(), pages
        case "one page too few":
            lengths[1] += 1
        case "a hole":
            tables[2, 1], tables[2, 2] = -1, tables[2, 1].clone()
        case "twice in a table":
            tables[1, 1] = tables[1, 0]


def _make_case(
    name: str, title: str, bugs: tuple[str, str], hint: str, *, sizes: tuple[int, int] = (9, 4), hidden: bool = False
) -> CaseKind:
    """Make a case with a correct pool of pages, and two that have a bug each.

    ``bugs`` are names for `_break_pool`; ``sizes`` are (pages, positions per page).
    """
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"pages": torch.tensor(sizes[0]), "page_size": torch.tensor(sizes[1])}
        for subject, bug in zip(("right", "other", "third"), ("", *bugs), strict=True):
            tables, lengths, free = _draw_pool(draw, *sizes)
            _break_pool(bug, tables, lengths, free)
            inputs |= {f"{subject} tables": tables, f"{subject} lengths": lengths, f"{subject} free": free}
        return inputs

    answers = {"a right pool": "accepted", "the other one": "rejected", "a third one": "rejected"}
    return case(name, title, make_inputs, hint, hidden_only=hidden, expected=lambda draw: answers)


_UNUSED = 'assert (tables[~used] == -1).all(), "an entry that no position needs"'
_ONCE = 'assert torch.equal(owned.sort().values, torch.arange(pages)), "not each once"'

CASES = [
    _make_case("shared", "two texts share a page; a page is free and in use", ("shared, nothing lost", "freed too early"),
               "How often does each page occur, in all tables and among the free ones together?"),
    _make_case("free", "a page is free twice; a page does not exist", ("freed twice", "lost"),
               "Each page from 0 to `pages - 1` occurs exactly once."),
    _make_case("complete", "every page has an owner, but one has two; a text owns one of its pages twice",
               ("one more reader", "read twice"), "Does your test count, or does it forget how often a page occurs?"),
    _make_case("stale", "a table still names a page that was freed; a text has a page too few", ("stale", "one page too few"),
               "How many entries does a text need, and what is in the others?", sizes=(11, 3)),
    _make_case("hole", "an entry of -1 comes before a page; a page is twice in one table", ("a hole", "twice in a table"),
               "Used entries come first.", sizes=(10, 5), hidden=True),
    _make_case("many", "a text has a page too many; two texts share a page and one is lost",
               ("one page too many", "shared"), "How many pages does a text need that fills its last page?", hidden=True),
]


def _write_test(*lines: str) -> str:
    """Write a student's test of a pool, with these lines as its body."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"def assert_pool(tables, lengths, free, pages, page_size):\n{body}\n"


MISTAKES = [
    wrong("stale_entries", "Your test does not look at the entries that a text no longer needs.",
          "May a table still name a page that belongs to somebody else by now?",
          edit(_UNUSED, "pass"), tests="the others"),
    wrong("holes_pass", "Your test counts the used entries of a row, but does not check whether they come first.",
          "Where in its row may an entry of -1 be?",
          edit("torch.arange(tables.size(1)) < needed[:, None]", "tables != -1",
               _UNUSED, "assert torch.equal(used.sum(dim=1), needed)"), tests="the others"),
    wrong("free_ignored", "Your test does not compare the tables with the free pages.",
          "What happens to a page that is free although a text still reads it?",
          edit(_ONCE, "taken = tables[used]; assert len(taken.unique()) == len(taken) and (taken >= 0).all()"),
          edit("torch.cat((tables[used], free))", "tables[used]",
               _ONCE, "assert len(owned) + len(free) == pages and len(owned.unique()) == len(owned)", name="counts_free")),
    wrong("lost_pages_pass", "Your test accepts pages that nobody has, or that do not exist.",
          "After a thousand texts, how many pages are left if each text loses one?",
          edit(_ONCE, "assert len(owned.unique()) == len(owned) and (owned >= 0).all()")),
    wrong("twice_passes", "Your test accepts a page that occurs twice, since a set forgets how often.",
          "Two texts write into the same page: what does each of them read?",
          edit(_ONCE, "assert set(owned.tolist()) <= set(range(pages))"),
          edit(_ONCE, "assert set(owned.tolist()) == set(range(pages))", name="equal_sets"),
          edit(_ONCE, "assert set(owned.tolist()) == set(range(pages))", _UNUSED, "pass", name="equal_sets_of_used"),
          tests="exactly once"),
    wrong("within_tables_only", "Your test looks for duplicates within a table, not between two texts.",
          "Which pages may two texts share here?",
          edit(_ONCE, "assert all(len(row[row >= 0].unique()) == (row >= 0).sum() for row in tables)")),
    wrong("counts_only", "Your test counts pages and does not look at which they are.",
          "Is the count wrong if one page is used twice and another one never?",
          edit(_ONCE, "assert len(owned) == pages")),
    common("returns_bool", source(_write_test("return False"))),
    wrong("rejects_all", "Your test rejects correct pools: it expects a different number of pages, or a certain order.",
          "How many pages of 4 do 8 positions need, and in which order may pages be handed out?",
          source(_write_test("assert (tables >= 0).all()")),
          edit("-(-lengths // page_size)", "lengths // page_size", name="rounded_down"),
          edit("-(-lengths // page_size)", "lengths // page_size + 1", name="one_for_a_full_page"),
          edit("owned.sort().values", "owned", name="not_sorted"),
          edit(_UNUSED, f"{_UNUSED}; assert torch.equal(free, free.sort().values)", name="free_sorted"),
          tests="in any order; for correct pools"),
    wrong("sizes_assumed", "Your test assumes a certain number of pages, or a certain page size.",
          "Which of the sizes does your test take from its arguments?",
          edit("torch.arange(pages)", "torch.arange(9)"),
          edit("-(-lengths // page_size)", "-(-lengths // 4)", name="page_size"),
          tests="any value"),
    wrong("accepts_all", "Your test accepts every pool.",
          "Is there an `assert` that can fail?",
          source(_write_test("assert len(tables) == len(lengths)")),
          source(_write_test("pass"), name="no_test")),
]

ACCEPTED = [
    right("by_lists", source("""
        def assert_pool(tables, lengths, free, pages, page_size):
            all_pages = free.tolist()
            for table, length in zip(tables.tolist(), lengths.tolist()):
                needed = (length + page_size - 1) // page_size
                assert needed <= len(table)
                assert all(page == -1 for page in table[needed:])
                all_pages += table[:needed]
            assert sorted(all_pages) == list(range(pages))
        """)),
    right("by_counts", edit(_ONCE, "assert (owned >= 0).all() and (owned < pages).all(); "
                                   "assert (torch.bincount(owned, minlength=pages) == 1).all()")),
]

EXERCISE = Specification(
    target="assert_pool", precise=False, separate="each case has bugs of its own",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
