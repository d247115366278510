"""The distribution that the next token is drawn from."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.since_2017.exercises._inputs import options


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


def _winners(rows: int, vocabulary: int, length: int, ties: int = 0, **pushes: float) -> Maker:
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

CASES = [
    case("nothing", "no push at all", _logits(2, 7, 4),
         "With the defaults it is the softmax of the logits."),
    case("penalty", "a repetition penalty", _logits(3, 9, 5, penalty=1.5),
         "Positive logits are divided, negative ones multiplied; once for each token."),
    case("temperature", "a low temperature", _logits(2, 8, 6, temperature=0.5),
         "All logits are divided by the temperature."),
    case("min_p", "min-p", lambda draw: {**_logits(4, 11, 3, min_p=0.125)(draw), "views": "yes"},
         "The bound is a share of the row's largest probability."),
    case("all", "all three", _logits(3, 10, 7, penalty=1.25, temperature=1.5, min_p=0.25),
         "In this order: penalty, temperature, min-p."),
    case("best_only", "min-p of 1: only the best tokens stay", _winners(6, 9, 4, ties=2, min_p=1.0),
         "Out is what lies *below* the bound. Two tokens may be equally good."),
    case("cold", "a temperature near zero", _winners(3, 8, 4, temperature=1 / 64),
         "The exponential of 200 is more than float32 can hold."),
    case("long_text", "a penalty for what was written long ago", _logits(2, 60, 70, penalty=2.0),
         "A token counts wherever it stands in what was written."),
    case("high_bound", "a high temperature, and a min-p of 3/4", _logits(2, 8, 4, temperature=4.0, min_p=0.75),
         "More than one token may reach a high bound.", hidden_only=True),
    case("all_again", "all three, others", _logits(2, 13, 5, penalty=2.0, temperature=0.75, min_p=0.0625),
         "As above.", hidden_only=True, tells=("bound_of_all_rows", "temperature_last")),
]

MISTAKES = [
    wrong("negative_divided",
          "Negative logits are divided as well: those tokens become *more* probable.",
          "What is -2 divided by 1.5, and is that a penalty?",
          edit(_PENALISED, "penalised = logits / penalty")),
    wrong("penalty_multiplied",
          "The penalty works the wrong way round: what was written becomes more probable.",
          "Should a positive logit become larger or smaller?",
          edit(_PENALISED, "penalised = torch.where(logits > 0, logits * penalty, logits / penalty)")),
    wrong("penalty_subtracted",
          "The penalty is subtracted; it divides or multiplies.",
          "What does a penalty of 1 leave as it is?",
          edit(_PENALISED, "penalised = logits - (penalty - 1)")),
    wrong("penalty_each_time",
          "A token that occurs twice is penalised twice.",
          "Is it the number of times that counts, or that it occurs at all?",
          edit(_OCCURS,
               "occurs = torch.zeros_like(logits).scatter_add(1, written, torch.ones_like(written, dtype=logits.dtype))",
               _PENALISED, "penalised = torch.where(logits > 0, logits / penalty**occurs, logits * penalty**occurs)",
               "torch.where(occurs, penalised, logits)", "penalised")),
    wrong("penalty_on_all",
          "All tokens are penalised, also those that were not written.",
          "Which tokens may lose?",
          edit("torch.where(occurs, penalised, logits)", "penalised")),
    wrong("penalty_on_the_others",
          "The tokens that were *not* written are penalised.",
          "Where does `occurs` have to be True?",
          edit("torch.where(occurs, penalised, logits)", "torch.where(occurs, logits, penalised)")),
    wrong("penalty_ignored",
          "The penalty has no influence.",
          "Where does `penalty` stand in your code?",
          edit("torch.where(occurs, penalised, logits)", "logits")),
    wrong("rows_share_what_is_written",
          "A token that one text has written is penalised in all texts.",
          "Whose ids does row 1 of `written` hold?",
          edit(_OCCURS, f"{_OCCURS}; occurs = occurs.any(0, keepdim=True)")),
    wrong("last_token_only",
          "Only the newest token is penalised.",
          "Which columns of `written` do you look at?",
          edit("scatter(1, written, 1.0)", "scatter(1, written[:, -1:], 1.0)")),
    wrong("first_token_spared",
          "The first token of a text is not penalised.",
          "At which places of `written` may a token stand to count?",
          edit("scatter(1, written, 1.0)", "scatter(1, written[:, 1:], 1.0)")),
    wrong("newest_token_spared",
          "The newest token of a text is not penalised.",
          "At which places of `written` may a token stand to count?",
          edit("scatter(1, written, 1.0)", "scatter(1, written[:, :-1], 1.0)")),
    wrong("temperature_multiplied",
          "The logits are multiplied by the temperature: low ones make the distribution flat.",
          "Should a low temperature make it sharper or flatter?",
          edit("logits / temperature", "logits * temperature")),
    wrong("temperature_ignored",
          "The temperature has no influence: it is not used, or comes after the softmax, where scaling takes it away "
          "again.",
          "What happens to a distribution that is divided by 2 and scaled to sum to 1?",
          edit("(logits / temperature)", "logits")),
    wrong("temperature_last",
          "Temperature comes after min-p: the bound is applied to another distribution.",
          "In which order do the three pushes come?",
          edit(_CHANCES, "chances = logits.softmax(dim=-1)",
               _SCALED, "chances = chances ** (1 / temperature); return chances / chances.sum(dim=-1, keepdim=True)")),
    wrong("penalty_last",
          "The penalty comes after the temperature, on probabilities or on their logarithms.",
          "In which order do the three pushes come?",
          edit("torch.where(occurs, penalised, logits)", "logits",
               _CUT, f"{_CUT}; chances = torch.where(occurs, chances / penalty, chances)")),
    wrong("bound_absolute",
          "Your bound is `min_p` itself: top candidates are cut when the model is unsure.",
          "Below which share of *what* is a token out?",
          edit(_LEAST, "least = min_p")),
    wrong("bound_of_all_rows",
          "The bound of all texts comes from the largest probability of one.",
          "How many largest probabilities are there?",
          edit("chances.amax(dim=-1, keepdim=True)", "chances.amax()")),
    wrong("large_ones_cut",
          "The probable tokens are cut, the improbable ones stay.",
          "Which side of the bound is out?",
          edit(_LEAST, "least = (1 - min_p) * chances.amax(dim=-1, keepdim=True)",
               "chances < least", "(chances > least) & (chances < chances.amax(-1, keepdim=True))")),
    wrong("min_p_ignored",
          "min-p has no influence.",
          "Where does `min_p` stand in your code?",
          edit(_CUT, "pass")),
    wrong("equals_cut",
          "Of two tokens that are equally probable, only one stays.",
          "Is a token that is as probable as the best one *below* the bound?",
          edit(_CUT,
               "order = chances.argsort(-1, descending=True, stable=True).argsort(-1); chances = chances.masked_fill((chances <= least) & (order > 0), 0.0)")),
    wrong("not_scaled_again",
          "What is left after min-p does not sum to 1.",
          "What is a distribution?",
          edit(_SCALED, "return chances")),
    wrong("scaled_over_texts",
          "You scale over the texts, not over the tokens.",
          "Which sums are to be 1?",
          edit("chances.sum(dim=-1, keepdim=True)", "chances.sum(dim=0, keepdim=True)")),
    wrong("top_p",
          "That is top-p: the smallest set of tokens with a share of the probability.",
          "Min-p compares with what: with a sum or with the largest?",
          edit(_CUT,
               "order = chances.argsort(-1, descending=True); before = chances.gather(-1, order).cumsum(-1) - chances.gather(-1, order); chances = chances.masked_fill((before >= 1 - min_p).gather(-1, order.argsort(-1)), 0.0)")),
    wrong("logarithms",
          "You return logarithms or logits; probabilities are asked for.",
          "Between which numbers lies a probability?",
          edit(_SCALED, "return (chances / chances.sum(dim=-1, keepdim=True)).log()")),
    wrong("logits_changed",
          "Your function changes the logits that it was given.",
          "Which operation of yours works in place?",
          edit("logits = torch.where(occurs, penalised, logits)",
               "logits.copy_(torch.where(occurs, penalised, logits))")),
]

ACCEPTED = [
    right("row_by_row", source("""
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
        """)),
    right("with_infinity", source("""
        def next_distribution(logits, written, penalty=1.0, temperature=1.0, min_p=0.0):
            score = logits.gather(1, written)
            score = torch.where(score < 0, score * penalty, score / penalty)
            logits = logits.scatter(1, written, score) / temperature
            if min_p > 0:
                bound = logits.max(dim=1, keepdim=True).values + math.log(min_p)
                logits = logits.masked_fill(logits < bound, -torch.inf)
            return F.softmax(logits, dim=1)
        """)),
    right("one_hot", edit(_OCCURS, "occurs = F.one_hot(written, logits.size(-1)).any(dim=1)")),
    right("sign", edit(_PENALISED, "penalised = logits * penalty ** -logits.sign()")),
]

EXERCISE = Specification(
    name="since_2017/next_distribution", title="The distribution", target="next_distribution",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
