"""Select the part of an answer that a sheet shows, with lines numbered from 1."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from collections.abc import Collection
from dataclasses import dataclass, field

_LONGEST = 6_000  # characters of an answer; longer ones are not used
_MOST_LINES = 36  # lines of code on a sheet
_WHOLE_CLASS = 26  # lines of a class up to which all its methods are shown
_WIDEST = 130  # characters in a line


class NotListedError(Exception):
    """An answer cannot be shown and asked about; the message says why."""


@dataclass(frozen=True)
class CodeListing:
    """The code that is shown, and the numbers of its lines.

    Attributes:
        source: the whole answer, as it was handed in.
        target: the name of the function or class that the exercise asks for.
        method: the method of a class that is asked about; "" for a function.
        text: the code that is shown, without docstrings, comments and empty lines.
        numbers: maps lines of the source to the numbers shown.
    """

    source: str
    target: str
    method: str
    text: str
    numbers: dict[int, int] = field(repr=False)

    def function_in(self, tree: ast.Module) -> ast.FunctionDef:
        """Find the function that is asked about in a syntax tree of the source."""
        return _function(tree, self.target)[1]

    def last_shown(self, statement: ast.stmt) -> int:
        """The shown number of a statement's last line."""
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        return max(self.numbers[line] for line in lines if line in self.numbers)


def listing(source: str, target: str) -> CodeListing:
    """Select the part of an answer to show.

    Raises:
        NotListedError: it is not a plain function or class, or too long for a sheet.
    """
    if len(source) > _LONGEST:
        raise NotListedError("it is too long for a sheet")
    try:
        tree = ast.parse(source)
        code = _code(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        raise NotListedError("it cannot be read as plain Python") from None
    definition, function = _function(tree, target)
    _refuse(function)
    # A short class is shown as a whole, and of a longer one only the method.
    for part, most in ((definition, _WHOLE_CLASS), (function, _MOST_LINES)):
        lines = _list_lines(part, code)
        if len(lines) <= most:
            break
    else:
        raise NotListedError(f"it has more than {_MOST_LINES} lines")
    text = textwrap.dedent("\n".join(code[n] for n in lines))
    if max(map(len, text.splitlines())) > _WIDEST:
        raise NotListedError(f"it has lines of more than {_WIDEST} characters")
    method = "" if definition is function else function.name
    numbers = {line: number for number, line in enumerate(lines, 1)}
    return CodeListing(source, target, method, text, numbers)


def _function(tree: ast.Module, target: str) -> tuple[ast.stmt, ast.FunctionDef]:
    """Find the target's definition, and in it the function to ask about.

    Of a class, that is ``forward``, ``step``, ``__call__`` or else a public method.

    Raises:
        NotListedError: there is no definition, or no method to ask about.
    """
    definitions = [
        node for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == target
    ]  # fmt: skip
    if not definitions:
        raise NotListedError("it is not written as a function or class of its own")
    definition = definitions[-1]
    if isinstance(definition, ast.FunctionDef):
        return definition, definition
    methods = {n.name: n for n in definition.body if isinstance(n, ast.FunctionDef)}
    usual = [name for name in ("forward", "step", "__call__") if name in methods]
    public = [name for name in methods if not name.startswith("_")]
    if not usual and not public:
        raise NotListedError("its class has no method of its own")
    return definition, methods[(usual or public)[0]]


def _refuse(function: ast.FunctionDef) -> None:
    """Refuse a function of which a student cannot follow a call line by line.

    Raises:
        NotListedError: it is a generator, runs code from a text, or is parallel.
    """
    nodes = list(ast.walk(function))
    if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in nodes):
        raise NotListedError("it is a generator, which runs after it was called")
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    if names & {"exec", "eval", "compile"}:
        raise NotListedError("it runs code out of a text")
    words = names | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    if words & _STARTING:
        raise NotListedError("it starts threads or processes")


_STARTING = {"Thread", "ThreadPoolExecutor", "ProcessPoolExecutor", "Process", "fork"}


def _code(source: str) -> dict[int, str]:
    """The code's lines by number, without comments and empty lines."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {t.start[0]: t.start[1] for t in tokens if t.type == tokenize.COMMENT}
    numbered = enumerate(source.splitlines(), 1)
    lines = {n: line[: comments.get(n)].rstrip() for n, line in numbered}
    return {n: line for n, line in lines.items() if line}


def _list_lines(part: ast.stmt, code: Collection[int]) -> list[int]:
    """List the lines of a definition that contain code, without docstrings."""
    hidden: set[int] = set()
    for node in ast.walk(part):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            doc = node.body[0]
            hidden.update(range(doc.lineno, (doc.end_lineno or doc.lineno) + 1))
    numbers = range(part.lineno, (part.end_lineno or part.lineno) + 1)
    return [n for n in numbers if n in code and n not in hidden]
