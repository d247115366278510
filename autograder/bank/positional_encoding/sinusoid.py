"""The sinusoid encoding, at once."""

from __future__ import annotations

import torch

from autograder.oracle.promise import OF_TABLES, Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _positions(positions: torch.Tensor, d_model: int, odd: int = 0) -> Inputs:
    inputs: Inputs = {"positions": positions, "d_model": torch.tensor(d_model)}
    return inputs | ({"odd d_model": torch.tensor(odd)} if odd else {})


_EXPONENTS = "exponents = torch.arange(0, d_model, 2) / d_model"
_ANGLES = "angles = positions.unsqueeze(-1) / 10000**exponents"
_PAIRS = "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)"
_SINES_AND_COSINES = "(angles.sin(), angles.cos())"

EXERCISE = Specification(
    name="positional_encoding/sinusoid",
    title="The sinusoid encoding, at once",
    target="sinusoid",
    promise=Promise(
        arguments="positions: B L; d_model: _",
        results="encoding: B L d",
        on=("batch",),
        ways=OF_TABLES,
        sizes=special(
            one_position=lambda draw: _positions(draw.ids(1, 9, 1, 1), 6),
            equal_sizes=lambda draw: _positions(draw.ids(0, 9, 4, 4), 4),
            no_position_at_all=lambda draw: _positions(draw.ids(0, 9, 0), 4),
            positions_beyond_a_thousand=lambda draw: _positions(
                draw.ids(1025, 2000, 3), 4
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="row",
            title="the positions 0, 1, 2, ...",
            inputs=lambda draw: _positions(torch.arange(2 * int(draw.ids(3, 8)) + 1), 8),
            hint="Compare with your table by loops.",
            picture="curves",
        ),
        CaseKind(
            name="odd",
            title="an odd d_model is refused",
            inputs=lambda draw: _positions(draw.ids(0, 9, 4), 6, 7),
            hint="What happens for d_model = 7? The docstring promises an error by name.",
            aspect="errors",
        ),
        CaseKind(
            name="no_loops",
            title="as many steps for many positions as for a few",
            inputs=lambda draw: _positions(draw.ids(0, 40, 5), 6) | {"loops": "count"},
            hint="Broadcasting does all positions in one step.",
        ),
        CaseKind(
            name="fractions",
            title="fractions and negative positions",
            inputs=lambda draw: _positions(draw.tensor(7, scale=9.0), 10),
            hint="The formula makes sense for any real number.",
            picture="curves",
        ),
        CaseKind(
            name="batch",
            title="other positions in each sentence, (B, L)",
            inputs=lambda draw: _positions(draw.ids(0, 40, 3, 5), 12),
            hint="d_model numbers stand behind each position: the shape is (B, L, "
            "d_model).",
            picture="curves",
        ),
        CaseKind(
            name="scalar_and_far",
            title="one far position, without any dimension",
            inputs=lambda draw: _positions(draw.ids(100, 400), 6),
            hint="The positions have the shape (), so the result has the shape "
            "(d_model,).",
            hidden_only=True,
            atol=1e-4,
            picture="curves",
        ),
        CaseKind(
            name="three_dimensions",
            title="positions with three dimensions",
            inputs=lambda draw: _positions(draw.tensor(2, 3, 5, scale=20.0), 4),
            hint="Is there an assumption on the number of dimensions?",
            hidden_only=True,
            picture="curves",
        ),
    ],
    mutants=[
        Mutant(
            name="cosine_exponent",
            says="The cosine of a pair turns slower than its sine: its exponent is "
            "probably that of its own column.",
            asks="In the formula, which exponent stands under the cosine?",
            ways=[
                Way(edits=[
                    Edit("angles.cos()",
                         "(positions.unsqueeze(-1) / 10000 ** (exponents + 1 / d_model)).cos()"),
                ]),
                Way(name="all_columns_exponent", source="""
                    def sinusoid(positions, d_model):
                        if d_model % 2:
                            raise ValueError('odd')
                        exponents = torch.arange(d_model) / d_model
                        angles = positions.unsqueeze(-1) / 10000**exponents
                        table = angles.clone()
                        table[..., 0::2] = angles[..., 0::2].sin()
                        table[..., 1::2] = angles[..., 1::2].cos()
                        return table
                    """),
            ],
        ),
        Mutant(
            name="exponent_doubled",
            says="The speeds fall twice as fast as they should: the 2 of `2i` seems to "
            "be in the exponent twice.",
            asks="Does your `arange` count pairs, or does it already step by 2?",
            ways=[
                Way(edits=[
                    Edit(_EXPONENTS,
                         "exponents = 2 * torch.arange(0, d_model, 2) / d_model"),
                ]),
                Way(name="exponent_doubled_half_size", edits=[
                    Edit(_EXPONENTS,
                         "exponents = torch.arange(d_model // 2) / (d_model // 4 or 1) if d_model % 4 == 0 else torch.arange(d_model // 2) * 4 / d_model"),
                ]),
            ],
        ),
        Mutant(
            name="exponent_halved",
            says="The speeds fall half as fast as they should: the 2 of `2i` is "
            "missing in the exponent.",
            asks="Does your `arange` count pairs, or does it step by 2?",
            ways=[Way(edits=[
                Edit(_EXPONENTS, "exponents = torch.arange(d_model // 2) / d_model"),
            ])],
        ),
        Mutant(
            name="exponent_floored",
            says="The exponents were all rounded down to 0, so all hands turn equally "
            "fast.",
            asks="What is `torch.arange(0, 8, 2) // 8`?",
            ways=[Way(edits=[
                Edit(_EXPONENTS, "exponents = torch.arange(0, d_model, 2) // d_model"),
            ])],
        ),
        Mutant(
            name="exponent_spread",
            says="The exponents run from 0 to exactly 1, as `linspace` does.",
            asks="Which exponent should the last pair have?",
            ways=[Way(edits=[
                Edit(_EXPONENTS, "exponents = torch.linspace(0, 1, d_model // 2)"),
            ])],
        ),
        Mutant(
            name="exponent_from_one",
            says="The pairs are counted from 1, so even the first hand turns too "
            "slowly.",
            asks="Which exponent should columns 0 and 1 have?",
            ways=[Way(edits=[
                Edit(_EXPONENTS,
                     "exponents = torch.arange(2, d_model + 2, 2) / d_model"),
            ])],
        ),
        Mutant(
            name="exponent_reversed",
            says="The slow hands come first and the fast ones last.",
            asks="Is the exponent of columns 0 and 1 the smallest or the largest?",
            ways=[Way(edits=[
                Edit(_EXPONENTS,
                     "exponents = torch.arange(0, d_model, 2).flip(0) / d_model"),
            ])],
        ),
        Mutant(
            name="exponent_negative",
            says="The hands get faster from left to right: the position is "
            "*multiplied* by the power, or a minus is missing in the exponent.",
            asks="Is the power of 10000 above or below the line?",
            ways=[Way(edits=[Edit("/ 10000**exponents", "* 10000**exponents")])],
        ),
        Mutant(
            name="positive_log",
            says="The hands get faster from left to right: a minus is missing before "
            "the logarithm.",
            asks="Should `exp(...)` be larger or smaller than 1?",
            ways=[Way(source="""
                def sinusoid(positions, d_model):
                    if d_model % 2:
                        raise ValueError('odd')
                    exponents = torch.arange(0, d_model, 2) / d_model
                    angles = positions.unsqueeze(-1) * (exponents * math.log(10000)).exp()
                    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
                """)],
        ),
        Mutant(
            name="log10",
            says="The speeds come from `exp` together with a base-10 logarithm.",
            asks="Which logarithm undoes `exp`?",
            ways=[Way(source="""
                def sinusoid(positions, d_model):
                    if d_model % 2:
                        raise ValueError('odd')
                    exponents = torch.arange(0, d_model, 2) / d_model
                    angles = positions.unsqueeze(-1) * (-exponents * math.log10(10000)).exp()
                    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
                """)],
        ),
        Mutant(
            name="log2",
            says="The speeds come from `exp` together with a base-2 logarithm.",
            asks="Which logarithm undoes `exp`?",
            ways=[Way(source="""
                def sinusoid(positions, d_model):
                    if d_model % 2:
                        raise ValueError('odd')
                    exponents = torch.arange(0, d_model, 2) / d_model
                    angles = positions.unsqueeze(-1) * (-exponents * math.log2(10000)).exp()
                    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
                """)],
        ),
        Mutant(
            name="base_1000",
            says="The base of the powers is 1000, not 10000.",
            asks="How many zeros has the base in the formula?",
            ways=[Way(edits=[Edit("10000**", "1000**")])],
        ),
        Mutant(
            name="base_100000",
            says="The base of the powers is 100000, not 10000.",
            asks="How many zeros has the base in the formula?",
            ways=[Way(edits=[Edit("10000**", "100000**")])],
        ),
        Mutant(
            name="halves",
            says="All sines stand in the left half and all cosines in the right half.",
            asks="Does joining with `cat` put a sine beside its cosine?",
            ways=[
                Way(edits=[
                    Edit(_PAIRS,
                         "return torch.cat((angles.sin(), angles.cos()), dim=-1)"),
                ]),
                Way(name="stacked_before", edits=[
                    Edit(", dim=-1)  # (..., d_model/2, 2)", ", dim=-2)"),
                ]),
            ],
        ),
        Mutant(
            name="swapped",
            says="Sine and cosine are swapped: the cosines stand in the even columns.",
            asks="Which function does the formula give to column 0?",
            ways=[Way(edits=[
                Edit(_SINES_AND_COSINES, "(angles.cos(), angles.sin())"),
            ])],
        ),
        Mutant(
            name="sine_everywhere",
            says="All columns are sines.",
            asks="Which function does the formula give to column 1?",
            ways=[Way(edits=[Edit("angles.cos()", "angles.sin()*1")])],
        ),
        Mutant(
            name="cosine_everywhere",
            says="All columns are cosines.",
            asks="Which function does the formula give to column 0?",
            ways=[Way(edits=[Edit("angles.sin()", "angles.cos()*1")])],
        ),
        Mutant(
            name="from_one",
            says="Every position is taken for the next one: a 1 was added.",
            asks="What does the formula give for position 0?",
            ways=[Way(edits=[
                Edit(_ANGLES,
                     "angles = (positions + 1).unsqueeze(-1) / 10000**exponents"),
            ])],
        ),
        Mutant(
            name="counts_itself",
            says="The values of `positions` are not used: you count 0, 1, 2, ... "
            "yourself.",
            asks="What if the positions are 5, 2 and 2.5?",
            ways=[
                Way(edits=[
                    Edit(_ANGLES,
                         "angles = torch.arange(positions.numel()).view(positions.shape).unsqueeze(-1) / 10000**exponents"),
                ]),
                Way(name="length_only", edits=[
                    Edit(_ANGLES,
                         "angles = torch.ones_like(positions, dtype=exponents.dtype).flatten().cumsum(0).sub(1).view(positions.shape).unsqueeze(-1) / 10000**exponents"),
                ]),
            ],
        ),
        Mutant(
            name="truncated",
            says="Fractions of positions are cut off: they were turned into whole "
            "numbers.",
            asks="Where does `.long()`, `.int()` or `//` come in?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)", "positions.long().unsqueeze(-1)"),
            ])],
        ),
        Mutant(
            name="rounded",
            says="Positions are rounded to whole numbers.",
            asks="What is the encoding half way between two words?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)", "positions.round().unsqueeze(-1)"),
            ])],
        ),
        Mutant(
            name="angles_floored",
            says="The angles were rounded down to whole numbers.",
            asks="Where does `//` cut off the fraction?",
            ways=[Way(edits=[Edit("/ 10000**exponents", "// 10000**exponents")])],
        ),
        Mutant(
            name="sign_lost",
            says="Negative positions are treated like positive ones.",
            asks="Is the sine of a negative angle that of the positive one?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)", "positions.abs().unsqueeze(-1)"),
            ])],
        ),
        Mutant(
            name="negative_clamped",
            says="Negative positions are treated like position 0.",
            asks="Does the formula need positions to be positive?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)", "positions.clamp(min=0).unsqueeze(-1)"),
            ])],
        ),
        Mutant(
            name="normalised",
            says="The positions are divided by the largest of them.",
            asks="Does the formula know how long the sentence is?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)",
                     "(positions / positions.abs().max()).unsqueeze(-1)"),
            ])],
        ),
        Mutant(
            name="degrees",
            says="The angles are taken for degrees.",
            asks="Does `sin` expect degrees or radians, and which does the formula "
            "use?",
            ways=[Way(edits=[
                Edit(
                    _PAIRS,
                    """
                    angles = torch.deg2rad(angles)
                    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="angle_times_two_pi",
            says="The angles are multiplied by 2 pi.",
            asks="Is there a pi in the formula?",
            ways=[Way(edits=[
                Edit(
                    _PAIRS,
                    """
                    angles = math.tau * angles
                    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="one_dimension_only",
            says="It works for a single row of positions, not for other shapes.",
            asks="Which function in your code insists on one dimension? Could "
            "broadcasting do its work?",
            ways=[Way(edits=[
                Edit(_ANGLES,
                     "angles = torch.outer(positions.to(exponents), 10000**-exponents)"),
            ])],
        ),
        Mutant(
            name="one_dimension_by_einsum",
            says="It works for a single row of positions, not for other shapes: your "
            "`einsum` names exactly one dimension of the positions.",
            asks='How does `einsum` write "any dimensions before this one"?',
            ways=[Way(edits=[
                Edit(_ANGLES,
                     "angles = torch.einsum('i,j->ij', positions.to(exponents), 10000**-exponents)"),
            ])],
        ),
        Mutant(
            name="flattened",
            says="All positions came out as one long row.",
            asks="Where does the shape of `positions` come back?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)", "positions.reshape(-1, 1)"),
            ])],
        ),
        Mutant(
            name="row_of_positions",
            says="The new dimension is in front of the positions, so they meet the "
            "speeds in the wrong place.",
            asks="Which shape has `positions.unsqueeze(0)`, and which one do you need?",
            ways=[Way(edits=[
                Edit("positions.unsqueeze(-1)", "positions.unsqueeze(0)"),
            ])],
        ),
        Mutant(
            name="no_new_dimension",
            says="Positions and speeds meet one by one, without a new dimension.",
            asks="Which shape makes every position meet every speed?",
            ways=[Way(edits=[Edit("positions.unsqueeze(-1)", "positions")])],
        ),
        Mutant(
            name="pairs_left_apart",
            says="The pairs were not merged: the result ends in `(d_model/2, 2)`.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit("pairs.flatten(-2)", "pairs")])],
        ),
        Mutant(
            name="batch_dimension",
            says="The result has an extra dimension in front.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[
                Edit("pairs.flatten(-2)", "pairs.flatten(-2).unsqueeze(0)"),
            ])],
        ),
        Mutant(
            name="all_merged",
            says="All dimensions were merged into one.",
            asks="Where should `flatten` begin?",
            ways=[Way(edits=[Edit("pairs.flatten(-2)", "pairs.flatten()")])],
        ),
        Mutant(
            name="columns_first",
            says="Positions and columns are swapped in the result.",
            asks="Which dimension should come last?",
            ways=[Way(edits=[
                Edit("pairs.flatten(-2)", "pairs.flatten(-2).transpose(0, -1)"),
            ])],
        ),
        Mutant(
            name="odd_accepted",
            says="The numbers are right, but an odd `d_model` is not refused as the "
            "docstring says.",
            asks="What does your function do for `d_model = 7`?",
            ways=[
                Way(edits=[Edit("if d_model % 2:", "if False:")]),
                Way(name="odd_printed", edits=[Edit("raise ValueError(", "str(")]),
            ],
        ),
        Mutant(
            name="odd_crashes",
            says="The numbers are right. But an odd `d_model` fails somewhere inside, "
            "with another error than the docstring says.",
            asks="Could your function look at `d_model` before it does anything else?",
            ways=[Way(source="""
                def sinusoid(positions, d_model):
                    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                    table = torch.zeros(*positions.shape, d_model)
                    table[..., 0::2] = torch.sin(positions[..., None] * speeds)
                    table[..., 1::2] = torch.cos(positions[..., None] * speeds)
                    return table
                """)],
        ),
        Mutant(
            name="odd_crashes_in_one_dimension",
            says="It works for a single row of positions only, and an odd `d_model` is "
            "not refused with the error that the docstring says.",
            asks="How many dimensions does `table[:, 0::2]` have, and how many may "
            "`positions` have?",
            ways=[Way(source="""
                def sinusoid(positions, d_model):
                    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                    table = torch.zeros(len(positions), d_model)
                    table[:, 0::2] = torch.sin(positions[:, None] * speeds)
                    table[:, 1::2] = torch.cos(positions[:, None] * speeds)
                    return table
                """)],
        ),
        Mutant(
            name="filled_in_one_dimension",
            says="It works for a single row of positions, not for other shapes.",
            asks="How many dimensions does `table[:, 0::2]` have, and how many may "
            "`positions` have?",
            ways=[Way(source="""
                def sinusoid(positions, d_model):
                    if d_model % 2:
                        raise ValueError('odd')
                    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                    table = torch.zeros(len(positions), d_model)
                    table[:, 0::2] = torch.sin(positions[:, None] * speeds)
                    table[:, 1::2] = torch.cos(positions[:, None] * speeds)
                    return table
                """)],
        ),
        Mutant(
            name="odd_asserted",
            says="An odd `d_model` raises another error than the docstring says.",
            asks="Which error does the docstring name, and which one do you raise?",
            ways=[
                Way(edits=[
                    Edit(
                        """
                        if d_model % 2:
                            raise ValueError(
                        """,
                        """
                        if d_model % 2:
                            raise AssertionError(
                        """,
                    ),
                ]),
                Way(name="odd_by_assert", source="""
                    def sinusoid(positions, d_model):
                        assert d_model % 2 == 0
                        exponents = torch.arange(0, d_model, 2) / d_model
                        angles = positions.unsqueeze(-1) / 10000**exponents
                        return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
                    """),
            ],
        ),
        Mutant(
            name="even_refused",
            says="You refuse even sizes and accept odd ones.",
            asks="What is `8 % 2`, and is it true or false?",
            ways=[Way(edits=[Edit("if d_model % 2:", "if not d_model % 2:")])],
        ),
        Mutant(
            name="double",
            says="The numbers are right, but in float64. The rest of the network is "
            "float32.",
            asks="Which tensor in your code is float64?",
            ways=[Way(edits=[Edit("pairs.flatten(-2)", "pairs.flatten(-2).double()")])],
        ),
        Mutant(
            name="dtype_of_positions",
            says="The result has the dtype of the positions: whole numbers, where "
            "positions are whole.",
            asks="Which dtype has `torch.empty_like(positions)`, or "
            "`.to(positions.dtype)`?",
            ways=[Way(edits=[
                Edit("pairs.flatten(-2)", "pairs.flatten(-2).to(positions.dtype)"),
            ])],
        ),
        Mutant(
            name="positions_changed",
            says="The tensor of positions that was handed in is changed.",
            asks="Which of your operations works in place?",
            ways=[Way(edits=[
                Edit(
                    _ANGLES,
                    """
                    angles = positions.unsqueeze(-1) / 10000**exponents
                    positions += 1
                    """,
                ),
            ])],
        ),
        Mutant(
            name="loops",
            says="There is a loop: your code takes more steps for more positions.",
            asks="Which dimension could hold all speeds at once, and which all positions?",
            ways=[
                Way(source="""
                    def sinusoid(positions, d_model):
                        if d_model % 2:
                            raise ValueError("d_model must be even")
                        speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                        rows = torch.empty(positions.numel(), d_model)
                        for n, position in enumerate(positions.flatten()):
                            rows[n, 0::2] = (position * speeds).sin()
                            rows[n, 1::2] = (position * speeds).cos()
                        return rows.reshape(*positions.shape, d_model)
                    """),
            ],
        ),
    ],
    accepted=[
        Accepted(name="filled", source="""
            def sinusoid(positions, d_model):
                if d_model % 2 != 0:
                    raise ValueError('d_model must be even')
                speeds = torch.exp(torch.arange(0, d_model, 2)
                                   * -(math.log(10000.0) / d_model))
                angles = positions[..., None] * speeds
                table = torch.zeros(*positions.shape, d_model)
                table[..., 0::2] = torch.sin(angles)
                table[..., 1::2] = torch.cos(angles)
                return table
            """),
        Accepted(name="outer_and_view", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                angles = torch.outer(positions.flatten().to(speeds), speeds)
                table = torch.stack((torch.sin(angles), torch.cos(angles)), 2)
                return table.reshape(positions.shape + (d_model,))
            """),
        Accepted(name="einsum", edits=[
            Edit(_ANGLES,
                 "angles = torch.einsum('...,f->...f', positions.to(exponents), 10000**-exponents)"),
        ]),
        Accepted(name="complex", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
                angles = positions.unsqueeze(-1) * speeds
                hands = torch.polar(torch.ones_like(angles), angles)
                return torch.view_as_real(hands).flip(-1).flatten(-2)
            """),
        Accepted(name="phase", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                column = torch.arange(d_model)
                angles = positions[..., None] / 10000 ** (column // 2 * 2 / d_model)
                return torch.sin(angles + column % 2 * math.pi / 2)
            """),
        Accepted(name="where", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                column = torch.arange(d_model)
                angles = positions[..., None] / 10000 ** ((column - column % 2) / d_model)
                return torch.where(column % 2 == 0, angles.sin(), angles.cos())
            """),
        Accepted(name="repeat_interleave", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                speeds = torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)
                angles = positions.unsqueeze(-1) * speeds.repeat_interleave(2)
                angles[..., 0::2].sin_()
                angles[..., 1::2].cos_()
                return angles
            """),
        Accepted(name="in_double", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                i = torch.arange(d_model // 2, dtype=torch.float64)
                angles = positions.double()[..., None] / 10000 ** (2 * i / d_model)
                table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
                return table.to(torch.get_default_dtype())
            """),
        Accepted(name="numpy", source="""
            import numpy as np
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                angles = positions.numpy()[..., None] / np.power(
                    10000, np.arange(0, d_model, 2) / d_model)
                table = np.zeros(tuple(positions.shape) + (d_model,))
                table[..., 0::2], table[..., 1::2] = np.sin(angles), np.cos(angles)
                return torch.tensor(table, dtype=torch.get_default_dtype())
            """),
        Accepted(name="by_columns", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                columns = []
                for i in range(0, d_model, 2):
                    angle = positions / 10000 ** (i / d_model)
                    columns += [torch.sin(angle), torch.cos(angle)]
                return torch.stack(columns, dim=-1)
            """),
    ],
)
