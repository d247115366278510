"""Mistakes in how the model is asked, and in the steps."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

STEPS = [
    Mutant(
        name="training_mode",
        says="The model is asked in training mode.",
        asks="What does dropout do to a search?",
        ways=[Way(edits=[Edit("model.eval()", "")])],
    ),
    Mutant(
        name="gradients",
        says="Gradients are recorded: every step keeps its whole graph, for nothing.",
        asks="Which line of `greedy_decode` saves this memory?",
        ways=[Way(edits=[Edit("@torch.no_grad()", "")])],
    ),
    Mutant(
        name="memory_of_others",
        says="The prefixes look at the memory of other sentences: it was repeated "
        "in the wrong order.",
        asks="Three sentences, two prefixes each: is it 0 0 1 1 2 2 or 0 1 2 0 1 "
        "2?",
        ways=[Way(edits=[
            Edit("asked = rows.repeat_interleave(live)",
                 "asked = rows.repeat(live)"),
        ])],
    ),
    Mutant(
        name="remembered_memory",
        says="The memory of earlier sentences is used again, since the new ones are as "
        "long and as many.",
        asks="Whose sentences does the model encode in the second call?",
        ways=[Way(edits=[
            Edit("memory = model.encode(source)", """
                known = beam_search.__dict__
                source = known.setdefault(tuple(source.shape), source)
                memory = model.encode(source)
            """),
        ])],
    ),
    Mutant(
        name="one_step_short",
        says="The search ends one step too early.",
        asks="How many tokens may an answer have, EOS included?",
        ways=[Way(edits=[Edit("range(1, max_len + 1)", "range(1, max_len)")])],
    ),
    Mutant(
        name="worst",
        says="The k worst continuations stay live.",
        asks="Which end of the list is best?",
        ways=[Way(edits=[Edit(".topk(wide)", ".topk(wide, largest=False)")])],
    ),
]
