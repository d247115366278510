"""Notebooks that do what lies beside them asks for, graded in several processes."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.preprocessors import SaveAutoGrades
from traitlets.config import Config

from autograder.grading.intake import RefusedError, Repair, SizeLimits
from autograder.grading.task import Task
from autograder.grading.warmable import Stage
from tests import tiny_course as tiny
from tests.tiny_course import UNIT, RunHere, good, hand_in, run_nbgrader

FULL, NONE = [2.0, 4.0, None], [None, None, None]


class Eventful(RunHere, Stage):
    """Runs notebooks here, and whatever else the student's folder asks for."""

    def preprocess(self, nb, resources):
        folder = Path(resources["metadata"]["path"])
        wishes = {p.name: p.read_text() for p in folder.iterdir()}
        if "early" in wishes:
            Path(wishes["early"]).touch()
        if "late" in wishes:
            await_file(Path(wishes["late"]))
        if "hang" in wishes:
            Path(wishes["hang"]).write_text(str(os.getpid()))
            signal.pause()
        if "die" in wishes:
            os.kill(os.getpid(), signal.SIGKILL)
        if "die once" in wishes and not (mark := Path(wishes["die once"])).exists():
            mark.touch()
            os._exit(3)
        if "look for" in wishes:
            end = time.monotonic() + float(wishes["look for"])
            while time.monotonic() < end:
                sum(range(100_000))
                time.sleep(0.1)
        if "stop" in wishes:
            os.kill(os.getpid(), signal.SIGSTOP)
        if "stop once" in wishes and not (mark := Path(wishes["stop once"])).exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        if "end server" in wishes and not Path(wishes["end server"]).exists():
            Path(wishes["end server"]).touch()
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        if "raise" in wishes:
            raise OSError("no space left on device")
        if "refuse" in wishes:
            raise RefusedError("it used up all memory")
        if "warn" in wishes:
            self.log.warning("it swaps")
        return super().preprocess(nb, resources)


def share(monkeypatch: pytest.MonkeyPatch, **actions: Callable[[], None]) -> None:
    """Have tasks share something that does this when it is preloaded or waited for."""
    idle = dict.fromkeys(("preload", "wait"), lambda: None)
    shared = SimpleNamespace(**idle | actions)
    monkeypatch.setattr(Eventful, "warmable", lambda config: shared)


def await_file(path: Path) -> None:
    while not path.exists():  # pytest's own limit ends what never comes
        time.sleep(0.01)


def settings(jobs: int) -> Config:
    config = Config()
    config.Autograde.autograde_preprocessors = [Eventful, SaveAutoGrades]
    config.Autograde.jobs = jobs
    return config


def autograde(root: Path, jobs: int = 2) -> dict:
    config = settings(jobs)
    return run_nbgrader(root, "autograde", UNIT, "*", force=False, config=config)


def wish(root: Path, student: str, **wishes: object) -> None:
    folder = hand_in(root, student, good(root))
    for name, text in wishes.items():
        (folder / name.replace("_", " ")).write_text(str(text))


def published(root: Path, student: str) -> dict:
    """The published notebook, but for when and how long it was graded."""
    notebook = tiny.read(root, "autograded", student)
    assert notebook.metadata.autograder.pop("seconds") >= 0
    assert notebook.metadata.autograder.pop("provenance")
    return notebook


def task(**changes) -> Task:
    text = json.dumps(tiny.source_notebook())
    fields = {
        "student": "ada",
        "assignment": UNIT,
        "notebook": UNIT,
        "source": text,
        "release": text,
        "submission": b"\x80 not even text",
        "folder": "work",
        "files": {"data/\udc80.bin": bytes(range(256))},
        "repairs": (Repair("file", "A file was left out."),),
        "preprocessors": (Eventful,),
        "limits": SizeLimits(file=7),
        "secret": b"\xff",
    }
    return Task(**fields | changes)
