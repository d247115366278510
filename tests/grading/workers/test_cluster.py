"""Grading by a real Dask cluster of several processes on this machine."""

import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from nbgrader.preprocessors import SaveAutoGrades
from traitlets import Unicode
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.grading.workers import cluster
from autograder.grading.workers.cluster import Cluster
from autograder.grading.workers.parallel import SetupError
from tests.grading.eventful import (
    FULL,
    NONE,
    Eventful,
    await_file,
    published,
    task,
    wish,
)
from tests.grading.eventful import autograde as autograde_here
from tests.tiny_course import UNIT, good, gradebook, hand_in, points, run_nbgrader

distributed = pytest.importorskip("distributed", reason="the extra `cluster`")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.slow


class Destructive(Eventful):
    """Can also bring down the machine, as far as a test can."""

    def preprocess(self, nb, resources):
        folder = Path(resources["metadata"]["path"])
        if (folder / "down").exists():
            for process in reversed(psutil.Process().parents()[:2]):
                process.kill()  # Dask's worker, then the one that we were forked from
            signal.pause()
        if (folder / "freeze once").exists():
            mark = Path((folder / "freeze once").read_text())
            if not mark.exists():
                mark.touch()
                psutil.Process().parents()[1].suspend()  # Dask's worker
        return super().preprocess(nb, resources)


def local_cluster(folder: Path, workers: int, processes: bool = True):
    """Workers of one thread, each a process without a disk that others know of."""
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=processes,
        dashboard_address=None, local_directory=str(folder), silence_logs=50,
    )  # fmt: skip


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    with local_cluster(tmp_path_factory.mktemp("dask"), 2) as cluster:
        yield cluster


def autograde(root: Path, address: str) -> dict:
    config = Config()
    config.Autograde.autograde_preprocessors = [Destructive, SaveAutoGrades]
    config.Autograde.scheduler = address
    return run_nbgrader(root, "autograde", UNIT, "*", force=False, config=config)


def test_a_cluster_gives_the_same_gradebook_and_notebooks(course, tmp_path, workers):
    for student in ("ada", "bob", "cyd"):
        hand_in(course, student, good(course))
    hand_in(course, "bad", good(course)[:400])
    wish(course, "dan", die="")
    wish(course, "eve", die_once=tmp_path / "mark")
    result = autograde(course, workers.scheduler_address)
    assert "Needs a person: dan" in result["log"], result["error"]
    expected = dict.fromkeys(("ada", "bob", "cyd", "eve"), FULL)
    assert points(course) == expected | {"bad": [0.0, 0.0, 0.0], "dan": NONE}
    assert "dan: undecided: the process that graded it died: SIGKILL" in result["log"]
    results_on_cluster = {
        name: (gradebook(course)[name], published(course, name)) for name in expected
    }
    for path in course.glob("autograded/*"):
        os.rename(path, tmp_path / path.name)
    autograde_here(course)
    for name in expected:
        assert results_on_cluster[name] == (
            gradebook(course)[name],
            published(course, name),
        )


def test_what_a_lost_machine_had_is_graded_by_another(course, tmp_path, workers):
    for number in range(4):
        wish(course, f"s{number}")
    wish(course, "ada", late=tmp_path / "go", early=tmp_path / "begun")

    def lose_one() -> None:
        await_file(tmp_path / "begun")
        with distributed.Client(workers.scheduler_address) as client:
            processing = client.processing()
            worker = next(name for name, keys in processing.items() if keys)
            os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)
        (tmp_path / "go").touch()

    killer = threading.Thread(target=lose_one)
    killer.start()
    result = autograde(course, workers.scheduler_address)
    killer.join()
    assert result["success"], result["log"]
    assert len(points(course)) == 5
    assert set(map(tuple, points(course).values())) == {tuple(FULL)}


@pytest.mark.long
def test_a_submission_that_loses_every_machine_fails_alone(course, workers):
    wish(course, "ada", down="")
    for student in ("bob", "cyd", "dan"):
        wish(course, student)
    result = autograde(course, workers.scheduler_address)
    assert points(course).pop("ada") == NONE
    assert "ada: undecided: each machine that graded it was lost" in result["log"]
    other_scores = {
        name: scores for name, scores in points(course).items() if name != "ada"
    }
    assert other_scores == dict.fromkeys(("bob", "cyd", "dan"), FULL)


@pytest.mark.long
def test_a_machine_that_hangs_is_given_up_and_another_grades(course, tmp_path):
    for student in ("bob", "cyd"):
        wish(course, student)
    wish(course, "ada", freeze_once=tmp_path / "mark")
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "20s"}),
        local_cluster(tmp_path, 2) as two,
    ):
        result = autograde(course, two.scheduler_address)
    assert result["success"], result["log"]
    assert points(course) == dict.fromkeys(("ada", "bob", "cyd"), FULL)


class Picky(Eventful):
    """Starts everywhere but in some processes, whose ids a file lists."""

    unfit = Unicode().tag(config=True)

    @classmethod
    def warmable(cls, config: Config) -> SimpleNamespace:
        def wait() -> None:
            if str(os.getpid()) in Path(config.Picky.unfit).read_text().split():
                raise CourseError("this machine gives no sandbox")

        return SimpleNamespace(preload=lambda: None, wait=wait)


def autograde_but(root: Path, address: str, unfit: Path) -> dict:
    config = Config()
    config.Autograde.autograde_preprocessors = [Picky, SaveAutoGrades]
    config.Autograde.scheduler, config.Picky.unfit = address, str(unfit)
    return run_nbgrader(root, "autograde", UNIT, "*", force=False, config=config)


def test_a_machine_without_sandboxes_draws_no_work_to_it(course, tmp_path, caplog):
    for number in range(6):
        wish(course, f"s{number}")
    unfit = tmp_path / "unfit"
    with local_cluster(tmp_path, 2) as two:
        with distributed.Client(two.scheduler_address) as client:
            pids = list(client.run(os.getpid).values())
        unfit.write_text(str(pids[0]))
        result = autograde_but(course, two.scheduler_address, unfit)
        assert result["success"], result["log"]
        assert set(map(tuple, points(course).values())) == {tuple(FULL)}
        assert len(points(course)) == 6
        assert caplog.text.count("gets no more submissions") == 1


def test_where_no_machine_gives_sandboxes_the_command_says_so(course, tmp_path):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course))
    unfit = tmp_path / "unfit"
    with local_cluster(tmp_path, 1) as cluster:
        with distributed.Client(cluster.scheduler_address) as client:
            unfit.write_text(str(*client.run(os.getpid).values()))
        result = autograde_but(course, cluster.scheduler_address, unfit)
    assert not result["success"] and points(course).get("ada", NONE) == NONE
    assert (
        "no worker can grade" in result["log"] and "gives no sandbox" in result["log"]
    )


def test_who_waits_for_a_worker_says_so(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with local_cluster(tmp_path, 1, processes=False) as small_cluster:
        grading = Cluster(small_cluster.scheduler_address)
        small_cluster.scale(0)
        with distributed.Client(small_cluster.scheduler_address) as client:
            while client.nthreads():
                time.sleep(0.1)
        assert "no worker is left" not in caplog.text
        grading.submit(task())
        while "no worker is left" not in caplog.text:  # or pytest's own limit ends it
            time.sleep(0.1)
        grading.close()
    assert caplog.text.count("no worker is left") == 1


@pytest.fixture
def older(monkeypatch):
    """The course with other libraries, here but not on the workers."""
    monkeypatch.setattr(cluster.importlib.metadata, "version", lambda name: "0.1")
    cluster.code_digest.cache_clear()
    yield
    cluster.code_digest.cache_clear()


def test_workers_with_another_version_of_the_course_are_refused(workers, older):
    with pytest.raises(SetupError, match="workers have a different version"):
        Cluster(workers.scheduler_address)


def test_other_references_are_another_version_of_the_course(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONTENT", tmp_path / "course")
    versions = []
    for content in (b"1", b"2"):
        write(tmp_path / "course" / "references" / "hidden.safetensors", content)
        cluster.code_digest.cache_clear()
        versions.append(cluster.code_digest())
    cluster.code_digest.cache_clear()
    assert versions[0] != versions[1]


def test_a_worker_that_joins_late_with_another_version_grades_nothing():
    with pytest.raises(CourseError, match="a different version"):
        cluster.grade_there(task().to_bytes(), "older")


def test_without_a_scheduler_or_workers_the_command_says_so(course, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    hand_in(course, "ada", good(course))
    log = autograde(course, "tcp://127.0.0.1:9")["log"]
    assert log.count("does not answer") == 1 and points(course) == {}
    with local_cluster(course / "dask", 0) as empty:
        log = autograde(course, empty.scheduler_address)["log"]
    assert "has no workers" in log and points(course) == {}
