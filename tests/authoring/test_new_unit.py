"""A new unit is a notebook, a file of probes, a folder of the bank and its manifest.

One is made here in a copy of the course, built, handed in and graded; nothing of the
course that was there before is touched.
"""

import hashlib
import json
import os
import subprocess
import sys

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.authoring.doubling import FILES, LABEL, hand_in
from tests.clone import checkout, run


def digests(root) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")
def test_a_unit_is_made_built_handed_in_and_graded_and_nothing_else_is_touched(
    tmp_path,
):
    course = checkout(tmp_path / "course")
    before = digests(course)
    for name, text in FILES.items():
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text(text, encoding="utf-8")

    assert f"release/{LABEL}" in run(course, "autograder", "build", "99")
    after = digests(course)
    assert {name: after.get(name) for name in before} == before

    hand_in(course)
    run(course, "nbgrader", "autograde", LABEL)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        scores = {
            s.student.id: s.score for s in gradebook.assignment_submissions(LABEL)
        }
    assert scores == {"ada": 100.0, "bob": 0.0}
    graded = course / "autograded" / "bob" / LABEL / f"{LABEL}.ipynb"
    assert "You tripled." in json.dumps(nbformat.read(graded, as_version=4))

    code = (
        "from autograder.classroom import demo, sample\n"
        "from autograder.course import find_unit, manifest\n"
        "unit = find_unit('99')\n"
        "limits = manifest.limits()[unit.label]\n"
        "print(unit in demo.default_units(), *sample.beside(unit), limits)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=course,
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(course)},
        text=True,
    )
    assert process.stdout == "True notes.txt {'timeout': 45}\n"
