"""Cases and mistakes for an exercise: causal self-attention.

It has rotary positions, and heads that share keys and values.
"""

from __future__ import annotations

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_ROTATED = "q, k = rotate(q, angles), rotate(k, angles)"
_ANGLES = "angles = rotary_angles(x.size(1), q.size(-1), base=self.base)"

CASES = [
    case("grouped", "4 heads, 2 of keys and values",
         sizes(B=3, L=5, d_model=16, num_heads=4, num_kv_heads=2, scale=1.0),
         "Project, split, rotate queries and keys, attend causally, merge, project.", atol=1e-4),
    case("multi_query", "3 heads, 1 of keys and values, base 500",
         sizes(B=2, L=6, d_model=12, num_heads=3, num_kv_heads=1, base=500.0, scale=1.0),
         "Keys and values have their own number of heads, and the angles their own base.", atol=1e-4),
    case("multi_head", "4 of each, as many as texts and positions",
         sizes(B=4, L=4, d_model=8, num_heads=4, num_kv_heads=4, scale=1.0), "As above.", atol=1e-4),
    # More positions than a small table has; one of 512 rows is large enough.
    case("long", "one text of 300 positions",
         sizes(B=1, L=300, d_model=8, num_heads=2, num_kv_heads=1, scale=1.0),
         "How long may a text be?", atol=1e-4),
    case("more", "6 heads, 3 of keys and values, base 100,000",
         sizes(B=2, L=4, d_model=24, num_heads=6, num_kv_heads=3, base=1e5, scale=1.0),
         "As above.", hidden_only=True, atol=1e-4),
    case("one_head", "a single head", sizes(B=2, L=3, d_model=4, num_heads=1, num_kv_heads=1, scale=1.0),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("no_positions", "Nothing is rotated: the layer does not know the order of its past.",
          "Where do `rotary_angles` and `rotate` occur in your code?",
          edit(_ROTATED, "pass")),
    wrong("made_ahead", "Your layer has angles for a small number of positions only: a longer text does not fit.",
          "How long may a text be? What does the docstring say about `L`?",
          edit(_ANGLES, "angles = rotary_angles(256, q.size(-1), base=self.base)[: x.size(1)]")),
    wrong("values_turned",
          "The values are rotated as well, because you rotate them or the whole input; only queries and keys "
          "should be.",
          "What do values carry: where something is, or what it is?",
          edit(_ROTATED, "q, k, v = rotate(q, angles), rotate(k, angles), rotate(v, angles)"),
          edit("q = mha.split_heads(self.w_q(x)",
               "x = rotate(x, rotary_angles(x.size(1), x.size(-1), base=self.base)); q = mha.split_heads(self.w_q(x)",
               _ROTATED, "pass", name="input_turned")),
    wrong("only_queries_turned",
          "Only the queries or only the keys are rotated, so a score depends on the position, not on the distance.",
          "Whose angles are subtracted in `(m - n)θ`?",
          edit(_ROTATED, "q = rotate(q, angles)"),
          edit(_ROTATED, "k = rotate(k, angles)", name="only_keys_turned")),
    wrong("other_pairs_turned",
          "Your layer rotates other pairs of components: neighbours, or components of different heads, because it "
          "rotates before the split.",
          "Which two components does `rotate` combine, and which `d_k` does it see?",
          edit("q, k = rotate(q, angles), rotate(k, angles)",
               "q, k = (rotate(x.unflatten(-1, (-1, 2)).mT.flatten(-2), angles) for x in (q, k))"),
          edit(_ROTATED, """
              q, k = (
                  mha.split_heads(rotate(mha.merge_heads(t), rotary_angles(x.size(1), d, 0, self.base)), t.size(1))
                  for t, d in ((q, self.w_q.out_features), (k, self.w_k.out_features))
              )
              """, name="turned_before_the_split")),
    wrong("turned_by_heads", "The angles run over the heads, not over the positions.",
          "Which dimension of `(B, h, L, d_k)` holds the positions?",
          edit(_ROTATED, """
              turned = (rotate(t.transpose(1, 2), rotary_angles(t.size(1), t.size(-1), 0, self.base)) for t in (q, k))
              q, k = (t.transpose(1, 2) for t in turned)
              """)),
    wrong("places_backwards", "Positions are counted from the end of the text.",
          "Which angle does the first token get, and does it change when the text grows?",
          edit(_ANGLES, f"{_ANGLES}.flip(0)")),
    wrong("base_ignored",
          "`base` does not reach the angles: they always have the same one, or it is passed in place of the offset.",
          "What is the fourth argument of `rotary_angles`?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1))"),
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), base=1000.0)", name="other_base"),
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), self.base)", name="base_as_offset")),
    wrong("no_mask", "Positions see the future: the causal mask is missing, or turned over.",
          "Which mask do you pass to `grouped_attention`, and which triangle of it is True?",
          edit(", attention.causal_mask(x.size(1)))", ")"),
          edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).T", name="mask_turned_over")),
    wrong("past_hidden", "A position does not see all of its past: itself is hidden, or what is far away.",
          "Is the diagonal of a causal mask True, and how far back may a position look?",
          edit("attention.causal_mask(x.size(1))",
               "attention.causal_mask(x.size(1)).tril(-1) | (torch.arange(x.size(1)) == 0)"),
          edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).triu(-2)",
               name="near_past_only")),
    wrong("no_output_projection", "The output projection `w_o` has no effect.",
          "What happens to the heads after they are merged?",
          edit("self.w_o(mha.merge_heads(heads))", "mha.merge_heads(heads)")),
    wrong("heads_mixed", "Your split or merge mixes components of different heads or positions.",
          "Does head 0 own the first block of components or every h-th one, and from which positions do its rows "
          "come?",
          edit("q = mha.split_heads(self.w_q(x), self.num_heads)",
               "q = self.w_q(x).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)"),
          edit("mha.merge_heads(heads)", "heads.reshape(x.shape)", name="merged_wrongly"),
          edit("mha.split_heads(self.w_q(x), self.num_heads)",
               "self.w_q(x).view(len(x), self.num_heads, x.size(1), -1)",
               "mha.split_heads(self.w_k(x), self.num_kv_heads)",
               "self.w_k(x).view(len(x), self.num_kv_heads, x.size(1), -1)",
               "mha.split_heads(self.w_v(x), self.num_kv_heads)",
               "self.w_v(x).view(len(x), self.num_kv_heads, x.size(1), -1)",
               "mha.merge_heads(heads)", "heads.reshape(x.shape)", name="never_transposed"),
          tests="features"),
    wrong("keys_as_values", "The keys serve as values.",
          "Where is `w_v` used?",
          edit("v = mha.split_heads(self.w_v(x)", "v = mha.split_heads(self.w_k(x)")),
    wrong("full_keys",
          "Keys and values have as many heads as the queries: `num_kv_heads` has no effect on the weights.",
          "How many rows has `w_k`?",
          edit("self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)",
               "self.w_k = nn.Linear(d_model, num_heads * d_k, bias=False)",
               "self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)",
               "self.w_v = nn.Linear(d_model, num_heads * d_k, bias=False)")),
    wrong("biases", "There are biases; the layers of this unit have none.",
          "What is the default of `bias` in `nn.Linear`?",
          edit("self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)",
               "self.w_q = nn.Linear(d_model, num_heads * d_k)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model)"),
          edit("self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model)", name="bias_of_the_output"),
          edit("self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)",
               "self.w_q = nn.Linear(d_model, num_heads * d_k)",
               "self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)",
               "self.w_k = nn.Linear(d_model, num_kv_heads * d_k)",
               "self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)",
               "self.w_v = nn.Linear(d_model, num_kv_heads * d_k)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model)", name="all_biases"),
          tests="Submodules"),
    wrong("numbers_not_kept",
          "`num_heads`, `num_kv_heads` or `base` is not an attribute of your module, or has a different value.",
          "How can code that has only the module split its projections?",
          edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads",
               "self.h, self.g = num_heads, num_kv_heads",
               "self.w_q(x), self.num_heads", "self.w_q(x), self.h",
               "self.w_k(x), self.num_kv_heads", "self.w_k(x), self.g",
               "self.w_v(x), self.num_kv_heads", "self.w_v(x), self.g"),
          edit("self.base = base", "self.theta = base", "base=self.base", "base=self.theta", name="base_not_kept"),
          tests="`num_kv_heads`"),
    wrong("pair_returned", "You return a pair; return only the output.",
          "What does `forward` return, by its docstring?",
          edit("heads, _ = grouped", "heads, weights = grouped",
               "return self.w_o(mha.merge_heads(heads))", "return self.w_o(mha.merge_heads(heads)), weights")),
    wrong("residual", "x is added to the result; adding it is the block's job.",
          "What does the layer return if all its weights are zero?",
          edit("return self.w_o(", "return x + self.w_o(")),
    wrong("table_in_the_state",
          "The `state_dict()` contains more than the four weights: a table of angles, for example.",
          "What does `persistent=False` do in `register_buffer`?",
          edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads", """
              self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
              self.register_buffer("angles", rotary_angles(64, d_k, base=base))
              """), tests="exercises"),
]

ACCEPTED = [
    right("by_hand", source("""
        class CausalAttention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads, base=1e4):
                super().__init__()
                self.num_kv_heads, self.num_heads, self.base = num_kv_heads, num_heads, base
                self.d_k = d_model // num_heads
                self.w_o = nn.Linear(d_model, d_model, bias=False)
                self.w_v = nn.Linear(d_model, self.d_k * num_kv_heads, bias=False)
                self.w_k = nn.Linear(d_model, self.d_k * num_kv_heads, bias=False)
                self.w_q = nn.Linear(d_model, d_model, bias=False)

            def forward(self, x):
                b, n, d = x.shape
                q = self.w_q(x).view(b, n, self.num_heads, self.d_k).transpose(1, 2)
                k = self.w_k(x).view(b, n, self.num_kv_heads, self.d_k).transpose(1, 2)
                v = self.w_v(x).view(b, n, self.num_kv_heads, self.d_k).transpose(1, 2)
                angles = rotary_angles(n, self.d_k, 0, self.base)
                out = F.scaled_dot_product_attention(
                    rotate(q, angles), rotate(k, angles), v, is_causal=True, enable_gqa=True)
                return self.w_o(out.transpose(1, 2).reshape(b, n, d))
        """)),
    right("kept_table", edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads", """
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.register_buffer("angles", rotary_angles(512, d_k, base=base), persistent=False)
        """,
                             _ANGLES, "angles = self.angles[: x.size(1)]")),
    right("from_place_one", edit("q.size(-1), base=self.base", "q.size(-1), 1, self.base")),
]

EXERCISE = Specification(
    tells={"property_sizes": "base_as_offset"},
    target="CausalAttention", results="the output", fixed="d_model", numbers="num_heads num_kv_heads base",
    contract=Contract(named=True, alone=True),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
