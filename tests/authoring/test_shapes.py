"""The build reads the shapes in signatures, and refuses those that mean nothing."""

from __future__ import annotations

import pytest

from autograder.authoring.notebook import Cell
from autograder.authoring.shapes import (
    Parameter,
    evaluate,
    read_signature,
    refuse_wrong,
)
from autograder.course.errors import CourseError

MASKS = 'Bool[Tensor, "L L"] | Bool[Tensor, "B L L"] | None'
FUNCTION = f"""
def attend(
    x: Float[Tensor, "B L d_model"], num_heads: int, mask: {MASKS} = None
) -> tuple[Float[Tensor, "B L h*d_k"], float]:
    return x, 0.0
"""
MODULE = """
class Layer(nn.Module):
    def __init__(self, d_model: int, make: Callable[[], nn.Module], rate: float = 0.5):
        super().__init__()

    def forward(
        self, ids: Int[Tensor, "*batch"], *context: Tensor | None
    ) -> Float[Tensor, ""]:
        return self.read(ids)

    def read(self, ids: Int[Tensor, "*batch"]):
        pass
"""


def test_a_function_states_shapes_alternatives_and_defaults():
    signature = read_signature(FUNCTION, "attend")
    assert signature.arguments == (
        Parameter("x", "Float", (("B", "L", "d_model"),)),
        Parameter("num_heads", plain="int"),
        Parameter(
            "mask", "Bool", (("L", "L"), ("B", "L", "L")), optional=True, default="None"
        ),
    )
    assert signature.results == (
        Parameter(kind="Float", shapes=(("B", "L", "h*d_k"),)),
        Parameter(plain="float"),
    )
    assert signature.call is signature


def test_a_module_is_created_and_then_called():
    signature = read_signature(MODULE, "Layer")
    assert [argument.name for argument in signature.arguments] == [
        "d_model", "make", "rate"
    ]  # fmt: skip
    assert signature.arguments[2].default == "0.5"
    assert signature.call.arguments == (
        Parameter("ids", "Int", (("*batch",),)),
        Parameter("*context", plain="Tensor", optional=True),
    )
    assert signature.call.results == (Parameter(kind="Float", shapes=((),)),)
    assert set(signature.methods) == {"forward", "read"}


def test_the_target_is_one_of_several():
    code = "def first(a: int): ...\ndef second(b, *, c: str = 'x') -> None: ..."
    signature = read_signature(code, "second")
    assert signature.arguments == (
        Parameter("b"),
        Parameter("c", plain="str", default="'x'"),
    )
    assert signature.results == ()


@pytest.mark.parametrize(
    ("dimension", "size"),
    [("d_k", 3), ("h*d_k", 12), ("(h-1)*d_k+1", 10), ("d_k//2", 1)],
)
def test_a_dimension_has_a_size(dimension, size):
    assert evaluate(dimension, {"h": 4, "d_k": 3}) == size


@pytest.mark.parametrize(
    "dimension", ["h+", "h/2", "h**2", "-h", "h//0", "f(h)", "1.5"]
)
def test_what_is_no_dimension_is_refused_with_its_line(dimension):
    code = f'import math\n\ndef f(\n  x: list[Int[Tensor, "B {dimension}"]],\n): ...'
    cells = [Cell("code", code, "n.py:10"), Cell("markdown", "Prose.", "n.py:20")]
    with pytest.raises(CourseError) as refusal:
        refuse_wrong(cells)
    assert str(refusal.value).startswith("n.py:14: ")
    assert f'"{dimension}"' in str(refusal.value)


def test_all_faults_are_named_at_once():
    code = 'def f(x: Float[Tensor, "B h +"], y: Bool[Tensor]) -> Int[Tensor, 3]: ...'
    cells = [Cell("code", code, "n.py:1"), Cell("code", MODULE, "n.py:5")]
    with pytest.raises(CourseError) as refusal:
        refuse_wrong(cells)
    assert len(str(refusal.value).splitlines()) == 3


def test_only_exercises_need_dtypes_that_can_be_drawn():
    code = 'def f(x: Float[np.ndarray, "N"]) -> Complex[np.ndarray, "N"]: ...'
    refuse_wrong([Cell("code", code, "n.py:1")])
    with pytest.raises(CourseError, match=r"n.py:2: .*Complex\[.*imaginary parts"):
        refuse_wrong([Cell("code", code, "n.py:1", role="exercise")])
