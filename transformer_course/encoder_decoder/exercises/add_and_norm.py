"""Cases and mistakes for an exercise: a sublayer's residual, norm and dropout."""

from __future__ import annotations

from typing import Any

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

# The probe has a part for each of these names.
_PARTS: dict[str, Any] = {"sublayer": "one that mixes positions", "norm": "a LayerNorm", "dropout": "one that shrinks"}
_IDENTITIES: dict[str, Any] = dict.fromkeys(_PARTS, "the identity")
_PRE = "x + dropout(sublayer(norm(x)))"
_POST = "norm(x + dropout(sublayer(x)))"

CASES = [
    case("post", "post-norm", sizes(B=3, L=4, d_model=6, norm_first=False, **_PARTS),
         "Post-norm: sublayer, dropout, sum, norm. Write one step per line."),
    case("pre", "pre-norm", sizes(B=2, L=5, d_model=4, norm_first=True, **_PARTS),
         "Pre-norm: the norm is the first thing in the branch, and `x` itself is added."),
    case("handed_on", "post-norm, and each part returns the very tensor that it gets",
         sizes(B=2, L=3, d_model=5, norm_first=False, **_IDENTITIES),
         "The sublayer may return `x` itself. What else changes if you write into its result?"),
    case("handed_on_pre", "the same with pre-norm", sizes(B=3, L=2, d_model=4, norm_first=True, **_IDENTITIES),
         "The sublayer may return `x` itself. What else changes if you write into its result?"),
    case("long_post", "post-norm, a longer sentence", sizes(B=2, L=7, d_model=9, norm_first=False, **_PARTS),
         "Does your code depend on the sizes?", hidden_only=True),
    case("long_pre", "pre-norm, a longer sentence", sizes(B=4, L=6, d_model=5, norm_first=True, **_PARTS),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("swapped", "The two placements are swapped: you use pre-norm where post-norm is asked for, and vice versa.",
          "`norm_first` means that the norm comes before what?",
          edit("if norm_first:", "if not norm_first:")),
    wrong("one_placement", "The norm is in the same place in both cases, whatever `norm_first` says.",
          "Where does your code look at `norm_first`?",
          edit("if norm_first:", "if False:"),
          edit("if norm_first:", "if True:", name="always_pre")),
    wrong("residual_from_normed",
          "In pre-norm you add the *normalised* `x`. The residual path must stay free: add `x` as it came in.",
          "Did you write `x = norm(x)` and then use `x` twice?",
          edit("return x + dropout(sublayer(norm(x)))", """
              x = norm(x)
              return x + dropout(sublayer(x))
              """)),
    wrong("no_residual",
          "The residual connection is missing in at least one of the two placements: the sublayer's output replaces "
          "`x`.",
          "If the sublayer returned zero, what should come out?",
          edit(_PRE, "dropout(sublayer(norm(x)))", _POST, "norm(dropout(sublayer(x)))"),
          edit(_PRE, "dropout(sublayer(norm(x)))", name="no_residual_pre")),
    wrong("norm_before_sum", "In post-norm you normalise one of the two parts, but the norm belongs around their sum.",
          "In the picture of post-norm, does the norm come before or after the +?",
          edit(_POST, "norm(x) + dropout(sublayer(x))"),
          edit(_POST, "x + norm(dropout(sublayer(x)))", name="norm_of_branch")),
    wrong("norm_after_sublayer_pre", "In pre-norm you normalise the sublayer's output, not its input.",
          "What is the first step of the branch in pre-norm?",
          edit("sublayer(norm(x))", "norm(sublayer(x))")),
    wrong("dropout_of_sum", "Dropout comes after the sum, so entries of the residual stream are dropped as well.",
          "Which entries may be dropped: those of `x`, or those of the branch?",
          edit(_PRE, "dropout(x + sublayer(norm(x)))", _POST, "norm(dropout(x + sublayer(x)))"),
          edit(_POST, "norm(dropout(x + sublayer(x)))", name="dropout_of_sum_post"),
          edit(_PRE, "dropout(x + sublayer(norm(x)))",
               _POST, "dropout(norm(x + sublayer(x)))", name="dropout_of_result")),
    wrong("dropout_of_input", "Dropout is applied to the sublayer's input, not to its output.",
          "In the formula, which of the two calls is inside the other?",
          edit("dropout(sublayer(norm(x)))", "sublayer(dropout(norm(x)))",
               "dropout(sublayer(x))", "sublayer(dropout(x))")),
    wrong("part_unused", "The norm or the dropout that you were given is never used.",
          "Which of the five arguments does your code never use?",
          edit("dropout(sublayer(norm(x)))", "sublayer(norm(x))",
               "dropout(sublayer(x))", "sublayer(x)"),
          edit("sublayer(norm(x))", "sublayer(x)",
               "return norm(x + dropout(sublayer(x)))", "return x + dropout(sublayer(x))", name="no_norm")),
    wrong("dropout_in_one_placement", "One of the two placements has no dropout.",
          "Which of your two formulas calls `dropout`?",
          edit(_PRE, "x + sublayer(norm(x))"),
          edit(_POST, "norm(x + sublayer(x))", name="dropout_in_pre_norm_only"), tests="exactly"),
    wrong("own_norm", "You normalise by hand, without the learnt scale and shift of `norm`.",
          "What does `norm` contain besides the formula?",
          edit("sublayer(norm(x))", "sublayer(nn.functional.layer_norm(x, x.shape[-1:]))",
               "return norm(x + dropout(sublayer(x)))",
               "return nn.functional.layer_norm(x + dropout(sublayer(x)), x.shape[-1:])"), tests="exactly"),
    wrong("both_norms", "In pre-norm you normalise twice: before the sublayer and after the sum.",
          "What would the residual stream have to pass through then?",
          edit(_PRE, "norm(x + dropout(sublayer(norm(x))))")),
    wrong("sublayer_twice", "The sublayer is called twice.",
          "It may contain dropout. Would both calls return the same result then?",
          edit("return norm(x + dropout(sublayer(x)))", """
              sublayer(x)
              return norm(x + dropout(sublayer(x)))
              """)),
    wrong("in_place", "Your code changes `x` in place.",
          "What is the difference between `x = x + y` and `x += y`?",
          edit("return x + dropout(sublayer(norm(x)))", """
              x += dropout(sublayer(norm(x)))
              return x
              """,
               "return norm(x + dropout(sublayer(x)))", """
              x += dropout(sublayer(x))
              return norm(x)
              """), tests="modified"),
    wrong("branch_in_place", "Your code writes into the tensor that the branch returned, which may be `x` itself.",
          "Whose tensor does `+=` or `add_` change, whether or not gradients are recorded?",
          edit(_PRE, "dropout(sublayer(norm(x))).add_(x)", _POST, "norm(dropout(sublayer(x)).add_(x))"),
          edit(_POST, "norm(dropout(sublayer(x)).add_(x))", name="branch_in_place_post"),
          edit(_POST, "norm(x + dropout(sublayer(x)) if torch.is_grad_enabled() else dropout(sublayer(x)).add_(x))",
               name="in_place_without_gradient")),
    wrong("no_dropout_in_eval", "In eval mode your code does not call `dropout`.",
          "How often should each of the three parts be called, and which of them decides what happens in eval mode?",
          edit("return x + dropout(sublayer(norm(x)))",
               "return x + (dropout(sublayer(norm(x))) if dropout.training else sublayer(norm(x)))",
               "return norm(x + dropout(sublayer(x)))",
               "return norm(x + (dropout(sublayer(x)) if dropout.training else sublayer(x)))")),
    wrong("detached_road", "No gradient flows through the residual connection.",
          "Is there a `detach()`, `.data` or `no_grad` on the way?",
          edit(_PRE, "x.detach() + dropout(sublayer(norm(x)))",
               _POST, "norm(x.detach() + dropout(sublayer(x)))")),
    wrong("minus", "The branch is subtracted.",
          "Which sign does the residual connection have?",
          edit(_PRE, "x - dropout(sublayer(norm(x)))",
               _POST, "norm(x - dropout(sublayer(x)))")),
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
    right("torch_add", edit(_PRE, "torch.add(dropout(sublayer(norm(x))), x)",
                            _POST, "norm(dropout(sublayer(x)).add(x))")),
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
    results="output", contract=Contract(on=("post", "pre"), typed=False),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
