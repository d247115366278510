"""Cases and mistakes for an exercise: a mixture of experts."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_WEIGHTED = "output[chosen] += weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])"
_ROUTED = "weights = route(self.router(x), self.top_k)"
_EXPERTS = "nn.ModuleList(experts)"
_ROUTER = "self.router = nn.Linear(d_model, num_experts, bias=False)"

CASES = [
    case("two_of_four", "2 of 4 experts", sizes(batch=(3, 5), d_model=6, d_ff=9, num_experts=4),
         "The result is the weighted sum of the outputs of each vector's two experts.", atol=1e-4),
    case("one_of_three", "1 of 3 experts", sizes(batch=(2, 4), d_model=5, d_ff=6, num_experts=3, top_k=1),
         "With one expert, its weight is 1.", atol=1e-4),
    case("idle", "more experts than vectors", sizes(batch=(2, 1), d_model=5, d_ff=6, num_experts=6, top_k=1),
         "An expert may get no vector at all.", atol=1e-4),
    case("equal", "as many texts, positions, components and experts: 4",
         sizes(batch=(4, 4), d_model=4, d_ff=6, num_experts=4), "As above.", atol=1e-4),
    case("double", "a module in float64", sizes(batch=(2, 3), d_model=4, d_ff=5, num_experts=3, dtype="float64"),
         "The result has the dtype of `x`.", aspect="form", tests="Everything"),
    case("three_of_five", "3 of 5 experts, two dimensions",
         sizes(batch=(6,), d_model=4, d_ff=7, num_experts=5, top_k=3),
         "Any number of leading dimensions.", hidden_only=True, atol=1e-4, tests="dimensions"),
]

MISTAKES = [
    wrong("all_compute", "Every expert computes every vector, which costs as much as one large network.",
          "Which vectors does an expert have to compute?",
          edit(_WEIGHTED, "output = output + weights[..., i].unsqueeze(-1) * expert(x)"), tests="processes"),
    wrong("weights_ignored", "The outputs of the chosen experts are added without their weights.",
          "What does the formula multiply `E_i(x)` by?",
          edit("weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])", "expert(x[chosen])")),
    wrong("overwritten",
          "An expert overwrites what an earlier one has written: only the last one of each vector counts.",
          "What is the difference between `=` and `+=`?",
          edit("output[chosen] +=", "output[chosen] =")),
    wrong("softmax_over_all", "The weights come from a softmax over all experts and are not rescaled.",
          "What does `route` return?",
          edit(_ROUTED, "logits = self.router(x); weights = (route(logits, self.top_k) > 0) * logits.softmax(-1)")),
    wrong("top_k_ignored", "`top_k` has no effect: there are always two experts, or only the best one.",
          "Which arguments do you pass to `route`?",
          edit(_ROUTED, "weights = route(self.router(x), 2)"),
          edit(_ROUTED, "weights = route(self.router(x), 1)", name="first_expert_only")),
    wrong("one_network", "One network computes for all experts.",
          "How many networks does `[SwiGLU(...)] * 4` make, and which expert belongs to column `i` of the weights?",
          edit(_EXPERTS, "nn.ModuleList([modern.SwiGLU(d_model, d_ff)] * num_experts)"),
          edit("* expert(x[chosen])", "* self.experts[0](x[chosen])", name="same_expert")),
    wrong("other_experts",
          "The experts are not those of their columns: they are in the reverse order, or the last one never computes.",
          "Which expert belongs to column `i` of the weights, and over which numbers does your loop run?",
          edit("enumerate(self.experts)", "enumerate(reversed(self.experts))"),
          edit("enumerate(self.experts)", "enumerate(self.experts[:-1])", name="one_expert_short")),
    wrong("batch_routing", "All vectors of a text go to the same experts: those of their mean, or of the first one.",
          "Which of the two is routed: a text or a token?",
          edit(_ROUTED,
               "weights = route(self.router(x.mean(-2, keepdim=True)), self.top_k).expand(*x.shape[:-1], -1)"),
          edit(_ROUTED, "weights = route(self.router(x[..., :1, :]), self.top_k).expand(*x.shape[:-1], -1)",
               name="first_token")),
    wrong("weights_at_the_input", "The weights scale the input of an expert; they should scale its output.",
          "Is a SwiGLU network linear?",
          edit("weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])",
               "expert(weights[..., i][chosen].unsqueeze(-1) * x[chosen])")),
    wrong("other_router", "The router has a bias, or does not have the name in the contract.",
          "What is the default of `bias` in `nn.Linear`, and what are the submodules called?",
          edit(_ROUTER, "self.router = nn.Linear(d_model, num_experts)"),
          edit(_ROUTER, "self.gate = nn.Linear(d_model, num_experts, bias=False)",
               "self.router(x)", "self.gate(x)", name="gate_for_router"),
          tests="`nn.ModuleList`"),
    wrong("a_plain_list", "The experts are in a Python list, so their parameters are not part of the module.",
          "What does `nn.ModuleList` do that a list does not?",
          edit(_EXPERTS, "[modern.SwiGLU(d_model, d_ff) for _ in range(num_experts)]")),
    wrong("divided_width", "The experts share the width `d_ff`; each of them should have all of it.",
          "What does the docstring say about `d_ff`?",
          edit("modern.SwiGLU(d_model, d_ff)", "modern.SwiGLU(d_model, d_ff // num_experts)"),
          edit("modern.SwiGLU(d_model, d_ff)", "modern.SwiGLU(d_model, d_ff // top_k)", name="divided_by_top_k")),
    wrong("residual", "x is added to the result; adding it is the block's job.",
          "Is there an `x +` in the formula?",
          edit("output = torch.zeros_like(x)", "output = x.clone()")),
    wrong("input_overwritten", "Your module changes x.",
          "Is `output` a new tensor, or `x` under another name?",
          edit("output = torch.zeros_like(x)", "original = x.clone(); output = x.zero_()",
               "expert(x[chosen])", "expert(original[chosen])", "self.router(x)", "self.router(x)")),
    wrong("no_gradient_for_the_router", "No gradient reaches the router, so it never learns.",
          "Through which numbers can a gradient reach the router?",
          edit(_ROUTED, "weights = route(self.router(x), self.top_k).detach()")),
    wrong("idle_experts_fail", "Your module fails if an expert gets no vector.",
          "How many rows does `x[chosen]` have then, and what do you do with it?",
          edit("chosen = weights[..., i] > 0", "chosen = weights[..., i] > 0; assert chosen.any()")),
    wrong("later_experts_skipped", "An expert that gets no vector ends your loop, so the experts after it compute nothing.",
          "What is the difference between `break` and `continue`?",
          edit("chosen = weights[..., i] > 0", """
              chosen = weights[..., i] > 0
              if not chosen.any():
                  break
              """)),
    wrong("noise", "There is noise or dropout in training mode; this module has none.",
          "Does the text say anything about training mode?",
          edit(_ROUTED, "logits = self.router(x); "
                        "weights = route(logits + torch.randn_like(logits) * self.training, self.top_k)")),
    wrong("in_half_precision", "The experts compute in bfloat16, which keeps three digits.",
          "Which dtype does the contract name?",
          edit("* expert(x[chosen])", "* (expert(x[chosen].bfloat16().float()).bfloat16().to(x.dtype))"),
          tests="Everything"),
    wrong("result_in_float32", "The result is float32, whatever the dtype of x.",
          "Which dtype does `torch.zeros` choose, and which one `torch.zeros_like`?",
          edit("output = torch.zeros_like(x)", "output = torch.zeros(x.shape)",
               "* expert(x[chosen])", "* expert(x[chosen]).float()"), tests="Everything"),
    wrong("outputs_averaged", "The weighted outputs are divided by the number of experts.",
          "What is the sum of the weights of a vector?",
          edit("return output", "return output / self.top_k")),
    wrong("pair", "You return a pair; return only the output.",
          "What does `forward` return, by its docstring?",
          edit("return output", "return output, weights")),
]

ACCEPTED = [
    right("rows_as_a_view", source("""
        class MixtureOfExperts(nn.Module):
            def __init__(self, d_model, d_ff, num_experts, top_k=2):
                super().__init__()
                self.top_k = top_k
                self.router = nn.Linear(d_model, num_experts, bias=False)
                self.experts = nn.ModuleList(modern.SwiGLU(d_model, d_ff) for _ in range(num_experts))

            def forward(self, x):
                rows = x.view(-1, x.size(-1))
                weights = route(self.router(rows), self.top_k)
                result = torch.zeros_like(rows)
                for i, expert in enumerate(self.experts):
                    token = weights[:, i].nonzero().squeeze(-1)
                    result.index_add_(0, token, weights[token, i, None] * expert(rows[token]))
                return result.view(x.shape)
        """)),
    right("token_by_token", source("""
        class MixtureOfExperts(nn.Module):
            def __init__(self, d_model, d_ff, num_experts, top_k=2):
                super().__init__()
                self.top_k = top_k
                self.router = nn.Linear(d_model, num_experts, bias=False)
                self.experts = nn.ModuleList(modern.SwiGLU(d_model, d_ff) for _ in range(num_experts))

            def forward(self, x):
                results = []
                for vector in x.reshape(-1, x.size(-1)):
                    weights = route(self.router(vector), self.top_k)
                    results.append(sum(w * self.experts[i](vector) for i, w in enumerate(weights) if w > 0))
                return torch.stack(results).view(x.shape)
        """)),
    right("index_put", edit(_WEIGHTED, """
        if chosen.any():
            made = expert(x[chosen]) * weights[..., i][chosen][:, None]
            output = output.index_put(torch.where(chosen), made, accumulate=True)
        """)),
]

EXERCISE = Specification(
    tells={"one_of_three": "idle_experts_fail", "property_steady": "idle_experts_fail later_experts_skipped"},
    target="MixtureOfExperts", results="the output",
    # The contract says nothing about x's memory layout: in a model, it is the new tensor of a norm.
    contract=Contract(named=True, ways=tuple(way for way in OF_MODULES if way != "spread")),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
