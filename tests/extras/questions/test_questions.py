"""Questions about an answer: several kinds, one correct option, decided by running."""

import ast
import json
import re
from dataclasses import replace

import pytest
import torch

from autograder.authoring.catalogue import specification
from autograder.authoring.variants import namespace, run_source
from autograder.checks.probes import find
from autograder.checks.references import load
from autograder.checks.watched_calls import CallWatch
from autograder.course import units
from autograder.extras.questions.asking import result_names
from autograder.extras.questions.edits import edits
from autograder.extras.questions.listing import NotListedError, listing
from autograder.extras.questions.notes import insert_notes
from autograder.extras.questions.observations import (
    MARK,
    EditOutcome,
    NothingObservedError,
    Seen,
    read,
)
from autograder.extras.questions.question import chosen
from autograder.extras.questions.statements import after_edit, other_shapes
from tests.extras.questions.questioned import SOFTMAX, Questioned, ask, choice, of_bank

CAUSAL = """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
"""


@pytest.fixture(scope="module")
def softmax() -> Questioned:
    return ask(specification("attention/softmax"), SOFTMAX)


@pytest.mark.long
@pytest.mark.slow
def test_nine_in_ten_of_the_bank_s_solutions_get_three_questions():
    answers = [answer for unit in units() for answer in of_bank(unit.name)]
    asked_about = {answer.specification.name.partition("/")[0] for answer in answers}
    assert asked_about == {unit.name for unit in units()}
    failing = [answer.name for answer in answers if not answer.is_enough]
    assert len(failing) <= 0.1 * len(answers), failing
    of_one_kind = [answer.name for answer in answers if not answer.is_varied]
    assert len(of_one_kind) <= 0.15 * len(answers), of_one_kind


# --- exactly one is correct ----------------------------------------------------------


def _parts(result) -> list:
    return list(result) if isinstance(result, tuple) else [result]


def _sums(value: torch.Tensor, dim: int) -> bool:
    return value.dim() >= -dim and bool(((value.sum(dim) - 1).abs() < 1e-3).all())


# A statement on a named part as this test reads it, by what it says.
READINGS = {
    r"The rows of .* no longer sum to 1": lambda old, new: not _sums(new, -1),
    r".* no longer sums to 1 along its last": lambda old, new: not _sums(new, -1),
    r".* now sums to 1 along its .* and no longer": lambda old, new: (
        _sums(new, -2) and not _sums(new, -1)
    ),
    r"Some entries of .* become NaN": lambda old, new: bool(new.isnan().any()),
    r"The last two dimensions of .* are swapped": lambda old, new: (
        old.mT.shape == new.shape and torch.allclose(old.mT, new)
    ),
}


def _is_true(text: str, before, after, names: list[str]) -> bool | None:
    """Whether an option is true of two results; None for one not read here."""
    if isinstance(after, Exception):
        return text == "It stops with an error."
    pairs = list(zip(_parts(before), _parts(after), strict=False))
    if text == "It stops with an error.":
        return False
    if text == "Nothing: it returns the same values.":
        return all(o.shape == n.shape and torch.allclose(o, n) for o, n in pairs)
    of_shape = re.fullmatch(r"(.*) now has the shape `(.*)`\.", text)
    for name, (old, new) in zip(names, pairs, strict=False):
        if of_shape and of_shape[1].lower() == name.lower():
            return tuple(new.shape) == ast.literal_eval(of_shape[2])
        for pattern, holds in READINGS.items():
            if name in text.lower() and re.match(pattern, text):
                return holds(old, new)
    return None


def _call_with(function, arguments: dict):
    torch.manual_seed(0)
    copies = {n: v.clone() if torch.is_tensor(v) else v for n, v in arguments.items()}
    try:
        return function(**copies)
    except Exception as error:
        return error


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["attention", "multi_head_attention"])
def test_no_distractor_is_shown_to_be_correct_by_calling_the_code_here(unit):
    """Independent of the observations: the code is called, and each option is read."""
    read_options = 0
    for answer in of_bank(unit):
        if answer.listing.method:
            continue  # functions can be called with what they were given, and no more
        spec = answer.specification
        stored = load(unit, "public", spec.name)[spec.name]
        cases = {case.title: case for case in stored.cases}
        by_says = {edit.instruction: edit for edit in answer.edits}

        def run_edited(code, spec=spec):
            return run_source(code, namespace(spec), "<tried>")[spec.target]

        base = run_edited(answer.listing.source)
        watch = CallWatch("", 5, False, 5.0)
        case = cases[answer.seen[0].title]
        for call in watch.of(find(spec.name), base, case.inputs):
            shapes = [list(getattr(v, "shape", ())) for v in call.arguments.values()]
            if shapes == [list(v.shape) for _, v in answer.seen[0].call]:
                break
        before = _call_with(base, call.arguments)
        parts = len(_parts(before))
        for question in answer.found:
            if question.kind != "change" or not torch.is_tensor(_parts(before)[0]):
                continue
            edit = by_says[question.about[0]]
            after = _call_with(run_edited(edit.code), call.arguments)
            usual = ["the first result", "the second result"][:parts]
            names = ["the result"] if parts == 1 else usual
            returned = re.findall(r"return (.*)$", answer.listing.text)[-1:]
            names_returned = [name.strip() for name in ",".join(returned).split(",")]
            if not edit.is_return and len(names_returned) == parts:
                descriptions = [f"the returned `{answer}`" for answer in names_returned]
                pairs = zip(names_returned, descriptions, names, strict=True)
                names = [t if o.isidentifier() else u for o, t, u in pairs]
            for place, option in enumerate(question.options):
                truth = _is_true(option, before, after, names)
                if truth is not None:
                    read_options += 1
                    context = (answer.name, question.text, option)
                    assert truth == (place == question.correct), context
    assert read_options > 100


def test_a_shape_is_right_for_a_solution_known_by_heart(softmax):
    of_sum = "What is the shape of `powers.sum(dim=-1, keepdim=True)` in line 3?"
    (shape,) = [question for question in softmax.found if question.text == of_sum]
    assert shape.answer == "`(3, 1)`" and len({*shape.options}) == 4
    assert shape.options["ABCD".index(shape.letter)] == shape.answer


def test_it_is_asked_which_change_lets_a_row_see_another(softmax):
    answer = ask(specification("attention/scaled_dot_product"), CAUSAL)
    questions_by_text = {question.text: question for question in answer.found}
    masks = "change line 4 to `scores = scores.masked_fill(mask, -math.inf)`"
    for text, question in questions_by_text.items():
        if text == f"You {masks}. What happens to this call?":
            assert question.answer != "Nothing: it returns the same values."
    sees = [
        question.text for question in softmax.found if " row 2 of `x`" in question.text
    ]
    assert sees and answer.is_enough


# --- its parts -----------------------------------------------------------------------


def test_a_listing_has_no_docstring_comment_or_empty_line(softmax):
    assert softmax.listing.text.splitlines() == [
        "def stable_softmax(x):",
        "    powers = (x - x.amax(dim=-1, keepdim=True)).exp()",
        "    return powers / powers.sum(dim=-1, keepdim=True)",
    ]


@pytest.mark.parametrize(
    "code, reason",
    [
        ("def f(x):\n    yield x", "generator"),
        ("def f(x):\n    exec('y = x')\n    return x", "out of a text"),
        ("def f(x):\n    Thread(target=print).start()\n    return x", "threads"),
        ("f = lambda x: x", "function or class of its own"),
        ("def f(x):\n" + "    x = x + 1\n" * 50, "more than"),
        ("def f(x):\n    return x" + " + x" * 90, "characters"),
        ("def f(x:\n", "plain Python"),
        ("x = " + "(" * 3000, "plain Python"),
        ("x = 1" * 9000, "too long"),
        ("class f:\n    y = 1", "no method"),
    ],
)
def test_what_cannot_be_asked_about_is_refused_in_a_line(code, reason):
    with pytest.raises(NotListedError, match=reason) as raised:
        listing(code, "f")
    assert "\n" not in str(raised.value)


def test_noted_code_gives_the_same_results():
    code, places = insert_notes(listing(SOFTMAX, "stable_softmax"))
    notes = {}

    def note(number, value):
        notes[number] = value
        return value

    names = run_source(code, {"_autograder_note": note}, "<noted>")
    x = torch.randn(2, 3)
    assert torch.allclose(names["stable_softmax"](x), x.softmax(-1))
    named = {
        place.description: notes[i] for i, place in enumerate(places) if place.name
    }
    assert named["`powers` right after line 2"].shape == (2, 3)


def test_a_line_in_a_finally_clause_is_noted_as_reached():
    source = (
        "def f(x):\n    try:\n        y = x\n    finally:\n        g(x)\n    return y"
    )
    _, places = insert_notes(listing(source, "f"))
    reached = [p.line for p in places if not (p.text or p.name or p.is_result)]
    assert sorted(reached) == [2, 3, 5, 6]


def test_a_result_is_named_after_the_return_of_its_own_function_only():
    inner = "    def g(y):\n        return y\n"
    shown = listing(f"def f(x):\n{inner}    s = g(x)\n    return s", "f")
    assert result_names(shown, Seen("tensor")) == ["the returned `s`"]


def test_an_edit_is_told_in_the_student_s_own_words():
    code = 'def f(q, k):\n    s = (q * q.size(-1) ** -0.5) @ k.mT\n    return {"a": s}'
    instructions = [edit.instruction for edit in edits(listing(code, "f"))]
    assert "change line 2 to `s = (q * q.size(-2) ** -0.5) @ k.mT`" in instructions
    assert not any(
        "delete" in instruction for instruction in instructions
    )  # `s` would have no value
    assert len(set(instructions)) == len(instructions)


@pytest.mark.parametrize(
    "line, absurd",
    [
        ("s = q / k.sum()", ["s = k.sum()", "s = k.sum() / q"]),
        ("s = q @ k", ["s = q", "s = k"]),
        ("s = q[:-1]", ["s = q[:-1 - 1]", "s = q[:-1 + 1]"]),
        ("s = q[1:len(k) + 1]", ["s = q[1:len(k) + 1 - 1]"]),
        ("s = k.permute(0, 2, 1)", ["s = k.permute(0, 2, 2)"]),
        ("s = q.to(k.device)", ["s = q.to(q.device)"]),
        ("s = g(h(q), k)", ["s = g(k, h(q))", "s = g(k)", "s = h(q)"]),
        ("s = q.sum().item()", ["s = q.sum()"]),
        ("s = self.g(q)", ["s = self"]),
    ],
)
def test_no_change_is_one_that_nobody_makes(line, absurd):
    code = f"def f(q, k):\n    {line}\n    return s"
    instructions = [edit.instruction for edit in edits(listing(code, "f"))]
    assert instructions and not {f"change line 2 to `{text}`" for text in absurd} & {
        *instructions
    }


def test_names_are_exchanged_only_between_values_of_a_kind():
    answer = ask(specification("attention/scaled_dot_product"), CAUSAL)
    texts = [
        f"{question.text} {' '.join(question.options)}" for question in answer.found
    ]
    assert any("k @ k.mT" in text or "q @ q.mT" in text for text in texts)
    assert not any("masked_fill(~q" in text or "mask @" in text for text in texts)


def test_a_shape_that_an_argument_has_comes_last(softmax):
    worth = [q.worth for q in softmax.found if q.answer == "`(3, 5)`"]
    assert worth and worth == [q.worth for q in softmax.found[-len(worth) :]]


def test_statements_are_true_only_of_what_happened(softmax):
    before = softmax.seen[0]
    statements = after_edit(
        before, EditOutcome(raised="RuntimeError: sizes"), ["the result"]
    )
    assert [statement.text for statement in statements if statement.true] == [
        "It stops with an error."
    ]
    statements = after_edit(
        before, EditOutcome(result=before.result, is_same=True), ["the result"]
    )
    assert [statement.kind for statement in statements if statement.true] == ["nothing"]


def test_other_shapes_are_never_the_shape_itself():
    for shape in ((3,), (2, 2), (2, 3, 4), (5, 5, 5), (1, 2, 1, 3)):
        assert shape not in other_shapes(shape, [2, 3])


def test_no_two_questions_ask_the_same_and_kinds_differ():
    candidates = [choice("change", "x"), choice("shape", "x"), choice("shape", "y")]
    assert [question.about for question in chosen(candidates, 3)] == [("x",), ("y",)]
    many = [choice("change", str(i)) for i in range(9)] + [choice("line", "z")]
    assert sorted(question.kind for question in chosen(many, 3)) == [
        "change",
        "change",
        "line",
    ]


def test_a_change_among_the_options_of_another_question_is_asked_only_if_need_be():
    options = replace(choice("which change", "x", 9.0), mentioned=("y",))
    candidates = [options, choice("change", "y"), choice("change", "z")]
    assert [question.about for question in chosen(candidates, 2)] == [("x",), ("z",)]
    assert len(chosen(candidates, 3)) == 3 and chosen(candidates, 0) == []


FORGED = [
    "", "[]", "{}", "null", "1e999", '{"cases": []}', '{"cases": [{}]}',
    '{"cases": "abc"}', '{"refused": 3}', "[" * 5000, '{"cases": [{"title": 1}]}',
]  # fmt: skip


@pytest.mark.parametrize("text", FORGED)
def test_a_forged_report_is_refused_in_a_line(text):
    with pytest.raises(NothingObservedError, match="makes no sense"):
        read(f"hello\n{MARK}{text}\n")


FORGED_CASE = {
    "title": "a \ud800", "made": "", "call": [], "notes": [], "ran": [], "moved": {},
    "result": {"kind": "int"}, "edits": [],
}  # fmt: skip


def test_a_forged_report_has_no_more_cases_than_a_question_has_options():
    report = json.dumps({"cases": [FORGED_CASE] * 4})
    assert len(read(f"{MARK}{report}")) == 4
    report = json.dumps({"cases": [FORGED_CASE] * 5})
    with pytest.raises(NothingObservedError, match="makes no sense"):
        read(f"{MARK}{report}")


def test_a_forged_text_can_be_written_to_a_file():
    report = json.dumps({"cases": [FORGED_CASE]})
    assert read(f"{MARK}{report}")[0].title == "a ?"


def test_a_sandbox_that_says_nothing_is_told():
    with pytest.raises(NothingObservedError, match="ended before"):
        read("Killed")
    with pytest.raises(NothingObservedError, match="it returns nothing"):
        read(f'{MARK}{{"refused": "it returns nothing to ask about"}}')


def test_the_same_student_gets_the_same_questions(softmax):
    repeated = ask(specification("attention/softmax"), SOFTMAX)
    assert [question.text for question in repeated.asked] == [
        question.text for question in softmax.asked
    ]
