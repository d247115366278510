"""An error costs once: what follows is tried again with a right earlier part."""

import inspect
import re
import shutil
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.authoring.catalogue import specification
from autograder.authoring.variants import solution_source
from autograder.checks.exercise import CheckResult
from autograder.course import ROOT, units
from autograder.grading import converter
from autograder.grading.cells.submission_files import earlier_solutions
from autograder.grading.checks import reference_metadata
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.checks.checking import Checks
from autograder.grading.checks.error_carried_forward import (
    find_answers,
    find_prerequisites,
    find_uses,
    find_withheld_keys,
    is_better,
    titles,
)
from autograder.grading.judge import reference_substitution
from autograder.grading.judge.rendered import verdict_of
from autograder.grading.judge.verdict import Verdict
from tests.grading import judged_course as judged
from tests.grading.judged_course import checked
from tests.tiny_course import answer_cell, cell, graded, make_course, source_of
from transformer_course.solutions import since_2017

ATTENTION = """def scaled_dot_product_attention(q, k, v, mask=None):
    return attend(q, k, v, mask)"""
FIRST, CROSS = "attention/scaled_dot_product", "attention/cross_attention"
UNSCALED = solution_source(specification(FIRST)).replace(" / math.sqrt(q.size(-1))", "")
RIGHT = solution_source(specification(CROSS))
CALL = "        return scaled_dot_product_attention(q, k, v, mask)"
TELLS = RIGHT.replace(
    "class CrossAttention",
    "import inspect\n"
    "try: print('SEEN', inspect.getsource(scaled_dot_product_attention)[:9])\n"
    "except Exception: pass\n\n\n"
    "class CrossAttention",
).replace(
    CALL,
    f"        print('SECRET', scaled_dot_product_attention.__code__.co_consts)\n{CALL}",
)
# Right without a mask; with one, an error's words carry what this sandbox knows.
RAISES = RIGHT.replace(
    CALL,
    "        if mask is not None:\n"
    "            told = scaled_dot_product_attention.__code__.co_names\n"
    f"            raise ValueError('.'.join(told))\n{CALL}",
)
LOSS = "sequence_reversal/masked_loss"
COUNTS_PADS = solution_source(specification(LOSS)).replace(", ignore_index=PAD", "")
# Right where the loss is, and all else the student's own.
UNSURE = "sequence_reversal/perplexity"
PERPLEXITY = solution_source(specification(UNSURE)).replace(
    "    total, count = 0.0, 0",
    "    assert 'sqrt' not in scaled_dot_product_attention.__code__.co_names\n"
    "    total, count = 0.0, 0",
)
# Rolls dice that nobody has seeded.
LUCKY = RIGHT.replace(
    "class CrossAttention",
    "import random\n"
    "import numpy\n"
    "print('dice', [random.random(), numpy.random.rand(), torch.rand(1).item()])"
    "\n\n\n"
    "class CrossAttention",
)
SOLUTIONS = earlier_solutions("08_and_all_before")
BASE, DERIVED = "since_2017/attention_layer", "since_2017/language_model"
# Its blocks hold a class of its own, whose base is the earlier exercise's.
SUBCLASS = "class Layer(CausalAttention):\n    pass\n\n\n" + "\n\n".join([
    inspect.getsource(since_2017.Block).replace("CausalAttention(", "Layer("),
    solution_source(specification(DERIVED)),
])  # fmt: skip
BLANK = "class CausalAttention(nn.Module):\n    pass"


def solution_cell(exercise, grade_id):
    """The cell that an exercise is solved in, as the course's source has it."""
    code = solution_source(specification(exercise))
    text = f"### BEGIN SOLUTION\n{code}\n### END SOLUTION"
    return graded(new_code_cell(text), grade_id, None, True)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A course of two pairs of exercises, whose second builds on the first."""
    root = tmp_path_factory.mktemp("carrying")
    cells = [
        new_code_cell(
            "import math, torch, torch.nn.functional as F\n"
            "from jaxtyping import Bool, Float, Int\nfrom torch import Tensor, nn\n"
            "from collections.abc import Iterable\nfrom autograder import check",
            id="imports",
        ),
        solution_cell(FIRST, "attention-answer"),
        checked(FIRST, "scaled_dot_product_attention", "attention", 28.0),
        solution_cell(CROSS, "cross-answer"),
        checked(CROSS, "CrossAttention", "cross", 20.0),
        new_code_cell("PAD = 0", id="pad"),
        solution_cell(LOSS, "loss-answer"),
        checked(LOSS, "masked_loss", "loss", 9.0),
        solution_cell(UNSURE, "unsure-answer"),
        checked(UNSURE, "perplexity", "unsure", 5.0),
        new_code_cell(
            "from transformer_course.solutions import attention\n"
            "from transformer_course.solutions import multi_head_attention as mha\n"
            "from transformer_course.solutions.since_2017 import (\n"
            "    Block, RMSNorm, SwiGLU, grouped_attention, rotary_angles, rotate\n)",
            id="earlier",
        ),
        solution_cell(BASE, "base-answer"),
        checked(BASE, "CausalAttention", "base", 12.0),
        solution_cell(DERIVED, "derived-answer"),
        checked(DERIVED, "LanguageModel", "derived", 8.0),
    ]
    make_course(root, judged.UNIT, source_of(cells))
    hand_in(root, "eve", UNSCALED, TELLS)
    hand_in(root, "ivy", UNSCALED, RAISES)
    for student in ("luc", "lea"):
        hand_in(root, student, UNSCALED, LUCKY + f"\nprint('{student}')")
    stub = ATTENTION.replace(
        "return attend(q, k, v, mask)", "raise NotImplementedError"
    )
    hand_in(root, "sam", stub, RIGHT)
    hand_in(root, "kim", UNSCALED, f"{RIGHT}\nprint('here')", COUNTS_PADS, PERPLEXITY)
    hand_in(root, "tim", UNSCALED, RIGHT, base=BLANK, derived=SUBCLASS)
    assert converter.install()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(converter, "rehearse", lambda *_: None)
        assert judged.autograde(root, readable=SOLUTIONS)["success"]
    return root


def hand_in(root, student, attention, cross, loss=None, unsure=None, **further):
    answers = {"attention": attention, "cross": cross, "loss": loss, "unsure": unsure}
    codes = {f"{n}-answer": code for n, code in (answers | further).items() if code}
    judged.submit(root, student, codes)


def records(root, student):
    return graded_notebook(root, student).metadata.autograder["checks"]


def graded_notebook(root, student):
    path = root / "autograded" / student / judged.UNIT / f"{judged.UNIT}.ipynb"
    return nbformat.read(path, as_version=4)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")


def test_a_right_exercise_earns_its_points_after_a_wrong_one(pristine):
    checks = records(pristine, "kim")
    assert checks["attention"]["points"] < 28.0
    assert checks["cross"]["points"] == 20.0
    assert checks["cross"]["given"] == [FIRST]
    assert "given a right version of: Scaled dot-product" in checks["cross"]["note"]
    assert "given a right version" in judged.outputs(pristine, "kim", "cross")


def test_a_right_exercise_earns_its_points_after_one_that_is_not_solved(pristine):
    checks = records(pristine, "sam")
    assert checks["attention"]["note"].startswith("Not solved yet")
    assert checks["cross"]["points"] == 20.0
    assert checks["cross"]["given"] == [FIRST]


def test_a_right_class_earns_its_points_on_a_base_that_is_not_solved(pristine):
    checks = records(pristine, "tim")
    assert checks["base"]["points"] == 0.0
    assert checks["derived"]["points"] == 8.0 and checks["derived"]["given"] == [BASE]


@pytest.fixture(scope="module")
def second_run(pristine, tmp_path_factory):
    """Two of them graded once more, without second tries."""
    root = tmp_path_factory.mktemp("again") / "course"
    ignored = shutil.ignore_patterns("autograded", "eve", "ivy", "sam", "kim", "tim")
    shutil.copytree(pristine, root, ignore=ignored)
    limits = {"carry_errors": False, "readable": SOLUTIONS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(converter, "rehearse", lambda *_: None)
        assert judged.autograde(root, **limits)["success"]
    return root


def test_each_sandbox_of_a_submission_rolls_the_same_dice(pristine, second_run):
    """Else a cheap mistake in what comes before would buy a second chance."""

    def dice(root, student):
        outputs = judged.outputs(root, student, "cross-answer")
        return re.findall(r"dice \[[^]]+\]", outputs)

    assert dice(pristine, "luc") == dice(second_run, "luc") != dice(second_run, "lea")
    assert (
        dice(pristine, "lea") == dice(second_run, "lea")
        and len(dice(second_run, "lea")) == 1
    )


def test_a_setting_switches_it_off(pristine, second_run):
    assert records(pristine, "luc")["cross"]["given"] == [FIRST]
    verdict = records(second_run, "luc")["cross"]
    assert verdict["points"] < 20.0 and not verdict["given"]


def test_nothing_but_the_verdict_leaves_the_second_sandbox(pristine):
    path = pristine / "autograded" / "eve" / judged.UNIT / f"{judged.UNIT}.ipynb"
    course = solution_source(specification(FIRST))
    scaling = "math.sqrt(q.size(-1))"  # which eve's own version lacks
    assert scaling in course and scaling not in path.read_text()


def test_a_mistake_costs_and_what_its_answer_says_stays_in_the_second_sandbox(pristine):
    verdict = records(pristine, "ivy")["cross"]
    assert verdict["given"] and 0.0 < verdict["points"] < 20.0
    names: dict = {}
    exec(reference_substitution.solutions_code([FIRST]), names)
    words = ".".join(names["scaled_dot_product_attention"].__code__.co_names)
    path = pristine / "autograded" / "ivy" / judged.UNIT / f"{judged.UNIT}.ipynb"
    assert "sqrt" in words and words not in path.read_text()
    outputs = judged.outputs(pristine, "ivy", "cross")
    assert "ValueError" not in outputs and "course&#x27;s version" in outputs


def test_one_more_sandbox_serves_all_second_tries_and_what_cells_have_shown_stays(
    pristine,
):
    notebook = graded_notebook(pristine, "kim")
    metadata = notebook.metadata.autograder
    unsure = metadata["checks"]["unsure"]
    assert (unsure["given"], unsure["points"]) == ([LOSS], 5.0)
    assert metadata["sandbox"]["sandboxes"] == 2
    outputs = cell(notebook, "cross-answer").outputs
    assert [output["text"] for output in outputs] == ["here\n"]


class Sandboxes:
    """Stands for the sandboxes of a notebook, and says what is asked of them."""

    def __init__(self):
        self.did = []

    def run_again(self, start, end):
        self.did.append((start, end))

    def leave_sandbox(self):
        self.did.append("fresh")

    def has_sandbox(self, index):
        return True


def test_the_sandbox_of_one_second_try_goes_on_to_the_next():
    sandboxes = Sandboxes()
    checks = Checks(sandboxes, None, "ann", "key", 20.0)
    assert checks._has_second_sandbox(3) and checks._has_second_sandbox(7)
    assert sandboxes.did == ["fresh", (3, 7)]


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_none_is_tried_again_where_its_own_solution_has_been(unit):
    path = ROOT / "source" / unit.label / f"{unit.label}.ipynb"
    checks = map(check_cell, nbformat.read(path, as_version=4).cells)
    order = [check.exercise for check in checks if check]
    exercises = reference_metadata.entries(unit.name)
    assert sorted(order) == sorted(exercises)
    for number, exercise in enumerate(order):
        assert {*exercises[exercise]["builds_on"]} <= {*order[:number]}


def test_the_second_verdict_counts_if_it_earns_more_or_knows_the_mistake():
    def record(points: float, mistake: str = "") -> Verdict:
        return Verdict("u/e", points, 10.0, mistake)

    assert is_better(record(2.0), record(1.0, "unscaled"))
    assert is_better(record(1.0, "unscaled"), record(1.0))
    assert not is_better(record(1.0), record(1.0))
    assert not is_better(record(1.0, "one"), record(1.0, "another"))
    assert not is_better(record(0.5, "unscaled"), record(1.0))


def test_what_an_exercise_builds_on_is_known_through_others():
    unit = "multi_head_attention"
    failed = [f"{unit}/list_of_heads", f"{unit}/split_heads"]
    assert find_prerequisites(f"{unit}/multi_head_attention", failed, {}) == failed[1:]


def test_what_was_made_of_a_replaced_exercise_is_run_again_in_its_order():
    unit = "since_2017"
    cells = [
        answer_cell("class RMSNorm: ...", "a"),
        checked(f"{unit}/rms_norm", "RMSNorm", "1", 1.0),
        answer_cell("class CausalAttention: ...", "b"),
        checked(f"{unit}/attention_layer", "CausalAttention", "2", 1.0),
        answer_cell("class LanguageModel: ...", "c"),
        new_code_cell("look_at(LanguageModel)  # nobody's answer"),
        checked(f"{unit}/language_model", "LanguageModel", "3", 1.0),
        answer_cell("def trained_model(): ...", "d"),
        checked(f"{unit}/trained_model", "trained_model", "4", 1.0),
    ]

    def rerun(exercise, *replaced):
        names = [f"{unit}/{name}" for name in replaced]
        return [
            answer.split()[1].rstrip("():")
            for answer in find_answers(cells, f"{unit}/{exercise}", names, {})
        ]

    reruns = ["LanguageModel", "trained_model"]
    assert rerun("language_model", "attention_layer") == ["LanguageModel"]
    assert rerun("trained_model", "attention_layer") == reruns
    assert rerun("trained_model", "attention_layer", "language_model") == reruns[1:]


def test_an_exercise_builds_on_what_the_students_answer_names():
    unit = "positional_encoding"
    clinic = "def assert_sinusoidal(table):\n    right = sinusoid(places, d_model)"
    cells = [
        answer_cell("def table_by_loops(): ...  # later: sinusoid", "a"),
        checked(f"{unit}/table_by_loops", "table_by_loops", "1", 1.0),
        answer_cell("def sinusoid(p):\n    return table_by_loops(9)[p]", "b"),
        checked(f"{unit}/sinusoid", "sinusoid", "2", 1.0),
        new_code_cell("print(module)  # nobody's answer"),
        answer_cell(clinic, "c"),
        checked(f"{unit}/bug_clinic", "assert_sinusoidal", "3", 1.0),
    ]
    uses = find_uses(cells)
    assert uses == {
        f"{unit}/table_by_loops": [],
        f"{unit}/sinusoid": [f"{unit}/table_by_loops"],
        f"{unit}/bug_clinic": [f"{unit}/sinusoid"],
    }
    failed = [f"{unit}/table_by_loops", f"{unit}/sinusoid", f"{unit}/module"]
    assert find_prerequisites(f"{unit}/bug_clinic", failed, uses) == failed[:2]
    assert find_prerequisites(f"{unit}/bug_clinic", failed, {}) == []


@pytest.mark.parametrize(
    ("name", "counts"), [("positional_encoding/bug_clinic", False), (CROSS, True)]
)
def test_a_second_try_at_a_clinic_counts_as_a_whole_only(name, counts):
    def second_verdict(points):
        earned = verdict_of(CheckResult(name, "A title", points, 8.0), "somebody")
        names = [FIRST]
        return reference_substitution.render_second_verdict(earned, names).verdict

    assert second_verdict(8.0).points == 8.0
    assert second_verdict(7.2).points == (7.2 if counts else 0.0)


def test_a_key_is_withheld_unless_most_of_it_is_solved():
    unit = "positional_encoding"

    def failed(points):
        record = Verdict(f"{unit}/table_by_loops", points, 10.0)
        return {record.exercise: record}

    key = f"{unit}/table_by_loops"
    for exercise in ("sinusoid", "shift_matrix", "bug_clinic"):
        assert find_withheld_keys(f"{unit}/{exercise}", failed(4.9)) == [key]
        assert find_withheld_keys(f"{unit}/{exercise}", failed(5.0)) == []
    assert find_withheld_keys(f"{unit}/module", failed(0.0)) == []
    assert titles([key]) == "The sinusoid table, by loops"


def test_the_courses_version_brings_its_imports():
    code = reference_substitution.solutions_code([FIRST])
    names: dict = {}
    exec(code, names)
    assert callable(names["scaled_dot_product_attention"])
    assert reference_substitution.solutions_code([]) == ""
