"""Right answers that draw with other dice are not refused by chance."""

import math

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks import references
from autograder.units.sequence_reversal.probes.sequences import DEVIATIONS


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
