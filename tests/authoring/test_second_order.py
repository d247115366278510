"""Two mutants are made in one solution, if the edits of both find their text."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from autograder.authoring.catalogue import specification
from autograder.authoring.notation import edit, right, source, student_program, wrong
from autograder.authoring.second_order import add_pair_sketches, combine_variants
from autograder.authoring.variants import (
    build_object,
    namespace,
    run_source,
    solution_source,
)
from autograder.checks import references
from autograder.checks.compare import judge
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.second_order import WHICH

SPLIT = specification("multi_head_attention/split_heads")


def test_both_mistakes_are_made_and_found():
    """Of a small exercise, most of the pairs that differ from each are named."""
    exercise = references.load(SPLIT.unit, "public", SPLIT.name)[SPLIT.name]
    cases = add_pair_sketches(SPLIT, exercise.cases)
    pairs = [
        (first, second, code)
        for first, second in combinations(SPLIT.mutants, 2)
        if (code := combine_variants(SPLIT, first.variants[0], second.variants[0]))
    ]
    named = 0
    for first, second, code in pairs:
        program = run_source(code, namespace(SPLIT), "<both>")[SPLIT.target]
        answers = [observe(find(SPLIT.name), program, case.inputs) for case in cases]
        verdict = judge(exercise, cases, dict(zip(cases, answers, strict=True)).get)
        names = verdict.mistake.name.split(" + ") if verdict.mistake else []
        named += {first.name, second.name} == set(names)
    assert len(pairs) > 50 and named > 20


def test_what_takes_long_has_no_pairs():
    name = "sequence_reversal/trained_model"
    cases = references.load("sequence_reversal", "public", name)[name].cases
    assert add_pair_sketches(specification(name), cases) == cases


def test_a_student_s_program_is_combined_with_nothing():
    """Two mistakes together are executed here."""
    code = solution_source(SPLIT)
    for way, is_combined in ((source(code), True), (student_program(code), False)):
        combinations_of_mistakes = [
            combine_variants(SPLIT, way, variant)
            for mutant in SPLIT.mutants
            for variant in mutant.variants
        ]
        assert any(combinations_of_mistakes) == is_combined


def pairs_of(*mutants, accepted=(), unsteady=()):
    """The places of the pairs that are sketched, of these mistakes in split_heads."""
    specification = replace(SPLIT, mutants=mutants, accepted=accepted)
    exercise = references.load(SPLIT.unit, "public", SPLIT.name)[SPLIT.name]
    cases = [
        replace(case, doubles={}, mistakes={
            variant.name: observe(
                find(SPLIT.name), build_object(specification, variant), case.inputs)
            for mutant in mutants for variant in mutant.variants
        }) for case in exercise.cases if case.mistakes and not case.says
    ]  # fmt: skip
    doubles = add_pair_sketches(specification, cases, unsteady)[0].doubles
    return doubles[WHICH].tolist() if doubles else []


CODE = """
def split_heads(x, num_heads):
    parts = x.unflatten(-1, (num_heads, -1))
    whole = parts.transpose(1, 2)
    return whole.contiguous()
"""
ADDED = wrong("added", "It adds.", "Why?", source(CODE.replace("= x.", "= (x + 1).")))
NEGATED = wrong("negated", "It negates.", "Why?",
                source(CODE.replace("return whole", "return -whole")))  # fmt: skip


def test_whole_programs_are_combined_by_what_differs_from_an_accepted_one():
    assert pairs_of(ADDED, NEGATED, accepted=[right("plain", source(CODE))]) == [[0, 1]]
    assert pairs_of(ADDED, NEGATED) == []
    same_line = wrong(
        "other", "It is.", "?", source(CODE.replace("= x.", "= (x - 1)."))
    )
    assert pairs_of(ADDED, same_line, accepted=[right("plain", source(CODE))]) == []


def test_a_pair_that_answers_as_one_of_its_mistakes_does_is_left_out():
    """What the other one changes, no case shows then: it cannot be claimed."""
    zero = wrong("zero", "Zero.", "?", edit("return ", "return 0 * "))
    scaled = wrong(
        "scaled", "It scales.", "?", edit("    return ", "    x = 2 * x; return ")
    )
    assert pairs_of(zero, scaled) == []


def test_an_unsteady_mistake_is_combined_if_both_together_are_steady():
    shaky = wrong("shaky", "Shaky.", "?", edit("    return ", "    x = 3 * x; return "))
    negated = wrong("negated", "It negates.", "?", edit("return ", "return -1 * "))
    assert pairs_of(shaky, negated, unsteady={"shaky"}) == [[0, 1]]
