"""The language model."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Again, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import (
    LARGE,
    Shapes,
    block_shapes,
    faint,
    observing_moves,
    options,
    whole,
)


def _model(
    batch: int, length: int, vocabulary: int, d_model: int, heads: int, groups: int,
    layers: int, d_ff: int, **settings: float,
) -> Maker:  # fmt: skip
    def make_inputs(draw: Draw) -> Inputs:
        shapes: Shapes = {"embedding.weight": (vocabulary, d_model), "norm.weight": (d_model,)}
        for n in range(layers):
            block = block_shapes(d_model, heads, groups, d_ff)
            shapes |= {f"blocks.{n}.{name}": shape for name, shape in block.items()}
        sizes = whole(num_heads=heads, num_kv_heads=groups, num_layers=layers, d_ff=d_ff) | options(**settings)
        ids = draw.ids(0, vocabulary, batch, length)
        ids[0, 0] = 1  # an id that may be taken for padding
        weights = draw.weights(**shapes)
        weights["weights.embedding.weight"] *= LARGE
        return weights | sizes | {
            "ids": ids,
            "pull": draw.tensor(batch, length, vocabulary, scale=1.0),
        }  # fmt: skip

    return make_inputs


_LOGITS = "F.linear(self.norm(x), self.embedding.weight)"
_EMBED = "x = self.embedding(ids)"

CASES = [
    case("two_layers", "2 layers, 11 tokens", observing_moves(_model(3, 5, 11, 8, 4, 2, 2, 9)),
         "Embedding, blocks, norm, products with the embedding's vectors.", atol=1e-4),
    case("one_layer", "1 layer, 7 tokens, base 500 and a large epsilon",
         _model(2, 4, 7, 12, 3, 1, 1, 10, base=500.0, eps=8.0),
         "The base and the epsilon go to every block, the epsilon also to the last norm.", atol=1e-4),
    case("faint", "small vectors, and weights that keep them small",
         faint(_model(2, 4, 9, 8, 2, 1, 1, 9), "embedding.weight", "w_o.weight", "w_down.weight"),
         "If the components are small, the epsilon of a norm matters.", atol=1e-4),
    case("three_layers", "3 layers, 9 tokens, base 100,000", _model(2, 3, 9, 8, 2, 2, 3, 6, base=1e5, eps=4.0),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("no_last_norm",
          "The last norm has no influence.",
          "In pre-norm, what normalises the output of the last block?",
          edit("self.norm(x)", "x")),
    wrong("norm_first",
          "The last norm comes before the blocks.",
          "Where is `norm` in the picture?",
          edit(_EMBED, "x = self.norm(self.embedding(ids))", "F.linear(self.norm(x)", "F.linear(x")),
    wrong("norm_in_every_block",
          "The last norm is applied after each block.",
          "How often does `norm` occur in the picture?",
          edit("x = block(x)", "x = self.norm(block(x))", "F.linear(self.norm(x)", "F.linear(x")),
    wrong("embedding_scaled",
          "The embedding is multiplied by the root of `d_model`, as in 2017.",
          "What does the contract say about scaling?",
          edit(_EMBED, "x = self.embedding(ids) * self.embedding.embedding_dim**0.5"), tests="not scaled"),
    wrong("logits_scaled",
          "The logits are divided by the root of `d_model`.",
          "Are logits attention scores?",
          edit(_LOGITS, f"{_LOGITS} / x.size(-1) ** 0.5")),
    wrong("an_output_matrix",
          "There is a separate output matrix: the embedding is not tied.",
          "Which matrix turns vectors into logits?",
          edit("self.norm = RMSNorm(d_model, eps)",
               "self.norm = RMSNorm(d_model, eps); self.output = nn.Linear(d_model, vocab_size, bias=False)",
               _LOGITS, "self.output(self.norm(x))")),
    wrong("a_copy",
          "The logits are products with a *copy* of the embedding, so the embedding gets no gradient from them.",
          "Does the output train the embedding in your model?",
          edit("self.embedding.weight)", "self.embedding.weight.detach())")),
    wrong("input_not_learnt",
          "No gradient reaches the embedding through the input.",
          "Does your code use `detach` or `no_grad`?",
          edit(_EMBED, "x = self.embedding(ids).detach()")),
    wrong("softmax",
          "You return probabilities or their logarithms; return logits.",
          "Which of the two applies the softmax: the model or the loss?",
          edit(_LOGITS, f"{_LOGITS}.softmax(-1)")),
    wrong("log_softmax",
          "You return log-probabilities; return logits.",
          "Which of the two applies the softmax: the model or the loss?",
          edit(_LOGITS, f"{_LOGITS}.log_softmax(-1)")),
    wrong("one_block_repeated",
          "The same block is used again and again, so the layers share their weights.",
          "Do you create several blocks, or use one block several times?",
          source("""
              class LanguageModel(nn.Module):
                  def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff, base=1e4, eps=1e-6):
                      super().__init__()
                      self.embedding = nn.Embedding(vocab_size, d_model)
                      self.blocks = nn.ModuleList([Block(d_model, num_heads, num_kv_heads, d_ff, base, eps)] * num_layers)
                      self.norm = RMSNorm(d_model, eps)

                  def forward(self, ids):
                      x = self.embedding(ids)
                      for block in self.blocks:
                          x = block(x)
                      return F.linear(self.norm(x), self.embedding.weight)
              """)),
    wrong("a_plain_list",
          "The blocks are in a plain list, so PyTorch does not find their parameters.",
          "What is `nn.ModuleList` good for?",
          source("""
              class LanguageModel(nn.Module):
                  def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff, base=1e4, eps=1e-6):
                      super().__init__()
                      self.embedding = nn.Embedding(vocab_size, d_model)
                      self.blocks = [Block(d_model, num_heads, num_kv_heads, d_ff, base, eps) for _ in range(num_layers)]
                      self.norm = RMSNorm(d_model, eps)

                  def forward(self, ids):
                      x = self.embedding(ids)
                      for block in self.blocks:
                          x = block(x)
                      return F.linear(self.norm(x), self.embedding.weight)
              """)),
    wrong("first_block_only",
          "Only one of the blocks is used.",
          "How often does your loop run?",
          edit("for block in self.blocks:", "for block in self.blocks[:1]:")),
    wrong("blocks_backwards",
          "The blocks are used in the reverse order.",
          "Which block sees the embedding?",
          edit("in self.blocks:", "in reversed(self.blocks):")),
    wrong("blocks_see_the_embedding",
          "Every block sees the embedding, not the output of the block before it.",
          "What does the loop do with the result of a block?",
          edit(_EMBED, "x = embedded = self.embedding(ids)", "x = block(x)", "x = block(embedded)")),
    wrong("one_block_too_many",
          "There are more or fewer blocks than `num_layers`.",
          "What is `len(model.blocks)`?",
          edit("range(num_layers)", "range(num_layers + 1)")),
    wrong("last_position_only",
          "You return logits for the last position only; every position predicts.",
          "What shape does the docstring promise?",
          edit(f"return {_LOGITS}", f"return {_LOGITS}[:, -1]")),
    wrong("in_pieces",
          "A long text is read in pieces that do not see each other.",
          "What does the 65th token know about the 64th?",
          edit("x = block(x)", "x = torch.cat([block(p) for p in x.split(64, dim=1)], dim=1)")),
    wrong("padding",
          "The vector of one id is zero or does not learn: `padding_idx` is set.",
          "Is there padding among these ids?",
          edit("nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, padding_idx=1)")),
    wrong("sines_added",
          "Sines are added to the embedding; here, the attention rotates queries and keys instead.",
          "Where do positions enter this model?",
          edit(_EMBED,
               "x = self.embedding(ids); a = rotary_angles(ids.size(1), x.size(-1)); x = x + torch.cat((a.sin(), a.cos()), -1)")),
    wrong("other_epsilon",
          "Your last norm uses PyTorch's default epsilon, not the one that the model is given.",
          "Which epsilon does `nn.RMSNorm` use by default?",
          edit("= RMSNorm(d_model, eps)", "= nn.RMSNorm(d_model)")),
    wrong("epsilon_of_the_last",
          "The last norm does not get the epsilon.",
          "How many norms does the model have, and which of them is in no block?",
          edit("self.norm = RMSNorm(d_model, eps)", "self.norm = RMSNorm(d_model)")),
    wrong("epsilon_of_blocks",
          "The blocks do not get the epsilon.",
          "Which arguments does a block have beyond the sizes?",
          edit("d_ff, base, eps)", "d_ff, base)")),
    wrong("base_ignored",
          "The blocks do not get the base.",
          "Which arguments does a block have beyond the sizes?",
          edit("d_ff, base, eps)", "d_ff, eps=eps)"), tests="passed"),
    wrong("base_and_epsilon_exchanged",
          "Base and epsilon are swapped when they are passed to the blocks.",
          "In which order does `Block` take its arguments?",
          edit("d_ff, base, eps)", "d_ff, eps, base)")),
    wrong("heads_exchanged",
          "The numbers of heads are not passed on as they were given.",
          "In which order does `Block` take its arguments?",
          edit("Block(d_model, num_heads, num_kv_heads, d_ff, base, eps)",
               "Block(d_model, num_heads, num_heads, d_ff, base, eps)")),
    wrong("other_names",
          "The submodules do not have the names in the contract.",
          "What are the three parts called?",
          source("""
              class LanguageModel(nn.Module):
                  def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff, base=1e4, eps=1e-6):
                      super().__init__()
                      self.embed = nn.Embedding(vocab_size, d_model)
                      self.layers = nn.ModuleList(Block(d_model, num_heads, num_kv_heads, d_ff, base, eps) for _ in range(num_layers))
                      self.final = RMSNorm(d_model, eps)

                  def forward(self, ids):
                      x = self.embed(ids)
                      for layer in self.layers:
                          x = layer(x)
                      return self.final(x) @ self.embed.weight.T
              """), tests="`nn.Sequential`"),
    wrong("tied_output_layer",
          "There is an output layer that shares the embedding's weight: the `state_dict()` contains this weight under "
          "two names.",
          "Under which names does a published Llama keep this weight?",
          edit("self.norm = RMSNorm(d_model, eps)", """
              self.norm = RMSNorm(d_model, eps)
              self.output = nn.Linear(d_model, vocab_size, bias=False)
              self.output.weight = self.embedding.weight
              """,
               "F.linear(self.norm(x), self.embedding.weight)", "self.output(self.norm(x))")),
]

ACCEPTED = [
    right("matmul", edit(_LOGITS, "self.norm(x) @ self.embedding.weight.T")),
    right("sequential", source("""
        class LanguageModel(nn.Module):
            def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff, base=1e4, eps=1e-6):
                super().__init__()
                self.norm = nn.RMSNorm(d_model, eps=eps)
                made = [Block(d_model, num_heads, num_kv_heads, d_ff, base, eps) for _ in range(num_layers)]
                self.blocks = nn.Sequential(*made)
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, ids):
                hidden = self.norm(self.blocks(self.embedding(ids)))
                return torch.einsum("bld,vd->blv", hidden, self.embedding.weight)
        """)),
    # whose copies hold copies of it
    right("function_of_itself",
          edit("super().__init__()", "super().__init__()\nself.head = lambda x: F.linear(x, self.embedding.weight)",
               _LOGITS, "self.head(self.norm(x))")),
    right("by_index", edit(_EMBED, "x = self.embedding.weight[ids]",
                           "for block in self.blocks:", "for n in range(len(self.blocks)):",
                           "x = block(x)", "x = self.blocks[n](x)")),
]

EXERCISE = Specification(
    target="LanguageModel",
    contract=Contract(
        arguments="ids: B L", results="logits: B L V", on=("two_layers",), ways=OF_MODULES, module=True,
        sizes=special(
            one_token=_model(3, 1, 9, 8, 2, 1, 1, 6), one_text=lambda draw: Again({"ids": draw.ids(0, 9, 1, 4)}),
            seventy_tokens=lambda draw: Again({"ids": draw.ids(0, 9, 1, 70)}),
            equal_sizes=_model(4, 4, 4, 8, 4, 4, 1, 6),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
