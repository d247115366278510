"""Attacks on what runs, and on what compares."""

from __future__ import annotations

from tests.attacks.attack import COMPARING, REWRITING, Attack, answer_both, cells_named
from tests.attacks.material import INSIDE, SEES, SOFTMAX, grade_id

SHELL = "ip = get_ipython()\n"

# fmt: off
PATCHING: list[Attack] = [
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
    Attack(REWRITING, "check redefined", answers=answer_both("""
class check:
    hidden = staticmethod(lambda *a: 5.0)
    def __new__(cls, *a): return 5.0
stable_softmax = who_sees_whom = None
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
        cell.update(cell_type="markdown") for cell in cells_named(nb, SOFTMAX, SEES)]),
    Attack(REWRITING, "tests edited", change=lambda nb: [
        cell.update(source="5.0") for cell in cells_named(nb, SOFTMAX, SEES)]),
    Attack(REWRITING, "tests deleted", change=lambda nb: nb.update(
        cells=[c for c in nb.cells if grade_id(c) not in (SOFTMAX, SEES, INSIDE)])),
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
def stable_softmax(x): return torch.zeros(x.shape)
def who_sees_whom(layer, x): return torch.ones(len(x), len(x))
""", answers={SOFTMAX: "pass", SEES: "pass"}),
    Attack(COMPARING, "tensor methods patched", before="""
import torch
torch.Tensor.__eq__ = torch.Tensor.__ne__ = lambda a, b: a == a if 0 else False
torch.Tensor.any = lambda *a, **k: False
torch.Tensor.all = lambda *a, **k: True
""", answers={
        SOFTMAX: "def stable_softmax(x): return torch.zeros(x.shape)",
        SEES: "def who_sees_whom(layer, x): return torch.zeros(len(x), len(x)) > 1"}),
    Attack(COMPARING, "always equal object", answers=answer_both("""
class Equal:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __bool__ = lambda self: True
    __hash__ = lambda self: 0
    __getattr__ = lambda self, name: self
    __call__ = lambda self, *a, **k: self
stable_softmax = who_sees_whom = Equal()
""")),
    Attack(COMPARING, "tensor subclass agrees", answers=answer_both("""
class Agreeing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        if getattr(f, "__name__", "") in ("isclose", "eq", "ne", "allclose"):
            return torch.ones((), dtype=torch.bool)
        return super().__torch_function__(f, types, args, kwargs or {})
def stable_softmax(x):
    return torch.zeros(x.shape).as_subclass(Agreeing)
def who_sees_whom(layer, x):
    return (torch.zeros(len(x), len(x)) > 1).as_subclass(Agreeing)
""")),
    Attack(COMPARING, "comparison replaced", before="""
from autograder.checks import check as c, compare
compare.same_values = lambda *a: True
compare._problem = lambda *a: ("", "")
compare._finding = lambda name, e, a, case: compare.Finding(name, "")
""", answers={SOFTMAX: "def stable_softmax(x): return x",
              SEES: "def who_sees_whom(layer, x): return torch.ones(len(x), len(x))"}),
    Attack(COMPARING, "verdict always full", before="""
from autograder.checks.exercise import CheckResult
CheckResult.__repr__ = lambda self: repr(float(self.max_points))
CheckResult.passed = property(lambda self: True)
"""),
    Attack(COMPARING, "references replaced", before="""
from autograder.checks import references
from dataclasses import replace
old = references.load
def load(*a, **k):
    return {n: replace(e, cases=tuple(replace(c, expected={}) for c in e.cases))
            for n, e in old(*a, **k).items()}
references.load = load
""", answers={SOFTMAX: "def stable_softmax(x): return x",
              SEES: "def who_sees_whom(layer, x): return torch.ones(len(x), len(x))"}),
    Attack(COMPARING, "arithmetic of points patched", before="""
import builtins
builtins.round = lambda *a: 5.0
builtins.sum = lambda *a: 9.0
from autograder.checks import compare
compare.compare = lambda case, answers: compare.CaseResult(case, answers, (), 1.0)
"""),
    Attack(COMPARING, "probe replaced", before="""
from autograder.checks import probes
probes.find("attention/softmax")
for name in list(probes._PROBES):
    probes._PROBES[name] = lambda f, inputs: dict(inputs)
from autograder.checks.exercise import CaseResult
CaseResult.passed = property(lambda self: True)
"""),
    Attack(COMPARING, "stub note removed", before="""
from autograder.checks import check as module, exercise
class Full(exercise.CheckResult):
    __repr__ = lambda self: "5.0"
type(module.check)._verdict = lambda *a: Full("x", "x", 5.0, 5.0)
type(module.check)._show = staticmethod(lambda verdict: verdict)
"""),
]
