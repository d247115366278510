"""Mistakes in the places of sines and cosines, and in the positions."""

from __future__ import annotations

from autograder.bank.positional_encoding._sinusoid.lines import ANGLES
from autograder.oracle.specification import Edit, Mutant, Way

_PAIRS = "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)"
_SINES_AND_COSINES = "(angles.sin(), angles.cos())"

POSITIONS = [
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
            Edit(ANGLES,
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
                Edit(ANGLES,
                     "angles = torch.arange(positions.numel()).view(positions.shape).unsqueeze(-1) / 10000**exponents"),
            ]),
            Way(name="length_only", edits=[
                Edit(ANGLES,
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
]
