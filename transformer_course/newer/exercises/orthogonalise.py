"""Newton and Schulz: singular values that are close to 1."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import options


def _matrix(rows: int, columns: int, scale: float = 2.0, **settings: float) -> Maker:
    return lambda draw: {"update": draw.tensor(rows, columns, scale=scale)} | options(**settings)


def _zeros(draw: Draw) -> Inputs:
    return {"update": torch.zeros(3, 4)}


_NORM = "x = update / (update.norm() + eps)"
_GRAM = "gram = x @ x.T"
_STEP = "x = a * x + (b * gram + c * gram @ gram) @ x"

CASES = [
    case("wide", "3 rows and 5 columns", _matrix(3, 5),
         "Divide by the Frobenius norm, then five steps.", atol=1e-4),
    case("one_step", "one step", _matrix(4, 6, steps=1),
         "One step is one application of the polynomial.", atol=1e-4),
    case("tall", "6 rows and 2 columns, three steps", _matrix(6, 2, steps=3),
         "The result has the shape of the update.", atol=1e-4),
    case("none", "no step", _matrix(3, 4, steps=0),
         "Without a step, only the division is left.", atol=1e-4),
    case("zeros", "a matrix of zeros", _zeros,
         "What do you divide by if all entries are zero?", open=True),
    case("small", "entries below a thousandth, a large epsilon", _matrix(3, 4, 2.0**-10, steps=2, eps=2.0**-8),
         "Where is epsilon added?", atol=1e-4),
    case("large", "entries up to a thousand", _matrix(5, 5, 1024.0, steps=4),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("not_divided",
          "The matrix is not divided by its norm, so the iteration runs away.",
          "To what does the polynomial map a singular value of 10?",
          edit(_NORM, "x = update")),
    wrong("largest_entry",
          "The matrix is divided by its largest entry.",
          "What is the Frobenius norm of a matrix?",
          edit("update.norm()", "update.abs().max()")),
    wrong("spectral_norm",
          "You divide by the largest singular value.",
          "Which norm does the task ask for?",
          edit("update.norm()", "torch.linalg.matrix_norm(update, 2)")),
    wrong("row_by_row",
          "Each row is divided by its own norm.",
          "How many norms does a matrix have here?",
          edit("update.norm()", "update.norm(dim=-1, keepdim=True)")),
    wrong("sum_of_squares",
          "You divide by the sum of the squares, without its root.",
          "How does the Frobenius norm grow if the matrix is doubled?",
          edit("update.norm()", "update.square().sum()")),
    wrong("root_mean_square",
          "You divide by the root of the *mean* square.",
          "Is the Frobenius norm a sum or a mean?",
          edit("update.norm()", "update.square().mean().sqrt()")),
    wrong("epsilon_ignored",
          "Nothing is added to the norm, so a matrix of zeros becomes NaN.",
          "What do you divide by if all entries are zero?",
          edit("(update.norm() + eps)", "update.norm()")),
    wrong("fixed_epsilon",
          "`eps` has no influence.",
          "What is added to the norm if `eps` is 0.01?",
          edit("(update.norm() + eps)", "(update.norm() + 1e-7)")),
    wrong("at_least_epsilon",
          "`eps` is a lower bound of your norm; it should be added to it.",
          "What do you divide by if the norm is 0.02 and `eps` is 0.01?",
          edit("(update.norm() + eps)", "update.norm().clamp(min=eps)")),
    wrong("steps_ignored",
          "`steps` has no influence: there are always five.",
          "What does your loop count to?",
          edit("range(steps)", "range(5)")),
    wrong("one_step_more",
          "There is one step too many.",
          "How often does your loop run if `steps` is 0?",
          edit("range(steps)", "range(steps + 1)")),
    wrong("one_step_less",
          "There is one step too few.",
          "How often does your loop run if `steps` is 1?",
          edit("range(steps)", "range(1, steps)")),
    wrong("b_and_c_exchanged",
          "`b` and `c` are exchanged.",
          "Which coefficient belongs to `X Xᵀ`, and which to its square?",
          edit("b * gram + c * gram @ gram", "c * gram + b * gram @ gram")),
    wrong("signs",
          "`b` has the wrong sign.",
          "Which of the three coefficients is negative?",
          edit("-4.7750", "4.7750")),
    wrong("cubic",
          "Your polynomial has degree three: it is the classic Newton-Schulz iteration.",
          "Which coefficients does the text give?",
          edit(_STEP, "x = 1.5 * x - 0.5 * gram @ x")),
    wrong("c_forgotten",
          "The term with `c` has no influence.",
          "How many terms does the polynomial have?",
          edit("b * gram + c * gram @ gram", "b * gram")),
    wrong("no_fifth_power",
          "`c` is multiplied by `X Xᵀ`, not by its square: your polynomial has no fifth power.",
          "How many times does `X` occur in the product that belongs to `c`?",
          edit("c * gram @ gram", "c * gram")),
    wrong("squared_entries",
          "You square the entries of `X Xᵀ`; multiply the matrix by itself instead.",
          "What is the difference between `@` and `**`?",
          edit("c * gram @ gram", "c * gram**2")),
    wrong("x_not_kept",
          "The term with `a` has no influence.",
          "How many terms does the polynomial have?",
          edit("a * x + ", "")),
    wrong("identity_for_x",
          "The term with `a` adds to the diagonal instead of to `X`.",
          "What is `a` multiplied by?",
          edit(_STEP, "x = a * torch.eye(*x.shape) + (b * gram + c * gram @ gram) @ x")),
    wrong("first_gram_for_all",
          "`X Xᵀ` is computed once, before the loop.",
          "Does `X` change from step to step?",
          edit(_NORM, "x = update / (update.norm() + eps); first = x @ x.T", _GRAM, "gram = first")),
    wrong("divided_in_each_step",
          "You divide by the norm in each step.",
          "Where in the task is the division: before the steps or within them?",
          edit(_GRAM, "x = x / (x.norm() + eps); gram = x @ x.T")),
    wrong("exactly_one",
          "All singular values are exactly 1: this is `U Vᵀ` from a decomposition, not the iteration.",
          "To what does one step map a singular value of 1?",
          edit(_NORM, "u, _, v = torch.linalg.svd(update, full_matrices=False); x = u @ v; steps = 0")),
    wrong("transposed",
          "A tall matrix comes back transposed.",
          "What has to follow if you transpose at the beginning?",
          edit(_NORM, "x = update / (update.norm() + eps); x = x.T if x.size(0) > x.size(1) else x"),
          tests="modified"),
    wrong("wide_only",
          "Your function fails for a matrix that is not square.",
          "Which of `X Xᵀ X` and `Xᵀ X X` has matching shapes?",
          edit(_GRAM, "gram = x.T @ x"), tests="Matrices"),
    wrong("scaled_afterwards",
          "The result is scaled by the shape of the matrix; scaling is the optimizer's job.",
          "What is the largest singular value of your result for a tall matrix?",
          edit("return x", "return x * max(1.0, x.size(0) / x.size(1)) ** 0.5")),
    wrong("scaled_as_adam",
          "The result is scaled to the usual size of Adam's steps; scaling is the optimizer's job.",
          "How large are the singular values of your result?",
          edit("return x", "return x * 0.2 * max(x.shape) ** 0.5")),
    wrong("norm_restored",
          "The norm is multiplied back in at the end.",
          "Should the length of the gradient matter for the step?",
          edit("return x", "return x * update.norm()")),
    wrong("in_place",
          "Your function modifies `update`.",
          "Which operation of yours ends with an underscore, or uses `/=`?",
          edit(_NORM, "x = update; x /= update.norm() + eps")),
    wrong("in_half_precision",
          "The iteration runs in bfloat16: the third digit is wrong.",
          "How many digits does bfloat16 keep?",
          edit(_NORM, "x = (update / (update.norm() + eps)).bfloat16()", "return x", "return x.to(update.dtype)")),
]

ACCEPTED = [
    right("as_published", source("""
        def orthogonalise(update, steps=5, eps=1e-7):
            a, b, c = (3.4445, -4.7750, 2.0315)
            X = update.clone()
            X /= X.norm() + eps
            if update.size(0) > update.size(1):
                X = X.T
            for _ in range(steps):
                A = X @ X.T
                B = b * A + c * A @ A
                X = a * X + B @ X
            if update.size(0) > update.size(1):
                X = X.T
            return X
        """)),
    right("from_the_right", edit(_GRAM, "gram = x.T @ x", _STEP, "x = a * x + x @ (b * gram + c * gram @ gram)")),
    right("by_singular_values", source("""
        def orthogonalise(update, steps=5, eps=1e-7):
            u, s, v = torch.linalg.svd(update / (update.norm() + eps), full_matrices=False)
            for _ in range(steps):
                s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
            return u * s @ v
        """)),
    right("powers", edit("gram @ gram", "torch.linalg.matrix_power(gram, 2)",
                         "update.norm()", "update.square().sum().sqrt()")),
]

EXERCISE = Specification(
    contract=Contract(
        arguments="update: m n", results="result: m n", ways=("steady",), on=("wide",), typed=True,
        sizes=special(one_row=_matrix(1, 4), one_column=_matrix(5, 1), one_entry=_matrix(1, 1), square=_matrix(4, 4)),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
