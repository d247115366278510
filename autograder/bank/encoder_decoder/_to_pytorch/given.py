"""What becomes of other names, and of what was given."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

GIVEN = [
    Mutant(
        name="squeezed",
        says="In a layer of a single feature, dimensions are lost.",
        asks="Which shape has a weight from one feature to one feature?",
        ways=[Way(edits=[Edit("theirs[name] = tensor", "theirs[name] = tensor.squeeze()")])],
    ),
    Mutant(
        name="others_lost",
        says="Names that are the same on both sides are left out.",
        asks="What does the docstring say of other names?",
        ways=[Way(edits=[
            Edit("theirs[name] = tensor",
                 "theirs |= {name: tensor} if name not in state or 'norm' in name else {}"),
        ])],
    ),
    Mutant(
        name="given_written",
        says="You write into the given dictionary.",
        asks="To which of the two dictionaries does your code assign?",
        ways=[Way(edits=[
            Edit(
                "return theirs",
                """
                state.update({name: tensor.clone() for name, tensor in state.items()})
                return theirs
                """,
            ),
        ])],
    ),
    Mutant(
        name="norms_lost",
        says="The norms are missing.",
        asks="What does your code do with names that are not in the table?",
        ways=[Way(edits=[
            Edit(
                "theirs[name] = tensor",
                """
                if "norm" not in name:
                    theirs[name] = tensor
                """,
            ),
        ])],
    ),
    Mutant(
        name="changes_given",
        says="The given dictionary is changed: entries are missing from it "
        "afterwards.",
        asks="Do you `pop` from the dictionary that you were given?",
        ways=[Way(edits=[
            Edit(
                "for name, tensor in state.items():",
                """
                for name in list(state):
                    tensor = state[name]
                """,
            ),
            Edit(
                """
                if ".w_k." in name or ".w_v." in name:
                    continue
                """,
                """
                if ".w_k." in name or ".w_v." in name:
                    continue
                old = name
                """,
            ),
            Edit(
                "theirs[name] = tensor",
                """
                theirs[name] = tensor
                if not old.endswith('_q.weight'):
                    state.pop(old)
                """,
            ),
        ])],
    ),
    Mutant(
        name="tensors_changed",
        says="The names are right, but tensors of the given dictionary hold other "
        "numbers afterwards.",
        asks="A dictionary may be new and its tensors the old ones. Which of your "
        "steps writes into them?",
        ways=[Way(edits=[
            Edit(
                "theirs[name] = tensor",
                """
                theirs[name] = tensor.clone()
                state[name].zero_() if name in state else None
                """,
            ),
        ])],
    ),
    Mutant(
        name="given_detached",
        says="The names are right, but the tensors of the given dictionary no longer "
        "learn.",
        asks="A dictionary may be new and its tensors the old ones. Which of your "
        "steps changes them?",
        ways=[Way(edits=[
            Edit("theirs[name] = tensor", "theirs[name] = tensor.detach_().requires_grad_(False)"),
        ])],
    ),
    Mutant(
        name="as_float32",
        says="All numbers come back as float32, whatever they were.",
        asks="What does the conversion do to weights that are kept in float16?",
        ways=[Way(edits=[Edit("theirs[name] = tensor", "theirs[name] = tensor.float()")])],
    ),
]
