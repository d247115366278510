"""The class report says what failed, and who left what blank."""

from dataclasses import replace

from autograder.checks.references import titles
from autograder.classroom import report
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.grading.judge.verdict import CaseVerdict, Verdict
from autograder.sandbox.ending import EndReason


def record(
    student: str, *problems: str, note: str = "", ended: EndReason | None = None
) -> Submission:
    """A student's only exercise, whose cases have these problems."""
    cases = tuple(
        CaseVerdict(f"case {n}", f"inputs {n}", problem, n > 0)
        for n, problem in enumerate(problems)
    )
    points = 2.0 * (bool(problems) and not any(problems))
    verdict = Verdict(
        "numbers/double", points, 2.0, note=note, cases=cases, ended=ended
    )
    person = Student(student, first_name=student.title(), last_name="King")
    return Submission(
        person, {"numbers-double": points}, records={"numbers-double": verdict}
    )


def test_it_says_which_case_failed_how_many_and_who_left_it_blank():
    submissions = (
        record("ada", "", ""),
        record("bob", "", "values"),
        record("cut", "shape", "values"),
        record("eve", note="Replace the stub.", ended=EndReason.STUB),
        record("fay", note="Not solved yet: said by the code itself."),
    )
    book = Classbook("01_numbers", (Item("numbers-double", 2.0),), submissions)
    overview = report.overview(book)
    (row,) = overview.exercises
    assert (row.full, row.none, row.blank) == (1, 4, 1)
    assert [(case.title, case.count) for case in row.failed] == [
        ("inputs 0", 1),
        ("inputs 1", 2),
    ]
    page = report.as_html(overview)
    assert "inputs 1 <span" in page and "Bob King (bob)" in page
    assert "left blank" in page


def test_what_was_left_blank_is_none_of_the_mistakes():
    blank = record("eve", note="Not solved yet.", ended=EndReason.STUB)
    items = (Item("numbers-double", 2.0),)
    overview = report.overview(
        Classbook("01_numbers", items, (blank, record("bob", "values")))
    )
    assert [row.students for row in overview.mistakes] == [("bob",)]
    overview = report.overview(Classbook("01_numbers", items, (blank, blank)))
    assert not overview.mistakes and overview.exercises[0].blank == 2
    assert "Nobody lost a point at a check of what was tried" in report.as_html(
        overview
    )


def test_exercises_are_called_by_their_titles():
    (verdict,) = record("ada", "values").records.values()
    softmax = replace(verdict, exercise="attention/softmax")
    name = "attention-softmax"
    submission = Submission(Student("ada"), {name: 0.0}, records={name: softmax})
    book = Classbook("02_attention", (Item(name, 2.0),), (submission,))
    page = report.as_html(report.overview(book))
    title = titles("attention")["attention/softmax"]
    assert f'<th scope="row">{title}</th>' in page
    assert f"begins to lose points at {title}" in page
