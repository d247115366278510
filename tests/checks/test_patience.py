"""A check that takes long says where it is."""

import contextlib
import io
import threading
import time

import pytest

from autograder.checks.patience import Running, report_status
from tests.checks.notebook import Notebook


@pytest.fixture(autouse=True)
def notebook(monkeypatch):
    return Notebook(monkeypatch)


def test_it_is_said_where_a_check_is_and_how_to_stop_it(capsys):
    progress = Running(14)
    with report_status(progress, first=0.01, interval=60):
        for title in ("a vector", "a batch"):
            progress.begin(title)
        wait_for_words()
    assert capsys.readouterr().out == (
        "(still running: case 2 of 14 (a batch); interrupt the kernel to stop)\n"
    )


def wait_for_words() -> None:
    """Until the thread has said something: it is in its second, long pause."""
    time.sleep(0.2)


def test_what_is_fast_is_said_nothing_of_and_leaves_no_thread(capsys):
    with report_status(Running(1), first=60):
        pass
    assert capsys.readouterr().out == ""
    for thread in threading.enumerate():
        if thread.name == "patience":
            thread.join(5)
            assert not thread.is_alive()


def test_a_windows_console_can_show_it():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    progress = Running(1)
    progress.begin("a → b")
    with (
        contextlib.redirect_stdout(stream),
        report_status(progress, first=0.01, interval=60),
    ):
        wait_for_words()
    assert "(a -> b)" in stream.buffer.getvalue().decode("cp1252")


def test_where_nobody_could_stop_it_nothing_is_said(monkeypatch, capsys):
    Notebook(monkeypatch, attended=False)
    with report_status(Running(1), first=0.01):
        wait_for_words()
    assert capsys.readouterr().out == ""
