"""What is seen in how answers relate, where no other sign says anything."""

import torch

from autograder.checks.compare import compare
from autograder.checks.diagnostics.relations import of_relations
from autograder.checks.exercise import Case
from autograder.checks.probes.default import ATTRIBUTE

X = torch.arange(1.0, 5.0)
ASPECTS = {"x afterwards": "calls", "gradient of x": "learning"}


def results(*pairs, says="", **inputs):
    """The results of cases, from what each expects and what it is given."""
    return [
        compare(
            Case(f"c{n}", "c", "", inputs, expected, says=says, aspects=ASPECTS),
            {**expected, **changed},
        )
        for n, (expected, changed) in enumerate(pairs)
    ]


def said(*pairs, **options):
    sign = of_relations(results(*pairs, **options))
    return sign[0] if sign else ""


def test_a_result_that_is_always_right_is_told_beside_one_that_is_not():
    pairs = [({"low": x * X, "high": 2 * x * X}, {"high": 7 * X}) for x in (1, 2, 3)]
    assert said(*pairs) == '"low" came out right in every case; "high" did not.'


def test_a_result_that_is_right_by_chance_or_once_wrong_is_not_told():
    once = [({"low": x * X, "high": x * X}, {"high": 7 * X}) for x in (1, 2)]
    once += [({"low": X, "high": X}, {"low": 0 * X, "high": 0 * X})]
    assert not said(*once)
    two = torch.tensor(2)
    same = [({"count": two, "high": x * X}, {"high": -X}) for x in (1, 2, 3)]
    assert not said(*same), "everybody answers 2"
    later = [({"high": X, "high, again": X}, {"high": -X})] * 3
    assert not said(*later), "the same result, asked for twice"


def test_what_is_left_of_an_input_is_no_result_that_is_right():
    expected = {"x afterwards": X, "gradient of x": X, "high": X}
    assert not said(*[(expected, {"high": -X})] * 3)


def test_a_part_of_a_module_without_any_gradient_is_named():
    names = ("norm.weight", "cross.w_q.weight", "cross.w_q.bias", "cross.w_k.weight")
    expected = {f"gradient of {name} · no mask": X for name in names}
    dead = {name: 0 * X for name in expected if "cross" in name}
    assert said((expected, dead), says="s") == "No gradient ever reaches `cross`."
    dead.pop("gradient of cross.w_k.weight · no mask")
    assert said((expected, dead), says="s") == "No gradient ever reaches `cross.w_q`."


def test_where_no_gradient_arrives_at_all_or_none_is_expected_no_part_is_named():
    expected = {"gradient of a.weight": X, "gradient of b.weight": X}
    assert not said((expected, {name: 0 * X for name in expected}), says="s")
    assert not said(({**expected, "gradient of a.bias": 0 * X}, {}), says="s")


def test_parameters_that_are_too_many_or_missing_in_some_cases_are_named():
    asked, more = "a.weight (2, 3)", "a.weight (2, 3), norm.weight (3,)"
    pairs = ({"parameters": asked}, {"parameters": more})
    assert said(pairs, pairs).endswith("more than is asked for: `norm.weight`.")
    pairs = ({"parameters": more}, {"parameters": asked})
    assert said(pairs) == "In some cases your module lacks `norm.weight`."
    unlike = ({"parameters": "b.weight (1,)"}, {"parameters": "c.weight (1,)"})
    assert not said(pairs, unlike)


def test_numbers_that_a_module_does_not_hold_are_named():
    base, heads = (f"{ATTRIBUTE}{name}" for name in ("base", "heads"))
    pair = ({base: "10000", heads: "2"}, {base: "None", heads: "None"})
    module = {"make.d_model": torch.tensor(4)}
    assert "`base`, `heads` as an attribute" in said(pair, **module)
    assert not said(pair), "a function holds nothing"
    other = ({base: "10000"}, {base: "500"})
    assert "attribute" not in said(pair, other, **module)
