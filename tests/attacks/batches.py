"""Attackers who share a run, and all that may be held against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from tests.attacks.accident import Accident
from tests.attacks.attack import Attack
from tests.attacks.course import Course
from tests.attacks.leaking import active_outputs, leaks, scripts
from tests.attacks.material import COMPANIONS, INSIDE, JUDGED, POINTS, SEES, SOFTMAX
from tests.attacks.traces import Traces

BATCH = 32  # each run costs a start of nbgrader, of judges and of sandboxes
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


SCORED, READ, CHANGED, DELAYED = "scored", "read", "changed", "delayed"
EFFECTS = (SCORED, READ, CHANGED, DELAYED)
_OF_TRACES = {"calls": READ, "files": CHANGED, "rows": CHANGED}  # else it is left over


class Objection(NamedTuple):
    """Something that went wrong: what it did, what, and by which attack, if known."""

    effect: str
    says: str
    attack: str = ""


def objections(
    course: Course, traces: Traces, attacks: Sequence[Attack], peace: str = ""
) -> list[Objection]:
    """All that went wrong in a batch, and whom it concerns.

    ``peace`` is the feedback of a companion when nobody attacks, if that is known.
    """
    raised = [
        Objection(_OF_TRACES.get(trace.split(":")[0], DELAYED), trace)
        for trace in traces.told()
    ]
    if course.peak_mb > MOST_MB:
        raised.append(Objection(DELAYED, f"a process of {course.peak_mb} MB"))
    scores = course.scores()
    for student in COMPANIONS:
        earned = scores.get(student, {})
        if any(earned.get(n) != POINTS[n] for n in (*JUDGED, INSIDE)):
            raised.append(Objection(CHANGED, f"{student} has {earned}"))
        # Equal submissions of equal code are asked equal questions.
        wanted = peace or course.nameless_feedback(COMPANIONS[-1])
        if course.nameless_feedback(student) != wanted:
            raised.append(Objection(CHANGED, f"{student} reads other feedback"))
    for attack in attacks:
        for effect, message in _objections_to(course, attack, scores):
            raised.append(Objection(effect, message, attack.name))
    return raised + [Objection(DELAYED, fault) for fault in faults(course)]


def hand_in_accidents(course: Course, accidents: Sequence[Accident]) -> None:
    for accident in accidents:
        accident.hand_in(course.release(), course.folder(accident.student))


def losses(course: Course, accidents: Sequence[Accident]) -> list[str]:
    """What accidents have cost, or left behind, in a course that is graded."""
    effects, scores = [], course.scores()
    full = {name: POINTS[name] for name in (*JUDGED, INSIDE)}
    for accident in accidents:
        earned = {n: scores.get(accident.student, {}).get(n) for n in full}
        if earned != full:
            effects.append(f"{accident.name}: earned {earned}")
        page = course.feedback(accident.student)
        if not page or scripts(page) or "could not be graded" in page:
            effects.append(f"{accident.name}: feedback {scripts(page)}")
        if "Ada L" in course.graded(accident.student):
            effects.append(f"{accident.name}: a name is still in it")
    return effects


def faults(course: Course) -> list[str]:
    """What the log tells of our own failing."""
    lines = course.log.splitlines()
    starts = [n for n, line in enumerate(lines) if line.endswith(": grading failed")]
    messages = ["\n".join(lines[n : n + 60]) for n in starts[:2]]
    messages += [
        line for line in lines if "Needs a person" in line and ": failed" in line
    ]
    return [f"a fault of ours: {text}" for text in messages]


def _objections_to(
    course: Course, attack: Attack, scores: Mapping[str, Mapping[str, float | None]]
) -> Iterator[tuple[str, str]]:
    student = attack.student
    grades = scores.get(student, {})
    earned = {name: grades.get(name, "no score") for name in (SOFTMAX, SEES)}
    if set(earned.values()) != {0.0}:
        yield SCORED, f"earned {earned}"
    inside = grades.get(INSIDE) or 0.0
    if not 0 <= inside <= POINTS[INSIDE]:
        yield SCORED, f"{inside} points inside"
    if grades.get("essay") not in (None, 0.0):
        yield SCORED, f"{grades['essay']} points for what a person should read"
    yield from ((READ, f"leak: {leak}") for leak in leaks(course, student))
    page = course.feedback(student)
    if not page:
        yield DELAYED, "no feedback"
    yield from ((CHANGED, f"in the page: {payload}") for payload in scripts(page)[:3])
    active = active_outputs(course, student)[:3]
    yield from ((CHANGED, f"in the notebook: {payload}") for payload in active)
    if len(course.graded(student)) > LARGEST:
        yield DELAYED, f"a notebook of {len(course.graded(student)) >> 20} MB"
    if not isinstance(json.loads(course.graded(student)).get("cells"), list):
        yield DELAYED, "no readable notebook"


def names(attacks: Sequence[Attack]) -> str:
    return f"{attacks[0].name} to {attacks[-1].name}"
