"""An extra is found by being there, the engine's and the course's own."""

from __future__ import annotations

import sys

import pytest

from autograder import seams


@pytest.fixture
def an_extra(tmp_path, monkeypatch):
    """Makes a package that the course names as an extra."""

    def make(**modules: str) -> None:
        folder = tmp_path / "counting"
        folder.mkdir()
        for name, text in {"__init__": "", **modules}.items():
            (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        settings = {"extras": ["counting"]}
        monkeypatch.setattr(seams, "read_settings", lambda root: settings)

    yield make
    for name in [
        module_name
        for module_name in sys.modules
        if module_name.partition(".")[0] == "counting"
    ]:
        del sys.modules[name]


def test_the_engine_s_extras_are_those_that_are_there(tmp_path, monkeypatch):
    (tmp_path / "extras" / "made").mkdir(parents=True)
    (tmp_path / "extras" / "made" / "__init__.py").touch()
    (tmp_path / "extras" / "no_package").mkdir()
    monkeypatch.setattr(seams, "ENGINE", tmp_path)
    monkeypatch.setattr(seams, "read_settings", lambda root: {})
    assert seams.extras() == [f"{tmp_path.name}.extras.made"]
    (tmp_path / "extras" / "made" / "__init__.py").unlink()
    assert seams.extras() == []


def test_an_extra_of_the_course_joins_where_it_has_a_module(an_extra):
    an_extra(commands="COMMANDS = 1")
    assert seams.extras()[-1] == "counting"
    assert seams.modules("commands")[-1].COMMANDS == 1
    assert "counting" not in {m.__name__ for m in seams.modules("report")}


def test_an_extra_that_is_broken_says_so(an_extra):
    an_extra(commands="import no_such_module")
    with pytest.raises(ImportError, match="no_such_module"):
        seams.modules("commands")
