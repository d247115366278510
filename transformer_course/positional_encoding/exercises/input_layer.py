"""Cases and mistakes for an exercise: the input layer.

It looks up embeddings, scales them, adds positions, and applies dropout.
"""

from __future__ import annotations

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_sizes(B: int, L: int, d_model: int, padding_idx: int) -> InputSizes:
    """Return the sizes from which the build draws a case's inputs.

    The inputs are ids below 11 of shape (B, L), and vectors for up to 20 positions.
    """
    return sizes(
        B=B, L=L, d_model=d_model, vocab_size=11, below=11, dropout=0.0, padding_idx=padding_idx,
        positions=lambda draw: draw.tensor(20, d_model),
    )


CASES = [
    case("padding_is_3", "padding is token 3", _draw_sizes(2, 7, 12, 3),
         "The embedding layer needs to know which token is padding."),
    case("padding_is_0", "padding is token 0", _draw_sizes(3, 5, 8, 0),
         "Look up, scale, add positions, apply dropout: in this order."),
    case("narrow", "short vectors", _draw_sizes(5, 9, 6, 1),
         "The factor is the square root of d_model, whatever its size."),
    case("one_sentence", "a single sentence", _draw_sizes(1, 17, 10, 10),
         "Does it work for a batch of one?", hidden_only=True),
]

_SCALED = "x = self.embedding(ids) * self.scale"
_DROP = "return self.dropout(self.positions(x))"
_SCALE = "self.scale = math.sqrt(d_model)"
_EMBEDDING = "self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"

MISTAKES = [
    # Mistakes in the factor, and in the sum of words and positions.
    wrong("not_scaled", "The embeddings are not scaled.",
          "By which factor should they be multiplied, and when?",
          edit(_SCALED, "x = self.embedding(ids)"),
          edit(_SCALE, "self.embedding.weight.data *= math.sqrt(d_model)",
               _SCALED, "x = self.embedding(ids)", name="scaled_weights_at_the_start"), tests="embeddings"),
    wrong("divided", "The embeddings are divided by the square root of `d_model`.",
          "Should the words get louder or quieter?",
          edit(_SCALED, "x = self.embedding(ids) / self.scale")),
    wrong("scaled_by_d",
          "The embeddings are multiplied by `d_model` itself: the square root is missing, or was applied twice.",
          "How many times is the factor applied on the way from the ids to the result?",
          edit(_SCALE, "self.scale = d_model")),
    wrong("other_size_in_the_factor",
          "The factor is the square root of another size than `d_model`: of the vocabulary, the sentence, the batch, "
          "or of a fixed number.",
          "Which size is the length of a vector, and where does your factor use it?",
          edit(_SCALE, "self.scale = math.sqrt(vocab_size)", name="scaled_by_vocabulary"),
          edit(_SCALED, "x = self.embedding(ids) * math.sqrt(ids.size(1))", name="scaled_by_length"),
          edit(_SCALED, "x = self.embedding(ids) * math.sqrt(len(ids))", name="scaled_by_batch"),
          edit(_SCALE, "self.scale = math.sqrt(512)", name="scale_fixed")),
    wrong("positions_scaled", "The factor scales the positions.",
          "Which part of the sum should get louder, and which should not?",
          edit(_SCALED, "x = self.embedding(ids)", _DROP, "return self.dropout(self.positions(x) * self.scale)",
               name="scaled_after"),
          edit(_SCALED, "x = self.embedding(ids)", _DROP, """
              rows = self.positions(torch.zeros_like(x)) * self.scale
              return self.dropout(x + rows)
              """)),
    wrong("no_positions", "The positions are missing.",
          "Where do you call the module `positions`?",
          edit(_DROP, "return self.dropout(x)")),
    wrong("added_twice", "The words or the positions are added twice: `positions(x)` is already the sum.",
          "Does the module `positions` return the rows, or the sum with `x`?",
          edit(_DROP, "return self.dropout(self.positions(self.positions(x)))", name="positions_twice"),
          edit(_DROP, "return self.dropout(x + self.positions(x))", name="words_twice")),
    wrong("positions_only", "Only positions come out; the words are lost.",
          "What do you pass to the module `positions`?",
          edit(_DROP, "return self.dropout(self.positions(torch.zeros_like(x)))")),
    # Mistakes in the dropout.
    wrong("no_dropout", "Nothing is dropped in training mode.",
          "Do you use what dropout returns?",
          edit(_DROP, "return self.positions(x)"),
          edit(_DROP, """
              x = self.positions(x)
              self.dropout(x)
              return x
              """, name="dropout_discarded")),
    wrong("dropout_before_positions", "Dropout is applied before the positions are added, so they are never dropped.",
          "The paper applies dropout to the sum. Which sum?",
          edit(_DROP, "return self.positions(self.dropout(x))"), tests="training"),
    wrong("dropout_twice", "Dropout is applied twice, before and after the positions.",
          "How many times does the paper apply dropout between the ids and the first layer?",
          edit(_DROP, "return self.dropout(self.positions(self.dropout(x)))")),
    wrong("dropout_always", "Dropout is active in eval mode as well.",
          "How does `F.dropout` know whether the module is in training mode?",
          edit(_DROP, "return nn.functional.dropout(self.positions(x), self.dropout.p)")),
    wrong("share_kept", "The fraction that should be dropped is kept instead.",
          "In PyTorch, is `p` the probability of dropping an entry, or of keeping it?",
          edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")),
    wrong("share_ignored", "The dropout rate is PyTorch's default or always the same one, not the one that was passed.",
          "What does `__init__` do with its argument `dropout`?",
          edit("nn.Dropout(dropout)", "nn.Dropout()"),
          edit("nn.Dropout(dropout)", "nn.Dropout(0.1)", name="share_fixed")),
    wrong("dropped_together", "Whole vectors, or the same entries of every sentence, are dropped together.",
          "How many entries share one random number in your code, and how many should?",
          edit(_DROP, """
              x, p = self.positions(x), self.dropout.p
              if self.training:
                  x = x * (torch.rand(ids.shape) >= p).unsqueeze(-1) / (1 - p)
              return x
              """),
          edit(_DROP, """
              x, p = self.positions(x), self.dropout.p
              if self.training:
                  x = x * (torch.rand(x.shape[1:]) >= p) / (1 - p)
              return x
              """, name="dropped_alike_in_sentences")),
    wrong("not_rescaled",
          "The entries that dropout keeps are not scaled up, so their average differs between training and evaluation.",
          "What does `nn.Dropout` do to the entries that it keeps?",
          edit(_DROP, """
              x = self.positions(x)
              if self.training:
                  x = x * (torch.rand_like(x) > self.dropout.p)
              return x
              """)),
    # Mistakes in the embedding, and in what nobody asked for.
    wrong("padding_trained",
          "The row of the padding token gets a gradient: the embedding layer does not know which token is padding.",
          "Which argument of `nn.Embedding` tells it?",
          edit(", padding_idx=padding_idx)", ")")),
    wrong("padding_starts_at_random",
          "The vector of the padding token does not start at zero: the table was "
          "initialised again after the embedding layer was made.",
          "Which row did `nn.Embedding` set to zero, and which line came after that?",
          edit(_SCALE, """
              self.scale = math.sqrt(d_model)
              nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
              """)),
    wrong("padding_always_0", "The embedding layer treats token 0 as padding, whatever `padding_idx` says.",
          "Where does your code use the value of `padding_idx`?",
          edit("padding_idx=padding_idx)", "padding_idx=0)")),
    wrong("positions_copied",
          "Your layer keeps a copy of the module `positions`, so later changes to the original do not reach it.",
          "If two layers are given the same `positions`, do they still share it?",
          edit("self.positions = positions", """
              import copy
              self.positions = copy.deepcopy(positions)
              """), tests="`positions`"),
    wrong("padding_cut_out", "At padding the whole sum is zero, so the position is lost as well.",
          "Which part of the sum should be zero at padding?",
          edit(_DROP, """
              keep = (ids != self.embedding.padding_idx).unsqueeze(-1)
              return self.dropout(self.positions(x) * keep)
              """), tests="like any other token"),
    wrong("scale_trained", "The factor is a parameter, so training would change it.",
          "Is the square root of `d_model` something to learn?",
          edit(_SCALE, "self.scale = nn.Parameter(torch.tensor(d_model**0.5))")),
    wrong("weights_grow", "The embedding table is scaled in place, so it grows with every call.",
          "Does `forward` change the state of the module?",
          edit(_SCALED, """
              with torch.no_grad():
                  self.embedding.weight *= self.scale
              x = self.embedding(ids)
              """)),
    wrong("frozen", "The embedding table does not require a gradient, so it could never learn.",
          "Where is `requires_grad` set, and to what?",
          edit(_SCALE, """
              self.scale = math.sqrt(d_model)
              self.embedding.weight.requires_grad = False
              """)),
    wrong("detached", "No gradient reaches the embedding table, so it could never learn.",
          "Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
          edit(_SCALED, "x = self.embedding(ids).detach() * self.scale")),
    wrong("other_name",
          "The embedding layer does not have the name given in the docstring, so its weights cannot be found.",
          "What do you call the layer in `__init__`?",
          edit(_EMBEDDING, "self.embed = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)",
               "self.embedding(ids)", "self.embed(ids)"), tests="`nn.Embedding`"),
    wrong("sizes_swapped", "The two dimensions of the embedding table are swapped.",
          "Which comes first in `nn.Embedding`: the number of vectors, or their length?",
          edit("nn.Embedding(vocab_size, d_model,", "nn.Embedding(d_model, vocab_size,")),
    wrong("more_than_asked",
          "The result is normalised or goes through an activation, which the exercise does not ask for.",
          "Which steps does the exercise list?",
          edit(_DROP, "return self.dropout(self.positions(x).relu())", name="activated"),
          edit(_DROP, """
              x = self.positions(x)
              return self.dropout(nn.functional.layer_norm(x, x.shape[-1:]))
              """, name="normalised")),
]

ACCEPTED = [
    right("sequential",
          edit("self.dropout = nn.Dropout(dropout)", "self.rest = nn.Sequential(positions, nn.Dropout(dropout))",
               _DROP, "return self.rest(x)")),
    right("functional_embedding",
          edit(_SCALED,
               "x = self.scale * nn.functional.embedding(ids, self.embedding.weight, self.embedding.padding_idx)")),
    right("xavier_start", edit(_SCALE, """
        self.scale = math.sqrt(d_model)
        nn.init.xavier_uniform_(self.embedding.weight)
        nn.init.zeros_(self.embedding.weight.data[padding_idx])
        """), tests="values"),
    right("dropout_by_hand", edit(_DROP, """
        x = self.positions(x)
        if self.training:
            keep = torch.rand_like(x) >= self.dropout.p
            x = x * keep / (1 - self.dropout.p)
        return x
        """)),
]

EXERCISE = Specification(
    tells={"one_sentence": "padding_cut_out"},
    target="InputLayer", results="output",
    contract=Contract(
        ways=("steady", "alone", "spread", "gradient", "loaded", "start"),
        dropout=(("padding_is_0",), {"make.dropout": 0.25}),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
