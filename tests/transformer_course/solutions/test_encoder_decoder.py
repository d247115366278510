"""The reference of unit 04 equals PyTorch's layers, and its toy models learn."""

from __future__ import annotations

import functools
import itertools

import pytest
import torch
from torch import nn

from tests.transformer_course.solutions import given
from transformer_course.solutions import encoder_decoder as unit

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")
BATCH, LS, LT, SIZE, HEADS, HIDDEN, DEPTH = 3, 7, 5, 12, 2, 20, 2
SETTINGS = list(itertools.product((False, True), ("relu", "gelu"), (False, True)))


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(4)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=SETTINGS, ids=lambda p: f"norm_first={p[0]}-{p[1]}-masks={p[2]}")
def setting(request):
    return request.param


KEEP = torch.arange(LS) < torch.tensor([[LS], [3], [5]])  # (B, Ls)
CAUSAL = torch.ones(LT, LT, dtype=torch.bool).tril()


def sequences() -> tuple[torch.Tensor, torch.Tensor]:
    src, tgt = torch.randn(BATCH, LS, SIZE), torch.randn(BATCH, LT, SIZE)
    return src.requires_grad_(), tgt.requires_grad_()


def arguments(norm_first: bool, activation: str) -> tuple:
    return SIZE, HEADS, HIDDEN, 0.0, norm_first, activation


def theirs_like(kind: type, norm_first: bool, activation: str) -> nn.Module:
    options = {"batch_first": True, "norm_first": norm_first}
    return kind(SIZE, HEADS, HIDDEN, 0.0, activation, **options)


def assert_same(mine, theirs, own, other, inputs) -> None:
    """Equal outputs, and equal gradients of inputs and of all parameters."""
    torch.testing.assert_close(own, other, rtol=0, atol=1e-12)
    pull = torch.randn_like(own)
    gradients = [
        torch.autograd.grad((y * pull).sum(), [*inputs, *module.parameters()])
        for module, y in ((mine, own), (theirs, other))
    ]
    for a, b in zip(*(g[: len(inputs)] for g in gradients), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-11)
    own_named, other_named = (
        dict(zip(dict(module.named_parameters()), found[len(inputs) :], strict=True))
        for module, found in zip((mine, theirs), gradients, strict=True)
    )
    translated = given.code("encoder_decoder")["to_pytorch"](own_named)
    assert translated.keys() == other_named.keys()
    for name, b in other_named.items():
        torch.testing.assert_close(translated[name], b, rtol=0, atol=1e-11)


def copy(mine: nn.Module, theirs: nn.Module) -> None:
    to_pytorch = given.code("encoder_decoder")["to_pytorch"]
    theirs.load_state_dict(to_pytorch(mine.state_dict()))


def test_encoder_layer_is_pytorchs(setting):
    norm_first, activation, masked = setting
    mine = given.shake(unit.EncoderLayer(*arguments(norm_first, activation)), 0.3)
    theirs = theirs_like(nn.TransformerEncoderLayer, norm_first, activation)
    copy(mine, theirs)
    src, _ = sequences()
    own = mine(src, KEEP[:, None] if masked else None)
    other = theirs(src, src_key_padding_mask=~KEEP if masked else None)
    assert_same(mine, theirs, own, other, [src])


def test_decoder_layer_is_pytorchs(setting):
    norm_first, activation, masked = setting
    mine = given.shake(unit.DecoderLayer(*arguments(norm_first, activation)), 0.3)
    theirs = theirs_like(nn.TransformerDecoderLayer, norm_first, activation)
    copy(mine, theirs)
    memory, tgt = sequences()
    own = mine(tgt, memory, *((CAUSAL, KEEP[:, None]) if masked else ()))
    masks = {"tgt_mask": ~CAUSAL, "memory_key_padding_mask": ~KEEP} if masked else {}
    assert_same(mine, theirs, own, theirs(tgt, memory, **masks), [tgt, memory])


class _Core(nn.Module):
    """Encoder and decoder of a Transformer, between embeddings and output layer."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.encoder, self.decoder = model.encoder, model.decoder


def test_transformer_is_pytorchs(setting):
    norm_first, activation, masked = setting
    model = unit.Transformer(
        11, 13, SIZE, HEADS, DEPTH, HIDDEN, 0.0, norm_first, activation
    )
    mine = given.shake(_Core(model), 0.3)
    theirs = nn.Transformer(
        SIZE,
        HEADS,
        DEPTH,
        DEPTH,
        HIDDEN,
        0.0,
        activation,
        batch_first=True,
        norm_first=norm_first,
    )
    theirs.encoder.enable_nested_tensor = False
    if not norm_first:  # the paper's stacks end without a norm
        theirs.encoder.norm = theirs.decoder.norm = None
    copy(mine, theirs)
    src, tgt = sequences()
    keep = KEEP[:, None] if masked else None
    own = mine.decoder(tgt, mine.encoder(src, keep), CAUSAL if masked else None, keep)
    masks = {"tgt_mask": ~CAUSAL} if masked else {}
    if masked:
        masks |= dict.fromkeys(
            ("src_key_padding_mask", "memory_key_padding_mask"), ~KEEP
        )
    assert_same(mine, theirs, own, theirs(src, tgt, **masks), [src, tgt])


def test_whole_model_is_its_parts_around_pytorchs_transformer():
    model = unit.Transformer(11, 13, SIZE, HEADS, DEPTH, HIDDEN, norm_first=True)
    theirs = nn.Transformer(
        SIZE, HEADS, DEPTH, DEPTH, HIDDEN, 0.0, batch_first=True, norm_first=True
    )
    copy(_Core(model), theirs)
    theirs.encoder.enable_nested_tensor = False
    src = torch.randint(1, 11, (BATCH, LS)).where(KEEP, 0)
    tgt = torch.randint(1, 13, (BATCH, LT))
    x = theirs(
        model.source(src),
        model.target(tgt),
        tgt_mask=~CAUSAL,
        src_key_padding_mask=~KEEP,
        memory_key_padding_mask=~KEEP,
    )
    torch.testing.assert_close(model(src, tgt), model.output(x), rtol=0, atol=1e-12)


def test_weights_of_all_layers_are_those_that_the_attentions_return():
    layers = [unit.EncoderLayer(SIZE, HEADS, HIDDEN) for _ in range(DEPTH)]
    encoder = unit.Stack(iter(layers).__next__, DEPTH)
    src, _ = sequences()
    found = unit.attention_weights(
        encoder, [layer.attention for layer in layers], src, KEEP[:, None]
    )
    x = src
    for layer, weights in zip(layers, found, strict=True):
        own = layer.attention(x, x, x, KEEP[:, None])[1]
        torch.testing.assert_close(weights, own.detach())
        x = layer(x, KEEP[:, None])


@pytest.fixture(scope="module")
def notebook() -> dict:
    """What the notebook defines; two tests look at each model that is trained here."""
    defined = given.code("encoder_decoder")
    train = functools.cache(defined["train_encoder_only"])
    return defined | {"train_encoder_only": train}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
class TestToyModels:
    """What the notebook says of its three training runs, for every seed."""

    @pytest.fixture(autouse=True)
    def single(self):
        torch.set_default_dtype(torch.float32)

    def test_encoder_only_fills_in_98_percent(self, notebook, seed):
        model, _ = notebook["train_encoder_only"](seed)
        found = notebook["accuracy"](model, notebook["masked_letters"](2000))
        assert found.mean() >= 0.98

    def test_a_head_of_the_encoder_only_model_is_the_mirror(self, notebook, seed):
        model, _ = notebook["train_encoder_only"](seed)
        (ids,), _ = notebook["masked_letters"](500)
        attention = model.encoder.layers[0].attention
        (weights,) = notebook["attention_weights"](model, [attention], ids)
        mirror = weights.flip(-1).diagonal(dim1=-2, dim2=-1)  # (B, h, L)
        by_head = mirror.mT[ids == 4].mean(0)  # 4 is MASK
        assert by_head.max() > 0.8

    def test_causal_model_guesses_in_the_first_half(self, notebook, seed):
        model, _ = notebook["train_encoder_only"](seed, causal=True)
        found = notebook["accuracy"](model, notebook["masked_letters"](2000))
        assert found[:5].mean() < 0.15
        assert 0.5 < found.mean() < 0.58

    def test_decoder_only_names_98_percent_of_the_second_half(self, notebook, seed):
        model, _ = notebook["train_decoder_only"](seed)
        found = notebook["accuracy"](model, notebook["next_letters"](2000))
        assert found[5:].mean() >= 0.98
        assert found[:5].mean() < 0.15

    def test_encoder_decoder_translates_97_percent(self, notebook, seed):
        model, _ = notebook["train_encoder_decoder"](seed)
        src, tgt = notebook["sentence_pairs"](1000, held_out=True)
        assert notebook["exact_match"](notebook["translate"](model, src), tgt) >= 0.97

    def test_pre_norm_learns_where_post_norm_guesses(self, notebook, seed):
        pre, _ = notebook["train_mirror"](True, seed)
        post, _ = notebook["train_mirror"](False, seed)
        assert sum(pre[-10:]) / 10 < 2.0 < 2.3 < sum(post[-10:]) / 10
