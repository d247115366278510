"""Turn queries and keys."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
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


def _turns(
    *shape: int, half: bool = False, far: bool = False, scale: float = 3.0
) -> Maker:
    """Vectors, angles and a pull; far angles are in float64 and made large there."""

    def inputs(draw: Draw) -> Inputs:
        made = {
            "x": draw.tensor(*shape),
            "angles": draw.tensor(shape[-2], shape[-1] // 2, scale=scale),
        }
        if half or far:
            return made | {"half" if half else "far": torch.tensor(True)}
        return made | {"pull": draw.tensor(*shape, scale=1.0)}

    return inputs


_TURNED = "torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)"
_HALVES = "a, b = x.chunk(2, dim=-1)"
_ANGLES = "cos, sin = angles.cos(), angles.sin()"

EXERCISE = Specification(
    name="since_2017/rotate",
    title="Turn",
    target="rotate",
    promise=Promise(
        arguments="x: B h L d; angles: L k", results="result: B h L d", on=("heads",),
        typed=True,
        sizes=special(
            without_a_batch=_turns(5, 6),
            one_place=_turns(3, 2, 1, 6),
            one_text=_turns(1, 3, 4, 6),
            points_of_one_pair=_turns(2, 3, 4, 2),
            equal_sizes=_turns(4, 4, 4, 8),
        ),
    ),
    cases=[
        CaseKind(
            name="heads",
            title="2 texts, 3 heads, 5 places",
            inputs=_turns(2, 3, 5, 8),
            hint="Take one vector and one pair of it, and turn it by hand.",
        ),
        CaseKind(
            name="no_heads",
            title="3 texts of 4 places without heads",
            inputs=_turns(3, 4, 6),
            hint="Only the last two dimensions matter.",
        ),
        CaseKind(
            name="half",
            title="half precision",
            inputs=_turns(2, 4, 3, 10, half=True, scale=40.0),
            hint="The result has the dtype of x.",
            atol=4e-3, rtol=4e-3,
        ),
        CaseKind(
            name="far",
            title="angles of millions, in float64",
            inputs=_turns(2, 3, 4, 6, far=True),
            hint="Cosine and sine are taken of the angles as they come: float32 cannot "
            "hold so large an angle.",
        ),
        CaseKind(
            name="wide",
            title="heads of 160 numbers",
            inputs=_turns(2, 3, 160),
            hint="Each pair has an angle of its own, however many there are.",
            hidden_only=True,
        ),
        CaseKind(
            name="large_angles",
            title="large angles, more dimensions",
            inputs=_turns(2, 1, 3, 7, 4, scale=40.0),
            hint="An angle of 40 radians is six turns and a bit.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="batch_added",
            says="One matrix `(L, d_k)` comes back with a dimension more.",
            asks="What may the dots in `(..., L, d_k)` stand for?",
            ways=[Way(edits=[
                Edit(_HALVES, "a, b = x[None].chunk(2, dim=-1) "
                     "if x.dim() < 3 else x.chunk(2, dim=-1)"),
            ])],
        ),
        Mutant(
            name="few_pairs",
            says="In wide heads, only the first pairs are turned by their own angles.",
            asks="Which number in your code is a width that nobody gave you?",
            ways=[Way(edits=[
                Edit(_ANGLES, f"angles = torch.where(torch.arange(angles.size(1)) < 32, angles, angles[:, :1]); {_ANGLES}"),
            ])],
        ),
        Mutant(
            name="neighbours",
            says="You turn neighbours (0 and 1, 2 and 3, ...); halves are asked for.",
            asks="With which number does number 0 form a point?",
            ways=[
                Way(edits=[
                    Edit(_HALVES, "a, b = x[..., 0::2], x[..., 1::2]"),
                    Edit(_TURNED, "torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)")]),
            ],
        ),
        Mutant(
            name="neighbours_apart",
            says="You take neighbours as points, and write them back as halves, or the other way "
            "round: numbers change places.",
            asks="Where does a vector's number 1 stand after a turn by zero?",
            ways=[
                Way(edits=[Edit(_HALVES, "a, b = x[..., 0::2], x[..., 1::2]")]),
            ],
        ),
        Mutant(
            name="halves_interleaved",
            says="You take halves as points, and write them back as neighbours: numbers change places.",
            asks="Where does a vector's number 1 stand after a turn by zero?",
            ways=[Way(edits=[
                Edit(_TURNED, "torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)")])],
        ),
        Mutant(
            name="backwards",
            says="You turn in the other direction: clockwise.",
            asks="Where does the point (1, 0) lie after a quarter turn: at (0, 1) or at (0, -1)?",
            ways=[
                Way(edits=[Edit(_TURNED, "torch.cat((a * cos + b * sin, b * cos - a * sin), dim=-1)")]),
                Way(name="minus_the_angle", edits=[Edit(_ANGLES, "cos, sin = angles.cos(), -angles.sin()")]),
            ],
        ),
        Mutant(
            name="mirrored",
            says="Your two formulas have the same sign: that is no rotation, lengths change.",
            asks="Which of the two formulas has a minus?",
            ways=[
                Way(edits=[Edit("a * cos - b * sin", "a * cos + b * sin")]),
            ],
        ),
        Mutant(
            name="reflection",
            says="The second formula has a minus, too: that is not a rotation.",
            asks="What is the second number of (0, 1), turned by zero?",
            ways=[Way(edits=[Edit("a * sin + b * cos", "a * sin - b * cos")])],
        ),
        Mutant(
            name="sine_and_cosine_exchanged",
            says="Sine and cosine have changed places.",
            asks="What should a turn by zero do?",
            ways=[
                Way(edits=[Edit(_ANGLES, "sin, cos = angles.cos(), angles.sin()")]),
            ],
        ),
        Mutant(
            name="overwritten",
            says="The second formula sees the *new* first half.",
            asks="When you compute $b'$, which $a$ is still there?",
            ways=[Way(edits=[
                Edit(_TURNED, "torch.cat((a * cos - b * sin, (a * cos - b * sin) * sin + b * cos), dim=-1)")])],
        ),
        Mutant(
            name="in_place",
            says="Your function changes x.",
            asks="Who else may need the vector that was not turned?",
            ways=[
                Way(edits=[
                    Edit(_HALVES, "a, b = (part.clone() for part in x.chunk(2, dim=-1))"),
                    Edit(f"turned = {_TURNED}", f"turned = x.copy_({_TURNED})")]),
            ],
        ),
        Mutant(
            name="half_of_it",
            says="Only the first half is turned.",
            asks="What becomes of $b$?",
            ways=[
                Way(edits=[Edit("a * sin + b * cos", "b")]),
            ],
        ),
        Mutant(
            name="order_of_halves",
            says="The two halves come back in the wrong order.",
            asks="Which comes first in the result, $a'$ or $b'$?",
            ways=[
                Way(edits=[Edit(_TURNED, "torch.cat((a * sin + b * cos, a * cos - b * sin), dim=-1)")]),
            ],
        ),
        Mutant(
            name="halves_exchanged",
            says="First and second half have changed roles.",
            asks="Which half is $a$?",
            ways=[Way(edits=[Edit("a, b = x.chunk", "b, a = x.chunk")])],
        ),
        Mutant(
            name="no_sines",
            says="Each number is multiplied by a cosine only; a rotation mixes two numbers.",
            asks="Where are the sines?",
            ways=[Way(edits=[Edit(_TURNED, "torch.cat((a * cos, b * cos), dim=-1)")])],
        ),
        Mutant(
            name="angles_added",
            says="The angles were added to the numbers: nothing is turned.",
            asks="How long is a vector before and after a rotation?",
            ways=[Way(edits=[Edit(_TURNED, "torch.cat((a + sin, b + cos), dim=-1)")])],
        ),
        Mutant(
            name="degrees",
            says="Your angles are taken as degrees.",
            asks="In which unit does `cos` expect its argument?",
            ways=[Way(edits=[Edit(_ANGLES, "cos, sin = angles.deg2rad().cos(), angles.deg2rad().sin()")])],
        ),
        Mutant(
            name="stays_wide",
            says="The result is in float32 whatever x was.",
            asks="Which dtype do the keys have that it will meet?",
            ways=[Way(edits=[Edit("turned.to(x.dtype)", "turned")])],
        ),
        Mutant(
            name="wrong_dimension",
            says="You take the halves of another dimension than the last.",
            asks="Which dimension holds the numbers of one vector?",
            ways=[
                Way(edits=[
                    Edit(_HALVES, "a, b = x[..., : x.size(-1) // 2], x[..., : x.size(-1) // 2]")]),
            ],
        ),
        Mutant(
            name="joined_elsewhere",
            says="The halves are put together along the wrong dimension.",
            asks="Which shape has the result?",
            ways=[Way(edits=[Edit("a * sin + b * cos), dim=-1)", "a * sin + b * cos), dim=-2)")])],
        ),
        Mutant(
            name="first_row_for_all",
            says="All texts get the result of one of them.",
            asks="Over which dimensions do the angles broadcast?",
            ways=[Way(edits=[Edit("turned.to(x.dtype)", "turned[:1].expand_as(x).to(x.dtype)")])],
        ),
        Mutant(
            name="cut_off",
            says="The gradient of x is missing or wrong.",
            asks="Did you use `detach`, `no_grad` or `.data`?",
            ways=[Way(edits=[Edit(_HALVES, "a, b = x.detach().chunk(2, dim=-1)")])],
        ),

        Mutant(
            name="angles_narrowed",
            says="Angles in float64 are narrowed before cosine and sine are taken: large ones "
            "fall together.",
            asks="How far from each other are the numbers that float32 knows around 2^26?",
            ways=[
                Way(edits=[Edit(_ANGLES, "cos, sin = angles.float().cos(), angles.float().sin()")]),
                Way(name="as_x", edits=[Edit(_ANGLES, "cos, sin = (f(angles.to(torch.promote_types(x.dtype, torch.float32))) for f in (torch.cos, torch.sin))")]),
            ],
        ),
        Mutant(
            name="one_place_not_turned",
            says="A single vector is not turned: you take its place for place 0.",
            asks="Which angle does the only row of `angles` hold?",
            ways=[Way(edits=[Edit(_ANGLES, "cos, sin = (f(angles * (x.size(-2) > 1)) for f in (torch.cos, torch.sin))")])],
        ),
        Mutant(
            name="along_the_heads",
            says="The angles run along the heads instead of the places.",
            asks="Which of the dimensions of `(B, h, L, d_k)` holds the places?",
            ways=[Way(edits=[Edit(_ANGLES, "angles = angles[:, None] if x.dim() == 4 and x.size(1) == x.size(2) else angles; cos, sin = angles.cos(), angles.sin()")])],
        ),
        Mutant(
            name="angles_in_half_precision",
            says="The angles are brought to the precision of `x` before cosine and sine "
            "are taken: in half precision, large angles fall together.",
            asks="Which whole numbers above 2048 does `float16` know?",
            ways=[Way(edits=[
                Edit("cos, sin = angles.cos(), angles.sin()",
                     "cos, sin = angles.to(x.dtype).cos(), angles.to(x.dtype).sin()"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="rotate_half", source="""
            def rotate(x, angles):
                def rotate_half(t):
                    first, second = t[..., : t.shape[-1] // 2], t[..., t.shape[-1] // 2 :]
                    return torch.cat((-second, first), dim=-1)

                cos = torch.cat((angles, angles), dim=-1).cos().to(x.dtype)
                sin = torch.cat((angles, angles), dim=-1).sin().to(x.dtype)
                return x * cos + rotate_half(x) * sin
            """),
        Accepted(name="complex", source="""
            def rotate(x, angles):
                wide = x if x.dtype == torch.float64 else x.float()
                points = torch.complex(*(h.contiguous() for h in wide.chunk(2, -1)))
                points = points * torch.polar(torch.ones_like(angles), angles)
                return torch.cat((points.real, points.imag), dim=-1).type_as(x)
            """),
        Accepted(name="matrix", source="""
            def rotate(x, angles):
                turn = torch.stack((angles.cos(), -angles.sin(), angles.sin(), angles.cos()), -1)
                turn = turn.unflatten(-1, (2, 2))  # (L, d_k / 2, 2, 2)
                points = x.unflatten(-1, (2, -1)).transpose(-1, -2).to(turn.dtype)
                turned = (turn @ points.unsqueeze(-1)).squeeze(-1)
                return turned.transpose(-1, -2).flatten(-2).to(x.dtype)
            """),
    ],
)
