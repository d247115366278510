"""Beam search."""

from __future__ import annotations

import json
from collections.abc import Sequence

import torch

from autograder.bank.text_recovery._inputs import BOS, EOS, PAD, fine_numbers
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


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
    source = draw.ids(4, vocab, len(batch), 5)
    source[:, 0] = 4 + torch.tensor(batch)
    source[-1, 3:] = PAD
    return {
        "places": places,
        "habits": fine_numbers(draw, vocab, vocab, scale=1.0),
        "source": source,
        "beam_sizes": json.dumps(list(sizes)),
        "alpha": torch.tensor(alpha),
        "max_len": torch.tensor(max_len),
    }


def _early_end(draw: Draw) -> Inputs:
    """EOS is nearly the best at once; whatever else follows gets worse and worse."""
    made = _soft_script(draw, [1, 0], [2, 3], 1.0, 9, eos=-4.0)
    made["places"] = made["places"] / 4
    made["places"][:, 0] -= 12.0
    made["places"][:, 0, 5] = 3.5
    made["places"][:, 0, EOS] = 3.0
    made["habits"] = made["habits"] / 8
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


def _equal_ends(draw: Draw) -> Inputs:
    """Ends of the second and of the third step, exactly as good: EOS costs 50 there."""
    vocab, far, steps = 9, -200.0, 3
    places = torch.full((2, steps + 1, vocab), far)
    places[:, 1:, EOS] = -50.0
    for sentence in range(2):
        places[sentence, range(steps + 1), 4 + draw.ids(0, 5, steps + 1)] = 0.0
    source = draw.ids(4, vocab, 2, 5)
    source[:, 0] = torch.tensor([5, 4])
    return {
        "places": places,
        "habits": torch.zeros(vocab, vocab),
        "source": source,
        "beam_sizes": json.dumps([1, 2]),
        "alpha": torch.tensor(0.0),
        "max_len": torch.tensor(steps),
    }


def _says_specials(draw: Draw) -> Inputs:
    """PAD and BOS are likely tokens: to the search, tokens like all others."""
    made = _soft_script(draw, [1, 0, 2], [2, 3], 0.25, 6)
    made["places"][:, ::2, PAD] = 2.0
    made["places"][:, 1::2, BOS] = 2.0
    return made


_TOTAL = "total = scores[..., None] + log_p"

EXERCISE = Specification(
    name="text_recovery/beam_search",
    title="Beam search",
    target="beam_search",
    cases=[
        CaseKind(
            name="small",
            title="two sentences, k = 1 and 2",
            inputs=lambda draw: _soft_script(draw, [1, 0], [1, 2], 1.0, 7),
            hint="The k best continuations of all prefixes together stay live.",
        ),
        CaseKind(
            name="wide",
            title="three sentences, k = 3 and 5",
            inputs=lambda draw: _soft_script(draw, [2, 0, 1], [3, 5], 1.0, 8),
            hint="Ended hypotheses are compared by score / length^alpha.",
        ),
        CaseKind(
            name="no_norm",
            title="alpha = 0: raw scores",
            inputs=lambda draw: _soft_script(draw, [0, 1, 0], [2, 4], 0.0, 7),
            hint="With alpha 0 the lengths do not count.",
        ),
        CaseKind(
            name="half",
            title="alpha = 0.5, EOS unlikely, max_len = 5",
            inputs=lambda draw: _soft_script(draw, [1, 0], [3], 0.5, 5, eos=-6.0),
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
        ),
        CaseKind(
            name="equal_ends",
            title="two ends exactly as good, alpha = 0",
            inputs=_equal_ends,
            hint="Of ended hypotheses that are exactly as good, the earlier one stays.",
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
            inputs=lambda draw: _soft_script(draw, [0, 1], [400], 1.0, 3, vocab=7),
            hint="With a beam that wide nothing is ever dropped.",
        ),
        CaseKind(
            name="other",
            title="four sentences, k = 4",
            inputs=lambda draw: _soft_script(draw, [1, 3, 0, 2], [4], 0.75, 9),
            hint="The same for other sentences.",
            hidden_only=True,
        ),
        CaseKind(
            name="endless",
            title="EOS is very improbable",
            inputs=lambda draw: _soft_script(draw, [1, 0, 2], [3], 1.0, 4, eos=-60.0),
            hint="EOS is a continuation in every step, however improbable.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="greedy",
            says="This is greedy decoding: only one prefix stays live.",
            asks="How many prefixes does `beam_size` ask for?",
            ways=[Way(edits=[Edit("k, answers = beam_size,", "k, answers = 1,")])],
        ),
        Mutant(
            name="per_prefix",
            says="Every prefix keeps its own best continuation; they should compete "
            "with each other.",
            asks="Of how many continuations are the k best chosen?",
            ways=[Way(edits=[
                Edit(
                    "scores, places = total.flatten(1).topk(wide)  # (b, k)",
                    """
                    each, tokens = total.topk(min(k if live == 1 else 1, total.size(-1)), dim=-1)
                    scores = each.flatten(1)
                    places = (tokens + torch.arange(live)[:, None] * total.size(-1)).flatten(1)
                    scores, order = scores.sort(dim=1, descending=True)
                    places = places.gather(1, order)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="probabilities",
            says="Probabilities are added up, not their logarithms.",
            asks="What is the probability of two things in a row?",
            ways=[Way(edits=[Edit("log_softmax(-1)", "softmax(-1)")])],
        ),
        Mutant(
            name="logits",
            says="Logits are added up. They are no logarithms of probabilities: "
            "prefixes cannot be compared by them.",
            asks="What makes the scores of different prefixes comparable?",
            ways=[Way(edits=[
                Edit("[:, -1].log_softmax(-1).unflatten", "[:, -1].unflatten"),
            ])],
        ),
        Mutant(
            name="scores_forgotten",
            says="Only the newest token's score counts: the prefix's own score is "
            "forgotten.",
            asks="What is the score of a continuation made of?",
            ways=[Way(edits=[Edit(_TOTAL, "total = log_p.clone()")])],
        ),
        Mutant(
            name="divided_by_k",
            says="The place in the flat list is divided by k, not by the size of the "
            "vocabulary.",
            asks="How many columns does the table have?",
            ways=[Way(edits=[
                Edit("places // total.size(-1)", "(places // k) % live"),
            ])],
        ),
        Mutant(
            name="no_parent",
            says="The new tokens are appended to the wrong prefixes: the prefixes stay "
            "where they were.",
            asks="Which prefix does each of the k best continue?",
            ways=[Way(edits=[
                Edit("places // total.size(-1)",
                     "torch.arange(places.size(1)).expand_as(places) % live"),
            ])],
        ),
        Mutant(
            name="not_normalised",
            says="Ended hypotheses are compared by their raw scores, whatever alpha "
            "is.",
            asks="Where does `alpha` stand in your code?",
            ways=[Way(edits=[
                Edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / 1)"),
                Edit("best[rows] < scores[:, 0] / length**alpha",
                     "best[rows] < scores[:, 0]"),
            ])],
        ),
        Mutant(
            name="always_by_length",
            says="Scores are divided by the length, whatever alpha is.",
            asks="What is length to the power of alpha for alpha = 0?",
            ways=[Way(edits=[
                Edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / length)"),
                Edit("best[rows] < scores[:, 0] / length**alpha",
                     "best[rows] < scores[:, 0] / length"),
            ])],
        ),
        Mutant(
            name="length_off_by_one",
            says="The length is off by one: BOS counts, or EOS does not.",
            asks="How long is the hypothesis that is only EOS?",
            ways=[Way(edits=[
                Edit("(total[..., EOS] / length**alpha)",
                     "(total[..., EOS] / (length + 1)**alpha)"),
                Edit("best[rows] < scores[:, 0] / length**alpha",
                     "best[rows] < scores[:, 0] / (length + 1)**alpha"),
            ])],
        ),
        Mutant(
            name="normalised_on_the_way",
            says="Live scores are divided by the length in every step: the division "
            "adds up.",
            asks="When do lengths have to be compared?",
            ways=[Way(edits=[
                Edit(
                    "going = best",
                    """
                    scores = scores / length**alpha
                    going = best
                    """,
                ),
            ])],
        ),
        Mutant(
            name="ended_stay_live",
            says="Continuations by EOS stay among the live prefixes and go on growing.",
            asks="What should become of a hypothesis that has ended?",
            ways=[Way(edits=[Edit("total[..., EOS] = -math.inf", "")])],
        ),
        Mutant(
            name="first_end_wins",
            says="The search stops only when EOS is the best continuation of a step; "
            "hypotheses that ended in earlier steps do not stop it.",
            asks="Which ended hypothesis is compared with the live ones?",
            ways=[Way(edits=[
                Edit(
                    "total[..., EOS] = -math.inf",
                    """
                    over = total.flatten(1).argmax(1) % total.size(-1) == EOS
                    total[..., EOS] = -math.inf
                    """,
                ),
                Edit("going = best[rows] < scores[:, 0] / length**alpha",
                     "going = ~over"),
            ])],
        ),
        Mutant(
            name="last_end_wins",
            says="The ended hypothesis that came last is taken, not the best one.",
            asks="What was remembered, and was it better?",
            ways=[Way(edits=[
                Edit("(ended > best[rows]).nonzero()", "(ended > -math.inf).nonzero()"),
            ])],
        ),
        Mutant(
            name="later_of_equal",
            says="Of two ended hypotheses that are exactly as good you take the later "
            "one.",
            asks="When does an ended hypothesis replace the one that you remember?",
            ways=[Way(edits=[
                Edit("(ended > best[rows]).nonzero()", "(ended >= best[rows]).nonzero()"),
            ])],
        ),
        Mutant(
            name="live_wins",
            says="The best live hypothesis is returned, although others have ended.",
            asks="What is the answer when the search is over?",
            ways=[Way(edits=[
                Edit(
                    "return padded(answers)",
                    """
                    for i, row in enumerate(rows.tolist()):
                        answers[row] = prefixes[i, 0, 1:].tolist()
                    return padded(answers)""",
                ),
            ])],
        ),
        Mutant(
            name="never_stops",
            says="The search always runs for max_len steps.",
            asks="When can no live hypothesis win any more?",
            ways=[Way(edits=[
                Edit("going = best[rows] < scores[:, 0] / length**alpha",
                     "going = best[rows] < math.inf"),
            ])],
        ),
        Mutant(
            name="stops_by_raw_score",
            says="The stop rule compares a normalised with a raw score.",
            asks="Are both divided by their length?",
            ways=[Way(edits=[
                Edit("best[rows] < scores[:, 0] / length**alpha",
                     "best[rows] < scores[:, 0]"),
            ])],
        ),
        Mutant(
            name="eos_lost",
            says="EOS is missing at the end of the answers.",
            asks="What should an ended row end with?",
            ways=[Way(edits=[
                Edit("[*prefixes[i, winner[i], 1:].tolist(), EOS]",
                     "prefixes[i, winner[i], 1:].tolist()"),
            ])],
        ),
        Mutant(
            name="bos_returned",
            says="BOS is part of the answers.",
            asks="Where does the answer begin?",
            ways=[Way(edits=[
                Edit("[*prefixes[i, winner[i], 1:].tolist(), EOS]",
                     "[*prefixes[i, winner[i]].tolist(), EOS]"),
            ])],
        ),
        Mutant(
            name="training_mode",
            says="The model is asked in training mode.",
            asks="What does dropout do to a search?",
            ways=[Way(edits=[Edit("model.eval()", "")])],
        ),
        Mutant(
            name="memory_of_others",
            says="The prefixes look at the memory of other sentences: it was repeated "
            "in the wrong order.",
            asks="Three sentences, two prefixes each: is it 0 0 1 1 2 2 or 0 1 2 0 1 "
            "2?",
            ways=[Way(edits=[
                Edit("asked = rows.repeat_interleave(live)",
                     "asked = rows.repeat(live)"),
            ])],
        ),
        Mutant(
            name="one_step_short",
            says="The search ends one step too early.",
            asks="How many tokens may an answer have, EOS included?",
            ways=[Way(edits=[Edit("range(1, max_len + 1)", "range(1, max_len)")])],
        ),
        Mutant(
            name="worst",
            says="The k worst continuations stay live.",
            asks="Which end of the list is best?",
            ways=[Way(edits=[Edit(".topk(wide)", ".topk(wide, largest=False)")])],
        ),
    ],
    accepted=[
        Accepted(name="one_by_one", source="""
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
            """),
        Accepted(name="topk_one_by_one", source="""
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
            """),
        Accepted(name="full_batch", edits=[
            Edit("memory[asked], source[asked]",
                 "memory.index_select(0, asked), source.index_select(0, asked)"),
        ]),
    ],
)
