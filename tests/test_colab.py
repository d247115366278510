"""Checks work with the versions of IPython, ipykernel and ipywidgets that Colab has."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.course import find_unit
from tests.conftest import start_kernels_with

COLAB = ("ipython==7.34.0", "ipykernel==6.17.1", "ipywidgets==7.7.1")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with Colab's versions, to stand before the installed ones."""
    folder = tmp_path_factory.mktemp("colab")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", folder, *COLAB],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"cannot install Colab's versions: {done.stderr.splitlines()[-1]}")
    return folder


@pytest.mark.slow
def test_a_release_notebook_runs_under_colabs_ipython(site, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(site) + os.pathsep + os.getcwd())
    start_kernels_with(monkeypatch, "local-provisioner")
    notebook = nbformat.read(find_unit("attention").release, as_version=4)
    asked = nbformat.v4.new_code_cell("import IPython; print(IPython.__version__)")
    wrong = nbformat.v4.new_code_cell(
        "check('attention/causal_mask', lambda n: torch.ones(n, n).triu().bool())"
    )
    notebook.cells += [asked, wrong]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert notebook.cells[-2].outputs[0].text.strip() == "7.34.0"
    shown = notebook.cells[-1].outputs[0]
    assert shown.output_type == "execute_result" and shown.data["text/plain"] == "0.0"
    assert "triangle" in shown.data["text/html"]
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]


def test_the_kit_cell_installs_in_colab_and_does_nothing_elsewhere(monkeypatch):
    source = nbformat.read(find_unit("attention").release, as_version=4).cells[1].source
    asked = []

    class Shell:
        def run_line_magic(self, *arguments):
            asked.append(arguments)

    exec(source, {"get_ipython": Shell})
    assert asked == []
    monkeypatch.setitem(sys.modules, "google.colab", object())
    exec(source, {"get_ipython": Shell})
    ((magic, line),) = asked
    assert magic == "pip" and line.startswith("install") and line.endswith(".whl")
