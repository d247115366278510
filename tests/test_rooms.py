"""Where things are: imports go one way, in a circle nowhere; a test is where one looks.

Imports inside of functions count, too. What is imported by a name that is only known
when it runs (a unit's probes, a measure) does not.
"""

import ast
import fnmatch
import functools
import graphlib
import importlib
import re
import sys
from pathlib import Path

import pytest

from autograder.course import ROOT
from autograder.root import CONTENT
from autograder.root import ENGINE as PACKAGE

COURSE = CONTENT.name
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MODULES = sorted(
    p
    for package in (PACKAGE, CONTENT)
    for p in package.rglob("*.py")
    if "solutions" not in p.parts
)

EXTRAS = [path.parent for path in PACKAGE.glob("extras/*/__init__.py")]

# What a room may import besides itself. Everybody may know what goes wrong, and how.
ALLOWED = {
    "__init__": {"aliases"},
    "__main__": {"cli"},
    "root": set(),
    "aliases": {"root"},
    "seams": {"root"},
    "course": {"root"},
    "sandbox": {"root"},
    "figures": set(),
    "checks": {"figures", "root"},
    "authoring": {"checks", "sandbox", "course", "root", "__version__"},
    "grading": {
        "authoring", "checks", "course", "root", "sandbox", "seams", "__version__",
    },
    "classroom": {
        "authoring", "checks", "grading", "sandbox", "seams", "course", "root",
        "__version__",
    },
    "cli": {
        "authoring", "checks", "classroom", "course", "grading", "root", "sandbox",
        "seams",
    },
    # Nobody imports these: see `test_an_extra_imports_no_other_one_unasked`.
    "extras": {
        "authoring", "checks", "classroom", "cli", "course", "grading", "root",
        "sandbox",
    },
}  # fmt: skip
# What a part of the course may import of the engine. All of it that ships to students
# may import what ships, and nothing of whoever teaches.
SHIPS = {"check", "checks", "figures", "demo", "earlier"}
OF_THE_COURSE = {
    "library": SHIPS,
    "measures": SHIPS,
    "probes": SHIPS,
    "exercises": SHIPS | {"authoring", "course", "root"},
    "authoring": SHIPS | {"authoring", "course"},
    "leaderboard": {"classroom", "cli", "course", "grading"},
}


def name_of(path: Path) -> str:
    """The dotted name of a module of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {
    name_of(path): path
    for package in (PACKAGE, CONTENT)
    for path in package.rglob("*.py")
}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """What a file imports of both packages, anywhere in it: modules, or their names."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: write imports in full"
            module = node.module or ""
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    ours = ("autograder.", f"{COURSE}.")
    return frozenset(name for name in names if name.startswith(ours))


def module_of(name: str) -> str:
    """The module that an imported name is, or is in."""
    return name if name in NAMES else name.rpartition(".")[0]


def test_there_is_no_circle_anywhere():
    arrows = {
        name: {module_of(imported) for imported in imports(path)} - {name}
        for name, path in NAMES.items()
    }
    graphlib.TopologicalSorter(arrows).prepare()  # raises CycleError, which names it


def test_there_is_no_circle_of_rooms_within_a_room():
    """A folder in a room, and each file beside it, imports from those below it."""

    def inner(name: str) -> str:
        return ".".join(name.split(".")[:3])

    arrows: dict[str, set[str]] = {}
    for name, path in NAMES.items():
        rooms = {inner(module_of(imported)) for imported in imports(path)}
        arrows.setdefault(inner(name), set()).update(rooms - {inner(name)})
    graphlib.TopologicalSorter(arrows).prepare()


def test_there_is_no_circle_of_rooms():
    inner = {room: allowed & ALLOWED.keys() for room, allowed in ALLOWED.items()}
    graphlib.TopologicalSorter(inner).prepare()


def test_imports_of_the_engine_go_one_way_and_never_to_a_course():
    for path in MODULES:
        if path.is_relative_to(PACKAGE):
            room = module_path(path).parts[0]
            assert not any(name.startswith(COURSE) for name in imports(path)), path
            rooms = {name.split(".")[1] for name in imports(path)}
            assert rooms <= ALLOWED[room] | {room}, path


@pytest.mark.parametrize("extra", sorted(p.name for p in EXTRAS), ids=str)
def test_an_extra_imports_no_other_one_unasked(extra):
    """Nor more of the command line than what a command is made of."""
    folder = PACKAGE / "extras" / extra
    builds_on = importlib.import_module(name_of(folder / "__init__.py"))
    extras = {extra, *getattr(builds_on, "BUILDS_ON", ())}
    for path in folder.rglob("*.py"):
        for name in imports(path):
            _, room, *inner = name.split(".")
            assert room != "extras" or inner[0] in extras, (path, name)
            assert room != "cli" or inner[0] == "arguments", (path, name)


def test_no_text_of_the_engine_names_the_course():
    for path in PACKAGE.rglob("*.py"):
        assert COURSE not in path.read_text(encoding="utf-8"), path


def test_what_ships_needs_no_author_and_a_unit_no_other_unit():
    shared = {"library", "measures", "solutions", "authoring", "leaderboard"}
    for path in MODULES:
        if not path.is_relative_to(CONTENT) or path.parent == CONTENT:
            continue
        _, first, *inner = module_path(path).parts
        room = first if first in shared else inner[0]
        of_the_course = {
            name.split(".")[1] for name in imports(path) if name.startswith(COURSE)
        }
        assert of_the_course <= shared | {first}, path
        rooms = {name.split(".")[1] for name in imports(path)} - of_the_course
        assert rooms <= OF_THE_COURSE[room], (path, rooms)


def test_nothing_shadows_the_standard_library():
    for path in MODULES:
        loose = path.parent in (PACKAGE, CONTENT)
        assert not (loose and path.stem in sys.stdlib_module_names), path


def test_a_class_has_a_name_of_its_own():
    """What two rooms call alike, somebody takes for the same thing."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name_of(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


# Modules that a test of another name covers: by module (or many), the test's file.
ELSEWHERE = {
    "aliases": "course/test_root.py",
    "grading/gradebook/other_cells": "classroom/test_preview.py",
    "root": "course/test_root.py",
    "checks/measures": "checks/test_compare.py",
    "transformer_course/library/observing": "authoring/test_verify.py",
    "transformer_course/library/chat_model": "transformer_course/library/test_chat.py",
    "extras/*/commands": "cli/test_main.py",
    # Data, and what observes: every mutant and every accepted solution goes through.
    "authoring/catalogue": "transformer_course/test_bank.py",
    "authoring/arguments": "authoring/test_sizes.py",
    "authoring/inputs": "transformer_course/test_bank.py",
    "authoring/redrawing": "authoring/test_course.py",
    "authoring/reference_files": "authoring/test_last_build.py",
    "transformer_course/*/exercises/*": "transformer_course/test_bank.py",
    "transformer_course/*/probes/*": "authoring/test_verify.py",
    "transformer_course/*/library/*": "transformer_course/test_pictures.py",
    # What only shows in a run of nbgrader, with a box, a judge and a gradebook.
    "grading/cells/sandboxed_execute": "grading/test_disturbed.py",
    "grading/checks/checking": "grading/test_disturbed.py",
    "grading/judge/reference_substitution": (
        "grading/checks/test_error_carried_forward.py"
    ),
    "grading/replay": "classroom/test_replay.py",
    "grading/run/persist": "grading/test_converter.py",
    "grading/gradebook/recording": "grading/test_converter.py",
    "grading/workers/worker": "grading/workers/test_parallel.py",
    # Walls and kernels are tried as a whole: by attacks, and from start to end.
    "sandbox/confine/*": "sandbox/test_walls.py",
    "sandbox/provisioner": "sandbox/test_life.py",
    "sandbox/watch": "sandbox/test_life.py",
    "sandbox/fork_server": "sandbox/test_life.py",
}


def module_path(path: Path) -> Path:
    """Where a module is, as the table's keys say it: engine or course."""
    base = PACKAGE if path.is_relative_to(PACKAGE) else ROOT
    return path.relative_to(base).with_suffix("")


def by_name(module: Path) -> list[Path]:
    """Where one looks for the test of a module, or of the package that it is in."""
    room = module.parent
    names = (f"test_{module.name}.py", f"test_{room.name}.py")
    return [room / names[0], room.parent / names[1], room / names[1]]


def needs_a_test(path: Path) -> bool:
    """Whether a module does anything; one that only names things does not."""
    return path.stem != "__init__" and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(tree_of(path))
    )


@functools.cache
def bare() -> tuple[Path, ...]:
    """Modules that do something, and have no test of their own."""
    return tuple(
        module_path(path)
        for path in MODULES
        if needs_a_test(path)
        and not any(
            (ROOT / "tests" / test).is_file() for test in by_name(module_path(path))
        )
    )


@pytest.mark.whole_course
def test_a_module_has_a_test_where_one_looks_or_the_table_says_where():
    for module in bare():
        listed = [
            test for key, test in ELSEWHERE.items() if fnmatch.fnmatch(module, key)
        ]
        assert listed, f"write tests/{by_name(module)[0]}"
        assert (ROOT / "tests" / listed[0]).is_file()


def test_the_table_names_only_modules_without_a_test_of_their_own():
    for key in ELSEWHERE:
        assert fnmatch.filter(map(str, bare()), key), f"{key}: take the row away"


def test_no_test_imports_from_a_test_file():
    import_of_a_test = re.compile(
        r"^ *(?:from (?:\w+\.)*test_[\w.]+ import|import (?:\w+\.)*test_\w+\.)", re.M
    )
    assert import_of_a_test.search("from tests.test_a import b")
    for path in TESTS:
        assert not import_of_a_test.search(path.read_text(encoding="utf-8")), path


# The pictures of docs/architecture.md: boxes, solid arrows and labelled dotted ones.
PICTURES = re.findall(
    r"^```mermaid\n(.*?)^```$",
    (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)
BOX = re.compile(r'(\w+)\["([\w/]+\.py)[^"]*"\]')


def place_of(file: str) -> Path:
    return (ROOT if file.startswith(COURSE) else PACKAGE) / file


def arrows_of(picture: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The solid and the dotted arrows of a picture, from module to module."""
    files = dict(BOX.findall(picture))
    plain = BOX.sub(r"\1", picture)

    def find_arrows(arrow: str) -> list[tuple[str, str]]:
        pairs = re.findall(rf"^ *(\w+) {arrow} (\w+)$", plain, re.MULTILINE)
        return [
            (name_of(place_of(files[a])), name_of(place_of(files[b]))) for a, b in pairs
        ]

    return find_arrows("-->"), find_arrows('-\\. "[^"]+" \\.->')


def test_there_are_three_pictures_of_one_page_each():
    assert len(PICTURES) == 3
    assert all(10 < len(picture.splitlines()) <= 60 for picture in PICTURES)


@pytest.mark.parametrize("picture", PICTURES, ids=["submission", "check", "build"])
def test_each_line_of_a_picture_is_understood(picture):
    solid, dotted = arrows_of(picture)
    assert len(solid) + len(dotted) == picture.count("->")
    for _, file in BOX.findall(picture):
        assert place_of(file).is_file(), file


@pytest.mark.parametrize("picture", PICTURES, ids=["submission", "check", "build"])
def test_a_solid_arrow_of_a_picture_is_an_import(picture):
    for tail, head in arrows_of(picture)[0]:
        assert head in {module_of(imported) for imported in imports(NAMES[tail])}, (
            tail,
            head,
        )


@pytest.mark.parametrize("picture", PICTURES, ids=["submission", "check", "build"])
def test_a_dotted_arrow_of_a_picture_is_no_import(picture):
    for tail, head in arrows_of(picture)[1]:
        assert head not in {module_of(imported) for imported in imports(NAMES[tail])}
