"""Cases and mistakes for an exercise: RMSNorm, which does not subtract a mean."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_tiny(draw: Draw) -> torch.Tensor:
    """Vectors so small that eps matters, one of them a zero vector."""
    x = draw.tensor(3, 4, 8, scale=1 / 256)
    x[0, 0] = 0.0
    return x


_NORMED = "normed = wide * torch.rsqrt(mean_square + self.eps)"
_WIDE = "wide = x.to(torch.promote_types(x.dtype, torch.float32))"
_SQUARE = "mean_square = wide.square().mean(dim=-1, keepdim=True)"
_WEIGHT = "self.weight = nn.Parameter(torch.ones(d_model))"

CASES = [
    case("sequences", "3 texts of 5 vectors", sizes(batch=(3, 5), d_model=7),
         "Divide each vector by the root of the mean of its squares."),
    case("large_eps", "small vectors and a large eps", sizes(batch=(2, 4), d_model=6, scale=0.25, eps=0.125),
         "eps is an argument, and it is added to the mean square."),
    case("tiny", "tiny vectors, one of zeros, and the default eps", sizes(d_model=8, x=_draw_tiny),
         "Which eps is the default?"),
    case("half", "half precision, entries up to 400", sizes(batch=(2, 3), d_model=8, scale=400.0, dtype="float16"),
         "400 squared is more than half precision can hold.", atol=2e-3, rtol=4e-3),
    case("far", "float64, entries of 10^24",
         sizes(d_model=6, x=lambda draw: draw.tensor(2, 4, 6) * 2.0**80, dtype="float64"),
         "Only dtypes narrower than float32 are widened; none is narrowed.", aspect="form",
         says="float64 vectors are narrowed to float32, whose largest number is about 3e38.",
         asks="Which inputs should be normalised in `float32`?"),
    case("deep", "more dimensions in front", sizes(batch=(4, 2, 3), d_model=5, scale=8.0),
         "Only the last dimension is normalised, whatever the leading dimensions are.", hidden_only=True),
    case("one_vector", "a single vector", sizes(batch=(), d_model=6),
         "Only the last dimension is normalised, whatever the leading dimensions are.", hidden_only=True),
    case("half_small", "half precision, entries up to 2", sizes(batch=(3, 2), d_model=9, dtype="float16"),
         "The result has the dtype of x.", hidden_only=True, atol=2e-3, rtol=4e-3),
]

MISTAKES = [
    wrong("other_eps", "Your default eps is not 1e-6.",
          "What does the signature say about `eps`?",
          edit("eps: float = 1e-6", "eps: float = 1e-5"),
          edit("eps: float = 1e-6", "eps: float = 1e-8", name="no_eps_by_default")),
    wrong("narrowed",
          "float64 vectors are narrowed to float32, whose largest number is about 3e38, before or after they "
          "are normalised.",
          "Which inputs should be normalised in `float32`?",
          edit(_WIDE, "wide = x.float()"),
          edit(_WIDE, f"x = x.float() if x.dtype == torch.float64 else x; {_WIDE}", name="always_float32")),
    wrong("standard_deviation",
          "The mean is subtracted, by you or by a standard deviation: that is a step of LayerNorm.",
          "Which of LayerNorm's two steps does RMSNorm leave out?",
          edit(_WIDE, f"{_WIDE}; wide = wide - wide.mean(-1, keepdim=True)"),
          edit(_SQUARE, "mean_square = wide.var(-1, keepdim=True, correction=0)", name="mean_in_the_deviation")),
    wrong("sum_of_squares", "You divide by the length of the vector: the squares are summed, not averaged.",
          "How large is a typical entry of the result if `d_model` is 4096?",
          edit("wide.square().mean(", "wide.square().sum(")),
    wrong("not_the_root",
          "You do not divide by the root of the mean square: its root is missing, or you multiply by it.",
          "What should happen to the result if x is multiplied by 10?",
          edit("torch.rsqrt(mean_square + self.eps)", "1 / (mean_square + self.eps)"),
          edit("torch.rsqrt(", "torch.sqrt(", name="multiplied")),
    wrong("mean_of_absolutes", "You average absolute values, not squares.",
          "What does the S in RMS stand for?",
          edit("wide.square().mean(dim=-1, keepdim=True)", "wide.abs().mean(dim=-1, keepdim=True) ** 2")),
    wrong("over_positions",
          "The mean runs over a dimension other than the last, or over several: vectors share their norm, and "
          "positions see each other.",
          "How many root mean squares are there for `(B, L, d_model)`, and which dimension holds the components of "
          "one vector?",
          edit("mean(dim=-1", "mean(dim=-2"),
          edit("mean(dim=-1", "mean(dim=1", name="dimension_one"),
          edit("mean(dim=-1, keepdim=True)", "mean()", name="over_all"),
          edit("mean(dim=-1,", "mean(dim=(-2, -1),", name="over_texts")),
    wrong("eps_outside",
          "`eps` is not added to the mean square: it is added to the root, or is a smallest norm, as in "
          "`F.normalize`.",
          "What is under the root in the formula?",
          edit("torch.rsqrt(mean_square + self.eps)", "1 / (mean_square.sqrt() + self.eps)"),
          edit(_NORMED, "normed = F.normalize(wide, dim=-1, eps=self.eps) * wide.size(-1) ** 0.5",
               name="only_at_least_eps")),
    wrong("eps_ignored", "The argument eps has no effect.",
          "What does your code do with `eps=0.1`?",
          edit("self.eps = eps", "self.eps = 1e-6")),
    wrong("no_eps", "`eps` has no effect: under the root, nothing is added, or only a guard against zero.",
          "What does your code do with `eps=0.1`?",
          edit("mean_square + self.eps", "mean_square"),
          edit("mean_square + self.eps", "mean_square.clamp(min=1e-8)", name="only_against_zero")),
    wrong("no_weight", "The weight does not multiply: it has no effect, or is added.",
          "What is multiplied by `w` in the formula?",
          edit("(normed * self.weight)", "normed"),
          edit("normed * self.weight", "normed + self.weight", name="weight_added")),
    wrong("weight_before_the_norm",
          "You multiply by the weight before normalising, so the norm removes part of its effect.",
          "Which comes first in the formula: the norm or the weight?",
          edit("float32))", "float32)) * self.weight", "(normed * self.weight)", "normed")),
    wrong("one_plus_weight", "You multiply by 1 + w, with a weight that starts as zeros; the formula multiplies by w.",
          "What is multiplied by `w` in the formula, and how does the weight start?",
          edit("torch.ones(d_model)", "torch.zeros(d_model)", "normed * self.weight", "normed * (1 + self.weight)")),
    wrong("starts_at_zero", "The weight does not start as ones, so a new norm distorts its input.",
          "What should a new norm do, apart from normalising?",
          edit("torch.ones(d_model)", "torch.zeros(d_model)"),
          edit("torch.ones(d_model)", "torch.full((d_model,), 0.5)", name="starts_drawn")),
    wrong("bias", "There is a bias: RMSNorm has none.",
          "Which parameters does the formula have?",
          edit(_WEIGHT, f"{_WEIGHT}; self.bias = nn.Parameter(torch.zeros(d_model))",
               "normed * self.weight", "normed * self.weight + self.bias")),
    wrong("other_weight",
          "The weight is not a parameter, which an optimizer would find, or not one of `d_model` numbers.",
          "What makes a tensor of a module trainable, and what shape does `w` have?",
          edit("nn.Parameter(torch.ones(d_model))", "torch.ones(d_model)"),
          edit("torch.ones(d_model)", "torch.ones(1)", name="one_number"),
          tests="parameter"),
    wrong("in_half_precision",
          "The squares are computed in half precision, and overflow: you convert to `float32` too late, or never.",
          "What is 300 squared, and what is the largest number of `float16`?",
          edit(_WIDE, "wide = x"),
          edit(_WIDE, "wide = x", _SQUARE, "mean_square = (x * x).float().mean(dim=-1, keepdim=True)",
               name="too_late"),
          tests="normalised"),
    wrong("stays_wide", "Vectors in half precision come back in float32.",
          "Which dtype does the next layer expect?",
          edit("(normed * self.weight).to(x.dtype)", "normed * self.weight"), tests="result"),
    wrong("in_place", "Your module modifies x, which the caller still needs.",
          "Where else is x used in `x + attention(norm(x))`?",
          edit(_WIDE, "x.mul_(torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.eps).to(x.dtype)); wide = x",
               _NORMED, "normed = wide")),
    wrong("no_gradient_through_the_norm", "The gradient does not pass through the root mean square.",
          "Does the root mean square depend on x? Which operation cuts off its gradient?",
          edit("wide.square()", "wide.detach().square()")),
    wrong("bfloat_as_it_is", "`float16` is normalised in `float32`, `bfloat16` is not.",
          "How many digits does a `bfloat16` have?",
          edit(_WIDE, "wide = x.float() if x.dtype == torch.float16 else x")),
]

ACCEPTED = [
    right("by_hand", source("""
        class RMSNorm(nn.Module):
            def __init__(self, d_model, eps=1e-6):
                super().__init__()
                self.eps = eps
                self.weight = nn.Parameter(torch.ones(d_model))

            def forward(self, x):
                kind = x.dtype
                if kind in (torch.float16, torch.bfloat16):
                    x = x.float()
                rms = (x.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()
                return self.weight.to(kind) * (x / rms).to(kind)
        """)),
    right("by_length", source("""
        class RMSNorm(nn.Module):
            def __init__(self, d_model, eps=1e-6):
                super().__init__()
                self.weight, self.eps = nn.Parameter(torch.ones((d_model,))), eps

            def forward(self, x):
                wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
                mean_square = torch.einsum("...d,...d->...", wide, wide) / x.shape[-1]
                return torch.mul(wide / (mean_square[..., None] + self.eps) ** 0.5, self.weight).type_as(x)
        """)),
    right("as_published", edit("(normed * self.weight).to(x.dtype)", "self.weight * normed.to(x.dtype)")),
    right("upcast_twice",
          edit(_WIDE, "wide = x.double()", "normed * self.weight", "normed.to(self.weight.dtype) * self.weight")),
]

EXERCISE = Specification(
    tells={"one_vector": "mean_in_the_deviation"},
    target="RMSNorm", results="the output",
    contract=Contract(named=True),
    ready_made=("F.rms_norm",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
