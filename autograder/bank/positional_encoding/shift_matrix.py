"""The shift matrix."""

from __future__ import annotations

import torch

from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _shifts(k: torch.Tensor, other: torch.Tensor, d_model: int) -> Inputs:
    return {"k": k, "other k": other, "d_model": torch.tensor(d_model)}


_SHIFT_ANGLES = "angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)"
_BLOCKS = "torch.stack((cos, sin, -sin, cos), dim=-1)"
_DIAGONAL = "torch.block_diag(*blocks.view(-1, 2, 2))"

EXERCISE = Specification(
    name="positional_encoding/shift_matrix",
    title="The shift matrix",
    target="shift_matrix",
    cases=[
        CaseKind(
            name="forward",
            title="one step, and several",
            inputs=lambda draw: _shifts(torch.tensor(1), draw.ids(2, 9), 6),
            hint="Multiply your matrix by `sinusoid(pos)`: is it `sinusoid(pos + k)`?",
        ),
        CaseKind(
            name="backward",
            title="steps backward, and none at all",
            inputs=lambda draw: _shifts(-draw.ids(1, 9), torch.tensor(0), 8),
            hint="To go back by k undoes to go forward by k. And 0 steps change "
            "nothing.",
        ),
        CaseKind(
            name="far",
            title="far steps, wide vectors",
            inputs=lambda draw: _shifts(draw.ids(20, 40), draw.ids(40, 60), 10),
            hint="Does each pair turn by its own angle?",
            atol=3e-5,
        ),
        CaseKind(
            name="one_pair",
            title="a single pair, and more than a hundred steps",
            inputs=lambda draw: _shifts(draw.ids(2, 5), -draw.ids(101, 150), 2),
            hint="With d_model = 2 the matrix is one rotation, by k radians.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="backwards",
            says="Your matrix turns the hands backward: its minus stands in the other "
            "corner, as in the textbook rotation of (cosine, sine).",
            asks="What multiplies `cos(a)` in `sin(a + b)`: plus or minus `sin(b)`?",
            ways=[
                Way(edits=[
                    Edit(_BLOCKS, "torch.stack((cos, -sin, sin, cos), dim=-1)"),
                ]),
                Way(name="transposed", edits=[
                    Edit(_DIAGONAL, "torch.block_diag(*blocks.view(-1, 2, 2)).T"),
                ]),
                Way(name="k_negated", edits=[
                    Edit(_SHIFT_ANGLES,
                         "angles = -k / 10000 ** (torch.arange(0, d_model, 2) / d_model)"),
                ]),
            ],
        ),
        Mutant(
            name="wraps_around",
            says="Right for some steps, but many steps are taken for few.",
            asks="Does the angle end anywhere as `k` grows?",
            ways=[Way(edits=[
                Edit(_SHIFT_ANGLES,
                     "angles = math.fmod(k, 100) / 10000 ** (torch.arange(0, d_model, 2) / d_model)"),
            ])],
        ),
        Mutant(
            name="no_minus",
            says="Your blocks have no minus, so they are no rotations: hands change "
            "length.",
            asks="What is `cos(a + b)` in terms of sines and cosines of `a` and `b`?",
            ways=[Way(edits=[
                Edit(_BLOCKS, "torch.stack((cos, sin, sin, cos), dim=-1)"),
            ])],
        ),
        Mutant(
            name="two_minuses",
            says="Your blocks have two minuses, so they are no rotations: hands change "
            "length.",
            asks="What is `sin(a + b)` in terms of sines and cosines of `a` and `b`?",
            ways=[Way(edits=[
                Edit(_BLOCKS, "torch.stack((cos, -sin, -sin, cos), dim=-1)"),
            ])],
        ),
        Mutant(
            name="minus_on_diagonal",
            says="Your blocks are reflections: the minus stands on the diagonal.",
            asks="What is `cos(a + b)` in terms of sines and cosines of `a` and `b`?",
            ways=[Way(edits=[
                Edit(_BLOCKS, "torch.stack((cos, sin, sin, -cos), dim=-1)"),
            ])],
        ),
        Mutant(
            name="sine_and_cosine_swapped",
            says="Sine and cosine are swapped in your blocks: no step at all would "
            "turn the hands by a quarter.",
            asks="Which block changes nothing, and which `sin` and `cos` has angle 0?",
            ways=[
                Way(edits=[
                    Edit(_BLOCKS, "torch.stack((sin, cos, -cos, sin), dim=-1)"),
                ]),
                Way(name="sine_and_cosine_swapped_backwards", edits=[
                    Edit("sin, cos = angles.sin(), angles.cos()",
                         "cos, sin = angles.sin(), angles.cos()"),
                ]),
            ],
        ),
        Mutant(
            name="rows_swapped",
            says="The two rows of each block are swapped.",
            asks="Which row of a block gives the new sine?",
            ways=[Way(edits=[
                Edit(_BLOCKS, "torch.stack((-sin, cos, cos, sin), dim=-1)"),
            ])],
        ),
        Mutant(
            name="one_speed",
            says="All hands turn by the same angle.",
            asks="How fast is hand i?",
            ways=[Way(edits=[
                Edit(_SHIFT_ANGLES, "angles = k * torch.ones(d_model // 2)"),
            ])],
        ),
        Mutant(
            name="cosine_speed",
            says="The exponents are those of the odd columns, (2i + 1) / d_model.",
            asks="Which exponent do both members of pair 0 have?",
            ways=[Way(edits=[
                Edit("torch.arange(0, d_model, 2)", "torch.arange(1, d_model, 2)"),
            ])],
        ),
        Mutant(
            name="exponent_doubled",
            says="The 2 of `2i` seems to be in the exponents twice.",
            asks="Does your `arange` count pairs, or does it step by 2?",
            ways=[Way(edits=[
                Edit("(torch.arange(0, d_model, 2)",
                     "(2 * torch.arange(0, d_model, 2)"),
            ])],
        ),
        Mutant(
            name="exponent_halved",
            says="The 2 of `2i` is missing in the exponents.",
            asks="Does your `arange` count pairs, or does it step by 2?",
            ways=[Way(edits=[
                Edit("torch.arange(0, d_model, 2)", "torch.arange(d_model // 2)"),
            ])],
        ),
        Mutant(
            name="exponent_negative",
            says="The hands get faster along the diagonal: k is multiplied by the "
            "powers.",
            asks="Is the power of 10000 above or below the line?",
            ways=[Way(edits=[Edit("angles = k / 10000", "angles = k * 10000")])],
        ),
        Mutant(
            name="speeds_reversed",
            says="The slow hands come first and the fast ones last.",
            asks="Which pair should turn by `k` radians?",
            ways=[Way(edits=[
                Edit("angles.sin(), angles.cos()",
                     "angles.flip(0).sin(), angles.flip(0).cos()"),
            ])],
        ),
        Mutant(
            name="base_1000",
            says="The base of the powers is 1000, not 10000.",
            asks="How many zeros has the base in the formula?",
            ways=[Way(edits=[Edit("10000", "1000")])],
        ),
        Mutant(
            name="degrees",
            says="The angles are taken for degrees.",
            asks="Does the position count degrees or radians?",
            ways=[Way(edits=[
                Edit(
                    _SHIFT_ANGLES,
                    """
                    angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)
                    angles = angles.deg2rad()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="angle_times_two_pi",
            says="The angles are multiplied by 2 pi.",
            asks="Is there a pi in the formula of the encoding?",
            ways=[Way(edits=[
                Edit(
                    _SHIFT_ANGLES,
                    """
                    angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)
                    angles = angles * math.tau
                    """,
                ),
            ])],
        ),
        Mutant(
            name="single_step",
            says="Your matrix moves by one step, whatever `k` is.",
            asks="Where does `k` come into your angles?",
            ways=[Way(edits=[Edit("angles = k /", "angles = 1 /")])],
        ),
        Mutant(
            name="identity_kept",
            says="For `k = 0` all calls return the same tensor: who writes into one has "
            "written into all of them.",
            asks="What does the docstring say of each call, and who makes a new matrix?",
            ways=[Way(source="""
                identities = {}

                def shift_matrix(k, d_model):
                    if k == 0:
                        return identities.setdefault(d_model, torch.eye(d_model))
                    angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)
                    sin, cos = torch.sin(angles), torch.cos(angles)
                    blocks = torch.stack((cos, sin, -sin, cos), dim=-1)
                    return torch.block_diag(*blocks.view(-1, 2, 2))
                """)],
        ),
        Mutant(
            name="sign_of_k_lost",
            says="Steps backward are treated like steps forward.",
            asks="What should `k = -3` do?",
            ways=[Way(edits=[Edit("angles = k /", "angles = abs(k) /")])],
        ),
        Mutant(
            name="halves",
            says="The matrix is right for a table with all sines left and all cosines "
            "right, but ours has them in turn.",
            asks="Where are the two members of pair 0 in one of our vectors?",
            ways=[Way(edits=[
                Edit(_DIAGONAL,
                     "torch.cat((torch.cat((cos.diag(), sin.diag()), 1), torch.cat((-sin.diag(), cos.diag()), 1)))"),
            ])],
        ),
        Mutant(
            name="columns_rolled",
            says="Your matrix moves the *numbers of a vector* along by k places.",
            asks="Does a step along the sentence change the order of columns?",
            ways=[Way(edits=[Edit(_DIAGONAL, "torch.eye(d_model).roll(k, 0)")])],
        ),
        Mutant(
            name="blocks_only",
            says="You return the blocks `(d_model/2, 2, 2)`; they were not put in one "
            "matrix.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit(_DIAGONAL, "blocks.view(-1, 2, 2)")])],
        ),
        Mutant(
            name="cosines_only",
            says="Only the diagonal is filled in, so nothing turns: hands only shrink.",
            asks="Which numbers stand beside the diagonal of a rotation?",
            ways=[Way(edits=[Edit(_DIAGONAL, "cos.repeat_interleave(2).diag()")])],
        ),
        Mutant(
            name="identity",
            says="The identity matrix moves nothing.",
            asks="Where does `k` come in?",
            ways=[Way(edits=[Edit(_DIAGONAL, "torch.eye(d_model)")])],
        ),
        Mutant(
            name="first_block_only",
            says="Only the first pair turns; the others stay where they are.",
            asks="How many hands are there?",
            ways=[Way(edits=[
                Edit(_DIAGONAL,
                     "torch.block_diag(blocks[0].view(2, 2), torch.eye(d_model - 2))"),
            ])],
        ),
        Mutant(
            name="double",
            says="The numbers are right, but in float64. The rest of the network is "
            "float32.",
            asks="Which tensor in your code is float64?",
            ways=[Way(edits=[
                Edit(_DIAGONAL, "torch.block_diag(*blocks.view(-1, 2, 2)).double()"),
            ])],
        ),
        Mutant(
            name="encoding_of_k",
            says="You return the encoding of position k, which is a vector.",
            asks="Which shape does a matrix have that turns a vector into another one?",
            ways=[Way(edits=[
                Edit(_DIAGONAL, "torch.stack((sin, cos), -1).flatten()"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="loops", source="""
            def shift_matrix(k, d_model):
                matrix = torch.zeros(d_model, d_model)
                for j in range(0, d_model, 2):
                    angle = k / 10000 ** (j / d_model)
                    matrix[j, j] = matrix[j + 1, j + 1] = math.cos(angle)
                    matrix[j, j + 1] = math.sin(angle)
                    matrix[j + 1, j] = -math.sin(angle)
                return matrix
            """),
        Accepted(name="diagonals", source="""
            def shift_matrix(k, d_model):
                speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                cos, sin = torch.cos(k * speeds), torch.sin(k * speeds)
                beside = torch.stack((sin, torch.zeros_like(sin)), 1).flatten()[:-1]
                return (cos.repeat_interleave(2).diag() + beside.diag(1)
                        - beside.diag(-1))
            """),
        Accepted(name="list_of_blocks", source="""
            def shift_matrix(k, d_model):
                blocks = []
                for i in range(d_model // 2):
                    a = k * math.exp(-math.log(10000) * 2 * i / d_model)
                    blocks.append(torch.tensor(
                        [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))
                return torch.block_diag(*blocks)
            """),
        Accepted(name="exponential", source="""
            def shift_matrix(k, d_model):
                speeds = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
                turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]]).double()
                generator = torch.kron(speeds.diag(), turn)
                matrix = torch.matrix_exp(k * generator)
                return matrix.to(torch.get_default_dtype())
            """),
        Accepted(name="power_of_one_step", source="""
            def shift_matrix(k, d_model):
                angles = [10000 ** (-2 * i / d_model) for i in range(d_model // 2)]
                step = torch.block_diag(*(
                    torch.tensor([[math.cos(a), math.sin(a)],
                                  [-math.sin(a), math.cos(a)]]).double()
                    for a in angles))
                matrix = torch.linalg.matrix_power(step, k)
                return matrix.to(torch.get_default_dtype())
            """),
        Accepted(name="slices", source="""
            def shift_matrix(k, d_model):
                a = k / torch.pow(10000.0, torch.arange(0, d_model, 2) / d_model)
                matrix = torch.zeros(d_model, d_model)
                even = torch.arange(0, d_model, 2)
                matrix[even, even], matrix[even + 1, even + 1] = a.cos(), a.cos()
                matrix[even, even + 1], matrix[even + 1, even] = a.sin(), -a.sin()
                return matrix
            """),
    ],
)
