"""How much better each answer is than the others to its prompt."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import options


def _rewards(groups: int, answers: int, scale: float = 2.0, **settings: float) -> Maker:
    """Draw rewards of any size; the groups differ in mean and in spread."""

    def make_inputs(draw: Draw) -> Inputs:
        height, width = torch.arange(groups)[:, None], 0.5 ** torch.arange(groups)[:, None]
        rewards = draw.tensor(groups, answers, scale=scale) * width + 1.5 * height
        return {"rewards": rewards} | options(**settings)

    return make_inputs


def _correct_or_not(groups: int, answers: int, *constants: float) -> Maker:
    """Draw zeros and ones, both in each group, then groups whose rewards are all equal."""

    def make_inputs(draw: Draw) -> Inputs:
        rewards = draw.ids(0, 2, groups, answers).float()
        rewards[:, 0], rewards[:, 1], rewards[:, 2] = 1.0, 0.0, 0.0
        order = draw.ids(0, 10**6, answers).argsort()
        flat = [torch.full((1, answers), reward) for reward in constants]
        return {"rewards": torch.cat([rewards[:, order], *flat])}

    return make_inputs


def _close(draw: Draw) -> Inputs:
    """Rewards that hardly differ: eps is large compared with their spread."""
    return {"rewards": 0.5 + draw.tensor(3, 6, scale=2.0) / 128} | options(eps=2.0**-7)


_MEAN = "rewards.mean(dim=-1, keepdim=True)"
_SPREAD = "spread = centred.square().mean(dim=-1, keepdim=True).sqrt()"
_RESULT = "return centred / (spread + eps)"

CASES = [
    case("correct_or_not", "3 prompts with 5 answers each, correct or not", _correct_or_not(3, 5),
         "In each row, correct answers are above zero and the others below."),
    case("graded", "4 prompts with 6 answers, rewards of any size", _rewards(4, 6),
         "Each group has its own mean and its own spread."),
    case("no_spread", "groups in which all rewards are equal", _correct_or_not(2, 7, 0.0, 1.0, 0.25),
         "Where all answers are equally good, there is nothing to learn: all zeros."),
    case("close", "rewards that hardly differ", _close,
         "`eps` is added to the standard deviation, once."),
    case("large_eps", "an eps of 2", _rewards(2, 5, eps=2.0),
         "`eps` is added to the standard deviation, once."),
    case("two_answers", "2 answers per prompt", _rewards(5, 2),
         "With two answers, one is above the mean by as much as the other is below.", hidden_only=True),
    case("many", "more answers than prompts", _rewards(3, 11, scale=3.0),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("mean_of_all",
          "You subtract the mean of *all* rewards: answers to hard prompts are punished, even the best of them.",
          "Is an answer compared with all answers, or with those to the same prompt?",
          edit(_MEAN, "rewards.mean()")),
    wrong("over_prompts",
          "You compare across prompts: the first answers to all prompts form a group.",
          "In `(P, S)`, which dimension counts the answers to one prompt?",
          edit(_MEAN, "rewards.mean(dim=0, keepdim=True)",
               _SPREAD, "spread = centred.square().mean(dim=0, keepdim=True).sqrt()")),
    wrong("no_mean",
          "The mean is not subtracted: correct answers are encouraged, but incorrect ones are not discouraged.",
          "What is the advantage of an answer that is as good as its group?",
          edit(_MEAN, "0 * rewards", _SPREAD, "spread = rewards.std(dim=-1, keepdim=True, correction=0)")),
    wrong("not_divided",
          "You subtract the mean, but do not divide by the standard deviation.",
          "How large are the advantages of a group whose rewards are 0.50 and 0.51?",
          edit(_RESULT, "return centred")),
    wrong("spread_of_all",
          "You divide all groups by the same standard deviation, that of all rewards.",
          "How many standard deviations are there?",
          edit(_SPREAD, "spread = rewards.std(correction=0)")),
    wrong("common_spread",
          "You use one standard deviation for all groups, so groups whose rewards hardly differ get advantages near "
          "zero.",
          "How many standard deviations are there?",
          edit(_SPREAD, "spread = centred.square().mean().sqrt()")),
    wrong("variance",
          "You divide by the variance: the square root is missing.",
          "If all rewards double, what should happen to the advantages?",
          edit(".sqrt()", "")),
    wrong("sample_deviation",
          "Your standard deviation divides by `S - 1`, and is NaN for a single answer. Here it divides by `S`.",
          "What is the default of `correction` in `torch.std`?",
          edit(_SPREAD, "spread = rewards.std(dim=-1, keepdim=True)"), tests="deviation"),
    wrong("absolute_deviation",
          "You divide by the mean absolute deviation, not by the standard deviation.",
          "What is squared in a standard deviation, and what is the root for?",
          edit(_SPREAD, "spread = centred.abs().mean(dim=-1, keepdim=True)")),
    wrong("range",
          "You divide by the difference between the best and the worst reward.",
          "Which measure of spread does the formula have?",
          edit(_SPREAD, "spread = rewards.amax(-1, keepdim=True) - rewards.amin(-1, keepdim=True)")),
    wrong("eps_ignored",
          "`eps` is not used. If all rewards of a group are equal, zero is divided by zero.",
          "What is the spread of a group in which no answer is correct?",
          edit(_RESULT, "return centred / spread"), tests="single"),
    wrong("nan_replaced",
          "`eps` is not used; NaN is replaced by zero afterwards.",
          "What does adding `eps` do to a group whose rewards hardly differ?",
          edit(_RESULT, "return (centred / spread).nan_to_num(0.0)")),
    wrong("own_eps",
          "You add a constant of your own instead of `eps`.",
          "Where does your code use the argument `eps`?",
          edit("spread + eps", "spread + 1e-4")),
    wrong("eps_in_the_root",
          "`eps` is added below the root, to the variance.",
          "Where is `eps` in the formula: inside or outside the root?",
          edit(_SPREAD, "spread = (centred.square().mean(dim=-1, keepdim=True) + eps).sqrt()",
               "(spread + eps)", "spread"),
          edit("(spread + eps)", "(spread.square() + eps).sqrt()", name="squared_again")),
    wrong("eps_as_a_floor",
          "You use `eps` as the smallest standard deviation; add it instead.",
          "Is `max(s, eps)` the same as `s + eps`?",
          edit("(spread + eps)", "spread.clamp(min=eps)")),
    wrong("eps_multiplied",
          "You multiply by `eps` instead of adding it.",
          "Where is `eps` in the formula?",
          edit("(spread + eps)", "(spread * (1 + eps))")),
    wrong("sign",
          "The sign is wrong: the worst answers get the largest advantage.",
          "Should an answer that is better than its group be above or below zero?",
          edit(_RESULT, "return -centred / (spread + eps)")),
    wrong("best_as_baseline",
          "You compare with the best answer of the group, so no advantage is above zero.",
          "With which value of the group is an answer compared?",
          edit(_MEAN, "rewards.amax(dim=-1, keepdim=True)")),
    wrong("median",
          "You subtract the median, not the mean.",
          "What is the mean of 0, 0 and 1, and what is the median?",
          edit(_MEAN, "rewards.median(dim=-1, keepdim=True).values")),
    wrong("mean_of_the_others",
          "You compare each answer with the mean of the *others*; here, the mean includes the answer itself.",
          "Over how many rewards does the formula take its mean?",
          source("""
              def group_advantages(rewards, eps=1e-4):
                  size = rewards.size(-1)
                  others = (rewards.sum(-1, keepdim=True) - rewards) / max(size - 1, 1)
                  spread = rewards.std(dim=-1, keepdim=True, correction=0)
                  return (rewards - others) / (spread + eps)
              """)),
    wrong("only_praise",
          "Advantages below zero are cut off: nothing is discouraged.",
          "May an advantage be negative?",
          edit(_RESULT, "return (centred / (spread + eps)).clamp(min=0)")),
    wrong("cut_at_one",
          "Your advantages are cut off at -1 and 1.",
          "Does the formula have a largest value?",
          edit(_RESULT, "return (centred / (spread + eps)).clamp(-1, 1)")),
    wrong("signs_only",
          "You return only the signs of the advantages.",
          "Is an answer that is much better than its group treated like one that is a little better?",
          edit(_RESULT, "return centred.sign()")),
    wrong("softmax",
          "You return a softmax of the rewards: positive numbers that sum to 1.",
          "What should the advantages of a group sum to?",
          edit(_RESULT, "return (centred / (spread + eps)).softmax(-1)")),
    wrong("one_per_group",
          "You return one number per prompt; there should be one per answer.",
          "What shape does the docstring promise?",
          edit(_RESULT, "return (centred / (spread + eps)).mean(-1)")),
    wrong("spread_returned",
          "You return the standard deviations, not the advantages.",
          "What remains to be done with the centred rewards?",
          edit(_RESULT, "return spread")),
    wrong("flattened",
          "Your result has lost its groups: it is one long row.",
          "What shape does the docstring promise?",
          edit(_RESULT, "return (centred / (spread + eps)).flatten()")),
    wrong("transposed",
          "Prompts and answers are swapped in your result.",
          "What shape does the docstring promise?",
          edit(_RESULT, "return (centred / (spread + eps)).T")),
    wrong("first_group_only",
          "All groups are compared with the mean of the first one.",
          "Is there an index `0` in your code that should not be there?",
          edit(_MEAN, "rewards[0].mean()")),
    wrong("rewards_changed",
          "Your function modifies `rewards` in place.",
          "Which of your lines modifies a tensor in place, and which tensor is that?",
          edit("centred = rewards - rewards.mean(dim=-1, keepdim=True)",
               "rewards -= rewards.mean(dim=-1, keepdim=True); centred = rewards"), tests="modified"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("pytorchs_deviation", source("""
        def group_advantages(rewards, eps=1e-4):
            mean = rewards.mean(1, keepdim=True)
            return (rewards - mean) / (rewards.std(1, keepdim=True, correction=0) + eps)
        """)),
    right("loop", source("""
        def group_advantages(rewards, eps=1e-4):
            rows = []
            for row in rewards:
                mean = row.sum() / len(row)
                deviation = (sum((r.item() - mean.item()) ** 2 for r in row) / len(row)) ** 0.5
                rows.append((row - mean) / (deviation + eps))
            return torch.stack(rows)
        """)),
    right("transposed_there_and_back", source("""
        def group_advantages(rewards, eps=1e-4):
            r = rewards.T
            centred = r - r.mean(0)
            return (centred / (centred.pow(2).mean(0).sqrt() + eps)).T
        """)),
    right("var_mean", source("""
        def group_advantages(rewards, eps=1e-4):
            variance, mean = torch.var_mean(rewards, dim=-1, correction=0, keepdim=True)
            return (rewards - mean) / (variance ** 0.5 + eps)
        """)),
]

EXERCISE = Specification(
    contract=Contract(
        arguments="rewards: B n", results="advantages: B n", on=("graded",), ways=("steady", "alone", "spread"),
        typed=True,
        sizes=special(one_answer_each=_rewards(4, 1), one_prompt=_rewards(1, 5), as_many_prompts_as_answers=_rewards(4, 4)),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
