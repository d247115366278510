"""Texts must be what the handed-in weights give; the shipped weights are nobody's."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from autograder.student.exercise import RAISED, plain
from autograder.student.otherside import asking, concluded
from autograder.student.probes import find
from autograder.student.recovery import checkpoint, evidence

OWN = Path(checkpoint.__file__).parents[2] / "bank" / checkpoint.SHIPPED
SOURCES = [
    "simon feed cow next saturday",
    "clara ask victoria read article",
    "martin sing ballad tuesday",
    "david sign prescription go bed",
]


def verdict(path: Path | None, texts: object) -> dict:
    side = evidence.HandedIn({"sources": json.dumps(SOURCES)}, random.Random(0))
    answers = {"bleu": texts if isinstance(texts, str) else json.dumps(texts)}
    if path:
        data = bytearray(path.read_bytes())
        answers["checkpoint"] = torch.frombuffer(data, dtype=torch.uint8)
    return dict(concluded(side, answers))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """What the weights of the instructor's own checkpoint give."""
    return evidence.decoded(OWN.read_bytes(), SOURCES)[1]


def changed(path: Path, change, about=lambda text: text) -> Path:
    """The instructor's checkpoint with other weights or another description."""
    from safetensors import safe_open

    with safe_open(OWN, framework="pt") as file:
        note = file.metadata()["about"]
    save_file(
        {name: change(value) for name, value in load_file(OWN).items()},
        path,
        {"about": about(note)},
    )
    return path


def test_texts_of_ones_own_weights_count(texts):
    assert verdict(OWN, texts) == {"bleu": json.dumps(texts)}


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
    from safetensors import safe_open

    with safe_open(checkpoint.shipped(), framework="pt") as file:
        about = file.metadata()
    save_file(noisy, tmp_path / "noisy", about)
    for path in (checkpoint.shipped(), tmp_path / "noisy"):
        assert "ships with the course" in verdict(path, [""] * 4)[RAISED]


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
    probe, inputs = find("text_recovery/model"), {"sources": json.dumps(SOURCES)}
    side = probe.other(inputs, random.Random(0))

    def graded(restore) -> dict:
        seen = probe.play(restore, side.shown(), asking(lambda question: {}))
        return dict(concluded(side, {n: plain(value) for n, value in seen.items()}))

    assert graded(lambda sources: texts) == {"bleu": json.dumps(texts)}
    assert RAISED in graded(lambda sources: [f"{s}." for s in sources])
    (tmp_path / checkpoint.HANDED_IN).write_bytes(b"")
    assert "no model" in graded(lambda sources: texts)[RAISED]
