"""The pictures of the notebooks: numbered in order, told in words, with little code."""

import ast
import functools
import importlib
import re
from collections.abc import Iterator

import pytest
import torch

from autograder.authoring import notebook
from autograder.course import Unit, units
from autograder.figures import page
from autograder.figures.page import Drawn

VISIBLE = 15  # lines of code above a figure
WITH_PICTURES = [u for u in units() if (u.folder / "library" / "pictures.py").is_file()]
BOXES = re.compile("[┌┐└┘├┤│]")  # of a diagram that is drawn with letters
SHOWN = {"show", "show_steps", "drawing"}
by_label = pytest.mark.parametrize("unit", WITH_PICTURES, ids=lambda unit: unit.label)


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls in the order in which they are written."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    yield from sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def name_of_call(node: ast.Call) -> str:
    return ast.unparse(node.func)


def numbers_of(unit: Unit) -> dict[str, list[str]]:
    """The numbers of the figures that each function of a unit's pictures shows."""
    text = (unit.folder / "library" / "pictures.py").read_text(encoding="utf-8")
    functions = {
        n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)
    }
    return {
        name: [
            constant.value
            for call in calls(function)
            if name_of_call(call) in SHOWN or name_of_call(call) in functions
            for constant in call.args
            if isinstance(constant, ast.Constant) and _is_number(constant.value)
        ]
        for name, function in functions.items()
    }


def _is_number(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"\d+\.\d+", value))


@functools.cache
def figures(unit: Unit) -> list[tuple[notebook.Cell, ast.Call, str]]:
    """The figures of a notebook: cell, call and number ("" for none)."""
    return list(find_figures(unit))


def find_figures(unit: Unit) -> Iterator[tuple[notebook.Cell, ast.Call, str]]:
    drawing_functions = numbers_of(unit)
    for cell in notebook.read(unit):
        for call in calls(ast.parse(cell.text)) if cell.kind == "code" else ():
            name = name_of_call(call)
            number_arguments = [k.value for k in call.keywords if k.arg == "number"]
            if number_arguments and isinstance(number_arguments[0], ast.Constant):
                yield (
                    cell,
                    call,
                    str(number_arguments[0].value),
                )  # the cell itself numbers it
            elif name in SHOWN:
                arguments = [*call.args, *(k.value for k in call.keywords)]
                texts = [n.value for n in arguments if isinstance(n, ast.Constant)]
                numbers = [text for text in texts if _is_number(text)]
                yield cell, call, (numbers or [""])[0]
            elif name.removeprefix("pictures.") in drawing_functions and "." in name:
                yield (
                    cell,
                    call,
                    (drawing_functions[name.removeprefix("pictures.")] or [""])[0],
                )


@by_label
def test_figures_are_numbered_in_the_order_of_the_notebook(unit):
    numbered = [number for _, _, number in figures(unit) if number]
    count = len(numbered)
    assert numbered == [f"{int(unit.number)}.{n}" for n in range(1, count + 1)]
    exercises = [cell for cell in notebook.read(unit) if cell.role == "exercise"]
    assert count >= min(5, len(exercises) / 2)


@by_label
def test_little_code_is_seen_above_a_figure(unit):
    for cell, call, number in figures(unit):
        above = cell.text.splitlines()[: call.lineno - 1]
        visible = [line for line in above if line.strip()]
        is_short = cell.folded or not number or len(visible) <= VISIBLE
        assert is_short, f"figure {number}, {cell.location}"


@by_label
def test_no_picture_is_a_slab_or_made_of_letters(unit):
    text = unit.text.read_text(encoding="utf-8")
    assert "assets/figures/" not in text and not BOXES.search(text)


@by_label
def test_a_notebook_leaves_drawing_to_its_library(unit):
    drawing_cells = [
        c for c in notebook.read(unit) if c.kind == "code" and c.role != "exercise"
    ]
    assert not [
        c.location for c in drawing_cells if re.search(r"\bplt\b|matplotlib", c.text)
    ]


@by_label
def test_every_figure_of_a_notebook_itself_has_a_text_alternative(unit):
    for _, call, _ in figures(unit):
        keywords = {keyword.arg for keyword in call.keywords}
        assert name_of_call(call) != "show" or "alt" in keywords or len(call.args) > 1


@pytest.fixture
def alt_texts(monkeypatch):
    """The text alternatives of what is drawn, figure by figure."""
    texts: list[list[str]] = []

    def record_alternatives(*frames: Drawn) -> str:
        texts.append([frame.alt for frame in frames])
        return ""

    monkeypatch.setattr(page, "figure", lambda drawn, *more: record_alternatives(drawn))
    monkeypatch.setattr(
        page, "steps", lambda frames, *more, **options: record_alternatives(*frames)
    )
    monkeypatch.setattr("IPython.display.display", lambda *given, **more: None)
    return texts


def pictures(unit: str):
    return importlib.import_module(f"transformer_course.{unit}.library.pictures")


def test_rising_scores_tell_each_steps_own_weights(alt_texts):
    scores = torch.tensor([1.0, 0.0])
    rows = [(k * scores).softmax(0) for k in (0, 2)]
    pictures("attention").rising_scores([0, 2], rows)
    assert alt_texts == [["key 0 0.5, key 1 0.5.", "key 0 0.881, key 1 0.119."]]


def test_a_followed_row_tells_its_weights(alt_texts):
    weights, v = torch.tensor([[0.9, 0.1], [0.0, 1.0]]), torch.eye(2)
    pictures("attention").follow_rows(v, v, v, weights, weights @ v)
    assert alt_texts == [
        ["Weights of query 0: key 0 0.90.", "Weights of query 1: key 1 1.00."]
    ]


def test_a_row_without_any_weight_is_followed_all_the_same(alt_texts):
    nothing, v = torch.full((1, 2), float("nan")), torch.eye(2)
    pictures("attention").follow_rows(v[:1], v, v, nothing, nothing @ v)
    assert alt_texts == [["Weights of query 0: even."]]


def test_who_is_it_tells_where_it_looks(alt_texts):
    words = ["The", "cat", "saw", "it", "there"]
    weights = torch.full((5, 5), 0.2)
    weights[3] = torch.tensor([0.01, 0.95, 0.02, 0.01, 0.01])
    later_weights = weights.clone()
    later_weights[3] = torch.tensor([0.1, 0.1, 0.1, 0.1, 0.6])
    pictures("attention").who_is_it([words, words], [weights, later_weights])
    assert "it: cat 0.95" in alt_texts[0][0] and "it: there 0.60" in alt_texts[0][0]


def test_a_shuffled_sentence_tells_what_changed(alt_texts):
    before = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    after = torch.tensor([[0.0, 2.0], [1.5, 0.0]])
    pictures("attention").shuffled(["dog", "bites"], [1, 0], {"layer": (before, after)})
    assert alt_texts == [["Largest change by word: bites 0, dog 0.5."]]


def test_clocks_tell_where_the_hands_end_and_how_far_that_is_from_the_dot(alt_texts):
    start, moved = torch.tensor([0.0, 1.0] * 4), torch.tensor([1.0, 0.0] * 4)
    wanted = moved.clone()
    wanted[0] = 0.75
    pictures("positional_encoding").clocks(start, moved, wanted, 3, 5)
    assert "pair 0: to (1.00, 0.00), 0.25 from the dot" in alt_texts[0][0]
    assert "pair 1: to (1.00, 0.00), 0 from the dot" in alt_texts[0][0]


def test_published_tables_tell_how_many_dimensions_differ(alt_texts):
    right = torch.zeros(5, 4)
    wrong = right.clone()
    wrong[3, 1:3] = 0.5
    pictures("positional_encoding").tables({"right": right, "a": wrong, "b": wrong})
    assert "a: 2 of 4 dimensions differ" in alt_texts[0][0]


def test_the_birth_of_heads_tells_the_map_of_each_step(alt_texts):
    uniform, first = torch.full((2, 3, 3), 1 / 3), torch.zeros(2, 3, 3)
    first[..., 0] = 1
    pictures("multi_head_attention").birth([0, 2], [uniform, first], [1.0, 0.5, 0.2])
    assert alt_texts[0][0].count("even") == 6
    assert alt_texts[0][1].count("0 1.00") == 6


def test_tokens_tell_what_is_attended_to_and_whether_it_is_correct(alt_texts):
    weights = torch.eye(3).flip(0)  # step t attends to symbol 2 - t
    trial = (["7", "4", "E"], ["4", "7", "E"], ["4", "9", "E"], weights[[1, 2, 0]])
    pictures("sequence_reversal").token_by_token([trial, trial])
    assert len(alt_texts[0]) == 3
    assert "attends most to 4 at index 1, writes 4: correct" in alt_texts[0][0]
    assert "attends most to 7 at index 0, writes 9: it should be 7" in alt_texts[0][1]


def test_a_cache_tells_how_much_was_computed(alt_texts):
    pictures("since_2017").cache(without=[1, 2, 3], cached=[1, 1, 1])
    assert alt_texts[0][-1] == "Computed so far: 6 without a cache, 3 with one."


def test_rotary_clocks_tell_what_each_pair_adds(alt_texts):
    turned = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    pictures("since_2017").clocks(turned, turned @ turned[0], stops=(0, 1))
    assert alt_texts[0][1].endswith("at distance 1: pair 0 0, pair 1 1.")


def test_windows_tell_the_losses_at_both_ends(alt_texts):
    losses = {"global": [1.88, 2.1, 2.52], "window of 8": [1.83, 1.81, 1.79]}
    pictures("newer").windows((32, 64, 128), losses)
    text = "global: from 1.88 to 2.52; window of 8: from 1.83 to 1.79."
    assert alt_texts == [[f"Loss at 32, 64, 128 bytes. {text}"]]


def test_curves_over_steps_are_told_by_their_ends(alt_texts):
    unit = pictures("newer")
    curves = {"AdamW": [4.0] * 10 + [2.0] * 10, "Muon": [4.0] * 10 + [1.5] * 10}
    unit.optimizers(curves)
    unit.loads({"without": [0.25, 0.03], "with balancing": [0.25, 0.21]})
    unit.largest_scores({"without": [2.0, 30.0], "with QK-norm": [2.8, 7.0]})
    assert "AdamW: from 4 to 2; Muon: from 4 to 1.5." in alt_texts[0][0]
    assert "without balancing: from 0.25 to 0.03" in alt_texts[1][0]
    assert "with QK-norm: from 2.8 to 7" in alt_texts[2][0]


def test_splits_tell_what_the_first_head_holds(alt_texts):
    numbers = 10 * torch.arange(4)[:, None] + torch.arange(6)
    good = numbers.view(4, 3, 2).transpose(0, 1)
    splits = {"yours": good, "view alone": numbers.view(3, 4, 2)}
    pictures("multi_head_attention").splits(splits)
    assert "yours: head 0 holds features of heads [0]" in alt_texts[0][0]
    assert "view alone: head 0 holds features of heads [0, 1, 2]" in alt_texts[0][0]


def test_costs_tell_where_the_curves_cross_or_that_they_never_do(alt_texts):
    costs = pictures("encoder_decoder").costs
    costs([32, 64, 128], [(1, 4, 2, 3), (4, 8, 8, 6), (16, 16, 32, 12)])
    costs([32, 64], [(1, 4, 8, 2), (2, 4, 8, 2)])
    assert "at 64 tokens in memory, and at 128 tokens in FLOPs" in alt_texts[0][0]
    assert "at 32 tokens in memory, and at no length" in alt_texts[1][0]


def test_a_logit_is_told_part_by_part_without_a_negative_zero(alt_texts):
    parts = {"embedding": 1.0, "(0, 1)": -0.02, "ffn 3": -1.5}
    pictures("look_inside").bus(parts, "token 5")
    assert alt_texts == [[
        "embedding writes +1.0; the logit of token 5 is now 1.0.",
        "head (0, 1) writes 0; the logit of token 5 is now 1.0.",
        "network 3 writes −1.5; the logit of token 5 is now -0.5.",
    ]]  # fmt: skip


def test_mistakes_are_told_for_every_kind_also_for_those_that_never_occur(alt_texts):
    counts = {"a": [0, 2], "b": [0, 3]}
    draw = pictures("text_recovery").mistakes
    draw(["form", "word"], counts, 200, number="6.3")
    draw(["form", "word"], {"a": [0, 0]}, 200, number="6.3")
    assert "a: form 0, word 2. b: form 0, word 3." in alt_texts[0][0]
    assert "a: form 0, word 0." in alt_texts[1][0]
