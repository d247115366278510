"""Ways to repeat a call: with different arguments, reordered, on views.

Each is a generator of labels with functions that make a call.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import torch
from torch import nn

from autograder.checks.language import translatable
from autograder.checks.properties.call import Call, Named, Results, Tries, copied_module
from autograder.checks.properties.fake_dropout import dropout_is, nothing

OVERWRITTEN = translatable("after the first result was written over")


def plain(call: Call) -> Tries:
    """Yield the call as it is, with an empty label."""
    yield "", call


def steady(call: Call) -> Tries:
    """Yield the call several times, with other calls in between, each with its label.

    The results show whether a call depends on earlier ones.
    """
    if isinstance(call.target, nn.Module):
        call.target.eval()
    yield "at first", call
    yield "the same again", call
    if isinstance(call.target, nn.Module):
        # Training mode is tested elsewhere: only what it leaves behind matters here.
        with contextlib.suppress(Exception), dropout_is(nothing):
            call.target.train()
            call()
        call.target.eval()
    else:
        yield OVERWRITTEN, partial(_call_while_overwritten, call)
    numbers = _other_numbers(call)
    if numbers:
        yield "with other numbers of the same shapes", partial(call, **numbers)
        refilled = partial(call.refilled, **numbers)
        yield "with other numbers in the same tensors", refilled
    for label, changed in _vary_arguments(call):
        yield label, partial(call, **changed)
    options = call.called.defaults if call.called else {}
    # Only if there is a number among the options: its dimensions are declared as "_".
    if any(call.dims.get(name) == ("_",) for name in options):
        bare = dict.fromkeys(options)
        yield "with nothing but what must be given", partial(call, **bare)
    last = "the same at the end"
    if call.called:
        yield f"{last}, with all options by their names", call.by_name
    else:
        yield last, call


def _call_while_overwritten(call: Call) -> Results:
    """Call once more while the results of a first call are overwritten."""
    with overwrite(call()):
        return call()


@contextlib.contextmanager
def overwrite(results: Results) -> Iterator[None]:
    """Overwrite the results of a call until the context ends, as a caller may.

    This shows whether the student's code uses a returned result again.
    """
    tensors = [v.detach() for v in results.values() if isinstance(v, torch.Tensor)]
    saved = [value.clone() for value in tensors]
    for value in tensors:
        with contextlib.suppress(RuntimeError):  # expanded tensors cannot be written
            value.logical_not_() if value.dtype == torch.bool else value.add_(1)
    try:
        yield
    finally:
        for value, before in zip(tensors, saved, strict=True):
            with contextlib.suppress(RuntimeError):
                value.copy_(before)


def _other_numbers(call: Call) -> dict[str, torch.Tensor]:
    """Return arguments in which each example has the previous one's numbers.

    Floats are also negated. Return {} if the batch has one example.
    """
    if call.size("B") == 1:
        return {}
    return {
        name: -value.roll(1, 0) if value.is_floating_point() else value.roll(1, 0)
        for name, value in call.tensors().items()
        if value.dtype != torch.bool and 0 in call.at(name, "B")
    }


def _vary_arguments(call: Call) -> Iterator[tuple[str, Named]]:
    """Yield changes of arguments with their labels: masks, sizes, shared tensors."""
    batch = call.size("B")
    masks = {n: v for n, v in call.masks().items() if n in call.optional}
    if masks:
        yield "with another mask", {n: v.flip(-1) for n, v in masks.items()}
        yield "without a mask", dict.fromkeys(masks)
    absent = [n for n in call.optional if call.arguments.get(n) is None]
    if absent:
        yield "with a mask", {n: _some_mask(call, n) for n in absent}
    if batch > 1:
        yield "with one example", call.select_part("B", slice(1))
    names = {d for n in call.tensors() for d in call.dims.get(n, ()) if d[0] == "L"}
    if any(call.size(name) > 1 for name in names):
        shorter = call
        for name in sorted(names):
            if call.size(name) > 1:
                changed = call.arguments | shorter.select_part(name, slice(-1))
                shorter = Call(call.target, changed, call.dims, call.results)
        yield "with shorter sequences", dict(shorter.arguments)
    if shared := _one_for_several(call):
        # Without masks, which may not fit the shared tensor.
        yield "with one tensor for several arguments", shared | dict.fromkeys(masks)


def _one_for_several(call: Call) -> Named:
    """Map several arguments to a tensor that they may share; {} if there are none."""
    forms: dict[tuple[object, ...], list[str]] = {}
    for name, value in call.floats().items():
        dims = call.dims.get(name, ())
        if len(dims) == value.dim():
            shape = zip(dims, value.shape, strict=True)
            form = tuple("L" if d[0] == "L" else (d, size) for d, size in shape)
            forms.setdefault(form, []).append(name)
    names = max(forms.values(), key=len, default=[])
    return {n: call.arguments[names[-1]] for n in names} if len(names) > 1 else {}


def _some_mask(call: Call, name: str) -> torch.Tensor:
    """Return an irregular mask of an argument's shape, with the first key allowed."""
    shape = [call.size(dim) for dim in call.dims[name]]
    grid = torch.arange(int(torch.tensor(shape).prod())).reshape(shape)
    keep = grid * 7 % 5 > 1  # an irregular pattern
    keep[..., 0] = True
    return keep


def alone(call: Call) -> Tries:
    """Yield calls with each example alone, and with the examples in another order.

    The results show whether one example of a batch influences another.
    """
    batch = call.size("B")

    def one_by_one() -> Results:
        slices = [slice(b, b + 1) for b in range(batch)]
        return _together([call(**call.select_part("B", part)) for part in slices], call)

    yield "as a batch", call
    yield "example by example", one_by_one
    yield "with the examples in another order", partial(_in_another_order, call)


def _in_another_order(call: Call) -> Results:
    """Call with the examples reordered, and put the results in the original order."""
    batch = call.size("B")
    order = torch.arange(batch).roll(1)
    turned: Named = {}
    for name, value in call.tensors().items():
        for i in call.at(name, "B"):
            value = value.index_select(i, order) if value.size(i) > 1 else value
        turned[name] = value
    return {
        name: value.index_select(call.results[name].index("B"), order.argsort())
        for name, value in call(**turned).items()
        if _has_batch(value, call.results[name], batch)
    }


def _has_batch(value: torch.Tensor, dims: tuple[str, ...], batch: int) -> bool:
    """Whether a result has the declared number of dimensions and of examples."""
    if "B" not in dims or value.dim() != len(dims):
        return False
    return value.size(dims.index("B")) == batch


def _together(apart: list[Results], call: Call) -> Results:
    """Concatenate the results of single examples along the batch.

    Results that have unequal shapes, or no axis "B", are left out.
    """
    joined = {}
    for name, dims in call.results.items():
        parts = [example_results[name] for example_results in apart]
        if "B" in dims and len({p.shape for p in parts}) == 1:
            # A wrong result may have fewer dimensions than declared.
            dim = min(dims.index("B"), parts[0].dim() - 1)
            joined[name] = torch.cat(parts, dim=dim)
    return joined


def spread(call: Call) -> Tries:
    """Yield calls with inputs of another layout or dtype.

    They are transposed or expanded views, or in float64 or bfloat16.
    """
    yield "for inputs as usual", call
    crosswise = {
        name: value.mT.contiguous().mT
        for name, value in call.tensors().items()
        if value.dim() > 1
    }
    yield "for inputs that are transposed views", partial(call, **crosswise)
    batch = call.size("B")
    if batch > 1:
        first = call.select_part("B", slice(1))
        for name, value in first.items():
            if 0 in call.at(name, "B"):
                first[name] = value.expand(batch, *value.shape[1:])
        yield "for inputs that are expanded views", partial(call, **first)
    if call.typed:
        yield "for inputs in float64", partial(_in_float64, call)
        present = [n for n in call.optional if call.arguments.get(n) is not None]
        if present:
            bare = replace(call, arguments=call.arguments | dict.fromkeys(present))
            yield "for inputs in float64, without a mask", partial(_in_float64, bare)
    if call.narrow:
        # Only the dtypes of the results, since their numbers have few digits.
        yield "for inputs in bfloat16", lambda: _types(_in_type(call, torch.bfloat16))


def _in_float64(call: Call) -> Results:
    """Call in float64; return the results as float32, and their dtypes as text.

    The dtype is the answer "type of NAME".
    """
    outputs = _in_type(call, torch.float64)
    values = {
        name: value.float() if value.dtype == torch.float64 else value
        for name, value in outputs.items()
    }
    return {**_types(outputs), **values}


def _in_type(call: Call, dtype: torch.dtype) -> Mapping[str, torch.Tensor]:
    """Call with inputs of another dtype; a module is copied and converted as well."""
    converted = {name: value.to(dtype) for name, value in call.floats().items()}
    if isinstance(call.target, nn.Module):
        call = replace(call, target=copied_module(call.target).to(dtype))
    return call(**converted)


def _types(outputs: Mapping[str, torch.Tensor]) -> Results:
    return {f"type of {name}": str(value.dtype) for name, value in outputs.items()}


def closed(call: Call) -> Tries:
    """Yield a call with huge inputs, which shows whether masks really exclude keys.

    A masked key whose score is merely lowered may then exceed the others.
    """

    def far() -> Results:
        """Call with inputs 1024 times as large, and scale the results."""
        large = {name: value * 1024 for name, value in call.floats().items()}
        return {
            name: value / value.abs().amax().clamp(min=1)
            for name, value in call(**large).items()
        }

    if call.masks():
        yield "", far
