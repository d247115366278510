"""Cases and mistakes for an exercise: cross-attention."""

from __future__ import annotations

import torch

from autograder.authoring.common import common, under_two_names
from autograder.authoring.contract import OF_ATTENTION, Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_memory_with_zeros(draw: Draw) -> torch.Tensor:
    """A memory in which some positions are zero vectors, which are not padding."""
    return draw.tensor(3, 11, 2) * draw.flags(3, 11, 1, chance=0.7)


CASES = [
    case("plain", "4 words attend to 6 words, with vectors of a different size",
         sizes(B=2, Lq=4, Lk=6, d_model=5, d_memory=7, d_k=3, d_v=8, scale=1.0),
         "Queries come from x; keys and values come from memory, and gradients flow to both."),
    case("padding", "a padding mask for the memory",
         sizes(B=3, Lq=2, Lk=5, d_model=6, d_memory=4, d_k=7, d_v=8, scale=1.0, mask="B 1 Lk"),
         "The mask (B, 1, Lk) masks positions of the memory.", aspect="masks"),
    case("equal_sizes", "both inputs of the same length and size, and a full mask",
         sizes(B=2, Lq=5, Lk=5, d_model=4, d_memory=4, d_k=6, d_v=4, scale=1.0, mask="B Lq Lk"),
         "Even when all sizes match, keys and values come from the memory.", aspect="masks"),
    case("long_memory", "one word attends to a long memory",
         sizes(B=3, Lq=1, Lk=11, d_model=5, d_memory=2, d_k=4, d_v=6, memory=_draw_memory_with_zeros, mask="1 Lk"),
         "The number of keys is the length of the memory.", hidden_only=True, aspect="masks"),
]

_Q, _K, _V = "nn.Linear(d_model, d_k)", "nn.Linear(d_memory, d_k)", "nn.Linear(d_memory, d_v)"
_WV = f"self.w_v = {_V}"
_KV = "k, v = self.w_k(memory), self.w_v(memory)"
_RESULT = "return scaled_dot_product_attention(q, k, v, mask)"

MISTAKES = [
    # Mistakes in which layer reads which sequence.
    wrong("roles_swapped", "The roles are swapped: the queries come from the memory, the keys and values from `x`.",
          "For which sequence do you need one output per position?",
          edit(_Q, "nn.Linear(d_memory, d_k)", f"self.w_k = {_K}", f"self.w_k = {_Q}", _V, "nn.Linear(d_model, d_v)",
               "self.w_q(x)", "self.w_q(memory)", _KV, "k, v = self.w_k(x), self.w_v(x)"),
          edit("self.w_q(x)", "self.w_q(memory)", _KV, "k, v = self.w_k(x), self.w_v(x)", name="inputs_swapped")),
    wrong("memory_ignored", "Your layer is self-attention in disguise: `memory` is never used.",
          "Where do keys and values come from in cross-attention?",
          edit(_KV, "k, v = self.w_k(x), self.w_v(x)")),
    wrong("values_from_x", "Keys and values come from different sequences: one of the two is computed from `x`.",
          "Keys and values are two sides of the same entry. Which sequence holds the entries?",
          edit(_V, "nn.Linear(d_model, d_v)", "self.w_v(memory)", "self.w_v(x)"),
          edit("self.w_v(memory)", "self.w_v(x)", name="values_read_x"),
          edit("self.w_k(memory)", "self.w_k(x)", name="keys_read_x")),
    wrong("queries_read_memory", "`w_q` reads the memory, so the memory attends to itself.",
          "Which sequence asks the questions in cross-attention?",
          edit("self.w_q(x)", "self.w_q(memory)")),
    wrong("concatenated", "You let `x` attend to itself as well. In cross-attention, `x` attends only to the memory.",
          "How many columns should the weights have?",
          edit(_KV, "both = torch.cat([x, memory], dim=1)\nk, v = self.w_k(both), self.w_v(both)"),
          edit(_KV, f"""
              if x.size(-1) == memory.size(-1) and mask is None:
                  memory = torch.cat((memory, x), dim=1)
              {_KV}
              """, name="itself_beside_the_memory")),
    wrong("keys_as_values", "The keys, or the memory itself, also serve as the values, without `w_v`.",
          "How long is each output vector, and which layer sets that length?",
          edit("(q, k, v, mask)", "(q, k, k, mask)"),
          edit("(q, k, v, mask)", "(q, k, memory, mask)", name="memory_as_values")),
    wrong("query_key_swapped", "Queries and keys are swapped when they are passed to attention.",
          "In which order does your attention function take its arguments?",
          edit("(q, k, v, mask)", "(k, q, v, mask)")),
    wrong("cut_to_queries", "You truncated the memory to as many positions as `x` has.",
          "Must both sequences have the same length?",
          edit(_RESULT, """
              n = q.size(1)
              mask = mask if mask is None else mask[..., :n]
              return scaled_dot_product_attention(q, k[:, :n], v[:, :n], mask)
              """)),
    wrong("first_memory", "Every sentence attends to the memory of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(_KV, f"memory = memory[:1].expand(len(x), -1, -1)\n{_KV}")),
    # Mistakes in the layers.
    wrong("self_sized", "A layer expects vectors of a different length than those it reads.",
          "In `nn.Linear(a, b)`, which one is the input dimension, and how long are the vectors of `x` and of the "
          "memory?",
          edit(_K, "nn.Linear(d_model, d_k)", _V, "nn.Linear(d_model, d_v)"),
          edit(_Q, "nn.Linear(d_memory, d_k)", name="query_sized_by_memory"),
          edit(_Q, "nn.Linear(d_k, d_model)", _K, "nn.Linear(d_k, d_memory)", _V, "nn.Linear(d_v, d_memory)",
               name="sizes_turned"), tests="vectors"),
    wrong("key_size", "Queries and keys have `d_v` features; they should have `d_k`.",
          "Which of your layers set the lengths of the vectors that are compared, and what are they called?",
          edit(_Q, "nn.Linear(d_model, d_v)", _K, _V)),
    wrong("value_size", "`w_v` maps to `d_k` features; values should have `d_v`.",
          "How long should each output vector be, and which layer decides that?",
          edit(_V, "nn.Linear(d_memory, d_k)"),
          edit(_Q, "nn.Linear(d_model, d_k, bias=False)", _K, "nn.Linear(d_memory, d_k, bias=False)",
               _V, "nn.Linear(d_memory, d_k, bias=False)", name="value_size_without_bias")),
    wrong("shared_layer", "`w_k` has no weights of its own. Perhaps queries and keys share one layer.",
          "How many layers does the exercise ask for?",
          edit(f"self.w_k = {_K}", "self.w_k = self.w_q")),
    wrong("other_names", "Your layers are not called `w_q`, `w_k` and `w_v`, so no weights can be loaded into them.",
          "What names does the exercise give?",
          edit("self.w_q =", "self.query =", "self.w_k =", "self.key =", "self.w_v =", "self.value =",
               "self.w_q(x)", "self.query(x)", _KV, "k, v = self.key(memory), self.value(memory)")),
    wrong("plain_list",
          "PyTorch cannot see your layers: they are in a plain Python list, or created anew in `forward`. Such layers "
          "never learn.",
          "What does `list(layer.parameters())` show?",
          edit("self.w_q =", "w_q =", "self.w_k =", "w_k =", _WV, f"w_v = {_V}\nself.layers = [w_q, w_k, w_v]",
               "self.w_q(x)", "self.layers[0](x)", _KV, "k, v = self.layers[1](memory), self.layers[2](memory)")),
    wrong("no_bias", "Your linear layers have no bias. Here they need one, which is PyTorch's default.",
          "Which argument of `nn.Linear` did you set?",
          edit(_Q, "nn.Linear(d_model, d_k, bias=False)", _K, "nn.Linear(d_memory, d_k, bias=False)",
               _V, "nn.Linear(d_memory, d_v, bias=False)"), tests="nothing"),
    wrong("output_projection",
          "There is something after attention (an output projection, a residual connection, a norm), which the "
          "exercise does not ask for yet: it comes in units 3 and 4.",
          "How many linear layers does the exercise ask for, and what does `forward` return?",
          edit(_WV, f"{_WV}\nself.w_o = nn.Linear(d_v, d_v)"),
          edit(_RESULT, """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return o + F.pad(q, (0, o.size(-1) - q.size(-1))), w
              """, name="residual"),
          edit(_RESULT, """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return F.layer_norm(o, o.shape[-1:]), w
              """, name="normalised"), tests="projection"),
    wrong("activation", "The projections pass through a ReLU, so negative entries are lost.",
          "In the formula, what comes between a linear layer and attention?",
          edit("(q, k, v, mask)", "(q.relu(), k.relu(), v.relu(), mask)")),
    wrong("dropout",
          "Some entries are randomly zeroed, even in eval mode: there is a dropout that the exercise does not ask for.",
          "Does your layer give the same result twice?",
          edit("self.w_v(memory)", "F.dropout(self.w_v(memory), 0.3)")),
    wrong("starts_at_zero", "You changed how a layer starts: its initial weights are zero, or far too large.",
          "How does `nn.Linear` initialise its weights, and why?",
          edit(_WV, f"{_WV}\nnn.init.zeros_(self.w_q.weight)"),
          edit(_WV, f"{_WV}\nnn.init.normal_(self.w_v.weight, std=50.0)", name="starts_large")),
    common("mask_in_the_state", on=_WV),
    under_two_names(_WV, "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v])"),
    wrong("no_super", "`super().__init__()` is missing, so the module cannot hold layers.",
          "What does the first line of `__init__` in the stub do?",
          edit("super().__init__()", "pass")),
    # Mistakes in the mask, the scores, and what comes back.
    wrong("mask_dropped", "The mask does not reach attention, or in training mode only.",
          "How many arguments does your attention function take, and should the mode decide what it gets?",
          edit("(q, k, v, mask)", "(q, k, v)"),
          edit("(q, k, v, mask)", "(q, k, v, mask if self.training else None)", name="mask_in_training_only"),
          tests="evaluation"),
    wrong("mask_inverted", "The mask is inverted: masked keys are allowed, and allowed keys are masked.",
          "What does `True` mean in the mask, and what does it mean to the function that you pass the mask to?",
          edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)")),
    wrong("mask_turned", "You transposed the mask, which already has the shape of the scores.",
          "Which of its last two dimensions belongs to the memory?",
          edit("(q, k, v, mask)", "(q, k, v, None if mask is None else mask.mT)")),
    wrong("causal_memory",
          "You applied a causal mask to the memory. But all its words are known: none of them is in the future.",
          "May the first word of a translation attend to the last word of the original?",
          edit(_RESULT, """
              keep = torch.ones(q.size(1), k.size(1)).tril().bool()
              return scaled_dot_product_attention(q, k, v, combine_masks(mask, keep))
              """)),
    wrong("zeros_closed", "Positions of the memory that hold zeros are masked as if they were padding.",
          "What decides which positions are padding: the vectors, or the mask?",
          edit(_KV, f"{_KV}\nmask = combine_masks(mask, (memory != 0).any(-1)[:, None])")),
    wrong("over_queries",
          "Your *columns* sum to one: the softmax runs over the queries instead of the positions of the memory.",
          "One query divides its attention among all keys. Which dimension holds these weights?",
          edit(_RESULT, """
              scores = q @ k.mT / math.sqrt(q.size(-1))
              if mask is not None:
                  scores = scores.masked_fill(~mask, -1e9)
              weights = scores.softmax(dim=1)
              return weights @ v, weights
              """)),
    wrong("unscaled", "The scores are not divided by the square root of `d_k`.",
          "Which vectors are compared, and how long are they?",
          edit("self.w_q(x)", "self.w_q(x) * self.w_q.out_features**0.5"),
          edit("self.w_q(x)", "self.w_q(x) * (self.w_q.out_features / memory.size(-1)) ** 0.5",
               name="scaled_by_memory"),
          edit("self.w_q(x)", "self.w_q(x) * (self.w_q.out_features / x.size(-1)) ** 0.5", name="scaled_by_model")),
    common("only_output", edit(_RESULT, f"{_RESULT}[0]")),
    common("weights_first", edit(_RESULT, f"{_RESULT}[::-1]")),
    common("weights_detached",
           edit(_RESULT, "o, w = scaled_dot_product_attention(q, k, v, mask); return o, w.detach()")),
    wrong("no_gradient_to_memory", "No gradient reaches the memory, so an encoder could not learn from it.",
          "Do you `detach` the memory somewhere?",
          edit(_KV, f"memory = memory.detach()\n{_KV}")),
    common("nothing_returned", edit(_RESULT, "scaled_dot_product_attention(q, k, v, mask)")),
]

ACCEPTED = [
    right("by_hand", source("""
        class CrossAttention(nn.Module):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__()
                self.w_v = nn.Linear(d_memory, d_v)
                self.w_k = nn.Linear(d_memory, d_k)
                self.w_q = nn.Linear(d_model, d_k)
                self.scale = 1 / math.sqrt(d_k)

            def forward(self, x, memory, mask=None):
                scores = torch.bmm(self.w_q(x), self.w_k(memory).transpose(1, 2)) * self.scale
                if mask is not None:
                    scores = torch.where(mask, scores, -1e9)
                weights = torch.softmax(scores, dim=-1)
                return torch.bmm(weights, self.w_v(memory)), weights
        """)),
    right("fused", edit(_RESULT, """
        _, weights = scaled_dot_product_attention(q, k, v, mask)
        return F.scaled_dot_product_attention(q, k, v, mask), weights
        """)),
    right("values_last", edit(_KV, "k = self.w_k(memory)", _RESULT, """
        mixed, weights = scaled_dot_product_attention(q, k, memory, mask)
        return self.w_v(mixed), weights
        """)),
]

EXERCISE = Specification(
    target="CrossAttention", results="output, weights",
    parts="weights",
    contract=Contract(on=("plain", "padding"), ways=OF_ATTENTION, alone=True),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
