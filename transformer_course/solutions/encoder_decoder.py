"""Built from notebooks/04_encoder_decoder.py by `make build`; do not edit."""

from collections.abc import Callable, Iterator, Mapping
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformer_course.solutions import attention as attention
from transformer_course.solutions import multi_head_attention as multi_head_attention
from transformer_course.solutions import positional_encoding as positional_encoding
import torch
import torch.nn.functional as F


def make_masks(
    src: Int[Tensor, "B Ls"], tgt: Int[Tensor, "B Lt"], pad_id: int = 0
) -> tuple[Bool[Tensor, "B 1 Ls"], Bool[Tensor, "B Lt Lt"]]:
    """The masks of an encoder-decoder.

    Args:
        src: ids of the source, int64.
        tgt: ids that the decoder reads, int64; the first id of a row is never padding.
        pad_id: the id of the padding token.

    Returns:
        src_mask: for the encoder and the cross-attention.
        tgt_mask: for the decoder's self-attention.
    """
    causal = attention.causal_mask(tgt.size(1)).to(tgt.device)  # (Lt, Lt)
    padding = attention.padding_mask(tgt, pad_id)  # (B, 1, Lt)
    return (
        attention.padding_mask(src, pad_id),  # (B, 1, Ls)
        attention.combine_masks(padding, causal),  # (B, Lt, Lt)
    )


def assert_parameters(layer: nn.Module, d_model: int, d_ff: int) -> None:
    """Return quietly if a decoder layer has as many parameters as it should.

    Args:
        layer: should have two multi-head attentions, one feed-forward network and
            three norms, and nothing else.
        d_model: size of its vectors.
        d_ff: size of the hidden layer of its feed-forward network.

    Raises:
        AssertionError: the layer has more or fewer parameters.
    """
    attentions = 2 * 4 * (d_model * d_model + d_model)
    network = 2 * d_model * d_ff + d_ff + d_model
    norms = 3 * 2 * d_model
    count = sum(parameter.numel() for parameter in layer.parameters())
    expected = attentions + network + norms
    assert count == expected, f"{count} parameters, not {expected}"


def add_and_norm(
    x: Float[Tensor, "B L d_model"],
    sublayer: Callable[[Tensor], Tensor],
    norm: nn.Module,
    dropout: nn.Module,
    norm_first: bool,
) -> Float[Tensor, "B L d_model"]:
    """A sublayer with its residual connection, its norm and its dropout.

    Args:
        x: the residual stream.
        sublayer: a function from `(B, L, d_model)` to the same shape.
        norm: a module that normalises each position.
        dropout: a module, applied to what the sublayer returns, before the sum.
        norm_first: False: post-norm, the sum is normalised. True: pre-norm, the
            sublayer's input is.

    Returns:
        The residual stream after the sublayer.
    """
    if norm_first:
        return x + dropout(sublayer(norm(x)))
    return norm(x + dropout(sublayer(x)))


class FeedForward(nn.Module):
    """The position-wise feed-forward network (Vaswani et al. 2017, section 3.3).

    Args:
        d_model: size of the input and output vectors.
        d_ff: size of the hidden vectors.
        dropout: probability of dropping a hidden component in training.
        activation: "relu" or "gelu".

    The linear layers are named `linear1` and `linear2`.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: str = "relu",
    ):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.activation = {"relu": F.relu, "gelu": F.gelu}[activation]

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Transform each position by itself; the result has the dtype of x."""
        hidden = self.activation(self.linear1(x))  # (..., d_ff)
        return self.linear2(self.dropout(hidden))  # (..., d_model)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with residual, norm and dropout.

    Args:
        d_model: size of the vectors.
        num_heads: number of heads of the attention.
        d_ff: size of the hidden layer of the feed-forward network.
        dropout: in the attention, in the feed-forward network, and on both branches.
        norm_first: False: post-norm. True: pre-norm.
        activation: "relu" or "gelu", for the feed-forward network.

    Its modules are named `attention`, `feed_forward`, `norm1` (of the attention) and
    `norm2` (of the feed-forward network).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
    ):
        super().__init__()
        self.attention = multi_head_attention.MultiHeadAttention(
            d_model, num_heads, dropout
        )
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        x: Float[Tensor, "B L d_model"],
        mask: Bool[Tensor, "L L"]
        | Bool[Tensor, "B L L"]
        | Bool[Tensor, "B num_heads L L"]
        | None = None,
    ) -> Float[Tensor, "B L d_model"]:
        """Apply both sublayers to x.

        Args:
            mask: True = may attend. Any dimension but the last may be 1, as in a
                padding mask `(B, 1, L)`.
        """

        def attend(x: Tensor) -> Tensor:
            return self.attention(x, x, x, mask)[0]  # (B, L, d_model)

        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
        return add_and_norm(
            x, self.feed_forward, self.norm2, self.dropout, self.norm_first
        )


class Stack(nn.Module):
    """A stack of layers, with a norm at the end if one is given.

    Args:
        make_layer: called without arguments, returns a new layer each time.
        num_layers: number of layers.
        norm: a module for the end of the stack, or None.

    Its modules are named `layers` and, if there is one, `norm`.
    """

    def __init__(
        self,
        make_layer: Callable[[], nn.Module],
        num_layers: int,
        norm: nn.Module | None = None,
    ):
        super().__init__()
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.Identity() if norm is None else norm

    def forward(
        self, x: Float[Tensor, "B L d_model"], *context: Tensor | None
    ) -> Float[Tensor, "B L d_model"]:
        """Send x through all layers.

        Args:
            context: further arguments for every layer: an encoder layer's mask, or a
                decoder layer's memory and masks; may be empty.
        """
        for layer in self.layers:
            x = layer(x, *context)  # (B, L, d_model)
        return self.norm(x)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each with add & norm.

    Args:
        d_model, num_heads, d_ff, dropout, norm_first, activation: as in `EncoderLayer`.

    Its modules are named `self_attention`, `cross_attention`, `feed_forward`, and
    `norm1`, `norm2`, `norm3`, in the order of the sublayers.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
    ):
        super().__init__()
        attention_class = multi_head_attention.MultiHeadAttention
        self.self_attention = attention_class(d_model, num_heads, dropout)
        self.cross_attention = attention_class(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        x: Float[Tensor, "B Lt d_model"],
        memory: Float[Tensor, "B Ls d_model"],
        tgt_mask: Bool[Tensor, "Lt Lt"]
        | Bool[Tensor, "B Lt Lt"]
        | Bool[Tensor, "B num_heads Lt Lt"]
        | None = None,
        memory_mask: Bool[Tensor, "Lt Ls"]
        | Bool[Tensor, "B Lt Ls"]
        | Bool[Tensor, "B num_heads Lt Ls"]
        | None = None,
    ) -> Float[Tensor, "B Lt d_model"]:
        """Apply the three sublayers to x.

        Args:
            tgt_mask: for the self-attention.
            memory_mask: for the cross-attention. Any dimension of either mask but the
                last may be 1.
        """

        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, x, x, tgt_mask)[0]  # (B, Lt, d_model)

        def look_up(x: Tensor) -> Tensor:
            return self.cross_attention(x, memory, memory, memory_mask)[0]

        x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
        x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
        return add_and_norm(
            x, self.feed_forward, self.norm3, self.dropout, self.norm_first
        )


class Transformer(nn.Module):
    """The encoder-decoder of Vaswani et al. 2017.

    Args:
        src_vocab, tgt_vocab: sizes of the vocabularies.
        d_model, num_heads, d_ff, dropout, norm_first, activation: as in `EncoderLayer`.
        num_layers: number of layers in the encoder, and in the decoder.
        pad_id: the padding token, which is masked as a key.
        max_len: number of positions in the sinusoid table.
        positions: a module that adds positions to `(B, L, d_model)`; None: sinusoids.

    Its modules are named `source`, `target`, `encoder`, `decoder` and `output`.
    """

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        activation: str = "relu",
        pad_id: int = 0,
        max_len: int = 512,
        positions: nn.Module | None = None,
    ):
        super().__init__()
        if positions is None:
            table = positional_encoding.sinusoid(torch.arange(max_len), d_model)
            positions = positional_encoding.PositionalEncoding(table)

        def embedding(vocab: int) -> nn.Module:
            return positional_encoding.InputLayer(
                vocab, d_model, positions, dropout, pad_id
            )

        def stack(layer: type) -> nn.Module:
            sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
            norm = nn.LayerNorm(d_model) if norm_first else None
            return Stack(lambda: layer(*sizes), num_layers, norm)

        self.source = embedding(src_vocab)
        self.target = embedding(tgt_vocab)
        self.encoder = stack(EncoderLayer)
        self.decoder = stack(DecoderLayer)
        self.output = nn.Linear(d_model, tgt_vocab)
        self.pad_id = pad_id

    def encode(self, src: Int[Tensor, "B Ls"]) -> Float[Tensor, "B Ls d_model"]:
        """From ids to the memory."""
        mask = attention.padding_mask(src, self.pad_id)  # (B, 1, Ls)
        return self.encoder(self.source(src), mask)

    def decode(
        self,
        tgt: Int[Tensor, "B Lt"],
        memory: Float[Tensor, "B Ls d_model"],
        src: Int[Tensor, "B Ls"],
    ) -> Float[Tensor, "B Lt tgt_vocab"]:
        """Logits for what follows each prefix of `tgt`.

        Args:
            memory: what `encode(src)` returned.
            src: needed only to know where the memory is padding.
        """
        src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)
        x = self.decoder(self.target(tgt), memory, tgt_mask, src_mask)
        return self.output(x)  # (B, Lt, tgt_vocab)

    def forward(
        self, src: Int[Tensor, "B Ls"], tgt: Int[Tensor, "B Lt"]
    ) -> Float[Tensor, "B Lt tgt_vocab"]:
        """Encode the source, and return the logits of the target."""
        return self.decode(tgt, self.encode(src), src)


def layer_cost(
    length: int, d_model: int, num_heads: int, d_ff: int
) -> tuple[int, int, int, int]:
    """What an encoder layer computes and keeps for one sequence.

    Args:
        length: number of positions.
        d_model: size of the vectors.
        num_heads: number of heads; it divides d_model.
        d_ff: size of the hidden vectors of the feed-forward network.

    Returns:
        FLOPs of multi-head attention, FLOPs of the feed-forward network, entries of the
        attention weights, and entries of the hidden vectors.
    """
    projections = 4 * 2 * length * d_model * d_model
    scores_and_sum = 2 * 2 * length * length * d_model  # d_model = h * d_k
    feed_forward = 2 * 2 * length * d_model * d_ff
    weights = num_heads * length * length
    return projections + scores_and_sum, feed_forward, weights, length * d_ff


def assert_decoder_layer(layer: nn.Module, d_model: int, d_ff: int) -> None:
    """Return quietly if a decoder layer follows the rules above.

    Args:
        layer: called as `layer(x, memory)`, with x `(B, Lt, d_model)` and memory
            `(B, Ls, d_model)`; it masks the future by itself.
        d_model: size of its vectors.
        d_ff: size of the hidden layer of its feed-forward network.

    Raises:
        AssertionError: the layer breaks a rule.
    """
    push = torch.linspace(-1, 1, d_model)  # uneven: a norm cannot remove it

    def assert_moves(expected: Tensor, x: Tensor, memory: Tensor, says: str) -> None:
        moved = ((layer(x, memory) - before).abs() > 1e-5).any(dim=-1)  # (B, Lt)
        assert torch.equal(moved, expected), f"wrong outputs depend on {says}"

    for batch, target, source in ((1, 5, 4), (2, 3, 5), (3, 4, 4)):
        x = torch.randn(batch, target, d_model)
        memory = torch.randn(batch, source, d_model)
        with torch.no_grad():
            before = layer(x, memory)
            assert before.shape == x.shape, "wrong shape"
            for b in range(batch):
                own = (torch.arange(batch) == b)[:, None]  # (B, 1)
                for j in range(target):
                    other = x.clone()
                    other[b, j] += push
                    later = own & (torch.arange(target) >= j)  # (B, Lt)
                    assert_moves(later, other, memory, f"target position {j}")
                for j in range(source):
                    other = memory.clone()
                    other[b, j] += push
                    whole = own.expand(batch, target)
                    assert_moves(whole, x, other, f"memory position {j}")
    assert_parameters(layer, d_model, d_ff)


class LanguageModel(nn.Module):
    """An encoder-only model or, if causal, a decoder-only model.

    Args:
        vocab: size of the vocabulary.
        d_model, num_heads, d_ff, dropout, norm_first, activation: as in `EncoderLayer`.
        num_layers: number of layers.
        causal: whether each position attends only to itself and earlier ones.
        pad_id: the padding token, which is masked as a key.
        max_len: number of positions in the sinusoid table.

    Its modules are named `input`, `encoder` and `output`.
    """

    def __init__(
        self,
        vocab: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        causal: bool,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "gelu",
        pad_id: int = 0,
        max_len: int = 512,
    ):
        super().__init__()
        table = positional_encoding.sinusoid(torch.arange(max_len), d_model)
        positions = positional_encoding.PositionalEncoding(table)
        self.input = positional_encoding.InputLayer(
            vocab, d_model, positions, dropout, pad_id
        )
        sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
        norm = nn.LayerNorm(d_model) if norm_first else None
        self.encoder = Stack(lambda: EncoderLayer(*sizes), num_layers, norm)
        self.output = nn.Linear(d_model, vocab)
        self.causal = causal
        self.pad_id = pad_id

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L vocab"]:
        """From ids to logits."""
        mask = attention.padding_mask(ids, self.pad_id)  # (B, 1, L)
        if self.causal:
            causal = attention.causal_mask(ids.size(1)).to(ids.device)
            mask = attention.combine_masks(mask, causal)  # (B, L, L)
        return self.output(self.encoder(self.input(ids), mask))  # (B, L, vocab)


def shifted(
    ids: Int[Tensor, "B L"], pad_id: int = 0, ignore: int = -100
) -> tuple[Int[Tensor, "B L-1"], Int[Tensor, "B L-1"]]:
    """Inputs and targets for a model that names the next token.

    Args:
        ids: int64; rows start with BOS and end with EOS and padding.
        pad_id: the id of the padding token.
        ignore: the target where the next token is padding.

    Returns:
        inputs and targets, int64.
    """
    following = ids[:, 1:]  # (B, L - 1)
    return ids[:, :-1], following.masked_fill(following == pad_id, ignore)


def attention_weights(
    model: nn.Module, attentions: list[nn.Module], *inputs: Tensor
) -> list[Float[Tensor, "B h Lq Lk"]]:
    """The weights of some attention modules of a model, while it reads the inputs.

    Args:
        model: called once, with the inputs; left unchanged.
        attentions: modules of the model; each returns the pair (output, weights).
        inputs: what the model is called with.

    Returns:
        The weights of each module, in the order of `attentions`, detached.
    """
    kept = {}

    def keep(attention: nn.Module, given: tuple, result: tuple) -> None:
        kept[attention] = result[1].detach()  # (B, h, Lq, Lk)

    hooks = [attention.register_forward_hook(keep) for attention in attentions]
    model(*inputs)
    for hook in hooks:
        hook.remove()
    return [kept[attention] for attention in attentions]
