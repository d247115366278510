"""The gradebook in PostgreSQL, on a real server that the tests start."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades
from traitlets.config import Config

from autograder.grading import converter
from tests import tiny_course as tiny
from tests.tiny_course import UNIT, RunHere, good, hand_in, run_nbgrader

pytest.importorskip("psycopg", reason="the extra `postgres`")


class Server:
    """A server of PostgreSQL that listens on a socket in a folder of its own."""

    def __init__(self, programs: Path, folder: Path):
        self._programs, self._folder = programs, folder
        # As root it refuses to run; any other account will do.
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        self._run("initdb", "--auth=trust", "--username=teacher")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://teacher@/postgres?host={self._folder}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self._folder}"
        self._run(
            "pg_ctl", "--options", options, "-l", f"{self._folder}/log", "-w", "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-m", "immediate", "-w", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", f"{self._folder}/data", *arguments],
            user=self._user,
            cwd=self._folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _programs() -> Path | None:
    """Where PostgreSQL's programs are; Debian keeps them off the path."""
    if program := shutil.which("initdb"):
        return Path(program).parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), None)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if (programs := _programs()) is None:
        pytest.skip("PostgreSQL is not installed")
    # Not in pytest's folder, which other accounts may not enter.
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        postgres = Server(programs, Path(folder))
        yield postgres
        postgres.stop()


@pytest.fixture
def course(server: Server, tmp_path: Path) -> Path:
    assert converter.install()
    with Gradebook(server.url, "tiny") as book:
        if UNIT in {assignment.name for assignment in book.assignments}:
            book.remove_assignment(UNIT)
    root = tmp_path / "course"
    path = root / "source" / UNIT / f"{UNIT}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(tiny.data(tiny.source_notebook()))
    assert run_nbgrader(root, "generate_assignment", UNIT, config=settings(server))[
        "success"
    ]
    return root


def settings(server: Server) -> Config:
    config = Config()
    config.CourseDirectory.db_url = server.url
    config.Autograde.autograde_preprocessors = [RunHere, SaveAutoGrades]
    return config


def autograde(server: Server, root: Path) -> dict:
    config = settings(server)
    return run_nbgrader(root, "autograde", UNIT, "*", force=False, config=config)


def points(server: Server) -> dict[str, dict[str, float | None]]:
    with Gradebook(server.url, "tiny") as book:
        return {
            submission.student_id: {
                grade.name.removeprefix("numbers-"): grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in book.assignment_submissions(UNIT)
        }


def test_a_class_is_graded_into_postgresql(server, course):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course, double="def double(x):\n    return x"))
    hand_in(course, "eve", b"no notebook")
    result = autograde(server, course)
    assert "2 graded, 1 refused" in result["log"]
    assert not (course / "gradebook.db").exists()
    assert points(server) == {
        "ada": {"double": 2.0, "triple": 4.0, "why": None},
        "bob": {"double": 0.0, "triple": 4.0, "why": None},
        "eve": {"double": 0.0, "triple": 0.0, "why": 0.0},
    }
    assert "2 up to date, 1 refused" in autograde(server, course)["log"]


def test_a_server_that_is_away_for_a_moment_is_waited_for(server, course):
    hand_in(course, "ada", good(course))
    server.stop()
    back = threading.Timer(2.0, server.start)
    back.start()
    try:
        result = autograde(server, course)
    finally:
        back.join()
    assert "waiting for it" in result["log"] and result["success"], result["log"]
    assert points(server) == {"ada": {"double": 2.0, "triple": 4.0, "why": None}}
