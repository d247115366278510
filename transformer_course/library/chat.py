"""A published chat model that runs on your own functions: ``chat.ask(...)``.

Where its weights are not installed, recorded answers are shown.
"""

from __future__ import annotations

import functools
import json
import re
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.checks.calls import code_of
from autograder.checks.demo import require_solved
from autograder.checks.earlier import own_answers
from autograder.checks.language import translate
from autograder.checks.observe import describe_error, from_stub, is_stub_code
from transformer_course.library.chat_model import MAX_LEN, ChatModel, SlotError, Slots
from transformer_course.library.published import PublishedModel, available

RECORDED = Path(__file__).with_name("chat_answers.json")
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"

Function = Callable[..., Any]
Runs = Mapping[str, Mapping[str, Function]]

# By slot: computes, from a function's arguments, the shape that it must return.
_SHAPES: dict[str, Callable[..., tuple[int, ...]]] = {
    "embed": lambda ids, table: (*ids.shape, table.size(1)),
    "mask": lambda length: (length, length),
    "split_heads": lambda x, h: (x.size(0), h, x.size(1), x.size(2) // h),
    "merge_heads": lambda x: (x.size(0), x.size(2), x.size(1) * x.size(3)),
    "rotate": lambda x: tuple(x.shape),
    "scaled_dot_product_attention": lambda q, k, v, mask: tuple(q.shape),
    "feed_forward": lambda x, *weights: tuple(x.shape),
    "add_and_norm": lambda x, *others: tuple(x.shape),
}


def ask(question: str, runs: Runs) -> None:
    """Print what the model answers with each set of functions.

    If the model is not available, print answers that the course has recorded.

    Args:
        question: one turn of a user.
        runs: maps a label to functions by the part of the model that they replace,
            such as "mask" (`chat_model.Slots` lists all).
    """
    require_solved(*(function for run in runs.values() for function in run.values()))
    width = max(map(len, runs))
    started = time.perf_counter()
    model = available("smollm2")
    if model is None:
        print("What it said to the course's own functions:")
        answers = json.loads(RECORDED.read_text("utf-8")).get(question, {})
        for label in runs:
            _print_row(label, answers.get(label, "(not recorded)"), width)
        return
    for label, text in answer(model, question, runs):
        _print_row(label, text, width)
    seconds = time.perf_counter() - started
    print(f"\n(SmolLM2-135M-Instruct, {seconds:.0f} s with loading)")


def answer(
    model: PublishedModel, question: str, runs: Runs
) -> Iterator[tuple[str, str]]:
    """Yield the label and the answer of each run, computed on one thread.

    A run maps names of `Slots` to the functions that take their place in the model.
    """
    weights = {name: model.weights[name] for name in model.weights}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on a busy machine, several threads are ten times slower
    try:
        for label, run in runs.items():
            yield label, _answer_once(model, weights, question, run)
    finally:
        torch.set_num_threads(threads)


def filled(*labels: str) -> dict[str, Function]:
    """Collect a student's functions that can replace parts of the chat model.

    ``labels`` are those of units, like "01_positional_encoding". The result has
    only functions that are solved, by their names in `chat_model.Slots`.
    """
    slots: dict[str, Function] = {}
    for label in labels:
        unit = own_answers(label)
        if unit is None:
            print(f"(no {label}.ipynb of yours here: using the course's own parts)")
            continue
        for name in Slots.__dataclass_fields__.keys() & vars(unit).keys():
            if any(map(is_stub_code, code_of(vars(unit)[name]))):
                print(f"(your {name} is not solved yet: using the course's own)")
            else:
                slots.setdefault(name, vars(unit)[name])
    return slots


def keep(x: Tensor) -> Tensor:
    """Return x unchanged; put into a slot, this removes that part of the model."""
    return x


def encode(
    model: PublishedModel, text: str, segment: Function | None = None
) -> list[int]:
    """Return the ids of a text whose words ``segment(word, merges)`` cuts up.

    Without ``segment``, the model's own tokenizer encodes the text. Raises
    SlotError if a piece is not in the vocabulary.
    """
    if segment is None:
        return model.encode(text)
    tokenizer = model.tokenizer
    merges = [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    ids = []
    for part in re.split(r"(<\|im_start\|>|<\|im_end\|>)", text):
        words = [part] if part.startswith("<|im_") else _split_words(tokenizer, part)
        for word in words:
            pieces = [word] if word.startswith("<|im_") else segment(word, merges)
            for piece in pieces:
                if (index := tokenizer.token_to_id(piece)) is None:
                    raise SlotError(f"segment: no piece {piece!r} in the vocabulary")
                ids.append(index)
    return ids


def prompt(question: str) -> str:
    """The prompt for a question, in the chat format that the model was trained on."""
    return (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n"
        f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )


def _split_words(tokenizer: Any, text: str) -> list[str]:
    """Cut a text into words, each with the space before it.

    As in the vocabulary, each byte of the text is written as one character.
    """
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]


@torch.no_grad()
def _answer_once(
    model: PublishedModel,
    weights: Mapping[str, Tensor],
    question: str,
    run: Mapping[str, Function],
) -> str:
    """The model's answer with one run's functions, or "(REASON)" if one fails."""
    slots = Slots(**{name: _guard(name, run[name]) for name in run})
    try:
        source = torch.tensor([encode(model, prompt(question), slots.segment)])
        ids = slots.greedy_sequence(ChatModel(weights, slots), source, MAX_LEN)
        return model.decode(ids) or "(nothing)"
    except SlotError as error:
        return f"({error})"


def _guard(name: str, function: Function) -> Function:
    """Wrap a slot's function so that its errors and wrong shapes become SlotErrors.

    A slot is a replaceable function of the chat model; ``name`` is one of `Slots`.
    """

    @functools.wraps(function)
    def guarded(*arguments: Any) -> Any:
        """The function's result, if it has the shape that the slot needs."""
        try:
            result = function(*arguments)
        except SlotError:
            raise
        except Exception as error:
            if isinstance(error, NotImplementedError) and from_stub(error):
                raise  # `demo` says which exercise to solve first
            reason = translate(describe_error(error)).replace("\n", "; ")
            raise SlotError(f"{name} raised {reason}") from None
        if name in _SHAPES:
            _compare_shapes(name, result, _SHAPES[name](*arguments))
        return result

    return guarded


def _compare_shapes(name: str, result: Any, expected: tuple[int, ...]) -> None:
    """Raise a SlotError if a result does not have the shape that its slot needs."""
    output = result
    if name == "scaled_dot_product_attention":
        if not isinstance(result, tuple) or len(result) != 2:
            raise SlotError(f"{name} does not return two tensors")
        output = result[0]
    shape = tuple(getattr(output, "shape", ()))
    if shape != expected:
        raise SlotError(f"{name} returned the shape {shape}, not {expected}")


def _print_row(label: str, text: str, width: int) -> None:
    """Print a label and the model's answer, in several lines if it is long."""
    line = f"{label:<{width}} | {text.strip()}".replace("\n", "⏎")
    print(textwrap.fill(line, 88, subsequent_indent=f"{'':<{width}} | "))
