"""Cases and mistakes for an exercise: a linear layer with a low-rank update."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification


def _draw_layer(
    d_in: int, d_out: int, rank: int, alpha: float, *batch: int, bias: bool = True
) -> Callable[[Draw], Inputs]:
    """Make a function that draws a linear layer, its low-rank update and an input (*batch, d_in)."""

    def make_inputs(draw: Draw) -> Inputs:
        inputs = {
            "weight": draw.tensor(d_out, d_in, scale=1.0), "a": draw.tensor(rank, d_in, scale=1.0),
            "b": draw.tensor(d_out, rank, scale=1.0), "x": draw.tensor(*batch, d_in, scale=1.0),
            "rank": torch.tensor(rank), "alpha": torch.tensor(alpha),
        }
        return inputs | ({"bias": draw.tensor(d_out, scale=1.0)} if bias else {})

    return make_inputs


_FROZEN = "self.base = base.requires_grad_(False)"
_A = "self.a = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))"
_B = "self.b = nn.Parameter(torch.zeros(d_out, rank))"
_SCALE = "self.scale = alpha / rank"
_CHANGE = "change = x @ self.a.T @ self.b.T"
_RESULT = "return self.base(x) + self.scale * change"
_COPY = "layer = copy.deepcopy(self.base)"
_MERGE = "layer.weight += self.scale * self.b @ self.a"

CASES = [
    case("plain", "a layer from 6 to 4 features, rank 2", _draw_layer(6, 4, 2, 16.0, 5),
         "Before training the result is the layer's own; afterwards the scaled change is added.", atol=1e-4),
    case("no_bias", "rank 3 and alpha 1.5, without a bias", _draw_layer(5, 7, 3, 1.5, 2, 4, bias=False),
         "`alpha / rank` is the factor of the update.", atol=1e-4),
    case("square", "as many features out as in, rank 1", _draw_layer(5, 5, 1, 8.0, 3),
         "Which of the two matrices is applied first?", atol=1e-4),
    case("leading", "a batch of texts with heads", _draw_layer(4, 6, 3, 12.0, 2, 3, 5),
         "Any number of leading dimensions.", hidden_only=True, atol=1e-4, tests="leading"),
    case("large_rank", "a rank that is larger than the features", _draw_layer(3, 2, 5, 10.0, 4, bias=False),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("both_at_zero", "Both `a` and `b` start at zero, so both gradients are zero and nothing is ever learnt.",
          "What is the gradient of `b` if `a` is zero, and the other way round?",
          edit("torch.randn(rank, d_in)", "torch.zeros(rank, d_in)"), tests="starts with"),
    wrong("b_at_random", "`b` does not start at zero: the model changes before it has learnt anything.",
          "What must `b @ a` be at the start?",
          edit("torch.zeros(d_out, rank)", "torch.randn(d_out, rank)"), tests="starts with"),
    wrong("exchanged_starts", "The starting values are swapped: `a` starts with zeros and `b` with random entries.",
          "Which of the two matrices starts at zero in the contract?",
          edit("torch.randn(rank, d_in)", "torch.zeros(rank, d_in)",
               "torch.zeros(d_out, rank)", "torch.randn(d_out, rank)"), tests="starts with"),
    wrong("equal_entries", "All entries of `a` start with the same value, so that all its rows learn the same.",
          "What rank does `b @ a` have if all rows of `a` are equal?",
          edit("torch.randn(rank, d_in)", "torch.ones(rank, d_in)"), tests="starts with"),
    wrong("base_trained", "The layer's own weight or bias is trained as well; both should be frozen.",
          "Which parameters would an optimizer that looks at `requires_grad` change?",
          edit(_FROZEN, "self.base = base"),
          edit(_FROZEN, "self.base = base; base.weight.requires_grad_(False)", name="bias_trained"),
          tests="do not require"),
    wrong("change_not_trained", "`a` or `b` is not a trainable parameter of your module.",
          "Which tensors does `nn.Module` list as its parameters?",
          edit(_A, "self.register_buffer('a', torch.randn(rank, d_in) / math.sqrt(d_in))"),
          edit(_B, "self.b = nn.Parameter(torch.zeros(d_out, rank), requires_grad=False)", name="b_frozen"),
          edit(_RESULT, "self.requires_grad_(False); return self.base(x) + self.scale * change", name="all_frozen"),
          tests="The parameters"),
    wrong("base_copied", "`base` is a copy of the layer, which takes twice the memory and no longer follows the model.",
          "Does `copy.deepcopy` in `__init__` help anybody?",
          edit(_FROZEN, "self.base = copy.deepcopy(base).requires_grad_(False)"),
          edit(_FROZEN, "self.base = nn.Linear(d_in, d_out, base.bias is not None); "
               "self.base.load_state_dict(base.state_dict()); self.base.requires_grad_(False); "
               "base.requires_grad_(False)", name="a_new_layer"),
          tests="the layer itself"),
    wrong("not_scaled", "The change is not multiplied by `alpha / rank`.",
          "By which factor does the formula multiply `B A x`?",
          edit(_SCALE, "self.scale = 1.0"),
          edit(_SCALE, "self.scale = alpha", name="alpha_alone"),
          edit(_SCALE, "self.scale = 1 / rank", name="rank_alone"),
          tests="multiplied"),
    wrong("other_scale", "Your factor is not `alpha / rank`: it is inverted, or the root of the rank as in rsLoRA.",
          "For rank 8 and alpha 16, what is the factor?",
          edit(_SCALE, "self.scale = rank / alpha"),
          edit(_SCALE, "self.scale = alpha / math.sqrt(rank)", name="root_of_the_rank"),
          edit(_SCALE, "self.scale = alpha // rank", name="whole_number"),
          tests="multiplied"),
    wrong("base_left_out", "The layer's own output is missing from the result.",
          "What does the formula add to `B A x`?",
          edit(_RESULT, "return self.scale * change")),
    wrong("base_scaled", "The layer's own output is scaled as well; only the update should be.",
          "What would the model compute before its first step?",
          edit(_RESULT, "return self.scale * (self.base(x) + change)")),
    wrong("weights_merged_in_forward",
          "`forward` adds the update to `base.weight` in place, so that every call adds it once more.",
          "What is `base.weight` after two calls?",
          edit(_RESULT, """
              with torch.no_grad():
                  self.base.weight += self.scale * self.b @ self.a
              return self.base(x) + 0 * change
              """)),
    wrong("bias_added_twice", "The bias is added twice.",
          "Which of your lines already adds the bias?",
          edit(_RESULT, "extra = 0 if self.base.bias is None else self.base.bias; "
               "return self.base(x) + self.scale * change + extra")),
    wrong("activation_between",
          "There is an activation between `a` and `b`; with it, the update can no longer be merged into a matrix.",
          "Is `B relu(A x)` linear in `x`?",
          edit(_CHANGE, "change = (x @ self.a.T).relu() @ self.b.T")),
    wrong("merged_without_scale", "`merged` does not multiply the update by `alpha / rank`, or leaves it out.",
          "Do `forward` and the merged layer give the same?",
          edit(_MERGE, "layer.weight += self.b @ self.a"),
          edit(_MERGE, "pass", name="merged_without_change"), tests="returns a new"),
    wrong("merged_in_place", "`merged` changes or returns `base`: after a second call, the update is in it twice.",
          "Is `layer` a new layer, or `base` under another name?",
          edit(_COPY, "layer = self.base"), tests="leaves"),
    wrong("merged_bias", "The merged layer's bias is missing, or is not the one of `base`.",
          "Which two parameters does an `nn.Linear` have?",
          edit(_COPY, "layer = nn.Linear(*self.base.weight.T.shape, bias=False); "
                      "layer.weight.data = self.base.weight.data.clone()"),
          edit(_COPY, "layer = copy.deepcopy(self.base); layer.bias = nn.Parameter(torch.zeros(len(layer.weight)))",
               name="a_bias_of_zeros"),
          tests="returns a new"),
    wrong("gradient_cut", "No gradient reaches `a`, `b` or x: something is detached.",
          "Which part of the result needs no gradient, and does x need one to reach earlier layers?",
          edit(_CHANGE, "change = (x @ self.a.T @ self.b.T).detach()"),
          edit(_RESULT, "return self.base(x).detach() + self.scale * change", name="base_detached")),
    wrong("input_changed", "Your module modifies x in place.",
          "Which of your lines ends in an underscore or has `+=`?",
          edit(_RESULT, "result = self.base(x) + self.scale * change; x.data.mul_(2); return result"),
          tests="modified"),
]

ACCEPTED = [
    right("functional", source("""
        class LoRALinear(nn.Module):
            def __init__(self, base, rank=8, alpha=16.0):
                super().__init__()
                self.base, self.alpha, self.rank = base, alpha, rank
                for parameter in base.parameters():
                    parameter.requires_grad = False
                self.a = nn.Parameter(torch.empty(rank, base.in_features))
                self.b = nn.Parameter(torch.empty(base.out_features, rank))
                nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))
                nn.init.zeros_(self.b)

            def forward(self, x):
                return self.base(x) + F.linear(F.linear(x, self.a), self.b) * (self.alpha / self.rank)

            @torch.no_grad()
            def merged(self):
                layer = nn.Linear(self.base.in_features, self.base.out_features, bias=self.base.bias is not None)
                layer.weight.copy_(self.base.weight + self.alpha / self.rank * (self.b @ self.a))
                if layer.bias is not None:
                    layer.bias.copy_(self.base.bias)
                return layer
        """)),
    right("one_matrix", edit(_RESULT,
          "return F.linear(x, self.base.weight + self.scale * self.b @ self.a, self.base.bias) + 0 * change")),
    right("smaller_start", edit(_A, "self.a = nn.Parameter(0.02 * torch.randn(rank, d_in))")),
]

EXERCISE = Specification(target="LoRALinear", precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
