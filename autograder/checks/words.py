"""Words of the kit that other packages use too; importing this needs no PyTorch."""

# Environment variables, "1": demonstrations do not run, or all of them have to.
LEFT_OUT = "AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS"
ALL_SOLVED = "AUTOGRADER_ALL_EXERCISES_ARE_SOLVED"
PROGRESS = "course_progress.json"  # beside a student's notebook: what was solved
ATTEMPTS = "course_attempts.jsonl"  # the same: when which exercise was checked
ATTEMPTS_DATA = "application/vnd.autograder.attempts+json"  # of an output
PARTLY = "partly"  # the problem of a measured answer that earns some of its points
CHANNEL = "AUTOGRADER_CHANNEL_FD"  # names the inherited end of the judge's socket


def sign(passed: bool, is_partial: bool = False) -> str:
    """A tick, a cross, or half a disc for what earns some of its points."""
    return "✓" if passed else "◐" if is_partial else "✗"
