"""A feed-forward network with a gate."""

from __future__ import annotations

from autograder.bank.since_2017._inputs import whole
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


def _network(d_ff: int, *shape: int, scale: float = 2.0) -> Maker:
    width, d_model = 2 * d_ff // 3, shape[-1]

    def inputs(draw: Draw) -> Inputs:
        shapes = {
            "w_gate.weight": (width, d_model),
            "w_up.weight": (width, d_model),
            "w_down.weight": (d_model, width),
        }
        return whole(d_ff=d_ff) | draw.weights(**shapes) | {
            "x": draw.tensor(*shape, scale=scale), "pull": draw.tensor(*shape, scale=1.0),
        }  # fmt: skip

    return inputs


_GATE = "gate = F.silu(self.w_gate(x))"
_DOWN = "self.w_down(gate * self.w_up(x))"
_WIDTH = "width = 2 * d_ff // 3"

EXERCISE = Specification(
    name="since_2017/swiglu",
    title="SwiGLU",
    target="SwiGLU",
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        on=("divisible",),
        ways=OF_MODULES,
        module=True,
        sizes=special(
            one_vector=_network(9, 4),
            one_position=_network(6, 2, 1, 5),
            equal_sizes=_network(6, 4, 4, 4),
        ),
    ),
    cases=[
        CaseKind(
            name="divisible",
            title="d_ff = 12",
            inputs=_network(12, 3, 4, 5),
            hint="silu on the gate only, then number by number.",
        ),
        CaseKind(
            name="one_left",
            title="d_ff = 10, which 3 does not divide",
            inputs=_network(10, 2, 5, 4),
            hint="Not more weights than before: two thirds, rounded down.",
        ),
        CaseKind(
            name="two_left",
            title="d_ff = 11",
            inputs=_network(11, 4, 2, 3),
            hint="Not more weights than before: two thirds, rounded down.",
        ),
        CaseKind(
            name="large",
            title="large vectors",
            inputs=_network(9, 2, 3, 4, scale=200.0),
            hint="What is silu of 300, and which power of e did you take on the way?",
            atol=0.5,
        ),
        CaseKind(
            name="wide",
            title="d_ff = 1000, more dimensions",
            inputs=_network(1000, 2, 3, 4, 2),
            hint="Two thirds of 1000 are 666 and a bit; 0.667 times 1000 is more.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="silu_on_up",
            says="The activation stands on `w_up`, not on the gate.",
            asks="Which of the two decides how much passes?",
            ways=[Way(edits=[
                Edit(_GATE, "gate = self.w_gate(x)"), Edit("self.w_up(x))", "F.silu(self.w_up(x)))")])],
        ),
        Mutant(
            name="silu_on_both",
            says="The activation stands on both; `w_up` has none.",
            asks="How often does silu occur in the formula?",
            ways=[Way(edits=[Edit("gate * self.w_up(x)", "gate * F.silu(self.w_up(x))")])],
        ),
        Mutant(
            name="no_activation",
            says="There is no activation: the gate passes as it is.",
            asks="What is $\\operatorname{silu}$ good for?",
            ways=[Way(edits=[Edit("F.silu(self.w_gate(x))", "self.w_gate(x)")])],
        ),
        Mutant(
            name="silu_of_the_product",
            says="The activation comes after the product.",
            asks="Is it silu of the gate, or silu of gate times up?",
            ways=[Way(edits=[
                Edit(_GATE, "gate = self.w_gate(x)"), Edit("gate * self.w_up(x)", "F.silu(gate * self.w_up(x))")])],
        ),
        Mutant(
            name="overflow",
            says="A large gate becomes NaN: a power of e is too large for float32.",
            asks="Which way to write the logistic function has no such power?",
            ways=[Way(edits=[
                Edit(_GATE, "z = self.w_gate(x); gate = z * z.exp() / (1 + z.exp())"),
            ])],
        ),
        Mutant(
            name="sigmoid",
            says="Your gate is a sigmoid: that is the plain GLU.",
            asks="How do $\\sigma(z)$ and $\\operatorname{silu}(z)$ differ?",
            ways=[Way(edits=[Edit("F.silu(", "torch.sigmoid(")])],
        ),
        Mutant(
            name="gelu",
            says="Your gate is GELU: that is GEGLU, a cousin.",
            asks="Which function does Swi stand for?",
            ways=[
                Way(edits=[Edit("F.silu(", "F.gelu(")]),
            ],
        ),
        Mutant(
            name="relu",
            says="Your gate is ReLU: that is ReGLU, a cousin.",
            asks="Which function does Swi stand for?",
            ways=[Way(edits=[Edit("F.silu(", "F.relu(")])],
        ),
        Mutant(
            name="tanh",
            says="Your gate is tanh.",
            asks="What is the formula of silu?",
            ways=[Way(edits=[Edit("F.silu(", "torch.tanh(")])],
        ),
        Mutant(
            name="added",
            says="Gate and up are added; they should be multiplied.",
            asks="What does $\\odot$ mean?",
            ways=[Way(edits=[Edit("gate * self.w_up(x)", "gate + self.w_up(x)")])],
        ),
        Mutant(
            name="gate_unused",
            says="The gate has no influence.",
            asks="Where is `w_gate` used?",
            ways=[
                Way(edits=[Edit(_DOWN, "self.w_down(F.silu(self.w_up(x)))")]),
            ],
        ),
        Mutant(
            name="up_unused",
            says="`w_up` has no influence: the gate stands for both.",
            asks="Where is `w_up` used?",
            ways=[
                Way(edits=[Edit("gate * self.w_up(x)", "gate * self.w_gate(x)")]),
            ],
        ),
        Mutant(
            name="gate_only",
            says="`w_up` has no influence: this is the old network, with silu.",
            asks="Where is `w_up` used?",
            ways=[Way(edits=[Edit("gate * self.w_up(x)", "gate")])],
        ),
        Mutant(
            name="full_width",
            says="Your hidden layer is as wide as the old one: there are half as many weights "
            "again.",
            asks="How many weights have three matrices of `d_model × d_ff`?",
            ways=[Way(edits=[Edit(_WIDTH, "width = d_ff")])],
        ),
        Mutant(
            name="rounded_up",
            says="Your width is rounded up or to the nearest: there are more weights than in the old "
            "network.",
            asks="Two thirds of 11 are 7.33. Which width still fits?",
            ways=[
                Way(edits=[Edit(_WIDTH, "width = -(-2 * d_ff // 3)")]),
            ],
        ),
        Mutant(
            name="more_than_two_thirds",
            says="In large networks, your width is too large.",
            asks="Is the number that you multiply by two thirds, or a little more?",
            ways=[Way(edits=[Edit(_WIDTH, "width = int(0.667 * d_ff)")])],
        ),
        Mutant(
            name="half_as_wide",
            says="Your hidden layer is too narrow: there are fewer weights than there may be.",
            asks="With how many weights does the old network work, and with how many yours?",
            ways=[
                Way(edits=[Edit(_WIDTH, "width = d_ff // 2")]),
            ],
        ),
        Mutant(
            name="divided_first",
            says="Your width is a little too small: you rounded before you multiplied.",
            asks="What is `2 * (11 // 3)`, and what is `2 * 11 // 3`?",
            ways=[Way(edits=[Edit(_WIDTH, "width = 2 * (d_ff // 3)")])],
        ),
        Mutant(
            name="biases",
            says="There are biases; this network has none.",
            asks="What is the default of `bias` in `nn.Linear`?",
            ways=[Way(edits=[
                Edit("self.w_gate = nn.Linear(d_model, width, bias=False)", "self.w_gate = nn.Linear(d_model, width)"),
                Edit("self.w_up = nn.Linear(d_model, width, bias=False)", "self.w_up = nn.Linear(d_model, width)"),
                Edit("self.w_down = nn.Linear(width, d_model, bias=False)", "self.w_down = nn.Linear(width, d_model)")])],
        ),
        Mutant(
            name="old_names",
            says="The linear layers have other names than asked for.",
            asks="What are the three layers called?",
            ways=[Way(source="""
                class SwiGLU(nn.Module):
                    def __init__(self, d_model, d_ff):
                        super().__init__()
                        width = 2 * d_ff // 3
                        self.w1 = nn.Linear(d_model, width, bias=False)
                        self.w3 = nn.Linear(d_model, width, bias=False)
                        self.w2 = nn.Linear(width, d_model, bias=False)

                    def forward(self, x):
                        return self.w2(F.silu(self.w1(x)) * self.w3(x))
                """)],
        ),
        Mutant(
            name="residual",
            says="x is added to the result; that is the block's business.",
            asks="Is there an $x +$ in the formula?",
            ways=[Way(edits=[Edit(f"return {_DOWN}", f"return x + {_DOWN}")])],
        ),
        Mutant(
            name="dropout",
            says="There is dropout: in training mode the result is another.",
            asks="Do the layers of this unit have dropout?",
            ways=[Way(edits=[Edit(_DOWN, "self.w_down(F.dropout(gate * self.w_up(x), 0.1, self.training))")])],
        ),
        Mutant(
            name="tied_gate",
            says="Gate and up are the same matrix.",
            asks="How many different matrices does the formula have?",
            ways=[Way(edits=[
                Edit("self.w_up = nn.Linear(d_model, width, bias=False)", "self.w_up = self.w_gate")])],
        ),
        Mutant(
            name="in_place",
            says="Your module changes x.",
            asks="Which operation of yours ends with an underscore or assigns into x?",
            ways=[Way(edits=[Edit(f"return {_DOWN}", f"return x.copy_({_DOWN})")])],
        ),
    ],
    accepted=[
        Accepted(name="by_hand", source="""
            class SwiGLU(nn.Module):
                def __init__(self, d_model, d_ff):
                    super().__init__()
                    n = int(d_ff * 2 / 3)
                    self.w_down = nn.Linear(n, d_model, False)
                    self.w_up = nn.Linear(d_model, n, False)
                    self.w_gate = nn.Linear(d_model, n, False)

                def forward(self, x):
                    z = self.w_gate(x)
                    return self.w_down(z * torch.sigmoid(z) * self.w_up(x))
            """),
        Accepted(name="one_product", source="""
            class SwiGLU(nn.Module):
                def __init__(self, d_model, d_ff):
                    super().__init__()
                    width = (2 * d_model * d_ff) // (3 * d_model)
                    for name, sizes in (("w_gate", (d_model, width)), ("w_up", (d_model, width)),
                                        ("w_down", (width, d_model))):
                        setattr(self, name, nn.Linear(*sizes, bias=False))
                    self.act = nn.SiLU()

                def forward(self, x):
                    both = F.linear(x, torch.cat((self.w_gate.weight, self.w_up.weight)))
                    gate, up = both.chunk(2, dim=-1)
                    return self.w_down(self.act(gate) * up)
            """),
        Accepted(name="other_order", edits=[Edit("gate * self.w_up(x)", "torch.mul(self.w_up(x), gate)")]),
    ],
)
