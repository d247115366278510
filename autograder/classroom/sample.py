"""Make a sample class, with submissions of every kind that a real class hands in."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat

from autograder.authoring.catalogue import specifications
from autograder.authoring.notebook import read, without_markers
from autograder.authoring.specification import Specification, Variant
from autograder.authoring.variants import solution_source, stands_alone, variant_source
from autograder.course import Unit, grade_ids, manifest, notebooks
from autograder.course.files import write

Codes = dict[str, str]  # exercise name -> the code of its cell

_NOISE = """
import sys, warnings
warnings.warn("lr_scheduler.step() was called before optimizer.step()")
for step in range(3):
    print(f"\\r{step + 1}/3 batches", end="", file=sys.stderr)

def _noisily(function):
    def noisy(*arguments, **options):
        warnings.warn("this overload is deprecated")
        print("progress: 100%", file=sys.stderr)
        return function(*arguments, **options)
    return noisy
"""


def submissions(unit: Unit) -> dict[str, bytes]:
    """The notebooks that the sample class hands in, by student."""
    release = notebooks.read(unit.release)
    exercises = specifications(unit.name)
    solved = {
        cell.name: without_markers(cell.text)
        for cell in read(unit)
        if cell.role == "exercise"
    }
    answers = _answers(exercises, solved)
    by_student = {student: _fill(release, codes) for student, codes in answers.items()}
    by_student["niels"] = _saved_by_colab(_fill(release, solved))
    by_student["rosalind"] = _copied_cell(_fill(release, solved), exercises[0])
    return {
        student: (nbformat.writes(notebook) + "\n").encode()
        for student, notebook in sorted(by_student.items())
    }


def _answers(exercises: Sequence[Specification], solved: Codes) -> dict[str, Codes]:
    """Map students of the sample class to right, wrong, blank or broken answers.

    An answer is the code of an exercise's cell, by the exercise's name.
    """
    middle = exercises[len(exercises) // 2].name
    unfinished = f"{solved[middle]}\n    return ((("
    exits = f"import os\n\n{solved[middle]}\n\nos._exit(1)"
    answers = {
        "ada": solved,
        "felix": {},
        "henri": solved | {middle: unfinished},
        "isaac": solved | {middle: exits},
        "maryam": _noisy(exercises, solved),
    }
    for turn, student in enumerate(("emmy", "grace", "katherine")):
        answers[student] = _styles(exercises, solved, turn)
    names = ("alan", "blaise", "claude", "dorothy", "erwin")
    for turn, student in enumerate(names):
        answers[student] = _mistakes(exercises, solved, turn, len(names))
    return answers


def _styles(exercises: Sequence[Specification], solved: Codes, turn: int) -> Codes:
    """Answer every exercise correctly, if possible unlike the course's own solution.

    The student's number, ``turn``, selects one of the accepted solutions.
    """
    answers = dict(solved)
    for exercise in exercises:
        styles = [v for v in exercise.accepted if stands_alone(exercise, v)]
        if styles:
            style = styles[turn % len(styles)]
            answers[exercise.name] = _instead(exercise, style, solved)
    return answers


def _instead(exercise: Specification, variant: Variant, solved: Codes) -> str:
    """Return the code of an exercise's cell, with a variant instead of the solution."""
    code = variant_source(exercise, variant)
    return solved[exercise.name].replace(solution_source(exercise).rstrip("\n"), code)


def _mistakes(
    exercises: Sequence[Specification], solved: Codes, turn: int, turns: int
) -> Codes:
    """Put a known mistake, if possible, into every other exercise, and solve the rest.

    The student's number, ``turn`` of ``turns``, selects exercises and mistakes.
    """
    answers = dict(solved)
    for index, exercise in enumerate(exercises):
        if (index + turn) % 2 == 0:
            # One wrong program for each mistake that the exercise knows.
            variants = (mutant.variants[0] for mutant in exercise.mutants)
            mistakes = [v for v in variants if stands_alone(exercise, v)]
            if mistakes:
                chosen = mistakes[(turn * len(mistakes)) // turns]
                answers[exercise.name] = _instead(exercise, chosen, solved)
    return answers


def _noisy(exercises: Sequence[Specification], solved: Codes) -> Codes:
    """Correct answers that write harmless warnings and progress bars to stderr."""
    answers, first = dict(solved), exercises[0]
    answers[first.name] = f"{_NOISE}\n{solved[first.name]}\n"
    for exercise in exercises:
        if solution_source(exercise).startswith("def "):
            for name in exercise.targets:
                answers[exercise.name] += f"\n{name} = _noisily({name})"
    return answers


def _fill(release: nbformat.NotebookNode, answers: Codes) -> nbformat.NotebookNode:
    """Copy a release notebook, with these answers in its answer cells."""
    notebook = copy.deepcopy(release)
    by_id = {grade_ids.of_answer(name): s for name, s in answers.items()}
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in by_id:
            cell.source = by_id[grade_id]
    return notebook


def _saved_by_colab(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Change a notebook as if Colab had saved it, and return the same object.

    Colab writes format 4.0, no ids of cells, and metadata with the user's name.
    """
    notebook.nbformat_minor = 0
    for index, cell in enumerate(notebook.cells):
        cell.pop("id", None)
        cell.metadata["id"] = f"colab{index:07d}"
        if cell.cell_type == "code":
            cell.metadata["colab"] = {"base_uri": "https://localhost:8080/"}
            cell.metadata["executionInfo"] = {
                "elapsed": 12, "status": "ok",
                "user": {"displayName": "Niels B", "userId": "0123456789"},
            }  # fmt: skip
    notebook.metadata = nbformat.from_dict(
        {
            "colab": {"provenance": []},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python"},
        }
    )
    return notebook


def _copied_cell(
    notebook: nbformat.NotebookNode, exercise: Specification
) -> nbformat.NotebookNode:
    """Copy an exercise's answer cell below it, as a student may do in JupyterLab."""
    wanted = grade_ids.of_answer(exercise.name)
    for index, cell in enumerate(notebook.cells):
        if cell.metadata.get("nbgrader", {}).get("grade_id") == wanted:
            copied = copy.deepcopy(cell)
            # An id has at most 64 characters.
            copied["id"] = f"{cell['id'][:50]}-copied"
            notebook.cells.insert(index + 1, copied)
            break
    return notebook


def hand_in(unit: Unit, root: Path, class_: Mapping[str, bytes] | None = None) -> None:
    """Write a class's notebooks, and the files handed in with them, below ``root``.

    Args:
        class_: notebooks by student; by default, those of the sample class.
    """
    by_student = submissions(unit) if class_ is None else class_
    extra_files = beside(unit)
    for student, data in by_student.items():
        folder = root / "submitted" / student / unit.label
        for name, content in {f"{unit.label}.ipynb": data, **extra_files}.items():
            write(folder / name, content)


def beside(unit: Unit) -> dict[str, bytes]:
    """The files to hand in with a unit's notebook, such as a trained model, by name."""
    handed_in = manifest.read(unit).handed_in
    return {name: path.read_bytes() for name, path in handed_in.items()}
