"""A norm without a mean."""

from __future__ import annotations

import torch

from autograder.bank.since_2017._inputs import options
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
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


def _vectors(
    *shape: int, scale: float = 0.0, eps: float = 0.0, half: bool = False,
    far: bool = False, zeros: bool = False,
) -> Maker:  # fmt: skip
    """Vectors of a scale; without one, numbers so far from 0 that no usual eps shows."""

    def inputs(draw: Draw) -> Inputs:
        x = draw.tensor(*shape, scale=scale or 2.0)
        made = draw.weights(weight=(shape[-1],)) | {"x": x if scale else x + x.sign()}
        if zeros:
            made["x"][0, 0] = 0.0
        if half or far:
            return made | {"half" if half else "far": torch.tensor(True)}
        made["pull"] = draw.tensor(*shape, scale=1.0)
        return made | (options(eps=eps) if eps else {})

    return inputs


_NORMED = "normed = wide * torch.rsqrt(mean_square + self.eps)"
_WIDE = "wide = x.to(torch.promote_types(x.dtype, torch.float32))"
_SQUARE = "mean_square = wide.square().mean(dim=-1, keepdim=True)"
_WEIGHT = "self.weight = nn.Parameter(torch.ones(d_model))"

EXERCISE = Specification(
    name="since_2017/rms_norm",
    title="RMSNorm",
    target="RMSNorm",
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        typed=True,
        on=("sequences",),
        ways=OF_MODULES,
        module=True,
        sizes=special(
            one_vector=_vectors(6),
            vectors_of_one_number=_vectors(3, 2, 1),
            equal_sizes=_vectors(4, 4, 4),
        ),
    ),
    cases=[
        CaseKind(
            name="sequences",
            title="3 texts of 5 vectors",
            inputs=_vectors(3, 5, 7),
            hint="Divide each vector by the root of the mean of its squares.",
        ),
        CaseKind(
            name="large_eps",
            title="small vectors and a large eps",
            inputs=_vectors(2, 4, 6, scale=0.25, eps=0.125),
            hint="eps is an argument, and it is added to the mean square.",
        ),
        CaseKind(
            name="tiny",
            title="tiny vectors and one of zeros, and the eps that nobody names",
            inputs=_vectors(3, 4, 8, scale=1 / 256, zeros=True),
            hint="What is eps, if nobody says?",
        ),
        CaseKind(
            name="half",
            title="half precision, numbers up to 400",
            inputs=_vectors(2, 3, 8, scale=400.0, half=True),
            hint="400 squared is more than half precision can hold.",
            atol=2e-3, rtol=4e-3,
        ),
        CaseKind(
            name="far",
            title="float64, numbers of 10^24",
            inputs=_vectors(2, 4, 6, far=True),
            hint="Only what is narrower than float32 is made wider; nothing is made narrower.",
            aspect="form",
        ),
        CaseKind(
            name="deep",
            title="more dimensions in front",
            inputs=_vectors(4, 2, 3, 5, scale=8.0),
            hint="The last dimension is normalised, whatever stands in front of it.",
            hidden_only=True,
        ),
        CaseKind(
            name="half_small",
            title="half precision, numbers up to 2",
            inputs=_vectors(3, 2, 9, half=True),
            hint="The result has the dtype of x.",
            hidden_only=True, atol=2e-3, rtol=4e-3,
        ),
    ],
    mutants=[
        Mutant(
            name="other_eps",
            says="The eps that you take if nobody names one is larger than 1e-6.",
            asks="What does the signature say about `eps`?",
            ways=[Way(edits=[Edit("eps: float = 1e-6", "eps: float = 1e-5")])],
        ),
        Mutant(
            name="zeros_without_eps",
            says="A vector of zeros becomes `nan`.",
            asks="What is $0 / 0$, and which number of the formula prevents it?",
            ways=[Way(edits=[Edit("+ self.eps", "+ self.eps * (mean_square > 0)")])],
        ),
        Mutant(
            name="no_eps_by_default",
            says="If nobody names an eps, you take hardly any.",
            asks="What does the signature say about `eps`?",
            ways=[Way(edits=[Edit("eps: float = 1e-6", "eps: float = 1e-8")])],
        ),
        Mutant(
            name="always_float32",
            says="Vectors of float64 come back in float32.",
            asks="Which dtype has the result, by the docstring?",
            ways=[Way(edits=[Edit(_WIDE, f"x = x.float() if x.dtype == torch.float64 else x; {_WIDE}")])],
        ),
        Mutant(
            name="narrowed",
            says="Vectors of float64 are normalised in float32, whose numbers end at 3e38.",
            asks="Which inputs are to be normalised in `float32`?",
            ways=[Way(edits=[Edit(_WIDE, "wide = x.float()")])],
        ),
        Mutant(
            name="mean_removed",
            says="You take the mean away first: that is LayerNorm.",
            asks="Which of LayerNorm's two steps does RMSNorm leave out?",
            ways=[
                Way(edits=[Edit(_WIDE, f"{_WIDE}; wide = wide - wide.mean(-1, keepdim=True)")]),
                Way(name="layer_norm", edits=[
                    Edit(_NORMED, "normed = F.layer_norm(wide, wide.shape[-1:], eps=self.eps)")]),
            ],
        ),
        Mutant(
            name="standard_deviation",
            says="You divide by the standard deviation, which is a root mean square only "
            "if the mean is zero.",
            asks="Is the mean taken away inside `std`?",
            ways=[
                Way(edits=[Edit(_SQUARE, "mean_square = wide.var(-1, keepdim=True, correction=0)")]),
            ],
        ),
        Mutant(
            name="sum_of_squares",
            says="You divide by the length of the vector: the squares are summed, not averaged.",
            asks="How large is a number of the result, on average, if `d_model` is 4096?",
            ways=[
                Way(edits=[Edit("wide.square().mean(", "wide.square().sum(")]),
                Way(name="by_norm", edits=[
                    Edit(_SQUARE, "mean_square = wide.norm(dim=-1, keepdim=True) ** 2")]),
            ],
        ),
        Mutant(
            name="no_root",
            says="You divide by the mean square itself; its root is missing.",
            asks="What should happen to the result if x is multiplied by 10?",
            ways=[Way(edits=[Edit("torch.rsqrt(mean_square + self.eps)", "1 / (mean_square + self.eps)")])],
        ),
        Mutant(
            name="multiplied",
            says="You multiply by the root mean square instead of dividing by it.",
            asks="Should large vectors become larger?",
            ways=[Way(edits=[Edit("torch.rsqrt(", "torch.sqrt(")])],
        ),
        Mutant(
            name="mean_of_absolutes",
            says="You average absolute values, not squares.",
            asks="What does the S in RMS stand for?",
            ways=[Way(edits=[
                Edit("wide.square().mean(dim=-1, keepdim=True)", "wide.abs().mean(dim=-1, keepdim=True) ** 2")])],
        ),
        Mutant(
            name="over_positions",
            says="You average over the positions, not over the numbers of a vector: "
            "positions see each other.",
            asks="Which dimension holds the `d_model` numbers of one vector?",
            ways=[
                Way(edits=[Edit("mean(dim=-1", "mean(dim=-2")]),
            ],
        ),
        Mutant(
            name="dimension_one",
            says="You take the mean over dimension 1, whatever it holds.",
            asks="Which dimension holds the `d_model` numbers of one vector?",
            ways=[Way(edits=[Edit("mean(dim=-1", "mean(dim=1")])],
        ),
        Mutant(
            name="over_all",
            says="You take one mean over several dimensions: vectors share their norm.",
            asks="How many root mean squares are there for `(B, L, d_model)`?",
            ways=[
                Way(edits=[Edit("mean(dim=-1, keepdim=True)", "mean()")]),
            ],
        ),
        Mutant(
            name="over_texts",
            says="All vectors of a text share one norm: positions see each other.",
            asks="How many root mean squares are there for `(B, L, d_model)`?",
            ways=[Way(edits=[Edit("mean(dim=-1,", "mean(dim=(-2, -1),")])],
        ),
        Mutant(
            name="eps_outside",
            says="You add eps to the root, not to the mean square.",
            asks="What stands under the root in the formula?",
            ways=[
                Way(edits=[Edit("torch.rsqrt(mean_square + self.eps)", "1 / (mean_square.sqrt() + self.eps)")]),
            ],
        ),
        Mutant(
            name="eps_ignored",
            says="The argument eps has no influence.",
            asks="What does your code do with `eps=0.1`?",
            ways=[
                Way(edits=[Edit("self.eps = eps", "self.eps = 1e-6")]),
            ],
        ),
        Mutant(
            name="no_eps",
            says="`eps` has no influence: nothing, or only a guard against zero, stands under the root.",
            asks="What does your code do with `eps=0.1`?",
            ways=[
                Way(edits=[Edit("mean_square + self.eps", "mean_square")]),
            ],
        ),
        Mutant(
            name="only_against_zero",
            says="eps has no influence, but on vectors of zeros.",
            asks="What does your code do with `eps=0.1`?",
            ways=[Way(edits=[Edit("mean_square + self.eps", "mean_square.clamp(min=1e-8)")])],
        ),
        Mutant(
            name="pytorchs_own",
            says="You call PyTorch's own RMSNorm; it is what you are to write.",
            asks="Which two names does the text rule out?",
            ways=[
                Way(edits=[
                    Edit(_NORMED, "normed = F.rms_norm(wide, wide.shape[-1:], eps=self.eps)"),
                ]),
                Way(name="pytorchs_function", edits=[
                    Edit(_NORMED, "normed = torch.rms_norm(wide, wide.shape[-1:], eps=self.eps)"),
                ]),
            ],
        ),
        Mutant(
            name="no_weight",
            says="The weight has no influence on the result.",
            asks="What is $w$ in the formula multiplied with?",
            ways=[Way(edits=[Edit("(normed * self.weight)", "normed")])],
        ),
        Mutant(
            name="weight_added",
            says="The weight is added; it should be multiplied.",
            asks="What does a weight of ones leave as it is?",
            ways=[Way(edits=[Edit("normed * self.weight", "normed + self.weight")])],
        ),
        Mutant(
            name="weight_before_the_norm",
            says="The weight is multiplied before the norm is taken, so the norm takes part "
            "of it away again.",
            asks="In which order do norm and weight stand in the formula?",
            ways=[Way(edits=[
                Edit("float32))", "float32)) * self.weight"),
                Edit("(normed * self.weight)", "normed")])],
        ),
        Mutant(
            name="starts_at_zero",
            says="The weight does not start as ones.",
            asks="What should a fresh norm do, apart from normalising?",
            ways=[
                Way(edits=[Edit("torch.ones(d_model)", "torch.zeros(d_model)")]),
            ],
        ),
        Mutant(
            name="starts_drawn",
            says="The weight starts with random numbers, so that a fresh norm distorts.",
            asks="What should a fresh norm do, apart from normalising?",
            ways=[Way(edits=[Edit("torch.ones(d_model)", "torch.full((d_model,), 0.5)")])],
        ),
        Mutant(
            name="bias",
            says="There is a bias: RMSNorm has none.",
            asks="Which parameters does the formula have?",
            ways=[Way(edits=[
                Edit(_WEIGHT, f"{_WEIGHT}; self.bias = nn.Parameter(torch.zeros(d_model))"),
                Edit("normed * self.weight", "normed * self.weight + self.bias")])],
        ),
        Mutant(
            name="no_parameter",
            says="The weight is no parameter: no optimizer will find it.",
            asks="What makes a tensor of a module trainable?",
            ways=[
                Way(edits=[Edit("nn.Parameter(torch.ones(d_model))", "torch.ones(d_model)")]),
                Way(name="buffer", edits=[Edit(_WEIGHT, 'self.register_buffer("weight", torch.ones(d_model))')]),
            ],
        ),
        Mutant(
            name="one_number",
            says="The weight is one number; each of the `d_model` places has its own.",
            asks="Of which shape is $w$?",
            ways=[Way(edits=[Edit("torch.ones(d_model)", "torch.ones(1)")])],
        ),
        Mutant(
            name="in_half_precision",
            says="The squares are computed in half precision, and overflow.",
            asks="What is 300 squared, and what is the largest number of `float16`?",
            ways=[Way(edits=[Edit(_WIDE, "wide = x")])],
        ),
        Mutant(
            name="too_late",
            says="The squares become `float32` when they have overflowed already.",
            asks="Which is the first number that `float16` cannot hold?",
            ways=[Way(edits=[
                Edit(_WIDE, "wide = x"),
                Edit(_SQUARE, "mean_square = (x * x).float().mean(dim=-1, keepdim=True)")])],
        ),
        Mutant(
            name="stays_wide",
            says="The result is in float32 whatever x was.",
            asks="Which dtype does the next layer expect?",
            ways=[Way(edits=[Edit("(normed * self.weight).to(x.dtype)", "normed * self.weight")])],
        ),
        Mutant(
            name="in_place",
            says="Your module changes x, which others still need.",
            asks="Who else reads x in `x + attention(norm(x))`?",
            ways=[Way(edits=[
                Edit(_WIDE, "x.mul_(torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.eps).to(x.dtype)); wide = x"),
                Edit(_NORMED, "normed = wide")])],
        ),
        Mutant(
            name="no_gradient_through_the_norm",
            says="The gradient does not pass through the root mean square.",
            asks="Does the root mean square depend on x? Who has cut it off?",
            ways=[Way(edits=[Edit("wide.square()", "wide.detach().square()")])],
        ),
        Mutant(
            name="only_in_training",
            says="In training mode your module does something else than in evaluation mode.",
            asks="Does the formula know a mode?",
            ways=[Way(edits=[
                Edit("normed * self.weight", "F.dropout(normed, 0.1, self.training) * self.weight")])],
        ),
        Mutant(
            name="bfloat_as_it_is",
            says="`float16` is normalised in `float32`, `bfloat16` is not.",
            asks="How many digits has a `bfloat16`?",
            ways=[Way(edits=[
                Edit(_WIDE, "wide = x.float() if x.dtype == torch.float16 else x"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="by_hand", source="""
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
            """),
        Accepted(name="by_length", source="""
            class RMSNorm(nn.Module):
                def __init__(self, d_model, eps=1e-6):
                    super().__init__()
                    self.weight, self.eps = nn.Parameter(torch.ones((d_model,))), eps

                def forward(self, x):
                    wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
                    mean_square = torch.einsum("...d,...d->...", wide, wide) / x.shape[-1]
                    return torch.mul(wide / (mean_square[..., None] + self.eps) ** 0.5, self.weight).type_as(x)
            """),
        Accepted(name="upcast_twice", edits=[
            Edit(_WIDE, "wide = x.double()"),
            Edit("normed * self.weight", "normed.to(self.weight.dtype) * self.weight")]),
    ],
)
