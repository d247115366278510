"""Mistakes that the Transformer and the language model have in common."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong

_PAD_ID, _POSITIONS = "self.pad_id = pad_id", "positional_encoding.PositionalEncoding(table)"
_NORM = "nn.LayerNorm(d_model) if norm_first else None"

IN_PADDING = [
    wrong("padding_starts_at_random",
          "The vector of `pad_id` does not start at zero: the weights were initialised again, or come from a layer "
          "that knows no padding.",
          "Which row did the embedding set to zero when it was created, and which line came after that?",
          edit(_PAD_ID, f"""
              {_PAD_ID}
              for p in self.parameters():
                  if p.dim() > 1:
                      nn.init.xavier_uniform_(p)
              """)),
    wrong("pad_id_ignored", "The masks treat 0 as padding, whatever `pad_id` says.",
          "How do the mask functions learn about `pad_id`?",
          edit(_PAD_ID, "self.pad_id = 0")),
    wrong("pad_id_not_handed_on",
          "An embedding does not get `pad_id`: it takes 0 for padding, so the wrong vector starts at zero and is never "
          "trained.",
          "Which arguments does `InputLayer` get? (The last one has a default.)",
          edit("vocab, d_model, positions, dropout, pad_id", "vocab, d_model, positions, dropout")),
]
IN_SIZES = [
    wrong("no_positions", "No positions are added to the embeddings, so the model cannot know the order of the words.",
          "Which module do you pass to `InputLayer`?",
          edit(f"positions = {_POSITIONS}", "positions = nn.Identity()")),
    wrong("no_final_norm", "With `norm_first`, there is no norm at the end of a stack.",
          "What does a pre-norm stack need that a post-norm stack does not?",
          edit(_NORM, "None"), tests="`nn.LayerNorm(d_model)`"),
    wrong("always_final_norm",
          "A post-norm stack also has a norm at its end. (So has `nn.Transformer`, but not the paper.)",
          "What is the last step of a post-norm layer?",
          edit(_NORM, "nn.LayerNorm(d_model)")),
    wrong("final_norm_reversed",
          "The final norm is in the wrong models: a pre-norm stack has none, and a post-norm stack has one.",
          "Which value of `norm_first` means that a stack needs a norm at its end?",
          edit(_NORM, "None if norm_first else nn.LayerNorm(d_model)"), tests="`nn.LayerNorm(d_model)`"),
    wrong("no_dropout_in_layers", "During training, no dropout is applied in the layers of a stack.",
          "Which arguments do your layers get? (Their dropout has a default.)",
          edit("= (d_model, num_heads, d_ff, dropout,", "= (d_model, num_heads, d_ff, 0.0,")),
    wrong("one_layer", "A stack has one layer, whatever `num_layers` says.",
          "Where does `num_layers` go?",
          edit("num_layers, norm)", "1, norm)")),
]
