"""One table says what each kind of damage costs."""

import itertools

from autograder.checks.prices import (
    FIFTH,
    HALF,
    PRICES,
    RENAMED_ARGUMENT,
    TENTH,
    divide,
    price,
)


def test_shares_sum_to_one_whichever_aspects_are_present():
    names = [*PRICES, "weights"]
    for count in (1, 2, 3, len(names)):
        for present in itertools.combinations(names, count):
            if present != ("names",):
                assert abs(sum(divide(present).values()) - 1) < 1e-9, present


def test_small_damage_costs_at_most_a_fifth_together():
    shares = divide([*PRICES])
    small = [aspect for aspect in PRICES if price(aspect).small]
    assert small == ["form", "limits", "errors", "names"]
    assert 0.19 < sum(shares[aspect] for aspect in small) <= FIFTH
    assert abs(shares["names"] - RENAMED_ARGUMENT) < 1e-9
    assert {price(aspect).least for aspect in small} == {TENTH, 0.0}


def test_a_part_of_the_results_is_priced_like_results():
    assert price("weights").least == price("values").least == HALF
    assert not price("weights").small
