"""Names of files and variables, and signs, which other packages use as well.

PyTorch is not imported here, so those packages need not import it either.
"""

# Environment variables, set to "1": demonstrations are left out; or all exercises are
# solved, so that all demonstrations have to run.
LEFT_OUT = "AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS"
ALL_SOLVED = "AUTOGRADER_ALL_EXERCISES_ARE_SOLVED"
PROGRESS = "course_progress.json"  # beside a student's notebook: what was solved
ATTEMPTS = "course_attempts.jsonl"  # also beside it: when each exercise was checked
ATTEMPTS_DATA = "application/vnd.autograder.attempts+json"  # MIME type of an output
PARTLY = "partly"  # the problem of a measured answer that earns some of its points
CHANNEL = "AUTOGRADER_CHANNEL_FD"  # variable: descriptor of the socket to the judge


def sign(passed: bool, is_partial: bool = False) -> str:
    """The sign of a verdict: tick, cross, or half a disc if it earns some points."""
    return "✓" if passed else "◐" if is_partial else "✗"
