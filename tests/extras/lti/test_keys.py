"""The course's key is made once, is private, and its public half fits both LMSs."""

import json

import pytest

from autograder import cli
from autograder.course.errors import CourseError
from autograder.extras.lti import keys

pytest.importorskip("jwcrypto")


def test_a_key_is_made_once_and_is_private(tmp_path):
    jwk, pem = keys.create(tmp_path)
    assert keys.create(tmp_path) == (jwk, pem)
    assert (tmp_path / keys.FILE).stat().st_mode & 0o777 == 0o600


def test_what_an_lms_is_given_has_nothing_private(tmp_path, capsys):
    assert cli.main(["lti-key", "--course", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    jwk = json.loads(out.splitlines()[1])
    assert set(jwk) == {"kty", "n", "e", "kid", "alg", "use"}
    assert (jwk["alg"], jwk["use"]) == ("RS256", "sig")
    assert "BEGIN PUBLIC KEY" in out and "PRIVATE" not in out


def test_a_key_that_others_may_read_is_refused(tmp_path):
    keys.create(tmp_path)
    (tmp_path / keys.FILE).chmod(0o640)
    with pytest.raises(CourseError, match=r"chmod 600 .*lti_key\.pem"):
        keys.read(tmp_path)


def test_a_missing_or_damaged_key_is_one_line(tmp_path):
    with pytest.raises(CourseError, match="run: autograder lti-key"):
        keys.read(tmp_path)
    keys.create(tmp_path)
    for damaged in (b"gone", b"\xff\xfe"):
        (tmp_path / keys.FILE).write_bytes(damaged)
        with pytest.raises(CourseError, match="is damaged"):
            keys.read(tmp_path)
