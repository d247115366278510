"""``--to``, ``--from`` and ``--dry-run`` on a graded course, from the command line."""

import pytest

from autograder import cli
from autograder.classroom.classbook import Student
from autograder.classroom.lms.roster import from_csv
from autograder.course.files import read_json_state
from tests.extras.lti.canvas_server import TOKEN
from tests.extras.lti.conftest import CANVAS, UNIT, configure
from tests.tiny_course import data, read, solve_release


@pytest.fixture
def run(graded, canvas, capsys):
    """Run a command of the graded course, whose settings know Canvas."""
    configure(graded, "canvas", CANVAS.format(canvas.url, TOKEN))
    canvas.users["503"]["sis_user_id"] = "silent"

    def run(*words: str) -> tuple[int, str]:
        status = cli.main([words[0], "01", *words[1:], "--course", str(graded)])
        output = capsys.readouterr()
        assert TOKEN not in output.out + output.err
        return status, output.out + output.err

    return run


def test_grades_are_sent_after_a_dry_run(run, canvas, graded):
    dry = run("grades", "--to", "canvas", "--dry-run")
    assert canvas.scores["503"] is None and "1 send" in dry[1]
    status, output = run("grades", "--to", "canvas")
    assert status == 1 and "no grade for cut" in output
    assert "2 waiting, 1 sent" in output and canvas.scores["503"] == 0.0
    journal = graded / ".autograder" / "sent" / f"{UNIT}.json"
    assert TOKEN not in journal.read_text()
    (accepted,) = read_json_state(journal).values()
    assert set(accepted) == {"silent"}


def test_a_refused_student_is_sent_as_zero_only_if_asked(run, canvas):
    canvas.enrol("504", "Cut", sis_user_id="cut")
    run("grades", "--to", "canvas")
    assert canvas.scores["504"] is None
    status, _ = run("grades", "--to", "canvas", "--zero-refused")
    assert status == 0 and canvas.scores["504"] == 0.0


def test_hand_ins_are_collected_with_their_times(run, canvas, graded):
    notebook = data(solve_release(read(graded, "release"), words="from Canvas"))
    canvas.hand_ins["502"] = ("2026-01-05T10:00:00Z", {f"{UNIT}.ipynb": notebook})
    status, output = run("collect", "--from", "canvas", "--replace")
    assert status == 0 and "1 replaced" in output
    folder = graded / "submitted" / "bob" / UNIT
    assert (folder / f"{UNIT}.ipynb").read_bytes() == notebook
    assert (folder / "timestamp.txt").read_text() == "2026-01-05 10:00:00 UTC"


def test_a_roster_is_written_that_collect_reads(run, canvas, graded):
    canvas.users["501"] |= {"login_id": "ada", "sortable_name": "King, Ada"}
    status, output = run("lms-roster", "canvas")
    assert status == 0 and output.strip().endswith("roster-canvas.csv")
    entries = from_csv(graded / "reports" / "roster-canvas.csv").entries
    ada = next(entry for entry in entries if entry.student.id == "ada")
    assert ada.username == "ada"
    assert ada.student == Student("ada", "Ada", "King", "ada@uni.example", "501")


def test_feedback_is_attached_once(run, canvas, graded):
    page = graded / "feedback" / "bob" / UNIT / f"{UNIT}.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>Bob</p>")
    assert "1 of 1 pages would" in run("feedback", "--to", "canvas", "--dry-run")[1]
    assert not canvas.uploads
    assert "1 of 1 pages attached" in run("feedback", "--to", "canvas")[1]
    assert "0 of 1 pages attached" in run("feedback", "--to", "canvas")[1]
    assert [content for _, content in canvas.uploads.values()] == [b"<p>Bob</p>"]


@pytest.mark.parametrize(
    "words",
    [
        ("grades",),
        ("grades", "--to", "canvas", "--format", "moodle"),
        ("grades", "--format", "moodle", "--dry-run"),
        ("grades", "--format", "moodle", "--lower"),
        ("grades", "--to", "canvas", "--column", "x"),
        ("collect",),
        ("collect", "a.zip", "--from", "canvas"),
        ("feedback", "--dry-run"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(run, words):
    assert run(*words)[0] == 2


def test_a_file_with_secrets_that_others_may_read_stops_it(run, canvas, graded):
    (graded / ".autograder" / "lms.toml").chmod(0o644)
    status, output = run("grades", "--to", "canvas")
    assert status == 1 and "chmod 600" in output and not canvas.requests
