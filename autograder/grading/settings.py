"""Convert the settings of ``nbgrader_config.py`` for other processes, as JSON.

Misspelt names of settings are also found here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from traitlets.config import Config, Configurable
from traitlets.config.loader import DeferredConfigList, DeferredConfigString
from traitlets.utils.importstring import import_item

from autograder.course.errors import CourseError

Preprocessor = type | str  # a class, or the name that it is found by
Stages = tuple[type, ...]  # preprocessors, run one after the other
Resources = dict[str, Any]  # what nbgrader passes to them besides the notebook
Processed = tuple[NotebookNode, Resources]  # the return value of a preprocessor

_ALIKE = 0.85  # names with one letter too many, too few, or wrong

# Marks values of the command line, which are text until a trait converts them.
_FLAG = "given on the command line"


def load_class(kind: object) -> type:
    """Return the class that a setting gives, either as a class or by its dotted name.

    Raises:
        CourseError: it is neither of them, or the class cannot be imported.
    """
    if isinstance(kind, type):
        return kind
    if not isinstance(kind, str):
        raise CourseError(
            f"a setting names {kind!r}, which is not a preprocessor's class"
        )
    try:
        class_: type = import_item(kind)
    except ImportError as error:
        raise CourseError(
            f"a setting names {kind}, which is unknown: {error}"
        ) from None
    return class_


def find_misspelt(config: Config) -> Iterator[str]:
    """Yield a message for each section whose name is probably a misspelt class name.

    traitlets ignores such sections: they could belong to a class that is not imported.
    """
    class_names = {kind.__name__ for kind in _below(Configurable)}
    for name in sorted(set(config) - class_names):
        if matches := difflib.get_close_matches(name, class_names, 1, _ALIKE):
            yield f"nothing here heeds c.{name}; did you mean c.{matches[0]}?"


def _below(kind: type[Configurable]) -> Iterator[type[Configurable]]:
    """Yield a class and all of its subclasses."""
    yield kind
    for subclass in kind.__subclasses__():
        yield from _below(subclass)


def as_plain(preprocessors: Sequence[Preprocessor], config: Config) -> dict[str, Any]:
    """Convert a configuration to plain JSON values, section by section.

    Raises:
        CourseError: a section of these preprocessors cannot be converted.
    """
    wanted = {
        base.__name__ for kind in preprocessors for base in load_class(kind).__mro__
    }
    plain = {}
    for name, section in config.items():
        try:
            plain[name] = _plain(section)
        except (TypeError, ValueError, CourseError) as error:
            # Other sections are not needed to grade, and are left out.
            if name in wanted:
                raise CourseError(
                    f"a setting of c.{name} cannot be sent to another process "
                    f"({error}): write it as a plain value, or grade with "
                    "c.Autograde.jobs = 1"
                ) from None
    return plain


def _plain(value: object) -> object:
    """Convert a value of a setting to JSON values, for `from_plain`.

    Raises:
        TypeError, CourseError: this is not possible.
    """
    if isinstance(value, DeferredConfigString):
        return {_FLAG: str(value)}
    if isinstance(value, DeferredConfigList):
        return {_FLAG: [str(item) for item in value]}
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, type):
        return class_name(value)
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is not plain")


def from_plain(plain: object) -> object:
    """Turn the plain values of `as_plain` into the configuration again."""
    if not isinstance(plain, dict):
        return plain
    if _FLAG in plain:
        setting = plain[_FLAG]
        deferred = (
            DeferredConfigString if isinstance(setting, str) else DeferredConfigList
        )
        return deferred(setting)
    return {name: from_plain(item) for name, item in plain.items()}


def class_name(kind: Preprocessor) -> str:
    """Return the dotted name by which `load_class` finds a class in other processes.

    Raises:
        CourseError: other processes cannot import the class.
    """
    if isinstance(kind, str):
        return kind
    if kind.__module__ == "__main__" or "." in kind.__qualname__:
        raise CourseError(
            f"the class {kind.__qualname__} cannot be imported by other processes: put "
            "it into a module, or grade with c.Autograde.jobs = 1"
        )
    return f"{kind.__module__}.{kind.__name__}"
