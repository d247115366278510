"""Published models in the course's classes compute what `transformers` computes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from autograder.course import ROOT
from tests.transformer_course.solutions import given
from transformer_course.assistant.library.assistant import load_assistant
from transformer_course.assistant.library.texts import ESSAY
from transformer_course.library import attention_maps, published
from transformer_course.solutions import encoder_decoder, since_2017

MINILM, SMOLLM = (given.code(name) for name in ("encoder_decoder", "since_2017"))
RESTORED = given.code("assistant")["restored"]
SIZES = {"hidden_size": 24, "num_attention_heads": 6, "num_hidden_layers": 3}


@pytest.fixture
def transformers() -> Any:
    return pytest.importorskip(
        "transformers", reason="pip install .[llama] to compare with its models"
    )


def bert(transformers: Any, **sizes: int) -> torch.nn.Module:
    config = transformers.BertConfig(**sizes, attn_implementation="eager")
    return transformers.BertModel(config, add_pooling_layer=False)


def halves_to_pairs(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """As llama.cpp stores queries and keys: the way back of exercise 7.3."""
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def as_stored(theirs: Any) -> dict[str, torch.Tensor]:
    """A Llama's weights in the layout and under the names of llama.cpp."""
    names = {
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    weights = theirs.model
    stored = {
        "token_embd.weight": weights.embed_tokens.weight,
        "output_norm.weight": weights.norm.weight,
    }
    heads = {
        "attn_q": theirs.config.num_attention_heads,
        "attn_k": theirs.config.num_key_value_heads,
    }
    for number, layer in enumerate(weights.layers):
        for name, new in names.items():
            weight = layer.get_submodule(name).weight
            if new in heads:
                weight = halves_to_pairs(weight, heads[new])
            stored[f"blk.{number}.{new}.weight"] = weight
    return {name: weight.detach() for name, weight in stored.items()}


def test_the_encoder_is_berts_with_the_same_weights(transformers):
    sizes = SIZES | {"vocab_size": 50, "intermediate_size": 40}
    theirs = given.shake(bert(transformers, **sizes))
    ours = MINILM["SentenceEncoder"](theirs.state_dict(), num_heads=6).eval()
    ids = torch.randint(1, 50, (3, 17))
    with torch.no_grad():
        found, expected = ours(ids), theirs(ids).last_hidden_state
    assert expected.abs().max() > 0.5
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("base", [10_000.0, 100_000.0])
def test_the_language_model_is_a_llama_filled_from_its_file(transformers, base):
    config = transformers.LlamaConfig(
        vocab_size=50, intermediate_size=32, num_key_value_heads=2, **SIZES,
        rms_norm_eps=1e-5, tie_word_embeddings=True, attn_implementation="eager",
        rope_theta=base,
    )  # fmt: skip
    theirs = given.shake(transformers.LlamaForCausalLM(config))
    ours = since_2017.LanguageModel(50, 24, 6, 2, 3, 48, base, 1e-5)
    SMOLLM["fill"](ours, as_stored(theirs))
    ids = torch.randint(50, (3, 19))
    with torch.no_grad():
        found, expected = ours(ids), theirs(ids).logits
        cached, _ = SMOLLM["cached_logits"](ours, ids)
    assert expected.abs().max() > 0.5
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(cached, expected, rtol=0, atol=1e-5)


def installed(name: str) -> published.PublishedModel:
    """A real one; skips where its package is not installed."""
    try:
        return published.fetch(name)
    except published.PublishedModelError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def minilm() -> tuple[published.PublishedModel, torch.nn.Module]:
    model = installed("minilm")
    return model, MINILM["SentenceEncoder"](model.weights).eval()


@pytest.mark.slow
class TestMiniLM:
    """What units 2 to 4 say of it."""

    def test_it_is_the_librarys(self, transformers, minilm):
        model, ours = minilm
        sizes = {"hidden_size": 384, "num_attention_heads": 12, "num_hidden_layers": 6}
        theirs = bert(transformers, vocab_size=30_522, intermediate_size=1536, **sizes)
        theirs.load_state_dict(dict(model.weights), strict=False)
        ids = torch.tensor([model.encode("A kitten naps on the couch, doesn't it?")])
        with torch.no_grad():
            found, expected = ours(ids), theirs.eval()(ids).last_hidden_state
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)

    @pytest.mark.parametrize(
        ("question", "sentence", "score", "next_best"),
        [
            ("my login does not work", "How do I reset my password?", 0.55, 0.06),
            ("shares lost value", "Stock markets fell sharply on Monday.", 0.45, 0.09),
            ("a feline rests", "A kitten naps on the couch.", 0.44, 0.31),
        ],
    )
    def test_it_finds_what_means_the_same(
        self, minilm, question, sentence, score, next_best
    ):
        model, ours = minilm
        vector = MINILM["sentence_vector"]
        sentences = MINILM["SENTENCES"]
        asked = vector(ours, model.encode(question))
        scores = [float(vector(ours, model.encode(s)) @ asked) for s in sentences]
        best, second = sorted(scores, reverse=True)[:2]
        assert sentences[scores.index(best)] == sentence
        assert (round(best, 2), round(second, 2)) == (score, next_best)

    @pytest.mark.parametrize("sentence", attention_maps.sentences())
    def test_the_maps_that_ship_are_its_own(self, minilm, sentence):
        model, ours = minilm
        layers = [layer.attention for layer in ours.encoder.layers]
        ids = torch.tensor([model.encode(sentence)])
        found = encoder_decoder.attention_weights(ours, layers, ids)
        shipped = attention_maps.maps_of(sentence).weights
        torch.testing.assert_close(torch.cat(found), shipped, rtol=0, atol=1e-3)

    @pytest.mark.parametrize("why", ["scared", "tall"])
    def test_its_heads_look_where_the_text_says(self, minilm, why):
        model, ours = minilm
        text = f"The cat didn't climb the tree because it was too {why}."
        ids = model.encode(text)
        tokens = [model.token(i) for i in ids]
        layers = [layer.attention for layer in ours.encoder.layers]
        maps = torch.cat(
            encoder_decoder.attention_weights(ours, layers, torch.tensor([ids]))
        )  # (layers, h, L, L)
        assert maps[0, 2].diagonal(-1).mean() > 0.9998
        assert 0.53 < maps[1, 8].diagonal(1).mean() < 0.55
        it_to_cat = maps[:, :, tokens.index("it"), tokens.index("cat")]
        assert int(it_to_cat.argmax()) == 5 * 12 + 11
        assert round(float(it_to_cat.max()), 2) == 0.62


@pytest.fixture(scope="module")
def chat() -> published.PublishedModel:
    """SmolLM2 in the notebook's names, as its cells put it there."""
    model = installed("smollm2")
    empty = since_2017.LanguageModel(49_152, 576, 9, 3, 30, 2304, 100_000.0, 1e-5)
    SMOLLM.update(smollm=model, chat=SMOLLM["fill"](empty, model.weights))
    return model


@pytest.mark.slow
class TestSmolLM2:
    """What units 7 and 8 say of it."""

    def test_its_perplexity_is_the_stored_one(self, chat):
        found = SMOLLM["perplexity_of_text"](SMOLLM["chat"])
        assert found == pytest.approx(SMOLLM["PERPLEXITY"], rel=0.005)

    def test_it_names_the_capital_of_france_and_reverses_nothing(self, chat):
        answers = [SMOLLM["ask"](q) for q in SMOLLM["QUESTIONS"]]
        assert answers[0] == "The capital of France is Paris."
        assert "tac" not in answers[1]

    def test_it_answers_without_the_cache_while_that_is_a_stub(self, chat, monkeypatch):
        def stub(*_: object) -> None:
            raise NotImplementedError

        monkeypatch.setitem(SMOLLM, "attend_with_cache", stub)
        assert (
            SMOLLM["ask"](SMOLLM["QUESTIONS"][0]) == "The capital of France is Paris."
        )

    def test_its_cache_has_as_many_bytes_as_computed(self, chat):
        cached = SMOLLM["NextLogits"](SMOLLM["chat"])
        with torch.no_grad():
            cached(torch.tensor([chat.encode("The ocean is deep.")]))
        taken = sum(t.numel() * t.element_size() for c in cached.caches for t in c)
        assert taken == cached.fed * 46_080

    @pytest.mark.parametrize(
        ("bits", "width", "perplexity"),
        [(8, 0, 31.18), (6, 0, 31.72), (4, 0, 65.73), (4, 32, 37.98)],
    )
    def test_fewer_bits_cost_what_the_text_says(self, bits, width, perplexity):
        model = load_assistant(since_2017)
        assert model is not None
        model.fill(lambda weight: RESTORED(weight, bits, width or weight.size(1)))
        assert model.perplexity(ESSAY) == pytest.approx(perplexity, rel=0.02)

    def test_without_the_conversion_it_talks_nonsense(self, chat):
        SMOLLM["set_queries_and_keys"](lambda stored, heads: stored)
        try:
            assert 60 < SMOLLM["perplexity_of_text"](SMOLLM["chat"]) < 80
            assert "Paris" not in SMOLLM["ask"](SMOLLM["QUESTIONS"][0], min_p=1.0)
        finally:
            SMOLLM["set_queries_and_keys"](since_2017.pairs_to_halves)


FILLED = """
import re, sys
from pathlib import Path
from transformer_course.library.published import fetch
from tests.transformer_course.solutions import given

def peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status)[1])

name = sys.argv[1]
cells = given.code({"minilm": "encoder_decoder", "smollm2": "since_2017"}[name])
before, model = peak(), fetch(name)
if name == "minilm":
    cells["SentenceEncoder"](model.weights)
else:
    empty = cells["LanguageModel"](49_152, 576, 9, 3, 30, 2304, 100_000.0, 1e-5)
    cells["fill"](empty, model.weights)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
@pytest.mark.parametrize("name", published.LISTED)
def test_a_model_takes_no_more_memory_than_is_asked_for(name):
    installed(name)
    command = [sys.executable, "-c", FILLED, name]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    most = published.LISTED[name].memory
    assert most / 4 < int(said.stdout.split()[-1]) <= most
