"""What the warm server imports: for everybody, and for who asks for it."""

from __future__ import annotations

from autograder.kernel.warm import ON_DEMAND, WARM, asked_for


def test_a_notebooks_words_tell_what_it_needs() -> None:
    cells = ["import seaborn as sns", "torch.optim.AdamW(model.parameters())"]
    assert asked_for(cells) == [
        "torch._dynamo", "pandas", "pandas.io.formats.html", "seaborn"
    ]  # fmt: skip


def test_a_word_within_another_asks_for_nothing() -> None:
    assert asked_for(["optimum = 3  # of all", "pandas_of_our_own()"]) == []


def test_nothing_is_imported_for_everybody_that_some_ask_for() -> None:
    some = {name for modules in ON_DEMAND.values() for name in modules}
    assert not some & set(WARM)
