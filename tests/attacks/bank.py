"""The catalogue of attacks: hostile submissions that have solved nothing.

Each entry changes an otherwise blank submission and expects zero points for every check
that the judge decides. The groups are those of the threat model; ``design`` holds what
an attacker would try who has read this autograder's own code.

Code that gets at something it should not see prints the word STOLEN (written in two
parts, so that the source does not contain it), and what would act in a browser calls
``pwned()`` or asks attacker.example.
"""

from __future__ import annotations

from tests.attacks.amounts import AMOUNTS
from tests.attacks.attack import Attack
from tests.attacks.design import AGAINST_THIS_DESIGN
from tests.attacks.harming import HARMING_AND_LEAKING
from tests.attacks.malformed import MALFORMED_ONES
from tests.attacks.messages import MESSAGES
from tests.attacks.patching import PATCHING
from tests.attacks.seams import SEAMS
from tests.attacks.stealing import STEALING_AND_FORGING

BANK: list[Attack] = [
    *PATCHING,
    *STEALING_AND_FORGING,
    *HARMING_AND_LEAKING,
    *MALFORMED_ONES,
    *AGAINST_THIS_DESIGN,
    *SEAMS,
    *AMOUNTS,
    *MESSAGES,
]
