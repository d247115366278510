"""What one student handed in, by the path that each file gets."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell

from autograder.grading import intake
from tests.classroom.lms.course import ADA, BOB, GOOD
from tests.classroom.lms.packed import MOODLE, zipped
from tests.grading.intake.released import released
from tests.tiny_course import UNIT, data, graded, source_of


def test_a_notebook_that_was_handed_in_as_a_zip_is_unpacked(course):
    packed = zipped(
        ("my work/attention.ipynb", ADA),
        ("my work/data.txt", b"1"),
        ("my work/timestamp.txt", b"2000-01-01"),
    )
    path = course.zip(
        ("lovelaceada_12345_678901_work.zip", packed),
        ("óðinssonbob_12346_678902_broken.zip", b"PK no"),
    )
    outcomes = course.collect(path)
    assert course.notebook("ada") == ADA and course.placed["ada"]["data.txt"] == b"1"
    assert "timestamp.txt" not in course.placed["ada"]
    assert "cannot be unpacked: it is not a readable zip" in outcomes["bob"].remark


def test_two_zips_with_a_notebook_of_one_name_are_both_kept(course):
    path = course.zip(
        ("lovelaceada_12345_1_draft.zip", zipped(("a.ipynb", ADA))),
        ("lovelaceada_12345_2_work.zip", zipped(("a.ipynb", BOB))),
    )
    course.collect(path)
    files = course.placed["ada"]
    assert (files["a.ipynb"], files["2_a.ipynb"]) == (ADA, BOB)
    folder = course.root / "submitted" / "ada" / UNIT
    newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    assert newest.name == "2_a.ipynb", "uploaded last"


LONG = "x" * 256


@pytest.mark.parametrize(
    ("notebooks", "stored"),
    [
        (["in/a.ipynb"], ["in/a.ipynb"]),
        ([f"{LONG}.ipynb"], [f"{UNIT}.ipynb"]),
        ([f"in/{LONG}.ipynb"], [f"in/{LONG[:40]}...xxxx.ipynb"]),
        ([f"{LONG}.ipynb", "a.ipynb"], [f"{LONG[:40]}...xxxx.ipynb", "a.ipynb"]),
    ],
)
def test_a_name_in_a_zip_that_is_too_long_for_a_disk_is_shortened(
    course, notebooks, stored
):
    packed = zipped((f"{LONG}.txt", b"1"), *((name, ADA) for name in notebooks))
    outcomes = course.collect(course.zip(("lovelaceada_12345_1_w.zip", packed)))
    assert outcomes["ada"].status == "placed"
    expected = {"w.zip", f"{LONG[:40]}...xxxxxx.txt", *stored}
    assert set(course.placed["ada"]) == expected


def other_unit(root) -> bytes:
    """A notebook of the course's second unit."""
    cell = graded(new_code_cell("assert spell(2)"), "letters-spell", 5.0)
    notebook = data(source_of([cell]))
    path = root / "source" / "02_letters" / "02_letters.ipynb"
    path.parent.mkdir()
    path.write_bytes(notebook)
    return notebook


def test_what_cannot_be_graded_is_told_at_once_and_keeps_its_name(course):
    """So that its student hears of it in time, by the name of the file."""
    outcomes = course.collect(
        course.zip(
            ("lovelaceada_12345_1_mine.ipynb", other_unit(course.root)),
            ("óðinssonbob_12346_2_cut.ipynb", BOB[:60]),
            ("malloryeve_12347_3_empty.ipynb", b""),
        )
    )
    assert outcomes["ada"].remark == (
        'cannot be graded: "mine.ipynb" is unit 2\'s notebook (02_letters), not this '
        "unit's"
    )
    assert '"cut.ipynb": it is damaged or incomplete' in outcomes["bob"].remark
    assert '"empty.ipynb": it is empty' in outcomes["eve"].remark
    assert all(
        outcome.needs_person and outcome.status == "placed"
        for outcome in outcomes.values()
    )
    assert {student: set(files) for student, files in course.placed.items()} == {
        "ada": {"mine.ipynb"}, "bob": {"cut.ipynb"}, "eve": {"empty.ipynb"},
    }  # fmt: skip


def test_a_cut_off_and_an_unanswered_notebook_are_told(course):
    release = course.root / "release" / UNIT / f"{UNIT}.ipynb"
    release.parent.mkdir(parents=True)
    release.write_bytes(data(released()))
    outcomes = course.collect(
        course.zip(
            ("lovelaceada_12345_1_a.ipynb", ADA[: ADA.index(b"numbers-triple")]),
            ("óðinssonbob_12346_2_a.ipynb", release.read_bytes()),
        )
    )
    assert (
        "is damaged after its first 4 cells; only those count" in outcomes["ada"].remark
    )
    assert outcomes["bob"].remark == "nothing in it is answered"


def test_moodle_s_online_text_stays_beside_the_file(course):
    file, text = (MOODLE.format("Ada Lovelace", k) for k in ("file", "onlinetext"))
    entry = MOODLE.format("Bob Óðinsson", "onlinetext_")
    path = course.zip(
        (f"{file}/attention.ipynb", ADA),
        (f"{text}/onlinetext.html", b"<p>late bus"),
        (f"{entry}/onlinetext.html", b"<p>I was ill"),
    )
    outcomes = course.collect(path)
    assert course.placed["ada"] == {
        f"{UNIT}.ipynb": ADA,
        "onlinetext.html": b"<p>late bus",
    }
    assert not outcomes["ada"].needs_person
    assert "typed into the LMS" in outcomes["bob"].remark
    assert outcomes["bob"].needs_person


def test_many_small_zips_together_unpack_to_no_more_than_a_submission_may_be(
    course, monkeypatch
):
    limits = replace(intake.DEFAULTS, total=2 << 20)
    monkeypatch.setattr(intake, "DEFAULTS", limits)
    bomb = course.zip(("zeros", bytes(900 << 10))).read_bytes()
    packed = [
        (f"malloryeve_12347_{n}_{n}.zip", bomb.replace(b"zeros", b"zero%d" % n))
        for n in range(9)
    ]
    outcomes = course.collect(course.zip(*packed, GOOD))
    unpacked = [name for name in course.placed["eve"] if name.startswith("zero")]
    assert len(unpacked) == 2
    assert "cannot be unpacked: larger than" in outcomes["eve"].remark
    assert course.notebook("ada") == ADA


def test_a_heap_of_files_in_a_zip_crowds_no_notebook_out(course):
    heap = [(f"venv/{n}.py", b"x") for n in range(700)]
    packed = zipped(*heap, ("work/attention.ipynb", ADA))
    course.collect(course.zip(("lovelaceada_12345_678901_work.zip", packed)))
    assert course.placed["ada"]["work/attention.ipynb"] == ADA


def test_a_large_notebook_is_placed_without_its_outputs(course, monkeypatch):
    small = replace(intake.DEFAULTS, notebook=len(ADA) + 50)
    monkeypatch.setattr(intake, "DEFAULTS", small)
    notebook = json.loads(ADA) | {"outputs": ["x" * 1000]}
    large = json.dumps(notebook).encode()
    packed = zipped(("work/attention.ipynb", large))
    path = course.zip(
        ("lovelaceada_12345_678901_attention.ipynb", large),
        ("óðinssonbob_12346_678902_work.zip", packed),
    )
    outcomes = course.collect(path)
    assert json.loads(course.notebook("ada")) == notebook | {"outputs": []}
    assert json.loads(course.notebook("bob")) == notebook | {"outputs": []}
    assert "saved outputs were left out" in outcomes["ada"].remark
    assert {outcome.status for outcome in course.collect(path).values()} == {"same"}
