"""Cases and mistakes for an exercise: the GRPO loss of rewarded answers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.utils.rnn import pad_sequence

from autograder.authoring.common import common
from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_EOS = 2


def _draw_answers(*lengths: int, below: int) -> Callable[[Draw], torch.Tensor]:
    """Make a function that draws answers of these lengths, which end with EOS and are padded with zeros.

    Their other ids are from 1 to ``below`` - 1.
    """

    def draw_answers(draw: Draw) -> torch.Tensor:
        answers = [draw.ids(1, below, length) for length in lengths]
        for answer in answers:
            answer[-1] = _EOS
        return pad_sequence(answers, batch_first=True)

    return draw_answers


_REAL = "real = written != reversal.PAD"
_LOG_P = "log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)"
_MEANS = "means = (log_p * real).sum(dim=1) / real.sum(dim=1)"
_RESULT = "return -(advantages * means).mean()"

CASES = [
    case("three", "answers of 5, 2 and 3 tokens", sizes(N=3, T=5, V=9, written=_draw_answers(5, 2, 3, below=9)),
         "Compute one answer by hand: the log-probabilities of its own tokens, their mean, times its advantage."),
    case("no_padding", "answers of equal length", sizes(N=5, T=4, V=8, written=_draw_answers(4, 4, 4, 4, 4, below=8)),
         "Without padding, the loss is a plain mean, with a weight for each answer."),
    case("lengths", "one long answer, and three of a single token",
         sizes(N=4, T=11, V=7, written=_draw_answers(11, 1, 1, 1, below=7)),
         "Every answer counts equally, however long it is."),
    case("huge", "huge logits", sizes(N=2, T=4, V=9, written=_draw_answers(4, 3, below=9), scale=300.0),
         "The logarithm of a softmax needs the same care as the softmax of unit 2.", atol=1e-2),
    case("no_advantage", "advantages of zero",
         sizes(N=2, T=6, V=10, written=_draw_answers(3, 6, below=10), advantages=lambda draw: torch.zeros(2)),
         "If no answer is better than the others, the loss and its gradient are zero.", open=True),
    case("larger", "a larger vocabulary, and more answers",
         sizes(N=7, T=9, V=23, written=_draw_answers(6, 2, 9, 4, 7, 1, 3, below=23)), "As above.", hidden_only=True),
    case("one_answer", "a single answer", sizes(N=1, T=6, V=7, written=_draw_answers(6, below=7)),
         "As above.", hidden_only=True),
    case("one_token", "answers of a single token", sizes(N=3, T=1, V=8, written=_draw_answers(1, 1, 1, below=8)),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("sign", "The sign is wrong: a step downhill makes the *worse* answers more probable.",
          "An optimizer makes the loss smaller. What should then happen to an answer whose advantage is positive?",
          edit(_RESULT, "return (advantages * means).mean()")),
    wrong("advantages_ignored", "The advantages have no effect: the model is trained to repeat all of its answers.",
          "Which of your lines knows which answers were good?",
          edit(_RESULT, "return -means.mean()")),
    wrong("no_logarithm", "You use probabilities or the logits themselves; the logarithms of probabilities are needed.",
          "What do the exponentials of log-probabilities sum to, and those of your numbers?",
          edit("log_softmax(-1)", "softmax(-1)"),
          edit("logits.log_softmax(-1).gather", "logits.gather", name="logits_as_they_are")),
    wrong("padding_counts",
          "Padding counts: its log-probability is part of your mean, or you divide by the width of the batch.",
          "How many real tokens does a short answer have, and by what do you divide its sum?",
          edit(_REAL, "real = torch.ones_like(written, dtype=torch.bool)"),
          edit("/ real.sum(dim=1)", "/ written.size(1)", name="divided_by_the_width"),
          tests="including"),
    wrong("tokens_count_equally",
          "Long answers count more than short ones: you take one mean over all tokens of the batch, or do not "
          "divide an answer's sum by its length.",
          "One answer has 11 tokens, another has one. How much should each of the two count?",
          edit(_RESULT, "return -((advantages[:, None] * log_p) * real).sum() / real.sum()"),
          edit(" / real.sum(dim=1)", "", name="sums"),
          tests="however"),
    wrong("not_divided", "You add the answers up; the loss is their mean.",
          "Over how many answers is the mean taken? What happens to your loss if the batch is twice as large?",
          edit(_RESULT, "return -(advantages * means).sum()")),
    wrong("one_token_only", "Only one token of each answer is learnt, its first or its last.",
          "Which tokens of an answer earned its reward?",
          edit(_MEANS, "last = real.sum(1, keepdim=True) - 1; means = log_p.gather(1, last)[:, 0]"),
          edit(_MEANS, "means = log_p[:, 0]", name="first_token_only")),
    wrong("specials_ignored",
          "EOS or other special tokens are not counted, though the model has written them and has to learn when to "
          "stop.",
          "Which of the special tokens is not part of an answer?",
          edit(_REAL, "real = (written >= reversal.FIRST) | (written == reversal.EOS)"),
          edit(_REAL, "real = (written != reversal.PAD) & (written != reversal.EOS); real[:, 0] = True",
               name="eos_ignored"),
          edit(_REAL, "real = written >= reversal.FIRST", "real.sum(dim=1)", "real.sum(dim=1).clamp(min=1)",
               name="digits_only")),
    wrong("most_probable", "You take the most probable token at each position instead of the one that was written.",
          "Whose log-probability is wanted: that of the sampled token, or that of the largest logit?",
          edit(_LOG_P, "log_p = logits.log_softmax(-1).amax(-1)")),
    wrong("shifted_again",
          "You shift the logits against the tokens: position `t` of the logits already belongs to token `t` of the "
          "answer.",
          "Which token do the logits at position 0 predict?",
          edit(_LOG_P,
               "log_p = logits.log_softmax(-1)[:, :-1].gather(-1, written[:, 1:, None])[..., 0]; "
               "real = real[:, 1:]; real[:, :1] = True"),
          edit(_REAL, f"logits, written = logits[:, :-1], written[:, 1:]; {_REAL}", name="shifted_again_to_nothing"),
          edit(_LOG_P, "log_p = logits.log_softmax(-1).roll(1, 1).gather(-1, written.unsqueeze(-1)).squeeze(-1)",
               name="rolled")),
    wrong("softmax_over_positions", "Your probabilities sum to 1 over positions, not over tokens.",
          "Which dimension holds the vocabulary?",
          edit("log_softmax(-1)", "log_softmax(1)")),
    wrong("softmax_by_hand",
          "Your softmax overflows for huge logits, or a small number inside the logarithm hides how improbable a "
          "token was.",
          "What is `exp(300)` in float32, and what is the logarithm of a very small probability?",
          edit("logits.log_softmax(-1)", "(logits.exp() / logits.exp().sum(-1, keepdim=True)).log()"),
          edit("logits.log_softmax(-1)", "(logits.softmax(-1) + 1e-6).log()", name="epsilon")),
    wrong("base_two", "You use the base-2 logarithm; use the natural one.",
          "By which factor is your loss too large?",
          edit(_RESULT, "return -(advantages * means).mean() / torch.tensor(2.0).log()")),
    wrong("advantages_cut",
          "The advantages lose their sign or their size: you cut off negative ones, take absolute values, or use "
          "only the signs.",
          "What should happen to an answer that is worse than its group, and to one that is a little better?",
          edit("(advantages * means)", "(advantages.clamp(min=0) * means)"),
          edit("(advantages * means)", "(advantages.abs() * means)", name="absolute"),
          edit("(advantages * means)", "(advantages.sign() * means)", name="signs_only")),
    wrong("means_multiplied",
          "You multiply the mean advantage by the mean log-probability, or every advantage by every answer, which is "
          "the same. Multiply each answer only by its own advantage.",
          "Is the mean of products the product of the means, and which shapes do your two factors have?",
          edit("(advantages * means).mean()", "advantages.mean() * means.mean()"),
          edit("(advantages * means)", "(advantages[:, None] * means)", name="every_with_every")),
    wrong("product_of_probabilities",
          "You use the probability of the whole answer instead of the mean of its log-probabilities.",
          "Which function makes a sum of a product?",
          edit(_MEANS, "means = (log_p * real).sum(dim=1).exp()")),
    wrong("no_gradient", "No gradient reaches the logits: your loss is detached, or a Python number.",
          "What do `detach`, `item` and `torch.no_grad` do to a gradient?",
          edit(_RESULT, "return -(advantages * means).mean().detach()"),
          edit(_RESULT, "return -(advantages * means).mean().item()", name="number"),
          tests="Gradients"),
    wrong("not_reduced", "You return one value per answer or per token; return a single value.",
          "What shape does the docstring promise?",
          edit(_RESULT, "return -(advantages * means)"),
          edit(_RESULT, "return -(advantages[:, None] * log_p * real)", name="per_token")),
    wrong("argument_changed", "Your function modifies one of its arguments in place.",
          "Which of your lines modifies a tensor in place, and which tensor is that?",
          edit(_REAL, "real = written != reversal.PAD; written[~real] = reversal.EOS"),
          edit(_RESULT, "advantages *= means; return -advantages.mean()", name="advantages_changed")),
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
]

EXERCISE = Specification(
    tells={"larger": "specials_ignored epsilon", "one_answer": "specials_ignored"},
    results="loss", fixed="N T V", contract=Contract(ways=("steady", "spread")),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
