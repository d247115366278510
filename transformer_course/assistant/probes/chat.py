"""The probe of `chat_example`, which reports a conversation's ids and labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe
from transformer_course.assistant.library.letters import encode_letters


@probe("assistant/chat_example", results="ids; labels", calls="turns afterwards")
def chat_example(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the ids and labels that the student's function makes of a conversation.

    Its encoder maps each character to one id, but a newline perhaps to several.
    """
    turns = [tuple(turn) for turn in json.loads(inputs["turns"])]
    newline = str(inputs.get("newline", "\n"))  # what a newline is encoded as
    result = function(turns, lambda text: encode_letters(text.replace("\n", newline)))
    if not isinstance(result, tuple) or len(result) != 2:
        raise WrongAnswerError(f"expected ids and labels, got {describe(result)}")
    return {
        "ids": result[0],
        "labels": result[1],
        "turns afterwards": json.dumps(turns),
    }
