"""Residual, norm and dropout around a sublayer."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._inputs import norm_shapes
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _branch(
    batch: int, length: int, size: int, norm_first: bool, pull: bool = False,
    hands_on: bool = False,
) -> Maker:  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "x": draw.tensor(batch, length, size),
            "table": draw.tensor(length, length, scale=1.0),
            "norm_first": torch.tensor(norm_first),
        }
        made |= draw.weights(**norm_shapes("", size))
        made = {k.replace("weights..", "weights."): v for k, v in made.items()}
        made |= {"parts": "hand on what they are given"} if hands_on else {}
        return made | ({"pull": draw.tensor(batch, length, size)} if pull else {})

    return inputs


EXERCISE = Specification(
    name="encoder_decoder/add_and_norm",
    title="Residual, norm and dropout around a sublayer",
    target="add_and_norm",
    promise=Promise(
        arguments="x: B N d; sublayer: _; norm: _; dropout: _; norm_first: _",
        results="output: B N d",
        on=("post", "pre"),
    ),
    cases=[
        CaseKind(
            name="post",
            title="post-norm",
            inputs=_branch(3, 4, 6, False, pull=True),
            hint="Post-norm: sublayer, dropout, sum, norm. Write the steps one a line.",
        ),
        CaseKind(
            name="pre",
            title="pre-norm",
            inputs=_branch(2, 5, 4, True, pull=True),
            hint="Pre-norm: the norm is the first thing in the branch, and `x` itself "
            "is added.",
        ),
        CaseKind(
            name="handed_on",
            title="post-norm, and each part hands on the very tensor that it gets",
            inputs=_branch(2, 3, 5, False, hands_on=True),
            hint="What the sublayer returns may be `x` itself. Who else is changed if "
            "you write into it?",
        ),
        CaseKind(
            name="handed_on_pre",
            title="the same with pre-norm",
            inputs=_branch(3, 2, 4, True, hands_on=True),
            hint="What the sublayer returns may be `x` itself. Who else is changed if "
            "you write into it?",
        ),
        CaseKind(
            name="long_post",
            title="post-norm, a longer sentence",
            inputs=_branch(2, 7, 3, False),
            hint="Does it depend on the sizes?",
            hidden_only=True,
        ),
        CaseKind(
            name="long_pre",
            title="pre-norm, a longer sentence",
            inputs=_branch(4, 6, 5, True),
            hint="Does it depend on the sizes?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="swapped",
            says="The two placements are exchanged: you do pre-norm where post-norm is "
            "asked for, and the other way round.",
            asks="`norm_first`: first before what?",
            ways=[Way(edits=[Edit("if norm_first:", "if not norm_first:")])],
        ),
        Mutant(
            name="always_post",
            says="You do post-norm in both cases.",
            asks="Where does your code look at `norm_first`?",
            ways=[Way(edits=[Edit("if norm_first:", "if False:")])],
        ),
        Mutant(
            name="always_pre",
            says="You do pre-norm in both cases.",
            asks="Where does your code look at `norm_first`?",
            ways=[Way(edits=[Edit("if norm_first:", "if True:")])],
        ),
        Mutant(
            name="residual_from_normed",
            says="In pre-norm you add the *normalised* x. The road must stay free: "
            "what is added is `x` as it came.",
            asks="Did you write `x = norm(x)` and then use `x` twice?",
            ways=[Way(edits=[
                Edit(
                    "return x + dropout(sublayer(norm(x)))",
                    """
                    x = norm(x)
                    return x + dropout(sublayer(x))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_residual",
            says="Nothing is added: the sublayer's output replaces `x`.",
            asks="If the sublayer returned zero, what should come out?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x)))"),
                Edit("norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)))"),
            ])],
        ),
        Mutant(
            name="no_residual_pre",
            says="In pre-norm nothing is added; post-norm is right.",
            asks="Where does the road go, in the picture of pre-norm?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x)))"),
            ])],
        ),
        Mutant(
            name="norm_x_plus",
            says="In post-norm you normalise `x` and then add. The norm belongs around "
            "the sum.",
            asks="In the picture of post-norm, does the norm stand before or after the "
            "+?",
            ways=[Way(edits=[
                Edit("norm(x + dropout(sublayer(x)))",
                     "norm(x) + dropout(sublayer(x))"),
            ])],
        ),
        Mutant(
            name="norm_of_branch",
            says="In post-norm you normalise the branch and then add `x`.",
            asks="Is the road outside the norm, in the picture of post-norm?",
            ways=[Way(edits=[
                Edit("norm(x + dropout(sublayer(x)))",
                     "x + norm(dropout(sublayer(x)))"),
            ])],
        ),
        Mutant(
            name="norm_after_sublayer_pre",
            says="In pre-norm you normalise what the sublayer returns, not what it "
            "gets.",
            asks="What is the first thing that happens in the branch?",
            ways=[Way(edits=[Edit("sublayer(norm(x))", "norm(sublayer(x))")])],
        ),
        Mutant(
            name="dropout_of_sum",
            says="Dropout is applied to the sum, so it cuts holes into the road.",
            asks="Which numbers may be dropped: those of `x`, or those of the branch?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))",
                     "dropout(x + sublayer(norm(x)))"),
                Edit("norm(x + dropout(sublayer(x)))",
                     "norm(dropout(x + sublayer(x)))"),
            ])],
        ),
        Mutant(
            name="dropout_of_result",
            says="Dropout comes last, after everything else.",
            asks="What is dropped, according to the formula?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))",
                     "dropout(x + sublayer(norm(x)))"),
                Edit("norm(x + dropout(sublayer(x)))",
                     "dropout(norm(x + sublayer(x)))"),
            ])],
        ),
        Mutant(
            name="dropout_of_input",
            says="Dropout is applied to what goes into the sublayer, not to what comes "
            "out.",
            asks="In the formula, which one is inside the other?",
            ways=[Way(edits=[
                Edit("dropout(sublayer(norm(x)))", "sublayer(dropout(norm(x)))"),
                Edit("dropout(sublayer(x))", "sublayer(dropout(x))"),
            ])],
        ),
        Mutant(
            name="no_dropout",
            says="The dropout that you were given is not used.",
            asks="Which of the five arguments does not occur in your code?",
            ways=[Way(edits=[
                Edit("dropout(sublayer(norm(x)))", "sublayer(norm(x))"),
                Edit("dropout(sublayer(x))", "sublayer(x)"),
            ])],
        ),
        Mutant(
            name="no_norm",
            says="The norm is missing.",
            asks="Which of the five arguments does not occur in your code?",
            ways=[Way(edits=[
                Edit("sublayer(norm(x))", "sublayer(x)"),
                Edit("return norm(x + dropout(sublayer(x)))",
                     "return x + dropout(sublayer(x))"),
            ])],
        ),
        Mutant(
            name="own_norm",
            says="You normalise by yourself, without the learnt scale and shift of "
            "`norm`.",
            asks="What else does `norm` hold, besides the formula?",
            ways=[Way(edits=[
                Edit("sublayer(norm(x))",
                     "sublayer(nn.functional.layer_norm(x, x.shape[-1:]))"),
                Edit("return norm(x + dropout(sublayer(x)))",
                     "return nn.functional.layer_norm(x + dropout(sublayer(x)), x.shape[-1:])"),
            ])],
        ),
        Mutant(
            name="both_norms",
            says="In pre-norm you normalise twice: before the sublayer and after the "
            "sum.",
            asks="What would stand on the road then?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))",
                     "norm(x + dropout(sublayer(norm(x))))"),
            ])],
        ),
        Mutant(
            name="sublayer_twice",
            says="The sublayer is called twice.",
            asks="It may hold dropout of its own. Would both calls return the same "
            "then?",
            ways=[Way(edits=[
                Edit(
                    "return norm(x + dropout(sublayer(x)))",
                    """
                    sublayer(x)
                    return norm(x + dropout(sublayer(x)))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="in_place",
            says="`x` is not what it was before: your code writes into it.",
            asks="What is the difference between `x = x + y` and `x += y`?",
            ways=[
                Way(edits=[
                    Edit(
                        "return x + dropout(sublayer(norm(x)))",
                        """
                        x += dropout(sublayer(norm(x)))
                        return x
                        """,
                    ),
                    Edit(
                        "return norm(x + dropout(sublayer(x)))",
                        """
                        x += dropout(sublayer(x))
                        return norm(x)
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="branch_in_place",
            says="Your code writes into what it got from the sublayer and from dropout, "
            "which may be `x` itself.",
            asks="To whom does the tensor belong that `+=` or `add_` changes?",
            ways=[
                Way(edits=[
                    Edit("x + dropout(sublayer(norm(x)))",
                         "dropout(sublayer(norm(x))).add_(x)"),
                    Edit("norm(x + dropout(sublayer(x)))",
                         "norm(dropout(sublayer(x)).add_(x))"),
                ]),
                Way(name="branch_plus_equals", edits=[
                    Edit("return x + dropout(sublayer(norm(x)))",
                         "branch = dropout(sublayer(norm(x)))"),
                    Edit(
                        "return norm(x + dropout(sublayer(x)))",
                        """
                        else:
                            branch = dropout(sublayer(x))
                        branch += x
                        return branch if norm_first else norm(branch)
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="branch_in_place_post",
            says="In post-norm your code writes into what it got from the sublayer, which "
            "may be `x` itself.",
            asks="To whom does the tensor belong that `+=` or `add_` changes?",
            ways=[Way(edits=[
                Edit(
                    "return norm(x + dropout(sublayer(x)))",
                    """
                    branch = dropout(sublayer(x))
                    branch += x
                    return norm(branch)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_dropout_in_eval",
            says="Dropout is not called where it would drop nothing.",
            asks="How often is each of the three parts to be called, and who knows what "
            "a module does in eval mode?",
            ways=[
                Way(edits=[
                    Edit("return x + dropout(sublayer(norm(x)))",
                         "return x + (dropout(sublayer(norm(x))) if dropout.training else sublayer(norm(x)))"),
                    Edit("return norm(x + dropout(sublayer(x)))",
                         "return norm(x + (dropout(sublayer(x)) if dropout.training else sublayer(x)))"),
                ]),
            ],
        ),
        Mutant(
            name="in_place_without_gradient",
            says="Where no gradient is recorded, your code writes into what it got from "
            "the sublayer, which may be `x` itself.",
            asks="Is `x` the caller's only while a gradient is recorded?",
            ways=[Way(edits=[
                Edit("return norm(x + dropout(sublayer(x)))",
                     "return norm(x + dropout(sublayer(x)) if torch.is_grad_enabled() else dropout(sublayer(x)).add_(x))"),
            ])],
        ),
        Mutant(
            name="detached_road",
            says="The values are right, but the gradient of the road is lost.",
            asks="Is there a `detach()`, `.data` or `no_grad` on the way?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))",
                     "x.detach() + dropout(sublayer(norm(x)))"),
                Edit("norm(x + dropout(sublayer(x)))",
                     "norm(x.detach() + dropout(sublayer(x)))"),
            ])],
        ),
        Mutant(
            name="minus",
            says="The branch is subtracted.",
            asks="Which sign does the residual connection have?",
            ways=[Way(edits=[
                Edit("x + dropout(sublayer(norm(x)))",
                     "x - dropout(sublayer(norm(x)))"),
                Edit("norm(x + dropout(sublayer(x)))",
                     "norm(x - dropout(sublayer(x)))"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="in_steps", source="""
            def add_and_norm(x, sublayer, norm, dropout, norm_first):
                branch = norm(x) if norm_first else x
                branch = sublayer(branch)
                branch = dropout(branch)
                total = x + branch
                return total if norm_first else norm(total)
            """),
        Accepted(name="torch_add", edits=[
            Edit("x + dropout(sublayer(norm(x)))",
                 "torch.add(dropout(sublayer(norm(x))), x)"),
            Edit("norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)).add(x))"),
        ]),
        Accepted(name="residual_name", source="""
            def add_and_norm(x, sublayer, norm, dropout, norm_first):
                residual = x
                if norm_first:
                    x = norm(x)
                x = dropout(sublayer(x))
                x = residual + x
                if not norm_first:
                    x = norm(x)
                return x
            """),
        Accepted(name="identity", source="""
            def add_and_norm(x, sublayer, norm, dropout, norm_first):
                before, after = norm, nn.Identity()
                if not norm_first:
                    before, after = after, before
                return after(dropout(sublayer(before(x))) + x)
            """),
    ],
)
