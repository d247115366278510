"""Late days: spent in the order of the deadlines, and then the policy's."""

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.grading.feedback import Scores
from autograder.grading.gradebook.late_days import Balance, balance_of, balances
from autograder.grading.scores import LatePenalties

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def book(tmp_path):
    """Three units, and who handed them in how many hours late."""
    hours = {"ada": (30, 0, 3), "bob": (49, 24, 1)}
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "tiny") as book:
        for number, unit in enumerate(("03_c", "02_b", "01_a"), start=1):
            book.add_assignment(unit, duedate=f"2026-11-0{number} 00:00:00 UTC")
            for student in hours:
                book.update_or_create_student(student)
                late = hours[student][number - 1]
                time = f"2026-11-0{number + late // 24} {late % 24:02}:00:00 UTC"
                book.add_submission(unit, student, timestamp=time)
        yield book


def test_each_day_begun_is_spent_by_the_first_deadline_first(book):
    assert dict(balance_of(book, 5, "ada").spent) == {"03_c": 2, "01_a": 1}
    assert balance_of(book, 5, "ada").left == 2
    bob = balances(book, 3)["bob"]
    assert bob.spent == {"03_c": 3, "02_b": 0, "01_a": 0} and bob.left == 0


def test_who_was_never_late_has_all(book):
    book.add_student("eve")
    assert balance_of(book, 4, "eve") == Balance(4, {})
    assert balance_of(book, 4, "eve").left == 4


@pytest.mark.parametrize(("budget", "penalty"), [(0, 8), (3, None), (2, 8)])
def test_the_policy_sees_what_is_late_beyond_the_budget(book, budget, penalty):
    config = Config()
    config.LateBudget.days = budget
    config.LateSubmissionPlugin.penalty_method = "zero"
    late = LatePenalties(config=config)
    late.db_url, late.student_id = str(book.engine.url), "ada"
    late.assignment_id = "01_a"  # ada has spent two days before
    late.init_plugin()
    seconds = 3 * 3600.0
    assert late.plugin_inst.late_submission_penalty("ada", 8.0, seconds) == penalty


@pytest.mark.parametrize(
    ("unit", "line"),
    [
        ("01_a", "2 of your 5 late days left; this unit used 1"),
        ("02_b", "2 of your 5 late days left"),
    ],
)
def test_a_student_reads_what_is_left(book, unit, line):
    page = Scores(config=Config({"LateBudget": {"days": 5}}))
    page.student_id, page.assignment_id = "ada", unit
    assert page._describe_late_days(book) == line
    assert Scores()._describe_late_days(book) == "", "there is no budget"
