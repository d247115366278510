"""Measurement of which words of damaged sentences a model has recovered.

`recall` computes their share for each ability; `coloured` marks them in HTML.
"""

from __future__ import annotations

import difflib
import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from transformer_course.library.corpora import all_function_words

BLUE, ORANGE = "rgba(0,114,178,.25)", "rgba(213,94,0,.30)"


def words(text: str) -> list[str]:
    """The words and punctuation marks of a text, in order."""
    return re.findall(r"\w+(?:['-]\w+)*|[^\w\s]", text)


def _define_abilities(source: str) -> dict[str, Callable[[str], bool]]:
    """Map each ability to a function that says if a word of the target requires it.

    For example, "case" is for words whose capital letters the source has lost.
    """
    source_words = set(source.split())
    return {
        "case": lambda w: w != w.lower() and w.lower() in source_words,
        "punctuation": lambda w: not w[0].isalnum(),
        "function words": lambda w: w.lower() in all_function_words(),
        "inflection": lambda w: (
            w[0].isalpha()
            and w.lower() not in all_function_words()
            and w.lower() not in source_words
        ),
    }


def recall(
    sources: Sequence[str], targets: Sequence[str], outputs: Sequence[str]
) -> dict[str, float]:
    """Map each ability to the share of the words requiring it that were recovered.

    The share is from 0 to 1, or NaN if no word of the targets requires the ability.
    A recovered word is one that `difflib` matches, in order, with the output.
    """
    lost: Counter[str] = Counter()
    recovered: Counter[str] = Counter()
    for source, target, output in zip(sources, targets, outputs, strict=True):
        target_words = words(target)
        common = _match_words(target_words, words(output))
        for name, belongs in _define_abilities(source).items():
            lost[name] += sum(map(belongs, target_words))
            recovered[name] += sum(belongs(target_words[i]) for i in common)
    return {
        name: recovered[name] / lost[name] if lost[name] else float("nan")
        for name in _define_abilities("")
    }


def _match_words(target_words: list[str], output_words: list[str]) -> list[int]:
    """The positions of the target's words that the output has in the same order."""
    matcher = difflib.SequenceMatcher(None, target_words, output_words, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return [i for block in blocks for i in range(block.a, block.a + block.size)]


def remark(targets: Sequence[str], outputs: Sequence[str]) -> str:
    """Describe an obvious fault of all outputs, such as their length; "" for none."""
    if all(output == output.lower() for output in outputs):
        return "Every text is in lower case: half of the task is missing."
    target_length, length = (
        sum(len(text.split()) for text in texts) for texts in (targets, outputs)
    )
    if length < 0.7 * target_length or length > 1.5 * target_length:
        return (
            f"A text has {length / len(outputs):.1f} words on average, an original "
            f"{target_length / len(targets):.1f}. Does decoding stop at EOS, and only "
            "there?"
        )
    originals = set(targets)
    right = sum(output in originals for output in outputs)
    in_place = sum(a == b for a, b in zip(targets, outputs, strict=False))
    if right > 0.2 * len(targets) and in_place < 0.2 * right:
        return (
            "Many texts are right, but in each other's places. Batches are sorted by "
            "length: where do you restore the order?"
        )
    return ""


def coloured(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return (source, target, output) rows as HTML, with the outputs' words marked.

    Blue: recovered. Orange: not in the target. [In brackets]: missing.
    """
    body = "".join(_write_row(number, *row) for number, row in enumerate(rows, 1))
    legend = (
        f"{_mark_word('recovered', BLUE, 'solid')} · "
        f"{_mark_word('wrong', ORANGE, 'dotted')} · [missing]"
    )
    return f'<div style="line-height:1.7">{legend}{body}</div>'


def _write_row(number: int, source: str, target: str, output: str) -> str:
    """The HTML of one row: its number, the source, and the marked output."""
    source_words = set(source.split())
    target_words, output_words = words(target), words(output)
    matcher = difflib.SequenceMatcher(None, target_words, output_words, autojunk=False)
    parts = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            # Only words that the source lacks count as recovered.
            parts += [
                html.escape(w) if w in source_words else _mark_word(w, BLUE, "solid")
                for w in output_words[c:d]
            ]
            continue
        parts += [_mark_word(w, ORANGE, "dotted") for w in output_words[c:d]]
        parts += [f"[{html.escape(w)}]" for w in target_words[a:b]]
    return (
        f'<p style="margin:.6em 0 .6em 2.2em;text-indent:-2.2em"><strong style="'
        f'display:inline-block;width:2.2em;text-indent:0">{number}</strong>'
        f"<code>{html.escape(source)}</code><br>"
        f"{' '.join(parts)}</p>"
    )


def _mark_word(word: str, colour: str, line: str) -> str:
    """A word as HTML with a background colour and a line below it."""
    return (
        f'<span style="background:{colour};border-bottom:2px {line}">'
        f"{html.escape(word)}</span>"
    )
