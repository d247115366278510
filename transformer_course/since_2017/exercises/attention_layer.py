"""Causal self-attention with rotary positions and grouped heads."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.authoring.layer_inputs import (
    attention_inputs,
    observing_moves,
    one_text,
)

_ROTATED = "q, k = rotate(q, angles), rotate(k, angles)"
_ANGLES = "angles = rotary_angles(x.size(1), q.size(-1), base=self.base)"

CASES = [
    case("grouped", "4 heads, 2 of keys and values", observing_moves(attention_inputs(3, 5, 16, 4, 2)),
         "Project, split, rotate queries and keys, attend causally, merge, project.", atol=1e-4),
    case("multi_query", "3 heads, 1 of keys and values, base 500", attention_inputs(2, 6, 12, 3, 1, base=500.0),
         "Keys and values have their own number of heads, and the angles their own base.", atol=1e-4),
    case("multi_head", "2 of each", attention_inputs(4, 3, 20, 2, 2),
         "As above.", atol=1e-4),
    case("more", "6 heads, 3 of keys and values, base 100,000", attention_inputs(2, 4, 24, 6, 3, base=1e5),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("no_positions",
          "Nothing is rotated: the layer does not know the order of its past.",
          "Where do `rotary_angles` and `rotate` occur in your code?",
          edit(_ROTATED, "pass")),
    wrong("made_ahead",
          "Your layer has angles for a small number of positions only: a longer text does not fit.",
          "How long may a text be? What does the docstring say about `L`?",
          edit(_ANGLES, "angles = rotary_angles(256, q.size(-1), base=self.base)[: x.size(1)]")),
    wrong("values_turned",
          "The values are rotated as well; only queries and keys should be.",
          "What do values carry: where something is, or what it is?",
          edit(_ROTATED, "q, k, v = rotate(q, angles), rotate(k, angles), rotate(v, angles)")),
    wrong("only_queries_turned",
          "Only the queries are rotated, so a score depends on the position, not on the distance.",
          "Whose angles are subtracted in `(m - n)θ`?",
          edit(_ROTATED, "q = rotate(q, angles)")),
    wrong("only_keys_turned",
          "Only the keys are rotated, so a score depends on the position, not on the distance.",
          "Whose angles are subtracted in `(m - n)θ`?",
          edit(_ROTATED, "k = rotate(k, angles)")),
    wrong("turned_before_the_split",
          "Queries and keys are rotated before they are split into heads, so pairs reach across heads.",
          "Which `d_k` does `rotate` see before the split?",
          edit("q = mha.split_heads(self.w_q(x), self.num_heads)",
               "q = mha.split_heads(rotate(self.w_q(x), rotary_angles(x.size(1), self.w_q.out_features, base=self.base)), self.num_heads)",
               "k = mha.split_heads(self.w_k(x), self.num_kv_heads)",
               "k = mha.split_heads(rotate(self.w_k(x), rotary_angles(x.size(1), self.w_k.out_features, base=self.base)), self.num_kv_heads)",
               _ROTATED, "pass")),
    wrong("input_turned",
          "The input is rotated instead of queries and keys, so the values are affected as well.",
          "In which tensors should the distance be visible?",
          edit("q = mha.split_heads(self.w_q(x)",
               "x = rotate(x, rotary_angles(x.size(1), x.size(-1), base=self.base)); q = mha.split_heads(self.w_q(x)",
               _ROTATED, "pass")),
    wrong("neighbours_turned",
          "Your layer rotates pairs of neighbours; here, a pair has one component in each half of the vector.",
          "Which two components does your `rotate` combine, and does the layer use it unchanged?",
          edit("q, k = rotate(q, angles), rotate(k, angles)",
               "q, k = (rotate(x.unflatten(-1, (-1, 2)).mT.flatten(-2), angles) for x in (q, k))")),
    wrong("turned_by_heads",
          "The angles run over the heads, not over the positions.",
          "Which dimension of `(B, h, L, d_k)` holds the positions?",
          edit(_ROTATED,
               "q, k = (rotate(t.transpose(1, 2), rotary_angles(t.size(1), t.size(-1), base=self.base)).transpose(1, 2) for t in (q, k))")),
    wrong("places_backwards",
          "Positions are counted from the end of the text.",
          "Which angle does the first token get, and does it change when the text grows?",
          edit(_ANGLES, f"{_ANGLES}.flip(0)")),
    wrong("other_base",
          "The angles do not use the base that the layer is given.",
          "Which base does your layer have by default?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), base=1000.0)")),
    wrong("base_ignored",
          "The angles always have the base 10,000: `base` has no influence.",
          "What is the fourth argument of `rotary_angles`?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1))")),
    wrong("base_as_offset",
          "The base is passed in place of the offset.",
          "In which order does `rotary_angles` take its arguments?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), self.base)")),
    wrong("no_mask",
          "Positions see the future: there is no causal mask.",
          "Which mask do you pass to `grouped_attention`?",
          edit(", attention.causal_mask(x.size(1)))", ")")),
    wrong("mask_turned_over",
          "Positions see the future and not the past.",
          "Which triangle of the mask is True?",
          edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).T")),
    wrong("not_oneself",
          "A position does not see itself.",
          "Is the diagonal of a causal mask True?",
          edit("attention.causal_mask(x.size(1))",
               "attention.causal_mask(x.size(1)).tril(-1) | (torch.arange(x.size(1)) == 0)")),
    wrong("near_past_only",
          "A position sees only the nearest positions before it.",
          "How far back may a position look?",
          edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).triu(-2)")),
    wrong("no_output_projection",
          "The output projection `w_o` has no influence.",
          "What happens to the heads after they are merged?",
          edit("self.w_o(mha.merge_heads(heads))", "mha.merge_heads(heads)")),
    wrong("merged_wrongly",
          "The heads are merged in the wrong order: components of different positions and heads are mixed.",
          "Which dimensions must be adjacent before they are flattened?",
          edit("mha.merge_heads(heads)", "heads.reshape(x.shape)")),
    wrong("split_wrongly",
          "The split gives each head the wrong components.",
          "Does head 0 own the first block of components, or every h-th one?",
          edit("q = mha.split_heads(self.w_q(x), self.num_heads)",
               "q = self.w_q(x).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)"), tests="features"),
    wrong("never_transposed",
          "You reshape to heads and back without a transpose: components of different positions are mixed.",
          "After `view(B, h, L, d_k)`, from which positions do the rows of head 0 come?",
          edit("mha.split_heads(self.w_q(x), self.num_heads)",
               "self.w_q(x).view(len(x), self.num_heads, x.size(1), -1)",
               "mha.split_heads(self.w_k(x), self.num_kv_heads)",
               "self.w_k(x).view(len(x), self.num_kv_heads, x.size(1), -1)",
               "mha.split_heads(self.w_v(x), self.num_kv_heads)",
               "self.w_v(x).view(len(x), self.num_kv_heads, x.size(1), -1)",
               "mha.merge_heads(heads)", "heads.reshape(x.shape)")),
    wrong("keys_as_values",
          "The keys serve as values.",
          "Where is `w_v` used?",
          edit("v = mha.split_heads(self.w_v(x)", "v = mha.split_heads(self.w_k(x)")),
    wrong("full_keys",
          "Keys and values have as many heads as the queries: `num_kv_heads` has no influence on the weights.",
          "How many rows has `w_k`?",
          edit("self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)",
               "self.w_k = nn.Linear(d_model, num_heads * d_k, bias=False)",
               "self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)",
               "self.w_v = nn.Linear(d_model, num_heads * d_k, bias=False)")),
    wrong("biases",
          "There are biases; the layers of this unit have none.",
          "What is the default of `bias` in `nn.Linear`?",
          edit("self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)",
               "self.w_q = nn.Linear(d_model, num_heads * d_k)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)",
               "self.w_o = nn.Linear(num_heads * d_k, d_model)"), tests="Submodules"),
    wrong("numbers_not_kept",
          "`num_heads`, `num_kv_heads` or `base` is not an attribute of your module, or has a different value.",
          "How can code that has only the module split its projections?",
          edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads",
               "self.h, self.g = num_heads, num_kv_heads",
               "self.w_q(x), self.num_heads", "self.w_q(x), self.h",
               "self.w_k(x), self.num_kv_heads", "self.w_k(x), self.g",
               "self.w_v(x), self.num_kv_heads", "self.w_v(x), self.g"), tests="`num_kv_heads`"),
    wrong("base_not_kept",
          "`base` is not an attribute of your module.",
          "How can code that has only the module rotate its keys?",
          edit("self.base = base", "self.theta = base", "base=self.base", "base=self.theta")),
    wrong("pair_returned",
          "You return a pair; return only the output.",
          "What does `forward` return, by its docstring?",
          edit("heads, _ = grouped", "heads, weights = grouped",
               "return self.w_o(mha.merge_heads(heads))", "return self.w_o(mha.merge_heads(heads)), weights")),
    wrong("residual",
          "x is added to the result; adding it is the block's job.",
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
    right("fused", edit("q = mha.split_heads(self.w_q(x), self.num_heads)", """
        every = F.linear(x, torch.cat((self.w_q.weight, self.w_k.weight, self.w_v.weight)))
        sizes = [self.w_q.out_features, self.w_k.out_features, self.w_v.out_features]
        wide, narrow, values = every.split(sizes, dim=-1)
        q = mha.split_heads(wide, self.num_heads)
        """,
                        "mha.split_heads(self.w_k(x), self.num_kv_heads)", "mha.split_heads(narrow, self.num_kv_heads)",
                        "mha.split_heads(self.w_v(x), self.num_kv_heads)",
                        "mha.split_heads(values, self.num_kv_heads)")),
    right("kept_table", edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads", """
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.register_buffer("angles", rotary_angles(512, d_k, base=base), persistent=False)
        """,
                             _ANGLES, "angles = self.angles[: x.size(1)]")),
    right("from_place_one", edit("q.size(-1), base=self.base", "q.size(-1), 1, self.base")),
]

EXERCISE = Specification(
    target="CausalAttention",
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("grouped",), ways=OF_MODULES, module=True,
        sizes=special(
            one_position=attention_inputs(3, 1, 8, 2, 1),
            # More than a small table has; one of 512 rows is large enough.
            a_long_text=one_text(300, 8), one_head=attention_inputs(2, 3, 4, 1, 1), equal_sizes=attention_inputs(4, 4, 8, 4, 4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
