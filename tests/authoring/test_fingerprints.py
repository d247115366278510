"""An exercise's fingerprint changes with whatever its references depend on."""

from __future__ import annotations

import contextlib
import shutil

import pytest

from autograder.authoring import fingerprints
from autograder.authoring.fingerprints import Fingerprints
from autograder.course import Unit

TARGETS = {"tiny/double": "double", "tiny/half": "half", "tiny/shift": "shift"}
PACKAGE = fingerprints.PACKAGE
FILES = {
    "solutions/tiny.py": (
        "from {package}.solutions import earlier\n\n\n"
        "def helper(x):\n    return x\n\n\n"
        "def double(x):\n    return helper(2 * x)\n\n\n"
        "def half(x):\n    return x / 2\n\n\n"
        "def shift(x):\n    return earlier.one + x\n"
    ),
    "solutions/earlier.py": "one = 1\ntwo = 2\n",
    "tiny/exercises/double.py": (
        "from {package}.tiny.exercises._inputs import rows\n"
        'EXERCISE = common("twice", rows)\n'
    ),
    "tiny/exercises/half.py": (
        'EXERCISE = case("half", "a number", "Half.")\n'
        'MISTAKES = [wrong("twice", "You doubled.", "Half?", edit("/", "*"))]\n'
    ),
    "tiny/exercises/shift.py": (
        "import autograder.authoring.common\nEXERCISE = wrong('half(x)')\n"
    ),
    "tiny/exercises/_inputs.py": "def rows():\n    return 3\n\n\nunused = 4\n",
    "tiny/probes/__init__.py": (
        "from {package}.library.words import read\n\n\n"
        '@probe("tiny/double")\ndef double_it():\n    pass\n\n\n'
        '@probe("tiny/half")\ndef halve_it():\n    return read()\n'
    ),
    "library/words.py": (
        'def read():\n    """Words."""\n    return open("words.txt")\n'
    ),
    "library/words.txt": "a list\n",
    "library/unused.txt": "a list\n",
    "authoring/common.toml": "a table\n",
    "tiny/unit.toml": "path = []\n",
}


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    """A unit of three exercises, in a course and an engine of its own."""
    tmp_path = tmp_path_factory.mktemp("course")
    content, engine = tmp_path / PACKAGE, tmp_path / "autograder"
    shutil.copytree(
        fingerprints.ENGINE, engine, ignore=shutil.ignore_patterns("__pycache__")
    )
    for name, text in FILES.items():
        (content / name).parent.mkdir(parents=True, exist_ok=True)
        (content / name).write_text(text.replace("{package}", PACKAGE))
    bases = {"autograder": engine, PACKAGE: content}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "ROOT", tmp_path)
        patch.setattr(fingerprints, "CONTENT", content)
        patch.setattr(fingerprints, "ENGINE", engine)
        patch.setattr(fingerprints, "_BASES", bases)
        yield Unit("99", "tiny", tmp_path)


@contextlib.contextmanager
def edited(path, old: str, new: str):
    """Have a file say something else for a while."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    try:
        yield
    finally:
        path.write_text(text)


@pytest.fixture(scope="module")
def before(unit):
    return take_fingerprints(unit)


def take_fingerprints(unit: Unit, stub: str = "", seed: str = "hidden"):
    prints = Fingerprints(unit, TARGETS)
    return {name: prints.of_exercise(name, stub, seed) for name in TARGETS}


@pytest.mark.parametrize(
    ("file", "old", "new", "exercises"),
    [
        ("tiny/exercises/half.py", "Half.", "Halve.", {"half"}),
        ("tiny/exercises/_inputs.py", "return 3", "return 5", {"double"}),
        ("tiny/exercises/_inputs.py", "unused = 4", "unused = 5", set()),
        ("tiny/probes/__init__.py", "pass", "return 1", {"double"}),
        ("library/words.py", "open", "load", {"half"}),
        ("library/words.py", "Words.", "Words.\n\n    One a line.\n    ", set()),
        ("library/words.py", "    return", "    # One a line.\n    return", set()),
        ("library/words.py", '("words.txt")', '("""words.txt\n#""")', {"half"}),
        ("solutions/tiny.py", "double(x):\n", 'double(x):\n    """Two x."""\n', set()),
        ("library/words.txt", "a list", "another", {"half"}),
        ("library/unused.txt", "a list", "another", set()),
        ("solutions/tiny.py", "return x\n", "return +x\n", {"double"}),
        ("solutions/tiny.py", "x / 2", "0.5 * x", {"half", "shift"}),
        ("solutions/tiny.py", "earlier.one + x", "x + earlier.one", {"shift"}),
        ("solutions/earlier.py", "one = 1", "one = 1.0", {"shift"}),
        ("solutions/earlier.py", "two = 2", "two = 3", set()),
        ("authoring/common.toml", "a table", "another", {"shift"}),
        ("tiny/unit.toml", "path = []", 'path = ["half"]', set()),
    ],
)
def test_it_changes_with_what_the_exercise_reaches_and_with_nothing_else(
    unit, before, file, old, new, exercises
):
    with edited(unit.root / PACKAGE / file, old, new):
        after = take_fingerprints(unit)
    changed = {
        name.partition("/")[2] for name in TARGETS if before[name] != after[name]
    }
    assert changed == exercises


@pytest.mark.parametrize(
    ("file", "is_input"),
    [
        ("authoring/cases.py", True),
        ("authoring/second_order.py", True),
        ("authoring/properties.toml", True),
        ("checks/compare.py", True),
        ("checks/probes/weights.py", True),
        ("checks/probes/default.py", True),
        ("authoring/shapes.py", True),
        ("authoring/sizes.py", True),
        ("authoring/telling.py", True),
        ("authoring/budget.py", False),
        ("checks/panel.py", False),
        ("checks/diagnostics/values.py", False),
        ("sandbox/launch.py", False),
        ("grading/scores.py", False),
    ],
)
def test_it_changes_with_the_modules_of_the_engine_that_draw(
    unit, before, file, is_input
):
    path = unit.root / "autograder" / file
    text = path.read_text()
    with edited(path, text, f"{text}\n1\n"):
        after = take_fingerprints(unit)
    assert all((before[name] != after[name]) == is_input for name in TARGETS)


def test_it_changes_with_the_stub_the_seed_and_which_exercises_there_are(unit, before):
    for after in (take_fingerprints(unit, "..."), take_fingerprints(unit, seed="new")):
        assert not {*before.values()} & {*after.values()}
    fewer = Fingerprints(unit, {n: TARGETS[n] for n in ("tiny/double", "tiny/shift")})
    assert fewer.of_exercise("tiny/double", "", "hidden") == before["tiny/double"]
    assert fewer.of_exercise("tiny/shift", "", "hidden") != before["tiny/shift"]


def test_what_a_mistake_says_and_asks_has_a_digest_of_its_own(unit):
    digest, messages = take_fingerprints(unit)["tiny/half"]
    assert messages == '"You doubled."\n"Half?"'
    path = unit.root / PACKAGE / "tiny" / "exercises" / "half.py"
    with edited(path, "You doubled.", "You took the double."):
        assert take_fingerprints(unit)["tiny/half"] == (
            digest, messages.replace("doubled", "took the double"),
        )  # fmt: skip
