"""The decoder that keeps its keys and values says what the course's loop says."""

import pytest
import torch

from autograder.authoring import decoding
from autograder.library.model import Restorer, Sizes
from autograder.library.text import BOS, EOS, PAD
from autograder.solutions import encoder_decoder
from autograder.solutions.sequence_reversal import greedy_decode

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


CHANGES = (
    {},
    {"positions": "learned"},
    {"residual": False},
    {"num_layers": 3},
    {"num_layers": 1, "dropout": 0.4},
)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_greedy_decoding_gives_the_ids_of_the_plain_loop(changes: dict) -> None:
    model, source = model_with(**changes), sources()
    with torch.no_grad():
        plain = greedy_decode(model, source, max_len=20)
    found = decoding.greedy(model.transformer, source, max_len=20)
    assert torch.equal(found, plain)
    assert len(set(found.flatten().tolist())) > 1


def test_post_norm_gives_the_ids_of_the_plain_loop() -> None:
    torch.manual_seed(3)
    model = encoder_decoder.Transformer(VOCAB, VOCAB, 12, 3, 2, 20, norm_first=False)
    source = sources()
    with torch.no_grad():
        plain = greedy_decode(model, source, max_len=15)
    assert torch.equal(decoding.greedy(model.eval(), source, max_len=15), plain)


def test_a_model_that_says_padding_is_not_asked_about_it_again() -> None:
    model, source = model_with(positions="learned"), sources()
    with torch.no_grad():
        model.transformer.output.bias[PAD] += 0.5  # often the most probable token
        plain = greedy_decode(model, source, max_len=20)
    found = decoding.greedy(model.transformer, source, max_len=20)
    assert (found == PAD).any() and torch.equal(found, plain)


def test_rows_end_at_their_own_places() -> None:
    model, source = model_with(positions="learned"), sources()
    with torch.no_grad():
        model.transformer.output.bias[EOS] += 0.5
    found = decoding.greedy(model.transformer, source, max_len=20)
    ends = [row.tolist().index(EOS) for row in found if EOS in row]
    assert len(set(ends)) > 1
    for row in found.tolist():
        after = row[row.index(EOS) + 1 :] if EOS in row else []
        assert set(after) <= {PAD}


class Letters:
    """A tokenizer of single letters."""

    def encode(self, text: str) -> list[int]:
        return [4 + "abcdefghi".index(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        known = ids[: ids.index(EOS)] if EOS in ids else ids
        return " ".join(map(str, known))


def test_texts_come_back_in_the_order_of_the_sources() -> None:
    model = model_with(positions="learned").transformer
    texts = ["abc", "i", "hgfedcb", "aa", "cab"]
    together = decoding.recovered(model, Letters(), texts, batch_size=2)
    alone = [decoding.recovered(model, Letters(), [text])[0] for text in texts]
    assert together == alone
    assert len(set(together)) > 1


def test_the_lead_of_a_row_is_its_closest_decision() -> None:
    model, source = model_with(positions="learned"), sources()
    with torch.no_grad():
        model.transformer.output.bias[EOS] += 0.5
        lead = torch.full((len(source),), 9.0)
        found = decoding.greedy(model.transformer, source, 20, lead)
        said = torch.cat([torch.full_like(found[:, :1], BOS), found], dim=1)
        best = model(source, said[:, :-1]).topk(2).values  # (B, L, 2)
    margins = best[..., 0] - best[..., 1]
    for row, own, smallest in zip(found.tolist(), margins, lead, strict=True):
        length = row.index(EOS) + 1 if EOS in row else len(row)
        torch.testing.assert_close(own[:length].min(), smallest)
