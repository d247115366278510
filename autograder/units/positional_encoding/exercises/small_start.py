"""The initial size of an embedding."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _table(vocab_size: int, d_model: int, padding_idx: int = -1) -> Maker:
    """The table of an embedding; a padding_idx of -1 is none."""

    def inputs(draw: Draw) -> Inputs:
        table = draw.tensor(vocab_size, d_model)
        if padding_idx >= 0:
            table[padding_idx] = 0.0
        return {"table": table, "padding_idx": torch.tensor(padding_idx)}

    return inputs


_SCALE = "embedding.weight.mul_(embedding.embedding_dim**-0.5)"

CASES = [
    case("plain", "7 tokens with 16 components, padding 0", _table(7, 16, 0),
         "By which factor is the first component of token 1 smaller afterwards?"),
    case("no_padding", "an embedding without padding", _table(5, 9),
         "Without a padding token, row 0 is a row like any other."),
    case("square", "as many tokens as components", _table(6, 6, 2),
         "Does your factor depend on the size of a vector or on the number of tokens?"),
    case("wide", "2 tokens with 300 components", _table(2, 300, 1),
         "Does your factor depend on the size of a vector?", hidden_only=True),
]

MISTAKES = [
    wrong("by_the_width",
          "You divide by `d_model` itself, so the entries become too small.",
          "How long is a vector with `d_model` entries of size `1 / d_model`?",
          edit("**-0.5", "**-1.0")),
    wrong("scaled_up",
          "You multiply by the square root of `d_model` instead of dividing by it.",
          "Should the entries become larger or smaller?",
          edit("**-0.5", "**0.5")),
    wrong("fourth_root",
          "You take the square root twice.",
          "What is `x**0.5` of a number that is already a square root?",
          edit("**-0.5", "**-0.25")),
    wrong("by_the_vocabulary",
          "Your factor depends on the number of tokens, not on the size of their vectors.",
          "Which dimension of `embedding.weight` is `d_model`?",
          edit("embedding.embedding_dim", "embedding.num_embeddings")),
    wrong("fixed_factor",
          "Your factor is fixed, but it should depend on `d_model`.",
          "What is the factor for `d_model = 4`?",
          edit("embedding.embedding_dim**-0.5", "0.02")),
    wrong("factor_of_512",
          "Your factor is that of `d_model = 512`, whatever the size of the vectors.",
          "What is the factor for `d_model = 4`?",
          edit("embedding.embedding_dim**-0.5", "512**-0.5")),
    wrong("rows_of_length_one",
          "You gave every row the length 1, so the rows no longer keep their relative lengths.",
          "By which single factor should all rows shrink?",
          edit(_SCALE, "embedding.weight.copy_(nn.functional.normalize(embedding.weight, dim=1))")),
    wrong("drawn_anew",
          "You draw new values, so those that the table held are lost.",
          "Which operation scales the existing values instead of overwriting them?",
          edit(_SCALE, "nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)")),
    wrong("drawn_anew_but_for_padding",
          "You draw new values, so those that the table held are lost.",
          "Which operation scales the existing values instead of overwriting them?",
          edit(_SCALE, """
              nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)
              if embedding.padding_idx is not None:
                  embedding.weight[embedding.padding_idx].zero_()
              """)),
    wrong("every_entry_alike",
          "All entries have become the same number, so the tokens can no longer be "
          "told apart.",
          "Which operation scales the existing values instead of overwriting them?",
          edit(_SCALE, "embedding.weight.fill_(embedding.embedding_dim**-0.5)")),
    wrong("unchanged",
          "The table of the embedding has not changed: the scaled one is computed, but not stored.",
          "Which of your lines changes the weight itself, rather than a new tensor?",
          source("""
              def start_small(embedding):
                  scaled = embedding.weight * embedding.embedding_dim**-0.5
              """)),
    wrong("gradient_recorded",
          "PyTorch refuses to modify a trainable parameter in place while it records gradients.",
          "Which context tells PyTorch that a step is not to be differentiated?",
          source("""
              def start_small(embedding):
                  embedding.weight.mul_(embedding.embedding_dim**-0.5)
              """)),
    wrong("new_parameter",
          "The values are in a new parameter: an optimizer, or a layer that shares the table, "
          "still holds the old one.",
          "Which operations change a tensor, and which create a new one?",
          source("""
              def start_small(embedding):
                  embedding.weight = nn.Parameter(embedding.weight.detach() * embedding.embedding_dim**-0.5)
              """)),
    wrong("frozen",
          "The table can no longer be trained.",
          "You switched `requires_grad` off. Which line switches it on again?",
          source("""
              def start_small(embedding):
                  embedding.weight.requires_grad_(False)
                  embedding.weight.mul_(embedding.embedding_dim**-0.5)
              """)),
    wrong("first_row_left_out",
          "Row 0 is not scaled, although it need not be the padding row.",
          "At which row do you begin, and what if the embedding has no padding token?",
          edit("embedding.weight.mul_", "embedding.weight[1:].mul_")),
]

ACCEPTED = [
    right("through_data", source("""
        def start_small(embedding):
            embedding.weight.data *= embedding.weight.size(1) ** -0.5
        """)),
    right("divided", source("""
        @torch.no_grad()
        def start_small(embedding):
            embedding.weight.div_(math.sqrt(embedding.embedding_dim))
            return embedding
        """)),
    right("copied_into", source("""
        def start_small(embedding):
            scaled = embedding.weight.detach() / embedding.embedding_dim**0.5
            with torch.no_grad():
                embedding.weight.copy_(scaled)
        """)),
    right("row_by_row", source("""
        def start_small(embedding):
            with torch.no_grad():
                for row in embedding.weight:
                    row /= len(row) ** 0.5
        """)),
    right("state_loaded", source("""
        def start_small(embedding):
            table = embedding.weight.detach() / embedding.weight.shape[-1] ** 0.5
            embedding.load_state_dict({"weight": table})
        """)),
]

EXERCISE = Specification(
    name="positional_encoding/small_start", title="Start small", target="start_small",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
