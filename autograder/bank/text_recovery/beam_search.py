"""Beam search."""

from __future__ import annotations

import json
from collections.abc import Sequence

import torch

from autograder.bank.text_recovery._beam_search.accepted import ACCEPTED
from autograder.bank.text_recovery._beam_search.ends import ENDS
from autograder.bank.text_recovery._beam_search.planted import COUNT, VOCAB, plant
from autograder.bank.text_recovery._beam_search.scores import SCORES
from autograder.bank.text_recovery._beam_search.steps import STEPS
from autograder.bank.text_recovery._inputs import BOS, EOS, PAD, fine_numbers
from autograder.oracle.draw import Draw
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification

# Sentences, in another order than they are known in.
_MANY = tuple(7 * i % 48 for i in range(1, 49))
_FEW = tuple(5 * i % 12 for i in range(1, 13))
_OTHERS = _MANY[::-1]  # the same ones in one more: shapes stay, answers do not


def _soft_script(
    draw: Draw,
    batch: Sequence[int],
    sizes: Sequence[int],
    alpha: float,
    max_len: int,
    eos: float = 0.0,
    vocab: int = 9,
    scale: float = 2.0,
) -> Inputs:
    """Scores that leave several ways open; EOS becomes likelier from place to place."""
    count, length = max(batch) + 1, max_len + 1
    places = fine_numbers(draw, count, length, vocab, scale=scale)
    places[..., [PAD, BOS]] = -40.0
    rise = torch.arange(length) * 0.75 - 2.0 + eos
    places[..., EOS] = places[..., EOS] / 2 + rise
    habits = fine_numbers(draw, vocab, vocab, scale=0.5)
    habits[:, EOS] = 0.0  # all sentences share them: no drawing ends early or late
    source = draw.ids(4, vocab, len(batch), 5)
    source[:, 0] = 4 + torch.tensor(batch)
    source[-1, 3:] = PAD
    return {
        "places": places,
        "habits": habits,
        "source": source,
        "beam_sizes": json.dumps(list(sizes)),
        "alpha": torch.tensor(alpha),
        "max_len": torch.tensor(max_len),
    }


def _script(
    draw: Draw,
    batch: Sequence[int],
    sizes: Sequence[int],
    alpha: float,
    max_len: int,
    eos: float = 0.0,
) -> Inputs:
    """A soft script with sentences that tell many a mistake in every drawing."""
    made = _soft_script(draw, batch, sizes, alpha, max_len, eos, VOCAB)
    plant(draw, made["places"], made["habits"], max(sizes), alpha)
    return made


def _early_end(draw: Draw) -> Inputs:
    """EOS is nearly the best at once; whatever else follows gets worse and worse.

    To some sentences, this happens after a first token that is drawn.
    """
    made = _soft_script(draw, _MANY, [2, 3], 1.0, 9, eos=-4.0)
    made["places"] = made["places"] / 16
    made["places"][:, 0] -= 12.0
    made["places"][:, 0, 5] = 3.5
    made["places"][:, 0, EOS] = 2.875
    made["habits"] = made["habits"] / 8
    later = draw.flags(len(_MANY)).nonzero().flatten()
    made["places"][later] = made["places"][later].roll(1, dims=1)
    made["places"][later, 0] = -40.0
    made["places"][later, 0, draw.ids(5, 9, len(later))] = 0.0
    return made


def _exact_tie(draw: Draw) -> Inputs:
    """The ended hypothesis is exactly as good as the live one: halves are exact."""
    vocab, far = 9, -200.0
    places = torch.full((2, 5, vocab), far)
    for sentence in range(2):
        places[sentence, 0, [EOS, 5 + int(draw.ids(0, 4, 1))]] = 0.0
        places[sentence, 1:, EOS] = 0.0
    source = draw.ids(4, vocab, 2, 5)
    source[:, 0] = torch.tensor([5, 4])
    return {
        "places": places,
        "habits": torch.zeros(vocab, vocab),
        "source": source,
        "beam_sizes": json.dumps([1, 2]),
        "alpha": torch.tensor(0.0),
        "max_len": torch.tensor(4),
    }


def _ends(*sentences: dict[int, float], alpha: float = 0.0) -> Maker:
    """Sentences of free tokens; at some places, EOS may be had for so much."""

    def inputs(draw: Draw) -> Inputs:
        vocab, far, steps = 9, -200.0, max(map(max, sentences)) + 1
        places = torch.full((2, steps + 1, vocab), far)
        free = 4 + draw.ids(0, 5, steps + 1)
        for sentence, costs in enumerate(sentences):
            places[sentence, range(steps + 1), free] = 0.0
            for place, cost in costs.items():
                places[sentence, place, EOS] = -cost
            free = 4 + (free - 3 + draw.ids(0, 4, steps + 1)) % 5  # others, everywhere
        source = draw.ids(4, vocab, 2, 5)
        source[:, 0] = torch.tensor([5, 4])
        return {
            "places": places,
            "habits": torch.zeros(vocab, vocab),
            "source": source,
            "beam_sizes": json.dumps([1, 2]),
            "alpha": torch.tensor(alpha),
            "max_len": torch.tensor(steps),
        }

    return inputs


_EQUAL = {1: 50.0, 2: 50.0}
_NEARLY_EQUAL = {1: 50 + 164 / 2**14, 2: 50 + 82 / 2**14}


def _garden_path(draw: Draw) -> Inputs:
    """What looks bad for two steps is the best in the end: a token opens a free road."""
    vocab, steps = 7, 4
    gate = 4 + int(draw.ids(0, 3))
    road = 4 + (gate - 3) % 3
    places = fine_numbers(draw, 2, steps + 1, vocab, scale=0.25)
    places[..., EOS] -= 1.0
    places[..., gate] = -9.0
    places[:, 0, gate] = -2.5
    habits = torch.zeros(vocab, vocab)
    habits[gate, [EOS, road]] = 4.0
    source = draw.ids(4, vocab, 2, 5)
    source[:, 0] = torch.tensor([4, 5])
    return {
        "places": places,
        "habits": habits,
        "source": source,
        "beam_sizes": json.dumps([400]),
        "alpha": torch.tensor(1.0),
        "max_len": torch.tensor(steps),
    }


def _by_default(draw: Draw) -> Inputs:
    """Long sentences, so that each of the three defaults decides something.

    To the first, all tokens are nearly alike. In the second, the fourth best beginning
    has a future that is better than those before it, and the fifth a better one still.
    These two never want to end. In the others each token is more surprising than the
    one before, so that the best length depends on alpha. Six more tell other mistakes.
    """
    vocab, steps, far = 20, 61, -40.0
    places = fine_numbers(draw, 4 + COUNT, steps, vocab, scale=2.0)
    places[0] /= 8
    places[2:] *= torch.linspace(2.0, 0.0, steps)[:, None]
    places[..., [PAD, BOS]] = far
    places[:, :, 12:] = far
    places[:2, :, EOS] = far
    places[2:, :, EOS] = -7.0
    places[1] = far
    places[1, 0, 12:17] = -torch.arange(5) / 8
    places[1, 1:, 17:19] = 0.0
    habits = torch.zeros(vocab, vocab)
    habits[15, 17], habits[16, 17] = 2.0, 6.0
    plant(draw, places, habits, 4, 1.0)
    source = draw.ids(4, vocab, len(places), 5)
    source[:, 0] = 4 + torch.arange(len(places))
    return {
        "places": places,
        "habits": habits,
        "source": source,
        "beam_sizes": json.dumps([0]),
        "alpha": torch.tensor(1.0),
        "max_len": torch.tensor(60),
    }


def _says_specials(draw: Draw) -> Inputs:
    """PAD and BOS are likely tokens: to the search, tokens like all others."""
    made = _script(draw, _MANY, [2, 3], 0.25, 6)
    made["places"][:-COUNT, ::2, PAD] = 2.0
    made["places"][:-COUNT, 1::2, BOS] = 2.0
    return made


def _in_training(draw: Draw) -> Inputs:
    """A model that comes in training mode; the others come in evaluation mode."""
    made = _soft_script(draw, _MANY, [2], 1.0, 9)
    return made | {"training": torch.tensor(True)}


EXERCISE = Specification(
    name="text_recovery/beam_search",
    title="Beam search",
    target="beam_search",
    cases=[
        CaseKind(
            name="small",
            title="many sentences, k = 1 and 2",
            inputs=lambda draw: _script(draw, _MANY, [1, 2], 1.0, 16),
            hint="The k best continuations of all prefixes together stay live.",
        ),
        CaseKind(
            name="wide",
            title="many sentences, k = 3 and 5",
            inputs=lambda draw: _script(draw, _MANY, [3, 5], 1.0, 17),
            hint="Ended hypotheses are compared by score / length^alpha.",
        ),
        CaseKind(
            name="no_norm",
            title="alpha = 0: raw scores",
            inputs=lambda draw: _script(draw, _OTHERS, [2, 4], 0.0, 16),
            hint="With alpha 0 the lengths do not count.",
        ),
        CaseKind(
            name="half",
            title="alpha = 0.5, EOS unlikely, max_len = 5",
            inputs=lambda draw: _script(draw, _MANY, [3], 0.5, 5, eos=-6.0),
            hint="After max_len steps, the best ended hypothesis is the answer.",
        ),
        CaseKind(
            name="early",
            title="an early end that nothing beats",
            inputs=_early_end,
            hint="A sentence stops when its best ended hypothesis, of any step, is at "
            "least as good as its best live one.",
        ),
        CaseKind(
            name="equal",
            title="ended and live exactly as good, alpha = 0",
            inputs=_exact_tie,
            hint="An ended hypothesis that is *as good as* the best live one stops its "
            "sentence.",
            open=True,
        ),
        CaseKind(
            name="equal_ends",
            title="two ends exactly as good, alpha = 0",
            inputs=_ends(_EQUAL, _EQUAL),
            hint="Of ended hypotheses that are exactly as good, the earlier one stays.",
        ),
        CaseKind(
            name="nearly_equal_ends",
            title="two ends, the later one better by five thousandths, alpha = 0",
            inputs=_ends(_NEARLY_EQUAL, _NEARLY_EQUAL),
            hint="The better one stays, however little it is better.",
            tells=("scores_forgotten", "divided_by_k"),
        ),
        CaseKind(
            name="lengths",
            title="ends after 2 and after 5 tokens, alpha = 1",
            inputs=_ends({1: 8.0, 4: 18.0}, {1: 8.0, 4: 25.5}, alpha=1.0),
            hint="A length is a number of tokens, EOS included, BOS not.",
            tells=("scores_forgotten", "divided_by_k"),
        ),
        CaseKind(
            name="defaults",
            title="ten sentences, with beam_size, max_len and alpha as they come",
            inputs=_by_default,
            hint="A beam of 4, at most 60 tokens, scores divided by the length.",
        ),
        CaseKind(
            name="specials",
            title="PAD and BOS as continuations, alpha = 0.25",
            inputs=_says_specials,
            hint="All continuations count, whatever they are; only EOS ends.",
        ),
        CaseKind(
            name="exhaustive",
            title="k as large as the number of prefixes",
            inputs=_garden_path,
            hint="With a beam that wide nothing is ever dropped.",
            tells=("length_off_by_one",),
        ),
        CaseKind(
            name="training",
            title="a model that comes in training mode",
            inputs=_in_training,
            hint="Dropout is for training: a search asks in evaluation mode.",
            aspect="mode",
        ),
        CaseKind(
            name="other",
            title="many sentences, k = 4",
            inputs=lambda draw: _script(draw, _MANY, [4], 0.75, 18),
            hint="The same for other sentences.",
            hidden_only=True,
        ),
        CaseKind(
            name="long",
            title="a beam of 9, up to 70 tokens",
            inputs=lambda draw: _script(draw, _FEW, [9], 1.0, 70, eos=-99.0),
            hint="Nothing stops a beam at some width, or a text at some length.",
            hidden_only=True,
        ),
        CaseKind(
            name="endless",
            title="EOS is very improbable",
            inputs=lambda draw: _soft_script(draw, _MANY, [3], 1.0, 4, eos=-900.0),
            hint="EOS is a continuation in every step, however improbable.",
            hidden_only=True,
        ),
    ],
    mutants=[*SCORES, *ENDS, *STEPS],
    accepted=ACCEPTED,
)
