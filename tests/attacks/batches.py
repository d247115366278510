"""Attackers who share a run, and all that may be held against it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

from tests.attacks.attack import Attack
from tests.attacks.course import (
    COMPANIONS,
    INSIDE,
    JUDGED,
    MASK,
    POINTS,
    SCORES,
    Course,
    Traces,
    active_outputs,
    leaks,
    scripts,
)

BATCH = 10
LARGEST = 12 << 20  # bytes of an autograded notebook, whatever was printed
MOST_MB = 1200  # memory of the largest of our processes, whatever was sent


def batches(attacks: Sequence[Attack]) -> list[tuple[Attack, ...]]:
    """Attackers that share a run; those of one kind do not stand together."""
    count = -(-len(attacks) // BATCH)
    return [tuple(islice(attacks, n, None, count)) for n in range(count)]


def attacked(pristine: Course, root, attacks: Sequence[Attack]) -> tuple:
    course = pristine.copy_to(root)
    course.hand_in_companions()
    for attack in attacks:
        attack.hand_in(course.release(), course.folder(attack.student))
    return course, course.grade()


def objections(
    course: Course, traces: Traces, attacks: Sequence[Attack], peace: str = ""
) -> list[str]:
    """All that went wrong in a batch, and whom it concerns.

    ``peace`` is the feedback of a companion when nobody attacks, if that is known.
    """
    found = traces.told()
    if course.peak_mb > MOST_MB:
        found.append(f"a process of {course.peak_mb} MB")
    scores = course.scores()
    for student in COMPANIONS:
        if any(scores.get(student, {}).get(n) != POINTS[n] for n in (*JUDGED, INSIDE)):
            found.append(f"{student} has {scores.get(student)}")
        # Equal submissions of equal code are asked equal questions.
        wanted = peace or course.nameless_feedback(COMPANIONS[-1])
        if course.nameless_feedback(student) != wanted:
            found.append(f"{student} reads other feedback")
    for attack in attacks:
        problems = objections_to_one(course, attack, scores.get(attack.student, {}))
        found += [f"{attack.name}: {problem}" for problem in problems]
    return found + faults(course)


def faults(course: Course) -> list[str]:
    """What the log tells of our own failing."""
    lines = course.log.splitlines()
    starts = [n for n, line in enumerate(lines) if line.endswith(": grading failed")]
    told = ["\n".join(lines[n : n + 60]) for n in starts[:2]]
    told += [line for line in lines if "Needs a person" in line and ": failed" in line]
    return [f"a fault of ours: {text}" for text in told]


def objections_to_one(course: Course, attack: Attack, scores: dict) -> list[str]:
    student, found = attack.student, []
    earned = {name: scores.get(name, "no score") for name in (SCORES, MASK)}
    if set(earned.values()) != {0.0}:
        found.append(f"earned {earned}")
    inside = scores.get(INSIDE) or 0.0
    if not 0 <= inside <= POINTS[INSIDE]:
        found.append(f"{inside} points inside")
    if scores.get("essay") not in (None, 0.0):
        found.append(f"{scores['essay']} points for what a person should read")
    found += [f"leak: {leak}" for leak in leaks(course, student)]
    page = course.feedback(student)
    if not page:
        found.append("no feedback")
    found += [f"in the page: {script}" for script in scripts(page)[:3]]
    found += [f"in the notebook: {out}" for out in active_outputs(course, student)[:3]]
    if len(course.graded(student)) > LARGEST:
        found.append(f"a notebook of {len(course.graded(student)) >> 20} MB")
    if not isinstance(json.loads(course.graded(student)).get("cells"), list):
        found.append("no readable notebook")
    return found


def names(attacks: Sequence[Attack]) -> str:
    return f"{attacks[0].name} to {attacks[-1].name}"
