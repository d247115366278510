"""What an earlier unit built: the reference, or the student's own."""

from __future__ import annotations

import importlib
import json
import linecache
from pathlib import Path
from types import ModuleType

from autograder.checks.console import showable
from autograder.checks.language import _, translate
from autograder.checks.observe import describe_error
from autograder.root import PACKAGE

PLACES = ("{label}.ipynb", "../{label}/{label}.ipynb", "../{label}.ipynb")


def earlier(label: str, mine: bool = False) -> ModuleType:
    """The functions and classes of an earlier unit, as a module.

    Args:
        label: the unit's notebook, like "02_attention".
        mine: take the answers of your own notebook, if it lies beside this one or in
            the folder beside this one's; what it lacks comes from the reference.
    """
    unit = label.split("_", 1)[1]
    reference = importlib.import_module(f"{PACKAGE}.solutions.{unit}")
    if not mine:
        return reference
    paths = [Path(place.format(label=label)) for place in PLACES]
    notebook = next((path for path in paths if path.is_file()), None)
    if notebook is None:
        message = _("(no {notebook} of yours here: using the reference)")
        print(message.format(notebook=f"{label}.ipynb"))
        return reference
    return _own_module(notebook, unit, reference)


def _own_module(path: Path, unit: str, reference: ModuleType) -> ModuleType:
    module = ModuleType(f"my_{unit}")
    vars(module).update(vars(reference))
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        mark = cell["metadata"].get("nbgrader", {})
        if not mark.get("solution") or cell["cell_type"] != "code":
            continue
        name, source = mark["grade_id"], "".join(cell["source"])
        file = f"<{path.name}, {name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        try:
            exec(compile(source, file, "exec"), vars(module))
        except (Exception, SystemExit) as error:
            reason = describe_error(error)
            message = _("(your {name} does not run: {reason})")
            print(showable(message.format(name=name, reason=translate(reason))))
    return module
