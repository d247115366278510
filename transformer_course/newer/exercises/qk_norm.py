"""Causal attention with norms for queries and keys."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from transformer_course.authoring.layer_inputs import (
    Shapes,
    attention_inputs,
    faint,
    observing_moves,
    one_text,
)


def _layer(batch: int, length: int, d_model: int, heads: int, groups: int, **settings: float) -> Maker:
    norm = (d_model // heads,)
    norms: Shapes = {"q_norm.weight": norm, "k_norm.weight": norm}
    return attention_inputs(batch, length, d_model, heads, groups, norms, **settings)


_NORMED = "q, k = self.q_norm(q), self.k_norm(k)"
_ROTATED = "q, k = modern.rotate(q, angles), modern.rotate(k, angles)"
_ANGLES = "modern.rotary_angles(x.size(1), q.size(-1), base=self.base)"
_MADE = "self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)"

CASES = [
    case("grouped", "4 heads, 2 of keys and values", observing_moves(_layer(3, 5, 16, 4, 2)),
         "Print the shape of `q` just before `q_norm` is called. How long is its last dimension?", atol=1e-4),
    case("multi_query", "3 heads, 1 of keys and values, base 500", _layer(2, 6, 12, 3, 1, base=500.0),
         "The norms have the size of one head.", atol=1e-4),
    case("faint", "small queries and keys, a large epsilon",
         faint(_layer(4, 3, 20, 2, 2, eps=2.0**-10), "w_q.weight", "w_k.weight"),
         "Which epsilon do the norms have?", atol=1e-4),
    case("more", "6 heads, 3 of keys and values", _layer(2, 4, 24, 6, 3, base=1e5, eps=1e-5),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("no_norms",
          "The norms have no influence: queries and keys are compared as they are.",
          "Where in `forward` are `q_norm` and `k_norm` called?",
          edit(_NORMED, "pass")),
    wrong("only_queries",
          "Only the queries are normalised.",
          "Whose length does the score depend on, apart from the query's?",
          edit(_NORMED, "q = self.q_norm(q)")),
    wrong("only_keys",
          "Only the keys are normalised.",
          "Whose length does the score depend on, apart from the key's?",
          edit(_NORMED, "k = self.k_norm(k)")),
    wrong("after_the_rotation",
          "Queries and keys are normalised after the rotation, so each weight scales a mixture of two components.",
          "What does `q_norm.weight[0]` multiply: one component of the query, or a mixture of two?",
          edit(_NORMED, "pass", _ROTATED,
               "q, k = self.q_norm(modern.rotate(q, angles)), self.k_norm(modern.rotate(k, angles))")),
    wrong("norms_exchanged",
          "The queries get the norm of the keys, and the keys that of the queries.",
          "Which of the two weights belongs to the queries?",
          edit(_NORMED, "q, k = self.k_norm(q), self.q_norm(k)")),
    wrong("values_normed",
          "The values are normalised as well; only queries and keys should be.",
          "Do values take part in a score?",
          edit(_NORMED, "q, k, v = self.q_norm(q), self.k_norm(k), self.k_norm(v)"), tests="normalised"),
    wrong("values_rotated",
          "The values are rotated as well; only queries and keys should be.",
          "What do values carry: where something is, or what it is?",
          edit(_ROTATED, "q, k, v = modern.rotate(q, angles), modern.rotate(k, angles), modern.rotate(v, angles)")),
    wrong("one_norm",
          "Queries and keys share a single norm.",
          "How many norms does the contract name?",
          edit(_MADE, "self.q_norm = self.k_norm = modern.RMSNorm(d_k, eps)"), tests="queries"),
    wrong("of_the_model",
          "Your norms have `d_model` weights, but the queries of one head have only `d_k` components.",
          "How long is the vector that one head compares?",
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(d_model, eps), modern.RMSNorm(d_model, eps)")),
    wrong("a_norm_per_head",
          "You made one norm for every head; all heads share a single one.",
          "How many weights does the example name, and of what shape?",
          edit(_MADE, "self.q_norm = nn.ModuleList(modern.RMSNorm(d_k, eps) for _ in range(num_heads)); "
               "self.k_norm = nn.ModuleList(modern.RMSNorm(d_k, eps) for _ in range(num_kv_heads))")),
    wrong("before_the_split",
          "The norms have the size of all heads together: they are applied before the split (as in OLMo 2).",
          "How many components should each mean square be taken over?",
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(num_heads * d_k, eps), modern.RMSNorm(num_kv_heads * d_k, eps)",
               "q = mha.split_heads(self.w_q(x), self.num_heads)",
               "q = mha.split_heads(self.q_norm(self.w_q(x)), self.num_heads)",
               "k = mha.split_heads(self.w_k(x), self.num_kv_heads)",
               "k = mha.split_heads(self.k_norm(self.w_k(x)), self.num_kv_heads)",
               _NORMED, "pass")),
    wrong("all_heads_together",
          "The mean square runs over all heads of a position; each head should have its own.",
          "How many components should each mean square be taken over?",
          edit(_NORMED, """
              together = lambda t, norm: t * torch.rsqrt(t.square().mean((1, 3), keepdim=True) + norm.eps) * norm.weight
              q, k = together(q, self.q_norm), together(k, self.k_norm)
              """)),
    wrong("over_positions",
          "The mean square runs over the positions as well, so a position sees the future through the norm.",
          "How many components should each mean square be taken over?",
          edit(_NORMED, """
              together = lambda t, norm: t * torch.rsqrt(t.square().mean((2, 3), keepdim=True) + norm.eps) * norm.weight
              q, k = together(q, self.q_norm), together(k, self.k_norm)
              """)),
    wrong("unit_length",
          "Queries and keys get the length 1; an RMSNorm gives them the length `√d_k`.",
          "By what does RMSNorm divide: by the length, or by the root of the mean square?",
          edit(_NORMED,
               "q, k = F.normalize(q, dim=-1) * self.q_norm.weight, F.normalize(k, dim=-1) * self.k_norm.weight")),
    wrong("weights_ignored",
          "The weights of the norms have no influence.",
          "What is left of `RMSNorm` if you leave its `weight` out?",
          edit(_NORMED, """
              q = F.rms_norm(q, q.shape[-1:], eps=self.q_norm.eps)
              k = F.rms_norm(k, k.shape[-1:], eps=self.k_norm.eps)
              """)),
    wrong("layer_norms",
          "The norms subtract a mean and have a bias: they are LayerNorms.",
          "Which norm does the text ask for?",
          edit(_MADE, "self.q_norm, self.k_norm = nn.LayerNorm(d_k, eps), nn.LayerNorm(d_k, eps)")),
    wrong("epsilon_ignored",
          "`eps` has no influence on the norms.",
          "What is the second argument of `RMSNorm`?",
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(d_k), modern.RMSNorm(d_k)")),
    wrong("one_epsilon",
          "`eps` has no influence on the norm of the keys.",
          "Which two norms does the docstring mean by *both*?",
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k)")),
    wrong("base_ignored",
          "`base` has no influence: the angles have the base that `CausalAttention` uses by default.",
          "Which arguments do you pass to `super().__init__`?",
          edit("super().__init__(d_model, num_heads, num_kv_heads, base)",
               "super().__init__(d_model, num_heads, num_kv_heads)")),
    wrong("default_angles",
          "The angles always have the base 10,000, whatever `base` is.",
          "What is the fourth argument of `rotary_angles`?",
          edit(_ANGLES, "modern.rotary_angles(x.size(1), q.size(-1))")),
    wrong("no_rotation",
          "Nothing is rotated: the layer does not know the order of its past.",
          "Does a norm say anything about positions?",
          edit(_ROTATED, "pass")),
    wrong("no_mask",
          "Positions see the future: there is no causal mask.",
          "Which mask do you pass to `grouped_attention`?",
          edit(", attention.causal_mask(x.size(1)))", ")")),
    wrong("numbers_not_kept",
          "`num_heads`, `num_kv_heads` or `base` is not an attribute of your module, or has a different value.",
          "Which attributes does `CausalAttention` set, and does your class call its `__init__`?",
          source("""
              class QKNormAttention(nn.Module):
                  def __init__(self, d_model, num_heads, num_kv_heads, base=1e6, eps=1e-6):
                      super().__init__()
                      self.h, self.g, self.theta, d_k = num_heads, num_kv_heads, base, d_model // num_heads
                      self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)
                      self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
                      self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
                      self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)
                      self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)

                  def forward(self, x):
                      q = self.q_norm(mha.split_heads(self.w_q(x), self.h))
                      k = self.k_norm(mha.split_heads(self.w_k(x), self.g))
                      v = mha.split_heads(self.w_v(x), self.g)
                      angles = modern.rotary_angles(x.size(1), q.size(-1), base=self.theta)
                      heads, _ = modern.grouped_attention(
                          modern.rotate(q, angles), modern.rotate(k, angles), v, attention.causal_mask(x.size(1)))
                      return self.w_o(mha.merge_heads(heads))
              """), tests="`CausalAttention`"),
    wrong("names_of_its_own",
          "The norms do not have the names given in the contract.",
          "Under which names will a checkpoint store the weights?",
          edit(_MADE, "self.norm_q, self.norm_k = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)",
               _NORMED, "q, k = self.norm_q(q), self.norm_k(k)"), tests="Submodules"),
    wrong("normed_scores",
          "The scores are not divided by `√d_k`, as if the norms made that unnecessary.",
          "Which length do queries have after an RMSNorm: 1 or `√d_k`?",
          edit(_ROTATED, "q, k = modern.rotate(q, angles) * q.size(-1) ** 0.5, modern.rotate(k, angles)")),
]

ACCEPTED = [
    right("by_hand", source("""
        class QKNormAttention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads, base=1e6, eps=1e-6):
                super().__init__()
                self.num_heads, self.num_kv_heads, self.base = num_heads, num_kv_heads, base
                self.d_k = d_model // num_heads
                self.w_q = nn.Linear(d_model, d_model, bias=False)
                self.w_k = nn.Linear(d_model, self.d_k * num_kv_heads, bias=False)
                self.w_v = nn.Linear(d_model, self.d_k * num_kv_heads, bias=False)
                self.w_o = nn.Linear(d_model, d_model, bias=False)
                self.q_norm = nn.RMSNorm(self.d_k, eps=eps)
                self.k_norm = nn.RMSNorm(self.d_k, eps=eps)

            def forward(self, x):
                b, n, d = x.shape
                q = self.q_norm(self.w_q(x).view(b, n, -1, self.d_k)).transpose(1, 2)
                k = self.k_norm(self.w_k(x).view(b, n, -1, self.d_k)).transpose(1, 2)
                v = self.w_v(x).view(b, n, -1, self.d_k).transpose(1, 2)
                angles = modern.rotary_angles(n, self.d_k, 0, self.base)
                out = F.scaled_dot_product_attention(
                    modern.rotate(q, angles), modern.rotate(k, angles), v, is_causal=True, enable_gqa=True)
                return self.w_o(out.transpose(1, 2).reshape(b, n, d))
        """)),
    right("in_the_rotation", edit(_NORMED, "pass", _ROTATED,
                                  "q, k = modern.rotate(self.q_norm(q), angles), modern.rotate(self.k_norm(k), angles)")),
    right("weights_by_hand", edit(_NORMED, """
        q = F.rms_norm(q, q.shape[-1:], self.q_norm.weight, self.q_norm.eps)
        k = F.rms_norm(k, k.shape[-1:], self.k_norm.weight, self.k_norm.eps)
        """)),
    right("size_of_the_projection", edit("d_k = d_model // num_heads", "d_k = self.w_q.out_features // num_heads")),
]

EXERCISE = Specification(
    target="QKNormAttention",
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("grouped",), ways=OF_MODULES, module=True,
        sizes=special(
            one_position=_layer(3, 1, 8, 2, 1), a_long_text=one_text(70, 8), one_head=_layer(2, 3, 4, 1, 1),
            equal_sizes=_layer(4, 4, 8, 4, 4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
