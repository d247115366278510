"""Edits find their place in a solution, or say that they do not."""

import pytest

from autograder.authoring.catalogue import specification
from autograder.authoring.specification import Edit, Variant
from autograder.authoring.variants import (
    apply_edit,
    build_object,
    solution_source,
    stands_alone,
    variant_source,
)
from autograder.course.errors import CourseError

CODE = """\
class Twice:
    def forward(self, x):
        y = x + x
        return y

    def again(self, x):
        return x
"""


def test_a_short_edit_changes_the_place_it_names():
    assert "y = x * x" in apply_edit(CODE, Edit("x + x", "x * x"))


def test_lines_are_found_at_the_depth_of_the_solution():
    edit = Edit(
        """
        y = x + x
        return y
        """,
        """
        y = x
        for _ in range(2):
            y = y + x
        return y
        """,
    )
    changed = apply_edit(CODE, edit)
    assert "\n        for _ in range(2):\n            y = y + x\n" in changed


def test_one_line_may_become_several():
    edit = Edit(
        "return x",
        """
        x = x + 1
        return x
        """,
    )
    assert apply_edit(CODE, edit).endswith("        x = x + 1\n        return x\n")


@pytest.mark.parametrize(
    ("old", "times"),
    [("no such text", 0), ("(self, x)", 2), ("\n  y = x + x\n  return x\n", 0)],
)
def test_an_edit_that_does_not_fit_once_is_refused(old, times):
    with pytest.raises(CourseError, match=f"occurs {times} times in the solution"):
        apply_edit(CODE, Edit(old, ""))


def test_a_stale_way_is_refused_by_its_name(tiny_exercise):
    variant = Variant(name="stale", edits=[Edit("no such text", "")])
    with pytest.raises(CourseError, match=r"tiny/double, variant stale: .* 0 times"):
        build_object(tiny_exercise, variant)


def test_a_way_that_is_no_python_is_refused_by_its_name_and_line(tiny_exercise):
    variant = Variant(name="torn", source="def double(x):\nreturn x\n")
    with pytest.raises(CourseError, match="tiny/double, variant torn, line 2: exp"):
        build_object(tiny_exercise, variant)


def test_code_of_its_own_is_written_at_any_depth(tiny_exercise):
    variant = Variant(
        name="own",
        source="""
            def double(x):
                return 3 * x
            """,
    )
    assert (
        variant_source(tiny_exercise, variant) == "def double(x):\n    return 3 * x\n"
    )
    assert build_object(tiny_exercise, variant)(2) == 6


def test_what_leans_on_the_bank_or_on_the_solution_does_not_stand_alone():
    layer = specification("encoder_decoder/encoder_layer")
    alone = {variant.name: stands_alone(layer, variant) for variant in layer.accepted}
    leaning = {n for n, on_its_own in alone.items() if not on_its_own}
    assert leaning and all(
        "(EncoderLayer)" in variant_source(layer, variant)
        for variant in layer.accepted
        if variant.name in leaning
    )
    assert len(leaning) < len(alone)
    model = specification("since_2017/trained_model")
    assert not any(stands_alone(model, variant) for variant in model.accepted)


def test_a_solution_includes_the_helpers_that_its_cell_defines():
    exercise = specification("sequence_reversal/sampling_distribution")
    lines = solution_source(exercise).splitlines()
    functions = [line[4:-1] for line in lines if line.startswith("def ")]
    assert functions == [*exercise.helpers, exercise.target]
