"""The judge decodes handed-in weights; texts must agree; shipped ones are nobody's."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, plain
from autograder.checks.interactor import asking, concluded
from autograder.checks.probes import find
from autograder.course import ROOT
from autograder.library import checkpoint
from autograder.library.decoding import recover
from autograder.solutions import encoder_decoder, text_recovery
from autograder.units.text_recovery.exercises import model as handed_in
from autograder.units.text_recovery.exercises.model import shipped_outputs

TASK = specification("text_recovery/model")
OWN = ROOT / "autograder" / "units" / "text_recovery" / checkpoint.SHIPPED
SOURCES = [
    "simon feed cow next saturday",
    "clara ask victoria read article",
    "martin sing ballad tuesday",
    "david sign prescription go bed",
]


def bytes_of(path: Path) -> torch.Tensor:
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)


def side_of(sources: list[str]) -> handed_in.HandedInModel:
    return handed_in.HandedInModel({"sources": json.dumps(sources)}, random.Random(0))


def in_turn(texts: list[str]) -> list[str]:
    """Texts of the sources, in the order in which the box is given these."""
    turn = json.loads(str(side_of(SOURCES).shown()["sample"]))
    return [texts[SOURCES.index(source)] for source in turn]


def verdict(path: Path | None, texts: object) -> dict:
    side = side_of(SOURCES)
    answers = {"bleu": texts if isinstance(texts, str) else json.dumps(texts)}
    if path:
        answers["checkpoint"] = bytes_of(path)
    return dict(concluded(side, answers))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """What the weights of the instructor's own checkpoint give."""
    return handed_in.decoded(OWN.read_bytes(), SOURCES).texts


def changed(path: Path, change, about=lambda text: text) -> Path:
    """The instructor's checkpoint with other weights or another description."""
    with safe_open(OWN, framework="pt") as file:
        note = file.metadata()["about"]
    save_file(
        {name: change(value) for name, value in load_file(OWN).items()},
        path,
        {"about": about(note)},
    )
    return path


def test_texts_of_ones_own_weights_count(texts):
    assert verdict(OWN, in_turn(texts)) == {"bleu": json.dumps(texts)}


def test_the_box_is_given_a_sample_and_the_weights_are_measured_on_all():
    sources = [f"{source} {n}" for n in range(60) for source in SOURCES]
    sample = json.loads(str(side_of(sources).shown()["sample"]))
    assert len(set(sample)) == handed_in.SAMPLE and set(sample) < set(sources)
    assert "sources" not in side_of(sources).shown()
    own = handed_in.decoded(OWN.read_bytes(), sources).texts
    right = [own[sources.index(source)] for source in sample]
    answers = {"bleu": json.dumps(right), "checkpoint": bytes_of(OWN)}
    found = concluded(side_of(sources), answers)
    assert json.loads(str(found["bleu"])) == own


def test_answers_of_the_shipped_checkpoint_are_not_those_of_ones_own():
    sources = json.loads(str(fresh_cases(TASK, "seed")[0].inputs["sources"]))
    shown = json.loads(str(side_of(sources).shown()["sample"]))
    answers = {"bleu": json.dumps(shipped_outputs(shown)), "checkpoint": bytes_of(OWN)}
    found = concluded(side_of(sources), answers)
    assert "ships with the course" in str(found[RAISED])


def test_beams_of_ones_own_weights_are_ones_own():
    sources = json.loads(str(fresh_cases(TASK, "seed")[0].inputs["sources"]))
    shown = json.loads(str(side_of(sources).shown()["sample"]))
    model, tokenizer = checkpoint.load(OWN, encoder_decoder, text_recovery.segment)
    beams = partial(text_recovery.beam_search, beam_size=3)
    with torch.no_grad():
        texts = recover(model, tokenizer, shown, beams)
    answers = {"bleu": json.dumps(texts), "checkpoint": bytes_of(OWN)}
    found = concluded(side_of(sources), answers)
    assert json.loads(str(found["bleu"])) != texts and RAISED not in found


def test_a_drawing_decodes_nothing_until_somebody_asks(monkeypatch):
    asked = []

    def outputs(sources: list[str]) -> list[str]:
        asked.append(len(sources))
        return sources

    monkeypatch.setattr(
        "autograder.units.text_recovery.exercises.model.shipped_outputs", outputs
    )
    (case,) = fresh_cases(TASK, "seed")
    assert set(case.expected) == {"bleu", "copied"} and not asked
    assert case.expected["copied"] and case.expected["copied"] and asked == [600]


def test_the_shipped_checkpoint_is_decoded_alike_on_all_processors(monkeypatch):
    before = torch.get_default_dtype()
    sources = json.loads(str(fresh_cases(TASK, "seed")[0].inputs["sources"]))[:300]
    certain = handed_in._restored(sources, torch.float64)
    assert shipped_outputs(sources) == certain
    asked = []

    def decoded(sources, dtype, leads=None):
        asked.append((sources, dtype))
        if leads is not None:  # of four sentences, the second is a near tie
            leads[:] = torch.tensor([1.0, 0.001, 0.5, 2.0])
        return [f"{dtype} {source}" for source in sources]

    monkeypatch.setattr(handed_in, "_restored", decoded)
    found = shipped_outputs(SOURCES)
    assert [text.split()[0] for text in found] == [
        "torch.float32", "torch.float64", "torch.float32", "torch.float32"
    ]  # fmt: skip
    assert asked == [(SOURCES, torch.float32), (SOURCES[1:2], torch.float64)]
    assert torch.get_default_dtype() == before


def test_texts_of_another_origin_do_not(texts):
    for others in (SOURCES, [f"{s.capitalize()}." for s in SOURCES], [""] * 4, []):
        assert "are not what the weights" in verdict(OWN, others)[RAISED]


def test_without_a_model_there_is_nothing_to_grade(texts):
    assert "no model is handed in" in verdict(None, texts)[RAISED]


def test_the_shipped_weights_are_known_even_when_they_are_changed_a_little(tmp_path):
    torch.manual_seed(0)
    weights = load_file(checkpoint.shipped())
    noisy = {
        n: (w + 1e-3 * w.abs().mean() * torch.randn(w.shape)).half()
        for n, w in weights.items()
    }
    with safe_open(checkpoint.shipped(), framework="pt") as file:
        about = file.metadata()
    save_file(noisy, tmp_path / "noisy", about)
    for path in (checkpoint.shipped(), tmp_path / "noisy"):
        assert "ships with the course" in verdict(path, [""] * 4)[RAISED]


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
    (case,) = fresh_cases(TASK, "seed")
    sources = json.loads(str(case.inputs["sources"]))
    texts = handed_in.decoded((tmp_path / "turned").read_bytes(), sources).texts
    result = compare(case, {"bleu": json.dumps(texts)})
    assert result.credit == 0 and "ships with the course" in result.findings[0].message


def test_noise_on_the_shipped_weights_is_no_training(tmp_path):
    """So much that its errors are others, and so little that it recovers nearly all."""
    torch.manual_seed(2)
    noisy = {
        n: (w + 0.25 * w.float().std() * torch.randn(w.shape)).half() if w.dim() > 1
        else w
        for n, w in load_file(checkpoint.shipped()).items()
    }  # fmt: skip
    with safe_open(checkpoint.shipped(), framework="pt") as file:
        save_file(noisy, tmp_path / "noisy", file.metadata())
    (case,) = fresh_cases(TASK, "seed")
    sources = json.loads(str(case.inputs["sources"]))
    given = json.loads(str(side_of(sources).shown()["sample"]))
    texts = handed_in.decoded((tmp_path / "noisy").read_bytes(), given).texts
    answers = {"bleu": json.dumps(texts), "checkpoint": bytes_of(tmp_path / "noisy")}
    found = concluded(side_of(sources), answers)
    alone = compare(case, {"bleu": found["bleu"]})
    assert alone.credit == 1, "its texts do not give it away"
    result = compare(case, found)
    assert (
        result.credit == 0
        and "started from the checkpoint" in result.findings[0].message
    )


def test_who_trains_the_shipped_weights_on_is_measured_against_them():
    (case,) = fresh_cases(TASK, "seed")
    originals = json.loads(str(case.expected["bleu"]))
    found = {"bleu": json.dumps(originals), "goes back": "yes"}
    assert compare(case, found).credit > 1


def test_a_model_of_ones_own_does_not_go_back_to_the_shipped_one():
    sources = json.loads(str(fresh_cases(TASK, "seed")[0].inputs["sources"]))
    assert not handed_in.decoded(OWN.read_bytes(), sources).goes_back


@pytest.mark.parametrize(
    "about",
    [
        lambda text: text.replace('"d_model": 128', '"d_model": 128000'),
        lambda text: text.replace('"num_layers": 2', '"num_layers": true'),
        lambda text: text.replace('"max_len": 200', '"max_len": -1'),
        lambda text: "[" * 100_000,
        lambda text: "{}",
        lambda text: "x" * (3 << 20),
    ],
)
def test_a_strangers_description_is_refused_in_words(tmp_path, about):
    path = changed(tmp_path / "c", lambda w: w, about)
    said = verdict(path, [""] * 4)[RAISED]
    assert any(word in said for word in ("too l", "nothing can be decoded")), said


def test_bytes_that_are_no_checkpoint_are_refused(tmp_path):
    for data in (b"x" * 1000, OWN.read_bytes()[:5000]):
        (tmp_path / "c").write_bytes(data)
        assert RAISED in verdict(tmp_path / "c", [""] * 4)


@pytest.mark.parametrize("texts", ["[" * 100_000, "null", "[1]", "x"])
def test_texts_that_are_none_are_refused(texts):
    assert "a list of texts" in verdict(OWN, texts)[RAISED]


def test_the_probe_hands_over_the_file_that_lies_beside_the_notebook(
    tmp_path, monkeypatch, texts
):
    (tmp_path / checkpoint.HANDED_IN).write_bytes(OWN.read_bytes())
    monkeypatch.chdir(tmp_path)
    probe, side = find("text_recovery/model"), side_of(SOURCES)

    def graded(restore) -> dict:
        seen = probe.play(restore, side.shown(), asking(lambda question: {}))
        return dict(concluded(side, {n: plain(value) for n, value in seen.items()}))

    honest = dict(zip(SOURCES, texts, strict=True))
    assert graded(lambda sources: [honest[s] for s in sources]) == {
        "bleu": json.dumps(texts)
    }
    assert RAISED in graded(lambda sources: [f"{s}." for s in sources])
    (tmp_path / checkpoint.HANDED_IN).write_bytes(b"")
    assert "no model" in graded(lambda sources: texts)[RAISED]
