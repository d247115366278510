"""A folder with a course.toml is a course, wherever it is and whatever it teaches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import ROOT
from autograder.root import VARIABLE
from autograder.sandbox.client import SERVER_VARIABLE
from tests.authoring.doubling import ANSWERS, FILES, LABEL

COURSE = """\
title = "Arithmetic"
about = "Numbers, one after the other."
package = "arithmetic"
course_id = "arithmetic"
distribution = "arithmetic-student"

[colab]
placeholder = true
owner = "nobody"
repository = "student"
branch = "main"
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course of one unit, beside nothing of this repository."""
    root = tmp_path_factory.mktemp("elsewhere")
    texts = {**FILES, "transformer_course/__init__.py": "", "course.toml": COURSE}
    for name, text in texts.items():
        path = root / name.replace("transformer_course", "arithmetic")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("transformer_course", "arithmetic"))
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return root


# A process for each command would spend most of its time on imports.
RUN = """
import contextlib, pathlib, shlex, sys
from jupyter_core.application import NoStart
from nbgrader.apps.nbgraderapp import NbGraderApp
from autograder import cli

for line in sys.argv[2:]:
    program, *words = shlex.split(line)
    if program == "autograder":
        assert cli.main(words) == 0, line
    elif program == "student":
        sys.path.append(sys.argv[1])
        from tests.authoring.doubling import hand_in
        hand_in(pathlib.Path())
        sys.path.remove(sys.argv[1])
    else:
        app = NbGraderApp.instance()
        app.initialize(words)
        with contextlib.suppress(NoStart):  # its way out, once the subcommand is done
            app.start()
        type(app.subapp).clear_instance()
"""


def run(course: Path, *commands: str) -> str:
    """Run commands of the engine in the course's folder; what they print."""
    removed = (SERVER_VARIABLE, VARIABLE)
    process = subprocess.run(
        [sys.executable, "-c", RUN, str(ROOT), *commands], cwd=course, text=True,
        env={name: value for name, value in os.environ.items() if name not in removed},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout
    return process.stdout


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")
def test_it_is_built_graded_reported_and_published_there(course):
    output = run(
        course,
        "autograder build",
        "autograder validity",
        "student hands in",
        f"nbgrader generate_assignment {LABEL} --force",
        f"nbgrader autograde {LABEL}",
        f"nbgrader generate_feedback {LABEL}",
        "autograder show 99 bob",
        "autograder report 99",
        "autograder kit 99",
    )
    assert f"release/{LABEL}" in output and "3/3   · named   3/3" in output
    assert "You tripled." in output and f"reports/{LABEL}.html" in output
    pages = [course / "feedback" / s / LABEL / f"{LABEL}.html" for s in ANSWERS]
    assert "You tripled." in pages[1].read_text() and pages[0].is_file()
    kit = course / "dist" / "student"
    assert (kit / "README.md").read_text().startswith("# Arithmetic\n\nNumbers, one")
    (wheel,) = kit.glob("arithmetic_student-99.*.whl")
    site = course / "site"
    shutil.unpack_archive(wheel, site, "zip")
    (metadata,) = site.glob("*.dist-info/METADATA")
    assert "License" not in metadata.read_text()  # its course.toml states none
    check = "import autograder as a; a.check('doubling/double', lambda x: 3 * x)"
    process = subprocess.run(
        [sys.executable, "-c", check], cwd=site, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(site)},
    )  # fmt: skip
    assert "You tripled." in process.stdout, process.stderr
