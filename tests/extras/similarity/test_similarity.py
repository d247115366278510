"""Copied solutions come first in the list, whatever was done to hide it."""

import random
import re
import time

import pytest

from autograder import cli
from autograder.extras.similarity import similarity
from autograder.extras.similarity.similarity import (
    Alike,
    Comparison,
    Pair,
    compare,
    tokens,
)

WAYS = [
    "s = q @ k.transpose(-2, -1)\nreturn s / math.sqrt(q.size(-1))",
    "d = q.shape[-1]\nreturn torch.matmul(q, k.mT) * d ** -0.5",
    "return torch.einsum('bqd,bkd->bqk', q, k) / q.size(2) ** 0.5",
    "out = q.new_zeros(q.size(0), q.size(1), k.size(1))\nfor b in range(len(q)):\n"
    "    out[b] = q[b] @ k[b].T\nreturn out.div(q.size(-1) ** 0.5)",
    "scaled = q.mul(1 / q.size(-1) ** 0.5)\nreturn scaled.bmm(k.transpose(1, 2))",
]


def function(body: str) -> str:
    inner = "".join(f"    {line}\n" for line in body.splitlines())
    return f'def f(q, k):\n    """Scores."""\n{inner}'


def class_of(students: int, exercises: int = 6) -> dict[str, dict[str, str]]:
    """Everybody in a way of their own: some common body, and constants they chose."""
    draw = random.Random(7)
    return {
        f"s{n:02}": {
            f"e{e}": function(
                f"offset = {draw.randint(2, 99)} - {draw.randint(2, 99)} * "
                f"len({draw.choice('qk')}) // {draw.randint(2, 99)}\n"
                + draw.choice(WAYS)
            )
            for e in range(exercises)
        }
        for n in range(students)
    }


def disguised(code: str) -> str:
    """Other names, blanks, comments and docstring; the same thoughts."""
    for old, new in (("q", "queries"), ("k", "keys"), ("s", "u"), ("offset", "zz")):
        code = re.sub(rf"(?<![.\w']){old}\b(?!')", new, code)
    code = code.replace(" = ", "  =  ").replace('"""Scores."""', '"""Mine!"""')
    return code.replace("\n    return", "\n\n    # my very own idea\n    return")


def test_layout_comments_and_chosen_names_do_not_count():
    plain = function(WAYS[1])
    assert disguised(plain) != plain
    assert tokens(disguised(plain)) == tokens(plain)
    assert tokens(disguised(plain), names=True) != tokens(plain, names=True)


def test_the_names_of_libraries_do_count():
    assert tokens("x.softmax(-1)") != tokens("x.sigmoid(-1)")
    assert tokens("self.w_q(x)") == tokens("self.query(y)")


@pytest.mark.parametrize("code", ["return (((", "def f(:\n  ?", "%time x", "é = '", ""])
def test_any_text_can_be_read(code):
    assert isinstance(tokens(code), list)


def test_a_disguised_copy_comes_first_and_the_honest_are_not_listed():
    answers = class_of(30)
    answers["thief"] = {n: disguised(code) for n, code in answers["s11"].items()}
    comparison = compare(answers)
    assert [(pair.first, pair.second) for pair in comparison.pairs] == [
        ("s11", "thief")
    ]
    pair = comparison.pairs[0]
    assert pair.share == pytest.approx(1.0) and not pair.same_names
    assert len(pair.exercises) == 6
    assert comparison.usual < 0.3


def test_copied_names_are_told():
    answers = class_of(30)
    answers["thief"] = dict(answers["s11"])
    assert compare(answers).pairs[0].same_names


def test_what_everybody_was_given_or_wrote_is_no_hint():
    given_code = function("\n".join(WAYS))
    answers = class_of(12)
    for codes in answers.values():
        codes["given"] = given_code
    assert compare(answers, release_code=[given_code]).pairs == ()
    assert compare(answers).pairs == (), "all of the class share it: no weight"


def test_a_hundred_identical_solutions_are_cut_and_counted(monkeypatch):
    answers = class_of(40)
    for n in range(20):
        answers[f"t{n}"] = dict(answers["s11"])
    comparison = compare(answers)
    assert (
        comparison.listed
        == 21 * 20 // 2
        > len(comparison.pairs)
        == similarity.MOST_PAIRS
    )
    assert "and 110 more" in similarity.as_text("u", comparison)


def test_a_class_of_one_or_without_code_has_no_pairs():
    assert compare({"ada": {"e": WAYS[0]}}).pairs == ()
    assert compare({}).pairs == ()
    assert compare({"ada": {}, "bob": {}}).pairs == (), "only written answers"


def test_the_command_lists_pairs_as_a_hint(graded, capsys):
    assert cli.main(["similarity", "01", "--course", str(graded)]) == 0
    out = capsys.readouterr().out
    assert "no two solutions are strikingly alike" in out, "these answers are tiny"
    assert (graded / "reports" / "01_numbers-similarity.html").is_file()


def test_the_page_shows_both_solutions_as_text():
    answers = class_of(30)
    answers["<b>thief"] = {n: f"# <b>\n{code}" for n, code in answers["s11"].items()}
    page = similarity.as_html("01_unit", compare(answers), answers)
    assert page.count("<pre") == 2 * 6 and "<b>" not in page
    assert "&lt;b&gt;thief" in page and "even the names" in page


def test_the_page_leaves_out_the_release_and_marks_what_both_have():
    code = 'def f():\n    """Given."""\n    return 4711'
    pair = Pair("x", "y", 1.0, 50, (Alike("a", 1.0),))
    answers = {"x": {"a": code}, "y": {"a": f"{code}\n    # mine"}}
    page = similarity.as_html("01_unit", Comparison((pair,), 1, 0.1), answers, [
        "def f():\n    \"\"\"Given.\"\"\"\n    raise NotImplementedError"
    ])  # fmt: skip
    assert "Given." not in page and "def f" not in page
    assert page.count("<mark>    return 4711</mark>") == 2 and "\n    # mine\n" in page


@pytest.mark.parametrize("blank", ["\n ", "\r \t", "\n\f", "x \n\n", "\n\u2003"])
def test_blank_lines_do_not_hold_the_report(blank):
    started = time.process_time()
    assert len(tokens(f"x{blank * 50_000}y")) <= 60_000
    assert time.process_time() - started < 10


def test_vast_answers_cost_seconds_and_a_page_of_ordinary_size():
    """However many exercises they fill, and however many students hand them in."""
    vast = "\n".join(f"value_{n} = other_{n} * {n} + {n % 7}" for n in range(3000))
    answers = class_of(6) | {
        f"copy-{n}": {f"e{k}": f"# {n}\n{vast}" for k in range(12)} for n in range(4)
    }
    similarity._lexed.cache_clear()
    began = time.process_time()
    comparison = compare(answers)
    html = similarity.as_html("02_attention", comparison, answers)
    assert time.process_time() - began < 15
    assert similarity._lexed.cache_info().misses < 6 * 12 + 5, "each text once"
    assert comparison.pairs[0].same_names and comparison.pairs[0].share == 1
    assert len(html) < 2_000_000 and "more characters" in html


@pytest.mark.timeout(20)  # Pygments would take minutes
def test_long_gaps_in_a_line_cost_no_time():
    lines = [f"match{' ' * 19_000}b = {n}" for n in range(40)]
    assert [tokens(line)[-1] for line in lines] == [str(n) for n in range(40)]
