"""Scaled dot-product attention."""

from __future__ import annotations

import torch

from autograder.bank.attention._scaled_dot_product.accepted import ACCEPTED
from autograder.bank.attention._scaled_dot_product.dimensions import DIMENSIONS
from autograder.bank.attention._scaled_dot_product.masks import MASKS
from autograder.bank.attention._scaled_dot_product.products import PRODUCTS
from autograder.bank.attention._scaled_dot_product.results import RESULTS
from autograder.bank.attention._scaled_dot_product.scaling import SCALING
from autograder.bank.inputs import causal_mask, open_mask, sizes_of
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, both, masked, special
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _triples(
    *lead: int,
    lq: int,
    lk: int,
    d_k: int,
    d_v: int,
    scale: float = 2.0,
    mask: tuple[int, ...] = (),
    pull: bool = False,
) -> Maker:
    """Queries, keys, values; a mask of the given shape; weights for a gradient."""

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "q": draw.tensor(*lead, lq, d_k, scale=scale),
            "k": draw.tensor(*lead, lk, d_k, scale=scale),
            "v": draw.tensor(*lead, lk, d_v),
        }
        made |= {"mask": open_mask(draw, *mask)} if mask else {}
        return made | ({"pull": draw.tensor(*lead, lq, d_v)} if pull else {})

    return inputs


def _causal_triples(draw: Draw) -> Inputs:
    inputs = _triples(2, lq=5, lk=5, d_k=6, d_v=3)(draw)
    return inputs | {"mask": causal_mask(5)}


def _large_triples(draw: Draw) -> Inputs:
    """All scores of a query are large and close to each other."""
    inputs = _triples(2, lq=5, lk=4, d_k=3, d_v=6, mask=(2, 5, 4))(draw)
    inputs["q"][..., 0] = 64.0 * torch.tensor([1, -1, 1, -1, 1])
    inputs["k"][..., 0] = 8.0
    return inputs


def _far_triples(draw: Draw) -> Inputs:
    """Open keys far below zero, the first far above the others, and closed ones above.

    That one open score is so much larger makes the shares known to any rounding. The
    second sentence has usual scores: such shares tell little.
    """
    level = torch.tensor([-2048.0, -2080.0, 2048.0, -2112.0, 2048.0])  # of each key
    q, k = draw.tensor(2, 3, 4), draw.tensor(2, 5, 4)
    k[0, level < 0] = 0.0
    k[0, :, 0], q[0, :, 0] = level, 2048.0
    mask = (level < 0).expand(2, 1, 5)
    return {"q": q, "k": k, "v": draw.tensor(2, 5, 6), "mask": mask.clone()}


def _queries_of_zeros(draw: Draw) -> Inputs:
    """All scores are zero: what is filled in for closed keys must not depend on them."""
    inputs = _triples(2, lq=3, lk=5, d_k=4, d_v=2, mask=(2, 3, 5))(draw)
    return inputs | {"q": torch.zeros_like(inputs["q"])}


def _open_for_each_query(draw: Draw) -> Inputs:
    """A mask (Lq, 1): one word for all keys of a query, which must leave some open."""
    made = _triples(2, lq=3, lk=5, d_k=4, d_v=6)(draw)
    return made | {"mask": torch.ones(3, 1, dtype=torch.bool)}


def _three_dimensions(mask: str) -> Maker:
    shape = sizes_of(mask, B=2, Lq=3, Lk=5)
    return _triples(2, lq=3, lk=5, d_k=4, d_v=6, mask=shape)


def _four_dimensions(mask: str) -> Maker:
    shape = sizes_of(mask, B=2, h=3, Lq=4, Lk=5)
    return _triples(2, 3, lq=4, lk=5, d_k=6, d_v=7, mask=shape)


EXERCISE = Specification(
    name="attention/scaled_dot_product",
    title="Scaled dot-product attention",
    target="scaled_dot_product_attention",
    aspects={"weights": 4.0},  # right ones are half of the way
    promise=Promise(
        typed=True,
        narrow=True,
        arguments="q: B h Lq d; k: B h Lk d; v: B h Lk e; "
        "mask?: Lq Lk | B Lq Lk | B h Lq Lk",
        results="output: B h Lq e; weights: B h Lq Lk",
        on=("heads",),
        sizes=both(
            special(
                one_sentence=_triples(1, lq=3, lk=4, d_k=5, d_v=2, mask=(1, 3, 4)),
                one_query=_triples(2, lq=1, lk=4, d_k=5, d_v=3, mask=(2, 1, 4)),
                one_key=_triples(2, lq=3, lk=1, d_k=5, d_v=4),
                values_of_size_one=_triples(2, lq=3, lk=4, d_k=1, d_v=1),
                equal_sizes=_triples(4, 4, lq=4, lk=4, d_k=4, d_v=4, mask=(4, 4, 4, 4)),
                as_many_sentences_as_queries=_triples(
                    3, lq=3, lk=4, d_k=5, d_v=2, mask=(3, 4)
                ),
                as_many_heads_as_sentences=_triples(
                    3, 3, lq=4, lk=5, d_k=6, d_v=2, mask=(3, 4, 5)
                ),
                as_many_sentences_as_queries_with_heads=_triples(
                    3, 2, lq=3, lk=5, d_k=4, d_v=6, mask=(3, 5)
                ),
                queries_of_zeros=_queries_of_zeros,
                scores_in_the_millions=_triples(
                    2, lq=3, lk=5, d_k=4, d_v=2, scale=2000.0
                ),
            ),
            masked(_three_dimensions, "Lq Lk", "B 1 Lk", "1 Lk"),
            masked(
                _four_dimensions,
                *("B h Lq Lk", "B h 1 Lk", "B 1 Lq Lk", "1 h Lq Lk", "h Lq Lk"),
            ),
            special(all_open_for_each_query=_open_for_each_query),
        ),
    ),
    cases=[
        CaseKind(
            name="matrix",
            title="4 queries and 5 keys of size 8, no batch, no mask",
            inputs=_triples(lq=4, lk=5, d_k=8, d_v=3),
            hint="Compare with the steps: scores, scaling, softmax, weighted sum.",
        ),
        CaseKind(
            name="batch",
            title="a batch of 2, and the gradient",
            inputs=_triples(2, lq=3, lk=7, d_k=6, d_v=4, pull=True),
            hint="Each sentence of the batch is for itself, and gradients must flow.",
        ),
        CaseKind(
            name="heads",
            title="a batch of 2 with 3 heads, and a mask for each sentence",
            inputs=_triples(2, 3, lq=4, lk=5, d_k=6, d_v=7, mask=(2, 1, 1, 5)),
            hint="The mask (B, 1, 1, Lk) broadcasts: the same for all heads and "
            "queries.",
            aspect="masks",
        ),
        CaseKind(
            name="far",
            title="open scores near -2,000,000, and closed ones near 2,000,000",
            inputs=_far_triples,
            hint="A closed key gets nothing, however large its score and however small "
            "the open ones are. Which number is below all others?",
            aspect="masks",
        ),
        CaseKind(
            name="large",
            title="huge scores, near 300 and near -300, and a mask",
            inputs=_large_triples,
            hint="Large scores must give shares, not nan; closed keys get none of "
            "them.",
            atol=2e-4,
            aspect="masks",
        ),
        CaseKind(
            name="causal",
            title="a causal mask",
            inputs=_causal_triples,
            hint="The mask (L, L) says for each query whom it may see.",
            aspect="masks",
        ),
        CaseKind(
            name="full_mask",
            title="a mask of its own for each sentence and query",
            inputs=_triples(3, lq=5, lk=6, d_k=2, d_v=4, mask=(3, 5, 6), pull=True),
            hint="The mask (B, Lq, Lk) is different for each sentence.",
            aspect="masks",
        ),
        CaseKind(
            name="itself",
            title="one tensor as queries, keys and values",
            inputs=lambda draw: {"x": draw.tensor(2, 5, 4, scale=2.0)},
            hint="Where no mask is given, every query sees every key, its own, too.",
            hidden_only=True,
        ),
        CaseKind(
            name="many",
            title="five dimensions and a mask",
            inputs=_triples(2, 1, 3, lq=4, lk=6, d_k=7, d_v=5, mask=(4, 6)),
            hint="Any number of leading dimensions is a batch.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[*SCALING, *DIMENSIONS, *PRODUCTS, *RESULTS, *MASKS],
    accepted=ACCEPTED,
)
