"""Signs of mistakes in text answers: types, phrases and lists of items."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

import torch

from autograder.checks.diagnostics.alike import compose_sign
from autograder.checks.diagnostics.values import Sign, Wrong, faults
from autograder.checks.exercise import Finding
from autograder.checks.interactor import BlindTrial
from autograder.checks.language import _, translate

_LONGEST = 40  # letters of a phrase
_YES, _NO = ("True", "yes"), ("False", "no")
SOMETIMES = BlindTrial.UNSTEADY  # a test's words on one subject, if they differ
_ENDED = "ended by "  # before the error with which a student's test ends


def kind(findings: Sequence[Finding]) -> Sign:
    """Recognise results that have the same wrong type in every case."""
    kinds = {(str(f.expected), str(f.actual)) for f in findings}
    name = findings[0].name.removeprefix("kind of ")
    if name == findings[0].name or len(kinds) != 1:
        return None
    expected, actual = kinds.pop()
    message = _('"{name}" should be {expected}, but yours is {own}.')
    if expected in (actual_kinds := actual.split(", ")):
        message = _(
            '"{name}" should always be {expected}, but yours is sometimes {own}.'
        )
        actual = ", ".join(kind for kind in actual_kinds if kind != expected)
    fields = {"expected": translate(expected), "own": translate(actual)}
    return (
        message.format(name=translate(name), **fields),
        _(
            "Which type do the docstring and the `def` line promise, and which of your "
            "steps produces a different type?"
        ),
    )


def phrase(findings: Sequence[Finding]) -> Sign:
    """Recognise the same wrong phrase, or the same wrong truth value, in all cases."""
    pairs = {(_word(f.expected), _word(f.actual)) for f in findings}
    if len(pairs) != 1 or "" in (pair := pairs.pop()):
        return None
    expected, actual = map(translate, pair)
    message = _('For "{name}", "{expected}" is right, but yours is "{own}".')
    if pair in zip(_YES, _NO, strict=True):
        message = _("This should hold, but does not: {name}.")
    elif pair in zip(_NO, _YES, strict=True):
        message = _("This should not be so, but is: {name}.")
    asks = _("Which line decides this?")
    return compose_sign(findings, message, asks, own=actual, expected=expected)


def _word(value: object) -> str:
    """A short phrase, or a single boolean, as text; "" for anything else."""
    if isinstance(value, torch.Tensor):
        single = value.dtype == torch.bool and value.dim() == 0
        return str(value.item()) if single else ""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return ""
    letters = re.sub(r"[ ,.\w-]", "", value)
    return value if value[:1].isalpha() and not letters else ""


def same_word(wrong: Wrong) -> Sign:
    """Recognise that all wrong answers are the same word.

    Words for yes and no are ignored, because they agree too easily by chance.
    """
    findings = faults(wrong)
    words = {_word(f.actual) for f in findings if isinstance(f.actual, str)}
    expected = {_word(f.expected) for f in findings}
    word = next(iter(words)) if len(words) == 1 else ""
    is_text = all(isinstance(f.actual, str) for f in findings)
    if word in ("", *_YES, *_NO) or len(findings) < 3 or not is_text:
        return None
    if len(expected) < 2 or "" in expected:
        return None
    return (
        _('Wherever your answer is wrong, it is "{own}".').format(own=translate(word)),
        _(
            "Which of your conditions lead to this answer, and which of them should "
            "have evaluated differently?"
        ),
    )


def rejects(wrong: Wrong) -> Sign:
    """Recognise a student's test that rejects a correct object."""
    pairs = {(f.expected, f.actual) for f in faults(wrong) if isinstance(f.actual, str)}
    if pairs.isdisjoint({("accepted", word) for word in ("rejected", SOMETIMES)}):
        return None
    return (
        _("Your test rejects something that is right."),
        _("Which of your assertions demands more than the rules do?"),
    )


def ended(wrong: Wrong) -> Sign:
    """Recognise a student's test that ends in an error other than an AssertionError."""
    errors = Counter(
        f.actual.removeprefix(_ENDED)
        for f in faults(wrong)
        if isinstance(f.actual, str) and f.actual.startswith(_ENDED)
    )
    if not errors:
        return None
    error = errors.most_common(1)[0][0]
    return (
        _("Your test does not decide: a `{error}` ends it.").format(error=error),
        _("Which line raises it? Run the test on a correct object and read the error."),
    )


def items(findings: Sequence[Finding]) -> Sign:
    """Recognise a list whose items are reordered, missing or superfluous."""
    lists = [(_items(f.expected), _items(f.actual)) for f in findings]
    pairs = [(a, b) for a, b in lists if a and b is not None]
    if len(pairs) < len(lists):
        return None
    if all(len(a) > 2 and b == a[::-1] for a, b in pairs):
        message = _('The items of "{name}" are right, but in reverse.')
        asks = _(
            "From which end does your code work, and what turns the result around?"
        )
        return compose_sign(findings, message, asks)
    if all(sorted(a) == sorted(b) for a, b in pairs):
        message = _('The items of "{name}" are right, but in a different order.')
        asks = _("Which order is asked for, and what decides between equal ones?")
        return compose_sign(findings, message, asks)
    sign = _pieces(pairs)
    return sign and compose_sign(findings, *sign)


def _items(value: object) -> list[str] | None:
    """Split a JSON list into its items, each as JSON; None if the value is not one."""
    if not isinstance(value, str):
        return None
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, list):
        return None
    return [json.dumps(item, ensure_ascii=False) for item in read]


def _pieces(pairs: Sequence[tuple[list[str], list[str]]]) -> Sign:
    """Recognise items that are cut into other pieces, or have missing or extra pieces.

    ``pairs`` holds the expected and the actual items of each finding, as JSON. In
    the message that is returned, the field ``name`` is not filled in yet.
    """
    wrong = [
        (_text(x), _text(y))
        for a, b in pairs
        if len(a) == len(b)
        for x, y in zip(a, b, strict=True)
        if x != y
    ]
    readable = [(a, b) for a, b in wrong if a and b is not None]
    if len(readable) < max(len(wrong), 2) or any(len(a) != len(b) for a, b in pairs):
        return None
    texts = [("".join(a), "".join(b)) for a, b in readable]
    if all(a == b for a, b in texts):
        message = _("{name}: the text is right, but cut in different places.")
        if all(len(a) < len(b) for a, b in readable):
            message = _("{name}: the text is right, but cut into too many pieces.")
        if all(len(a) > len(b) for a, b in readable):
            message = _("{name}: the text is right, but cut into too few pieces.")
        return message, _("Which pieces should have been joined, and which not?")
    if all(_is_within(b, a) for a, b in readable):
        message = _("{name}: pieces are missing, and all that is there is right.")
        return message, _("Which pieces does your code leave out?")
    if all(_is_within(a, b) for a, b in readable):
        message = _("{name}: there are pieces too many beside all the right ones.")
        return message, _("Which pieces should not be there any more?")
    return None


def _text(item: str) -> list[str] | None:
    """The pieces of a JSON item: a list's texts, or a text's words; None for others."""
    read = json.loads(item)
    if isinstance(read, str):
        return read.split()
    if isinstance(read, list) and all(isinstance(piece, str) for piece in read):
        return read
    return None


def _is_within(subsequence: Sequence[str], sequence: Sequence[str]) -> bool:
    """Whether a sequence is a shorter subsequence of another, in the same order."""
    # `in` moves the iterator on, so that the pieces must come in this order.
    remaining = iter(sequence)
    return len(subsequence) < len(sequence) and all(
        piece in remaining for piece in subsequence
    )


TEXTS = (kind, items)  # of one answer, in all cases in which it is wrong
