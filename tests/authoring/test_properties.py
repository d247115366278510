"""Cases of general properties follow from an exercise's own, as its promise says."""

import json
from dataclasses import replace

import torch

from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.properties import forms, kinds, sequence
from autograder.authoring.specification import CaseKind
from autograder.checks.properties import KEY
from autograder.checks.properties.arguments import OVERWRITTEN

OWN = [
    CaseKind(name, name, lambda draw: {"x": draw.tensor(2, 3)}, "", atol=atol)
    for name, atol in (("plain", 1e-5), ("large", 1e-3))
]
CONTRACT = Contract(
    arguments="x: B L", results="y: B L", on=("large",), ways=("alone",)
)


def test_a_promise_gives_a_case_for_each_way_and_a_sequence_for_functions():
    names = [kind.name for kind in kinds(CONTRACT, OWN)]
    assert names == ["property_alone", "property_sequence"]


def test_a_case_takes_inputs_and_tolerance_from_the_exercises_own():
    alone = kinds(CONTRACT, OWN)[0]
    inputs = alone.inputs(Draw("a"))
    assert alone.atol == 1e-3
    assert torch.equal(inputs["0/x"], OWN[1].inputs(Draw("a"))["x"])


def test_the_inputs_say_how_the_object_is_called():
    call = json.loads(kinds(CONTRACT, OWN)[0].inputs(Draw("a"))[KEY])
    assert call["call"]["arguments"] == {"x": [["B", "L"]]}
    assert [part["way"] for part in call["parts"]] == ["alone"]


def test_a_sequence_ends_with_what_it_began_with():
    call = json.loads(sequence(OWN)[0].inputs(Draw("a"))[KEY])
    parts = [part["inputs"] for part in call["parts"]]
    assert parts[0] == parts[-1] and len(set(parts)) > 2


def test_sizes_are_drawn_like_everything_else():
    sizes = special_sizes(one_row=lambda draw: {"x": draw.tensor(1, 2)})
    contract = replace(CONTRACT, ways=(), sizes=sizes)
    first, second = (kinds(contract, OWN)[0].inputs(Draw(seed)) for seed in "ab")
    assert not torch.equal(first["0/x"], second["0/x"])
    assert json.loads(first[KEY])["parts"][0]["label"] == "for one row"


def test_a_sequence_ends_with_all_options_by_name_where_there_are_some():
    kinds_of_case = sequence(OWN, forms(lambda x, rate=0.5: x))
    call = json.loads(kinds_of_case[0].inputs(Draw("a"))[KEY])
    called = {"names": ["x", "rate"], "defaults": {"rate": 0.5}}
    assert call["call"]["called"] == called
    *_, last, overwriting = call["parts"]
    assert last["label"].endswith("with all options by their names")
    assert overwriting == {**last, "label": OVERWRITTEN, "overwriting": "yes"}


def test_a_sequence_is_made_of_ordinary_cases():
    unusual = [replace(OWN[0], name=a, aspect=a) for a in ("limits", "errors", "mode")]
    assert sequence([OWN[0], *unusual]) == ()
    assert len(sequence([*OWN, *unusual])) == 1


def test_what_cannot_be_said_in_json_is_no_option():
    assert forms(lambda x, rates=(1, 2): x) == forms(lambda x, *more: x) == {}
