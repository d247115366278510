"""A grade says what it came from."""

from __future__ import annotations

import re
import subprocess

import torch

from autograder.grading import provenance


def test_the_commit_and_the_build_of_a_course(tmp_path):
    assert list(provenance.course_version(["a"], tmp_path)) == ["build"]

    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(("git", *identity, *words), cwd=tmp_path, check=True)

    git("init", "--quiet")
    file = tmp_path / "file"
    file.write_text("1")
    git("add", "file")
    git("commit", "--quiet", "--message=1")
    version = provenance.course_version(["a"], tmp_path)
    assert re.fullmatch("[0-9a-f]{12}", version["course"])
    assert version["build"] != provenance.course_version(["b"], tmp_path)["build"]
    file.write_text("2")
    commit = version["course"]
    assert provenance.course_version([], tmp_path)["course"] == f"{commit}-dirty"


def test_the_machine_is_told_in_a_line():
    version = provenance.machine_version()
    assert version["PyTorch"] == torch.__version__.partition("+")[0] or (
        version["PyTorch"] == torch.__version__
    )
    line = provenance.describe({"time": provenance.now(), **version})
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, Python 3\.", line)
    older = {**version, "PyTorch": "1.0", "time": "then"}
    difference = provenance.describe_differences(older, version)
    assert difference == f"PyTorch 1.0 is {version['PyTorch']} now"
