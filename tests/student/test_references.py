"""References are data: packed, read, and read again when they have changed."""

import os
import shutil

from autograder.authoring.references import equivalent
from autograder.oracle import cases
from autograder.student import references
from tests.student.scaled import NAME


def test_references_are_read_once_and_again_when_they_have_changed(tmp_path):
    path = tmp_path / "attention.safetensors"
    shutil.copy(references.FOLDER / "public" / path.name, path)
    first = references.read(path, NAME)[NAME]
    assert references.read(path, NAME)[NAME] is first
    os.utime(path, ns=(1, 1))
    assert references.read(path, NAME)[NAME] is not first


def test_references_are_the_same_after_packing_and_reading(tiny_exercise, tmp_path):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    path = tmp_path / "tiny.safetensors"
    path.write_bytes(references.pack([exercise]))
    assert equivalent(references.read(path), [exercise])
    assert references.pack(references.read(path).values()) == path.read_bytes()
    assert references.read(path, "tiny/other") == {}
