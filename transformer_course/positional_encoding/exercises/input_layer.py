"""The input layer."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification


def _tokens(draw: Draw, b: int, length: int, d_model: int, padding_idx: int) -> Inputs:
    """Ids with padding, and weights whose padding row is zero as a layer makes it."""
    vocab_size = 11
    ids = draw.ids(0, vocab_size, b, length)
    ids[0, -2:] = padding_idx
    weights = draw.weights(**{"embedding.weight": (vocab_size, d_model)})
    weights["weights.embedding.weight"][padding_idx] = 0
    return {
        **weights,
        "ids": ids,
        # Without zeros, so that every zero in training mode comes from dropout.
        "positions": draw.tensor(length, d_model) + 1 / 128,
        "vocab_size": torch.tensor(vocab_size),
        "padding_idx": torch.tensor(padding_idx),
        "pull": draw.tensor(b, length, d_model),
    }


CASES = [
    case("padding_is_0", "padding is token 0", lambda draw: _tokens(draw, 3, 5, 8, 0),
         "Look up, scale, add positions, apply dropout: in this order."),
    case("padding_is_3", "padding is token 3", lambda draw: _tokens(draw, 2, 7, 12, 3),
         "The embedding layer needs to know which token is padding."),
    case("narrow", "short vectors", lambda draw: _tokens(draw, 5, 9, 6, 1),
         "The factor is the square root of d_model, whatever its size."),
    case("one_sentence", "a single sentence", lambda draw: _tokens(draw, 1, 17, 10, 10),
         "Does it work for a batch of one?", hidden_only=True),
]

SCALED = "x = self.embedding(ids) * self.scale"
DROP = "return self.dropout(self.positions(x))"
SCALE = "self.scale = math.sqrt(d_model)"
_EMBEDDING = "self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"

MISTAKES = [
    # Mistakes in the factor, and in the sum of words and positions.
    wrong("not_scaled",
          "The embeddings are not scaled.",
          "By which factor should they be multiplied, and when?",
          edit(SCALED, "x = self.embedding(ids)"),
          edit(SCALE, "self.embedding.weight.data *= math.sqrt(d_model)",
               SCALED, "x = self.embedding(ids)", name="scaled_weights_at_the_start"), tests="embeddings"),
    wrong("divided",
          "The embeddings are divided by the square root of `d_model`.",
          "Should the words get louder or quieter?",
          edit(SCALED, "x = self.embedding(ids) / self.scale")),
    wrong("scaled_by_d",
          "The embeddings are multiplied by `d_model` itself: the square root is missing, or was applied twice.",
          "How many times is the factor applied on the way from the ids to the result?",
          edit(SCALE, "self.scale = d_model")),
    wrong("scaled_by_vocabulary",
          "The factor is the square root of the vocabulary size.",
          "Which of the two sizes is the length of a vector?",
          edit(SCALE, "self.scale = math.sqrt(vocab_size)")),
    wrong("scaled_by_length",
          "The factor is the square root of the number of positions.",
          "Which dimension of the tensor has size `d_model`?",
          edit(SCALED, "x = self.embedding(ids) * math.sqrt(ids.size(1))")),
    wrong("scaled_by_batch",
          "The factor is the square root of the number of sentences.",
          "Which dimension of the tensor has size `d_model`?",
          edit(SCALED, "x = self.embedding(ids) * math.sqrt(len(ids))")),
    wrong("scale_fixed",
          "The factor is always the one for `d_model = 512`.",
          "Where does your factor use `d_model`?",
          edit(SCALE, "self.scale = math.sqrt(512)")),
    wrong("scaled_after",
          "The factor is applied after the positions were added, so it scales them too.",
          "Which part of the sum should get louder, and which should not?",
          edit(SCALED, "x = self.embedding(ids)", DROP, "return self.dropout(self.positions(x) * self.scale)")),
    wrong("positions_first",
          "The positions are scaled, but the words are not.",
          "Which part of the sum should get louder, and which should not?",
          edit(SCALED, "x = self.embedding(ids)",
               DROP, """
              rows = self.positions(torch.zeros_like(x)) * self.scale
              return self.dropout(x + rows)
              """)),
    wrong("no_positions",
          "The positions are missing.",
          "Where do you call the module `positions`?",
          edit(DROP, "return self.dropout(x)")),
    wrong("positions_twice",
          "The positions are added twice.",
          "Does the module `positions` return the rows, or the sum with `x`?",
          edit(DROP, "return self.dropout(self.positions(self.positions(x)))")),
    wrong("words_twice",
          "The words are added twice: `positions(x)` is already the sum.",
          "Does the module `positions` return the rows, or the sum with `x`?",
          edit(DROP, "return self.dropout(x + self.positions(x))")),
    wrong("positions_only",
          "Only positions come out; the words are lost.",
          "What do you pass to the module `positions`?",
          edit(DROP, "return self.dropout(self.positions(torch.zeros_like(x)))")),
    # Mistakes in the dropout.
    wrong("other_default",
          "If `dropout` is not given, your layer drops nothing.",
          "What does the signature say about `dropout`?",
          edit("dropout: float = 0.1", "dropout: float = 0.0")),
    wrong("no_dropout",
          "Nothing is dropped in training mode.",
          "Do you use what dropout returns?",
          edit(DROP, "return self.positions(x)"),
          edit(DROP, """
              x = self.positions(x)
              self.dropout(x)
              return x
              """, name="dropout_discarded")),
    wrong("dropout_before_positions",
          "Dropout is applied before the positions are added, so they are never dropped.",
          "The paper applies dropout to the sum. Which sum?",
          edit(DROP, "return self.positions(self.dropout(x))"),
          edit(SCALED, "x = self.dropout(self.embedding(ids)) * self.scale",
               DROP, "return self.positions(x)", name="dropout_before_scale"), tests="training"),
    wrong("dropout_twice",
          "Dropout is applied twice, before and after the positions.",
          "How many times does the paper apply dropout between the ids and the first layer?",
          edit(DROP, "return self.dropout(self.positions(self.dropout(x)))")),
    wrong("dropout_always",
          "Dropout is active in eval mode as well.",
          "How does `F.dropout` know whether the module is in training mode?",
          edit(DROP, "return nn.functional.dropout(self.positions(x), self.dropout.p)")),
    wrong("share_kept",
          "The fraction that should be dropped is kept instead.",
          "In PyTorch, is `p` the probability of dropping an entry, or of keeping it?",
          edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")),
    wrong("share_ignored",
          "Dropout uses PyTorch's default rate, not the one that was passed.",
          "What does `__init__` do with its argument `dropout`?",
          edit("nn.Dropout(dropout)", "nn.Dropout()")),
    wrong("share_fixed",
          "The dropout rate is always 0.1, whatever was passed.",
          "What does `__init__` do with its argument `dropout`?",
          edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    wrong("dropped_together",
          "Whole vectors or whole features are dropped together.",
          "How many entries share one random number in your code, and how many should?",
          edit(DROP, """
              x, p = self.positions(x), self.dropout.p
              if self.training:
                  x = x * (torch.rand(ids.shape) >= p).unsqueeze(-1) / (1 - p)
              return x
              """)),
    wrong("dropped_alike_in_sentences",
          "The same entries are dropped in every sentence.",
          "How many entries share one random number in your code, and how many should?",
          edit(DROP, """
              x, p = self.positions(x), self.dropout.p
              if self.training:
                  x = x * (torch.rand(x.shape[1:]) >= p) / (1 - p)
              return x
              """)),
    wrong("not_rescaled",
          "The entries that dropout keeps are not scaled up, so their average differs between training and evaluation.",
          "What does `nn.Dropout` do to the entries that it keeps?",
          edit(DROP, """
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
          edit(SCALE, """
              self.scale = math.sqrt(d_model)
              nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
              """)),
    wrong("padding_always_0",
          "The embedding layer treats token 0 as padding, whatever `padding_idx` says.",
          "Where does your code use the value of `padding_idx`?",
          edit("padding_idx=padding_idx)", "padding_idx=0)")),
    wrong("positions_copied",
          "Your layer keeps a copy of the module `positions`, so later changes to the original do not reach it.",
          "If two layers are given the same `positions`, do they still share it?",
          edit("self.positions = positions", """
              import copy
              self.positions = copy.deepcopy(positions)
              """), tests="`positions`"),
    wrong("padding_cut_out",
          "At padding the whole sum is zero, so the position is lost as well.",
          "Which part of the sum should be zero at padding?",
          edit(DROP, """
              keep = (ids != self.embedding.padding_idx).unsqueeze(-1)
              return self.dropout(self.positions(x) * keep)
              """), tests="still added"),
    wrong("scale_trained",
          "The factor is a parameter, so training would change it.",
          "Is the square root of `d_model` something to learn?",
          edit(SCALE, "self.scale = nn.Parameter(torch.tensor(d_model**0.5))")),
    wrong("weights_grow",
          "The embedding table is scaled in place, so it grows with every call.",
          "Does `forward` change the state of the module?",
          edit(SCALED, """
              with torch.no_grad():
                  self.embedding.weight *= self.scale
              x = self.embedding(ids)
              """)),
    wrong("frozen",
          "The embedding table does not require a gradient, so it could never learn.",
          "Where is `requires_grad` set, and to what?",
          edit(SCALE, """
              self.scale = math.sqrt(d_model)
              self.embedding.weight.requires_grad = False
              """)),
    wrong("detached",
          "No gradient reaches the embedding table, so it could never learn.",
          "Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
          edit(SCALED, "x = self.embedding(ids).detach() * self.scale")),
    wrong("other_name",
          "The embedding layer does not have the name given in the docstring, so its weights cannot be found.",
          "What do you call the layer in `__init__`?",
          edit(_EMBEDDING, "self.embed = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)",
               "self.embedding(ids)", "self.embed(ids)"), tests="`nn.Embedding`"),
    wrong("sizes_swapped",
          "The two dimensions of the embedding table are swapped.",
          "Which comes first in `nn.Embedding`: the number of vectors, or their length?",
          edit("nn.Embedding(vocab_size, d_model,", "nn.Embedding(d_model, vocab_size,")),
    wrong("activated",
          "Negative entries become zero: there is an activation that the exercise does not ask for.",
          "Which steps does the exercise list?",
          edit(DROP, "return self.dropout(self.positions(x).relu())")),
    wrong("normalised",
          "The result is normalised, which the exercise does not ask for.",
          "Which steps does the exercise list?",
          edit(DROP, """
              x = self.positions(x)
              return self.dropout(nn.functional.layer_norm(x, x.shape[-1:]))
              """)),
]

ACCEPTED = [
    right("one_line", edit(SCALED, "x = self.embedding(ids).mul(self.embedding.embedding_dim**0.5)")),
    right("functional_dropout", edit(DROP, """
        return nn.functional.dropout(
                    self.positions(x), self.dropout.p, self.training)
        """)),
    right("sequential",
          edit("self.dropout = nn.Dropout(dropout)", "self.rest = nn.Sequential(positions, nn.Dropout(dropout))",
               DROP, "return self.rest(x)")),
    right("scale_from_shape", edit(SCALED, """
        x = self.embedding(ids)
        x = x * x.shape[-1] ** 0.5
        """)),
    right("scale_as_buffer", edit(SCALE, 'self.register_buffer("scale", torch.tensor(float(d_model)).sqrt())')),
    right("functional_embedding",
          edit(SCALED,
               "x = self.scale * nn.functional.embedding(ids, self.embedding.weight, self.embedding.padding_idx)")),
    right("xavier_start", edit(SCALE, """
        self.scale = math.sqrt(d_model)
        nn.init.xavier_uniform_(self.embedding.weight)
        nn.init.zeros_(self.embedding.weight.data[padding_idx])
        """), tests="values"),
    right("dropout_by_hand", edit(DROP, """
        x = self.positions(x)
        if self.training:
            keep = torch.rand_like(x) >= self.dropout.p
            x = x * keep / (1 - self.dropout.p)
        return x
        """)),
    right("steps_in_a_tuple", source("""
        class InputLayer(nn.Module):
            def __init__(self, vocab_size, d_model, positions, dropout=0.1, padding_idx=0):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model, padding_idx)
                self.positions, self.drop = positions, nn.Dropout(dropout)
                self.steps = (
                    lambda ids: self.embedding(ids) * math.sqrt(d_model),
                    lambda x: self.drop(self.positions(x)),
                )
            def forward(self, x):
                for step in self.steps:
                    x = step(x)
                return x
        """)),
]

EXERCISE = Specification(
    target="InputLayer",
    aspects={"mode": 3.0},  # dropout is one of its steps
    contract=Contract(
        arguments="ids: B N", results="output: B N d", on=("padding_is_3",),
        ways=("steady", "alone", "spread", "gradient", "loaded", "start"),
        sizes=special(
            one_word=lambda draw: _tokens(draw, 3, 1, 4, 1), equal_sizes=lambda draw: _tokens(draw, 4, 4, 4, 2)
        ),
        module=True, dropout=(("padding_is_0",), {"rate": 0.25}),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
