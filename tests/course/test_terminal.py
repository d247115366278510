"""Closed streams cost what they would have said; Ctrl-C is a line from the first on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from autograder.course import ROOT

# Somebody presses Ctrl-C while a module is imported.
STOPS = """
import sys

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Stop())
sys.argv = {command!r}
"""
NBGRADER = "from nbgrader.apps.nbgraderapp import main\nmain()"
OURS = "from autograder.cli import main\nsys.exit(main())"
SAYS = """
import os, sys
from autograder.course import terminal

terminal.settle()
for number in range(3):
    os.fstat(number)
assert os.open("/", os.O_RDONLY) > 2
print("said")
print("complained", file=sys.stderr)
"""


def closing(*numbers: int) -> Callable[[], None]:
    """What a shell does for ``2>&-``."""

    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


def run(code: str, *closed: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        preexec_fn=closing(*closed),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("main", "module", "command"),
    [
        (NBGRADER, "autograder.grading.converter", ["nbgrader", "list"]),
        pytest.param(
            NBGRADER,
            "autograder.sandbox.client",
            ["nbgrader", "autograde", "none"],
            marks=pytest.mark.slow,
        ),
        (OURS, "autograder.cli.grades", ["autograder", "build"]),
    ],
)
def test_a_command_stopped_while_it_imports_says_so_in_a_line(main, module, command):
    process = run(STOPS.format(module=module, command=command) + main)
    assert process.returncode == 130, process.stderr
    assert process.stderr.count("\n") == 1 and "topped" in process.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_batch_system_and_a_terminal_that_closes_stop_it_alike(name):
    settled = "import os, signal\nfrom autograder.course import terminal\n{}\n"
    settled += f"terminal.settle()\nos.kill(os.getpid(), signal.{name})"
    stopped = run(settled.format(f"signal.signal(signal.{name}, signal.SIG_DFL)"))
    assert stopped.returncode == 130 and stopped.stderr.count("\n") == 1
    ignored = run(settled.format(f"signal.signal(signal.{name}, signal.SIG_IGN)"))
    assert ignored.returncode == 0, "like nohup"


def test_another_error_is_told_as_ever():
    process = run("from autograder.course import terminal\nterminal.settle()\n1 / 0")
    assert process.returncode == 1 and "ZeroDivisionError" in process.stderr


def test_a_setting_that_cannot_be_is_told_in_a_line():
    process = run("""
from traitlets import Int
from traitlets.config import Application
from autograder.course import terminal

class App(Application):
    seconds = Int()

terminal.settle()
App().seconds = "sixty"
""")
    assert process.returncode == 1 and process.stderr.count("\n") == 1
    assert process.stderr.startswith("nbgrader: The 'seconds' trait")


@pytest.mark.parametrize(
    ("closed", "stdout", "stderr"),
    [
        ((), "said\n", "complained\n"),
        ((0,), "said\n", "complained\n"),
        ((1,), "", "complained\n"),
        ((2,), "said\ncomplained\n", ""),
        ((0, 1, 2), "", ""),
    ],
)
def test_what_stderr_cannot_say_stdout_does(closed, stdout, stderr):
    process = run(SAYS, *closed)
    assert (process.returncode, process.stdout, process.stderr) == (0, stdout, stderr)


def test_an_application_s_log_that_was_begun_before_is_heard_too():
    code = """
from traitlets.config import Application
Application.instance().log.warning("lost: there is nobody yet")
from autograder.course import terminal
terminal.settle()
Application.instance().log.warning("heard")
"""
    process = run(code, 2)
    assert process.returncode == 0
    assert process.stdout == "[Application] WARNING | heard\n"


def test_names_of_files_are_read_alike_in_any_locale(tmp_path):
    (tmp_path / "jürgen").mkdir()
    (tmp_path / "nbgrader").write_text(
        "import os, sys\nfrom autograder.course import terminal\nterminal.settle()\n"
        "print(ascii(os.listdir()), *sys.argv[1:])\n"
    )
    odd = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = subprocess.run(
        [sys.executable, str(tmp_path / "nbgrader"), "autograde"],
        cwd=tmp_path,
        env=os.environ | odd | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert process.stdout.split() == ["['j\\xfcrgen',", "'nbgrader']", "autograde"] or (
        process.stdout.split() == ["['nbgrader',", "'j\\xfcrgen']", "autograde"]
    ), process
