"""Cases and mistakes for an exercise: the language model."""

from __future__ import annotations

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_LOGITS = "F.linear(self.norm(x), self.embedding.weight)"
_EMBED = "x = self.embedding(ids)"

CASES = [
    # A small vocabulary, so that ids that could be mistaken for padding occur.
    case("two_layers", "2 layers, 11 tokens",
         sizes(B=4, L=9, below=4, vocab_size=11, d_model=8, num_heads=4, num_kv_heads=2, num_layers=2, d_ff=9),
         "Embedding, blocks, norm, products with the embedding's vectors.", atol=1e-4),
    case("one_layer", "1 layer, 7 tokens, base 500 and a large epsilon",
         sizes(B=2, L=4, below=7, vocab_size=7, d_model=12, num_heads=3, num_kv_heads=1, num_layers=1, d_ff=10,
               base=500.0, eps=0.5),
         "The base and the epsilon go to every block, the epsilon also to the last norm.", atol=1e-4),
    case("long", "a text of 70 tokens",
         sizes(B=1, L=70, below=9, vocab_size=9, d_model=8, num_heads=2, num_kv_heads=1, num_layers=1, d_ff=6),
         "What does the 65th token know about the 64th?", atol=1e-4),
    case("three_layers", "3 layers, 9 tokens, base 100,000",
         sizes(B=2, L=3, below=9, vocab_size=9, d_model=8, num_heads=2, num_kv_heads=2, num_layers=3, d_ff=6,
               base=1e5, eps=0.25),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("last_norm",
          "The last norm is not between the last block and the logits: it is missing, comes first, or is applied "
          "after each block.",
          "In pre-norm, what normalises the output of the last block, and how often does `norm` occur in the picture?",
          edit("self.norm(x)", "x"),
          edit(_EMBED, "x = self.norm(self.embedding(ids))", "F.linear(self.norm(x)", "F.linear(x",
               name="norm_first"),
          edit("x = block(x)", "x = self.norm(block(x))", "F.linear(self.norm(x)", "F.linear(x",
               name="norm_in_every_block")),
    wrong("scaled", "The embedding or the logits are scaled by the root of `d_model`, as in 2017.",
          "What does the contract say about scaling?",
          edit(_EMBED, "x = self.embedding(ids) * self.embedding.embedding_dim**0.5"),
          edit(_LOGITS, f"{_LOGITS} / x.size(-1) ** 0.5", name="logits_scaled"),
          tests="not scaled"),
    wrong("an_output_matrix", "There is a separate output matrix: the embedding is not tied.",
          "Which matrix turns vectors into logits?",
          edit("self.norm = RMSNorm(d_model, eps)",
               "self.norm = RMSNorm(d_model, eps); self.output = nn.Linear(d_model, vocab_size, bias=False)",
               _LOGITS, "self.output(self.norm(x))")),
    wrong("embedding_cut_off", "No gradient reaches the embedding from the logits, or none through the input.",
          "Which of your operations cuts off a gradient: a copy, `detach`, `no_grad`?",
          edit("self.embedding.weight)", "self.embedding.weight.detach())"),
          edit(_EMBED, "x = self.embedding(ids).detach()", name="input_not_learnt")),
    wrong("softmax", "You return probabilities or their logarithms; return logits.",
          "Which of the two applies the softmax: the model or the loss?",
          edit(_LOGITS, f"{_LOGITS}.softmax(-1)"),
          edit(_LOGITS, f"{_LOGITS}.log_softmax(-1)", name="log_softmax")),
    wrong("one_block_repeated", "The same block is used again and again, so the layers share their weights.",
          "Do you create several blocks, or use one block several times?",
          edit("self.norm = RMSNorm(d_model, eps)",
               "self.blocks = nn.ModuleList([self.blocks[0]] * num_layers); self.norm = RMSNorm(d_model, eps)")),
    wrong("a_plain_list", "The blocks are in a plain list, so PyTorch does not find their parameters.",
          "What is `nn.ModuleList` good for?",
          edit("nn.ModuleList(", "list(")),
    wrong("number_of_blocks", "There are more or fewer blocks than `num_layers`, or not all of them are used.",
          "What is `len(model.blocks)`, and how often does your loop run?",
          edit("for block in self.blocks:", "for block in self.blocks[:1]:"),
          edit("range(num_layers)", "range(num_layers + 1)", name="one_block_too_many")),
    wrong("blocks_backwards", "The blocks are used in the reverse order.",
          "Which block sees the embedding?",
          edit("in self.blocks:", "in reversed(self.blocks):")),
    wrong("blocks_see_the_embedding", "Every block sees the embedding, not the output of the block before it.",
          "What does the loop do with the result of a block?",
          edit(_EMBED, "x = embedded = self.embedding(ids)", "x = block(x)", "x = block(embedded)")),
    wrong("last_position_only", "You return logits for the last position only; every position predicts.",
          "What shape does the docstring promise?",
          edit(f"return {_LOGITS}", f"return {_LOGITS}[:, -1]")),
    wrong("in_pieces", "A long text is read in pieces that do not see each other.",
          "What does the 65th token know about the 64th?",
          edit("x = block(x)", "x = torch.cat([block(p) for p in x.split(64, dim=1)], dim=1)")),
    wrong("padding", "The vector of one id is zero or does not learn: `padding_idx` is set.",
          "Is there padding among these ids?",
          edit("nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, padding_idx=1)")),
    wrong("sines_added", "Sines are added to the embedding; here, the attention rotates queries and keys instead.",
          "Where do positions enter this model?",
          edit(_EMBED,
               "x = self.embedding(ids); a = rotary_angles(ids.size(1), x.size(-1)); "
               "x = x + torch.cat((a.sin(), a.cos()), -1)")),
    wrong("epsilon_of_the_last", "The last norm does not get the epsilon.",
          "How many norms does the model have, and which of them is in no block?",
          edit("self.norm = RMSNorm(d_model, eps)", "self.norm = RMSNorm(d_model)"),
          edit("= RMSNorm(d_model, eps)", "= nn.RMSNorm(d_model)", name="other_epsilon")),
    wrong("base_and_epsilon", "The blocks do not get the base or the epsilon, or the two are exchanged.",
          "Which arguments does a block have beyond the sizes, and in which order?",
          edit("d_ff, base, eps)", "d_ff, eps=eps)"),
          edit("d_ff, base, eps)", "d_ff, base)", name="epsilon_of_blocks"),
          edit("d_ff, base, eps)", "d_ff, eps, base)", name="base_and_epsilon_exchanged"),
          tests="passed"),
    wrong("heads_exchanged", "The numbers of heads are not passed on as they were given.",
          "In which order does `Block` take its arguments?",
          edit("Block(d_model, num_heads, num_kv_heads, d_ff, base, eps)",
               "Block(d_model, num_heads, num_heads, d_ff, base, eps)")),
    wrong("other_names", "The submodules do not have the names in the contract.",
          "What are the three parts called?",
          edit("self.embedding = ", "self.embed = ", _EMBED, "x = self.embed(ids)",
               "self.embedding.weight", "self.embed.weight",
               "self.blocks = ", "self.layers = ", "in self.blocks", "in self.layers"), tests="`nn.Sequential`"),
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
    target="LanguageModel", results="the logits", contract=Contract(named=True, alone=True),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
