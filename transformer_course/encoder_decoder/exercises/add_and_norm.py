"""Residual, norm and dropout around a sublayer."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import norm_shapes


def _branch(
    batch: int, length: int, size: int, norm_first: bool, pull: bool = False,
    hands_on: bool = False,
) -> Maker:  # fmt: skip
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {
            "x": draw.tensor(batch, length, size),
            "table": draw.tensor(length, length, scale=1.0),
            "norm_first": torch.tensor(norm_first),
        }
        inputs |= draw.weights(**norm_shapes("", size))
        inputs = {k.replace("weights..", "weights."): v for k, v in inputs.items()}
        inputs |= {"parts": "hand on what they are given"} if hands_on else {}
        return inputs | ({"pull": draw.tensor(batch, length, size)} if pull else {})

    return make_inputs


CASES = [
    case("post", "post-norm", _branch(3, 4, 6, False, pull=True),
         "Post-norm: sublayer, dropout, sum, norm. Write one step per line."),
    case("pre", "pre-norm", _branch(2, 5, 4, True, pull=True),
         "Pre-norm: the norm is the first thing in the branch, and `x` itself is added."),
    case("handed_on", "post-norm, and each part returns the very tensor that it gets",
         _branch(2, 3, 5, False, hands_on=True),
         "The sublayer may return `x` itself. What else changes if you write into its result?"),
    case("handed_on_pre", "the same with pre-norm", _branch(3, 2, 4, True, hands_on=True),
         "The sublayer may return `x` itself. What else changes if you write into its result?"),
    case("long_post", "post-norm, a longer sentence", _branch(2, 7, 3, False),
         "Does your code depend on the sizes?", hidden_only=True),
    case("long_pre", "pre-norm, a longer sentence", _branch(4, 6, 5, True),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("swapped",
          "The two placements are swapped: you use pre-norm where post-norm is asked for, and vice versa.",
          "`norm_first` means that the norm comes before what?",
          edit("if norm_first:", "if not norm_first:")),
    wrong("always_post",
          "You use post-norm in both cases.",
          "Where does your code look at `norm_first`?",
          edit("if norm_first:", "if False:")),
    wrong("always_pre",
          "You use pre-norm in both cases.",
          "Where does your code look at `norm_first`?",
          edit("if norm_first:", "if True:")),
    wrong("residual_from_normed",
          "In pre-norm you add the *normalised* `x`. The residual path must stay free: add `x` as it came in.",
          "Did you write `x = norm(x)` and then use `x` twice?",
          edit("return x + dropout(sublayer(norm(x)))", """
              x = norm(x)
              return x + dropout(sublayer(x))
              """)),
    wrong("no_residual",
          "The residual connection is missing: the sublayer's output replaces `x`.",
          "If the sublayer returned zero, what should come out?",
          edit("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x)))",
               "norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)))")),
    wrong("no_residual_pre",
          "In pre-norm the residual connection is missing; post-norm is right.",
          "In the picture of pre-norm, which two arrows meet at the +?",
          edit("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x)))")),
    wrong("norm_x_plus",
          "In post-norm you normalise `x` and then add the branch. The norm belongs around the sum.",
          "In the picture of post-norm, does the norm come before or after the +?",
          edit("norm(x + dropout(sublayer(x)))", "norm(x) + dropout(sublayer(x))")),
    wrong("norm_of_branch",
          "In post-norm you normalise only the branch and then add `x`.",
          "In the picture of post-norm, does the residual connection bypass the norm?",
          edit("norm(x + dropout(sublayer(x)))", "x + norm(dropout(sublayer(x)))")),
    wrong("norm_after_sublayer_pre",
          "In pre-norm you normalise the sublayer's output, not its input.",
          "What is the first step of the branch in pre-norm?",
          edit("sublayer(norm(x))", "norm(sublayer(x))")),
    wrong("dropout_of_sum",
          "Dropout is applied to the sum, so entries of the residual stream are dropped as well.",
          "Which entries may be dropped: those of `x`, or those of the branch?",
          edit("x + dropout(sublayer(norm(x)))", "dropout(x + sublayer(norm(x)))",
               "norm(x + dropout(sublayer(x)))", "norm(dropout(x + sublayer(x)))")),
    wrong("dropout_of_sum_post",
          "In post-norm dropout is applied to the sum, so entries of the residual stream are dropped as well.",
          "Which entries may be dropped: those of `x`, or those of the branch?",
          edit("norm(x + dropout(sublayer(x)))", "norm(dropout(x + sublayer(x)))")),
    wrong("dropout_of_result",
          "Dropout is applied last, after everything else.",
          "What is dropout applied to in the formula?",
          edit("x + dropout(sublayer(norm(x)))", "dropout(x + sublayer(norm(x)))",
               "norm(x + dropout(sublayer(x)))", "dropout(norm(x + sublayer(x)))")),
    wrong("dropout_of_input",
          "Dropout is applied to the sublayer's input, not to its output.",
          "In the formula, which of the two calls is inside the other?",
          edit("dropout(sublayer(norm(x)))", "sublayer(dropout(norm(x)))",
               "dropout(sublayer(x))", "sublayer(dropout(x))")),
    wrong("no_dropout",
          "The dropout that you were given is never used.",
          "Which of the five arguments does your code never use?",
          edit("dropout(sublayer(norm(x)))", "sublayer(norm(x))", "dropout(sublayer(x))", "sublayer(x)")),
    wrong("no_norm",
          "The norm is missing.",
          "Which of the five arguments does your code never use?",
          edit("sublayer(norm(x))", "sublayer(x)",
               "return norm(x + dropout(sublayer(x)))", "return x + dropout(sublayer(x))")),
    wrong("own_norm",
          "You normalise by hand, without the learnt scale and shift of `norm`.",
          "What does `norm` contain besides the formula?",
          edit("sublayer(norm(x))", "sublayer(nn.functional.layer_norm(x, x.shape[-1:]))",
               "return norm(x + dropout(sublayer(x)))",
               "return nn.functional.layer_norm(x + dropout(sublayer(x)), x.shape[-1:])"), tests="exactly"),
    wrong("both_norms",
          "In pre-norm you normalise twice: before the sublayer and after the sum.",
          "What would the residual stream have to pass through then?",
          edit("x + dropout(sublayer(norm(x)))", "norm(x + dropout(sublayer(norm(x))))")),
    wrong("sublayer_twice",
          "The sublayer is called twice.",
          "It may contain dropout. Would both calls return the same result then?",
          edit("return norm(x + dropout(sublayer(x)))", """
              sublayer(x)
              return norm(x + dropout(sublayer(x)))
              """)),
    wrong("in_place",
          "Your code changes `x` in place.",
          "What is the difference between `x = x + y` and `x += y`?",
          edit("return x + dropout(sublayer(norm(x)))", """
              x += dropout(sublayer(norm(x)))
              return x
              """,
               "return norm(x + dropout(sublayer(x)))", """
              x += dropout(sublayer(x))
              return norm(x)
              """), tests="modified"),
    wrong("branch_in_place",
          "Your code changes a tensor in place: the one that the branch returned, or `x` itself.",
          "Whose tensor does `+=` or `add_` change?",
          edit("x + dropout(sublayer(norm(x)))", "dropout(sublayer(norm(x))).add_(x)",
               "norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)).add_(x))")),
    wrong("branch_in_place_post",
          "In post-norm, your code modifies a tensor in place: either the branch's output or `x` itself.",
          "Whose tensor does `+=` or `add_` change?",
          edit("return norm(x + dropout(sublayer(x)))", """
              branch = dropout(sublayer(x))
              branch += x
              return norm(branch)
              """)),
    wrong("no_dropout_in_eval",
          "In eval mode your code does not call `dropout`.",
          "How often should each of the three parts be called, and which of them decides what happens in eval mode?",
          edit("return x + dropout(sublayer(norm(x)))",
               "return x + (dropout(sublayer(norm(x))) if dropout.training else sublayer(norm(x)))",
               "return norm(x + dropout(sublayer(x)))",
               "return norm(x + (dropout(sublayer(x)) if dropout.training else sublayer(x)))")),
    wrong("in_place_without_gradient",
          "When no gradient is recorded, your code writes into the tensor that the branch returned, which may be `x` "
          "itself.",
          "Does `x` belong to the caller only while gradients are recorded?",
          edit("return norm(x + dropout(sublayer(x)))",
               "return norm(x + dropout(sublayer(x)) if torch.is_grad_enabled() else dropout(sublayer(x)).add_(x))")),
    wrong("detached_road",
          "No gradient flows through the residual connection.",
          "Is there a `detach()`, `.data` or `no_grad` on the way?",
          edit("x + dropout(sublayer(norm(x)))", "x.detach() + dropout(sublayer(norm(x)))",
               "norm(x + dropout(sublayer(x)))", "norm(x.detach() + dropout(sublayer(x)))")),
    wrong("minus",
          "The branch is subtracted.",
          "Which sign does the residual connection have?",
          edit("x + dropout(sublayer(norm(x)))", "x - dropout(sublayer(norm(x)))",
               "norm(x + dropout(sublayer(x)))", "norm(x - dropout(sublayer(x)))")),
]

ACCEPTED = [
    right("in_steps", source("""
        def add_and_norm(x, sublayer, norm, dropout, norm_first):
            branch = norm(x) if norm_first else x
            branch = sublayer(branch)
            branch = dropout(branch)
            total = x + branch
            return total if norm_first else norm(total)
        """)),
    right("torch_add", edit("x + dropout(sublayer(norm(x)))", "torch.add(dropout(sublayer(norm(x))), x)",
                            "norm(x + dropout(sublayer(x)))", "norm(dropout(sublayer(x)).add(x))")),
    right("residual_name", source("""
        def add_and_norm(x, sublayer, norm, dropout, norm_first):
            residual = x
            if norm_first:
                x = norm(x)
            x = dropout(sublayer(x))
            x = residual + x
            if not norm_first:
                x = norm(x)
            return x
        """)),
    right("identity", source("""
        def add_and_norm(x, sublayer, norm, dropout, norm_first):
            before, after = norm, nn.Identity()
            if not norm_first:
                before, after = after, before
            return after(dropout(sublayer(before(x))) + x)
        """)),
]

EXERCISE = Specification(
    contract=Contract(
        arguments="x: B N d; sublayer: _; norm: _; dropout: _; norm_first: _", results="output: B N d",
        on=("post", "pre"),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
