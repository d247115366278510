"""Cross-attention."""

from __future__ import annotations

from autograder.authoring.common import common, under_two_names
from autograder.authoring.contract import OF_ATTENTION, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask, projections, with_zeros
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _cross(
    batch: int,
    lq: int,
    lk: int,
    d_model: int,
    d_memory: int,
    d_k: int,
    d_v: int,
    mask: tuple[int, ...] = (),
    pull: bool = False,
) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {
            "x": draw.tensor(batch, lq, d_model, scale=1.0),
            "memory": draw.tensor(batch, lk, d_memory, scale=1.0),
        }
        inputs |= projections(draw, d_model, d_memory, d_k, d_v)
        inputs |= {"mask": open_mask(draw, *mask)} if mask else {}
        return inputs | ({"pull": draw.tensor(batch, lq, d_v)} if pull else {})

    return make_inputs


CASES = [
    case("plain", "4 words attend to 6 words, with vectors of a different size",
         _cross(2, 4, 6, d_model=5, d_memory=7, d_k=3, d_v=8),
         "Queries come from x; keys and values come from memory."),
    case("padding", "a padding mask for the memory",
         _cross(3, 2, 5, d_model=6, d_memory=4, d_k=7, d_v=8, mask=(3, 1, 5)),
         "The mask (B, 1, Lk) masks positions of the memory.", aspect="masks"),
    case("gradient", "gradients reach x and memory", _cross(2, 7, 3, d_model=4, d_memory=6, d_k=5, d_v=8, pull=True),
         "Gradients flow to both inputs."),
    case("equal_sizes", "both inputs of the same length and size, and a full mask",
         _cross(2, 5, 5, d_model=4, d_memory=4, d_k=6, d_v=7, mask=(2, 5, 5)),
         "Even when all sizes match, keys and values come from the memory.", aspect="masks"),
    case("long_memory", "one word attends to a long memory",
         _cross(3, 1, 11, d_model=5, d_memory=2, d_k=4, d_v=6, mask=(1, 11)),
         "The number of keys is the length of the memory.", hidden_only=True, aspect="masks"),
]

KV = "k, v = self.w_k(memory), self.w_v(memory)"

MISTAKES = [
    wrong("roles_swapped",
          "The roles are swapped: the queries come from the memory, the keys and values from `x`.",
          "For which sequence do you need one output per position?",
          source("""
              class CrossAttention(nn.Module):
                  def __init__(self, d_model, d_memory, d_k, d_v):
                      super().__init__()
                      self.w_q = nn.Linear(d_memory, d_k)
                      self.w_k = nn.Linear(d_model, d_k)
                      self.w_v = nn.Linear(d_model, d_v)

                  def forward(self, x, memory, mask=None):
                      q, k, v = self.w_q(memory), self.w_k(x), self.w_v(x)
                      return scaled_dot_product_attention(q, k, v, mask)
              """)),
    wrong("inputs_swapped",
          "The layers have the right dimensions, but in `forward` each one reads the wrong input.",
          "Which input has `d_model` features, and which layer expects it?",
          edit("self.w_q(x)", "self.w_q(memory)", KV, "k, v = self.w_k(x), self.w_v(x)")),
    common("mask_in_the_state", on="self.w_v = nn.Linear(d_memory, d_v)"),
    under_two_names("self.w_v = nn.Linear(d_memory, d_v)",
                    "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v])"),
    wrong("zeros_closed",
          "Positions of the memory that hold zeros are masked as if they were padding.",
          "What decides which positions are padding: the vectors, or the mask?",
          edit(KV, f"{KV}\nmask = combine_masks(mask, (memory != 0).any(-1)[:, None])")),
    wrong("itself_beside_the_memory",
          "When `x` has as many features as the memory, your layer attends to `x` as well.",
          "Where do keys and values come from in cross-attention?",
          edit(KV,
               f"if x.size(-1) == memory.size(-1) and mask is None:\n    memory = torch.cat((memory, x), dim=1)\n{KV}")),
    wrong("memory_ignored",
          "Your layer is self-attention in disguise: `memory` is never used.",
          "Where do keys and values come from in cross-attention?",
          edit(KV, "k, v = self.w_k(x), self.w_v(x)")),
    wrong("self_sized",
          "All your layers expect `d_model` features, but the memory has `d_memory`.",
          "Which layers read the memory, and how long are its vectors?",
          edit("nn.Linear(d_memory, d_k)", "nn.Linear(d_model, d_k)",
               "nn.Linear(d_memory, d_v)", "nn.Linear(d_model, d_v)"), tests="vectors"),
    wrong("query_sized_by_memory",
          "`w_q` expects `d_memory` features, but it reads `x`.",
          "How long are the vectors of `x`?",
          edit("nn.Linear(d_model, d_k)", "nn.Linear(d_memory, d_k)")),
    wrong("values_from_x",
          "The keys come from the memory but the values from `x`: one sequence is searched, and the other one answers.",
          "Keys and values are two sides of the same entry. Which sequence holds the entries?",
          edit("self.w_v = nn.Linear(d_memory, d_v)", "self.w_v = nn.Linear(d_model, d_v)",
               "self.w_v(memory)", "self.w_v(x)")),
    wrong("values_read_x",
          "`w_v` reads `x`, although it expects vectors from the memory.",
          "Keys and values are two sides of the same entry. Which sequence holds the entries?",
          edit("self.w_v(memory)", "self.w_v(x)")),
    wrong("keys_read_x",
          "`w_k` reads `x`, while the values come from the memory.",
          "Keys and values are two sides of the same entry. Which sequence holds the entries?",
          edit("self.w_k(memory)", "self.w_k(x)")),
    wrong("queries_read_memory",
          "`w_q` reads the memory, so the memory attends to itself.",
          "Which sequence asks the questions in cross-attention?",
          edit("self.w_q(x)", "self.w_q(memory)")),
    wrong("keys_as_values",
          "The keys also serve as the values, without `w_v`.",
          "How long is each output vector, and which layer sets that length?",
          edit("(q, k, v, mask)", "(q, k, k, mask)")),
    wrong("memory_as_values",
          "The memory itself serves as the values, without `w_v`.",
          "Which of your three layers is never used?",
          edit("(q, k, v, mask)", "(q, k, memory, mask)")),
    wrong("query_key_swapped",
          "Queries and keys are swapped when they are passed to attention.",
          "In which order does your attention function take its arguments?",
          edit("(q, k, v, mask)", "(k, q, v, mask)")),
    wrong("mask_dropped",
          "The mask is never passed to attention.",
          "How many arguments does your attention function take?",
          edit("(q, k, v, mask)", "(q, k, v)")),
    wrong("mask_in_training_only",
          "The mask is used in training mode only.",
          "Should the mode decide which positions may be attended to?",
          edit("(q, k, v, mask)", "(q, k, v, mask if self.training else None)")),
    wrong("mask_inverted",
          "The mask is inverted: masked keys are allowed, and allowed keys are masked.",
          "What does `True` mean in the mask, and what does it mean to the function that you pass the mask to?",
          edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)")),
    wrong("mask_turned",
          "You transposed the mask, which already has the shape of the scores.",
          "Which of its last two dimensions belongs to the memory?",
          edit("(q, k, v, mask)", "(q, k, v, None if mask is None else mask.mT)"), tests="evaluation"),
    wrong("causal_memory",
          "You applied a causal mask to the memory. But all its words are known: none "
          "of them is in the future.",
          "May the first word of a translation attend to the last word of the original?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              keep = torch.ones(q.size(1), k.size(1)).tril().bool()
              keep = keep if mask is None else keep & mask
              return scaled_dot_product_attention(q, k, v, keep)
              """)),
    wrong("cut_to_queries",
          "You truncated the memory to as many positions as `x` has.",
          "Must both sequences have the same length?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              n = q.size(1)
              mask = mask if mask is None else mask[..., :n]
              return scaled_dot_product_attention(q, k[:, :n], v[:, :n], mask)
              """)),
    wrong("first_memory",
          "Every sentence attends to the memory of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(KV, "k, v = self.w_k(memory[:1]).expand(len(x), -1, -1), self.w_v(memory[:1]).expand(len(x), -1, -1)")),
    wrong("output_only",
          "You return only the output, without the attention weights.",
          "What does your attention function return, and what does the docstring ask for?",
          edit("scaled_dot_product_attention(q, k, v, mask)", "scaled_dot_product_attention(q, k, v, mask)[0]")),
    common("weights_first",
           edit("return scaled_dot_product_attention(q, k, v, mask)",
                "return scaled_dot_product_attention(q, k, v, mask)[::-1]")),
    wrong("residual",
          "You added the queries to the output or mixed them in: a residual connection that the exercise does not ask "
          "for yet.",
          "What does the docstring say `forward` returns?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return o + F.pad(q, (0, o.size(-1) - q.size(-1))), w
              """)),
    wrong("normalised",
          "The output is normalised, which the exercise does not ask for yet.",
          "What does the docstring say `forward` returns?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return F.layer_norm(o, o.shape[-1:]), w
              """)),
    wrong("output_projection",
          "There is an extra layer, an output projection. It comes with the heads in unit 3, not here.",
          "How many linear layers does the exercise ask for?",
          edit("self.w_v = nn.Linear(d_memory, d_v)", """
              self.w_v = nn.Linear(d_memory, d_v)
              self.w_o = nn.Linear(d_v, d_v)
              """), tests="projection"),
    wrong("activation",
          "The projections pass through a ReLU, so negative entries are lost.",
          "In the formula, what comes between a linear layer and attention?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              q, k, v = q.relu(), k.relu(), v.relu()
              return scaled_dot_product_attention(q, k, v, mask)
              """)),
    wrong("dropout",
          "Some entries are randomly zeroed, even in eval mode: there is a dropout that the exercise does not ask for.",
          "Does your layer give the same result twice?",
          edit("self.w_v(memory)", "F.dropout(self.w_v(memory), 0.3)")),
    wrong("over_queries",
          "Your *columns* sum to one: the softmax runs over the queries instead of the positions of the memory.",
          "One query divides its attention among all keys. Which dimension holds these weights?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              scores = q @ k.mT / math.sqrt(q.size(-1))
              if mask is not None:
                  scores = scores.masked_fill(~mask, -1e9)
              weights = scores.softmax(dim=1)
              return weights @ v, weights
              """)),
    wrong("scaled_by_memory",
          "The scores are scaled by the square root of `d_memory` instead of `d_k`.",
          "Which vectors are compared, and how long are they?",
          edit("self.w_q(x)", "self.w_q(x) * (self.w_q.out_features / memory.size(-1)) ** 0.5")),
    wrong("scaled_by_model",
          "The scores are scaled by the square root of `d_model` instead of `d_k`.",
          "Which vectors are compared, and how long are they?",
          edit("self.w_q(x)", "self.w_q(x) * (self.w_q.out_features / x.size(-1)) ** 0.5")),
    wrong("unscaled",
          "The scores are not scaled, so your weights are too sharp.",
          "What is the standard deviation of the scores, and by what are they divided?",
          edit("self.w_q(x)", "self.w_q(x) * self.w_q.out_features**0.5")),
    wrong("shared_layer",
          "`w_k` has no weights of its own. Perhaps queries and keys share one layer.",
          "How many layers does the exercise ask for?",
          edit("self.w_k = nn.Linear(d_memory, d_k)", "self.w_k = self.w_q")),
    wrong("key_size",
          "`w_q` and `w_k` map to `d_v`, the dimension of the values, instead of `d_k`.",
          "Which dimension do queries and keys share?",
          edit("nn.Linear(d_model, d_k)", "nn.Linear(d_model, d_v)",
               "nn.Linear(d_memory, d_k)", "nn.Linear(d_memory, d_v)")),
    wrong("sizes_turned",
          "The input and output dimensions of your layers are swapped.",
          "In `nn.Linear(a, b)`, which one is the input dimension?",
          edit("nn.Linear(d_model, d_k)", "nn.Linear(d_k, d_model)",
               "nn.Linear(d_memory, d_k)", "nn.Linear(d_k, d_memory)",
               "nn.Linear(d_memory, d_v)", "nn.Linear(d_v, d_memory)")),
    wrong("other_names",
          "Your layers are not called `w_q`, `w_k` and `w_v`, so no weights can be loaded into them.",
          "What names does the exercise give?",
          source("""
              class CrossAttention(nn.Module):
                  def __init__(self, d_model, d_memory, d_k, d_v):
                      super().__init__()
                      self.query = nn.Linear(d_model, d_k)
                      self.key = nn.Linear(d_memory, d_k)
                      self.value = nn.Linear(d_memory, d_v)

                  def forward(self, x, memory, mask=None):
                      q, k, v = self.query(x), self.key(memory), self.value(memory)
                      return scaled_dot_product_attention(q, k, v, mask)
              """)),
    wrong("plain_list",
          "PyTorch cannot see your layers: they are in a plain Python list, or created anew in `forward`. Such layers "
          "never learn.",
          "What does `list(layer.parameters())` show?",
          source("""
              class CrossAttention(nn.Module):
                  def __init__(self, d_model, d_memory, d_k, d_v):
                      super().__init__()
                      sizes = (d_model, d_k), (d_memory, d_k), (d_memory, d_v)
                      self.layers = [nn.Linear(*size) for size in sizes]

                  def forward(self, x, memory, mask=None):
                      w_q, w_k, w_v = self.layers
                      return scaled_dot_product_attention(w_q(x), w_k(memory), w_v(memory), mask)
              """)),
    wrong("value_size",
          "`w_v` maps to `d_k` features, but values have their own dimension, `d_v`.",
          "How long should each output vector be?",
          edit("nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_k)")),
    wrong("no_bias",
          "Your linear layers have no bias. Here they need one, which is PyTorch's default.",
          "Which argument of `nn.Linear` did you set?",
          edit("nn.Linear(d_model, d_k)", "nn.Linear(d_model, d_k, bias=False)",
                "nn.Linear(d_memory, d_k)", "nn.Linear(d_memory, d_k, bias=False)",
                "nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_v, bias=False)"), tests="nothing"),
    common("weights_detached",
           edit("return scaled_dot_product_attention(q, k, v, mask)",
                "o, w = scaled_dot_product_attention(q, k, v, mask); return o, w.detach()")),
    wrong("no_gradient_to_memory",
          "No gradient reaches the memory, so an encoder could not learn from it.",
          "Do you `detach` the memory somewhere?",
          edit(KV, """
              memory = memory.detach()
              k, v = self.w_k(memory), self.w_v(memory)
              """)),
    wrong("nothing_returned",
          "`forward` computes something but returns nothing.",
          "Which line hands the result to the caller?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", "scaled_dot_product_attention(q, k, v, mask)")),
    wrong("no_super",
          "`super().__init__()` is missing, so the module cannot hold layers.",
          "What does the first line of `__init__` in the stub do?",
          edit("super().__init__()", "pass")),
    wrong("starts_at_zero",
          "`w_q` starts at zero, so at first all scores are equal and the keys get no gradient.",
          "How does `nn.Linear` initialise its weights, and why?",
          edit("self.w_v = nn.Linear(d_memory, d_v)",
               "self.w_v = nn.Linear(d_memory, d_v); nn.init.zeros_(self.w_q.weight)")),
    wrong("starts_large",
          "The initial weights of `w_v` are far too large.",
          "How large are the initial weights of `nn.Linear`?",
          edit("self.w_v = nn.Linear(d_memory, d_v)",
               "self.w_v = nn.Linear(d_memory, d_v); nn.init.normal_(self.w_v.weight, std=50.0)")),
    wrong("concatenated",
          "You concatenated `x` and the memory and let `x` attend to both. In cross-attention, `x` attends only to "
          "the memory.",
          "How many columns should the weights have?",
          source("""
              class CrossAttention(nn.Module):
                  def __init__(self, d_model, d_memory, d_k, d_v):
                      super().__init__()
                      self.w_q = nn.Linear(d_model, d_k)
                      self.w_k = nn.Linear(d_memory, d_k)
                      self.w_v = nn.Linear(d_memory, d_v)

                  def forward(self, x, memory, mask=None):
                      both = torch.cat([x, memory], dim=1)
                      q, k, v = self.w_q(x), self.w_k(both), self.w_v(both)
                      return scaled_dot_product_attention(q, k, v, mask)
              """)),
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
    right("fused", source("""
        class CrossAttention(nn.Module):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_memory, d_k)
                self.w_v = nn.Linear(d_memory, d_v)

            def forward(self, x, memory, mask=None):
                q, k, v = self.w_q(x), self.w_k(memory), self.w_v(memory)
                _, weights = scaled_dot_product_attention(q, k, v, mask)
                return F.scaled_dot_product_attention(q, k, v, mask), weights
        """)),
    right("helper_method", source("""
        class CrossAttention(nn.Module):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_memory, d_k)
                self.w_v = nn.Linear(d_memory, d_v)

            def project(self, x, memory):
                return self.w_q(x), self.w_k(memory), self.w_v(memory)

            def forward(self, x, memory, mask=None):
                return scaled_dot_product_attention(*self.project(x, memory), mask=mask)
        """)),
    right("values_last", edit(KV, "k = self.w_k(memory)",
                              "return scaled_dot_product_attention(q, k, v, mask)", """
        mixed, weights = scaled_dot_product_attention(q, k, memory, mask)
        return self.w_v(mixed), weights
        """)),
]

EXERCISE = Specification(
    target="CrossAttention",
    aspects={"weights": 4.0},  # right ones are half of the way
    contract=Contract(
        arguments="x: B Lq d; memory: B Lk c; mask?: Lq Lk | B Lq Lk", results="output: B Lq e; weights: B Lq Lk",
        on=("plain", "padding"), ways=OF_ATTENTION, module=True, alone=True,
        sizes=special(
            one_sentence=_cross(1, 3, 4, 5, 6, 2, 7, mask=(1, 3, 4)), one_key=_cross(2, 3, 1, 5, 4, 2, 6),
            equal_sizes=_cross(3, 3, 3, 3, 3, 3, 3, mask=(3, 3, 3)),
            as_many_sentences_as_queries=_cross(3, 3, 4, 5, 6, 2, 7, mask=(3, 4)),
            vectors_of_one_size=_cross(2, 3, 4, 5, 5, 2, 6),
            positions_of_zeros=with_zeros(_cross(2, 3, 4, 5, 6, 2, 7), "x", "memory"),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
