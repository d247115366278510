"""Cases and mistakes for an exercise: encoder-only and decoder-only models."""

from __future__ import annotations

from functools import partial

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    draw_sentences,
    scatter_padding,
)
from transformer_course.encoder_decoder.exercises._models import IN_PADDING, IN_SIZES

_sizes = partial(sizes, ids=draw_sentences)

CASES = [
    case("both_sides", "encoder-only: both sides are visible",
         _sizes(vocab=9, d_model=6, num_heads=2, num_layers=2, d_ff=5, causal=False, B=3, L=5),
         "Which mask does the encoder get if the model is not causal?"),
    case("causal", "decoder-only: only the left side is visible; pre-norm, ReLU",
         _sizes(vocab=7, d_model=4, num_heads=2, num_layers=1, d_ff=3, causal=True, B=2, L=6,
                norm_first=True, activation="relu"),
         "Which mask does the encoder get if the model is causal?"),
    case("post", "causal, post-norm, ReLU, a different pad_id",
         _sizes(vocab=8, d_model=6, num_heads=3, num_layers=1, d_ff=7, causal=True, B=3, L=5,
                norm_first=False, activation="relu", pad_id=2),
         "Does each argument reach the part that needs it?"),
    case("deep", "three layers, pre-norm, GELU, a different pad_id",
         _sizes(vocab=11, d_model=4, num_heads=2, num_layers=3, d_ff=6, causal=False, B=2, L=7,
                norm_first=True, activation="gelu", pad_id=3),
         "Does each argument reach the part that needs it?", hidden_only=True),
]

_RETURN = "return self.output(self.encoder(self.input(ids), mask))"

MISTAKES = [
    wrong("arguments_in_another_order",
          "Your arguments are in a different order than in the stub, so positional calls fail or set the wrong ones.",
          "In which order do `activation` and `pad_id` come in the stub?",
          edit("""
              activation: str = "gelu",
              pad_id: int = 0,
              """, """
              pad_id: int = 0,
              activation: str = "gelu",
              """)),
    wrong("causal_ignored", "The model is causal in both cases or in none, whatever `causal` says.",
          "Where does your code look at `causal`?",
          edit("if self.causal:", "if False:"),
          edit("if self.causal:", "if True:", name="always_causal")),
    wrong("causal_in_training_only", "The model is causal only in training mode: in eval mode it sees the future.",
          "Should the mode decide what a position may see?",
          edit("if self.causal:", "if self.causal and self.training:")),
    wrong("causal_inverted", "Your model is causal exactly when it should not be.",
          "Which condition does your `if` test?",
          edit("if self.causal:", "if not self.causal:")),
    wrong("no_padding_mask", "Padding is not masked, at least in the causal model, so it is attended to.",
          "Which mask depends on the ids, and what is `combine_masks` for?",
          edit("mask = attention.padding_mask(ids, self.pad_id)", "mask = None"),
          edit("self.input(ids), mask)", "self.input(ids))", name="no_mask"),
          edit("mask = attention.combine_masks(mask, causal)", "mask = causal", name="causal_without_padding"),
          tests="attended"),
    wrong("or_for_and",
          'The padding mask and the causal mask are combined with "or", so each allows what the other forbids.',
          "Two guards must both say yes. Which logical operator is that?",
          edit("attention.combine_masks(mask, causal)", "mask | causal")),
    *IN_PADDING,
    *IN_SIZES,
    wrong("option_ignored", "`norm_first` or `activation` does not reach the layers.",
          "Which arguments do your layers get? (Their own defaults are different.)",
          edit("dropout, norm_first, activation)", "dropout, False, activation)"),
          edit("dropout, norm_first, activation)", "dropout, norm_first)", name="activation_ignored")),
    wrong("other_defaults", "The default for `norm_first` or `activation` differs from the stub's.",
          "Which defaults does the stub promise?",
          edit("norm_first: bool = True", "norm_first: bool = False"),
          edit('activation: str = "gelu"', 'activation: str = "relu"', name="relu_by_default")),
    wrong("softmax", "There is a softmax or a log-softmax at the end, but logits are asked for.",
          "Which loss will follow, and what does it do first?",
          edit(_RETURN, f"{_RETURN}.softmax(-1)"),
          edit(_RETURN, f"{_RETURN}.log_softmax(-1)", name="log_softmax")),
    wrong("no_output", "The output layer is never applied.",
          "How many scores should each position get?",
          edit("self.output(self.encoder(self.input(ids), mask))", "self.encoder(self.input(ids), mask)"),
          tests="Submodules"),
    wrong("masks_of_first_batch", "The mask of the first batch is kept and reused for later ones.",
          "When is your mask created: once, or for each batch?",
          edit("return self.output", """
              self.kept = mask = getattr(self, 'kept', mask)
              return self.output
              """)),
    wrong("decoder_used",
          "There are too many parameters: your layers have a cross-attention, but without a memory it has nothing to "
          "attend to.",
          "What is left of a decoder layer without cross-attention?",
          edit("Stack(lambda: EncoderLayer(*sizes), num_layers, norm)",
               "Stack(lambda: DecoderLayer(*sizes), num_layers, norm)",
               "self.encoder(self.input(ids), mask)", "self.encoder(self.input(ids), self.input(ids), mask, mask)")),
]

ACCEPTED = [
    right("by_hand", source("""
        class LanguageModel(nn.Module):
            def __init__(self, vocab, d_model, num_heads, num_layers, d_ff, causal,
                         dropout=0.0, norm_first=True, activation='gelu', pad_id=0,
                         max_len=512):
                super().__init__()
                pe = positional_encoding
                self.output = nn.Linear(d_model, vocab)
                self.encoder = Stack(
                    lambda: EncoderLayer(d_model, num_heads, d_ff, dropout=dropout,
                                         norm_first=norm_first, activation=activation),
                    num_layers, norm=nn.LayerNorm(d_model) if norm_first else None)
                places = pe.PositionalEncoding(pe.sinusoid(torch.arange(max_len), d_model))
                self.input = pe.InputLayer(vocab, d_model, places, dropout, pad_id)
                self.is_causal, self.pad = causal, pad_id
            def forward(self, ids):
                length = ids.shape[1]
                mask = (ids != self.pad)[:, None, None, :]
                if self.is_causal:
                    mask = mask & torch.ones(length, length, dtype=torch.bool).tril()
                return self.output(self.encoder(self.input(ids), mask))
        """)),
    right("make_masks",
          edit("mask = attention.padding_mask(ids, self.pad_id)", "mask, both = make_masks(ids, ids, self.pad_id)",
               """
        causal = attention.causal_mask(ids.size(1)).to(ids.device)
        mask = attention.combine_masks(mask, causal)
        """, "mask = both")),
    right("causal_or_none", edit("""
        if self.causal:
            causal = attention.causal_mask(ids.size(1)).to(ids.device)
            mask = attention.combine_masks(mask, causal)
        """, """
        causal = attention.causal_mask(ids.size(1)) if self.causal else None
        mask = attention.combine_masks(mask, causal)
        """)),
]

EXERCISE = Specification(
    tells={"property_sizes": "pad_id_ignored"},
    target="LanguageModel", results="logits", tests="Dropout is; `padding_idx`",
    contract=Contract(
        on=("causal", "post"), dropout=(("causal",), {"make.dropout": 0.375}),
        sizes={
            "padding between words": {"ids": scatter_padding, "pad_id": 3, "causal": True},
            # The sine of 500 has a large rounding error, which small weights keep small.
            "a text of more than 512 ids": {"B": 1, "L": 520, "max_len": 520, "weights": 1 / 16},
        },
    ),
    ready_made=("nn.TransformerEncoder",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
