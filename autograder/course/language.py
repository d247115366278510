"""The language of a course: one setting, and the words that its notebooks are made of.

The build reads headings, budgets and counts in a notebook's text. Which words these
are is a row of `WORDINGS`; a course in a further language adds one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course import ROOT, settings
from autograder.course.errors import CourseError

ENGLISH = "en"


@dataclass(frozen=True)
class Wording:
    """The words of a notebook that the build looks for, as parts of patterns.

    Args:
        exercise: in the heading of an exercise, before its number.
        minutes: the budget, with ``{}`` for the number.
        hours: the unit's time, with ``{}`` for hours in halves.
        half, hour: the time of a unit that takes half an hour, or one hour.
        short: the short path, with ``{hours}`` and ``{exercises}``.
        solved: the list of exercises that an edition gives, with ``{exercises}``.
        paid, unpaid: an exercise's points, and what a given one has in their place.
        story, instead: the sentence on the short path, and what an edition says.
        hint, contract: titles of what is folded away.
        points, exercises, questions: patterns of the words that follow a count.
        singular, plural: the noun for exercises that an edition counts.
        numerals: counts in words, from 0 on.
    """

    exercise: str = "Exercise"
    minutes: str = "time ~{} min"
    hours: str = "About {} hours"
    half: str = "About half an hour"
    hour: str = "About 1 hour"
    short: str = " · short path about {hours}: exercises {exercises}"
    solved: str = " · given, solved and without points: exercises {exercises}"
    paid: str = "{:g} points"
    unpaid: str = "given: solved below, no points"
    story: re.Pattern[str] = re.compile(
        r"The\s+short\s+path\s+(?:carries|covers)[^.]*\."
    )
    instead: str = "Read what is given, too."
    hint: str = "Hint"
    contract: str = "Contract"
    difficulty: str = "difficulty"
    points: str = r"points?"
    exercises: str = r"exercises?"
    questions: str = r"questions? in words"
    singular: str = "exercise"
    plural: str = "exercises"
    numerals: tuple[str, ...] = (
        *("no", "one", "two", "three", "four", "five", "six"),
        *("seven", "eight", "nine", "ten", "eleven", "twelve"),
    )

    @functools.cached_property
    def heading(self) -> re.Pattern[str]:
        """An exercise's heading; its group is the number, "2.3"."""
        return re.compile(rf"^### {self.exercise} (\d+\.\d+)", re.MULTILINE)

    @functools.cached_property
    def titled(self) -> re.Pattern[str]:
        """An exercise's heading; its group is the title after number and dash."""
        number = rf"^### {self.exercise} \d+\.\d+"
        return re.compile(rf"{number} *[-–—·:] (.+)$", re.MULTILINE)

    @functools.cached_property
    def commented(self) -> re.Pattern[str]:
        """An exercise's heading in ``notebooks/``, where text is a comment."""
        return re.compile(rf"^# ### {self.exercise} \d+\.\d+", re.MULTILINE)

    @functools.cached_property
    def budget(self) -> re.Pattern[str]:
        """The minutes of an exercise."""
        return re.compile(_filled(self.minutes, {"": r"(\d+)"}))

    @functools.cached_property
    def stated(self) -> re.Pattern[str]:
        """A unit's hours and short path, in lines of any length."""
        listed = {"hours": r"[\d½]+", "exercises": r"[\d.,\s]+\b"}
        hours = _filled(self.hours, {"": r"[\d½]+"})
        singular = "|".join(_filled(time, {}) for time in (self.half, self.hour))
        short = _filled(self.short, listed)
        return re.compile(f"(?:{hours}|{singular})(?:{short})?")

    def time(self, hours: str) -> str:
        """The time of a unit, from its hours as text: "2½"."""
        singular = {"½": self.half, "1": self.hour}
        return singular.get(hours) or self.hours.format(hours)

    @functools.cached_property
    def worth(self) -> re.Pattern[str]:
        """Points that a text names."""
        return re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?) {self.points}\b")

    @functools.cached_property
    def counts(self) -> dict[str, re.Pattern[str]]:
        """How many checks and written answers a text counts, by role."""
        return {
            "check": re.compile(rf"(?<!\w)(\w+) {self.exercises}\b"),
            "written": re.compile(rf"(?<!\w)(\w+) {self.questions}"),
        }


def _filled(template: str, fields: Mapping[str, str]) -> str:
    """A template as a pattern: patterns in its fields, any space for each space."""
    text = re.escape(template).replace(r"\ ", r"\s+")
    return re.sub(r"\\{(\w*)\\}", lambda field: fields[field[1]], text)


WORDINGS = {
    ENGLISH: Wording(),
    "de": Wording(
        exercise="Aufgabe",
        minutes="Zeit ~{} min",
        hours="Etwa {} Stunden",
        half="Etwa eine halbe Stunde",
        hour="Etwa 1 Stunde",
        short=" · kurzer Weg etwa {hours}: Aufgaben {exercises}",
        solved=" · vorgegeben, gelöst und ohne Punkte: Aufgaben {exercises}",
        paid="{:g} Punkte",
        unpaid="vorgegeben: unten gelöst, keine Punkte",
        story=re.compile(r"Der\s+kurze\s+Weg\s+trägt[^.]*\."),
        instead="Lies auch, was vorgegeben ist.",
        hint="Tipp",
        contract="Vertrag",
        difficulty="Schwierigkeit",
        points=r"Punkte?",
        exercises=r"Aufgaben?",
        questions=r"Fragen? in Worten",
        singular="Aufgabe",
        plural="Aufgaben",
        numerals=(
            *("keine", "eine", "zwei", "drei", "vier", "fünf", "sechs"),
            *("sieben", "acht", "neun", "zehn", "elf", "zwölf"),
        ),
    ),
}


def language(root: Path = ROOT) -> str:
    """The course's language, like "en": ``language`` in course.toml.

    Raises:
        CourseError: it is no code of two or three letters.
    """
    name = settings(root).get("language", ENGLISH)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z]{2,3}", name):
        raise CourseError(
            f"course.toml: language is {name!r}; write the code "
            'of a language, like "en" or "de"'
        )
    return name


def wording(text: str, root: Path = ROOT) -> Wording:
    """The words of a hand-written notebook, by its headings.

    They are the course's language's, or English: checks may speak a language before
    the notebooks do.

    Raises:
        CourseError: nobody has written down the words of the course's language.
    """
    name = language(root)
    for code in (name, ENGLISH):
        words = WORDINGS.get(code)
        if words and words.commented.search(text):
            return words
    if name not in WORDINGS:
        raise CourseError(
            f'course.toml: language is "{name}", whose words '
            "WORDINGS in autograder/course/language.py lacks; it has "
            f"{', '.join(WORDINGS)}"
        )
    return WORDINGS[name]
