"""A norm without a mean."""

from __future__ import annotations

import torch

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import options


def _vectors(
    *shape: int, scale: float = 0.0, eps: float = 0.0, half: bool = False,
    far: bool = False, zeros: bool = False,
) -> Maker:  # fmt: skip
    """Vectors of a scale; without one, numbers so far from 0 that no usual eps shows."""

    def make_inputs(draw: Draw) -> Inputs:
        x = draw.tensor(*shape, scale=scale or 2.0)
        inputs = draw.weights(weight=(shape[-1],)) | {"x": x if scale else x + x.sign()}
        if zeros:
            inputs["x"][0, 0] = 0.0
        if half or far:
            return inputs | {"half" if half else "far": torch.tensor(True)}
        inputs["pull"] = draw.tensor(*shape, scale=1.0)
        return inputs | (options(eps=eps) if eps else {})

    return make_inputs


_NORMED = "normed = wide * torch.rsqrt(mean_square + self.eps)"
_WIDE = "wide = x.to(torch.promote_types(x.dtype, torch.float32))"
_SQUARE = "mean_square = wide.square().mean(dim=-1, keepdim=True)"
_WEIGHT = "self.weight = nn.Parameter(torch.ones(d_model))"

CASES = [
    case("sequences", "3 texts of 5 vectors", _vectors(3, 5, 7),
         "Divide each vector by the root of the mean of its squares."),
    case("large_eps", "small vectors and a large eps", _vectors(2, 4, 6, scale=0.25, eps=0.125),
         "eps is an argument, and it is added to the mean square."),
    case("tiny", "tiny vectors, one of zeros, and the default eps",
         _vectors(3, 4, 8, scale=1 / 256, zeros=True),
         "Which eps is the default?"),
    case("half", "half precision, entries up to 400", _vectors(2, 3, 8, scale=400.0, half=True),
         "400 squared is more than half precision can hold.", atol=2e-3, rtol=4e-3),
    case("far", "float64, entries of 10^24", _vectors(2, 4, 6, far=True),
         "Only dtypes narrower than float32 are widened; none is narrowed.", aspect="form"),
    case("deep", "more dimensions in front", _vectors(4, 2, 3, 5, scale=8.0),
         "Only the last dimension is normalised, whatever the leading dimensions are.", hidden_only=True),
    case("half_small", "half precision, entries up to 2", _vectors(3, 2, 9, half=True),
         "The result has the dtype of x.", hidden_only=True, atol=2e-3, rtol=4e-3),
]

MISTAKES = [
    wrong("other_eps",
          "Your default eps is larger than 1e-6.",
          "What does the signature say about `eps`?",
          edit("eps: float = 1e-6", "eps: float = 1e-5")),
    wrong("no_eps_by_default",
          "Your default eps is smaller than 1e-6.",
          "What does the signature say about `eps`?",
          edit("eps: float = 1e-6", "eps: float = 1e-8")),
    wrong("always_float32",
          "Vectors of float64 come back in float32.",
          "Which dtype does the docstring promise?",
          edit(_WIDE, f"x = x.float() if x.dtype == torch.float64 else x; {_WIDE}")),
    wrong("narrowed",
          "Vectors of float64 are normalised in float32, whose largest number is about 3e38.",
          "Which inputs should be normalised in `float32`?",
          edit(_WIDE, "wide = x.float()")),
    wrong("mean_removed",
          "You subtract the mean first: that is LayerNorm.",
          "Which of LayerNorm's two steps does RMSNorm leave out?",
          edit(_WIDE, f"{_WIDE}; wide = wide - wide.mean(-1, keepdim=True)")),
    wrong("standard_deviation",
          "You divide by the standard deviation, which is a root mean square only if the mean is zero.",
          "Does `std` subtract the mean?",
          edit(_SQUARE, "mean_square = wide.var(-1, keepdim=True, correction=0)")),
    wrong("sum_of_squares",
          "You divide by the length of the vector: the squares are summed, not averaged.",
          "How large is a typical entry of the result if `d_model` is 4096?",
          edit("wide.square().mean(", "wide.square().sum(")),
    wrong("no_root",
          "You divide by the mean square itself; its root is missing.",
          "What should happen to the result if x is multiplied by 10?",
          edit("torch.rsqrt(mean_square + self.eps)", "1 / (mean_square + self.eps)")),
    wrong("multiplied",
          "You multiply by the root mean square instead of dividing by it.",
          "Should large vectors become larger?",
          edit("torch.rsqrt(", "torch.sqrt(")),
    wrong("mean_of_absolutes",
          "You average absolute values, not squares.",
          "What does the S in RMS stand for?",
          edit("wide.square().mean(dim=-1, keepdim=True)", "wide.abs().mean(dim=-1, keepdim=True) ** 2")),
    wrong("over_positions",
          "You average over the positions, not over the components of a vector: positions see each other.",
          "Which dimension holds the `d_model` components of one vector?",
          edit("mean(dim=-1", "mean(dim=-2")),
    wrong("dimension_one",
          "You take the mean over dimension 1, whatever it holds.",
          "Which dimension holds the `d_model` components of one vector?",
          edit("mean(dim=-1", "mean(dim=1")),
    wrong("over_all",
          "You take one mean over several dimensions: vectors share their norm.",
          "How many root mean squares are there for `(B, L, d_model)`?",
          edit("mean(dim=-1, keepdim=True)", "mean()")),
    wrong("over_texts",
          "All vectors of a text share one norm: positions see each other.",
          "How many root mean squares are there for `(B, L, d_model)`?",
          edit("mean(dim=-1,", "mean(dim=(-2, -1),")),
    wrong("eps_outside",
          "You add eps to the root, not to the mean square.",
          "What is under the root in the formula?",
          edit("torch.rsqrt(mean_square + self.eps)", "1 / (mean_square.sqrt() + self.eps)")),
    wrong("eps_ignored",
          "The argument eps has no influence.",
          "What does your code do with `eps=0.1`?",
          edit("self.eps = eps", "self.eps = 1e-6")),
    wrong("no_eps",
          "`eps` has no influence: under the root, nothing is added, or only a guard against zero.",
          "What does your code do with `eps=0.1`?",
          edit("mean_square + self.eps", "mean_square")),
    wrong("only_against_zero",
          "eps has no influence except on vectors of zeros.",
          "What does your code do with `eps=0.1`?",
          edit("mean_square + self.eps", "mean_square.clamp(min=1e-8)")),
    wrong("no_weight",
          "The weight has no influence on the result.",
          "What is multiplied by `w` in the formula?",
          edit("(normed * self.weight)", "normed")),
    wrong("weight_added",
          "The weight is added; it should be multiplied.",
          "What should a weight of ones leave unchanged?",
          edit("normed * self.weight", "normed + self.weight")),
    wrong("weight_before_the_norm",
          "You multiply by the weight before normalising, so the norm removes part of its effect.",
          "Which comes first in the formula: the norm or the weight?",
          edit("float32))", "float32)) * self.weight", "(normed * self.weight)", "normed")),
    wrong("only_at_least_eps",
          "`F.normalize` divides by the norm, or by eps where that is larger; the formula adds eps to the mean square.",
          "What does your code do to a vector of norm 1 with `eps=0.1`?",
          edit(_NORMED, "normed = F.normalize(wide, dim=-1, eps=self.eps) * wide.size(-1) ** 0.5")),
    wrong("one_plus_weight",
          "You multiply by 1 + w, with a weight that starts as zeros; the formula multiplies by w.",
          "What is multiplied by `w` in the formula, and how does the weight start?",
          edit("torch.ones(d_model)", "torch.zeros(d_model)", "normed * self.weight", "normed * (1 + self.weight)")),
    wrong("starts_at_zero",
          "The weight does not start as ones.",
          "What should a new norm do, apart from normalising?",
          edit("torch.ones(d_model)", "torch.zeros(d_model)")),
    wrong("starts_drawn",
          "The weight does not start as ones, so a new norm distorts its input.",
          "What should a new norm do, apart from normalising?",
          edit("torch.ones(d_model)", "torch.full((d_model,), 0.5)")),
    wrong("bias",
          "There is a bias: RMSNorm has none.",
          "Which parameters does the formula have?",
          edit(_WEIGHT, f"{_WEIGHT}; self.bias = nn.Parameter(torch.zeros(d_model))",
               "normed * self.weight", "normed * self.weight + self.bias")),
    wrong("no_parameter",
          "The weight is not a parameter: no optimizer will find it.",
          "What makes a tensor of a module trainable?",
          edit("nn.Parameter(torch.ones(d_model))", "torch.ones(d_model)"), tests="parameter"),
    wrong("one_number",
          "The weight is a single number; each of the `d_model` components has its own.",
          "What shape does `w` have?",
          edit("torch.ones(d_model)", "torch.ones(1)")),
    wrong("in_half_precision",
          "The squares are computed in half precision, and overflow.",
          "What is 300 squared, and what is the largest number of `float16`?",
          edit(_WIDE, "wide = x"), tests="normalised"),
    wrong("too_late",
          "You convert to `float32` after the squares have already overflowed.",
          "Which intermediate result is too large for `float16`?",
          edit(_WIDE, "wide = x", _SQUARE, "mean_square = (x * x).float().mean(dim=-1, keepdim=True)")),
    wrong("stays_wide",
          "Vectors in half precision come back in float32.",
          "Which dtype does the next layer expect?",
          edit("(normed * self.weight).to(x.dtype)", "normed * self.weight"), tests="result"),
    wrong("in_place",
          "Your module modifies x, which the caller still needs.",
          "Where else is x used in `x + attention(norm(x))`?",
          edit(_WIDE, "x.mul_(torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.eps).to(x.dtype)); wide = x",
               _NORMED, "normed = wide")),
    wrong("no_gradient_through_the_norm",
          "The gradient does not pass through the root mean square.",
          "Does the root mean square depend on x? Which operation cuts off its gradient?",
          edit("wide.square()", "wide.detach().square()")),
    wrong("bfloat_as_it_is",
          "`float16` is normalised in `float32`, `bfloat16` is not.",
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
    right("upcast_twice",
          edit(_WIDE, "wide = x.double()", "normed * self.weight", "normed.to(self.weight.dtype) * self.weight")),
]

EXERCISE = Specification(
    target="RMSNorm",
    aspects={"form": 0.75},  # published ones return float32: a small slip
    contract=Contract(
        arguments="x: B L d", results="output: B L d", typed=True, on=("sequences",), ways=OF_MODULES, module=True,
        sizes=special(one_vector=_vectors(6), vectors_of_one_number=_vectors(3, 2, 1), equal_sizes=_vectors(4, 4, 4)),
    ),
    ready_made=("F.rms_norm", "transformer_course.since_2017.probes.bugs.normed"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
