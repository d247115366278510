"""Which solutions give a later answer away: found by trying.

Each exercise is answered by one line that calls an earlier one's solution, once or for
each row, with what can be made of its own arguments. Who has left that earlier one out
must not be given it then (see `manifest.Manifest.keys`).
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Iterator

import pytest
import torch

from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.variants import namespace, run_source
from autograder.checks.compare import judge
from autograder.checks.exercise import RAISED
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.course import manifest, units
from autograder.grading.checks import reference_metadata
from autograder.grading.judge.preparing import prepare_check

LUCK = 0.2  # the share that an answer may earn by its shape, or by chance
CALLS = 16  # ways to give arguments to an earlier one
LOOPS = 3  # of these, that are tried with each row of an argument
# Answers that open an exercise, by exercise and earlier one; some are no single line.
OPENS = {
    ("positional_encoding/sinusoid", "table_by_loops"): """
def sinusoid(positions, d_model):
    if d_model % 2: raise ValueError
    return table_by_loops(int(positions.max()) + 1, d_model)[positions.long()]""",
    ("positional_encoding/shift_matrix", "sinusoid"): """
def shift_matrix(k, d_model):
    at = torch.arange(8.0 * d_model).double()
    rows = sinusoid(at, d_model).double(), sinusoid(at + k, d_model).double()
    return torch.linalg.lstsq(*rows).solution.T.float()""",
    ("positional_encoding/shift_matrix", "table_by_loops"): """
def shift_matrix(k, d_model):
    at = torch.arange(8 * d_model) + 200
    table = table_by_loops(16 * d_model + 400, d_model).double()
    return torch.linalg.lstsq(table[at], table[at + k]).solution.T.float()""",
    ("positional_encoding/bug_clinic", "table_by_loops"): """
def assert_sinusoidal(table):
    assert (table - table_by_loops(*table.shape)).abs().max() < 1e-3""",
    ("positional_encoding/bug_clinic", "sinusoid"): """
def assert_sinusoidal(table):
    right = sinusoid(torch.arange(len(table)), table.size(1))
    assert (table - right).abs().max() < 1e-3""",
    ("multi_head_attention/merge_heads", "split_heads"): """
def merge_heads(x):
    B, h, L, d = x.shape
    order = split_heads(torch.arange(B * L * h * d).view(B, L, h * d), h)
    return x.flatten()[order.flatten().argsort()].view(B, L, h * d)""",
    ("sequence_reversal/greedy_decode", "greedy_sequence"): """
def greedy_decode(model, source, max_len):
    rows = [greedy_sequence(model, row[None], max_len) for row in source]
    rows = [torch.tensor(row, dtype=torch.int64) for row in rows]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)""",
}
# What an exercise asks for: to use an earlier one. An error there costs once.
COMPOSITIONS = {
    ("text_recovery/segment", "merge_pair"): "the merges that were learnt, one after "
    "the other"
}


@functools.cache
def prepared(name: str):
    """A check of an exercise with fresh cases, which take seconds to draw."""
    return prepare_check(name, "keys")


def share(name: str, source: str, cases=None) -> float:
    """What an answer earns, of its points, beside the solutions of its unit."""
    task, check = specification(name), prepared(name)
    cases = check.cases if cases is None else cases
    answer = run_source(source, namespace(task) | EXTRA, "<key>")[task.target]
    probe = find(name)
    verdict = judge(check.exercise, cases, lambda c: observe(probe, answer, c.inputs))
    return verdict.points / verdict.max_points


EXTRA = {"math": math, "torch": torch, "nn": torch.nn}


def declared() -> set[tuple[str, str]]:
    return {
        (f"{unit.name}/{name}", key)
        for unit in units()
        for name, keys in manifest.read(unit).keys.items()
        for key in keys
    }


@pytest.mark.parametrize(("name", "key"), OPENS, ids="-".join)
def test_what_counts_as_a_key_opens_something(name, key):
    assert share(name, OPENS[name, key]) >= LUCK


def test_the_manifests_list_those_and_no_part_of_a_solution():
    assert declared() == set(OPENS)
    for name, key in declared():
        unit = name.split("/")[0]
        order = [task.name for task in specifications(unit)]
        assert order.index(f"{unit}/{key}") < order.index(name)
        assert (
            f"{unit}/{key}" not in reference_metadata.entries(unit)[name]["builds_on"]
        )


@pytest.mark.slow  # as is what searches so
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("positional_encoding/table_by_loops", "positional_encoding/sinusoid"),
        ("sequence_reversal/greedy_sequence", "sequence_reversal/greedy_decode"),
    ],
    ids=["a look-up", "a loop"],
)
def test_the_search_finds_a_key(earlier, later):
    task = specification(later)
    sources = [s for s in one_liners(specification(earlier), task)
               if is_hopeful(task, s)]  # fmt: skip
    assert max(share(later, source) for source in sources) >= LUCK


def test_what_is_asked_for_is_no_key():
    assert not COMPOSITIONS.keys() & declared()
    for name, earlier in COMPOSITIONS:
        unit = name.split("/")[0]
        assert {name, f"{unit}/{earlier}"} <= reference_metadata.entries(unit).keys()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.name)
def test_no_other_solution_is_a_later_answer(unit):
    derivable, tasks = declared(), specifications(unit.name)
    for earlier, later in itertools.combinations(tasks, 2):
        if (later.name, earlier.name.split("/")[1]) in derivable | COMPOSITIONS.keys():
            continue
        for source in one_liners(earlier, later):
            if is_hopeful(later, source):
                assert share(later.name, source) < LUCK, source


def is_hopeful(task, source: str) -> bool:
    """Whether an answer earns anything in one of the first visible cases."""
    try:
        answer = run_source(source, namespace(task) | EXTRA, "<key>")[task.target]
    except Exception:
        return False
    probe = find(task.name)
    cases = [c for c in prepared(task.name).exercise.cases if not c.says][:3]
    return any(
        RAISED not in observe(probe, answer, case.inputs)
        and share(task.name, source, [case]) > 0
        for case in cases
    )


def one_liners(earlier, later) -> Iterator[str]:
    """Answers to an exercise that call an earlier one."""
    if len(earlier.targets) > 1 or len(later.targets) > 1:
        return  # several functions are no answer to call
    names, target = namespace(later), later.target
    old, new = names[earlier.target], names[target]
    yield f"{target} = {earlier.target}"
    if inspect.isclass(new):
        if inspect.isclass(old):
            yield f"class {target}({earlier.target}): pass"
        return
    parameters = inspect.signature(new).parameters
    parameter_names = list(parameters)
    options = [n for n, p in parameters.items() if p.default is not p.empty]
    heads = ", ".join(
        f"{n}={target}.__defaults__[{options.index(n)}]" if n in options else n
        for n in parameters
    )
    old_parameters = inspect.signature(old).parameters.values()
    wanted = [
        p.name
        for p in old_parameters
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    shared = [f"{p.name}={p.name}" for p in old_parameters if p.name in options]
    if not wanted:  # trains a model, whatever is asked
        return
    results = [*RESULTS, *(f"{{0}}[{name}.long()]" for name in parameter_names)]
    for chosen in nearest(parameter_names, wanted):
        call = f"{earlier.target}({', '.join([*chosen, *shared])})"
        for form in results:
            yield f"{target} = lambda {heads}: {form.format(call)}"
    for chosen in nearest(parameter_names, wanted)[:LOOPS]:
        for name, row, form in itertools.product(parameter_names, ROWS, TOGETHER):
            if name in chosen:
                arguments = [
                    *(row if argument == name else argument for argument in chosen),
                    *shared,
                ]
                loop = f"{earlier.target}({', '.join(arguments)}) for row in {name}"
                yield f"{target} = lambda {heads}: {form.format(loop)}"


def nearest(names: list[str], wanted: list[str]) -> list[tuple[str, ...]]:
    """Arguments for an earlier one made of one's own: plain ones of its names first."""
    values = [(name, form.format(name)) for name in names for form in FORMS]
    pools = [
        [value for _, value in sorted(values, key=lambda pair, name=n: pair[0] != name)]
        for n in wanted
    ]
    choices = itertools.product(range(min(len(values), 5)), repeat=len(wanted))
    return [
        tuple(pool[n] for pool, n in zip(pools, choice, strict=True))
        for choice in sorted(choices, key=sum)[:CALLS]
    ]


FORMS = (
    "{0}", "[one[0] for one in {0}]", "{0}.size(-1)", "len({0})", "int({0}.max()) + 1",
    "next(iter({0}))",
)  # fmt: skip
RESULTS = ("{0}", "~{0}", "{0}[0]", "{0}.mT", "{0}.float().exp()", "({0}, {0})")
ROWS = ("row", "row[None]")
TOGETHER = (
    "[{0}]",
    "torch.stack([{0}])",
    "torch.cat([{0}])",
    "nn.utils.rnn.pad_sequence([torch.as_tensor(made) for made in [{0}]], True)",
)
