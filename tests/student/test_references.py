"""References are data: packed, read, and read again when they have changed."""

import os
import shutil

import pytest

from autograder.authoring.references import difference
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
    assert not difference(references.read(path), [exercise])
    assert references.pack(references.read(path).values()) == path.read_bytes()
    assert references.read(path, "tiny/other") == {}


@pytest.mark.parametrize("change", ["cut off", "another version", "no index"])
def test_a_file_that_cannot_be_read_is_named_with_the_command_that_rebuilds_it(
    tmp_path, change, tiny_exercise
):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    content = references.pack([exercise])
    path = tmp_path / "tiny.safetensors"
    path.write_bytes(
        {
            "cut off": content[: len(content) // 2],
            "another version": content.replace(b'format\\": 2', b'format\\": 1'),
            "no index": content.replace(b'"exercises"', b'"exercised"'),
        }[change]
    )
    assert path.read_bytes() != content
    with pytest.raises(references.ReferenceFileError) as error:
        references.read(path)
    assert str(path) in str(error.value) and "make build UNIT=tiny" in str(error.value)
    assert "\n" not in str(error.value)
