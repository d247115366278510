"""Cases that try general properties, made from an exercise's own cases.

An exercise's ``Contract`` says which dimensions arguments and results have; from that
follow the ways in which its object is called (`autograder.checks.properties`) and the
cases that ask for them.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from autograder.authoring.contract import Again, Contract, SpecialSizes
from autograder.authoring.draw import Draw
from autograder.authoring.specification import CaseKind, Inputs, Maker
from autograder.checks.properties import KEY
from autograder.course.errors import CourseError

# How the object is called and, if it makes a module, made: names and defaults.
Forms = Mapping[str, Mapping[str, Any]]


def forms(solution: Any) -> Forms:
    """What of it can be left out, and so be given by name or in its place."""
    found = {"made" if inspect.isclass(solution) else "called": _form(solution)}
    if "forward" in vars(solution):
        found["called"] = _form(vars(solution)["forward"], 1)
    return {key: form for key, form in found.items() if form}


def _form(function: Any, skipped: int = 0) -> dict[str, Any]:
    """Names in their order and the defaults; none where nothing can be left out."""
    parameters = [*inspect.signature(function).parameters.values()][skipped:]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) and all(
        value is None or isinstance(value, bool | int | float | str)
        for value in defaults.values()
    )
    if not defaults or not plain:
        return {}
    return {"names": [p.name for p in parameters], "defaults": defaults}


# A good start is called one; what hands numbers on has for a gradient what pulls.
_OPEN = ("start", "gradient")
# What is called, or made, with options.
_WITH_FORMS = ("steady", "loaded", "start")
# What a module holds, does not depend on what it is called with.
_OF_THE_MODULE = ("loaded", "start")
# By way: the aspect of its case, and what is said of it.
_KINDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def kinds(
    contract: Contract, own: Sequence[CaseKind], forms: Forms | None = None
) -> tuple[CaseKind, ...]:
    """The kinds of cases for a contract's properties, made from an exercise's own."""
    forms = forms or {}
    by_name = {kind.name: kind for kind in own}
    _refuse_unknown([*contract.on, *(contract.dropout or [()])[0]], by_name)
    sources = [by_name[name] for name in contract.on]
    made = [
        _case(way, contract, sources[:1] if way in _OF_THE_MODULE else sources, forms)
        for way in contract.ways
    ]
    if contract.dropout:
        dropping, rates = contract.dropout
        made.append(
            _case("dropout", contract, [by_name[n] for n in dropping], forms, rates)
        )
    if contract.sizes:
        made.append(_sizes(contract, contract.sizes))
    if not contract.module:  # a module is made anew for each case: `steady` keeps one
        made += sequence(own, {} if "steady" in contract.ways else forms)
    return tuple(made)


def _refuse_unknown(names: Sequence[str], known: Mapping[str, CaseKind]) -> None:
    """Raises CourseError: a contract names a case that the exercise does not have."""
    for name in names:
        if name not in known:
            raise CourseError(
                f'the contract names the case "{name}", which is not there; add it, '
                f"or name another one ({', '.join(known)})"
            )


def _case(
    way: str, contract: Contract, sources: list[CaseKind], forms: Forms,
    rates: Mapping[str, float] | None = None,
) -> CaseKind:  # fmt: skip
    """The case of one way to call, on the inputs of some kinds of cases.

    Args:
        rates: what these inputs need besides, so that something is dropped.
    """
    labels = [source.title if len(sources) > 1 else "" for source in sources]
    parts = [
        {"way": way, "inputs": f"{i}/", "label": label}
        for i, label in enumerate(labels)
    ]

    def inputs(draw: Draw) -> Inputs:
        more = {name: torch.tensor(rate) for name, rate in (rates or {}).items()}
        drawn = [{**source.inputs(draw), **more} for source in sources]
        return _asked(contract, parts, drawn, forms if way in _WITH_FORMS else {})

    return _made(way, inputs, sources)


def _sizes(contract: Contract, sizes: SpecialSizes) -> CaseKind:
    way = "plain" if contract.arguments else "probe"

    def inputs(draw: Draw) -> Inputs:
        drawn = sizes(draw)
        parts: list[dict[str, str]] = []
        for i, (label, made) in enumerate(drawn.items()):
            part = {"way": way, "inputs": f"{i}/", "label": f"for {label}"}
            if isinstance(made, Again):
                part["again"] = parts[-1].get("again", parts[-1]["inputs"])
            parts.append(part)
        return _asked(contract, parts, list(drawn.values()))

    return _made("sizes", inputs, [])


def sequence(
    own: Sequence[CaseKind], forms: Forms | None = None
) -> tuple[CaseKind, ...]:
    """The exercise's own probe on two drawings of a setting, on others, and again.

    None where cases are long (measured), of one kind only, or already many.
    """
    usable = [s for s in own if not s.measure and not s.hidden_only and not s.known]
    if len(usable) < 2 or len(own) > 9:
        return ()
    first, *others = usable

    def inputs(draw: Draw) -> Inputs:
        chosen = [first, first, *others[:2]]
        drawn = [kind.inputs(draw) for kind in chosen]
        order = [*range(len(drawn)), 0]
        words = ["at first", "with other numbers", "with other sizes", "with others"]
        words = [*words[: len(drawn)], "again at the end"]
        parts = [
            {"way": "probe", "inputs": f"{i}/", "label": word}
            for i, word in zip(order, words, strict=True)
        ]
        if forms and "called" in forms:
            parts[-1]["label"] += ", with all options by their names"
            parts[-1]["named"] = "yes"
        return _asked(Contract(), parts, drawn, forms)

    return (_made("sequence", inputs, [first, *others[:2]]),)


_RARE = ("narrow", "named", "alone", "shown")  # said only where it is promised


def _asked(
    contract: Contract, parts: list[dict[str, str]], drawn: list[Inputs],
    forms: Forms | None = None,
) -> Inputs:  # fmt: skip
    """The inputs of all parts under prefixes, and in JSON what to do with them."""
    call = {
        "arguments": _dims(contract.arguments),
        "optional": [n[:-1] for n in _names(contract.arguments) if n.endswith("?")],
        "results": {n: forms[0] for n, forms in _dims(contract.results).items()},
        "module": contract.module,
        "typed": contract.typed,
        **{name: True for name in _RARE if getattr(contract, name)},
        **(forms or {}),
    }
    made: Inputs = {KEY: json.dumps({"call": call, "parts": parts})}
    for i, inputs in enumerate(drawn):
        made |= {f"{i}/{name}": value for name, value in inputs.items()}
    return made


def _names(text: str) -> list[str]:
    return [item.split(":")[0].strip() for item in text.split(";") if item.strip()]


def _dims(text: str) -> dict[str, list[list[str]]]:
    """From ``"x: B L d; mask?: L L | B L L"`` to forms by argument."""
    items = [item.partition(":") for item in text.split(";") if item.strip()]
    return {
        name.strip().removesuffix("?"): [form.split() for form in forms.split("|")]
        for name, _, forms in items
    }


def _made(way: str, inputs: Maker, sources: Sequence[CaseKind]) -> CaseKind:
    return CaseKind(
        name=f"property_{way}",
        inputs=inputs,
        atol=max((source.atol for source in sources), default=1e-5),
        open=way in _OPEN,
        **_KINDS[way],
    )
