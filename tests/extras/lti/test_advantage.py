"""Scores reach an LTI 1.3 platform that we did not write, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import advantage, keys, sending, settings
from tests.extras.lti.conftest import UNIT, configure, make_book

pytest.importorskip("lti1p3platform")
pytest.importorskip("uvicorn")

from tests.extras.lti.platform_server import CLIENT, TEACHER, PlatformServer

pytestmark = pytest.mark.slow
SETTINGS = """\
client_id = "{client}"
token_url = "{url}/token"
lineitems = "{url}/lineitems"
memberships = "{url}/members"
"""


@pytest.fixture
def platform(tmp_path):
    """A platform with a class of three, which knows the key of the course here."""
    jwk, _ = keys.create(tmp_path)
    server = PlatformServer(jwk)
    server.enrol("a-1", "Ada Lovelace", email="ada@uni.example")
    server.enrol("b-2", "Bob Ross")
    server.enrol("s-3", "Silent", lis_person_sourcedid="silent")
    server.enrol("t-9", "Bob Ross", TEACHER)
    server.add_item(label="Essay", scoreMaximum=5)
    server.add_item(label="Another", scoreMaximum=5, tag="another")
    with server.running():
        configure(tmp_path, "lti", SETTINGS.format(url=server.url, client=CLIENT))
        yield server


def open_lti(root: Path) -> advantage.AdvantageAssignment:
    return advantage.AdvantageAssignment(settings.read(root, "lti"), root, UNIT, 10.0)


def send(root: Path, book=None, is_trial=False, may_lower=False):
    return sending.send(book or make_book(), root, open_lti(root), is_trial, may_lower)


def test_scores_comments_and_times_arrive_once(platform, tmp_path):
    folder = tmp_path / "submitted" / "ada" / UNIT
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2026-01-05 10:00:00 UTC")
    assert send(tmp_path).lines[-1] == "3 sent"
    item = platform.items["3"]
    assert (item["label"], item["tag"], item["scoreMaximum"]) == (UNIT, UNIT, 10.0)
    score = platform.scores["3", "a-1"]
    assert (score["scoreGiven"], score["scoreMaximum"]) == (9.5, 10.0)
    assert score["comment"].endswith("why: Well argued.")
    assert score["gradingProgress"] == "FullyGraded"
    assert score["submission"]["submittedAt"] == "2026-01-05T10:00:00.000+00:00"
    assert score["timestamp"].endswith("+00:00")
    assert {user for _, user in platform.scores} == {"a-1", "b-2", "s-3"}
    assert send(tmp_path).lines == ("3 same",) and len(platform.items) == 3


def test_a_dry_run_creates_no_line_item(platform, tmp_path):
    assert send(tmp_path, is_trial=True).lines[-1] == "3 send"
    assert len(platform.items) == 2 and not platform.scores


def test_points_are_scaled_to_what_the_lms_has(platform, tmp_path):
    platform.add_item(label="In the LMS", scoreMaximum=200)
    text = SETTINGS.format(url=platform.url, client=CLIENT)
    configure(tmp_path, "lti", f'{text}assignments.{UNIT} = "In the LMS"\n')
    assert send(tmp_path).is_complete and ("3", "a-1") in platform.scores
    assert send(tmp_path).lines == ("3 same",)
    assert "1 lower" in send(tmp_path, make_book(ada=9.0)).lines[-1]
    assert send(tmp_path, make_book(ada=9.0), may_lower=True).is_complete
    assert platform.scores["3", "a-1"]["scoreGiven"] == 9.0


def test_one_token_serves_a_run(platform, tmp_path):
    send(tmp_path)
    assert platform.tokens == 2, "one for grades, one for names"


def test_a_score_that_is_not_applied_names_the_student(platform, tmp_path):
    platform.closed.add("b-2")
    delivery = send(tmp_path)
    assert delivery.lines[-1] == "2 sent, 1 refused" and not delivery.is_complete
    platform.closed.clear()
    assert send(tmp_path).is_complete


def test_a_removed_student_is_named(platform, tmp_path):
    platform.members[1]["status"] = "Inactive"
    assert "1 not in the LMS" in send(tmp_path).lines[-1]


def test_a_key_that_the_platform_does_not_know_is_one_line(platform, tmp_path):
    (tmp_path / keys.FILE).unlink()
    keys.create(tmp_path)
    with pytest.raises(CourseError, match="gives us no token: 401") as refusal:
        open_lti(tmp_path)
    assert "PRIVATE" not in str(refusal.value)


def test_launches_tell_where_the_services_are_and_who_is_who(platform, tmp_path):
    """The claims of two launches are the platform's own."""
    from lti1p3platform.ags import LtiAgs
    from lti1p3platform.nrps import LtiNrps

    from autograder.extras.lti.launches import note_launch

    platform.members[1]["name"] = "R. Ross"  # no longer what the gradebook has
    claims = LtiAgs(f"{platform.url}/lineitems", None, True).get_lti_ags_launch_claim()
    names = LtiNrps(f"{platform.url}/members").get_lti_nrps_launch_claim()
    claims = json.loads(json.dumps(claims | names))
    for user, name in (("b-2", "bob"), ("t-9", "prof")):
        note_launch(tmp_path, {"name": name, "auth_state": {"sub": user, **claims}})
    text = SETTINGS.format(url=platform.url, client=CLIENT).splitlines()[:2]
    configure(tmp_path, "lti", "\n".join(text))
    assert send(tmp_path).lines[-1] == "3 sent"
    assert ("3", "b-2") in platform.scores
