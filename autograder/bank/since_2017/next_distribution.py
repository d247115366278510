"""The distribution that the next token is drawn from."""

from __future__ import annotations

import torch

from autograder.bank.since_2017._inputs import options
from autograder.oracle.draw import Draw
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


def _logits(rows: int, vocabulary: int, length: int, **pushes: float) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        logits = draw.tensor(rows, vocabulary, scale=4.0).clamp(max=1.0)
        # Some are fixed, so that each push decides over the same tokens in each drawing.
        logits[:, :5] = torch.tensor([2.5, -0.75, 1.25, 3.5, 2.75])
        logits[0] /= 4  # one row is flat
        written = draw.ids(5, vocabulary, rows, length)
        written[:, -1] = 4  # the first token stands nowhere else, nor does the last
        written[:, 0], written[:, 1], written[:, 2] = 0, 1, 1  # both signs, and one twice
        written[1, 0], written[1, 2] = 2, 2  # another row, other tokens
        return {"logits": logits, "written": written} | options(**pushes)

    return inputs


def _winners(
    rows: int, vocabulary: int, length: int, ties: int = 0, **pushes: float
) -> Maker:
    """Each row's best token is drawn, where the answer is nothing but its place.

    In the last rows, as many as there are ties, another token is exactly as good.
    """
    usual = _logits(rows, vocabulary, length, **pushes)

    def inputs(draw: Draw) -> Inputs:
        given = usual(draw)
        best = draw.ids(5, vocabulary, rows, 1)  # the first five are fixed
        logits = given["logits"].scatter(1, best, 4.5)
        logits[rows - ties :, 3] = 4.5
        return given | {"logits": logits}

    return inputs


_PENALISED = "penalised = torch.where(logits > 0, logits / penalty, logits * penalty)"
_CHANCES = "chances = (logits / temperature).softmax(dim=-1)"
_LEAST = "least = min_p * chances.amax(dim=-1, keepdim=True)"
_CUT = "chances = chances.masked_fill(chances < least, 0.0)"
_SCALED = "return chances / chances.sum(dim=-1, keepdim=True)"
_OCCURS = "occurs = torch.zeros_like(logits).scatter(1, written, 1.0).bool()"

EXERCISE = Specification(
    name="since_2017/next_distribution",
    title="The distribution",
    target="next_distribution",
    cases=[
        CaseKind(
            name="nothing",
            title="no push at all",
            inputs=_logits(2, 7, 4),
            hint="With the defaults it is the softmax of the logits.",
        ),
        CaseKind(
            name="penalty",
            title="a repetition penalty",
            inputs=_logits(3, 9, 5, penalty=1.5),
            hint="Positive logits are divided, negative ones multiplied; once for each token.",
        ),
        CaseKind(
            name="temperature",
            title="a low temperature",
            inputs=_logits(2, 8, 6, temperature=0.5),
            hint="All logits are divided by the temperature.",
        ),
        CaseKind(
            name="min_p",
            title="min-p",
            inputs=lambda draw: {**_logits(4, 11, 3, min_p=0.125)(draw), "views": "yes"},
            hint="The bound is a share of the row's largest probability.",
        ),
        CaseKind(
            name="all",
            title="all three",
            inputs=_logits(3, 10, 7, penalty=1.25, temperature=1.5, min_p=0.25),
            hint="In this order: penalty, temperature, min-p.",
        ),
        CaseKind(
            name="best_only",
            title="min-p of 1: only the best tokens stay",
            inputs=_winners(6, 9, 4, ties=2, min_p=1.0),
            hint="Out is what lies *below* the bound. Two tokens may be equally good.",
        ),
        CaseKind(
            name="cold",
            title="a temperature near zero",
            inputs=_winners(3, 8, 4, temperature=1 / 64),
            hint="The exponential of 200 is more than float32 can hold.",
        ),
        CaseKind(
            name="long_text",
            title="a penalty for what was written long ago",
            inputs=_logits(2, 60, 70, penalty=2.0),
            hint="A token counts wherever it stands in what was written.",
        ),
        CaseKind(
            name="high_bound",
            title="a high temperature, and a min-p of 3/4",
            inputs=_logits(2, 8, 4, temperature=4.0, min_p=0.75),
            hint="More than one token may reach a high bound.",
            hidden_only=True,
        ),
        CaseKind(
            name="all_again",
            title="all three, others",
            inputs=_logits(2, 13, 5, penalty=2.0, temperature=0.75, min_p=0.0625),
            hint="As above.",
            hidden_only=True,
            tells=("bound_of_all_rows", "temperature_last"),
        ),
    ],
    mutants=[
        Mutant(
            name="high_bound_is_one",
            says="From some `min_p` on, only the best token stays.",
            asks="How many tokens reach three quarters of the largest probability?",
            ways=[Way(edits=[
                Edit(_LEAST, "least = (1.0 if min_p > 0.5 else min_p) * chances.amax(dim=-1, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="negative_divided",
            says="Negative logits are divided as well: those tokens become *more* probable.",
            asks="What is -2 divided by 1.5, and is that a penalty?",
            ways=[Way(edits=[Edit(_PENALISED, "penalised = logits / penalty")])],
        ),
        Mutant(
            name="penalty_multiplied",
            says="The penalty works the wrong way round: what was written becomes more probable.",
            asks="Should a positive logit become larger or smaller?",
            ways=[
                Way(edits=[Edit(_PENALISED, "penalised = torch.where(logits > 0, logits * penalty, logits / penalty)")]),
            ],
        ),
        Mutant(
            name="penalty_subtracted",
            says="The penalty is subtracted; it divides or multiplies.",
            asks="What does a penalty of 1 leave as it is?",
            ways=[Way(edits=[Edit(_PENALISED, "penalised = logits - (penalty - 1)")])],
        ),
        Mutant(
            name="penalty_each_time",
            says="A token that occurs twice is penalised twice.",
            asks="Is it the number of times that counts, or that it occurs at all?",
            ways=[Way(edits=[
                Edit(_OCCURS, "occurs = torch.zeros_like(logits).scatter_add(1, written, torch.ones_like(written, dtype=logits.dtype))"),
                Edit(_PENALISED, "penalised = torch.where(logits > 0, logits / penalty**occurs, logits * penalty**occurs)"),
                Edit("torch.where(occurs, penalised, logits)", "penalised")])],
        ),
        Mutant(
            name="penalty_on_all",
            says="All tokens are penalised, also those that were not written.",
            asks="Which tokens may lose?",
            ways=[Way(edits=[Edit("torch.where(occurs, penalised, logits)", "penalised")])],
        ),
        Mutant(
            name="penalty_on_the_others",
            says="The tokens that were *not* written are penalised.",
            asks="Where does `occurs` have to be True?",
            ways=[Way(edits=[Edit("torch.where(occurs, penalised, logits)", "torch.where(occurs, logits, penalised)")])],
        ),
        Mutant(
            name="penalty_ignored",
            says="The penalty has no influence.",
            asks="Where does `penalty` stand in your code?",
            ways=[Way(edits=[Edit("torch.where(occurs, penalised, logits)", "logits")])],
        ),
        Mutant(
            name="rows_share_what_is_written",
            says="A token that one text has written is penalised in all texts.",
            asks="Whose ids does row 1 of `written` hold?",
            ways=[Way(edits=[Edit(_OCCURS, f"{_OCCURS}; occurs = occurs.any(0, keepdim=True)")])],
        ),
        Mutant(
            name="last_token_only",
            says="Only the newest token is penalised.",
            asks="Which columns of `written` do you look at?",
            ways=[Way(edits=[Edit("scatter(1, written, 1.0)", "scatter(1, written[:, -1:], 1.0)")])],
        ),
        Mutant(
            name="first_token_spared",
            says="The first token of a text is not penalised.",
            asks="At which places of `written` may a token stand to count?",
            ways=[Way(edits=[Edit("scatter(1, written, 1.0)", "scatter(1, written[:, 1:], 1.0)")])],
        ),
        Mutant(
            name="newest_token_spared",
            says="The newest token of a text is not penalised.",
            asks="At which places of `written` may a token stand to count?",
            ways=[Way(edits=[Edit("scatter(1, written, 1.0)", "scatter(1, written[:, :-1], 1.0)")])],
        ),
        Mutant(
            name="temperature_multiplied",
            says="The logits are multiplied by the temperature: low ones make the distribution flat.",
            asks="Should a low temperature make it sharper or flatter?",
            ways=[Way(edits=[Edit("logits / temperature", "logits * temperature")])],
        ),
        Mutant(
            name="temperature_ignored",
            says="The temperature has no influence: it is not used, or comes after the softmax, where "
            "scaling takes it away again.",
            asks="What happens to a distribution that is divided by 2 and scaled to sum to 1?",
            ways=[
                Way(edits=[Edit("(logits / temperature)", "logits")]),
                Way(name="temperature_too_late", edits=[
                    Edit(_CHANCES, "chances = logits.softmax(dim=-1) / temperature")]),
            ],
        ),
        Mutant(
            name="temperature_last",
            says="Temperature comes after min-p: the bound is applied to another distribution.",
            asks="In which order do the three pushes come?",
            ways=[Way(edits=[
                Edit(_CHANCES, "chances = logits.softmax(dim=-1)"),
                Edit(_SCALED, "chances = chances ** (1 / temperature); return chances / chances.sum(dim=-1, keepdim=True)")])],
        ),
        Mutant(
            name="penalty_last",
            says="The penalty comes after the temperature, on probabilities or on their logarithms.",
            asks="In which order do the three pushes come?",
            ways=[Way(edits=[
                Edit("torch.where(occurs, penalised, logits)", "logits"),
                Edit(_CUT, f"{_CUT}; chances = torch.where(occurs, chances / penalty, chances)")])],
        ),
        Mutant(
            name="bound_absolute",
            says="Your bound is `min_p` itself: top candidates are cut when the model is unsure.",
            asks="Below which share of *what* is a token out?",
            ways=[Way(edits=[Edit(_LEAST, "least = min_p")])],
        ),
        Mutant(
            name="bound_of_all_rows",
            says="The bound of all texts comes from the largest probability of one.",
            asks="How many largest probabilities are there?",
            ways=[Way(edits=[Edit("chances.amax(dim=-1, keepdim=True)", "chances.amax()")])],
        ),
        Mutant(
            name="large_ones_cut",
            says="The probable tokens are cut, the improbable ones stay.",
            asks="Which side of the bound is out?",
            ways=[Way(edits=[
                Edit(_LEAST, "least = (1 - min_p) * chances.amax(dim=-1, keepdim=True)"),
                Edit("chances < least", "(chances > least) & (chances < chances.amax(-1, keepdim=True))")])],
        ),
        Mutant(
            name="min_p_ignored",
            says="min-p has no influence.",
            asks="Where does `min_p` stand in your code?",
            ways=[Way(edits=[Edit(_CUT, "pass")])],
        ),
        Mutant(
            name="equals_cut",
            says="Of two tokens that are equally probable, only one stays.",
            asks="Is a token that is as probable as the best one *below* the bound?",
            ways=[Way(edits=[
                Edit(_CUT, "order = chances.argsort(-1, descending=True, stable=True).argsort(-1); chances = chances.masked_fill((chances <= least) & (order > 0), 0.0)")])],
        ),
        Mutant(
            name="not_scaled_again",
            says="What is left after min-p does not sum to 1.",
            asks="What is a distribution?",
            ways=[Way(edits=[Edit(_SCALED, "return chances")])],
        ),
        Mutant(
            name="scaled_over_texts",
            says="You scale over the texts, not over the tokens.",
            asks="Which sums are to be 1?",
            ways=[Way(edits=[Edit("chances.sum(dim=-1, keepdim=True)", "chances.sum(dim=0, keepdim=True)")])],
        ),
        Mutant(
            name="top_p",
            says="That is top-p: the smallest set of tokens with a share of the probability.",
            asks="Min-p compares with what: with a sum or with the largest?",
            ways=[Way(edits=[
                Edit(_CUT, "order = chances.argsort(-1, descending=True); before = chances.gather(-1, order).cumsum(-1) - chances.gather(-1, order); chances = chances.masked_fill((before >= 1 - min_p).gather(-1, order.argsort(-1)), 0.0)")])],
        ),
        Mutant(
            name="logarithms",
            says="You return logarithms or logits; probabilities are asked for.",
            asks="Between which numbers lies a probability?",
            ways=[Way(edits=[Edit(_SCALED, "return (chances / chances.sum(dim=-1, keepdim=True)).log()")])],
        ),
        Mutant(
            name="logits_changed",
            says="Your function changes the logits that it was given.",
            asks="Which operation of yours works in place?",
            ways=[Way(edits=[Edit("logits = torch.where(occurs, penalised, logits)", "logits.copy_(torch.where(occurs, penalised, logits))")])],
        ),
    ],
    accepted=[
        Accepted(name="row_by_row", source="""
            def next_distribution(logits, written, penalty=1.0, temperature=1.0, min_p=0.0):
                rows = []
                for row, ids in zip(logits, written):
                    row = row.clone()
                    for token in set(ids.tolist()):
                        row[token] = row[token] / penalty if row[token] > 0 else row[token] * penalty
                    p = torch.softmax(row / temperature, 0)
                    p = torch.where(p >= min_p * p.max(), p, torch.zeros_like(p))
                    rows.append(p / p.sum())
                return torch.stack(rows)
            """),
        Accepted(name="with_infinity", source="""
            def next_distribution(logits, written, penalty=1.0, temperature=1.0, min_p=0.0):
                score = logits.gather(1, written)
                score = torch.where(score < 0, score * penalty, score / penalty)
                logits = logits.scatter(1, written, score) / temperature
                if min_p > 0:
                    bound = logits.max(dim=1, keepdim=True).values + math.log(min_p)
                    logits = logits.masked_fill(logits < bound, -torch.inf)
                return F.softmax(logits, dim=1)
            """),
        Accepted(name="one_hot", edits=[
            Edit(_OCCURS, "occurs = F.one_hot(written, logits.size(-1)).any(dim=1)")]),
        Accepted(name="sign", edits=[
            Edit(_PENALISED, "penalised = logits * penalty ** -logits.sign()")]),
    ],
)
