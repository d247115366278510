"""Hostile and broken archives harm nobody but their authors."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.classroom.lms import archive as archives
from autograder.classroom.lms import layouts, place
from autograder.classroom.lms.roster import Roster
from tests.classroom.lms.course import ADA, BOB, EARLY, GOOD, entry
from tests.classroom.lms.packed import CANVAS_BOB
from tests.tiny_course import UNIT


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
        ("\u0301\u0327" * 16_000 + "_12347_1_a.ipynb", "too long"),
        (RawName(b"\0malloryeve_12347_1_a.ipynb"), "not plain text"),
        ("strange.ipynb", "not one that Canvas gives"),
    ],
)
def test_a_bad_member_is_refused_with_a_reason_and_the_others_are_placed(
    course, name, reason
):
    outcomes = course.collect(course.zip(GOOD, (name, BOB)))
    assert set(course.placed) == {"ada"}
    assert [o for o in outcomes.values() if o.needs_person and reason in o.remark], (
        outcomes
    )


def test_utf8_names_without_the_flag_are_read(course):
    name = "óðinssonbob_12346_678902_a.ipynb".encode()
    assert set(course.collect(course.zip((RawName(name), BOB)))) == {"bob"}


def test_members_of_one_name_are_all_refused(course, recwarn):
    outcomes = course.collect(
        course.zip(
            ("malloryeve_12347_1_a.ipynb", ADA),
            ("malloryeve_12347_1_a.ipynb", BOB),
            ("malloryeve_12347_1_A.ipynb", BOB),
            GOOD,
        )
    )
    assert set(course.placed) == {"ada"}
    assert any(
        "several of this name" in outcome.remark for outcome in outcomes.values()
    )


def test_a_zip_bomb_costs_its_author_only(course):
    outcomes = course.collect(
        course.zip(GOOD, ("malloryeve_12347_1_a.ipynb", bytes(40 << 20)))
    )
    assert set(course.placed) == {"ada"} and "larger than" in outcomes["eve"].remark


def test_large_submissions_add_up_to_a_large_class_and_not_to_a_refusal(course):
    path = course.zip(
        *((f"malloryeve_12347_{n}_{n}.bin", b"x") for n in range(4)), GOOD
    )
    data = bytearray(path.read_bytes())
    for n in range(4):  # four gigabytes each, as it says
        start = data.rindex(b"malloryeve_12347_%d" % n) - 46
        data[start + 24 : start + 28] = struct.pack("<I", 0xFFFFFFF0)
    path.write_bytes(data)
    outcomes = course.collect(path)
    assert set(course.placed) == {"ada"} and "larger than" in outcomes["eve"].remark


def test_archives_that_lie_are_refused_as_a_whole(course, monkeypatch):
    overlapping = course.zip(
        ("malloryeve_12347_1_a.ipynb", bytes(range(256)) * 40), GOOD
    )
    data = bytearray(overlapping.read_bytes())
    second = data.rindex(b"PK\1\2")
    data[second + 42 : second + 46] = struct.pack("<I", 10)  # its bytes begin earlier
    overlapping.write_bytes(data)
    assert "a manipulated archive" in course.collect(overlapping)[""].remark
    cut = course.zip(GOOD)
    cut.write_bytes(cut.read_bytes()[:-30])
    assert "not a readable zip" in course.collect(cut)[""].remark
    monkeypatch.setattr(archives, "MOST_MEMBERS", 0)
    assert "members" in course.collect(course.zip(GOOD))[""].remark
    assert course.placed == {}


def test_a_damaged_member_costs_its_author_only(course):
    path = course.zip(("malloryeve_12347_1_a.ipynb", BOB * 50), GOOD)
    data = bytearray(path.read_bytes())
    data[data.index(b".ipynb") + 10] ^= 0xFF
    path.write_bytes(data)
    outcomes = course.collect(path)
    assert set(course.placed) == {"ada"} and "damaged" in outcomes["eve"].remark


@pytest.mark.parametrize(
    "packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
@pytest.mark.parametrize("place", [4, 9])
def test_a_damaged_zip_of_a_student_costs_its_author_only(course, packed, place):
    """Whoever hands in a zip chooses how it is packed, and what is broken in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packed) as archive:
        archive.writestr("attention.ipynb", bytes(range(256)) * 20)
    data = bytearray(buffer.getvalue())
    start = data.index(b"attention.ipynb") + len("attention.ipynb") + place
    data[start : start + 20] = b"\xff" * 20
    outcomes = course.collect(course.zip(GOOD, ("bob_12346_3_a.zip", bytes(data))))
    assert outcomes["ada"].status == "placed"
    assert "cannot be unpacked" in outcomes["bob"].remark


def test_one_bad_archive_does_not_stop_the_next(course):
    bad = course.root / "bad.zip"
    bad.write_bytes(b"hello")
    outcomes = course.collect(bad, course.root / "nowhere.zip", course.zip(GOOD))
    assert set(course.placed) == {"ada"} and outcomes["ada"].status == "placed"


def test_nothing_is_written_through_a_link(course, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "ada").symlink_to(outside)
    outcomes = course.collect(course.zip(GOOD))
    assert outcomes["ada"].needs_person and "is a link" in outcomes["ada"].remark
    assert list(outside.iterdir()) == []


def test_a_file_in_a_students_place_stops_no_other_student(course):
    (course.root / "submitted" / "ada").mkdir(parents=True)
    (course.root / "submitted" / "ada" / UNIT).write_text("notes")
    outcomes = course.collect(course.zip(GOOD, (CANVAS_BOB, BOB)))
    assert outcomes["ada"].needs_person and "not a folder" in outcomes["ada"].remark
    assert outcomes["bob"].status == "placed"


@pytest.mark.parametrize(
    "lms", [layout.lms.lower() for layout in layouts.all_layouts()]
)
def test_an_archive_of_another_lms_than_the_given_is_told(course, lms):
    path = course.zip(("notes.txt", b"hello"))
    outcomes = course.collect(path, lms=lms)
    assert outcomes[""].needs_person and "names" in outcomes[""].remark


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
    collection = place.Collection(
        UNIT, tmp_path, Roster(), layouts.to_utc("UTC"), replace=True
    )
    for outcome in collection.place([path]):
        assert place.as_text([outcome])


@pytest.mark.parametrize("odd", ["\u200d", "\u200f", "\u202f", "\u00a0"])
def test_a_name_with_what_nobody_sees_is_placed(course, odd):
    """A Persian name has joiners; macOS puts a narrow blank into a screenshot's."""
    names = (
        f"lovelaceada_12345_678901_atten{odd}tion.ipynb",
        f"Bob{odd} Óðinsson_8_assignsubmission_file_/x.ipynb",
    )
    for name in names:
        course.collect(course.zip((name, ADA)))
    assert course.notebook("ada") == course.notebook("bob") == ADA


def test_what_nobody_sees_makes_no_second_name(course):
    outcomes = course.collect(
        course.zip(
            ("malloryeve_12347_1_a.ipynb", ADA),
            ("malloryeve_12347_1_a\u200b.ipynb", BOB),
        )
    )
    assert course.placed == {}
    assert any(
        "several of this name" in outcome.remark for outcome in outcomes.values()
    )


def test_a_file_whose_name_no_disk_takes_gets_a_shorter_one(course):
    course.collect(
        course.zip(
            ("lovelaceada_12345_1_a.ipynb", ADA),
            (f"lovelaceada_12345_2_{'圖' * 99}.png", b"1"),
            (f"lovelaceada_12345_3_{'圖' * 98}.png", b"2"),
            (f"óðinssonbob_12346_2_{'圖' * 99}.ipynb", BOB),
        )
    )
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)
    short = f"{'圖' * 40}...{'圖' * 6}.png"
    assert course.placed["ada"][short] == b"1"
    assert course.placed["ada"][f"2_{short}"] == b"2"
