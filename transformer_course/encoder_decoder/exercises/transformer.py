"""Cases and mistakes for an exercise: the Transformer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    draw_sentences,
    scatter_padding,
)
from transformer_course.encoder_decoder.exercises._models import IN_PADDING, IN_SIZES

_Maker = Callable[[Draw, int, int, int, int], torch.Tensor]


def _draw_ids(draw_padded: _Maker) -> dict[str, Any]:
    """Map "src" and "tgt" to functions that draw ids with ``draw_padded``.

    ``draw_padded`` is `draw_sentences` or `scatter_padding`.
    """
    return {
        "src": lambda draw, B, Ls, src_vocab, pad_id=0: draw_padded(draw, B, Ls, src_vocab, pad_id),
        "tgt": lambda draw, B, Lt, tgt_vocab, pad_id=0: draw_padded(draw, B, Lt, tgt_vocab, pad_id),
    }


_sizes = partial(sizes, num_heads=2, **_draw_ids(draw_sentences))

CASES = [
    case("post", "post-norm, two vocabularies",
         _sizes(src_vocab=9, tgt_vocab=7, d_model=6, num_layers=1, d_ff=5, B=3, Ls=5, Lt=4),
         "Follow a batch by hand: source, encoder, memory; target, decoder, output."),
    case("pre_gelu", "pre-norm, GELU, a long source",
         _sizes(src_vocab=11, tgt_vocab=8, d_model=4, num_layers=2, d_ff=6, B=2, Ls=7, Lt=3,
                norm_first=True, activation="gelu"),
         "A pre-norm stack ends with a norm; encoder and decoder each have one."),
    case("positions", "positions other than sinusoids",
         _sizes(src_vocab=7, tgt_vocab=8, d_model=6, num_layers=1, d_ff=5, B=2, Ls=5, Lt=4, positions="rows"),
         "Both input layers add the positions that were given."),
    case("padding", "a padded batch, with a different pad_id",
         _sizes(src_vocab=7, tgt_vocab=9, d_model=4, num_layers=1, d_ff=5, B=3, Ls=5, Lt=6, pad_id=2),
         "Does every part that deals with padding know `pad_id`?"),
    case("three_layers", "three layers each, pre-norm, a short table of positions",
         _sizes(src_vocab=6, tgt_vocab=10, d_model=4, num_layers=3, d_ff=3, B=2, Ls=4, Lt=5,
                norm_first=True, activation="relu", max_len=9),
         "Does each argument reach the part that needs it?", hidden_only=True),
]

_SIZES = """
    sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
    norm
    """

MISTAKES = [
    *IN_PADDING,
    wrong("softmax", "There is a softmax or a log-softmax at the end, but logits are asked for.",
          "Which loss will follow, and what does it do first?",
          edit("return self.output(x)", "return self.output(x).softmax(-1)"),
          edit("return self.output(x)", "return self.output(x).log_softmax(-1)", name="log_softmax")),
    wrong("source_for_target", "The target ids go through the source embedding.",
          "Which ids does each of your two input layers read?",
          edit("self.target(tgt)", "self.source(tgt)"),
          edit("self.source(src)", "self.target(src)",
               "self.target(tgt)", "self.source(tgt)", name="embeddings_swapped"), tests="dropout"),
    wrong("output_size", "The output layer does not give one score to each word of the target vocabulary.",
          "How many words can the model choose from, and in which language does it write?",
          edit("self.output = nn.Linear(d_model, tgt_vocab)", "self.output = nn.Linear(d_model, src_vocab)"),
          edit("self.output = nn.Linear(d_model, tgt_vocab)", "self.output = nn.Linear(d_model, d_model)",
               name="output_d_model"), tests="`nn.Linear`"),
    wrong("vocabularies_swapped", "The vocabulary sizes of the two embeddings are swapped.",
          "Which vocabulary does `source` read?",
          edit("self.source = embedding(src_vocab)", "self.source = embedding(tgt_vocab)",
               "self.target = embedding(tgt_vocab)", "self.target = embedding(src_vocab)")),
    wrong("output_no_bias", "The output layer has no bias.",
          "What is the default of `nn.Linear`?",
          edit("nn.Linear(d_model, tgt_vocab)", "nn.Linear(d_model, tgt_vocab, bias=False)")),
    wrong("no_output", "The output layer is never applied: `decode` returns vectors, not scores.",
          "What is the last step in the picture?",
          edit("return self.output(x)", "return x")),
    wrong("encoder_on_target", "The decoder attends to the encoded *target*, so the source has no effect.",
          "What does `forward` pass to `decode` as the memory?",
          edit("self.decode(tgt, self.encode(src), src)", "self.decode(tgt, self.encode(tgt), tgt)")),
    wrong("memory_not_encoded", "`encode` stops before the encoder: the memory is nothing but embeddings.",
          "Which two modules should the source go through?",
          edit("self.encoder(self.source(src), mask)", "self.source(src)")),
    wrong("source_padding_visible", "Source padding is visible, since the encoder or the decoder gets no mask for it.",
          "What is the second argument of your encoder, and why does `decode` need `src`?",
          edit("self.encoder(self.source(src), mask)", "self.encoder(self.source(src))"),
          edit("memory, tgt_mask, src_mask)", "memory, tgt_mask)", name="decode_no_memory_mask")),
    wrong("decode_no_target_mask", "The decoder gets no target mask, so it sees the future.",
          "What is the third argument of your decoder?",
          edit("memory, tgt_mask, src_mask)", "memory, None, src_mask)")),
    wrong("decoder_masks_swapped",
          "The decoder's arguments do not fit together: its masks are swapped or built from the wrong ids, or one "
          "argument is missing.",
          "Which comes first, `tgt_mask` or `memory_mask`, and which ids is each one built from?",
          edit("memory, tgt_mask, src_mask)", "memory, src_mask, tgt_mask)")),
    wrong("mask_kept", "A mask of an earlier call is used, instead of one for the ids at hand.",
          "When are your masks made, and what if two sources are encoded before the first one is decoded?",
          edit("mask = attention.padding_mask(src, self.pad_id)",
               "mask = self.kept = attention.padding_mask(src, self.pad_id)",
               "memory, tgt_mask, src_mask)", "memory, tgt_mask, self.kept)"),
          edit("src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)", """
              self.kept = getattr(self, 'kept', None) or make_masks(src, tgt, self.pad_id)
              src_mask, tgt_mask = self.kept
              """, name="masks_of_first_batch"), tests="arguments"),
    wrong("memory_kept", "The memory of a source is kept and reused, even after the weights have changed.",
          "What happens to the weights between two training steps?",
          edit("return self.decode(tgt, self.encode(src), src)", """
              kept = getattr(self, "kept", None)
              if self.training or kept is None or not torch.equal(kept[0], src):
                  kept = self.kept = (src, self.encode(src))
              return self.decode(tgt, kept[1], src)
              """)),
    wrong("first_token_unmasked", "For a target of one token, the memory mask is left out.",
          "What does the very first decoding step look at?",
          edit("memory, tgt_mask, src_mask)", "memory, tgt_mask, src_mask if tgt.size(1) > 1 else None)")),
    *IN_SIZES,
    wrong("positions_copied",
          "Source and target do not share the module that adds positions. If it can be trained, they will drift apart.",
          "Which module does each input layer get?",
          edit("if positions is None:", """
              import copy
              if positions is None:
              """,
               "vocab, d_model, positions, dropout, pad_id",
               "vocab, d_model, copy.deepcopy(positions), dropout, pad_id"),
          edit("vocab, d_model, positions, dropout, pad_id", """
              vocab, d_model, positional_encoding.PositionalEncoding(positions.pe.clone())
              if hasattr(positions, 'pe') else positions, dropout, pad_id
              """, name="two_tables"), tests="`positional_encoding.PositionalEncoding(table)`"),
    wrong("frozen", "Some parameters are never trained: they do not require a gradient.",
          "Where does your code set `requires_grad`?",
          edit("self.pad_id = pad_id", "self.pad_id = pad_id; self.output.bias.requires_grad_(False)")),
    wrong("positions_twice",
          "You repeat the input layers' work: they already scale the embeddings and add the positions.",
          "What does `InputLayer` already do for you?",
          edit("self.encoder(self.source(src), mask)", "self.encoder(self.source.positions(self.source(src)), mask)",
               "self.decoder(self.target(tgt), ", "self.decoder(self.target.positions(self.target(tgt)), "),
          edit("self.encoder(self.source(src), mask)", "self.encoder(self.source(src) * self.source.scale, mask)",
               "self.decoder(self.target(tgt), ", "self.decoder(self.target(tgt) * self.target.scale, ",
               name="scaled_twice")),
    wrong("one_final_norm", "Encoder and decoder share one final norm, but each needs its own.",
          "How many times do you call `nn.LayerNorm(...)`?",
          edit("def stack(layer: type", """
              final = nn.LayerNorm(d_model) if norm_first else None

              def stack(layer: type
              """,
               "norm = nn.LayerNorm(d_model) if norm_first else None", "norm = final")),
    wrong("option_ignored", "`norm_first` or `activation` does not reach the layers.",
          "Which arguments do your layers get?",
          edit(_SIZES, _SIZES.replace("norm_first", "False")),
          edit(_SIZES, _SIZES.replace(", activation", ""), name="activation_ignored")),
    wrong("sizes_swapped", "`d_ff` is passed where the number of heads belongs.",
          "In which order does `EncoderLayer` take its sizes?",
          edit("sizes = (d_model, num_heads, d_ff,", "sizes = (d_model, d_ff, num_heads,")),
    wrong("last_only", "Only the last position gets logits.",
          "How many next words does the model predict at once in training?",
          edit("return self.output(x)", "return self.output(x[:, -1])")),
    wrong("encode_returns_pair", "`encode` returns more than the memory.",
          "What does its docstring promise?",
          edit("return self.encoder(self.source(src), mask)", "return self.encoder(self.source(src), mask), mask",
               "self.encode(src), src", "self.encode(src)[0], src")),
]

ACCEPTED = [
    right("spelt_out", source("""
        class Transformer(nn.Module):
            def __init__(self, src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff,
                         dropout=0.0, norm_first=False, activation='relu',
                         pad_id=0, max_len=512, positions=None):
                super().__init__()
                self.pad = pad_id
                pe = positional_encoding
                if positions is None:
                    positions = pe.PositionalEncoding(pe.sinusoid(torch.arange(max_len), d_model))
                self.output = nn.Linear(d_model, tgt_vocab)
                self.source = pe.InputLayer(src_vocab, d_model, positions, dropout, pad_id)
                self.target = pe.InputLayer(tgt_vocab, d_model, positions, dropout, pad_id)
                enc_norm = nn.LayerNorm(d_model) if norm_first else None
                dec_norm = nn.LayerNorm(d_model) if norm_first else None
                self.decoder = Stack(lambda: DecoderLayer(d_model, num_heads, d_ff, dropout,
                    norm_first, activation), num_layers, dec_norm)
                self.encoder = Stack(lambda: EncoderLayer(d_model, num_heads, d_ff, dropout,
                    norm_first, activation), num_layers, enc_norm)
            def encode(self, src):
                return self.encoder(self.source(src), (src != self.pad)[:, None, None])
            def decode(self, tgt, memory, src):
                src_mask, tgt_mask = make_masks(src, tgt, self.pad)
                return self.output(self.decoder(self.target(tgt), memory, tgt_mask, src_mask))
            def forward(self, src, tgt):
                memory = self.encode(src)
                return self.decode(tgt, memory, src)
        """)),
    right("xavier", edit("self.pad_id = pad_id", """
        self.pad_id = pad_id
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        with torch.no_grad():
            self.source.embedding.weight[pad_id] = 0
            self.target.embedding.weight[pad_id] = 0
        """)),
]

EXERCISE = Specification(
    tells={
        "positions": "source_for_target encoder_on_target source_for_target/memory encoder_on_target/memory",
        "property_spread": "pad_id_ignored",
    },
    target="Transformer", results="logits", tests="embeddings",
    parts="memory",
    contract=Contract(
        on=("post", "padding"), dropout=(("pre_gelu",), {"make.dropout": 0.375}),
        sizes={
            "padding between words": _draw_ids(scatter_padding) | {"pad_id": 2},
            # The sine of 500 has a large rounding error, which small weights keep small.
            "a source of more than 512 ids": {"B": 1, "Ls": 520, "max_len": 520, "weights": 1 / 16},
        },
    ),
    ready_made=("nn.Transformer",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
