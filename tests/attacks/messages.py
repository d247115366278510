"""Attacks by messages of the kernel, by values that are two things, and by idling."""

from __future__ import annotations

import json

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tests.attacks.attack import CHANNEL, DESIGN, HARMING, MACHINE, Attack
from tests.attacks.design import IOPUB


def _answers(values: str) -> str:
    """Code of a sandbox that gives the same answer to every question."""
    return (
        CHANNEL
        + f"""
from autograder.checks import agent
def serve(name, ticket, get):
    agent.send(channel, f"ready {{ticket}}")
    for number in range(200):
        if agent.receive(channel)[0].startswith("done"): return
        send(f"answer {{ticket}} {{number}}", {values})
agent.serve = serve
"""
    )


def _odd_headings(data: bytes) -> bytes:
    notebook = json.loads(data)
    for level in (1.0, 1e308, -1, True, None, [], {}, "1"):
        cell = {"cell_type": "heading", "level": level, "source": "x", "metadata": {}}
        notebook["cells"].insert(1, cell)
    return json.dumps(notebook).encode()


def _twice(data: bytes) -> bytes:
    """Each cell says twice what it is: first an answer, then something else."""
    text = data.replace(b'"cell_type": "code"', b'"cell_type": [], "cell_type": "code"')
    return text.replace(b'"metadata": {', b'"metadata": NaN, "metadata": {')


def _replies(error: str, cells: int = 0, status: str = "error") -> dict:
    """A sandbox whose every reply is the same, like an error that it has not shown."""

    def longer(notebook: NotebookNode) -> None:
        notebook.cells += [new_code_cell("1") for _ in range(cells)]

    before = f"""
import json
error, send = {{"status": "{status}", {error}}}, session.send
def sent(stream, kind, content=None, *rest, **more):
    found = kind if isinstance(kind, str) else kind.get("msg_type")
    return send(stream, kind, error if found == "execute_reply" else content,
                *rest, **more)
session.send, session.pack = sent, lambda value: json.dumps(value, default=str).encode()
"""
    return {"before": IOPUB + before, "change": longer}


# fmt: off
MESSAGES: list[Attack] = [
    Attack(DESIGN, "a text that is none", before=_answers(
        "[{'name': 'scores', 'dtype': 'float32', 'shape': [0], 'text': 5}]")),
    Attack(DESIGN, "a text and another thing", before=_answers(
        "[{'name': 'scores', 'text': '5.0', 'other': None}]")),
    Attack(DESIGN, "headings of odd levels", data=_odd_headings),
    Attack(DESIGN, "keys twice and no numbers", data=_twice),
    Attack(DESIGN, "dates of no calendar", before=IOPUB + """
for date in ("0000-00-00T00:00:00", "2020-01-01T00:00:00+99:99", "\\u0662" * 4
             + "-01-01T00:00:00", "9999-12-31T23:59:59-23:59"):
    header = session.msg_header("stream") | {"date": date}
    session.send(kernel.iopub_socket, session.msg(
        "stream", {"name": "stdout", "text": "x"}, header=header,
        parent=kernel.get_parent("shell")))
"""),
    Attack(DESIGN, "the same message again", before=IOPUB + """
parent = kernel.get_parent("shell")
message = session.msg("status", {"execution_state": "idle"}, parent=parent)
for _ in range(3): session.send(kernel.iopub_socket, message, parent=parent)
"""),
    Attack(DESIGN, "parents of another kind", before=IOPUB + """
for parent in ([], "x", 5, {"header": []}, {"header": {"msg_id": [[]]}}):
    try: session.send(kernel.iopub_socket, session.msg("status",
        {"execution_state": "idle"}, header={**session.msg_header("status"),
        "version": parent}, parent=kernel.get_parent("shell")))
    except Exception as error: print(error)
"""),
    Attack(DESIGN, "questions on every channel", before=IOPUB + """
asked = {"prompt": "Your password? ", "password": True}
for name in ("stdin_socket", "control_stream", "shell_stream", "iopub_socket"):
    for kind in ("input_request", "shutdown_reply", "kernel_info_reply", "comm_info"):
        try:
            for _ in range(300):
                session.send(getattr(kernel, name), kind, asked,
                             parent=kernel.get_parent("shell"))
        except Exception as error: print(name, error)
"""),
    Attack(DESIGN, "errors of odd kinds in replies", **_replies(
        "'ename': {'a': [1]}, 'evalue': [None], 'traceback': 5")),
    Attack(DESIGN, "errors that are half a character", **_replies(
        "'ename': '\\ud800', 'evalue': float('nan'), 'traceback': '\\ud800'")),
    Attack(DESIGN, "numbers of cells that are none", **_replies(
        "'execution_count': -(10 ** 4000)", status="ok")),
    Attack(HARMING, "huge errors in replies", harms=MACHINE, **_replies(
        "'ename': 'x' * 3_900_000, 'evalue': '', 'traceback': ['x']", cells=40)),
    Attack(HARMING, "comms without end", harms=MACHINE, before=IOPUB + """
for n in range(20_000):
    publish("comm_open", {"comm_id": str(n), "target_name": "x" * 99, "data": {}})
"""),
    Attack(HARMING, "idle among its own threads", harms=MACHINE, before="""
import os, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
try: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
except OSError as error: print(error)
os.nice(19)
def idle():
    while True: time.sleep(0.0001)
for _ in range(30): threading.Thread(target=idle, daemon=True).start()
time.sleep(3600)
"""),
]
