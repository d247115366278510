"""Cases and mistakes for an exercise: the shift matrix.

It turns the encoding of a position into that of the position k steps later.
"""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_ANGLES = "angles = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)"
_BLOCKS = "torch.stack((cos, sin, -sin, cos), dim=-1)"
_DIAGONAL = "torch.block_diag(*blocks.view(-1, 2, 2))"

CASES = [
    case("forward", "steps forward", sizes(k=lambda draw: draw.ids(1, 9), d_model=6),
         "Multiply `sinusoid(pos)` by your matrix: do you get `sinusoid(pos + k)`?"),
    case("backward", "steps backward", sizes(k=lambda draw: -draw.ids(1, 9), d_model=8),
         "Going back by k undoes going forward by k."),
    case("no_step", "no step at all", sizes(k=0, d_model=8),
         "0 steps change nothing.", open=True, aspect="limits"),
    case("far", "large steps, wide vectors", sizes(k=lambda draw: draw.ids(20, 60), d_model=10),
         "Does each pair rotate by its own angle?", atol=3e-5),
    case("one_pair", "a single pair, and more than a hundred steps",
         sizes(k=lambda draw: -draw.ids(101, 150), d_model=2),
         "With d_model = 2 the matrix is a single rotation by k radians.", hidden_only=True),
]

MISTAKES = [
    wrong("backwards",
          "Your matrix rotates backward: its minus sign is in the opposite corner, as in the textbook rotation of "
          "(cosine, sine).",
          "What multiplies `cos(a)` in `sin(a + b)`: plus or minus `sin(b)`?",
          edit(_BLOCKS, "torch.stack((cos, -sin, sin, cos), dim=-1)")),
    wrong("wraps_around", "Large values of `k` wrap around: many steps are treated like a few.",
          "Does the angle ever stop growing with `k`?",
          edit("angles = k /", "angles = math.fmod(k, 100) /")),
    wrong("no_rotation",
          "Your blocks contain no minus sign, or two, so they are not rotations: they change the length of a pair.",
          "What are `sin(a + b)` and `cos(a + b)` in terms of the sines and cosines of `a` and `b`?",
          edit(_BLOCKS, "torch.stack((cos, sin, sin, cos), dim=-1)", name="no_minus"),
          edit(_BLOCKS, "torch.stack((cos, -sin, -sin, cos), dim=-1)", name="two_minuses")),
    wrong("minus_on_diagonal", "Your blocks are reflections: the minus sign is on the diagonal.",
          "What is `cos(a + b)` in terms of the sines and cosines of `a` and `b`?",
          edit(_BLOCKS, "torch.stack((cos, sin, sin, -cos), dim=-1)"),
          edit(_BLOCKS, "torch.stack((-sin, cos, cos, sin), dim=-1)", name="rows_swapped")),
    wrong("sine_and_cosine_swapped",
          "Sine and cosine are swapped in your blocks, so even 0 steps would rotate each pair by a quarter turn.",
          "Which block leaves a pair unchanged, and what are `sin(0)` and `cos(0)`?",
          edit(_BLOCKS, "torch.stack((sin, cos, -cos, sin), dim=-1)"), tests="cosine"),
    wrong("one_speed", "All pairs rotate by the same angle.",
          "What is the frequency of pair `i`?",
          edit(_ANGLES, "angles = k * torch.ones(d_model // 2)")),
    wrong("cosine_speed", "The exponents are those of the odd columns, `(2i + 1) / d_model`.",
          "Which exponent do both columns of pair 0 have?",
          edit("torch.arange(0, d_model, 2)", "torch.arange(1, d_model, 2)")),
    wrong("exponent_doubled", "The 2 of `2i` seems to be in the exponents twice.",
          "Does your loop or `arange` count pairs, or does it step by 2?",
          edit("(torch.arange(0, d_model, 2)", "(2 * torch.arange(0, d_model, 2)")),
    wrong("exponent_halved", "The 2 of `2i` is missing from the exponents.",
          "Does your loop or `arange` count pairs, or does it step by 2?",
          edit("torch.arange(0, d_model, 2)", "torch.arange(d_model // 2)")),
    wrong("exponent_negative", "The frequencies rise along the diagonal: `k` is multiplied by the powers of 10000.",
          "Is the power of 10000 in the numerator or the denominator?",
          edit("angles = k / 10000", "angles = k * 10000")),
    wrong("speeds_reversed", "The low frequencies come first and the high ones last.",
          "Which pair should rotate by `k` radians?",
          edit("angles.sin(), angles.cos()", "angles.flip(0).sin(), angles.flip(0).cos()")),
    common("base", edit("10000", "1000")),
    common("degrees", edit("angles = k /", "angles = math.radians(k) /")),
    common("angle_times_two_pi", edit("angles = k /", "angles = math.tau * k /")),
    wrong("single_step", "Your matrix moves by one step, whatever `k` is.",
          "Where do your angles use `k`?",
          edit("angles = k /", "angles = 1 /")),
    wrong("matrix_kept",
          "Calls with the same arguments return the same tensor, so modifying one result modifies them all.",
          "What does the docstring say about the result of each call?",
          edit("def shift_matrix(", """
              matrices = {}

              def shift_matrix(
              """, f"return {_DIAGONAL}", f"return matrices.setdefault((k, d_model), {_DIAGONAL})"), tests="returns"),
    wrong("sign_of_k_lost", "Steps backward are treated like steps forward.",
          "What should `k = -3` do?",
          edit("angles = k /", "angles = abs(k) /"), tests="negative"),
    wrong("no_steps_backward", "For a negative `k` your matrix is the identity: a loop over `range(k)` does not run.",
          "How often does a loop over `range(-3)` run?",
          edit("angles = k /", "angles = max(k, 0) /"), tests="negative"),
    wrong("halves",
          "Your matrix suits a table with all sines on the left and all cosines on the right, but ours alternates "
          "them.",
          "Which two entries of our vectors form pair 0?",
          edit(_DIAGONAL,
               "torch.cat((torch.cat((cos.diag(), sin.diag()), 1), torch.cat((-sin.diag(), cos.diag()), 1)))")),
    wrong("columns_rolled", "Your matrix shifts the *components of a vector* by `k` indices.",
          "Does a step along the sentence change the order of the columns?",
          edit(_DIAGONAL, "torch.eye(d_model).roll(k, 0)")),
    wrong("blocks_only", "You return the blocks, `(d_model/2, 2, 2)`, without combining them into one matrix.",
          "What shape does the docstring promise?",
          edit(_DIAGONAL, "blocks.view(-1, 2, 2)")),
    wrong("cosines_only", "Only the diagonal is filled in, so components are scaled but not rotated.",
          "Which entries does a rotation matrix have off the diagonal?",
          edit(_DIAGONAL, "cos.repeat_interleave(2).diag()")),
    wrong("identity", "You return the identity matrix, which moves nothing.",
          "Where does your code use `k`?",
          edit(_DIAGONAL, "torch.eye(d_model)")),
    wrong("first_block_only", "Only the first pair rotates; the others stay unchanged.",
          "How many pairs does a vector of `d_model` components have?",
          edit(_DIAGONAL, "torch.block_diag(blocks[0].view(2, 2), torch.eye(d_model - 2))")),
    common("double", on=_DIAGONAL, tests="float32"),
    wrong("encoding_of_k", "You return the encoding of position `k`, which is a vector.",
          "What shape does a matrix need to map such a vector to another one?",
          edit(_DIAGONAL, "torch.stack((sin, cos), -1).flatten()")),
]

ACCEPTED = [
    right("loops", source("""
        def shift_matrix(k, d_model):
            matrix = torch.zeros(d_model, d_model)
            for j in range(0, d_model, 2):
                angle = k / 10000 ** (j / d_model)
                matrix[j, j] = matrix[j + 1, j + 1] = math.cos(angle)
                matrix[j, j + 1] = math.sin(angle)
                matrix[j + 1, j] = -math.sin(angle)
            return matrix
        """)),
    right("diagonals", source("""
        def shift_matrix(k, d_model):
            speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
            cos, sin = torch.cos(k * speeds), torch.sin(k * speeds)
            beside = torch.stack((sin, torch.zeros_like(sin)), 1).flatten()[:-1]
            return (cos.repeat_interleave(2).diag() + beside.diag(1)
                    - beside.diag(-1))
        """)),
    right("exponential", source("""
        def shift_matrix(k, d_model):
            speeds = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
            turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]]).double()
            generator = torch.kron(speeds.diag(), turn)
            matrix = torch.matrix_exp(k * generator)
            return matrix.to(torch.get_default_dtype())
        """)),
    right("power_of_one_step", source("""
        def shift_matrix(k, d_model):
            angles = [10000 ** (-2 * i / d_model) for i in range(d_model // 2)]
            step = torch.block_diag(*(
                torch.tensor([[math.cos(a), math.sin(a)],
                              [-math.sin(a), math.cos(a)]]).double()
                for a in angles))
            matrix = torch.linalg.matrix_power(step, k)
            return matrix.to(torch.get_default_dtype())
        """)),
]

EXERCISE = Specification(results="matrix", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
