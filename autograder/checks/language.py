"""Translate sentences into the course's language; untranslated ones stay English.

What is stored, sent and compared is English. `_` and `plural` translate where a
sentence is composed, `translate` where one from a sandbox is shown.
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
_LONGEST = 600  # characters of a text that is translated
SEPARATOR = " · "  # between the parts of an answer's name
JOINED = re.compile(f"({SEPARATOR}|; )")  # between these parts, or between remarks
FOLDER = "sentences"  # beside the references whose sentences it translates
FIELD = re.compile(r"\{\w+(?:[:!][^{}]*)?\}")


class BrokenCatalogueError(OSError):
    """The built catalogue cannot be read; the text says which, and what to do."""


@dataclass(frozen=True)
class Catalogue:
    """Translations of English sentences into one language.

    ``raised`` translates templates that sandboxes fill in, and ``plural`` is the
    language's rule for plural forms in gettext's notation.
    """

    language: str = "en"
    sentences: Mapping[str, str] = field(default_factory=dict)
    plurals: Mapping[str, list[str]] = field(default_factory=dict)
    raised: Mapping[str, str] = field(default_factory=dict)
    plural: str = "n != 1"

    @functools.cached_property
    def form(self) -> Callable[[int], int]:
        """The function from a count to the index of a sentence's plural form."""
        return gettext.c2py(self.plural)

    @functools.cached_property
    def patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Patterns for filled-in templates, with translations; most specific first."""
        ordered = sorted(self.raised, key=lambda english: -len(FIELD.sub("", english)))
        return [(_pattern(english), self.raised[english]) for english in ordered]


@functools.cache  # a course does not change its language while it is in use
def catalogue() -> Catalogue:
    """Read the catalogues of the engine and of all units here, hidden ones included.

    Raises:
        BrokenCatalogueError: a file is damaged.
    """
    return merge_catalogues(sorted(_REFERENCES.glob(f"*/{FOLDER}/*.json")))


def merge_catalogues(paths: Iterable[Path]) -> Catalogue:
    """Merge the catalogues of one language.

    Raises:
        BrokenCatalogueError: a file is damaged.
    """
    combined = Catalogue()
    for part in map(read, paths):
        combined = Catalogue(
            part.language,
            {**combined.sentences, **part.sentences},
            {**combined.plurals, **part.plurals},
            {**combined.raised, **part.raised},
            part.plural,
        )
    return combined


def read(path: Path) -> Catalogue:
    """Read a built catalogue.

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
    """Translate a sentence, or a template, into the course's language."""
    return catalogue().sentences.get(sentence, sentence)


def translatable(sentence: str) -> str:
    """Mark a sentence for translators; it is translated later, where it is shown."""
    return sentence


def template(sentence: str) -> str:
    """Mark for translators a template that a sandbox fills in, and return it unchanged.

    The text stays English in the sandbox; `translate` translates it where it is shown.
    """
    return sentence


def plural(singular: str, many: str, count: int) -> str:
    """Translate a template that depends on a count, in the form for this count.

    The count itself is not filled in.
    """
    translations = catalogue()
    if forms := translations.plurals.get(singular):
        return forms[translations.form(count)]
    return singular if count == 1 else many


def translate(text: str) -> str:
    """Translate an English text that comes from a sandbox or a reference.

    Texts that fill the fields of a template are translated as well.
    """
    translations = catalogue()
    if len(text) > _LONGEST or not (translations.raised or translations.sentences):
        return text
    if text in translations.sentences:
        return translations.sentences[text]
    if len(parts := JOINED.split(text)) > 1:
        parts[::2] = map(translate, parts[::2])  # separators are in between
        return "".join(parts)
    for pattern, translation in translations.patterns:
        if match := pattern.fullmatch(text):
            fields = {n: translate(v) for n, v in match.groupdict().items()}
            return translation.format(**fields)
    return text


def _pattern(sentence: str) -> re.Pattern[str]:
    """Compile a pattern that matches a template with any text in its fields."""
    parts = re.split(r"\{(\w+)\}", sentence)
    parts[::2] = map(re.escape, parts[::2])  # names of fields are in between
    parts[1::2] = [f"(?P<{name}>.+?)" for name in parts[1::2]]
    return re.compile("".join(parts))
