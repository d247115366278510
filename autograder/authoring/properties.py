"""Derive cases that test general properties from an exercise's own cases.

A general property holds for any correct solution: for instance, a second call
gives the same result. The exercise's ``Contract`` states which properties to
test; `autograder.checks.properties` makes the calls.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from autograder.authoring.contract import Contract, SpecialSizes
from autograder.authoring.draw import Draw
from autograder.authoring.specification import CaseKind, Inputs, Maker
from autograder.checks.points import RESULTS
from autograder.checks.properties import KEY
from autograder.checks.properties.arguments import OVERWRITTEN
from autograder.course.errors import CourseError

# The names and defaults of arguments: under "called", those of the function or of the
# module's ``forward``; under "made", those of the class.
Forms = Mapping[str, Mapping[str, Any]]


def forms(solution: Any) -> Forms:
    """Describe which arguments of a solution have defaults.

    Properties are also tested with these arguments passed by name.

    Returns:
        Names and defaults under "called" and "made" (for a class), as in `Forms`.
    """
    forms_by_call = {"made" if inspect.isclass(solution) else "called": _form(solution)}
    if "forward" in vars(solution):
        forms_by_call["called"] = _form(vars(solution)["forward"], 1)
    return {key: form for key, form in forms_by_call.items() if form}


def _form(function: Any, skipped: int = 0) -> dict[str, Any]:
    """Return the "names" of a function's arguments, and their "defaults".

    The result is {} without defaults, or if a test cannot use them.

    Args:
        skipped: how many arguments to leave out at the start, such as ``self``.
    """
    parameters = [*inspect.signature(function).parameters.values()][skipped:]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) and all(
        value is None or isinstance(value, bool | int | float | str)
        for value in defaults.values()
    )
    if not defaults or not plain:
        return {}
    return {"names": [p.name for p in parameters], "defaults": defaults}


# Ways whose correct answer can be the same for all inputs: any good initialisation is
# reported in the same words, and the gradient of a function that only passes numbers on
# is the incoming gradient.
_OPEN = ("start", "gradient")
# Ways that call or create the object with options.
_WITH_FORMS = ("steady", "loaded", "start")
# Ways that inspect a module's state, which does not depend on the inputs.
_OF_THE_MODULE = ("loaded", "start")
# By way: the aspect of its case, and the sentences about it.
_KINDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def kinds(
    contract: Contract, own_kinds: Sequence[CaseKind], forms: Forms | None = None
) -> tuple[CaseKind, ...]:
    """Make the kinds of cases that test the properties of a contract.

    Args:
        own_kinds: the exercise's own kinds of cases, whose inputs are used.
        forms: the names and defaults of arguments, as `forms` returns them.
    """
    forms = forms or {}
    by_name = {kind.name: kind for kind in own_kinds}
    # A contract names kinds of cases, for its ways and for dropout.
    _refuse_unknown([*contract.on, *(contract.dropout or [()])[0]], by_name)
    sources = [by_name[name] for name in contract.on]
    property_kinds = [
        _case(way, contract, sources[:1] if way in _OF_THE_MODULE else sources, forms)
        for way in contract.ways
    ]
    if contract.dropout:
        dropping, rates = contract.dropout
        property_kinds.append(
            _case("dropout", contract, [by_name[n] for n in dropping], forms, rates)
        )
    if callable(contract.sizes):
        property_kinds.append(_sizes(contract, contract.sizes))
    # A module is created anew for each call of the probe, and `steady` repeats calls.
    if not contract.module:
        property_kinds += sequence(
            own_kinds, {} if "steady" in contract.ways else forms
        )
    return tuple(property_kinds)


def _refuse_unknown(
    names: Sequence[str], kinds_by_name: Mapping[str, CaseKind]
) -> None:
    """Refuse a contract that names a case that the exercise does not have."""
    for name in names:
        if name not in kinds_by_name:
            raise CourseError(
                f'the contract names the case "{name}", which is not there; add it, '
                f"or name another one ({', '.join(kinds_by_name)})"
            )


def _case(
    way_name: str, contract: Contract, sources: list[CaseKind], forms: Forms,
    rates: Mapping[str, float] | None = None,
) -> CaseKind:  # fmt: skip
    """Make the kind of case that calls an object in one way, on given kinds' inputs.

    Args:
        way_name: one of the ways in autograder/checks/properties, such as "steady".
        rates: additional inputs, which set the rate of dropout.
    """
    labels = [source.title if len(sources) > 1 else "" for source in sources]
    # For each kind: how to call, the prefix of its inputs, and words for its answers.
    parts = [
        {"way": way_name, "inputs": f"{i}/", "label": label}
        for i, label in enumerate(labels)
    ]

    def inputs(draw: Draw) -> Inputs:
        """Draw the inputs of each kind, and pack them with the calls to make."""
        extra = {name: torch.tensor(rate) for name, rate in (rates or {}).items()}
        input_sets = [{**source.inputs(draw), **extra} for source in sources]
        return _pack_inputs(
            contract, parts, input_sets, forms if way_name in _WITH_FORMS else {}
        )

    return _property_kind(way_name, inputs, sources)


def _sizes(contract: Contract, sizes: SpecialSizes) -> CaseKind:
    """Make the case that calls an exercise's object on inputs of special sizes.

    Args:
        sizes: draws the inputs of each call, by a label such as "one sentence".
    """
    # Without a list of arguments, only the probe knows how to call the object.
    way_name = "plain" if contract.arguments else "probe"

    def inputs(draw: Draw) -> Inputs:
        inputs_by_label = sizes(draw)
        parts = [
            {"way": way_name, "inputs": f"{i}/", "label": f"for {label}"}
            for i, label in enumerate(inputs_by_label)
        ]
        return _pack_inputs(contract, parts, list(inputs_by_label.values()))

    return _property_kind("sizes", inputs, [])


def sequence(
    own_kinds: Sequence[CaseKind], forms: Forms | None = None
) -> tuple[CaseKind, ...]:
    """Make a case that applies the exercise's own probe to several inputs in turn.

    The first inputs are repeated at the end, to expose an object that keeps state
    between calls. The result is () if too few kinds of cases are suitable, or if
    there are too many.
    """
    usable = [
        kind
        for kind in own_kinds
        if kind.aspect in RESULTS
        and not (kind.measure or kind.hidden_only or kind.expected)
    ]
    if len(usable) < 2 or len(own_kinds) > 9:
        return ()
    first, *other_kinds = usable

    def inputs(draw: Draw) -> Inputs:
        """Draw the inputs of calls in turn; the first are used again at the end."""
        chosen = [first, first, *other_kinds[:2]]
        input_sets = [kind.inputs(draw) for kind in chosen]
        order = [*range(len(input_sets)), 0]
        labels = ["at first", "with other numbers", "with other sizes", "with others"]
        labels = [*labels[: len(input_sets)], "again at the end"]
        parts = [
            {"way": "probe", "inputs": f"{i}/", "label": label}
            for i, label in zip(order, labels, strict=True)
        ]
        if forms and "called" in forms:
            parts[-1]["label"] += ", with all options by their names"
            parts[-1]["named"] = "yes"
        # Once more, after the results have been overwritten, as a caller may do.
        parts.append({**parts[-1], "label": OVERWRITTEN, "overwriting": "yes"})
        return _pack_inputs(Contract(), parts, input_sets, forms)

    return (_property_kind("sequence", inputs, [first, *other_kinds[:2]]),)


_RARE = ("narrow", "named", "alone", "shown")  # flags that are sent only if set


def _pack_inputs(
    contract: Contract, parts: list[dict[str, str]], input_sets: list[Inputs],
    forms: Forms | None = None,
) -> Inputs:  # fmt: skip
    """Pack inputs under the prefixes "0/", "1/", ..., and the calls to make as JSON.

    Args:
        parts: the calls, each with its way, prefix of inputs, and label.
    """
    call = {
        "arguments": _dims(contract.arguments),
        "optional": [n[:-1] for n in _names(contract.arguments) if n.endswith("?")],
        "results": {n: forms[0] for n, forms in _dims(contract.results).items()},
        "module": contract.module,
        "typed": contract.typed,
        **{name: True for name in _RARE if getattr(contract, name)},
        **(forms or {}),
    }
    packed: Inputs = {KEY: json.dumps({"call": call, "parts": parts})}
    for i, inputs in enumerate(input_sets):
        packed |= {f"{i}/{name}": value for name, value in inputs.items()}
    return packed


def _names(text: str) -> list[str]:
    """Parse the names from ``"x: B L d; mask?: L L"``: "x" and "mask?"."""
    return [item.split(":")[0].strip() for item in text.split(";") if item.strip()]


def _dims(text: str) -> dict[str, list[list[str]]]:
    """Parse ``"x: B L; mask?: L L"``: ``{"x": [["B", "L"]], "mask": [["L", "L"]]}``."""
    items = [item.partition(":") for item in text.split(";") if item.strip()]
    return {
        name.strip().removesuffix("?"): [form.split() for form in forms.split("|")]
        for name, _, forms in items
    }


def _property_kind(
    way_name: str, inputs: Maker, sources: Sequence[CaseKind]
) -> CaseKind:
    """Make the kind of case for one way to call, with the texts of properties.toml.

    Args:
        sources: the kinds of cases whose largest ``atol`` is used.
    """
    return CaseKind(
        name=f"property_{way_name}",
        inputs=inputs,
        atol=max((source.atol for source in sources), default=1e-5),
        open=way_name in _OPEN,
        **_KINDS[way_name],
    )
