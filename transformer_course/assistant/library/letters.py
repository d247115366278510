"""A tokenizer of single characters, for conversations short enough to print."""

from __future__ import annotations

import re

MARKERS = {"<|im_start|>": 1, "<|im_end|>": 2}


def encode_letters(text: str) -> list[int]:
    """Encode each of the `MARKERS`, and each other character, as one id.

    The id of a character is its code point plus 3, so that the markers' ids stay free.
    """
    ids: list[int] = []
    for part in re.split(r"(<\|im_start\|>|<\|im_end\|>)", text):
        ids += [MARKERS[part]] if part in MARKERS else [ord(c) + 3 for c in part]
    return ids
