"""Scores of queries and keys."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.inputs import queries_and_keys
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.promise import Promise, special
from autograder.authoring.specification import Specification

CASES = [
    case("four_queries", "4 queries and 5 keys of size 8", queries_and_keys(lq=4, lk=5, d_k=8),
         "Compute one entry by hand, like q1 · k2 above, and look for it."),
    case("two_keys", "7 queries and 2 keys of size 3", queries_and_keys(lq=7, lk=2, d_k=3),
         "Here are more queries than keys. Do your rows still belong to queries?"),
    case("one_query", "a single query and 6 keys of size 10, with large numbers",
         queries_and_keys(lq=1, lk=6, d_k=10, scale=64.0),
         "One query still gives a table: one row, six columns. And a score may be any number, however large.",
         atol=5e-3),
    case("long", "long vectors", queries_and_keys(lq=3, lk=9, d_k=40),
         "The dot product sums over all features of a query and a key.", hidden_only=True),
]

MISTAKES = [
    wrong("transposed",
          "Your table is lying on its side: rows are keys, columns are queries.",
          "Entry `[i, j]` is to say how well key `j` fits query `i`. Which of the two must stand on the left of the "
          "product?",
          edit("q @ k.T", "k @ q.T")),
    wrong("no_transpose",
          "You multiplied `q` with `k` as it is, so rows of `q` met columns of `k`, and their sizes do not fit.",
          "A key is a row of `k`. What turns rows into columns?",
          edit("q @ k.T", "q @ k")),
    wrong("reshaped",
          "You reshaped `k` to make the sizes fit. That deals its numbers out anew, so a column now mixes parts of "
          "several keys.",
          "Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to 6. Where does the 2 go?",
          edit("k.T", "k.reshape(k.size(1), k.size(0))")),
    wrong("elementwise",
          "`*` multiplies entry by entry. It compares query 0 with key 0, query 1 with key 1, and needs as many keys "
          "as queries.",
          "Every query must meet every key. How many sums of products is that?",
          edit("q @ k.T", "q * k")),
    wrong("elementwise_turned",
          "`*` multiplies entry by entry, also where `k` is turned, and the two tables have different sizes.",
          "Every query must meet every key. How many sums of products is that?",
          edit("q @ k.T", "q * k.T")),
    common("clamped", on="q @ k.T"),
    wrong("scaled_early",
          "The directions are right, but all scores are too small by one factor: you have divided by the root of "
          "`d_k` already.",
          "What does the docstring say comes with the dot products? (Scaling is the next exercise.)",
          edit("q @ k.T", "q @ k.T / math.sqrt(q.size(1))")),
    wrong("cosine",
          "Your scores lie between -1 and 1: these are cosines, dot products of vectors brought to length 1.",
          "May a long key count for more than a short one here?",
          edit("q @ k.T", "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T")),
    wrong("distance",
          "You measured distances between queries and keys. That is a fine idea of similarity, but not a dot product.",
          "What is the distance of a vector to itself, and what its dot product with itself?",
          edit("q @ k.T", "-torch.cdist(q, k)")),
    wrong("absolute",
          "All your scores are positive: somewhere the sign was lost.",
          "What should a key score that points away from the query?",
          edit("q @ k.T", "(q @ k.T).abs()")),
    common("shares", edit("q @ k.T", "F.softmax(q @ k.T, dim=-1)")),
    wrong("sum_first",
          "You summed the features of each vector before multiplying. A product of two sums is not the sum of "
          "products.",
          "For (1, 2) · (3, 4): what is 1*3 + 2*4, and what (1+2) * (3+4)?",
          edit("q @ k.T", "q.sum(1)[:, None] * k.sum(1)")),
    wrong("mean",
          "All scores are too small by the factor `d_k`: you took the mean of the products, where a dot product takes "
          "their sum.",
          "How many products are there for one entry, and what happens to them?",
          edit("q @ k.T", "q @ k.T / q.size(1)")),
    wrong("queries_only",
          "You compared the queries with each other; the keys play no part.",
          "Which two matrices does the docstring name? Does yours use both?",
          edit("q @ k.T", "q @ q.T")),
    wrong("square_loop",
          "Your loops run to the same limit for queries and keys, so a part of the table is missing or was never "
          "filled.",
          "How many times must the inner loop run when there are 5 keys and 4 queries?",
          source("""
              def dot_product_scores(q, k):
                  scores = torch.zeros(len(q), len(k))
                  for i in range(min(len(q), len(k))):
                      for j in range(min(len(q), len(k))):
                          scores[i, j] = (q[i] * k[j]).sum()
                  return scores
              """)),
    wrong("short_sum",
          "One feature is missing in each sum: the loop over features ends one step early.",
          "Where does `range(n - 1)` stop?",
          edit("q @ k.T", "q[:, :-1] @ k[:, :-1].T")),
    wrong("nothing_returned",
          "Your function computes, but returns nothing.",
          "Which line hands the result to the caller?",
          edit("return q @ k.T", "q @ k.T")),
]

ACCEPTED = [
    right("loops", source("""
        def dot_product_scores(q, k):
            table = []
            for query in q:
                row = []
                for key in k:
                    total = 0.0
                    for a, b in zip(query, key):
                        total = total + a * b
                    row.append(total)
                table.append(torch.stack(row))
            return torch.stack(table)
        """)),
    right("einsum", edit("q @ k.T", 'torch.einsum("ic,jc->ij", q, k)')),
    right("matmul", edit("q @ k.T", "torch.matmul(q, k.transpose(0, 1))")),
    right("broadcast", edit("q @ k.T", "(q[:, None] * k[None]).sum(-1)")),
    right("linear", edit("q @ k.T", "F.linear(q, k)")),
    right("other_side", edit("q @ k.T", "(k @ q.T).T")),
    right("per_key", edit("q @ k.T", "torch.stack([q @ key for key in k], dim=1)")),
    right("inner", edit("q @ k.T", "torch.inner(q, k)")),
]

EXERCISE = Specification(
    name="attention/scores", title="Scores of queries and keys", target="dot_product_scores",
    promise=Promise(
        arguments="q: Lq d; k: Lk d", results="scores: Lq Lk", on=("four_queries",), ways=("spread", "gradient"),
        sizes=special(
            one_key=queries_and_keys(lq=3, lk=1, d_k=4), vectors_of_size_one=queries_and_keys(lq=3, lk=4, d_k=1),
            equal_sizes=queries_and_keys(lq=4, lk=4, d_k=4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
