"""Two masks at once."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _nothing_closed(draw: Draw) -> Inputs:
    """The larger of two masks is open everywhere."""
    made = _two_masks((3, 1, 4), (4, 4), "both")(draw)
    return made | {"first": made["first"] | True}


def _two_masks(first: tuple[int, ...], second: tuple[int, ...], ask: str) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        masks = [draw.flags(*shape) for shape in (first, second)]
        while any(mask.all() for mask in masks):  # that is a case of its own
            masks = [draw.flags(*shape) for shape in (first, second)]
        return {"first": masks[0], "second": masks[1], "ask": ask}

    return inputs


def _two_padding_masks(draw: Draw) -> Inputs:
    """Each closes what the other one opens, besides what is drawn."""
    made = _two_masks((2, 1, 5), (2, 1, 5), "both")(draw)
    made["first"][..., :2] = torch.tensor([True, False])
    made["second"][..., :2] = torch.tensor([False, True])
    return made


def _all_open(draw: Draw) -> Inputs:
    """Two masks that close nothing at all."""
    made = _two_masks((2, 1, 3), (3, 3), "both")(draw)
    return made | {name: made[name] | True for name in ("first", "second")}


def _one_closed(draw: Draw) -> Inputs:
    """What one word of padding looks like; the other one is drawn."""
    first, second = torch.zeros(1, 1, 1, dtype=torch.bool), draw.flags(3, 3)
    return {"first": first, "second": second, "ask": _ALL + ", the other order"}


_ALL = "both, None and the second, the first and None, None and None"

EXERCISE = Specification(
    name="attention/combine_masks",
    title="Two masks at once",
    target="combine_masks",
    precise=False,
    cases=[
        CaseKind(
            name="padding_and_causal",
            title="a padding mask and a square mask",
            inputs=_two_masks((3, 1, 5), (5, 5), "both"),
            hint="A pair is allowed only if both masks allow it.",
        ),
        CaseKind(
            name="other_order",
            title="the other way round: the square mask first",
            inputs=_two_masks((4, 4), (2, 1, 4), "both"),
            hint="The order of the arguments must not matter.",
        ),
        CaseKind(
            name="alike",
            title="two masks of the same shape",
            inputs=_two_masks((2, 3, 4), (2, 3, 4), "both"),
            hint="A pair is allowed only if both masks allow it; neither mask changes.",
        ),
        CaseKind(
            name="flat",
            title="a square mask and a single row, without a batch",
            inputs=_two_masks((6, 6), (1, 6), "both"),
            hint="The result has as many dimensions as the larger of both.",
        ),
        CaseKind(
            name="none",
            title="None for the first, the second, or both",
            inputs=_two_masks((2, 1, 6), (6, 6), _ALL),
            hint="None restricts nothing: the other mask is the answer.",
        ),
        CaseKind(
            name="rows",
            title="None beside a single row, without queries and batch",
            inputs=_two_masks((17,), (17,), _ALL),
            hint="None restricts nothing: the other mask is the answer, in its own "
            "shape.",
        ),
        CaseKind(
            name="open",
            title="a mask that closes nothing",
            inputs=_nothing_closed,
            hint="A mask that is open everywhere still has its shape.",
        ),
        CaseKind(
            name="both_open",
            title="two masks that close nothing",
            inputs=_all_open,
            hint="Two masks make a mask, also if it restricts nothing.",
            open=True,
        ),
        CaseKind(
            name="equal_sizes",
            title="as many sentences as queries and keys",
            inputs=_two_masks((4, 1, 4), (4, 4), "both, the other order"),
            hint="Shapes line up from the right, also where all sizes are equal.",
        ),
        CaseKind(
            name="views",
            title="masks that are views, with their rows and columns exchanged",
            inputs=lambda draw: {
                **_two_masks((2, 5, 5), (5, 5), "both")(draw), "turned": "yes"
            },
            hint="What a tensor holds is not always in the order of its memory.",
            hidden_only=True,
        ),
        CaseKind(
            name="sizes_of_one",
            title="two padding masks (B, 1, L) of the same batch",
            inputs=_two_padding_masks,
            hint="A dimension of size 1 is a dimension.",
        ),
        CaseKind(
            name="one_number",
            title="a mask of a single number, closed, as the second and as the first",
            inputs=_one_closed,
            hint="A mask that closes all there is, is a mask: only None restricts nothing.",
            open=True,
        ),
        CaseKind(
            name="heads",
            title="masks with heads",
            inputs=_two_masks((2, 1, 1, 7), (3, 5, 7), _ALL),
            hint="The shapes broadcast as tensors do.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="none_with_dimensions",
            says="In place of None you take an open mask of your own. A mask with fewer "
            "dimensions gains some.",
            asks="Which shape has the answer if there is only one mask?",
            ways=[Way(source="""
                def combine_masks(first, second):
                    if first is None:
                        return second
                    if second is None:
                        second = torch.ones(1, 1, dtype=torch.bool)
                    return first & second
                """)],
        ),
        Mutant(
            name="either",
            says="You combined with *or*: a pair is open as soon as one mask opens it. "
            "Then each mask opens what the other had closed.",
            asks="Two guards stand at the door. Is a yes of one enough?",
            ways=[
                Way(edits=[Edit("first & second", "first | second")]),
                Way(name="added", edits=[Edit("first & second", "first + second")]),
                Way(name="logical_or", edits=[
                    Edit("first & second", "torch.logical_or(first, second)"),
                ]),
            ],
        ),
        Mutant(
            name="open_is_none",
            says="Where both masks close nothing, you return `None`.",
            asks="When is the answer `None`, by the docstring?",
            ways=[Way(edits=[
                Edit("return first & second", """
                    both = first & second
                    return None if both.all() else both
                    """),
            ])],
        ),
        Mutant(
            name="lined_up_from_the_left",
            says="Where sizes are equal, the rows of the matrix are taken for sentences.",
            asks="With which dimension of `(B, 1, L)` does the first one of `(L, L)` meet?",
            ways=[Way(edits=[
                Edit("return first & second", """
                    if first.dim() == 3 and len(first) == len(second) == second.size(-1):
                        return first & second.unsqueeze(1)
                    return first & second
                    """),
            ])],
        ),
        Mutant(
            name="order_of_memory",
            says="Your result is right for new tensors, but not for views: those lie in "
            "another order in memory.",
            asks="What does `as_strided` know of a tensor that was transposed?",
            ways=[Way(edits=[
                Edit("return first & second", """
                    rows = second.size(-1)
                    plain = second.as_strided(second.shape, (rows, 1)) if second.dim() == 2 else second
                    return first & plain
                    """),
            ])],
        ),
        Mutant(
            name="differ",
            says="Your mask is open where the two masks *differ* (an exclusive or).",
            asks="What should come out where both say yes?",
            ways=[
                Way(edits=[Edit("first & second", "first ^ second")]),
                Way(name="not_equal", edits=[
                    Edit("first & second", "first != second"),
                ]),
            ],
        ),
        Mutant(
            name="agree",
            says="Your mask is open where the two masks *agree*, even where both say "
            "no.",
            asks="What should come out where both say no?",
            ways=[Way(edits=[Edit("first & second", "first == second")])],
        ),
        Mutant(
            name="neither",
            says="Your mask is open where *neither* mask allows it: the result is "
            "upside down for masks in which `True` means yes.",
            asks="What should come out where both say yes?",
            ways=[Way(edits=[Edit("first & second", "~(first | second)")])],
        ),
        Mutant(
            name="not_both",
            says="The result is inverted: open where it should be closed.",
            asks="What should come out where both say yes?",
            ways=[Way(edits=[Edit("first & second", "~(first & second)")])],
        ),
        Mutant(
            name="only_first",
            says="Only the first mask arrives in the result.",
            asks="Where does the second mask enter?",
            ways=[Way(edits=[Edit("first & second", "first")])],
        ),
        Mutant(
            name="only_second",
            says="Only the second mask arrives in the result.",
            asks="Where does the first mask enter?",
            ways=[Way(edits=[Edit("first & second", "second")])],
        ),
        Mutant(
            name="python_and",
            says="Python's `and`, `not` and `if` want one truth value for a whole "
            "tensor, and a tensor of many has none.",
            asks="Which operator combines tensors entry by entry, and how do you ask "
            "whether something is `None`?",
            ways=[
                Way(edits=[Edit("first & second", "first and second")]),
                Way(name="truth_of_tensor", edits=[
                    Edit("if first is None:", "if not first:"),
                ]),
            ],
        ),
        Mutant(
            name="numbers",
            says="The places are right, but the result holds numbers, not booleans.",
            asks="What is the type of a product of floats?",
            ways=[Way(edits=[
                Edit("first & second", "first.float() * second.float()"),
            ])],
        ),
        Mutant(
            name="whole_numbers",
            says="The places are right, but the result holds whole numbers, not "
            "booleans.",
            asks="What is the type of a product of integers?",
            ways=[Way(edits=[Edit("first & second", "first.int() * second.int()")])],
        ),
        Mutant(
            name="no_none",
            says="With two masks all is well, but `None` was forgotten.",
            asks="What should come out if one of the two is `None`?",
            ways=[Way(source="""
                def combine_masks(first, second):
                    return first & second
                """)],
        ),
        Mutant(
            name="none_closes",
            says="If one mask is `None`, you return `None` and lose the other mask.",
            asks="No restriction from one side: what does the other side still forbid?",
            ways=[Way(source="""
                def combine_masks(first, second):
                    if first is None or second is None:
                        return None
                    return first & second
                """)],
        ),
        Mutant(
            name="second_none",
            says="One of the two may be `None` in your code, but not the other.",
            asks="How many of the arguments can be `None`? Did you try each?",
            ways=[Way(edits=[
                Edit(
                    """
                    if second is None:
                        return first
                    """,
                    "",
                ),
            ])],
        ),
        Mutant(
            name="in_place",
            says="The result is right, but you changed one of the masks itself, and "
            "the next layer gets the changed one.",
            asks="What is the difference between `a = a & b` and `a &= b`?",
            ways=[Way(source="""
                def combine_masks(first, second):
                    if first is None or second is None:
                        return second if first is None else first
                    if first.numel() < second.numel():
                        first, second = second, first
                    first &= second if second.dim() <= first.dim() else second.any(0)
                    return first
                """)],
        ),
        Mutant(
            name="in_place_small",
            says="You combined in place, with `&=`. The first mask cannot grow to the "
            "full shape, and it would be changed for everybody else.",
            asks="What shape does the result have, and what shape the first mask?",
            ways=[Way(edits=[
                Edit(
                    "return first & second",
                    """
                    first &= second
                    return first
                    """,
                ),
            ])],
        ),
        Mutant(
            name="batch_added",
            says="The result has a batch, although neither mask has one.",
            asks="Which dimensions come out when two matrices broadcast?",
            ways=[Way(edits=[
                Edit("return first & second", """
                    both = first & second
                    return both if both.dim() > 2 else both.unsqueeze(0)
                    """),
            ])],
        ),
        Mutant(
            name="closed_number_left_out",
            says="A mask of a single number that closes everything is taken for no mask.",
            asks="Which value is it that restricts nothing, and how do you ask for it?",
            ways=[Way(edits=[
                Edit("if first is None:",
                     "if first is None or (first.numel() == 1 and not first):"),
                Edit("if second is None:",
                     "if second is None or (second.numel() == 1 and not second):"),
            ])],
        ),
        Mutant(
            name="stacked",
            says="You stacked the masks, which needs equal shapes.",
            asks="What does `&` do with shapes `(3, 1, 5)` and `(5, 5)`?",
            ways=[Way(edits=[
                Edit("first & second", "torch.stack([first, second]).all(0)"),
            ])],
        ),
        Mutant(
            name="one_sentence",
            says="All sentences share one mask in your result: the batch was reduced.",
            asks="Which shape should the result have?",
            ways=[Way(edits=[Edit("first & second", "(first & second)[:1]")])],
        ),
        Mutant(
            name="open_mask_left_out",
            says="A mask that closes nothing is left out, and with it its shape: the "
            "result is smaller than the two masks together.",
            asks="Which shape have two masks of shapes `(B, 1, L)` and `(L, L)` "
            "together?",
            ways=[Way(source="""
                def combine_masks(first, second):
                    if first is None or first.all():
                        return second
                    if second is None or second.all():
                        return first
                    return first & second
                """)],
        ),
    ],
    accepted=[
        Accepted(name="logical_and", edits=[
            Edit("first & second", "torch.logical_and(first, second)"),
        ]),
        Accepted(name="product", edits=[Edit("first & second", "first * second")]),
        Accepted(name="de_morgan", edits=[
            Edit("first & second", "~(~first | ~second)"),
        ]),
        Accepted(name="where", edits=[
            Edit("first & second", "torch.where(first, second, torch.tensor(False))"),
        ]),
        Accepted(name="minimum", edits=[
            Edit("first & second", "torch.minimum(first.int(), second.int()) == 1"),
        ]),
        Accepted(name="masked_fill", edits=[
            Edit("first & second",
                 "torch.broadcast_tensors(first, second)[0].masked_fill(~second, False)"),
        ]),
        Accepted(name="list_of_masks", source="""
            def combine_masks(first, second):
                result = None
                for mask in (first, second):
                    if mask is not None:
                        result = mask if result is None else result & mask
                return result
            """),
        Accepted(name="always_new", source="""
            def combine_masks(first, second):
                masks = [mask for mask in (first, second) if mask is not None]
                if not masks:
                    return None
                total = torch.tensor(True)
                for mask in masks:
                    total = total & mask
                return total
            """),
    ],
)
