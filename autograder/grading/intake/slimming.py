"""A large notebook without its outputs, made by a process that has limits.

``python -m autograder.grading.intake.slimming`` does it from one stream to the other.
One letter beyond the 16 bits makes a text four times as large in memory as in its file:
that is for a process of its own, not for the one that has the gradebook.
"""

from __future__ import annotations

import subprocess
import sys

from autograder.course import child
from autograder.grading.intake.reading import refuse_many_parts, without_outputs

# Bytes of data; the largest notebook without wide letters takes 300 MB.
_MEMORY = 800 << 20
_SECONDS = 60  # of processor time; it takes one


def slimmed(data: bytes) -> bytes:
    """A notebook without its outputs; one that is beyond the limits stays as it is.

    Raises:
        Refused: it has too many parts.
    """
    refuse_many_parts(data)
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child.environment(),
        check=False,
    )
    return done.stdout if done.returncode == 0 else data


def main() -> None:
    """Read a notebook, and write it without its outputs."""
    child.limit(data=_MEMORY, cpu=_SECONDS)
    sys.stdout.buffer.write(without_outputs(sys.stdin.buffer.read()))


if __name__ == "__main__":
    main()
