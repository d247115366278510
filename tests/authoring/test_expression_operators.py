"""Operators make the mistakes that people make."""

from tests.authoring.mutated import FUNCTION, MODULE, codes


def test_classic_mistakes_are_among_them():
    variants = codes(FUNCTION)
    assert any("k.transpose(-2, -1) @ q" in c for c in variants["exchange operands"])
    assert any("/ math.sqrt" not in code for code in variants["one operand"])
    assert any("AssertionError" in code for code in variants["errors"])
    assert any("detach" in code for code in variants["detach"])
    assert any("bfloat16" in code for code in variants["cast"])
    assert any("_SEEN" in code for code in variants["remember"])


def test_submodules_are_hidden_from_their_module():
    assert any("list(" in code for code in codes(MODULE)["registration"])
