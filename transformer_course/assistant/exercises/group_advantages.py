"""Cases and mistakes for an exercise: advantages of answers to the same prompt."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import OF_TABLES, Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_correct(draw: Draw) -> torch.Tensor:
    """Rewards of 0 or 1 for 3 prompts; those of the first prompt are all equal."""
    rewards = draw.flags(3, 5).float()
    rewards[0] = rewards[0, 0]
    return rewards


_MEAN = "rewards.mean(dim=-1, keepdim=True)"
_SPREAD = "spread = centred.square().mean(dim=-1, keepdim=True).sqrt()"
_RESULT = "return centred / (spread + eps)"

CASES = [
    case("correct_or_not", "3 prompts with 5 answers each, correct or not", sizes(rewards=_draw_correct),
         "In each row, correct answers are above zero and the others below. Where all are equal, there is nothing to "
         "learn: all zeros."),
    case("graded", "4 prompts with 6 answers, rewards of any size", sizes(P=4, S=6),
         "Each group has its own mean and its own spread."),
    case("close", "rewards that hardly differ", sizes(P=3, S=6, scale=1 / 64, eps=1 / 128),
         "`eps` is added to the standard deviation, once."),
    case("large_eps", "an eps of 2", sizes(P=2, S=5, eps=2.0),
         "`eps` is added to the standard deviation, once."),
    case("two_answers", "2 answers per prompt", sizes(P=5, S=2),
         "With two answers, one is above the mean by as much as the other is below.", hidden_only=True),
    case("many", "more answers than prompts", sizes(P=3, S=11, scale=3.0),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("mean_of_all",
          "You subtract one mean from all groups, that of all rewards or of the first group: answers to hard "
          "prompts are punished, even the best of them.",
          "Is an answer compared with all answers, or with those to the same prompt?",
          edit(_MEAN, "rewards.mean()"),
          edit(_MEAN, "rewards[0].mean()", name="first_group_only")),
    wrong("over_prompts", "You compare across prompts: the first answers to all prompts form a group.",
          "In `(P, S)`, which dimension counts the answers to one prompt?",
          edit(_MEAN, "rewards.mean(dim=0, keepdim=True)",
               _SPREAD, "spread = centred.square().mean(dim=0, keepdim=True).sqrt()")),
    wrong("no_mean",
          "The mean is not subtracted: correct answers are encouraged, but incorrect ones are not discouraged.",
          "What is the advantage of an answer that is as good as its group?",
          edit(_MEAN, "0 * rewards", _SPREAD, "spread = rewards.std(dim=-1, keepdim=True, correction=0)")),
    wrong("not_divided", "You subtract the mean, but do not divide by the standard deviation.",
          "How large are the advantages of a group whose rewards are 0.50 and 0.51?",
          edit(_RESULT, "return centred")),
    wrong("spread_of_all",
          "You divide all groups by the same standard deviation, so groups whose rewards hardly differ get "
          "advantages near zero.",
          "How many standard deviations are there?",
          edit(_SPREAD, "spread = rewards.std(correction=0)"),
          edit(_SPREAD, "spread = centred.square().mean().sqrt()", name="common_spread")),
    wrong("other_spread",
          "You divide by something other than the standard deviation: the variance, the mean absolute deviation, "
          "or a range.",
          "What is squared in a standard deviation, and where is the root? If all rewards double, what should "
          "happen to the advantages?",
          edit(".sqrt()", ""),
          edit(_SPREAD, "spread = centred.abs().mean(dim=-1, keepdim=True)", name="absolute_deviation"),
          edit(_SPREAD, "spread = rewards.amax(-1, keepdim=True) - rewards.amin(-1, keepdim=True)", name="range")),
    wrong("sample_deviation",
          "Your standard deviation divides by `S - 1`; here it should divide by `S`.",
          "What is the default of `correction` in `torch.std`?",
          edit(_SPREAD, "spread = rewards.std(dim=-1, keepdim=True)"),
          edit(_SPREAD, "spread = rewards.std(dim=-1, keepdim=True).nan_to_num(0.0)", name="single_answer_treated"),
          tests="deviation"),
    wrong("eps_ignored",
          "`eps` is not used: nothing is added to the spread, or a constant of your own. Where nothing is, a group "
          "of equal rewards divides zero by zero.",
          "Where does your code use `eps`, and what does it do to a group whose rewards hardly differ?",
          edit(_RESULT, "return centred / spread"),
          edit(_RESULT, "return (centred / spread).nan_to_num(0.0)", name="nan_replaced"),
          edit("spread + eps", "spread + 1e-4", name="own_eps"),
          tests="single"),
    wrong("eps_not_added",
          "`eps` is not added to the standard deviation, but below the root, as a smallest value, or as a factor.",
          "Where is `eps` in the formula: inside or outside the root? Is `max(s, eps)` the same as `s + eps`?",
          edit(_SPREAD, "spread = (centred.square().mean(dim=-1, keepdim=True) + eps).sqrt()",
               "(spread + eps)", "spread"),
          edit("(spread + eps)", "(spread.square() + eps).sqrt()", name="squared_again"),
          edit("(spread + eps)", "spread.clamp(min=eps)", name="eps_as_a_floor"),
          edit("(spread + eps)", "(spread * (1 + eps))", name="eps_multiplied")),
    wrong("sign", "The sign is wrong: the worst answers get the largest advantage.",
          "Should an answer that is better than its group be above or below zero?",
          edit(_RESULT, "return -centred / (spread + eps)")),
    wrong("other_baseline",
          "You compare each answer with something other than the mean of its group: the best answer, the median, "
          "or the mean of the *others*.",
          "Over how many rewards does the formula take its mean?",
          edit(_MEAN, "rewards.amax(dim=-1, keepdim=True)"),
          edit(_MEAN, "rewards.median(dim=-1, keepdim=True).values", name="median"),
          edit(_MEAN, "((rewards.sum(-1, keepdim=True) - rewards) / max(rewards.size(-1) - 1, 1))",
               _SPREAD, "spread = rewards.std(dim=-1, keepdim=True, correction=0)", name="mean_of_the_others")),
    wrong("cut_off", "You cut the advantages off, at zero or at -1 and 1, or return only their signs.",
          "May an advantage be negative, and does the formula have a largest value?",
          edit(_RESULT, "return (centred / (spread + eps)).clamp(min=0)"),
          edit(_RESULT, "return (centred / (spread + eps)).clamp(-1, 1)", name="cut_at_one"),
          edit(_RESULT, "return centred.sign()", name="signs_only")),
    wrong("softmax", "You return a softmax of the rewards: positive numbers that sum to 1.",
          "What should the advantages of a group sum to?",
          edit(_RESULT, "return (centred / (spread + eps)).softmax(-1)")),
    wrong("other_shape", "Your result does not hold one advantage for each answer, in the shape of `rewards`.",
          "What shape does the docstring promise, and which dimension counts the answers to one prompt?",
          edit(_RESULT, "return (centred / (spread + eps)).mean(-1)"),
          edit(_RESULT, "return spread", name="spread_returned"),
          edit(_RESULT, "return (centred / (spread + eps)).flatten()", name="flattened"),
          edit(_RESULT, "return (centred / (spread + eps)).T", name="transposed")),
    wrong("rewards_changed", "Your function modifies `rewards` in place.",
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
    right("var_mean", source("""
        def group_advantages(rewards, eps=1e-4):
            variance, mean = torch.var_mean(rewards, dim=-1, correction=0, keepdim=True)
            return (rewards - mean) / (variance ** 0.5 + eps)
        """)),
]

EXERCISE = Specification(
    tells={
        "graded": "eps_not_added squared_again eps_multiplied",
        "many": "eps_ignored nan_replaced eps_as_a_floor",
        "property_spread": "spread_of_all",
    },
    results="advantages", gradients=False,
    contract=Contract(arguments="rewards: B n", results="advantages: B n", ways=OF_TABLES),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
