"""The archives of five LMSs end in submitted/, and no archive harms another."""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder import cli
from autograder.collect import archive as archives
from autograder.collect import layouts, place
from autograder.collect.roster import Roster, from_csv
from autograder.course.errors import CourseError
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.collect.course import ADA, BOB, EARLY, LATER, UNIT, Course, entry


@pytest.fixture
def course(tmp_path):
    """A course folder with a roster, to make archives and collect them in."""
    return Course(tmp_path)


# --- five LMSs -----------------------------------------------------------------------


def test_canvas(course):
    path = course.zip(
        ("lovelaceada_LATE_12345_678901_02_attention-1.ipynb", ADA),
        ("óðinssonbob_12346_678902_Copy of attention (1).ipynb", BOB),
        ("index.html", b"<html>"),
    )
    told = course.collect(path)
    assert course.placed == {
        "ada": {f"{UNIT}.ipynb": ADA},
        "bob": {f"{UNIT}.ipynb": BOB},
    }
    assert "late, but the archive does not say by how much" in told["ada"].says
    assert not any(outcome.needs_person for outcome in told.values())


@pytest.mark.parametrize(
    "form",
    [
        "{}_assignsubmission_file_/attention.ipynb",
        "{}_assignsubmission_file/a.ipynb",
        "{}_assignsubmission_file_attention.ipynb",
    ],
)
def test_moodle_in_folders_and_flat_by_full_name(course, form):
    path = course.zip(
        (form.format("Ada Lovelace_1234567"), ADA),
        (form.format("Group 3-Bob Óðinsson_1234568"), BOB),
        ("Ada Lovelace_1234567_assignsubmission_onlinetext_/onlinetext.html", b""),
    )
    assert set(course.collect(path)) == {"ada", "bob"}
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


GRADESCOPE = """
submission_3001:
  :submitters:
  - {":name": Ada Lovelace, ":sid": "12345", ":email": ada@uni.example}
  - {":name": Bob, ":email": bob@uni.example}
  :created_at: 2026-11-20 14:03:59.123456000 Z
  :score: 3.0
  :results: !ruby/object:Results {a: 1}
"""


def test_gradescope_with_groups_and_times(course):
    path = course.zip(
        ("assignment_55_export/submission_3001/attention.ipynb", ADA),
        ("assignment_55_export/submission_metadata.yml", GRADESCOPE.encode()),
    )
    assert set(course.collect(path)) == {"ada", "bob"}
    assert course.notebook("ada") == course.notebook("bob") == ADA
    assert course.time("ada") == "2026-11-20 14:03:59"


def test_blackboard_takes_the_last_attempt_and_its_local_time(course):
    path = course.zip(
        ("Week_1_alovelace_attempt_2026-11-20-14-03-59_attention.ipynb", BOB),
        ("Week_1_alovelace_attempt_2026-11-20-15-03-59_attention.ipynb", ADA),
        ("Week_1_alovelace_attempt_2026-11-20-15-03-59.txt", b"Name: Ada"),
        ("Week_1_bodin_attempt_2026-07-20-15-03-59_attention.ipynb", BOB),
    )
    told = course.collect(path)
    assert set(told) == {"ada", "bob"}
    assert "the latest of 2 attempts" in told["ada"].says
    assert course.notebook("ada") == ADA
    assert course.time("ada") == "2026-11-20 14:03:59", "winter in Berlin"
    assert course.time("bob") == "2026-07-20 13:03:59", "summer in Berlin"


def test_blackboard_without_a_roster_must_not_be_ambiguous(course):
    one = course.zip(("Week_1_ada_attempt_2026-11-20-14-03-59_a.ipynb", ADA))
    (outcome,) = course.collect(one, roster=Roster()).values()
    assert outcome.needs_person and "give a roster" in outcome.says
    plain = course.zip(("Week 1_ada_attempt_2026-11-20-14-03-59_a.ipynb", ADA))
    assert set(course.collect(plain, roster=Roster())) == {"ada"}


@pytest.mark.parametrize("between", [" - ", "/"])
def test_brightspace(course, between):
    who = "12345-789012 - Ada Lovelace - Nov 20, 2026 203 PM"
    assert set(course.collect(course.zip((f"{who}{between}a.ipynb", ADA)))) == {"ada"}
    assert course.time("ada") == "2026-11-20 13:03:00"


def test_without_a_roster_the_lms_s_number_is_the_student(course):
    path = course.zip(("lovelaceada_12345_678901_attention.ipynb", ADA))
    assert set(course.collect(path, roster=Roster())) == {"12345"}
    moodle = course.zip(("Ada Lovelace_99_assignsubmission_file_/a.ipynb", ADA))
    (outcome,) = course.collect(moodle, roster=Roster()).values()
    assert outcome.needs_person and "change with each assignment" in outcome.says


def test_blind_names_need_the_worksheet(course):
    path = course.zip(("Participant_77_assignsubmission_file_/a.ipynb", ADA))
    (outcome,) = course.collect(path).values()
    assert outcome.needs_person and "--worksheet" in outcome.says
    sheet = course.root / "sheet.csv"
    sheet.write_text(
        "Identifier,Full name,Email address,Grade\n"
        "Participant 77,Ada L.,ada@uni.example,\n"
    )
    assert set(course.collect(path, roster=course.roster.with_worksheet(sheet))) == {
        "ada"
    }
    anonymous = course.zip(("anon_ab12C_678901_attention.ipynb", ADA))
    (outcome,) = course.collect(anonymous).values()
    assert outcome.needs_person and "turn anonymous grading off" in outcome.says


def test_several_files_of_one_student_stay_together(course):
    path = course.zip(
        ("lovelaceada_12345_10_attention-1.ipynb", ADA),
        ("lovelaceada_12345_9_02_notes.txt", b"notes"),
        ("lovelaceada_12345_11_Copy of attention (2).ipynb", BOB),
    )
    course.collect(path)
    assert set(course.placed["ada"]) == {
        "attention-1.ipynb",
        "02_notes.txt",
        "Copy of attention (2).ipynb",
    }
    folder = course.root / "submitted" / "ada" / UNIT
    newest = max(folder.iterdir(), key=lambda p: p.stat().st_mtime)
    assert newest.name == "Copy of attention (2).ipynb", "uploaded last"


# --- nobody speaks for somebody else -------------------------------------------------


def test_a_file_name_cannot_make_its_author_somebody_else(course):
    forged = "Ada Lovelace_1234567_assignsubmission_file_attention.ipynb"
    course.collect(
        course.zip(
            (f"malloryeve_12347_5_{forged}", BOB),
            ("malloryeve_12347_6_lovelaceada_12345_678901_x.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"eve"}
    moodle = course.zip(
        ("Eve Mallory_9_assignsubmission_file_" + forged, BOB),
        ("Bob Óðinsson_8_assignsubmission_file_x.ipynb", BOB),
    )
    course.collect(moodle, replace=True)
    assert set(course.placed) == {"eve", "bob"}


def test_a_name_that_reads_as_somebody_s_number_is_refused(course):
    """Eve calls herself "x_12345": her files look like the student 12345's."""
    told = course.collect(course.zip(("x_12345_12347_678_a.ipynb", BOB)))
    assert course.placed == {}
    assert all(outcome.needs_person for outcome in told.values())


def test_two_people_who_claim_to_be_one_are_both_refused(course):
    told = course.collect(
        course.zip(
            ("lovelaceada_12345_1_a.ipynb", ADA),
            ("x_12345_2_a.ipynb", BOB),
            ("óðinssonbob_12346_3_a.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"bob"}
    assert "several claim to be it" in told["ada"].says


def test_a_name_on_gradescope_is_nobody_s_proof(course):
    """There everybody writes their own name; addresses are what it checks."""
    metadata = GRADESCOPE + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada Lovelace, ":email": mallory@else.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    told = course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", ADA),
            ("export/submission_3002/attention.ipynb", BOB),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert course.notebook("ada") == ADA and set(course.placed) == {"ada", "bob"}
    assert any("mallory@else.example" in o.says for o in told.values())


def test_who_hands_in_alone_after_the_group_is_taken_at_their_last_word(course):
    metadata = GRADESCOPE + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada, ":email": ada@uni.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", BOB),
            ("export/submission_3002/attention.ipynb", ADA),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


def test_two_students_of_one_name_are_not_guessed(course):
    (course.root / "roster.csv").write_text(
        "id,first_name,last_name\nada1,Ada,Lovelace\nada2,Ada,Lovelace\n"
    )
    path = course.zip(("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA))
    roster = from_csv(course.root / "roster.csv")
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.needs_person and "ada1, ada2" in outcome.says


def test_a_time_cannot_be_handed_in_as_a_file(course):
    course.collect(
        course.zip(
            ("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA),
            (
                "Ada Lovelace_7_assignsubmission_file_/timestamp.txt",
                b"2020-01-01 00:00",
            ),
            ("Ada Lovelace_7_assignsubmission_file_/Submission_Secret.txt", b"x"),
        )
    )
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


# --- hostile and broken archives -----------------------------------------------------


def good_pair(_course) -> tuple[str, bytes]:
    return ("lovelaceada_12345_678901_attention.ipynb", ADA)


def link(name: str) -> zipfile.ZipInfo:
    info = entry(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


class RawName(zipfile.ZipInfo):
    """A member whose name is some bytes, without the flag for UTF-8."""

    def __init__(self, name: bytes):
        super().__init__("x", EARLY)
        self.raw = name

    def _encodeFilenameFlags(self):
        return self.raw, 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/etc/malloryeve_12347_1_a.ipynb", "absolute"),
        ("C:/malloryeve_12347_1_a.ipynb", "absolute"),
        ("a\\malloryeve_12347_1_a.ipynb", "of Windows"),
        ("../../malloryeve_12347_1_a.ipynb", "leads elsewhere"),
        ("malloryeve_12347_1_a\x1b[2J.ipynb", "not plain text"),
        (link("malloryeve_12347_1_a.ipynb"), "a link or a device"),
        (RawName(b"malloryeve_12347_1_\x9f\xff.ipynb"), "unknown encoding"),
        (RawName(b"\0malloryeve_12347_1_a.ipynb"), "not plain text"),
        ("strange.ipynb", "not one that Canvas gives"),
    ],
)
def test_a_bad_member_is_refused_with_a_reason_and_the_others_are_placed(
    course, name, reason
):
    told = course.collect(course.zip(good_pair(course), (name, BOB)))
    assert set(course.placed) == {"ada"}
    assert [o for o in told.values() if o.needs_person and reason in o.says], told


def test_utf8_names_without_the_flag_are_read(course):
    name = "óðinssonbob_12346_678902_a.ipynb".encode()
    assert set(course.collect(course.zip((RawName(name), BOB)))) == {"bob"}


def test_members_of_one_name_are_all_refused(course, recwarn):
    told = course.collect(
        course.zip(
            ("malloryeve_12347_1_a.ipynb", ADA),
            ("malloryeve_12347_1_a.ipynb", BOB),
            ("malloryeve_12347_1_A.ipynb", BOB),
            good_pair(course),
        )
    )
    assert set(course.placed) == {"ada"}
    assert any("several of this name" in outcome.says for outcome in told.values())


def test_a_zip_bomb_costs_its_author_only(course):
    told = course.collect(
        course.zip(good_pair(course), ("malloryeve_12347_1_a.ipynb", bytes(40 << 20)))
    )
    assert set(course.placed) == {"ada"} and "larger than" in told["eve"].says


def test_archives_that_lie_are_refused_as_a_whole(course, monkeypatch):
    overlapping = course.zip(
        ("malloryeve_12347_1_a.ipynb", bytes(range(256)) * 40), good_pair(course)
    )
    data = bytearray(overlapping.read_bytes())
    second = data.rindex(b"PK\1\2")
    data[second + 42 : second + 46] = struct.pack("<I", 10)  # its bytes begin earlier
    overlapping.write_bytes(data)
    assert "made to deceive" in course.collect(overlapping)[""].says
    cut = course.zip(good_pair(course))
    cut.write_bytes(cut.read_bytes()[:-30])
    assert "not a readable zip" in course.collect(cut)[""].says
    monkeypatch.setattr(archives, "MOST_BYTES", 10)
    assert "unpacked" in course.collect(course.zip(good_pair(course)))[""].says
    monkeypatch.setattr(archives, "MOST_MEMBERS", 0)
    assert "members" in course.collect(course.zip(good_pair(course)))[""].says
    assert course.placed == {}


def test_a_damaged_member_costs_its_author_only(course):
    path = course.zip(("malloryeve_12347_1_a.ipynb", BOB * 50), good_pair(course))
    data = bytearray(path.read_bytes())
    data[data.index(b".ipynb") + 10] ^= 0xFF
    path.write_bytes(data)
    told = course.collect(path)
    assert set(course.placed) == {"ada"} and "damaged" in told["eve"].says


def test_one_bad_archive_does_not_stop_the_next(course):
    bad = course.root / "bad.zip"
    bad.write_bytes(b"hello")
    told = course.collect(
        bad, course.root / "nowhere.zip", course.zip(good_pair(course))
    )
    assert set(course.placed) == {"ada"} and told["ada"].status == "placed"


def test_nothing_is_written_through_a_link(course, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "ada").symlink_to(outside)
    told = course.collect(course.zip(good_pair(course)))
    assert told["ada"].needs_person and "is a link" in told["ada"].says
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "metadata",
    [None, b"[1, 2", b"&a [*a]", b"- 1", b"submission_3001: 5", b"\xff\xfe\x00"],
)
def test_odd_gradescope_metadata_is_told(course, metadata):
    members = [("export/submission_3001/a.ipynb", ADA)]
    if metadata is not None:
        members.append(("export/submission_metadata.yml", metadata))
    (outcome,) = course.collect(course.zip(*members)).values()
    assert outcome.needs_person and course.placed == {}


def test_a_submission_that_the_metadata_does_not_know_is_nobody_s(course):
    """Its number is one of Gradescope's, even where it is also a student's."""
    (outcome,) = course.collect(
        course.zip(
            ("export/submission_12345/a.ipynb", ADA),
            ("export/submission_metadata.yml", b"{}"),
        )
    ).values()
    assert outcome.needs_person and "does not say whose" in outcome.says


@pytest.mark.parametrize("lms", layouts.NAMES)
def test_an_archive_of_another_lms_than_the_given_is_told(course, lms):
    path = course.zip(("notes.txt", b"hello"))
    told = course.collect(path, lms=lms)
    assert told[""].needs_person and "names" in told[""].says


VALID = io.BytesIO()
with zipfile.ZipFile(VALID, "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("lovelaceada_12345_1_a.ipynb", ADA * 9)
    file.writestr("óðinssonbob_12346_2_b.ipynb", BOB * 9)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=6))
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_bytes_an_archive_has_the_answer_is_a_table(tmp_path, changes):
    data = bytearray(VALID.getvalue())
    for place_, byte in changes:
        data[place_ % len(data)] = byte
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    for outcome in place.collect(
        UNIT, [path], tmp_path, Roster(), layouts.to_utc("UTC"), replace=True
    ):
        assert place.as_text([outcome])


# --- again and again -----------------------------------------------------------------


def test_collecting_again_changes_nothing(course):
    path = course.zip(good_pair(course))
    course.collect(path)
    before = (course.root / "submitted" / "ada" / UNIT).stat().st_ino
    assert course.collect(path)["ada"].status == "same"
    assert (course.root / "submitted" / "ada" / UNIT).stat().st_ino == before


@pytest.mark.parametrize("newer_first", [False, True])
def test_the_newer_submission_stays_whatever_the_order(course, newer_first):
    name = "lovelaceada_12345_{}_attention.ipynb"
    old = course.zip((name.format(1), BOB))
    new = course.zip((name.format(2), ADA), time=LATER)
    paths = [new, old] if newer_first else [old, new]
    statuses = [course.collect(path)["ada"].status for path in paths]
    assert statuses == ["placed", "older" if newer_first else "replaced"]
    assert course.notebook("ada") == ADA
    assert list(course.placed) == ["ada"]


def test_times_of_handing_in_decide(course):
    name = "12345-1 - Ada Lovelace - Nov {}, 2026 203 PM - a.ipynb"
    late = course.zip((name.format(21), ADA), time=EARLY)
    early = course.zip((name.format(20), BOB), time=LATER)
    course.collect(late)
    assert course.collect(early)["ada"].status == "older"
    assert course.notebook("ada") == ADA


def test_what_cannot_be_compared_is_left_to_a_person(course):
    folder = course.root / "submitted" / "ada" / UNIT
    folder.mkdir(parents=True)
    (folder / "mine.ipynb").write_bytes(BOB)
    path = course.zip(good_pair(course))
    told = course.collect(path)["ada"]
    assert told.needs_person and "--replace" in told.says
    assert course.placed == {"ada": {"mine.ipynb": BOB}}
    assert course.collect(path, replace=True)["ada"].status == "replaced"
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


def test_a_replacement_that_was_cut_off_is_taken_back(course):
    course.collect(course.zip(good_pair(course)))
    folder = course.root / "submitted" / "ada" / UNIT
    folder.rename(folder.with_name(f".{UNIT}.old"))
    assert course.collect(course.zip(good_pair(course)))["ada"].status == "same"
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


def test_a_group_of_graders_can_write_what_one_of_them_collects(course):
    course.root.chmod(0o2770)
    course.collect(course.zip(good_pair(course)))
    folder = course.root / "submitted" / "ada" / UNIT
    assert folder.stat().st_mode & 0o2070 == 0o2070
    assert (folder / f"{UNIT}.ipynb").stat().st_mode & 0o060 == 0o060


# --- the command ---------------------------------------------------------------------


def test_the_command_prints_a_table_and_its_status_asks_for_a_person(course, capsys):
    path = course.zip(good_pair(course), ("nobodyno_999_1_a.ipynb", BOB))
    command = ["collect", "02", str(path), "--course", str(course.root)]
    roster = ["--roster", str(course.root / "roster.csv")]
    assert cli.main([*command, *roster]) == 1
    out = capsys.readouterr().out
    assert "nobodyno (999) is nobody of the roster" in out
    assert "1 placed" in out and "1 not placed" in out
    only = course.zip(good_pair(course))
    assert cli.main([*command[:2], str(only), *command[3:], *roster]) == 0


def test_bad_options_are_said_in_one_line(course, capsys):
    command = ["collect", "02", "x.zip", "--course", str(course.root)]
    for option, text in (
        (["--timezone", "Mars/Base"], "no time zone"),
        (["--lms", "webct"], "--lms is one of canvas, moodle"),
        (["--roster", "nowhere.csv"], "No such file"),
    ):
        assert cli.main([*command, *option]) == 1
        assert text in capsys.readouterr().err
    (course.root / "bad.csv").write_text("name\nAda\n")
    with pytest.raises(CourseError, match='no column "id"'):
        from_csv(course.root / "bad.csv")


def test_the_gradebook_is_the_roster_where_none_is_given(graded, capsys):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("rossbob_502_1_a.ipynb", json.dumps({"cells": []}))
    (graded / "x.zip").write_bytes(buffer.getvalue())
    command = ["collect", "01", str(graded / "x.zip"), "--course", str(graded)]
    cli.main([*command, "--replace"])
    assert "bob" in capsys.readouterr().out
    assert list((graded / "submitted" / "bob").rglob("*.ipynb"))


def test_what_is_collected_is_graded_with_the_time_of_the_archive(graded, capsys):
    """From a Brightspace zip to a Canvas gradebook, 90 minutes after the deadline."""
    notebook = tiny.data(tiny.solved(tiny.read(graded, "release")))
    path = graded / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        name = "509-1 - Nie Mand - Nov 20, 2025 1130 PM - Copy of numbers (1).ipynb"
        file.writestr(name, notebook)
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_assignment(tiny.UNIT).duedate = datetime(2025, 11, 20, 21, 0)
        book.db.commit()
    where = ["--course", str(graded)]
    zone = ["--timezone", "Europe/Berlin"]
    assert cli.main(["collect", "01", str(path), *where, *zone]) == 0
    assert autograde(graded, "never")["success"]
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_grade("numbers-why", tiny.UNIT, tiny.UNIT, "never").manual_score = 4
        book.db.commit()
    (graded / "canvas.csv").write_text(
        'Student,ID,Section,Numbers (1)\n"Mand, Nie",509,A,\n'
    )
    into = ["--into", str(graded / "canvas.csv")]
    cli.main(["grades", "01", "--format", "canvas", *into, *where])
    filled = (graded / "reports" / "01_numbers-canvas.csv").read_text()
    assert '"Mand, Nie",509,A,8\n' in filled, "6 + 4, two begun hours late"
