"""Cases and mistakes for an exercise: the Newton-Schulz iteration.

It brings the singular values of a matrix close to 1.
"""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_NORM = "x = update / (update.norm() + eps)"
_GRAM = "gram = x @ x.T"
_STEP = "x = a * x + (b * gram + c * gram @ gram) @ x"

CASES = [
    case("wide", "3 rows and 5 columns", sizes(m=3, n=5, scale=64.0),
         "Divide by the Frobenius norm, then five steps.", atol=1e-4),
    case("one_step", "one step", sizes(m=4, n=6, steps=1),
         "One step is one application of the polynomial.", atol=1e-4),
    case("tall", "6 rows and 2 columns, three steps", sizes(m=6, n=2, steps=3),
         "The result has the shape of the update.", atol=1e-4),
    case("none", "no step", sizes(m=3, n=4, steps=0),
         "Without a step, only the division is left.", atol=1e-4, aspect="limits"),
    case("zeros", "a matrix of zeros", sizes(update=lambda draw: torch.zeros(3, 4)),
         "What do you divide by if all entries are zero?", open=True, aspect="limits"),
    case("small", "entries below a thousandth, a large epsilon",
         sizes(m=3, n=4, steps=2, eps=2.0**-8, scale=2.0**-10),
         "Where is epsilon added?", atol=1e-4),
    case("large", "entries up to a thousand", sizes(m=5, n=5, steps=4, scale=1024.0),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("not_divided", "The matrix is not divided by its norm, so the iteration runs away.",
          "To what does the polynomial map a singular value of 10?",
          edit(_NORM, "x = update")),
    wrong("other_norm", "You divide by something other than the Frobenius norm of the matrix.",
          "What is the Frobenius norm: how many numbers, of which sum, with which root?",
          edit("update.norm()", "update.abs().max()"),
          edit("update.norm()", "torch.linalg.matrix_norm(update, 2)", name="spectral_norm"),
          edit("update.norm()", "update.norm(dim=-1, keepdim=True)", name="row_by_row"),
          edit("update.norm()", "update.square().sum()", name="sum_of_squares"),
          edit("update.norm()", "update.square().mean().sqrt()", name="root_mean_square")),
    wrong("epsilon_ignored", "Nothing is added to the norm, so a matrix of zeros becomes NaN.",
          "What do you divide by if all entries are zero?",
          edit("(update.norm() + eps)", "update.norm()")),
    wrong("eps_not_added", "`eps` is not added to the norm: it has no effect, or is a lower bound.",
          "What do you divide by if the norm is 0.02 and `eps` is 0.01?",
          edit("(update.norm() + eps)", "(update.norm() + 1e-7)"),
          edit("(update.norm() + eps)", "update.norm().clamp(min=eps)", name="at_least_epsilon")),
    wrong("number_of_steps", "There are not `steps` steps, but one more, one fewer, or always five.",
          "How often does your loop run if `steps` is 0, and how often if it is 1?",
          edit("range(steps)", "range(5)"),
          edit("range(steps)", "range(steps + 1)", name="one_step_more"),
          edit("range(steps)", "range(1, steps)", name="one_step_less")),
    wrong("other_coefficients",
          "Your coefficients are not those of the text: two are exchanged, one has the wrong sign, or they are "
          "those of the classic iteration.",
          "Which coefficient belongs to `X`, which to `X Xᵀ`, and which to its square?",
          edit("b * gram + c * gram @ gram", "c * gram + b * gram @ gram"),
          edit("-4.7750", "4.7750", name="signs"),
          edit(_STEP, "x = 1.5 * x - 0.5 * gram @ x", name="cubic")),
    wrong("no_fifth_power",
          "Your polynomial has no fifth power: `c` is left out, or not multiplied by the square of the matrix `X Xᵀ`.",
          "How many times does `X` occur in the product that belongs to `c`, and is it a matrix product?",
          edit("c * gram @ gram", "c * gram"),
          edit("b * gram + c * gram @ gram", "b * gram", name="c_forgotten"),
          edit("c * gram @ gram", "c * gram**2", name="squared_entries")),
    wrong("no_first_power", "The term with `a` is left out, or adds to the diagonal instead of to `X`.",
          "What is `a` multiplied by?",
          edit("a * x + ", ""),
          edit(_STEP, "x = a * torch.eye(*x.shape) + (b * gram + c * gram @ gram) @ x", name="identity_for_x")),
    wrong("first_gram_for_all", "`X Xᵀ` is computed once, before the loop.",
          "Does `X` change from step to step?",
          edit(_NORM, "x = update / (update.norm() + eps); first = x @ x.T", _GRAM, "gram = first")),
    wrong("divided_in_each_step", "You divide by the norm in each step.",
          "Where in the task is the division: before the steps or within them?",
          edit(_GRAM, "x = x / (x.norm() + eps); gram = x @ x.T")),
    wrong("exactly_one", "All singular values are exactly 1: this is `U Vᵀ` from a decomposition, not the iteration.",
          "To what does one step map a singular value of 1?",
          edit(_NORM, "u, _, v = torch.linalg.svd(update, full_matrices=False); x = u @ v; steps = 0")),
    wrong("transposed", "A tall matrix comes back transposed.",
          "What has to follow if you transpose at the beginning?",
          edit(_NORM, "x = update / (update.norm() + eps); x = x.T if x.size(0) > x.size(1) else x"),
          tests="modified"),
    wrong("wide_only", "Your function fails for a matrix that is not square.",
          "Which of `X Xᵀ X` and `Xᵀ X X` has matching shapes?",
          edit(_GRAM, "gram = x.T @ x"), tests="Matrices"),
    wrong("scaled_afterwards",
          "The result is scaled at the end, by the shape or the norm of the matrix; scaling is the optimizer's job.",
          "How large are the singular values of your result?",
          edit("return x", "return x * max(1.0, x.size(0) / x.size(1)) ** 0.5"),
          edit("return x", "return x * 0.2 * max(x.shape) ** 0.5", name="scaled_as_adam"),
          edit("return x", "return x * update.norm()", name="norm_restored")),
    wrong("in_place", "Your function modifies `update`.",
          "Which operation of yours ends with an underscore, or uses `/=`?",
          edit(_NORM, "x = update; x /= update.norm() + eps")),
    wrong("in_half_precision", "The iteration runs in bfloat16: the third digit is wrong.",
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
]

EXERCISE = Specification(
    tells={"property_sizes": "other_norm row_by_row no_first_power", "property_spread": "row_by_row no_first_power"},
    gradients=False, contract=Contract(ways=("steady", "spread")),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
