"""Beam search."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import torch

from autograder.authoring.draw import FINENESS, Draw
from autograder.authoring.notation import case, edit, right, source
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.text_recovery.exercises._beam_search_mistakes import (
    ENDS,
    SCORES,
    STEPS,
)
from transformer_course.text_recovery.exercises._inputs import (
    BOS,
    EOS,
    PAD,
    UNK,
    fine_numbers,
    some_of,
)

GATE, FREE, VOCAB = 9, 10, 11  # two tokens that other sentences do not have
COUNT = 6  # planted sentences
_FAR, _DEAR = -200.0, -20.0  # logits of what is never chosen; of an end without GATE
_NEARLY_EQUAL_SCORES = [-i / 64 for i in range(6)]


def plant(draw: Draw, places: torch.Tensor, habits: torch.Tensor, width: int, alpha: float) -> None:
    """Rewrite the last sentences, and the habits of the tokens that only these have.

    After GATE, EOS is nearly certain where it is expensive otherwise. Where other tokens compete, what the habits add
    is subtracted; FREE and EOS have no habits.

    Args:
        places: (S, T, V), see ``Script``; changed in place.
        habits: (V, V); changed in place.
        width: how many prefixes stay live; at most 9.
    """
    habits[:, [EOS, FREE]], habits[GATE] = 0.0, 0.0
    habits[GATE, EOS] = -1.5 * _DEAR
    places[..., [GATE, FREE]] = _FAR
    planted = places[-COUNT:]
    planted[:] = _FAR
    planted[:, :4, FREE], planted[:, 4:, EOS] = 0.0, 0.0  # in the end, all end
    tokens = [*some_of(draw, range(UNK, GATE), 6), PAD, BOS]
    habit_logits = habits[BOS], habits[BOS] + habits[tokens[0]]

    def compete(sentence: int, place: int, token_logits: list[float], end: float = _FAR, gate: float = _FAR) -> None:
        """Set the logits of some tokens, EOS and GATE at a place of a sentence."""
        chosen = [*tokens[: len(token_logits)], EOS, GATE]
        planted[sentence, place] = _FAR
        logits = torch.tensor([*token_logits, end, gate])
        if place < len(habit_logits):
            logits -= habit_logits[place][chosen]
        planted[sentence, place, chosen] = logits

    # An early end is the best one until the search is over. The next one is worse; one
    # that comes long after would be better.
    compete(0, 0, [0.0], end=-0.40625)
    compete(0, 1, _NEARLY_EQUAL_SCORES)

    # The last prefix that stays live is at the gate. EOS is better, and not live.
    falling = [1 - i / 8 for i in range(width + 1)]
    compete(1, 0, falling[: width - 1], *falling[width - 1 :])
    for place in (1, 2, 3):
        compete(1, place, _NEARLY_EQUAL_SCORES, end=_DEAR)

    # Of six first tokens, one is better by a thousandth. Two of these, so that who
    # takes them for equal is wrong in one of them.
    for sentence in (2, 3):
        compete(sentence, 0, [(sentence - 2 == i) / 1024 for i in range(6)])
        planted[sentence, 1, EOS], planted[sentence, 1, FREE] = 0.0, _FAR

    # An end after two tokens is better than the one at once if 3 is taken for its
    # length, and not if 4 is, and 2 for the other's. The prefix of two tokens is still
    # live if its score is divided by its length, and not if it is not.
    at_once = math.log1p(math.exp(7 / 64))
    one_cost = math.log1p(math.exp(-7 / 64))
    power = max(alpha, 0.25)
    two_cost = at_once * 2 ** (power / 2)
    three_cost = at_once * 6 ** (power / 2)
    compete(4, 0, [0.0], end=-7 / 64)
    compete(4, 1, [0.0, _fine(math.log(math.expm1(two_cost - one_cost)))])
    planted[4, 2, EOS] = -_fine(math.log(math.expm1(three_cost - two_cost)))

    # The best two of two tokens begin with the same one, and the second best is at the
    # gate.
    compete(5, 0, [3.0, 0.0])
    compete(5, 1, [0.5], gate=0.25)
    compete(5, 2, _NEARLY_EQUAL_SCORES, end=_DEAR)


def _fine(number: float) -> float:
    """The next number that is exact everywhere."""
    return round(number * FINENESS) / FINENESS


# Sentences, in another order than they are known in.
_MANY = tuple(7 * i % 24 for i in range(1, 25))
FEW = tuple(5 * i % 12 for i in range(1, 13))
_OTHERS = _MANY[::-1]  # the same ones in one more: shapes stay, answers do not


def soft_script(
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


def script(
    draw: Draw, batch: Sequence[int], sizes: Sequence[int], alpha: float, max_len: int, eos: float = 0.0
) -> Inputs:
    """A soft script with sentences that tell many a mistake in every drawing."""
    inputs = soft_script(draw, batch, sizes, alpha, max_len, eos, VOCAB)
    plant(draw, inputs["places"], inputs["habits"], max(sizes), alpha)
    return inputs


def early_end(draw: Draw) -> Inputs:
    """EOS is nearly the best token at once, and whatever else follows gets worse and worse.

    In some sentences, this begins after a first token that is drawn.
    """
    inputs = soft_script(draw, _MANY, [2, 3], 1.0, 9, eos=-4.0)
    inputs["places"] = inputs["places"] / 16
    inputs["places"][:, 0] -= 12.0
    inputs["places"][:, 0, 5] = 3.5
    inputs["places"][:, 0, EOS] = 2.875
    inputs["habits"] = inputs["habits"] / 8
    later = draw.flags(len(_MANY)).nonzero().flatten()
    inputs["places"][later] = inputs["places"][later].roll(1, dims=1)
    inputs["places"][later, 0] = -40.0
    inputs["places"][later, 0, draw.ids(5, 9, len(later))] = 0.0
    return inputs


def _exact_tie(draw: Draw) -> Inputs:
    """A finished hypothesis exactly as good as the live one; halves are exact in float32."""
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


def offer_ends(*sentences: dict[int, float], alpha: float = 0.0) -> Maker:
    """Make sentences of free tokens; at some places, EOS has a given cost."""

    def make_inputs(draw: Draw) -> Inputs:
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

    return make_inputs


_EQUAL = {1: 50.0, 2: 50.0}
_NEARLY_EQUAL = {1: 50 + 164 / 2**14, 2: 50 + 82 / 2**14}


def _garden_path(draw: Draw) -> Inputs:
    """A path that looks bad for two steps is the best in the end, since it opens cheap tokens."""
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
    """A model to which PAD and BOS are likely; the search treats them as any token."""
    inputs = script(draw, _MANY, [2, 3], 0.25, 6)
    inputs["places"][:-COUNT, ::2, PAD] = 2.0
    inputs["places"][:-COUNT, 1::2, BOS] = 2.0
    return inputs


def _in_training(draw: Draw) -> Inputs:
    """A model in training mode; in all other cases it is in evaluation mode."""
    inputs = soft_script(draw, _MANY, [2], 1.0, 9)
    return inputs | {"training": torch.tensor(True)}


CASES = [
    case("small", "many sentences, k = 1 and 2", lambda draw: script(draw, _MANY, [1, 2], 1.0, 16),
         "The k best continuations of all prefixes together stay live."),
    case("wide", "many sentences, k = 3 and 5", lambda draw: script(draw, _MANY, [3, 5], 1.0, 17),
         "Finished hypotheses are compared by score / length^alpha."),
    case("no_norm", "alpha = 0: raw scores", lambda draw: script(draw, _OTHERS, [2, 4], 0.0, 16),
         "With alpha = 0, the lengths do not count."),
    case("half", "alpha = 0.5, EOS unlikely, max_len = 5", lambda draw: script(draw, _MANY, [3], 0.5, 5, eos=-6.0),
         "After max_len steps, the best finished hypothesis is the answer."),
    case("early", "an early end that nothing beats", early_end,
         "A sentence stops when its best finished hypothesis, of any step, is at least as good as its best live one."),
    case("equal", "an ended and a live hypothesis that are equally good, alpha = 0", _exact_tie,
         "A finished hypothesis that is only *as good as* the best live one already stops its sentence.", open=True),
    case("equal_ends", "two finished hypotheses that are equally good, alpha = 0", offer_ends(_EQUAL, _EQUAL),
         "Between finished hypotheses that are equally good, keep the earlier one."),
    case("nearly_equal_ends", "two finished hypotheses, the later one better by five thousandths, alpha = 0",
         offer_ends(_NEARLY_EQUAL, _NEARLY_EQUAL),
         "The better one stays, however small its lead."),
    case("lengths", "ends after 2 and after 5 tokens, alpha = 1",
         offer_ends({1: 8.0, 4: 18.0}, {1: 8.0, 4: 25.5}, alpha=1.0),
         "The length counts all tokens, EOS included but not BOS."),
    case("defaults", "ten sentences, with the default beam_size, max_len and alpha", _by_default,
         "A beam of 4, at most 60 tokens, scores divided by the length."),
    case("specials", "PAD and BOS as continuations, alpha = 0.25", _says_specials,
         "All tokens can continue a prefix; only EOS ends it."),
    case("exhaustive", "k as large as the number of prefixes", _garden_path,
         "With a beam that wide, nothing is ever dropped."),
    case("training", "a model that comes in training mode", _in_training,
         "Dropout is for training: a search works in evaluation mode.", aspect="mode"),
    case("other", "many sentences, k = 4", lambda draw: script(draw, _MANY, [4], 0.75, 18),
         "The same for other sentences.", hidden_only=True),
    case("long", "a beam of 9, up to 70 tokens", lambda draw: script(draw, FEW, [9], 1.0, 70, eos=-99.0),
         "Neither the width of a beam nor the length of a text has a fixed limit.", hidden_only=True),
    case("endless", "EOS is very improbable", lambda draw: soft_script(draw, _MANY, [3], 1.0, 4, eos=-900.0),
         "EOS is a continuation in every step, however improbable.", hidden_only=True),
]

MISTAKES = [
    *SCORES,
    *ENDS,
    *STEPS,
]

ACCEPTED = [
    right("lists", source("""
        @torch.no_grad()
        def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
            model.eval()
            answers = []
            for one in source:
                one = one[None]
                memory = model.encode(one)
                live, best = [(0.0, [BOS])], (-math.inf, None)
                for length in range(1, max_len + 1):
                    ids = torch.tensor([p for _, p in live])
                    n = len(live)
                    logits = model.decode(ids, memory.expand(n, -1, -1), one.expand(n, -1))
                    rows = logits[:, -1].log_softmax(-1).tolist()
                    new = []
                    for (score, prefix), row in zip(live, rows):
                        for token, value in enumerate(row):
                            if token == EOS:
                                ended = (score + value) / length ** alpha
                                if ended > best[0]:
                                    best = (ended, prefix[1:] + [EOS])
                            else:
                                new.append((score + value, prefix + [token]))
                    live = sorted(new, key=lambda x: -x[0])[:beam_size]
                    if best[0] >= live[0][0] / length ** alpha:
                        break
                answers.append(best[1] or live[0][1][1:])
            return padded(answers)
        """), tests="sentences"),
    right("whole_model", source("""
        def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
            model.eval()
            out = torch.zeros(len(source), max_len, dtype=torch.long)
            with torch.no_grad():
                for b in range(len(source)):
                    src = source[b:b + 1]
                    ids = torch.full((1, 1), BOS)
                    scores = torch.zeros(1)
                    best_score, best_ids = -float('inf'), None
                    for t in range(1, max_len + 1):
                        lp = model(src.repeat(len(ids), 1), ids)[:, -1].log_softmax(-1)
                        total = scores[:, None] + lp
                        norm = total[:, EOS] / t ** alpha
                        j = norm.argmax()
                        if norm[j] > best_score:
                            best_score = norm[j].item()
                            best_ids = torch.cat([ids[j, 1:], torch.tensor([EOS])])
                        total[:, EOS] = -1e9
                        V = total.shape[1]
                        size = min(beam_size, len(ids) * (V - 1))
                        scores, flat = total.view(-1).topk(size)
                        ids = torch.cat([ids[flat // V], (flat % V)[:, None]], 1)
                        if best_score >= scores[0] / t ** alpha:
                            break
                    best_ids = ids[0, 1:] if best_ids is None else best_ids
                    out[b, :len(best_ids)] = best_ids
            return out
        """)),
    right("deep_copy", edit("model.eval()", "import copy; model = copy.deepcopy(model).eval()")),
    right("all_at_once", source("""
        @torch.no_grad()
        def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
            model.eval()
            answers = [[] for _ in source]
            best = torch.full((len(source),), -math.inf)
            rows = torch.arange(len(source))
            prefixes, scores = source.new_full((len(rows), 1, 1), BOS), torch.zeros(len(rows), 1)
            memory = model.encode(source)
            for length in range(1, max_len + 1):
                live = prefixes.size(1)
                asked = rows.repeat_interleave(live)
                logits = model.decode(prefixes.flatten(0, 1), memory[asked], source[asked])
                total = scores[..., None] + logits[:, -1].log_softmax(-1).unflatten(0, (-1, live))

                ended, winner = (total[..., EOS] / length**alpha).max(dim=-1)
                for i in (ended > best[rows]).nonzero().flatten().tolist():
                    answers[rows[i]] = [*prefixes[i, winner[i], 1:].tolist(), EOS]
                best[rows] = best[rows].maximum(ended)

                total[..., EOS] = -math.inf
                scores, places = total.flatten(1).topk(min(beam_size, live * (total.size(-1) - 1)))
                token, parent = places % total.size(-1), places // total.size(-1)
                old = prefixes.gather(1, parent[..., None].expand(-1, -1, length))
                prefixes = torch.cat([old, token[..., None]], dim=-1)

                going = best[rows] < scores[:, 0] / length**alpha
                rows, prefixes, scores = rows[going], prefixes[going], scores[going]
                if len(rows) == 0:
                    break
            return padded(answers)
        """)),
]

EXERCISE = Specification(
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
