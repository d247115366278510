"""An exercise is written down with as few words as it needs."""

from dataclasses import replace

from autograder.authoring.specification import Mutant, Variant
from autograder.checks.interactor import Interactor
from autograder.checks.probes import find


def test_the_first_way_of_a_mutant_may_do_with_its_name():
    variants = [Variant(source="x"), Variant(name="another", source="y")]
    mutant = Mutant(
        name="shifted", says="You shifted.", asks="Where to?", variants=variants
    )
    assert [variant.name for variant in mutant.variants] == ["shifted", "another"]
    assert [variant.source for variant in mutant.variants] == ["x", "y"]


def test_the_judge_plays_the_probes_other_side_or_one_that_knows_more(tiny_exercise):
    class Knowing(Interactor):
        pass

    assert tiny_exercise.interactor_class is find(tiny_exercise.name).interactor
    assert replace(tiny_exercise, interactor=Knowing).interactor_class is Knowing
