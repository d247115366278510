"""What a sandbox may answer, whatever was asked, and what is kept of it."""

import json
from collections.abc import Callable

import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from autograder.checks.compare import judge
from autograder.checks.exercise import Answers, Case, Other
from autograder.checks.naming import diagnose
from autograder.checks.panel import as_html
from autograder.grading.judge.judging import hide_stub
from autograder.grading.judge.preparing import PreparedCheck
from autograder.grading.judge.rendered import verdict_of
from autograder.grading.judge.verdict import Verdict


def run(examples: int) -> settings:
    return settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck)
    )


def keep_verdict(check: PreparedCheck, ask: Callable[[Case], Answers]) -> Verdict:
    """What is kept of a check with these answers, once our side has made them."""
    verdict = judge(check.exercise, check.exercise.cases, ask)
    diagnose(check.exercise, verdict.results)
    final = hide_stub(verdict)
    as_html(final).encode()
    record = verdict_of(final)
    json.dumps(record.to_json(), allow_nan=False).encode()
    assert 0.0 <= record.points <= 2 * record.max_points
    return record


DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip


@st.composite
def tensors(draw) -> torch.Tensor:
    """Any tensor that a message can hold, with anything in it."""
    shape = draw(st.lists(st.integers(0, 5), max_size=5))
    dtype = draw(st.sampled_from(DTYPES))
    fill = draw(st.sampled_from((0, 1, -1, 2**62, float("nan"), float("inf"), 1e300)))
    tensor = torch.full(shape, 0, dtype=dtype)
    if dtype.is_floating_point:
        return tensor + fill
    return (
        tensor
        if fill != fill or abs(fill) == float("inf")
        else _fill_integers(tensor, fill)
    )


def _fill_integers(tensor: torch.Tensor, fill: float) -> torch.Tensor:
    try:
        return tensor.fill_(int(fill))
    except (RuntimeError, OverflowError):
        return tensor


texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ("", "\n", "\r", "\x85", " ", "accepted", "reverses", "null", "{}")
    ),
    st.sampled_from(("[", '{"a":', "\n", "<div>", "é", "\x1b[", "*")).map(
        lambda piece: piece * (2_000 // len(piece))
    ),
    st.recursive(
        st.none() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=9,
    ).map(json.dumps),
)
values = st.one_of(tensors(), texts, st.builds(Other, st.text(max_size=9)))
