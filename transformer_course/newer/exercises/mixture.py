"""A mixture of experts."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import (
    Shapes,
    options,
    swiglu_shapes,
    whole,
)


def _mixture(experts: int, d_ff: int, *shape: int, **settings: float) -> Maker:
    d_model = shape[-1]

    def make_inputs(draw: Draw) -> Inputs:
        shapes: Shapes = {"router.weight": (experts, d_model)}
        for i in range(experts):
            shapes |= {f"experts.{i}.{n}": s for n, s in swiglu_shapes(d_model, d_ff).items()}
        return whole(d_ff=d_ff, num_experts=experts) | options(**settings) | draw.weights(**shapes) | {
            "x": draw.tensor(*shape), "pull": draw.tensor(*shape, scale=1.0),
        }  # fmt: skip

    return make_inputs


def _one_is_idle(draw: Draw) -> Inputs:
    """A router that never chooses the last of four experts, whose logit is always lowest."""
    inputs = _mixture(4, 6, 2, 3, 5)(draw)
    inputs["x"][..., 0] = inputs["x"][..., 0].abs() + 1.0
    inputs["weights.router.weight"][:3, 0] = 8.0
    inputs["weights.router.weight"][3, 0] = -8.0
    return inputs


_WEIGHTED = "output[chosen] += weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])"
_ROUTED = "weights = route(self.router(x), self.top_k)"
_EXPERTS = "nn.ModuleList(experts)"
_ROUTER = "self.router = nn.Linear(d_model, num_experts, bias=False)"

CASES = [
    case("two_of_four", "2 of 4 experts", _mixture(4, 9, 3, 5, 6),
         "The result is the weighted sum of the outputs of each vector's two experts.", atol=1e-4),
    case("one_of_three", "1 of 3 experts", _mixture(3, 6, 2, 4, 5, top_k=1),
         "With one expert, its weight is 1.", atol=1e-4),
    case("idle", "an expert that no vector is sent to", _one_is_idle,
         "An expert may get no vector at all.", atol=1e-4),
    case("three_of_five", "3 of 5 experts, two dimensions", _mixture(5, 7, 6, 4, top_k=3),
         "Any number of leading dimensions.", hidden_only=True, atol=1e-4, tests="dimensions"),
]

MISTAKES = [
    wrong("all_compute",
          "Every expert computes every vector, which costs as much as one large network.",
          "Which vectors does an expert have to compute?",
          edit(_WEIGHTED, "output = output + weights[..., i].unsqueeze(-1) * expert(x)"), tests="computes"),
    wrong("weights_ignored",
          "The outputs of the chosen experts are added without their weights.",
          "What does the formula multiply `E_i(x)` by?",
          edit("weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])", "expert(x[chosen])")),
    wrong("overwritten",
          "An expert overwrites what an earlier one has written: only the last one of each vector counts.",
          "What is the difference between `=` and `+=`?",
          edit("output[chosen] +=", "output[chosen] =")),
    wrong("softmax_over_all",
          "The weights come from a softmax over all experts and are not rescaled.",
          "What does `route` return?",
          edit(_ROUTED, "logits = self.router(x); weights = (route(logits, self.top_k) > 0) * logits.softmax(-1)")),
    wrong("top_two_always",
          "`top_k` has no influence: there are always two experts.",
          "Which arguments do you pass to `route`?",
          edit(_ROUTED, "weights = route(self.router(x), 2)")),
    wrong("first_expert_only",
          "Only the best expert of each vector computes.",
          "Which arguments do you pass to `route`?",
          edit(_ROUTED, "weights = route(self.router(x), 1)")),
    wrong("same_expert",
          "The same expert computes for all of them.",
          "Which expert belongs to column `i` of the weights?",
          edit("* expert(x[chosen])", "* self.experts[0](x[chosen])")),
    wrong("one_network",
          "All experts are the same network.",
          "How many networks does `[SwiGLU(...)] * 4` make?",
          edit(_EXPERTS, "nn.ModuleList([modern.SwiGLU(d_model, d_ff)] * num_experts)")),
    wrong("experts_backwards",
          "The experts are in the reverse order.",
          "Which expert belongs to column `i` of the weights?",
          edit("enumerate(self.experts)", "enumerate(reversed(self.experts))")),
    wrong("one_expert_short",
          "The last expert never computes.",
          "Over which numbers does your loop run?",
          edit("enumerate(self.experts)", "enumerate(self.experts[:-1])")),
    wrong("batch_routing",
          "All vectors of a text go to the same experts: those of their mean.",
          "Which of the two is routed: a text or a token?",
          edit(_ROUTED,
               "weights = route(self.router(x.mean(-2, keepdim=True)), self.top_k).expand(*x.shape[:-1], -1)")),
    wrong("first_token",
          "All vectors of a text go to the experts of the first one.",
          "Which of the two is routed: a text or a token?",
          edit(_ROUTED, "weights = route(self.router(x[..., :1, :]), self.top_k).expand(*x.shape[:-1], -1)")),
    wrong("weights_at_the_input",
          "The weights scale the input of an expert; they should scale its output.",
          "Is a SwiGLU network linear?",
          edit("weights[..., i][chosen].unsqueeze(-1) * expert(x[chosen])",
               "expert(weights[..., i][chosen].unsqueeze(-1) * x[chosen])")),
    wrong("router_bias",
          "The router has a bias; the contract has none.",
          "What is the default of `bias` in `nn.Linear`?",
          edit(_ROUTER, "self.router = nn.Linear(d_model, num_experts)"), tests="`nn.ModuleList`"),
    wrong("gate_for_router",
          "The router does not have the name in the contract.",
          "What are the submodules called?",
          edit(_ROUTER, "self.gate = nn.Linear(d_model, num_experts, bias=False)",
               "self.router(x)", "self.gate(x)")),
    wrong("a_plain_list",
          "The experts are in a Python list, so their parameters are not part of the module.",
          "What does `nn.ModuleList` do that a list does not?",
          edit(_EXPERTS, "[modern.SwiGLU(d_model, d_ff) for _ in range(num_experts)]")),
    wrong("divided_width",
          "The experts share the width `d_ff`; each of them should have all of it.",
          "What does the docstring say about `d_ff`?",
          edit("modern.SwiGLU(d_model, d_ff)", "modern.SwiGLU(d_model, d_ff // num_experts)")),
    wrong("divided_by_top_k",
          "The experts that are used share the width `d_ff`; each of them should have all of it.",
          "What does the docstring say about `d_ff`?",
          edit("modern.SwiGLU(d_model, d_ff)", "modern.SwiGLU(d_model, d_ff // top_k)")),
    wrong("residual",
          "x is added to the result; adding it is the block's job.",
          "Is there an `x +` in the formula?",
          edit("output = torch.zeros_like(x)", "output = x.clone()")),
    wrong("input_overwritten",
          "Your module changes x.",
          "Is `output` a new tensor, or `x` under another name?",
          edit("output = torch.zeros_like(x)", "original = x.clone(); output = x.zero_()",
               "expert(x[chosen])", "expert(original[chosen])", "self.router(x)", "self.router(x)")),
    wrong("no_gradient_for_the_router",
          "No gradient reaches the router, so it never learns.",
          "Through which numbers can a gradient reach the router?",
          edit(_ROUTED, "weights = route(self.router(x), self.top_k).detach()")),
    wrong("idle_experts_fail",
          "Your module fails if an expert gets no vector.",
          "How many rows does `x[chosen]` have then, and what do you do with it?",
          edit("chosen = weights[..., i] > 0", "chosen = weights[..., i] > 0; assert chosen.any()")),
    wrong("noise",
          "There is noise or dropout in training mode; this module has none.",
          "Does the text say anything about training mode?",
          edit(_ROUTED, "logits = self.router(x); "
                        "weights = route(logits + torch.randn_like(logits) * self.training, self.top_k)")),
    wrong("in_half_precision",
          "The experts compute in bfloat16, which keeps three digits.",
          "Which dtype does the contract name?",
          edit("* expert(x[chosen])", "* (expert(x[chosen].bfloat16().float()).bfloat16().to(x.dtype))"),
          tests="Everything"),
    wrong("outputs_averaged",
          "The weighted outputs are divided by the number of experts.",
          "What is the sum of the weights of a vector?",
          edit("return output", "return output / self.top_k")),
    wrong("pair",
          "You return a pair; return only the output.",
          "What does `forward` return, by its docstring?",
          edit("return output", "return output, weights")),
]

ACCEPTED = [
    right("rows", source("""
        class MixtureOfExperts(nn.Module):
            def __init__(self, d_model, d_ff, num_experts, top_k=2):
                super().__init__()
                self.k = top_k
                self.experts = nn.ModuleList([modern.SwiGLU(d_model, d_ff) for _ in range(num_experts)])
                self.router = nn.Linear(d_model, num_experts, bias=False)

            def forward(self, x):
                rows = x.reshape(-1, x.size(-1))
                values, indices = self.router(rows).topk(self.k, dim=-1)
                values = values.softmax(-1)
                result = torch.zeros_like(rows)
                for i, expert in enumerate(self.experts):
                    token, slot = torch.where(indices == i)
                    if len(token):
                        result = result.index_add(0, token, values[token, slot, None] * expert(rows[token]))
                return result.view_as(x)
        """)),
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
    target="MixtureOfExperts",
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("two_of_four",), module=True,
        # Nobody says how x lies in memory: a norm before it makes a new tensor.
        ways=tuple(way for way in OF_MODULES if way != "spread"),
        sizes=special(one_leading_dimension=_mixture(3, 6, 5, 4), one_position=_mixture(4, 6, 2, 1, 5),
                      equal_sizes=_mixture(4, 6, 4, 4, 4)),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
