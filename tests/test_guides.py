"""Every command that the guides for staff show can be typed as it stands there.

What ``autograder`` does with it is run on a small graded class, in the order of a term;
nbgrader's own commands and make's are parsed (tests/test_quick_starts.py runs those of
a term). `NEEDS` says of the others why they are not run here.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import zipfile
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.nbgraderapp import NbGraderApp
from traitlets.config import Config

from autograder import cli
from autograder.course import ROOT
from autograder.grading import converter
from autograder.grading.scores import SaveVerdicts
from tests import tiny_course as tiny
from tests.classroom.conftest import RunAndNote

GUIDES = ("docs/admin.md", "docs/ta.md", "docs/instructor.md", "docs/lms.md")
UNIT = "02_attention"
STARTS = ("autograder", "nbgrader", "make", "sudo", "git", "docker", "uv", "rsync")
OTHERS = ("cd", "cp", "jupyter", "python", "source", "systemd-run")
NEEDS = {
    "root": r"sudo |autograder exchange\b",
    "a network": r"git |docker |uv |rsync ",
    "a browser": r"jupyter |make lab|autograder lab",
    "a shell of one's own": r"source |cd |cp |systemd-run ",
    "minutes": r"python benchmarks/",
    "an exercise of the course that was judged (tests/classroom/test_requests.py)":
        r"autograder regrade 02 ada|autograder replay|autograder questions",
    "a group of wrong answers (tests/extras/unnamed)":
        r"autograder unnamed 02 --(from|adopt)",
    "sandboxes (tests/classroom/test_preview.py, tests/extras/watch)":
        r"autograder regrade 02 --preview|autograder watch",
    "a table that was filled in (tests/extras/written)":
        r"autograder written 02 --from",
    "a roster with sections (tests/extras/written)":
        r"autograder written 02 --section",
    "an LMS (tests/extras/lti)":
        r"autograder ((grades|collect|feedback) 02\w* --(to|from) |lms-roster|lti-key)",
    "the packages of a website (tests/extras/website)": r"autograder site",
}  # fmt: skip
CLASS = ("ada", "alan", "bob", "cleo", "dora", "eve")
# What a command is called where the text is about it: these say no arguments.
NAMED = re.compile(r"(autograder|nbgrader|make)( [a-z_]+)?")


def commands() -> dict[str, str]:
    """The commands of the guides, without comments; where each is."""
    commands_by_guide: dict[str, str] = {}
    for name in GUIDES:
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        lines = [line for block in blocks for line in block.splitlines()]
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        lines += re.findall(r"`([^`\n]+)`", prose)
        for line in lines:
            line = re.sub(r"\s+#.*", "", line).strip()
            line = line.replace("...", f"autograder grades {UNIT}")
            is_ours = line.split(" ")[0] in (*STARTS, *OTHERS) and " " in line
            if is_ours and not line.endswith("--help"):
                commands_by_guide.setdefault(line, name)
    return commands_by_guide


def of(program: str) -> list[str]:
    return [line for line in commands() if line.split(" ")[0] == program]


def reason(line: str) -> str:
    """Why a command is not run here; "" if it is."""
    return next(
        (need for need, pattern in NEEDS.items() if re.match(pattern, line)), ""
    )


def test_the_guides_show_commands_of_each_kind():
    assert len(of("autograder")) > 20 and len(of("nbgrader")) > 10
    assert len(of("make")) > 8


@pytest.mark.parametrize("line", of("autograder"))
def test_a_command_of_ours_is_one_that_its_parser_takes(line):
    if NAMED.fullmatch(line):
        assert f"\n  {line.split()[1]} " in cli._parser().format_help()
    else:
        cli._parser().parse_args(shlex.split(line)[1:])


@pytest.mark.parametrize("line", of("nbgrader"))
def test_a_command_of_nbgraders_is_one_that_it_has(line):
    """Each word of it, and each option."""
    app, words = NbGraderApp(), shlex.split(line)[1:]
    while words and words[0] in app.subcommands:
        app = app.subcommands[words.pop(0)][0]()
    assert type(app) is not NbGraderApp, line
    app.parse_command_line(words)  # ends the process if it takes an option for none


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_the_targets_of_make_are_there():
    """All in one process: each start of make asks pip what it has been told."""
    words = [word for line in of("make") for word in shlex.split(line)[1:]]
    process = subprocess.run(
        ["make", "--dry-run", *dict.fromkeys(words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr


def test_what_is_of_no_program_here_says_what_it_needs():
    for line in commands():
        if line.split(" ")[0] not in ("autograder", "nbgrader", "make"):
            assert reason(line), line


@pytest.fixture(scope="module")
def term(tmp_path_factory) -> Path:
    """A course of two units; the class has handed in the first, and it is graded."""
    root = tmp_path_factory.mktemp("term") / "course"
    notebook = tiny.source_notebook()
    tiny.make_course(root, UNIT, notebook)
    path = root / "source" / "06_text_recovery" / "06_text_recovery.ipynb"
    path.parent.mkdir()
    path.write_bytes(
        tiny.data(notebook).replace(b"import math", b"LEADERBOARD_NAME = ''")
    )
    release = (root / "release" / UNIT / f"{UNIT}.ipynb").read_bytes()
    submission = tiny.data(tiny.solve_release(nbformat.reads(release, as_version=4)))
    (root / "roster.csv").write_text(
        "id,first_name,last_name,lms_user_id\n"
        + "".join(
            f"{student},{student.title()},Lee,{n}\n"
            for n, student in enumerate(CLASS, 101)
        )
    )
    with zipfile.ZipFile(root / "submissions.zip", "w") as archive:
        for n, student in enumerate(CLASS, 101):
            archive.writestr(f"lee{student}_{n}_{n}9_numbers.ipynb", submission)
    (root / "gradebook.csv").write_text(
        "Student,ID,Section,02_attention (7)\n"
        + "".join(f'"Lee, {student}",{n},A,\n' for n, student in enumerate(CLASS, 101))
    )
    (root / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Grade\n"
        + "".join(
            f"Participant {n},{student.title()} Lee,,\n"
            for n, student in enumerate(CLASS)
        )
    )
    assert converter.install()
    with contextlib.chdir(root):
        say(f"autograder collect {UNIT} submissions.zip --roster roster.csv")
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        book.find_assignment(UNIT).duedate = datetime(2026, 1, 1)
        book.db.commit()
    config = Config()
    config.Autograde.autograde_preprocessors = [RunAndNote, SaveVerdicts]
    assert tiny.run_nbgrader(root, "autograde", UNIT, "*", config=config)["success"]
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        for student in CLASS:
            book.find_grade("numbers-why", UNIT, UNIT, student).manual_score = 4
        book.db.commit()
    assert tiny.run_nbgrader(root, "generate_feedback", UNIT)["success"]
    with contextlib.chdir(root):
        say(f"autograder report {UNIT} --shareable")
        shutil.copy(f"reports/{UNIT}-shareable.csv", "last_terms.csv")
    return root


def say(line: str) -> None:
    """Run a command; it must be content."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = cli.main(shlex.split(line)[1:])
    assert status == 0, f"{line}: {status}\n{out.getvalue()}\n{errors.getvalue()}"


@pytest.mark.parametrize(
    "line",
    [
        command
        for command in of("autograder")
        if not NAMED.fullmatch(command) and not reason(command)
    ],
)
def test_a_command_of_ours_does_what_the_guide_says(line, term, monkeypatch):
    monkeypatch.chdir(term)
    say(line)
