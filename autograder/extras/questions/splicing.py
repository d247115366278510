"""Write a changed line with as much of the student's own spelling as possible."""

from __future__ import annotations

import ast
import functools
import re


def spliced(
    source: str, statement: ast.stmt, old: ast.AST, new: ast.AST, replacement: ast.AST
) -> str:
    """Write a changed statement in one line, mostly in the student's spelling.

    ``ast.unparse`` alone would change quotes, numbers and parentheses.

    Args:
        source: the code that the statement is in.
        statement, replacement: the whole statement before and after the change.
        old, new: the changed part of the statement, before and after.
    """
    plain = _numbers_kept(source, in_a_line(replacement))
    end = getattr(old, "end_lineno", None)
    if end is None or not isinstance(new, ast.expr | ast.Slice):
        return plain
    lines = source.encode().split(b"\n")
    before = _between(lines, _start(statement), _start(old))
    after = _between(lines, _end(old), _end(statement))
    part, meaning = _numbers_kept(source, _part(source, old, new)), _read(plain)
    candidates = [(before, middle, after) for middle in _spellings(part)]
    if before[-1:] == "(" and after[:1] == ")":  # possibly superfluous now
        candidates.insert(0, (before[:-1], part, after[1:]))
    for text in (_join_lines("".join(parts)) for parts in candidates):
        if meaning and _read(text) == meaning:
            return text
    return plain


def _spellings(part: str) -> tuple[str, str, str]:
    """Spell a part of a line in three ways: in double quotes, as is, in parentheses."""
    return part.replace("'", '"'), part, f"({part})"


def line_of(
    source: str, statement: ast.stmt, old: ast.AST, new: ast.AST, replacement: ast.AST
) -> str:
    """Write the one line that a change affects in a statement of several lines.

    The arguments are those of `spliced`.

    Returns:
        The line, without indentation; "" if one line cannot show the change.
    """
    first, last = getattr(old, "lineno", 0), getattr(old, "end_lineno", 0)
    if first != last or old is statement or not isinstance(new, ast.expr | ast.Slice):
        return ""
    lines, number = source.encode().split(b"\n"), last - 1
    start, end = _start(old)[1], _end(old)[1]
    part = _numbers_kept(source, _part(source, old, new))
    meaning = _read(in_a_line(replacement))
    for middle in _spellings(part):
        line = lines[number][:start] + middle.encode() + lines[number][end:]
        line = line.split(b"  #")[0]  # at a comment, or the meaning differs below
        new_lines = [*lines[:number], line, *lines[number + 1 :]]
        end_of_statement = (statement.end_lineno or 0, 10**6)
        text = _between(new_lines, _start(statement), end_of_statement)
        if meaning and _read(text) == meaning:
            return line.decode().strip()
    return ""


def _join_lines(text: str) -> str:
    """Join a text to one line, without the spaces of line breaks inside brackets."""
    text = " ".join(text.split())
    return re.sub(r",? (?=[)\]}])", "", re.sub(r"(?<=[(\[{]) ", "", text))


def _numbers_kept(source: str, text: str) -> str:
    """Write the numbers in a text as the source does: 1e-6, not 1e-06."""
    for usual, spelling in _own_numbers(source):
        text = re.sub(rf"(?<![\w.]){re.escape(usual)}(?![\w.])", spelling, text)
    return text


@functools.lru_cache(maxsize=8)
def _own_numbers(source: str) -> tuple[tuple[str, str], ...]:
    """Pair Python's spelling of numbers with the source's: ("1e-06", "1e-6")."""
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)]
    numbers = [node for node in nodes if type(node.value) in (int, float)]
    pairs = [(repr(n.value), ast.get_source_segment(source, n)) for n in numbers]
    return tuple(
        (usual, spelling) for usual, spelling in pairs if spelling and spelling != usual
    )


def in_a_line(node: ast.AST) -> str:
    """Unparse a statement to one line; ``return a, b`` gets no parentheses."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        return f"return {', '.join(map(ast.unparse, node.value.elts))}"
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())


def _part(source: str, old: ast.AST, new: ast.AST) -> str:
    """Write the new node as code, spelt as in the source if the old node has it."""
    is_part = any(node is new for node in ast.walk(old))
    return (ast.get_source_segment(source, new) if is_part else "") or ast.unparse(new)


def _read(text: str) -> str:
    """Return a dump of the syntax tree of some code; "" if the code is invalid.

    Two pieces of code mean the same if their dumps are equal.
    """
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return ""


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _between(lines: list[bytes], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text between two positions, given by line (from 1) and column in bytes."""
    (first, first_column), (last, last_column) = start, end
    if first == last:
        return lines[first - 1][first_column:last_column].decode()
    inner = [
        lines[first - 1][first_column:],
        *lines[first : last - 1],
        lines[last - 1][:last_column],
    ]
    return b"\n".join(inner).decode()
