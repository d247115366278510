"""Moodle takes grades, comments and pages by its web service, and says no in JSON."""

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import sending
from autograder.extras.lti.assignment import LmsMember
from autograder.extras.lti.web import GradeRefusedError
from tests.extras.lti.conftest import MOODLE, configure, make_book, open_moodle
from tests.extras.lti.moodle_server import TOKEN, fault
from tests.extras.lti.server import HungUpError, Reply


def send(root, book=None):
    return sending.send(book or make_book(), root, open_moodle(root), False, False)


def saved(moodle) -> list[str]:
    fields = [r.fields for r in moodle.requests]
    return [f["userid"] for f in fields if f.get("wsfunction", "").endswith("_grade")]


def trouble(moodle, reply, function="mod_assign_save_grade", user=""):
    """Answer some calls with an error."""

    def refuse(request):
        is_meant = request.fields.get("wsfunction") == function
        if is_meant and user in ("", request.fields.get("userid")):
            raise reply

    moodle.trouble = refuse


def test_grades_and_comments_arrive_once(moodle, tmp_path):
    assert send(tmp_path).lines[-1] == "3 sent"
    assert moodle.scores == {"501": "9.50000", "502": "4.00000", "503": "0.00000"}
    assert moodle.comments["501"].endswith("why: Well argued.")
    assert send(tmp_path).lines == ("3 same",) and len(saved(moodle)) == 3


def test_a_third_of_a_point_is_the_same_after_moodle_s_rounding(moodle, tmp_path):
    book = make_book(ada=10 / 3)
    send(tmp_path, book)
    assert moodle.scores["501"] == "3.33333"
    assert send(tmp_path, book).lines == ("3 same",)


def test_people_are_read_with_what_an_institution_calls_them(moodle, tmp_path):
    assert open_moodle(tmp_path).read_people() == [
        LmsMember("501", "Ada Lovelace", "ada@uni.example"),
        LmsMember("502", "Bob Ross"),
        LmsMember("503", "Silent Student", login="silent"),
    ]


def test_teachers_are_no_students(moodle, tmp_path):
    moodle.enrol("9", "Prof", firstname="A", lastname="Prof")
    moodle.users["9"]["roles"] = [{"shortname": "editingteacher"}]
    moodle.users["501"] |= {"firstname": "Ada", "roles": [{"shortname": "student"}]}
    people = open_moodle(tmp_path).read_people()
    assert [person.key for person in people] == ["501", "502", "503"]
    assert people[0].first_name == "Ada"


def test_the_token_is_in_no_address(moodle, tmp_path):
    send(tmp_path)
    assert moodle.requests and not any(TOKEN in r.address for r in moodle.requests)


def test_the_latest_attempt_counts_and_minus_one_is_no_grade(moodle, tmp_path):
    moodle.scores = {"501": "-1.00000", "502": "3.00000"}
    standings = open_moodle(tmp_path).read_standings()
    assert standings["501"].score is None and standings["502"].score == 3.0


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("invalidtoken", "expired or was deleted"),
        ("accessexception", "add it to the service"),
        ("sitemaintenance", "in maintenance"),
    ],
)
def test_a_closed_door_stops_and_a_new_token_continues(moodle, tmp_path, code, remedy):
    trouble(moodle, fault(code), user="502")
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "1 sent, 2 not sent" and remedy in delivery.lines[-2]
    moodle.trouble = lambda request: None
    assert send(tmp_path).is_complete and saved(moodle) == ["501", "502", "502", "503"]


def test_an_expired_token_is_one_line_without_the_token(moodle, tmp_path):
    configure(tmp_path, "moodle", MOODLE.format(moodle.url, "expired-one"))
    with pytest.raises(CourseError, match="expired or was deleted") as refusal:
        open_moodle(tmp_path)
    assert "expired-one" not in str(refusal.value)


def test_a_busy_moodle_is_waited_for(moodle, tmp_path, pauses):
    replies = [Reply(503, "busy", Retry_After="3"), Reply(429, "busy")]

    def busy(request):
        if request.fields.get("wsfunction") == "mod_assign_save_grade" and replies:
            raise replies.pop()

    moodle.trouble = busy
    assert send(tmp_path).is_complete and pauses == [1.0, 3.0]


def test_a_removed_student_is_named_and_the_others_are_graded(moodle, tmp_path):
    def remove(request):
        if request.fields.get("userid") == "502":
            moodle.users.pop("502", None)

    moodle.trouble = remove  # after the list was read
    delivery = send(tmp_path)
    assert not delivery.is_complete and moodle.scores["503"] == "0.00000"
    row = next(line for line in delivery.lines if line.startswith("bob"))
    assert "refused" in row and "not enrolled" in row


def test_a_locked_grade_is_reported_as_not_applied(moodle, tmp_path):
    """Moodle accepts the call, and keeps what is locked in its gradebook."""
    moodle.locked.add("502")
    delivery = send(tmp_path)
    assert "1 not applied" in delivery.lines[-1] and not delivery.is_complete


def test_a_closed_assignment_refuses_each_student(moodle, tmp_path):
    trouble(moodle, fault("nopermission", "Grading is closed"))
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "3 refused" and not delivery.is_complete


def test_a_network_that_is_lost_in_the_middle_continues_later(moodle, tmp_path):
    trouble(moodle, HungUpError(), user="502")
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "1 sent, 2 not sent"
    assert "cannot be reached" in delivery.lines[-2]
    moodle.trouble = lambda request: None
    assert send(tmp_path).is_complete and saved(moodle).count("501") == 1


@pytest.mark.parametrize(
    "reply", [Reply(404, "gone"), Reply(200, "<html>"), Reply(303, "", Location="/x")]
)
def test_what_is_no_moodle_is_one_line(moodle, tmp_path, reply):
    trouble(moodle, reply, "mod_assign_get_assignments")
    with pytest.raises(CourseError, match="Moodle"):
        open_moodle(tmp_path)


def test_an_assignment_that_is_not_there_lists_those_that_are(moodle, tmp_path):
    text = MOODLE.format(moodle.url, TOKEN).replace("= 31", "= 99")
    configure(tmp_path, "moodle", text)
    with pytest.raises(CourseError, match=r"no assignment 99 .* 31 \(Numbers\)"):
        open_moodle(tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "remedy"),
    [
        ("grade", 50, "has 50 points for it, the gradebook 10"),
        ("grade", -3, "set Grade > Type to Point"),
        ("blindmarking", 1, "reveal the identities"),
    ],
)
def test_an_assignment_that_would_mislead_is_refused(
    moodle, tmp_path, field, value, remedy
):
    moodle.assignment[field] = value
    with pytest.raises(CourseError, match=remedy):
        open_moodle(tmp_path)


def test_with_a_marking_workflow_a_grade_waits_for_its_release(moodle, tmp_path):
    moodle.assignment["markingworkflow"] = 1
    send(tmp_path)
    assert set(moodle.states.values()) == {"readyforrelease"}


def test_a_page_comes_beside_grade_and_comment_which_stay(moodle, tmp_path):
    page = tmp_path / "01_numbers.html"
    page.write_bytes(b"<p>Well done</p>")
    send(tmp_path)
    comment = moodle.comments["501"]
    open_moodle(tmp_path).attach("501", page, 9.5, comment)
    assert moodle.pages["501"] == ("01_numbers.html", b"<p>Well done</p>")
    assert (moodle.scores["501"], moodle.comments["501"]) == ("9.50000", comment)


def test_a_page_waits_for_the_grade(moodle, tmp_path):
    page = tmp_path / "01_numbers.html"
    page.touch()
    with pytest.raises(GradeRefusedError, match="send the grade first"):
        open_moodle(tmp_path).attach("501", page, None, "")


def test_a_token_in_the_environment_is_used(moodle, tmp_path, monkeypatch):
    configure(tmp_path, "moodle", MOODLE.format(moodle.url, "expired-one"))
    monkeypatch.setenv("AUTOGRADER_MOODLE_TOKEN", TOKEN)
    assert send(tmp_path).is_complete
