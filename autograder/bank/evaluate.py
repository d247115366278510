"""Run solutions and variants on cases: the trusted code that knows the answers."""

from __future__ import annotations

import ast
import importlib
import linecache
import warnings
from collections.abc import Collection, Iterable

import torch

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.errors import CourseError
from autograder.student.compare import judge
from autograder.student.exercise import (
    RAISED,
    Answers,
    Case,
    Exercise,
    Mistake,
    Verdict,
)
from autograder.student.observe import observe
from autograder.student.probes import find

# Expected values are rounded to this grid, so that the last digits of another
# processor's float64 arithmetic cannot change a stored reference.
GRID = 2.0**20


def tasks(unit: str) -> tuple[Task, ...]:
    """The tasks of a unit, in the order of its notebook."""
    return importlib.import_module(f"autograder.bank.{unit}").TASKS


def solution_source(task: Task) -> str:
    """The source text of a task's reference solution."""
    import inspect

    module = importlib.import_module(f"autograder.solutions.{task.name.split('/')[0]}")
    return inspect.getsource(getattr(module, task.target))


def build_object(task: Task, variant: Wrong | Right | None = None) -> object:
    """The reference object of a task, or a variant of it.

    Raises:
        CourseError: an edit's old text does not occur exactly once in the solution.
    """
    unit = task.name.split("/")[0]
    module = importlib.import_module(f"autograder.solutions.{unit}")
    if variant is None:
        return task.reference or getattr(module, task.target)
    source = variant.source or edited(task, variant)
    return run_source(source, dict(vars(module)), f"<{variant.name}>")[task.target]


def edited(task: Task, variant: Wrong | Right) -> str:
    """The solution's source with the variant's edits."""
    source = solution_source(task)
    for old, new in variant.edits:
        if source.count(old) != 1:
            raise CourseError(
                f"{task.name}, variant {variant.name}: {old!r} occurs "
                f"{source.count(old)} times in the solution, not once"
            )
        source = source.replace(old, new)
    return source


def run_source(source: str, namespace: dict, filename: str) -> dict:
    """Execute code in a namespace, with its lines known to tracebacks."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    with warnings.catch_warnings():  # of code that is wrong on purpose
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(source, filename, "exec")
    exec(code, namespace)
    return namespace


def drawings(task: Task, seed: str, hidden: bool) -> Iterable[tuple[Setting, Answers]]:
    """The settings that a seed draws, with their inputs."""
    for setting in task.settings:
        if hidden or not setting.hidden_only:
            yield setting, dict(setting.inputs(_draw(task, setting, seed)))


def _draw(task: Task, setting: Setting, seed: str) -> Draw:
    return Draw(f"{task.name}/{setting.name}/{seed}")


def exercise(task: Task, points: float, seed: str, hidden: bool) -> Exercise:
    """One drawing of all cases of a task, with right and wrong answers.

    A hidden drawing knows the mistakes where no visible one can: mistakes are named by
    the visible cases, which every check runs, too.

    Raises:
        CourseError: the reference solution fails on its own cases.
    """
    objects = mistaken_objects(task)
    reference = build_object(task)
    cases = tuple(
        Case(
            setting.name, setting.title, setting.hint, inputs,
            _expected(task, setting, seed, reference, inputs),
            mistaken_answers(task, objects, inputs)
            if setting.hidden_only or not hidden
            else {},
            hidden, **_like(setting),
        )
        for setting, inputs in drawings(task, seed, hidden)
    )  # fmt: skip
    mistakes = {w.name: Mistake(w.name, w.says, w.asks) for w in named(task)}
    return Exercise(task.name, task.title, points, cases, mistakes, builds_on(task))


def builds_on(task: Task) -> tuple[str, ...]:
    """The exercises of the same unit whose objects a task's solution uses."""
    used = {
        node.id
        for node in ast.walk(ast.parse(solution_source(task)))
        if isinstance(node, ast.Name)
    }
    others = tasks(task.name.split("/")[0]) if used else ()
    return tuple(t.name for t in others if t.target in used and t.name != task.name)


def _like(setting: Setting) -> dict:
    names = ("atol", "rtol", "picture", "measure", "scale")
    return {name: getattr(setting, name) for name in names}


def named(task: Task) -> list[Wrong]:
    """The wrong variants that define a task's named mistakes."""
    return [wrong for wrong in task.wrong if not wrong.like]


def mistaken_objects(
    task: Task, names: Collection[str] | None = None
) -> dict[str, object]:
    """The object that each named mistake makes, or each of those with ``names``."""
    return {
        wrong.name: build_object(task, wrong)
        for wrong in named(task)
        if names is None or wrong.name in names
    }


def mistaken_answers(
    task: Task, objects: dict[str, object], inputs: Answers
) -> dict[str, Answers]:
    """What each named mistake answers, in float32 as a student's code would.

    Of errors only the first line is kept: the second one is a line of the solution.
    """
    probe = find(task.name)
    found = {name: observe(probe, o, inputs) for name, o in objects.items()}
    return {
        name: {RAISED: str(answers[RAISED]).split("\n")[0]}
        if RAISED in answers
        else answers
        for name, answers in found.items()
    }


def fresh_cases(task: Task, seed: str) -> list[Case]:
    """A drawing that nobody has seen, with the right answers only."""
    reference = build_object(task)
    return [
        Case(
            setting.name, setting.title, setting.hint, inputs,
            _expected(task, setting, seed, reference, inputs),
            {}, True, **_like(setting),
        )
        for setting, inputs in drawings(task, seed, hidden=True)
    ]  # fmt: skip


def _expected(
    task: Task, setting: Setting, seed: str, reference: object, inputs: Answers
) -> Answers:
    if setting.known:
        return setting.known(_draw(task, setting, seed))
    return expected_answers(task, reference, inputs)


def expected_answers(task: Task, reference: object, inputs: Answers) -> Answers:
    """What the reference answers, computed in float64 and given in float32."""
    before = torch.get_default_dtype()
    try:
        if task.precise:
            torch.set_default_dtype(torch.float64)
            inputs = {name: _double(value) for name, value in inputs.items()}
        answers = observe(find(task.name), reference, inputs)
    finally:
        torch.set_default_dtype(before)
    if RAISED in answers:
        raise CourseError(f"{task.name}: the solution fails: {answers[RAISED]}")
    return {name: _stored(value) for name, value in answers.items()}


def _double(value: object) -> object:
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if is_float else value


def _stored(value: object) -> object:
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return ((value * GRID).round() / GRID).float()
    return value


def verdict(task: Task, answer: object, exercises: Iterable[Exercise]) -> Verdict:
    """The verdict on an object over the cases of several drawings of one task."""
    exercises = list(exercises)
    cases = [case for exercise in exercises for case in exercise.cases]
    probe = find(task.name)
    return judge(exercises[0], cases, lambda case: observe(probe, answer, case.inputs))
