"""Run a grid of configurations: progress, every run saved, resumed where it stopped."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from autograder.figures import style

Config = Mapping[str, object]
Row = Mapping[str, Any]
Run = Callable[[Config], Row]


def grid(**options: Sequence[object]) -> list[dict[str, Any]]:
    """All combinations: ``grid(heads=[2, 4], seed=[0])`` has two."""
    return [
        dict(zip(options, values, strict=True))
        for values in itertools.product(*options.values())
    ]


def run_grid(
    name: str, configs: Sequence[Config], run: Run, folder: str | Path = "runs"
) -> list[dict[str, Any]]:
    """Run every configuration once and save its result at once.

    A run that was saved before is read, not repeated: after an interruption, call this
    again. Delete its file to repeat a run.

    Args:
        name: of the experiment; its runs are kept in ``folder/name``.
        run: from a configuration to a dict of numbers, texts and lists ("curve" holds
            pairs (examples seen, value) for `plot_curves`).

    Returns:
        One dict a configuration: its settings, its results and "seconds".
    """
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    rows = []
    # No bar before a second is over: a stub that is not solved yet needs none.
    for config in tqdm(configs, desc=name, delay=1):
        path = place / f"{_key(config)}.json"
        if not path.is_file():
            started = time.process_time()
            result = dict(run(config))
            seconds = round(time.process_time() - started, 1)
            _write(path, {**config, **result, "seconds": seconds})
        rows.append(json.loads(path.read_text(encoding="utf-8")))
    return rows


def _key(config: Config) -> str:
    text = json.dumps(config, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write(path: Path, row: Row) -> None:
    """Whole or not at all: an interruption must not leave half a result."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(row, default=str), encoding="utf-8")
    part.replace(path)


def table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """The rows as a Markdown table; numbers with three digits."""
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(_cell(row.get(column)) for column in columns) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3g}"
    return "–" if value is None else str(value)


def plot_curves(rows: Sequence[Row], label: str, quantity: str = "dev BLEU") -> Any:
    """A figure with one curve a row over the examples seen, distinct by marks, too.

    Where several rows share their label, their seeds tell them apart.
    """
    marks = ("o-", "s--", "^-.", "D:", "v-", "x--")
    figure, axes = style.subplots(height=3.2, width=6.4)
    for i, row in enumerate(rows):
        seen, values = zip(*row["curve"], strict=True)
        name = f"{label} = {row[label]}"
        if sum(other[label] == row[label] for other in rows) > 1:
            name += f", seed {row.get('seed')}"
        axes.plot(seen, values, marks[i % 6], color=style.PALETTE[i % 6], label=name)
    axes.set(xlabel="examples seen in training", title=quantity)
    axes.legend()
    return figure
