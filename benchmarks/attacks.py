"""The bank of attacks against plain nbgrader and against this autograder.

``python benchmarks/attacks.py`` prints the README's table. Plain nbgrader is stock: its
own converter, kernel and rule, the same notebook, and our visible and hidden checks in
the test cells. It grades each attacker in a throw-away course with one honest student;
attacks that would harm the machine itself, or aim at this design, are not tried there.
Of both is counted how many attacks have

scored    earned points without solving anything
read      got at what they should not see, or out to the network
changed   files, the gradebook, another student's points, or what a page does
delayed   processes left behind, a run that does not end, no result for somebody

Options: ``--group "leaking"`` for one group, ``--few N`` for N attacks of each,
``--only plain`` or ``--only here``. It takes an hour or more: ``--keep FILE`` goes on
from what a file has, ``--seconds N`` begins nothing after that long.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tests.conftest  # noqa: F401 - puts nbgrader's programs on the path
from tests.attacks.attack import DESIGN, LEAKING, Attack
from tests.attacks.bank import BANK
from tests.attacks.batches import (
    CHANGED,
    DELAYED,
    EFFECTS,
    READ,
    SCORED,
    attacked,
    batches,
    objections,
)
from tests.attacks.course import Course
from tests.attacks.leaking import leaks, scripts
from tests.attacks.material import (
    COMPANIONS,
    INSIDE,
    JUDGED,
    POINTS,
    SOLUTIONS,
    answered,
    as_file,
)
from tests.attacks.traces import Traces

PLAIN, HERE = "plain nbgrader", "this autograder"
GROUPS = tuple(dict.fromkeys(attack.group for attack in BANK))
OTHER = COMPANIONS[1]  # graded after the attacker
ATTACKERS = ("pwned", "attacker.example")  # of what a page would run or fetch


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--group", default="", help="only this group")
    options.add_argument("--few", type=int, default=len(BANK), help="of each group")
    options.add_argument("--only", choices=("plain", "here"), help="one of the two")
    options.add_argument("--keep", type=Path, help="JSON of what was found already")
    options.add_argument("--seconds", type=float, default=math.inf)
    chosen = options.parse_args()
    attacks = [a for group in GROUPS for a in _of(group, chosen)]
    found = Found(chosen.keep, chosen.seconds)
    with tempfile.TemporaryDirectory(prefix="attacks", dir="/tmp") as folder:
        if chosen.only != "here":
            on_plain(attacks, Path(folder), found)
        if chosen.only != "plain":
            on_ours(attacks, Path(folder), found)
    print_table(found)


def _of(group: str, chosen: argparse.Namespace) -> list[Attack]:
    if chosen.group not in ("", group):
        return []
    return [attack for attack in BANK if attack.group == group][: chosen.few]


class Found:
    """What each attack achieved, by who graded: its effects, none if it failed."""

    def __init__(self, file: Path | None, seconds: float) -> None:
        self._file, self._end = file, time.monotonic() + seconds
        known = file and file.exists()
        self.effects: dict[str, dict[str, list[str]]] = (
            json.loads(file.read_text()) if file and known else {PLAIN: {}, HERE: {}}
        )

    @property
    def late(self) -> bool:
        """Whether nothing more is to be begun."""
        return time.monotonic() > self._end

    def add(self, grader: str, attack: str, effects: Iterable[str]) -> None:
        self.effects[grader][attack] = sorted(set(effects))
        if self._file:
            self._file.write_text(json.dumps(self.effects, indent=1))


def on_plain(attacks: Sequence[Attack], folder: Path, found: Found) -> None:
    """Try the attacks on plain nbgrader, each in a course of its own."""
    pristine = Course.make(folder / "plain", stock=True)
    pristine.seconds = 120.0
    quiet = _ended_in(pristine, None, folder / "run")
    tried = [a for a in attacks if not a.harms and a.group != DESIGN]
    for attack in tqdm(tried, PLAIN, unit="attack"):
        if attack.name not in found.effects[PLAIN] and not found.late:
            effects = _ended_in(pristine, attack, folder / "run")
            new = [effect for effect, says in effects if (effect, says) not in quiet]
            found.add(PLAIN, attack.name, new)


def _ended_in(
    pristine: Course, attack: Attack | None, root: Path
) -> list[tuple[str, str]]:
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


def _effects(course: Course, traces: Traces, student: str) -> Iterator[tuple[str, str]]:
    """What a run on plain nbgrader came to; the quiet one's is not an attack's."""
    try:
        scores = course.scores()
    except Exception:
        scores = {}
    if student != OTHER and any(scores.get(student, {}).get(n) for n in JUDGED):
        yield SCORED, "points"
    full = {name: POINTS[name] for name in (*JUDGED, INSIDE)}
    own = scores.get(OTHER, {})
    if any(own.get(n) is not None and own[n] != full[n] for n in full):
        yield CHANGED, "another student's points"
    if course.status == -1 or any(own.get(name) is None for name in full):
        yield DELAYED, "another student has no result"
    inside = ("autograded/", "feedback/", "submitted/", "jupyter")
    if any(not name.startswith(inside) for name in traces.files):
        yield CHANGED, "files"
    yield from ((CHANGED, row) for row in traces.rows)
    yield from [(DELAYED, "a process is left")] * bool(traces.processes)
    yield from [(READ, "a connection")] * bool(traces.calls)
    yield from ((READ, leak) for leak in leaks(course, student))
    active = scripts(course.feedback(student))
    yield from ((CHANGED, s) for s in active if any(word in s for word in ATTACKERS))


def on_ours(attacks: Sequence[Attack], folder: Path, found: Found) -> None:
    """Try the attacks here, some at a time; what is nobody's is everybody's."""
    pristine = Course.make(folder / "ours")
    peace = pristine.copy_to(folder / "peace")
    peace.hand_in_companions()
    peace.grade()
    page = peace.nameless_feedback(OTHER)
    left = [a for a in attacks if a.name not in found.effects[HERE]]
    for batch in tqdm(batches(left), HERE, unit="batch"):
        if found.late:
            return
        course, traces = attacked(pristine, folder / "run", batch)
        told = objections(course, traces, batch, page)
        for attack in batch:
            own = [o for o in told if o.attack in ("", attack.name)]
            found.add(HERE, attack.name, [o.effect for o in own])
            for objection in own:
                print(f"{attack.name}: {objection}", file=sys.stderr)
        shutil.rmtree(course.root)


def print_table(found: Found) -> None:
    """One row for each of the two, and what came through here by name."""
    print(f"| | tried | {' | '.join(EFFECTS)} |")
    print(f"|---|---:|{'---:|' * len(EFFECTS)}")
    for grader, effects in found.effects.items():
        counts = [sum(e in got for got in effects.values()) for e in EFFECTS]
        cells = " | ".join(map(str, (len(effects), *counts)))
        print(f"| {grader} | {cells} |")


if __name__ == "__main__":
    main()
