"""The decoder that keeps its keys and values says what the course's loop says."""

import itertools
from functools import partial

import pytest
import torch

from transformer_course.authoring import decoding
from transformer_course.library.model import Restorer, Sizes
from transformer_course.library.text import BOS, EOS, PAD
from transformer_course.solutions import encoder_decoder
from transformer_course.solutions.sequence_reversal import greedy_decode

VOCAB = 13


def model_with(**changes: object) -> Restorer:
    """A drawn model whose logits are far enough apart to end at different places."""
    torch.manual_seed(5)
    sizes = Sizes(VOCAB, d_model=12, num_heads=3, d_ff=20, max_len=60, **changes)
    model = Restorer(sizes, encoder_decoder).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.copy_(torch.randn(parameter.shape) * 2 / 12**0.5)
        # Small embeddings: large ones name the last token again, for ever.
        model.transformer.output.weight.mul_(0.2)
    return model


def sources() -> torch.Tensor:
    """Rows of different lengths, padded."""
    torch.manual_seed(7)
    ids = torch.randint(4, VOCAB, (9, 8))
    for row, length in enumerate((8, 1, 5, 3, 8, 2, 7, 4, 6)):
        ids[row, length:] = PAD
    return ids


def post_norm() -> Restorer:
    model = model_with()
    torch.manual_seed(3)
    sizes = (VOCAB, VOCAB, 12, 3, 2, 20)
    model.transformer = encoder_decoder.Transformer(*sizes, norm_first=False)
    return model.eval()


def favouring(token: int, bias: float) -> Restorer:
    """A model that often writes a token, at different places of its rows."""
    model = model_with(positions="learned")
    with torch.no_grad():
        model.transformer.output.bias[token] += bias
    return model


CHANGES = (
    {}, {"positions": "learned"}, {"residual": False}, {"num_layers": 3},
    {"num_layers": 1, "dropout": 0.4},
)  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        *(partial(model_with, **changes) for changes in CHANGES),
        post_norm, partial(favouring, PAD, 1.5), partial(favouring, EOS, 0.5),
    ],
)  # fmt: skip
def test_greedy_decoding_gives_the_ids_of_the_plain_loop(model) -> None:
    restorer, source = model(), sources()
    with torch.no_grad():
        plain = greedy_decode(restorer, source, max_len=20)
    ids = decoding.greedy(restorer.transformer, source, max_len=20)
    assert torch.equal(ids, plain) and len(ids.unique()) > 1


def test_rows_end_at_their_own_places_and_padding_is_written_before() -> None:
    """Else the models above that favour a token would try nothing."""
    padded, ended = (
        decoding.greedy(favouring(token, bias).transformer, sources(), max_len=20)
        for token, bias in ((PAD, 1.5), (EOS, 0.5))
    )
    before = [row[: row.index(EOS)] if EOS in row else row for row in padded.tolist()]
    assert any(PAD in row for row in before)
    rows = [row for row in ended.tolist() if EOS in row]
    assert len({row.index(EOS) for row in rows}) > 1
    assert all(set(row[row.index(EOS) + 1 :]) <= {PAD} for row in rows)


class Letters:
    """A tokenizer of single letters."""

    def encode(self, text: str) -> list[int]:
        return [4 + "abcdefghi".index(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        text_ids = ids[: ids.index(EOS)] if EOS in ids else ids
        return " ".join(map(str, text_ids))


def test_texts_come_back_in_the_order_of_the_sources() -> None:
    model = model_with(positions="learned").transformer
    texts = ["abc", "i", "hgfedcb", "aa", "cab"]
    together = decoding.recover_with_cache(model, Letters(), texts, batch_size=2)
    alone = [decoding.recover_with_cache(model, Letters(), [text])[0] for text in texts]
    assert together == alone
    assert len(set(together)) > 1


def test_the_lead_of_a_row_is_its_closest_decision() -> None:
    model, source = favouring(EOS, 0.5), sources()
    with torch.no_grad():
        lead = torch.full((len(source),), 9.0)
        ids = decoding.greedy(model.transformer, source, 20, lead)
        decoded = torch.cat([torch.full_like(ids[:, :1], BOS), ids], dim=1)
        best = model(source, decoded[:, :-1]).topk(2).values  # (B, L, 2)
    margins = best[..., 0] - best[..., 1]
    for row, margin, smallest in zip(ids.tolist(), margins, lead, strict=True):
        length = row.index(EOS) + 1 if EOS in row else len(row)
        torch.testing.assert_close(margin[:length].min(), smallest)


def scored(model: Restorer, source: torch.Tensor, ids: torch.Tensor, alpha: float):
    """Log-probability of each row up to EOS, over its length to the power of alpha."""
    begun = torch.cat([torch.full((len(ids), 1), BOS), ids[:, :-1]], dim=1)
    with torch.no_grad():
        gains = model(source, begun).log_softmax(-1).gather(-1, ids[..., None])
    real = ids != PAD
    return (gains[..., 0] * real).sum(1) / real.sum(1) ** alpha


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
def test_a_wide_beam_finds_what_scores_best(alpha):
    """On three symbols, all sequences up to five tokens can be tried."""
    model, source = model_with(), sources()
    with torch.no_grad():  # only EOS and three more are ever written
        model.transformer.output.bias[[0, 1, 3, *range(7, VOCAB)]] = -1e4
        model.transformer.output.bias[EOS] += 1.0
    every = [
        [*prefix, EOS]
        for length in range(5)
        for prefix in itertools.product((4, 5, 6), repeat=length)
    ]
    rows = torch.tensor([[*ids, *[PAD] * (5 - len(ids))] for ids in every])
    beams = decoding.beam_search(model.transformer, source, 81, alpha, max_len=5)
    for row, ids in zip(source, beams, strict=True):
        best = scored(model, row.expand(len(rows), -1), rows, alpha).max()
        score = scored(model, row[None], ids[None], alpha)
        assert torch.allclose(score, best, atol=1e-4)


def test_a_beam_gives_each_source_what_it_gives_it_alone():
    model, source = model_with(), sources()
    together = decoding.beam_search(model.transformer, source, 4, 1.0, max_len=15)
    for row, ids in zip(source, together, strict=True):
        alone = decoding.beam_search(model.transformer, row[None], 4, 1.0, max_len=15)
        assert alone[0].equal(ids)


def test_a_beam_that_never_ends_is_cut_off():
    model, source = model_with(), sources()
    with torch.no_grad():
        model.transformer.output.bias[EOS] = -1e4
    ids = decoding.beam_search(model.transformer, source, 3, 1.0, max_len=7)
    assert ids.shape == (len(source), 7) and (ids > EOS).all()
