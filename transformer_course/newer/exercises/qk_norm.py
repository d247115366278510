"""Cases and mistakes for an exercise: attention with normalised queries and keys."""

from __future__ import annotations

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_NORMED = "q, k = self.q_norm(q), self.k_norm(k)"
_ROTATED = "q, k = modern.rotate(q, angles), modern.rotate(k, angles)"
_ANGLES = "modern.rotary_angles(x.size(1), q.size(-1), base=self.base)"
_MADE = "self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)"

CASES = [
    case("grouped", "4 heads, 2 of keys and values",
         sizes(B=3, L=5, d_model=16, num_heads=4, num_kv_heads=2, scale=1.0),
         "Print the shape of `q` just before `q_norm` is called. How long is its last dimension?", atol=1e-4),
    case("multi_query", "3 heads, 1 of keys and values, base 500",
         sizes(B=2, L=6, d_model=24, num_heads=3, num_kv_heads=1, base=500.0, scale=1.0),
         "The norms have the size of one head.", atol=1e-4),
    case("large_epsilon", "4 of each, as many as texts and positions, and a large epsilon",
         sizes(B=4, L=4, d_model=8, num_heads=4, num_kv_heads=4, eps=0.5, scale=1.0),
         "Which epsilon do the norms have?", atol=1e-4),
    case("long", "one text of 70 positions", sizes(B=1, L=70, d_model=8, num_heads=2, num_kv_heads=1, scale=1.0),
         "How long may a text be?", atol=1e-4),
    case("more", "6 heads, 3 of keys and values",
         sizes(B=2, L=4, d_model=24, num_heads=6, num_kv_heads=3, base=1e5, eps=0.125, scale=1.0),
         "As above.", hidden_only=True, atol=1e-4),
    case("one_head", "a single head", sizes(B=2, L=3, d_model=4, num_heads=1, num_kv_heads=1, scale=1.0),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("no_norms", "The norms have no influence: queries and keys are compared as they are.",
          "Where in `forward` are `q_norm` and `k_norm` called?",
          edit(_NORMED, "pass")),
    wrong("one_of_them_normed", "Only the queries or only the keys are normalised.",
          "Whose length does the score still depend on?",
          edit(_NORMED, "q = self.q_norm(q)"),
          edit(_NORMED, "k = self.k_norm(k)", name="only_keys")),
    wrong("after_the_rotation",
          "Queries and keys are normalised after the rotation, so each weight scales a mixture of two components.",
          "What does `q_norm.weight[0]` multiply: one component of the query, or a mixture of two?",
          edit(_NORMED, "pass", _ROTATED,
               "q, k = self.q_norm(modern.rotate(q, angles)), self.k_norm(modern.rotate(k, angles))")),
    wrong("norms_exchanged", "The queries get the norm of the keys, and the keys that of the queries.",
          "Which of the two weights belongs to the queries?",
          edit(_NORMED, "q, k = self.k_norm(q), self.q_norm(k)")),
    wrong("values_too", "The values are normalised or rotated as well; only queries and keys should be.",
          "Do values take part in a score?",
          edit(_NORMED, "q, k, v = self.q_norm(q), self.k_norm(k), self.k_norm(v)"),
          edit(_ROTATED, "q, k, v = modern.rotate(q, angles), modern.rotate(k, angles), modern.rotate(v, angles)",
               name="values_rotated"),
          tests="normalised"),
    wrong("one_norm", "Queries and keys share a single norm.",
          "How many norms does the contract name?",
          edit(_MADE, "self.q_norm = self.k_norm = modern.RMSNorm(d_k, eps)"),
          edit(_NORMED, "q, k = self.q_norm(q), self.q_norm(k)", name="keys_by_the_norm_of_queries"),
          edit(_NORMED, "q, k = self.k_norm(q), self.k_norm(k)", name="queries_by_the_norm_of_keys"),
          tests="queries"),
    wrong("a_norm_per_head", "You made one norm for every head; all heads share a single one.",
          "How many weights does the example name, and of what shape?",
          edit(_MADE, "self.q_norm = nn.ModuleList(modern.RMSNorm(d_k, eps) for _ in range(num_heads)); "
               "self.k_norm = nn.ModuleList(modern.RMSNorm(d_k, eps) for _ in range(num_kv_heads))")),
    wrong("norms_of_all_heads",
          "The norms have the size of all heads together, as in OLMo 2; here, each head's `d_k` components are "
          "normalised.",
          "How long is the vector that one head compares?",
          edit(_MADE, "self.q_norm, self.k_norm = (modern.RMSNorm(h * d_k, eps) for h in (num_heads, num_kv_heads))",
               "q = mha.split_heads(self.w_q(x), self.num_heads)",
               "q = mha.split_heads(self.q_norm(self.w_q(x)), self.num_heads)",
               "k = mha.split_heads(self.w_k(x), self.num_kv_heads)",
               "k = mha.split_heads(self.k_norm(self.w_k(x)), self.num_kv_heads)",
               _NORMED, "pass"),
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(d_model, eps), modern.RMSNorm(d_model, eps)",
               name="of_the_model")),
    wrong("over_more_than_a_head",
          "The mean square runs over more than one head of one position: over all heads, or over positions, so "
          "that a position sees the future through the norm.",
          "How many components should each mean square be taken over?",
          edit(_NORMED, """
              together = lambda t, norm: t * torch.rsqrt(t.square().mean((1, 3), keepdim=True) + norm.eps) * norm.weight
              q, k = together(q, self.q_norm), together(k, self.k_norm)
              """),
          edit(_NORMED, """
              together = lambda t, norm: t * torch.rsqrt(t.square().mean((2, 3), keepdim=True) + norm.eps) * norm.weight
              q, k = together(q, self.q_norm), together(k, self.k_norm)
              """, name="over_positions")),
    wrong("unit_length", "Queries and keys get the length 1; an RMSNorm gives them the length `√d_k`.",
          "By what does RMSNorm divide: by the length, or by the root of the mean square?",
          edit(_NORMED,
               "q, k = F.normalize(q, dim=-1) * self.q_norm.weight, F.normalize(k, dim=-1) * self.k_norm.weight")),
    wrong("weights_ignored", "The weights of the norms have no influence.",
          "What is left of `RMSNorm` if you leave its `weight` out?",
          edit(_NORMED, """
              q = F.rms_norm(q, q.shape[-1:], eps=self.q_norm.eps)
              k = F.rms_norm(k, k.shape[-1:], eps=self.k_norm.eps)
              """)),
    wrong("layer_norms", "The norms subtract a mean and have a bias: they are LayerNorms.",
          "Which norm does the text ask for?",
          edit(_MADE, "self.q_norm, self.k_norm = nn.LayerNorm(d_k, eps), nn.LayerNorm(d_k, eps)")),
    wrong("epsilon_ignored", "`eps` has no influence on the norms, or on one of them.",
          "What is the second argument of `RMSNorm`, and which two norms does the docstring mean by *both*?",
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(d_k), modern.RMSNorm(d_k)"),
          edit(_MADE, "self.q_norm, self.k_norm = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k)",
               name="one_epsilon")),
    wrong("base_ignored", "`base` has no influence: the angles always have the same one.",
          "Which arguments do you pass to `super().__init__`, and to `rotary_angles`?",
          edit("super().__init__(d_model, num_heads, num_kv_heads, base)",
               "super().__init__(d_model, num_heads, num_kv_heads)"),
          edit(_ANGLES, "modern.rotary_angles(x.size(1), q.size(-1))", name="default_angles")),
    wrong("no_rotation", "Nothing is rotated: the layer does not know the order of its past.",
          "Does a norm say anything about positions?",
          edit(_ROTATED, "pass")),
    wrong("no_mask", "Positions see the future: there is no causal mask.",
          "Which mask do you pass to `grouped_attention`?",
          edit(", attention.causal_mask(x.size(1)))", ")")),
    wrong("numbers_not_kept",
          "`num_heads`, `num_kv_heads` or `base` is not an attribute of your module, or has a different value.",
          "Which attributes does `CausalAttention` set, and does your class call its `__init__`?",
          edit("num_kv_heads, base)\n", "num_kv_heads, base); self.theta = self.__dict__.pop('base')\n",
               "base=self.base", "base=self.theta"), tests="`CausalAttention`"),
    wrong("names_of_its_own", "The norms do not have the names given in the contract.",
          "Under which names will a checkpoint store the weights?",
          edit(_MADE, "self.norm_q, self.norm_k = modern.RMSNorm(d_k, eps), modern.RMSNorm(d_k, eps)",
               _NORMED, "q, k = self.norm_q(q), self.norm_k(k)"), tests="Submodules"),
    wrong("normed_scores", "The scores are not divided by `√d_k`, as if the norms made that unnecessary.",
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
    right("in_the_rotation", edit(
        _NORMED, "pass",
        _ROTATED, "q, k = modern.rotate(self.q_norm(q), angles), modern.rotate(self.k_norm(k), angles)")),
    right("weights_by_hand", edit(_NORMED, """
        q = F.rms_norm(q, q.shape[-1:], self.q_norm.weight, self.q_norm.eps)
        k = F.rms_norm(k, k.shape[-1:], self.k_norm.weight, self.k_norm.eps)
        """)),
]

EXERCISE = Specification(
    target="QKNormAttention", results="the output", fixed="d_model", numbers="num_heads num_kv_heads base",
    contract=Contract(named=True, alone=True),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
