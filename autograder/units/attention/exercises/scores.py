"""Scores of queries and keys."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.inputs import queries_and_keys
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification

CASES = [
    case("four_queries", "4 queries and 5 keys with d_k = 8", queries_and_keys(lq=4, lk=5, d_k=8),
         "Compute one entry by hand, like q1 · k2 above, and look for it."),
    case("two_keys", "7 queries and 2 keys with d_k = 3", queries_and_keys(lq=7, lk=2, d_k=3),
         "Here there are more queries than keys. Do your rows still belong to the queries?"),
    case("one_query", "a single query and 6 keys with d_k = 10, and large entries",
         queries_and_keys(lq=1, lk=6, d_k=10, scale=64.0),
         "One query still gives a matrix: one row, six columns. Scores can be arbitrarily large.",
         atol=5e-3),
    case("long", "long vectors", queries_and_keys(lq=3, lk=9, d_k=40),
         "The dot product sums over all features of a query and a key.", hidden_only=True),
]

MISTAKES = [
    wrong("transposed",
          "Your table is transposed: rows are keys and columns are queries.",
          "Entry `[i, j]` says how well key `j` fits query `i`. Which matrix belongs on the left of the product?",
          edit("q @ k.T", "k @ q.T")),
    wrong("no_transpose",
          "You multiplied `q` by `k` as it is: rows of `q` meet columns of `k`, and their lengths do not match.",
          "A key is a row of `k`. What turns rows into columns?",
          edit("q @ k.T", "q @ k")),
    wrong("reshaped",
          "You reshaped `k` to make the shapes fit. That rearranges its entries, so a column now mixes parts of "
          "several keys.",
          "Try reshaping and transposing a 2 x 3 matrix with the entries 1 to 6. Where does the 2 go?",
          edit("k.T", "k.reshape(k.size(1), k.size(0))")),
    wrong("elementwise",
          "`*` multiplies element by element: it compares query 0 with key 0, query 1 with key 1, and needs as many "
          "keys as queries.",
          "Every query must be compared with every key. How many dot products is that?",
          edit("q @ k.T", "q * k")),
    wrong("elementwise_turned",
          "`*` multiplies element by element, even after `k` has been transposed, and the two shapes do not match.",
          "Every query must be compared with every key. How many dot products is that?",
          edit("q @ k.T", "q * k.T")),
    common("clamped", on="q @ k.T"),
    wrong("scaled_early",
          "All scores are too small by the same factor: you have already divided by the square root of `d_k`.",
          "Does the docstring ask for anything besides the dot products? (Scaling is the next exercise.)",
          edit("q @ k.T", "q @ k.T / math.sqrt(q.size(1))")),
    wrong("cosine",
          "Your scores lie between -1 and 1: they are cosines, dot products of normalised vectors.",
          "Should a long key count for more than a short one here?",
          edit("q @ k.T", "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T")),
    wrong("distance",
          "You computed distances between queries and keys. That is a reasonable similarity, but not a dot product.",
          "What is the distance from a vector to itself, and what is its dot product with itself?",
          edit("q @ k.T", "-torch.cdist(q, k)")),
    wrong("absolute",
          "All your scores are positive: the sign was lost somewhere.",
          "What score should a key get that points away from the query?",
          edit("q @ k.T", "(q @ k.T).abs()")),
    common("shares", edit("q @ k.T", "F.softmax(q @ k.T, dim=-1)")),
    wrong("sum_first",
          "You summed the features of each vector before multiplying, but a product of sums is not a sum of products.",
          "For (1, 2) · (3, 4): what is 1*3 + 2*4, and what is (1+2) * (3+4)?",
          edit("q @ k.T", "q.sum(1)[:, None] * k.sum(1)")),
    wrong("mean",
          "All scores are too small by a factor of `d_k`: you averaged the products instead of summing them.",
          "How many products go into one entry, and what does a dot product do with them?",
          edit("q @ k.T", "q @ k.T / q.size(1)")),
    wrong("queries_only",
          "You compared the queries with each other; the keys are never used.",
          "Which two matrices does the docstring name? Does your code use both?",
          edit("q @ k.T", "q @ q.T")),
    wrong("square_loop",
          "Your loops over queries and keys have the same limit, so part of the table is missing or never filled in.",
          "How many times must the inner loop run if there are 4 queries and 5 keys?",
          source("""
              def dot_product_scores(q, k):
                  scores = torch.zeros(len(q), len(k))
                  for i in range(min(len(q), len(k))):
                      for j in range(min(len(q), len(k))):
                          scores[i, j] = (q[i] * k[j]).sum()
                  return scores
              """)),
    wrong("short_sum",
          "One feature is missing from each sum: it stops one feature early.",
          "How many products are summed in a dot product of two vectors of length 8?",
          edit("q @ k.T", "q[:, :-1] @ k[:, :-1].T")),
    wrong("nothing_returned",
          "Your function computes something but returns nothing.",
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
    contract=Contract(
        arguments="q: Lq d; k: Lk d", results="scores: Lq Lk", on=("four_queries",), ways=("spread", "gradient"),
        sizes=special(
            one_key=queries_and_keys(lq=3, lk=1, d_k=4), vectors_of_size_one=queries_and_keys(lq=3, lk=4, d_k=1),
            equal_sizes=queries_and_keys(lq=4, lk=4, d_k=4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
