"""Cases and mistakes for an exercise: the induction score of attention heads.

It says how much a head attends to what followed the same token last time.
"""

from __future__ import annotations

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_STRIPE = "stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)"
_RETURN = "return stripe[..., 1:].mean(dim=-1)"

CASES = [
    case("heads", "2 texts, 3 heads, 8 positions, period 3", sizes(batch=(2, 3), L=8, period=3),
         "Are queries and keys the last two dimensions?", tests="leading"),
    case("one_map", "one map of 9 positions, period 4", sizes(batch=(), L=9, period=4),
         "Query 4 is the first that sees a token for the second time. Which key follows the first occurrence?"),
    case("long_period", "11 positions, period 7", sizes(batch=(4,), L=11, period=7),
         "How many queries are there from position `period` on?"),
    case("period_two", "7 positions, period 2", sizes(batch=(2,), L=7, period=2),
         "With period 2, which key does query 2 have to look at?"),
    case("more", "4 heads, 13 positions, period 5", sizes(batch=(4,), L=13, period=5), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("same_token", "You measured the weight on the *same* token one period earlier, not on the token after it.",
          "Query `i` looks for what came next. At which position did its token occur before, and what follows there?",
          edit("1 - period", "-period", "stripe[..., 1:]", "stripe")),
    wrong("one_before", "Your stripe lies at the token *before* the earlier occurrence.",
          "Is the key that follows position `i - period` larger or smaller by one?",
          edit("1 - period", "-period - 1", "stripe[..., 1:]", "stripe")),
    wrong("first_query", "The stripe includes query `period - 1`, which has not seen its token before.",
          "Which is the first position whose token occurs for the second time?",
          edit("stripe[..., 1:]", "stripe"), tests="from position"),
    wrong("one_query_fewer", "You leave out the first query of the repetition, or the last.",
          "Which positions are at least `period`?",
          edit("stripe[..., 1:]", "stripe[..., 2:]"),
          edit("stripe[..., 1:]", "stripe[..., 1:-1]", name="last_left_out"),
          edit("stripe[..., 1:].mean(dim=-1)", "stripe[..., 1:-1].sum(dim=-1) / (weights.size(-1) - period)",
               name="last_not_added")),
    wrong("transposed", "You took queries for keys: your stripe lies above the diagonal.",
          "Which of the last two dimensions belongs to the queries?",
          edit("dim1=-2, dim2=-1", "dim1=-1, dim2=-2")),
    wrong("first_two_dimensions",
          "Your diagonal runs through the first two dimensions; queries and keys are the last two.",
          "Which dimensions does `diagonal` use if you don't give any?",
          edit(", dim1=-2, dim2=-1", "")),
    wrong("previous_token", "You measured how much each query attends to the token before it.",
          "Where does `period` occur in your code?",
          edit("1 - period", "-1", "stripe[..., 1:]", "stripe[..., period - 1 :]")),
    wrong("sum", "You added the weights up instead of averaging them.",
          "Should a longer text give a larger score?",
          edit(".mean(dim=-1)", ".sum(dim=-1)")),
    wrong("over_all_queries", "You divided by the number of all queries, also those of the first period.",
          "How many weights are in the mean?",
          edit(".mean(dim=-1)", ".sum(dim=-1) / weights.size(-1)")),
    wrong("largest", "You took the largest weight of the stripe instead of their mean.",
          "What does the docstring promise?",
          edit(".mean(dim=-1)", ".amax(dim=-1)")),
    wrong("over_everything", "You averaged over texts and heads as well: one number for all of them.",
          "Which dimensions should remain?",
          edit(".mean(dim=-1)", ".mean()")),
    wrong("share_of_largest", "You counted how often the key has the largest weight instead of averaging its weight.",
          "Is a weight of 0.4 that happens to be the largest worth as much as one of 1?",
          edit(_RETURN, """
              best = weights.argmax(dim=-1)[..., period:]
              wanted = torch.arange(1, weights.size(-1) - period + 1)
              return (best == wanted).float().mean(dim=-1)
              """)),
    wrong("whole_row", "You averaged whole rows of the map.",
          "Which one key of each row counts?",
          edit(_STRIPE, "stripe = weights[..., period - 1 :, :].mean(dim=-1)")),
]

ACCEPTED = [
    right("by_index", source("""
        def induction_score(weights, period):
            queries = torch.arange(period, weights.size(-1))
            return weights[..., queries, queries - period + 1].mean(dim=-1)
        """)),
    right("loop", source("""
        def induction_score(weights, period):
            entries = [weights[..., i, i - period + 1] for i in range(period, weights.size(-1))]
            return torch.stack(entries).mean(dim=0)
        """)),
    right("submatrix", source("""
        def induction_score(weights, period):
            return weights[..., period:, 1:].diagonal(dim1=-2, dim2=-1).mean(dim=-1)
        """)),
]

EXERCISE = Specification(
    results="the scores", fixed="L", contract=Contract(on=("heads",)),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
