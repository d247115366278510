"""Cases that try general properties, made from an exercise's own cases.

An exercise's ``Contract`` says which dimensions arguments and results have; from that
follow the ways in which its object is called (`autograder.checks.properties`) and the
cases that ask for them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autograder.authoring.contract import Again, Contract, SpecialSizes
from autograder.authoring.draw import Draw
from autograder.authoring.specification import CaseKind, Inputs, Maker
from autograder.checks.properties import KEY

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


@dataclass(frozen=True)
class _Kind:
    aspect: str  # of all its answers, whatever else their probe declares
    title: str
    hint: str
    says: str
    asks: str


# A good start is called one; what hands numbers on has for a gradient what pulls.
_OPEN = ("start", "gradient")
# What is called, or made, with options.
_WITH_FORMS = ("steady", "loaded", "start")
# What a module holds, does not depend on what it is called with.
_OF_THE_MODULE = ("loaded", "start")
_KINDS = {
    "steady": _Kind(
        "calls",
        "the same call twice, with others in between",
        "Nothing may carry over from one call to the next.",
        "The first call is right, but a later one is not: {label}.",
        "Does anything carry over from one call to the next, and does your code "
        "accept other sizes, masks and keyword arguments?",
    ),
    "alone": _Kind(
        "calls",
        "each sentence alone, and the batch in a different order",
        "The result for a sentence must not depend on its neighbours in the batch.",
        "Right for the whole batch, wrong {label}.",
        "Which of your dimensions is the batch? Is anything mixed along it, and may "
        "its size be 1?",
    ),
    "spread": _Kind(
        "calls",
        "inputs that are views of other tensors",
        "A transposed or expanded tensor holds the same values in a different memory "
        "layout.",
        "Right for ordinary inputs, wrong {label}.",
        "Which of your steps relies on the memory layout, or names a dtype?",
    ),
    "training": _Kind(
        "mode",
        "training mode, with nothing to drop",
        "If nothing is dropped, training mode changes nothing.",
        "Right in eval mode, wrong in training mode, even without dropout.",
        "What else besides dropout depends on `self.training` in your code?",
    ),
    "dropout": _Kind(
        "mode",
        "where dropout is applied in training",
        "In training a stand-in replaces dropout. It must be applied where the text "
        "says, to each entry separately, with the given probability.",
        "Right in eval mode, but in training dropout is applied to the wrong entries, "
        "or with the wrong probability.",
        "Which entries should dropout be applied to, each separately, and with which "
        "probability?",
    ),
    "gradient": _Kind(
        "learning",
        "the gradient of every input and parameter",
        "Whatever takes part in the computation needs a gradient.",
        "The values are right, but not {label}.",
        "Where does a tensor leave the graph (`detach`, `.data`, `item`, a new tensor "
        "made from its values), and which parameters should be trainable?",
    ),
    "loaded": _Kind(
        "learning",
        "a second module with the state of the first, and a copy",
        "Everything a module needs is in its state dict, or follows from its "
        "arguments.",
        "The module computes correctly, but something is wrong with {label}.",
        "What does your module hold or call that is not a parameter, a buffer or a "
        "submodule of its own?",
    ),
    "start": _Kind(
        "learning",
        "the initial values of the weights",
        "Weights that start alike stay alike, so each matrix must start at random.",
        "With given weights everything is right, but the initial values are not: "
        "{label}.",
        "If they start like this, which weights could ever become different from each "
        "other?",
    ),
    "closed": _Kind(
        "calls",
        "scores in the millions, for allowed and masked keys",
        "A masked key gets no weight, however large its score and however small the "
        "allowed ones are.",
        "For ordinary scores everything is right; for very large ones, masked keys "
        "get some weight.",
        "Which number is below every possible score?",
    ),
    "sizes": _Kind(
        "calls",
        "sizes of one, and equal sizes",
        "No size is special: not one sentence, not one position, not sizes that "
        "happen to agree.",
        "Right in the other cases, wrong {label}.",
        "Which of your steps finds a dimension by its size, or drops one of size 1?",
    ),
    "sequence": _Kind(
        "calls",
        "several inputs in turn, then the first again",
        "Nothing may carry over from one call to the next.",
        "The first call is right, but a later one is not: {label}.",
        "Does anything carry over from one call to the next, and does your code "
        "accept other sizes, masks and keyword arguments?",
    ),
}


def kinds(
    contract: Contract, own: Sequence[CaseKind], forms: Forms | None = None
) -> tuple[CaseKind, ...]:
    """The kinds of cases for a contract's properties, made from an exercise's own."""
    forms = forms or {}
    by_name = {kind.name: kind for kind in own}
    sources = [by_name[name] for name in contract.on]
    made = [
        _case(way, contract, sources[:1] if way in _OF_THE_MODULE else sources, forms)
        for way in contract.ways
    ]
    if contract.dropout:
        made.append(_dropout(contract, [by_name[name] for name in contract.dropout[0]]))
    if contract.sizes:
        made.append(_sizes(contract, contract.sizes))
    if not contract.module:  # a module is made anew for each case: `steady` keeps one
        made += sequence(own, {} if "steady" in contract.ways else forms)
    return tuple(made)


def _case(
    way: str, contract: Contract, sources: list[CaseKind], forms: Forms
) -> CaseKind:
    def inputs(draw: Draw) -> Inputs:
        drawn = [source.inputs(draw) for source in sources]
        form = forms if way in _WITH_FORMS else {}
        return _asked(contract, _parts(way, sources), drawn, form)

    return _made(way, inputs, sources)


def _dropout(contract: Contract, sources: list[CaseKind]) -> CaseKind:
    def inputs(draw: Draw) -> Inputs:
        assert contract.dropout
        rates = {name: torch.tensor(rate) for name, rate in contract.dropout[1].items()}
        drawn = [{**source.inputs(draw), **rates} for source in sources]
        return _asked(contract, _parts("dropout", sources), drawn)

    return _made("dropout", inputs, sources)


def _parts(way: str, sources: list[CaseKind]) -> list[dict[str, str]]:
    return [
        {"way": way, "inputs": f"{i}/", "label": _label(source, sources)}
        for i, source in enumerate(sources)
    ]


def _label(source: CaseKind, sources: list[CaseKind]) -> str:
    return source.title if len(sources) > 1 else ""


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
    kind = _KINDS[way]
    return CaseKind(
        name=f"property_{way}",
        title=kind.title,
        inputs=inputs,
        hint=kind.hint,
        atol=max((source.atol for source in sources), default=1e-5),
        aspect=kind.aspect,
        says=kind.says,
        asks=kind.asks,
        open=way in _OPEN,
    )
