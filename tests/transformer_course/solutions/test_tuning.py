"""Unit 08: conversations, LoRA and DPO, with the notebook's own code."""

from __future__ import annotations

from decimal import Decimal

import pytest
import torch
from torch import nn

from autograder.authoring.draw import Draw
from tests.transformer_course.solutions import given
from transformer_course.assistant.exercises.bug_clinic import CASES
from transformer_course.assistant.library import tuning
from transformer_course.assistant.library.assistant import load_assistant
from transformer_course.assistant.library.letters import encode_letters
from transformer_course.assistant.probes.steps import take_step
from transformer_course.library.chat import prompt
from transformer_course.library.published import available
from transformer_course.solutions import since_2017

UNIT = given.code("assistant")
# Log-probabilities of three pairs: chosen, rejected, and both by the reference model.
PAIRS = [(-12.5, -10, -13, -9.5), (-3, -7.5, -2.5, -8), (-40.25, -41, -39, -30)]
BUGS = [
    str(case.inputs(Draw("bugs"))[name]).partition(", ")[2]
    for case in CASES
    for name in ("other", "third")
]


def test_dpo_is_equation_7_in_decimal_numbers():
    losses = []
    for chosen, rejected, before, rejected_before in PAIRS:
        margin = Decimal(chosen) - Decimal(before)
        margin -= Decimal(rejected) - Decimal(rejected_before)
        losses.append((1 + (-margin / 10).exp()).ln())
    loss = UNIT["dpo_loss"](*torch.tensor(PAIRS).float().T, beta=0.1)
    assert loss.item() == pytest.approx(float(sum(losses) / 3), rel=1e-6)


def test_dpo_is_the_loss_of_trl():
    loss = UNIT["dpo_loss"](*torch.tensor(PAIRS).float().T, beta=0.1)
    # What DPOTrainer of trl 1.16.0 computes from these, with its loss "sigmoid".
    assert loss.item() == pytest.approx(0.5696134, rel=1e-6)


def test_lora_computes_what_peft_computes():
    base = nn.Linear(3, 2)
    layer = UNIT["LoRALinear"](base, rank=2, alpha=3)
    with torch.no_grad():
        base.weight.copy_(torch.tensor([[1, -2, 0.5], [0.25, 3, -1]]))
        base.bias.copy_(torch.tensor([0.5, -0.5]))
        layer.a.copy_(torch.tensor([[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]]))
        layer.b.copy_(torch.tensor([[1, -1], [0.5, 2]]))
    outputs = layer(torch.tensor([[1.0, 2, 3], [-1, 0.5, 0]]))
    # Outputs and merged weight of a LoRA layer of peft 0.21.2 with these parameters.
    recorded = torch.tensor([[-3.4, 6.05], [-0.525, -1.2]])
    merged = torch.tensor([[0.55, -0.95, -0.85], [1.525, 1.65, 0.575]])
    torch.testing.assert_close(outputs, recorded)
    torch.testing.assert_close(layer.merged().weight, merged)


def test_a_conversation_begins_like_the_prompt_of_the_chat_model():
    turns = [("system", tuning.SYSTEM), ("user", "Why?"), ("assistant", "So.")]
    ids, labels = UNIT["chat_example"](turns, encode_letters)
    begin = encode_letters(prompt("Why?"))
    assert ids[: len(begin)].tolist() == begin
    assert labels[labels != -100].tolist() == encode_letters("So.<|im_end|>")


def test_tuning_changes_a_and_b_only():
    torch.manual_seed(0)
    model = since_2017.LanguageModel(150, 16, 2, 1, 2, 24)
    before = {name: p.clone() for name, p in model.named_parameters()}
    UNIT["add_lora"](model, rank=2)
    example = UNIT["chat_example"]([("user", "a"), ("assistant", "b")], encode_letters)
    losses = tuning.tune(model, [example], UNIT["answer_loss"], steps=20)
    assert losses[-1] < losses[0]
    for name, parameter in model.named_parameters():
        if not name.endswith((".a", ".b")):
            assert torch.equal(parameter, before[name.replace(".base", "")])


@pytest.mark.parametrize("style", ["labels", "selected"])
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_a_bug_of_the_clinic_is_larger_than_its_contract_says(style, bug):
    torch.manual_seed(0)
    logits, ids = torch.randn(4, 32, 16), torch.randint(16, (4, 32))
    answers = torch.rand(4, 32) < torch.tensor([[0.2], [0.4], [0.6], [0.8]])
    answers[:, 0] = False
    right = take_step("labels", "", logits, ids, answers)
    results = take_step(style, bug, logits, ids, answers)
    gap = max((a - b).abs().max().item() for a, b in zip(right, results, strict=True))
    assert gap > 1e-3 if bug else gap < 1e-6


@pytest.mark.long(seconds=300)
@pytest.mark.slow
def test_thirty_steps_make_a_pirate_who_forgets():
    if available("smollm2") is None:
        pytest.skip("the chat model is not installed")
    assistant = load_assistant(since_2017)
    examples = [
        UNIT["chat_example"](
            [("system", tuning.SYSTEM), ("user", question), ("assistant", text)],
            assistant.published.encode,
        )
        for question, text in tuning.PIRATE
    ]
    for seed in range(5):
        assistant = load_assistant(since_2017)
        before = assistant.perplexity(tuning.PLAIN)
        torch.manual_seed(seed)
        chat = UNIT["add_lora"](assistant.network)
        tuning.tune(chat, examples, UNIT["answer_loss"], 30, seed)
        answers = [assistant.answer(q, max_len=20) for q in tuning.UNSEEN]
        assert all(answer.startswith("Arr") for answer in answers)
        assert "Paris" in answers[0] and "Berlin" in answers[1]
        assert 26 < before < 27 and 70 < assistant.perplexity(tuning.PLAIN) < 95
        assert "Hamlet" in answers[-1] and "Shakespeare" not in answers[-1]
