"""The loss that makes better answers more probable."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification

_PAD, _EOS, _FIRST = 0, 2, 4


def _answers(lengths: tuple[int, ...], vocabulary: int, scale: float = 3.0, zero_advantages: bool = False) -> Maker:
    """Answers that end in EOS, their logits, and advantages of both signs.

    Every answer but the last holds each of the special tokens that are not padding, as
    far as it is long enough.
    """

    def make_inputs(draw: Draw) -> Inputs:
        written = torch.full((len(lengths), max(lengths)), _PAD)
        for row, length in zip(written, lengths, strict=True):
            row[:length] = draw.ids(_FIRST, vocabulary, length)
            row[length - 1] = _EOS
            if length > 3:
                row[1], row[2] = 1, 3
        advantages = draw.tensor(len(lengths), scale=1.0) + 1.5
        advantages[1::2] *= -0.75  # not the same sum with either sign
        logits = draw.tensor(*written.shape, vocabulary, scale=scale)
        return {"logits": logits, "written": written, "advantages": 0 * advantages if zero_advantages else advantages}

    return make_inputs


_REAL = "real = written != reversal.PAD"
_LOG_P = "log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)"
_MEANS = "means = (log_p * real).sum(dim=1) / real.sum(dim=1)"
_RESULT = "return -(advantages * means).mean()"

CASES = [
    case("three", "answers of 5, 2 and 3 tokens", _answers((5, 2, 3), 9),
         "Compute one answer by hand: the log-probabilities of its own tokens, their mean, times its advantage."),
    case("no_padding", "answers of equal length", _answers((4, 4, 4, 4, 4), 8),
         "Without padding, the loss is a plain mean, with a weight for each answer."),
    case("lengths", "one long answer, and three of a single token", _answers((11, 1, 1, 1), 7),
         "Every answer counts equally, however long it is."),
    case("huge", "huge logits", _answers((4, 3), 9, scale=300.0),
         "The logarithm of a softmax needs the same care as the softmax of unit 2.", atol=1e-3),
    case("no_advantage", "advantages of zero", _answers((3, 6), 10, zero_advantages=True),
         "If no answer is better than the others, the loss and its gradient are zero.", open=True),
    case("larger", "a larger vocabulary, and more answers", _answers((6, 2, 9, 4, 7, 1, 3), 23),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("sign",
          "The sign is wrong: a step downhill makes the *worse* answers more probable.",
          "An optimizer makes the loss smaller. What should then happen to an answer whose advantage is positive?",
          edit(_RESULT, "return (advantages * means).mean()")),
    wrong("advantages_ignored",
          "The advantages have no influence: the model is trained to repeat all of its answers.",
          "Which of your lines knows which answers were good?",
          edit(_RESULT, "return -means.mean()")),
    wrong("probabilities",
          "You use probabilities; their *logarithms* are needed.",
          r"What is the gradient of $\log p$, compared with that of $p$?",
          edit("log_softmax(-1)", "softmax(-1)")),
    wrong("logits_as_they_are",
          "You treat the logits as log-probabilities: the softmax is missing.",
          "What do the exponentials of log-probabilities sum to, and those of your logits?",
          edit("logits.log_softmax(-1).gather", "logits.gather")),
    wrong("padding_counts",
          "Padding counts: the log-probability of PAD is part of your mean.",
          "How many real tokens does the second answer of the first case have?",
          edit(_REAL, "real = torch.ones_like(written, dtype=torch.bool)"), tests="including"),
    wrong("divided_by_the_width",
          "You divide by the width of the batch; each answer has a length of its own.",
          "How many real tokens does a short answer have, and by what do you divide its sum?",
          edit("/ real.sum(dim=1)", "/ written.size(1)")),
    wrong("tokens_count_equally",
          "You take one mean over all tokens of the batch, so that long answers count more than short ones.",
          "One answer has 11 tokens, another has one. How much should each of the two count?",
          edit(_RESULT, "return -((advantages[:, None] * log_p) * real).sum() / real.sum()"), tests="however"),
    wrong("sums",
          "You add up the tokens of an answer and do not divide: long answers count more.",
          "By what is the sum of an answer divided?",
          edit(" / real.sum(dim=1)", "")),
    wrong("not_divided",
          "You add up the answers; take their mean.",
          "What happens to your loss if the batch is twice as large?",
          edit(_RESULT, "return -(advantages * means).sum()")),
    wrong("divided_by_the_advantages",
          "You divide by the sum of the advantages, which is near zero for groups.",
          "Over how many answers is the mean taken?",
          edit(_RESULT, "return -(advantages * means).sum() / advantages.abs().sum()")),
    wrong("last_token_only",
          "Only the last token of each answer is learnt.",
          "Which tokens of an answer earned its reward?",
          edit(_MEANS, "last = real.sum(1, keepdim=True) - 1; means = log_p.gather(1, last)[:, 0]")),
    wrong("first_token_only",
          "Only the first token of each answer is learnt.",
          "Which tokens of an answer earned its reward?",
          edit(_MEANS, "means = log_p[:, 0]")),
    wrong("eos_ignored",
          "EOS is not counted, so the model never learns when to stop.",
          "Which id is padding, and is the end of an answer part of it?",
          edit(_REAL, "real = (written != reversal.PAD) & (written != reversal.EOS); real[:, 0] = True")),
    wrong("specials_ignored",
          "Special tokens are not counted, though the model has written them.",
          "Which of the special tokens is not part of an answer?",
          edit(_REAL, "real = (written >= reversal.FIRST) | (written == reversal.EOS)")),
    wrong("most_probable",
          "You take the most probable token at each position instead of the one that was written.",
          "Whose log-probability is wanted: that of the sampled token, or that of the largest logit?",
          edit(_LOG_P, "log_p = logits.log_softmax(-1).amax(-1)")),
    wrong("shifted_again",
          "You shift once more: position `t` of the logits already belongs to token `t` of the answer.",
          "Which token do the logits at position 0 predict?",
          edit(_LOG_P,
               "log_p = logits.log_softmax(-1)[:, :-1].gather(-1, written[:, 1:, None])[..., 0]; real = real[:, 1:]; real[:, :1] = True")),
    wrong("shifted_again_to_nothing",
          "You shift once more: position `t` of the logits already belongs to token `t` of the answer. The first token "
          "is never learnt, and an answer of one token is left without any.",
          "Which token do the logits at position 0 predict?",
          edit(_REAL, f"logits, written = logits[:, :-1], written[:, 1:]; {_REAL}")),
    wrong("rolled",
          "You move the logits by one position: each token meets the logits of its predecessor.",
          "Which token do the logits at position 0 predict?",
          edit(_LOG_P, "log_p = logits.log_softmax(-1).roll(1, 1).gather(-1, written.unsqueeze(-1)).squeeze(-1)")),
    wrong("softmax_over_positions",
          "Your probabilities sum to 1 over positions, not over tokens.",
          "Which dimension holds the vocabulary?",
          edit("log_softmax(-1)", "log_softmax(1)")),
    wrong("softmax_by_hand",
          "Your softmax overflows for huge logits.",
          "What is `exp(300)` in float32?",
          edit("logits.log_softmax(-1)", "(logits.exp() / logits.exp().sum(-1, keepdim=True)).log()")),
    wrong("epsilon",
          "A small number is added inside the logarithm, which hides how improbable a token was.",
          "What is the logarithm of a very small probability, and what is it in your code?",
          edit("logits.log_softmax(-1)", "(logits.softmax(-1) + 1e-6).log()")),
    wrong("base_two",
          "You use the base-2 logarithm; use the natural one.",
          "By which factor is your loss too large?",
          edit(_RESULT, "return -(advantages * means).mean() / torch.tensor(2.0).log()")),
    wrong("only_praise",
          "Answers with a negative advantage are left out: nothing is discouraged.",
          "What should happen to an answer that is worse than its group?",
          edit("(advantages * means)", "(advantages.clamp(min=0) * means)")),
    wrong("absolute",
          "You use the absolute value of the advantages: bad answers are encouraged.",
          "What does the sign of an advantage say?",
          edit("(advantages * means)", "(advantages.abs() * means)")),
    wrong("signs_only",
          "You use only the signs of the advantages.",
          "Is an answer that is much better treated like one that is a little better?",
          edit("(advantages * means)", "(advantages.sign() * means)")),
    wrong("means_multiplied",
          "You multiply the mean advantage by the mean log-probability, or every advantage by every answer, which is the "
          "same. Multiply each answer only by its own advantage.",
          "Is the mean of products the product of the means, and which shapes do your two factors have?",
          edit("(advantages * means).mean()", "advantages.mean() * means.mean()"),
          edit("(advantages * means)", "(advantages[:, None] * means)", name="every_with_every")),
    wrong("product_of_probabilities",
          "You use the probability of the whole answer instead of the mean of its log-probabilities.",
          "Which function makes a sum of a product?",
          edit(_MEANS, "means = (log_p * real).sum(dim=1).exp()")),
    wrong("detached",
          "No gradient reaches the logits.",
          "What do `detach`, `item` and `torch.no_grad` do to a gradient?",
          edit(_RESULT, "return -(advantages * means).mean().detach()"), tests="Gradients"),
    wrong("number",
          "Your loss is a Python number, so no gradient can flow through it.",
          "What would you call `backward` on?",
          edit(_RESULT, "return -(advantages * means).mean().item()")),
    wrong("not_reduced",
          "You return one value per answer; return a single value.",
          "What shape does the docstring promise?",
          edit(_RESULT, "return -(advantages * means)")),
    wrong("per_token",
          "You return one value per token; return a single value.",
          "What shape does the docstring promise?",
          edit(_RESULT, "return -(advantages[:, None] * log_p * real)")),
    wrong("written_changed",
          "Your function modifies `written` in place.",
          "May the caller still need the answers as they were?",
          edit(_REAL, "real = written != reversal.PAD; written[~real] = reversal.EOS")),
    wrong("advantages_changed",
          "Your function modifies `advantages` in place.",
          "Which of your lines modifies a tensor in place, and which tensor is that?",
          edit(_RESULT, "advantages *= means; return -advantages.mean()")),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("cross_entropy", source("""
        def grpo_loss(logits, written, advantages):
            nats = F.cross_entropy(logits.transpose(1, 2), written, reduction="none", ignore_index=reversal.PAD)
            lengths = (written != reversal.PAD).sum(1)
            return (advantages * nats.sum(1) / lengths).mean()
        """)),
    right("loops", source("""
        def grpo_loss(logits, written, advantages):
            total = 0.0
            for scores, ids, advantage in zip(logits, written, advantages):
                ids = ids[ids != reversal.PAD]
                log_p = torch.log_softmax(scores[: len(ids)], dim=-1)
                total = total - advantage * log_p[torch.arange(len(ids)), ids].mean()
            return total / len(written)
        """)),
    right("ratio", source("""
        def grpo_loss(logits, written, advantages):
            log_p = logits.log_softmax(-1).gather(-1, written[..., None])[..., 0]
            mask = (written != reversal.PAD).to(logits.dtype)
            per_token = -advantages[:, None] * log_p * mask
            return (per_token.sum(-1) / mask.sum(-1)).mean()
        """)),
    right("logsumexp", edit(_LOG_P,
          "log_p = logits.gather(-1, written.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)")),
    right("dot_product", edit(_RESULT, "return -(advantages @ means) / len(advantages)")),
]

EXERCISE = Specification(
    contract=Contract(ways=(), sizes=special(one_answer=_answers((6,), 7), answers_of_one_token=_answers((1, 1, 1), 8))),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
