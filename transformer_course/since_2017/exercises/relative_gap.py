"""A probe for what depends on the distance only."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._inputs import whole


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


def _scores(way: str, q: torch.Tensor, k: torch.Tensor, table: torch.Tensor, offset: int) -> torch.Tensor:
    rows = [table[offset : offset + x.size(1)] for x in (q, k)]
    placed = [x + r if way == "adds" else x * r for x, r in zip((q, k), rows, strict=True)]
    return placed[0] @ placed[1].transpose(-2, -1)


_SCORES = "turn(q, offset) @ turn(k, offset).transpose(-2, -1)"
_GAP = "(moved - still).abs().max().item()"

CASES = [
    case("added", "a table that is added", _placed("adds", 2, 4, 5, 6, 3, sign=-1),
         "Compare scores, query by query and key by key."),
    case("turned", "a rotation", _placed("turns", 3, 5, 4, 8, 7),
         "Scores of rotated vectors do not change, but the rotated vectors do.", atol=1e-4, open=True),
    case("multiplied", "a table that is multiplied", _placed("scales", 2, 3, 6, 4, 5, sign=1),
         "The largest change counts, in absolute value."),
    case("small", "a table of small numbers that is added", _placed("adds", 2, 3, 4, 5, 6, sign=-1, scale=2.0**-16),
         "Return even a small change as it is.",
         tells=("moved_by_one", "against_unturned", "queries_with_themselves")),
    case("another", "another table that is added", _placed("adds", 4, 6, 3, 5, 11, sign=-1),
         "The whole text moves by `shift`: queries and keys alike.", hidden_only=True),
]

MISTAKES = [
    wrong("mean",
          "You return the mean change; one pair that changes much is lost in it.",
          "Which does the task ask for: the mean or the largest change?",
          edit("abs().max()", "abs().mean()")),
    wrong("gap_of_the_largest",
          "You compare the largest score before with the largest one after, not each score with its own new value.",
          "If two scores swapped their values, how large would your gap be?",
          edit(_GAP, "abs(moved.abs().max() - still.abs().max()).item()"),
          edit(_GAP, "abs(moved.max() - still.max()).item()", name="gap_of_maxima")),
    wrong("relative",
          "You divide each change by the score itself; the task asks for the absolute difference.",
          "How large does your number become for a score near zero?",
          edit("(moved - still).abs()", "((moved - still).abs() / (still.abs() + 1e-9))")),
    wrong("signed",
          "You do not take the absolute value: a large *decrease* goes unnoticed.",
          "Which is the larger change, -5 or 1?",
          edit("(moved - still).abs().max()", "(moved - still).max()")),
    wrong("signed_backwards",
          "You do not take the absolute value, so a large *increase* goes unnoticed.",
          "Which is the larger change, -5 or 1?",
          edit("(moved - still).abs().max()", "(still - moved).max()")),
    wrong("smallest",
          "You return the smallest change.",
          "What does it prove if *one* score does not change?",
          edit("abs().max()", "abs().min()")),
    wrong("squared",
          "You return the square of the change.",
          "In which unit is the result?",
          edit("(moved - still).abs().max()", "(moved - still).square().max()")),
    wrong("summed",
          "You add up all changes.",
          "What happens to your number if the text is twice as long?",
          edit("abs().max()", "abs().sum()")),
    wrong("length_of_the_change",
          "You return the length of the vector of all changes.",
          "Does the task ask for the change of one score, or of all together?",
          edit("abs().max()", "norm()")),
    wrong("only_queries_move",
          "Only the queries move: then the distance changes, and so do the scores.",
          "Which vectors move if a whole text moves?",
          edit(_SCORES, "turn(q, offset) @ turn(k, 0).transpose(-2, -1)")),
    wrong("only_keys_move",
          "Only the keys move: then the distance changes, and so do the scores.",
          "Which vectors move if a whole text moves?",
          edit(_SCORES, "turn(q, 0) @ turn(k, offset).transpose(-2, -1)")),
    wrong("keys_not_turned",
          "You apply `turn` only to the queries; the keys do not change when the text moves.",
          "Which have a position: queries, keys, or both?",
          edit(_SCORES, "turn(q, offset) @ k.transpose(-2, -1)")),
    wrong("never_moved",
          "Your result is always zero: both times, the text begins at the same position.",
          "With which offsets do you call `turn`?",
          edit("(0, shift)", "(shift, shift)")),
    wrong("moved_by_one",
          "You move the text by one position, whatever `shift` is.",
          "Where does your code use `shift`?",
          edit("(0, shift)", "(0, 1)")),
    wrong("from_one",
          "Your first text starts at position 1, not at 0.",
          "At which two positions should the text start?",
          edit("(0, shift)", "(1, shift)")),
    wrong("one_further",
          "Your second text starts one position too late.",
          "At which two positions should the text start?",
          edit("(0, shift)", "(0, shift + 1)")),
    wrong("against_unturned",
          "You compare with scores of vectors that did not go through `turn`.",
          "Does `turn(x, 0)` return `x` unchanged? For every `turn`?",
          source("""
              def relative_gap(turn, q, k, shift):
                  still = q @ k.transpose(-2, -1)
                  moved = turn(q, shift) @ turn(k, shift).transpose(-2, -1)
                  return (moved - still).abs().max().item()
              """)),
    wrong("vectors_compared",
          "You compare the rotated vectors, not their scores. These vectors should change.",
          "What does attention compute from queries and keys?",
          source("""
              def relative_gap(turn, q, k, shift):
                  gaps = [(turn(x, shift) - turn(x, 0)).abs().max() for x in (q, k)]
                  return max(gaps).item()
              """)),
    wrong("queries_compared",
          "You compare the rotated queries, not the scores. These queries should change.",
          "What does attention compute from queries and keys?",
          source("""
              def relative_gap(turn, q, k, shift):
                  return (turn(q, shift) - turn(q, 0)).abs().max().item()
              """)),
    wrong("queries_with_themselves",
          "You compare scores of the queries with themselves; the keys are not used.",
          "Which two tensors make a score?",
          edit(_SCORES, "turn(q, offset) @ turn(q, offset).transpose(-2, -1)")),
    wrong("weights_compared",
          "You compare attention weights: the softmax hides part of the change.",
          "What are scores, before the softmax?",
          edit(_SCORES, f"({_SCORES}).softmax(-1)")),
    wrong("scaled_scores",
          "Your scores are divided by the square root of `d_k`.",
          "Which scores does the task compare?",
          edit(_SCORES, f"{_SCORES} / q.size(-1) ** 0.5")),
    wrong("small_is_nothing",
          "Small changes become zero.",
          "Which should decide whether a change is too small: your function or its caller?",
          edit(_GAP, "(moved - still).abs().max().item() * (not torch.allclose(moved, still, atol=1e-3))")),
    wrong("a_tensor",
          "You return a tensor, not a Python float.",
          "What does `.item()` do?",
          edit(".max().item()", ".max()")),
    wrong("first_text_only",
          "You use only the first text of the batch.",
          "How many texts are there in `q`?",
          edit("(moved - still)", "(moved - still)[0]")),
]

ACCEPTED = [
    right("einsum", source("""
        def relative_gap(turn, q, k, shift):
            def scores(place):
                return torch.einsum("bqd,bkd->bqk", turn(q, place), turn(k, place))

            return float(torch.max(torch.abs(scores(shift) - scores(0))))
        """)),
    right("pair_by_pair", source("""
        def relative_gap(turn, q, k, shift):
            worst = 0.0
            q0, k0, q1, k1 = turn(q, 0), turn(k, 0), turn(q, shift), turn(k, shift)
            for i in range(q.shape[1]):
                for j in range(k.shape[1]):
                    one = (q0[:, i] * k0[:, j]).sum(-1)
                    two = (q1[:, i] * k1[:, j]).sum(-1)
                    worst = max(worst, (one - two).abs().max().item())
            return worst
        """)),
    right("infinite_norm", edit("(moved - still).abs().max().item()", "torch.dist(moved, still, p=math.inf).item()")),
]

EXERCISE = Specification(
    name="since_2017/relative_gap", title="A probe for the distance", target="relative_gap",
    contract=Contract(
        ways=(),
        sizes=special(
            as_many_queries_as_keys=_placed("adds", 3, 4, 4, 6, 3, sign=-1), queries_that_are_the_keys=_alike,
            equal_sizes=_placed("adds", 4, 4, 4, 4, 4, sign=1),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
