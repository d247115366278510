"""Cases and mistakes for an exercise: SwiGLU, a feed-forward network with a gate."""

from __future__ import annotations

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_GATE = "gate = F.silu(self.w_gate(x))"
_DOWN = "self.w_down(gate * self.w_up(x))"
_WIDTH = "width = 2 * d_ff // 3"

CASES = [
    case("divisible", "d_ff = 12", sizes(batch=(3, 4), d_model=5, d_ff=12),
         "Apply silu to the gate only, then multiply component by component."),
    case("one_left", "d_ff = 10, which is not divisible by 3", sizes(batch=(2, 5), d_model=4, d_ff=10),
         "No more parameters than before: two thirds, rounded down."),
    case("two_left", "d_ff = 11, and a single vector", sizes(batch=(), d_model=3, d_ff=11),
         "No more parameters than before: two thirds, rounded down."),
    case("large", "large vectors", sizes(batch=(2, 3), d_model=4, d_ff=9, scale=200.0),
         "What is silu of 300, and which power of e does your code compute for it?", atol=0.5),
    case("wide", "d_ff = 1000, more dimensions", sizes(batch=(2, 3, 4), d_model=2, d_ff=1000),
         "Two thirds of 1000 are 666 and a bit; 0.667 times 1000 is more.", hidden_only=True),
]

MISTAKES = [
    wrong("silu_elsewhere",
          "The activation is not applied to the gate alone, but to `w_up`, to both, or to their product.",
          "Which of the two decides how much passes, and how often does silu occur in the formula?",
          edit(_GATE, "gate = self.w_gate(x)", "self.w_up(x))", "F.silu(self.w_up(x)))"),
          edit("gate * self.w_up(x)", "gate * F.silu(self.w_up(x))", name="silu_on_both"),
          edit(_GATE, "gate = self.w_gate(x)", "gate * self.w_up(x)", "F.silu(gate * self.w_up(x))",
               name="silu_of_the_product"),
          tests="applied"),
    wrong("no_activation", "There is no activation: the gate is used as it is.",
          "What is `silu` good for?",
          edit("F.silu(self.w_gate(x))", "self.w_gate(x)")),
    wrong("overflow", "A large gate becomes NaN: a power of e is too large for float32.",
          "Which way of writing the logistic function avoids this power?",
          edit(_GATE, "z = self.w_gate(x); gate = z * z.exp() / (1 + z.exp())")),
    wrong("other_gate",
          "The gate does not go through SiLU: a sigmoid makes it a plain GLU, GELU a GEGLU, and ReLU a ReGLU.",
          "What is the formula of silu, and which activation is the Swi in SwiGLU?",
          edit("F.silu(", "torch.sigmoid("),
          edit("F.silu(", "F.gelu(", name="gelu"),
          edit("F.silu(", "F.relu(", name="relu"),
          edit("F.silu(", "torch.tanh(", name="tanh")),
    wrong("added", "Gate and up are added; they should be multiplied.",
          "What does `⊙` mean?",
          edit("gate * self.w_up(x)", "gate + self.w_up(x)")),
    wrong("up_unused", "`w_gate` or `w_up` has no effect.",
          "Where are `w_gate` and `w_up` used?",
          edit("gate * self.w_up(x)", "gate * self.w_gate(x)"),
          edit("gate * self.w_up(x)", "gate", name="gate_only"),
          edit(_DOWN, "self.w_down(F.silu(self.w_up(x)))", name="gate_unused")),
    wrong("full_width", "Your hidden layer is as wide as the old one, so there are half as many parameters again.",
          "How many parameters do three matrices of `d_model × d_ff` have?",
          edit(_WIDTH, "width = d_ff")),
    wrong("too_wide", "Your width is too large: for some `d_ff`, there are more parameters than in the old network.",
          "Two thirds of 11 are 7.33, and two thirds of 1000 are 666.67. Which widths still fit, and which do you "
          "get?",
          edit(_WIDTH, "width = -(-2 * d_ff // 3)"),
          edit(_WIDTH, "width = round(2 * d_ff / 3)", name="rounded_to_nearest"),
          edit(_WIDTH, "width = -(-2 * d_ff // 3 // 32) * 32", name="multiple_of_32"),
          edit(_WIDTH, "width = -(-(2 * d_ff // 3) // 8) * 8", name="multiple_of_8"),
          edit(_WIDTH, "width = int(0.667 * d_ff)", name="more_than_two_thirds")),
    wrong("too_narrow", "Your hidden layer is too narrow: a larger width still fits.",
          "How many parameters does the old network have, and how many does yours have? What is `2 * (11 // 3)`?",
          edit(_WIDTH, "width = d_ff // 2"),
          edit(_WIDTH, "width = 2 * (d_ff // 3)", name="divided_first")),
    wrong("biases", "There are biases; this network has none.",
          "What is the default of `bias` in `nn.Linear`?",
          edit("self.w_gate = nn.Linear(d_model, width, bias=False)", "self.w_gate = nn.Linear(d_model, width)",
               "self.w_up = nn.Linear(d_model, width, bias=False)", "self.w_up = nn.Linear(d_model, width)",
               "self.w_down = nn.Linear(width, d_model, bias=False)", "self.w_down = nn.Linear(width, d_model)")),
    wrong("old_names", "The linear layers do not have the names in the contract.",
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
    wrong("residual", "x is added to the result; adding it is the block's job.",
          "Is there an `x +` in the formula?",
          edit(f"return {_DOWN}", f"return x + {_DOWN}")),
    wrong("dropout", "There is dropout: in training mode, the result is different.",
          "Do the layers of this unit have dropout?",
          edit(_DOWN, "self.w_down(F.dropout(gate * self.w_up(x), 0.1, self.training))")),
    wrong("tied_gate", "Gate and up are the same matrix.",
          "How many different matrices does the formula have?",
          edit("self.w_up = nn.Linear(d_model, width, bias=False)", "self.w_up = self.w_gate")),
    wrong("in_place", "Your module changes x.",
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
    tells={"large": "gelu"},
    target="SwiGLU", results="the output", contract=Contract(named=True),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
