"""Points by aspect, in a sentence. Without PyTorch: who only reports needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.checks.language import _, marked

_WORDS = {
    "values": marked("values"),
    "masks": marked("masks"),
    "form": marked("form"),
    "calls": marked("repeated and special calls"),
    "learning": marked("gradients and start values"),
    "mode": marked("training and evaluation mode"),
    "errors": marked("promised errors"),
}
_LEAST = 0.005  # of points: what rounds to nothing is not lost


def by_aspect(aspects: Mapping[str, Sequence[float]]) -> str:
    """Where points were lost, in a sentence; those that weigh most come first.

    It is "" where the sum says as much: there is one aspect, or nothing was lost, or
    everything.
    """
    lost = {name: most - own for name, (own, most) in aspects.items()}
    named = [name for name in lost if lost[name] >= _LEAST]
    if len(aspects) < 2 or not named or not any(own for own, _ in aspects.values()):
        return ""
    named.sort(key=lambda name: (-lost[name], name))
    parts = [
        _("{lost} of {most} for {aspect}").format(
            lost=_number(lost[name]),
            most=_number(aspects[name][1]),
            aspect=_(_WORDS.get(name, name)),
        )
        for name in named
    ]
    return _("Points lost: {parts}.").format(parts=", ".join(parts))


def _number(points: float) -> str:
    return f"{round(points, 2):g}"
