"""One class for two families."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    ENCODER,
    Shapes,
    as_options,
    linear_shapes,
    scattered_ids,
    small_weights,
    stack_shapes,
    token_ids,
)


def _language_model_inputs(
    vocab: int,
    d_model: int,
    heads: int,
    depth: int,
    d_ff: int,
    causal: bool,
    batch: int,
    length: int,
    norm_first: bool | None = None,
    activation: str | None = None,
    pad_id: int = 0,
    second: bool = False,
    max_len: int = 0,
    scattered: bool = False,
) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        options: dict[str, int | str] = {
            "vocab": vocab,
            "d_model": d_model,
            "num_heads": heads,
            "num_layers": depth,
            "d_ff": d_ff,
            "causal": causal,
        }
        options |= {} if norm_first is None else {"norm_first": norm_first}
        options |= {} if activation is None else {"activation": activation}
        options |= {"pad_id": pad_id} if pad_id else {}
        options |= {"max_len": max_len} if max_len else {}
        shapes: Shapes = {"input.embedding.weight": (vocab, d_model)}
        final = norm_first is not False
        shapes |= stack_shapes("encoder.", ENCODER, depth, d_model, d_ff, final)
        shapes |= linear_shapes("output", vocab, d_model)
        inputs = as_options(options) | small_weights(draw, shapes)
        inputs["ids"] = token_ids(draw, batch, length, vocab, pad_id)
        # Rounding errors grow in layers and norms, and in long texts, where the sine of
        # 500 is rounded as well, so the logits must be small.
        inputs["weights.output.weight"] /= 64 if max_len else 16
        if scattered:
            inputs["ids"] = scattered_ids(draw, batch, length, vocab, pad_id, first=True)
        if second:
            inputs["second ids"] = token_ids(draw, batch + 1, length + 2, vocab, pad_id)
        return inputs

    return make_inputs


CASES = [
    case("both_sides", "encoder-only: both sides are visible",
         _language_model_inputs(9, 6, 2, 2, 5, False, batch=3, length=5, second=True),
         "Which mask does the encoder get if the model is not causal?"),
    case("causal", "decoder-only: only the left side is visible; pre-norm, ReLU",
         _language_model_inputs(7, 4, 2, 1, 3, True, batch=2, length=6, norm_first=True, activation="relu",
                                second=True),
         "Which mask does the encoder get if the model is causal?"),
    case("post", "causal, post-norm, ReLU, a different pad_id",
         _language_model_inputs(8, 6, 3, 1, 7, True, batch=3, length=5, norm_first=False, activation="relu", pad_id=2),
         "Does each argument reach the part that needs it?"),
    case("deep", "three layers, pre-norm, GELU, a different pad_id",
         _language_model_inputs(11, 4, 2, 3, 6, False, batch=2, length=7, norm_first=True, activation="gelu", pad_id=3),
         "Does each argument reach the part that needs it?", hidden_only=True),
]

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
    wrong("never_causal",
          "The model sees the future even if it should be causal.",
          "Where does your code look at `causal`?",
          edit("if self.causal:", "if False:")),
    wrong("causal_in_training_only",
          "The model is causal only in training mode: in eval mode it sees the future.",
          "Should the mode decide what a position may see?",
          edit("if self.causal:", "if self.causal and self.training:")),
    wrong("always_causal",
          "The model is causal in both cases.",
          "Where does your code look at `causal`?",
          edit("if self.causal:", "if True:")),
    wrong("causal_inverted",
          "Your model is causal exactly when it should not be.",
          "Which condition does your `if` test?",
          edit("if self.causal:", "if not self.causal:")),
    wrong("causal_without_padding",
          "When the model is causal, your code loses the padding mask.",
          "What is `combine_masks` for?",
          edit("mask = attention.combine_masks(mask, causal)", "mask = causal")),
    wrong("no_mask",
          "The encoder gets no mask at all.",
          "What do you pass to the encoder besides the vectors?",
          edit("self.input(ids), mask)", "self.input(ids))")),
    wrong("no_padding_mask",
          "Padding is not masked, so real tokens attend to it.",
          "Which mask depends on the ids?",
          edit("mask = attention.padding_mask(ids, self.pad_id)", "mask = None"), tests="attended"),
    wrong("or_for_and",
          'The padding mask and the causal mask are combined with "or", so each allows what the other forbids.',
          "Two guards must both say yes. Which logical operator is that?",
          edit("attention.combine_masks(mask, causal)", "mask | causal")),
    wrong("pad_id_ignored",
          "The masks treat 0 as padding, whatever `pad_id` says.",
          "How does the mask function learn about `pad_id`?",
          edit("self.pad_id = pad_id", "self.pad_id = 0")),
    wrong("pad_id_not_handed_on",
          "The input layer does not get `pad_id`: it takes 0 for padding, so the wrong vector starts at zero and is "
          "never trained.",
          "Which arguments does your `InputLayer` get? (The last one has a default.)",
          edit("vocab, d_model, positions, dropout, pad_id", "vocab, d_model, positions, dropout")),
    wrong("padding_starts_at_random",
          "The vector of `pad_id` does not start at zero: the weights were initialised again.",
          "Which row did the embedding set to zero when it was created, and which line came after that?",
          edit("self.pad_id = pad_id", """
              self.pad_id = pad_id
              for p in self.parameters():
                  if p.dim() > 1:
                      nn.init.normal_(p, std=0.02)
              """)),
    wrong("no_positions",
          "No positions are added to the embeddings.",
          "Which module do you pass to `InputLayer`?",
          edit("positions = positional_encoding.PositionalEncoding(table)", "positions = nn.Identity()"),
          tests="`padding_idx`"),
    wrong("no_final_norm",
          "The pre-norm stack has no norm at the end.",
          "What does a pre-norm stack need that a post-norm stack does not?",
          edit("nn.LayerNorm(d_model) if norm_first else None", "None"), tests="`nn.LayerNorm(d_model)`"),
    wrong("always_final_norm",
          "The post-norm stack also has a norm at the end.",
          "What is the last step of a post-norm layer?",
          edit("nn.LayerNorm(d_model) if norm_first else None", "nn.LayerNorm(d_model)")),
    wrong("norm_first_ignored",
          "The layers are post-norm, whatever `norm_first` says.",
          "Which arguments do your layers get? (Their own default is different.)",
          edit("dropout, norm_first, activation)", "dropout, False, activation)")),
    wrong("post_norm_by_default",
          "If `norm_first` is not given, your model is post-norm.",
          "Which defaults does the stub promise?",
          edit("norm_first: bool = True", "norm_first: bool = False")),
    wrong("relu_by_default",
          "If `activation` is not given, your model uses ReLU.",
          "Which defaults does the stub promise?",
          edit('activation: str = "gelu"', 'activation: str = "relu"')),
    wrong("activation_ignored",
          "The layers use ReLU, their own default, whatever `activation` says.",
          "Which arguments do your layers get?",
          edit("dropout, norm_first, activation)", "dropout, norm_first)")),
    wrong("softmax",
          "There is a softmax at the end, but logits are asked for.",
          "Which loss will follow, and what does it do first?",
          edit("return self.output(self.encoder(self.input(ids), mask))",
               "return self.output(self.encoder(self.input(ids), mask)).softmax(-1)")),
    wrong("log_softmax",
          "There is a `log_softmax` at the end, but logits are asked for.",
          "Which loss will follow, and what does it do first?",
          edit("return self.output(self.encoder(self.input(ids), mask))",
               "return self.output(self.encoder(self.input(ids), mask)).log_softmax(-1)")),
    wrong("no_output",
          "The output layer is never applied.",
          "How many scores should each position get?",
          edit("self.output(self.encoder(self.input(ids), mask))", "self.encoder(self.input(ids), mask)"),
          tests="Submodules"),
    wrong("one_layer",
          "The stack has one layer, whatever `num_layers` says.",
          "Where does `num_layers` go?",
          edit("num_layers, norm)", "1, norm)")),
    wrong("masks_of_first_batch",
          "The mask of the first batch is kept and reused for later ones.",
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
    target="LanguageModel",
    tests="Dropout goes",
    contract=Contract(
        arguments="ids: B L", results="logits: B L V", on=("causal", "post"), ways=OF_MODULES, module=True,
        dropout=(("causal",), {"option.dropout": 0.375}),
        sizes=special(
            one_sentence=_language_model_inputs(7, 4, 2, 1, 5, True, 1, 6),
            one_position=_language_model_inputs(7, 4, 2, 1, 5, True, 3, 1),
            equal_sizes=_language_model_inputs(4, 4, 4, 1, 4, False, 4, 4),
            padding_between_words=_language_model_inputs(7, 4, 2, 1, 5, True, 3, 6, pad_id=3, scattered=True),
            a_text_of_more_than_512_ids=_language_model_inputs(5, 2, 1, 1, 3, True, 1, 520, max_len=520),
        ),
    ),
    ready_made=("nn.TransformerEncoder",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
