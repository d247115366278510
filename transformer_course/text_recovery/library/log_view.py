"""Display a project's log: lines, a table, curves, and differences with intervals."""

from __future__ import annotations

import html
from collections.abc import Sequence

from autograder.checks.display import show
from autograder.figures import style
from transformer_course.library.intervals import Interval
from transformer_course.library.run_log import LoggedRun, RunLog

SHORT = "too short: says nothing yet"
_ROWS, _CURVES = 60, 6  # the most runs in the table, and curves in a figure
_LEFT = "text-align:left;vertical-align:top"  # JupyterLab's tables align right
_MARKS = ("o-", "s-", "^-", "D-", "v-", "X-")


def line(run: LoggedRun, sentences: int, log: RunLog) -> str:
    """Describe a run in a line or two: its BLEU, and how it compares with another run.

    A stopped or too short run is not compared. ``sentences`` is the size of dev;
    ``log`` tells how much seeds matter.
    """
    if run.stopped or run.bleu is None:
        reason = run.stopped or "an unknown reason"
        return f"{run.name}: stopped by {reason} after {run.tokens:,} target tokens."
    headline = (
        f"{run.name}: BLEU {Interval(*run.bleu)} on {sentences:,} sentences of dev"
    )
    if run.too_short:
        return (
            f"{headline}.\n  Too short to say anything: the inserter has "
            f"{run.inserter:.1f}. Give it more tokens before you compare it."
        )
    if run.difference is None:
        return f"{headline}."
    gain = describe_gain(Interval(*run.difference), _seed_gap(run, run.against, log))
    return f"{headline}; against {run.against} {gain}."


def _seed_gap(run: LoggedRun, against: str, log: RunLog) -> float | None:
    """Return by how much BLEU varies with the seed of the run ``against``.

    The result is None if that is unknown, or irrelevant for ``run``.
    """
    if run.kind == "decoding" or run.changed.keys() == {"seed"}:
        return None
    return log.between_seeds(against)


def describe_gain(gain: Interval, seeds: float | None = None) -> str:
    """Describe a difference in words: its size, and whether seeds explain it.

    ``seeds`` is the BLEU difference between two seeds, if known.
    """
    if gain.low <= 0 <= gain.high:
        return f"{_format_gain(gain)}: no difference that these sentences can show"
    clear = f"{_format_gain(gain)}: {'better' if gain.low > 0 else 'worse'}"
    if seeds is None:
        return clear
    if abs(gain.value) <= seeds:
        return f"{_format_gain(gain)}: no more than between two seeds ({seeds:.1f})"
    return f"{clear} (two seeds differ by {seeds:.1f})"


def _format_gain(gain: Sequence[float]) -> str:
    """A difference and its interval with signs, as in "+1.2 [+0.3, +2.1]"."""
    value, low, high = gain
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


def as_html(log: RunLog) -> str:
    """Return the newest runs as an HTML table; all text from the log is escaped."""
    heads = ("run", "changed", "BLEU on dev", "difference", "tokens", "CPU s", "seed")
    rows = "".join(_write_rows(run, len(heads)) for run in log.runs[-_ROWS:])
    head = "".join(f'<th scope="col" style="{_LEFT}">{name}</th>' for name in heads)
    hidden_count = len(log.runs) - _ROWS
    remarks = (
        [f"{hidden_count:,} earlier runs are not shown"] if hidden_count > 0 else []
    )
    notes = "".join(f"<p>{html.escape(text)}.</p>" for text in (*remarks, *log.remarks))
    total = f"<p>{len(log.runs):,} runs, {log.tokens:,} target tokens.</p>"
    body = f"<thead><tr>{head}</tr></thead>{rows}"
    return f"<table>{body}</table>{total}{notes}"


def _write_rows(run: LoggedRun, width: int) -> str:
    """A run's table rows: its numbers, and below them its hypothesis and next step."""
    name, changed, *numbers = map(html.escape, _list_cells(run))
    cells = f'<td style="{_LEFT}"><strong>{name}</strong></td>'
    cells += f'<td style="{_LEFT}">{changed}</td>'
    cells += "".join(
        f'<td style="{_LEFT};white-space:nowrap">{text}</td>' for text in numbers
    )
    prose = (("hypothesis", run.hypothesis), ("next step", run.next_step))
    below = "".join(
        f"<div><em>{label}:</em> {html.escape(text)}</div>"
        for label, text in prose if text
    )  # fmt: skip
    if below:
        below = f'<tr><td colspan="{width}" style="{_LEFT}">{below}</td></tr>'
    return f"<tbody><tr>{cells}</tr>{below}</tbody>"


def _list_cells(run: LoggedRun) -> tuple[str, ...]:
    """The texts of a run's cells, one for each column."""
    changed = "; ".join(f"{n}: {a} → {b}" for n, (a, b) in run.changed.items())
    gain = f"{_format_gain(run.difference)} ({run.against})" if run.difference else "–"
    reached = str(Interval(*run.bleu)) if run.bleu else f"stopped by {run.stopped}"
    if run.too_short:
        reached, gain = f"{reached} ({SHORT})", "–"
    return (
        run.name, changed or "–", reached, gain, f"{run.tokens:,}",
        f"{run.seconds:.0f}", str(run.seed),
    )  # fmt: skip


def curves(
    runs: Sequence[LoggedRun], inserter: float, sentences: tuple[int, int],
    number: str = "",
) -> None:  # fmt: skip
    """Show BLEU on dev over the target tokens seen, with one curve for each run.

    Runs without a useful curve, and any beyond six, are only named.

    Args:
        inserter: BLEU of the baseline `Insertion`, for a dotted line.
        sentences: the number of dev sentences for points during and after training.
    """
    drawable = [run for run in runs if run.curve and not run.too_short]
    left_out = [run.name for run in runs if run not in drawable]
    if surplus := drawable[_CURVES:]:
        left_out += [run.name for run in surplus]
    if not drawable:
        print("No curve to draw yet: " + names(left_out) + f" ({SHORT}).")
        return
    figure, axes = style.subplots(height=3.0, width=6.4)
    descriptions = []
    for i, run in enumerate(drawable[:_CURVES]):
        token_counts, values = zip(*run.curve, strict=True)
        axes.plot(
            [tokens / 1000 for tokens in token_counts], values, _MARKS[i],
            color=style.PALETTE[i], label=run.name,
        )  # fmt: skip
        points = (f"{y:.0f} after {x:,.0f}" for x, y in run.curve)
        descriptions.append(f"{run.name}: {', '.join(points)} target tokens")
    axes.axhline(inserter, **style.DOTTED)
    axes.set(xlabel="thousand target tokens seen", title="BLEU on dev")
    style.name_lines(axes)
    alt = f"{'; '.join(descriptions)}. The inserter has {inserter:.0f}."
    midway, end = sentences
    caption = (
        f"BLEU on dev over target tokens: on the way on {midway:,} sentences, so give "
        f"or take several points, and at the end on {end:,}. Dotted: the inserter."
    )
    if left_out:
        caption += f" Not drawn: {names(left_out)}."
    show(figure, alt, number, caption)


def differences(
    base: LoggedRun,
    gains: Sequence[tuple[LoggedRun, Interval]],
    sentences: int,
    log: RunLog,
    number: str = "",
) -> None:
    """Show the differences in BLEU from a run with their intervals, and describe each.

    ``gains`` are the other runs, each with its difference from ``base``; ``log``
    tells how much seeds matter.
    """
    short = [run.name for run in (base, *(r for r, _ in gains)) if run.too_short]
    clear = {run.name: gain for run, gain in gains if not run.too_short}
    if base.too_short or not clear:
        print(f"Nothing to compare yet: {names(short)} ({SHORT}).")
        return
    figure, axes = style.subplots(height=0.9 + 0.34 * len(clear), width=6.4)
    for y, gain in enumerate(clear.values()):
        axes.plot([gain.low, gain.high], [y, y], color=style.BLUE)
        axes.plot([gain.value], [y], "o", color=style.BLUE)
    axes.axvline(0, **style.DOTTED)
    seeds = {run.name: _seed_gap(run, base.name, log) for run, _ in gains}
    shaded = max((s for s in seeds.values() if s is not None), default=None)
    if shaded is not None:
        axes.axvspan(-shaded, shaded, color=style.HAIR, linewidth=0)
    axes.set(
        yticks=range(len(clear)), yticklabels=list(clear),
        ylim=(len(clear) - 0.5, -0.5), xlabel="difference in BLEU from " + base.name,
    )  # fmt: skip
    remarks = [
        f"{name} {describe_gain(gain, seeds[name])}" for name, gain in clear.items()
    ]
    caption = (
        f"Difference from {base.name} with its 95% interval: a paired bootstrap over "
        f"{sentences:,} sentences of dev. "
    )
    caption += (
        "A different seed can move it further." if shaded is None
        else f"Shaded: by how much two seeds differ, {shaded:.1f}."
    )  # fmt: skip
    if short:
        caption += f" Not drawn: {names(short)} ({SHORT})."
    show(figure, f"{'. '.join(remarks)}.", number, caption)
    print(*remarks, sep="\n")


def names(runs: Sequence[str]) -> str:
    """List the names of runs in a line, only the first five of many."""
    suffix = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
    return f"{', '.join(runs[:5]) or 'no run'}{suffix}"
