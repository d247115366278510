"""What ships tells little of what is asked in grading: nobody looks answers up."""

import pytest
import torch

from autograder.checks import references
from autograder.checks.compare import judge
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.grading.judge.preparing import prepare_check

UNIT = "positional_encoding"
Rows = dict[int, dict[float, torch.Tensor]]  # by d_model, then by position


@pytest.fixture(scope="module")
def shipped() -> Rows:
    """All rows of right tables in the visible cases, of whatever exercise."""
    rows: Rows = {}
    for exercise in references.load(UNIT).values():
        for case in exercise.cases:
            tables = [v for n, v in case.inputs.items() if n.startswith("right table")]
            if exercise.name.endswith("table_by_loops"):
                tables += [v for n, v in case.expected.items() if n.startswith("table")]
            for table in tables:
                _keep(rows, torch.arange(len(table)), table)
            for name, positions in case.inputs.items():
                prefix, called, _ = name.rpartition("positions")
                if not called or f"{prefix}d_model" not in case.inputs:
                    continue
                for value in case.expected.values():
                    if isinstance(value, torch.Tensor):
                        _keep(rows, positions, value)
    return rows


def _keep(rows_by_width: Rows, positions: torch.Tensor, table: torch.Tensor) -> None:
    """Keep a table's rows, if that is what it is."""
    if table.dim() > 1 and table.shape[:-1] == positions.shape:
        rows = table.reshape(-1, table.size(-1))
        for position, row in zip(positions.flatten().tolist(), rows, strict=True):
            rows_by_width.setdefault(table.size(-1), {}).setdefault(
                float(position), row
            )


@pytest.mark.parametrize("name", ["sinusoid", "table_by_loops"])
def test_rows_of_tables_that_ship_earn_next_to_nothing(name, shipped):
    def sinusoid(positions, d_model):
        if d_model % 2:
            raise ValueError
        stored, none = shipped.get(d_model, {}), torch.zeros(d_model)
        rows = [stored.get(float(p), none) for p in positions.flatten().tolist()]
        return torch.stack(rows).reshape(*positions.shape, d_model)

    def table_by_loops(max_len, d_model):
        return sinusoid(torch.arange(max_len), d_model)

    assert sum(map(len, shipped.values())) > 500
    target = {"sinusoid": sinusoid, "table_by_loops": table_by_loops}[name]
    probe, shares = find(f"{UNIT}/{name}"), []
    for seed in ("one", "two", "three", "four"):
        check = prepare_check(f"{UNIT}/{name}", seed)
        verdict = judge(
            check.exercise,
            check.cases,
            lambda case: observe(probe, target, case.inputs),
        )
        shares.append(verdict.points / verdict.max_points)
    assert sum(shares) / len(shares) < 0.25, shares
