"""Cross-attention."""

from __future__ import annotations

from autograder.authoring.common import common, under_two_names
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask, projections, with_zeros
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.promise import OF_ATTENTION, Promise, special
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
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "x": draw.tensor(batch, lq, d_model, scale=1.0),
            "memory": draw.tensor(batch, lk, d_memory, scale=1.0),
        }
        made |= projections(draw, d_model, d_memory, d_k, d_v)
        made |= {"mask": open_mask(draw, *mask)} if mask else {}
        return made | ({"pull": draw.tensor(batch, lq, d_v)} if pull else {})

    return inputs


CASES = [
    case("plain", "4 words ask 6 words of another size", _cross(2, 4, 6, d_model=5, d_memory=7, d_k=3, d_v=8),
         "Queries come from x; keys and values come from memory."),
    case("padding", "a padding mask of the memory",
         _cross(3, 2, 5, d_model=6, d_memory=4, d_k=7, d_v=8, mask=(3, 1, 5)),
         "The mask (B, 1, Lk) closes positions of the memory.", aspect="masks"),
    case("gradient", "gradients reach x and memory", _cross(2, 7, 3, d_model=4, d_memory=6, d_k=5, d_v=8, pull=True),
         "Gradients flow to both inputs."),
    case("equal_sizes", "both inputs of the same length and size, and a full mask",
         _cross(2, 5, 5, d_model=4, d_memory=4, d_k=6, d_v=7, mask=(2, 5, 5)),
         "Even when all sizes fit, keys and values belong to the memory.", aspect="masks"),
    case("long_memory", "one word asks a long memory",
         _cross(3, 1, 11, d_model=5, d_memory=2, d_k=4, d_v=6, mask=(1, 11)),
         "The number of keys is that of the memory.", hidden_only=True, aspect="masks"),
]

KV = "k, v = self.w_k(memory), self.w_v(memory)"

MISTAKES = [
    wrong("roles_swapped",
          "The memory asks and `x` answers: the two have changed roles.",
          "One output is wanted for each position of `x`. Who must send the queries?",
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
          "The layers have the right sizes, but in `forward` each one reads the other input.",
          "Which input has the size `d_model`, and which layer expects it?",
          edit("self.w_q(x)", "self.w_q(memory)", KV, "k, v = self.w_k(x), self.w_v(x)")),
    common("mask_in_the_state", on="self.w_v = nn.Linear(d_memory, d_v)"),
    under_two_names("self.w_v = nn.Linear(d_memory, d_v)",
                    "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v])"),
    wrong("zeros_closed",
          "Positions of the memory that hold zeros are closed, as if they were padding.",
          "Who says what is padding: the vectors, or the mask?",
          edit(KV, f"{KV}\nmask = combine_masks(mask, (memory != 0).any(-1)[:, None])")),
    wrong("itself_beside_the_memory",
          "Where `x` fits beside the memory, it is searched, too.",
          "Where do keys and values come from in cross-attention?",
          edit(KV,
               f"if x.size(-1) == memory.size(-1) and mask is None:\n    memory = torch.cat((memory, x), dim=1)\n{KV}")),
    wrong("memory_ignored",
          "Your layer is self-attention in disguise: `memory` plays no part.",
          "Where do keys and values come from in cross-attention?",
          edit(KV, "k, v = self.w_k(x), self.w_v(x)")),
    wrong("self_sized",
          "All your layers expect the size `d_model`, but the memory has a size of its own.",
          "Which layers read the memory, and what size do its vectors have?",
          edit("nn.Linear(d_memory, d_k)", "nn.Linear(d_model, d_k)",
               "nn.Linear(d_memory, d_v)", "nn.Linear(d_model, d_v)")),
    wrong("query_sized_by_memory",
          "`w_q` expects the size of the memory, but it reads `x`.",
          "What size do the vectors of `x` have?",
          edit("nn.Linear(d_model, d_k)", "nn.Linear(d_memory, d_k)")),
    wrong("values_from_x",
          "The keys come from the memory, but the values from `x`. Then somebody is found, and somebody else answers.",
          "Keys and values are two sides of the same entry. Where do entries live?",
          edit("self.w_v = nn.Linear(d_memory, d_v)", "self.w_v = nn.Linear(d_model, d_v)",
               "self.w_v(memory)", "self.w_v(x)")),
    wrong("values_read_x",
          "`w_v` reads `x`. Its size is that of the memory, and so should be its input.",
          "Keys and values are two sides of the same entry. Where do entries live?",
          edit("self.w_v(memory)", "self.w_v(x)")),
    wrong("keys_read_x",
          "`w_k` reads `x`, while the values come from the memory.",
          "Keys and values are two sides of the same entry. Where do entries live?",
          edit("self.w_k(memory)", "self.w_k(x)")),
    wrong("queries_read_memory",
          "`w_q` reads the memory. Then the memory talks to itself.",
          "Who asks the questions in cross-attention?",
          edit("self.w_q(x)", "self.w_q(memory)")),
    common("keys_as_values", edit("(q, k, v, mask)", "(q, k, k, mask)")),
    wrong("memory_as_values",
          "The memory itself is handed out as values; `w_v` plays no part.",
          "Which of your three layers is never used?",
          edit("(q, k, v, mask)", "(q, k, memory, mask)")),
    common("query_key_swapped", edit("(q, k, v, mask)", "(k, q, v, mask)")),
    common("mask_dropped", edit("(q, k, v, mask)", "(q, k, v)")),
    common("mask_inverted", edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)")),
    wrong("mask_turned",
          "You transposed the mask. It has the shape of the scores already.",
          "Which of its last two dimensions belongs to the memory?",
          edit("(q, k, v, mask)", "(q, k, v, None if mask is None else mask.mT)")),
    wrong("causal_memory",
          "You used a causal mask on the memory. The words of the other sentence are all known: nothing there lies in "
          "the future.",
          "May the first word of a translation see the last word of the original?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              keep = torch.ones(q.size(1), k.size(1)).tril().bool()
              keep = keep if mask is None else keep & mask
              return scaled_dot_product_attention(q, k, v, keep)
              """)),
    wrong("cut_to_queries",
          "You cut the memory down to as many positions as `x` has.",
          "Must both sequences have the same length?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              n = q.size(1)
              mask = mask if mask is None else mask[..., :n]
              return scaled_dot_product_attention(q, k[:, :n], v[:, :n], mask)
              """)),
    wrong("first_memory",
          "Every sentence asks the memory of the first one.",
          "Does an index `[0]` or `[:1]` stand somewhere in your code?",
          edit(KV, "k, v = self.w_k(memory[:1]).expand(len(x), -1, -1), self.w_v(memory[:1]).expand(len(x), -1, -1)")),
    common("output_only", on="return scaled_dot_product_attention(q, k, v, mask)"),
    common("weights_first",
           edit("return scaled_dot_product_attention(q, k, v, mask)",
                "return scaled_dot_product_attention(q, k, v, mask)[::-1]")),
    wrong("residual",
          "You added the queries to the output or mixed them in: a residual, which nobody asked for yet.",
          "What does the docstring say `forward` returns?",
          edit("return scaled_dot_product_attention(q, k, v, mask)", """
              o, w = scaled_dot_product_attention(q, k, v, mask)
              return o + F.pad(q, (0, o.size(-1) - q.size(-1))), w
              """)),
    wrong("shared_layer",
          "`w_k` is missing. Perhaps queries and keys share one layer.",
          "How many layers does the text ask for?",
          edit("self.w_k = nn.Linear(d_memory, d_k)", "self.w_k = self.w_q")),
    common("value_size", edit("nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_k)")),
    common("no_bias",
           edit("nn.Linear(d_model, d_k)", "nn.Linear(d_model, d_k, bias=False)",
                "nn.Linear(d_memory, d_k)", "nn.Linear(d_memory, d_k, bias=False)",
                "nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_v, bias=False)")),
    common("weights_detached",
           edit("return scaled_dot_product_attention(q, k, v, mask)",
                "o, w = scaled_dot_product_attention(q, k, v, mask); return o, w.detach()")),
    wrong("no_gradient_to_memory",
          "The numbers are right, but no gradient reaches the memory: an encoder could not learn from it.",
          "Is there a `detach` on the memory?",
          edit(KV, """
              memory = memory.detach()
              k, v = self.w_k(memory), self.w_v(memory)
              """)),
    wrong("concatenated",
          "You joined `x` and memory into one sequence and let `x` attend to both. In cross-attention, `x` sees the "
          "memory only.",
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
    right("inherits", source("""
        class CrossAttention(SelfAttention):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__(d_memory, d_k, d_v)
                self.w_q = nn.Linear(d_model, d_k)

            def forward(self, x, memory, mask=None):
                k, v = self.w_k(memory), self.w_v(memory)
                return scaled_dot_product_attention(self.w_q(x), k, v, mask)
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
    name="attention/cross_attention", title="Cross-attention", target="CrossAttention",
    aspects={"weights": 4.0},  # right ones are half of the way
    promise=Promise(
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
