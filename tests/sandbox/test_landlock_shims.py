"""A semaphore of a pipe is what the library's own one is."""

import threading

import pytest

from autograder.sandbox.landlock_shims import PipeSemaphore
from tests.sandbox.conftest import linux

pytestmark = linux
RECURSIVE, PLAIN = 0, 1


def semaphore(kind: int = PLAIN, value: int = 1, most: int = 2) -> PipeSemaphore:
    return PipeSemaphore(kind, value, most, "name", unlink=True)


def test_there_are_as_many_as_were_given_and_come_back():
    counter = semaphore(value=1)
    assert counter.acquire(block=False) and not counter.acquire(block=False)
    counter.release()
    assert counter.acquire(timeout=0.0) and not counter.acquire(timeout=0.001)


def test_more_than_the_most_cannot_be_given_back():
    counter = semaphore(value=2, most=2)
    with pytest.raises(ValueError, match="too many times"):
        counter.release()


def test_who_waits_is_woken():
    counter, acquired = semaphore(value=0), []
    waiting = threading.Thread(
        target=lambda: acquired.append(counter.acquire()), daemon=True
    )
    waiting.start()
    counter.release()
    waiting.join(60)
    assert acquired == [True]


def test_a_recursive_lock_is_taken_again_by_its_owner_and_by_nobody_else():
    lock, acquired = semaphore(RECURSIVE, value=1, most=1), []

    def try_it():
        acquired.append(lock.acquire(block=False))
        with pytest.raises(AssertionError, match="not owned by thread"):
            lock.release()

    def from_another_thread():
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join(60)

    assert lock.acquire() and lock.acquire()
    lock.release()
    from_another_thread()
    lock.release()
    assert acquired == [False] and lock.acquire(block=False)


def test_it_is_a_context():
    counter = semaphore(value=1)
    with counter:
        assert not counter.acquire(block=False)
    assert counter.acquire(block=False)
