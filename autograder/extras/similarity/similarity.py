"""List suspiciously similar solutions for a person to judge; this is no verdict.

Answers are compared as token sequences, exercise by exercise. Layout, comments
and the names that a student chose do not count. The weight of a run of tokens
that ``d`` of ``n`` students share is proportional to ``log2(n / d)``. Short
exercises have few natural solutions, so only rare runs are telling.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np
from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, Number, String

from autograder.classroom import page
from autograder.classroom.answers import Codes
from autograder.course import notebooks
from autograder.course.errors import CourseError
from autograder.extras.similarity import TEMPLATES

RUN = 6  # tokens that are compared as one unit
LEAST_SHARE = 0.6  # the smallest ``Pair.share`` of a pair that is listed
LEAST_RARE = 12.0  # the smallest ``Pair.rare`` of a pair that is listed
MOST_PAIRS = 100
PAIRS_ON_PAGE = 20
_MOST_NAMES = 3  # exercises that are named in a line
_LONGEST = 20_000  # characters of an answer that are read
_LONG_GAP = re.compile(r"[ \t]{20,}")
_SHOWN = 5_000  # characters of an answer that are shown on the page

Runs = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Alike:
    """An exercise that two students have solved similarly.

    ``share`` (0 to 1) is the part, by weight, that the answers have in common.
    """

    exercise: str
    share: float


@dataclass(frozen=True)
class Pair:
    """Two students, ``first`` and ``second``, whose answers are similar.

    Attributes:
        share: the weight of what both wrote, divided by the smaller total weight.
        rare: the weight of what both wrote, in bits; what few wrote weighs most.
        exercises: the similar exercises, the most similar first.
        same_names: whether even the names they chose agree.
    """

    first: str
    second: str
    share: float
    rare: float
    exercises: tuple[Alike, ...]
    same_names: bool = False


@dataclass(frozen=True)
class Comparison:
    """The pairs of students whose solutions are strikingly similar.

    Attributes:
        pairs: the most similar ones, in order.
        listed: the number of all strikingly similar pairs.
        usual: the median share of all pairs in the class, which is coincidence.
    """

    pairs: tuple[Pair, ...]
    listed: int
    usual: float


# --- reading -------------------------------------------------------------------------


def released(unit: str, root: Path) -> list[str]:
    """The code cells of a unit's release. Raises CourseError without a release."""
    paths = sorted((root / "release" / unit).glob("*.ipynb"))
    if not paths:
        raise CourseError(f"there is no release of {unit} in {root / 'release'}")
    books = [notebooks.read(path) for path in paths]
    return [c.source for nb in books for c in nb.cells if c.cell_type == "code"]


# --- tokens --------------------------------------------------------------------------


def tokens(code: str, names: bool = False) -> list[str]:
    """Split code into the tokens that are compared.

    Unless ``names`` is set, each name that the student chose becomes "name".
    """
    return [
        "name" if chosen and not names else text
        for text, chosen in _lexed(code[:_LONGEST])
    ]


@functools.cache
def _lexed(code: str) -> tuple[tuple[str, bool], ...]:
    """Return the tokens that count, and whether each is a name that a student chose."""
    lexemes: list[tuple[str, bool]] = []
    # Drop blank lines and long gaps: on them, Pygments takes quadratic time.
    lines = (_LONG_GAP.sub(" ", line.rstrip()) for line in code.splitlines())
    dense = "\n".join(line for line in lines if line.strip())
    for kind, text in PythonLexer().get_tokens(dense):
        if kind in Comment or kind in String.Doc or not text.strip():
            continue
        if kind in String:
            text = "''"
            if lexemes and lexemes[-1][0] == text:  # the parts of one string
                continue
        elif kind in Number:
            text = text.lower().replace("_", "")
        before = [word for word, _ in lexemes[-2:]]
        of_library = before[-1:] == ["."] and before != ["self", "."]
        is_name = kind in Name and kind not in Name.Builtin
        lexemes.append((text, is_name and not of_library))
    return tuple(lexemes)


@functools.cache
def runs(code: str) -> Runs:
    """Return the set of runs of ``RUN`` consecutive tokens among `tokens` of code."""
    read = tokens(code)
    return frozenset(tuple(read[n : n + RUN]) for n in range(len(read) - RUN + 1))


# --- comparing -----------------------------------------------------------------------


def compare(
    answers: Mapping[str, Codes], release_code: Sequence[str] = ()
) -> Comparison:
    """Find the pairs of students that a person should look at.

    ``answers`` has each student's code by exercise; ``release_code``, which all
    were given, is ignored. Memory grows with the square of the class.
    """
    students = sorted(answers)
    if len(students) < 2 or not any(answers.values()):
        return Comparison((), 0, 0.0)
    common = frozenset().union(*map(runs, release_code))
    names = dict.fromkeys(name for codes in answers.values() for name in codes)
    exercises = {
        name: _Item([runs(answers[s].get(name, "")) - common for s in students])
        for name in names
    }
    # Weights of what each student wrote, and of what each two students share.
    totals = reduce(np.add, (exercise.whole for exercise in exercises.values()))
    rare = reduce(np.add, (exercise.shared() for exercise in exercises.values()))
    least = np.minimum(totals[:, None], totals[None, :])
    share = np.minimum(1.0, rare / np.maximum(least, 1e-6))
    above = np.triu_indices(len(students), 1)
    striking = np.triu((share >= LEAST_SHARE) & (rare >= LEAST_RARE), 1)
    indices = np.argwhere(striking)  # (pairs, 2)
    order = np.argsort(-(rare * share)[striking], kind="stable")[:MOST_PAIRS]
    pairs = tuple(
        Pair(
            students[row], students[column], float(share[row, column]),
            float(rare[row, column]), alike,
            _same_names(answers[students[row]], answers[students[column]], alike),
        )
        for row, column in indices[order].tolist()
        for alike in (_alike(exercises, row, column),)
    )  # fmt: skip
    return Comparison(pairs, len(indices), float(np.median(share[above])))


def _same_names(first: Codes, second: Codes, alike: Sequence[Alike]) -> bool:
    """Whether the similar exercises agree even in the names that were chosen."""
    return bool(alike) and all(
        tokens(first[a.exercise], True) == tokens(second[a.exercise], True)
        for a in alike
    )


class _Item:
    """All students' answers to one exercise, as runs of tokens with weights.

    Attributes:
        written: the runs of each student.
        whole: (students,), the total weight of each student's runs.
    """

    def __init__(self, written: Sequence[Runs]):
        self.written = written
        self._counts = Counter(run for code_runs in written for run in code_runs)
        self.whole = np.array([self.weight(r) for r in written])  # (students,)

    def weight(self, code_runs: Runs) -> float:
        n = len(self.written)
        return sum(math.log2(n / self._counts[run]) / RUN for run in code_runs)

    def shared(self) -> np.ndarray:
        """Sum the weights of the code fragments that each pair of students shares.

        The result is a float32 array of shape (students, students).
        """
        # A run that only one student wrote is common to no two.
        several = [run for run, count in self._counts.items() if count > 1]
        column = {run: n for n, run in enumerate(several)}
        rows = np.zeros((len(self.written), len(several)), dtype=np.float32)
        for row, code_runs in zip(rows, self.written, strict=True):
            row[[column[run] for run in code_runs if run in column]] = 1.0
        weights = [self.weight(frozenset({run})) for run in several]
        return (rows * np.array(weights, dtype=np.float32)) @ rows.T


def _alike(exercises: Mapping[str, _Item], row: int, column: int) -> tuple[Alike, ...]:
    """The exercises that two students solved similarly, the most similar first."""
    matches = []
    for name, exercise in exercises.items():
        first_runs, second_runs = exercise.written[row], exercise.written[column]
        smaller_weight = min(exercise.whole[row], exercise.whole[column])
        shared_weight = exercise.weight(first_runs & second_runs)
        if shared_weight and shared_weight >= LEAST_SHARE * smaller_weight:
            share = min(1.0, float(shared_weight / smaller_weight))
            matches.append(Alike(name, share))
    return tuple(sorted(matches, key=lambda alike: -alike.share))


def as_html(
    unit: str, comparison: Comparison, answers: Mapping[str, Codes],
    release_code: Sequence[str] = (),
) -> str:  # fmt: skip
    """An HTML page with the first pairs side by side, for a person to read.

    Lines of the release are left out, and lines that both students have are marked.
    """
    pairs = comparison.pairs[:PAIRS_ON_PAGE]
    released_lines = {
        line.strip() for code in release_code for line in code.splitlines()
    }
    lines = {
        (student, alike.exercise): _own_lines(
            answers[student][alike.exercise], released_lines
        )
        for pair in pairs
        for student in (pair.first, pair.second)
        for alike in pair.exercises
    }
    return page.render(
        "alike.html.j2", unit, folder=TEMPLATES, comparison=comparison, pairs=pairs,
        lines=lines,
    )  # fmt: skip


def _own_lines(code: str, released_lines: Set[str]) -> list[str]:
    """The lines of an answer that its student wrote, up to ``_SHOWN`` characters."""
    excess = len(code) - _SHOWN
    lines = code[:_SHOWN].splitlines()
    lines = [line for line in lines if line.strip() not in {"", *released_lines}]
    return lines + [f"… and {excess:,} more characters"] * (excess > 0)


def as_text(unit: str, comparison: Comparison) -> str:
    """The list of similar pairs as text, for a terminal."""
    if not comparison.pairs:
        return f"{unit}: no two solutions are strikingly alike"
    width = max(len(pair.first) + len(pair.second) for pair in comparison.pairs) + 3
    lines = [
        f"{unit}: {comparison.listed} pairs to look at; two students of this class "
        f"usually share {comparison.usual:.0%}",
        "This is a hint to read both, never a proof: short exercises have few natural "
        "solutions.",
        "",
    ]
    for pair in comparison.pairs:
        students = f"{pair.first} - {pair.second}"
        names = ", even the names" if pair.same_names else ""
        listed = ", ".join(alike.exercise for alike in pair.exercises[:_MOST_NAMES])
        if len(pair.exercises) > _MOST_NAMES:
            listed += f" and {len(pair.exercises) - _MOST_NAMES} more"
        lines.append(f"{students:<{width}}  {pair.share:>4.0%}{names}: {listed}")
    if comparison.listed > len(comparison.pairs):
        lines.append(f"and {comparison.listed - len(comparison.pairs)} more")
    return "\n".join(lines)
