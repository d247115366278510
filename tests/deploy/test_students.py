"""The student kit runs on students' systems; here, on one that looks like Windows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.classroom.publishing import kit
from autograder.course import ROOT, find_unit, manifest, units
from autograder.root import CONTENT

WINDOWS = ROOT / "tests" / "deploy" / "windows"
TRY_KIT = ROOT / "deploy" / "students" / "try_kit.py"


def lay_out(folder: Path, last: str) -> Path:
    """Unpack the kit of a unit in a student's folder, with what solves it, too."""
    unit, site = find_unit(last), folder / "site"
    solution = f"{CONTENT.name}/solutions/{unit.name}.py"
    files = {**kit.contents(unit), solution: ROOT / solution}
    for path in (p for u in kit.notebook_units(unit) for p in manifest.read(u).ships):
        files[f"{CONTENT.name}/{path.relative_to(unit.root)}"] = path
    for name, path in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, site / name)
    (folder / "notebooks").mkdir()
    for notebook_unit in kit.notebook_units(unit):
        shutil.copy(notebook_unit.release, folder / "notebooks")
    for name, trained in manifest.read(unit).handed_in.items():
        shutil.copy(trained, folder / "notebooks" / name)
    return folder


def as_on_windows(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the student's folder, with the kit of that folder only."""
    search_path = os.pathsep.join([str(WINDOWS), str(folder / "site")])
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "MPLBACKEND": "Agg",
        "PYTHONPATH": search_path, "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252",
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, *command], cwd=folder / "notebooks", env=environment,
        capture_output=True, encoding="cp1252", check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """A student's folder with the kit of unit 3, which holds solutions of 1 and 2."""
    return lay_out(tmp_path_factory.mktemp("Übung 1"), "multi_head_attention")


def test_every_module_that_ships_can_be_imported(student):
    files = sorted((student / "site").rglob("*.py"))
    names = [
        ".".join(f.relative_to(student / "site").with_suffix("").parts) for f in files
    ]
    assert len(names) > 50
    imports = "".join(f"import {name.removesuffix('.__init__')}\n" for name in names)
    process = as_on_windows(student, "-c", f"{imports}print(autograder.__file__)")
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip() == str(
        student / "site" / "autograder" / "__init__.py"
    )


def test_a_unit_runs_from_top_to_bottom_and_its_checks_tell_right_from_wrong(student):
    process = as_on_windows(student, str(TRY_KIT), "02_attention.ipynb")
    assert process.returncode == 0, process.stderr[-2000:]
    last = process.stdout.splitlines()[-1]
    counts = re.fullmatch(r"02_attention: (\d+) exercises, (\d+) solved", last)
    assert counts and counts[1] == counts[2] and int(counts[1]) > 5, last
    assert (
        "\n  + " in process.stdout and "\n  x " in process.stdout
    )  # for ticks and crosses


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_unit_runs_from_top_to_bottom_with_its_kit(unit, tmp_path):
    folder = tmp_path / "Übung 1"
    folder.mkdir()
    process = as_on_windows(
        lay_out(folder, unit.name), str(TRY_KIT), f"{unit.label}.ipynb"
    )
    assert process.returncode == 0, process.stderr[-2000:]
    assert process.stdout.splitlines()[-1].startswith(f"{unit.label}: ")


UNTRAINED = [unit for unit in units() if not manifest.read(unit).handed_in]
SOLVED = f"""
import sys
from pathlib import Path
sys.path.append({str(TRY_KIT.parent)!r})
from try_kit import run_all
waits = [line for line in run_all(Path(sys.argv[1])).splitlines() if " waits: " in line]
assert not waits, ascii(waits)
"""


@pytest.mark.slow
@pytest.mark.long(seconds=60)
@pytest.mark.parametrize("unit", UNTRAINED, ids=lambda unit: unit.label)
def test_demonstrations_of_a_solved_notebook_reach_their_end(unit, tmp_path):
    folder = lay_out(tmp_path, unit.name)
    shutil.copy(unit.source, folder / "notebooks" / "solved.ipynb")
    process = as_on_windows(folder, "-c", SOLVED, "solved.ipynb")
    assert process.returncode == 0, process.stderr[-2000:]


HIDDEN = {
    "a module": ("import fcntl", "ModuleNotFoundError"),
    "a module inside of a function": (
        "def f():\n    from pwd import getpwuid\nf()", "ModuleNotFoundError",
    ),
    "a function": ("import os\nos.fork()", "AttributeError"),
    "a clock that is fine": (
        "import time\nstart = time.process_time()\n1 / (time.process_time() - start)",
        "ZeroDivisionError",
    ),
    "a signal": ("from signal import SIGALRM", "ImportError"),
    "a tick on the console": ("print('✓')", "UnicodeEncodeError"),
    "a file without an encoding": (
        "from pathlib import Path\nPath('a').write_text('✓')", "UnicodeEncodeError",
    ),
    "a file that is open is replaced": (
        "import os\nopen('a', 'w').close()\nf = open('a')\nos.replace('a', 'b')",
        "PermissionError",
    ),
    "a file that is mapped is written": (
        "import torch\nfrom safetensors.torch import save_file, load_file\n"
        "save_file({'a': torch.ones(5000)}, 'm')\nold = load_file('m')\n"
        "save_file({'a': torch.ones(5000)}, 'm')",
        "PermissionError",
    ),
}  # fmt: skip


TRY_ALL = """
import json, sys
for code in json.loads(sys.argv[1]):
    try:
        exec(code, {"__name__": "__main__"})
    except Exception as error:
        print(type(error).__name__)
    else:
        print("nothing")
"""


def test_what_windows_lacks_is_lacking(student):
    codes = json.dumps([code for code, _ in HIDDEN.values()])
    process = as_on_windows(student, "-c", TRY_ALL, codes)
    errors = dict(zip(HIDDEN, process.stdout.splitlines(), strict=True))
    assert errors == {name: error for name, (_, error) in HIDDEN.items()}


def test_the_workflow_tries_the_systems_and_versions_that_the_readme_promises():
    workflow = ROOT / ".github" / "workflows" / "students.yml"
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    tried = jobs["try"]["strategy"]["matrix"]
    systems = {name.split("-")[0] for name in tried["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {tried['python'][0]} to {tried['python'][-1]}" in readme
    assert tried["python"] == ["3.11", "3.12", "3.13", "3.14"]
