"""The bank of attacks against plain nbgrader and against this autograder.

``python benchmarks/attacks.py`` prints the README's table. Plain nbgrader is stock: its
own converter, kernel and rule, the same notebook, and our visible and hidden checks in
the test cells. It grades each attacker in a throw-away course with one honest student;
attacks that would harm the machine itself are not tried there. Both are asked the same:
did it bring points, touch others, leave something behind, or leak?

Options: ``--group "leaking"`` for one group, ``--few N`` for N attacks of each.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tests.conftest  # noqa: F401 - puts nbgrader's programs on the path
from tests.attacks.attack import DESIGN, LEAKING, Attack
from tests.attacks.bank import BANK
from tests.attacks.batches import batches, objections
from tests.attacks.course import (
    COMPANIONS,
    INSIDE,
    JUDGED,
    POINTS,
    SOLUTIONS,
    Course,
    Traces,
    answered,
    as_file,
    leaks,
    scripts,
)

OTHER = COMPANIONS[1]  # graded after the attacker
ATTACKERS = ("pwned", "attacker.example")  # of what a page would run or fetch


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--group", default="", help="only this group")
    options.add_argument("--few", type=int, default=len(BANK), help="of each group")
    chosen = options.parse_args()
    groups = list(dict.fromkeys(a.group for a in BANK))
    groups = [g for g in groups if chosen.group in ("", g)]
    attacks = {g: [a for a in BANK if a.group == g][: chosen.few] for g in groups}
    with tempfile.TemporaryDirectory(prefix="attacks", dir="/tmp") as folder:
        everything = [a for group in groups for a in attacks[group]]
        plain = on_plain(everything, Path(folder))
        ours = on_ours(everything, Path(folder))
    print_table(attacks, plain, ours)


def on_plain(attacks: Sequence[Attack], folder: Path) -> dict[str, list[str]]:
    """Name of each attack that was tried on plain nbgrader -> what it achieved."""
    pristine = Course.make(folder / "plain", stock=True)
    pristine.seconds = 120.0
    quiet = _ended_in(pristine, None, folder / "run")
    tried = [a for a in attacks if not a.harms and a.group != DESIGN]
    bar = tqdm(tried, "plain nbgrader", unit="attack")
    return {
        attack.name: [
            effect
            for effect in _ended_in(pristine, attack, folder / "run")
            if effect not in quiet
        ]
        for attack in bar
    }


def _ended_in(pristine: Course, attack: Attack | None, root: Path) -> list[str]:
    course = pristine.copy_to(root)
    course.seconds = pristine.seconds
    notebook = course.release()
    other = answered(notebook, SOLUTIONS)
    (course.folder(OTHER) / f"{course.folder(OTHER).name}.ipynb").write_bytes(
        as_file(other)
    )
    if attack:
        attack.hand_in(notebook, course.folder(attack.student))
    traces = course.grade(pages=not attack or attack.group == LEAKING)
    effects = list(_effects(course, traces, attack.student if attack else OTHER))
    shutil.rmtree(root)
    return effects


def _effects(course: Course, traces: Traces, student: str) -> Iterator[str]:
    """What a run on plain nbgrader came to; the quiet one's is not an attack's."""
    try:
        scores = course.scores()
    except Exception:
        scores = {}
    if student != OTHER and any(scores.get(student, {}).get(n) for n in JUDGED):
        yield "points"
    full = {name: POINTS[name] for name in (*JUDGED, INSIDE)}
    if full.items() - scores.get(OTHER, {}).items():
        yield "another student lost points"
    inside = ("autograded/", "feedback/", "submitted/", "jupyter")
    if any(not name.startswith(inside) for name in traces.files):
        yield "files"
    yield from traces.rows
    yield from ["a process is left"] * bool(traces.processes)
    yield from ["a connection"] * bool(traces.calls)
    yield from leaks(course, student)
    active = scripts(course.feedback(student))
    yield from [s for s in active if any(word in s for word in ATTACKERS)]


def on_ours(attacks: Sequence[Attack], folder: Path) -> dict[str, list[str]]:
    """Name of each attack -> what is objected to; under "" what is nobody's."""
    pristine = Course.make(folder / "ours")
    peace = pristine.copy_to(folder / "peace")
    peace.hand_in_companions()
    peace.grade()
    page = peace.feedback(OTHER)
    found: dict[str, list[str]] = {}
    for batch in tqdm(batches(attacks), "this autograder", unit="batch"):
        course = pristine.copy_to(folder / "run")
        course.hand_in_companions()
        for attack in batch:
            attack.hand_in(course.release(), course.folder(attack.student))
        for problem in objections(course, course.grade(), batch, page):
            name = problem.split(":")[0]
            known = name in {attack.name for attack in batch}
            found.setdefault(name if known else "", []).append(problem)
        shutil.rmtree(course.root)
    return found


def print_table(
    attacks: dict[str, list[Attack]], plain: dict[str, list], ours: dict[str, list]
) -> None:
    print("| class | attempts | succeed on plain nbgrader | succeed here |")
    print("|---|---:|---:|---:|")
    rows = []
    for group, members in attacks.items():
        tried = [a for a in members if a.name in plain]
        won = sum(bool(plain[a.name]) for a in tried)
        lost = sum(bool(ours.get(a.name)) for a in members)
        rows.append((len(members), won, len(tried), lost))
        there = f"{won} of {len(tried)}" if tried else "-"
        print(f"| {group} | {len(members)} | {there} | {lost} |")
    total, won, tried, lost = (sum(column) for column in zip(*rows, strict=True))
    print(f"| together | {total} | {won} of {tried} | {lost} |")
    for problem in ours.get("", []):
        print(f"nobody's: {problem}", file=sys.stderr)


if __name__ == "__main__":
    main()
