"""Extract the sentences of the engine and of a unit, for translators.

They are found in code, as arguments of certain functions and as texts in
probes, and in a unit's references.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.checks import references
from autograder.checks.exercise import RAISED, Exercise
from autograder.checks.language import FIELD, JOINED, Catalogue
from autograder.checks.naming import PATTERN
from autograder.course import Unit
from autograder.root import ENGINE

# Functions and classes that mark sentences, with the indices of these arguments.
MARKS = {
    "_": (0,),
    "translatable": (0,),
    "plural": (0, 1),
    "template": (0,),
    "Crash": (1, 2),
}
DECLARING = ("probe", "_DefaultProbe")  # calls that only declare names of answers
_WORDS = re.compile(r"[A-Za-z]{2}.* |^[A-Za-z] [A-Za-z{]| [A-Za-z]{2}")
_WORD = re.compile(r"[a-z]{2,}")
_PARAMETERS = re.compile(r"([\w.]+ \([\d, ]*\)(, |$))+")  # names and shapes


@dataclass(frozen=True)
class Message:
    """A sentence to translate; ``many`` is its plural, if it has one.

    A ``raised`` message is a template, such as "{count} rows", whose fields are filled
    in before it is translated.
    """

    text: str
    many: str = ""
    raised: bool = False
    location: str = ""


def of_engine() -> list[Message]:
    """The sentences of checks and of grading in the order of their files, each once."""
    rooms = (ENGINE / room for room in ("checks", "grading"))
    files = [file for room in rooms for file in sorted(room.rglob("*.py"))]
    return _drop_duplicates(m for file in files for m in of_file(file, ENGINE))


def of_unit(
    unit: Unit,
    engine: Sequence[Message],
    visibilities: Iterable[str] = ("public", "hidden"),
) -> list[Message]:
    """List the sentences of a unit's probes and references, each once.

    Args:
        engine: the messages of `of_engine`; answers that they cover are left out.
        visibilities: the reference files to read: "public", "hidden" or both.
    """
    messages = probes(unit)
    known_messages = [*engine, *messages]
    for visibility in visibilities:
        if unit.name in references.units(visibility):
            for exercise in references.load(unit.name, visibility).values():
                messages += of_exercise(exercise, known_messages)
    return _drop_duplicates(messages)


def probes(unit: Unit) -> list[Message]:
    """The sentences that a unit's probes report."""
    files = sorted((unit.folder / "probes").rglob("*.py"))
    return _drop_duplicates(m for file in files for m in of_file(file, unit.package))


def of_exercise(
    exercise: Exercise, known_messages: Iterable[Message]
) -> Iterator[Message]:
    """Yield the sentences in an exercise's references.

    Args:
        known_messages: messages found in code, which answers need not repeat.
    """
    texts = [exercise.title]
    for mistake in exercise.mistakes.values():
        texts += [mistake.says, mistake.asks]
    for case in exercise.cases:
        texts += [case.title, case.hint, case.says, case.asks]
    yield from (Message(text, location=exercise.name) for text in texts if text)
    # It translates nothing, but recognises messages that are found in code.
    resolver = Catalogue(
        sentences={m.text: "" for m in known_messages if not m.raised},
        raised={m.text: m.text for m in known_messages if m.raised},
    )
    for case in exercise.cases:
        for answers in (case.expected, *case.mistakes.values()):
            for name, value in answers.items():
                if name in (RAISED, PATTERN):
                    continue
                for text in (name, value if isinstance(value, str) else ""):
                    for leaf in _leaves(text, resolver):
                        yield Message(leaf, location=exercise.name)


def _leaves(text: str, catalogue: Catalogue) -> Iterator[str]:
    """Yield the parts of an answer's name or text that still need a translation."""
    # Every second item of the split text is a separator.
    for part in JOINED.split(text)[::2]:
        if part in catalogue.sentences or _is_list(part) or _PARAMETERS.fullmatch(part):
            continue
        # Numbers and symbols alone are not translated.
        if not (_WORDS.search(part) or _WORD.fullmatch(part)):
            continue
        # Of a known template, only what fills its fields may be missing.
        for pattern, _ in catalogue.patterns:
            if match := pattern.fullmatch(part):
                for inner in match.groupdict().values():
                    yield from _leaves(inner, catalogue)
                break
        else:
            yield part


def _is_list(text: str) -> bool:
    """Whether a text is a JSON list or object, which is not translated."""
    try:
        return isinstance(json.loads(text), list | dict)
    except ValueError:
        return False


def of_file(path: Path, package: Path) -> Iterator[Message]:
    """Yield the sentences in a module that need a translation.

    Args:
        package: the engine's or the course's folder, in which the module is.
    """
    tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(package)
    location = place.as_posix()
    # In these folders, texts reach students without a mark such as `_`.
    if {"probes", "properties"} & set(place.parts):
        yield from _find_reported(tree, location)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            places = MARKS.get(node.func.id, ())
            texts = [_text(node.args[i]) for i in places if i < len(node.args)]
            if node.func.id == "plural":
                yield Message(texts[0], texts[1], location=location)
            else:
                raised = node.func.id == "template"
                yield from (
                    Message(t, raised=raised, location=location) for t in texts if t
                )
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "WrongAnswerError":
            yield from _find_sentences(node.args[0], location)


def _find_reported(tree: ast.Module, location: str) -> Iterator[Message]:
    """Yield the texts of several words in a module, except docstrings and names."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DECLARING:
            skipped |= {id(inner) for inner in ast.walk(node)}
        # An f-string is one template: its parts are not sentences of their own.
        if isinstance(node, ast.JoinedStr) and id(node) not in skipped:
            skipped |= {id(inner) for inner in ast.walk(node)} - {id(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in skipped:
            yield from _find_sentences(node, location)


def _find_sentences(node: ast.expr, location: str) -> Iterator[Message]:
    """Find the sentences, or templates of sentences, in a text or an f-string."""
    for text in JOINED.split(_text(node))[::2]:
        text = text.strip()
        if _WORDS.search(FIELD.sub("", text)) and "\n" not in text:
            yield Message(text, raised=bool(FIELD.search(text)), location=location)


def _text(node: ast.expr) -> str:
    """A string, or an f-string as a template like "{count} rows"; else ""."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts, names = [], list[str]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            name = part.value.id if isinstance(part.value, ast.Name) else "value"
            names.append(name)
            # The fields of a template need different names.
            count = names.count(name)
            parts.append(f"{{{name}{count if count > 1 else ''}}}")
    return "".join(parts)


def _drop_duplicates(messages: Iterable[Message]) -> list[Message]:
    unique: dict[tuple[str, bool], Message] = {}
    for message in messages:
        unique.setdefault((message.text, message.raised), message)
    return list(unique.values())
