"""``autograder unnamed``: wrong answers in groups, sentences, and new mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from traitlets.config import Config

from autograder import cli
from autograder.authoring.catalogue import specification
from autograder.classroom.classbook import Student, Submission
from autograder.course import ROOT, find_unit
from autograder.course.errors import CourseError
from autograder.extras.unnamed import unnamed
from autograder.grading import release, sentences
from tests.classroom.unnamed_answers import LONG, SHORT, answers, failed
from tests.tiny_course import UNIT, run_nbgrader


def test_equal_wrong_answers_are_one_group_with_its_shortest_program(graded):
    answers(graded, bob=(LONG, failed("a1")), silent=(SHORT, failed("a1")))
    [group] = unnamed.groups(UNIT, graded)
    assert group.students == ("bob", "silent") and group.program == SHORT
    answers(graded, silent=(SHORT, failed("b2")))
    assert len(unnamed.groups(UNIT, graded)) == 2


def test_a_program_tells_nothing_but_what_it_does(graded):
    answers(graded, bob=(LONG, failed("a1")))
    [group] = unnamed.groups(UNIT, graded)
    assert "Eve" not in group.program and "adding" not in group.program


def test_a_program_that_is_nested_too_deeply_is_not_shown():
    assert unnamed._bare("x = 1" + " + 1" * 2_000) == ""


def test_a_long_program_is_cut_on_the_page_but_not_when_it_is_adopted(graded):
    lines = "".join(f"    x = x + {n}\n" for n in range(1_000))
    program = f"def double(x):\n{lines}    return x"
    answers(graded, bob=(program, failed("a1")))
    assert unnamed.groups(UNIT, graded)[0].program == program
    unnamed.write_list(UNIT, graded)
    page = (graded / "reports" / f"{UNIT}-unnamed.html").read_text()
    assert "x = x + 9\n" in page and "x = x + 999\n" not in page


@pytest.mark.parametrize(
    "mistakes", ["[]", "[wrong()]", "[\n    wrong()\n]", "[*OTHERS]", "()"]
)
def test_a_list_that_takes_no_entry_is_a_line_with_the_entry_to_add(tmp_path, mistakes):
    path = tmp_path / "softmax.py"
    path.write_text(
        f"from autograder.authoring.notation import wrong\nMISTAKES = {mistakes}\n"
    )
    with pytest.raises(CourseError, match=r"by hand:\n    wrong\('quarter'"):
        unnamed._with_mistake(path, "    wrong('quarter'),\n")


def ask(root: Path, capsys, *arguments: str) -> tuple[int, str]:
    status = cli.main(["unnamed", "01", *arguments, "--course", str(root)])
    output = capsys.readouterr()
    return status, output.out + output.err


def test_a_sentence_is_kept_for_the_group_and_told_on_its_pages(graded, capsys):
    answers(graded, bob=(SHORT, failed("a1")))
    status, _ = ask(graded, capsys)
    page, table = (graded / "reports" / f"{UNIT}-unnamed.{k}" for k in ("html", "csv"))
    assert status == 0 and "return x + 3" in page.read_text()
    line = table.read_text().splitlines()[1]
    table.write_text(f"group,exercise,students,sentence\n{line}You added 3.\n")
    status, output = ask(graded, capsys, "--from", str(table))
    assert status == 0 and "generate_feedback 01_numbers --force" in output
    key = sentences.group_of(failed("a1"))
    assert sentences.read(graded, UNIT) == {key: "You added 3."}
    ask(graded, capsys)
    assert "You added 3." in page.read_text() and "You added 3." in table.read_text()
    pages = feedback(graded)
    assert "<strong>Your teachers say:</strong> You added 3." in pages["bob"]
    assert "Your teachers say" not in pages["silent"]


def test_a_student_in_two_groups_is_counted_once(graded, monkeypatch):
    bob = Submission(Student("bob"), {})
    members = {key: [(bob, "numbers-double")] for key in ("a1", "b2")}
    monkeypatch.setattr(unnamed, "_members", lambda book: members)
    table = graded / "mine.csv"
    table.write_text("group,sentence\na1,You added 3.\nb2,You added 4.\n")
    assert unnamed.take_sentences(UNIT, graded, table) == 1


def test_bad_tables_and_groups_are_a_line(graded, capsys):
    answers(graded, bob=(SHORT, failed("a1")))
    table = graded / "mine.csv"
    for text, message in (
        ("group,sentence\n12345678,Hello.\n", "there is no group 12345678"),
        ("a;b\n1;2\n", 'has no column "group"'),
    ):
        table.write_text(text)
        status, output = ask(graded, capsys, "--from", str(table))
        assert status == 1 and message in output and output.count("\n") == 1
    status, output = ask(graded, capsys, "--from", str(graded / "none.csv"))
    assert status == 1 and output.count("\n") == 1
    assert not (graded / "sentences").exists()
    status, output = ask(graded, capsys, "--adopt", "12345678", "added")
    assert status == 2 and "--asks" in output


def feedback(root: Path) -> dict[str, str]:
    """The feedback pages of all students."""
    release.install()
    config = Config()
    config.GenerateFeedback.preprocessors = ["autograder.grading.feedback.Scores"]
    exporter = "autograder.grading.feedback.FeedbackExporter"
    config.GenerateFeedback.exporter_class = exporter
    run = run_nbgrader(root, "generate_feedback", UNIT, force=True, config=config)
    assert run["success"], run
    return {
        path.parts[-3]: path.read_text()
        for path in (root / "feedback").glob(f"*/{UNIT}/*.html")
    }


ASKS = "What is added to each score?"
BOTH = 'a = \'"""\'\n'  # else the other kind of quotes would do
QUOTED = (
    BOTH + "b = \"''')), open('trace', 'w').write('x'), (str(r'''\"",
    BOTH + 'b = \'""")), open("trace", "w").write("x"), (str(r"""\'',
    BOTH + "b = '''\\'''''' + '\\\\'",
    "b = '\x0c \u2028 \x85 \u202e \ud800'\n'''",
)


@pytest.fixture
def adopt(monkeypatch, tmp_path):
    """Adopts a program in a copy of an exercise's file; what that file then defines."""
    unit = find_unit("attention")
    copy = tmp_path / "transformer_course" / "attention" / "exercises"
    copy.mkdir(parents=True)
    bank_file = ROOT / copy.relative_to(tmp_path) / "softmax.py"
    (copy / "softmax.py").write_text(bank_file.read_text(encoding="utf-8"))
    copied_unit = unit.__class__(unit.number, unit.name, tmp_path)

    def adopt_program(program: str, key: str = "a1b2c3d4") -> dict:
        message = "You added a quarter."
        group = unnamed.AnswerGroup(
            "a1b2c3d4", "attention-softmax", ("ada",), "", program, message
        )
        monkeypatch.setattr(unnamed, "groups", lambda *_: [group])
        path = unnamed.adopt(copied_unit, tmp_path, key, "quarter", ASKS)
        scope: dict = {}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
        return scope

    return adopt_program


def test_a_group_becomes_a_mistake_of_its_exercise(adopt):
    """In a copy of the exercise's file, which Python can read afterwards."""
    scope = adopt("def stable_softmax(x):\n    return x.exp() + 0.25")
    added = scope["MISTAKES"][-1]
    mutants = specification("attention/softmax").mutants
    assert len(scope["MISTAKES"]) == len(mutants) + 1 and added.name == "quarter"
    assert (added.says, added.asks) == ("You added a quarter.", ASKS)
    assert "+ 0.25" in added.variants[0].source and added.variants[0].confined
    with pytest.raises(CourseError, match="there is no group"):
        adopt("", key="other")


@pytest.mark.parametrize("program", QUOTED)
def test_no_quotes_of_a_program_run_in_the_exercise_s_file(
    adopt, tmp_path, monkeypatch, program
):
    monkeypatch.chdir(tmp_path)
    added = adopt(program)["MISTAKES"][-1]
    assert added.variants[0].source == program and not Path("trace").exists()
