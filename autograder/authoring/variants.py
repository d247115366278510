"""Build solutions and their variants, as source text and as objects."""

from __future__ import annotations

import functools
import importlib
import inspect
import linecache
import re
import textwrap
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any

from autograder.authoring.confined import ConfinedProgram
from autograder.authoring.specification import Edit, Specification, Variant
from autograder.course.errors import CourseError
from autograder.root import PACKAGE


def solution_source(specification: Specification) -> str:
    """The source text of an exercise's reference solution, as in its cell."""
    module = importlib.import_module(f"{PACKAGE}.solutions.{specification.unit}")
    names = (*specification.helpers, *specification.targets)
    parts = (_source_of(getattr(module, name)) for name in names)
    return "\n\n".join(parts)


@functools.cache
def _source_of(solution: Any) -> str:
    """Return the source text of a function or class, cached by object."""
    return inspect.getsource(solution)


def build_object(
    specification: Specification, variant: Variant | None = None
) -> object:
    """Build the reference object of an exercise, or a variant of it.

    A program that a student wrote is not run here: the result only holds its code,
    which `observe_answer` runs in a sandbox.
    """
    names = namespace(specification)
    if variant is None:
        return specification.reference or specification.answer_in(names)
    code = variant_source(specification, variant)
    if variant.confined:
        return ConfinedProgram(specification, code)
    return specification.answer_in(run_source(code, names, f"<{variant.name}>"))


def namespace(specification: Specification) -> dict[str, Any]:
    """A copy of the namespace that the solutions of an exercise's unit use."""
    module = importlib.import_module(f"{PACKAGE}.solutions.{specification.unit}")
    return dict(vars(module))


def variant_source(specification: Specification, variant: Variant) -> str:
    """Return a variant's source text: its own, or the solution's with its edits."""
    source = f"{clean(variant.source)}\n"
    try:
        if not variant.source:
            source = solution_source(specification)
            for edit in variant.edits:
                source = apply_edit(source, edit)
        # Only to find a syntax error, and to report it with the name.
        _compiled(source, f"<{variant.name}>")
    except CourseError as error:
        message = f"{specification.name}, variant {variant.name}: {error}"
        raise CourseError(message) from None
    except SyntaxError as error:
        location = f"{specification.name}, variant {variant.name}, line {error.lineno}"
        raise CourseError(f"{location}: {error.msg}") from None
    return source


def stands_alone(specification: Specification, variant: Variant) -> bool:
    """Return whether a variant is known to work with only what students have."""
    if variant.confined:
        return False
    code, names = variant_source(specification, variant), namespace(specification)
    # Code that needs the solution when it is executed now fails.
    for name in specification.targets:
        names.pop(name)
    try:
        specification.answer_in(run_source(code, names, f"<{variant.name}, alone>"))
    except (NameError, KeyError):  # it uses the solution, or does not define a target
        return False
    # Students do not have these modules.
    return not re.search(rf"{PACKAGE}\.\w+\.exercises", code)


def apply_edit(source: str, edit: Edit) -> str:
    """Apply one edit to the source.

    Raises:
        CourseError: the edit's old text does not occur exactly once.
    """
    occurrences = list(_places(source, clean(edit.old), clean(edit.new)))
    if len(occurrences) != 1:
        raise CourseError(
            f"{edit.old!r} occurs {len(occurrences)} times in the solution, not once"
        )
    start, old, new = occurrences[0]
    return source[:start] + new + source[start + len(old) :]


def clean(text: str) -> str:
    """Strip the common indentation and outer line breaks from code of several lines."""
    return textwrap.dedent(text).strip("\n") if "\n" in text else text


def _places(source: str, old: str, new: str) -> Iterator[tuple[int, str, str]]:
    """Yield the start of each occurrence of ``old``, and both texts indented to fit."""
    if "\n" not in old + new:
        for match in re.finditer(re.escape(old), source):
            yield match.start(), old, new
        return
    first = old.split("\n")[0]
    for match in re.finditer(re.escape(first.lstrip()), source):
        line = source[source.rfind("\n", 0, match.start()) + 1 :]
        margin = " " * (_depth(line) - _depth(first))
        indented = textwrap.indent(old, margin).lstrip()
        if source.startswith(indented, match.start()):
            yield match.start(), indented, textwrap.indent(new, margin).lstrip()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def run_source(source: str, namespace: dict[str, Any], filename: str) -> dict[str, Any]:
    """Execute code in a namespace, and return that namespace.

    The code is registered under ``filename``, so that tracebacks can show its lines.
    """
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(_compiled(source, filename), namespace)
    return namespace


@functools.cache  # the variants of a mutant are built anew for each drawing
def _compiled(source: str, filename: str) -> CodeType:
    """Compile code, without its syntax warnings."""
    with warnings.catch_warnings():  # in code that is wrong on purpose
        warnings.simplefilter("ignore", SyntaxWarning)
        # Like a cell of a notebook, without the future imports of this module.
        return compile(source, filename, "exec", dont_inherit=True)


def argument_names(specification: Specification) -> dict[str, tuple[str, ...]]:
    """Map each function and method, like "Head.forward", to its arguments' names.

    A check compares a student's names with these. ``self`` is included; private
    methods are left out.
    """
    names = namespace(specification)
    functions: dict[str, Any] = {}
    for target in specification.targets:
        value = names[target]
        members = vars(value).items() if inspect.isclass(value) else [("", value)]
        for name, function in members:
            is_called = name == "__init__" or not name.startswith("_")
            if inspect.isfunction(function) and is_called:
                functions[f"{target}.{name}".rstrip(".")] = function
    return {
        path: tuple(inspect.signature(function).parameters)
        for path, function in functions.items()
    }
