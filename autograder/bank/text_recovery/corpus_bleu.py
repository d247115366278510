"""BLEU of a corpus."""

from __future__ import annotations

import json

from autograder.bank.text_recovery._corpus_bleu.accepted import ACCEPTED
from autograder.bank.text_recovery._corpus_bleu.formula import FORMULA
from autograder.bank.text_recovery._corpus_bleu.references import REFERENCES
from autograder.bank.text_recovery._corpus_bleu.smoothing import SMOOTHING
from autograder.bank.text_recovery._corpus_bleu.tokens import TOKENS
from autograder.bank.text_recovery._inputs import (
    natural_sentences,
    plain_sentences,
    some_of,
)
from autograder.oracle.draw import Draw
from autograder.oracle.specification import CaseKind, Inputs, Specification


def _shuffled(draw: Draw, items: list[str]) -> list[str]:
    return some_of(draw, items, len(items))


def _blurred(draw: Draw, text: str, share: float) -> str:
    """The text with some words dropped, doubled or exchanged."""
    words = text.split()
    for i in range(len(words)):
        if bool(draw.flags(1, chance=share)):
            word = words[i]
            kinds = ("", f"{word} {word}", "the", word.lower(), word.strip('.,!?"'))
            words[i] = kinds[int(draw.ids(0, len(kinds), 1))]
    return " ".join(" ".join(words).split())


_ALL = [
    f"{tokens}, {smooth}, {order}"
    for tokens in ("13a", "none")
    for smooth in ("exp", "none")
    for order in ("all orders", "effective order")
]
# Every two settings meet in these; all three, where orders are missing or unmatched.
_PAIRS = [_ALL[i] for i in (0, 3, 5, 6)]


def _shortened(draw: Draw, text: str, share: float) -> str:
    """Blurred, and by up to a third shorter than the text."""
    size = len(text.split())
    while True:
        words = _blurred(draw, text, share).split()[: size - 2]
        if 3 * len(words) >= 2 * size:
            return " ".join(words)


def _corpus(
    draw: Draw, count: int, references: int, share: float, brief: int = 2
) -> Inputs:
    """Long sentences; one in ``brief`` outputs is shorter, one has no capitals.

    Whatever is drawn, signs count, and so does which of two references is the closest.
    """
    sentences = natural_sentences(draw, 3 * count)
    originals = [text for text in sentences if len(text.split()) > 6][:count]
    hypotheses = [
        (_blurred if i % brief else _shortened)(draw, text, share)
        for i, text in enumerate(originals)
    ]
    hypotheses[1] = hypotheses[1].lower()
    others = [
        [text, *(_blurred(draw, text, 0.3) for _ in range(references - 1))]
        for text in originals
    ]
    words = originals[0].split()
    missing = len(words) - len(hypotheses[0].split())
    if references > 1:  # one as much too short as the other is too long
        others[0][1] = " ".join(words[: -2 * missing])
    for row in others:  # a very short reference that is never the closest
        row[2:] = [text.split()[0] for text in row[2:]]
    return {
        "hypotheses": json.dumps(hypotheses),
        "references": json.dumps(others),
        "switches": json.dumps(_PAIRS),
    }


def _wordy(draw: Draw) -> Inputs:
    """Hypotheses that are longer than their references: no brevity penalty."""
    originals = natural_sentences(draw, 9)
    longer = [f"{_blurred(draw, text, 0.1)} And so on and on." for text in originals]
    longer[0] = longer[0].lower()
    return {
        "hypotheses": json.dumps(longer),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[:3]),
    }


def _brief(draw: Draw) -> Inputs:
    """Hypotheses of up to three words, so that orders are missing; one is empty."""
    originals = plain_sentences(draw, 6)
    starts = [" ".join(text.split()[: 1 + i % 3]) for i, text in enumerate(originals)]
    starts[1], starts[2] = starts[1].replace(" ", " so "), ""
    return {
        "hypotheses": json.dumps(starts),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[4:]),
    }


def _brief_and_right(draw: Draw) -> Inputs:
    """Outputs of up to three words, all right: without 4-grams, BLEU is 0 all the same."""
    words = plain_sentences(draw, 1)[0].split()[:3]
    return {
        "hypotheses": json.dumps([" ".join(words), words[0]]),
        "references": json.dumps([[" ".join(words)], [words[0]]]),
        "switches": json.dumps(_ALL[4:]),
    }


def _one_four_gram(draw: Draw) -> Inputs:
    """One output of four words, the last one wrong: there is one four-gram, no more.

    It is shorter than its reference by one word. Some outputs of one word, all right,
    make another BLEU of each drawing.
    """
    longest = max(plain_sentences(draw, 5), key=lambda text: len(text.split()))
    original = " ".join(longest.split()[:5])
    single = original.split()[: int(draw.ids(1, 6))]
    return {
        "hypotheses": json.dumps([" ".join([*original.split()[:3], "qu"]), *single]),
        "references": json.dumps([[original], *([word] for word in single)]),
        "switches": json.dumps(_ALL[4:]),
    }


def _no_match(draw: Draw) -> Inputs:
    """Some orders without a match: no common four-gram, or no common word at all."""
    originals = natural_sentences(draw, 4)
    jumbled = [" ".join(_shuffled(draw, text.split())) for text in originals]
    jumbled[0] = jumbled[0].lower()
    return {
        "hypotheses": json.dumps(jumbled),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _nothing(draw: Draw) -> Inputs:
    """Not one word in common; all outputs have four tokens and more."""
    originals = natural_sentences(draw, 3)
    return {
        "hypotheses": json.dumps(["qu qa qe qi qo"] * 3),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _silent(draw: Draw) -> Inputs:
    """All outputs are empty."""
    originals = natural_sentences(draw, 2)
    return {
        "hypotheses": json.dumps(["", ""]),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _lengths(draw: Draw) -> Inputs:
    """Two references, one shorter and one longer by the same number of tokens.

    The longest row has another word within, so that the score is not always 100.
    """
    rows = [text[:-1] for text in plain_sentences(draw, 5)]
    others = [
        [" ".join([*t.split(), "so", "it", "is"]), " ".join(t.split()[:-3])]
        for t in rows
    ]
    others[0].reverse()  # the shorter one does not always come last
    others[3].reverse()
    words = max((text.split() for text in rows), key=len)
    rows[rows.index(" ".join(words))] = " ".join([*words[:3], "so", *words[4:]])
    return {
        "hypotheses": json.dumps(rows),
        "references": json.dumps(others),
        "switches": json.dumps(["none, exp, all orders"]),
    }



EXERCISE = Specification(
    name="text_recovery/corpus_bleu",
    title="BLEU of a corpus",
    target="corpus_bleu",
    cases=[
        CaseKind(
            name="good",
            title="good outputs, one reference",
            inputs=lambda draw: _corpus(draw, 12, 1, 0.1),
            hint="Counts are added up over all sentences; then, once, everything else.",
            tells=("arithmetic_mean",),
        ),
        CaseKind(
            name="references",
            title="poorer outputs, as many references to each as there are sentences",
            inputs=lambda draw: _corpus(draw, 10, 10, 0.35, brief=1),
            hint="With several references the length closest to the hypothesis counts.",
            tells=("lower_cased",),
        ),
        CaseKind(
            name="nothing",
            title="outputs without one right word",
            inputs=_nothing,
            hint="Smoothing helps orders without a match, not a corpus without any.",
            open=True,
        ),
        CaseKind(
            name="silent",
            title="all outputs are empty",
            inputs=_silent,
            hint="Nothing matches: BLEU is 0, and nothing is divided by h = 0.",
            open=True,
        ),
        CaseKind(
            name="wordy",
            title="outputs that are too long",
            inputs=_wordy,
            hint="The brevity penalty is never larger than 1.",
            tells=("lower_cased",),
        ),
        CaseKind(
            name="one_four_gram",
            title="one output of four words, the last one wrong, and some of one word",
            inputs=_one_four_gram,
            hint="An order of which there is a single n-gram is an order.",
        ),
        CaseKind(
            name="brief",
            title="outputs of three words at most",
            inputs=_brief,
            hint="Without any 4-gram, `effective_order` decides.",
        ),
        CaseKind(
            name="brief_and_right",
            title="outputs of three words at most, all right",
            inputs=_brief_and_right,
            hint="Without any 4-gram, `effective_order` decides, however good an output is.",
            open=True,
        ),
        CaseKind(
            name="jumbled",
            title="shuffled outputs",
            inputs=_no_match,
            hint="Orders without a match: `smooth` decides.",
            tells=("lower_cased", "smoothing_missing", "smoothing_constant"),
        ),
        CaseKind(
            name="lengths",
            title="two references, equally far in length",
            inputs=_lengths,
            hint="Of two equally close references the shorter one counts.",
        ),
        CaseKind(
            name="more",
            title="other outputs, two references",
            inputs=lambda draw: _corpus(draw, 25, 2, 0.2),
            hint="The same for other texts.",
            tells=("lower_cased", "split_always"),
            hidden_only=True,
        ),
    ],
    mutants=[*FORMULA, *TOKENS, *REFERENCES, *SMOOTHING],
    accepted=ACCEPTED,
)
