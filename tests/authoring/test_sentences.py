"""Each sentence of an exercise's text is tested by something, or asks for nothing."""

from __future__ import annotations

import pytest

from autograder.authoring.notebook import Cell, read
from autograder.authoring.sentences import asked, gaps, table
from autograder.bank import specification
from autograder.course import units

TEXT = """### Exercise 2.3 - count

*time ~5 min · difficulty 1/5 · 5 points*

**Why it matters.** Nobody is asked for anything here.

**What to do.** Count the rows (of *any* table). Loops are
welcome, e.g. yours.

- `0` is a number;
- an error is a `ValueError`.

```text
this is a picture
```

| this is | a table |

<details> this is a hint </details>
"""
CODE = '''def count(rows: Tensor) -> int:
    """How many rows there are.

    Args:
        rows: (L, d), any
            numbers.

    Returns:
        A whole number: L. It is
        never negative.

    Raises:
        ValueError: no rows.
    """
'''
SENTENCES = [
    "Count the rows (of *any* table).",
    "Loops are welcome, e.g. yours.",
    "`0` is a number;",
    "an error is a `ValueError`.",
    "How many rows there are.",
    "rows: (L, d), any numbers.",
    "A whole number: L. It is never negative.",
    "ValueError: no rows.",
]


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.name)
def test_each_sentence_is_tested_or_asks_for_nothing(unit):
    rows = table(unit.name)
    if rows is None:
        pytest.skip(f"no {unit.name}/sentences.toml yet")
    found = asked(read(unit))
    assert set(rows) == set(found)
    for name, sentences in found.items():
        assert gaps(sentences, rows[name], specification(f"{unit.name}/{name}")) == []


def test_what_is_asked_is_in_the_instruction_and_the_docstrings():
    cells = [
        Cell("markdown", TEXT, "n.py:1"),
        Cell("code", CODE, "n.py:30", role="exercise", name="tiny/count"),
    ]
    assert asked(cells) == {"count": SENTENCES}


EXERCISE = specification("attention/causal_mask")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"No row": "upper"}, []),
        ({"No row": "upper_strict long loop property_sequence"}, []),
        ({"No row": "-"}, []),
        ({}, ["0 rows begin like: No row may be empty."]),
        ({"No row": "-", "No": "-"}, ["2 rows begin like: No row may be empty."]),
        (
            {"No row": "-", "All rows": "-"},
            ["no sentence begins like the row: All rows"],
        ),
        ({"No row": "uper"}, ["names what is not there, uper: No row"]),
        ({"No row": ""}, ["names what is not there, nothing: No row"]),
    ],
)
def test_what_is_wrong_with_a_table_is_said(rows, says):
    assert gaps(["No row may be empty."], rows, EXERCISE) == says
