"""How good restored texts are: BLEU, and the recall of what had been lost."""

from __future__ import annotations

import json

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure, NotTheirsError
from autograder.library import abilities


def _texts(answers: Answers, name: str = "bleu") -> list[str]:
    """The JSON list of texts with a name.

    Raises:
        KeyError, ValueError, TypeError: there is none.
    """
    value = answers[name]
    texts = json.loads(value) if isinstance(value, str) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} is no list of texts")
    return texts


def _value(expected: Answers, actual: Answers) -> float:
    """BLEU (sacrebleu, 13a, case counts) of the JSON lists of texts named ``bleu``.

    0 for another number of texts, and for outputs that make the very errors of
    ``expected["copied"]``, the first outputs of a model that everybody has, or that are
    no better than these where the weights go back to that model's.
    """
    wanted, given = _texts(expected), _texts(actual)
    if len(wanted) != len(given):
        return 0.0
    copied = _texts(expected, "copied") if "copied" in expected else []
    if _same_errors(wanted, given, copied):
        raise NotTheirsError(
            "0: these are the errors of the checkpoint that ships with the course; "
            "the grade is for a model that you trained yourself"
        )
    first = slice(len(copied))
    if "goes back" in actual and not (
        _bleu(wanted[first], given[first]) > _bleu(wanted[first], copied)
    ):
        raise NotTheirsError(
            "0: these weights started from the checkpoint that ships with the course, "
            "and recover no more than it does; the grade is for a model that you "
            "trained yourself"
        )
    return _bleu(wanted, given)


def _bleu(wanted: list[str], given: list[str]) -> float:
    import sacrebleu

    return sacrebleu.corpus_bleu(given, [wanted], force=True).score


def _same_errors(wanted: list[str], given: list[str], copied: list[str]) -> bool:
    """Whether most wrong outputs of a model that everybody has are those given, too.

    Of two models trained apart it is less than half; of one model that is decoded in
    two ways, four fifths (docs/recovery_grade.md). A few could be chance.
    """
    rows = list(zip(wanted, given, copied, strict=False))
    errors = [(own, other) for right, own, other in rows if right not in (own, other)]
    asked = sum(other != right for right, _, other in rows)
    return asked >= 30 and sum(own == other for own, other in errors) >= 0.72 * asked


def _details(expected: Answers, actual: Answers) -> dict[str, float]:
    """Recall by ability."""
    wanted = _texts(expected)
    return abilities.recall([abilities.left(t) for t in wanted], wanted, _texts(actual))


def _remark(expected: Answers, actual: Answers) -> str:
    return abilities.remark(_texts(expected), _texts(actual))


MEASURE = Measure(_value, _details, _remark)
