"""Find out whether the installed checks are new enough for a notebook."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from autograder.checks.frontend import is_attended
from autograder.checks.language import _
from autograder.root import ROOT, read_settings

# The version of the student kit's wheel, like "3.261128.2043" (the last unit in it, and
# the day and the minute when its content changed), and the address of a requirements
# file that names the newest wheel, if the kit is published. Both are written here when
# the wheel is made. In the course's own folder all units are there, and nothing is
# compared.
VERSION = ""
LATEST = ""
asked_for = 0  # the number of the running notebook's unit, once it has called `needs`

_VERSION = re.compile(r"\d{1,4}\.\d{1,9}\.\d{1,9}")


def wheel_name(version: str) -> str:
    """The file name of the student kit's wheel."""
    distribution = str(read_settings(ROOT)["distribution"])
    return f"{distribution.replace('-', '_')}-{version}-py3-none-any.whl"


def require_checks(unit: int, version: str = "") -> None:
    """Raise an error if the installed checks are too old for a notebook.

    Otherwise, insert the style rules of figures into the page, if a person runs it.
    ``version`` is that of the wheel that was made together with the notebook.

    Raises:
        ImportError: they are too old; the text says how to install newer ones.
    """
    if problem := needs(unit, version):
        raise ImportError(f"{problem}. {_remedy(version)}")
    if is_attended():
        _style_page()


def needs(unit: int, version: str = "") -> str:
    """Say why the installed checks are too old for a notebook; "" if they are not.

    This also records which unit's notebook is running. Any ``version`` that does
    not look like "1.2.3" is ignored.
    """
    global asked_for
    asked_for = unit
    if not VERSION:
        return ""
    up_to = _numbers(VERSION)[0]
    if up_to < unit:
        message = _(
            "The installed checks go up to unit {last}, and this is unit {unit}"
        )
        return message.format(last=up_to, unit=unit)
    if _VERSION.fullmatch(version) and _numbers(version) > _numbers(VERSION):
        message = _(
            "This notebook needs version {needed} of the checks, but version "
            "{installed} is installed"
        )
        return message.format(needed=version, installed=VERSION)
    return ""


def _style_page() -> None:
    """Insert the style rules of figures into the page before any figure is shown."""
    from IPython.display import HTML, display

    from autograder.figures.page import PAGE

    display(HTML(f"<style>{PAGE}</style>"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _remedy(version: str) -> str:
    """Say how to install newer checks: from a wheel in the folder above, or online."""
    wheel = wheel_name(version)
    beside = version and Path("..", wheel).is_file()
    if not beside and not LATEST:
        message = _(
            "Ask your teachers for the file {wheel}, install it with pip, then restart "
            "the kernel."
        )
        return message.format(wheel=wheel if version else "*.whl")
    source = f"../{wheel}" if beside else f"-r {LATEST}"
    message = _("Run `{command}` in a new cell, then restart the kernel.")
    if "google.colab" in sys.modules:
        message = _(
            "Run `{command}` in a new cell, then choose Runtime > Restart session."
        )
    return message.format(command=f"%pip install {source}")
