"""Checks work with the versions of IPython, ipykernel and ipywidgets that Colab has."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.authoring.colab import published
from autograder.classroom.publishing import kit
from autograder.course import find_unit, units
from autograder.course.notebooks import FINDER
from tests.conftest import start_kernels_with

COLAB = ("ipython==7.34.0", "ipykernel==6.17.1", "ipywidgets==7.7.1")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with Colab's versions, to stand before the installed ones."""
    folder = tmp_path_factory.mktemp("colab")
    process = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", folder, *COLAB],
        capture_output=True,
        text=True,
    )
    if process.returncode:
        pytest.skip(
            f"cannot install Colab's versions: {process.stderr.splitlines()[-1]}"
        )
    return folder


@pytest.mark.slow
def test_a_release_notebook_runs_under_colabs_ipython(site, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(site) + os.pathsep + os.getcwd())
    start_kernels_with(monkeypatch, "local-provisioner")
    notebook = nbformat.read(find_unit("attention").release, as_version=4)
    version_cell = nbformat.v4.new_code_cell(
        "import IPython; print(IPython.__version__)"
    )
    wrong = nbformat.v4.new_code_cell(
        "check('attention/softmax', lambda x: (x - x.amax(-1, keepdim=True)).exp())"
    )
    notebook.cells += [version_cell, wrong]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert notebook.cells[-2].outputs[0].text.strip() == "7.34.0"
    output = notebook.cells[-1].outputs[0]
    assert output.output_type == "execute_result" and output.data["text/plain"] == "0.0"
    assert "sum" in output.data["text/html"]
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]


def test_the_kit_cell_installs_in_colab_and_does_nothing_elsewhere(monkeypatch):
    book = nbformat.read(find_unit("attention").release, as_version=4)
    (source,) = (cell.source for cell in book.cells if cell.id == FINDER)
    commands, ours = [], sys.modules["autograder"]

    class Shell:
        def run_line_magic(self, *arguments):
            commands.append(arguments)
            monkeypatch.setitem(sys.modules, "autograder", ours)

    exec(source, {"get_ipython": Shell})
    assert commands == []
    monkeypatch.setitem(sys.modules, "autograder", None)  # nothing of that name
    exec(source, {"get_ipython": Shell})
    ((magic, line),) = commands
    assert magic == "pip" and line.startswith("install") and line.endswith("checks.txt")


PIP = """
# Colab's %pip, with the published kit's address served from this machine. Colab has no
# course before the first cell: one that is installed here as editable is hidden.
import os, subprocess, sys
from IPython import get_ipython

sys.meta_path[:] = [f for f in sys.meta_path if "__editable__" not in f.__module__]

def pip(line):
    *options, flag, address = line.split()
    assert flag == "-r"
    with open(os.path.join(os.environ["KIT"], os.path.basename(address))) as file:
        wheel = os.path.join(os.environ["KIT"], os.path.basename(file.read().strip()))
    command = [sys.executable, "-m", "pip", *options, "--no-deps", "--target"]
    subprocess.run([*command, os.environ["TARGET"], wheel], check=True)
    sys.path.insert(0, os.environ["TARGET"])

get_ipython().register_magic_function(pip, "line", "pip")
import google.colab
"""


@pytest.fixture
def colab(site, tmp_path, monkeypatch):
    """A machine like Colab's: its versions, google.colab, and an empty folder."""
    (site / "google" / "colab").mkdir(parents=True, exist_ok=True)
    (site / "google" / "colab" / "__init__.py").touch()
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "pip.py").write_text(PIP)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TARGET", str(tmp_path / "installed"))
    monkeypatch.setenv("KIT", str(tmp_path / "kit"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    start_kernels_with(monkeypatch, "local-provisioner")
    (tmp_path / "content").mkdir()
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_notebook_opened_alone_from_github_runs_to_its_end(unit, colab):
    """Its cell installs the kit as published with this unit; that is enough."""
    kit.build(unit, colab / "kit", published(owner="ada-l"))
    path = colab / "kit" / "notebooks" / f"{unit.label}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    listing_cell = nbformat.v4.new_code_cell(
        "import autograder, ipywidgets, IPython\n"
        "print(IPython.__version__, ipywidgets.__version__, autograder.__file__)"
    )
    notebook.cells.append(listing_cell)
    resources = {"metadata": {"path": str(colab / "content")}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    versions = f"7.34.0 7.7.1 {colab / 'installed'}"
    # What a cell prints may arrive in pieces.
    printed = "".join(output.text for output in notebook.cells[-1].outputs)
    assert printed.startswith(versions)
    panels = [
        output.data["text/html"]
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("locked")
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    checks = [c for c in notebook.cells if c.source.lstrip().startswith("check(")]
    assert panels and len(panels) >= len(checks)
    # The folder was empty: no files are needed there. Unit 06 keeps runs and a model.
    files = {"runs-quick", "my_baseline.safetensors"} if unit.number == "06" else set()
    assert {path.name for path in (colab / "content").iterdir()} <= files
