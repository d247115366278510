"""Work in a process of its own: what it makes comes back, and what it breaks stays."""

import faulthandler
import os
import time

import pytest
import torch

from autograder.checks.exercise import WrongAnswerError
from transformer_course.authoring.limited_fork import run_in_limited_fork


def test_what_the_work_makes_comes_back():
    assert run_in_limited_fork(lambda: {"texts": ["a", "é"]}, 10, 500) == {
        "texts": ["a", "é"]
    }


def test_more_than_a_pipe_holds_comes_back():
    assert run_in_limited_fork(lambda: "x" * 3_000_000, 10, 500) == "x" * 3_000_000


def test_it_runs_in_another_process_and_torch_works_there():
    def work() -> object:
        return [
            os.getpid(),
            float(torch.ones(300, 300).matmul(torch.ones(300, 300)).sum()),
        ]

    pid, total = run_in_limited_fork(work, 10, 500)
    assert pid != os.getpid() and total == 300**3


def test_a_wrong_answer_is_raised_here():
    def work() -> object:
        raise WrongAnswerError("too few")

    with pytest.raises(WrongAnswerError, match="too few"):
        run_in_limited_fork(work, 10, 500)


def test_who_computes_too_long_is_ended():
    def work() -> object:
        while True:
            pass

    started = time.process_time()
    with pytest.raises(WrongAnswerError, match="CPU"):
        run_in_limited_fork(work, 1, 500)
    assert time.process_time() - started < 1  # our own; theirs is limited


def test_who_takes_too_much_memory_is_told_so():
    def work() -> object:
        try:
            return len(bytearray(400 * 2**20))
        except MemoryError:
            raise WrongAnswerError("no memory") from None

    with pytest.raises(WrongAnswerError, match="no memory"):
        run_in_limited_fork(work, 10, 200)
    assert run_in_limited_fork(work, 10, 1000) == 400 * 2**20


def test_who_brings_the_process_down_is_ended():
    def work() -> object:
        faulthandler.disable()  # pytest's
        os.abort()

    with pytest.raises(WrongAnswerError, match="ended"):
        run_in_limited_fork(work, 10, 500)


def test_a_fault_of_ours_is_no_wrong_answer(capfd):
    with pytest.raises(RuntimeError, match="process of ours"):
        run_in_limited_fork(lambda: 1 / 0, 10, 500)
    assert "ZeroDivisionError" in capfd.readouterr().err
    with pytest.raises(RuntimeError, match="process of ours"):
        run_in_limited_fork(lambda: {"half": object()}, 10, 500)  # JSON cannot hold it
