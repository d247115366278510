"""Accepted solutions of the bank, and the questions about them; all in this process."""

import contextlib
import io
import random
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import namespace, stands_alone, variant_source
from autograder.checks import tracing
from autograder.extras.questions.asking import questions
from autograder.extras.questions.edits import ProposedEdit, edits
from autograder.extras.questions.listing import CodeListing, NotListedError, listing
from autograder.extras.questions.notes import insert_notes
from autograder.extras.questions.observations import (
    NothingObservedError,
    Observation,
    read,
)
from autograder.extras.questions.question import ChoiceQuestion, chosen, shuffled

SOFTMAX = '''
def stable_softmax(x):
    """Softmax."""
    # first the largest

    powers = (x - x.amax(dim=-1, keepdim=True)).exp()  # none is above 1
    return powers / powers.sum(dim=-1, keepdim=True)
'''


def choice(kind: str, about: str, worth: float = 1.0) -> ChoiceQuestion:
    """A question of a kind, in which only what it is about matters."""
    draw = random.Random(0)
    return shuffled(kind, "?", "a", "bcd", about=[about], worth=worth, draw=draw)


@dataclass(frozen=True)
class Questioned:
    """An accepted solution and the questions asked about it."""

    specification: Specification
    name: str
    listing: CodeListing
    edits: list[ProposedEdit]
    seen: list[Observation]
    asked: list[ChoiceQuestion]
    found: list[ChoiceQuestion]  # all that could be asked

    @property
    def is_enough(self) -> bool:
        return len(self.asked) == 3

    @property
    def is_varied(self) -> bool:
        return self.is_enough and len({question.kind for question in self.asked}) >= 2


def ask(specification: Specification, source: str, name: str = "") -> Questioned:
    """Raises NotListedError, NothingObservedError."""
    code_listing = listing(source, specification.target)
    code, places = insert_notes(code_listing)
    tried = edits(code_listing)
    names = namespace(specification)
    names.pop(specification.target)
    answer = tracing.AnswerCode(
        specification.name, specification.target, code_listing.method, names
    )
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        tracing.show(answer, code, [edit.code for edit in tried])
    observations = read(printed.getvalue())
    draw = random.Random(name)
    candidates = questions(code_listing, places, tried, observations, draw)
    selected = chosen(candidates, 3)
    return Questioned(
        specification, name, code_listing, tried, observations, selected, candidates
    )


def of_bank(unit: str) -> Iterator[Questioned]:
    """All accepted solutions of a unit that can be asked about."""
    for specification in specifications(unit):
        for variant in specification.accepted:
            if stands_alone(specification, variant):
                source = variant_source(specification, variant)
                with contextlib.suppress(NotListedError, NothingObservedError):
                    yield ask(
                        specification, source, f"{specification.name} {variant.name}"
                    )
