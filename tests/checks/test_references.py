"""References are data: packed, read, and read again when they have changed."""

import gc
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.authoring import cases
from autograder.authoring.references import difference
from autograder.checks import references
from autograder.checks.exercise import Case, Exercise
from tests.checks.scaled import NAME


def test_references_are_read_once_and_again_when_they_have_changed(tmp_path):
    path = tmp_path / "attention.safetensors"
    for suffix in (references.TENSORS, references.TEXT):
        name = path.with_suffix(suffix).name
        shutil.copy(references.FOLDER / "public" / name, tmp_path)
    first = references.read(path, NAME)[NAME]
    assert references.read(path, NAME)[NAME] is first
    os.utime(path, ns=(1, 1))
    assert references.read(path, NAME)[NAME] is not first


@pytest.fixture
def collector():
    """Garbage collection as in a student's kernel, not as in these tests."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    references._read.cache_clear()
    yield
    gc.set_threshold(*before)
    gc.enable()


def test_reading_causes_no_garbage_collection(collector):
    before = collections()
    assert list(references.load("attention", name=NAME)) == [NAME]
    assert collections() - before <= 2, "one of each generation, once it is read"
    assert gc.isenabled()


def test_where_garbage_collection_is_off_reading_leaves_it_so(collector):
    gc.disable()
    references.load("attention", name=NAME)
    assert not gc.isenabled()


def collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def write(packed: dict[str, bytes], folder: Path) -> Path:
    """Write packed references; returns the file of their tensors."""
    path = folder / "tiny.safetensors"
    for suffix, content in packed.items():
        path.with_suffix(suffix).write_bytes(content)
    return path


def test_references_are_the_same_after_packing_and_reading(tiny_exercise, tmp_path):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    packed = references.pack([exercise])
    path = write(packed, tmp_path)
    assert not difference(references.read(path), [exercise])
    assert references.pack(references.read(path).values()) == packed
    assert references.read(path, "tiny/other") == {}


def test_small_cases_are_kept_and_a_file_of_an_older_version_has_none(tmp_path):
    x = torch.tensor([1, 2])
    small = Case("small 1", "", "Twice?", {"x": x}, {"twice": 2 * x})
    exercise = Exercise("tiny/double", "Twice", 1.0, (), small=(small,))
    packed = references.pack([exercise])
    path = write(packed, tmp_path)
    (read,) = references.read(path)["tiny/double"].small
    assert read.hint == "Twice?" and read.expected["twice"].equal(2 * x)
    assert not difference(references.read(path), [exercise])
    other = replace(small, inputs={"x": x + 1})
    changed = replace(exercise, small=(other,))
    assert "small 1" in difference(references.read(path), [changed])
    document = json.loads(packed[references.TEXT])
    del document["exercises"][0]["small"]
    path.with_suffix(references.TEXT).write_text(json.dumps(document))
    assert references.read(path)["tiny/double"].small == ()


@pytest.mark.parametrize(
    ("suffix", "old", "new"),
    [
        (references.TENSORS, b"", None),  # cut off
        (references.TENSORS, b'"answers"', b'"answered"'),
        (references.TENSORS, b"plain", b"other"),
        (references.TEXT, b'"format": 3', b'"format": 1'),
        (references.TEXT, b"]", b""),
    ],
)
def test_files_that_cannot_be_read_are_named_with_the_command_that_rebuilds_them(
    tmp_path, tiny_exercise, suffix, old, new
):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    packed = references.pack([exercise])
    content = packed[suffix]
    packed[suffix] = content[:-40] if new is None else content.replace(old, new)
    assert packed[suffix] != content
    path = write(packed, tmp_path)
    with pytest.raises(references.ReferenceFileError) as error:
        references.read(path)
    assert str(path) in str(error.value) and "make build UNIT=tiny" in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_said_changes_no_tensors(tiny_exercise):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    retitled = replace(exercise, title="Twice", points=4.0)
    first, second = references.pack([exercise]), references.pack([retitled])
    assert first[references.TENSORS] == second[references.TENSORS]
    lines = [packed[references.TEXT].splitlines() for packed in (first, second)]
    changed = [new for old, new in zip(*lines, strict=True) if old != new]
    assert changed == [b'   "title": "Twice",', b'   "points": 4.0,']
