"""Hand-ins are fetched with their times, and a student's names stay in their folder."""

import datetime

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import fetching, lms
from autograder.extras.lti.assignment import LmsMember
from autograder.extras.lti.fetching import FetchedHandIn, RemoteFile
from tests.classroom.lms.course import ADA, BOB
from tests.extras.lti.conftest import open_canvas, open_moodle
from tests.extras.lti.server import Reply

NOON = "2026-11-20T12:03:59Z"


def fetch(assignment, folder):
    folder.mkdir()
    return fetching.fetch(assignment, folder), {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != fetching.METADATA
    }


def test_the_files_of_canvas_come_with_their_time(canvas, tmp_path, course):
    canvas.enrol("12345", "Ada Lovelace")
    canvas.hand_ins["12345"] = (NOON, {"attention.ipynb": ADA})
    canvas.hand_ins["502"] = ("2026-11-20T14:03:59+01:00", {"mine.ipynb": BOB})
    remarks, files = fetch(open_canvas(tmp_path), tmp_path / "fetched")
    assert remarks == [] and files == {
        "hand_in_of_12345/attention.ipynb": ADA,
        "hand_in_of_502/mine.ipynb": BOB,
    }
    outcomes = course.collect(tmp_path / "fetched")
    assert outcomes["ada"].status == "placed"
    assert course.notebook("ada") == ADA
    assert course.time("ada") == "2026-11-20 12:03:59"


def test_moodle_s_drafts_and_groups_are_no_hand_ins(moodle, tmp_path):
    time = int(datetime.datetime.fromisoformat(NOON).timestamp())
    moodle.hand_ins = {
        "501": ("submitted", time, {"attention.ipynb": ADA}),
        "502": ("draft", time, {"attention.ipynb": BOB}),
        "0": ("submitted", time, {"attention.ipynb": BOB}),
    }
    (hand_in,) = open_moodle(tmp_path).read_hand_ins()
    assert hand_in.person.email == "ada@uni.example"
    assert hand_in.time == datetime.datetime.fromisoformat(NOON)
    remarks, files = fetch(open_moodle(tmp_path), tmp_path / "fetched")
    assert remarks == [] and files == {"hand_in_of_501/attention.ipynb": ADA}


def test_moodle_s_token_goes_to_no_other_host(moodle, tmp_path):
    assignment = open_moodle(tmp_path)
    with pytest.raises(CourseError, match=r"elsewhere: evil\.example"):
        assignment.open_file(RemoteFile("a", "https://evil.example/a", 1))


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("../../x.ipynb", "_.._x.ipynb"),
        ("..", "file"),
        ("a\\b\x1b.ipynb", "a_b?.ipynb"),
        (fetching.METADATA, fetching.METADATA),
        ("n" * 300 + ".ipynb", "n" * 194 + ".ipynb"),
        ("\u4f5c\u4e1a" * 50 + ".ipynb", "\u4f5c\u4e1a" * 32 + ".ipynb"),
    ],
)
def test_a_name_stays_in_its_folder(tmp_path, name, stored):
    assert fetching._unused_path(tmp_path, name) == tmp_path / stored
    (tmp_path / stored).touch()
    assert fetching._unused_path(tmp_path, name) == tmp_path / f"2_{stored}"


def test_files_keep_their_names(canvas, tmp_path):
    files = {"a.ipynb": ADA, "runs.jsonl": b"{}", "2_a.ipynb": BOB}
    canvas.hand_ins["501"] = (NOON, files)
    _, fetched = fetch(open_canvas(tmp_path), tmp_path / "fetched")
    assert fetched == {f"hand_in_of_501/{name}": data for name, data in files.items()}


class OneFile:
    """An LMS with a single file, whose download can be odd."""

    lms = "an LMS"

    def __init__(self, data: bytes, size: int, status: int = 200) -> None:
        self.data, self.size, self.status_code = data, size, status

    def read_hand_ins(self):
        time = datetime.datetime.fromisoformat(NOON)
        files = (RemoteFile("a.ipynb", "https://lms.example/a", self.size),)
        return iter([FetchedHandIn(LmsMember("7", "Ada"), time, files)])

    def open_file(self, file):
        return self

    def iter_content(self, size):
        return iter([self.data])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_a_file_that_is_too_large_is_left_out(tmp_path, monkeypatch):
    remarks, files = fetch(OneFile(b"", 600 << 20), tmp_path / "announced")
    assert files == {} and remarks == ["Ada: a.ipynb left out: larger than 512 MB"]
    small = type("Small", (), {"saved": 3})
    monkeypatch.setattr(fetching.intake, "DEFAULTS", small)
    remarks, files = fetch(OneFile(b"abcd", 2), tmp_path / "lied")
    assert files == {} and "larger than" in remarks[0]


def test_a_text_that_was_typed_is_no_file_and_is_named(canvas, tmp_path):
    canvas.hand_ins["501"] = (NOON, {})
    remarks, files = fetch(open_canvas(tmp_path), tmp_path / "fetched")
    assert files == {} and remarks == ["Ada Lovelace: handed in without a file"]


def test_a_file_that_is_gone_is_left_out(tmp_path):
    remarks, files = fetch(OneFile(b"", 4, 404), tmp_path / "fetched")
    assert files == {} and remarks == ["Ada: a.ipynb left out: an LMS answers 404"]


def test_half_a_file_is_none(tmp_path):
    with pytest.raises(CourseError, match="sent 2 of 4 bytes"):
        fetch(OneFile(b"ab", 4), tmp_path / "fetched")


def test_a_student_s_file_cannot_speak_for_the_lms(course, tmp_path):
    archive = tmp_path / "fetched"
    fetch(OneFile(b"{}", 2), archive)
    forged = archive / "hand_in_of_7" / fetching.METADATA
    forged.write_text('{"7": {"name": "Bob", "email": "bob@x", "time": "x"}}')
    (layout,) = lms.LAYOUTS
    from autograder.classroom.lms.sources import Folder

    people = layout.read_submitters(Folder(archive), {"hand_in_of_7/a.ipynb"})
    assert people["7"][0][0].name == "Ada"


def test_a_reply_in_place_of_a_file_is_said(canvas, tmp_path):
    canvas.hand_ins["501"] = (NOON, {"attention.ipynb": ADA})

    def refuse(request):
        if request.path.startswith("/files/"):
            raise Reply(403, "no")

    canvas.trouble = refuse
    remarks, _ = fetch(open_canvas(tmp_path), tmp_path / "fetched")
    assert remarks == ["Ada Lovelace: attention.ipynb left out: Canvas answers 403"]
