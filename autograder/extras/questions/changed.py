"""Questions about changes to the code: their effects, and which has a given effect."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from autograder.extras.questions.edits import ProposedEdit
from autograder.extras.questions.observations import EditOutcome, Observation, Seen
from autograder.extras.questions.question import OPTIONS, ChoiceQuestion, shuffled
from autograder.extras.questions.statements import (
    ROWS,
    Statement,
    after_edit,
    implied,
    no_longer_sums,
    positions,
)

Outcomes = Sequence[EditOutcome]  # of an edit, by case; a question shows the first case
Tried = Sequence[tuple[ProposedEdit, Outcomes]]

# How much a question is worth, by the kind of statement that is its answer.
_TELLING = {
    "columns": 4.0, "rows": 4.0, "sees": 4.0, "nan": 3.0, "shape": 3.0,
    "triangle": 3.0, "turned": 3.0, "empty": 3.0, "longer": 3.0, "shorter": 3.0,
    "factor": 2.5, "nothing": 2.5, "true": 2.0, "larger": 2.0, "smaller": 2.0,
    "error": 2.0, "values": 0.0,
}  # fmt: skip
_WAYS = 3  # candidate questions for one effect, of which a sheet has at most one
_USUAL = ("error", "nothing", "values")
_RARE = ("nan", "turned")  # wrong options of last resort: students see they rarely hold
# Ideas that a sheet asks about only once, by kinds of statements.
_ONCE = {"sees": "sees", "rows": "rows", "columns": "rows", "triangle": "triangle"}


# --- what happens --------------------------------------------------------------------


def what_if(
    tried: Tried, observations: Sequence[Observation], names: Sequence[str],
    draw: random.Random,
) -> Iterator[ChoiceQuestion]:  # fmt: skip
    """Yield questions of the kind "You change a line: what happens to this call?".

    Args:
        tried: pairs of a change and its outcomes, one for each test case.
        observations: what the unchanged code does in each case.
        names: what the questions call the parts of the result.
    """
    is_all_told = _is_all_told(observations[0])
    for edit, outcomes in tried:
        first = outcomes[0]
        if first.is_unclear:
            continue
        if first.is_same and not all(outcome.is_same for outcome in outcomes):
            continue  # the same for this input only: see `which_input`
        called = plain_names(observations[0].result) if edit.is_return else names
        claims = after_edit(observations[0], first, called)
        right = next((claim for claim in claims if claim.true), None)
        if right and right.kind in ("larger", "smaller") and not is_all_told:
            continue  # it cannot be worked out without the numbers
        wrong = _wrong_options(claims, right, draw) if right else []
        if right and len(wrong) == OPTIONS - 1:
            once = [_ONCE[right.kind]] if right.kind in _ONCE else []
            yield shuffled(
                "change", f"You {edit.instruction}. What happens to this call?",
                right.text, wrong,
                about=[edit.instruction, edit.idea, *once],
                worth=edit.worth + _TELLING[right.kind], draw=draw, line=edit.line,
                explanation=first.raised,
            )  # fmt: skip


def plain_names(result: Seen) -> list[str]:
    """Name the parts of a result: "the result", or "the first result" and so on."""
    count = len(result.results)
    if count == 1:
        return ["the result"]
    words = ("first", "second", "third", "fourth")
    return [f"the {word} result" for word in words[:count]]


def _is_all_told(observation: Observation) -> bool:
    return all(value.text or value.kind == "NoneType" for _, value in observation.call)


def is_scalar(observation: Observation) -> bool:
    """Whether all arguments and results of a call are single numbers."""
    values = [*(value for _, value in observation.call), *observation.result.results]
    kinds = ("int", "float", "bool", "NoneType")
    return all(value.kind in kinds or value.number is not None for value in values)


def _wrong_options(
    claims: Sequence[Statement], right: Statement, draw: random.Random
) -> list[str]:
    """Choose up to three false claims as wrong options; no option implies another."""
    by_kind: dict[str, list[str]] = {}
    for claim in claims:
        if not claim.true and (claim.kind != right.kind or claim.kind == "shape"):
            by_kind.setdefault(claim.kind, []).append(claim.text)
    special = [kind for kind in by_kind if kind not in (*_USUAL, *_RARE)]
    usual = [kind for kind in _USUAL if kind in by_kind]
    draw.shuffle(special)
    draw.shuffle(usual)
    special.sort(key=lambda kind: kind != right.kind)  # an alternative shape first
    rare = [kind for kind in _RARE if kind in by_kind]
    kinds, texts = [right.kind], list[str]()
    # A correct shape beside only one other shape would be easy to guess.
    rivals = ["shape"] * (right.kind == "shape" and len(by_kind.get("shape", ())) > 1)
    for kind in (*rivals, *special[:1], *usual[:1], *special[1:], *usual[1:], *rare):
        other_kinds = [other_kind for other_kind in kinds if other_kind != kind]
        if len(texts) < OPTIONS - 1 and not implied(kind, other_kinds):
            kinds.append(kind)
            texts.append(by_kind[kind].pop(draw.randrange(len(by_kind[kind][:3]))))
    return texts


# --- which change --------------------------------------------------------------------


@dataclass(frozen=True)
class _Effect:
    """An effect that a change may have, to ask which one of several changes has it.

    Attributes:
        name: the kind of effect; a sheet asks about each kind at most once.
        text: the question.
        worth: how worthwhile the question is.
        tell: says from a change's outcomes whether it has the effect; None: unclear.
    """

    name: str
    text: str
    worth: float
    tell: Callable[[Outcomes], bool | None]


def which_change(
    tried: Tried, observation: Observation, names: Sequence[str], draw: random.Random
) -> Iterator[ChoiceQuestion]:
    """Yield questions of the kind "Exactly one change has this effect. Which one?"."""
    plain = [
        (edit, outcomes)
        for edit, outcomes in tried
        if not outcomes[0].is_unclear
        and not any(outcome.is_inconclusive for outcome in outcomes)
    ]
    for effect in _effects(observation, names):
        verdicts = [(edit, effect.tell(outcomes)) for edit, outcomes in plain]
        right = [edit for edit, does_it in verdicts if does_it is True]
        wrong = [edit for edit, does_it in verdicts if does_it is False]
        for edit in sorted(right, key=lambda e: -e.worth - draw.random())[:_WAYS]:
            distractors = _spread(wrong, edit, draw)
            if len(distractors) == OPTIONS - 1:
                mentioned = [distractor.instruction for distractor in distractors]
                yield shuffled(
                    "which change", effect.text, _sentence(edit.instruction),
                    [*map(_sentence, mentioned)],
                    about=[effect.name, edit.instruction, edit.idea],
                    worth=effect.worth, draw=draw, mentioned=mentioned,
                )  # fmt: skip


def _effects(observation: Observation, names: Sequence[str]) -> Iterator[_Effect]:
    """Yield the effects on this call about which a question can be asked."""
    one_of = "Exactly one of these changes"
    yield _Effect(
        "error", f"{one_of} makes this call raise an error. Which one?", 7.5,
        lambda o: True if o[0].raised else False if o[0].result else None,
    )  # fmt: skip
    yield _Effect(
        "nothing", f"{one_of} leaves the result of this call unchanged. Which one?",
        6.5 if is_scalar(observation) else 8.5,
        # Unclear if only other cases than the one shown would tell the difference.
        lambda o: all(e.is_same for e in o) or (None if o[0].is_same else False),
    )  # fmt: skip
    parts = observation.result.results
    for i, (name, value) in enumerate(zip(names, parts, strict=False)):
        if value.number is not None and _is_all_told(observation):
            for direction, sign in (("larger", 1), ("smaller", -1)):
                text = f"{one_of} makes {name} {direction}. Which one?"
                tell = partial(_grows, i, value.number, sign)
                yield _Effect(direction, text, 6.0, tell)
        if value.shape:
            yield _Effect(
                "shape", f"After exactly one of these changes, {name} has a different "
                "shape. Which one?", 8.0, partial(_reshapes, i, parts),
            )  # fmt: skip
        if ROWS in value.facts and value.shape[-1] > 1:
            yield _Effect(
                "rows", "After exactly one of these changes, this is true: "
                f"{no_longer_sums(name, value)} Which one?", 9.5,
                partial(_unsums, i, parts),
            )  # fmt: skip
    for argument, (first, last) in positions(observation).items():
        if not observation.moved[argument]:
            yield _Effect(
                "sees", f"{one_of} makes {first} of {names[0]} depend on {last}. "
                "Which one?", 10.0, partial(_reaches, argument),
            )  # fmt: skip


def _new_parts(outcomes: Outcomes, parts: Sequence[Seen]) -> Sequence[Seen]:
    """Return the parts of the result after a change, on the case that the sheet shows.

    They are () if there was an error, or if their number differs from ``parts``.
    """
    result = outcomes[0].result
    new = result.results if result and not outcomes[0].raised else ()
    return new if len(new) == len(parts) else ()


def _reaches(argument: str, outcomes: Outcomes) -> bool | None:
    """Whether the first result depends on an argument's last row; None: unknown."""
    return outcomes[0].moved.get(argument)


def _grows(index: int, old: float, sign: int, outcomes: Outcomes) -> bool | None:
    """Whether part ``index`` grows (``sign`` 1) or shrinks (-1); None for no number."""
    new = outcomes[0].result.results[index:] if outcomes[0].result else ()
    number = new[0].number if new else None
    if number is None or math.isnan(number):
        return None
    return sign * (number - old) > 0


def _reshapes(index: int, parts: Sequence[Seen], outcomes: Outcomes) -> bool | None:
    """Whether the shape of part ``index`` changes; None if the number of parts does."""
    new = _new_parts(outcomes, parts)
    return new[index].shape != parts[index].shape if new else None


def _unsums(index: int, parts: Sequence[Seen], outcomes: Outcomes) -> bool | None:
    """Whether rows of part ``index`` no longer sum to 1; None if any shape changes."""
    new = _new_parts(outcomes, parts)
    if [value.shape for value in new] != [value.shape for value in parts]:
        return None
    return ROWS not in new[index].facts


def _spread(
    edits: Sequence[ProposedEdit], right: ProposedEdit, draw: random.Random
) -> list[ProposedEdit]:
    """Choose up to three of the wrong ``edits``, from different lines if possible."""
    pool = sorted(edits, key=lambda e: -e.worth - 2 * draw.random())
    chosen: list[ProposedEdit] = []
    # At first one change of each line, that of ``right`` included; then more.
    for most in (1, 2, 4):
        for edit in pool:
            lines = [chosen_edit.line for chosen_edit in (right, *chosen)]
            if edit not in chosen and lines.count(edit.line) < most:
                chosen.append(edit)
            if len(chosen) == OPTIONS - 1:
                return chosen
    return chosen


# --- which input ---------------------------------------------------------------------


def which_input(
    tried: Tried, observations: Sequence[Observation], draw: random.Random
) -> Iterator[ChoiceQuestion]:
    """Questions of the kind "You change a line. Which input shows a difference?"."""
    titles = [case.title for case in observations]
    if len(titles) < OPTIONS - 1:
        return
    for edit, outcomes in tried:
        different = [i for i, outcome in enumerate(outcomes) if not outcome.is_same]
        unclear = any(outcome.is_unclear for outcome in outcomes)
        if len(different) == 1 and not unclear:
            right = titles[different[0]]
            yield shuffled(
                "input",
                f"You {edit.instruction}. Which of these inputs shows a difference?",
                _sentence(right), [_sentence(t) for t in titles if t != right],
                about=[edit.instruction, edit.idea, f"input {right}"],
                worth=edit.worth - 2.0, draw=draw, line=edit.line,
            )  # fmt: skip


def _sentence(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]}."
