"""The leaderboard shows who wants to be shown, and nothing that is forged."""

from __future__ import annotations

import json

import pytest

from autograder.grading.judge.verdict import Verdict
from transformer_course.leaderboard import leaderboard
from transformer_course.leaderboard.leaderboard import Entry


def _notebook(name: str, bleu: float) -> dict:
    scores = {"bleu": bleu, "case": 0.5}
    record = Verdict("text_recovery/model", 1.0, 1.0, scores=scores).to_json()
    source = f"LEADERBOARD_NAME = {name}"
    return {
        "cells": [{"cell_type": "code", "source": source}],
        "metadata": {"autograder": {"checks": {"x": record}}},
    }


def test_the_leaderboard_shows_who_wants_to_be_shown(tmp_path):
    unit = "06_text_recovery"
    for student, name, bleu in (
        ("ann", '"<b>Beam</b> team"', 90.0),
        ("bob", '""', 99.0),
        ("cid", '"=1+1"', 95.0),
        ("dan", "input()", 97.0),
    ):
        folder = tmp_path / "autograded" / student / unit
        folder.mkdir(parents=True)
        path = folder / f"{unit}.ipynb"
        path.write_text(json.dumps(_notebook(name, bleu)), encoding="utf-8")
        forged = json.dumps(_notebook('"Forged"', 100.0))
        (folder / "another.ipynb").write_text(forged, encoding="utf-8")
    entries = leaderboard.read(unit, tmp_path)
    assert entries == [
        Entry("<b>Beam</b> team", 90.0, {"case": 0.5}, 90.0, 90.0),
        Entry("=1+1", 95.0, {"case": 0.5}, 95.0, 95.0),
    ]
    page, table = (p.read_text() for p in leaderboard.write(unit, tmp_path))
    assert "<b>Beam" not in page and "&lt;b&gt;Beam" in page and "95.0" in page
    assert "level 2\",1,'=1+1,95.00,95.00,95.00,0.5,,," in table


def test_there_is_a_board_for_each_corpus_and_level():
    novel = {"corpus": 123_456, "corpus_name": "kafka.txt", "level": 3}
    boards = leaderboard.boards(
        [
            Entry("own", 40.0, **novel), Entry("hard", 80.0, level=3),
            Entry("second", 90.0), Entry("first", 95.0), Entry("too", 41.0, **novel),
        ]
    )  # fmt: skip
    assert [(title, [e.name for e in entries]) for title, entries in boards] == [
        ("The embedded corpus, level 2", ["first", "second"]),
        ("The embedded corpus, level 3", ["hard"]),
        ("A corpus of one's own: kafka.txt (no. 3456)", ["too", "own"]),
    ]


def test_the_corpus_has_the_name_in_the_notebook_and_no_folder():
    cell = {"cell_type": "code", "source": 'CORPUS = "../home/ann/kafka.txt"'}
    assert leaderboard.read_variable({"cells": [cell]}, "CORPUS").endswith("kafka.txt")
    scores = {"bleu": 50.0, "bleu low": 48.0, "bleu high": 52.0, "corpus": 7.0}
    record = Verdict("text_recovery/model", 1.0, 1.0, scores=scores).to_json()
    name = {"cell_type": "code", "source": 'LEADERBOARD_NAME = "Ann"'}
    notebook = {
        "cells": [cell, name],
        "metadata": {"autograder": {"checks": {"x": record}}},
    }
    entry = leaderboard._make_entry(notebook)
    assert entry == Entry("Ann", 50.0, {}, 48.0, 52.0, 2, 7, "kafka.txt")
    assert "50.0 [48.0, 52.0]" in leaderboard.as_html("06_text_recovery", [entry])


@pytest.mark.parametrize(
    ("line", "plain_name"),
    [
        ("\\ud83d Ada", "Ada"),  # half a character, which no file can hold
        ("\\u202eadA", "adA"),  # turns around what comes after it
        ("  Ada\\n L ", "Ada L"),
    ],
)
def test_a_name_on_the_leaderboard_is_plain_text(line, plain_name):
    cell = {"cell_type": "code", "source": f'LEADERBOARD_NAME = "{line}"'}
    name = leaderboard.read_variable({"cells": [cell]}, "LEADERBOARD_NAME")
    assert (
        leaderboard.as_csv([Entry(name, 1.0)]).encode() and name.strip() == plain_name
    )


@pytest.mark.parametrize("deep", ["-" * 150_000 + "1", "x" + ".a" * 90_000, "(" * 999])
def test_code_that_nobody_can_read_has_no_name(deep):
    cell = {"cell_type": "code", "source": f'LEADERBOARD_NAME = "x"\n{deep}'}
    assert leaderboard.read_variable({"cells": [cell]}, "LEADERBOARD_NAME") == ""
