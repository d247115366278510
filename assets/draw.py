"""Draw the picture on top of README: ``python assets/draw.py`` (needs Chromium).

A mask that is wrong, what its check says of it, and the same mask put right: the code
is executed, and the panels are rendered by the code that students run. The picture
holds the fingerprint of what it shows, so a test can tell when it is out of date.
"""

from __future__ import annotations

import hashlib
import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.checks.check import Check
from autograder.checks.panel import as_html
from transformer_course.solutions import attention

HERE = Path(__file__).resolve().parent
EXERCISE = "attention/masks"
FINGERPRINT = "shows"  # the key in the picture
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--disable-background-networking", "--force-device-scale-factor=2",
    "--default-background-color=00000000",
)  # fmt: skip
# The ink of a page, the frame of a cell, and the colours of code. There is no
# background, so that the picture stands on that of any page.
THEMES = {
    "light": ("#111", "#8884", "friendly"),
    "dark": ("#e0e0e0", "#8886", "github-dark"),
}
WIDTH, HEIGHT = 640, 1200  # of the window; empty rows are cut off

CELL = """\
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).{triangle}

check("attention/masks", padding_mask, causal_mask, combine_masks)
"""
WRONG, RIGHT = CELL.format(triangle="triu()"), CELL.format(triangle="tril()")


def render_check(cell: str) -> str:
    """The panel below a cell, from what the cell defines."""
    names: dict[str, object] = {"torch": torch}
    exec(cell.partition("\n\n")[0], names)
    answer = (attention.padding_mask, names["causal_mask"], attention.combine_masks)
    return as_html(Check()._verdict(EXERCISE, answer, ("public",)))


def panels() -> tuple[tuple[str, str], ...]:
    """Both cells, each with its panel."""
    return tuple((cell, render_check(cell)) for cell in (WRONG, RIGHT))


def fingerprint() -> str:
    """Changes whenever the picture would show anything else."""
    return hashlib.sha256(repr(panels()).encode()).hexdigest()


def page(theme: str) -> str:
    """The cells and panels in the colours of JupyterLab's theme."""
    ink, frame, style = THEMES[theme]
    formatter = HtmlFormatter(noclasses=True, style=style, nobackground=True)
    body = ""
    for cell, panel in panels():
        code = highlight(cell, PythonLexer(), formatter)
        body += f'<div class="cell">{code}</div>{panel}'
    return (
        f"<meta charset='utf-8'><title>{html.escape(EXERCISE)}</title><style>"
        f"body{{color:{ink};margin:0;"
        "font:14px/1.45 system-ui,sans-serif}"
        f".cell{{border:1px solid {frame};border-radius:4px;padding:.5em .8em;"
        "margin:.7em 0 .5em}.cell:first-of-type{margin-top:0}"
        ".cell pre{margin:0;font-size:13px}"
        f"</style><body>{body}</body>"
    )


def draw(theme: str, browser: str) -> Path:
    """Render a page to ``student_panel_<theme>.png``."""
    target = HERE / f"student_panel_{theme}.png"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(page(theme), encoding="utf-8")
        subprocess.run(
            [browser, *OPTIONS, f"--user-data-dir={folder}/profile",
             f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={target}",
             source.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
    shot = Image.open(target).convert("RGBA")
    box = shot.getbbox()
    assert box is not None, "the page is empty"
    shot = shot.crop((0, 0, shot.width, box[3]))
    info = PngInfo()
    info.add_text(FINGERPRINT, fingerprint())
    # 128 colours are enough for a panel, and less than half the bytes.
    shot = shot.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    shot.save(target, optimize=True, pnginfo=info)
    return target


if __name__ == "__main__":
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        sys.exit("assets/draw.py needs Chromium: apt-get install chromium")
    for name in THEMES:
        print(draw(name, program))
