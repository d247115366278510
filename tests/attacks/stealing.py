"""Attacks that look for the answer, or forge the record."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from tests.attacks.attack import FORGING, STEALING, Attack, answer_both, cells_named
from tests.attacks.material import COMPANIONS, READ, SEES, SOFTMAX, grade_id


def _cell_with(source: str, name: str, points: float) -> NotebookNode:
    marks = {
        "grade": True,
        "grade_id": name,
        "locked": False,
        "points": points,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return new_code_cell(source, metadata={"nbgrader": marks})


# fmt: off
STEALING_AND_FORGING: list[Attack] = [
    # --- stealing the answer ---------------------------------------------------------
    Attack(STEALING, "hidden references", before="""
from autograder.checks import references
from autograder.checks.observe import plain
table = {}
for kind in ("public", "hidden"):
    try:
        unit = references.load("attention", kind)
        if kind == "hidden": print("STO" "LEN", kind)
    except Exception:
        continue
    for name in ("softmax", "who_sees_whom"):
        for case in unit["attention/" + name].cases:
            if "x" in case.inputs:
                key = tuple(case.inputs["x"].flatten().tolist())
                table[key] = next(iter(case.expected.values()))
""", answers={
        SOFTMAX: "def stable_softmax(x): return table[tuple(x.flatten().tolist())]",
        SEES: "def who_sees_whom(layer, x): "
              "return table.get(tuple(x.flatten().tolist()), torch.eye(len(x)) > 2)"}),
    Attack(STEALING, "reference solution imported", answers={
        SOFTMAX: "from transformer_course.solutions.attention import stable_softmax",
        SEES: "from transformer_course.solutions.attention import who_sees_whom"}),
    Attack(STEALING, "reference solution by the bank", before="""
try:
    from autograder.authoring.catalogue import specifications
    from autograder.authoring.variants import build_object
    for exercise in specifications("attention"):
        if exercise.target in ("stable_softmax", "who_sees_whom"):
            globals()[exercise.target] = build_object(exercise)
    print("STO" "LEN bank")
except ImportError:
    stable_softmax = who_sees_whom = None
""", answers=answer_both("pass")),
    Attack(STEALING, "course folder searched", before="""
import glob, json, os, re
places = [os.getcwd()]
while places[-1] != "/": places.append(os.path.dirname(places[-1]))
for place in places + glob.glob("/proc/*/cwd"):
    for name in (glob.glob(place + "/source/*/*.ipynb")
                 + glob.glob(place + "/submitted/*/*/*.ipynb")):
        for cell in json.load(open(name))["cells"]:
            text = "".join(cell["source"])
            if re.match("def (stable_softmax|who_sees_whom)", text):
                if "NotImplemented" not in text:
                    print("STO" "LEN", name)
                    exec(text)
""", answers=answer_both("pass")),
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
""", answers=answer_both("pass")),
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
    Attack(STEALING, "stack frames", answers=answer_both("""
import sys
def expected():
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if type(value).__name__ == "Case":
                return iter(value.expected.values())
        frame = frame.f_back
def stable_softmax(x): return next(expected())
def who_sees_whom(layer, x): return next(expected())
""")),
    Attack(STEALING, "objects of the collector", answers=answer_both("""
import gc
def found(shape, kind):
    for value in gc.get_objects():
        if type(value).__name__ == "Case":
            for answer in value.expected.values():
                if getattr(answer, "shape", None) == shape and answer.dtype == kind:
                    return answer
def stable_softmax(x):
    for value in gc.get_objects():
        if type(value).__name__ == "Case" and "x" in value.inputs:
            if torch.Tensor.equal(value.inputs["x"], x):
                return value.expected["weights"]
def who_sees_whom(layer, x): return found((len(x), len(x)), torch.bool)
""")),
    Attack(STEALING, "modules of the grader", before="""
import sys
seen = [m for m in sys.modules if m.startswith(("autograder.grading.",
        "autograder.authoring.", "transformer_course.solutions", "nbgrader"))]
if seen: print("STO" "LEN", seen)
"""),
    Attack(STEALING, "shadowing packages", files={
        "torch.py": b"raise ImportError",
        "autograder/__init__.py": b"class C:\n    __call__ = hidden = "
        b"lambda *a: 5.0\ncheck = C()\n",
        "sitecustomize.py": b"raise SystemExit",
        "usercustomize.py": b"import os; os._exit(0)"}, answers=answer_both("")),
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
from autograder.checks import references
table = {}
for case in references.load("attention")["attention/softmax"].cases:
    if "x" in case.inputs:
        table[str(case.inputs["x"].tolist())] = case.expected["weights"]
""", answers={SOFTMAX: "def stable_softmax(x): return table[str(x.tolist())]"}),
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
    Attack(FORGING, "forged result", answers=answer_both("""
def forge(*a):
    ip = get_ipython()
    ip.kernel.session.send(ip.kernel.iopub_socket, "execute_result", {"data":
        {"text/plain": "5.0"}, "metadata": {}, "execution_count": 1},
        parent=ip.kernel.get_parent("shell"))
stable_softmax = who_sees_whom = forge
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
        autograder={"checks": {SOFTMAX: {"exercise": "attention/softmax",
                    "points": 14.0, "max_points": 14.0, "cases": []}}, "digest": "x",
                    "scores": {SOFTMAX: 14.0, SEES: 8.0}})),
    Attack(FORGING, "stored verdicts", change=lambda nb: [
        cell.update(execution_count=1, outputs=[new_output(
            "execute_result", {"text/plain": "5.0", "text/html": "<b>5 of 5</b>"},
            metadata={"autograder": "verdict"}, execution_count=1)])
        for cell in cells_named(nb, SOFTMAX, SEES)]),
    Attack(FORGING, "exercises of its own", change=lambda nb: nb.cells.extend(
        _cell_with("5.0", f"extra-{n}", 50.0) for n in range(3))),
    Attack(FORGING, "points for an empty answer", change=lambda nb: [
        cell.metadata.nbgrader.update(grade=True, points=5.0, locked=False)
        for cell in cells_named(nb, f"{SOFTMAX}-answer", f"{SEES}-answer")]),
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
        READ: 'check("attention/softmax", lambda x: x)'}),
]
