"""Exercises that a change touches are validated as a whole, whatever that costs."""

import subprocess

import pytest

from autograder.authoring.catalogue import specification, specifications
from autograder.course import ROOT, find_unit, units
from tests.authoring import touched
from tests.authoring.convincing import convincing

NAMES = [name for unit in units() for name in touched.names(unit)]


@pytest.mark.long(seconds=20)
@pytest.mark.parametrize("name", NAMES)
def test_exercises_that_a_change_touches_are_valid(name):
    convincing([specification(name)])


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("transformer_course/newer/exercises/qk_norm.py", {"newer/qk_norm"}),
        ("autograder/grading/faults.py", set()),
        ("transformer_course/sequence_reversal/exercises/masked_loss.py", set()),
    ],
)
def test_a_changed_file_touches_the_exercises_that_it_belongs_to(
    monkeypatch, file, names
):
    unit = units()[-1]
    solutions = (ROOT / f"transformer_course/solutions/{unit.name}.py").read_text()
    replies = {"diff": f"{file}\0", "show": solutions}
    monkeypatch.setattr(touched, "_git", lambda verb, *rest: replies[verb])
    assert set(touched.touched(unit, "HEAD")) == names


def test_what_exercises_share_and_a_changed_solution_touch_them(monkeypatch):
    unit = find_unit("sequence_reversal")
    everything = {exercise.name for exercise in specifications(unit.name)}
    shared = f"transformer_course/{unit.name}/exercises/_inputs.py\0"
    replies = {"diff": shared, "show": ""}
    monkeypatch.setattr(touched, "_git", lambda verb, *rest: replies[verb])
    assert set(touched.touched(unit, "HEAD")) == everything
    solutions = (ROOT / f"transformer_course/solutions/{unit.name}.py").read_text()
    replies["show"] = solutions
    touched_exercises = set(touched.touched(unit, "HEAD"))
    assert touched_exercises and touched_exercises < everything


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Run git in a repository of one commit in main, which is `base`'s."""

    def run(*arguments: str) -> str:
        identity = ("-c", "user.name=us", "-c", "user.email=us@here")
        command = ["git", *identity, *arguments]
        return subprocess.check_output(command, cwd=tmp_path, text=True).strip()

    monkeypatch.delenv("CHANGED_SINCE", raising=False)
    monkeypatch.setattr(touched, "ROOT", tmp_path)
    monkeypatch.setattr(touched, "_git", touched._git.__wrapped__)
    run("init", "--quiet", "--initial-branch=main")
    run("commit", "--quiet", "--allow-empty", "--message=first")
    return run


def commit(git) -> str:
    """Make a commit; return it."""
    git("commit", "--quiet", "--allow-empty", "--message=next")
    return git("rev-parse", "HEAD")


def push(git, branch: str) -> None:
    """Have the remote branch and its tracking as after a push."""
    git("update-ref", f"refs/remotes/origin/{branch}", "HEAD")
    git("config", "remote.origin.url", ".")
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    git("branch", "--quiet", f"--set-upstream-to=origin/{branch}")


def test_without_a_remote_changes_count_since_main_or_the_last_commit(git):
    assert touched.base() == "HEAD"  # there is no commit before it
    first, second = git("rev-parse", "HEAD"), commit(git)
    assert touched.base() == first
    git("switch", "--quiet", "--create", "mine")
    commit(git)
    commit(git)
    assert touched.base() == second


def test_with_a_remote_they_count_since_the_branch_that_will_take_them(git):
    push(git, "main")
    cloned = git("rev-parse", "HEAD")
    assert touched.base() == cloned  # nobody else's changes
    commit(git)
    assert touched.base() == cloned
    git("switch", "--quiet", "--create", "mine")
    assert touched.base() == cloned
    last = commit(git)
    push(git, "mine")
    assert touched.base() == cloned  # its copy takes nothing
    git("switch", "--quiet", "--create", "part")
    git("branch", "--quiet", "--set-upstream-to=origin/mine")
    commit(git)
    assert touched.base() == last


def test_a_commit_can_be_chosen(git, monkeypatch):
    monkeypatch.setenv("CHANGED_SINCE", "v1.0")
    assert touched.base() == "v1.0"
