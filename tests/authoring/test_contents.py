"""Numbers, cells and names of a unit's exercises, as its notebook has them."""

import nbformat
import pytest

from autograder.authoring import contents, notebook
from autograder.checks import references
from autograder.checks.contents import contents_of
from autograder.course import units


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_exercise_has_a_number_a_cell_and_what_is_checked(unit):
    cells = notebook.read(unit)
    contents_read = contents.read(unit, cells, notebook.to_source(unit, cells))
    assert contents_read == contents_of(unit.name), "run `make build`"
    titles = references.titles(unit.name)
    assert list(contents_read.places) == list(titles)
    texts = {cell.id: cell.source for cell in nbformat.read(unit.release, 4).cells}
    targets = {c.name: notebook.target(c) for c in cells if c.role == "check"}
    for name, place in contents_read.places.items():
        heading = f"### Exercise {place.number} - {titles[name]}\n"
        assert heading in texts[place.cell], name
        assert set(targets[name].split(", ")) <= {*place.defines}, name
    numbers = [place.number for place in contents_read.places.values()]
    assert numbers == [f"{contents_read.number}.{n + 1}" for n in range(len(numbers))]
    assert (
        set(contents_read.path) <= contents_read.places.keys()
        and contents_read.title == cells[0].text[2:].split("\n")[0]
    )
