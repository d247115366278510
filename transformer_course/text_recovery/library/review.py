"""Check a log for what it still lacks before it is handed in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from transformer_course.library.run_log import LoggedRun, RunLog
from transformer_course.text_recovery.library import log_view

FEWEST = 6  # runs
BEAMS = {"3", "5", "10"}
ARCHITECTURE = {"num_heads", "num_layers", "d_model", "d_ff", "residual", "dropout"}


def missing(log: RunLog) -> Iterator[str]:
    """Yield a line for everything that the log lacks; none if it is complete.

    For example, it may lack runs, comparisons or hypotheses.
    """
    runs = [run for run in log.runs if not run.stopped]
    yield from log.remarks
    if len(runs) < FEWEST:
        yield f"The log has {len(runs)} complete runs; it needs at least {FEWEST}."
    changed = {name for run in runs for name in run.changed}
    if "positions" not in changed:
        yield "No two runs compare sinusoidal with learned positions."
    beams = {run.changed["beam"][1] for run in runs if "beam" in run.changed}
    if lacking := sorted(BEAMS - beams, key=int):
        yield (
            f"No run decodes with a beam of {', '.join(lacking)}; if you follow the "
            "short path, without beam search, none has to."
        )
    if not changed & ARCHITECTURE:
        yield "No run studies the architecture (heads, layers, widths, residuals)."
    yield from map(_describe_changes, filter(_compares_too_much, runs))
    if silent := [run.name for run in runs if not run.hypothesis]:
        yield f"Runs without a hypothesis: {log_view.names(silent)}."
    if loose := list(_find_unfinished(runs)):
        yield f"Comparisons without a next step: {log_view.names(loose)}."
    if short := [run.name for run in runs if run.too_short]:
        yield f"Too short to say anything: {', '.join(short[:5])}."


def _find_unfinished(runs: Sequence[LoggedRun]) -> Iterator[str]:
    """Yield, for each comparison without a next step, the name of its first run.

    Runs that change the same settings of the same run form one comparison. The
    newest one may be unfinished.
    """
    comparisons = defaultdict(list)
    for run in runs:
        if run.against:
            comparisons[run.against, frozenset(run.changed)].append(run)
    for alike in comparisons.values():
        if alike[-1] is not runs[-1] and not any(run.next_step for run in alike):
            yield alike[0].name


def _compares_too_much(run: LoggedRun) -> bool:
    """Whether a run differs in several settings from the run it is compared with."""
    decoding_options = {"beam", "alpha"}  # these may change together
    return len(run.changed.keys() - decoding_options) > 1


def _describe_changes(run: LoggedRun) -> str:
    """The line about a run that changes several settings at once."""
    listed = ", ".join(list(run.changed)[:5])
    return (
        f"{run.name} changes {len(run.changed)} things at once ({listed}), so "
        "no difference can be attributed to one of them."
    )
