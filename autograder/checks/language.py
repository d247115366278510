"""Sentences in the course's language; English where nobody has translated one.

What is stored, sent and compared stays English. A sentence is translated where it is
made (`_`, `plural`) or, if it comes out of a sandbox or a reference, where it is shown
(`reworded`). The build makes the catalogue (authoring/translations.py).
"""

from __future__ import annotations

import functools
import gettext
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.root import CONTENT

_REFERENCES = CONTENT / "references"
SEPARATOR = " · "  # between the parts of an answer's name
JOINED = re.compile(f"({SEPARATOR}|; )")  # these, and remarks that follow each other
FOLDER = "sentences"  # beside the references whose sentences it translates
FIELD = re.compile(r"\{\w+(?:[:!][^{}]*)?\}")


class BrokenCatalogueError(OSError):
    """The built catalogue cannot be read; the text says which, and what to do."""


@dataclass(frozen=True)
class Catalogue:
    """Translations by sentence; ``raised`` holds templates of what sandboxes say."""

    language: str = "en"
    sentences: Mapping[str, str] = field(default_factory=dict)
    plurals: Mapping[str, list[str]] = field(default_factory=dict)
    raised: Mapping[str, str] = field(default_factory=dict)
    plural: str = "n != 1"

    @functools.cached_property
    def form(self) -> Callable[[int], int]:
        """Which of a sentence's forms is that for a number."""
        return gettext.c2py(self.plural)

    @functools.cached_property
    def patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """What recognises each template, the most particular first."""
        ordered = sorted(self.raised, key=lambda one: -len(FIELD.sub("", one)))
        return [(_pattern(english), self.raised[english]) for english in ordered]


@functools.cache  # a course does not change its language while it is in use
def catalogue() -> Catalogue:
    """What is built here: of the engine and of each unit, hidden parts where they are.

    Raises:
        BrokenCatalogueError: a file is damaged.
    """
    return merged(sorted(_REFERENCES.glob(f"*/{FOLDER}/*.json")))


def merged(paths: Iterable[Path]) -> Catalogue:
    """Catalogues of one language as one.

    Raises:
        BrokenCatalogueError: a file is damaged.
    """
    whole = Catalogue()
    for one in map(read, paths):
        whole = Catalogue(
            one.language,
            {**whole.sentences, **one.sentences},
            {**whole.plurals, **one.plurals},
            {**whole.raised, **one.raised},
            one.plural,
        )
    return whole


def read(path: Path) -> Catalogue:
    """A built catalogue.

    Raises:
        BrokenCatalogueError: it is damaged.
    """
    try:
        return Catalogue(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        raise BrokenCatalogueError(
            f"{path} is damaged; rebuild it with `autograder translate`, or install "
            "the students' wheel again"
        ) from None


def _(sentence: str) -> str:
    """A sentence, or a template of one, in the course's language."""
    return catalogue().sentences.get(sentence, sentence)


def marked(sentence: str) -> str:
    """A sentence for translators that is English still: it is translated later."""
    return sentence


def template(sentence: str) -> str:
    """A template that a sandbox fills in, in English: `reworded` translates it."""
    return sentence


def plural(one: str, many: str, count: int) -> str:
    """The template of a sentence for a number; the number is not filled in."""
    known = catalogue()
    if forms := known.plurals.get(one):
        return forms[known.form(count)]
    return one if count == 1 else many


def reworded(text: str) -> str:
    """What a sandbox or a reference says in English, in the course's language.

    Names of answers, results in words and errors are put together from parts: what is
    in the place of a template's field is reworded in its turn.
    """
    known = catalogue()
    if not known.raised and not known.sentences:
        return text
    if text in known.sentences:
        return known.sentences[text]
    if len(parts := JOINED.split(text)) > 1:
        parts[::2] = map(reworded, parts[::2])
        return "".join(parts)
    for pattern, own in known.patterns:
        if found := pattern.fullmatch(text):
            return own.format(**{n: reworded(v) for n, v in found.groupdict().items()})
    return text


def _pattern(sentence: str) -> re.Pattern[str]:
    """What matches a template with anything in its fields; each has a name."""
    parts = re.split(r"\{(\w+)\}", sentence)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [f"(?P<{name}>.+?)" for name in parts[1::2]]
    return re.compile("".join(parts))
