"""Texts to tokens and back, checkpoints, experiments, abilities, the leaderboard."""

from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.classroom import leaderboard
from autograder.classroom.leaderboard import Entry
from autograder.cli import main
from autograder.grading.record import Record
from autograder.grading.told import of_verdict
from autograder.solutions import encoder_decoder
from autograder.solutions.sequence_reversal import greedy_decode
from autograder.solutions.text_recovery import beam_search, learn_merges, segment
from autograder.student.compare import compare, judge
from autograder.student.exercise import Case, Exercise
from autograder.student.measures import details, measured, value_of
from autograder.student.probes.text_recovery.decoding import Script
from autograder.student.recovery import abilities, experiments
from autograder.student.recovery.checkpoint import CheckpointError, load, notes, save
from autograder.student.recovery.decoding import bucketed, recover
from autograder.student.recovery.model import Restorer, Sizes, cross_attention
from autograder.student.recovery.text import (
    BOS,
    EOS,
    UNK,
    SubwordTokenizer,
    glue,
    lemma,
    pieces,
)

GREEDY = partial(greedy_decode, max_len=60)
SENTENCES = ['"Go," she said.', "The bakers baked 12 cakes.", "Élodie isn't here!"]


@pytest.fixture
def tokenizer() -> SubwordTokenizer:
    counts = {piece: 3 for text in SENTENCES for piece in pieces(text)}
    alphabet = {c for piece in counts for c in piece}
    return SubwordTokenizer(alphabet, learn_merges(counts, 20), segment)


@pytest.fixture
def model(tokenizer) -> Restorer:
    torch.manual_seed(3)
    return Restorer(Sizes(len(tokenizer), 16, 2, 1, 24), encoder_decoder).eval()


@given(st.text(alphabet="abÉß1.,!'\"- ", max_size=40))
def test_pieces_lose_nothing_but_repeated_spaces(text):
    assert glue(pieces(text)) == " ".join(text.split())


def test_subwords_lose_nothing_of_known_characters(tokenizer):
    for text in SENTENCES:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert UNK in tokenizer.encode("Œuvre")


def test_lemmas_come_offline():
    assert [lemma(w) for w in ("baked", "children", "mice")] == [
        "bake",
        "child",
        "mouse",
    ]


def test_a_checkpoint_gives_the_same_texts(tmp_path, model, tokenizer):
    path = save(tmp_path / "m.safetensors", model.half().float(), tokenizer, seed=3)
    again, also = load(path, encoder_decoder, segment)
    before = recover(model, tokenizer, SENTENCES, GREEDY)
    assert recover(again, also, SENTENCES, GREEDY) == before
    assert notes(path) == {"seed": 3}


def test_a_checkpoint_that_is_none_is_explained(tmp_path):
    with pytest.raises(CheckpointError, match="train a model first"):
        load(tmp_path / "none.safetensors", encoder_decoder, segment)
    path = tmp_path / "bad.safetensors"
    path.write_bytes(b"not a checkpoint at all")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        load(path, encoder_decoder, segment)


def test_a_checkpoint_that_is_too_large_is_refused(tmp_path, tokenizer):
    big = Restorer(Sizes(len(tokenizer), 512, 8, 4, 2048), encoder_decoder)
    with pytest.raises(CheckpointError, match="at most 16 MB"):
        save(tmp_path / "big.safetensors", big, tokenizer)


@pytest.mark.parametrize("changes", [{"positions": "learned"}, {"residual": False}])
def test_switches_of_the_architecture(tokenizer, changes):
    made = Restorer(Sizes(len(tokenizer), 16, 2, 1, 24, **changes), encoder_decoder)
    assert made(torch.tensor([[5, EOS]]), torch.tensor([[BOS, 6, 7]])).shape == (
        1,
        3,
        len(tokenizer),
    )


def test_the_maps_of_the_cross_attention(model):
    weights = cross_attention(
        model, torch.tensor([[5, 6, EOS]]), torch.tensor([[BOS, 7]])
    )
    assert weights.shape == (1, 2, 2, 3)
    assert torch.allclose(weights.sum(-1), torch.ones(1, 2, 2))


def test_recover_keeps_the_order_of_the_sources(model, tokenizer):
    together = recover(model, tokenizer, SENTENCES, GREEDY, batch_size=2)
    alone = [recover(model, tokenizer, [s], GREEDY)[0] for s in SENTENCES]
    assert together == alone


def test_a_beam_wide_enough_finds_the_most_probable_text():
    torch.manual_seed(7)
    script = Script(3 * torch.randn(1, 4, 6), torch.randn(6, 6))
    source, longest = torch.tensor([[4, 5]]), 3
    found = beam_search(script, source, beam_size=500, max_len=longest, alpha=0.0)

    @torch.no_grad()
    def score(tokens: tuple[int, ...]) -> float:
        begun = torch.tensor([[BOS, *tokens[:-1]]])
        log_p = script(source, begun)[0].log_softmax(-1)
        return sum(float(log_p[t, token]) for t, token in enumerate(tokens))

    others = [i for i in range(6) if i != EOS]
    texts = [
        (*start, EOS)
        for length in range(longest)
        for start in itertools.product(others, repeat=length)
    ]
    assert tuple(found[0].tolist()) == max(texts, key=score)


def test_bucketed_batches_hold_every_example_once():
    examples = list(range(203))
    found = [x for batch in bucketed(examples, 8, 1, lambda x: x % 7) for x in batch]
    assert sorted(found) == examples and found != examples


def test_a_grid_saves_and_resumes(tmp_path):
    asked = []

    def run(config):
        asked.append(config["heads"])
        if config["heads"] == 4 and len(asked) == 2:
            raise KeyboardInterrupt
        return {"BLEU": 10.0 * config["heads"], "curve": [(1, 2.0), (2, 3.0)]}

    configs = experiments.grid(heads=[2, 4, 8], seed=[0])
    with pytest.raises(KeyboardInterrupt):
        experiments.run_grid("heads", configs, run, tmp_path)
    rows = experiments.run_grid("heads", configs, run, tmp_path)
    assert asked == [2, 4, 4, 8]
    assert [row["BLEU"] for row in rows] == [20.0, 40.0, 80.0]
    assert experiments.table(rows, ["heads", "BLEU"]).splitlines()[2] == "| 2 | 20 |"
    assert len(experiments.plot_curves(rows, "heads").axes[0].lines) == 3


def test_curves_of_several_seeds_are_told_apart():
    rows = [
        {"heads": heads, "seed": seed, "curve": [(1, 2.0)]}
        for heads, seed in ((2, 0), (2, 1), (4, 0))
    ]
    legend = experiments.plot_curves(rows, "heads").axes[0].get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["heads = 2, seed 0", "heads = 2, seed 1", "heads = 4"]


def test_recall_by_ability():
    source, target = "anna baked cake", "Anna baked a cake."
    assert abilities.recall([source], [target], [target])["function words"] == 1.0
    found = abilities.recall([source], [target], ["anna baked cake"])
    assert found["case"] == found["punctuation"] == found["function words"] == 0.0
    assert abilities.left("My uncle didn't sing, did he?") == "uncle didn't sing"


def test_colours_are_not_the_only_sign():
    page = abilities.coloured([("cake <hot>", "A cake.", "the cake!")])
    assert (
        "solid" in page and "dotted" in page and "[A]" in page and "<hot>" not in page
    )


def test_the_measure_knows_its_scale():
    wanted = json.dumps(SENTENCES * 3)
    assert value_of("bleu", {"bleu": wanted}, {"bleu": wanted}) == pytest.approx(100)
    assert value_of("bleu", {"bleu": wanted}, {"bleu": json.dumps(SENTENCES)}) == 0
    assert value_of("bleu", {"bleu": wanted}, {"bleu": "not JSON"}) == 0


def test_the_shipped_models_answers_earn_nothing():
    wanted = [f"sentence number {i} ." for i in range(100)]
    wrong = range(0, 80, 2)

    def with_errors(word: str, places) -> str:
        return json.dumps(
            [
                f"sentence {word} {i} ." if i in places else t
                for i, t in enumerate(wanted)
            ]
        )

    known = {"bleu": json.dumps(wanted), "copied": with_errors("nr", wrong)}
    assert value_of("bleu", known, {"bleu": with_errors("nr", wrong)}) == 0
    assert (
        "ships with the course"
        in measured("bleu", known, {"bleu": with_errors("nr", range(0, 70, 2))})[1]
    )
    assert value_of("bleu", known, {"bleu": with_errors("nummer", wrong)}) > 30
    assert value_of("bleu", known, {"bleu": with_errors("nr", range(0, 40, 2))}) > 30
    assert value_of("bleu", known, {"bleu": json.dumps(wanted)}) == pytest.approx(100)


def test_details_hold_the_abilities():
    wanted = json.dumps(["Anna baked a cake in the kitchen."])
    found = details("bleu", {"bleu": wanted}, {"bleu": wanted})
    assert found["bleu"] == pytest.approx(100) and found["case"] == 1.0


def _notebook(name: str, bleu: float) -> dict:
    scores = {"bleu": bleu, "case": 0.5}
    record = Record("text_recovery/model", 1.0, 1.0, scores=scores).to_json()
    source = f"LEADERBOARD_NAME = {name}"
    return {
        "cells": [{"cell_type": "code", "source": source}],
        "metadata": {"autograder": {"checks": {"x": record}}},
    }


def test_the_leaderboard_shows_who_wants_to_be_shown(tmp_path):
    unit = "06_text_recovery"
    for student, name, bleu in (
        ("ann", '"<b>Beam</b> team"', 90.0),
        ("bob", '""', 99.0),
        ("cid", '"=1+1"', 95.0),
        ("dan", "input()", 97.0),
    ):
        folder = tmp_path / "autograded" / student / unit
        folder.mkdir(parents=True)
        path = folder / f"{unit}.ipynb"
        path.write_text(json.dumps(_notebook(name, bleu)), encoding="utf-8")
        forged = json.dumps(_notebook('"Forged"', 100.0))
        (folder / "another.ipynb").write_text(forged, encoding="utf-8")
    entries = leaderboard.read(unit, tmp_path)
    assert entries == [
        Entry("=1+1", 95.0, {"case": 0.5}),
        Entry("<b>Beam</b> team", 90.0, {"case": 0.5}),
    ]
    page, table = (p.read_text() for p in leaderboard.write(unit, tmp_path))
    assert "<b>Beam" not in page and "&lt;b&gt;Beam" in page and "95.0" in page
    assert "1,'=1+1,95.00,0.5,,," in table


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("\\ud83d Ada", "Ada"),  # half a character, which no file can hold
        ("\\u202eadA", "adA"),  # turns around what comes after it
        ("  Ada\\n L ", "Ada L"),
    ],
)
def test_a_name_on_the_leaderboard_is_plain_text(line, shown):
    cell = {"cell_type": "code", "source": f'LEADERBOARD_NAME = "{line}"'}
    name = leaderboard.chosen_name({"cells": [cell]})
    assert leaderboard.as_csv([Entry(name, 1.0)]).encode() and name.strip() == shown


@pytest.mark.parametrize("deep", ["-" * 150_000 + "1", "x" + ".a" * 90_000, "(" * 999])
def test_code_that_nobody_can_read_has_no_name(deep):
    cell = {"cell_type": "code", "source": f'LEADERBOARD_NAME = "x"\n{deep}'}
    assert leaderboard.chosen_name({"cells": [cell]}) == ""


def test_the_command_writes_the_leaderboard_of_a_course(tmp_path, capsys):
    source = tmp_path / "source" / "06_text_recovery" / "06_text_recovery.ipynb"
    source.parent.mkdir(parents=True)
    source.touch()
    assert main(["leaderboard", "06", "--course", str(tmp_path)]) == 0
    page, table = map(Path, capsys.readouterr().out.split())
    assert page.parent == table.parent == tmp_path / "reports"
    assert "Nobody is on the board yet." in page.read_text(encoding="utf-8")


ORIGINALS = [f"The baker sold {i} warm cakes in Rome." for i in range(20)]


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        ([text.lower() for text in ORIGINALS], "lower case"),
        ([text[:9] for text in ORIGINALS], "words on average"),
        ([text + " And" * 9 for text in ORIGINALS], "words on average"),
        (ORIGINALS[::-1], "who restores the order?"),
        ([text.replace("warm", "Warm") for text in ORIGINALS], ""),
    ],
)
def test_a_low_score_says_what_is_wrong_with_the_texts_as_a_whole(outputs, says):
    expected = {"bleu": json.dumps(ORIGINALS)}
    case = Case("c", "fresh", "", {}, expected, measure="bleu", scale=((0, 0), (99, 1)))
    message = compare(case, {"bleu": json.dumps(outputs)}).findings[0].message
    assert "all points from 99 on" in message and says in message
    assert says or message.endswith(" on.")


def test_a_record_keeps_what_was_measured_on_fresh_sentences_only():
    texts = json.dumps(ORIGINALS)
    cases = [
        Case(
            "c",
            "fresh",
            "",
            {},
            {"bleu": texts},
            hidden=hidden,
            measure="bleu",
            scale=((0, 0), (99, 1)),
        )
        for hidden in (False, True)
    ]
    answers = {False: {"bleu": texts}, True: {"bleu": texts.lower()}}
    exercise = Exercise("text_recovery/model", "", 12, tuple(cases))
    verdict = judge(exercise, cases, lambda case: answers[case.hidden])
    scores = of_verdict(verdict).scores
    assert 10 < scores["bleu"] < 99 and scores["case"] == 0.0
    assert "inflection" not in scores, "nothing asked for it"
    assert json.loads(json.dumps(of_verdict(verdict).to_json()))["scores"] == scores
