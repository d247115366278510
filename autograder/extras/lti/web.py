"""Requests to an LMS that retry while it is busy, and turn failures into messages."""

from __future__ import annotations

import contextlib
import email.utils
import time
from collections.abc import Iterator
from typing import Any

import requests

from autograder.course.errors import CourseError
from autograder.course.printable import printable

_TIMEOUT = (10.0, 60.0)  # seconds to connect, and to wait for each piece of an answer
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds, unless the LMS requests others
_LONGEST_PAUSE = 300.0
_BUSY = (429, 503)
_SHOWN = 200  # characters of an LMS's message that are shown
_CONTINUE = "run the same command to continue"


class GradeRefusedError(Exception):
    """The LMS refuses one student's grade or file; the message says why."""


class PatientSession(requests.Session):
    """A session with a timeout, which repeats a request while the server is busy."""

    def request(self, method: Any, url: Any, *arguments: Any, **keywords: Any) -> Any:
        """Send a request with a timeout, and repeat it while the LMS is busy."""
        keywords.setdefault("timeout", _TIMEOUT)
        # None marks the last try, after which there is no pause.
        for pause in (*_PAUSES, None):
            response = super().request(method, url, *arguments, **keywords)
            if not _is_busy(response):
                return response
            if pause is not None:
                self.wait(_requested_pause(response, pause))
        raise CourseError(f"{host(url)} is too busy; wait a while, and {_CONTINUE}")

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


def _is_busy(response: requests.Response) -> bool:
    """Whether an LMS asks to try again later, for which older Canvas sends a 403."""
    is_limit = response.status_code == 403 and "rate limit" in response.text.lower()
    return response.status_code in _BUSY or is_limit


def _requested_pause(response: requests.Response, otherwise: float) -> float:
    """Return the seconds to wait by the header ``Retry-After``, or else ``otherwise``.

    Raises:
        CourseError: the LMS asks for a pause that is too long.
    """
    text = response.headers.get("Retry-After", "")
    pause = otherwise
    try:
        pause = float(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            pause = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    if pause > _LONGEST_PAUSE:
        raise CourseError(
            f"{host(response.url)} asks us to wait {pause / 60:.0f} minutes; "
            f"{_CONTINUE} then"
        )
    return max(pause, 0.0)


def host(url: str) -> str:
    """The host of a URL, without the rest, which may contain secrets."""
    return url.split("//")[-1].split("/")[0].rpartition("@")[2]


def shorten(text: object) -> str:
    """An LMS's message, shortened to fit on one line."""
    return printable(" ".join(str(text).split()))[:_SHOWN]


@contextlib.contextmanager
def network(name: str) -> Iterator[None]:
    """Turn network errors and unexpected answers in a ``with`` block into CourseErrors.

    Args:
        name: the name of the LMS, for messages.
    """
    try:
        yield
    except requests.exceptions.SSLError:
        raise CourseError(f"the certificate of {name} is not valid") from None
    except requests.JSONDecodeError:
        raise CourseError(
            f"{name} answers with a page, not with data; is the address right?"
        ) from None
    except (requests.RequestException, OSError) as error:
        kind = type(error).__name__
        raise CourseError(f"{name} cannot be reached ({kind}); {_CONTINUE}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CourseError(
            f"{name} answered what cannot be read ({type(error).__name__}); report it, "
            f"with the version of {name}"
        ) from None


def missing(package: str) -> CourseError:
    """Return the error for a missing ``package``, which says how to install it."""
    return CourseError(f"{package} is not installed; run: pip install '.[lti]'")
