"""Text recovery: BLEU over CPU minutes, beside baselines and torch.nn.Transformer.

    python benchmarks/recovery.py                            # embedded, 3,400 steps
    python benchmarks/recovery.py --recipe large --corpus FOLDER     # a real corpus

FOLDER holds train.en, val.en and, if there is one, test.en. Both models have the same
sizes, data, recipe and seed; one core; greedy decoding. BLEU is sacrebleu's (13a, case
counts) on dev, at the end on test. On a GPU the clock is the wall's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import faster
from benchmarks.calibration import calibrate, function_word_ids
from transformer_course.authoring.decoding import recover_with_cache
from transformer_course.library import baselines, bleu, corpora
from transformer_course.library.checkpoint import save
from transformer_course.library.decoding import bucketed, make_batch, recover
from transformer_course.library.model import Restorer, Sizes, device, parameters
from transformer_course.library.pipeline import damage
from transformer_course.library.text import PAD, SubwordTokenizer, pieces
from transformer_course.solutions import (
    encoder_decoder,
    sequence_reversal,
    text_recovery,
)


def smoothed_loss(logits: Tensor, target: Tensor, smoothing: float = 0.1) -> Tensor:
    """The notebook's cross-entropy with label smoothing; padding does not count."""
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD,
        label_smoothing=smoothing,
    )  # fmt: skip


class TorchRestorer(nn.Module):
    """torch.nn.Transformer in the place of the course's, everything around it alike."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes, ours = sizes, Restorer(sizes, encoder_decoder).transformer
        self.source, self.output = ours.source, ours.output  # embedding and positions
        self.transformer = nn.Transformer(
            sizes.d_model, sizes.num_heads, sizes.num_layers, sizes.num_layers,
            sizes.d_ff, sizes.dropout, batch_first=True, norm_first=True,
        )  # fmt: skip

    def encode(self, source: Tensor) -> Tensor:
        """Memory (B, Ls, d_model)."""
        return self.transformer.encoder(
            self.source(source), src_key_padding_mask=source == PAD
        )

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Logits (B, Lt, V)."""
        length = target.size(1)
        future = torch.ones(length, length, dtype=torch.bool, device=target.device)
        hidden = self.transformer.decoder(
            self.source(target), memory, tgt_mask=future.triu(1),
            memory_key_padding_mask=source == PAD, tgt_is_causal=True,
        )  # fmt: skip
        return self.output(hidden)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits (B, Lt, V)."""
        return self.decode(target, self.encode(source), source)


MODELS: dict[str, Callable[[Sizes], nn.Module]] = {
    "course": lambda sizes: Restorer(sizes, encoder_decoder),
    "torch.nn.Transformer": TorchRestorer,
}
GPU = device().type != "cpu"
RECIPES: dict[str, dict[str, object]] = {
    "embedded": {},
    "large": {
        "steps": 7700, "batch": 32, "peak": 2e-3, "dropout": 0.1, "vocab": 4000,
        "d_model": 256, "bf16": True, "lengthen": True, "dev": 1014, "goal": 60.0,
        "beams": "0,4", "models": "course",
    },
}  # fmt: skip


def clock() -> float:
    """Seconds of this process's CPU; with a GPU, of the wall."""
    if not GPU:
        return time.process_time()
    torch.accelerator.synchronize()
    return time.perf_counter()


def load(where: str, level: int) -> corpora.Corpus:
    """The corpus; a folder with train.en and val.en is taken with that split.

    Without a test.en, val.en is the test as well.
    """
    folder, spoil = Path(where), partial(damage, level=level)
    if not (folder / "train.en").is_file():
        return corpora.load(where, spoil)
    last = "test.en" if (folder / "test.en").is_file() else "val.en"
    parts = []
    for name in ("train.en", "val.en", last):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        parts.append([(spoil(line), line) for line in lines if spoil(line)])
    return corpora.Corpus(folder.name, *parts)


def tokenizer_of(corpus: corpora.Corpus, size: int) -> SubwordTokenizer:
    """Byte pairs of train."""
    texts = (text for pair in corpus.train for text in pair)
    counts = Counter(piece for text in texts for piece in pieces(text))
    alphabet = {character for piece in counts for character in piece}
    merges = text_recovery.learn_merges(counts, size - len(alphabet) - 4)
    return SubwordTokenizer(alphabet, merges, text_recovery.segment)


def batches(examples: list, batch_size: int, seed: int) -> Iterator[tuple[Tensor, ...]]:
    """Endless batches of targets, then sources, as long as each other."""
    for epoch in count():
        shuffled = bucketed(
            examples, batch_size, 1000 * seed + epoch,
            lambda pair: (len(pair[1]), len(pair[0])),
        )  # fmt: skip
        for batch in shuffled:
            cut = ([ids[:80] for ids in side] for side in zip(*batch, strict=True))
            parts = make_batch(*cut)
            yield tuple(part.to(device()) for part in parts)


GREEDY = partial(sequence_reversal.greedy_decode, max_len=60)


def scored(texts: list[str], pairs: list[corpora.Pair]) -> float:
    """BLEU of some texts against the targets of their pairs."""
    return bleu.corpus(texts, [target for _, target in pairs])


def restored(model: nn.Module, tokenizer, sources: list[str]) -> list[str]:
    """The greedy texts; of the course's model on a CPU, with keys and values kept."""
    if GPU or not isinstance(model, Restorer):
        return recover(model, tokenizer, sources, GREEDY)
    return recover_with_cache(model.eval().transformer, tokenizer, sources)


def train(
    model: nn.Module, tokenizer, corpus, options
) -> list[tuple[float, int, float]]:
    """(seconds, steps, BLEU on dev) as training goes; evaluation is not timed."""
    examples = [(tokenizer.encode(s), tokenizer.encode(t)) for s, t in corpus.train]
    optimizer = torch.optim.AdamW(
        model.parameters(), options.peak, betas=(0.9, 0.98), fused=True
    )
    stream = batches(examples, options.batch, options.seed)
    seconds, done, curve = 0.0, 0, []
    pairs = corpus.dev[: options.dev]
    for look in range(1, options.looks + 1):
        part = options.steps * look // options.looks - done
        started = clock()
        for step in range(done, done + part):
            factor = sequence_reversal.rate_factor(
                step, options.steps // 10, options.steps
            )
            optimizer.param_groups[0]["lr"] = options.peak * factor
            sequence_reversal.training_step(
                model, optimizer, *next(stream),
                loss_function=smoothed_loss,
            )  # fmt: skip
        seconds, done = seconds + clock() - started, done + part
        texts = restored(model, tokenizer, [s for s, _ in pairs])
        curve.append((round(seconds, 1), done, round(scored(texts, pairs), 2)))
        print(f"  {seconds / 60:5.2f} min  step {done:5d}  BLEU {curve[-1][2]:.2f}",
              flush=True)  # fmt: skip
    return curve


def lengthen(model: Restorer, tokenizer, corpus, options) -> tuple[float, float]:
    """Give function words the constant that is best on dev: seconds, BLEU there."""
    pairs = corpus.dev[: options.dev]
    ids = function_word_ids(tokenizer.vocab, corpora.all_function_words())
    sources = [source for source, _ in pairs]

    def score() -> float:
        return scored(restored(model, tokenizer, sources), pairs)

    started = clock()
    constant = calibrate(model.transformer.output.bias, ids, score)
    seconds, best = clock() - started, round(score(), 2)
    print(f"  function words + {constant}  BLEU {best:.2f}  {seconds:6.1f} s")
    return seconds, best


def step_ratio(sizes: Sizes, tokenizer, corpus, batch: int, rounds: int = 40) -> float:
    """Time of a training step of the course's model over torch's: medians, in turns."""
    examples = [
        (tokenizer.encode(s), tokenizer.encode(t)) for s, t in corpus.train[:5000]
    ]
    stream = islice(batches(examples, batch, 0), rounds)
    models = {name: make(sizes).to(device()).train() for name, make in MODELS.items()}
    steps = {
        n: torch.optim.AdamW(m.parameters(), 1e-4, fused=True)
        for n, m in models.items()
    }
    times: dict[str, list[float]] = {name: [] for name in models}
    for source, target in stream:
        target_in, target_out = target[:, :-1], target[:, 1:]
        for name, model in models.items():
            started = clock()
            steps[name].zero_grad()
            loss = smoothed_loss(model(source, target_in), target_out)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps[name].step()
            times[name].append(clock() - started)
    # Pairs see the same batch; the first ones warm up.
    ratios = [a / b for a, b in zip(*times.values(), strict=True)][5:]
    for name, seconds in times.items():
        print(f"  {name:22} {1000 * statistics.median(seconds[5:]):6.1f} ms a step")
    return statistics.median(ratios)


def decoding(model: nn.Module, tokenizer, corpus, options) -> None:
    """BLEU on test and time of greedy decoding (beam 0) and of beams."""
    pairs = corpus.test[: options.dev]
    sources = [source for source, _ in pairs]
    for size in map(int, options.beams.split(",")):
        decode = GREEDY
        if size:
            decode = partial(text_recovery.beam_search, beam_size=size)
        started = clock()
        score = scored(recover(model, tokenizer, sources, decode), pairs)
        print(f"  beam {size:2d}  BLEU on test {score:.2f}  {clock() - started:6.1f} s")


def main() -> None:
    """Run what the command line asks for."""
    options = _options()
    warnings.filterwarnings("ignore", message="enable_nested_tensor")
    torch.set_num_threads(1)
    corpus = load(options.corpus, options.level)
    pairs = corpus.dev[: options.dev]
    sources = [source for source, _ in pairs]
    inserter = baselines.Insertion(corpus.train)
    print(
        f"{corpus.name}, level {options.level}, {len(corpus.train)} training sentences"
    )
    for name, one in (("copy", baselines.copy), ("rule", baselines.rule),
                      ("insertion", inserter)):  # fmt: skip
        print(f"  {name:10} BLEU {scored([one(s) for s in sources], pairs):.2f}")
    tokenizer = tokenizer_of(corpus, options.vocab)
    width = options.d_model
    sizes = Sizes(len(tokenizer), width, 4, options.layers, 4 * width, options.dropout)
    print("one training step")
    ratio = step_ratio(sizes, tokenizer, corpus, options.batch)
    print(f"  course / torch.nn.Transformer: {ratio:.3f}")
    results = {"ratio": ratio}
    for name in options.models.split(","):
        torch.manual_seed(options.seed)
        model = MODELS[name](sizes).to(device())
        faster.pooled_dropout(model)
        if options.bf16:
            faster.mixed_precision(model)
        print(f"{name}, {parameters(model):,} parameters")
        results[name] = train(model, tokenizer, corpus, options)
        if options.lengthen and name == "course":
            seconds, best = lengthen(model, tokenizer, corpus, options)
            trained, steps, _ = results[name][-1]
            results[name].append((round(trained + seconds, 1), steps, best))
        decoding(model, tokenizer, corpus, options)
        if options.save and name == "course":
            curve = [row[1:] for row in results[name]]
            save(options.save, model, tokenizer, curve=curve, seed=options.seed)
    if options.json:
        Path(options.json).write_text(json.dumps(results), encoding="utf-8")
    reached = [s for s, _, score in results.get("course", []) if score >= options.goal]
    when = f"after {min(reached) / 60:.2f} minutes" if reached else "was not reached"
    print(f"BLEU {options.goal} on dev {when}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (
        ("steps", 3400), ("batch", 24), ("vocab", 1500), ("dev", 1000), ("level", 2),
        ("seed", 0), ("looks", 10), ("d_model", 128), ("layers", 2),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in (("peak", 3e-3), ("dropout", 0.0), ("goal", 97.0)):
        parser.add_argument(f"--{name}", type=float, default=value)
    for name, value in (
        ("corpus", "embedded"), ("models", ",".join(MODELS)), ("beams", "0,3,5,10"),
        ("json", ""), ("save", ""),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", default=value)
    for name in ("bf16", "lengthen"):
        parser.add_argument(
            f"--{name}", action=argparse.BooleanOptionalAction, default=False
        )
    parser.add_argument("--recipe", choices=RECIPES, default="embedded")
    parser.set_defaults(**RECIPES[parser.parse_known_args()[0].recipe])
    return parser.parse_args()


if __name__ == "__main__":
    main()
