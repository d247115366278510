"""The judge process: it knows the correct answers and compares the student's.

For each check it draws cases, solves them, asks the sandbox for the student's
answers, and sends a verdict to the grading process (`handle.py`). Correct
answers never enter the sandbox.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from autograder.checks.check import without_stub
from autograder.checks.compare import collect_answers, judge_answers
from autograder.checks.exercise import Answers, Case, CheckResult, is_stub
from autograder.checks.panel import draw_pictures
from autograder.checks.renamed import ask_by_position
from autograder.checks.smallest import BRIEFLY, add_smallest
from autograder.course import ROOT
from autograder.course.errors import describe_fault
from autograder.grading.ipc import Connection, ConnectionLostError, Message
from autograder.grading.judge import reference_substitution
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.naming import name_mistake
from autograder.grading.judge.preparing import (
    PreparedCheck,
    find_exercise,
    preload,
    prepare_check,
)
from autograder.grading.judge.questioning import SandboxClient
from autograder.grading.judge.rendered import (
    evidence_of,
    render_verdict,
    undecided_verdict,
)
from autograder.grading.judge.verdict import RenderedVerdict
from autograder.sandbox import logs
from autograder.sandbox.launch import imported
from autograder.sandbox.meter import Meter

log = logging.getLogger(__name__)

_REPLY_SECONDS = 600.0  # for the grading process to take a reply
_FULL_THRESHOLD = 100  # garbage collections of the middle generation before a full one


def main() -> None:
    """Serve the grading process that has started this one."""
    control = socket.socket(fileno=int(sys.argv[1]))
    imported()
    with contextlib.suppress(ConnectionLostError):  # the grading process has ended
        Connection(control).send({"state": "started"}, _REPLY_SECONDS)
        serve(control)


def serve(control: socket.socket) -> None:
    """Serve exchanges until the control socket closes.

    Full garbage collections are made rare, because each would take 40 ms.
    """
    logs.name_process("judge")
    gc.set_threshold(*gc.get_threshold()[:2], _FULL_THRESHOLD)
    line = Connection(control)
    with contextlib.suppress(ConnectionLostError):
        while True:
            message, _ = line.receive(math.inf)
            if "preload" in message:
                preload(message["preload"])
            if "prepare" in message:  # not a late "over" of a decided check
                with logs.about(f"{message['exercise']} of {message['submission']}"):
                    _answer(message, line)


def _answer(message: Message, line: Connection) -> None:
    """Serve one exchange: prepare a check, question the sandbox, send the verdict."""
    names = {key: message[key] for key in ("id", "exercise", "submission")}
    request = message["prepare"]
    replaced, limits = request.pop("given"), Seconds(**request.pop("seconds"))
    with_evidence = request.pop("with_evidence")
    log.debug("asked with %s", request)
    check: PreparedCheck | Exception
    try:
        check = prepare_check(message["exercise"], request["own"], request["shared"])
        code = reference_substitution.solutions_code(replaced)
    except Exception as error:  # the judge must survive a broken exercise
        check, code = error, ""

    def say(state: str, **fields: object) -> None:
        line.send({**names, "state": state, **fields}, _REPLY_SECONDS)

    say("prepared", code=code)
    message, descriptors = line.receive(math.inf)
    started = time.monotonic()
    with socket.socket(fileno=descriptors[0]) as channel:
        meter, ticket = Meter(message["ask"]["supervisor"]), message["ask"]["ticket"]
        sandbox = SandboxClient(
            channel, ticket, meter, limits, line, lambda: say("ready")
        )
        if sandbox.await_ready():
            say("ready")
        draws = not replaced  # a second verdict shows no pictures
        verdicts = _verdicts(check, sandbox, names, draws, with_evidence)
        decided, continues = next(verdicts)
    seconds = round(time.monotonic() - started, 3)
    log.debug("decided in %s s: %s", seconds, decided.verdict)

    def tell(state: str, final: RenderedVerdict, continues: bool) -> None:
        """Send a verdict; ``continues`` says whether another one will follow."""
        verdict = final.verdict
        if replaced and verdict.decided != "person":
            final = reference_substitution.render_second_verdict(verdict, replaced)
        verdict = replace(final.verdict, seconds=seconds)
        say(state, verdict=verdict.to_json(), html=final.html,
            complete=sandbox.complete, hindered=sandbox.hindered, took=sandbox.took,
            more=continues, evidence=[case.to_json() for case in final.evidence],
        )  # fmt: skip

    tell("decided", decided, continues)
    for final, _ in verdicts:
        tell("named", final, False)


def _verdicts(
    check: PreparedCheck | Exception, sandbox: SandboxClient, names: Message,
    draws: bool, with_evidence: bool = False,
) -> Iterator[tuple[RenderedVerdict, bool]]:  # fmt: skip
    """Yield the verdict on a check and, if useful, another that names the mistake.

    Each comes with whether another one follows.

    Args:
        check: the check, or the error that prevented its preparation.
        names: the "exercise", and the id of the "submission".
        draws: whether to draw the pictures of the panel.
    """
    submission, images = names["submission"], dict[str, str]()
    try:
        if isinstance(check, Exception):
            raise check
        result = decide(check, sandbox)
        displayed = hide_stub(result)
        images = draw_pictures(displayed) if draws else {}
        results = displayed.results if with_evidence else ()
        final = render_verdict(displayed, submission, images)
        # A limit that only the search for the smallest case exceeded does not count.
        is_late = bool(sandbox.late) and displayed.mistake == sandbox.late
        if is_late:
            final = replace(final, verdict=replace(final.verdict, ended=sandbox.ended))
        final = replace(final, evidence=tuple(map(evidence_of, results)))
        is_final = displayed.passed or displayed.note or is_late
        continues = sandbox.heard and not is_final
    except Exception as error:  # a fault of ours, whatever the sandbox answered
        log.debug("not judged", exc_info=error)
        sandbox.release()
        fault = describe_fault(error, ROOT)
        exercise, continues = find_exercise(names["exercise"]), False
        final = undecided_verdict(exercise, submission, fault)
    yield final, continues
    if continues and isinstance(check, PreparedCheck):
        try:
            result = name_mistake(check.exercise, check.task, result)
            rendered = render_verdict(hide_stub(result), submission, images)
            final = replace(rendered, evidence=final.evidence)
        except Exception:  # the verdict stands without the mistake's name
            log.exception("the mistake was not named")
        yield final, False


def decide(check: PreparedCheck, sandbox: SandboxClient) -> CheckResult:
    """Ask the sandbox for its answers to all cases of a check, and judge them.

    An unsolved stub gets no hidden cases. If an answer is wrong, the smallest case
    that fails is looked for.
    """

    def ask(case: Case) -> Answers:
        return sandbox.ask(check.side(case), check.pack_inputs(case))

    answers = {case: ask(case) for case in check.exercise.cases}
    if not all(map(is_stub, answers.values())):
        answers |= collect_answers(check.exercise, check.fresh, ask)
        answers = ask_by_position(check.exercise, answers, ask)
    result, late = judge_answers(check.exercise, answers), sandbox.late
    if not sandbox.is_lost:  # a wrong result gets the smallest case that fails
        extended = add_smallest(
            result,
            check.exercise,
            lambda case: sandbox.ask(check.side(case), kind=BRIEFLY),
        )
        # If the sandbox was lost over the smallest cases, these do not count.
        result = result if sandbox.is_lost else extended
    sandbox.release()
    for case, answer in answers.items():
        log.debug("case %s: the sandbox said %s", case.name, answer)
    if not sandbox.heard:
        return replace(result, results=(), note="The check did not run.", points=0.0)
    return replace(result, mistake=late, sure=True) if late else result


def hide_stub(result: CheckResult) -> CheckResult:
    """Replace the cases of an unsolved stub by a friendly line; keep other results."""
    return result if result.note else without_stub(result)
