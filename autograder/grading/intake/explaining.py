"""Say which notebook of a hand-in was chosen, what of it counts, or why none was."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from autograder.grading.intake.common import Repair, join_names
from autograder.grading.intake.other_units import GradeIds, owner

_CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)  # git's, in the middle of the JSON


def why_none(
    files: Collection[str],
    candidates: Sequence[str],
    broken: Sequence[str],
    strange: Mapping[str, Collection[str]],
    course_ids: Callable[[], GradeIds],
) -> str:
    """Why none of the files is the unit's notebook.

    Args:
        candidates: the files that look like notebooks.
        broken: the reasons why some of them cannot be read.
        strange: by path, the grade ids in the notebooks that can.
        course_ids: reads the grade ids of the course's assignments.
    """
    if broken:
        return f"the notebook cannot be read: {broken[0]}"
    ids_by_assignment = course_ids() if strange else {}
    for path, ids in strange.items():
        if whose := owner(ids, ids_by_assignment):
            return f'"{join_names([path])}" is {whose}, not this unit\'s'
    if candidates:
        return f"no notebook of this unit is among the files: {join_names(candidates)}"
    scripts = [path for path in files if path.lower().endswith(".py")]
    wanted = f'; hand in the .ipynb, not "{join_names(scripts[:1])}"' if scripts else ""
    return f"there is no notebook in the submission{wanted}"


def about_choice(best: str, name: str, paths: Sequence[str]) -> Iterator[Repair]:
    """Say which notebook was chosen, if that is not plain."""
    if best != name:
        yield Repair("renamed", f'"{join_names([best])}" was taken as "{name}".')
    ignored = [path for path in paths if path != best]
    if ignored:
        choice = f'Of several notebooks, "{join_names([best])}" was graded'
        yield Repair("several notebooks", f"{choice}, not {join_names(ignored)}.")


def about_damage(path: str, data: bytes, count: int) -> str:
    """Say what is damaged behind the first ``count`` cells of a notebook."""
    first = f"after its first {count} cells; only those count"
    if _CONFLICT.search(data):
        return (
            f'"{join_names([path])}" has a merge conflict (<<<<<<<) {first}. '
            "Resolve it and hand it in again."
        )
    return f'"{join_names([path])}" is damaged {first}. Hand it in again.'
