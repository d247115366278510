"""The class at a glance, with a line for each student."""

import re

from autograder.classroom import table
from autograder.classroom.table import Row
from autograder.course import find_unit
from autograder.grading.judge.verdict import Verdict

UNIT = find_unit("attention")


def test_each_student_has_one_line_with_points_and_what_is_worth_a_look():
    names = table.exercises(UNIT)
    full = {name: Verdict(name, 5, 5) for name in names}
    missed = {names[0]: Verdict(names[0], 2, 5, mistake="unscaled")}
    unnamed = {names[1]: Verdict(names[1], 0, 5)}
    short = {name: full[name] for name in names[2:]}
    rows = [
        Row("ada", full),
        Row("alan", full | missed | unnamed),
        Row("henri", short, ("one cell was copied",)),
    ]
    most = 5 * len(names)
    head, *lines = table.as_text(UNIT, rows).splitlines()
    assert head == f"{UNIT.label}: 3 students, {len(names)} exercises, {most} points"
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["ada", f"{most}"],
        ["alan", f"{most - 8}", "2 exercises below full points, 1 named"],
        ["henri", f"{most - 10}", "2 not graded; one cell was copied"],
    ]
