"""Limits of a shell: raised as far as they may be; what is too little is told."""

import os
import resource

import pytest

from autograder.course.errors import CourseError
from autograder.grading.run import preflight

FILES, THREADS = resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC
ENDLESS = resource.RLIM_INFINITY


@pytest.fixture
def limits(monkeypatch):
    """The limits of this shell, as a test sets them; nobody's are changed."""
    limits_by_resource = {FILES: (1024, 4096), THREADS: (ENDLESS, ENDLESS)}
    monkeypatch.setattr(resource, "getrlimit", limits_by_resource.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", limits_by_resource.__setitem__)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(preflight, "count_account_threads", lambda: 30)
    return limits_by_resource


@pytest.mark.parametrize(
    ("files", "raised"),
    [
        ((1024, 4096), (1024, 4096)),
        ((ENDLESS, ENDLESS), (ENDLESS, ENDLESS)),
        ((192, 192), (192, 192)),
        ((32, 4096), (192, 4096)),
        ((32, 100), (100, 100)),
        ((9, ENDLESS), (192, ENDLESS)),
    ],
)
def test_open_files_are_raised_as_far_as_needed_and_possible(limits, files, raised):
    limits[FILES] = files
    preflight.check_ulimits(jobs=2)
    assert limits[FILES] == raised


def test_too_few_open_files_are_told_with_what_to_do(limits):
    limits[FILES] = 32, 32
    with pytest.raises(CourseError, match=r"allows 32 open files.*ulimit -n 128"):
        preflight.check_ulimits(jobs=1)


def test_too_few_processes_are_told_but_root_has_no_limit(limits, monkeypatch):
    limits[THREADS] = 78, 78
    preflight.check_ulimits(jobs=1)
    limits[THREADS] = 77, 77
    with pytest.raises(CourseError, match=r"has 30; .*ulimit -u 78, or end some"):
        preflight.check_ulimits(jobs=1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    preflight.check_ulimits(jobs=1)


def test_the_threads_of_this_account_are_counted(limits, monkeypatch):
    monkeypatch.undo()
    assert preflight.count_account_threads() >= 1 or not os.path.isdir("/proc")
