"""Cases and mistakes for an exercise: the DPO loss of pairs of answers."""

from __future__ import annotations

from typing import Any

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_BETTER = "better = chosen - reference_chosen"
_WORSE = "worse = rejected - reference_rejected"
_RESULT = "return -F.logsigmoid(beta * (better - worse)).mean()"


def _count_down(draw: Draw) -> torch.Tensor:
    """The log-probabilities -1, -2, -3 and -4."""
    return -torch.arange(1.0, 5.0)


def _count_down_twice(draw: Draw) -> torch.Tensor:
    """The log-probabilities -2, -4, -6 and -8."""
    return -torch.arange(1.0, 5.0) * 2


def _draw_far(sign: float) -> dict[str, Any]:
    """Map "chosen" and "rejected" to functions that draw four log-probabilities each.

    Those of the chosen answers are larger by over 1000 if ``sign`` is 1, and
    smaller by as much if it is -1.
    """
    return {
        "chosen": lambda draw: sign * (1000 + 500 * (draw.tensor(4, scale=2.0) / 2 + 1)),
        "rejected": lambda draw: sign * -100 * (draw.tensor(4, scale=2.0) / 2 + 2),
    }


CASES = [
    case("pairs", "5 pairs", sizes(N=5, scale=8.0),
         "Compute one pair by hand: two differences, their difference, times `beta`, and the logarithm of a sigmoid."),
    case("large_beta", "3 pairs, and a beta of 0.7", sizes(N=3, scale=4.0, beta=0.7),
         "`beta` multiplies the margin inside the sigmoid."),
    case("one_pair", "a single pair", sizes(N=1, scale=8.0, beta=0.3), "The mean over one pair is that pair."),
    case("unmoved", "a model equal to its reference",
         sizes(N=4, chosen=_count_down, reference_chosen=_count_down,
               rejected=_count_down_twice, reference_rejected=_count_down_twice),
         "A model that has not moved has the loss log 2.", open=True),
    case("hopeless", "pairs that the model ranks the wrong way round by far", sizes(N=4, beta=0.5, **_draw_far(-1.0)),
         "The loss of such a pair is `beta` times its margin, and finite.", rtol=1e-4, tests="finite"),
    case("certain", "pairs that the model ranks correctly by far", sizes(N=4, beta=0.5, **_draw_far(1.0)),
         "Such pairs have nothing left to teach: the loss is 0 and finite.", open=True, tests="finite"),
    case("larger", "17 pairs", sizes(N=17, scale=10.0, beta=0.2), "As above.", hidden_only=True),
    case("small", "differences that are close to zero", sizes(N=6, scale=0.1, beta=1.5), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("sign", "The sign inside the sigmoid is wrong: your loss teaches the rejected answers.",
          "If the chosen answer becomes more probable, should the loss rise or fall?",
          edit("(better - worse)", "(worse - better)")),
    wrong("sign_of_the_loss", "The sign of the loss is wrong: it is negative, and a step downhill makes it worse.",
          "Which sign has the logarithm of a probability?",
          edit(_RESULT, "return F.logsigmoid(beta * (better - worse)).mean()")),
    wrong("no_reference", "The reference has no effect: without it, nothing keeps the model near its start.",
          "Which two of the four arguments do you not use?",
          edit(_BETTER, "better = chosen", _WORSE, "worse = rejected"),
          edit(_WORSE, "worse = rejected", name="reference_of_the_chosen_only"),
          edit(_BETTER, "better = chosen", name="reference_of_the_rejected_only")),
    wrong("references_exchanged",
          "The references have the wrong sign: they are exchanged, or added instead of subtracted.",
          "With which reference is the chosen answer compared, and what is the logarithm of `p / q`?",
          edit(_BETTER, "better = chosen - reference_rejected", _WORSE, "worse = rejected - reference_chosen"),
          edit(_BETTER, "better = chosen + reference_chosen", _WORSE, "worse = rejected + reference_rejected",
               name="references_added")),
    wrong("logarithms_divided",
          "You divide one log-probability by the other; the logarithm of a quotient is a difference.",
          "What is the logarithm of `p / q`?",
          edit(_BETTER, "better = chosen / reference_chosen", _WORSE, "worse = rejected / reference_rejected")),
    wrong("beta_ignored",
          "`beta` has no effect, or the wrong one: it should multiply the margin inside the sigmoid.",
          "Where in the formula is beta?",
          edit("beta * (better - worse)", "better - worse"),
          edit(_RESULT, "return -beta * F.logsigmoid(better - worse).mean()", name="beta_outside"),
          edit("beta * (better - worse)", "(better - worse) / beta", name="divided_by_beta"),
          edit("beta * (better - worse)", "beta * better - worse", name="beta_on_one_side"),
          edit(_BETTER, "better = beta * (chosen - rejected)", _WORSE,
               "worse = reference_chosen - reference_rejected", "beta * (better - worse)", "better - worse",
               name="beta_on_the_model_only"),
          edit("beta * (better - worse)", "0.1 * (better - worse)", name="default_beta")),
    wrong("no_logarithm", "The logarithm of the sigmoid is missing, or the sigmoid itself.",
          "What are the values of your loss for a margin of 0?",
          edit("-F.logsigmoid(beta * (better - worse))", "1 - torch.sigmoid(beta * (better - worse))"),
          edit("F.logsigmoid(beta * (better - worse))", "(beta * (better - worse))", name="margin_alone"),
          edit("F.logsigmoid(beta * (better - worse))", "torch.sigmoid(beta * (better - worse))",
               name="sigmoid_alone")),
    wrong("logarithm_underflows",
          "Your loss is infinite or cut off where the sigmoid underflows to zero, or `exp` overflows.",
          "What is `sigmoid(-200)` in float32, and what is its logarithm? Is there one function for both?",
          edit("F.logsigmoid(beta * (better - worse))", "torch.sigmoid(beta * (better - worse)).log()"),
          edit("F.logsigmoid(beta * (better - worse))", "(torch.sigmoid(beta * (better - worse)) + 1e-8).log()",
               name="small_number_added"),
          edit("F.logsigmoid(beta * (better - worse))", "torch.sigmoid(beta * (better - worse)).clamp(min=1e-6).log()",
               name="clamped"),
          edit("-F.logsigmoid(beta * (better - worse))", "(1 + (-beta * (better - worse)).exp()).log()",
               name="exponential"),
          tests="finite"),
    wrong("sum", "You add the losses of the pairs; return their mean.",
          "What happens to your loss if the batch is twice as large?",
          edit(".mean()", ".sum()"), tests="mean over"),
    wrong("mean_inside", "The mean is taken before the sigmoid; the loss is the mean of each pair's own loss.",
          "Is the logarithm of a mean the mean of the logarithms?",
          edit(_RESULT, "return -F.logsigmoid(beta * (better - worse).mean())"), tests="mean over"),
    wrong("not_reduced", "You return one value per pair; return their mean.",
          "What shape does the docstring promise?",
          edit(".mean()", ""), tests="mean over"),
    wrong("squared",
          "You compute a squared distance from a target, which is the loss of IPO; DPO has the logarithm of a sigmoid.",
          "Which function stands in front of the bracket of the formula?",
          edit(_RESULT, "return (better - worse - 1 / (2 * beta)).square().mean()")),
    wrong("hinge", "You compute a hinge, the loss of SLiC; DPO has the logarithm of a sigmoid.",
          "Which function stands in front of the bracket of the formula?",
          edit(_RESULT, "return (1 - beta * (better - worse)).relu().mean()")),
    wrong("base_two", "You use the base-2 logarithm; use the natural one.",
          "What is your loss for a model that has not moved?",
          edit(_RESULT, "return -F.logsigmoid(beta * (better - worse)).mean() / math.log(2)")),
    wrong("one_side_detached", "No gradient reaches the rejected answers, or the chosen ones, or both.",
          "Which of the four arguments comes from the model that is trained?",
          edit(_WORSE, "worse = (rejected - reference_rejected).detach()"),
          edit(_BETTER, "better = (chosen - reference_chosen).detach()", name="chosen_detached"),
          edit(_RESULT, "return -F.logsigmoid(beta * (better - worse)).mean().detach()", name="loss_detached"),
          edit(_RESULT, "return -F.logsigmoid(beta * (better - worse)).mean().item()", name="a_float"),
          tests="Gradients"),
    wrong("argument_changed", "Your function modifies one of its arguments in place.",
          "Which of your lines has `-=` or ends in an underscore?",
          edit(_BETTER, "better = reference_chosen.mul_(-1).add_(chosen)"),
          edit(_WORSE, "reference_rejected -= rejected; worse = -reference_rejected", name="rejected_changed"),
          tests="modified"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("softplus", edit(_RESULT, "return F.softplus(-beta * (better - worse)).mean()")),
    right("as_in_the_libraries", source("""
        def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta=0.1):
            logits = (chosen - rejected) - (reference_chosen - reference_rejected)
            return F.binary_cross_entropy_with_logits(beta * logits, torch.ones_like(logits))
        """)),
    right("two_classes", source("""
        def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta=0.1):
            rewards = beta * torch.stack((chosen - reference_chosen.detach(), rejected - reference_rejected.detach()), -1)
            return F.cross_entropy(rewards, torch.zeros(len(chosen), dtype=torch.long))
        """)),
]

EXERCISE = Specification(
    results="loss", fixed="N", contract=Contract(ways=("steady", "spread")),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
