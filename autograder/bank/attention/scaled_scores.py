"""Scaled scores for any batch."""

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

_PRODUCT = "q @ k.transpose(-2, -1)"
_ROOT = "math.sqrt(q.size(-1))"

EXERCISE = Specification(
    name="attention/scaled_scores",
    title="Scaled scores for any batch",
    target="scaled_scores",
    promise=Promise(
        arguments="q: B h Lq d; k: B h Lk d",
        results="scores: B h Lq Lk",
        on=("heads",),
        sizes=special(
            one_sentence=queries_and_keys(1, 3, lq=2, lk=4, d_k=5),
            one_head=queries_and_keys(2, 1, lq=3, lk=4, d_k=5),
            one_query=queries_and_keys(2, 3, lq=1, lk=4, d_k=5),
            one_key=queries_and_keys(2, 3, lq=4, lk=1, d_k=5),
            vectors_of_size_one=queries_and_keys(2, 3, lq=4, lk=5, d_k=1),
            equal_sizes=queries_and_keys(3, 3, lq=3, lk=3, d_k=3),
        ),
    ),
    cases=[
        CaseKind(
            name="matrix",
            title="4 queries and 5 keys of size 8, no batch",
            inputs=queries_and_keys(lq=4, lk=5, d_k=8),
            hint="Without a batch there are two dimensions only: count them from the "
            "end.",
        ),
        CaseKind(
            name="batch",
            title="a batch of 3, with large numbers",
            inputs=queries_and_keys(3, lq=7, lk=2, d_k=6, scale=64.0),
            hint="Compare with the loop: entry [b, i, j] belongs to q[b, i] and k[b, "
            "j]. It may be any number, however large.",
            atol=5e-3,
        ),
        CaseKind(
            name="heads",
            title="a batch of 2 with 3 heads",
            inputs=queries_and_keys(2, 3, lq=4, lk=7, d_k=5),
            hint="With heads there are four dimensions; only the last two take part.",
        ),
        CaseKind(
            name="many",
            title="five dimensions",
            inputs=queries_and_keys(2, 1, 3, lq=5, lk=6, d_k=7),
            hint="Any number of leading dimensions is a batch.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="unscaled",
            says="The dot products are right, but they are not scaled.",
            asks="How large is the standard deviation of these scores for `d_k` = 64?",
            ways=[Way(edits=[Edit("scores / math.sqrt(q.size(-1))", "scores")])],
        ),
        Mutant(
            name="clamped",
            says="Usual scores are right, large ones are cut off.",
            asks="Does the docstring name a largest score?",
            ways=[Way(edits=[Edit(_PRODUCT, f"({_PRODUCT}).clamp(-100, 100)")])],
        ),
        Mutant(
            name="by_size",
            says="You divided by `d_k` itself, not by its root.",
            asks="The variance of a score is `d_k`. What is its standard deviation?",
            ways=[
                Way(edits=[Edit(_ROOT, "q.size(-1)")]),
                Way(name="scaled_twice", edits=[
                    Edit(_PRODUCT, "(q / q.size(-1) ** 0.5) @ k.transpose(-2, -1)"),
                ]),
            ],
        ),
        Mutant(
            name="multiplied",
            says="Your scores grew: you multiplied by the root of `d_k`.",
            asks="Are scores of long vectors too large or too small?",
            ways=[Way(edits=[
                Edit("scores / math.sqrt(q.size(-1))",
                     "scores * math.sqrt(q.size(-1))"),
            ])],
        ),
        Mutant(
            name="root_of_keys",
            says="You took the root of the number of keys, not of their size.",
            asks="Over which dimension does a dot product sum? What is its place from "
            "the end?",
            ways=[
                Way(edits=[Edit(_ROOT, "math.sqrt(k.size(-2))")]),
                Way(name="root_of_scores", edits=[
                    Edit(_ROOT, "math.sqrt(scores.size(-1))"),
                ]),
            ],
        ),
        Mutant(
            name="root_of_queries",
            says="You took the root of the number of queries, not of their size.",
            asks="Should a score change because the sentence became longer?",
            ways=[Way(edits=[Edit(_ROOT, "math.sqrt(q.size(-2))")])],
        ),
        Mutant(
            name="second_size",
            says="You read the size off dimension 1, which is `d_k` only while there "
            "is no batch.",
            asks="Which index names the last dimension, however many there are?",
            ways=[Way(edits=[Edit(_ROOT, "math.sqrt(q.size(1))")])],
        ),
        Mutant(
            name="first_size",
            says="You read the size off the first dimension of the tensor.",
            asks="What does `len(q)` count: vectors, features, or sentences?",
            ways=[Way(edits=[Edit(_ROOT, "math.sqrt(len(q))")])],
        ),
        Mutant(
            name="fixed_eight",
            says="You divided by 8, always. That is the root of 64, the size in the "
            "paper's example, and of no other.",
            asks="Where can you read `d_k` off the input?",
            ways=[Way(edits=[Edit(_ROOT, "8.0")])],
        ),
        Mutant(
            name="whole_root",
            says="The root of `d_k` was cut down to a whole number.",
            asks="What is the root of 6, and what is `int` of it?",
            ways=[
                Way(edits=[Edit(_ROOT, "int(math.sqrt(q.size(-1)))")]),
                Way(name="isqrt", edits=[Edit(_ROOT, "math.isqrt(q.size(-1))")]),
            ],
        ),
        Mutant(
            name="floor_division",
            says="Your scores are whole numbers: `//` throws the rest of a division "
            "away.",
            asks="What is the difference between `7 / 2` and `7 // 2`?",
            ways=[Way(edits=[
                Edit("scores / math.sqrt(q.size(-1))",
                     "scores // math.sqrt(q.size(-1))"),
            ])],
        ),
        Mutant(
            name="standardised",
            says="You divided by the measured spread of these very scores. Then each "
            "score depends on all the others.",
            asks="Which number brings the spread to 1 on average, without looking at "
            "the data?",
            ways=[Way(edits=[Edit(_ROOT, "scores.std()")])],
        ),
        Mutant(
            name="capital_t",
            says="`k.T` reverses all dimensions, the batch too. That works for a plain "
            "matrix only.",
            asks="Which two dimensions should swap, counted from the end?",
            ways=[Way(edits=[Edit(_PRODUCT, "q @ k.T")])],
        ),
        Mutant(
            name="one_and_two",
            says="You swapped dimensions 1 and 2. Those are the right ones for a "
            "batch, but not without a batch, and not with heads.",
            asks="Which numbers name the last two dimensions of *any* tensor?",
            ways=[Way(edits=[Edit(_PRODUCT, "q @ k.transpose(1, 2)")])],
        ),
        Mutant(
            name="bmm_only",
            says="`bmm` takes three dimensions exactly: no plain matrix, and no heads.",
            asks="Which product treats any leading dimensions as a batch?",
            ways=[Way(edits=[Edit(_PRODUCT, "torch.bmm(q, k.transpose(-2, -1))")])],
        ),
        Mutant(
            name="reshaped",
            says="You reshaped the keys to make the sizes fit. That deals their "
            "numbers out anew; it is not a transposition.",
            asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to "
            "6. Where does the 2 go?",
            ways=[Way(edits=[
                Edit("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)"),
            ])],
        ),
        Mutant(
            name="transposed",
            says="Your tables are lying on their side: rows are keys, columns are "
            "queries.",
            asks="Entry `[..., i, j]` belongs to query `i` and key `j`. Which of the "
            "two stands on the left?",
            ways=[Way(edits=[Edit(_PRODUCT, "k @ q.transpose(-2, -1)")])],
        ),
        Mutant(
            name="first_sentence",
            says="Every sentence of your batch is compared with the keys of the first "
            "one.",
            asks="Does an index `[0]` stand somewhere in your code?",
            ways=[Way(edits=[
                Edit(_PRODUCT, "q @ (k[:1] if k.dim() > 2 else k).transpose(-2, -1)"),
            ])],
        ),
        Mutant(
            name="shares",
            says="Your rows sum to one: softmax has been applied already.",
            asks="Which of the two, scores or shares, is asked for here?",
            ways=[Way(edits=[
                Edit("scores / math.sqrt(q.size(-1))",
                     "(scores / math.sqrt(q.size(-1))).softmax(-1)"),
            ])],
        ),
        Mutant(
            name="in_place",
            says="The scores are right, but your function has changed `q` itself, and "
            "whoever called it will be surprised.",
            asks="What is the difference between `q = q / n` and `q /= n`?",
            ways=[
                Way(source="""
                    def scaled_scores(q, k):
                        q /= math.sqrt(q.size(-1))
                        return q @ k.transpose(-2, -1)
                    """),
                Way(name="in_place_div", source="""
                    def scaled_scores(q, k):
                        return q.div_(q.shape[-1] ** 0.5) @ k.transpose(-2, -1)
                    """),
            ],
        ),
    ],
    accepted=[
        Accepted(name="einsum", edits=[
            Edit(_PRODUCT, 'torch.einsum("...ic,...jc->...ij", q, k)'),
        ]),
        Accepted(name="scale_the_queries", edits=[
            Edit(_PRODUCT, "(q * q.size(-1) ** -0.5) @ k.mT"),
            Edit(" / math.sqrt(q.size(-1))", ""),
        ]),
        Accepted(name="half_each", edits=[
            Edit(_PRODUCT, "(q / q.size(-1) ** 0.25) @ (k / q.size(-1) ** 0.25).mT"),
            Edit(" / math.sqrt(q.size(-1))", ""),
        ]),
        Accepted(name="swapaxes", edits=[
            Edit(_PRODUCT, "torch.matmul(q, k.swapaxes(-1, -2))"),
        ]),
        Accepted(name="in_place_on_own", edits=[
            Edit("return scores / math.sqrt(q.size(-1))",
                 "return scores.div_(math.sqrt(q.size(-1)))"),
        ]),
        Accepted(name="broadcast", edits=[
            Edit(_PRODUCT, "(q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)"),
        ]),
        Accepted(name="flatten_and_bmm", source="""
            def scaled_scores(q, k):
                d_k = q.shape[-1]
                flat_q = q.reshape(-1, q.shape[-2], d_k)
                flat_k = k.reshape(-1, k.shape[-2], d_k)
                scores = torch.bmm(flat_q, flat_k.permute(0, 2, 1))
                return scores.view(*q.shape[:-1], k.shape[-2]) / d_k**0.5
            """),
        Accepted(name="torch_sqrt", edits=[
            Edit(_ROOT, "torch.sqrt(torch.tensor(float(k.shape[-1])))"),
        ]),
        Accepted(name="recursion", source="""
            def scaled_scores(q, k):
                if q.dim() > 2:
                    return torch.stack([scaled_scores(a, b) for a, b in zip(q, k)])
                rows = [[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q]
                return torch.stack([torch.stack(row) for row in rows])
            """),
    ],
)
