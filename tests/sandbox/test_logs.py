"""A log line names its process and its subject, and holds no control character."""

import logging
import subprocess
from pathlib import Path

import pytest
from traitlets.config import Application

from autograder.sandbox import launch, logs

log = logging.getLogger("autograder.tried")


@pytest.fixture
def begun(capsys):
    """Begin to log, as a process of this name; what is in the log so far."""
    logger = logging.getLogger("autograder")
    before, level = logger.handlers[:], logger.level

    def begin(process: str, debug: bool):
        logs.begin(process, debug)
        return lambda: capsys.readouterr().err

    yield begin
    logger.handlers[:] = before
    logger.setLevel(level)


def test_a_line_says_process_level_and_subject(begun):
    read_log = begun("judge", True)
    with logs.about("attention/softmax of 1f3a"):
        log.debug("decided in %s s", 0.25)
    log.info("idle")
    line, after = read_log().splitlines()
    assert line.startswith("[judge ")
    assert line.endswith("] DEBUG attention/softmax of 1f3a: decided in 0.25 s")
    assert after.endswith("] INFO idle")


def test_only_warnings_and_errors_show_unless_debug_lines_are_wanted(begun):
    read_log = begun("judge", False)
    log.debug("asked")
    log.warning("lost")
    assert read_log().endswith("] WARNING lost\n")
    assert not logs.shows_debug()


@pytest.mark.parametrize(("level", "count"), [(logging.DEBUG, 1), (logging.INFO, 0)])
def test_debug_lines_show_if_the_application_shows_its_own(begun, level, count):
    read_log = begun("before", False)
    logs.follow(Application(log_level=level))
    log.debug("begins")
    assert read_log().count("[nbgrader ") == count


def test_nothing_changes_where_there_is_no_application(begun):
    read_log = begun("before", False)
    logs.follow(None)
    log.warning("lost")
    assert read_log().startswith("[before ")


def test_a_forked_process_gets_a_name_of_its_own(begun):
    read_log = begun("fork server", True)
    logs.name_process("worker")
    log.debug("begins")
    assert read_log().startswith("[worker ")


def test_a_student_s_text_makes_no_line_and_no_colour(begun):
    read_log = begun("judge", True)
    log.debug("%s", "é\n[judge 1] ERROR forged\x1b[31m\u202e")
    assert read_log().endswith("é\\n[judge 1] ERROR forged\\x1b[31m\\u202e\n")


def test_the_lines_of_a_traceback_are_indented_and_escaped(begun):
    read_log = begun("judge", False)
    try:
        raise ValueError("first\nsecond\x1b[31m")
    except ValueError:
        log.exception("not judged")
    first, *later = read_log().splitlines()
    assert first.endswith("] ERROR not judged")
    assert all(line.startswith("    ") for line in later)
    assert later[-1] == "    second\\x1b[31m"


@pytest.mark.parametrize(("debug", "message"), [(True, "seen"), (False, "")])
def test_a_process_that_is_started_logs_as_this_one_does(
    begun, debug, message, tmp_path, monkeypatch
):
    begun("nbgrader", debug)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    (tmp_path / "started.py").write_text(
        "import logging, sys\n"
        "def main():\n"
        "    logging.getLogger('autograder.x').debug('seen')\n"
        "    print(sys.argv[1:])\n"
    )
    ended = subprocess.run(
        [*launch.command("started"), "7"], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "['7']\n"
    assert ended.stderr.rpartition("DEBUG ")[2].strip() == message
