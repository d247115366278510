"""A chat model on a student's functions: called, replaced, broken, recorded."""

import importlib
import json
from types import SimpleNamespace

import pytest
import torch

from autograder.course import ROOT, units
from transformer_course.library import chat, chat_model
from transformer_course.library.published import LISTED, PublishedModel, finding
from transformer_course.solutions import (
    attention,
    encoder_decoder,
    multi_head_attention,
    positional_encoding,
    sequence_reversal,
    text_recovery,
)

D_MODEL, D_KV, D_FF, VOCAB, BLOCKS = 18, 6, 20, 40, 2
SOLUTIONS = (
    positional_encoding, attention, multi_head_attention, encoder_decoder,
    sequence_reversal, text_recovery,
)  # fmt: skip
IDS = torch.tensor([[1, 7, 3, 9]])
START = torch.tensor([[1, 5]])


@pytest.fixture(autouse=True)
def _two_blocks(monkeypatch, request):
    if not request.node.get_closest_marker("slow"):
        monkeypatch.setattr(chat_model, "NUM_BLOCKS", BLOCKS)


@pytest.fixture
def weights():
    torch.manual_seed(0)
    shapes = {"token_embd": (VOCAB, D_MODEL), "output_norm": (D_MODEL,)}
    for i in range(BLOCKS):
        shapes |= {f"blk.{i}.{name}_norm": (D_MODEL,) for name in ("attn", "ffn")}
        shapes |= {f"blk.{i}.attn_{name}": (D_KV, D_MODEL) for name in "kv"}
        shapes |= {f"blk.{i}.attn_{name}": (D_MODEL,) * 2 for name in ("q", "output")}
        shapes |= {f"blk.{i}.ffn_{name}": (D_FF, D_MODEL) for name in ("gate", "up")}
        shapes[f"blk.{i}.ffn_down"] = (D_MODEL, D_FF)
    return {f"{name}.weight": torch.randn(shape) for name, shape in shapes.items()}


class Tokenizer:
    """Splits at spaces, and knows single letters and "ab"."""

    pre_tokenizer = SimpleNamespace(
        pre_tokenize_str=lambda text: [(word, None) for word in text.split()]
    )

    def to_str(self):
        return json.dumps({"model": {"merges": [["a", "b"]]}})

    def token_to_id(self, piece):
        special = {"<|im_start|>": 1, "<|im_end|>": 2, "ab": 3}
        return special.get(piece, 4 + ord(piece[0]) % 36 if len(piece) == 1 else None)


@pytest.fixture
def model(weights, monkeypatch):
    published = PublishedModel(
        weights, lambda text: [1, 7, 3, 9], lambda ids: f"{len(ids)} ids", str,
        Tokenizer(),
    )  # fmt: skip
    monkeypatch.setattr(chat, "available", lambda name: published)
    return published


def logits(weights, **slots):
    return chat_model.ChatModel(weights, chat_model.Slots(**slots))(IDS, START)


def test_what_the_units_build_fits_and_changes_nothing(weights, monkeypatch):
    solutions = {module.__name__.rpartition(".")[2]: module for module in SOLUTIONS}
    monkeypatch.setattr(chat, "own_answers", solutions.get)
    slots = chat.filled(*solutions)
    assert len(slots) == 7
    torch.testing.assert_close(logits(weights, **slots), logits(weights))


def test_each_slot_is_called(model):
    called = set()

    def spy(name, function):
        return lambda *arguments: called.add(name) or function(*arguments)

    course = vars(chat_model.Slots()) | {"segment": text_recovery.segment}
    run = {name: spy(name, function) for name, function in course.items()}
    assert dict(chat.answer(model, "ab?", {"spied": run}))["spied"].endswith(" ids")
    assert called == set(course)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ({"merge_heads": lambda x: x @ x}, "merge_heads raised RuntimeError"),
        (
            {"merge_heads": lambda x: x},
            "merge_heads returned the shape (1, 9, 4, 2), not (1, 4, 18)",
        ),
        ({"embed": lambda ids, table: None}, "embed returned the shape ()"),
        (
            {"scaled_dot_product_attention": lambda q, k, v, mask: q},
            "scaled_dot_product_attention does not return two tensors",
        ),
        ({"rotate": lambda x: x / 0}, "no answer: the logits are NaN"),
        (
            {"greedy_sequence": lambda model, source, n: [
                model(source, torch.ones(1, t, dtype=int)) for t in range(1, 99)]},
            "greedy_sequence does not stop after 25 tokens",
        ),
        ({"segment": lambda word, merges: [word]}, "segment: no piece 'system'"),
    ],
)  # fmt: skip
def test_a_broken_function_costs_its_own_row(model, capsys, run, reason):
    chat.ask("?", {"broken": run, "whole": {}})
    broken, rest = " ".join(capsys.readouterr().out.split()).split(" whole | ")
    assert reason in broken.replace(" | ", " ") and "ids" in rest


def stub(ids, table):
    raise NotImplementedError


def test_a_stub_stops_the_demonstration_before_anything_is_loaded(monkeypatch):
    monkeypatch.setattr(chat, "available", None)
    with pytest.raises(NotImplementedError, match="stub"):
        chat.ask("?", {"mine": {"embed": stub}})


def test_a_stub_of_an_earlier_unit_is_left_out(monkeypatch, capsys):
    unit = SimpleNamespace(embed=stub, merge_heads=chat_model.merge_heads)
    monkeypatch.setattr(chat, "own_answers", {"01_mine": unit}.get)
    assert set(chat.filled("01_mine", "02_missing")) == {"merge_heads"}
    printed = capsys.readouterr().out
    assert "your embed is not solved yet" in printed
    assert "no 02_missing.ipynb of yours here" in printed


def test_the_course_s_functions_answer_where_one_is_missing(model):
    threads = torch.get_num_threads()
    answers = dict(chat.answer(model, "?", {"a": {}, "b": {"rotate": chat.keep}}))
    assert list(answers) == ["a", "b"] and torch.get_num_threads() == threads


def test_pieces_become_ids_in_order(model):
    text = "<|im_start|>ab c<|im_end|>"
    ids = chat.encode(model, text, text_recovery.segment)
    assert ids == [1, 3, Tokenizer().token_to_id("c"), 2]


def test_recorded_answers_are_shown_where_nothing_is_installed(
    monkeypatch, tmp_path, capsys
):
    recorded = tmp_path / "answers.json"
    recorded.write_text(json.dumps({"Who?": {"mine": "I am\n" + "long " * 30}}))
    monkeypatch.setattr(chat, "RECORDED", recorded)
    monkeypatch.setattr(chat, "available", lambda name: None)
    chat.ask("Who?", {"mine": {}, "new": {}})
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("mine | I am⏎long") and lines[-1].startswith("new  | (")
    assert all(len(line) <= 88 for line in lines)


DEMONSTRATION = """
# %%
from autograder import demo
from transformer_course.library import chat

# %%
def everything(length):
    return torch.ones(length, length, dtype=bool)

@demo
def it_answers():
    attend = {"scaled_dot_product_attention": scaled_dot_product_attention}
    chat.ask("Who?", {"yours": attend, "no mask": attend | {"mask": everything}})
"""


@pytest.fixture
def chat_answers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "assets"))
    return importlib.import_module("chat_answers")


def test_what_a_unit_asks_is_recorded_with_its_solutions(model, tmp_path, chat_answers):
    unit = SimpleNamespace(text=tmp_path / "02_attention.py", name="attention")
    unit.text.write_text(DEMONSTRATION)
    (answers,) = chat_answers.record(unit, model).items()
    assert answers[0] == "Who?" and list(answers[1]) == ["yours", "no mask"]


@pytest.mark.slow
@pytest.mark.whole_course
def test_recorded_answers_are_what_the_model_says(chat_answers):
    if finding._find_installed(LISTED["smollm2"]) is None:
        pytest.skip("SmolLM2 is not installed")
    model, measured = chat.available("smollm2"), {}
    for unit in units():
        for question, answers in chat_answers.record(unit, model).items():
            measured.setdefault(question, {}).update(answers)
    assert measured == json.loads(chat.RECORDED.read_text("utf-8"))
