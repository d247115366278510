"""Derive inputs of given sizes, and a contract, from an exercise's signature.

    case("plain", "two sentences", sizes(B=2, h=3, L=5, d_k=4), hint)

The stub's annotations determine the tensors of this case, inputs of unusual
sizes, and the contract: how the object is called, and what holds for all calls.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from autograder.authoring.arguments import draw_value, is_float32, is_number
from autograder.authoring.contract import (
    OF_MODULES,
    OF_TABLES,
    USUAL,
    Contract,
    Inputs,
    Maker,
    SpecialSizes,
)
from autograder.authoring.draw import Draw
from autograder.authoring.shapes import Parameter, Signature, read_signature
from autograder.authoring.specification import CaseKind, InputSizes, Specification
from autograder.authoring.variants import namespace, solution_source
from autograder.checks.probes import find
from autograder.checks.probes.default import CALL, DEFAULT, MAKE
from autograder.course.errors import CourseError

_EQUAL = 3  # the size of all dimensions that may be equal


def complete(specification: Specification) -> Specification:
    """Fill in a specification's inputs, contract and sizes from its signature.

    Several objects have several signatures, so their specification stays as it is. A
    contract is only made for the default probe, which calls an object as annotated.
    """
    if len(specification.targets) > 1:
        return specification
    plan = _Plan(specification)
    cases = [
        replace(kind, inputs=plan.make_inputs(kind))
        if isinstance(kind.inputs, InputSizes)
        else kind
        for kind in specification.cases
    ]
    by_sizes = [k for k in specification.cases if isinstance(k.inputs, InputSizes)]
    contract = specification.contract
    is_usual = find(specification.name) is DEFAULT
    if by_sizes and is_usual:
        plan.refuse_unnamed_results()
    if contract is None and by_sizes and is_usual and plan.returns_tensors:
        contract = Contract()
    if contract is not None:
        contract = plan.complete_contract(contract, by_sizes)
        if callable(contract.sizes):
            contract = replace(contract, sizes=plan.complete_sizes(contract.sizes))
    return replace(specification, cases=cases, contract=contract)


@dataclass(frozen=True)
class _Plan:
    """How an exercise's object is created and called, as its signature says."""

    specification: Specification

    @property
    def signature(self) -> Signature:
        code = solution_source(self.specification)
        return read_signature(code, self.specification.target)

    @property
    def is_module(self) -> bool:
        return "forward" in self.signature.methods

    @property
    def returns_tensors(self) -> bool:
        return any(result.kind for result in self.signature.call.results)

    @property
    def result_names(self) -> list[str]:
        return self.specification.results.split(", ")

    def refuse_unnamed_results(self) -> None:
        """Refuse an exercise that does not name all results of its signature."""
        named, stated = len(self.result_names), len(self.signature.call.results)
        if named != stated:
            raise CourseError(
                f"{self.specification.name}: results={self.specification.results!r} "
                f"names {named}, but the signature states {stated}: annotate what it "
                'returns, as in -> Float[Tensor, "B L"]'
            )

    def make_inputs(self, kind: CaseKind) -> Maker:
        assert isinstance(kind.inputs, InputSizes)
        self._refuse_unused(kind.name, kind.inputs)
        return self._make_inputs(kind.name, kind.inputs)

    def _refuse_unused(self, case: str, sizes: InputSizes) -> None:
        """Refuse names in sizes(...) that nothing uses, such as a misspelt one."""
        options = self.signature.arguments if self.is_module else ()
        arguments = (*options, *self.signature.call.arguments)
        texts = [text for p in arguments for shape in p.shapes for text in shape]
        texts += [value for value in sizes.values.values() if isinstance(value, str)]
        dimensions = re.findall(r"[^\W\d]\w*", " ".join(texts))
        listed = dict.fromkeys([*(p.name for p in arguments), *dimensions])
        read = [
            name
            for value in sizes.values.values()
            if callable(value)
            for name in inspect.signature(value).parameters
        ]
        usable = [*listed, *read, "weights"]
        for name in sizes.values:
            if name not in usable:
                raise CourseError(
                    f"{self.specification.name}, case {case}: sizes(...) has {name}, "
                    "which names no argument and no dimension of an argument "
                    f"(they are {', '.join(listed)})"
                )

    def _make_inputs(self, case: str, sizes: InputSizes) -> Maker:
        """Make the function that draws a case's inputs; errors name the ``case``."""
        signature, call = self.signature, self._describe_call(sizes)
        options = signature.arguments if self.is_module else ()
        parameters = {f"{MAKE}{option.name}": option for option in options}
        parameters |= {argument.name: argument for argument in signature.call.arguments}

        def make_inputs(draw: Draw) -> Inputs:
            inputs: Inputs = {}
            try:
                for name, parameter in parameters.items():
                    if (value := draw_value(parameter, sizes, draw)) is not None:
                        inputs[name] = value
            except KeyError as error:
                raise CourseError(
                    f"{self.specification.name}, case {case}: sizes(...) lacks "
                    f"{error.args[0]}"
                ) from None
            if sizes.dtype:
                call["cast"] = [n for n, v in inputs.items() if is_float32(v)]
            weights = self._draw_weights(inputs, draw, sizes)
            return {CALL: json.dumps(call)} | inputs | weights

        return make_inputs

    def _describe_call(self, sizes: InputSizes) -> dict[str, Any]:
        """Describe a call for the default probe: arguments, results and options.

        Numbers arrive as tensors without dimensions. The probe converts them back,
        except for arguments under "tensors".
        """
        call: dict[str, Any] = {
            "order": [p.name for p in self.signature.call.arguments],
            "results": self.result_names,
        }
        if self.is_module:
            call["module"] = [p.name for p in self.signature.arguments]
            if self.specification.numbers:
                call["numbers"] = self.specification.numbers.split()
        if arrays := [p.name for p in self.signature.call.arguments if p.is_array]:
            call["arrays"] = arrays
        elif self.specification.gradients and not sizes.dtype:
            call["gradients"] = True
        if scalars := [p.name for p in self.signature.call.arguments if _allows_0d(p)]:
            call["tensors"] = scalars
        if sizes.dtype:
            call["dtype"] = sizes.dtype
        return call

    def _draw_weights(self, inputs: Inputs, draw: Draw, sizes: InputSizes) -> Inputs:
        """Draw a module's parameters, in the shapes of the solution's parameters."""
        if not self.is_module:
            return {}
        kind = namespace(self.specification)[self.specification.target]
        options = {
            name.removeprefix(MAKE): value.item() if is_number(value) else value
            for name, value in inputs.items()
            if name.startswith(MAKE)
        }
        module: nn.Module = kind(**options)
        shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
        weights = draw.weights(**shapes) if shapes else {}
        largest = sizes.values.get("weights", 1)
        return {name: weight * largest for name, weight in weights.items()}

    def complete_contract(
        self, contract: Contract, by_sizes: Sequence[CaseKind]
    ) -> Contract:
        """Fill in what a contract does not state about arguments, results and ways.

        Args:
            by_sizes: the kinds of cases that state their inputs by sizes.
        """
        if not by_sizes:
            return contract
        call = self.signature.call
        special = contract.sizes
        if not callable(special):
            special = self._vary_sizes(by_sizes[0], special or {})
        if any(parameter.is_array for parameter in call.arguments):
            # General properties need PyTorch; the default probe tries the sizes.
            return replace(contract, ways=(), sizes=special)
        visible = [kind.name for kind in by_sizes if not kind.hidden_only]
        on = contract.on or tuple(visible[:1])  # cases on which properties are tested
        first = next((kind for kind in by_sizes if kind.name in on), by_sizes[0])
        arguments = contract.arguments or "; ".join(
            _describe_argument(argument, first.inputs) for argument in call.arguments
        )
        results = contract.results or "; ".join(
            f"{name}: {' '.join(_forms(result, first.inputs)[-1])}"  # the longest
            for name, result in zip(self.result_names, call.results, strict=True)
            if result.kind
        )
        floats = [p for p in call.arguments if p.kind == "Float"]
        module, ways, typed = self.is_module, contract.ways, contract.typed
        if ways is USUAL:  # the default, so the author chose none
            ways = OF_MODULES if module else USUAL if floats else OF_TABLES
            if not module and not any(p.kind for p in call.arguments):
                ways = ()  # calls with the same numbers are in the sequence of cases
            if "B" not in results.split():  # no batch to take apart
                ways = tuple(way for way in ways if way != "alone")
        if typed is None:
            typed = bool(floats) and all(p.kind == "Float" for p in call.results)
        return replace(
            contract, arguments=arguments, results=results, ways=ways, module=module,
            on=on, typed=typed, sizes=special,
        )  # fmt: skip

    def complete_sizes(self, special: SpecialSizes) -> SpecialSizes:
        """Make a function like ``special``, but with all inputs drawn.

        ``special`` may return the sizes of inputs instead.
        """

        def draw_all(draw: Draw) -> dict[str, Inputs]:
            return {
                label: self._make_inputs(label, inputs)(draw)
                if isinstance(inputs, InputSizes)
                else inputs
                for label, inputs in special(draw).items()
            }

        return draw_all

    def _vary_sizes(
        self, kind: CaseKind, more: Mapping[str, Mapping[str, Any]]
    ) -> SpecialSizes | None:
        """Make a function that draws a case's inputs in unusual sizes, by label.

        Each dimension that is not ``fixed`` has the size 1 in turn, and then all of
        them the same size. The result is None if there is nothing to change.

        Args:
            more: further changes to the sizes of ``kind``, by label.
        """
        assert isinstance(kind.inputs, InputSizes)
        fixed = self.specification.fixed.split()
        values = kind.inputs.values
        variable = [name for name in self._dimensions() if name not in fixed]
        changes: dict[str, Mapping[str, Any]] = {
            f"{name} = 1": {name: 1} for name in variable
        }
        if len(variable) > 1:
            changes["equal sizes"] = dict.fromkeys(variable, _EQUAL)
        changes |= more

        def draw_all(draw: Draw) -> dict[str, Inputs]:
            return {
                label: self._make_inputs(
                    label, replace(kind.inputs, values={**values, **changed})
                )(draw)
                for label, changed in changes.items()
            }

        return draw_all if changes else None

    def _dimensions(self) -> Iterator[str]:
        """The names of dimensions in the shapes of arguments, each once."""
        shapes = [
            dimension
            for parameter in self.signature.call.arguments
            for shape in parameter.shapes
            for dimension in shape
        ]
        yield from dict.fromkeys(name for name in shapes if name.isidentifier())


def _allows_0d(parameter: Parameter) -> bool:
    """Whether an argument's shapes allow a tensor with zero dimensions."""
    return any(all(name[0] == "*" for name in shape) for shape in parameter.shapes)


def shapes_of_results(specification: Specification) -> dict[str, str]:
    """Map the names of results to their shapes, as the exercise's signature states.

    Results with no shape, an empty one or several allowed ones are left out.
    """
    if len(specification.targets) > 1:
        return {}
    results = _Plan(specification).signature.call.results
    names = specification.results.split(", ")
    if len(names) != len(results):
        return {}
    return {
        name: ", ".join(result.shapes[0])
        for name, result in zip(names, results, strict=True)
        if len(result.shapes) == 1 and result.shapes[0]
    }


def _describe_argument(parameter: Parameter, sizes: InputSizes) -> str:
    """Write an argument as in a contract: ``"mask?: L L | B L L"``; a number is "_"."""
    forms = " | ".join(" ".join(form) for form in _forms(parameter, sizes)) or "_"
    return f"{parameter.name}{'?' if parameter.optional else ''}: {forms}"


def _forms(parameter: Parameter, sizes: InputSizes) -> list[tuple[str, ...]]:
    """List the shapes of an argument or a result, each as a tuple of dimensions.

    A shape with a ``*name`` is listed with several numbers of batch dimensions.
    """
    forms = list[tuple[str, ...]]()
    for shape in parameter.shapes:
        stars = [name for name in shape if name.startswith("*")]
        most = max((len(sizes.values.get(name[1:], ())) for name in stars), default=0)
        for count in sorted({0, 1, most}) if stars else [0]:
            leading = ("B", *(f"B_{n}" for n in range(2, count + 1)))[:count]
            parts = [leading if name in stars else (name,) for name in shape]
            forms.append(tuple(name for part in parts for name in part))
    return forms
