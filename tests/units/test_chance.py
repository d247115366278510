"""Right answers that draw with other dice are not refused by chance."""

import math

import pytest
import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.authoring.variants import build_object
from autograder.checks import references
from autograder.checks.probes import options
from autograder.units.sequence_reversal.probes.sequences import DEVIATIONS

OFTEN = "how often each token is drawn"


@pytest.fixture(scope="module")
def fresh():
    return fresh_cases(specification("since_2017/generate"), "chance")


def test_frequencies_of_two_right_answers_agree(fresh):
    shown = references.load("since_2017")["since_2017/generate"].cases
    refused = 0.0  # by Hoeffding's inequality, for two means of so many rows
    for case in (*shown, *fresh):
        rows = next(v for n, v in case.inputs.items() if n.endswith("rows"))
        each = 2 * math.exp(-int(rows) * case.atol**2)
        refused += each * sum(
            v.numel() for n, v in case.expected.items() if n.startswith(OFTEN)
        )
    assert 0 < refused < 1e-7


def test_other_dice_give_other_texts(fresh):
    chances_of = build_object(specification("since_2017/next_distribution"))
    own = [c for c in fresh if not c.says and c.name != "one_token"]
    assert len(own) == 5
    for case in own:
        prompt, table = case.inputs["prompt"], case.inputs["table"]
        chances = chances_of(table[prompt[:, -1]], prompt, **options(case.inputs))
        assert torch.linalg.vector_norm(chances) ** 2 < 0.9, case.name


def refused(trials, chance):
    """The chance that so many fair dice hit too often or too rarely, exactly."""

    def exactly(hits):
        ways = (
            math.lgamma(trials + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(trials - hits + 1)
        )
        misses = (trials - hits) * math.log1p(-chance)
        return math.exp(ways + hits * math.log(chance) + misses)

    mean = trials * chance
    most = DEVIATIONS * math.sqrt(mean)
    return sum(exactly(n) for n in range(trials + 1) if abs(n - mean) > most)


def test_fair_sequences_are_counted_as_fair():
    name = "sequence_reversal/random_sequences"
    shown = references.load("sequence_reversal")[name].cases
    found = 0.0  # at most, of all comparisons of a check
    for case in (*shown, *fresh_cases(specification(name), "chance")):
        count, longest, symbols = (
            int(case.inputs[dial]) for dial in ("count", "longest", "symbols")
        )
        alone, ids = 40 * longest, round(count * (longest + 1) / 2)
        pairs = ids - count
        found += (longest + 3) * refused(count, 1 / longest)
        found += longest * refused(alone, 1 / longest)
        found += longest * (1 - 1 / longest) ** alone  # one that never comes
        found += symbols * (refused(ids, 1 / symbols) + refused(count, 1 / symbols))
        found += refused(pairs, 1 / symbols)
        found += refused(pairs, (symbols - 1) / symbols**2)
        found += math.erfc(DEVIATIONS / math.sqrt(2))
    assert 0 < found < 1e-7
