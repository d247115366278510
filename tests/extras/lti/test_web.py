"""An LMS that is slow, busy or gone ends in one line."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import requests

from autograder.course.errors import CourseError
from autograder.extras.lti import web
from tests.extras.lti.server import LmsServer, Reply


class Busy(LmsServer):
    """A server that is busy once, or a given number of ``times``."""

    def __init__(self, status: int = 429, times: int = 1, **headers: str) -> None:
        super().__init__()
        busy = Reply(status, "busy", **headers)
        self.replies = [Reply(200, "done"), *[busy] * times]

    def answer(self, request):
        return self.replies.pop()


def test_a_date_to_come_back_at_is_waited_for(pauses):
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with Busy(503, Retry_After=when) as server:
        assert web.PatientSession().get(server.url).text == "done"
    assert len(pauses) == 1 and 60 < pauses[0] <= 90


@pytest.mark.parametrize("told", ["soon", "-5", ""])
def test_an_odd_pause_is_none_below_zero(pauses, told):
    with Busy(429, Retry_After=told) as server:
        web.PatientSession().get(server.url)
    assert pauses == [0.0 if told == "-5" else 1.0]


def test_an_hour_is_not_waited_for(pauses):
    with (
        Busy(429, Retry_After="3600") as server,
        pytest.raises(CourseError, match="wait 60 minutes"),
    ):
        web.PatientSession().get(server.url)
    assert pauses == []


def test_after_the_last_pause_the_server_is_asked_once_more(pauses):
    with Busy(times=6) as server:
        assert web.PatientSession().get(server.url).text == "done"
    with Busy(times=7) as server, pytest.raises(CourseError, match="is too busy"):
        web.PatientSession().get(server.url)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0] * 2


def test_another_403_is_an_answer(pauses):
    with Busy(403) as server:
        assert web.PatientSession().get(server.url).status_code == 403
    assert pauses == []


def test_a_silent_server_is_given_up(monkeypatch):
    seen = {}

    def note(session, method, url, **keywords):
        seen.update(keywords)
        return Reply(200)

    monkeypatch.setattr(web, "_is_busy", lambda response: False)
    monkeypatch.setattr(requests.Session, "request", note)
    web.PatientSession().get("https://lms.example")
    assert seen["timeout"] == (10.0, 60.0)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (requests.ConnectTimeout("https://x?token=s"), r"cannot be reached .*continue"),
        (requests.exceptions.SSLError("s"), "certificate of Moodle is not valid"),
        (requests.exceptions.JSONDecodeError("s", "s", 0), "is the address right"),
        (KeyError("s"), "answered what cannot be read"),
    ],
)
def test_what_goes_wrong_on_the_way_is_one_line_without_details(error, said):
    with pytest.raises(CourseError, match=said) as line, web.network("Moodle"):
        raise error
    assert "token=s" not in str(line.value)


def test_a_host_is_told_without_what_may_be_secret():
    assert web.host("https://me:pass@lms.example:8/x?token=s") == "lms.example:8"


def test_what_an_lms_says_is_the_end_of_a_line():
    assert web.shorten("a\n\x1b[31mb" + "c" * 500) == "a ?[31mb" + "c" * 192
