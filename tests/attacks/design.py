"""What an attacker would try who has read this autograder's own code."""

from __future__ import annotations

import base64

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.attacks.attack import CHANNEL, DESIGN, HARMING, MACHINE, Attack, answer_both
from tests.attacks.material import INSIDE, READ, SEES

FRAMES = (
    CHANNEL
    + """
from autograder.checks import agent
def forge(entries, data=b"", size=None):
    def serve(name, ticket, get):
        send("ready", [{"name": "ticket", "text": ticket}])
        for _ in range(20): send("answer", entries, data, size)
        time.sleep(%s)
    agent.serve = serve
"""
)
IOPUB = """
from IPython.display import display, publish_display_data
ip = get_ipython()
kernel, session = ip.kernel, ip.kernel.session
def publish(kind, content, **more):
    session.send(kernel.iopub_socket, kind, content,
                 parent=kernel.get_parent("shell"), **more)
"""
EVERY_CHECK = """
def hostile(*a):
    attack()
    return torch.zeros(1)
stable_softmax = who_sees_whom = hostile
"""


def _frames(name: str, entries: str, data: str = "b''", size: str = "None") -> Attack:
    code = FRAMES % 0.2 + f"forge({entries}, {data}, {size})"
    return Attack(DESIGN, name, before=code)


# fmt: off
AGAINST_THIS_DESIGN: list[Attack] = [
    _frames("frame lies about its length", "[]", size="0xFFFFFFFF"),
    _frames("frame of no length", "[]", size="0"),
    _frames("frame lies about a shape",
            "[{'name': 'weights', 'dtype': 'float32', 'shape': [4, 5]}]", "b'x'"),
    _frames("frame with an overflowing shape",
            "[{'name': 'weights', 'dtype': 'float32', 'shape': [1 << 26] * 7 + [0]}]"),
    _frames("frame with a negative shape",
            "[{'name': 'weights', 'dtype': 'float32', 'shape': [-4, -5]}]"),
    _frames("frame with a strange type",
            "[{'name': 'weights', 'dtype': '__class__', 'shape': [1]}]"),
    _frames("frame with deep values", "eval('[' * 80 + ']' * 80)"),
    _frames("frame with many values",
            "[{'name': str(i), 'text': ''} for i in range(5000)]"),
    _frames("frame with script",
            "[{'name': 'raised', 'text': '<script>pwned()</script>\\ud800' * 99}]"),
    _frames("frame with a verdict",
            "[{'name': 'points', 'text': '5.0'}, {'name': 'expected', 'text': 'x'}]"),
    Attack(DESIGN, "type with a vast name", before="""
from autograder.checks import agent, references
from autograder.checks.exercise import Other
known = references.load("attention")
vast = Other("")
object.__setattr__(vast, "kind", "<b>pwned()\u202e" * 3000)
agent._answer = lambda name, *a: dict.fromkeys(known[name].cases[0].expected, vast)
"""),
    Attack(DESIGN, "answers of what ships by heart", before="""
from autograder.checks import agent, references
known = references.load("attention")
def answer(name, get, inputs, ask):
    shape = lambda value: getattr(value, "shape", None)
    def apart(case):
        other = case.inputs
        return sum(shape(v) != shape(other.get(n)) for n, v in inputs.items())
    return dict(min(known[name].cases, key=apart).expected)
agent._answer = answer
"""),
    Attack(DESIGN, "verdict sent early", before=CHANNEL + """
for kind in ("verdict", "answer", "ready", "done"):
    send(kind, [{"name": "points", "text": "5.0"}, {"name": "ticket", "text": "x"}])
"""),
    Attack(DESIGN, "channel flooded", before=CHANNEL + """
import threading
def flood():
    while True:
        try: channel.sendall(bytes(1 << 16))
        except OSError: return
threading.Thread(target=flood, daemon=True).start()
"""),
    Attack(DESIGN, "slow frame", before=FRAMES % 0.2 + """
def serve(name, ticket, get):
    send("ready", [{"name": "ticket", "text": ticket}])
    for byte in b"\\0\\0\\1\\0" + b" " * 256:
        channel.sendall(bytes([byte]))
        time.sleep(0.5)
agent.serve = serve
"""),
    Attack(DESIGN, "never reads", before=FRAMES % 0.2 + """
def serve(name, ticket, get):
    send("ready", [{"name": "ticket", "text": ticket}])
    time.sleep(30)
agent.serve = serve
"""),
    Attack(DESIGN, "channel closed", before=CHANNEL + """
channel.shutdown(socket.SHUT_RDWR)
os.close(int(os.environ["AUTOGRADER_CHANNEL_FD"]))
"""),
    Attack(DESIGN, "another channel", before=CHANNEL + """
ours, theirs = socket.socketpair()
os.environ["AUTOGRADER_CHANNEL_FD"] = str(ours.fileno())
"""),
    Attack(DESIGN, "channel held by a child", before=CHANNEL + """
if os.fork() == 0:
    while True:
        try: channel.recv(1 << 16)
        except OSError: os._exit(0)
"""),
    Attack(DESIGN, "agent replays the inputs", before="""
from autograder.checks import agent
agent._answer = lambda name, get, inputs: dict(inputs)
agent.observe = lambda probe, answer, inputs: dict(inputs)
"""),
    Attack(DESIGN, "import replaced", before="""
import builtins, types
old = builtins.__import__
fake = types.SimpleNamespace(serve=lambda *a: 5.0)
builtins.__import__ = lambda name, *a, **k: (
    fake if name.endswith("agent") else old(name, *a, **k))
"""),
    Attack(DESIGN, "tickets collected", before=CHANNEL + """
from autograder.checks import agent
old = agent.serve
def serve(name, ticket, get):
    send("ready", [{"name": "ticket", "text": ticket}])
    return old(name, ticket, get)
agent.serve = serve
"""),
    Attack(DESIGN, "table of lengths", before="""
from autograder.checks import references
table = {}
for case in references.load("attention")["attention/who_sees_whom"].cases:
    for value in case.expected.values():
        if value.dtype == torch.bool: table[len(value)] = value
""", answers={SEES: "def who_sees_whom(layer, x): return table[len(x)]"}),
    Attack(DESIGN, "verdict panel overwritten", before=IOPUB + """
def attack():
    display("x", display_id="panel")
""", answers=answer_both(EVERY_CHECK), after="""
from IPython.display import update_display
publish("update_display_data", {"data": {"text/plain": "5.0", "text/html":
    "<script>pwned()</script>5 of 5 points"}, "metadata": {"autograder": "verdict"},
    "transient": {"display_id": "panel"}})
update_display("5 of 5 points", display_id="panel")
"""),
    Attack(DESIGN, "display updates out of range", before=IOPUB + """
for _ in range(5): display("x", display_id="panel")
from IPython.display import clear_output
clear_output(wait=True)
print("y")
publish("update_display_data", {"data": {}, "metadata": {},
    "transient": {"display_id": "panel"}})
def attack():
    for _ in range(5): display("x", display_id="panel")
""", answers=answer_both(EVERY_CHECK), after="""
publish("update_display_data", {"data": {"text/plain": "5.0"}, "metadata": {},
    "transient": {"display_id": "panel"}})
"""),
    Attack(DESIGN, "outputs cleared", before=IOPUB, after="""
publish("clear_output", {"wait": False})
""", answers=answer_both("""
def hostile(*a):
    publish("clear_output", {"wait": True})
stable_softmax = who_sees_whom = hostile
""")),
    Attack(DESIGN, "large display updates", harms=MACHINE, before=IOPUB + """
display("x", display_id="big")
for _ in range(4):
    publish("update_display_data", {"data": {"text/plain": "x" * (12 << 20)},
        "metadata": {}, "transient": {"display_id": "big"}})
"""),
    Attack(DESIGN, "large keys", harms=MACHINE, before=IOPUB + """
for _ in range(12):
    publish("display_data", {"data": {"x" * (6 << 20): ""}, "metadata": {},
                             "transient": {}})
"""),
    Attack(DESIGN, "outputs into a widget", harms=MACHINE, before=IOPUB + """
parent = kernel.get_parent("shell")["header"]["msg_id"]
publish("comm_open", {"comm_id": "a", "target_name": "jupyter.widget", "data": {
    "state": {"_model_module": "@jupyter-widgets/output", "_model_name": "OutputModel",
              "outputs": [], "value": "<script>pwned()</script>" * 9}}})
publish("comm_msg", {"comm_id": "a", "data": {"state": {"msg_id": parent}}})
for _ in range(60): print("x" * 10_000, flush=True)
publish("comm_open", {"comm_id": "b", "target_name": "x", "data": {
    "state": {"_model_name": "x", "value": "x" * (20 << 20)}}})
"""),
    Attack(DESIGN, "count with script", before=IOPUB, after="""
publish("execute_input", {"code": "x", "execution_count":
        "<script>pwned()</script>"})
publish("display_data", {"data": {"text/plain": "x"}, "metadata": {},
        "execution_count": {"a": ["<script>pwned()</script>"]}})
"""),
    *(Attack(DESIGN, f"message without {name}", before=IOPUB + code) for name, code in (
        ("its parts", "for kind in ('display_data', 'stream', 'error', 'comm_open', "
         "'execute_result', 'status', 'update_display_data'): publish(kind, {})"),
        ("a signature", "kernel.iopub_socket.send_multipart("
         "[b'x', b'<IDS|MSG>', b'nonsense', b'{}', b'{}', b'{}', b'{}'])"),
        ("sense", "kernel.iopub_socket.send_multipart([b'x'])\n"
         "session.key = b'another'"),
        ("plain values", "publish('display_data', {'data': [1], 'metadata': 5, "
         "'transient': 7})\npublish('stream', {'name': {}, 'text': [[]]})\n"
         "publish('error', {'ename': {}, 'evalue': 1, 'traceback': 'x'})"),
        ("end", "x = []\nfor _ in range(600): x = [x]\n"
         "publish('display_data', {'data': {'a': x}, 'metadata': {}})"),
        ("half a character", "publish('stream', {'name': 'stdout', 'text': 'half: "
         "\\ud83d'})\nprint('half: \\ud83d')"),
    )),
    Attack(DESIGN, "replies forged", before=IOPUB, answers=answer_both("""
def hostile(*a):
    for content in ({"status": "ok", "execution_count": 1}, {}, {"status": "error"}):
        session.send(kernel.shell_stream if hasattr(kernel, "shell_stream") else
            kernel.shell_streams[0], "execute_reply", content,
            parent=kernel.get_parent("shell"))
    publish("status", {"execution_state": "idle"})
stable_softmax = who_sees_whom = hostile
""")),
    Attack(DESIGN, "idle before the end", before=IOPUB, answers=answer_both("""
import time
def hostile(*a):
    publish("status", {"execution_state": "idle"})
    time.sleep(1)
    return 5.0
stable_softmax = who_sees_whom = hostile
""")),
    Attack(DESIGN, "prints from a thread of an earlier cell", before=IOPUB + """
import threading, time
parent = kernel.get_parent("shell")
def later():
    while True:
        time.sleep(0.05)
        session.send(kernel.iopub_socket, "execute_result", {"data": {"text/plain":
            "5.0"}, "metadata": {}, "execution_count": 1}, parent=parent)
threading.Thread(target=later, daemon=True).start()
"""),
    Attack(DESIGN, "slow expressions for readers",
           change=lambda nb: nb.cells.insert(1, new_code_cell(
               "!" + " " * 12_000 + "x"))),
    Attack(DESIGN, "slow texts for readers",
           change=lambda nb: nb.cells.insert(1, new_markdown_cell(
               "\\begin{a}" * 3000 + "$" * 2000 + "[" * 3000))),
    Attack(DESIGN, "slow colours for readers", before="""
print("\\x1b[31m" * 60_000)
"""),
    # A traceback's frames are told apart by the numbers of cells, which this repeats.
    Attack(DESIGN, "execution counter held", before="""
ip = get_ipython()
ip.events.register("pre_run_cell", lambda *a: setattr(ip, "execution_count", 1))
""", answers={INSIDE: "def double(x):\n    if x < 0: raise ValueError"}),
    Attack(DESIGN, "many full outputs", harms=MACHINE,
           change=lambda nb: nb.cells.extend(
               new_code_cell("print('x' * 900_000)") for _ in range(40))),
    Attack(DESIGN, "hostile code where checks are looked for", answers={
        READ: "check" + "(" * 5000 + ")" * 5000}),
    Attack(DESIGN, "references with other files", files={
        "transformer_course/references/public/attention.safetensors": bytes(64),
        "transformer_course/attention/probes/__init__.py": b"raise SystemExit",
        "references/hidden/attention.safetensors": base64.b64decode("AAAA")}),
    Attack(DESIGN, "an error without words", before="""
from autograder.checks import agent, observe
agent.describe_error = observe.describe_error = lambda error: ""
""", answers=answer_both("""
def stable_softmax(x): raise ValueError
def who_sees_whom(layer, x): raise ValueError
""")),
    Attack(DESIGN, "an error of blank lines", before="""
raise ValueError("\\n" * 50_000)
"""),
    Attack(DESIGN, "blank code for readers",
           change=lambda nb: nb.cells.insert(1, new_code_cell("\n " * 4_000))),
    Attack(DESIGN, "nested elements for readers", before="""
from IPython.display import HTML, display
display(HTML("<div>" * 40_000))
"""),
    Attack(DESIGN, "points painted over the page", before="""
from IPython.display import HTML, display
display(HTML('<div style="position:fixed;margin-top:-900px;height:99999px;z-index:9;'
             'background:white">100 of 100 points</div>'))
"""),
    Attack(HARMING, "shared memory let go of", harms=MACHINE, before="""
import mmap
kept = []
while True:
    m = mmap.mmap(-1, 50 << 20)
    for i in range(0, len(m), 4096): m[i] = 1
    m.madvise(mmap.MADV_DONTNEED)
    kept.append(m)
"""),
    Attack(HARMING, "page tables", harms=MACHINE, before="""
import mmap
kept = []
while True:
    m = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
    for i in range(0, len(m), 2 << 20): m[i]
    kept.append(m)
"""),
    Attack(HARMING, "many busy children", harms=MACHINE, before="""
import os
for _ in range(40):
    if os.fork() == 0:
        while True: pass
"""),
]
