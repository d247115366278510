"""Mistakes in what comes back, and in what is changed on the way."""

from __future__ import annotations

from autograder.bank.attention._softmax.lines import POWERS
from autograder.oracle.specification import Edit, Mutant, Way

RESULTS = [
    Mutant(
        name="in_place",
        says="The weights are right, but `x` itself was changed on the way.",
        asks="What is the difference between `x = x - m` and `x -= m`?",
        ways=[Way(source="""
            def stable_softmax(x):
                x -= x.amax(dim=-1, keepdim=True)
                powers = x.exp()
                return powers / powers.sum(dim=-1, keepdim=True)
            """)],
    ),
    Mutant(
        name="in_place_all",
        says="You worked in place: `x` itself now holds the weights, and the "
        "scores are lost.",
        asks="Which of your calls end in an underscore?",
        ways=[Way(source="""
            def stable_softmax(x):
                x.sub_(x.amax(dim=-1, keepdim=True)).exp_()
                return x.div_(x.sum(dim=-1, keepdim=True))
            """)],
    ),
    Mutant(
        name="no_gradient",
        says="The weights are right, but no gradient comes back: the way to `x` "
        "was cut, by `detach`, `no_grad`, `item` or numpy.",
        asks="Could a network learn through this function?",
        ways=[
            Way(edits=[
                Edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).detach().exp()"),
            ]),
            Way(name="numpy", source="""
                def stable_softmax(x):
                    a = x.detach().numpy()
                    powers = (torch.from_numpy(a - a.max(axis=-1, keepdims=True))).exp()
                    return powers / powers.sum(dim=-1, keepdim=True)
                """),
        ],
    ),
    Mutant(
        name="double",
        says="The numbers are right, but they come back as float64: the type "
        "changed on the way.",
        asks="Which of your calls changes the type? Is more precision a cure for "
        "overflow?",
        ways=[Way(edits=[Edit("x - x.amax", "x.double() - x.amax")])],
    ),
    Mutant(
        name="pytorchs_own",
        says="You called PyTorch's own softmax. Here you open the box: `exp`, `sum` "
        "and a good choice of the constant.",
        asks="Which three steps does the formula have?",
        ways=[
            Way(source="""
                def stable_softmax(x):
                    return torch.softmax(x, dim=-1)
                """),
            Way(name="pytorchs_method", source="""
                def stable_softmax(x):
                    return x.softmax(-1)
                """),
            Way(name="pytorchs_logarithm", source="""
                def stable_softmax(x):
                    return F.log_softmax(x, dim=-1).exp()
                """),
        ],
    ),
    Mutant(
        name="exponents_cut_off",
        says="Small exponents are cut off, so an entry of `-inf` still gets a share.",
        asks="What is `exp` of the smallest exponent that you let through?",
        ways=[
            Way(edits=[
                Edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp()"),
            ]),
            Way(name="holes_filled", edits=[
                Edit(POWERS,
                     "torch.nan_to_num(x - x.amax(dim=-1, keepdim=True), neginf=-25.0).exp()"),
            ]),
        ],
    ),
    Mutant(
        name="one_constant_for_each_matrix",
        says="You subtract one number for each matrix. Its rows may lie far apart, "
        "too.",
        asks="Over which dimension do you look for the largest number?",
        ways=[Way(edits=[
            Edit(POWERS,
                 "(x - x.flatten(-2).amax(-1)[..., None, None]).exp()"),
        ])],
    ),
]
