"""Mistakes in the gradients, and in the step that they lead to."""

from __future__ import annotations

from autograder.bank.sequence_reversal._training_step.lines import (
    BACK,
    CLEAR,
    CLIP,
    STEP,
)
from autograder.oracle.specification import Edit, Mutant, Way

GRADIENTS = [
    Mutant(
        name="no_zero_grad",
        says="Old gradients are never cleared, so each step uses the sum of all "
        "gradients since the beginning.",
        asks="What does `backward` do with a gradient that is already there?",
        ways=[Way(edits=[Edit(CLEAR, "")])],
    ),
    Mutant(
        name="cleared_last",
        says="You clear gradients after the step. What somebody else left there "
        "goes into your first step.",
        asks="At which moment must the old gradients be gone: before what?",
        ways=[
            Way(edits=[
                Edit(CLEAR, ""),
                Edit(
                    STEP,
                    """
                    optimizer.step()
                    optimizer.zero_grad()
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="nothing_changes",
        says="The weights do not change at all. Either nobody tells the optimizer "
        "to step, or there are no gradients when it does: never computed, or "
        "cleared too early.",
        asks="Which gradients does your optimizer find at the moment of its step?",
        ways=[
            Way(edits=[Edit(STEP, "")]),
            Way(name="cleared_too_late", edits=[
                Edit(CLEAR, ""),
                Edit(
                    BACK,
                    """
                    loss.backward()
                    optimizer.zero_grad()
                    """,
                ),
            ]),
            Way(name="cleared_before_step", edits=[
                Edit(CLEAR, ""),
                Edit(
                    CLIP,
                    """
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                    optimizer.zero_grad()
                    """,
                ),
            ]),
            Way(name="no_backward", edits=[Edit(BACK, "")]),
        ],
    ),
    Mutant(
        name="step_before_backward",
        says="The optimizer steps before `backward`: it uses the gradients of the "
        "batch before.",
        asks="Where do the gradients come from that your step uses the very first "
        "time?",
        ways=[Way(edits=[
            Edit(CLEAR, ""),
            Edit(STEP, ""),
            Edit(
                BACK,
                """
                optimizer.step()
                optimizer.zero_grad()
                loss.backward()
                """,
            ),
        ])],
    ),
    Mutant(
        name="not_clipped",
        says="Gradients are not clipped.",
        asks="What happens to the weights if one batch gives a gradient of norm "
        "100?",
        ways=[
            Way(edits=[Edit(CLIP, "")]),
            Way(name="clipped_after_step", edits=[
                Edit(CLIP, ""),
                Edit(
                    STEP,
                    """
                    optimizer.step()
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                    """,
                ),
            ]),
            Way(name="clipped_before_backward", edits=[
                Edit(CLIP, ""),
                Edit(
                    CLEAR,
                    """
                    optimizer.zero_grad()
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="bound_fixed",
        says="You clip at 1, whatever `max_norm` is.",
        asks="Where does your code use the argument `max_norm`?",
        ways=[Way(edits=[
            Edit("model.parameters(), max_norm)", "model.parameters(), 1.0)"),
        ])],
    ),
    Mutant(
        name="clipped_by_value",
        says="You clip each number by itself. That bends the direction of the "
        "gradient.",
        asks="A gradient is (3, 0.1) and the bound is 1. What becomes of it, by "
        "value and by norm?",
        ways=[Way(edits=[Edit("clip_grad_norm_", "clip_grad_value_")])],
    ),
    Mutant(
        name="clipped_one_by_one",
        says="You clip parameters apart from each other, one by one or group by group; "
        "the bound is for the norm of all of them together.",
        asks="Two tables have gradients of norm 1 each. What is their common norm?",
        ways=[Way(edits=[
            Edit(
                CLIP,
                """
                for p in model.parameters():
                    nn.utils.clip_grad_norm_([p], max_norm)
                """,
            ),
        ])],
    ),
    Mutant(
        name="always_norm",
        says="You scale every gradient to the norm `max_norm`, short ones too. "
        "Clipping only shortens.",
        asks="What should happen to a gradient that is shorter than the bound?",
        ways=[Way(edits=[
            Edit(
                CLIP,
                """
                norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
                for p in model.parameters():
                    p.grad *= max_norm / norm
                """,
            ),
        ])],
    ),
    Mutant(
        name="two_steps",
        says="Each call takes two steps.",
        asks="How often does your function call `optimizer.step()`?",
        ways=[Way(edits=[
            Edit(
                STEP,
                """
                optimizer.step()
                optimizer.step()
                """,
            ),
        ])],
    ),
    Mutant(
        name="own_optimizer",
        says="The step is plain gradient descent, whatever the optimizer does.",
        asks="Which object knows how a step is taken?",
        ways=[Way(edits=[
            Edit(STEP, 'torch.optim.SGD(model.parameters(), optimizer.param_groups[0]["lr"]).step()'),
        ])],
    ),
    Mutant(
        name="first_group_cleared",
        says="Only the parameters of the optimizer's first group lose their old "
        "gradients.",
        asks="How many lists of parameters stand in `optimizer.param_groups`?",
        ways=[Way(edits=[
            Edit(
                CLEAR,
                """
                for p in optimizer.param_groups[0]["params"]:
                    p.grad = None
                """,
            ),
        ])],
    ),
    Mutant(
        name="first_group_clipped",
        says="Only the gradients of the optimizer's first group are measured and "
        "shortened.",
        asks="Whose norm may be at most `max_norm`?",
        ways=[Way(edits=[
            Edit("(model.parameters(), max_norm)",
                 '(optimizer.param_groups[0]["params"], max_norm)'),
        ])],
    ),
    Mutant(
        name="matrices_clipped",
        says="Only matrices are measured and shortened; a bias is a parameter, too.",
        asks="Whose common norm may be at most `max_norm`?",
        ways=[
            Way(edits=[
                Edit("(model.parameters(), max_norm)",
                     "([p for p in model.parameters() if p.dim() > 1], max_norm)"),
            ]),
        ],
    ),
    Mutant(
        name="unused_keep_theirs",
        says="Parameters that your batch does not use keep an old gradient, and move by "
        "it.",
        asks="Which parameters get no new gradient, and what stands in their `grad`?",
        ways=[
            Way(edits=[
                Edit(CLEAR, "old = [p.grad for p in model.parameters()]"),
                Edit(
                    BACK,
                    """
                    found = torch.autograd.grad(loss, [*model.parameters()], allow_unused=True)
                    for p, new, before in zip(model.parameters(), found, old):
                        p.grad = before if new is None else new
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="long_ones_left_out",
        says="A batch whose gradient is far too long takes no step; it should be "
        "shortened, and used.",
        asks="What becomes of a gradient that is longer than `max_norm`?",
        ways=[Way(edits=[
            Edit(CLIP, f"norm = {CLIP}"),
            Edit(
                STEP,
                """
                if norm < 100 * max_norm:
                    optimizer.step()
                """,
            ),
        ])],
    ),
]
