"""What exactly a model recovered: recall by ability, and the words in colour."""

from __future__ import annotations

import difflib
import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from transformer_course.library.corpora import closed_class

BLUE, ORANGE = "rgba(0,114,178,.25)", "rgba(213,94,0,.30)"


def words(text: str) -> list[str]:
    """Words and signs."""
    return re.findall(r"\w+(?:['-]\w+)*|[^\w\s]", text)


def _kinds(source: str) -> dict[str, Callable[[str], bool]]:
    """Which words of a target had to be recovered, by ability, given its source."""
    left = set(source.split())
    return {
        "case": lambda w: w != w.lower() and w.lower() in left,
        "punctuation": lambda w: not w[0].isalnum(),
        "function words": lambda w: w.lower() in closed_class(),
        "inflection": lambda w: (
            w[0].isalpha() and w.lower() not in closed_class() and w.lower() not in left
        ),
    }


def recall(
    sources: Sequence[str], targets: Sequence[str], outputs: Sequence[str]
) -> dict[str, float]:
    """The share of what was lost that came back, by ability, between 0 and 1.

    A word counts as recovered where it stands in line with the target's: the longest
    common sequence of words decides. NaN for an ability that nothing asked for.
    """
    asked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for source, target, output in zip(sources, targets, outputs, strict=True):
        wanted = words(target)
        common = _in_line(wanted, words(output))
        for name, belongs in _kinds(source).items():
            asked[name] += sum(map(belongs, wanted))
            found[name] += sum(belongs(wanted[i]) for i in common)
    return {
        name: found[name] / asked[name] if asked[name] else float("nan")
        for name in _kinds("")
    }


def _in_line(wanted: list[str], given: list[str]) -> list[int]:
    matcher = difflib.SequenceMatcher(None, wanted, given, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return [i for block in blocks for i in range(block.a, block.a + block.size)]


def remark(targets: Sequence[str], outputs: Sequence[str]) -> str:
    """What a person would see at once in bad outputs, in a sentence; "" for nothing."""
    if all(output == output.lower() for output in outputs):
        return "Every text is in lower case: half of the task is missing."
    wanted, given = (sum(len(t.split()) for t in ts) for ts in (targets, outputs))
    if given < 0.7 * wanted or given > 1.5 * wanted:
        return (
            f"A text has {given / len(outputs):.1f} words on average, an original "
            f"{wanted / len(targets):.1f}. Does decoding stop at EOS, and only there?"
        )
    known = set(targets)
    right = sum(output in known for output in outputs)
    in_place = sum(a == b for a, b in zip(targets, outputs, strict=False))
    if right > 0.2 * len(targets) and in_place < 0.2 * right:
        return (
            "Many texts are right, but stand in the place of another. Batches are "
            "sorted by length: who restores the order?"
        )
    return ""


def coloured(rows: Iterable[tuple[str, str, str]]) -> str:
    """(source, target, output) rows as numbered HTML: what came back, is wrong, lacks.

    Blue with a solid line: recovered. Orange with a dotted line: not in the target.
    [In brackets]: missing. Words that were never lost are plain.
    """
    body = "".join(_row(number, *row) for number, row in enumerate(rows, 1))
    legend = (
        f"{_mark('recovered', BLUE, 'solid')} · {_mark('wrong', ORANGE, 'dotted')} · "
        "[missing]"
    )
    return f'<div style="line-height:1.7">{legend}{body}</div>'


def _row(number: int, source: str, target: str, output: str) -> str:
    kept, wanted, given = set(source.split()), words(target), words(output)
    matcher = difflib.SequenceMatcher(None, wanted, given, autojunk=False)
    parts = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            parts += [
                html.escape(w) if w in kept else _mark(w, BLUE, "solid")
                for w in given[c:d]
            ]
            continue
        parts += [_mark(w, ORANGE, "dotted") for w in given[c:d]]
        parts += [f"[{html.escape(w)}]" for w in wanted[a:b]]
    return (
        f'<p style="margin:.6em 0 .6em 2.2em;text-indent:-2.2em"><strong style="'
        f'display:inline-block;width:2.2em;text-indent:0">{number}</strong>'
        f"<code>{html.escape(source)}</code><br>"
        f"{' '.join(parts)}</p>"
    )


def _mark(word: str, colour: str, line: str) -> str:
    return (
        f'<span style="background:{colour};border-bottom:2px {line}">'
        f"{html.escape(word)}</span>"
    )
