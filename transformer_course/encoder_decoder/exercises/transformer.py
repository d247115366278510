"""The Transformer."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    DECODER,
    ENCODER,
    Shapes,
    as_options,
    scattered_ids,
    small_weights,
    stack_shapes,
    token_ids,
)


def _model_inputs(
    src_vocab: int,
    tgt_vocab: int,
    d_model: int,
    heads: int,
    depth: int,
    d_ff: int,
    batch: int,
    ls: int,
    lt: int,
    norm_first: bool = False,
    activation: str = "relu",
    pad_id: int = 0,
    pull: bool = False,
    second: bool = False,
    max_len: int = 0,
    positions: int = 0,
    scattered: bool = False,
    padded: bool = True,
    moves: bool = False,
) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        options: dict[str, int | str] = {
            "src_vocab": src_vocab,
            "tgt_vocab": tgt_vocab,
            "d_model": d_model,
            "num_heads": heads,
            "num_layers": depth,
            "d_ff": d_ff,
        }
        options |= {"norm_first": True, "activation": activation} if norm_first else {}
        options |= {"pad_id": pad_id} if pad_id else {}
        options |= {"max_len": max_len} if max_len else {}
        shapes: Shapes = {
            "source.embedding.weight": (src_vocab, d_model),
            "target.embedding.weight": (tgt_vocab, d_model),
            "output.weight": (tgt_vocab, d_model),
            "output.bias": (tgt_vocab,),
        }
        shapes |= stack_shapes("encoder.", ENCODER, depth, d_model, d_ff, norm_first)
        shapes |= stack_shapes("decoder.", DECODER, depth, d_model, d_ff, norm_first)
        inputs = as_options(options) | small_weights(draw, shapes)
        # Rounding errors grow in layers and norms, so the logits are small.
        inputs["weights.output.weight"] /= 16
        inputs["src"] = token_ids(draw, batch, ls, src_vocab, pad_id, padded)
        inputs["tgt"] = token_ids(draw, batch, lt, tgt_vocab, pad_id, padded)
        if scattered:
            inputs["src"] = scattered_ids(draw, batch, ls, src_vocab, pad_id, first=False)
            inputs["tgt"] = scattered_ids(draw, batch, lt, tgt_vocab, pad_id, first=True)
        if second:
            inputs["second src"] = token_ids(draw, batch + 1, ls - 1, src_vocab, pad_id)
            inputs["second tgt"] = token_ids(draw, batch + 1, lt + 1, tgt_vocab, pad_id)
        if positions:
            inputs["positions"] = draw.tensor(positions, d_model)
        if pull:
            inputs["pull"] = draw.tensor(batch, lt, tgt_vocab, scale=0.5)
        return inputs | ({"look": "who moves whom"} if moves else {})

    return make_inputs


CASES = [
    case("post", "post-norm, two vocabularies",
         _model_inputs(9, 7, 6, 2, 1, 5, batch=3, ls=5, lt=4, second=True, moves=True),
         "Follow a batch by hand: source, encoder, memory; target, decoder, output."),
    case("pre_gelu", "pre-norm, GELU, a long source",
         _model_inputs(11, 8, 4, 2, 2, 6, batch=2, ls=7, lt=3, norm_first=True, activation="gelu", moves=True),
         "A pre-norm stack ends with a norm; encoder and decoder each have one."),
    case("positions", "positions other than sinusoids",
         _model_inputs(7, 8, 6, 2, 1, 5, batch=2, ls=5, lt=4, positions=7, padded=False),
         "Both input layers add the positions that were given."),
    case("gradients", "gradients of a padded batch, with a different pad_id",
         _model_inputs(7, 9, 4, 2, 1, 5, batch=3, ls=5, lt=6, pad_id=2, pull=True),
         "Does every part that deals with padding know `pad_id`?"),
    case("three_layers", "three layers each, pre-norm, a short table of positions",
         _model_inputs(6, 10, 4, 2, 3, 3, batch=2, ls=4, lt=5, norm_first=True, activation="relu", max_len=9,
                       second=True),
         "Does each argument reach the part that needs it?", hidden_only=True),
]

MISTAKES = [
    # Mistakes in the embeddings and in the output.
    wrong("padding_starts_at_random",
          "The vector of `pad_id` does not start at zero: the weights were initialised again, or come from a layer "
          "that knows no padding.",
          "Which row did the embedding set to zero when it was created, and which line came after that?",
          edit("self.pad_id = pad_id", """
              self.pad_id = pad_id
              for p in self.parameters():
                  if p.dim() > 1:
                      nn.init.xavier_uniform_(p)
              """)),
    wrong("softmax",
          "There is a softmax at the end. `F.cross_entropy` applies its own, and two of them flatten the "
          "probabilities.",
          "Do logits sum to one?",
          edit("return self.output(x)", "return self.output(x).softmax(-1)")),
    wrong("log_softmax",
          "There is a log-softmax at the end, but logits are asked for.",
          "Which loss will follow, and what does it do first?",
          edit("return self.output(x)", "return self.output(x).log_softmax(-1)")),
    wrong("embeddings_swapped",
          "Source and target embeddings are swapped.",
          "Which ids go through `source`?",
          edit("self.source(src)", "self.target(src)", "self.target(tgt)", "self.source(tgt)")),
    wrong("source_for_target",
          "The target ids go through the source embedding.",
          "In `decode`, which input layer reads `tgt`?",
          edit("self.target(tgt)", "self.source(tgt)"), tests="dropout"),
    wrong("output_of_source_size",
          "The output layer scores the words of the *source* vocabulary.",
          "In which language does the model write?",
          edit("self.output = nn.Linear(d_model, tgt_vocab)", "self.output = nn.Linear(d_model, src_vocab)")),
    wrong("vocabularies_swapped",
          "The vocabulary sizes of the two embeddings are swapped.",
          "Which vocabulary does `source` read?",
          edit("self.source = embedding(src_vocab)", "self.source = embedding(tgt_vocab)",
               "self.target = embedding(tgt_vocab)", "self.target = embedding(src_vocab)")),
    wrong("output_d_model",
          "The output layer maps `d_model` to `d_model`, so there is no score for each word.",
          "How many words can the model choose from?",
          edit("self.output = nn.Linear(d_model, tgt_vocab)", "self.output = nn.Linear(d_model, d_model)"),
          tests="`nn.Linear`"),
    wrong("output_no_bias",
          "The output layer has no bias.",
          "What is the default of `nn.Linear`?",
          edit("nn.Linear(d_model, tgt_vocab)", "nn.Linear(d_model, tgt_vocab, bias=False)")),
    wrong("no_output",
          "The output layer is never applied: `decode` returns vectors, not scores.",
          "What is the last step in the picture?",
          edit("return self.output(x)", "return x")),
    # Mistakes in the masks, the memory, and in caching them.
    wrong("encoder_on_target",
          "The decoder attends to the encoded *target*, so the source has no influence.",
          "What does `forward` pass to `decode` as the memory?",
          edit("self.decode(tgt, self.encode(src), src)", "self.decode(tgt, self.encode(tgt), tgt)")),
    wrong("memory_not_encoded",
          "`encode` stops before the encoder: the memory is nothing but embeddings.",
          "Which two modules should the source go through?",
          edit("self.encoder(self.source(src), mask)", "self.source(src)")),
    wrong("encode_no_mask",
          "The encoder gets no mask, so source padding is visible.",
          "What is the second argument of your encoder?",
          edit("self.encoder(self.source(src), mask)", "self.encoder(self.source(src))")),
    wrong("decode_no_memory_mask",
          "The decoder gets no memory mask, so source padding is visible.",
          "Why does `decode` need `src`?",
          edit("memory, tgt_mask, src_mask)", "memory, tgt_mask)")),
    wrong("decode_no_target_mask",
          "The decoder gets no target mask, so it sees the future.",
          "What is the third argument of your decoder?",
          edit("memory, tgt_mask, src_mask)", "memory, None, src_mask)")),
    wrong("decoder_masks_swapped",
          "The decoder's arguments do not fit together: its masks are swapped or built from the wrong ids, or one "
          "argument is missing.",
          "Which comes first, `tgt_mask` or `memory_mask`, and which ids is each one built from?",
          edit("memory, tgt_mask, src_mask)", "memory, src_mask, tgt_mask)")),
    wrong("pad_id_ignored_in_masks",
          "The masks treat 0 as padding, whatever `pad_id` says.",
          "How do the mask functions learn about `pad_id`?",
          edit("self.pad_id = pad_id", "self.pad_id = 0")),
    wrong("pad_id_ignored_in_embedding",
          "The embeddings do not get `pad_id`, so the padding vector is trained (or that of a real word is not).",
          "What is the last argument of `InputLayer`?",
          edit("vocab, d_model, positions, dropout, pad_id", "vocab, d_model, positions, dropout"),
          tests="embeddings"),
    wrong("mask_of_last_encode",
          "`decode` uses the source mask of the last `encode`, not that of the `src` it is given.",
          "What if two sources are encoded before the first one is decoded?",
          edit("mask = attention.padding_mask(src, self.pad_id)",
               "mask = self.kept = attention.padding_mask(src, self.pad_id)",
               "memory, tgt_mask, src_mask)", "memory, tgt_mask, self.kept)"), tests="arguments"),
    wrong("memory_kept",
          "The memory of a source is kept and reused, even after the weights have changed.",
          "What happens to the weights between two training steps?",
          edit("return self.decode(tgt, self.encode(src), src)", """
              kept = getattr(self, "kept", None)
              if self.training or kept is None or not torch.equal(kept[0], src):
                  kept = self.kept = (src, self.encode(src))
              return self.decode(tgt, kept[1], src)
              """)),
    wrong("first_token_unmasked",
          "For a target of one token, the memory mask is left out.",
          "What does the very first decoding step look at?",
          edit("memory, tgt_mask, src_mask)", "memory, tgt_mask, src_mask if tgt.size(1) > 1 else None)")),
    wrong("masks_of_first_batch",
          "The masks of the first batch are kept and reused for later ones.",
          "When are your masks created: once, or for each batch?",
          edit("src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)", """
              self.kept = getattr(self, 'kept', None) or make_masks(src, tgt, self.pad_id)
              src_mask, tgt_mask = self.kept
              """)),
    # Mistakes in positions, norms, sizes and the parts' arguments.
    wrong("no_positions",
          "No positions are added, so the encoder cannot know the order of the words.",
          "What do you do if `positions` is None?",
          edit("positions = positional_encoding.PositionalEncoding(table)", "positions = nn.Identity()")),
    wrong("positions_copied",
          "Source and target have copies of `positions`, not the module that was given. If it is trainable, the copies "
          "will drift apart.",
          "Which module does each input layer get?",
          edit("if positions is None:", """
              import copy
              if positions is None:
              """,
               "vocab, d_model, positions, dropout, pad_id",
               "vocab, d_model, copy.deepcopy(positions), dropout, pad_id"),
          tests="`positional_encoding.PositionalEncoding(table)`"),
    wrong("two_tables",
          "Source and target each have their own sinusoids, but one module should serve both.",
          "How many modules that add positions does your code create?",
          edit("vocab, d_model, positions, dropout, pad_id",
               "vocab, d_model, positional_encoding.PositionalEncoding(positions.pe.clone()) if hasattr(positions, 'pe') else positions, dropout, pad_id")),
    wrong("frozen",
          "Some parameters are never trained: they do not require a gradient.",
          "Where does your code set `requires_grad`?",
          edit("self.pad_id = pad_id", "self.pad_id = pad_id; self.output.bias.requires_grad_(False)")),
    wrong("positions_twice",
          "Positions are added twice.",
          "What does `InputLayer` already do for you?",
          edit("self.encoder(self.source(src), mask)", "self.encoder(self.source.positions(self.source(src)), mask)",
               "self.decoder(self.target(tgt), ", "self.decoder(self.target.positions(self.target(tgt)), ")),
    wrong("scaled_twice",
          "The embeddings are scaled by the square root of `d_model` twice.",
          "What does `InputLayer` already do for you?",
          edit("self.encoder(self.source(src), mask)", "self.encoder(self.source(src) * self.source.scale, mask)",
               "self.decoder(self.target(tgt), ", "self.decoder(self.target(tgt) * self.target.scale, ")),
    wrong("no_final_norm",
          "The pre-norm stacks have no norm at the end.",
          "What does a pre-norm stack need that a post-norm stack does not?",
          edit("nn.LayerNorm(d_model) if norm_first else None", "None"), tests="`nn.LayerNorm(d_model)`"),
    wrong("always_final_norm",
          "The post-norm stacks also have a norm at the end. (So does `nn.Transformer`, but not the paper.)",
          "What is the last step of a post-norm layer?",
          edit("nn.LayerNorm(d_model) if norm_first else None", "nn.LayerNorm(d_model)")),
    wrong("one_final_norm",
          "Encoder and decoder share one final norm, but each needs its own.",
          "How many times do you call `nn.LayerNorm(...)`?",
          edit("def stack(layer: type", """
              final = nn.LayerNorm(d_model) if norm_first else None

              def stack(layer: type
              """,
               "norm = nn.LayerNorm(d_model) if norm_first else None", "norm = final")),
    wrong("norm_first_ignored",
          "The layers are post-norm, even if `norm_first` is True.",
          "Which arguments do your layers get?",
          edit("""
              sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
              norm
              """, """
              sizes = (d_model, num_heads, d_ff, dropout, False, activation)
              norm
              """)),
    wrong("activation_ignored",
          "`activation` does not reach the layers.",
          "Which arguments do your layers get?",
          edit("""
              sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
              norm
              """, """
              sizes = (d_model, num_heads, d_ff, dropout, norm_first)
              norm
              """)),
    wrong("one_layer",
          "The stacks have one layer, whatever `num_layers` says.",
          "Where does `num_layers` go?",
          edit("layer(*sizes), num_layers, norm)", "layer(*sizes), 1, norm)")),
    wrong("sizes_swapped",
          "`d_ff` is passed where the number of heads belongs.",
          "In which order does `EncoderLayer` take its sizes?",
          edit("sizes = (d_model, num_heads, d_ff,", "sizes = (d_model, d_ff, num_heads,")),
    wrong("last_only",
          "Only the last position gets logits.",
          "How many next words does the model predict at once in training?",
          edit("return self.output(x)", "return self.output(x[:, -1])")),
    wrong("encode_returns_pair",
          "`encode` returns more than the memory.",
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
    target="Transformer",
    aspects={"memory": 3.0},  # the encoder's half
    contract=Contract(
        arguments="src: B Ls; tgt: B Lt", results="logits: B Lt V", on=("post",), ways=OF_MODULES, module=True,
        dropout=(("pre_gelu",), {"option.dropout": 0.375}),
        sizes=special(
            one_sentence=_model_inputs(7, 6, 4, 2, 1, 5, batch=1, ls=3, lt=5),
            one_position=_model_inputs(7, 6, 4, 2, 1, 5, batch=2, ls=1, lt=1),
            equal_sizes=_model_inputs(5, 5, 4, 4, 1, 4, batch=4, ls=4, lt=4),
            padding_between_words=_model_inputs(7, 6, 4, 2, 1, 5, batch=3, ls=5, lt=4, pad_id=2, scattered=True),
            a_source_of_more_than_512_ids=_model_inputs(5, 6, 2, 1, 1, 3, batch=1, ls=520, lt=3, max_len=520),
        ),
    ),
    ready_made=("nn.Transformer",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
