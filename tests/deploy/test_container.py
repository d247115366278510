"""Image and devcontainer, as far as a machine without Docker can try them."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from autograder.classroom.publishing import kit
from autograder.course import ROOT, units

TEXT = (ROOT / "Dockerfile").read_text()
STEPS = [
    line.split(maxsplit=1)
    for line in TEXT.replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]
IGNORED = (ROOT / ".dockerignore").read_text().split()


def test_what_is_copied_is_there_and_goes_into_the_build():
    for word, arguments in STEPS:
        sources = arguments.split()[:-1]
        if word == "COPY" and not sources[0].startswith("--from"):
            for source in sources:
                assert (ROOT / source).exists(), source
                assert not any(fnmatch.fnmatch(source, p) for p in IGNORED), source


def test_nothing_of_a_class_goes_into_the_build():
    for name in ("gradebook.db", "submitted", ".autograder", "terms", "feedback"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in IGNORED), name


def test_the_image_that_students_get_holds_the_kit_only():
    last = max(n for n, (word, _) in enumerate(STEPS) if word == "FROM")
    copied = [arguments for word, arguments in STEPS[last:] if word == "COPY"]
    assert copied[0].split()[1:] == [
        "/course/constraints.txt",
        "/course/dist/student",
        "/opt/transformer/",
    ]
    assert copied[1].split()[0] == "autograder/classroom/student_jupyter/"
    assert "USER" in [word for word, _ in STEPS[last:]], "not root"


@pytest.mark.parametrize("arguments", [rest for word, rest in STEPS if word == "RUN"])
def test_its_commands_are_ones_that_a_shell_can_read(arguments):
    subprocess.run(["sh", "-n", "-c", arguments], check=True)


def test_the_devcontainer_sets_up_what_the_makefile_has():
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text()
    program, target = shlex.split(json.loads(text)["postCreateCommand"])
    makefile = (ROOT / "Makefile").read_text()
    assert program == "make" and re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.slow
def test_the_image_s_command_starts_lab_with_the_kit_s_notebooks(tmp_path):
    """With this environment in place of the image's, on a port of this machine."""
    kit.build(units()[1], tmp_path / "opt")
    home = tmp_path / "home"
    home.mkdir()
    (arguments,) = (arguments for word, arguments in STEPS if word == "CMD")
    shell, flag, script = json.loads(arguments)
    script = script.replace("/opt/transformer", str(tmp_path / "opt"))
    script = script.replace("--ip=0.0.0.0", "--ip=127.0.0.1 --port=0 --allow-root")
    server = subprocess.Popen(
        [shell, flag, script],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(home)},
    )
    try:
        assert server.stdout is not None
        lines = iter(server.stdout.readline, "")
        url = next(m[0] for m in (re.search(r"http://127\S+", s) for s in lines) if m)
        place, _, token = url.partition("?")
        address = f"{place.removesuffix('lab')}api/contents/notebooks?{token}"
        listed = json.load(_answer(address))
    finally:
        server.terminate()
        server.wait(30)
    names = {entry["name"] for entry in listed["content"]}
    assert f"{units()[0].label}.ipynb" in names


def _answer(url: str):
    for _ in range(60):
        try:
            return urllib.request.urlopen(url, timeout=30)
        except urllib.error.URLError:
            time.sleep(0.5)
    raise AssertionError(f"nobody answers at {url}")
