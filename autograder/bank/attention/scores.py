"""Scores of queries and keys."""

from __future__ import annotations

from autograder.bank.attention._inputs import queries_and_keys
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Mutant,
    Specification,
    Way,
)

EXERCISE = Specification(
    name="attention/scores",
    title="Scores of queries and keys",
    target="dot_product_scores",
    promise=Promise(
        arguments="q: Lq d; k: Lk d",
        results="scores: Lq Lk",
        on=("four_queries",),
        ways=("spread", "gradient"),
        sizes=special(
            one_key=queries_and_keys(lq=3, lk=1, d_k=4),
            vectors_of_size_one=queries_and_keys(lq=3, lk=4, d_k=1),
            equal_sizes=queries_and_keys(lq=4, lk=4, d_k=4),
        ),
    ),
    cases=[
        CaseKind(
            name="four_queries",
            title="4 queries and 5 keys of size 8",
            inputs=queries_and_keys(lq=4, lk=5, d_k=8),
            hint="Compute one entry by hand, like q1 · k2 above, and look for it.",
        ),
        CaseKind(
            name="two_keys",
            title="7 queries and 2 keys of size 3",
            inputs=queries_and_keys(lq=7, lk=2, d_k=3),
            hint="Here are more queries than keys. Do your rows still belong to "
            "queries?",
        ),
        CaseKind(
            name="one_query",
            title="a single query and 6 keys of size 10, with large numbers",
            inputs=queries_and_keys(lq=1, lk=6, d_k=10, scale=64.0),
            hint="One query still gives a table: one row, six columns. And a score may be "
            "any number, however large.",
            atol=5e-3,
        ),
        CaseKind(
            name="long",
            title="long vectors",
            inputs=queries_and_keys(lq=3, lk=9, d_k=40),
            hint="The dot product sums over all features of a query and a key.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="transposed",
            says="Your table is lying on its side: rows are keys, columns are queries.",
            asks="Entry `[i, j]` is to say how well key `j` fits query `i`. Which of "
            "the two must stand on the left of the product?",
            ways=[
                Way(edits=[Edit("q @ k.T", "k @ q.T")]),
                Way(name="transposed_einsum", edits=[
                    Edit("q @ k.T", 'torch.einsum("ic,jc->ji", q, k)'),
                ]),
            ],
        ),
        Mutant(
            name="no_transpose",
            says="You multiplied `q` with `k` as it is, so rows of `q` met columns of "
            "`k`, and their sizes do not fit.",
            asks="A key is a row of `k`. What turns rows into columns?",
            ways=[
                Way(edits=[Edit("q @ k.T", "q @ k")]),
                Way(name="no_transpose_mm", edits=[Edit("q @ k.T", "torch.mm(q, k)")]),
            ],
        ),
        Mutant(
            name="reshaped",
            says="You reshaped `k` to make the sizes fit. That deals its numbers out "
            "anew, so a column now mixes parts of several keys.",
            asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to "
            "6. Where does the 2 go?",
            ways=[
                Way(edits=[Edit("k.T", "k.reshape(k.size(1), k.size(0))")]),
                Way(name="reshaped_view", edits=[
                    Edit("k.T", "k.contiguous().view(k.shape[1], k.shape[0])"),
                ]),
            ],
        ),
        Mutant(
            name="elementwise",
            says="`*` multiplies entry by entry. It compares query 0 with key 0, query "
            "1 with key 1, and needs as many keys as queries.",
            asks="Every query must meet every key. How many sums of products is that?",
            ways=[Way(edits=[Edit("q @ k.T", "q * k")])],
        ),
        Mutant(
            name="elementwise_turned",
            says="`*` multiplies entry by entry, also where `k` is turned, and the two tables "
            "have different sizes.",
            asks="Every query must meet every key. How many sums of products is that?",
            ways=[Way(edits=[Edit("q @ k.T", "q * k.T")])],
        ),
        Mutant(
            name="clamped",
            says="Usual scores are right, large ones are cut off.",
            asks="Does the docstring name a largest score?",
            ways=[Way(edits=[Edit("q @ k.T", "(q @ k.T).clamp(-100, 100)")])],
        ),
        Mutant(
            name="scaled_early",
            says="The directions are right, but all scores are too small by one "
            "factor: you have divided by the root of `d_k` already.",
            asks="What does the docstring say comes with the dot products? (Scaling is "
            "the next exercise.)",
            ways=[Way(edits=[Edit("q @ k.T", "q @ k.T / math.sqrt(q.size(1))")])],
        ),
        Mutant(
            name="cosine",
            says="Your scores lie between -1 and 1: these are cosines, dot products of "
            "vectors brought to length 1.",
            asks="May a long key count for more than a short one here?",
            ways=[
                Way(edits=[
                    Edit("q @ k.T",
                         "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T"),
                ]),
                Way(name="cosine_similarity", edits=[
                    Edit("q @ k.T", "F.cosine_similarity(q[:, None], k[None], dim=-1)"),
                ]),
            ],
        ),
        Mutant(
            name="distance",
            says="You measured distances between queries and keys. That is a fine idea "
            "of similarity, but not a dot product.",
            asks="What is the distance of a vector to itself, and what its dot product "
            "with itself?",
            ways=[Way(edits=[Edit("q @ k.T", "-torch.cdist(q, k)")])],
        ),
        Mutant(
            name="absolute",
            says="All your scores are positive: somewhere the sign was lost.",
            asks="What should a key score that points away from the query?",
            ways=[Way(edits=[Edit("q @ k.T", "(q @ k.T).abs()")])],
        ),
        Mutant(
            name="shares",
            says="Your rows sum to one: softmax has been applied already.",
            asks="Which of the two, scores or shares, is asked for here?",
            ways=[Way(edits=[Edit("q @ k.T", "F.softmax(q @ k.T, dim=-1)")])],
        ),
        Mutant(
            name="sum_first",
            says="You summed the features of each vector before multiplying. A product "
            "of two sums is not the sum of products.",
            asks="For (1, 2) · (3, 4): what is 1*3 + 2*4, and what (1+2) * (3+4)?",
            ways=[Way(edits=[Edit("q @ k.T", "q.sum(1)[:, None] * k.sum(1)")])],
        ),
        Mutant(
            name="mean",
            says="All scores are too small by the factor `d_k`: you took the mean of "
            "the products, where a dot product takes their sum.",
            asks="How many products are there for one entry, and what happens to them?",
            ways=[Way(edits=[Edit("q @ k.T", "q @ k.T / q.size(1)")])],
        ),
        Mutant(
            name="queries_only",
            says="You compared the queries with each other; the keys play no part.",
            asks="Which two matrices does the docstring name? Does yours use both?",
            ways=[Way(edits=[Edit("q @ k.T", "q @ q.T")])],
        ),
        Mutant(
            name="square_loop",
            says="Your loops run to the same limit for queries and keys, so a part of "
            "the table is missing or was never filled.",
            asks="How many times must the inner loop run when there are 5 keys and 4 "
            "queries?",
            ways=[Way(source="""
                def dot_product_scores(q, k):
                    scores = torch.zeros(len(q), len(k))
                    for i in range(min(len(q), len(k))):
                        for j in range(min(len(q), len(k))):
                            scores[i, j] = (q[i] * k[j]).sum()
                    return scores
                """)],
        ),
        Mutant(
            name="short_sum",
            says="One feature is missing in each sum: the loop over features ends one "
            "step early.",
            asks="Where does `range(n - 1)` stop?",
            ways=[Way(edits=[Edit("q @ k.T", "q[:, :-1] @ k[:, :-1].T")])],
        ),
        Mutant(
            name="nothing_returned",
            says="Your function computes, but returns nothing.",
            asks="Which line hands the result to the caller?",
            ways=[Way(edits=[Edit("return q @ k.T", "q @ k.T")])],
        ),
    ],
    accepted=[
        Accepted(name="loops", source="""
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
            """),
        Accepted(name="einsum", edits=[
            Edit("q @ k.T", 'torch.einsum("ic,jc->ij", q, k)'),
        ]),
        Accepted(name="matmul", edits=[
            Edit("q @ k.T", "torch.matmul(q, k.transpose(0, 1))"),
        ]),
        Accepted(name="broadcast", edits=[
            Edit("q @ k.T", "(q[:, None] * k[None]).sum(-1)"),
        ]),
        Accepted(name="linear", edits=[Edit("q @ k.T", "F.linear(q, k)")]),
        Accepted(name="other_side", edits=[Edit("q @ k.T", "(k @ q.T).T")]),
        Accepted(name="per_key", edits=[
            Edit("q @ k.T", "torch.stack([q @ key for key in k], dim=1)"),
        ]),
        Accepted(name="inner", edits=[Edit("q @ k.T", "torch.inner(q, k)")]),
    ],
)
