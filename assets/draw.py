"""Draw the pictures of README and docs: ``python assets/draw.py`` (needs Chromium).

Each picture is a real panel, rendered by the code that students run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from autograder.authoring.catalogue import specification
from autograder.authoring.variants import build_object
from autograder.checks import references
from autograder.checks.compare import judge
from autograder.checks.exercise import CheckResult
from autograder.checks.observe import observe
from autograder.checks.panel import as_html
from autograder.checks.probes import find

HERE = Path(__file__).resolve().parent
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--disable-background-networking", "--window-size=860,672",
)  # fmt: skip
SHOWN = (("attention/scaled_dot_product", "unscaled"), ("attention/masks", "upper"))


def wrong_verdict(name: str, mistake: str | None) -> CheckResult:
    """The visible verdict on a named mistake of an exercise, or on its first one."""
    unit = name.split("/")[0]
    asked = specification(name)
    mutants = asked.mutants
    chosen = next((m for m in mutants if m.name == mistake), mutants[0])
    answer, probe = build_object(asked, chosen.variants[0]), find(name)
    exercise = references.load(unit)[name]
    return judge(exercise, exercise.cases, lambda c: observe(probe, answer, c.inputs))


def page(theme: str) -> str:
    """A page with the shown panels, in the colours of JupyterLab's theme."""
    colours = {"light": ("#fff", "#000"), "dark": ("#111", "#e0e0e0")}[theme]
    panels = "".join(as_html(wrong_verdict(*shown)) for shown in SHOWN)
    return (
        f'<body style="background:{colours[0]};color:{colours[1]};margin:12px">'
        f"{panels}</body>"
    )


def draw(theme: str, browser: str) -> Path:
    """Render a page to ``student_panel_<theme>.png``."""
    target = HERE / f"student_panel_{theme}.png"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(page(theme), encoding="utf-8")
        subprocess.run(
            [browser, *OPTIONS, f"--user-data-dir={folder}/profile",
             f"--screenshot={target}", source.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
    # 128 colours are enough for a panel, and less than half the bytes.
    drawn = Image.open(target).convert("RGB")
    drawn.quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)
    return target


if __name__ == "__main__":
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        sys.exit("assets/draw.py needs Chromium: apt-get install chromium")
    for name in ("light", "dark"):
        print(draw(name, found))
