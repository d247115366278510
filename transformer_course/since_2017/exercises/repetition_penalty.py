"""A repetition penalty that does not depend on the zero of the logits."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._inputs import options


def _logits(rows: int, vocabulary: int, length: int, shift: float = 0.0, **given: float) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        logits = draw.tensor(rows, vocabulary, scale=2.0)
        logits[:, 0], logits[:, 1] = 2.5, -1.25  # both are written, in different rows
        written = draw.ids(5, vocabulary, rows, length)
        written[:, -1] = 4  # neither the first token nor the last is there twice
        written[:, 0], written[:, 1:3] = 0, 1
        if rows > 1:
            written[1, 0], written[1, 2] = 2, 2  # a different row, different tokens
        return {"logits": logits + shift, "written": written} | options(**given)

    return inputs


_LOG_P = "log_p = logits.log_softmax(dim=-1)"
_OCCURS = "occurs = torch.zeros_like(logits, dtype=torch.bool).scatter(1, written, True)"
_RESULT = "return torch.where(occurs, penalty * log_p, log_p)"

CASES = [
    case("plain", "3 texts, and a penalty of 1.5", _logits(3, 9, 5, penalty=1.5),
         "The log-probability of a token that was written is multiplied by the penalty, once."),
    case("none", "a penalty of 1", _logits(2, 7, 4, penalty=1.0),
         "A penalty of 1 changes no probability.", open=True),
    case("five_more", "all logits 5 higher", _logits(3, 8, 5, shift=5.0, penalty=1.25),
         "Adding a constant to all logits changes no probability, with or without a penalty."),
    case("far_below", "all logits far below zero", _logits(2, 10, 6, shift=-512.0, penalty=2.0),
         "Adding a constant to all logits changes no probability, with or without a penalty."),
    case("long_text", "a token that was written long ago", _logits(2, 60, 70, penalty=2.0),
         "A token counts wherever it occurs in the text."),
    case("one_text", "one text alone", _logits(1, 8, 5, penalty=1.5),
         "A batch may have a single row."),
    case("square", "as many texts as tokens", _logits(7, 7, 4, penalty=1.25),
         "Which dimension holds the vocabulary?"),
    case("other", "a higher penalty, and logits above zero", _logits(4, 13, 7, shift=64.0, penalty=3.0),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("published_way",
          "You divide positive logits and multiply negative ones. If 5 is added to all logits, which changes no "
          "probability, your penalty becomes a different one.",
          "What is the sign of a log-probability, and does it depend on where the logits have their zero?",
          edit(_RESULT,
               "return torch.where(occurs, torch.where(logits > 0, logits / penalty, logits * penalty), logits)")),
    wrong("logits_multiplied",
          "You multiply the logits themselves; they have no fixed zero.",
          "Which function makes log-probabilities of logits?",
          edit(_LOG_P, "log_p = logits")),
    wrong("others_stay_raw",
          "You mix log-probabilities (tokens that occur) with logits (all others): two different scales.",
          "What happens to your result if 5 is added to all logits?",
          edit(_RESULT, "return torch.where(occurs, penalty * log_p, logits)")),
    wrong("divided",
          "You divide the log-probability by the penalty, so tokens that were written become *more* probable.",
          "What is half of -4, and is it more or less probable?",
          edit("penalty * log_p, log_p)", "log_p / penalty, log_p)")),
    wrong("subtracted",
          "You subtract from the log-probability; it should be multiplied.",
          "What should a penalty of 1 leave unchanged?",
          edit("penalty * log_p, log_p)", "log_p - (penalty - 1), log_p)")),
    wrong("all_of_it_subtracted",
          "You subtract the penalty from the log-probability, so even a penalty of 1 changes it.",
          "Which penalty should change nothing?",
          edit("penalty * log_p, log_p)", "log_p - penalty, log_p)")),
    wrong("probabilities_divided",
          "You divide the *probability* by the penalty; the logarithm should be multiplied.",
          "What does multiplying a logarithm do to the probability?",
          edit("penalty * log_p, log_p)", "log_p - math.log(penalty), log_p)")),
    wrong("each_time",
          "A token that occurs twice is penalised twice.",
          "Does it matter how often a token occurs, or only whether it does?",
          edit(_RESULT, "return log_p * penalty ** F.one_hot(written, logits.size(-1)).sum(1)")),
    wrong("on_all",
          "All tokens are penalised, even those that were not written.",
          "Which tokens should become less probable?",
          edit(_RESULT, "return penalty * log_p")),
    wrong("on_the_others",
          "The tokens that were *not* written are penalised.",
          "Where does `occurs` have to be True?",
          edit("torch.where(occurs, penalty * log_p, log_p)", "torch.where(occurs, log_p, penalty * log_p)")),
    wrong("ignored",
          "The penalty has no influence.",
          "Where does your code use `penalty`?",
          edit(_RESULT, "return log_p")),
    wrong("texts_share",
          "A token that one text has written is penalised in all texts.",
          "Whose ids are in row 1 of `written`?",
          edit(_LOG_P, f"{_LOG_P}; written = written.flatten().expand(len(logits), -1)")),
    wrong("first_text_only",
          "All texts are penalised for what the first one has written.",
          "Whose ids are in row 1 of `written`?",
          edit(_OCCURS, f"{_OCCURS}[:1]")),
    wrong("last_token_only",
          "Only the newest token is penalised.",
          "Which columns of `written` do you look at?",
          edit("scatter(1, written, True)", "scatter(1, written[:, -1:], True)")),
    wrong("newest_token_spared",
          "The newest token of a text is not penalised.",
          "At which positions of `written` does a token count?",
          edit("scatter(1, written, True)", "scatter(1, written[:, :-1], True)")),
    wrong("first_token_spared",
          "The first token of a text is not penalised.",
          "At which positions of `written` does a token count?",
          edit("scatter(1, written, True)", "scatter(1, written[:, 1:], True)")),
    wrong("forbidden",
          "Tokens that were written are forbidden altogether.",
          "Should a token that occurred once never occur again?",
          edit("penalty * log_p, log_p)", "torch.full_like(log_p, -math.inf), log_p)")),
    wrong("softmax_over_texts",
          "Your softmax runs over the texts, not over the tokens.",
          "Which dimension holds the vocabulary?",
          edit("log_softmax(dim=-1)", "log_softmax(dim=0)")),
    wrong("probabilities_multiplied",
          "You multiply probabilities, which makes written tokens more probable; the logarithm is missing.",
          "Is `log_softmax` the same as `softmax`?",
          edit(_LOG_P, "log_p = logits.softmax(dim=-1)")),
    wrong("probabilities_returned",
          "You return probabilities, but the caller applies a softmax itself.",
          "Which of the two does the docstring promise: logits or probabilities?",
          edit(_RESULT, "return torch.where(occurs, penalty * log_p, log_p).softmax(-1)")),
    wrong("logits_changed",
          "Your function modifies the logits that it was given.",
          "Which of your operations works in place?",
          edit(_RESULT, "logits.copy_(torch.where(occurs, penalty * log_p, log_p)); return logits")),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("gathered", source("""
        def repetition_penalty(logits, written, penalty):
            log_p = torch.log_softmax(logits, dim=1)
            return log_p.scatter(1, written, penalty * log_p.gather(1, written))
        """)),
    right("loop", source("""
        def repetition_penalty(logits, written, penalty):
            log_p = F.log_softmax(logits, dim=-1).clone()
            for row, ids in zip(log_p, written):
                for token in set(ids.tolist()):
                    row[token] = row[token] * penalty
            return log_p
        """)),
    right("one_hot", edit(_OCCURS, "occurs = F.one_hot(written, logits.size(-1)).amax(1).bool()")),
    right("logits_lowered", source("""
        def repetition_penalty(logits, written, penalty):
            zero = logits.logsumexp(-1, keepdim=True)
            factor = torch.ones_like(logits).scatter(1, written, penalty)
            return (logits - zero) * factor + zero
        """)),
]

EXERCISE = Specification(
    name="since_2017/repetition_penalty", title="A repetition penalty without a zero", target="repetition_penalty",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
