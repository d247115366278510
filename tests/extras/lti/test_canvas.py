"""Canvas takes grades, comments and pages by token, and says no in its own ways."""

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import sending
from autograder.extras.lti.assignment import LmsMember
from autograder.extras.lti.web import GradeRefusedError
from tests.extras.lti.canvas_server import TOKEN, UNAUTHORIZED
from tests.extras.lti.conftest import CANVAS, configure, make_book, open_canvas
from tests.extras.lti.server import HungUpError, Reply


def send(root, book=None):
    return sending.send(book or make_book(), root, open_canvas(root), False, False)


def puts(canvas) -> list[str]:
    return [r.path.rpartition("/")[2] for r in canvas.requests if r.method == "PUT"]


def trouble(canvas, reply, method="PUT", end=""):
    """Answer some requests with an error."""

    def refuse(request):
        if request.method == method and request.path.endswith(end):
            raise reply

    canvas.trouble = refuse


def test_grades_and_comments_arrive_once(canvas, tmp_path):
    assert send(tmp_path).lines[-1] == "3 sent"
    assert canvas.scores == {"501": 9.5, "502": 4.0, "503": 0.0}
    assert canvas.comments["501"] == [
        "01_numbers: 9.5 of 10 points.\nwhy: Well argued."
    ]
    assert send(tmp_path).lines == ("3 same",) and len(puts(canvas)) == 3


def test_people_are_read_from_all_pages_with_what_an_institution_calls_them(
    canvas, tmp_path
):
    assert open_canvas(tmp_path).read_people() == [
        LmsMember("501", "Ada Lovelace", "ada@uni.example"),
        LmsMember("502", "Bob Ross"),
        LmsMember("503", "Silent Student", number="silent"),
    ]


def test_an_excused_student_stays_excused(canvas, tmp_path):
    canvas.excused.add("502")
    assert send(tmp_path).lines[-1] == "2 sent, 1 excused"
    assert canvas.scores["502"] is None


@pytest.mark.parametrize("shown", [{"entered_score": 4.0}, {"points_deducted": 3.0}])
def test_a_score_is_compared_before_canvas_s_own_deduction(canvas, tmp_path, shown):
    def deduct(key):
        entry = original(key)
        del entry["entered_score"]
        return entry | ({"score": 1.0} | shown if key == "502" else {})

    original, canvas._submission = canvas._submission, deduct
    assert send(tmp_path).lines[-1] == "2 sent, 1 same"


def test_an_expired_token_is_one_line_without_the_token(canvas, tmp_path):
    configure(tmp_path, "canvas", CANVAS.format(canvas.url, "7~expired-one"))
    with pytest.raises(CourseError, match="expired or was deleted") as refusal:
        open_canvas(tmp_path)
    assert "7~expired-one" not in str(refusal.value)


def test_a_token_that_expires_in_the_middle_stops_and_a_new_one_continues(
    canvas, tmp_path
):
    expired = Reply(401, {"errors": [{"message": "x"}]}, WWW_Authenticate="Bearer")
    trouble(canvas, expired, end="/502")
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "1 sent, 2 not sent" and not delivery.is_complete
    assert "make a new one" in delivery.lines[-2]
    canvas.trouble = lambda request: None
    assert send(tmp_path).is_complete and puts(canvas) == ["501", "502", "502", "503"]


@pytest.mark.parametrize("status", [429, 403, 503])
def test_a_busy_canvas_is_waited_for_as_long_as_it_says(
    canvas, tmp_path, pauses, status
):
    replies = [Reply(status, "403 Forbidden (Rate Limit Exceeded)", Retry_After="7")]

    def busy(request):
        if request.method == "PUT" and replies:
            raise replies.pop()

    canvas.trouble = busy
    assert send(tmp_path).is_complete and pauses == [7.0]
    assert puts(canvas) == ["501", "501", "502", "503"]


def test_without_a_time_the_pauses_double_until_the_run_gives_up(
    canvas, tmp_path, pauses
):
    trouble(canvas, Reply(429, "Rate Limit Exceeded"))
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "3 not sent"
    assert "is too busy" in delivery.lines[-2]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


def test_a_removed_student_is_named_and_the_others_are_graded(canvas, tmp_path):
    def remove(request):
        if request.method == "PUT" and request.path.endswith("/502"):
            canvas.users.pop("502", None)

    canvas.trouble = remove  # after the list was read
    delivery = send(tmp_path)
    assert not delivery.is_complete and canvas.scores["503"] == 0.0
    assert any("bob" in line and "refused" in line for line in delivery.lines)
    delivery = send(tmp_path)
    assert any("bob" in line and "not in the LMS" in line for line in delivery.lines)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401, UNAUTHORIZED),
        Reply(400, {"message": "The grading period is closed"}),
        Reply(403, {"errors": [{"message": "The assignment is closed"}]}),
        Reply(422, {"errors": [{"message": "unprocessable"}]}),
    ],
)
def test_a_closed_assignment_refuses_each_student(canvas, tmp_path, reply):
    trouble(canvas, reply)
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "3 refused" and not delivery.is_complete
    assert len(puts(canvas)) == 3


def test_a_network_that_is_lost_in_the_middle_continues_later(canvas, tmp_path):
    trouble(canvas, HungUpError(), end="/502")
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "1 sent, 2 not sent"
    assert "cannot be reached" in delivery.lines[-2]
    canvas.trouble = lambda request: None
    assert send(tmp_path).is_complete and puts(canvas).count("501") == 1


def test_a_fault_of_canvas_stops_the_run(canvas, tmp_path):
    trouble(canvas, Reply(500, "oops"), end="/502")
    assert send(tmp_path).lines[-1] == "1 sent, 2 not sent"


def test_what_is_no_canvas_is_one_line(canvas, tmp_path):
    trouble(canvas, Reply(200, "<html>Log in</html>"), method="GET")
    with pytest.raises(CourseError, match="Canvas"):
        open_canvas(tmp_path)
    trouble(canvas, Reply(404, {"errors": []}), method="GET")
    with pytest.raises(CourseError, match="no such course or assignment"):
        open_canvas(tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "remedy"),
    [
        ("points_possible", 50.0, "has 50 points for it, the gradebook 10"),
        ("points_possible", None, "has 0 points"),
        ("anonymize_students", True, "turn anonymous grading off"),
        ("grading_type", "pass_fail", 'set "Display Grade as" to Points'),
        ("published", False, "publish it"),
    ],
)
def test_an_assignment_that_would_mislead_is_refused(
    canvas, tmp_path, field, value, remedy
):
    canvas.assignment[field] = value
    with pytest.raises(CourseError, match=remedy):
        open_canvas(tmp_path)


def test_a_page_is_attached_to_a_comment(canvas, tmp_path):
    page = tmp_path / "01_numbers.html"
    page.write_bytes(b"<p>Well done</p>")
    open_canvas(tmp_path).attach("501", page, 9.5, "")
    assert canvas.uploads[1] == ("01_numbers.html", b"<p>Well done</p>")
    assert canvas.comments["501"] == ["1"] and canvas.scores["501"] is None
    upload = next(r for r in canvas.requests if r.path == "/upload")
    assert TOKEN not in str(upload.headers), "it goes to another host"


def test_a_page_that_canvas_does_not_store_is_refused(canvas, tmp_path):
    page = tmp_path / "01_numbers.html"
    page.touch()
    trouble(canvas, Reply(200, {"message": "quota exceeded"}), "POST", "/upload")
    with pytest.raises(GradeRefusedError, match="quota exceeded"):
        open_canvas(tmp_path).attach("501", page, 9.5, "")
