"""Questions about values inside a call: their shapes, properties and lines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from autograder.extras.questions.listing import CodeListing
from autograder.extras.questions.notes import NotedPlace
from autograder.extras.questions.observations import Observation, Seen
from autograder.extras.questions.question import OPTIONS, ChoiceQuestion, shuffled
from autograder.extras.questions.statements import of_value, other_shapes, shape_of

_COPIED = 0.5  # the worth of a shape that an argument has, or that the line states
_LARGEST = 100  # the largest dimension of tensors to ask about
_SPECIAL = {"rows": 7.5, "columns": 8.0, "infinity": 8.0, "triangle": 7.0}
Noted = Sequence[tuple[NotedPlace, Seen]]


def _tensors(
    noted: Noted, observation: Observation
) -> Iterator[tuple[NotedPlace, Seen, bool]]:
    """Yield (place, value, whether no argument has its shape) for suitable tensors."""
    argument_shapes = [value.shape for _, value in observation.call]
    for place, value in noted:
        if value.is_tensor and value.shape and max(value.shape) <= _LARGEST:
            yield place, value, value.shape not in argument_shapes


def shapes(
    noted: Noted, observation: Observation, draw: random.Random
) -> Iterator[ChoiceQuestion]:
    """Questions of the kind "What is the shape of this value?"."""
    sizes = [size for _, value in observation.call for size in value.shape if size > 1]
    for place, value, is_new in _tensors(noted, observation):
        alternatives = other_shapes(value.shape, sizes)[:6]
        if len(value.shape) < 2 or len(alternatives) < OPTIONS - 1:
            continue
        worth = 5.0 + len(value.shape) + 0.5 * bool(place.name)
        # The first one usually has the last two dimensions swapped, a common mistake.
        wrong = [alternatives[0], *draw.sample(alternatives[1:], OPTIONS - 2)]
        yield shuffled(
            "shape", f"What is the shape of {place.description}?",
            shape_of(value.shape), [shape_of(shape) for shape in wrong],
            about=[place.description, *[f"shape {value.shape}"][:is_new]],
            line=place.line, draw=draw,
            worth=worth if is_new and not place.is_filled else _COPIED,
        )  # fmt: skip


def statements(
    noted: Noted, observation: Observation, draw: random.Random
) -> Iterator[ChoiceQuestion]:
    """Yield questions of the kind "Which statement is true of this value?"."""
    for place, value, _ in _tensors(noted, observation):
        claims = of_value(value)
        special = [claim for claim in claims if claim.true and claim.kind in _SPECIAL]
        wrong = {claim.kind: claim.text for claim in claims if not claim.true}
        if place.is_result or place.is_filled or not special:
            continue
        if len(wrong) >= OPTIONS:
            wrong.pop("booleans", None)  # easy to rule out
        if len(wrong) < OPTIONS - 1:
            continue
        right = special[0]
        kinds = draw.sample(sorted(wrong), OPTIONS - 1)
        yield shuffled(
            "statement", f"Which statement is true of {place.description}?", right.text,
            [wrong[kind] for kind in kinds], about=[place.description],
            worth=_SPECIAL[right.kind], line=place.line, draw=draw,
        )  # fmt: skip


def lines(
    listing: CodeListing, noted: Noted, observation: Observation, draw: random.Random
) -> Iterator[ChoiceQuestion]:
    """Questions of the kind "In which line does this shape first appear?"."""
    first: dict[tuple[int, ...], int] = {}
    tensors = [
        (p, v, new) for p, v, new in _tensors(noted, observation) if len(v.shape) > 1
    ]
    ran = sorted({place.line for place, _, _ in tensors} & {*listing.numbers.values()})
    for place, value, is_new in tensors:
        if is_new:
            first[value.shape] = min(place.line, first.get(value.shape, place.line))
    if len(ran) < OPTIONS:
        return
    for shape, line in first.items():
        others = draw.sample([n for n in ran if n != line], OPTIONS - 1)
        options = sorted([line, *others])
        yield ChoiceQuestion(
            "line", f"In which line does a tensor of shape {shape_of(shape)} first "
            "appear?", tuple(_line(listing, option) for option in options),
            options.index(line), (f"shape {shape}",), 4.0 + len(shape), line,
        )  # fmt: skip


def _line(listing: CodeListing, number: int) -> str:
    text = listing.text.splitlines()[number - 1].strip().replace("`", "")
    return f"Line {number}: `{text}`"
