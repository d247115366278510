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
        name="through_logarithms",
        says="The weights are right, but their gradient is `nan` where a power is zero.",
        asks="What is the slope of the logarithm at zero?",
        ways=[Way(source="""
            def stable_softmax(x):
                powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                return (powers.log() - powers.sum(dim=-1, keepdim=True).log()).exp()
            """)],
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
        ways=[Way(edits=[
            Edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp()"),
        ])],
    ),
    Mutant(
        name="holes_get_a_little",
        says="An entry of `-inf` gets a small share, not none.",
        asks="What is `exp` of what you put in its place?",
        ways=[Way(edits=[
            Edit(POWERS,
                 "torch.nan_to_num(x - x.amax(dim=-1, keepdim=True), neginf=-25.0).exp()"),
        ])],
    ),
    Mutant(
        name="holes_by_a_number",
        says="You replace `-inf` by a number that is large and negative. There are rows "
        "below it.",
        asks="What is smaller than every number, and what does `exp` make of it?",
        ways=[
            Way(source="""
                def stable_softmax(x):
                    x = x.masked_fill(x == -math.inf, -1e9)
                    powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                    return powers / powers.sum(dim=-1, keepdim=True)
                """),
            Way(name="nan_to_num", source="""
                def stable_softmax(x):
                    x = torch.nan_to_num(x, neginf=-1e6)
                    powers = (x - x.amax(dim=-1, keepdim=True)).exp()
                    return powers / powers.sum(dim=-1, keepdim=True)
                """),
        ],
    ),
    Mutant(
        name="small_shares_cut_off",
        says="Exponents below a bound are cut off, so very small shares are too large.",
        asks="Can an exponent be too small for `exp`, and what comes out of it then?",
        ways=[Way(edits=[
            Edit(POWERS,
                 "(x - x.amax(dim=-1, keepdim=True)).clamp(min=-20).exp() * (x > -math.inf)"),
        ])],
    ),
    Mutant(
        name="in_float32",
        says="The weights come back in float32, whatever the type of `x` was.",
        asks="Which of your steps names a type?",
        ways=[
            Way(edits=[Edit(POWERS, "(x - x.amax(dim=-1, keepdim=True)).exp().float()")]),
            Way(name="at_the_beginning", edits=[
                Edit(POWERS, "(x.float() - x.float().amax(dim=-1, keepdim=True)).exp()"),
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
