"""The judge decodes handed-in weights; texts must agree; shipped ones are nobody's."""

from __future__ import annotations

import json
import string
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED
from autograder.checks.interactor import make_ask, reply
from autograder.checks.probes import find
from tests.transformer_course.handed_in import (
    OWN,
    bytes_of,
    change_checkpoint,
    fresh_case,
    numbers,
    on_track,
    originals,
    side_of,
    sources,
    verdict,
    weights_of,
    with_track,
)
from transformer_course.authoring.tokenizing import Segmenter
from transformer_course.library import checkpoint
from transformer_course.library.text import SPECIALS, SubwordTokenizer
from transformer_course.solutions import encoder_decoder, text_recovery
from transformer_course.text_recovery.exercises import _handed_in, _shipped
from transformer_course.text_recovery.exercises.model import SAMPLE


@pytest.fixture(scope="module")
def own_texts(tmp_path_factory) -> list[str]:
    """What the instructor's own model makes of all sources: seconds to decode."""
    files = {checkpoint.HANDED_IN: OWN.read_bytes()}
    folder = tmp_path_factory.mktemp("own")
    hand_in = _handed_in._open_files(files, originals(), 0, folder)
    model, tokenizer = checkpoint.load(OWN, encoder_decoder, Segmenter())
    return _handed_in._decoded(model, tokenizer, hand_in)


@pytest.fixture
def decoded_once(own_texts, monkeypatch):
    """Have the judge find them decoded, for verdicts on that model."""
    monkeypatch.setattr(_handed_in, "_decoded", lambda *_: own_texts)


@pytest.fixture(scope="module")
def honest(own_texts) -> dict:
    """The verdict on the instructor's own model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_handed_in, "_decoded", lambda *_: own_texts)
        return verdict(OWN)


def test_weights_are_measured_on_all_sentences(honest):
    measured = numbers(honest)
    assert measured["bleu low"] < measured["bleu"] < measured["bleu high"]
    assert 94 < measured["bleu"] < 99
    assert (measured["level"], measured["corpus"]) == (2, 0)
    assert (
        f"on {len(originals())} sentences of the embedded corpus, level 2"
        in measured["says"]
    )
    result = compare(fresh_case(), honest)
    assert 1.0 <= result.credit < 13 / 12 and result.passed


def test_the_sandbox_is_given_a_sample_and_no_original():
    side = side_of()
    assert side.reveal_inputs() == {}
    answers = reply(side, {checkpoint.HANDED_IN: bytes_of(OWN)})
    sample = json.loads(str(answers["sample"]))
    assert len(sample) == SAMPLE and set(sample) < set(sources())
    assert not set(sample) & set(originals())


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 3])
def test_another_level_gives_other_sources_and_another_scale(tmp_path, level):
    measured = numbers(verdict(on_track(tmp_path / "c", level=level)))
    assert measured["level"] == level and measured["bleu"] < 90
    assert f"level {level}" in measured["says"]


@pytest.mark.slow
def test_a_beam_is_decoded_as_the_file_says(tmp_path, honest):
    greedily = verdict(on_track(tmp_path / "c", beam=1))
    assert numbers(greedily)["bleu"] < numbers(honest)["bleu"], "its file says 3"


@pytest.mark.slow
def test_beams_of_ones_own_weights_are_ones_own():
    beams = partial(text_recovery.beam_search, beam_size=3)
    assert RAISED not in verdict(OWN, weights_of(OWN, beams))


@pytest.mark.parametrize(
    "track",
    [
        {"level": 4}, {"level": "2"}, {"level": True}, {"beam": 11}, {"beam": 0},
        {"alpha": -1}, {"alpha": float("nan")}, {"corpus": "../../etc"},
        {"colour": 1}, {"level": [2]},
    ],
)  # fmt: skip
def test_a_track_that_there_is_not_is_refused(tmp_path, track):
    assert "the file says" in verdict(on_track(tmp_path / "c", **track))[RAISED]


def test_answers_of_the_shipped_checkpoint_are_not_those_of_ones_own(decoded_once):
    answers = verdict(OWN, _shipped.shipped_outputs)
    assert "ships with the course" in answers[RAISED]


def test_the_shipped_checkpoint_is_decoded_alike_on_all_processors(monkeypatch):
    before = torch.get_default_dtype()
    first_sources = sources()[:100]
    certain = _shipped._restored(first_sources, torch.float64)
    assert _shipped.shipped_outputs(first_sources) == certain
    calls = []

    def decoded(sources, dtype, leads=None):
        calls.append((sources, dtype))
        if leads is not None:  # of four sentences, the second is a near tie
            leads[:] = torch.tensor([1.0, 0.001, 0.5, 2.0])
        return [f"{dtype} {source}" for source in sources]

    monkeypatch.setattr(_shipped, "_restored", decoded)
    outputs = _shipped.shipped_outputs(first_sources[:4])
    assert [text.split()[0] for text in outputs] == [
        "torch.float32", "torch.float64", "torch.float32", "torch.float32"
    ]  # fmt: skip
    assert calls == [
        (first_sources[:4], torch.float32),
        (first_sources[1:2], torch.float64),
    ]
    assert torch.get_default_dtype() == before


@pytest.mark.parametrize(
    "restore",
    [
        list,
        pytest.param(
            lambda sources: [f"{s.capitalize()}." for s in sources],
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda sources: [""] * len(sources), marks=pytest.mark.slow),
        pytest.param(lambda sources: [], marks=pytest.mark.slow),
    ],
)
def test_texts_of_another_origin_do_not_count(restore, decoded_once):
    assert "are not what the weights" in verdict(OWN, restore)[RAISED]


@pytest.mark.slow
def test_beams_of_a_weak_model_are_its_own_although_unlike_greedy_ones(tmp_path):
    torch.manual_seed(0)
    weak = change_checkpoint(
        tmp_path / "c", lambda w: w + 0.75 * w.std() * torch.randn_like(w)
    )
    wide = partial(text_recovery.beam_search, beam_size=5, alpha=1.0)
    few = sources()[:100]
    greedily, widely = weights_of(weak)(few), weights_of(weak, wide)(few)
    assert _handed_in.likeness(widely, greedily) < _handed_in.SAME
    assert RAISED not in verdict(weak, weights_of(weak, wide))
    assert "are not what the weights" in verdict(weak, list)[RAISED]


def test_without_a_model_there_is_nothing_to_grade():
    assert "no model is handed in" in verdict(None, list)[RAISED]


def test_the_shipped_weights_are_known_even_when_they_are_changed_a_little(tmp_path):
    for path in (checkpoint.shipped(), noisy_shipped(tmp_path / "noisy", 1e-3, 2)):
        assert "ships with the course" in verdict(path, list)[RAISED]


def test_the_shipped_weights_in_another_order_are_known_by_their_errors(tmp_path):
    """Hidden units may stand in any order: other weights, the very same model."""
    weights = load_file(checkpoint.shipped())
    for name in [n for n in weights if n.endswith("feed_forward.linear1.weight")]:
        start = name.removesuffix("linear1.weight")
        order = torch.randperm(len(weights[name]))
        for part in ("linear1.weight", "linear1.bias"):
            weights[start + part] = weights[start + part][order].contiguous()
        last = f"{start}linear2.weight"
        weights[last] = weights[last][:, order].contiguous()
    with safe_open(checkpoint.shipped(), framework="pt") as file:
        save_file(weights, tmp_path / "turned", file.metadata())
    assert "ships with the course" in verdict(tmp_path / "turned")[RAISED]


def test_noise_on_the_shipped_weights_is_no_training(tmp_path):
    """So much that its errors are others, and so little that it recovers nearly all."""
    path = noisy_shipped(tmp_path / "noisy", 0.25, 2)
    assert "started from the checkpoint" in verdict(path)[RAISED]


def noisy_shipped(path: Path, share: float, level: int) -> Path:
    """The shipped checkpoint with noise on its weights, for a level."""
    torch.manual_seed(2)

    def disturb(w: torch.Tensor) -> torch.Tensor:
        noise = share * w.float().std() * torch.randn(w.shape)
        return (w + noise).half() if w.dim() > 1 else w

    about = partial(with_track, level=level)
    return change_checkpoint(path, disturb, about, checkpoint.shipped())


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 3])
def test_the_shipped_model_with_noise_is_refused_at_every_level(tmp_path, level):
    path = noisy_shipped(tmp_path / "noisy", 0.06, level)
    assert "the checkpoint that ships" in verdict(path)[RAISED]


def test_weights_that_go_back_to_the_shipped_ones_are_known_by_any_other_name():
    """Symbols in other letters, and in another order."""
    model, tokenizer = checkpoint.load(
        checkpoint.shipped(), encoder_decoder, Segmenter()
    )
    letters = string.ascii_lowercase
    code = str.maketrans(letters, letters[1:] + letters[0])
    renamed_sources = [source.translate(code) for source in sources()[:300]]
    renamed = SubwordTokenizer(
        (letter.translate(code) for letter in tokenizer.alphabet),
        [(a.translate(code), b.translate(code)) for a, b in tokenizer.merges],
        Segmenter(),
    )
    symbols = [*SPECIALS, *(s.translate(code) for s in tokenizer.vocab[4:])]
    order = [symbols.index(symbol) for symbol in renamed.vocab]
    embedding = model.transformer.source.embedding.weight
    with torch.no_grad():
        embedding.copy_(embedding[order].clone())
    assert _shipped.is_derived_from_shipped(model, renamed, renamed_sources)
    relabelled, second_tokenizer = checkpoint.load(OWN, encoder_decoder, Segmenter())
    assert not _shipped.is_derived_from_shipped(
        relabelled, second_tokenizer, sources()[:300]
    )


def test_most_errors_of_the_shipped_model_are_a_sign_and_a_few_are_chance():
    wanted = [f"sentence number {i} ." for i in range(100)]

    def with_errors(word: str, places) -> list[str]:
        return [
            f"sentence {word} {i} ." if i in places else t for i, t in enumerate(wanted)
        ]

    copied, has_same_errors = (
        with_errors("nr", range(0, 80, 2)),
        _shipped.has_same_errors,
    )
    assert has_same_errors(wanted, copied, copied)
    assert has_same_errors(wanted, with_errors("nr", range(0, 70, 2)), copied)
    assert not has_same_errors(wanted, with_errors("nummer", range(0, 80, 2)), copied)
    assert not has_same_errors(wanted, with_errors("nr", range(0, 40, 2)), copied)
    assert not has_same_errors(wanted, wanted, copied)


@pytest.mark.parametrize(
    "about",
    [
        lambda text: text.replace('"d_model": 128', '"d_model": 128000'),
        lambda text: text.replace('"num_layers": 2', '"num_layers": true'),
        lambda text: text.replace('"max_len": 200', '"max_len": -1'),
        lambda text: text.replace('"sizes"', '"size"'),
        lambda text: "[" * 100_000,
        lambda text: "{}",
        lambda text: "x" * (3 << 20),
    ],
)
def test_a_strangers_description_is_refused_in_words(tmp_path, about):
    message = verdict(change_checkpoint(tmp_path / "c", about=about), list)[RAISED]
    words = ("too l", "nothing can be decoded", "no description")
    assert any(word in message for word in words) and "\n" not in message, message


def test_another_architecture_is_named(tmp_path):
    deeper = change_checkpoint(
        tmp_path / "c", about=lambda t: t.replace('"num_layers": 2', '"num_layers": 3')
    )
    message = verdict(deeper, list)[RAISED]
    assert (
        "does not hold a Restorer" in message
        and "is missing in the file, and (" in message
    )
    save_file({"lstm.weight_ih_l0": torch.ones(3, 4)}, tmp_path / "lstm")
    assert "no description of its model" in verdict(tmp_path / "lstm", list)[RAISED]


def test_bytes_that_are_no_checkpoint_are_refused(tmp_path):
    for data in (b"x" * 1000, OWN.read_bytes()[:5000]):
        (tmp_path / "c").write_bytes(data)
        assert "nothing can be decoded" in verdict(tmp_path / "c", list)[RAISED]


@pytest.mark.parametrize("texts", ["[" * 100_000, "null", "[1]", "x"])
def test_texts_that_are_none_are_refused(texts):
    assert "a list of texts" in verdict(OWN, lambda sources: texts)[RAISED]


def test_the_probe_hands_over_the_file_that_lies_beside_the_notebook(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    questions, probe = [], find("text_recovery/model")

    def ask(question) -> dict:
        questions.append(question)
        return {"sample": json.dumps(["a", "b"])}

    for data in (OWN.read_bytes(), b""):
        (tmp_path / checkpoint.HANDED_IN).write_bytes(data)
        answers = probe.play(lambda texts: [f"{t}." for t in texts], {}, make_ask(ask))
        assert json.loads(str(answers["texts"])) == ["a.", "b."]
    assert torch.equal(questions[0][checkpoint.HANDED_IN], bytes_of(OWN))
    assert checkpoint.HANDED_IN not in questions[1]
