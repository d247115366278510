"""Update the files for translators to the current sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import normalize

from autograder.authoring import extraction
from autograder.authoring.extraction import Message
from autograder.authoring.translations import RAISED, forms, path_of, read
from autograder.course import ROOT, Unit, units
from autograder.course.files import write

_HEAD = """\
# Translations into "{language}" of what students read. Fill in each msgstr; keep what
# is in braces and in backticks. Left empty, a sentence stays English.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Language: {language}\\n"
"Plural-Forms: {plural}\\n"
"""


@dataclass(frozen=True)
class Updated:
    """An updated translation file; ``missing`` counts its untranslated sentences."""

    path: Path
    sentences: int
    missing: int


def update(language: str, unit: Unit | None = None) -> Updated:
    """Update the file of a unit, or of the engine, to its current sentences.

    Translations are kept, and those of new sentences are taken from other files, if
    possible.

    Raises:
        CourseError: a file or the language is invalid; the file is not changed.
    """
    path, messages = path_of(language, unit), extraction.of_engine()
    if unit:
        shared = {message.text for message in messages}
        unit_messages = extraction.of_unit(unit, messages)
        messages = [message for message in unit_messages if message.text not in shared]
    translations: dict[tuple[str, str], Sequence[str]] = {}
    # The file itself comes last: its entries win, even if they are empty.
    for po_path in (*(path_of(language, u) for u in (*units(ROOT), None)), path):
        for entry in read(po_path, language):
            if any(forms(entry.string)) or po_path is path:
                key = forms(entry.id)[0], entry.context or ""
                translations[key] = forms(entry.string)
    plural = Catalog(locale=language).plural_forms
    text = _HEAD.format(language=language, plural=plural)
    missing = 0
    for message in messages:
        key = message.text, RAISED if message.raised else ""
        translation = translations.get(key, ("",))
        missing += not any(translation)
        text += f"\n{_entry(message, translation)}"
    write(path, text)
    return Updated(path, len(messages), missing)


def _entry(message: Message, translation: Sequence[str]) -> str:
    """A sentence and its translation in the format of a .po file."""
    lines = [f"#: {message.location}"]
    lines += [f'msgctxt "{RAISED}"'] if message.raised else []
    lines += [f"msgid {normalize(message.text, width=88)}"]
    if message.many:
        lines += [f"msgid_plural {normalize(message.many, width=88)}"]
        lines += [
            f"msgstr[{i}] {normalize(t, width=88)}" for i, t in enumerate(translation)
        ]
    else:
        lines += [f"msgstr {normalize(translation[0], width=88)}"]
    return "".join(f"{line}\n" for line in lines)
