"""A build draws again what has changed since the last one, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from autograder.authoring import (
    cases,
    course,
    last_build,
    notebook,
    redrawing,
    reference_files,
    references,
)
from autograder.authoring.last_build import Build
from autograder.checks.references import load
from autograder.course import find_unit
from autograder.course.files import write
from tests.tiny_course import as_text

LINES = {"u/a": "1f u/a 5 a1", "u/b": "2e u/b 95 b1"}
BUILD = Build("source\n", "digest", LINES)


def test_a_record_is_read_as_it_was_written(tmp_path):
    unit = as_text(tmp_path)
    assert last_build.read(unit) == Build()
    write(last_build.record(unit), str(BUILD))
    assert last_build.read(unit) == BUILD
    write(last_build.record(unit), "source\n")
    assert last_build.read(unit) == Build("source\n")


def test_exercises_are_unchanged_while_their_digests_and_the_files_are():
    new = replace(
        BUILD, exercises={**LINES, "u/a": "3d u/a 5 a1", "u/b": "2e u/b 90 b1"}
    )
    assert new.unchanged_since(BUILD) == {"u/b"}
    assert not new.has_references_of(BUILD)
    assert not replace(new, references="another").unchanged_since(BUILD)


def test_references_are_those_of_a_build_of_the_same_points_in_the_same_order():
    assert replace(BUILD, source="edited\n").has_references_of(BUILD)
    turned = replace(BUILD, exercises=dict(reversed(LINES.items())))
    assert not turned.has_references_of(BUILD)
    assert not replace(BUILD, references="another").has_references_of(BUILD)


def test_a_new_title_or_contract_changes_an_exercises_line_but_draws_nothing():
    unit = find_unit("attention")
    cells, seed = notebook.read(unit), reference_files.seed_of(unit)
    text = unit.text.read_text(encoding="utf-8")
    lines = last_build.describe_exercises(unit, cells, {}, seed)
    heading = re.search(r"^# ### Exercise .*$", text, re.MULTILINE)[0]
    contract = "Contract</summary>\n#\n# -"
    for old, new in ((heading, f"{heading} again"), (contract, f"{contract} More:")):
        assert old in text
        edited = notebook.parse(text.replace(old, new, 1), unit)
        new_lines = last_build.describe_exercises(unit, edited, {}, seed)
        changed = [name for name in lines if lines[name] != new_lines[name]]
        assert len(changed) == 1
        assert Build(exercises=new_lines).unchanged_since(
            Build(exercises=lines)
        ) == set(lines)


def test_a_build_that_draws_nothing_imports_no_torch():
    code = "import sys, autograder.authoring.course; print('torch' in sys.modules)"
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, text=True) == "False\n"


def test_only_changed_exercises_are_drawn(monkeypatch):
    unit = find_unit("assistant")
    committed, names_of_drawn, sampled = load(unit.name), [], []
    cells = [
        replace(cell, points=cell.points + 1) if cell.role == "check" else cell
        for cell in notebook.read(unit)
    ]
    monkeypatch.setattr(references, "sample", lambda e: sampled.append(e.name) or {})
    monkeypatch.setattr(
        cases,
        "exercise",
        lambda e, *rest: names_of_drawn.append(e.name) or committed[e.name],
    )
    first, *unchanged = committed
    drawings = references.build(unit, cells, unchanged)
    assert names_of_drawn == [first, first]  # what ships, and the hidden drawing
    assert sampled == [first]
    for exercise in drawings["public"][1:]:
        points = committed[exercise.name].points + 1
        assert exercise == replace(committed[exercise.name], points=points)


def test_what_has_not_changed_is_packed_as_it_was():
    unit = find_unit("assistant")
    files = reference_files.read(unit)
    built = references.build(unit, notebook.read(unit), load(unit.name))
    assert references.merge_with_committed(unit, built) == (files, "")


def test_a_change_of_prose_draws_nothing(monkeypatch):
    unit = find_unit("assistant")
    files = reference_files.read(unit)
    stubs = course._stubs(unit.release.read_text(encoding="utf-8"))
    lines = last_build.describe_exercises(
        unit, notebook.read(unit), stubs, reference_files.seed_of(unit)
    )
    digest = last_build.digest_files(files)
    monkeypatch.setattr(redrawing, "redraw", pytest.fail)
    new, reason = course.make_files(unit, last=Build("other\n", digest, lines))
    assert not reason and not set(new) & set(files)
    assert str(new[last_build.record(unit)]).endswith(str(Build("", digest, lines)))
