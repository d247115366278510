"""What runs of unit 06's notebook earn: BLEU on fresh test sets, greedily and by beam.

    python benchmarks/points.py baseline reference long             # level 2
    python benchmarks/points.py long --bf16 --save my_recovery.safetensors

`baseline` is part A's run, `reference` part C's; the others are choices of one's own
within the budget. `--bf16` trains with products in bfloat16, see benchmarks/faster.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autograder.checks.measures import credit
from benchmarks import faster
from benchmarks.recovery import smoothed_loss, tokenizer_of
from transformer_course.authoring.decoding import recover_with_cache
from transformer_course.library import bleu, corpora
from transformer_course.library.checkpoint import save
from transformer_course.library.corpora import Corpus, Pair
from transformer_course.library.decoding import bucketed, make_batch
from transformer_course.library.model import Restorer, Sizes, parameters
from transformer_course.library.pipeline import damage
from transformer_course.library.text import Tokenizer, WordTokenizer
from transformer_course.solutions import encoder_decoder, sequence_reversal
from transformer_course.text_recovery.library.meter import Batch, TokenMeter
from transformer_course.text_recovery.library.scale import EMBEDDED

RUN = {"tokens": 400_000, "d_model": 128, "smoothing": 0.1, "peak": 3e-3, "symbols": 0}
RUNS: dict[str, dict[str, Any]] = {
    "baseline": {"tokens": 250_000, "smoothing": 0.0},
    "reference": {},
    "long": {"tokens": 1_200_000},
    "subwords": {"tokens": 1_500_000, "symbols": 1500},
    "wide": {"tokens": 1_200_000, "d_model": 256, "peak": 2e-3},
}


def batches(tokenizer: Tokenizer, pairs: list[Pair], seed: int) -> Iterator[Batch]:
    """The notebook's batches of 24, in a different order in each epoch."""
    examples = [tuple(tokenizer.encode(text)[:80] for text in pair) for pair in pairs]
    for epoch in count():
        order = 1000 * seed + epoch
        for batch in bucketed(examples, 24, order, lambda pair: len(pair[1])):
            yield make_batch(*zip(*batch, strict=True))


def trained(
    corpus: Corpus, run: dict[str, Any], seed: int, bf16: bool
) -> tuple[Restorer, Tokenizer, TokenMeter]:
    """A model trained as the notebook trains."""
    texts = [text for pair in corpus.train for text in pair]
    tokenizer = WordTokenizer.learn(texts)
    if run["symbols"]:
        tokenizer = tokenizer_of(corpus, run["symbols"])
    torch.manual_seed(seed)
    width = run["d_model"]
    model = Restorer(Sizes(len(tokenizer), width, d_ff=4 * width), encoder_decoder)
    if bf16:
        faster.mixed_precision(model)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), fused=True)
    meter = TokenMeter(run["tokens"])
    loss = partial(smoothed_loss, smoothing=run["smoothing"])
    for source, target in meter(batches(tokenizer, corpus.train, seed)):
        factor = sequence_reversal.rate_factor(int(1000 * meter.progress), 100, 1000)
        optimizer.param_groups[0]["lr"] = run["peak"] * factor
        sequence_reversal.training_step(
            model, optimizer, source, target, loss_function=loss
        )
    return model.eval(), tokenizer, meter


def main() -> None:
    """Train the runs that the command line names, and show what they earn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", choices=RUNS)
    parser.add_argument("--level", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--save", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = corpora.load("embedded", partial(damage, level=options.level))
    sets = [corpus.test]
    for name in "ab":
        texts = corpora.generate(f"grade {name}", 1000, "test")
        sets.append([(damage(text, options.level), text) for text in texts])
    scale = EMBEDDED[options.level].scale()
    for name in options.runs:
        run = RUN | RUNS[name]
        model, tokenizer, meter = trained(corpus, run, options.seed, options.bf16)
        print(
            f"{name}: {parameters(model):,} parameters, {meter.seen:,} target tokens, "
            f"{meter.seconds:.0f} s of CPU"
        )
        if options.save:
            track = {"level": options.level, "beam": 3}
            save(options.save, model, tokenizer, run=name, track=track)
        for beam in (1, 3):
            scores = []
            for pairs in sets:
                sources, originals = zip(*pairs, strict=True)
                texts = recover_with_cache(
                    model.transformer, tokenizer, sources, beam=beam
                )
                scores.append(bleu.corpus(texts, originals))
            shares = ", ".join(f"{s:.1f} ({credit(s, scale):.0%})" for s in scores)
            print(f"  beam {beam}: {shares}", flush=True)


if __name__ == "__main__":
    main()
