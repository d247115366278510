"""From sentences to batches and back."""

from __future__ import annotations

from tests.transformer_course.library.sentences import GREEDY, SENTENCES
from transformer_course.library.decoding import bucketed, recover


def test_recover_keeps_the_order_of_the_sources(model, tokenizer):
    together = recover(model, tokenizer, SENTENCES, GREEDY, batch_size=2)
    alone = [recover(model, tokenizer, [s], GREEDY)[0] for s in SENTENCES]
    assert together == alone


def test_bucketed_batches_hold_every_example_once():
    examples = list(range(203))
    batched = [x for batch in bucketed(examples, 8, 1, lambda x: x % 7) for x in batch]
    assert sorted(batched) == examples and batched != examples
