"""The small models that ship: whole, loud enough, and what transformers computes."""

from __future__ import annotations

import pytest
import torch

from transformer_course.library import likeness
from transformer_course.solutions import since_2017

by_kind = pytest.mark.parametrize("kind", likeness.KINDS)


@by_kind
def test_a_kind_has_weights_that_bfloat16_holds_and_logits_of_size(kind):
    fixture = likeness.stored(kind)
    assert fixture.logits.shape == (*fixture.ids.shape, likeness.SIZES["vocab_size"])
    assert 10 < fixture.logits.abs().max() < 50
    for weight in fixture.weights.values():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, weight.bfloat16().float())
    norms = [w for name, w in fixture.weights.items() if name.endswith("norm.weight")]
    assert norms and all(0.7 < norm.mean() < 1.8 for norm in norms)


def test_the_file_is_small():
    assert likeness.SHIPPED.stat().st_size < 250_000


@by_kind
def test_transformers_computes_the_logits_that_are_stored(kind):
    pytest.importorskip(
        "transformers", reason="pip install .[llama] to compare with it"
    )
    live = likeness.transformers_logits(kind)
    assert live is not None and likeness.stored(kind).gap(live) < 1e-4


def test_without_transformers_nothing_is_computed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    assert likeness.transformers_logits("llama") is None


@by_kind
def test_a_mistake_changes_some_weights_and_keeps_their_shapes(kind):
    weights = likeness.stored(kind).weights
    for changed in likeness.mistaken(weights).values():
        assert list(changed) == list(weights)
        assert {n: w.shape for n, w in changed.items()} == {
            n: w.shape for n, w in weights.items()
        }
        assert any(not torch.equal(changed[n], weights[n]) for n in weights)


def test_a_comparison_tells_the_model_from_mistakes(monkeypatch, capsys):
    monkeypatch.setattr(likeness, "transformers_logits", lambda kind: None)
    model, second_model = (
        since_2017.LanguageModel(**likeness.SIZES, base=b) for b in (1e4, 9)
    )
    likeness.compare("llama", model, {"another base": second_model})
    head, *rows = capsys.readouterr().out.splitlines()
    gaps = {row[:45].strip(): float(row[45:]) for row in rows}
    assert head.startswith("transformers' Llama, logits up to")
    assert gaps.pop("your model") < 1e-4
    assert "another base" in gaps and min(gaps.values()) > 1
