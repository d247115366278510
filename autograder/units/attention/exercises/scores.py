"""Scaled scores of queries and keys."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.inputs import queries_and_keys
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification

_PRODUCT = "q @ k.transpose(-2, -1)"
_ROOT = "math.sqrt(q.size(-1))"

CASES = [
    case("four_queries", "4 queries and 5 keys with d_k = 8, no batch", queries_and_keys(lq=4, lk=5, d_k=8),
         "Without a batch there are only two dimensions: count them from the end."),
    case("two_keys", "a batch of 3, with large entries", queries_and_keys(3, lq=7, lk=2, d_k=6, scale=64.0),
         "Compare with the loop: entry [b, i, j] belongs to q[b, i] and k[b, j]. An "
         "entry can be arbitrarily large.",
         atol=5e-3),
    case("one_query", "a single query and 6 keys with d_k = 10", queries_and_keys(lq=1, lk=6, d_k=10),
         "One query still gives a matrix: one row, six columns."),
    case("heads", "a batch of 2 with 3 heads", queries_and_keys(2, 3, lq=4, lk=7, d_k=5),
         "With heads there are four dimensions; only the last two enter the product."),
    case("many", "five dimensions", queries_and_keys(2, 1, 3, lq=5, lk=6, d_k=7),
         "Any number of leading dimensions is a batch.", hidden_only=True),
]

MISTAKES = [
    wrong("unscaled",
          "The dot products are not scaled.",
          "How large is the standard deviation of these scores for `d_k = 64`?",
          edit("scores / math.sqrt(q.size(-1))", "scores")),
    wrong("clamped",
          "Moderate scores are correct, but large ones are clipped.",
          "Does the docstring mention a maximum score?",
          edit(_PRODUCT, f"({_PRODUCT}).clamp(-100, 100)")),
    wrong("by_size",
          "The scores are divided by `d_k` itself, not by its square root.",
          "The variance of a score is `d_k`. What is its standard deviation, and how many times is each score scaled?",
          edit(_ROOT, "q.size(-1)")),
    wrong("multiplied",
          "Your scores have grown: you multiplied by the square root of `d_k`.",
          "Are scores of long vectors too large or too small?",
          edit("scores / math.sqrt(q.size(-1))", "scores * math.sqrt(q.size(-1))")),
    wrong("root_of_keys",
          "You took the square root of the number of keys instead of `d_k`.",
          "Over which dimension does a dot product sum, counted from the end?",
          edit(_ROOT, "math.sqrt(k.size(-2))")),
    wrong("root_of_queries",
          "You took the square root of the number of queries instead of `d_k`.",
          "Should a score change just because the sentence is longer?",
          edit(_ROOT, "math.sqrt(q.size(-2))")),
    common("second_size", edit(_ROOT, "math.sqrt(q.size(1))")),
    wrong("first_size",
          "You read `d_k` from the first dimension of the tensor.",
          "What does the size under your square root count: vectors, features, or sentences?",
          edit(_ROOT, "math.sqrt(len(q))")),
    wrong("fixed_eight",
          "You always divide by 8. That is correct only for `d_k = 64`, as in the "
          "paper.",
          "How can you read `d_k` from the inputs?",
          edit(_ROOT, "8.0")),
    common("whole_root", on=_ROOT),
    wrong("floor_division",
          "Your scores are whole numbers: `//` discards the fraction.",
          "What is the difference between `7 / 2` and `7 // 2`?",
          edit("scores / math.sqrt(q.size(-1))", "scores // math.sqrt(q.size(-1))")),
    wrong("standardised",
          "You divided by the measured standard deviation of the scores, so each score depends on all the others.",
          "Which divisor gives a standard deviation of 1 on average, without looking at the data?",
          edit(_ROOT, "scores.std()")),
    common("capital_t", edit(_PRODUCT, "q @ k.T")),
    wrong("one_and_two",
          "You swapped dimensions 1 and 2, which is right for a batch, but not without one, and not with heads.",
          "Which indices refer to the last two dimensions of *any* tensor?",
          edit(_PRODUCT, "q @ k.transpose(1, 2)")),
    common("bmm_only", edit(_PRODUCT, "torch.bmm(q, k.transpose(-2, -1))")),
    common("reshaped", edit("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)")),
    wrong("transposed",
          "Your scores are transposed: rows are keys and columns are queries.",
          "Entry `[..., i, j]` belongs to query `i` and key `j`. Which of the two belongs on the left of the product?",
          edit(_PRODUCT, "k @ q.transpose(-2, -1)")),
    wrong("first_sentence",
          "Every sentence of your batch is compared with the keys of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(_PRODUCT, "q @ (k[:1] if k.dim() > 2 else k).transpose(-2, -1)")),
    wrong("shares",
          "Your rows sum to one, so softmax has already been applied.",
          "Does this exercise ask for scores or for attention weights?",
          edit("scores / math.sqrt(q.size(-1))", "(scores / math.sqrt(q.size(-1))).softmax(-1)")),
    wrong("no_transpose",
          "You multiplied `q` by `k` as it is: rows of `q` meet columns of `k`, and their lengths do not match.",
          "A key is a row of `k`. What turns rows into columns?",
          edit(_PRODUCT, "q @ k")),
    wrong("elementwise",
          "`*` multiplies element by element: it compares query 0 with key 0, query 1 with key 1, and needs as many "
          "keys as queries.",
          "Every query must be compared with every key. How many dot products is that?",
          edit(_PRODUCT, "q * k")),
    wrong("elementwise_turned",
          "`*` multiplies element by element, even after `k` has been transposed, and the two shapes do not match.",
          "Every query must be compared with every key. How many dot products is that?",
          edit(_PRODUCT, "q * k.transpose(-2, -1)")),
    wrong("cosine",
          "Your scores are cosines, dot products of normalised vectors.",
          "Should a long key count for more than a short one here?",
          edit(_PRODUCT, "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)")),
    wrong("distance",
          "You computed distances between queries and keys. That is a reasonable similarity, but not a dot product.",
          "What is the distance from a vector to itself, and what is its dot product with itself?",
          edit(_PRODUCT, "-torch.cdist(q, k)")),
    wrong("absolute",
          "All your scores are positive: the sign was lost somewhere.",
          "What score should a key get that points away from the query?",
          edit(_PRODUCT, "(q @ k.transpose(-2, -1)).abs()")),
    wrong("queries_only",
          "You compared the queries with each other; the keys are never used.",
          "Which two matrices does the docstring name? Does your code use both?",
          edit(_PRODUCT, "q @ q.transpose(-2, -1)")),
    wrong("short_sum",
          "One feature is missing from each sum: it stops one feature early.",
          "How many products are summed in a dot product of two vectors of length 8?",
          edit(_PRODUCT, "q[..., :-1] @ k[..., :-1].transpose(-2, -1)")),
    wrong("nothing_returned",
          "Your function computes something but returns nothing.",
          "Which line hands the result to the caller?",
          edit("return scores / math.sqrt(q.size(-1))", "scores / math.sqrt(q.size(-1))")),
    wrong("in_place",
          "Your function modifies `q` itself, which will surprise the caller.",
          "What is the difference between `q = q / n` and `q /= n`?",
          source("""
              def dot_product_scores(q, k):
                  q /= math.sqrt(q.size(-1))
                  return q @ k.transpose(-2, -1)
              """)),
]

ACCEPTED = [
    right("einsum", edit(_PRODUCT, 'torch.einsum("...ic,...jc->...ij", q, k)')),
    right("scale_the_queries", edit(_PRODUCT, "(q * q.size(-1) ** -0.5) @ k.mT", " / math.sqrt(q.size(-1))", "")),
    right("half_each",
          edit(_PRODUCT, "(q / q.size(-1) ** 0.25) @ (k / q.size(-1) ** 0.25).mT", " / math.sqrt(q.size(-1))", "")),
    right("swapaxes", edit(_PRODUCT, "torch.matmul(q, k.swapaxes(-1, -2))")),
    right("in_place_on_own",
          edit("return scores / math.sqrt(q.size(-1))", "return scores.div_(math.sqrt(q.size(-1)))")),
    right("broadcast", edit(_PRODUCT, "(q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)")),
    right("flatten_and_bmm", source("""
        def dot_product_scores(q, k):
            d_k = q.shape[-1]
            flat_q = q.reshape(-1, q.shape[-2], d_k)
            flat_k = k.reshape(-1, k.shape[-2], d_k)
            scores = torch.bmm(flat_q, flat_k.permute(0, 2, 1))
            return scores.view(*q.shape[:-1], k.shape[-2]) / d_k**0.5
        """)),
    right("torch_sqrt", edit(_ROOT, "torch.sqrt(torch.tensor(float(k.shape[-1])))")),
    right("recursion", source("""
        def dot_product_scores(q, k):
            if q.dim() > 2:
                return torch.stack([dot_product_scores(a, b) for a, b in zip(q, k)])
            rows = [[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q]
            return torch.stack([torch.stack(row) for row in rows])
        """)),
]

EXERCISE = Specification(
    name="attention/scores", title="Scaled scores", target="dot_product_scores",
    contract=Contract(
        arguments="q: B h Lq d; k: B h Lk d", results="scores: B h Lq Lk", on=("heads",),
        sizes=special(
            one_sentence=queries_and_keys(1, 3, lq=2, lk=4, d_k=5), one_head=queries_and_keys(2, 1, lq=3, lk=4, d_k=5),
            one_query=queries_and_keys(2, 3, lq=1, lk=4, d_k=5), one_key=queries_and_keys(2, 3, lq=4, lk=1, d_k=5),
            vectors_of_size_one=queries_and_keys(2, 3, lq=4, lk=5, d_k=1),
            equal_sizes=queries_and_keys(3, 3, lq=3, lk=3, d_k=3),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
