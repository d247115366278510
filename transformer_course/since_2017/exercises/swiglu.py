"""A feed-forward network with a gate."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import swiglu_shapes, whole


def _network(d_ff: int, *shape: int, scale: float = 2.0) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        return whole(d_ff=d_ff) | draw.weights(**swiglu_shapes(shape[-1], d_ff)) | {
            "x": draw.tensor(*shape, scale=scale), "pull": draw.tensor(*shape, scale=1.0),
        }  # fmt: skip

    return make_inputs


_GATE = "gate = F.silu(self.w_gate(x))"
_DOWN = "self.w_down(gate * self.w_up(x))"
_WIDTH = "width = 2 * d_ff // 3"

CASES = [
    case("divisible", "d_ff = 12", _network(12, 3, 4, 5),
         "Apply silu to the gate only, then multiply component by component."),
    case("one_left", "d_ff = 10, which is not divisible by 3", _network(10, 2, 5, 4),
         "No more parameters than before: two thirds, rounded down."),
    case("two_left", "d_ff = 11", _network(11, 4, 2, 3),
         "No more parameters than before: two thirds, rounded down."),
    case("large", "large vectors", _network(9, 2, 3, 4, scale=200.0),
         "What is silu of 300, and which power of e does your code compute for it?", atol=0.5),
    case("wide", "d_ff = 1000, more dimensions", _network(1000, 2, 3, 4, 2),
         "Two thirds of 1000 are 666 and a bit; 0.667 times 1000 is more.", hidden_only=True),
]

MISTAKES = [
    wrong("silu_on_up",
          "The activation is applied to `w_up`, not to the gate.",
          "Which of the two decides how much passes?",
          edit(_GATE, "gate = self.w_gate(x)", "self.w_up(x))", "F.silu(self.w_up(x)))"), tests="applied"),
    wrong("silu_on_both",
          "The activation is applied to both projections; the output of `w_up` should have none.",
          "How often does silu occur in the formula?",
          edit("gate * self.w_up(x)", "gate * F.silu(self.w_up(x))")),
    wrong("no_activation",
          "There is no activation: the gate is used as it is.",
          "What is `silu` good for?",
          edit("F.silu(self.w_gate(x))", "self.w_gate(x)")),
    wrong("silu_of_the_product",
          "The activation comes after the product.",
          "Is it silu of the gate, or silu of gate times up?",
          edit(_GATE, "gate = self.w_gate(x)", "gate * self.w_up(x)", "F.silu(gate * self.w_up(x))")),
    wrong("overflow",
          "A large gate becomes NaN: a power of e is too large for float32.",
          "Which way of writing the logistic function avoids this power?",
          edit(_GATE, "z = self.w_gate(x); gate = z * z.exp() / (1 + z.exp())")),
    wrong("sigmoid",
          "Your gate is a sigmoid: that is the plain GLU.",
          "How do `σ(z)` and `silu(z)` differ?",
          edit("F.silu(", "torch.sigmoid(")),
    wrong("gelu",
          "Your gate is GELU: that is GEGLU, a relative of SwiGLU.",
          "Which activation is the Swi in SwiGLU?",
          edit("F.silu(", "F.gelu(")),
    wrong("relu",
          "Your gate is ReLU: that is ReGLU, a relative of SwiGLU.",
          "Which activation is the Swi in SwiGLU?",
          edit("F.silu(", "F.relu(")),
    wrong("tanh",
          "Your gate is tanh.",
          "What is the formula of silu?",
          edit("F.silu(", "torch.tanh(")),
    wrong("added",
          "Gate and up are added; they should be multiplied.",
          "What does `⊙` mean?",
          edit("gate * self.w_up(x)", "gate + self.w_up(x)")),
    wrong("gate_unused",
          "`w_gate` has no influence.",
          "Where is `w_gate` used?",
          edit(_DOWN, "self.w_down(F.silu(self.w_up(x)))")),
    wrong("up_unused",
          "`w_up` has no influence: you use the gate for both.",
          "Where is `w_up` used?",
          edit("gate * self.w_up(x)", "gate * self.w_gate(x)")),
    wrong("gate_only",
          "`w_up` has no influence: this is the old network, with silu.",
          "Where is `w_up` used?",
          edit("gate * self.w_up(x)", "gate")),
    wrong("full_width",
          "Your hidden layer is as wide as the old one, so there are half as many parameters again.",
          "How many parameters do three matrices of `d_model × d_ff` have?",
          edit(_WIDTH, "width = d_ff")),
    wrong("rounded_up",
          "Your width is rounded up: there are more parameters than in the old network.",
          "Two thirds of 11 are 7.33. Which width still fits?",
          edit(_WIDTH, "width = -(-2 * d_ff // 3)")),
    wrong("rounded_to_nearest",
          "Your width is rounded to the nearest integer, which can be one too many.",
          "Two thirds of 11 are 7.33, and two thirds of 13 are 8.67. Which widths still fit?",
          edit(_WIDTH, "width = round(2 * d_ff / 3)")),
    wrong("multiple_of_32",
          "You round the width up to a multiple (of 32, say), as LLaMA does, so there are more parameters than in the "
          "old network.",
          "Does the task ask for a multiple of anything?",
          edit(_WIDTH, "width = -(-2 * d_ff // 3 // 32) * 32")),
    wrong("more_than_two_thirds",
          "In large networks, your width is too large.",
          "Is the number that you multiply by two thirds, or a little more?",
          edit(_WIDTH, "width = int(0.667 * d_ff)")),
    wrong("half_as_wide",
          "Your hidden layer is too narrow: a larger width still fits.",
          "How many parameters does the old network have, and how many does yours have?",
          edit(_WIDTH, "width = d_ff // 2")),
    wrong("divided_first",
          "Your width is a little too small: you rounded before you multiplied.",
          "What is `2 * (11 // 3)`, and what is `2 * 11 // 3`?",
          edit(_WIDTH, "width = 2 * (d_ff // 3)")),
    wrong("biases",
          "There are biases; this network has none.",
          "What is the default of `bias` in `nn.Linear`?",
          edit("self.w_gate = nn.Linear(d_model, width, bias=False)", "self.w_gate = nn.Linear(d_model, width)",
               "self.w_up = nn.Linear(d_model, width, bias=False)", "self.w_up = nn.Linear(d_model, width)",
               "self.w_down = nn.Linear(width, d_model, bias=False)", "self.w_down = nn.Linear(width, d_model)")),
    wrong("old_names",
          "The linear layers do not have the names in the contract.",
          "What are the three layers called?",
          source("""
              class SwiGLU(nn.Module):
                  def __init__(self, d_model, d_ff):
                      super().__init__()
                      width = 2 * d_ff // 3
                      self.w1 = nn.Linear(d_model, width, bias=False)
                      self.w3 = nn.Linear(d_model, width, bias=False)
                      self.w2 = nn.Linear(width, d_model, bias=False)

                  def forward(self, x):
                      return self.w2(F.silu(self.w1(x)) * self.w3(x))
              """), tests="Submodules"),
    wrong("residual",
          "x is added to the result; adding it is the block's job.",
          "Is there an `x +` in the formula?",
          edit(f"return {_DOWN}", f"return x + {_DOWN}")),
    wrong("dropout",
          "There is dropout: in training mode, the result is different.",
          "Do the layers of this unit have dropout?",
          edit(_DOWN, "self.w_down(F.dropout(gate * self.w_up(x), 0.1, self.training))")),
    wrong("tied_gate",
          "Gate and up are the same matrix.",
          "How many different matrices does the formula have?",
          edit("self.w_up = nn.Linear(d_model, width, bias=False)", "self.w_up = self.w_gate")),
    wrong("in_place",
          "Your module changes x.",
          "Which operation of yours ends with an underscore or assigns into x?",
          edit(f"return {_DOWN}", f"return x.copy_({_DOWN})")),
]

ACCEPTED = [
    right("by_hand", source("""
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
        """)),
    right("one_product", source("""
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
        """)),
    right("other_order", edit("gate * self.w_up(x)", "torch.mul(self.w_up(x), gate)")),
]

EXERCISE = Specification(
    target="SwiGLU",
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("divisible",), ways=OF_MODULES, module=True,
        sizes=special(one_vector=_network(9, 4), one_position=_network(6, 2, 1, 5), equal_sizes=_network(6, 4, 4, 4)),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
