"""matplotlib's list of fonts: made by one server, found by the next."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import client, fonts
from tests.sandbox.conftest import linux


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where matplotlib keeps what it has found; nothing is there yet."""
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "matplotlib"


def start_font_server(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The lists that a new server has when it is ready, by name."""
    monkeypatch.delenv(client.SERVER_VARIABLE, raising=False)
    folder = client.run_directory() / "matplotlib"
    return {path.name: path.read_text() for path in folder.glob("fontlist*")}


@linux
def test_a_list_is_made_once_and_again_where_it_was_cut_off(
    cache, tmp_path, monkeypatch
):
    lists = start_font_server(monkeypatch)
    (cached,) = cache.iterdir()
    assert lists == {cached.name: cached.read_text()}
    complete = cached.read_text()
    fewer = json.loads(complete)
    del fewer["ttflist"][1:]
    cached.write_text(json.dumps(fewer))  # by which one knows it again
    assert start_font_server(monkeypatch) == {cached.name: cached.read_text()}
    cached.write_text(complete[:100])
    # As a server does, without its other imports.
    fonts.create_folder(tmp_path / fonts.FOLDER)
    command = [sys.executable, "-c", "import matplotlib.font_manager"]
    subprocess.run(command, env=client._clean_environment(tmp_path), check=True)
    fonts.save_new_lists(tmp_path / fonts.FOLDER)
    assert cached.read_text() == complete


def test_settings_of_an_account_stay_out_of_a_server(cache, tmp_path):
    cache.mkdir(parents=True)
    (cache / "matplotlibrc").write_text("axes.grid: True")
    fonts.create_folder(tmp_path / "settings")
    assert not [*(tmp_path / "settings").iterdir()]


@pytest.mark.parametrize("home", ["/proc/nobody", ""])
def test_an_account_that_can_keep_nothing_is_no_error(
    home, cache, tmp_path, monkeypatch
):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: _home(home))
    folder = tmp_path / "settings"
    fonts.create_folder(folder)
    (folder / "fontlist-v1.json").write_text("{}")
    fonts.save_new_lists(folder)
    assert not cache.exists()


def _home(path: str) -> Path:
    if not path:
        raise RuntimeError("Could not determine home directory.")
    return Path(path)
