"""Cases, wrong variants and right styles of unit 02, attention.

All sizes in one setting differ, and no query equals a key or a value: equal sizes let
wrong axes and wrong scalings pass.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.student.exercise import Value

Inputs = dict[str, Value]


# --- inputs ---------------------------------------------------------------------------


def _queries_and_keys(*lead: int, lq: int, lk: int, d_k: int, scale: float = 2.0):
    def inputs(draw: Draw) -> Inputs:
        return {
            "q": draw.tensor(*lead, lq, d_k, scale=scale),
            "k": draw.tensor(*lead, lk, d_k, scale=scale),
        }

    return inputs


def _rows(*shape: int, scale: float = 3.0, offsets: tuple[float, ...] = ()):
    """Rows for softmax; ``offsets`` move the items of the first dimension apart."""

    def inputs(draw: Draw) -> Inputs:
        x = draw.tensor(*shape, scale=scale)
        if offsets:
            x = x + torch.tensor(offsets).reshape(-1, *[1] * (len(shape) - 1))
        return {"x": x}

    return inputs


def _rows_apart(draw: Draw) -> Inputs:
    """Rows far apart; in each of them, two numbers tower above the others."""
    x = _rows(3, 2, 6, offsets=(1000.0, 0.0, -1000.0))(draw)["x"]
    first = int(draw.ids(0, 5))
    x[..., first : first + 2] += 300.0
    return {"x": x}


def _rows_with_pull(draw: Draw) -> Inputs:
    return {"x": draw.tensor(2, 3, 5), "pull": draw.tensor(2, 3, 5)}


def _rows_with_holes(draw: Draw) -> Inputs:
    return {"x": _holes(draw.tensor(3, 4, 6), _open(draw, 3, 4, 6))}


def _holes(x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(~keep, float("-inf"))


def _open(draw: Draw, *shape: int, chance: float = 0.5) -> torch.Tensor:
    """A mask in which every row has an open and a closed entry, not at a fixed place."""
    keep = draw.flags(*shape, chance=chance)
    turn = draw.ids(0, shape[-1], *shape[:-1], 1)
    keep = keep.scatter(-1, turn, True)
    return keep.scatter(-1, (turn + 1) % shape[-1], False)


def _ids(draw: Draw, pads: tuple[tuple[int, int], ...], pad_id: int, length: int):
    """Ids (B, length); row b has pads[b] = (padding in front, padding at the end)."""
    real = pad_id + 1 + draw.ids(0, 40, len(pads), length)
    # Below the padding id there are real tokens, too.
    ids = torch.where(draw.flags(len(pads), length, chance=0.3) & (pad_id > 0), 0, real)
    for row, (front, end) in zip(ids, pads, strict=True):
        row[:front] = pad_id
        row[length - end :] = pad_id
    return ids


def _right_padded(draw: Draw) -> Inputs:
    ends = draw.ids(1, 3, 3).tolist()
    pads = ((0, 0), (0, ends[0]), (0, 2 + ends[1]))
    return {"ids": _ids(draw, pads, 0, 6), "pad_id": torch.tensor(0)}


def _left_padded(draw: Draw) -> Inputs:
    pads = ((int(draw.ids(1, 3)), 0), (3, 0))
    return {"ids": _ids(draw, pads, 0, 5), "pad_id": torch.tensor(0)}


def _other_pad(draw: Draw) -> Inputs:
    pad_id = int(draw.ids(2, 6))
    pads = ((0, 1), (2, 0), (1, 2), (0, 3))
    return {"ids": _ids(draw, pads, pad_id, 7), "pad_id": torch.tensor(pad_id)}


def _no_pad_given(draw: Draw) -> Inputs:
    return {"ids": _ids(draw, ((0, 2), (1, 0)), 0, 4)}


def _lengths(low: int, high: int, *always: int):
    def inputs(draw: Draw) -> Inputs:
        chosen = low + int(draw.ids(0, high - low))
        return {"lengths": torch.tensor([*always, chosen])}

    return inputs


def _two_masks(first: tuple[int, ...], second: tuple[int, ...], ask: str):
    def inputs(draw: Draw) -> Inputs:
        return {
            "first": draw.flags(*first),
            "second": draw.flags(*second),
            "ask": ask,
        }

    return inputs


def _triples(
    *lead: int, lq: int, lk: int, d_k: int, d_v: int, scale: float = 2.0,
    mask: tuple[int, ...] = (), pull: bool = False,
):  # fmt: skip
    """Queries, keys, values; a mask of the given shape; weights for a gradient."""

    def inputs(draw: Draw) -> Inputs:
        made = {
            "q": draw.tensor(*lead, lq, d_k, scale=scale),
            "k": draw.tensor(*lead, lk, d_k, scale=scale),
            "v": draw.tensor(*lead, lk, d_v),
        }
        made |= {"mask": _open(draw, *mask)} if mask else {}
        return made | ({"pull": draw.tensor(*lead, lq, d_v)} if pull else {})

    return inputs


def _causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def _causal_triples(draw: Draw) -> Inputs:
    inputs = _triples(2, lq=5, lk=5, d_k=6, d_v=3)(draw)
    return inputs | {"mask": _causal(5)}


def _large_triples(draw: Draw) -> Inputs:
    """All scores of a query are large and close to each other."""
    inputs = _triples(2, lq=5, lk=4, d_k=3, d_v=6, mask=(2, 5, 4))(draw)
    inputs["q"][..., 0] = 64.0 * torch.tensor([1, -1, 1, -1, 1])
    inputs["k"][..., 0] = 8.0
    return inputs


def _self(
    batch: int, length: int, d_model: int, d_k: int, d_v: int, mask: str = "",
    pull: bool = False,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made = {"x": draw.tensor(batch, length, d_model, scale=1.0)}
        made |= _projections(draw, d_model, d_model, d_k, d_v)
        if mask == "padding":
            keep = _open(draw, batch, 1, length, chance=0.6)
            while keep.sum(-1).min() < 2:  # with one open entry no score matters
                keep = _open(draw, batch, 1, length, chance=0.6)
            made["mask"] = keep
        if mask == "causal":
            made["mask"] = _causal(length)
        return made | ({"pull": draw.tensor(batch, length, d_v)} if pull else {})

    return inputs


def _cross(
    batch: int, lq: int, lk: int, d_model: int, d_memory: int, d_k: int, d_v: int,
    mask: tuple[int, ...] = (), pull: bool = False,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made = {
            "x": draw.tensor(batch, lq, d_model, scale=1.0),
            "memory": draw.tensor(batch, lk, d_memory, scale=1.0),
        }
        made |= _projections(draw, d_model, d_memory, d_k, d_v)
        made |= {"mask": _open(draw, *mask)} if mask else {}
        return made | ({"pull": draw.tensor(batch, lq, d_v)} if pull else {})

    return inputs


def _projections(draw: Draw, d_x: int, d_memory: int, d_k: int, d_v: int) -> Inputs:
    shapes = {"w_q": (d_k, d_x), "w_k": (d_k, d_memory), "w_v": (d_v, d_memory)}
    parameters = {}
    for name, (rows, columns) in shapes.items():
        parameters |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return draw.weights(**parameters)


def _mixture(length: int, d: int, scale: float):
    """A layer that mixes positions, and many pairs have no influence.

    One output sees nobody, one input is seen by nobody; one is zero, sees itself, and
    its influence on another one moves two features by opposite amounts.
    """

    def inputs(draw: Draw) -> Inputs:
        numbers = draw.tensor(d, length, length, scale=1.0)
        table = numbers + 0.5 * numbers.sign()
        table *= draw.flags(d, length, length, chance=0.3)
        turn = int(draw.ids(0, length))
        blind, unseen, i, j = ((turn + n) % length for n in range(4))
        table[:, i, j] = 0.0
        table[:2, i, j] = torch.tensor([0.75, -0.75])
        table[0, j, j] = 0.75
        table[:, blind], table[:, :, unseen] = 0.0, 0.0
        x = draw.tensor(length, d)
        x[j] = 0.0
        return {
            "x": x,
            "layer": "a mixture of positions",
            "table": table * scale,
        }

    return inputs


def _masked_layer(length: int, d: int):
    """Attention with a mask.

    Some influence is so faint that a coarse limit misses it; each one moves all
    features, and some upwards.
    """

    def inputs(draw: Draw) -> Inputs:
        while True:
            x, keep = draw.tensor(length, d, scale=1.0), _open(draw, length, length)
            pushed = x + torch.eye(length).unsqueeze(-1)  # (j, i, d): input j by 1
            before = F.scaled_dot_product_attention(x, x, x, keep)
            after = F.scaled_dot_product_attention(pushed, pushed, pushed, keep)
            moves = (after - before).flatten(0, 1)  # (L * L, d)
            moves = moves[moves.abs().amax(-1) > 1e-6]  # also a query that was pushed
            faint = moves.abs().amax(-1).min() < 0.08
            if faint and moves.abs().min() > 1e-3 and moves.amax(-1).min() > 1e-3:
                return {"x": x, "layer": "masked attention", "table": keep}

    return inputs


def _shuffled(layer: str, length: int, d: int):
    """A layer and a permutation that is not its own inverse."""

    def inputs(draw: Draw) -> Inputs:
        tables = {
            "a mixture of positions": (d, length, length),
            "attention with positions": (length, d),
        }
        shift = 1 + int(draw.ids(0, 2))
        return {
            "x": draw.tensor(length, d),
            "order": torch.arange(length).roll(shift),
            "layer": layer,
            "table": draw.tensor(*tables[layer]),
        }

    return inputs


# --- 2.1 scores -----------------------------------------------------------------------

SCORES = Task(
    name="attention/scores",
    title="Scores of queries and keys",
    target="dot_product_scores",
    settings=(
        Setting(
            "four_queries", "4 queries and 5 keys of size 8",
            _queries_and_keys(lq=4, lk=5, d_k=8),
            "Compute one entry by hand, like q1 · k2 above, and look for it.",
        ),
        Setting(
            "two_keys", "7 queries and 2 keys of size 3",
            _queries_and_keys(lq=7, lk=2, d_k=3),
            "Here are more queries than keys. Do your rows still belong to queries?",
        ),
        Setting(
            "one_query", "a single query and 6 keys of size 10",
            _queries_and_keys(lq=1, lk=6, d_k=10),
            "One query still gives a table: one row, six columns.",
        ),
        Setting(
            "long", "long vectors",
            _queries_and_keys(lq=3, lk=9, d_k=40),
            "The dot product sums over all features of a query and a key.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "transposed",
            says="Your table is lying on its side: rows are keys, columns are queries.",
            asks="Entry `[i, j]` is to say how well key `j` fits query `i`. Which of the "
            "two must stand on the left of the product?",
            edits=(("q @ k.T", "k @ q.T"),),
        ),
        Wrong(
            "transposed_einsum", like="transposed",
            edits=(("q @ k.T", 'torch.einsum("ic,jc->ji", q, k)'),),
        ),
        Wrong(
            "no_transpose",
            says="You multiplied `q` with `k` as it is, so rows of `q` met columns of "
            "`k`, and their sizes do not fit.",
            asks="A key is a row of `k`. What turns rows into columns?",
            edits=(("q @ k.T", "q @ k"),),
        ),
        Wrong(
            "no_transpose_mm", like="no_transpose",
            edits=(("q @ k.T", "torch.mm(q, k)"),),
        ),
        Wrong(
            "reshaped",
            says="You reshaped `k` to make the sizes fit. That deals its numbers out "
            "anew, so a column now mixes parts of several keys.",
            asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to 6. "
            "Where does the 2 go?",
            edits=(("k.T", "k.reshape(k.size(1), k.size(0))"),),
        ),
        Wrong(
            "reshaped_view", like="reshaped",
            edits=(("k.T", "k.contiguous().view(k.shape[1], k.shape[0])"),),
        ),
        Wrong(
            "elementwise",
            says="`*` multiplies entry by entry. It compares query 0 with key 0, query 1 "
            "with key 1, and needs as many keys as queries.",
            asks="Every query must meet every key. How many sums of products is that?",
            edits=(("q @ k.T", "q * k"),),
        ),
        Wrong(
            "scaled_early",
            says="The directions are right, but all scores are too small by one factor: "
            "you have divided by the root of `d_k` already.",
            asks="What does the docstring say comes with the dot products? (Scaling is "
            "the next exercise.)",
            edits=(("q @ k.T", "q @ k.T / math.sqrt(q.size(1))"),),
        ),
        Wrong(
            "cosine",
            says="Your scores lie between -1 and 1: these are cosines, dot products of "
            "vectors brought to length 1.",
            asks="May a long key count for more than a short one here?",
            edits=(
                ("q @ k.T", "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T"),
            ),
        ),
        Wrong(
            "cosine_similarity", like="cosine",
            edits=(
                ("q @ k.T", "F.cosine_similarity(q[:, None], k[None], dim=-1)"),
            ),
        ),
        Wrong(
            "distance",
            says="You measured distances between queries and keys. That is a fine idea "
            "of similarity, but not a dot product.",
            asks="What is the distance of a vector to itself, and what its dot product "
            "with itself?",
            edits=(("q @ k.T", "-torch.cdist(q, k)"),),
        ),
        Wrong(
            "absolute",
            says="All your scores are positive: somewhere the sign was lost.",
            asks="What should a key score that points away from the query?",
            edits=(("q @ k.T", "(q @ k.T).abs()"),),
        ),
        Wrong(
            "shares",
            says="Your rows sum to one: softmax has been applied already.",
            asks="Which of the two, scores or shares, is asked for here?",
            edits=(("q @ k.T", "F.softmax(q @ k.T, dim=-1)"),),
        ),
        Wrong(
            "sum_first",
            says="You summed the features of each vector before multiplying. A product "
            "of two sums is not the sum of products.",
            asks="For (1, 2) · (3, 4): what is 1*3 + 2*4, and what (1+2) * (3+4)?",
            edits=(("q @ k.T", "q.sum(1)[:, None] * k.sum(1)"),),
        ),
        Wrong(
            "mean",
            says="All scores are too small by the factor `d_k`: you took the mean of the "
            "products, where a dot product takes their sum.",
            asks="How many products are there for one entry, and what happens to them?",
            edits=(("q @ k.T", "q @ k.T / q.size(1)"),),
        ),
        Wrong(
            "queries_only",
            says="You compared the queries with each other; the keys play no part.",
            asks="Which two matrices does the docstring name? Does yours use both?",
            edits=(("q @ k.T", "q @ q.T"),),
        ),
        Wrong(
            "square_loop",
            says="Your loops run to the same limit for queries and keys, so a part of "
            "the table is missing or was never filled.",
            asks="How many times must the inner loop run when there are 5 keys and 4 "
            "queries?",
            source="""
def dot_product_scores(q, k):
    scores = torch.zeros(len(q), len(k))
    for i in range(min(len(q), len(k))):
        for j in range(min(len(q), len(k))):
            scores[i, j] = (q[i] * k[j]).sum()
    return scores
""",
        ),
        Wrong(
            "short_sum",
            says="One feature is missing in each sum: the loop over features ends one "
            "step early.",
            asks="Where does `range(n - 1)` stop?",
            edits=(("q @ k.T", "q[:, :-1] @ k[:, :-1].T"),),
        ),
        Wrong(
            "nothing_returned",
            says="Your function computes, but returns nothing.",
            asks="Which line hands the result to the caller?",
            edits=(("return q @ k.T", "q @ k.T"),),
        ),
    ),
    right=(
        Right(
            "loops",
            source="""
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
""",
        ),
        Right("einsum", edits=(("q @ k.T", 'torch.einsum("ic,jc->ij", q, k)'),)),
        Right("matmul", edits=(("q @ k.T", "torch.matmul(q, k.transpose(0, 1))"),)),
        Right("broadcast", edits=(("q @ k.T", "(q[:, None] * k[None]).sum(-1)"),)),
        Right("linear", edits=(("q @ k.T", "F.linear(q, k)"),)),
        Right("other_side", edits=(("q @ k.T", "(k @ q.T).T"),)),
        Right("per_key", edits=(
            ("q @ k.T", "torch.stack([q @ key for key in k], dim=1)"),
        )),
        Right("inner", edits=(("q @ k.T", "torch.inner(q, k)"),)),
    ),
)  # fmt: skip


# --- 2.2 scaled scores ----------------------------------------------------------------

_PRODUCT = "q @ k.transpose(-2, -1)"
_ROOT = "math.sqrt(q.size(-1))"

SCALED_SCORES = Task(
    name="attention/scaled_scores",
    title="Scaled scores for any batch",
    target="scaled_scores",
    settings=(
        Setting(
            "matrix", "4 queries and 5 keys of size 8, no batch",
            _queries_and_keys(lq=4, lk=5, d_k=8),
            "Without a batch there are two dimensions only: count them from the end.",
        ),
        Setting(
            "batch", "a batch of 3",
            _queries_and_keys(3, lq=7, lk=2, d_k=6),
            "Compare with the loop: entry [b, i, j] belongs to q[b, i] and k[b, j].",
        ),
        Setting(
            "heads", "a batch of 2 with 3 heads",
            _queries_and_keys(2, 3, lq=4, lk=7, d_k=5),
            "With heads there are four dimensions; only the last two take part.",
        ),
        Setting(
            "many", "five dimensions",
            _queries_and_keys(2, 1, 3, lq=5, lk=6, d_k=7),
            "Any number of leading dimensions is a batch.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "unscaled",
            says="The dot products are right, but they are not scaled.",
            asks="How large is the standard deviation of these scores for `d_k` = 64?",
            edits=((f"scores / {_ROOT}", "scores"),),
        ),
        Wrong(
            "by_size",
            says="You divided by `d_k` itself, not by its root.",
            asks="The variance of a score is `d_k`. What is its standard deviation?",
            edits=((_ROOT, "q.size(-1)"),),
        ),
        Wrong(
            "scaled_twice", like="by_size",
            edits=((_PRODUCT, "(q / q.size(-1) ** 0.5) @ k.transpose(-2, -1)"),),
        ),
        Wrong(
            "multiplied",
            says="Your scores grew: you multiplied by the root of `d_k`.",
            asks="Are scores of long vectors too large or too small?",
            edits=((f"scores / {_ROOT}", f"scores * {_ROOT}"),),
        ),
        Wrong(
            "root_of_keys",
            says="You took the root of the number of keys, not of their size.",
            asks="Over which dimension does a dot product sum? What is its place from "
            "the end?",
            edits=((_ROOT, "math.sqrt(k.size(-2))"),),
        ),
        Wrong(
            "root_of_scores", like="root_of_keys",
            edits=((_ROOT, "math.sqrt(scores.size(-1))"),),
        ),
        Wrong(
            "root_of_queries",
            says="You took the root of the number of queries, not of their size.",
            asks="Should a score change because the sentence became longer?",
            edits=((_ROOT, "math.sqrt(q.size(-2))"),),
        ),
        Wrong(
            "second_size",
            says="You read the size off dimension 1, which is `d_k` only while there is "
            "no batch.",
            asks="Which index names the last dimension, however many there are?",
            edits=((_ROOT, "math.sqrt(q.size(1))"),),
        ),
        Wrong(
            "first_size",
            says="You read the size off the first dimension of the tensor.",
            asks="What does `len(q)` count: vectors, features, or sentences?",
            edits=((_ROOT, "math.sqrt(len(q))"),),
        ),
        Wrong(
            "fixed_eight",
            says="You divided by 8, always. That is the root of 64, the size in the "
            "paper's example, and of no other.",
            asks="Where can you read `d_k` off the input?",
            edits=((_ROOT, "8.0"),),
        ),
        Wrong(
            "whole_root",
            says="The root of `d_k` was cut down to a whole number.",
            asks="What is the root of 6, and what is `int` of it?",
            edits=((_ROOT, f"int({_ROOT})"),),
        ),
        Wrong("isqrt", like="whole_root", edits=((_ROOT, "math.isqrt(q.size(-1))"),)),
        Wrong(
            "floor_division",
            says="Your scores are whole numbers: `//` throws the rest of a division away.",
            asks="What is the difference between `7 / 2` and `7 // 2`?",
            edits=((f"scores / {_ROOT}", f"scores // {_ROOT}"),),
        ),
        Wrong(
            "standardised",
            says="You divided by the measured spread of these very scores. Then each score "
            "depends on all the others.",
            asks="Which number brings the spread to 1 on average, without looking at the "
            "data?",
            edits=((_ROOT, "scores.std()"),),
        ),
        Wrong(
            "capital_t",
            says="`k.T` reverses all dimensions, the batch too. That works for a plain "
            "matrix only.",
            asks="Which two dimensions should swap, counted from the end?",
            edits=((_PRODUCT, "q @ k.T"),),
        ),
        Wrong(
            "one_and_two",
            says="You swapped dimensions 1 and 2. Those are the right ones for a batch, "
            "but not without a batch, and not with heads.",
            asks="Which numbers name the last two dimensions of *any* tensor?",
            edits=((_PRODUCT, "q @ k.transpose(1, 2)"),),
        ),
        Wrong(
            "bmm_only",
            says="`bmm` takes three dimensions exactly: no plain matrix, and no heads.",
            asks="Which product treats any leading dimensions as a batch?",
            edits=((_PRODUCT, "torch.bmm(q, k.transpose(-2, -1))"),),
        ),
        Wrong(
            "reshaped",
            says="You reshaped the keys to make the sizes fit. That deals their numbers out "
            "anew; it is not a transposition.",
            asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to 6. "
            "Where does the 2 go?",
            edits=(
                ("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)"),
            ),
        ),
        Wrong(
            "transposed",
            says="Your tables are lying on their side: rows are keys, columns are "
            "queries.",
            asks="Entry `[..., i, j]` belongs to query `i` and key `j`. Which of the two "
            "stands on the left?",
            edits=((_PRODUCT, "k @ q.transpose(-2, -1)"),),
        ),
        Wrong(
            "first_sentence",
            says="Every sentence of your batch is compared with the keys of the first "
            "one.",
            asks="Does an index `[0]` stand somewhere in your code?",
            edits=((_PRODUCT, "q @ (k[:1] if k.dim() > 2 else k).transpose(-2, -1)"),),
        ),
        Wrong(
            "shares",
            says="Your rows sum to one: softmax has been applied already.",
            asks="Which of the two, scores or shares, is asked for here?",
            edits=(
                (f"scores / {_ROOT}", f"(scores / {_ROOT}).softmax(-1)"),
            ),
        ),
        Wrong(
            "in_place",
            says="The scores are right, but your function has changed `q` itself, and "
            "whoever called it will be surprised.",
            asks="What is the difference between `q = q / n` and `q /= n`?",
            source="""
def scaled_scores(q, k):
    q /= math.sqrt(q.size(-1))
    return q @ k.transpose(-2, -1)
""",
        ),
        Wrong(
            "in_place_div", like="in_place",
            source="""
def scaled_scores(q, k):
    return q.div_(q.shape[-1] ** 0.5) @ k.transpose(-2, -1)
""",
        ),
    ),
    right=(
        Right("einsum", edits=(
            (_PRODUCT, 'torch.einsum("...ic,...jc->...ij", q, k)'),
        )),
        Right("scale_the_queries", edits=(
            (_PRODUCT, "(q * q.size(-1) ** -0.5) @ k.mT"), (f" / {_ROOT}", ""),
        )),
        Right("half_each", edits=(
            (_PRODUCT, "(q / q.size(-1) ** 0.25) @ (k / q.size(-1) ** 0.25).mT"),
            (f" / {_ROOT}", ""),
        )),
        Right("swapaxes", edits=((_PRODUCT, "torch.matmul(q, k.swapaxes(-1, -2))"),)),
        Right("in_place_on_own", edits=(
            (f"return scores / {_ROOT}", f"return scores.div_({_ROOT})"),
        )),
        Right("broadcast", edits=(
            (_PRODUCT, "(q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)"),
        )),
        Right("flatten_and_bmm", source="""
def scaled_scores(q, k):
    d_k = q.shape[-1]
    flat_q = q.reshape(-1, q.shape[-2], d_k)
    flat_k = k.reshape(-1, k.shape[-2], d_k)
    scores = torch.bmm(flat_q, flat_k.permute(0, 2, 1))
    return scores.view(*q.shape[:-1], k.shape[-2]) / d_k**0.5
"""),
        Right("torch_sqrt", edits=(
            (_ROOT, "torch.sqrt(torch.tensor(float(k.shape[-1])))"),
        )),
        Right("recursion", source="""
def scaled_scores(q, k):
    if q.dim() > 2:
        return torch.stack([scaled_scores(a, b) for a, b in zip(q, k)])
    rows = [[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q]
    return torch.stack([torch.stack(row) for row in rows])
"""),
    ),
)  # fmt: skip


# --- 2.3 softmax ----------------------------------------------------------------------

_MAX = "x.amax(dim=-1, keepdim=True)"
_SUM = "powers.sum(dim=-1, keepdim=True)"
_POWERS = f"(x - {_MAX}).exp()"

SOFTMAX = Task(
    name="attention/softmax",
    title="Softmax that survives",
    target="stable_softmax",
    settings=(
        Setting(
            "small", "3 rows of 5 small numbers",
            _rows(3, 5),
            "Take a row on paper: exponentials, their sum, the fractions.",
        ),
        Setting(
            "large", "rows near 600 and near 300",
            _rows(2, 3, 4, offsets=(600.0, 300.0)),
            "e^89 is too large for float32. Choose the constant such that no exponent "
            "is positive.", atol=2e-4,
        ),
        Setting(
            "apart", "near 1000, near 0 and near -1000 in one tensor",
            _rows_apart,
            "Each row needs a constant of its own.", atol=2e-4,
        ),
        Setting(
            "holes", "some entries are -inf",
            _rows_with_holes,
            "An entry of -inf gets the weight 0 and must not disturb the others.",
        ),
        Setting(
            "gradient", "the gradient of a weighted sum",
            _rows_with_pull,
            "The gradient must find its way back to x: no detach, no numpy, no item().",
        ),
        Setting(
            "heads", "four dimensions", _rows(2, 3, 5, 7, scale=8.0),
            "Only the last dimension is summed over.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "naive",
            says="On paper this is right, but nothing keeps the exponents small: large "
            "numbers overflow, and `inf / inf` is `nan`.",
            asks="Which constant could you subtract from a row so that no exponent is "
            "positive?",
            edits=((_POWERS, "x.exp()"),),
        ),
        Wrong(
            "naive_e", like="naive", edits=((_POWERS, "torch.pow(math.e, x)"),),
        ),
        Wrong(
            "one_maximum",
            says="You subtracted the maximum of the whole tensor. A row that lies far "
            "below it underflows to zeros, and `0 / 0` is `nan`.",
            asks="How many numbers must be subtracted from a tensor with three rows?",
            edits=((_MAX, "x.max()"),),
        ),
        Wrong(
            "maximum_of_columns",
            says="You took the maximum along another dimension, so a row's own largest "
            "number may remain far from zero.",
            asks="Which dimension do the shares of one query run along?",
            edits=((_MAX, "x.amax(dim=0, keepdim=True)"),),
        ),
        Wrong(
            "maximum_of_sequence",
            says="You took the maximum over the rows (dimension -2), not within "
            "each row.",
            asks="Which dimension do the shares of one query run along?",
            edits=((_MAX, "x.amax(dim=-2, keepdim=True)"),),
        ),
        Wrong(
            "minimum",
            says="You subtracted too little, the smallest number of the row or its mean: the "
            "largest exponent may still be far above zero.",
            asks="What is the largest exponent after you subtract the minimum, or the mean, of "
            "(0, 0, 0, 900)?",
            edits=((_MAX, "x.amin(dim=-1, keepdim=True)"),),
        ),
        Wrong(
            "average", like="minimum",
            edits=((_MAX, "x.mean(dim=-1, keepdim=True)"),),
        ),
        Wrong(
            "absolute_maximum",
            says="You subtracted the largest absolute value. In a row of large negative "
            "numbers that pushes every exponent down, all powers become zero, and "
            "`0 / 0` is `nan`.",
            asks="For the row (-1000, -1001): which constant makes its largest exponent "
            "exactly zero?",
            edits=((_MAX, "x.abs().amax(dim=-1, keepdim=True)"),),
        ),
        Wrong(
            "added", like="naive",
            edits=((f"x - {_MAX}", f"x + {_MAX}"),),
        ),
        Wrong(
            "divided_by_maximum",
            says="You divided by the maximum. That keeps exponents small, but it changes "
            "the shares: only *adding* a constant cancels in the fraction.",
            asks="Does softmax of (1, 2) equal softmax of (100, 200)?",
            edits=((f"x - {_MAX}", f"x / {_MAX}"),),
        ),
        Wrong(
            "clamped",
            says="You cut large numbers off. Then numbers beyond the limit all look equal.",
            asks="Two scores, 100 and 200: may they get the same share?",
            edits=((f"(x - {_MAX})", "x.clamp(-80, 80)"),),
        ),
        Wrong(
            "clamped_above", like="clamped",
            edits=((f"(x - {_MAX})", "x.clamp(max=80)"),),
        ),
        Wrong(
            "no_keepdim",
            says="A sum or a maximum lost its dimension: `(B, L)` and `(B,)` do not line up "
            "row by row.",
            asks="What shape must they have so that each row meets its own?",
            edits=((_SUM, "powers.sum(dim=-1)"),),
        ),
        Wrong(
            "maximum_without_dimension", like="no_keepdim",
            edits=((_MAX, "x.amax(dim=-1)"),),
        ),
        Wrong(
            "max_tuple",
            says="`max` along a dimension gives two things, the numbers and their places. "
            "You used both together.",
            asks="What does `print(x.max(dim=-1))` show?",
            edits=((_MAX, "x.max(dim=-1, keepdim=True)"),),
        ),
        Wrong(
            "rows_together",
            says="You divided by the sum of the whole tensor: all numbers together sum "
            "to one, instead of each row.",
            asks="What should the weights of one query sum to?",
            edits=((_SUM, "powers.sum()"),),
        ),
        Wrong(
            "columns",
            says="Your *columns* sum to one. The softmax ran over queries, not over keys.",
            asks="Which dimension is the last one?",
            edits=((_MAX, "x.amax(dim=-2, keepdim=True)"),
                   (_SUM, "powers.sum(dim=-2, keepdim=True)")),
        ),
        Wrong(
            "first_dimension",
            says="You normalised along the first dimension, so the sentences of a batch share one "
            "cake.",
            asks="May one sentence's weights depend on its neighbour in the batch?",
            edits=((_MAX, "x.amax(dim=0, keepdim=True)"),
                   (_SUM, "powers.sum(dim=0, keepdim=True)")),
        ),
        Wrong(
            "implicit_dimension",
            says="You normalised along dimension 1. That is the last one for a matrix, but "
            "not for a batch.",
            asks="Which index names the last dimension of any tensor?",
            edits=((_MAX, "x.amax(dim=1, keepdim=True)"),
                   (_SUM, "powers.sum(dim=1, keepdim=True)")),
        ),
        Wrong(
            "no_exponential",
            says="There is no exponential: you shifted the numbers and divided by their sum.",
            asks="Are your shares all positive?",
            edits=((_POWERS, f"(x - {_MAX})"),),
        ),
        Wrong(
            "not_divided",
            says="The division is missing: your rows do not sum to one.",
            asks="What turns powers into shares?",
            edits=((f"powers / {_SUM}", "powers"),),
        ),
        Wrong(
            "base_two",
            says="Your powers have another base than `e`.",
            asks="Which function gives powers of e?",
            edits=((".exp()", ".exp2()"),),
        ),
        Wrong(
            "logarithms",
            says="These are logarithms of the shares, as `log_softmax` gives them.",
            asks="Can a share be negative?",
            edits=((f"powers / {_SUM}", f"(powers / {_SUM}).log()"),),
        ),
        Wrong(
            "log_softmax", like="logarithms",
            source="""
def stable_softmax(x):
    return torch.log_softmax(x, dim=-1)
""",
        ),
        Wrong(
            "sigmoids",
            says="You squashed each number for itself (a sigmoid). The numbers do not "
            "compete, and do not sum to one.",
            asks="If all scores are large, what should happen to the shares?",
            edits=((_POWERS, "x.sigmoid()"), (f" / {_SUM}", "")),
        ),
        Wrong(
            "twice",
            says="Your shares are much too even: softmax was applied twice.",
            asks="What does softmax make of numbers that all lie between 0 and 1?",
            edits=((f"powers / {_SUM}", f"(powers / {_SUM}).softmax(-1)"),),
        ),
        Wrong(
            "padded_sum",
            says="A constant in the denominator makes your rows sum to less than one.",
            asks="After the shift, how large is the sum at least? Can it still be zero?",
            edits=((_SUM, f"({_SUM} + 1.0)"),),
        ),
        Wrong(
            "small_constant",
            says="A small constant in the denominator makes your rows sum to a little less "
            "than one.",
            asks="After the shift, how large is the sum at least? Can it still be zero?",
            edits=((_SUM, f"({_SUM} + 1e-3)"),),
        ),
        Wrong(
            "hidden_nan",
            says="You turned `nan` into zero at the end. The alarm is silent now, but "
            "those rows no longer sum to one.",
            asks="Which weights does the largest number of such a row deserve?",
            edits=((_POWERS, "x.exp()"),
                   (f"powers / {_SUM}", f"(powers / {_SUM}).nan_to_num(0.0)")),
        ),
        Wrong(
            "in_place",
            says="The weights are right, but `x` itself was changed on the way.",
            asks="What is the difference between `x = x - m` and `x -= m`?",
            source="""
def stable_softmax(x):
    x -= x.amax(dim=-1, keepdim=True)
    powers = x.exp()
    return powers / powers.sum(dim=-1, keepdim=True)
""",
        ),
        Wrong(
            "in_place_all", source="""
def stable_softmax(x):
    x.sub_(x.amax(dim=-1, keepdim=True)).exp_()
    return x.div_(x.sum(dim=-1, keepdim=True))
""",
            says="You worked in place: `x` itself now holds the weights, and the scores "
            "are lost.",
            asks="Which of your calls end in an underscore?",
        ),
        Wrong(
            "no_gradient",
            says="The weights are right, but no gradient comes back: the way to `x` was cut, "
            "by `detach`, `no_grad`, `item` or numpy.",
            asks="Could a network learn through this function?",
            edits=((_POWERS, f"(x - {_MAX}).detach().exp()"),),
        ),
        Wrong(
            "numpy", like="no_gradient",
            source="""
def stable_softmax(x):
    a = x.detach().numpy()
    powers = (torch.from_numpy(a - a.max(axis=-1, keepdims=True))).exp()
    return powers / powers.sum(dim=-1, keepdim=True)
""",
        ),
        Wrong(
            "double",
            says="The numbers are right, but they come back as float64: the type changed "
            "on the way.",
            asks="Which of your calls changes the type? Is more precision a cure for "
            "overflow?",
            edits=(
                ("x - x.amax", "x.double() - x.amax"),
            ),
        ),
    ),
    right=(
        Right("torch", source="""
def stable_softmax(x):
    return torch.softmax(x, dim=-1)
"""),
        Right("max_values", edits=((_MAX, "x.max(dim=-1, keepdim=True).values"),)),
        Right("max_detached", edits=((_MAX, f"{_MAX}.detach()"),)),
        Right("logsumexp", source="""
def stable_softmax(x):
    return (x - torch.logsumexp(x, dim=-1, keepdim=True)).exp()
"""),
        Right("double_and_back", source="""
def stable_softmax(x):
    y = x.double() - x.double().max(-1, keepdim=True)[0]
    powers = y.exp()
    return (powers / powers.sum(-1, keepdim=True)).to(x.dtype)
"""),
        Right("loop", source="""
def stable_softmax(x):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        powers = torch.exp(row - row.max())
        rows.append(powers / powers.sum())
    return torch.stack(rows).reshape(x.shape)
"""),
        Right("unsqueeze", source="""
def stable_softmax(x):
    top, _ = torch.max(x, dim=-1)
    e = torch.exp(x - top.unsqueeze(-1))
    return e / e.sum(-1).unsqueeze(-1)
"""),
        Right("in_place_on_own", source="""
def stable_softmax(x):
    y = x - x.amax(-1, keepdim=True)
    y = y.exp()
    return y / y.sum(-1, keepdim=True)
"""),
        Right("sigmoid_of_differences", source="""
def stable_softmax(x):
    differences = (x.unsqueeze(-2) - x.unsqueeze(-1)).nan_to_num(nan=0.0)
    differences = differences.clamp(max=80.0)
    weights = 1 / differences.exp().sum(-1)
    return torch.where(x == -math.inf, torch.zeros_like(x), weights)
"""),
    ),
)  # fmt: skip


# --- 2.4 padding mask -----------------------------------------------------------------

_REAL = "(ids != pad_id)"

PADDING_MASK = Task(
    name="attention/padding_mask",
    title="The padding mask",
    target="padding_mask",
    precise=False,
    settings=(
        Setting(
            "right", "padding at the end, another length in each sentence",
            _right_padded, "True stands where the id is not the padding id.",
        ),
        Setting(
            "left", "padding at the beginning", _left_padded,
            "Padding may stand anywhere: look at the ids, not at lengths.",
        ),
        Setting(
            "other", "a pad_id that is not 0, and real tokens with the id 0",
            _other_pad, "The padding id is an argument.",
        ),
        Setting(
            "default", "called without pad_id", _no_pad_given,
            "Without the argument, the padding id is 0.",
        ),
    ),
    wrong=(
        Wrong(
            "inverted",
            says="Your mask says the opposite: `True` stands where the padding is.",
            asks="What does `True` mean in this course? (In `nn.MultiheadAttention` it is "
            "the other way round.)",
            edits=(("ids != pad_id", "ids == pad_id"),),
        ),
        Wrong(
            "zero_always",
            says="You compare with 0, always, and forget the argument `pad_id`.",
            asks="What happens with a tokenizer whose padding id is 2?",
            edits=(("ids != pad_id", "ids != 0"),),
        ),
        Wrong(
            "truth_of_ids", like="zero_always",
            edits=((_REAL, "ids.bool()"),),
        ),
        Wrong(
            "positive_ids", like="zero_always",
            edits=(("ids != pad_id", "ids > 0"),),
        ),
        Wrong(
            "greater",
            says="You treat all ids up to `pad_id` as padding. Real tokens may have smaller "
            "ids.",
            asks="With `pad_id` = 3: is token 0 padding?",
            edits=(("ids != pad_id", "ids > pad_id"),),
        ),
        Wrong(
            "query_axis",
            says="Your mask has shape `(B, L, 1)`: it closes the rows of padding *queries*, "
            "and all others still see the padding.",
            asks="Scores are `(B, Lq, Lk)`. Which of the last two dimensions belongs to "
            "the keys?",
            edits=(("unsqueeze(1)", "unsqueeze(2)"),),
        ),
        Wrong(
            "query_axis_none", like="query_axis",
            edits=((f"{_REAL}.unsqueeze(1)", f"{_REAL}[..., None]"),),
        ),
        Wrong(
            "no_extra_dimension",
            says="Your mask has shape `(B, L)`. Beside scores of shape `(B, Lq, Lk)`, its `B` "
            "would be taken for queries.",
            asks="Broadcasting lines shapes up from the right. Where must a 1 stand?",
            edits=((".unsqueeze(1)", ""),),
        ),
        Wrong(
            "batch_moved",
            says="Your mask has shape `(1, B, L)`: the batch stands where the queries "
            "belong.",
            asks="Which dimension of the mask must line up with `B` of the scores?",
            edits=(("unsqueeze(1)", "unsqueeze(0)"),),
        ),
        Wrong(
            "with_heads",
            says="Your mask has shape `(B, 1, 1, L)`. That is the one for scores with "
            "heads, which come in the next unit.",
            asks="How many dimensions do the scores `(B, Lq, Lk)` have?",
            edits=((f"{_REAL}.unsqueeze(1)", f"{_REAL}[:, None, None, :]"),),
        ),
        Wrong(
            "expanded",
            says="You wrote the mask out for all queries, `(B, L, L)`. It is right, but "
            "there may be another number of queries than of keys; a 1 leaves that open.",
            asks="Could this mask be used in cross-attention, with 3 queries and these keys?",
            edits=(
                (f"{_REAL}.unsqueeze(1)",
                 f"{_REAL}.unsqueeze(1).expand(-1, ids.size(1), -1)"),
            ),
        ),
        Wrong(
            "both_axes",
            says="You closed rows *and* columns: `(B, L, L)` with padding queries cut off, too. "
            "Such a row sees nobody at all, and its softmax is `nan`.",
            asks="Which of the two, queries or keys, must be kept from being looked at?",
            edits=(
                (f"{_REAL}.unsqueeze(1)",
                 f"{_REAL}.unsqueeze(1) & {_REAL}.unsqueeze(2)"),
            ),
        ),
        Wrong(
            "floats",
            says="The places are right, but the mask holds floats. `~` and `masked_fill` want "
            "booleans.",
            asks="What is the type of a comparison, before you convert it?",
            edits=((f"{_REAL}.unsqueeze(1)", f"{_REAL}.unsqueeze(1).float()"),),
        ),
        Wrong(
            "integers",
            says="The places are right, but the mask holds whole numbers. Then `~1` is -2, "
            "which counts as true.",
            asks="What is the type of a comparison, before you convert it?",
            edits=((f"{_REAL}.unsqueeze(1)", f"{_REAL}.unsqueeze(1).long()"),),
        ),
        Wrong(
            "additive",
            says="You made an additive mask, with 0 and `-inf`. Here a boolean one is asked "
            "for.",
            asks="Which two values does a boolean have?",
            edits=(
                (f"{_REAL}.unsqueeze(1)",
                 "torch.zeros(ids.shape).masked_fill(ids == pad_id, -math.inf)"
                 ".unsqueeze(1)"),
            ),
        ),
        Wrong(
            "by_length",
            says="You counted the real tokens and opened that many places from the left. "
            "That fails when padding stands at the beginning.",
            asks="Where is the padding in the sentence that failed?",
            edits=(
                (f"{_REAL}.unsqueeze(1)",
                 "(torch.arange(ids.size(1)) < (ids != pad_id).sum(1, keepdim=True))"
                 ".unsqueeze(1)"),
            ),
        ),
        Wrong(
            "first_sentence",
            says="All sentences got the mask of the first one.",
            asks="Does an index `[0]` or `[:1]` stand somewhere in your code?",
            edits=((_REAL, "(ids[:1] != pad_id).expand(len(ids), -1)"),),
        ),
        Wrong(
            "anywhere",
            says="You closed a key as soon as *some* sentence has padding there. Each "
            "sentence has its own padding.",
            asks="Is there an `any` or `all` over the batch in your code?",
            edits=((_REAL, "(ids != pad_id).all(0).expand(len(ids), -1)"),),
        ),
        Wrong(
            "other_default",
            says="Called without `pad_id`, your function takes another id than 0 for "
            "padding.",
            asks="What default value does the stub give?",
            edits=(("pad_id: int = 0", "pad_id: int = 1"),),
        ),
        Wrong(
            "ids_kept",
            says="You returned ids, not truth values.",
            asks="What does a mask answer for each key: which word it is, or whether it "
            "may be seen?",
            edits=((_REAL, "(ids * (ids != pad_id))"),),
        ),
    ),
    right=(
        Right("none_index", edits=((f"{_REAL}.unsqueeze(1)", f"{_REAL}[:, None, :]"),)),
        Right("not_equal", edits=((_REAL, "ids.ne(pad_id)"),)),
        Right("inverted_twice", edits=((_REAL, "(~(ids == pad_id))"),)),
        Right("view", edits=(
            (f"{_REAL}.unsqueeze(1)", f"{_REAL}.view(ids.size(0), 1, ids.size(1))"),
        )),
        Right("where", edits=(
            (_REAL, "torch.where(ids == pad_id, False, True)"),
        )),
        Right("loop", source="""
def padding_mask(ids, pad_id=0):
    rows = [[[int(token) != pad_id for token in row]] for row in ids]
    return torch.tensor(rows)
"""),
    ),
)  # fmt: skip


# --- 2.5 causal mask ------------------------------------------------------------------

_SQUARE = "torch.ones(length, length, dtype=torch.bool)"

CAUSAL_MASK = Task(
    name="attention/causal_mask",
    title="The causal mask",
    target="causal_mask",
    precise=False,
    settings=(
        Setting(
            "short", "length 3, and one up to 24", _lengths(4, 25, 3),
            "Row i says whom position i may see: itself and everything before it.",
        ),
        Setting(
            "one", "length 1, and one up to 32", _lengths(7, 33, 1),
            "A single position sees itself.",
        ),
        Setting(
            "long", "lengths up to 40", _lengths(20, 40, 2, 12),
            "The mask has no largest length.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "upper",
            says="Your triangle points the other way: each position sees itself and the "
            "*future*.",
            asks="What should the first row look like? The first word has nothing before "
            "it.",
            edits=((".tril()", ".triu()"),),
        ),
        Wrong(
            "upper_strict",
            says="This is the mask of what is *forbidden*: `True` stands for the future.",
            asks="What does `True` mean in this course?",
            edits=((".tril()", ".triu(diagonal=1)"),),
        ),
        Wrong(
            "inverted", like="upper_strict", edits=(("return", "return ~"),),
        ),
        Wrong(
            "no_self",
            says="Nobody sees itself, and the first row is empty: its softmax would be "
            "`nan`.",
            asks="May position `i` attend to position `i`?",
            edits=((".tril()", ".tril(diagonal=-1)"),),
        ),
        Wrong(
            "less", like="no_self",
            edits=(
                (f"{_SQUARE}.tril()",
                 "torch.arange(length) < torch.arange(length)[:, None]"),
            ),
        ),
        Wrong(
            "one_ahead",
            says="Each position sees one step into the future: one diagonal too many.",
            asks="What must the first row look like for length 3?",
            edits=((".tril()", ".tril(diagonal=1)"),),
        ),
        Wrong(
            "everything",
            says="Everybody sees everybody: nothing is masked.",
            asks="Which part of the square should be `False`?",
            edits=((".tril()", ""),),
        ),
        Wrong(
            "self_only",
            says="Each position sees itself only.",
            asks="Which words came *before* the third one, and may it see them?",
            edits=((f"{_SQUARE}.tril()", "torch.eye(length, dtype=torch.bool)"),),
        ),
        Wrong(
            "last_two",
            says="Each position sees itself and its left neighbour, and nothing earlier.",
            asks="How many keys should the last row have open?",
            edits=((".tril()", ".tril().triu(-1)"),),
        ),
        Wrong(
            "flipped",
            says="Your triangle is mirrored: the open keys are counted from the right.",
            asks="The first row has one open key. Is it the first or the last?",
            edits=((".tril()", ".tril().flip(1)"),),
        ),
        Wrong(
            "floats",
            says="The triangle is right, but it holds floats. `~` and `masked_fill` want "
            "booleans.",
            asks="Which `dtype` did you ask for?",
            edits=((", dtype=torch.bool", ""),),
        ),
        Wrong(
            "integers",
            says="The triangle is right, but it holds whole numbers. Then `~1` is -2, which "
            "counts as true.",
            asks="Which `dtype` did you ask for?",
            edits=(("dtype=torch.bool", "dtype=torch.long"),),
        ),
        Wrong(
            "additive",
            says="You made an additive mask, with 0 and `-inf`. Here a boolean one is asked "
            "for.",
            asks="Which two values does a boolean have?",
            edits=(
                (f"{_SQUARE}.tril()",
                 "torch.full((length, length), -math.inf).triu(1)"),
            ),
        ),
        Wrong(
            "fixed_length",
            says="Your mask always has the same size, whatever `length` is.",
            asks="Does your code use its argument?",
            edits=((_SQUARE, "torch.ones(512, 512, dtype=torch.bool)"),),
        ),
        Wrong(
            "extra_dimension",
            says="The triangle is right, but it has dimensions of size 1 around it. `(L, L)` "
            "is asked for; broadcasting adds the rest.",
            asks="Does `(L, L)` broadcast to `(B, L, L)` without help?",
            edits=((f"return {_SQUARE}.tril()", f"return {_SQUARE}.tril()[None]"),),
        ),
        Wrong(
            "one_too_long",
            says="Your mask is one larger than `length`.",
            asks="Where does your range end?",
            edits=((_SQUARE, "torch.ones(length + 1, length + 1, dtype=torch.bool)"),),
        ),
        Wrong(
            "first_row_short",
            says="The last row was forgotten: your loop ends one step early.",
            asks="Where does `range(length - 1)` stop?",
            source="""
def causal_mask(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length - 1):
        mask[i, : i + 1] = True
    return mask
""",
        ),
    ),
    right=(
        Right("compare", edits=(
            (f"{_SQUARE}.tril()",
             "torch.arange(length)[None, :] <= torch.arange(length)[:, None]"),
        )),
        Right("not_triu", edits=((f"{_SQUARE}.tril()", f"~{_SQUARE}.triu(diagonal=1)"),)),
        Right("tril_then_bool", edits=(
            (f"{_SQUARE}.tril()", "torch.tril(torch.ones(length, length)).bool()"),
        )),
        Right("triu_is_zero", edits=(
            (f"{_SQUARE}.tril()", "torch.triu(torch.ones(length, length), 1) == 0"),
        )),
        Right("from_infinity", edits=(
            (f"{_SQUARE}.tril()",
             "torch.full((length, length), -math.inf).triu(1).isfinite()"),
        )),
        Right("pytorchs_own", edits=(
            (f"{_SQUARE}.tril()",
             "nn.Transformer.generate_square_subsequent_mask(length) == 0"),
        )),
        Right("loop", source="""
def causal_mask(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i + 1):
            mask[i, j] = True
    return mask
"""),
        Right("lists", source="""
def causal_mask(length):
    return torch.tensor([[j <= i for j in range(length)] for i in range(length)])
"""),
    ),
)  # fmt: skip


# --- 2.6 combined masks ---------------------------------------------------------------

_ALL = "both, None and the second, the first and None, None and None"

COMBINE_MASKS = Task(
    name="attention/combine_masks",
    title="Two masks at once",
    target="combine_masks",
    precise=False,
    settings=(
        Setting(
            "padding_and_causal", "a padding mask and a square mask",
            _two_masks((3, 1, 5), (5, 5), "both"),
            "A pair is allowed only if both masks allow it.",
        ),
        Setting(
            "other_order", "the other way round: the square mask first",
            _two_masks((4, 4), (2, 1, 4), "both"),
            "The order of the arguments must not matter.",
        ),
        Setting(
            "none", "None for the first, the second, or both",
            _two_masks((2, 1, 6), (6, 6), _ALL),
            "None restricts nothing: the other mask is the answer.",
        ),
        Setting(
            "heads", "masks with heads",
            _two_masks((2, 1, 1, 7), (3, 5, 7), _ALL),
            "The shapes broadcast as tensors do.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "either",
            says="You combined with *or*: a pair is open as soon as one mask opens it. Then "
            "each mask opens what the other had closed.",
            asks="Two guards stand at the door. Is a yes of one enough?",
            edits=(("first & second", "first | second"),),
        ),
        Wrong("added", like="either", edits=(("first & second", "first + second"),)),
        Wrong(
            "logical_or", like="either",
            edits=(("first & second", "torch.logical_or(first, second)"),),
        ),
        Wrong(
            "differ",
            says="Your mask is open where the two masks *differ* (an exclusive or).",
            asks="What should come out where both say yes?",
            edits=(("first & second", "first ^ second"),),
        ),
        Wrong("not_equal", like="differ", edits=(("first & second", "first != second"),)),
        Wrong(
            "agree",
            says="Your mask is open where the two masks *agree*, even where both say no.",
            asks="What should come out where both say no?",
            edits=(("first & second", "first == second"),),
        ),
        Wrong(
            "neither",
            says="Your mask is open where *neither* mask allows it: the result is upside "
            "down for masks in which `True` means yes.",
            asks="What should come out where both say yes?",
            edits=(("first & second", "~(first | second)"),),
        ),
        Wrong(
            "not_both",
            says="The result is inverted: open where it should be closed.",
            asks="What should come out where both say yes?",
            edits=(("first & second", "~(first & second)"),),
        ),
        Wrong(
            "only_first",
            says="Only the first mask arrives in the result.",
            asks="Where does the second mask enter?",
            edits=(("first & second", "first"),),
        ),
        Wrong(
            "only_second",
            says="Only the second mask arrives in the result.",
            asks="Where does the first mask enter?",
            edits=(("first & second", "second"),),
        ),
        Wrong(
            "python_and",
            says="Python's `and`, `not` and `if` want one truth value for a whole tensor, and a "
            "tensor of many has none.",
            asks="Which operator combines tensors entry by entry, and how do you ask whether "
            "something is `None`?",
            edits=(("first & second", "first and second"),),
        ),
        Wrong(
            "truth_of_tensor", like="python_and",
            edits=(("if first is None:", "if not first:"),),
        ),
        Wrong(
            "numbers",
            says="The places are right, but the result holds numbers, not booleans.",
            asks="What is the type of a product of floats?",
            edits=(("first & second", "first.float() * second.float()"),),
        ),
        Wrong(
            "whole_numbers",
            says="The places are right, but the result holds whole numbers, not booleans.",
            asks="What is the type of a product of integers?",
            edits=(("first & second", "first.int() * second.int()"),),
        ),
        Wrong(
            "no_none",
            says="With two masks all is well, but `None` was forgotten.",
            asks="What should come out if one of the two is `None`?",
            source="""
def combine_masks(first, second):
    return first & second
""",
        ),
        Wrong(
            "none_closes",
            says="If one mask is `None`, you return `None` and lose the other mask.",
            asks="No restriction from one side: what does the other side still forbid?",
            source="""
def combine_masks(first, second):
    if first is None or second is None:
        return None
    return first & second
""",
        ),
        Wrong(
            "second_none",
            says="One of the two may be `None` in your code, but not the other.",
            asks="How many of the arguments can be `None`? Did you try each?",
            edits=(("    if second is None:\n        return first\n", ""),),
        ),
        Wrong(
            "in_place",
            says="The result is right, but you changed one of the masks itself, and the next "
            "layer gets the changed one.",
            asks="What is the difference between `a = a & b` and `a &= b`?",
            source="""
def combine_masks(first, second):
    if first is None or second is None:
        return second if first is None else first
    if first.numel() < second.numel():
        first, second = second, first
    first &= second[..., : first.shape[-1]] if second.dim() == 2 else second.any(0)
    return first
""",
        ),
        Wrong(
            "in_place_small",
            says="You combined in place, with `&=`. The first mask cannot grow to the full "
            "shape, and it would be changed for everybody else.",
            asks="What shape does the result have, and what shape the first mask?",
            edits=(("return first & second", "first &= second\n    return first"),),
        ),
        Wrong(
            "stacked",
            says="You stacked the masks, which needs equal shapes.",
            asks="What does `&` do with shapes `(3, 1, 5)` and `(5, 5)`?",
            edits=(("first & second", "torch.stack([first, second]).all(0)"),),
        ),
        Wrong(
            "one_sentence",
            says="All sentences share one mask in your result: the batch was reduced.",
            asks="Which shape should the result have?",
            edits=(("first & second", "(first & second)[:1]"),),
        ),
    ),
    right=(
        Right("logical_and", edits=(
            ("first & second", "torch.logical_and(first, second)"),
        )),
        Right("product", edits=(("first & second", "first * second"),)),
        Right("de_morgan", edits=(("first & second", "~(~first | ~second)"),)),
        Right("where", edits=(
            ("first & second", "torch.where(first, second, torch.tensor(False))"),
        )),
        Right("minimum", edits=(
            ("first & second", "torch.minimum(first.int(), second.int()) == 1"),
        )),
        Right("masked_fill", edits=(
            ("first & second",
             "torch.broadcast_tensors(first, second)[0].masked_fill(~second, False)"),
        )),
        Right("list_of_masks", source="""
def combine_masks(first, second):
    result = None
    for mask in (first, second):
        if mask is not None:
            result = mask if result is None else result & mask
    return result
"""),
        Right("always_new", source="""
def combine_masks(first, second):
    masks = [mask for mask in (first, second) if mask is not None]
    if not masks:
        return None
    total = torch.tensor(True)
    for mask in masks:
        total = total & mask
    return total
"""),
    ),
)  # fmt: skip


# --- 2.7 scaled dot-product attention -------------------------------------------------

_FILL = "scores.masked_fill(~mask, -math.inf)"
_SOFTMAX = "F.softmax(scores, dim=-1)"
_RESULT = "return weights @ v, weights"

SCALED_DOT_PRODUCT = Task(
    name="attention/scaled_dot_product",
    title="Scaled dot-product attention",
    target="scaled_dot_product_attention",
    settings=(
        Setting(
            "matrix", "4 queries and 5 keys of size 8, no batch, no mask",
            _triples(lq=4, lk=5, d_k=8, d_v=3),
            "Compare with the steps: scores, scaling, softmax, weighted sum.",
        ),
        Setting(
            "batch", "a batch of 2, and the gradient",
            _triples(2, lq=3, lk=7, d_k=6, d_v=4, pull=True),
            "Each sentence of the batch is for itself, and gradients must flow.",
        ),
        Setting(
            "heads", "a batch of 2 with 3 heads, and a mask for each sentence",
            _triples(2, 3, lq=4, lk=5, d_k=6, d_v=7, mask=(2, 1, 1, 5)),
            "The mask (B, 1, 1, Lk) broadcasts: the same for all heads and queries.",
        ),
        Setting(
            "large", "huge scores, near 300 and near -300, and a mask",
            _large_triples,
            "Large scores must give shares, not nan; closed keys get none of them.",
            atol=2e-4,
        ),
        Setting(
            "causal", "a causal mask",
            _causal_triples,
            "The mask (L, L) says for each query whom it may see.",
        ),
        Setting(
            "full_mask", "a mask of its own for each sentence and query",
            _triples(3, lq=5, lk=6, d_k=2, d_v=4, mask=(3, 5, 6), pull=True),
            "The mask (B, Lq, Lk) is different for each sentence.",
        ),
        Setting(
            "many", "five dimensions and a mask",
            _triples(2, 1, 3, lq=4, lk=6, d_k=7, d_v=5, mask=(4, 6)),
            "Any number of leading dimensions is a batch.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "unscaled",
            says="The scaling is missing: your weights are too sharp.",
            asks="What is the scores' standard deviation without it?",
            edits=((" / math.sqrt(q.size(-1))", ""),),
        ),
        Wrong(
            "by_size",
            says="You divided by `d_k` itself, not by its root: your weights are too even.",
            asks="The variance of a score is `d_k`. What is its standard deviation?",
            edits=(("math.sqrt(q.size(-1))", "q.size(-1)"),),
        ),
        Wrong(
            "multiplied",
            says="You multiplied by the root of `d_k`, where a division was asked for.",
            asks="Are scores of long vectors too large or too small?",
            edits=((" / math.sqrt", " * math.sqrt"),),
        ),
        Wrong(
            "root_of_keys",
            says="You scaled by the root of the number of keys.",
            asks="Which dimension does a dot product sum over?",
            edits=(("math.sqrt(q.size(-1))", "math.sqrt(k.size(-2))"),),
        ),
        Wrong(
            "root_of_queries",
            says="You scaled by the root of the number of queries.",
            asks="Which dimension does a dot product sum over?",
            edits=(("math.sqrt(q.size(-1))", "math.sqrt(q.size(-2))"),),
        ),
        Wrong(
            "root_of_value_size",
            says="You scaled by the root of `d_v`, the size of the values. They take no part "
            "in the scores.",
            asks="Which two tensors make the scores, and what is their last size?",
            edits=(("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))"),),
        ),
        Wrong(
            "second_size",
            says="You read the size off dimension 1, which is `d_k` only while there is no "
            "batch.",
            asks="Which index names the last dimension, however many there are?",
            edits=(("math.sqrt(q.size(-1))", "math.sqrt(q.size(1))"),),
        ),
        Wrong(
            "fixed_eight",
            says="You divided by 8, always: the root of 64, the size in the paper's "
            "example.",
            asks="Where can you read `d_k` off the input?",
            edits=(("math.sqrt(q.size(-1))", "8.0"),),
        ),
        Wrong(
            "whole_root",
            says="The root of `d_k` was cut down to a whole number.",
            asks="What is the root of 6, and what is `int` of it?",
            edits=(("math.sqrt(q.size(-1))", "int(math.sqrt(q.size(-1)))"),),
        ),
        Wrong(
            "scaled_after",
            says="You divided the *weights*, after the softmax. They no longer sum to one.",
            asks="What should be brought to spread 1: the scores or the shares?",
            edits=((" / math.sqrt(q.size(-1))", ""),
                   (_SOFTMAX, f"{_SOFTMAX} / math.sqrt(q.size(-1))")),
        ),
        Wrong(
            "over_queries",
            says="Your *columns* sum to one: the softmax ran over the queries (dimension "
            "-2), not over the keys.",
            asks="One query shares its attention among all keys. Along which dimension do "
            "these shares lie?",
            edits=((_SOFTMAX, "F.softmax(scores, dim=-2)"),),
        ),
        Wrong(
            "over_first",
            says="The softmax ran over the first dimension, so the sentences of a batch "
            "compete with each other.",
            asks="Along which dimension do the shares of one query lie?",
            edits=((_SOFTMAX, "F.softmax(scores, dim=0)"),),
        ),
        Wrong(
            "over_second",
            says="The softmax ran over dimension 1. That is the last one for a matrix only.",
            asks="Which index names the last dimension of any tensor?",
            edits=((_SOFTMAX, "F.softmax(scores, dim=1)"),),
        ),
        Wrong(
            "over_third", like="over_second_of_batch",
            edits=((_SOFTMAX, "scores.softmax(2)"),),
        ),
        Wrong(
            "over_second_of_batch",
            says="The softmax ran over dimension 2. That is the last one for a batch `(B, "
            "Lq, Lk)`, but not without a batch, and not with heads.",
            asks="Which index names the last dimension of any tensor?",
            edits=((_SOFTMAX, "F.softmax(scores, dim=2)"),),
        ),
        Wrong(
            "twice",
            says="Your weights are much too even: softmax was applied twice.",
            asks="What does softmax make of numbers that all lie between 0 and 1?",
            edits=((_SOFTMAX, "F.softmax(scores, dim=-1).softmax(-1)"),),
        ),
        Wrong(
            "logarithms",
            says="Your weights are negative: these are logarithms (`log_softmax`).",
            asks="Can a share be negative?",
            edits=((_SOFTMAX, "F.log_softmax(scores, dim=-1)"),),
        ),
        Wrong(
            "sigmoids",
            says="You used a sigmoid: each weight is for itself, and a row does not sum to one.",
            asks="If all keys fit well, how much may each one get?",
            edits=((_SOFTMAX, "torch.sigmoid(scores)"),),
        ),
        Wrong(
            "plain_normalised",
            says="You divided the scores by their sum, without the exponential: weights may "
            "be negative or huge.",
            asks="What makes any number positive?",
            edits=((_SOFTMAX, "scores / scores.sum(-1, keepdim=True)"),),
        ),
        Wrong(
            "no_softmax",
            says="There is no softmax: your weights are the scores themselves.",
            asks="What must the weights of one query sum to?",
            edits=((_SOFTMAX, "scores"),),
        ),
        Wrong(
            "overflow",
            says="With small scores all is well; large ones overflow in `exp`, and `inf / inf` "
            "is `nan`.",
            asks="What did Exercise 2.3 do about that?",
            edits=((_SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)"),),
        ),
        Wrong(
            "hidden_nan",
            says="You turned `nan` into zero. The alarm is silent now, but these rows have no "
            "weights at all.",
            asks="Where does the `nan` come from? Every row has an open key here.",
            edits=((_SOFTMAX, "(scores.exp() / scores.exp().sum(-1, keepdim=True))"
                              ".nan_to_num(0.0)"),),
        ),
        Wrong(
            "cosine",
            says="You brought queries and keys to length 1 first: these are cosines, and "
            "lengths no longer count.",
            asks="Which operation does the formula apply to `q` and `k` before the product?",
            edits=(("q @ k.transpose(-2, -1)",
                    "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"),),
        ),
        Wrong(
            "averaged",
            says="The output is too small by the number of keys: you took the mean of the weighted "
            "values, where the formula takes their sum.",
            asks="The weights sum to one already. Must you divide once more?",
            edits=((_RESULT, "return weights @ v / k.size(-2), weights"),),
        ),
        Wrong(
            "largest_only",
            says="Each query takes the best key alone, as a dictionary does. There is no "
            "mixture, and no gradient.",
            asks="What is the difference between *the largest* and a *soft* maximum?",
            edits=(
                (_SOFTMAX,
                 "F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)"),
            ),
        ),
        Wrong(
            "keys_ask",
            says="Queries and keys have changed places: your rows belong to keys.",
            asks="One output is wanted for each *query*. Which one must stand on the left?",
            edits=(("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"),),
        ),
        Wrong(
            "reshaped",
            says="You reshaped the keys to make the sizes fit. That deals their numbers out "
            "anew; it is not a transposition.",
            asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to 6.",
            edits=(
                ("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)"),
            ),
        ),
        Wrong(
            "capital_t",
            says="`k.T` reverses all dimensions, the batch too. That works for a plain "
            "matrix only.",
            asks="Which two dimensions should swap, counted from the end?",
            edits=(("k.transpose(-2, -1)", "k.T"),),
        ),
        Wrong(
            "one_and_two",
            says="You swapped dimensions 1 and 2: right for a batch, but not without one, "
            "and not with heads.",
            asks="Which numbers name the last two dimensions of any tensor?",
            edits=(("k.transpose(-2, -1)", "k.transpose(1, 2)"),),
        ),
        Wrong(
            "bmm_only",
            says="`bmm` takes three dimensions exactly: no plain matrix, and no heads.",
            asks="Which product treats any leading dimensions as a batch?",
            edits=(("q @ k.transpose(-2, -1)", "torch.bmm(q, k.transpose(-2, -1))"),),
        ),
        Wrong(
            "weights_turned",
            says="The output is mixed with the transposed weights.",
            asks="Row `i` of the output belongs to query `i`. Which row of the weights "
            "belongs to it?",
            edits=((_RESULT, "return weights.transpose(-2, -1) @ v, weights"),),
        ),
        Wrong(
            "mixes_keys",
            says="You mixed the *keys* where the values belong.",
            asks="Keys are for finding. What is handed out?",
            edits=((_RESULT, "return weights @ k, weights"),),
        ),
        Wrong(
            "mixes_plainly",
            says="The output is the plain mean of the values; the weights play no part.",
            asks="Where do the weights enter the output?",
            edits=(
                (_RESULT,
                 "return v.mean(-2, keepdim=True).expand("
                 "*weights.shape[:-1], -1), weights"),
            ),
        ),
        Wrong(
            "output_only",
            says="You returned the output alone; the weights are wanted, too.",
            asks="What does the docstring say comes second?",
            edits=((_RESULT, "return weights @ v"),),
        ),
        Wrong(
            "weights_first",
            says="Both results are there, but in the wrong order: output first, then "
            "weights.",
            asks="What does the docstring say comes first?",
            edits=((_RESULT, "return weights, weights @ v"),),
        ),
        Wrong(
            "scores_returned",
            says="The output is right, but in place of the weights you returned the scores.",
            asks="Do the rows of your second result sum to one?",
            edits=((_RESULT, "return weights @ v, scores"),),
        ),
        Wrong(
            "first_sentence",
            says="Every sentence of the batch is answered with the values of the first one.",
            asks="Does an index `[0]` or `[:1]` stand somewhere in your code?",
            edits=((_RESULT,
                    "return weights @ (v[:1] if v.dim() > 2 else v), weights"),),
        ),
        Wrong(
            "no_gradient",
            says="The numbers are right, but no gradient comes back: something cut the "
            "way (`detach`, `no_grad`, numpy).",
            asks="Could `w_q` ever learn through this function?",
            edits=((_SOFTMAX, "F.softmax(scores.detach(), dim=-1)"),),
        ),
        Wrong(
            "no_gradient_at_all",
            says="The numbers are right, but the output carries no gradient at all, not even to "
            "the values.",
            asks="Is there a `no_grad` or a `detach` around the whole computation?",
            edits=((_RESULT, "return (weights @ v).detach(), weights"),),
        ),
        Wrong(
            "numpy", like="no_gradient_at_all",
            edits=(
                (_RESULT,
                 "return torch.from_numpy(weights.detach().numpy() @ "
                 "v.detach().numpy()), weights"),
            ),
        ),
        Wrong(
            "in_place",
            says="The results are right, but `q` itself was changed, so a second call gives "
            "something else.",
            asks="What is the difference between `q = q / n` and `q /= n`?",
            edits=(
                ("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
                 "q.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"),
            ),
        ),
        Wrong(
            "dropout",
            says="Some weights are zeroed by chance: there is a dropout which nobody asked "
            "for.",
            asks="Why do two calls with the same input differ?",
            edits=((_SOFTMAX, "F.dropout(F.softmax(scores, dim=-1), 0.1)"),),
        ),
        Wrong(
            "half_precision",
            says="The numbers are close, but blunt: they went through a 16-bit type on the "
            "way.",
            asks="Which of your calls changes the type?",
            edits=((_SOFTMAX, "F.softmax(scores.bfloat16(), dim=-1).to(q.dtype)"),),
        ),
        Wrong(
            "rounded",
            says="Your weights are rounded to a few digits.",
            asks="Is there a `round` left from looking at the numbers?",
            edits=((_SOFTMAX, "F.softmax(scores, dim=-1).round(decimals=2)"),),
        ),
        # Masks.
        Wrong(
            "mask_ignored",
            says="Without a mask all is well, but the mask has no effect.",
            asks="Is the result of `masked_fill` used? It leaves its own tensor as it was.",
            edits=((f"scores = {_FILL}", _FILL),),
        ),
        Wrong("mask_forgotten", like="mask_ignored", edits=((_FILL, "scores"),)),
        Wrong(
            "inverted",
            says="The mask works the wrong way round: you closed what `True` allows.",
            asks="In this course `True` means *may attend*. Which entries must get minus "
            "infinity?",
            edits=(("~mask", "mask"),),
        ),
        Wrong(
            "inverted_where", like="inverted",
            edits=(
                (_FILL, "torch.where(mask, torch.tensor(-math.inf).to(scores), scores)"),
            ),
        ),
        Wrong(
            "after_softmax",
            says="You closed entries *after* the softmax. They are zero now, but the rest no "
            "longer sums to one.",
            asks="Who should get the share that the masked keys lost?",
            edits=((f"scores = {_FILL}", "pass"),
                   (_SOFTMAX, f"{_SOFTMAX} * (1 if mask is None else mask)")),
        ),
        Wrong(
            "fill_zero",
            says="You filled closed entries with 0. A score of 0 is an ordinary score: e^0 "
            "is 1, not 0.",
            asks="For which score is the exponential zero?",
            edits=(("-math.inf", "0.0"),),
        ),
        Wrong("times_mask", like="fill_zero", edits=((_FILL, "scores * mask"),)),
        Wrong(
            "fill_tiny", like="fill_zero",
            edits=(("-math.inf", "1e-9"),),
        ),
        Wrong(
            "fill_minus_ten",
            says="Closed entries still get a little weight: the number you filled in is not small "
            "enough.",
            asks="What is e^-10, and what should it be?",
            edits=(("-math.inf", "-10.0"),),
        ),
        Wrong(
            "fill_minus_one",
            says="Closed entries still get weight: a score of -1 is an ordinary score.",
            asks="For which score is the exponential zero?",
            edits=(("-math.inf", "-1.0"),),
        ),
        Wrong(
            "fill_minus_hundred",
            says="You filled in a number that is small among ordinary scores. But scores may be "
            "lower still, and then the closed keys win.",
            asks="Which number is smaller than every score?",
            edits=(("-math.inf", "-100.0"),),
        ),
        Wrong(
            "fill_smallest_positive", like="fill_zero",
            edits=(("-math.inf", "torch.finfo(torch.float32).tiny"),),
        ),
        Wrong(
            "fill_plus_infinity",
            says="You filled in *plus* infinity: the closed keys win everything, and `inf - "
            "inf` is `nan`.",
            asks="Should a closed key have the largest or the smallest score?",
            edits=(("-math.inf", "math.inf"),),
        ),
        Wrong(
            "mask_added",
            says="You added the boolean mask to the scores, so `True` counts as 1: open keys "
            "get a small bonus, and nobody is closed.",
            asks="What must be added to a score so that its exponential is zero?",
            edits=((_FILL, "scores + mask"),),
        ),
        Wrong(
            "infinity_times_zero",
            says="You multiplied infinity by zero, and that is `nan`.",
            asks="Which function puts a value where a mask says so, without arithmetic?",
            edits=((_FILL, "scores * mask + (~mask) * -math.inf"),),
        ),
        Wrong(
            "infinity_times_mask", like="infinity_times_zero",
            edits=((_FILL, "scores + (1.0 - mask.to(scores)) * -math.inf"),),
        ),
        Wrong(
            "output_unmasked",
            says="The weights are masked, but the output was mixed with the weights "
            "from before the mask.",
            asks="Which variable does the last product use?",
            source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    output = F.softmax(scores, dim=-1) @ v
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return output, F.softmax(scores, dim=-1)
""",
        ),
        Wrong(
            "weights_unmasked",
            says="The output is masked, but the weights you return are those from before the "
            "mask.",
            asks="Which variable do you return?",
            source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return F.softmax(scores, dim=-1) @ v, weights
""",
        ),
        Wrong(
            "renormalised_badly",
            says="You renormalised the masked weights with a small constant in the "
            "denominator: the rows sum to a little less than one.",
            asks="If you mask *before* the softmax, do you have to renormalise at all?",
            edits=((f"scores = {_FILL}", "pass"),
                   (_SOFTMAX,
                    f"{_SOFTMAX} * (1 if mask is None else mask)\n"
                    "    if mask is not None:\n"
                    "        weights = weights / (weights.sum(-1, keepdim=True) + 0.01)")),
        ),
        Wrong(
            "values_masked",
            says="You zeroed the *values* of closed keys, but these keys still take their "
            "share of the weights.",
            asks="Do the weights of the open keys sum to one?",
            edits=((f"scores = {_FILL}", "pass"),
                   (_RESULT,
                    "if mask is not None:\n"
                    "        return (weights * mask) @ v, weights\n"
                    "    return weights @ v, weights")),
        ),
        Wrong(
            "unscaled_with_mask",
            says="With a mask, the scaling is lost: your masked branch starts from unscaled "
            "scores.",
            asks="Which scores go into the branch with the mask?",
            edits=((_FILL,
                    "(q @ k.transpose(-2, -1)).masked_fill(~mask, -math.inf)"),),
        ),
        Wrong(
            "first_mask",
            says="All sentences got the mask of the first one.",
            asks="Does an index `[0]` or `[:1]` stand beside the mask?",
            edits=((_FILL,
                    "scores.masked_fill(~(mask[:1] if mask.dim() > 2 else mask), "
                    "-math.inf)"),),
        ),
        Wrong(
            "mask_of_keys_only",
            says="You reduced the mask to one row for all queries, so each query gets the "
            "same closed keys.",
            asks="Which shapes may a mask have besides `(B, 1, Lk)`?",
            edits=((_FILL, "scores.masked_fill(~mask.any(-2, keepdim=True), -math.inf)"),),
        ),
        Wrong(
            "first_head",
            says="The mask reaches the first head only.",
            asks="Is an index `[:, 0]` in your code? What does broadcasting do by itself?",
            source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        masked = scores.masked_fill(~mask, -math.inf)
        if scores.dim() == 4:
            masked = torch.cat([masked[:, :1], scores[:, 1:]], dim=1)
        scores = masked
    weights = F.softmax(scores, dim=-1)
    return weights @ v, weights
""",
        ),
        Wrong(
            "mask_unsqueezed",
            says="You gave the mask one more dimension. It broadcasts as it is.",
            asks="What shapes do the scores and your mask have at that line?",
            edits=(("~mask", "~mask.unsqueeze(1)"),),
        ),
        Wrong(
            "truth_of_tensor",
            says="`if mask:` asks a whole tensor whether it is true. The question is only "
            "whether there *is* a mask.",
            asks="How do you ask whether something is not `None`?",
            edits=(("if mask is not None:", "if mask:"),),
        ),
        Wrong(
            "mask_required",
            says="With a mask all is well, but without one your code asks `None` for help.",
            asks="What should happen if `mask` is `None`?",
            edits=(("if mask is not None:", "if True:"),),
        ),
        Wrong(
            "always_causal",
            says="You always use a causal mask, whatever the caller asks for.",
            asks="Who decides which mask is used?",
            edits=(
                ("if mask is not None:",
                 "mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()\n"
                 "    if mask is not None:"),
            ),
        ),
        Wrong(
            "mask_turned",
            says="The mask is transposed: rows and columns have changed places.",
            asks="The mask has the shape of the scores. Which of its dimensions is that of "
            "the queries?",
            edits=(("~mask", "~mask.transpose(-2, -1)"),),
        ),
        Wrong(
            "mask_inverted_in_place",
            says="The results of the first call are right, but the caller's mask was changed.",
            asks="What is the difference between `~mask` and `mask.logical_not_()`?",
            edits=(("~mask", "mask.logical_not_()"),),
        ),
    ),
    right=(
        Right("einsum", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
    weights = scores.softmax(-1)
    return torch.einsum("...ij,...jd->...id", weights, v), weights
"""),
        Right("large_number", edits=(("-math.inf", "-1e9"),)),
        Right("smallest_number", edits=(
            ("-math.inf", "torch.finfo(scores.dtype).min"),
        )),
        Right("additive", edits=(
            (_FILL,
             "scores + torch.zeros(mask.shape).to(scores).masked_fill(~mask, -math.inf)"),
        )),
        Right("scale_the_queries", edits=(
            ("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
             "(q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"),
        )),
        Right("scale_the_keys", edits=(
            ("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
             "q @ (k / k.shape[-1] ** 0.5).mT"),
        )),
        Right("scale_last", edits=(
            (" / math.sqrt(q.size(-1))", ""),
            (_SOFTMAX, "F.softmax(scores / math.sqrt(q.size(-1)), dim=-1)"),
        )),
        Right("fused_output", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    return output, scores.softmax(dim=-1)
"""),
        Right("fused_twice", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    eye = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)
    return weights @ v, weights
"""),
        Right("own_parts", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -math.inf)  # noqa: E712
    weights = stable_softmax(scores)
    return weights @ v, weights
"""),
        Right("in_place_on_own", edits=(
            (f"scores = {_FILL}", "scores.masked_fill_(~mask, -math.inf)"),
        )),
        Right("masked_powers", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    keep = torch.ones_like(scores, dtype=torch.bool)
    if mask is not None:
        keep = keep & mask
    top = scores.masked_fill(~keep, -1e9).amax(-1, keepdim=True)
    powers = (scores - top).clamp(max=0).exp() * keep
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ v, weights
"""),
        Right("loops", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    lead, d_k = q.shape[:-2], q.shape[-1]
    shape = (*lead, q.shape[-2], k.shape[-2])
    keep = torch.ones(shape, dtype=torch.bool)
    keep = (keep & mask if mask is not None else keep).reshape(-1, *shape[-2:])
    outputs, maps = [], []
    flat = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    for queries, keys, values, allowed in zip(*flat, keep):
        for query, row in zip(queries, allowed):
            scores = torch.stack([(query * key).sum() / d_k**0.5 for key in keys])
            weights = torch.where(row, scores, -torch.inf).softmax(0)
            maps.append(weights)
            outputs.append(sum(w * value for w, value in zip(weights, values)))
    output = torch.stack(outputs).reshape(*q.shape[:-1], v.shape[-1])
    return output, torch.stack(maps).reshape(shape)
"""),
        Right("bmm", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    lead = q.shape[:-2]
    a, b, c = (x.reshape(-1, x.shape[-2], x.shape[-1]) for x in (q, k, v))
    scores = torch.bmm(a, b.transpose(1, 2)).div(math.sqrt(q.size(-1)))
    scores = scores.reshape(*lead, *scores.shape[-2:])
    if mask is not None:
        scores = scores.masked_fill(~mask.expand_as(scores), -math.inf)
    weights = torch.softmax(scores, -1)
    output = torch.bmm(weights.reshape(-1, *weights.shape[-2:]), c)
    return output.reshape(*lead, *output.shape[-2:]), weights
"""),
        Right("list_returned", edits=((_RESULT, "return [weights @ v, weights]"),)),
        Right("renormalised", source="""
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores - (~mask).to(scores.dtype) * 1e6
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v, weights
"""),
    ),
)  # fmt: skip


# --- 2.8 self-attention ---------------------------------------------------------------

_CALL = "return scaled_dot_product_attention(q, k, v, mask)"
_PROJECT = "q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)"

SELF_ATTENTION = Task(
    name="attention/self_attention",
    title="Self-attention",
    target="SelfAttention",
    settings=(
        Setting(
            "plain", "2 sentences of 4 words, d_model 5, d_k 3, d_v 6",
            _self(2, 4, 5, 3, 6),
            "Each linear layer reads x; d_k and d_v may differ.",
        ),
        Setting(
            "padding", "a padding mask for each of 3 sentences",
            _self(3, 5, 4, 2, 7, mask="padding"),
            "The mask is handed on to attention as it is.",
        ),
        Setting(
            "causal", "a causal mask: who sees whom",
            _self(2, 6, 3, 5, 4, mask="causal"),
            "The mask is handed on to attention as it is.",
        ),
        Setting(
            "gradient", "the gradient reaches x",
            _self(3, 2, 6, 4, 5, pull=True),
            "Gradients flow through queries, keys and values alike.",
        ),
        Setting(
            "one_word", "d_k of 1 and a single sentence",
            _self(1, 3, 7, 1, 2, mask="padding"),
            "No size is special.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "query_key_swapped",
            says="Queries and keys have changed places on their way into attention.",
            asks="In which order does your attention take its arguments?",
            edits=(("(q, k, v, mask)", "(k, q, v, mask)"),),
        ),
        Wrong(
            "projections_swapped", like="query_key_swapped",
            edits=((_PROJECT, "q, k, v = self.w_k(x), self.w_q(x), self.w_v(x)"),),
        ),
        Wrong(
            "queries_as_keys",
            says="Queries and keys come from the same layer: `w_k` is never used.",
            asks="What a word looks for and what it offers: should they be the same?",
            edits=(("self.w_k(x)", "self.w_q(x)"),),
        ),
        Wrong(
            "keys_as_queries",
            says="Queries and keys come from the same layer: `w_q` is never used.",
            asks="What a word looks for and what it offers: should they be the same?",
            edits=(("self.w_q(x)", "self.w_k(x)"),),
        ),
        Wrong(
            "keys_as_values",
            says="The keys are handed out as values; `w_v` plays no part.",
            asks="What size has the output, and which layer gives that size?",
            edits=(("(q, k, v, mask)", "(q, k, k, mask)"),),
        ),
        Wrong(
            "inputs_as_values",
            says="The input itself is handed out as values; `w_v` plays no part.",
            asks="Which of your three layers is never used?",
            edits=(("(q, k, v, mask)", "(q, k, x, mask)"),),
        ),
        Wrong(
            "inputs_compared",
            says="The inputs themselves are compared; `w_q` and `w_k` play no part.",
            asks="Which of your three layers are never used?",
            edits=(("(q, k, v, mask)", "(x, x, v, mask)"),),
        ),
        Wrong(
            "mask_dropped",
            says="The mask never reaches attention, at least not in evaluation.",
            asks="How many arguments does your attention take? And does the mask depend on "
            "whether somebody trains?",
            edits=(("(q, k, v, mask)", "(q, k, v)"),),
        ),
        Wrong(
            "mask_inverted",
            says="The mask is inverted on its way: closed becomes open.",
            asks="Do both functions agree on what `True` means?",
            edits=(("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)"),),
        ),
        Wrong(
            "training_only", like="mask_dropped",
            edits=(("(q, k, v, mask)", "(q, k, v, mask if self.training else None)"),),
        ),
        Wrong("mask_none", like="mask_dropped", edits=(
            ("(q, k, v, mask)", "(q, k, v, mask=None)"),
        )),
        Wrong(
            "always_causal",
            says="Your layer is always causal, whatever mask it is given.",
            asks="Who decides which mask is used?",
            edits=(
                ("(q, k, v, mask)",
                 "(q, k, v, torch.ones(x.size(1), x.size(1)).tril().bool())"),
            ),
        ),
        Wrong(
            "output_only",
            says="You returned the output alone; the weights are wanted, too.",
            asks="What does your attention return, and what does the docstring want?",
            edits=((_CALL, f"{_CALL}[0]"),),
        ),
        Wrong(
            "weights_first",
            says="Both results are there, but in the wrong order: output first, then weights.",
            asks="What does the docstring say comes first?",
            edits=((_CALL, f"{_CALL}[::-1]"),),
        ),
        Wrong(
            "weights_averaged",
            says="The weights lost a dimension: `(B, L, L)` is wanted, a map for each "
            "sentence.",
            asks="Is there a mean or an index too many?",
            edits=((_CALL, "o, w = scaled_dot_product_attention(q, k, v, mask)\n"
                           "        return o, w.mean(0)"),),
        ),
        Wrong(
            "residual",
            says="You added the values to the output: a residual, which nobody asked for yet.",
            asks="What does the docstring say `forward` returns?",
            edits=((_CALL, "o, w = scaled_dot_product_attention(q, k, v, mask)\n"
                           "        return o + v, w"),),
        ),
        Wrong(
            "normalised",
            says="The output is normalised: there is a layer norm which nobody asked for yet.",
            asks="What does the docstring say `forward` returns?",
            edits=((_CALL, "o, w = scaled_dot_product_attention(q, k, v, mask)\n"
                           "        return F.layer_norm(o, o.shape[-1:]), w"),),
        ),
        Wrong(
            "activation",
            says="The projections pass through a ReLU: negative numbers are gone.",
            asks="What is between a linear layer and attention in the formula?",
            edits=((_PROJECT, f"{_PROJECT}\n        q, k, v = q.relu(), k.relu(), v.relu()"),),
        ),
        Wrong(
            "output_projection",
            says="There is one more layer, an output projection. It comes with the heads in "
            "unit 3, not here.",
            asks="How many linear layers does the text ask for?",
            edits=(
                ("self.w_v = nn.Linear(d_model, d_v)",
                 "self.w_v = nn.Linear(d_model, d_v)\n"
                 "        self.w_o = nn.Linear(d_v, d_v)"),
            ),
        ),
        Wrong(
            "value_size",
            says="`w_v` has the size of the keys. Values have a size of their own, `d_v`.",
            asks="Which size must the output have?",
            edits=(("nn.Linear(d_model, d_v)", "nn.Linear(d_model, d_k)"),),
        ),
        Wrong(
            "key_size",
            says="`w_q` and `w_k` have the size of the values, `d_v`, not `d_k`.",
            asks="Which size do queries and keys share?",
            edits=(("self.w_q = nn.Linear(d_model, d_k)",
                    "self.w_q = nn.Linear(d_model, d_v)"),
                   ("self.w_k = nn.Linear(d_model, d_k)",
                    "self.w_k = nn.Linear(d_model, d_v)")),
        ),
        Wrong(
            "model_size",
            says="Your layers keep the size `d_model`. They should lead to `d_k`, `d_k` and "
            "`d_v`.",
            asks="What are the two arguments of `nn.Linear`?",
            edits=(("self.w_q = nn.Linear(d_model, d_k)",
                    "self.w_q = nn.Linear(d_model, d_model)"),
                   ("self.w_k = nn.Linear(d_model, d_k)",
                    "self.w_k = nn.Linear(d_model, d_model)"),
                   ("self.w_v = nn.Linear(d_model, d_v)",
                    "self.w_v = nn.Linear(d_model, d_model)")),
        ),
        Wrong(
            "sizes_turned",
            says="The sizes of your layers are the wrong way round: from `d_k` to `d_model`.",
            asks="`nn.Linear(a, b)`: which is the size that comes in?",
            edits=(("self.w_q = nn.Linear(d_model, d_k)",
                    "self.w_q = nn.Linear(d_k, d_model)"),
                   ("self.w_k = nn.Linear(d_model, d_k)",
                    "self.w_k = nn.Linear(d_k, d_model)"),
                   ("self.w_v = nn.Linear(d_model, d_v)",
                    "self.w_v = nn.Linear(d_v, d_model)")),
        ),
        Wrong(
            "no_bias",
            says="Your linear layers have no bias. Here they have one, PyTorch's default.",
            asks="Which argument of `nn.Linear` did you set?",
            edits=(("self.w_q = nn.Linear(d_model, d_k)",
                    "self.w_q = nn.Linear(d_model, d_k, bias=False)"),
                   ("self.w_k = nn.Linear(d_model, d_k)",
                    "self.w_k = nn.Linear(d_model, d_k, bias=False)"),
                   ("self.w_v = nn.Linear(d_model, d_v)",
                    "self.w_v = nn.Linear(d_model, d_v, bias=False)")),
        ),
        Wrong(
            "other_names",
            says="Your layers have other names than `w_q`, `w_k` and `w_v`, so no weights "
            "can be loaded into them.",
            asks="What names does the text give?",
            source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.query = nn.Linear(d_model, d_k)
        self.key = nn.Linear(d_model, d_k)
        self.value = nn.Linear(d_model, d_v)

    def forward(self, x, mask=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        return scaled_dot_product_attention(q, k, v, mask)
""",
        ),
        Wrong(
            "plain_list",
            says="PyTorch cannot see your layers: they lie in a plain Python list (or are "
            "made anew in `forward`). Such layers never learn.",
            asks="What does `list(layer.parameters())` show?",
            source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.layers = [nn.Linear(d_model, d) for d in (d_k, d_k, d_v)]

    def forward(self, x, mask=None):
        q, k, v = (layer(x) for layer in self.layers)
        return scaled_dot_product_attention(q, k, v, mask)
""",
        ),
        Wrong(
            "made_in_forward", like="plain_list",
            source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.sizes = d_model, d_k, d_v

    def forward(self, x, mask=None):
        d_model, d_k, d_v = self.sizes
        q, k, v = (nn.Linear(d_model, d)(x) for d in (d_k, d_k, d_v))
        return scaled_dot_product_attention(q, k, v, mask)
""",
        ),
        Wrong(
            "sequence_first",
            says="Your layer takes the positions for the batch: sentences attend to each other "
            "at the same position.",
            asks="Batch first: which dimension holds the words?",
            edits=(
                (_PROJECT,
                 "q, k, v = (w(x.transpose(0, 1)) for w in (self.w_q, self.w_k, self.w_v))"),
                (_CALL,
                 "o, w = scaled_dot_product_attention(q, k, v)\n"
                 "        return o.transpose(0, 1), w"),
            ),
        ),
        Wrong(
            "batch_flattened",
            says="You joined all sentences into one long sequence, so words see other "
            "sentences.",
            asks="What shape do your weights have? `(B, L, L)` is wanted.",
            edits=(
                (_PROJECT,
                 "q, k, v = (w(x.flatten(0, 1)) for w in (self.w_q, self.w_k, self.w_v))"),
                (_CALL,
                 "o, w = scaled_dot_product_attention(q, k, v)\n"
                 "        return o.unflatten(0, x.shape[:2]), w"),
            ),
        ),
        Wrong(
            "no_gradient",
            says="The numbers are right, but no gradient comes back to the input.",
            asks="Is there a `detach` or `no_grad` in your `forward`?",
            edits=(("self.w_q(x), self.w_k(x), self.w_v(x)",
                    "self.w_q(x.detach()), self.w_k(x.detach()), self.w_v(x.detach())"),),
        ),
        Wrong(
            "dropout",
            says="Some numbers are zeroed by chance, even in evaluation: a dropout which "
            "nobody asked for.",
            asks="Does your layer give the same result twice?",
            edits=(("self.w_v(x)", "F.dropout(self.w_v(x), 0.3)"),),
        ),
        Wrong(
            "scaled_by_model",
            says="The scores are scaled by the root of `d_model`, not of `d_k`.",
            asks="Which vectors are compared, and what is their size?",
            edits=(("self.w_q(x)", "self.w_q(x) * (self.w_q.out_features "
                                   "/ self.w_q.in_features) ** 0.5"),),
        ),
        Wrong(
            "nothing_returned",
            says="`forward` computes, but returns nothing.",
            asks="Which line hands the result to the caller?",
            edits=((_CALL, "scaled_dot_product_attention(q, k, v, mask)"),),
        ),
        Wrong(
            "no_super",
            says="`super().__init__()` is missing, so the module cannot hold layers.",
            asks="What does the first line of the skeleton's `__init__` do?",
            edits=(("super().__init__()", "pass"),),
        ),
    ),
    right=(
        Right("other_order", source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.d_k = d_k
        self.w_v = nn.Linear(d_model, d_v)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_q = nn.Linear(d_model, d_k)
        nn.init.xavier_uniform_(self.w_q.weight)

    def forward(self, x, mask=None):
        scores = self.w_q(x) @ self.w_k(x).mT / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return torch.matmul(weights, self.w_v(x)), weights
"""),
        Right("fused", source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q, self.w_k = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_v)

    def forward(self, x, mask=None):
        layers = (self.w_q, self.w_k, self.w_v)
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        sizes = [layer.out_features for layer in layers]
        q, k, v = F.linear(x, weight, bias).split(sizes, dim=-1)
        return scaled_dot_product_attention(q, k, v, mask)
"""),
        Right("keywords", edits=(
            (_CALL, "out, w = scaled_dot_product_attention(q=q, k=k, v=v, mask=mask)\n"
                    "        return out, w"),
        )),
        Right("values_last", source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_v)

    def forward(self, x, mask=None):
        mixed, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), x, mask)
        return self.w_v(mixed), weights
"""),
        Right("per_sentence", source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_v)

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        mask = torch.ones(B, L, L).bool() if mask is None else mask.expand(B, L, L)
        outputs, maps = [], []
        for sentence, keep in zip(x, mask):
            q, k, v = self.w_q(sentence), self.w_k(sentence), self.w_v(sentence)
            o, w = scaled_dot_product_attention(q, k, v, keep)
            outputs.append(o)
            maps.append(w)
        return torch.stack(outputs), torch.stack(maps)
"""),
        Right("parameters_and_einsum", source="""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        for name, size in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
            self.add_module(name, nn.Linear(d_model, size))

    def forward(self, x, mask=None):
        scores = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x))
        scores = scores * self.w_q.out_features ** -0.5
        if mask is not None:
            scores = scores + torch.log(mask.to(scores.dtype))
        weights = torch.softmax(scores, dim=2)
        return torch.einsum("bij,bjd->bid", weights, self.w_v(x)), weights
"""),
    ),
)  # fmt: skip


# --- 2.9 cross-attention --------------------------------------------------------------

_KV = "k, v = self.w_k(memory), self.w_v(memory)"

CROSS_ATTENTION = Task(
    name="attention/cross_attention",
    title="Cross-attention",
    target="CrossAttention",
    settings=(
        Setting(
            "plain", "4 words ask 6 words of another size",
            _cross(2, 4, 6, d_model=5, d_memory=7, d_k=3, d_v=8),
            "Queries come from x; keys and values come from memory.",
        ),
        Setting(
            "padding", "a padding mask of the memory",
            _cross(3, 2, 5, d_model=6, d_memory=4, d_k=7, d_v=8, mask=(3, 1, 5)),
            "The mask (B, 1, Lk) closes positions of the memory.",
        ),
        Setting(
            "gradient", "gradients reach x and memory",
            _cross(2, 7, 3, d_model=4, d_memory=6, d_k=5, d_v=8, pull=True),
            "Gradients flow to both inputs.",
        ),
        Setting(
            "equal_sizes", "both inputs of the same length and size, and a full mask",
            _cross(2, 5, 5, d_model=4, d_memory=4, d_k=6, d_v=7, mask=(2, 5, 5)),
            "Even when all sizes fit, keys and values belong to the memory.",
        ),
        Setting(
            "long_memory", "one word asks a long memory",
            _cross(3, 1, 11, d_model=5, d_memory=2, d_k=4, d_v=6, mask=(1, 11)),
            "The number of keys is that of the memory.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "roles_swapped",
            says="The memory asks and `x` answers: the two have changed roles.",
            asks="One output is wanted for each position of `x`. Who must send the queries?",
            source="""
class CrossAttention(nn.Module):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_memory, d_k)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_v)

    def forward(self, x, memory, mask=None):
        q, k, v = self.w_q(memory), self.w_k(x), self.w_v(x)
        return scaled_dot_product_attention(q, k, v, mask)
""",
        ),
        Wrong(
            "inputs_swapped",
            says="The layers have the right sizes, but in `forward` each one reads the other "
            "input.",
            asks="Which input has the size `d_model`, and which layer expects it?",
            edits=(("self.w_q(x)", "self.w_q(memory)"),
                   (_KV, "k, v = self.w_k(x), self.w_v(x)")),
        ),
        Wrong(
            "memory_ignored",
            says="Your layer is self-attention in disguise: `memory` plays no part.",
            asks="Where do keys and values come from in cross-attention?",
            edits=((_KV, "k, v = self.w_k(x), self.w_v(x)"),),
        ),
        Wrong(
            "self_sized",
            says="All your layers expect the size `d_model`, but the memory has a size of its "
            "own.",
            asks="Which layers read the memory, and what size do its vectors have?",
            edits=(("nn.Linear(d_memory, d_k)", "nn.Linear(d_model, d_k)"),
                   ("nn.Linear(d_memory, d_v)", "nn.Linear(d_model, d_v)")),
        ),
        Wrong(
            "query_sized_by_memory",
            says="`w_q` expects the size of the memory, but it reads `x`.",
            asks="What size do the vectors of `x` have?",
            edits=(("nn.Linear(d_model, d_k)", "nn.Linear(d_memory, d_k)"),),
        ),
        Wrong(
            "values_from_x",
            says="The keys come from the memory, but the values from `x`. Then somebody is "
            "found, and somebody else answers.",
            asks="Keys and values are two sides of the same entry. Where do entries live?",
            edits=(("self.w_v = nn.Linear(d_memory, d_v)",
                    "self.w_v = nn.Linear(d_model, d_v)"),
                   ("self.w_v(memory)", "self.w_v(x)")),
        ),
        Wrong(
            "values_read_x",
            says="`w_v` reads `x`. Its size is that of the memory, and so should be its "
            "input.",
            asks="Keys and values are two sides of the same entry. Where do entries live?",
            edits=(("self.w_v(memory)", "self.w_v(x)"),),
        ),
        Wrong(
            "keys_read_x",
            says="`w_k` reads `x`, while the values come from the memory.",
            asks="Keys and values are two sides of the same entry. Where do entries live?",
            edits=(("self.w_k(memory)", "self.w_k(x)"),),
        ),
        Wrong(
            "queries_read_memory",
            says="`w_q` reads the memory. Then the memory talks to itself.",
            asks="Who asks the questions in cross-attention?",
            edits=(("self.w_q(x)", "self.w_q(memory)"),),
        ),
        Wrong(
            "keys_as_values",
            says="The keys are handed out as values; `w_v` plays no part.",
            asks="What size has the output, and which layer gives that size?",
            edits=(("(q, k, v, mask)", "(q, k, k, mask)"),),
        ),
        Wrong(
            "memory_as_values",
            says="The memory itself is handed out as values; `w_v` plays no part.",
            asks="Which of your three layers is never used?",
            edits=(("(q, k, v, mask)", "(q, k, memory, mask)"),),
        ),
        Wrong(
            "query_key_swapped",
            says="Queries and keys have changed places on their way into attention.",
            asks="In which order does your attention take its arguments?",
            edits=(("(q, k, v, mask)", "(k, q, v, mask)"),),
        ),
        Wrong(
            "mask_dropped",
            says="The mask never reaches attention.",
            asks="How many arguments does your attention take?",
            edits=(("(q, k, v, mask)", "(q, k, v)"),),
        ),
        Wrong(
            "mask_inverted",
            says="The mask is inverted on its way: closed becomes open.",
            asks="Do both functions agree on what `True` means?",
            edits=(("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)"),),
        ),
        Wrong(
            "mask_turned",
            says="You transposed the mask. It has the shape of the scores already.",
            asks="Which of its last two dimensions belongs to the memory?",
            edits=(("(q, k, v, mask)", "(q, k, v, None if mask is None else mask.mT)"),),
        ),
        Wrong(
            "causal_memory",
            says="You used a causal mask on the memory. The words of the other sentence are "
            "all known: nothing there lies in the future.",
            asks="May the first word of a translation see the last word of the original?",
            edits=(
                (_CALL,
                 "keep = torch.ones(q.size(1), k.size(1)).tril().bool()\n"
                 "        keep = keep if mask is None else keep & mask\n"
                 "        return scaled_dot_product_attention(q, k, v, keep)"),
            ),
        ),
        Wrong(
            "cut_to_queries",
            says="You cut the memory down to as many positions as `x` has.",
            asks="Must both sequences have the same length?",
            edits=((_CALL,
                    "n = q.size(1)\n"
                    "        mask = mask if mask is None else mask[..., :n]\n"
                    "        return scaled_dot_product_attention(q, k[:, :n], v[:, :n], "
                    "mask)"),),
        ),
        Wrong(
            "first_memory",
            says="Every sentence asks the memory of the first one.",
            asks="Does an index `[0]` or `[:1]` stand somewhere in your code?",
            edits=((_KV, "k, v = self.w_k(memory[:1]).expand(len(x), -1, -1), "
                         "self.w_v(memory[:1]).expand(len(x), -1, -1)"),),
        ),
        Wrong(
            "output_only",
            says="You returned the output alone; the weights are wanted, too.",
            asks="What does your attention return, and what does the docstring want?",
            edits=((_CALL, f"{_CALL}[0]"),),
        ),
        Wrong(
            "weights_first",
            says="Both results are there, but in the wrong order: output first, then weights.",
            asks="What does the docstring say comes first?",
            edits=((_CALL, f"{_CALL}[::-1]"),),
        ),
        Wrong(
            "residual",
            says="You added the queries to the output or mixed them in: a residual, which "
            "nobody asked for yet.",
            asks="What does the docstring say `forward` returns?",
            edits=((_CALL, "o, w = scaled_dot_product_attention(q, k, v, mask)\n"
                           "        return o + F.pad(q, (0, o.size(-1) - q.size(-1))), w"),),
        ),
        Wrong(
            "shared_layer",
            says="Queries and keys share one layer; `w_k` is missing.",
            asks="How many layers does the text ask for?",
            edits=(("self.w_k = nn.Linear(d_memory, d_k)", "self.w_k = self.w_q"),),
        ),
        Wrong(
            "value_size",
            says="`w_v` has the size of the keys. Values have a size of their own, `d_v`.",
            asks="Which size must the output have?",
            edits=(("nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_k)"),),
        ),
        Wrong(
            "no_bias",
            says="Your linear layers have no bias. Here they have one, PyTorch's default.",
            asks="Which argument of `nn.Linear` did you set?",
            edits=(("nn.Linear(d_model, d_k)", "nn.Linear(d_model, d_k, bias=False)"),
                   ("nn.Linear(d_memory, d_k)", "nn.Linear(d_memory, d_k, bias=False)"),
                   ("nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_v, bias=False)")),
        ),
        Wrong(
            "no_gradient_to_memory",
            says="The numbers are right, but no gradient reaches the memory: an encoder could "
            "not learn from it.",
            asks="Is there a `detach` on the memory?",
            edits=((_KV, "memory = memory.detach()\n        " + _KV),),
        ),
        Wrong(
            "concatenated",
            says="You joined `x` and memory into one sequence and let `x` attend to both. In "
            "cross-attention, `x` sees the memory only.",
            asks="How many columns should the weights have?",
            source="""
class CrossAttention(nn.Module):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_memory, d_k)
        self.w_v = nn.Linear(d_memory, d_v)

    def forward(self, x, memory, mask=None):
        both = torch.cat([x, memory], dim=1)
        q, k, v = self.w_q(x), self.w_k(both), self.w_v(both)
        return scaled_dot_product_attention(q, k, v, mask)
""",
        ),
    ),
    right=(
        Right("by_hand", source="""
class CrossAttention(nn.Module):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__()
        self.w_v = nn.Linear(d_memory, d_v)
        self.w_k = nn.Linear(d_memory, d_k)
        self.w_q = nn.Linear(d_model, d_k)
        self.scale = 1 / math.sqrt(d_k)

    def forward(self, x, memory, mask=None):
        scores = torch.bmm(self.w_q(x), self.w_k(memory).transpose(1, 2)) * self.scale
        if mask is not None:
            scores = torch.where(mask, scores, -1e9)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, self.w_v(memory)), weights
"""),
        Right("fused", source="""
class CrossAttention(nn.Module):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_memory, d_k)
        self.w_v = nn.Linear(d_memory, d_v)

    def forward(self, x, memory, mask=None):
        q, k, v = self.w_q(x), self.w_k(memory), self.w_v(memory)
        _, weights = scaled_dot_product_attention(q, k, v, mask)
        return F.scaled_dot_product_attention(q, k, v, mask), weights
"""),
        Right("inherits", source="""
class CrossAttention(SelfAttention):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__(d_memory, d_k, d_v)
        self.w_q = nn.Linear(d_model, d_k)

    def forward(self, x, memory, mask=None):
        k, v = self.w_k(memory), self.w_v(memory)
        return scaled_dot_product_attention(self.w_q(x), k, v, mask)
"""),
        Right("helper_method", source="""
class CrossAttention(nn.Module):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_memory, d_k)
        self.w_v = nn.Linear(d_memory, d_v)

    def project(self, x, memory):
        return self.w_q(x), self.w_k(memory), self.w_v(memory)

    def forward(self, x, memory, mask=None):
        return scaled_dot_product_attention(*self.project(x, memory), mask=mask)
"""),
        Right("values_last", edits=(
            (_KV, "k = self.w_k(memory)"),
            (_CALL,
             "mixed, weights = scaled_dot_product_attention(q, k, memory, mask)\n"
             "        return self.w_v(mixed), weights"),
        )),
    ),
)  # fmt: skip


# --- 2.10 who sees whom ---------------------------------------------------------------

_MOVED = "((layer(changed) - before).abs() > 1e-6).any(dim=-1)"

WHO_SEES_WHOM = Task(
    name="attention/who_sees_whom",
    title="Who sees whom",
    target="who_sees_whom",
    settings=(
        Setting(
            "masked", "an attention layer with a mask",
            _masked_layer(5, 4),
            "Output i must move exactly for the inputs j that its mask leaves open.",
        ),
        Setting(
            "mixture", "a layer that treats each feature differently",
            _mixture(4, 3, 1.0),
            "Change all features of a position, and look at all features of the outputs.",
        ),
        Setting(
            "faint", "a layer with faint influences",
            _mixture(6, 2, 0.002),
            "A small movement is a movement, too: the limit is 1e-6.",
        ),
        Setting(
            "wide", "another attention layer", _masked_layer(7, 3),
            "The matrix has one row and one column a position.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "transposed",
            says="Your matrix is turned: rows should be outputs, columns the inputs that "
            "were changed.",
            asks="One run changes one input `j`. Is its finding a row or a column?",
            edits=(("dim=1)", "dim=0)"),),
        ),
        Wrong(
            "accumulated",
            says="You never restored what you changed, and you changed `x` itself: from one step to "
            "the next, changes pile up.",
            asks="What is `x` after the loop? What does `clone` do?",
            edits=(("x.clone()", "x"),),
        ),
        Wrong(
            "accumulated_copy",
            says="You made a copy once, before the loop, so the changes of earlier steps are "
            "still in it.",
            asks="Where must the fresh copy be made?",
            edits=(("    columns = []", "    columns = []\n    changed = x.clone()"),
                   ("        changed = x.clone()\n", "")),
        ),
        Wrong(
            "compared_with_input",
            says="According to your matrix, everybody sees everybody. Perhaps you compared "
            "the output with the *input*, not with the output from before.",
            asks="Which two runs of the layer must be compared?",
            edits=(("- before)", "- x)"),),
        ),
        Wrong(
            "set_to_zero",
            says="You set a position to zero. If it was zero before, nothing has changed, and "
            "you conclude that nobody sees it.",
            asks="Which change is a change for any input?",
            edits=(("changed[j] += 1.0", "changed[j] = 0.0"),),
        ),
        Wrong(
            "doubled", like="set_to_zero",
            edits=(("changed[j] += 1.0", "changed[j] *= 2.0"),),
        ),
        Wrong(
            "one_feature_changed",
            says="You changed the first feature only. A layer may listen to another one.",
            asks="Which features of position `j` are to change?",
            edits=(("changed[j] += 1.0", "changed[j, 0] += 1.0"),),
        ),
        Wrong(
            "one_feature_read",
            says="You looked at the first feature of the outputs only.",
            asks="Must all features move, or is one enough?",
            edits=((_MOVED, "(layer(changed) - before).abs()[:, 0] > 1e-6"),),
        ),
        Wrong(
            "all_features",
            says="You asked that *all* features of an output move. One is enough.",
            asks="What is the difference between `any` and `all`?",
            edits=((".any(dim=-1)", ".all(dim=-1)"),),
        ),
        Wrong(
            "coarse",
            says="Your limit is too coarse: faint influences are overlooked.",
            asks="Which limit does the text give?",
            edits=(("1e-6", "0.1"),),
        ),
        Wrong(
            "signed",
            says="You look for movements in one direction only: a *decrease* goes unnoticed.",
            asks="What does `abs` do?",
            edits=((".abs()", ""),),
        ),
        Wrong(
            "summed_up",
            says="You summed over the features before you took the absolute value, so movements "
            "in opposite directions cancel.",
            asks="What is the sum of +1 and -1, and did nothing move?",
            edits=((_MOVED, "(layer(changed) - before).sum(-1).abs() > 1e-6"),),
        ),
        Wrong(
            "everything_changed",
            says="You changed all positions at once, so every output moves that sees anyone.",
            asks="Which position is to change in step `j`?",
            edits=(("changed[j] += 1.0", "changed += 1.0"),),
        ),
        Wrong(
            "inverted",
            says="Your matrix is inverted: `True` stands where nothing moved.",
            asks="In which direction does your comparison point?",
            edits=(("> 1e-6", "<= 1e-6"),),
        ),
        Wrong(
            "amounts",
            says="You returned how *much* the outputs moved. The question is whether they did.",
            asks="What type should the matrix have?",
            edits=((_MOVED, "(layer(changed) - before).abs().amax(dim=-1)"),),
        ),
        Wrong(
            "numbers",
            says="The places are right, but the matrix holds numbers, not booleans.",
            asks="What type does a comparison have, and what type your matrix?",
            edits=(("torch.stack(columns, dim=1)", "torch.stack(columns, dim=1).float()"),),
        ),
        Wrong(
            "three_dimensions",
            says="You kept the features apart. One answer for each pair of positions is wanted.",
            asks="Over which dimension must `any` run?",
            edits=((".any(dim=-1)", ""),),
        ),
        Wrong(
            "one_number",
            says="You asked whether *anything* moved at all; the answers for single positions are "
            "lost.",
            asks="Over which dimension must `any` run, and over which must it not?",
            edits=((".any(dim=-1)", ".any().expand(len(x))"),),
        ),
        Wrong(
            "positions_swapped",
            says="You changed features where positions were meant: the index stands in the "
            "second place.",
            asks="`x` has shape `(L, d)`. Where does the index of the position go?",
            edits=(("changed[j] += 1.0", "changed[:, j % x.size(1)] += 1.0"),),
        ),
        Wrong(
            "self_forgotten",
            says="Your matrix says that no position sees itself: you skipped the case `i = j`.",
            asks="Does an output move when its own input changes?",
            edits=(("torch.stack(columns, dim=1)",
                    "torch.stack(columns, dim=1) & ~torch.eye(len(x)).bool()"),),
        ),
        Wrong(
            "x_left_changed",
            says="The matrix is right, but `x` comes back changed.",
            asks="Did you restore *exactly* what you changed? A copy is safer.",
            edits=(("changed = x.clone()", "changed = x"),
                   ("return torch.stack", "x[0] += 1.0\n    return torch.stack"),
                   ("        columns.append(((layer(changed) - before).abs() > 1e-6)"
                    ".any(dim=-1))",
                    "        moved = ((layer(changed) - before).abs() > 1e-6).any(dim=-1)\n"
                    "        columns.append(moved)\n        changed[j] -= 1.0")),
        ),
    ),
    right=(
        Right("noise", edits=(("changed[j] += 1.0", "changed[j] = torch.randn(x.size(1))"),)),
        Right("subtract", edits=(("changed[j] += 1.0", "changed[j] -= 0.7"),)),
        Right("fill_a_matrix", source="""
def who_sees_whom(layer, x):
    before = layer(x)
    matrix = torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        other = x.clone()
        other[j] = other[j] + 1
        after = layer(other)
        for i in range(len(x)):
            matrix[i, j] = bool((after[i] - before[i]).abs().max() > 1e-6)
    return matrix
"""),
        Right("norms", edits=(
            (_MOVED, "(layer(changed) - before).norm(dim=-1) > 1e-6"),
        )),
        Right("isclose", edits=(
            (_MOVED,
             "(~torch.isclose(layer(changed), before, rtol=0, atol=1e-6)).any(-1)"),
        )),
        Right("exactly_equal", edits=((_MOVED, "(layer(changed) != before).any(-1)"),)),
        Right("jacobian", source="""
def who_sees_whom(layer, x):
    jacobian = torch.autograd.functional.jacobian(layer, x)
    return (jacobian.abs() > 1e-8).any(dim=3).any(dim=1)
"""),
        Right("one_hot_rows", source="""
def who_sees_whom(layer, x):
    L = x.shape[0]
    bumps = torch.eye(L).to(x).unsqueeze(-1)
    moved = torch.stack([layer(x + bump) - layer(x) for bump in bumps])
    return (moved.abs().amax(-1) > 1e-6).T
"""),
        Right("small_steps", edits=(("changed[j] += 1.0", "changed[j] += 0.1"),)),
    ),
)  # fmt: skip


# --- 2.11 equivariance ----------------------------------------------------------------

_GAP = "(layer(x[order]) - layer(x)[order]).abs().max()"

EQUIVARIANCE_GAP = Task(
    name="attention/equivariance_gap",
    title="The equivariance gap",
    target="equivariance_gap",
    settings=(
        Setting(
            "positions", "attention without and with positions",
            _shuffled("attention with positions", 5, 7),
            "Without positions the gap is zero, up to rounding; with positions it is not.",
        ),
        Setting(
            "mixture", "a layer that treats positions differently",
            _shuffled("a mixture of positions", 6, 3),
            "Compare the two ways: shuffle first, or shuffle last.",
        ),
        Setting(
            "long", "a longer sequence",
            _shuffled("attention with positions", 9, 4),
            "The gap is one number, the largest of all differences.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "not_shuffled_back",
            says="One side of your difference was shuffled once more than the other, so you "
            "compare outputs of different words.",
            asks="How often does `order` act on each side of the minus?",
            edits=((_GAP, "(layer(x[order]) - layer(x)).abs().max()"),),
        ),
        Wrong(
            "never_shuffled",
            says="The input was not shuffled; only the outputs were.",
            asks="Which two ways lead from `x` to a shuffled output?",
            edits=((_GAP, "(layer(x) - layer(x)[order]).abs().max()"),),
        ),
        Wrong(
            "inverse",
            says="One side is shuffled forth, the other side back: you used the inverse permutation "
            "on one of them.",
            asks="Does `argsort` or a scattered assignment undo a permutation, or apply it?",
            edits=((_GAP, "(layer(x[order]) - layer(x)[order.argsort()]).abs().max()"),),
        ),
        Wrong(
            "scattered", like="inverse",
            source="""
def equivariance_gap(layer, x, order):
    shuffled = torch.empty_like(layer(x))
    shuffled[order] = layer(x)
    return (layer(x[order]) - shuffled).abs().max()
""",
        ),
        Wrong(
            "features_shuffled",
            says="You shuffled the features, the second dimension. Positions are the first.",
            asks="`x` has shape `(L, d)`. Which dimension does `order` belong to?",
            edits=((_GAP, "(layer(x[:, order]) - layer(x)[:, order]).abs().max()"),),
        ),
        Wrong(
            "mean",
            says="You took the mean of the differences; the largest is wanted.",
            asks="Could a mean hide one bad position among many good ones?",
            edits=((".max()", ".mean()"),),
        ),
        Wrong(
            "sum",
            says="You summed the differences; the largest is wanted.",
            asks="Should the gap grow with the length of the sentence?",
            edits=((".max()", ".sum()"),),
        ),
        Wrong(
            "signed",
            says="The absolute value is missing, or comes after the maximum: a large negative "
            "difference goes unnoticed.",
            asks="Which is further from zero, 0.1 or -5, and which of them does `max` choose?",
            edits=((".abs()", ""),),
        ),
        Wrong(
            "absolute_of_maximum", like="signed",
            edits=((".abs().max()", ".max().abs()"),),
        ),
        Wrong(
            "squared",
            says="You squared the differences.",
            asks="What is wanted: a largest difference or a squared error?",
            edits=((".abs().max()", ".square().max()"),),
        ),
        Wrong(
            "mean_square",
            says="You returned a mean squared error; the largest absolute difference is wanted.",
            asks="Could a mean hide one bad position among many good ones?",
            edits=((_GAP, "F.mse_loss(layer(x[order]), layer(x)[order])"),),
        ),
        Wrong(
            "norm",
            says="You took the length (norm) of all differences together.",
            asks="Which single number does the docstring ask for?",
            edits=((".abs().max()", ".norm()"),),
        ),
        Wrong(
            "yes_or_no",
            says="You returned yes or no. How *far* the layer is from equivariance is asked for.",
            asks="Which type does the docstring give for the result?",
            edits=((_GAP, "torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)"),),
        ),
        Wrong(
            "no_or_yes", like="invariance_or_so",
            edits=((_GAP,
                    "(not torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5))"),),
        ),
        Wrong(
            "invariance_or_so",
            says="You returned 1 for a difference and 0 for none. The size of the difference is "
            "asked for.",
            asks="Which type does the docstring give for the result?",
            edits=((_GAP,
                    "1.0 * bool((layer(x[order]) - layer(x)[order]).abs().max() > 1e-5)"),),
        ),
        Wrong(
            "per_position",
            says="You returned one gap for each position. One number for the layer is "
            "wanted.",
            asks="Over which dimensions does your maximum run?",
            edits=((".max()", ".amax(-1)"),),
        ),
        Wrong(
            "outputs_summed",
            says="You summed over the positions first. Then you test whether the *sum* is the same "
            "(invariance), which is a weaker claim.",
            asks="Could two outputs change places without changing their sum?",
            edits=((_GAP, "(layer(x[order]).sum(0) - layer(x).sum(0)).abs().max()"),),
        ),
        Wrong(
            "shuffled_twice", like="not_shuffled_back",
            edits=((_GAP, "(layer(x[order])[order] - layer(x)[order]).abs().max()"),),
        ),
        Wrong(
            "x_shuffled",
            says="The gap was measured, but `x` itself was shuffled on the way.",
            asks="What does an assignment to `x[...]` do to the caller's tensor?",
            source="""
def equivariance_gap(layer, x, order):
    after = layer(x)[order]
    x[:] = x[order]
    return (layer(x) - after).abs().max()
""",
        ),
        Wrong(
            "input_compared",
            says="You compared with the shuffled *input*; the layer was applied on one side "
            "only.",
            asks="Which two ways lead from `x` to a shuffled output?",
            edits=((_GAP, "(layer(x[order]) - x[order]).abs().max()"),),
        ),
    ),
    right=(
        Right("index_select", edits=(
            (_GAP,
             "(layer(x.index_select(0, order)) - layer(x).index_select(0, order))"
             ".abs().max()"),
        )),
        Right("undone", edits=(
            (_GAP, "(layer(x[order])[order.argsort()] - layer(x)).abs().max()"),
        )),
        Right("matrix", source="""
def equivariance_gap(layer, x, order):
    p = torch.eye(len(order)).to(x)[order]
    return torch.max(torch.abs(layer(p @ x) - p @ layer(x)))
"""),
        Right("python_float", edits=((_GAP, f"{_GAP}.item()"),)),
        Right("infinity_norm", edits=((".abs().max()", ".norm(p=float('inf'))"),)),
        Right("loop", source="""
def equivariance_gap(layer, x, order):
    one, other = layer(torch.stack([x[int(i)] for i in order])), layer(x)
    gaps = [(one[n] - other[int(i)]).abs().max() for n, i in enumerate(order)]
    return max(gaps)
"""),
    ),
)  # fmt: skip


TASKS: tuple[Task, ...] = (
    SCORES,
    SCALED_SCORES,
    SOFTMAX,
    PADDING_MASK,
    CAUSAL_MASK,
    COMBINE_MASKS,
    SCALED_DOT_PRODUCT,
    SELF_ATTENTION,
    CROSS_ATTENTION,
    WHO_SEES_WHOM,
    EQUIVARIANCE_GAP,
)
