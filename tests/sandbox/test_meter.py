"""What a sandbox has used is what its processes did, on however busy a machine."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import LOOK_SECONDS, Budget, Meter, Span
from autograder.sandbox.processes import descendants, is_stopped
from tests.sandbox.conftest import linux

pytestmark = linux
ENDLESS = "while True: pass"
SLEEP = "import time; time.sleep(600)"
CHILDREN = f"""
import subprocess, sys
for _ in range(2):
    subprocess.Popen([sys.executable, "-c", {ENDLESS!r}])
{SLEEP}
"""
FOREVER = Budget(math.inf, math.inf)


@pytest.fixture
def sandbox() -> Iterator[Callable[[str], tuple[subprocess.Popen[bytes], Span]]]:
    """Starts a supervisor of one process that runs some code; a span on its meter."""
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> tuple[subprocess.Popen[bytes], Span]:
        supervisor = (
            "import os, subprocess, sys\n"
            "os.setpgid(0, 0)\n"
            f"subprocess.run([sys.executable, '-c', {code!r}])"
        )
        process = subprocess.Popen([sys.executable, "-c", supervisor])
        started.append(process)
        time.sleep(0.5)
        return process, Span(Meter(process.pid), FOREVER)

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def look(span: Span, until: Callable[[], bool]) -> None:
    while not until():  # pytest's own limit ends what never comes
        time.sleep(LOOK_SECONDS)
        span.exceeded_limit()


@pytest.mark.parametrize("code", [ENDLESS, CHILDREN])
def test_all_processes_that_compute_count(sandbox, code):
    _, span = sandbox(code)
    look(span, lambda: span.cpu > 0.5)


def test_sleep_uses_the_clock_and_no_cpu(sandbox):
    _, span = sandbox(SLEEP)
    look(span, lambda: span.clock > 1.0)
    assert span.cpu < 0.5


def test_the_clock_stands_still_while_the_sandbox_is_stopped(sandbox):
    process, span = sandbox(SLEEP)
    os.killpg(process.pid, signal.SIGSTOP)
    span.pause()
    for _ in range(4):
        time.sleep(LOOK_SECONDS)
        span.exceeded_limit()
    assert span.clock < LOOK_SECONDS and span.busy


def test_a_child_that_stops_itself_buys_no_time(sandbox):
    stop = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    child = (
        f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {stop!r}])"
    )
    process, span = sandbox(f"{child}\n{SLEEP}")
    look(span, lambda: any(map(is_stopped, descendants(process.pid))))
    span.pause()
    look(span, lambda: span.clock > 3 * LOOK_SECONDS)


def test_the_clock_of_one_that_wants_a_cpu_goes_no_faster_than_it_gets_one(sandbox):
    spans = [sandbox(ENDLESS)[1] for _ in range(3 * (os.cpu_count() or 1))]
    look(spans[0], lambda: spans[0].cpu > 0.5)
    # What was lost to the others is not counted: looks are a quarter of a second apart.
    assert spans[0].clock < 3 * spans[0].cpu + 2 * LOOK_SECONDS


def test_a_look_that_comes_late_counts_as_one_in_time(sandbox):
    _, span = sandbox(SLEEP)
    time.sleep(2.5)
    span.exceeded_limit()
    assert span.clock <= 1.01


def test_what_is_used_up_is_named(sandbox):
    _, span = sandbox(ENDLESS)
    little = span.next(Budget(cpu=0.1, clock=math.inf))
    look(span, lambda: little.exceeded_limit() is EndReason.CPU_TIME)
    short = span.next(Budget(cpu=math.inf, clock=0.1))
    look(span, lambda: short.exceeded_limit() is EndReason.TIME)
    assert not span.exceeded_limit()


def test_a_pause_takes_back_what_has_passed_since_the_last_look():
    """Who makes us pause now and then gains those moments, and no more."""
    meter = Meter(None)
    meter.look = lambda: None  # only what is added here has passed
    span = Span(meter, Budget(math.inf, 2.0))
    meter.clock += 1.5
    assert not span.exceeded_limit()
    meter.clock += 1.0
    span.pause()
    assert not span.exceeded_limit() and span.clock == pytest.approx(1.5)
    meter.clock += 1.0
    assert span.exceeded_limit() is EndReason.TIME
    span.give_back(1.0)
    assert not span.exceeded_limit()


def test_what_is_left_of_a_budget_is_what_no_span_has_used():
    meter = Meter(None)
    span = Span(meter, FOREVER)
    meter.cpu, meter.clock = 1.0, meter.clock + 3.0
    remaining = Budget(5.0, 10.0).without(span)
    assert remaining.cpu == 4.0 and remaining.clock == pytest.approx(7.0, abs=0.1)
    assert remaining.least(Budget(2.0, 8.0)) == Budget(2.0, remaining.clock)
    assert Budget(0.5, 9.0).exceeded_by(span) is EndReason.CPU_TIME
    assert Budget(2.0, 2.0).exceeded_by(span) is EndReason.TIME
