"""Use what an earlier unit built: the reference solutions, or the student's own."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import linecache
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.checks.console import showable
from autograder.checks.language import _, translate
from autograder.checks.observe import describe_error
from autograder.root import PACKAGE

PLACES = ("{label}.ipynb", "../{label}/{label}.ipynb", "../{label}.ipynb")


def earlier(label: str, mine: bool = False) -> ModuleType:
    """Return the functions and classes of an earlier unit, as a module.

    Args:
        label: the unit's notebook, like "02_attention".
        mine: whether to take the answers of the student's own notebook, if it is
            found; what it lacks comes from the reference.
    """
    unit = label.split("_", 1)[1]
    reference = importlib.import_module(f"{PACKAGE}.solutions.{unit}")
    if not mine:
        return reference
    notebook = _find_notebook(label)
    if notebook is None:
        message = _("(no {notebook} of yours here: using the reference)")
        print(message.format(notebook=f"{label}.ipynb"))
        return reference
    module = ModuleType(f"my_{unit}")
    vars(module).update(vars(reference))
    return _add_answers(module, notebook)


def own_answers(label: str) -> ModuleType | None:
    """The imports and answers of the student's notebook, as a module; None without it.

    This needs no reference solutions, which the student kit may not contain.
    """
    notebook = _find_notebook(label)
    if notebook is None:
        return None
    module = ModuleType(f"my_{label.split('_', 1)[1]}")
    for cell in _code_cells(notebook):
        with contextlib.suppress(SyntaxError, ImportError):
            body = ast.parse("".join(cell["source"])).body
            imports: list[ast.stmt] = [
                node for node in body if isinstance(node, ast.Import | ast.ImportFrom)
            ]
            code = compile(ast.Module(imports, []), notebook.name, "exec")
            exec(code, vars(module))
    return _add_answers(module, notebook)


def _find_notebook(label: str) -> Path | None:
    """Return the path of the student's notebook of a unit; None if there is none.

    It is looked for in this folder, the unit's folder beside it, and the folder above.
    """
    paths = [Path(place.format(label=label)) for place in PLACES]
    return next((path for path in paths if path.is_file()), None)


def _code_cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def _add_answers(module: ModuleType, path: Path) -> ModuleType:
    """Run a notebook's answer cells in a module, and print which of them fail."""
    for cell in _code_cells(path):
        mark = cell["metadata"].get("nbgrader", {})
        if not mark.get("solution"):
            continue
        name, source = mark["grade_id"], "".join(cell["source"])
        file = f"<{path.name}, {name}>"
        # An error can then quote the line.
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        try:
            exec(compile(source, file, "exec"), vars(module))
        except (Exception, SystemExit) as error:
            reason = describe_error(error)
            message = _("(your {name} does not run: {reason})")
            print(showable(message.format(name=name, reason=translate(reason))))
    return module
