"""Redraw the references of changed exercises, and check the scores that they give."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from pathlib import Path

from autograder.authoring import references
from autograder.authoring.catalogue import naming_file, specifications
from autograder.authoring.notebook import Cell
from autograder.authoring.verify import refuse_wrong_scores
from autograder.course import Unit
from autograder.course.errors import Faults

log = logging.getLogger(__name__)


def redraw(
    unit: Unit,
    cells: list[Cell],
    stubs: Mapping[str, str],
    unchanged: Collection[str] = (),
) -> tuple[dict[Path, bytes], str]:
    """Make a unit's reference files by path, and say how they differ from the last.

    Args:
        stubs: the code that students complete, by exercise; none if it is given.
        unchanged: exercises whose committed references are kept.
    """
    drawings, faults = references.build(unit, cells, unchanged), Faults()
    for index, exercise in enumerate(specifications(unit.name)):
        if exercise.name in unchanged or exercise.name not in stubs:
            continue
        log.debug("%s: the solution and the stub are scored", exercise.name)
        of_exercise = [exercises[index] for exercises in drawings.values()]
        with faults.collect(), naming_file(exercise.name):
            refuse_wrong_scores(exercise, of_exercise, stubs[exercise.name])
    faults.refuse()
    return references.merge_with_committed(unit, drawings)
