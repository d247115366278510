"""The tiny course before anybody handed in; a sandbox and a judge to ask it."""

import contextlib
import shutil
import socket
import threading

import pytest

from autograder.checks import agent
from autograder.checks.wire import WireError
from autograder.grading import converter, release
from autograder.grading.judge.handle import Judge
from tests import tiny_course as tiny
from tests.grading.sandbox_and_judge import NAME, TICKET


@pytest.fixture(scope="session")
def pristine(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    tiny.make_course(root)
    return root


def copy_course(pristine, root):
    shutil.copytree(pristine, root)
    assert converter.install()
    return root


@pytest.fixture
def course(pristine, tmp_path):
    """A copy of it, graded by this process's ``nbgrader autograde``, too."""
    return copy_course(pristine, tmp_path / "course")


@pytest.fixture(scope="module")
def shared_course(pristine, tmp_path_factory):
    """Such a copy, which all tests of a module share."""
    return copy_course(pristine, tmp_path_factory.mktemp("shared") / "course")


@pytest.fixture
def graded(graded_once, tmp_path):
    """A copy of the class that the module's own fixture ``graded_once`` graded."""
    return shutil.copytree(graded_once, tmp_path / "course")


@pytest.fixture
def clone(course):
    """The course as it is cloned: source and release, and nothing of anybody's."""
    (course / "gradebook.db").unlink()
    release.install()
    return course


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def sandbox(pair, monkeypatch):
    """Starts a sandbox that serves the given object; returns the judge's end.

    The first one has the channel `pair`, each later one a channel of its own: two that
    read from one would take each other's messages.
    """
    channels = [pair]
    sandboxes: list[threading.Thread] = []

    def start(get, ticket=TICKET):
        def serve():
            with contextlib.suppress(WireError):  # the judge asks no more
                agent.serve(NAME, ticket, get)

        ours, theirs = channels[-1]
        monkeypatch.setenv(agent.CHANNEL, str(theirs.fileno()))
        channels.append(socket.socketpair())
        sandboxes.append(threading.Thread(target=serve, daemon=True))
        sandboxes[-1].start()
        return ours

    yield start
    for ours, _ in channels:
        ours.close()
    for (
        sandbox_client
    ) in sandboxes:  # each puts this process's switches back when it ends
        sandbox_client.join(60)
        assert not sandbox_client.is_alive()
    for _, theirs in channels:
        theirs.close()


@pytest.fixture
def judge():
    process = Judge(b"secret", patience=120.0)
    yield process
    process.close()
