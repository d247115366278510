"""Self-attention."""

from __future__ import annotations

from autograder.authoring.common import common, under_two_names
from autograder.authoring.contract import OF_ATTENTION, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask, open_mask, projections, with_zeros
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _self(batch: int, length: int, d_model: int, d_k: int, d_v: int, mask: str = "", pull: bool = False) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, length, d_model, scale=1.0)}
        made |= projections(draw, d_model, d_model, d_k, d_v)
        if mask == "padding":
            keep = open_mask(draw, batch, 1, length, chance=0.6)
            while keep.sum(-1).min() < 2:  # with one open entry no score matters
                keep = open_mask(draw, batch, 1, length, chance=0.6)
            made["mask"] = keep
        if mask == "causal":
            made["mask"] = causal_mask(length)
        return made | ({"pull": draw.tensor(batch, length, d_v)} if pull else {})

    return inputs


CASES = [
    case("plain", "2 sentences of 4 words, d_model 5, d_k 3, d_v 6", _self(2, 4, 5, 3, 6),
         "Each linear layer reads x; d_k and d_v may differ."),
    case("padding", "a padding mask for each of 3 sentences", _self(3, 5, 4, 2, 7, mask="padding"),
         "The mask is passed on to attention unchanged.", aspect="masks"),
    case("causal", "a causal mask", _self(2, 6, 3, 5, 4, mask="causal"),
         "The mask is passed on to attention unchanged.", aspect="masks"),
    case("gradient", "the gradient reaches x", _self(3, 2, 6, 4, 5, pull=True),
         "Gradients flow through queries, keys and values alike."),
    case("one_word", "d_k = 1 and a single sentence", _self(1, 3, 7, 1, 2, mask="padding"),
         "No size is a special case.", hidden_only=True, aspect="masks"),
]

CALL = "return scaled_dot_product_attention(q, k, v, mask)"
PROJECT = "q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)"

MISTAKES = [
    # Mistakes in what goes into attention: projections and mask.
    common("query_key_swapped",
           edit("(q, k, v, mask)", "(k, q, v, mask)")),
    wrong("queries_as_keys",
          "Queries and keys come from the same layer: `w_k` is never used.",
          "Should a word look for the same features that it offers?",
          edit("self.w_k(x)", "self.w_q(x)")),
    wrong("keys_as_queries",
          "Queries and keys come from the same layer: `w_q` is never used.",
          "Should a word look for the same features that it offers?",
          edit("self.w_q(x)", "self.w_k(x)")),
    common("keys_as_values", edit("(q, k, v, mask)", "(q, k, k, mask)")),
    wrong("inputs_as_values",
          "The input itself serves as the values, without `w_v`.",
          "Which of your three layers is never used?",
          edit("(q, k, v, mask)", "(q, k, x, mask)")),
    wrong("inputs_compared",
          "The inputs themselves are compared, without `w_q` and `w_k`.",
          "Which of your three layers are never used?",
          edit("(q, k, v, mask)", "(x, x, v, mask)")),
    wrong("zeros_closed",
          "If no mask is given, your layer masks positions whose vector is zero.",
          "Where should the layer learn which positions are padding?",
          edit("(q, k, v, mask)", "(q, k, v, (x != 0).any(-1)[:, None] if mask is None else mask)")),
    common("mask_dropped",
           edit("(q, k, v, mask)", "(q, k, v)")),
    wrong("mask_in_training_only",
          "The mask is used in training mode only.",
          "Should the mode decide which positions may attend to each other?",
          edit("(q, k, v, mask)", "(q, k, v, mask if self.training else None)")),
    common("mask_inverted", edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)")),
    wrong("always_causal",
          "Your layer is always causal, whatever mask it is given.",
          "Who decides which mask is used?",
          edit("(q, k, v, mask)", "(q, k, v, torch.ones(x.size(1), x.size(1)).tril().bool())")),
    # Mistakes in what comes back, and in what was added on the way.
    common("output_only", on=CALL),
    common("weights_first", edit(CALL, "return scaled_dot_product_attention(q, k, v, mask)[::-1]")),
    common("weights_detached", edit(CALL, f"o, w = {CALL.removeprefix('return ')}; return o, w.detach()")),
    wrong("weights_averaged",
          "The weights have lost a dimension: they should be `(B, L, L)`, one map per sentence.",
          "Is there a mean or an index that should not be there?",
          edit(CALL, """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return o, w.mean(0)
              """)),
    wrong("residual",
          "You added the values to the output: a residual connection that the exercise does not ask for yet.",
          "What does the docstring say `forward` returns?",
          edit(CALL, """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return o + v, w
              """)),
    wrong("normalised",
          "The output is normalised, which the exercise does not ask for yet.",
          "What does the docstring say `forward` returns?",
          edit(CALL, """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return F.layer_norm(o, o.shape[-1:]), w
              """)),
    wrong("activation",
          "The projections pass through a ReLU, so negative entries are lost.",
          "In the formula, what comes between a linear layer and attention?",
          edit(PROJECT, """
              q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
              q, k, v = q.relu(), k.relu(), v.relu()
              """)),
    wrong("output_projection",
          "There is an extra layer, an output projection. It comes with the heads in unit 3, not here.",
          "How many linear layers does the exercise ask for?",
          edit("self.w_v = nn.Linear(d_model, d_v)", """
              self.w_v = nn.Linear(d_model, d_v)
              self.w_o = nn.Linear(d_v, d_v)
              """)),
    # Mistakes in the linear layers: their sizes, names and places.
    under_two_names("self.w_v = nn.Linear(d_model, d_v)",
                    "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v])"),
    common("mask_in_the_state", on="self.w_v = nn.Linear(d_model, d_v)"),
    common("value_size", edit("nn.Linear(d_model, d_v)", "nn.Linear(d_model, d_k)")),
    wrong("key_size",
          "`w_q` and `w_k` map to `d_v`, the dimension of the values, instead of `d_k`.",
          "Which dimension do queries and keys share?",
          edit("self.w_q = nn.Linear(d_model, d_k)", "self.w_q = nn.Linear(d_model, d_v)",
               "self.w_k = nn.Linear(d_model, d_k)", "self.w_k = nn.Linear(d_model, d_v)")),
    wrong("model_size",
          "Your layers all map to `d_model`, instead of to `d_k`, `d_k` and `d_v`.",
          "What are the two arguments of `nn.Linear`?",
          edit("self.w_q = nn.Linear(d_model, d_k)", "self.w_q = nn.Linear(d_model, d_model)",
               "self.w_k = nn.Linear(d_model, d_k)", "self.w_k = nn.Linear(d_model, d_model)",
               "self.w_v = nn.Linear(d_model, d_v)", "self.w_v = nn.Linear(d_model, d_model)")),
    wrong("sizes_turned",
          "The input and output dimensions of your layers are swapped.",
          "In `nn.Linear(a, b)`, which one is the input dimension?",
          edit("self.w_q = nn.Linear(d_model, d_k)", "self.w_q = nn.Linear(d_k, d_model)",
               "self.w_k = nn.Linear(d_model, d_k)", "self.w_k = nn.Linear(d_k, d_model)",
               "self.w_v = nn.Linear(d_model, d_v)", "self.w_v = nn.Linear(d_v, d_model)")),
    common("no_bias",
           edit("self.w_q = nn.Linear(d_model, d_k)", "self.w_q = nn.Linear(d_model, d_k, bias=False)",
                "self.w_k = nn.Linear(d_model, d_k)", "self.w_k = nn.Linear(d_model, d_k, bias=False)",
                "self.w_v = nn.Linear(d_model, d_v)", "self.w_v = nn.Linear(d_model, d_v, bias=False)")),
    wrong("other_names",
          "Your layers are not called `w_q`, `w_k` and `w_v`, so no weights can be loaded into them.",
          "What names does the exercise give?",
          source("""
              class SelfAttention(nn.Module):
                  def __init__(self, d_model, d_k, d_v):
                      super().__init__()
                      self.query = nn.Linear(d_model, d_k)
                      self.key = nn.Linear(d_model, d_k)
                      self.value = nn.Linear(d_model, d_v)

                  def forward(self, x, mask=None):
                      q, k, v = self.query(x), self.key(x), self.value(x)
                      return scaled_dot_product_attention(q, k, v, mask)
              """)),
    wrong("plain_list",
          "PyTorch cannot see your layers: they are in a plain Python list, or created anew in `forward`. Such layers "
          "never learn.",
          "What does `list(layer.parameters())` show?",
          source("""
              class SelfAttention(nn.Module):
                  def __init__(self, d_model, d_k, d_v):
                      super().__init__()
                      self.layers = [nn.Linear(d_model, d) for d in (d_k, d_k, d_v)]

                  def forward(self, x, mask=None):
                      q, k, v = (layer(x) for layer in self.layers)
                      return scaled_dot_product_attention(q, k, v, mask)
              """)),
    # Mistakes of the module as a whole: its batch, gradient and start.
    wrong("sequence_first",
          "Your layer treats the positions as the batch: sentences attend to each other at the same position.",
          "Batch first: which dimension holds the words?",
          edit(PROJECT, "q, k, v = (w(x.transpose(0, 1)) for w in (self.w_q, self.w_k, self.w_v))",
               CALL, """
              o, w = scaled_dot_product_attention(q, k, v)
              return o.transpose(0, 1), w
              """)),
    wrong("batch_flattened",
          "You joined all sentences into one long sequence, so words attend to other sentences.",
          "What is the shape of your weights? It should be `(B, L, L)`.",
          edit(PROJECT, "q, k, v = (w(x.flatten(0, 1)) for w in (self.w_q, self.w_k, self.w_v))",
               CALL, """
              o, w = scaled_dot_product_attention(q, k, v)
              return o.unflatten(0, x.shape[:2]), w
              """)),
    wrong("no_gradient",
          "No gradient flows back to the input.",
          "Is there a `detach` or `no_grad` in your `forward`?",
          edit("self.w_q(x), self.w_k(x), self.w_v(x)",
               "self.w_q(x.detach()), self.w_k(x.detach()), self.w_v(x.detach())")),
    wrong("dropout",
          "Some entries are randomly zeroed, even in eval mode: there is a dropout that the exercise does not ask for.",
          "Does your layer give the same result twice?",
          edit("self.w_v(x)", "F.dropout(self.w_v(x), 0.3)")),
    wrong("scaled_by_model",
          "The scores are scaled by the square root of `d_model` instead of `d_k`.",
          "Which vectors are compared, and how long are they?",
          edit("self.w_q(x)", "self.w_q(x) * (self.w_q.out_features / self.w_q.in_features) ** 0.5")),
    wrong("nothing_returned",
          "`forward` computes something but returns nothing.",
          "Which line hands the result to the caller?",
          edit(CALL, "scaled_dot_product_attention(q, k, v, mask)")),
    wrong("no_super",
          "`super().__init__()` is missing, so the module cannot hold layers.",
          "What does the first line of `__init__` in the stub do?",
          edit("super().__init__()", "pass")),
    wrong("starts_at_zero",
          "`w_q` starts at zero, so at first all scores are equal and the keys get no gradient.",
          "How does `nn.Linear` initialise its weights, and why?",
          edit("self.w_v = nn.Linear(d_model, d_v)",
               "self.w_v = nn.Linear(d_model, d_v); nn.init.zeros_(self.w_q.weight)")),
    wrong("starts_alike",
          "`w_k` starts as a copy of `w_q`, so at first each word prefers to attend to itself.",
          "Should any two layers be equal before training?",
          edit("self.w_v = nn.Linear(d_model, d_v)",
               "self.w_v = nn.Linear(d_model, d_v); self.w_k.load_state_dict(self.w_q.state_dict())")),
    wrong("starts_large",
          "The initial weights of `w_v` are far too large.",
          "How large are the initial weights of `nn.Linear`?",
          edit("self.w_v = nn.Linear(d_model, d_v)",
               "self.w_v = nn.Linear(d_model, d_v); nn.init.normal_(self.w_v.weight, std=50.0)")),
]

ACCEPTED = [
    right("other_order", source("""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.d_k = d_k
                self.w_v = nn.Linear(d_model, d_v)
                self.w_k = nn.Linear(d_model, d_k)
                self.w_q = nn.Linear(d_model, d_k)
                nn.init.xavier_uniform_(self.w_q.weight)

            def forward(self, x, mask=None):
                scores = self.w_q(x) @ self.w_k(x).mT / self.d_k**0.5
                if mask is not None:
                    scores = scores.masked_fill(~mask, -1e9)
                weights = scores.softmax(-1)
                return torch.matmul(weights, self.w_v(x)), weights
        """)),
    right("fused", source("""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.w_q, self.w_k = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)
                self.w_v = nn.Linear(d_model, d_v)

            def forward(self, x, mask=None):
                layers = (self.w_q, self.w_k, self.w_v)
                weight = torch.cat([layer.weight for layer in layers])
                bias = torch.cat([layer.bias for layer in layers])
                sizes = [layer.out_features for layer in layers]
                q, k, v = F.linear(x, weight, bias).split(sizes, dim=-1)
                return scaled_dot_product_attention(q, k, v, mask)
        """)),
    right("keywords", edit(CALL, """
        out, w = scaled_dot_product_attention(q=q, k=k, v=v, mask=mask)
        return out, w
        """)),
    right("values_last", source("""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_model, d_k)
                self.w_v = nn.Linear(d_model, d_v)

            def forward(self, x, mask=None):
                mixed, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), x, mask)
                return self.w_v(mixed), weights
        """)),
    right("per_sentence", source("""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_model, d_k)
                self.w_v = nn.Linear(d_model, d_v)

            def forward(self, x, mask=None):
                B, L, _ = x.shape
                mask = torch.ones(B, L, L).bool() if mask is None else mask.expand(B, L, L)
                outputs, maps = [], []
                for sentence, keep in zip(x, mask):
                    q, k, v = self.w_q(sentence), self.w_k(sentence), self.w_v(sentence)
                    o, w = scaled_dot_product_attention(q, k, v, keep)
                    outputs.append(o)
                    maps.append(w)
                return torch.stack(outputs), torch.stack(maps)
        """)),
    right("parameters_and_einsum", source("""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                for name, size in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
                    self.add_module(name, nn.Linear(d_model, size))

            def forward(self, x, mask=None):
                scores = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x))
                scores = scores * self.w_q.out_features ** -0.5
                if mask is not None:
                    scores = scores + torch.log(mask.to(scores.dtype))
                weights = torch.softmax(scores, dim=2)
                return torch.einsum("bij,bjd->bid", weights, self.w_v(x)), weights
        """)),
]

EXERCISE = Specification(
    name="attention/self_attention", title="Self-attention", target="SelfAttention",
    aspects={"weights": 4.0},  # right ones are half of the way
    contract=Contract(
        arguments="x: B L d; mask?: L L | B L L", results="output: B L e; weights: B L L", on=("plain", "padding"),
        ways=OF_ATTENTION, module=True, alone=True,
        sizes=special(
            one_sentence=_self(1, 3, 4, 2, 5, mask="padding"), one_position=_self(3, 1, 4, 2, 5),
            equal_sizes=_self(3, 3, 3, 3, 3, mask="causal"), d_model_of_one=_self(2, 3, 1, 4, 5),
            a_position_of_zeros=with_zeros(_self(2, 3, 4, 2, 5), "x"),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
