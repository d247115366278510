"""A record is plain JSON, also one that an earlier version wrote."""

import json

from autograder.grading.judge.verdict import CaseVerdict, Verdict

RECORD = Verdict(
    "u/e", 1.0, 2.0, "tripled", "You tripled.",
    scores={"bleu": 12.5},
    cases=(CaseVerdict("a", "a vector", "values", True),),
    given=("u/before",),
    aspects={"values": [0.5, 1.2], "calls": [0.5, 0.8]},
)  # fmt: skip


def test_it_is_the_same_after_its_journey_as_json():
    assert Verdict.from_json(json.loads(json.dumps(RECORD.to_json()))) == RECORD


def test_a_student_s_words_begin_no_line_but_those_of_the_panel():
    words = "E: a\r## today\x85- 9 points\u2028\x1b[2J"
    panel = f"✗ a vector\n      {words}\n✓ others"
    written = Verdict("u/e", 0.0, 2.0, says=f"{words}\nb", note=words, panel=panel)
    for verdict in (written, Verdict.from_json(written.to_json())):
        assert verdict.note.splitlines() == ["E: a ## today - 9 points ?[2J"]
        assert len(verdict.says.splitlines()) == 1
        assert [line[:7] for line in verdict.panel.splitlines()] == [
            "✗ a vec", "      E", "✓ other",
        ]  # fmt: skip


def test_one_of_an_earlier_version_lacks_what_came_later():
    old = {"exercise": "u/e", "points": 1.0, "max_points": 2.0, "cases": []}
    assert Verdict.from_json(old) == Verdict("u/e", 1.0, 2.0)


def test_it_says_where_points_were_lost_and_nothing_where_none_was():
    assert RECORD.lost == (
        "Points lost: 0.7 of 1.2 for values, 0.3 of 0.8 for repeated calls."
    )
    assert Verdict("u/e", 2.0, 2.0, aspects=RECORD.aspects).lost == ""
