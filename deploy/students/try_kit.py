"""Try a student kit as students use it: python try_kit.py NOTEBOOK...

Runs all cells of each notebook, as handed out; then every check on a wrong answer and,
where the kit has the unit's solution, on the right one. Needs nothing but the kit.
"""

import contextlib
import importlib
import io
import json
import linecache
import re
import sys
from pathlib import Path
from types import ModuleType


def cells(notebook: Path) -> list[str]:
    """The source of each code cell."""
    book = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]


def run_all(notebook: Path) -> str:
    """Run the cells one after the other, and return what they print.

    As in a notebook, where they can print any sign, whatever the console has.
    """
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for number, source in enumerate(cells(notebook), 1):
            name = f"<{notebook.stem}, cell {number}>"
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            exec(compile(source, name, "exec"), vars(module))
    return printed.getvalue()


def checked(notebook: Path) -> dict[str, list[str]]:
    """What each check checks: the exercise, and the names of its answers."""
    code = "\n".join(cells(notebook))
    found = re.findall(r'^check\("(.+?)", ([\w, ]+)\)$', code, re.MULTILINE)
    return {exercise: names.split(", ") for exercise, names in found}


def answers(unit: str) -> ModuleType | None:
    """The unit's solutions, if they are here."""
    try:
        return importlib.import_module(f"transformer_course.solutions.{unit}")
    except ModuleNotFoundError:
        return None


def ignorant(*_: object, **__: object) -> None:
    """An answer to every exercise, and right for none."""


def try_out(notebook: Path) -> str:
    """Run a notebook and its checks, and say in a line what was seen.

    Raises:
        AssertionError: a check did not say what it should.
    """
    from autograder import check

    exercises = checked(notebook)
    assert exercises, f"{notebook} has no checks"
    run_all(notebook)
    rows = check.summary().rows
    assert [row.remark for row in rows] == ["not solved yet"] * len(exercises), rows
    for name in exercises:
        verdict = check(name, *[ignorant] * len(exercises[name]))
        assert not verdict.passed and verdict.points == 0, f"{name}: {verdict}"
    solved = answers(notebook.stem.partition("_")[2])
    if solved is not None:
        for name, targets in exercises.items():
            verdict = check(name, *(getattr(solved, target) for target in targets))
            assert verdict.passed, f"{name}: {verdict}"
        assert check.summary().next_step.endswith("Hand it in."), check.summary()
    print(check.summary())
    right = 0 if solved is None else len(exercises)
    return f"{notebook.stem}: {len(exercises)} exercises, {right} solved"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("Name the notebooks of a kit: python try_kit.py NOTEBOOK...")
    lines = [try_out(Path(name)) for name in sys.argv[1:]]
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
