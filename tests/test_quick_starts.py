"""The first commands of README and docs, run as they stand there, in a clean clone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.classroom import gradebook
from autograder.course import ROOT, find_unit
from tests.classroom.students import FULL, MISTAKEN
from tests.clone import checkout

UNIT = find_unit("attention")


def blocks(document: str, heading: str) -> list[list[str]]:
    """The lines of each block below a heading."""
    text = (ROOT / document).read_text(encoding="utf-8")
    part = text.split(f"\n{heading}\n")[1].partition("\n## ")[0]
    fenced = re.findall(r"^```\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
    return [block.splitlines() for block in fenced]


def lines(document: str, heading: str) -> list[str]:
    """The commands in the first block below a heading."""
    return blocks(document, heading)[0]


def in_table(document: str, heading: str) -> list[str]:
    """The commands in the first table below a heading, as they stand there."""
    text = (ROOT / document).read_text(encoding="utf-8")
    part = text.split(f"\n{heading}\n")[1].partition("\n|")[2].partition("\n\n")[0]
    return re.findall(r"`(nbgrader [^`]+)`", part)


def run(command: str, folder: Path, **variables: str) -> str:
    """Run a command with the environment's programs on the PATH and no others."""
    process = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        text=True,
        check=False,
        env={
            "PATH": str(Path(sys.executable).parent),
            "HOME": str(folder.parent),
            "PYTHONPATH": str(folder),
            "OMP_NUM_THREADS": "1",
            "LANG": "C.UTF-8",
        }
        | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}"
    return process.stdout


def hand_in(clone: Path, student: str) -> None:
    folder = clone / "submitted" / student / UNIT.label
    folder.mkdir(parents=True)
    (folder / UNIT.release.name).write_bytes(UNIT.release.read_bytes())


@pytest.mark.slow
def test_the_instructor_grades_a_clone_at_once(tmp_path):
    clone = checkout(tmp_path / "course")
    hand_in(clone, "ada")
    commands = lines("docs/instructor.md", "## Run a unit")
    assert len(commands) == 2
    outputs = [run(command, clone) for command in commands]
    assert "1 graded" in outputs[0]
    assert (clone / "feedback" / "ada" / UNIT.label / f"{UNIT.label}.html").is_file()
    assert not (clone / "release.part").exists()


def test_the_readme_asks_for_nothing_else():
    """What comes before is the environment; the last line is the instructor's first."""
    *_, (activate, grade) = blocks("README.md", "## For instructors")
    assert activate == "source .venv/bin/activate"
    assert grade == lines("docs/instructor.md", "## Run a unit")[0]


@pytest.mark.long
@pytest.mark.slow
def test_make_demo_grades_the_sample_class_and_a_second_run_agrees(tmp_path):
    """README's first command, of one unit, in an environment that is made already."""
    (clone_line, command), excerpt, _ = blocks("README.md", "## For instructors")
    assert clone_line.startswith("git clone ") and command == "make demo"
    clone, tools = checkout(tmp_path / "course"), tmp_path / "tools"
    (clone / ".venv").mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name != ".ready":
            (clone / ".venv" / path.name).symlink_to(path)
    (clone / ".venv" / ".ready").touch()  # younger than all that it is made of
    tools.mkdir()
    for name in ("make", "sh", "grep", "sed", "sort", "awk"):
        (tools / name).symlink_to(shutil.which(name))
    command += f" UNIT={UNIT.number} 2>> progress.log"
    output = run(command, clone, PATH=str(tools))
    root, page = clone / "demo", f"{UNIT.label}/{UNIT.label}.html"
    rows = {s.student.id: s for s in gradebook.read(UNIT.label, root).submissions}
    for line in excerpt:
        assert line.rpartition("...")[2] in output
    most = max(row.graded_points for row in rows.values())
    assert {
        student for student, row in rows.items() if row.graded_points == most
    } == FULL
    assert rows["felix"].graded_points == 0
    for student in MISTAKEN:
        misses = [r for r in rows[student].records.values() if r.points < r.max_points]
        assert misses and all(r.mistake for r in misses), student
    lost = [r.exercise for r in rows["isaac"].records.values() if not r.points]
    assert lost == ["attention/scaled_dot_product"]  # whose cell ends its process
    assert (root / "gradebook.db").is_file()
    assert len(list((root / "feedback").glob(f"*/{page}"))) == len(rows) >= 14
    assert (root / "reports" / f"{UNIT.label}.html").is_file()
    for step in ("generate_assignment", "generate_feedback"):  # not done again
        assert output.count(f"nbgrader {step} {UNIT.label}\n") == 1
        output = output.replace(f"nbgrader {step} {UNIT.label}\n", "")
    assert run(command, clone, PATH=str(tools)) == output


@pytest.mark.long
@pytest.mark.slow
def test_a_term_follows_the_tas_commands(tmp_path):
    """Those of graders and of students, in the order in which a term needs them."""
    clone, desk = checkout(tmp_path / "course"), tmp_path / "student"
    desk.mkdir()
    settings = tmp_path / "jupyter" / "nbgrader_config.py"
    settings.parent.mkdir()
    settings.write_text(
        f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n"
        'c.CourseDirectory.course_id = "transformer"\n'
    )

    def at(folder: Path, command: str) -> str:
        return run(
            command,
            folder,
            JUPYTER_CONFIG_PATH=str(settings.parent),
            PYTHONPATH=str(clone),
        )

    table = in_table("docs/ta.md", "## Hand out, collect, grade, return")
    hand_out, grade = commands_until("collect", table)
    listed, *fetched = lines("docs/ta.md", "### Students")
    for command in hand_out:
        at(clone, command)
    assert UNIT.label in at(desk, listed)
    for command in fetched[:2]:  # fetch, submit
        at(desk, command)
    for command in grade:
        at(clone, command)
    at(desk, fetched[2])
    assert list(desk.glob(f"{UNIT.label}/feedback/*/{UNIT.label}.html"))


def commands_until(word: str, commands: list[str]) -> tuple[list[str], list[str]]:
    """The commands before the first one of that name, and the others."""
    place = [command.split()[1] for command in commands].index(word)
    return commands[:place], commands[place:]


@pytest.mark.long
@pytest.mark.slow
def test_an_lms_export_goes_in_and_its_feedback_back(tmp_path):
    clone = checkout(tmp_path / "course")
    (clone / "roster.csv").write_text(
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,a@b.example,12345\n"
    )
    with zipfile.ZipFile(clone / "submissions.zip", "w") as archive:
        name = f"lovelaceada_12345_678901_{UNIT.release.name}"
        archive.write(UNIT.release, name)
    (collect,) = lines("docs/ta.md", "## From an LMS")
    run(collect, clone)
    for command in lines("docs/instructor.md", "## Run a unit"):
        run(command, clone)
    text = (ROOT / "docs" / "ta.md").read_text(encoding="utf-8")
    (back,) = set(re.findall(r"`(autograder feedback [^`]+)`", text))
    run(back, clone)
    (packed,) = (clone / "reports").glob(f"{UNIT.label}-feedback-*.zip")
    assert zipfile.ZipFile(packed).namelist()[0].startswith("lovelaceada_12345_678901_")
