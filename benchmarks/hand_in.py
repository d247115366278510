"""How long feedback takes: seconds from ``nbgrader submit`` to the page, with a watch.

``python benchmarks/hand_in.py`` sets up an exchange and ``autograder watch``, hands in
a solved notebook three times, at moments that the watch does not know, and prints how
long each page took. The goal, on an idle machine, is a minute at most; the exit status
says whether it was reached.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.classroom import sample
from autograder.course import Unit, find_unit

GOAL = 60.0  # seconds
MOST = 600.0  # after which a page is not waited for
EVERY = 10.0  # seconds between two looks of a watch, as by default


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", default="attention")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    unit = find_unit(options.unit)
    with tempfile.TemporaryDirectory(prefix="hand-in-") as name:
        taken = list(measure(unit, Path(name), options.times))
    print(f"{unit.label}: {', '.join(f'{s:.0f}' for s in taken)} s to feedback")
    return int(max(taken) > GOAL)


def measure(unit: Unit, folder: Path, times: int) -> Iterator[float]:
    """Seconds from each hand-in to its page; each time, the watch before was killed."""
    course, desk = folder / "course", folder / "desk"
    subprocess.run(["git", "clone", "--quiet", ".", course], check=True)
    settings = folder / "jupyter" / "nbgrader_config.py"
    settings.parent.mkdir()
    settings.write_text(
        f"c = get_config()\nc.Exchange.root = {str(folder / 'exchange')!r}\n"
        'c.CourseDirectory.course_id = "transformer"\n'
    )
    environment = os.environ | {
        "PYTHONPATH": str(course), "JUPYTER_CONFIG_PATH": str(settings.parent),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip

    def nbgrader(where: Path, command: str) -> None:
        words = [sys.executable, "-m", "nbgrader", command, unit.label]
        subprocess.run(words, cwd=where, env=environment, check=True,
                       capture_output=True)  # fmt: skip

    (desk / unit.label).mkdir(parents=True)
    notebook = next(iter(sample.submissions(unit).values()))
    (desk / unit.label / unit.release.name).write_bytes(notebook)
    nbgrader(course, "release_assignment")
    pages = folder / "exchange" / "transformer" / "feedback"
    draw = random.Random(0)
    for _ in range(times):  # each time another watch: the last one was killed
        with watching(unit, course, environment, folder / "watch.log") as watch:
            time.sleep(draw.uniform(0, EVERY))
            before = set(pages.glob("*.html"))
            nbgrader(desk, "submit")
            started = time.monotonic()
            while not set(pages.glob("*.html")) - before:
                if watch.poll() is not None or time.monotonic() - started > MOST:
                    sys.exit(f"No page came.\n{(folder / 'watch.log').read_text()}")
                time.sleep(0.1)
            yield time.monotonic() - started


@contextlib.contextmanager
def watching(
    unit: Unit, course: Path, environment: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A watch of the course's exchange, which is killed at the end."""
    command = [sys.executable, "-m", "autograder", "watch", unit.number, "--exchange"]
    with log.open("wb") as said:
        watch = subprocess.Popen(
            [*command, f"--every={EVERY}", "--per-hour=99"],
            cwd=course, env=environment, stdout=said, stderr=said,
        )  # fmt: skip
    try:
        yield watch
    finally:
        watch.kill()
        watch.wait()


if __name__ == "__main__":
    sys.exit(main())
