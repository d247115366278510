"""A headless Chromium, real Jupyter servers for it to visit, and its pictures."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from PIL import Image, ImageChops
from PIL.PngImagePlugin import PngInfo

from assets.draw import FINGERPRINT
from autograder.classroom import sample
from autograder.course import ROOT, find_unit
from autograder.course.files import write

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
UNIT = find_unit("attention")
QUESTION = "attention-empty_row"  # answered in words
CLASS = {"ada": ("Ada", "Lovelace"), "alan": ("Alan", "Turing")}
WORDS = "With `-inf`, $0/0$ is `nan`. With `-1e9`, all keys share equally."
SIZE = {"width": 1240, "height": 860}  # of a page: a laptop's
_ELSEWHERE = re.compile(r"^(?:http|ws)s?://(?!127\.0\.0\.1[:/]|localhost[:/])")
_DATE = re.compile(r"\d{2} [A-Z][a-z]+ 20\d\d")
_VISIBLE_WORDS = """height => {
    const words = [], range = document.createRange();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        range.selectNode(walk.currentNode);
        const box = range.getBoundingClientRect();
        if (box.height && box.bottom > 0 && box.bottom < height
            && walk.currentNode.parentElement.checkVisibility())
            words.push(walk.currentNode.textContent.trim());
    }
    return words.filter(Boolean).join(" ");
}"""  # of the first rows of a window
SECONDS = 60  # to wait for anything on a page; a busy machine imports torch slowly


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium, driven by playwright."""
    driver = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install '.[browser]'"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("needs Chromium on the PATH: apt-get install chromium")
    with driver.sync_playwright() as playwright:
        # Root, as in a container, has no sandbox for Chromium.
        launched = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        yield launched
        launched.close()


@pytest.fixture
def page(chromium):
    """An empty page, which reaches this machine and nothing else."""
    context = chromium.new_context(viewport=SIZE)
    context.route(_ELSEWHERE, lambda route: route.abort())
    opened = context.new_page()
    opened.set_default_timeout(1000 * SECONDS)
    yield opened
    context.close()


@pytest.fixture
def picture():
    """Compare what a page shows with its picture, or draw that anew.

    It is drawn into the folder of $SCREENSHOTS if that is set, and bears the
    fingerprint of its words. Those of JupyterLab's pages are not compared.
    """

    def take(
        page, name: str, height: int = SIZE["height"], is_ours: bool = False
    ) -> None:
        page.mouse.move(0, 0)  # no button is highlighted
        page.evaluate("document.activeElement.blur()")
        words = page.evaluate(_VISIBLE_WORDS, height)
        fingerprint = hashlib.sha256(_DATE.sub("", words).encode()).hexdigest()
        folder = os.environ.get("SCREENSHOTS")
        if not folder and not is_ours:
            return
        if not folder:
            with Image.open(ROOT / "assets" / f"{name}.png") as old:
                is_of_today = old.text.get(FINGERPRINT) == fingerprint
            assert is_of_today, f"run make screenshots; today, {name} shows: {words}"
            return
        clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
        image = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        ground = Image.new("RGB", image.size, image.getpixel((0, height - 1)))
        bottom = ImageChops.difference(image, ground).getbbox()[3]
        image = image.crop((0, 0, image.width, min(height, bottom + 20)))
        info = PngInfo()
        info.add_text(FINGERPRINT, fingerprint)
        # 128 colours are enough for a screen, and less than half the bytes.
        small = image.quantize(128, dither=Image.Dither.NONE)
        path = Path(folder) / f"{name}.png"
        small.save(path, optimize=True, pnginfo=info)

    return take


@contextmanager
def jupyter(folder: Path, environment: dict[str, str], home: Path) -> Iterator[str]:
    """A Jupyter server in ``folder``, with its settings below ``home``.

    Yields the address of a page of it as a template: ``{}`` stands for the path.
    """
    home.mkdir(parents=True, exist_ok=True)
    kinds = ("CONFIG", "DATA", "RUNTIME")
    mine = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in kinds}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--ServerApp.port=0"],
            cwd=folder,
            env=environment | mine,
            stdout=log,
            stderr=log,
        )
        try:
            info_file = _when_ready(server, home)
            yield f"{info_file['url']}{{}}?token={info_file['token']}"
        finally:
            server.terminate()
            server.wait(30)


def _when_ready(server: subprocess.Popen, home: Path) -> dict:
    stop = time.monotonic() + SECONDS
    while time.monotonic() < stop and server.poll() is None:
        for path in (home / "runtime").glob("jpserver-*.json"):
            with suppress(OSError, ValueError):  # not yet listening; half written
                server_info = json.loads(path.read_text())
                urllib.request.urlopen(
                    f"{server_info['url']}api", timeout=SECONDS
                ).close()
                return server_info
        time.sleep(0.1)
    raise AssertionError(f"Jupyter does not start:\n{(home / 'log').read_text()}")


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory) -> Path:
    """A course folder with two graded submissions, of which Ada's has words, too."""
    notebooks = sample.submissions(UNIT)
    notebook = nbformat.reads(notebooks["ada"].decode(), as_version=4)
    (question,) = (
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == QUESTION
    )
    question.source = WORDS
    notebooks["ada"] = nbformat.writes(notebook).encode()
    root = tmp_path_factory.mktemp("graded") / "course"
    for student in CLASS:
        folder = root / "submitted" / student / UNIT.label
        write(folder / UNIT.release.name, notebooks[student])
    write(root / "source" / UNIT.label / UNIT.source.name, UNIT.source.read_bytes())
    settings = (ROOT / "nbgrader_config.py").read_text()
    exchange = f"c.Exchange.root = {str(root.parent / 'exchange')!r}\n"
    write(root / "nbgrader_config.py", settings + exchange)
    nbgrader(root, "generate_assignment")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for student, (first, last) in CLASS.items():
            gradebook.add_student(student, first_name=first, last_name=last)
    nbgrader(root, "autograde")
    nbgrader(root, "generate_feedback")
    return root


def nbgrader(root, command: str) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "nbgrader", command, UNIT.label],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
