"""Greedy decoding."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.bank.text_recovery._inputs import BOS, EOS, PAD, UNK, fine_numbers
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


def _script(
    draw: Draw, stops: Sequence[int | None], batch: Sequence[int], vocab: int = 11
) -> Inputs:
    """A script for each sentence: it says EOS at place ``stops[s]``, or never."""
    length = max((stop or 0) for stop in stops) + 6
    places = fine_numbers(draw, len(stops), length, vocab, scale=3.0)
    places[..., [PAD, BOS, UNK]] = -40.0
    places[..., EOS] = -30.0
    for s, stop in enumerate(stops):
        if stop is not None:
            places[s, stop, EOS] = 50.0
    source = draw.ids(4, vocab, len(batch), 6)
    source[:, 0] = 4 + torch.tensor(batch)
    source[0, 4:] = PAD
    return {
        "places": places,
        "habits": fine_numbers(draw, vocab, vocab, scale=2.0),
        "source": source,
    }


def _script_until(
    draw: Draw, stops: Sequence[int | None], batch: Sequence[int], max_len: int
) -> Inputs:
    return _script(draw, stops, batch) | {"max_len": torch.tensor(max_len)}


EXERCISE = Specification(
    name="text_recovery/greedy_decode",
    title="Greedy decoding",
    target="greedy_decode",
    cases=[
        CaseKind(
            name="together",
            title="three sentences of one length",
            inputs=lambda draw: _script(draw, [4, 4, 4], [2, 0, 1]),
            hint="Each token depends on the whole prefix; the search stops after EOS.",
        ),
        CaseKind(
            name="apart",
            title="sentences that end early and late",
            inputs=lambda draw: _script(draw, [2, 7, 5, 0], [1, 0, 3, 2, 1]),
            hint="A row that has said EOS goes on with PAD until all rows are "
            "finished.",
        ),
        CaseKind(
            name="cut",
            title="a sentence that never ends, max_len = 6",
            inputs=lambda draw: _script_until(draw, [3, None, 8], [0, 1, 2, 1], 6),
            hint="After max_len tokens the search stops, with or without EOS.",
        ),
        CaseKind(
            name="one",
            title="a single sentence",
            inputs=lambda draw: _script(draw, [5], [0]),
            hint="A batch of one is a batch, too.",
        ),
        CaseKind(
            name="last",
            title="EOS at the very last step",
            inputs=lambda draw: _script_until(draw, [5, 1], [1, 0, 0], 6),
            hint="max_len counts EOS.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="first_place",
            says="The scores of the first place are used, not those of the last.",
            asks="Which place of the logits tells what comes after the whole prefix?",
            ways=[Way(edits=[Edit("[:, -1].argmax(dim=-1)", "[:, 0].argmax(dim=-1)")])],
        ),
        Mutant(
            name="wrong_axis",
            says="The argmax runs over the wrong dimension.",
            asks="Along which dimension does the vocabulary lie?",
            ways=[Way(edits=[
                Edit("[:, -1].argmax(dim=-1)", "[:, -1].argmax(dim=0)[: len(ids)]"),
            ])],
        ),
        Mutant(
            name="lowest",
            says="The least probable token is taken.",
            asks="Which score is the best?",
            ways=[Way(edits=[
                Edit("[:, -1].argmax(dim=-1)", "[:, -1].argmin(dim=-1)"),
            ])],
        ),
        Mutant(
            name="no_stop",
            says="The search does not stop when all rows are finished.",
            asks="What is left to do when every row has said EOS?",
            ways=[Way(edits=[
                Edit(
                    """
                    if finished.all():
                        break
                    """,
                    "",
                ),
            ])],
        ),
        Mutant(
            name="first_eos_stops_all",
            says="The first EOS of any row ends the whole batch.",
            asks="Are the other rows finished, too?",
            ways=[Way(edits=[Edit("finished.all()", "finished.any()")])],
        ),
        Mutant(
            name="goes_on_after_eos",
            says="Rows that have said EOS go on talking.",
            asks="What should be appended to a finished row?",
            ways=[Way(edits=[Edit("token = token.masked_fill(finished, PAD)", "")])],
        ),
        Mutant(
            name="filled_with_eos",
            says="Finished rows are filled up with EOS.",
            asks="Which token fills up rows?",
            ways=[Way(edits=[
                Edit("token.masked_fill(finished, PAD)",
                     "token.masked_fill(finished, EOS)"),
            ])],
        ),
        Mutant(
            name="eos_removed",
            says="EOS is missing in the result.",
            asks="What should a finished row end with?",
            ways=[Way(edits=[
                Edit("    return ids[:, 1:]",
                     "    return ids[:, 1:].masked_fill(ids[:, 1:] == EOS, PAD)"),
            ])],
        ),
        Mutant(
            name="bos_returned",
            says="BOS is part of the result.",
            asks="Where does the answer begin?",
            ways=[Way(edits=[Edit("    return ids[:, 1:]", "    return ids")])],
        ),
        Mutant(
            name="one_too_few",
            says="The search stops one step too early: BOS was counted in max_len.",
            asks="How many tokens without BOS may there be?",
            ways=[Way(edits=[
                Edit("for _ in range(max_len):", "for _ in range(max_len - 1):"),
            ])],
        ),
        Mutant(
            name="one_too_many",
            says="There is one token more than max_len.",
            asks="How often does the loop run?",
            ways=[Way(edits=[
                Edit("for _ in range(max_len):", "for _ in range(max_len + 1):"),
            ])],
        ),
        Mutant(
            name="last_token_only",
            says="The decoder is given only the last token: it has forgotten the "
            "prefix.",
            asks="What does each step need to know?",
            ways=[Way(edits=[
                Edit("model.decode(ids, memory, source)",
                     "model.decode(ids[:, -1:], memory, source)"),
            ])],
        ),
        Mutant(
            name="training_mode",
            says="The model is asked in training mode.",
            asks="What does dropout do to an argmax?",
            ways=[Way(edits=[Edit("model.eval()", "")])],
        ),
        Mutant(
            name="starts_with_pad",
            says="The prefix begins with PAD, not with BOS.",
            asks="Which token did the decoder always read first in training?",
            ways=[Way(edits=[
                Edit("torch.full_like(source[:, :1], BOS)",
                     "torch.full_like(source[:, :1], PAD)"),
            ])],
        ),
        Mutant(
            name="starts_with_source",
            says="The prefix begins with the first token of the source.",
            asks="Which token did the decoder always read first in training?",
            ways=[Way(edits=[
                Edit("torch.full_like(source[:, :1], BOS)", "source[:, :1].clone()"),
            ])],
        ),
        Mutant(
            name="first_row_for_all",
            says="All rows get the token of the first one.",
            asks="How many tokens does a step choose?",
            ways=[Way(edits=[
                Edit("[:, -1].argmax(dim=-1)",
                     "[:, -1].argmax(dim=-1)[:1].expand(len(ids))"),
            ])],
        ),
        Mutant(
            name="finished_forgotten",
            says="Only the newest token decides whether a row is finished: a finished "
            "row wakes up again.",
            asks="Was the row finished before?",
            ways=[Way(edits=[
                Edit("finished |= token == EOS", "finished = token == EOS"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="sentence_by_sentence", source="""
            @torch.no_grad()
            def greedy_decode(model, source, max_len=60):
                model.eval()
                rows = []
                for i in range(len(source)):
                    one, ids = source[i:i + 1], [BOS]
                    memory = model.encode(one)
                    while len(ids) <= max_len and ids[-1] != EOS:
                        logits = model.decode(torch.tensor([ids]), memory, one)
                        ids.append(int(logits[0, -1].argmax()))
                    rows.append(ids[1:])
                return padded(rows)
            """),
        Accepted(name="whole_model", source="""
            def greedy_decode(model, source, max_len=60):
                model.eval()
                with torch.no_grad():
                    out = torch.full((source.shape[0], 1), BOS, dtype=torch.long)
                    for _ in range(max_len):
                        step = model(source, out)[:, -1, :].softmax(-1).max(-1).indices
                        done = (out == EOS).any(dim=1)
                        step = torch.where(done, torch.tensor(PAD), step)
                        out = torch.cat((out, step.unsqueeze(1)), 1)
                        if bool((out == EOS).any(1).all()):
                            break
                return out[:, 1:]
            """),
        Accepted(name="filled_table", source="""
            @torch.no_grad()
            def greedy_decode(model, source, max_len=60):
                model.train(False)
                memory = model.encode(source)
                ids = source.new_zeros(len(source), max_len + 1)
                ids[:, 0] = BOS
                alive = torch.ones(len(source), dtype=torch.bool)
                for t in range(max_len):
                    best = model.decode(ids[:, :t + 1], memory, source)[:, t].argmax(-1)
                    ids[:, t + 1] = best * alive
                    alive &= best != EOS
                    if not alive.any():
                        break
                return ids[:, 1:t + 2]
            """),
    ],
)
