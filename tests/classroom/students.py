"""Who of the sample class has solved all, and who has made mistakes."""

from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.grading.judge.verdict import Verdict

FULL = {"ada", "emmy", "grace", "katherine", "maryam", "niels", "rosalind"}
MISTAKEN = {"alan", "blaise", "claude", "dorothy", "erwin"}

EXERCISES = (Item("code", 6.0), Item("essay", 4.0, True))


def submission(student: Student, code=6.0, essay=3.0, **fields) -> Submission:
    message = "You forgot the scaling."
    records = {"code": Verdict("u/code", code, 6.0, "unscaled" * (code < 6), message)}
    points = {"code": code, "essay": essay}
    return Submission(student, points, records=records, **fields)


ADA = Student("ada", "Ada", "Lovelace", "ada@uni.example", "501")
BOB = Student("bob", "Bob", "Óðinsson", "bob@uni.example")
EVE = Student("eve", "Eve", "Mallory", "eve@uni.example")
BOOK = Classbook(
    "02_attention",
    EXERCISES,
    (submission(ADA, penalty=1.5), submission(BOB, essay=None), submission(EVE, 2.0)),
)
