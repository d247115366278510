"""Each mutant is made once, is code, and leaves alone what nobody reads."""

from autograder.authoring.mutations import mutations
from tests.authoring.mutated import FUNCTION, MODULE


def test_each_variant_is_made_once_and_none_is_the_solution():
    sources = [mutation.source for mutation in mutations(FUNCTION)]
    assert len(sources) == len(set(sources)) > 30
    assert FUNCTION not in sources


def test_every_variant_is_code():
    for mutation in (*mutations(FUNCTION), *mutations(MODULE)):
        compile(mutation.source, "<mutant>", "exec")


def test_the_text_of_an_error_stays_as_it_is():
    assert all(
        "no masks" in code or "ValueError" not in code
        for code in (m.source for m in mutations(FUNCTION))
    )
