"""The class at a glance, with a line for each student."""

import re

from autograder.classroom import table
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.grading.judge.verdict import Verdict

NAMES = ("unit-one", "unit-two", "unit-three")


def test_each_student_has_one_line_with_points_and_what_is_worth_a_look():
    full = {name: Verdict(name, 5, 5) for name in NAMES}
    missed = {NAMES[0]: Verdict(NAMES[0], 2, 5, mistake="unscaled")}
    unnamed = {NAMES[1]: Verdict(NAMES[1], 0, 5)}
    short = {name: full[name] for name in NAMES[2:]}
    handed_in = {
        "ada": (full, ()),
        "alan": (full | missed | unnamed, ()),
        "henri": (short, (("copied", "one cell was copied"),)),
    }
    exercises = [*(Item(name, 5.0) for name in NAMES), Item("unit-essay", 4.0, True)]
    submissions = [
        Submission(Student(name), {}, records=records, repairs=repairs)
        for name, (records, repairs) in handed_in.items()
    ]
    book = Classbook("01_unit", tuple(exercises), tuple(submissions))
    head, *lines = table.as_text(book).splitlines()
    assert head == "01_unit: 3 students, 3 exercises, 15 points"
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["ada", "15"],
        ["alan", "7", "2 exercises below full points, 1 named"],
        ["henri", "5", "2 not graded; one cell was copied"],
    ]
