"""A term on one machine: an instructor, two assistants and students hand work around.

With real accounts, the real ``nbgrader``, and sandboxes that ordinary accounts make.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import (
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeSubmit,
)
from nbgrader.utils import get_username
from traitlets.config.loader import PyFileConfigLoader

from autograder.classroom import sample
from autograder.course import ROOT, find_unit
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.extras.shared_machine.shared_machine import (
    Classroom,
    find_closed,
    set_up,
)
from autograder.grading.collect import CourseCollect
from autograder.grading.feedback_release import CourseFeedback
from tests import tiny_course as tiny
from tests.accounts import Accounts, accounts, as_root, needs_accounts
from tests.classroom.conftest import autograde
from tests.clone import checkout

UNIT = find_unit("positional_encoding")
PEOPLE = ("prof", "tina", "theo", "ada", "alan", "eve")
NOTEBOOK = UNIT.release.name


@dataclass(frozen=True)
class Class:
    """A class on this machine: ``folder`` holds exchange, course and homes."""

    folder: Path
    people: Accounts
    work: dict[str, bytes]

    @property
    def course(self) -> Path:
        return self.folder / "shared" / "transformer"

    @property
    def inbound(self) -> Path:
        return self.folder / "shared" / "exchange" / "transformer" / "inbound"

    def home(self, person: str) -> Path:
        return self.people.home / self.people[person]

    def sudo(self, *command: object) -> subprocess.CompletedProcess:
        """Run ``autograder`` of the class's checkout as root."""
        return subprocess.run(
            as_root([sys.executable, "-m", "autograder", *command]),
            cwd=self.folder / "checkout",
            env=self._environment("/root"),
            capture_output=True,
            text=True,
            check=False,
        )

    def set_up(self) -> subprocess.CompletedProcess:
        return self.sudo(
            "exchange",
            "--folder",
            self.folder / "shared",
            "--config",
            self.folder / "etc",
            "--group",
            self.people["graders"],
            "--graders",
            *(self.people[name] for name in ("prof", "tina", "theo")),
        )

    def run(self, person: str, command: str, umask: str = "022") -> str:
        """What a shell command says when this person runs it at home.

        Raises:
            AssertionError: it failed.
        """
        process = self.try_(person, command, umask)
        assert process.returncode == 0, f"{person}$ {command}\n{process.stdout}"
        return process.stdout

    def try_(
        self, person: str, command: str, umask: str = "022"
    ) -> subprocess.CompletedProcess:
        environment = self._environment(self.home(person))
        listed = [f"{name}={value}" for name, value in environment.items()]
        shell = ["env", "-i", *listed, "sh", "-c", f"umask {umask}; {command}"]
        return subprocess.run(
            as_root(["runuser", "-u", self.people[person], "--", *shell]),
            cwd=self.home(person),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def _environment(self, home: object) -> dict[str, str]:
        return {
            "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
            "HOME": str(home),
            "JUPYTER_CONFIG_PATH": str(self.folder / "etc"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.folder / "checkout"),
            "OMP_NUM_THREADS": "1",
        }

    def answer(self, person: str, like: str, name: str = NOTEBOOK) -> None:
        """Put an answer into a student's fetched notebook."""
        path = self.home(person) / UNIT.label / name
        path.write_bytes(self.work[like])

    def scores(self) -> dict[str, float]:
        """The points of each student in the gradebook, penalties taken off."""
        out = self.run("prof", "nbgrader export --to scores.csv && cat scores.csv")
        header, *rows = [
            line.split(",")
            for line in out[out.index("assignment,") :].strip().splitlines()
        ]
        table = [dict(zip(header, row, strict=True)) for row in rows]
        return {
            row["student_id"].removesuffix(self.people.suffix): float(row["score"])
            for row in table
        }


@pytest.fixture(scope="module")
def class_() -> Iterator[Class]:
    """The class before the term."""
    with tempfile.TemporaryDirectory(prefix="class-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        checkout(folder / "checkout")
        with accounts(PEOPLE, folder / "home") as people:
            yield Class(folder, people, sample.submissions(UNIT))


@pytest.mark.long
@needs_accounts
@pytest.mark.slow
def test_a_term_from_release_to_feedback(class_):
    people, unit = class_.people, UNIT.label
    process = class_.set_up()
    assert process.returncode == 0, process.stderr

    # The instructor releases, one assistant releases again. Whatever umask they have.
    class_.run("prof", f"nbgrader generate_assignment {unit}", umask="077")
    class_.run("prof", f"nbgrader release_assignment {unit}")
    class_.run("tina", f"nbgrader generate_assignment {unit} --force", umask="022")
    class_.run("tina", f"nbgrader release_assignment {unit} --force", umask="077")

    # No student sees the course.
    for path in (class_.course, class_.folder / "checkout" / "source"):
        assert "Permission denied" in class_.try_("eve", f"ls {path}").stdout
    assert "Permission denied" in class_.try_("eve", f"ls {class_.inbound}").stdout

    # Students fetch and submit from wherever they are.
    assert unit in class_.run("ada", "nbgrader list")
    for person in ("ada", "alan", "eve"):
        class_.run(person, f"nbgrader fetch_assignment {unit}", umask="077")
    class_.answer("ada", "felix")  # empty, to be replaced later
    class_.run("ada", f"nbgrader submit {unit}", umask="077")
    class_.answer("alan", "alan")
    (class_.home("alan") / unit / NOTEBOOK).rename(
        class_.home("alan") / unit / "mine.ipynb"
    )
    warned = class_.run("alan", f"nbgrader submit {unit}")
    assert f"{NOTEBOOK}: MISSING" in warned and "Submitted as" in warned

    # Eve imitates Ada, and links to the solution.
    solution = class_.course / "source" / unit / NOTEBOOK
    fake = class_.inbound / f"{people['ada']}+{unit}+2031-01-01 00:00:00 UTC+x"
    class_.run("eve", f"mkdir '{fake}' && touch '{fake}/{NOTEBOOK}'")
    class_.run("eve", f"nbgrader submit {unit}")
    class_.run("eve", f"rm '{class_.inbound}'/* 2>/dev/null; true")
    (submission,) = class_.inbound.glob(f"{people['eve']}+*")
    class_.run(
        "eve", f"cd '{submission}' && rm {NOTEBOOK} && ln -s {solution} {NOTEBOOK}"
    )

    # An assistant collects and grades.
    log = class_.run("tina", f"nbgrader collect {unit}")
    assert f"it belongs to {people['eve']}, not to {people['ada']}" in log
    assert "it is a link" in log
    graded = class_.try_("tina", f"nbgrader autograde {unit}")
    assert f"{people['eve']}: refused" in graded.stdout
    first = class_.scores()
    assert first["ada"] == first["eve"] == 0 < first["alan"]

    # The deadline passes. Ada hands in again, late; Alan, too, but backdates it.
    past = "2026-01-01 12:00 +01:00"
    soon = time.strftime("%Y-%m-%d %H:%M:%S +0000", time.gmtime())
    refused = class_.try_("theo", f"nbgrader db assignment add {unit} --duedate=2026")
    assert refused.returncode and 'cannot read the due date "2026"' in refused.stdout
    assert "Traceback" not in refused.stdout
    log = class_.run("theo", f'nbgrader db assignment add {unit} --duedate="{past}"')
    assert "Due 2026-01-01 11:00:00 UTC" in log
    class_.run("theo", f'nbgrader db assignment add {unit} --duedate="{soon}"')
    with (class_.course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    before = set(class_.inbound.iterdir())
    class_.answer("ada", "ada")
    class_.run("ada", f"nbgrader submit {unit}")
    class_.answer("alan", "ada", "mine.ipynb")
    class_.run("alan", f"nbgrader submit {unit}")
    for path in set(class_.inbound.iterdir()) - before:
        if path.name.startswith(people["alan"]):
            name = re.sub(r"\+20..-..-.. ..:..:..", "+2026-11-02 10:00:00", path.name)
            class_.run("alan", f"mv '{path}' '{path.with_name(name)}'")
            stamp = path.with_name(name) / "timestamp.txt"
            class_.run("alan", f"echo 2025-11-02 10:00:00 UTC > '{stamp}'")

    # The other assistant goes on, in a shell with a wrong umask; then the first again.
    log = class_.run("theo", f"nbgrader collect {unit}", umask="077")
    assert "--update takes the new one" in log
    log = class_.run("theo", f"nbgrader collect {unit} --update", umask="077")
    assert "but was last changed at" in log
    class_.try_("theo", f"nbgrader autograde {unit}", umask="077")
    assert class_.scores() == {"ada": 0, "alan": 0, "eve": 0}, "both came late"
    class_.run(
        "tina",
        f"cd {class_.course} && sed -i /LateSubmissionPlugin.pen/d nbgrader_config.py",
    )
    class_.try_("tina", f"nbgrader autograde {unit} --force")
    assert class_.scores()["ada"] == class_.scores()["alan"] > first["alan"]

    # Feedback goes back to those who handed in.
    class_.run("tina", f"nbgrader generate_feedback {unit}")
    class_.run("theo", f"nbgrader generate_feedback {unit}", umask="077")
    class_.run("theo", f"nbgrader release_feedback {unit}", umask="077")
    class_.run("prof", f"nbgrader release_feedback {unit}")
    for person in ("ada", "alan"):
        class_.run(person, f"nbgrader fetch_feedback {unit}", umask="077")
        pages = list((class_.home(person) / unit / "feedback").glob("*/*.html"))
        name = "mine.html" if person == "alan" else NOTEBOOK.replace(".ipynb", ".html")
        assert [page.name for page in pages] == [name]
        assert pages[0].stat().st_size > 10_000

    # What a grader made by hand with a wrong umask is put right by the same command.
    class_.run(
        "prof",
        f"mkdir -p {class_.course}/submitted/new && cp -r {class_.course}/"
        f"submitted/{people['ada']}/{unit} {class_.course}/submitted/new/",
        "077",
    )
    stuck = class_.try_("tina", f"nbgrader autograde {unit} --student=new")
    assert stuck.returncode
    assert class_.set_up().returncode == 0
    class_.run("tina", f"nbgrader autograde {unit} --student=new")


@needs_accounts
@pytest.mark.slow
def test_what_is_in_the_way_is_told_in_one_line(class_):
    (class_.folder / "etc").mkdir(exist_ok=True)
    process = class_.sudo("exchange", "--graders", "nobody-has-this-name")
    assert process.stderr.startswith('autograder: there is no account "nobody-has-this')
    process = class_.sudo("exchange")
    assert "no graders are given" in process.stderr
    (class_.folder / "strange").mkdir()
    (class_.folder / "strange" / "nbgrader_config.py").write_text("c = get_config()")
    process = class_.sudo(
        "exchange",
        "--graders",
        class_.people["prof"],
        "--config",
        class_.folder / "strange",
        "--folder",
        class_.folder / "never",
    )
    assert "was not written by this command" in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert not (class_.folder / "never").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for other accounts")
def test_the_closed_folder_behind_an_environment_is_named():
    """The link in the environment is open; its interpreter is in somebody's home."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        root = Path(name)
        root.chmod(0o755)
        python = root / "home" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch(0o755)
        (root / "venv").mkdir()
        link = root / "venv" / "python"
        link.symlink_to(python)
        assert find_closed(link, "nobody") == link  # nothing is
        (root / "home").chmod(0o700)
        assert find_closed(link, "nobody") == root / "home"
        (root / "home").chmod(0o755)
        python.chmod(0o700)
        assert find_closed(link, "nobody") == python


def test_a_renamed_notebook_goes_through_the_exchange(tmp_path, monkeypatch):
    """It is submitted, graded, and its feedback is fetched under its new name."""
    monkeypatch.setenv("PATH", os.environ["PATH"])  # which the settings change
    room = Classroom([], tmp_path, tmp_path / "etc", "no-such-group", "tiny")
    write(room.config / "nbgrader_config.py", room.settings)
    config = PyFileConfigLoader("nbgrader_config.py", str(room.config)).load_config()
    desk = config.Exchange.assignment_dir = str(tmp_path / "desk")
    config.Exchange.cache = str(tmp_path / "cache")
    config.CourseDirectory.assignment_id = tiny.UNIT
    tiny.make_course(room.course)
    for name in ("inbound", "outbound"):
        (room.exchange / "tiny" / name).mkdir(parents=True)
    shutil.copytree(
        room.course / "release" / tiny.UNIT,
        room.exchange / "tiny" / "outbound" / tiny.UNIT,
    )

    def exchange(step: type, root: object) -> None:
        course = CourseDirectory(root=str(root), config=config)
        knows = Authenticator(config=config)
        step(coursedir=course, authenticator=knows, config=config).start()

    exchange(ExchangeFetchAssignment, desk)
    (fetched,) = Path(desk, tiny.UNIT).glob("*.ipynb")
    fetched.unlink()
    fetched.with_name("Copy of mine (1).ipynb").write_bytes(tiny.good(room.course))
    exchange(ExchangeSubmit, desk)
    exchange(CourseCollect, room.course)
    assert autograde(room.course)["success"]
    assert set(tiny.points(room.course)) == {get_username()}
    assert tiny.run_nbgrader(room.course, "generate_feedback", tiny.UNIT)["success"]
    exchange(CourseFeedback, room.course)
    exchange(ExchangeFetchFeedback, desk)
    pages = Path(desk, tiny.UNIT, "feedback").rglob("*.html")
    assert {page.name for page in pages} == {"Copy of mine (1).html"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do it")
def test_without_root_it_says_to_use_sudo(tmp_path):
    with pytest.raises(CourseError, match="run it with sudo"):
        set_up(Classroom(["ada"], tmp_path / "x", tmp_path / "etc", "ta", "nlp", ROOT))
