"""Make questions about one answer from observations of its execution."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.extras.questions.calls import find_untellable
from autograder.extras.questions.changed import (
    is_scalar,
    plain_names,
    what_if,
    which_change,
    which_input,
)
from autograder.extras.questions.edits import ProposedEdit
from autograder.extras.questions.inside import lines, shapes, statements
from autograder.extras.questions.listing import CodeListing
from autograder.extras.questions.notes import NotedPlace
from autograder.extras.questions.observations import (
    NothingObservedError,
    Observation,
    Seen,
)
from autograder.extras.questions.question import ChoiceQuestion

_OF_ARITHMETIC = 4.0  # how much less a question is worth if the call has no tensors


def questions(
    listing: CodeListing, places: Sequence[NotedPlace], edits: Sequence[ProposedEdit],
    observations: Sequence[Observation], draw: random.Random,
) -> list[ChoiceQuestion]:  # fmt: skip
    """Return all questions that can be asked about an answer, roughly the best first.

    Their kinds are:

    - "change": what happens to the call if a line is changed;
    - "which change": which of several changes has a given effect;
    - "input": for which input a change makes a difference;
    - "shape": the shape of a value inside the call;
    - "statement": what is true of a value inside the call;
    - "line": in which line a shape first appears.

    Args:
        places: the places in the code at which values were recorded, by number.
        edits: the changes that were tried, in the order of ``Observation.edits``.
        observations: what a run of the answer has shown, one for each test case.

    Raises:
        NothingObservedError: an argument of the call is too complex to describe.
    """
    if names := find_untellable(observations[0]):
        raise NothingObservedError(f"`{names[0]}` cannot be told in a line")
    names = result_names(listing, observations[0].result)
    reached = {places[n].line for n in observations[0].ran if 0 <= n < len(places)}
    in_cases = zip(*(case.edits for case in observations), strict=True)  # by edit
    tried = [
        (edit, outcomes)
        for edit, outcomes in zip(edits, in_cases, strict=False)
        if edit.line in reached
        # A change that is merely a different way to write the same teaches nothing.
        and (
            edit.is_telling_if_unchanged
            or not all(outcome.is_same for outcome in outcomes)
        )
        and _are_alike(edit.exchanged, dict(observations[0].call))
    ]
    noted = [(places[n], v) for n, v in observations[0].notes if 0 <= n < len(places)]
    candidates = [
        *what_if(tried, observations, names, draw),
        *which_change(tried, observations[0], names, draw),
        *which_input(tried, observations, draw),
        *shapes(noted, observations[0], draw),
        *statements(noted, observations[0], draw),
        *lines(listing, noted, observations[0], draw),
    ]
    discount = _OF_ARITHMETIC if is_scalar(observations[0]) else 0.0
    candidates = [
        replace(question, worth=question.worth - discount) for question in candidates
    ]
    return sorted(candidates, key=lambda question: -question.worth - draw.random())


def _are_alike(names: Sequence[str], arguments: Mapping[str, Seen]) -> bool:
    """Whether the named arguments have the same type, so that they may be confused.

    Names that are not among the arguments are ignored.
    """
    kinds = {(arguments[n].kind, arguments[n].dtype) for n in names if n in arguments}
    return len(kinds) < 2


def result_names(listing: CodeListing, result: Seen) -> list[str]:
    """Name each part of a result: "the returned `x`", or else "the first result"."""
    function = listing.function_in(ast.parse(listing.source))
    _, *inside = ast.walk(function)
    helpers = [node for node in inside if isinstance(node, ast.FunctionDef)]
    of_helpers = {node for helper in helpers for node in ast.walk(helper)}
    returns = [
        n.value for n in inside if isinstance(n, ast.Return) and n not in of_helpers
    ]
    # Of several returns, it is unknown which one was reached.
    parts = returns[-1] if len(returns) == 1 else None
    nodes = parts.elts if isinstance(parts, ast.Tuple) else [parts]
    usual = plain_names(result)
    if len(nodes) != len(usual):
        return usual
    return [
        f"the returned `{node.id}`" if isinstance(node, ast.Name) else word
        for node, word in zip(nodes, usual, strict=True)
    ]
