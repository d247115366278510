"""Digests of all that the references of an exercise depend on.

A build redraws only those exercises whose digest has changed. A digest covers
the engine's modules that draw and score, and the course's statements that the
exercise can reach through the names it mentions.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path

from autograder.authoring.trees import bound_names, list_documented
from autograder.course import Unit
from autograder.root import CONTENT, ENGINE, PACKAGE, ROOT

# Modules of the engine that compute, compare, score and store answers; the digest also
# covers what they import.
_ROOTS = ("cases", "catalogue", "references", "verify")
# What these import for messages, notebooks and isolation: no answer depends on it.
_AROUND = {"sandbox", "diagnostics", "panel", "colab"}
# Names that the engine looks up in modules of the course.
_LOOKED_UP = {"EXERCISE", "MEASURE"}
_BASES = {"autograder": ENGINE, PACKAGE: CONTENT}
_MENTIONED = re.compile(rf"\b(?:{'|'.join(_BASES)})(?:\.\w+)+")
_IMPORTED = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+(?:\(([^)]*)\)|(.*))")
_WORD = re.compile(r"[^\W\d]\w*")
# Folders and files on which no answer depends.
_LEFT_OUT = {"references", "translations", "unit.toml"}


@dataclass(frozen=True)
class _Statement:
    """A statement of a module: the names that it binds, and what it mentions.

    The ``messages`` of its mistakes are left out of its text.
    """

    path: Path
    digest: str
    text: str
    messages: str
    names: frozenset[str]
    words: frozenset[str]
    files: frozenset[Path]  # modules and data


class Fingerprints:
    """Digests of what a unit's exercises depend on, as the files are at present.

    Args:
        targets: by exercise, the names of the objects that its check receives.
    """

    def __init__(self, unit: Unit, targets: Mapping[str, str]) -> None:
        self._unit, self._targets = unit, targets
        self._solutions = unit.package / "solutions" / f"{unit.name}.py"
        self._contents: dict[Path, list[_Statement]] = {}  # of files read so far
        # Data files, on which statements depend if they name them.
        folders = (CONTENT, ROOT / "assets", ENGINE / "authoring")
        self._data = [
            path
            for folder in folders
            for path in folder.rglob("*.*")
            if path.suffix not in (".py", ".pyc") and not _LEFT_OUT & {*path.parts}
        ]

    def of_exercise(self, name: str, stub: str, seed: str) -> tuple[str, str]:
        """Digest all that an exercise's references depend on, and collect its messages.

        Returns:
            The digest; and all texts that the exercise's mistakes say and ask.
        """
        statements = self._reach(name)
        words = {word for statement in statements for word in statement.words}
        # This exercise, and those of the unit whose targets its statements mention.
        mentioned = [
            (peer, target)
            for peer, target in self._targets.items()
            if peer == name or words.intersection(target.split(", "))
        ]
        digests = sorted({statement.digest for statement in statements})
        inputs = repr((name, stub, seed, mentioned, digests))
        messages = "".join(sorted(statement.messages for statement in statements))
        return hashlib.sha256(inputs.encode()).hexdigest(), messages

    def _reach(self, name: str) -> set[_Statement]:
        """Find the statements on which the references of an exercise depend.

        The search starts from the exercise, and follows the names that statements
        mention.
        """
        folder, quoted = self._unit.folder, f'"{name}"'
        exercises = folder / "exercises"
        own_file = exercises / f"{name.partition('/')[2]}.py"
        files = {
            own_file,
            self._solutions,
            *(folder / "probes").rglob("*.py"),
            *(ENGINE / "authoring" / f"{module}.py" for module in _ROOTS),
        }
        words = _LOOKED_UP | set(self._targets[name].split(", "))
        # Probes and what they import see no solutions of their own unit.
        words_of_solutions = set(words)
        reached = set[_Statement]()
        # Each round adds names and files that the last one's statements mention.
        while new := {
            statement
            for path in files
            for statement in self._read(path)
            if statement not in reached
            and (
                # It is the exercise's own, or binds no name and may affect anything, or
                # quotes the exercise like its @probe, or binds a name that is used.
                path == own_file
                or not statement.names
                or quoted in statement.text
                or not statement.names.isdisjoint(
                    words_of_solutions if path == self._solutions else words
                )
            )
        }:
            reached |= new
            for statement in new:
                words |= statement.words
                files |= statement.files
                if (
                    statement.path == self._solutions
                    or exercises in statement.path.parents
                ):
                    words_of_solutions |= statement.words
            # Code names measures, which are imported by their names.
            measures = (CONTENT / "measures").glob("*.py")
            files |= {file for file in measures if file.stem in words}
        return reached

    def _read(self, path: Path) -> list[_Statement]:
        """A file's statements; a data file or engine module counts as one statement."""
        if path not in self._contents:
            self._contents[path] = list(self._split(path))
        return self._contents[path]

    def _split(self, path: Path) -> Iterator[_Statement]:
        """Split a module of the course into statements; other files are one each."""
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".py":
            data = _drop_explanations(data)
        if path.suffix != ".py" or path.is_relative_to(ENGINE):
            code = data.decode() if path.suffix == ".py" else ""
            files = frozenset(self._files_of(code, path))
            nothing = frozenset[str]()
            yield _Statement(path, _digest(path, data), "", "", nothing, nothing, files)
            return
        lines = data.decode().splitlines(keepends=True)
        for node in ast.parse(data).body:
            decorators = getattr(node, "decorator_list", ())
            first = min(part.lineno for part in (node, *decorators))
            code = "".join(lines[first - 1 : node.end_lineno])
            text, messages = (
                _take_out_messages(code) if "wrong(" in code else (code, "")
            )
            mentioned = map(_find_modules, _MENTIONED.findall(text))
            files = frozenset([*self._files_of(text, path), *chain(*mentioned)])
            words = frozenset(_WORD.findall(text))
            digest = _digest(path, text.encode())
            names = bound_names(node)
            yield _Statement(path, digest, text, messages, names, words, files)

    def _files_of(self, code: str, path: Path) -> Iterator[Path]:
        """The modules that code imports, and the data files on which it may depend."""
        for package, *listed in _IMPORTED.findall(code):
            for name in _WORD.findall("".join(listed)):
                yield from _find_modules(f"{_resolve(package, path)}.{name}")
        for data in self._data:
            is_beside = "__file__" in code and data.parent == path.parent
            if is_beside or data.name in code:
                yield data


def _digest(path: Path, data: bytes) -> str:
    return hashlib.sha256(f"{path.name}\n".encode() + data).hexdigest()


def _drop_explanations(code: bytes) -> bytes:
    """Leave out docstrings, and lines that are comments or blank.

    No answer depends on them, so explaining a step redraws nothing.
    """
    tree, lines = ast.parse(code), code.splitlines(keepends=True)
    in_text = {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        for number in range(node.lineno, node.end_lineno or 0)
    }
    for number, line in enumerate(lines):
        if number not in in_text and not line.partition(b"#")[0].strip():
            lines[number] = b""
    for node in list_documented(tree):
        text = node.body[0]
        first, last = text.lineno - 1, text.end_lineno or 0
        before = lines[first][: text.col_offset]
        after = lines[last - 1][text.end_col_offset or 0 :]
        lines[first:last] = [b""] * (last - first)
        if len(node.body) == 1 or (before + after).strip():
            lines[first] = before + b'""' + after  # some statement must remain
    return b"".join(lines)


def _take_out_messages(code: str) -> tuple[str, str]:
    """Remove the messages of ``wrong(name, says, asks)``; return code and messages.

    No case depends on a message, so a new wording must not redraw any.
    """
    data = code.encode()
    # Where each line begins; ast.get_source_segment would split the code each time.
    starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]

    def text_of(node: ast.expr) -> str:
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        return data[first:last].decode()

    texts = [
        text_of(message)
        for call in ast.walk(ast.parse(code))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "wrong"
        for message in call.args[1:3]
        if isinstance(message, ast.Constant)  # an expression may name other statements
    ]
    for text in texts:
        code = code.replace(text, "", 1)
    return code, "\n".join(texts)


def _resolve(package: str, path: Path) -> str:
    """Make a package's name absolute; ``.x`` is relative to the module in ``path``."""
    name = package.lstrip(".")
    if name == package:
        return package
    folder = path.parents[len(package) - len(name) - 1]
    for base, top in _BASES.items():
        if folder.is_relative_to(top):
            return ".".join([base, *folder.relative_to(top).parts, name]).rstrip(".")
    return name


def _find_modules(name: str) -> Iterator[Path]:
    """The files of a module and its parent packages, if it is in one of ``_BASES``."""
    base, *parts = name.split(".")
    if base not in _BASES or (base == "autograder" and _AROUND & {*parts}):
        return
    path = _BASES[base]
    yield path / "__init__.py"
    for part in parts:
        path /= part
        if path.is_dir():
            yield path / "__init__.py"
        elif path.with_suffix(".py").is_file():
            yield path.with_suffix(".py")
