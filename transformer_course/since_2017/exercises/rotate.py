"""Cases and mistakes for an exercise: rotate queries and keys."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_TURNED = "torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)"
_HALVES = "a, b = x.chunk(2, dim=-1)"
_ANGLES = "cos, sin = angles.cos(), angles.sin()"

CASES = [
    case("heads", "2 texts, 3 heads, 5 positions", sizes(batch=(2, 3), L=5, d_k=8),
         "Take one pair of one vector and rotate it by hand."),
    case("one_text", "a text of 4 positions, without heads", sizes(batch=(), L=4, d_k=6),
         "Only the last two dimensions matter."),
    case("half", "half precision, and angles in float64",
         sizes(batch=(2, 4), L=3, d_k=10, dtype="float16", angles=lambda draw: draw.tensor(3, 5, scale=40.0).double()),
         "The result has the dtype of x.", atol=4e-3, rtol=4e-3),
    case("far", "angles of millions, in float64, and as many heads as positions",
         sizes(batch=(2, 4), L=4, d_k=6, angles=lambda draw: draw.tensor(4, 3).double() + 2**26),
         "Compute cosine and sine in the dtype of the angles: float32 cannot hold such a large angle exactly."),
    case("wide", "heads of 160 components", sizes(batch=(2,), L=3, d_k=160),
         "Each pair has an angle of its own, however many there are.", hidden_only=True),
    case("large_angles", "large angles, a single pair, more dimensions",
         sizes(batch=(2, 1, 3), L=7, d_k=2, angles=lambda draw: draw.tensor(7, 1, scale=40.0)),
         "An angle of 40 radians is six turns and a bit.", hidden_only=True),
]

MISTAKES = [
    wrong("batch_added", "One matrix `(L, d_k)` comes back with an extra dimension.",
          "Which dimensions may the dots in `(..., L, d_k)` stand for? Can there be none?",
          edit(_HALVES, "a, b = x[None].chunk(2, dim=-1) if x.dim() < 3 else x.chunk(2, dim=-1)")),
    wrong("neighbours", "You rotate neighbours (0 and 1, 2 and 3, ...); rotate halves.",
          "With which component does component 0 form a point?",
          edit(_HALVES, "a, b = x[..., 0::2], x[..., 1::2]",
               _TURNED, "torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)")),
    wrong("places_changed",
          "You take neighbours as points and write them back as halves, or the other way round: components change "
          "places.",
          "Where should a vector's component 1 be after a rotation by zero?",
          edit(_HALVES, "a, b = x[..., 0::2], x[..., 1::2]"),
          edit(_TURNED, "torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)",
               name="halves_interleaved")),
    wrong("backwards", "You rotate in the wrong direction: clockwise.",
          "Where is the point (1, 0) after a quarter turn: at (0, 1) or at (0, -1)?",
          edit(_TURNED, "torch.cat((a * cos + b * sin, b * cos - a * sin), dim=-1)")),
    wrong("mirrored", "Your two formulas have the same sign: that is not a rotation, because lengths change.",
          "Which of the two formulas has a minus?",
          edit("a * cos - b * sin", "a * cos + b * sin")),
    wrong("reflection", "The second formula also has a minus: that is not a rotation.",
          "What is the second component of (0, 1), rotated by zero?",
          edit("a * sin + b * cos", "a * sin - b * cos")),
    wrong("sine_and_cosine_exchanged", "Sine and cosine are swapped.",
          "What should a rotation by zero do?",
          edit(_ANGLES, "sin, cos = angles.cos(), angles.sin()")),
    wrong("overwritten", "The second formula sees the *new* first half.",
          "When you compute `b'`, which `a` do you use?",
          edit(_TURNED, "torch.cat((a * cos - b * sin, (a * cos - b * sin) * sin + b * cos), dim=-1)")),
    wrong("in_place", "Your function changes x.",
          "Might the caller still need the original vector?",
          edit(_HALVES, "a, b = (part.clone() for part in x.chunk(2, dim=-1))",
               f"rotated = {_TURNED}", f"rotated = x.copy_({_TURNED})")),
    wrong("half_of_it", "Only the first half is rotated.",
          "What happens to `b`?",
          edit("a * sin + b * cos", "b")),
    wrong("halves_exchanged", "The two halves are exchanged, in the input or in the result.",
          "Which half is `a`, and which comes first in the result?",
          edit("a, b = x.chunk", "b, a = x.chunk"),
          edit(_TURNED, "torch.cat((a * sin + b * cos, a * cos - b * sin), dim=-1)", name="order_of_halves")),
    wrong("no_sines", "Each component is only multiplied by a cosine; a rotation mixes two components.",
          "Where are the sines?",
          edit(_TURNED, "torch.cat((a * cos, b * cos), dim=-1)")),
    wrong("degrees", "Your angles are taken as degrees.",
          "In which unit does `cos` expect its argument?",
          edit(_ANGLES, "cos, sin = angles.deg2rad().cos(), angles.deg2rad().sin()")),
    wrong("stays_wide", "Queries and keys in half precision come back in a wider dtype.",
          "What are the dtypes of `x`, of the angles, and of their product?",
          edit("rotated.to(x.dtype)", "rotated"), tests="modified"),
    wrong("wrong_dimension",
          "You take the halves of a dimension other than the last, or concatenate them along another one.",
          "Which dimension holds the components of one vector?",
          edit(_HALVES, "a, b = x[..., : x.size(-1) // 2], x[..., : x.size(-1) // 2]"),
          edit("a * sin + b * cos), dim=-1)", "a * sin + b * cos), dim=-2)", name="joined_elsewhere")),
    wrong("first_row_for_all", "All texts get the result of one of them.",
          "Over which dimensions do the angles broadcast?",
          edit("rotated.to(x.dtype)", "rotated[:1].expand_as(x).to(x.dtype)")),
    wrong("cut_off", "The gradient of x is missing or wrong.",
          "Did you use `detach`, `no_grad` or `.data`?",
          edit(_HALVES, "a, b = x.detach().chunk(2, dim=-1)")),
    wrong("angles_narrowed",
          "You convert the angles to a narrower dtype before you compute cosine and sine, so that large ones "
          "become equal.",
          "How far apart are neighbouring `float16` numbers around 2048, and `float32` numbers around 2^26?",
          edit(_ANGLES, "cos, sin = angles.float().cos(), angles.float().sin()"),
          edit("cos, sin = angles.cos(), angles.sin()",
               "cos, sin = angles.to(x.dtype).cos(), angles.to(x.dtype).sin()", name="angles_in_half_precision"),
          tests="half precision"),
    wrong("one_place_not_turned", "A single vector is not rotated: you treat its position as position 0.",
          "Which angle does the only row of `angles` hold?",
          edit(_ANGLES, "cos, sin = (f(angles * (x.size(-2) > 1)) for f in (torch.cos, torch.sin))")),
    wrong("along_the_heads", "The angles run along the heads instead of the positions.",
          "Which dimension of `(B, h, L, d_k)` holds the positions?",
          edit(_ANGLES,
               "angles = angles[:, None] if x.dim() == 4 and x.size(1) == x.size(2) else angles; "
               "cos, sin = angles.cos(), angles.sin()")),
]

ACCEPTED = [
    right("rotate_half", source("""
        def rotate(x, angles):
            def rotate_half(t):
                first, second = t[..., : t.shape[-1] // 2], t[..., t.shape[-1] // 2 :]
                return torch.cat((-second, first), dim=-1)

            cos = torch.cat((angles, angles), dim=-1).cos().to(x.dtype)
            sin = torch.cat((angles, angles), dim=-1).sin().to(x.dtype)
            return x * cos + rotate_half(x) * sin
        """)),
    right("complex", source("""
        def rotate(x, angles):
            wide = x if x.dtype == torch.float64 else x.float()
            points = torch.complex(*(h.contiguous() for h in wide.chunk(2, -1)))
            points = points * torch.polar(torch.ones_like(angles), angles)
            return torch.cat((points.real, points.imag), dim=-1).type_as(x)
        """)),
    right("matrix", source("""
        def rotate(x, angles):
            turn = torch.stack((angles.cos(), -angles.sin(), angles.sin(), angles.cos()), -1)
            turn = turn.unflatten(-1, (2, 2))  # (L, d_k / 2, 2, 2)
            points = x.unflatten(-1, (2, -1)).transpose(-1, -2).to(turn.dtype)
            turned = (turn @ points.unsqueeze(-1)).squeeze(-1)
            return turned.transpose(-1, -2).flatten(-2).to(x.dtype)
        """)),
]

EXERCISE = Specification(
    fixed="d_k", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
