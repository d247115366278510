"""Grading in several processes: the same results, and no process that matters."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from nbgrader.preprocessors import SaveAutoGrades

from autograder.course.errors import CourseError
from autograder.grading.workers import parallel
from autograder.grading.workers.parallel import Pool, SetupError
from tests.grading.eventful import (
    FULL,
    NONE,
    autograde,
    await_file,
    published,
    settings,
    share,
    task,
    wish,
)
from tests.tiny_course import (
    UNIT,
    RunHere,
    good,
    gradebook,
    hand_in,
    points,
    run_nbgrader,
)

ROOT = Path(__file__).parents[3]


# --- the same results ----------------------------------------------------------------


def test_any_number_of_jobs_gives_the_same_gradebook_and_notebooks(course, tmp_path):
    for student in ("ada", "bob", "cyd", "dan"):
        hand_in(course, student, good(course))
    hand_in(course, "eve", good(course, double="def double(x):\n    return x"))
    hand_in(course, "bad", good(course)[:100])
    alone = tmp_path / "alone"
    shutil.copytree(course, alone)
    logs = [autograde(alone, jobs=1)["log"], autograde(course, jobs=3)["log"]]
    assert gradebook(course) == gradebook(alone)
    for student in gradebook(alone):
        assert published(course, student) == published(alone, student)
    warnings = [[li for li in log.splitlines() if "person" in li] for log in logs]
    assert warnings[0] == warnings[1] != []


def test_results_are_recorded_in_the_order_of_students_whatever_is_ready_first(
    course, tmp_path, monkeypatch
):
    """And what is shared starts once, before the first is graded."""

    def warm():
        with (tmp_path / "begun").open("a") as file:
            file.write("warm\n")

    share(monkeypatch, wait=warm)
    wish(course, "ada", late=tmp_path / "bob is done")
    wish(course, "bob", early=tmp_path / "bob is done", late=tmp_path / "begun")
    wish(course, "cyd", warn="")
    log = autograde(course)["log"]
    assert log.count("it swaps") == 1, "a command logs what its workers log"
    assert (tmp_path / "begun").read_text() == "warm\n"
    assert points(course) == {"ada": FULL, "bob": FULL, "cyd": FULL}
    stamps = [
        (course / "autograded" / name / UNIT / f"{UNIT}.ipynb").stat().st_mtime_ns
        for name in ("ada", "bob", "cyd")
    ]
    assert stamps == sorted(stamps), log
    monkeypatch.setattr(Pool, "submit", None)
    assert "3 up to date" in autograde(course)["log"], "and starts no process again"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_takes_long_to_start_is_begun_before_the_course_is_read(
    course, monkeypatch, jobs
):
    begun = []

    def load(**options):
        begun.append("read")
        raise CourseError("it is broken")

    share(monkeypatch, preload=lambda: begun.append("preloaded"))
    with monkeypatch.context() as broken:
        broken.setattr("autograder.grading.run.assignment.load", load)
        wish(course, "ada")
        assert "it is broken" in autograde(course, jobs)["log"]
    assert begun == ["preloaded", "read"]
    assert autograde(course, jobs)["success"] and begun[2:] == ["preloaded"]
    assert autograde(course, jobs)["success"] and begun[3:] == []


# --- processes come and go -----------------------------------------------------------


def test_a_worker_that_dies_or_hangs_costs_a_try_and_then_one_submission(
    course, tmp_path, monkeypatch
):
    monkeypatch.setattr(parallel, "SILENCE", 3.0)
    wish(course, "ada", die_once=tmp_path / "died")
    wish(course, "bob", die="")
    wish(course, "cyd", look_for=6.0)  # one that looks around may take long
    # Faults and refusals cross from the worker to the log.
    wish(course, "dan", **{"raise": ""})
    wish(course, "eve", refuse="")
    wish(course, "fay", stop_once=tmp_path / "stopped")
    wish(course, "guy", stop="")
    result = autograde(course)
    log, scores = result["log"], points(course)
    expected = {"ada": FULL, "bob": NONE, "cyd": FULL, "fay": FULL, "guy": NONE}
    assert {student: scores[student] for student in expected} == expected
    assert not result["success"] and "cyd: not decided" not in log
    assert "dan: grading failed" in log and "no space left on device" in log
    assert "eve: refused: it used up all memory" in log
    died = "the process that graded it died: SIGKILL, then SIGKILL"
    assert f"bob: undecided: {died}" in log
    assert f"fay: not decided ({parallel.HUNG}" in log
    assert f"Needs a person: guy: undecided: {parallel.HUNG}" in log
    work_folder = course / ".autograder" / f"work-{os.getuid()}"
    assert list(work_folder.iterdir()) == []


@contextlib.contextmanager
def _command(course: Path, jobs: int = 2) -> Iterator[subprocess.Popen]:
    text = (
        "import signal, sys; from pathlib import Path; "
        # Started in the background, we are told to ignore it, and so are our children.
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from autograder.course import terminal; terminal.settle(); "
        "from autograder.grading import converter; converter.install(); "
        "from tests.grading.eventful import autograde; "
        f"print(autograde(Path(sys.argv[1]), {jobs})['error'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", text, course],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_stopped_or_killed_no_process_is_left_and_the_next_run_goes_on(
    course, tmp_path, number
):
    wish(course, "ada")
    wish(course, "bob", hang=tmp_path / "bob")
    wish(course, "cyd", hang=tmp_path / "cyd")
    with _command(course) as command:
        await_file(tmp_path / "bob")
        await_file(tmp_path / "cyd")
        await_file(course / "autograded" / "ada" / UNIT / f"{UNIT}.ipynb")
        family = _family(command.pid)
        assert len(family) >= 5  # the fork server, two workers, and a judge for each
        command.send_signal(number)
        output, _ = command.communicate(timeout=300)
    assert number == signal.SIGKILL or "SystemExit: 130" in output
    assert psutil.wait_procs(family, timeout=120)[1] == []
    for student in ("bob", "cyd"):
        (course / "submitted" / student / UNIT / "hang").unlink()
    log = autograde(course, jobs=1)["log"]
    assert "2 graded, 1 up to date" in log
    assert set(map(tuple, points(course).values())) == {tuple(FULL)}


@pytest.mark.slow
def test_hundreds_of_submissions_take_no_more_memory_than_dozens(course):
    sizes = []
    for count in (40, 400):
        for number in range(count):
            hand_in(course, f"s{number:03}", good(course))
        most = 0
        with _command(course) as command:
            process = psutil.Process(command.pid)
            while command.poll() is None:
                most = max(most, process.memory_info().rss)
                time.sleep(0.05)
        sizes.append(most)
    assert len(points(course)) == 400
    assert sizes[1] < sizes[0] + (32 << 20)


def test_settings_that_cannot_leave_the_process_stop_the_run_at_once(
    course, monkeypatch
):
    monkeypatch.setattr(Pool, "preload", lambda pool: None)  # no process is needed

    class Local(RunHere):
        pass

    for student in ("ada", "bob"):
        hand_in(course, student, good(course))
    config = settings(2)
    config.Autograde.autograde_preprocessors = [Local, SaveAutoGrades]
    log = run_nbgrader(course, "autograde", UNIT, "*", config=config)["log"]
    assert log.count("put it into a module") == 1
    assert points(course) == {}


def test_a_failure_of_what_is_shared_stops_the_run():
    def fail():
        raise CourseError("this machine gives no sandbox")

    pool = Pool(2, [SimpleNamespace(wait=fail)])
    with pytest.raises(SetupError, match="no sandbox"):
        pool.submit(task())
    pool.close()


def test_a_fork_server_that_is_stopped_while_it_starts_stops_the_run(monkeypatch):
    stopped: list[psutil.Process] = []

    def stop():
        while not stopped:  # one that has only just begun has no command line yet
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.ZombieProcess):  # another test's
                    if "autograder.grading.workers.worker" in child.cmdline():
                        stopped.append(child)
                        child.suspend()

    monkeypatch.setattr(parallel, "SECONDS", 0.3)
    pool = Pool(2, [SimpleNamespace(wait=stop)])
    with pytest.raises(SetupError, match="the processes that grade do not start"):
        pool.submit(task())
    assert [child.is_running() for child in stopped] == [False]
    # A worker of a cluster lives on: one bad start costs it no later submission.
    monkeypatch.undo()
    with contextlib.closing(pool):
        assert pool.submit(task()).result(120)


def test_a_lost_fork_server_is_replaced(course, tmp_path):
    for student in ("ada", "bob", "cyd"):
        wish(course, student, end_server=tmp_path / "ended")
    assert autograde(course)["success"]
    assert points(course) == {"ada": FULL, "bob": FULL, "cyd": FULL}
