"""The language of a course, and the words by which the build reads its notebooks.

A further language needs a new row in `WORDINGS`.
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
    """The words in a notebook that the build looks for or writes, in one language.

    An edition is a notebook in which some exercises are given: solved, without
    points. The short path is a selection of exercises for students with less time.

    Args:
        exercise: the word before the number in an exercise's heading.
        minutes, hours: templates for the time of an exercise and of a unit.
        half, hour: the text for a unit that takes half an hour, or one hour.
        short: a template for the short path.
        solved: a template for an edition's list of given exercises.
        paid: a template for the points of an exercise.
        unpaid: the text in place of the points of a given exercise.
        story: a pattern for the sentence about the short path.
        instead: the sentence that replaces it in an edition.
        hint, contract: the titles of folded sections.
        difficulty: the word before an exercise's level, as in "difficulty 3/5".
        points, exercises, questions: patterns for the noun after a number.
        singular, plural: the noun after the number of exercises in an edition.
        numerals: the numbers from 0 on, as words.
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
    questions: str = r"written questions?"
    singular: str = "exercise"
    plural: str = "exercises"
    numerals: tuple[str, ...] = (
        *("no", "one", "two", "three", "four", "five", "six"),
        *("seven", "eight", "nine", "ten", "eleven", "twelve"),
    )

    @functools.cached_property
    def heading_pattern(self) -> re.Pattern[str]:
        """A pattern for an exercise's heading; group 1 is its number, like "2.3"."""
        return re.compile(rf"^### {self.exercise} (\d+\.\d+)", re.MULTILINE)

    @functools.cached_property
    def title_pattern(self) -> re.Pattern[str]:
        """A pattern for an exercise's heading with a title, which is group 1."""
        number = rf"^### {self.exercise} \d+\.\d+"
        return re.compile(rf"{number} *[-–—·:] (.+)$", re.MULTILINE)

    @functools.cached_property
    def comment_heading_pattern(self) -> re.Pattern[str]:
        """A pattern for an exercise's heading in a .py file, where it is a comment."""
        return re.compile(rf"^# ### {self.exercise} \d+\.\d+", re.MULTILINE)

    @functools.cached_property
    def minutes_pattern(self) -> re.Pattern[str]:
        """A pattern for the stated time of an exercise; group 1 is the minutes."""
        return re.compile(_filled(self.minutes, {"": r"(\d+)"}))

    @functools.cached_property
    def time_pattern(self) -> re.Pattern[str]:
        """A pattern for a unit's stated time, with the short path if one follows."""
        listed = {"hours": r"[\d½]+", "exercises": r"[\d.,\s]+\b"}
        hours = _filled(self.hours, {"": r"[\d½]+"})
        singular = "|".join(_filled(time, {}) for time in (self.half, self.hour))
        short = _filled(self.short, listed)
        return re.compile(f"(?:{hours}|{singular})(?:{short})?")

    def time(self, hours: str) -> str:
        """Return the phrase for a unit's hours: "About 2½ hours" for "2½"."""
        singular = {"½": self.half, "1": self.hour}
        return singular.get(hours) or self.hours.format(hours)

    @functools.cached_property
    def points_pattern(self) -> re.Pattern[str]:
        """A pattern for stated points, like "3 points"; group 1 is the number."""
        return re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?) {self.points}\b")

    @functools.cached_property
    def count_patterns(self) -> dict[str, re.Pattern[str]]:
        """Patterns for the stated number of exercises and of written questions.

        The keys are "check" and "written". Group 1 is the word before the noun.
        """
        return {
            "check": re.compile(rf"(?<!\w)(\w+) {self.exercises}\b"),
            "written": re.compile(rf"(?<!\w)(\w+) {self.questions}"),
        }


def _filled(template: str, fields: Mapping[str, str]) -> str:
    """Turn a template into a regular expression, given one for each of its fields.

    A space in the template matches any white space.
    """
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
        CourseError: the setting is not a code of two or three letters.
    """
    name = settings(root).get("language", ENGLISH)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z]{2,3}", name):
        raise CourseError(
            f"course.toml: language is {name!r}; write the code "
            'of a language, like "en" or "de"'
        )
    return name


def wording(text: str, root: Path = ROOT) -> Wording:
    """Choose the `Wording` of a .py notebook's ``text``, by the exercises' headings.

    The headings may be in the course's language or in English.

    Raises:
        CourseError: the course's language is invalid, or has no wording.
    """
    name = language(root)
    for code in (name, ENGLISH):
        words = WORDINGS.get(code)
        if words and words.comment_heading_pattern.search(text):
            return words
    if name not in WORDINGS:
        raise CourseError(
            f'course.toml: language is "{name}", whose words WORDINGS in '
            f"autograder/course/language.py lacks; it has {', '.join(WORDINGS)}"
        )
    return WORDINGS[name]
