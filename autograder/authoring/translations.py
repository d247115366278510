"""Translations: one ``.po`` file per language for the engine, and one for each unit.

Translators fill in ``autograder/translations/de.po``, and ``UNIT/translations/de.po``
in the course's package; the build compiles them for the checks (checks/language.py).
An entry without a translation, or a sentence without an entry, stays English.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Formatter

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.pofile import PoFileError, read_po

from autograder.checks.language import FIELD, FOLDER, Catalogue
from autograder.course import ROOT, Unit, units
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.course.language import ENGLISH, WORDINGS, language, wording
from autograder.course.printable import format_count, printable
from autograder.root import ENGINE, REFERENCES

RAISED = "raised"  # the context of a template that a sandbox fills in
_NAME = re.compile(r"\w+")
_LAYOUT = re.compile(r",|,?(\.\d)?[defgn%]")  # of a number


def path_of(language: str, unit: Unit | None = None) -> Path:
    """The file of translations to a language, for a unit or for the engine."""
    room = unit.folder if unit else ENGINE
    return room / "translations" / f"{language}.po"


def read(path: Path, language: str) -> Catalog:
    """Read a file of translations; the catalogue is empty if the file does not exist.

    Raises:
        CourseError: the file, one of its translations or the language is invalid.
    """
    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        raise CourseError(
            f'there is no language "{language}"; write its code, like "de" or "fr"'
        ) from None
    if not path.is_file():
        return Catalog(locale=language)
    try:
        with path.open("rb") as file:
            catalog = read_po(file, locale=language, abort_invalid=True)
    except PoFileError as error:
        raise CourseError(f"{path}:{error.lineno}: {error.args[0]}") from None
    except (OSError, ValueError, LookupError) as error:
        raise CourseError(f"{path} cannot be read as UTF-8 text: {error}") from None
    for entry in catalog:
        if entry.id:
            _refuse_foreign(path, entry)
    return catalog


def _refuse_foreign(path: Path, entry: Entry) -> None:
    """Refuse a translation unless it has the fields of its sentence, in any order.

    A field may hold only a name and the format of a number. Anything else could
    read data of the process that shows the translation, or use up its memory.
    """
    english = [set(_fields(text)) for text in forms(entry.id)]
    allowed, needed = set.union(*english), set.intersection(*english)
    for text in filter(None, forms(entry.string)):
        has = set(_fields(text))
        if odd := sorted(has - allowed) or sorted(needed - has):
            verb = "has" if odd[0] in has else "lacks"
            raise CourseError(
                f'{path}:{entry.lineno}: the translation of "{forms(entry.id)[0]}" '
                f"{verb} {{{odd[0]}}}"
            )
        # Without fields, a text is shown as it is, and may contain braces.
        is_valid = _can_be_filled if allowed else _has_its_braces
        if not is_valid(text, entry):
            raise CourseError(
                f'{path}:{entry.lineno}: the translation of "{forms(entry.id)[0]}" '
                f'cannot be filled in: "{printable(text)}"; write a field as its name, '
                "like {name}, or with a number's format, like {name:.3g}"
            )


def _can_be_filled(text: str, entry: Entry) -> bool:
    """Whether `str.format` accepts a text, with the names of the sentence's fields."""
    fields = [match for form in forms(entry.id) for match in FIELD.findall(form)]
    names = {_NAME.search(field)[0] for field in fields}  # type: ignore[index]
    numbers = {field[1:].partition(":")[0] for field in fields if ":" in field}
    try:
        for _, name, layout, conversion in Formatter().parse(text):
            if name is not None and (name not in names or conversion):
                return False
            if layout and not (name in numbers and _LAYOUT.fullmatch(layout)):
                return False
    except ValueError:
        return False
    # Formats differ in the values that they accept: one value must do.
    for value in (1, 1.0, "1"):
        try:
            text.format(**dict.fromkeys(names, value))
            return True
        except (LookupError, ValueError, TypeError):
            continue
    return False


def _has_its_braces(text: str, entry: Entry) -> bool:
    """Whether all text in braces in a translation is also in its English sentence."""
    english = "".join(forms(entry.id))
    return all(code in english for code in re.findall(r"\{[^{}]*\}", text))


def forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return a sentence's singular and plural forms, or its only form, as a tuple."""
    return (text or "",) if isinstance(text, str | None) else tuple(text)


def _fields(text: str) -> Iterator[str]:
    """The names of a template's fields."""
    for field in FIELD.findall(text):
        if match := _NAME.search(field):
            yield match[0]


def compile_catalogue(entries: Iterable[Entry], language: str) -> Catalogue:
    """Compile the translated entries to the catalogue that checks load."""
    plain, plurals, raised = dict[str, str](), dict[str, list[str]](), dict[str, str]()
    for entry in entries:
        translations = forms(entry.string)
        if not entry.id or not all(translations) or entry.fuzzy:
            continue
        if not isinstance(entry.id, str):
            plurals[forms(entry.id)[0]] = list(translations)
        elif entry.context == RAISED:
            raised[entry.id] = translations[0]
        else:
            plain[entry.id] = translations[0]
    plural = Catalog(locale=language).plural_expr
    return Catalogue(language, plain, plurals, raised, plural)


def make_files(root: Path = ROOT) -> dict[Path, str]:
    """Make the translations that checks load, as files by path; none for English."""
    if (chosen := language(root)) == ENGLISH:
        return {}
    from autograder.authoring import extraction  # here: a course in English needs none

    entries = list(read(path_of(chosen), chosen))
    catalogues = {("public", "engine"): compile_catalogue(entries, chosen)}
    engine = extraction.of_engine()
    for unit in units(root):
        entries = list(read(path_of(chosen, unit), chosen))
        messages = extraction.of_unit(unit, engine, ["public"])
        shipped = {message.text for message in messages}
        # What only hidden references say must not reach students.
        parts = dict[str, list[Entry]](public=[], hidden=[])
        for entry in entries:
            is_shipped = forms(entry.id)[0] in shipped
            parts["public" if is_shipped else "hidden"].append(entry)
        for visibility, part in parts.items():
            catalogues[visibility, unit.name] = compile_catalogue(part, chosen)
    return {
        REFERENCES / kind / FOLDER / f"{name}.json": json.dumps(
            asdict(catalogue), indent=1, ensure_ascii=False
        )
        + "\n"
        for (kind, name), catalogue in catalogues.items()
    }


def refuse_broken(unit: Unit) -> None:
    """Raise a CourseError if a unit's translations or the engine's are damaged."""
    if (chosen := language(unit.root)) != ENGLISH:
        for path in (path_of(chosen), path_of(chosen, unit)):
            read(path, chosen)


def coverage(unit: Unit) -> str:
    """Say how much of a unit's checks is in the course's language; "" in English."""
    chosen = language(unit.root)
    if chosen == ENGLISH:
        return ""
    paths = (path_of(chosen), path_of(chosen, unit))
    entries = [entry for path in paths for entry in read(path, chosen) if entry.id]
    translated = sum(all(forms(entry.string)) for entry in entries)
    missing = len(entries) - translated
    english = [format_count(missing, "sentence")] * (missing > 0)
    if not paths[1].is_file():
        english.append(f"all that only this unit's checks say (no {paths[1].name})")
    text = unit.text.read_text(encoding="utf-8")
    if wording(text, unit.root) is WORDINGS[ENGLISH]:
        english.append("the notebook")
    stays = f"; English: {', '.join(english)}" if english else ""
    sentences = format_count(translated, "sentence")
    return f'checks in "{chosen}": {sentences}{stays}'


def install(root: Path = ROOT) -> list[Path]:
    """Write the translated messages that checks load; return the changed paths.

    In a course in English, old translations are deleted instead.
    """
    files = make_files(root)
    for folder in REFERENCES.glob(f"*/{FOLDER}"):
        if not files:
            shutil.rmtree(folder)
    return [path for path, text in files.items() if write(path, text)]
