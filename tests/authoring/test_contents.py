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
    made = contents.read(unit, cells, notebook.to_source(unit, cells))
    assert made == contents_of(unit.name), "run `make build`"
    titles = references.titles(unit.name)
    assert list(made.places) == list(titles)
    texts = {cell.id: cell.source for cell in nbformat.read(unit.release, 4).cells}
    targets = {c.name: notebook.target(c) for c in cells if c.role == "check"}
    for name, place in made.places.items():
        heading = f"### Exercise {place.number} - {titles[name]}\n"
        assert heading in texts[place.cell], name
        assert set(targets[name].split(", ")) <= {*place.defines}, name
    numbers = [place.number for place in made.places.values()]
    assert numbers == [f"{made.number}.{n + 1}" for n in range(len(numbers))]
    assert (
        set(made.path) <= made.places.keys()
        and made.title == cells[0].text[2:].split("\n")[0]
    )
