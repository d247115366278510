"""A probe for what depends on the distance only."""

from __future__ import annotations

import torch

from autograder.bank.since_2017._inputs import whole
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _placed(
    way: str, batch: int, queries: int, keys: int, d_k: int, shift: int, sign: int = 0,
    scale: float = 1.0,
) -> Maker:  # fmt: skip
    """The largest change has this sign, and is not in the first text (0: no matter)."""

    def inputs(draw: Draw) -> Inputs:
        moved = shift + int(draw.ids(0, 3))
        while True:
            q, k = draw.tensor(batch, queries, d_k), draw.tensor(batch, keys, d_k)
            table = draw.tensor(moved + max(queries, keys) + 1, d_k) * scale
            still, later = (_scores(way, q, k, table, offset) for offset in (0, moved))
            change = later - still  # (B, Lq, Lk)
            largest = int(change.abs().argmax())
            enough = change.max() * change.min() < 0  # of both signs
            told = int(change.flatten()[largest].sign()) == sign
            if not sign or (enough and told and largest >= queries * keys):
                break
        return whole(shift=moved) | {"way": way, "q": q, "k": k, "table": table}

    return inputs


def _alike(draw: Draw) -> Inputs:
    made = _placed("adds", 2, 4, 4, 6, 3, sign=-1)(draw)
    return made | {"k": made["q"].clone()}


def _scores(
    way: str, q: torch.Tensor, k: torch.Tensor, table: torch.Tensor, offset: int
) -> torch.Tensor:
    rows = [table[offset : offset + x.size(1)] for x in (q, k)]
    placed = [x + r if way == "adds" else x * r for x, r in zip((q, k), rows, strict=True)]
    return placed[0] @ placed[1].transpose(-2, -1)


_SCORES = "turn(q, offset) @ turn(k, offset).transpose(-2, -1)"
_GAP = "(moved - still).abs().max().item()"

EXERCISE = Specification(
    name="since_2017/relative_gap",
    title="A probe for the distance",
    target="relative_gap",
    promise=Promise(
        ways=(),
        sizes=special(
            as_many_queries_as_keys=_placed("adds", 3, 4, 4, 6, 3, sign=-1),
            queries_that_are_the_keys=_alike,
            equal_sizes=_placed("adds", 4, 4, 4, 4, 4, sign=1),
        ),
    ),
    cases=[
        CaseKind(
            name="added",
            title="a table that is added",
            inputs=_placed("adds", 2, 4, 5, 6, 3, sign=-1),
            hint="Compare scores, query by query and key by key.",
        ),
        CaseKind(
            name="turned",
            title="a rotation",
            inputs=_placed("turns", 3, 5, 4, 8, 7),
            hint="Scores of turned vectors do not change, turned vectors do.",
            atol=1e-4,
            open=True,
        ),
        CaseKind(
            name="multiplied",
            title="a table that is multiplied",
            inputs=_placed("scales", 2, 3, 6, 4, 5, sign=1),
            hint="The largest change counts, in absolute value.",
        ),
        CaseKind(
            name="small",
            title="a table of small numbers that is added",
            inputs=_placed("adds", 2, 3, 4, 5, 6, sign=-1, scale=2.0**-16),
            hint="However small the change is, it is the one that is asked for.",
            tells=("moved_by_one", "against_unturned", "queries_with_themselves"),
        ),
        CaseKind(
            name="another",
            title="another table that is added",
            inputs=_placed("adds", 4, 6, 3, 5, 11, sign=-1),
            hint="The whole text moves by `shift`: queries and keys alike.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="queries_twice",
            says="Where there are as many queries as keys, you compare queries with "
            "queries.",
            asks="Whose scores are asked for?",
            ways=[Way(edits=[
                Edit("turn(k, offset)", "turn(q if q.shape == k.shape else k, offset)"),
            ])],
        ),
        Mutant(
            name="mean",
            says="You return the mean change; one pair that changes much is lost in it.",
            asks="What was asked for: the mean or the largest?",
            ways=[Way(edits=[Edit("abs().max()", "abs().mean()")])],
        ),
        Mutant(
            name="signed",
            says="You take the largest change with its sign: a large *loss* goes unseen.",
            asks="Which is the larger change, -5 or 1?",
            ways=[Way(edits=[Edit("(moved - still).abs().max()", "(moved - still).max()")])],
        ),
        Mutant(
            name="signed_backwards",
            says="You take the largest change with its sign, and in the other direction.",
            asks="Which is the larger change, -5 or 1?",
            ways=[Way(edits=[Edit("(moved - still).abs().max()", "(still - moved).max()")])],
        ),
        Mutant(
            name="smallest",
            says="You return the smallest change.",
            asks="What does it prove if *one* score stays as it is?",
            ways=[Way(edits=[Edit("abs().max()", "abs().min()")])],
        ),
        Mutant(
            name="squared",
            says="You return the square of the change.",
            asks="In which unit is the result?",
            ways=[
                Way(edits=[Edit("(moved - still).abs().max()", "(moved - still).square().max()")]),
            ],
        ),
        Mutant(
            name="summed",
            says="You add up all changes.",
            asks="What happens to your number if the text is twice as long?",
            ways=[Way(edits=[Edit("abs().max()", "abs().sum()")])],
        ),
        Mutant(
            name="length_of_the_change",
            says="You return the length of the vector of all changes.",
            asks="What was asked for: one score or all of them?",
            ways=[Way(edits=[Edit("abs().max()", "norm()")])],
        ),
        Mutant(
            name="only_queries_move",
            says="Only the queries move: then the distance changes, and so do the scores.",
            asks="Who moves if a whole text moves?",
            ways=[
                Way(edits=[Edit(_SCORES, "turn(q, offset) @ turn(k, 0).transpose(-2, -1)")]),
            ],
        ),
        Mutant(
            name="only_keys_move",
            says="Only the keys move: then the distance changes, and so do the scores.",
            asks="Who moves if a whole text moves?",
            ways=[Way(edits=[Edit(_SCORES, "turn(q, 0) @ turn(k, offset).transpose(-2, -1)")])],
        ),
        Mutant(
            name="keys_not_turned",
            says="Only the queries are turned; the keys stay as they came, wherever the "
            "text stands.",
            asks="Who stands at a place: queries, keys, or both?",
            ways=[Way(edits=[Edit(_SCORES, "turn(q, offset) @ k.transpose(-2, -1)")])],
        ),
        Mutant(
            name="never_moved",
            says="Your result is always zero: both times the text stands at the same place.",
            asks="With which offsets do you call `turn`?",
            ways=[
                Way(edits=[Edit("(0, shift)", "(shift, shift)")]),
                Way(name="both_from_zero", edits=[Edit("(0, shift)", "(0, 0)")]),
                Way(name="itself", edits=[Edit("moved - still", "moved - moved")]),
            ],
        ),
        Mutant(
            name="moved_by_one",
            says="You move by one place, whatever `shift` is.",
            asks="Where does `shift` stand in your code?",
            ways=[Way(edits=[Edit("(0, shift)", "(0, 1)")])],
        ),
        Mutant(
            name="from_one",
            says="Your first text starts at place 1, not at 0.",
            asks="From which two places is the text to start?",
            ways=[Way(edits=[Edit("(0, shift)", "(1, shift)")])],
        ),
        Mutant(
            name="one_further",
            says="Your second text stands one place too far.",
            asks="From which two places is the text to start?",
            ways=[Way(edits=[Edit("(0, shift)", "(0, shift + 1)")])],
        ),
        Mutant(
            name="against_unturned",
            says="You compare with scores of vectors that were not turned at all.",
            asks="Does `turn(x, 0)` leave everything as it is? For every `turn`?",
            ways=[Way(source="""
                def relative_gap(turn, q, k, shift):
                    still = q @ k.transpose(-2, -1)
                    moved = turn(q, shift) @ turn(k, shift).transpose(-2, -1)
                    return (moved - still).abs().max().item()
                """)],
        ),
        Mutant(
            name="vectors_compared",
            says="You compare the turned vectors, not their scores. Of course they change.",
            asks="What does attention see of queries and keys?",
            ways=[Way(source="""
                def relative_gap(turn, q, k, shift):
                    gaps = [(turn(x, shift) - turn(x, 0)).abs().max() for x in (q, k)]
                    return max(gaps).item()
                """)],
        ),
        Mutant(
            name="queries_compared",
            says="You compare the turned queries, not scores. Of course they change.",
            asks="What does attention see of queries and keys?",
            ways=[Way(source="""
                def relative_gap(turn, q, k, shift):
                    return (turn(q, shift) - turn(q, 0)).abs().max().item()
                """)],
        ),
        Mutant(
            name="queries_with_themselves",
            says="You compare scores of the queries with themselves; the keys do not occur.",
            asks="Which two tensors make a score?",
            ways=[Way(edits=[Edit(_SCORES, "turn(q, offset) @ turn(q, offset).transpose(-2, -1)")])],
        ),
        Mutant(
            name="weights_compared",
            says="You compare attention weights: softmax hides a part of the change.",
            asks="What are scores, before the softmax?",
            ways=[Way(edits=[Edit(_SCORES, f"({_SCORES}).softmax(-1)")])],
        ),
        Mutant(
            name="scaled_scores",
            says="Your scores are divided by the root of $d_k$; plain dot products are asked for.",
            asks="Which scores does the docstring mean?",
            ways=[Way(edits=[Edit(_SCORES, f"{_SCORES} / q.size(-1) ** 0.5")])],
        ),
        Mutant(
            name="small_is_nothing",
            says="Small changes become zero.",
            asks="Who is to decide which change is too small: your function or its reader?",
            ways=[Way(edits=[Edit(_GAP, "(moved - still).abs().max().item() * (not torch.allclose(moved, still, atol=1e-3))")])],
        ),
        Mutant(
            name="a_tensor",
            says="You return a tensor, not a Python float.",
            asks="What does `.item()` do?",
            ways=[Way(edits=[Edit(".max().item()", ".max()")])],
        ),
        Mutant(
            name="first_text_only",
            says="You look at the first text of the batch only.",
            asks="How many texts are there in `q`?",
            ways=[Way(edits=[Edit("(moved - still)", "(moved - still)[0]")])],
        ),
    ],
    accepted=[
        Accepted(name="einsum", source="""
            def relative_gap(turn, q, k, shift):
                def scores(place):
                    return torch.einsum("bqd,bkd->bqk", turn(q, place), turn(k, place))

                return float(torch.max(torch.abs(scores(shift) - scores(0))))
            """),
        Accepted(name="pair_by_pair", source="""
            def relative_gap(turn, q, k, shift):
                worst = 0.0
                q0, k0, q1, k1 = turn(q, 0), turn(k, 0), turn(q, shift), turn(k, shift)
                for i in range(q.shape[1]):
                    for j in range(k.shape[1]):
                        one = (q0[:, i] * k0[:, j]).sum(-1)
                        two = (q1[:, i] * k1[:, j]).sum(-1)
                        worst = max(worst, (one - two).abs().max().item())
                return worst
            """),
        Accepted(name="infinite_norm", edits=[
            Edit("(moved - still).abs().max().item()", "torch.dist(moved, still, p=math.inf).item()")]),
    ],
)
