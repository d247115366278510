"""Mistakes in the speeds of the hands."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

_EXPONENTS = "exponents = torch.arange(0, d_model, 2) / d_model"

SPEEDS = [
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
        ways=[
            Way(edits=[Edit("/ 10000**exponents", "* 10000**exponents")]),
            Way(name="positive_log", source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                exponents = torch.arange(0, d_model, 2) / d_model
                angles = positions.unsqueeze(-1) * (exponents * math.log(10000)).exp()
                return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
            """),
        ],
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
]
