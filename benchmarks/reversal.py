"""Seconds until 99 % of random sequences are reversed, with three recipes in one run.

    python benchmarks/reversal.py [--seeds 3]

Time is CPU time of this process on one thread, without the evaluations. Ours is the
notebook's; the second is `torch.nn.Transformer` of the same sizes and the same recipe;
the third is the recipe of a demo that memorises runs of numbers, judged on the same
random sequences. A recipe that never gets there has no ratio: its best score is shown.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.solutions import encoder_decoder, positional_encoding
from transformer_course.solutions import sequence_reversal as unit

GOAL, EVERY, D_MODEL, VOCABULARY = 0.99, 25, 32, 14


class TorchTransformer(nn.Module):
    """`nn.Transformer` with the embeddings, positions and masks of the course."""

    def __init__(self):
        super().__init__()
        table = positional_encoding.sinusoid(torch.arange(64), D_MODEL)
        positions = positional_encoding.PositionalEncoding(table)
        self.source, self.target = (
            positional_encoding.InputLayer(VOCABULARY, D_MODEL, positions, 0.0)
            for _ in range(2)
        )
        for layer in (self.source, self.target):
            nn.init.normal_(layer.embedding.weight, std=D_MODEL**-0.5)
        self.transformer = nn.Transformer(
            D_MODEL, 2, 1, 1, 64, dropout=0.0, batch_first=True, norm_first=True
        )
        self.output = nn.Linear(D_MODEL, VOCABULARY)

    def forward(self, source: Tensor, tokens: Tensor) -> Tensor:
        """Logits `(B, Lt, V)`; PyTorch's masks say True where nobody may look."""
        future = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).triu(1)
        hidden = self.transformer(
            self.source(source), self.target(tokens), tgt_mask=future,
            src_key_padding_mask=source == unit.PAD,
            memory_key_padding_mask=source == unit.PAD,
            tgt_key_padding_mask=tokens == unit.PAD,
        )  # fmt: skip
        return self.output(hidden)


@dataclass
class Run:
    """A training: CPU seconds to the goal (None: never), best score, seconds a step."""

    reached: float | None
    best: float
    step: float


class Clock:
    """Gives out batches, and stops the time while it looks at the model."""

    def __init__(self, model: nn.Module, next_batch: Callable, seed: int):
        self.model, self.next_batch = model, next_batch
        self.test = unit.make_batch(
            unit.random_sequences(500, random.Random(f"test {seed}"))
        )
        self.steps, self.spent, self.best, self.reached = 0, 0.0, 0.0, None
        self.started = time.process_time()

    def __call__(self) -> tuple[Tensor, Tensor]:
        if self.steps % EVERY == 0:
            self.look()
        self.steps += 1
        return self.next_batch()

    def look(self) -> None:
        """Score the model, off the clock."""
        self.spent += time.process_time() - self.started
        source, target = self.test
        labels = target[:, 1:]
        decoded = unit.greedy_decode(self.model, source, labels.size(1))
        decoded = F.pad(decoded, (0, labels.size(1) - decoded.size(1)), value=unit.PAD)
        score = (decoded == labels).all(dim=1).double().mean().item()
        self.best = max(self.best, score)
        if score >= GOAL and self.reached is None:
            self.reached = self.spent
        self.started = time.process_time()

    def result(self) -> Run:
        """The run after its last step."""
        self.look()
        return Run(self.reached, self.best, self.spent / self.steps)


def course_recipe(model: nn.Module, seed: int) -> Run:
    """The notebook's: fresh random batches, AdamW, warm-up and cosine."""
    rng = random.Random(seed)
    clock = Clock(model, lambda: unit.make_batch(unit.random_sequences(32, rng)), seed)
    optimizer = torch.optim.AdamW(model.parameters(), 2e-2, (0.9, 0.98), fused=True)
    unit.fit(model, optimizer, clock, 350, 70)
    return clock.result()


def memorising_recipe(model: nn.Module, seed: int) -> Run:
    """1000 rows of runs of numbers, all in each of 300 steps; Adam at 0.01."""
    rng = random.Random(seed)
    runs = [list(range(a, b)) for a in range(4, 14) for b in range(a + 1, 15)]
    batch = unit.make_batch(rng.choices(runs, k=1000))
    clock = Clock(model, lambda: batch, seed)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(300):
        unit.training_step(model, optimizer, *clock(), max_norm=math.inf)
    return clock.result()


def memorising_model() -> nn.Module:
    """One head, post-norm, embeddings as PyTorch draws them."""
    return encoder_decoder.Transformer(VOCABULARY, VOCABULARY, D_MODEL, 1, 1, 64)


RECIPES = {
    "the course's model and recipe": (unit.new_model, course_recipe),
    "torch.nn.Transformer, same recipe": (TorchTransformer, course_recipe),
    "the memorising demo's recipe": (memorising_model, memorising_recipe),
}


def measure(make: Callable[[], nn.Module], recipe: Callable, seeds: int) -> list[Run]:
    """A run per seed."""
    runs = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        runs.append(recipe(make(), seed))
    return runs


def line(name: str, runs: list[Run], ours: list[Run]) -> str:
    """One row of the table: medians, and ratios to the first recipe."""
    step = statistics.median(run.step for run in runs)
    step_ratio = step / statistics.median(run.step for run in ours)
    reached = [run.reached for run in runs if run.reached is not None]
    best = min(run.best for run in runs)
    text = f"{name:<36}{1000 * step:>7.1f} ms {step_ratio:>5.2f}x"
    if len(reached) < len(runs):
        return text + f"{'never':>12}{'':>8}{best:>12.1%}"
    seconds = statistics.median(reached)
    ratio = seconds / statistics.median(run.reached for run in ours)
    return text + f"{seconds:>10.2f} s {ratio:>6.2f}x{best:>12.1%}"


def main() -> None:
    """Run all recipes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "enable_nested_tensor")
    print(f"{seeds} seeds, medians; CPU seconds on one thread\n")
    print(f"{'':<36}{'a step':>10}{'ratio':>6}{'to 99 %':>12}{'ratio':>7}"
          f"{'worst best':>13}")  # fmt: skip
    ours = None
    for name, (make, recipe) in RECIPES.items():
        runs = measure(make, recipe, seeds)
        ours = ours or runs
        print(line(name, runs, ours), flush=True)


if __name__ == "__main__":
    main()
