"""Whether the checks that are installed are those that a notebook needs."""

from __future__ import annotations

from autograder.checks.language import _

# The version of the student kit's wheel, like "3.281474976710655": the last unit in it,
# and a number that follows from its content. It is written here when the wheel is made.
# In the course's own folder all units are there, and nothing is compared.
VERSION = ""
asked_for = 0  # the number of the unit whose notebook runs, once it has asked


def needs(unit: int, wheel: str = "") -> str:
    """Why these checks are not those that a notebook needs; empty if they are.

    Args:
        unit: the number of the notebook's unit.
        wheel: the file name of the wheel in the notebook's folder, if it has one.
    """
    global asked_for
    asked_for = unit
    if not VERSION:
        return ""
    up_to = int(VERSION.split(".")[0])
    if up_to < unit:
        told = _("The installed checks go up to unit {last}, and this is unit {unit}")
        return told.format(last=up_to, unit=unit)
    other = wheel.split("-")[1] if wheel else VERSION
    if other != VERSION and int(other.split(".")[0]) >= up_to:
        told = _("Version {version} of the checks is installed, not {other}")
        return told.format(version=VERSION, other=other)
    return ""
