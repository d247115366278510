"""Bytes that may be anything are graded or refused, and nothing else happens."""

import json

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course.errors import CourseError
from autograder.grading import intake
from autograder.grading.intake import RefusedError, SizeLimits, rebuild
from autograder.grading.intake.reading import read
from tests.grading.intake.released import RELEASE, SOURCE, graded, is_solved
from tests.tiny_course import STUB, cell, data, solve_release


def test_forged_metadata_of_a_student_does_not_reach_the_graded_notebook():
    submission = solve_release(RELEASE)
    submission.metadata["autograder"] = {"digest": "forged", "checks": {"a": 1}}
    for c in submission.cells:
        c.metadata["autograder"] = "verdict"
        c.metadata["tags"] = ["skip-execution"]
        if "nbgrader" in c.metadata:
            c.metadata["nbgrader"]["points"] = 1000
    notebook, _ = graded(submission)
    text = nbformat.writes(notebook)
    assert not any(w in text for w in ("forged", "verdict", "skip-exec", "1000"))


def test_an_answer_that_is_far_too_long_is_left_out():
    notebook, kinds = graded(solve_release(RELEASE, double="#" * 300_000))
    assert STUB in cell(notebook, "numbers-double-answer").source
    assert kinds == ["cell left out"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"   \n", "empty"),
        (b'{"cells": [', "incomplete"),
        (b"PK\x03\x04", "damaged"),
        (b"[]", "not a notebook"),
        (b'{"nbformat": 4}', "not a notebook"),
        (b'{"cells": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"cells": [' + b'{"cell_type": "code"},' * 2001 + b"{}]}", "2000 cells"),
        (b'{"cells": [' + b'""' * 2001 + b"\0", "2000 cells"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_plain_reason(content, reason):
    with pytest.raises(RefusedError, match=reason):
        rebuild(SOURCE, RELEASE, content)


@pytest.mark.parametrize("first", ["cells", "metadata"])
@pytest.mark.parametrize("damage", [b"", b"\x00\xff", b'{"a": {', b"[" * 100_000])
def test_of_a_damaged_notebook_the_whole_cells_are_read(first, damage):
    """Whichever key its editor writes first, and wherever a text says "cells"."""
    cells = [
        {"cell_type": "code", "source": 'print("\\"cells\\": [")', "metadata": {}},
        {"cell_type": "code", "source": ["b = 2"]},
    ]
    text = json.dumps({"cells": cells, "metadata": {}})
    if first == "metadata":
        text = json.dumps({"metadata": {"a": '"cells": ['}, "cells": cells})
    content = text.encode()
    notebook = read(content[: content.rindex(b"2") - 2] + damage)
    assert [c.source for c in notebook.cells] == [cells[0]["source"]]
    assert notebook.is_cut and not read(content).is_cut


def test_a_notebook_above_the_size_limit_is_refused_unread():
    with pytest.raises(RefusedError, match="larger than 0 MB"):
        rebuild(SOURCE, RELEASE, b"{" * 100, SizeLimits(notebook=99))


def test_outputs_of_a_notebook_do_not_count(tmp_path):
    submission = solve_release(RELEASE)
    output = nbformat.v4.new_output("stream", text="x" * 30_000)
    next(c for c in submission.cells if c.cell_type == "code").outputs = [output]
    (tmp_path / "n.ipynb").write_bytes(data(submission))
    limits = SizeLimits(file=20_000, total=20_000, notebook=20_000, saved=50_000)
    intake_files = intake.take(tmp_path, limits)
    (repair,) = intake_files.repairs
    assert repair.says == "n.ipynb has 0 MB: its saved outputs were left out."
    assert b"xxx" not in intake_files.files["n.ipynb"].data
    rebuilt, _ = rebuild(SOURCE, RELEASE, intake_files.files["n.ipynb"].data, limits)
    assert cell(rebuilt, "numbers-double-answer").source
    small = SizeLimits(file=20_000, total=20_000, notebook=20_000, saved=25_000)
    refused = intake.take(tmp_path, small)
    assert (
        not refused.files and "n.ipynb is larger than 0 MB" in refused.why_no_notebook
    )


@pytest.mark.parametrize("content", [b"{" * 60_000, b"[" * 60_000, b"\xff" * 60_000])
def test_a_large_file_that_is_no_notebook_is_left_out(tmp_path, content):
    (tmp_path / "n.ipynb").write_bytes(content)
    limits = SizeLimits(file=20_000, total=20_000, notebook=20_000, saved=99_000)
    assert not intake.take(tmp_path, limits).files


def test_huge_numbers_and_lone_surrogates_are_survived():
    submission = json.dumps(solve_release(RELEASE, words="\ud800 odd")).replace(
        '"execution_count": null', '"execution_count": ' + "9" * 10_000
    )
    notebook, _ = graded(submission.encode())
    assert is_solved(notebook) and cell(notebook, "numbers-why").source == "? odd"


def test_source_and_release_that_differ_are_the_courses_fault():
    with pytest.raises(CourseError, match="build and release"):
        rebuild(SOURCE, nbformat.v4.new_notebook(), None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "metadata", "source", "id", "nbgrader", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def _graft(document, path: list[int], value):
    """Replace one part of a JSON document, wherever the numbers lead."""
    node = document
    for step, number in enumerate(path):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = keys[number % len(keys)]
        last = step == len(path) - 1
        if last or not node[key] or not isinstance(node[key], dict | list):
            node[key] = value
            break
        node = node[key]
    return document


quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def only_refused(content: bytes) -> None:
    try:
        notebook, _ = rebuild(SOURCE, RELEASE, content)
    except RefusedError:
        return
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    for grade_id in ("numbers-double", "numbers-triple"):
        assert cell(notebook, grade_id).source == cell(SOURCE, grade_id).source


@quick
@given(st.lists(st.integers(0, 99), min_size=1, max_size=7), json_values)
def test_any_value_anywhere_is_graded_or_refused(path, value):
    only_refused(data(_graft(json.loads(data(solve_release(RELEASE))), path, value)))


@quick
@given(json_values | st.dictionaries(st.just("cells"), json_values))
def test_any_json_is_graded_or_refused(value):
    only_refused(data(value))


@quick
@given(st.integers(0, 4000), st.binary(max_size=8))
def test_any_cut_or_damage_is_graded_or_refused(place, junk):
    complete = data(solve_release(RELEASE))
    only_refused(complete[:place] + junk)
    only_refused(complete[:place] + junk + complete[place + len(junk) :])


@quick
@given(st.lists(st.text(alphabet="defclass =:(x\n#", max_size=40), max_size=6))
def test_any_code_in_any_cell_leaves_the_tests_alone(texts):
    submission = solve_release(RELEASE)
    for number, text in enumerate(texts):
        submission.cells[number % len(submission.cells)].source = text
    only_refused(data(submission))


@pytest.mark.parametrize("part", [b"[],", b"{},", b"[[", b"1.5,", b'"ab",'])
def test_a_notebook_of_millions_of_parts_is_refused_before_it_takes_memory(part):
    many = b'{"cells":[' + part * ((80 << 20) // len(part)) + b"1]}"
    with pytest.raises(RefusedError, match="too many parts"):
        read(many, SizeLimits(notebook=1 << 30))


def test_a_line_ends_at_every_kind_of_end():
    """A lone carriage return would end a row of a table later on."""
    text = {"cell_type": "markdown", "metadata": {}, "source": "a\rb\r\nc\n\rd"}
    (cell,) = read(json.dumps({"cells": [text]}).encode()).cells
    assert cell.source == "a\nb\nc\n\nd"
