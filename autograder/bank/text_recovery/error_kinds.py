"""Mistakes by kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from autograder.bank.text_recovery._error_kinds.accepted import ACCEPTED
from autograder.bank.text_recovery._error_kinds.counts import COUNTS
from autograder.bank.text_recovery._error_kinds.kinds import KINDS
from autograder.bank.text_recovery._inputs import some_of
from autograder.oracle.draw import Draw
from autograder.oracle.specification import CaseKind, Inputs, Specification

Pair = tuple[str | None, str | None]

# Words in groups of one lemma, the lemma first; function words have groups, too.
_FORMS = (
    ("bake", "bakes", "baked"), ("walk", "walks", "walked"), ("key", "keys"),
    ("mouse", "mice"), ("sing", "sang", "sung"), ("child", "children"),
)  # fmt: skip
_LITTLE = (("be", "is", "was", "were"), ("have", "has", "had"), ("the",), ("a",), ("to",))
_SIGNS = (".", ",", "!", "?", '"', "...", "-", "…", "—")
_NUMBERS = ("12", "7", "1,000")


def _rows(draw: Draw, rows: Iterable[Sequence[Pair]], own: str = "zig") -> Inputs:
    """Pairs in a drawn order, with what the student is given beside them.

    Each stands there once to three times, or the numbers would be known beforehand.
    ``own``, "zig" or "zog", is a function word and a lemma only here.
    """
    lemmas = {w: group[0] for group in (*_FORMS, *_LITTLE) for w in group}
    lemmas["zag"] = own
    little = [own, *(w for group in _LITTLE for w in group)]
    strange = [("zig", None), ("zag", "zig"), *2 * [("zog", None), ("zag", "zog")]]
    return {
        "rows": json.dumps([*(_repeated(draw, row) for row in rows), strange]),
        "lemmas": json.dumps(lemmas),
        "words": json.dumps(little),
    }


def _repeated(draw: Draw, row: Sequence[Pair]) -> list[Pair]:
    pairs = [pair for pair in row for _ in range(int(draw.ids(1, 4, 1)))]
    return some_of(draw, pairs, len(pairs))


def _case(draw: Draw) -> list[Pair]:
    word, other = some_of(draw, [w for group in _FORMS for w in group], 2)
    return [(word.title(), word), (other, other.title()), ("Is", "is"), ("the", "The"),
            (word.upper(), word.title()), ("7B", "7b"), ("Don't", "don't"),
            (other.upper(), other), ("the", "THE"), ("mcX", "McX")]  # fmt: skip


def _sign(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _SIGNS, 3)
    return [(one, two), (None, three), (two, None), (one, three), ("...", "!"),
            (None, "—"), ("…", "..."), ("_", "."), (None, "__")]  # fmt: skip


def _little(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, [w for group in _LITTLE for w in group], 3)
    return [(one, two), (None, three), (two.title(), None), ("is", "was"),
            ("Has", "had"), (None, "The"), ("A", "the")]  # fmt: skip


def _form(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _FORMS, 3)
    return [(one[0], one[1]), (two[1].title(), two[0]), (three[0], three[1].title()),
            ("mice", "mouse"), ("baked", "bakes")]  # fmt: skip


def _word(draw: Draw) -> list[Pair]:
    one, two, three = some_of(draw, _FORMS, 3)
    number, other = some_of(draw, _NUMBERS, 2)
    return [(one[0], two[0]), (None, three[1]), (two[1], None), (one[1], "the"),
            ("was", three[0]), (",", one[0]), ("the", "."), (number, other),
            (None, number), ("don't", "dont"), (".", "a"),
            ("'s", None), (",", "'s"),  # the first character is no letter
            ("as", None), ("as", "he"),  # both stand inside function words
            ("é", None), (None, "для"),  # letters, though none of them from a to z
            ("straße", "STRASSE"), ("1,000", None), ("Mr.", "mr")]  # fmt: skip


def _equal(draw: Draw) -> list[Pair]:
    word, sign = some_of(draw, _FORMS, 1)[0][0], some_of(draw, _SIGNS, 1)[0]
    return [(word, word), (sign, sign), ("The", "The"), ("is", "is")]


def _all_kinds(draw: Draw) -> list[Pair]:
    kinds = (_case, _sign, _little, _form, _word, _equal)
    return [pair for kind in kinds for pair in kind(draw)]



EXERCISE = Specification(
    name="text_recovery/error_kinds",
    title="Mistakes by kind",
    target="error_kinds",
    precise=False,
    cases=[
        CaseKind(
            name="clear",
            title="one kind after the other, and equal pairs",
            inputs=lambda draw: _rows(
                draw, [kind(draw) for kind in (_case, _sign, _little, _form, _word, _equal)]
            ),
            hint="Go down the table: the first kind that fits.",
        ),
        CaseKind(
            name="together",
            title="all kinds in one sentence",
            inputs=lambda draw: _rows(
                draw, [_all_kinds(draw), _all_kinds(draw)], own="zog"
            ),
            hint="Each pair whose sides differ counts once.",
        ),
        CaseKind(
            name="one_sided",
            title="words that are missing or too much",
            inputs=lambda draw: _rows(
                draw,
                [
                    [("the", None)], [(None, ",")], [(None, "keys")], [("!", None)],
                    [("Baked", None), (None, "12")], [(None, "Were")], [],
                ],
            ),
            hint="Case and form need two sides; signs and function words do not.",
        ),
        CaseKind(
            name="several",
            title="pairs that fit several rows of the table",
            inputs=lambda draw: _rows(
                draw,
                [
                    [("is", "was"), ("Is", "was")], [("Was", "was")], [("has", "Has")],
                    [("Keys", "keys")], [("KEYS", "key")], [("Mouse", "mice")],
                    [("to", "a"), ("To", "to")], [(".", "the")], [("keys", "the")],
                ],
            ),
            hint="The first row that fits decides.",
        ),
        CaseKind(
            name="others",
            title="other sentences",
            inputs=lambda draw: _rows(draw, [_all_kinds(draw) for _ in range(4)]),
            hint="The same for other pairs.",
            hidden_only=True,
        ),
    ],
    mutants=[*KINDS, *COUNTS],
    accepted=ACCEPTED,
)
