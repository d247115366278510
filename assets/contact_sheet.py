"""Photograph the notebooks' figures: ``python assets/contact_sheet.py [UNIT ...]``.

Runs the notebooks with their solutions, without checks, and writes each figure in light
and dark, at two widths, to ``dist/figures/``; ``contact_sheet_NN.png`` has a
unit's side by side. Needs Chromium and playwright (`make screenshots` sets them up).
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from autograder.authoring import notebook
from autograder.checks import display
from autograder.course import ROOT, Unit, units
from autograder.course.files import write

TARGET = ROOT / "dist" / "figures"
THEMES = {"light": ("#ffffff", "#1b1b1b"), "dark": ("#111111", "#e0e0e0")}
WIDTHS = (860, 460)  # pixels: a laptop's column, and half a screen
SCALE = 0.65  # of the contact sheet


def figures(unit: Unit) -> dict[str, str]:
    """The HTML of a unit's figures, by their numbers (or a count, without one)."""
    found: dict[str, str] = {}

    def keep(html: str, number: str, caption: str, alt: str) -> None:
        found[number or f"{int(unit.number)}.x{len(found)}"] = html

    display._display = keep  # type: ignore[assignment]
    names: dict[str, object] = {"__name__": "__main__"}
    given = [c for c in notebook.read(unit) if c.kind == "code" and c.role != "check"]
    # What a notebook saves is nobody's.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in given:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(cell.text, cell.location, "exec"), names)
            for line in printed.getvalue().splitlines():
                if "waits:" in line:
                    print(f"{cell.location}: {line}")
    return found


def photograph(browser: Browser, name: str, html: str) -> list[Path]:
    """Pictures of a figure on its own, in each theme and width."""
    taken = []
    for theme, (paper, ink) in THEMES.items():
        for width in WIDTHS:
            page = browser.new_page(
                viewport={"width": width, "height": 100}, color_scheme=theme
            )
            page.set_content(
                f'<body style="background:{paper};color:{ink};margin:10px;'
                f'font:14px/1.4 system-ui">{html}</body>'
            )
            taken.append(TARGET / f"{name}_{theme}_{width}.png")
            page.screenshot(path=taken[-1], full_page=True)
            page.close()
    return taken


def contact_sheet(rows: list[list[Path]], target: Path) -> None:
    """All pictures on one: a row for each figure."""
    lines = []
    for row in rows:
        tiles = [Image.open(path).convert("RGB") for path in row]
        tiles = [t.resize([round(SCALE * side) for side in t.size]) for t in tiles]
        size = sum(t.width for t in tiles), max(t.height for t in tiles)
        line, left = Image.new("RGB", size, "#888"), 0
        for tile in tiles:
            line.paste(tile, (left, 0))
            left += tile.width
        lines.append(line)
    sheet = Image.new(
        "RGB", (lines[0].width, sum(line.height for line in lines)), "#888"
    )
    top = 0
    for line in lines:
        sheet.paste(line, (0, top))
        top += line.height
    sheet.save(target)


def main(asked: list[str]) -> None:
    """Photograph the figures of some units, by number or name; of all without any."""
    TARGET.mkdir(parents=True, exist_ok=True)
    chosen = [u for u in units() if not asked or {u.number, u.name} & set(asked)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_program(), args=["--no-sandbox"]
        )
        for unit in chosen:
            rows = []
            for number, html in figures(unit).items():
                write(TARGET / f"{number}.html", html)
                rows.append(photograph(browser, number, html))
            contact_sheet(rows, TARGET / f"contact_sheet_{unit.number}.png")
        browser.close()


def _program() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        sys.exit("assets/contact_sheet.py needs Chromium: apt-get install chromium")
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
