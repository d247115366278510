"""Scaled dot-product attention."""

from __future__ import annotations

import torch

from autograder.bank.inputs import causal_mask, open_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, both, masked, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


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
    """Open keys far below zero, all alike, and closed ones far above them.

    That open scores are equal makes their shares known to any rounding. The second
    sentence has usual scores: shares that are all equal tell little.
    """
    level = torch.tensor([-256.0, -256.0, 256.0, -256.0, 256.0])  # of each key
    q, k = draw.tensor(2, 3, 4), draw.tensor(2, 5, 4)
    k[0, level < 0] = 0.0
    k[0, :, 0], q[0, :, 0] = level, 256.0
    mask = (level < 0).expand(2, 1, 5)
    return {"q": q, "k": k, "v": draw.tensor(2, 5, 6), "mask": mask.clone()}


_FILL = "scores.masked_fill(~mask, -math.inf)"
_SOFTMAX = "F.softmax(scores, dim=-1)"
_RESULT = "return weights @ v, weights"

def _three_dimensions(mask: tuple[int, ...]) -> Maker:
    return _triples(2, lq=3, lk=5, d_k=4, d_v=6, mask=mask)


def _four_dimensions(mask: tuple[int, ...]) -> Maker:
    return _triples(2, 3, lq=4, lk=5, d_k=6, d_v=7, mask=mask)


EXERCISE = Specification(
    name="attention/scaled_dot_product",
    title="Scaled dot-product attention",
    target="scaled_dot_product_attention",
    promise=Promise(
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
            ),
            masked(_three_dimensions, Lq_Lk=(3, 5), B_1_Lk=(2, 1, 5), one_Lk=(1, 5)),
            masked(
                _four_dimensions,
                B_h_Lq_Lk=(2, 3, 4, 5),
                B_h_1_Lk=(2, 3, 1, 5),
                B_1_Lq_Lk=(2, 1, 4, 5),
                one_h_Lq_Lk=(1, 3, 4, 5),
                h_Lq_Lk=(3, 4, 5),
            ),
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
            title="open scores near -32,768, and closed ones near 32,768",
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
            name="many",
            title="five dimensions and a mask",
            inputs=_triples(2, 1, 3, lq=4, lk=6, d_k=7, d_v=5, mask=(4, 6)),
            hint="Any number of leading dimensions is a batch.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[
        Mutant(
            name="unscaled",
            says="The scaling is missing: your weights are too sharp.",
            asks="What is the scores' standard deviation without it?",
            ways=[Way(edits=[Edit(" / math.sqrt(q.size(-1))", "")])],
        ),
        Mutant(
            name="by_size",
            says="You divided by `d_k` itself, not by its root: your weights are too "
            "even.",
            asks="The variance of a score is `d_k`. What is its standard deviation?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "q.size(-1)")])],
        ),
        Mutant(
            name="multiplied",
            says="You multiplied by the root of `d_k`, where a division was asked for.",
            asks="Are scores of long vectors too large or too small?",
            ways=[Way(edits=[Edit(" / math.sqrt", " * math.sqrt")])],
        ),
        Mutant(
            name="root_of_keys",
            says="You scaled by the root of the number of keys.",
            asks="Which dimension does a dot product sum over?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(k.size(-2))")])],
        ),
        Mutant(
            name="root_of_queries",
            says="You scaled by the root of the number of queries.",
            asks="Which dimension does a dot product sum over?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(q.size(-2))")])],
        ),
        Mutant(
            name="root_of_value_size",
            says="You scaled by the root of `d_v`, the size of the values. They take "
            "no part in the scores.",
            asks="Which two tensors make the scores, and what is their last size?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))")])],
        ),
        Mutant(
            name="second_size",
            says="You read the size off dimension 1, which is `d_k` only while there "
            "is no batch.",
            asks="Which index names the last dimension, however many there are?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(q.size(1))")])],
        ),
        Mutant(
            name="fixed_eight",
            says="You divided by 8, always: the root of 64, the size in the paper's "
            "example.",
            asks="Where can you read `d_k` off the input?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "8.0")])],
        ),
        Mutant(
            name="whole_root",
            says="The root of `d_k` was cut down to a whole number.",
            asks="What is the root of 6, and what is `int` of it?",
            ways=[Way(edits=[
                Edit("math.sqrt(q.size(-1))", "int(math.sqrt(q.size(-1)))"),
            ])],
        ),
        Mutant(
            name="scaled_after",
            says="You divided the *weights*, after the softmax. They no longer sum to "
            "one.",
            asks="What should be brought to spread 1: the scores or the shares?",
            ways=[Way(edits=[
                Edit(" / math.sqrt(q.size(-1))", ""),
                Edit(_SOFTMAX, "F.softmax(scores, dim=-1) / math.sqrt(q.size(-1))"),
            ])],
        ),
        Mutant(
            name="over_queries",
            says="Your *columns* sum to one: the softmax ran over the queries "
            "(dimension -2), not over the keys.",
            asks="One query shares its attention among all keys. Along which dimension "
            "do these shares lie?",
            ways=[Way(edits=[Edit(_SOFTMAX, "F.softmax(scores, dim=-2)")])],
        ),
        Mutant(
            name="over_first",
            says="The softmax ran over the first dimension, so the sentences of a "
            "batch compete with each other.",
            asks="Along which dimension do the shares of one query lie?",
            ways=[Way(edits=[Edit(_SOFTMAX, "F.softmax(scores, dim=0)")])],
        ),
        Mutant(
            name="over_second",
            says="The softmax ran over dimension 1. That is the last one for a matrix "
            "only.",
            asks="Which index names the last dimension of any tensor?",
            ways=[Way(edits=[Edit(_SOFTMAX, "F.softmax(scores, dim=1)")])],
        ),
        Mutant(
            name="over_second_of_batch",
            says="The softmax ran over dimension 2. That is the last one for a batch "
            "`(B, Lq, Lk)`, but not without a batch, and not with heads.",
            asks="Which index names the last dimension of any tensor?",
            ways=[
                Way(edits=[Edit(_SOFTMAX, "F.softmax(scores, dim=2)")]),
                Way(name="over_third", edits=[Edit(_SOFTMAX, "scores.softmax(2)")]),
            ],
        ),
        Mutant(
            name="twice",
            says="Your weights are much too even: softmax was applied twice.",
            asks="What does softmax make of numbers that all lie between 0 and 1?",
            ways=[Way(edits=[Edit(_SOFTMAX, "F.softmax(scores, dim=-1).softmax(-1)")])],
        ),
        Mutant(
            name="logarithms",
            says="Your weights are negative: these are logarithms (`log_softmax`).",
            asks="Can a share be negative?",
            ways=[Way(edits=[Edit(_SOFTMAX, "F.log_softmax(scores, dim=-1)")])],
        ),
        Mutant(
            name="sigmoids",
            says="You used a sigmoid: each weight is for itself, and a row does not "
            "sum to one.",
            asks="If all keys fit well, how much may each one get?",
            ways=[Way(edits=[Edit(_SOFTMAX, "torch.sigmoid(scores)")])],
        ),
        Mutant(
            name="plain_normalised",
            says="You divided the scores by their sum, without the exponential: "
            "weights may be negative or huge.",
            asks="What makes any number positive?",
            ways=[Way(edits=[Edit(_SOFTMAX, "scores / scores.sum(-1, keepdim=True)")])],
        ),
        Mutant(
            name="no_softmax",
            says="There is no softmax: your weights are the scores themselves.",
            asks="What must the weights of one query sum to?",
            ways=[Way(edits=[Edit(_SOFTMAX, "scores")])],
        ),
        Mutant(
            name="overflow",
            says="With small scores all is well; large ones overflow in `exp`, and "
            "`inf / inf` is `nan`.",
            asks="What did Exercise 2.3 do about that?",
            ways=[Way(edits=[
                Edit(_SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="hidden_nan",
            says="You turned `nan` into zero. The alarm is silent now, but these rows "
            "have no weights at all.",
            asks="Where does the `nan` come from? Every row has an open key here.",
            ways=[Way(edits=[
                Edit(_SOFTMAX,
                     "(scores.exp() / scores.exp().sum(-1, keepdim=True)).nan_to_num(0.0)"),
            ])],
        ),
        Mutant(
            name="cosine",
            says="You brought queries and keys to length 1 first: these are cosines, "
            "and lengths no longer count.",
            asks="Which operation does the formula apply to `q` and `k` before the "
            "product?",
            ways=[Way(edits=[
                Edit("q @ k.transpose(-2, -1)",
                     "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"),
            ])],
        ),
        Mutant(
            name="averaged",
            says="The output is too small by the number of keys: you took the mean of "
            "the weighted values, where the formula takes their sum.",
            asks="The weights sum to one already. Must you divide once more?",
            ways=[Way(edits=[
                Edit(_RESULT, "return weights @ v / k.size(-2), weights"),
            ])],
        ),
        Mutant(
            name="largest_only",
            says="Each query takes the best key alone, as a dictionary does. There is "
            "no mixture, and no gradient.",
            asks="What is the difference between *the largest* and a *soft* maximum?",
            ways=[Way(edits=[
                Edit(_SOFTMAX,
                     "F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)"),
            ])],
        ),
        Mutant(
            name="keys_ask",
            says="Queries and keys have changed places: your rows belong to keys.",
            asks="One output is wanted for each *query*. Which one must stand on the "
            "left?",
            ways=[Way(edits=[
                Edit("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"),
            ])],
        ),
        Mutant(
            name="reshaped",
            says="You reshaped the keys to make the sizes fit. That deals their "
            "numbers out anew; it is not a transposition.",
            asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to "
            "6.",
            ways=[Way(edits=[
                Edit("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)"),
            ])],
        ),
        Mutant(
            name="capital_t",
            says="`k.T` reverses all dimensions, the batch too. That works for a plain "
            "matrix only.",
            asks="Which two dimensions should swap, counted from the end?",
            ways=[Way(edits=[Edit("k.transpose(-2, -1)", "k.T")])],
        ),
        Mutant(
            name="one_and_two",
            says="You swapped dimensions 1 and 2: right for a batch, but not without "
            "one, and not with heads.",
            asks="Which numbers name the last two dimensions of any tensor?",
            ways=[Way(edits=[Edit("k.transpose(-2, -1)", "k.transpose(1, 2)")])],
        ),
        Mutant(
            name="bmm_only",
            says="`bmm` takes three dimensions exactly: no plain matrix, and no heads.",
            asks="Which product treats any leading dimensions as a batch?",
            ways=[Way(edits=[
                Edit("q @ k.transpose(-2, -1)", "torch.bmm(q, k.transpose(-2, -1))"),
            ])],
        ),
        Mutant(
            name="weights_turned",
            says="The output is mixed with the transposed weights.",
            asks="Row `i` of the output belongs to query `i`. Which row of the weights "
            "belongs to it?",
            ways=[Way(edits=[
                Edit(_RESULT, "return weights.transpose(-2, -1) @ v, weights"),
            ])],
        ),
        Mutant(
            name="mixes_keys",
            says="You mixed the *keys* where the values belong.",
            asks="Keys are for finding. What is handed out?",
            ways=[Way(edits=[Edit(_RESULT, "return weights @ k, weights")])],
        ),
        Mutant(
            name="mixes_plainly",
            says="The output is the plain mean of the values; the weights play no "
            "part.",
            asks="Where do the weights enter the output?",
            ways=[Way(edits=[
                Edit(_RESULT,
                     "return v.mean(-2, keepdim=True).expand(*weights.shape[:-1], -1), weights"),
            ])],
        ),
        Mutant(
            name="output_only",
            says="You returned the output alone; the weights are wanted, too.",
            asks="What does the docstring say comes second?",
            ways=[Way(edits=[Edit(_RESULT, "return weights @ v")])],
        ),
        Mutant(
            name="weights_first",
            says="Both results are there, but in the wrong order: output first, then "
            "weights.",
            asks="What does the docstring say comes first?",
            ways=[Way(edits=[Edit(_RESULT, "return weights, weights @ v")])],
        ),
        Mutant(
            name="scores_returned",
            says="The output is right, but in place of the weights you returned the "
            "scores.",
            asks="Do the rows of your second result sum to one?",
            ways=[Way(edits=[Edit(_RESULT, "return weights @ v, scores")])],
        ),
        Mutant(
            name="first_sentence",
            says="Every sentence of the batch is answered with the values of the first "
            "one.",
            asks="Does an index `[0]` or `[:1]` stand somewhere in your code?",
            ways=[Way(edits=[
                Edit(_RESULT,
                     "return weights @ (v[:1] if v.dim() > 2 else v), weights"),
            ])],
        ),
        Mutant(
            name="no_gradient",
            says="The numbers are right, but no gradient comes back: something cut the "
            "way (`detach`, `no_grad`, numpy).",
            asks="Could `w_q` ever learn through this function?",
            ways=[Way(edits=[Edit(_SOFTMAX, "F.softmax(scores.detach(), dim=-1)")])],
        ),
        Mutant(
            name="no_gradient_at_all",
            says="The numbers are right, but the output carries no gradient at all, "
            "not even to the values.",
            asks="Is there a `no_grad` or a `detach` around the whole computation?",
            ways=[
                Way(edits=[Edit(_RESULT, "return (weights @ v).detach(), weights")]),
                Way(name="numpy", edits=[
                    Edit(_RESULT,
                         "return torch.from_numpy(weights.detach().numpy() @ v.detach().numpy()), weights"),
                ]),
            ],
        ),
        Mutant(
            name="in_place",
            says="The results are right, but `q` itself was changed, so a second call "
            "gives something else.",
            asks="What is the difference between `q = q / n` and `q /= n`?",
            ways=[Way(edits=[
                Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
                     "q.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"),
            ])],
        ),
        Mutant(
            name="dropout",
            says="Some weights are zeroed by chance: there is a dropout which nobody "
            "asked for.",
            asks="Why do two calls with the same input differ?",
            ways=[Way(edits=[
                Edit(_SOFTMAX, "F.dropout(F.softmax(scores, dim=-1), 0.1)"),
            ])],
        ),
        Mutant(
            name="half_precision",
            says="The numbers are close, but blunt: they went through a 16-bit type on "
            "the way.",
            asks="Which of your calls changes the type?",
            ways=[Way(edits=[
                Edit(_SOFTMAX, "F.softmax(scores.bfloat16(), dim=-1).to(q.dtype)"),
            ])],
        ),
        Mutant(
            name="rounded",
            says="Your weights are rounded to a few digits.",
            asks="Is there a `round` left from looking at the numbers?",
            ways=[Way(edits=[
                Edit(_SOFTMAX, "F.softmax(scores, dim=-1).round(decimals=2)"),
            ])],
        ),
        # Masks.
        Mutant(
            name="mask_ignored",
            says="Without a mask all is well, but the mask has no effect.",
            asks="Is the result of `masked_fill` used? It leaves its own tensor as it "
            "was.",
            ways=[
                Way(edits=[
                    Edit("scores = scores.masked_fill(~mask, -math.inf)",
                         "scores.masked_fill(~mask, -math.inf)"),
                ]),
                Way(name="mask_forgotten", edits=[Edit(_FILL, "scores")]),
            ],
        ),
        Mutant(
            name="inverted",
            says="The mask works the wrong way round: you closed what `True` allows.",
            asks="In this course `True` means *may attend*. Which entries must get "
            "minus infinity?",
            ways=[
                Way(edits=[Edit("~mask", "mask")]),
                Way(name="inverted_where", edits=[
                    Edit(_FILL,
                         "torch.where(mask, torch.tensor(-math.inf).to(scores), scores)"),
                ]),
            ],
        ),
        Mutant(
            name="after_softmax",
            says="You closed entries *after* the softmax. They are zero now, but the "
            "rest no longer sums to one.",
            asks="Who should get the share that the masked keys lost?",
            ways=[Way(edits=[
                Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
                Edit(_SOFTMAX,
                     "F.softmax(scores, dim=-1) * (1 if mask is None else mask)"),
            ])],
        ),
        Mutant(
            name="fill_zero",
            says="You filled closed entries with 0. A score of 0 is an ordinary score: "
            "e^0 is 1, not 0.",
            asks="For which score is the exponential zero?",
            ways=[
                Way(edits=[Edit("-math.inf", "0.0")]),
                Way(name="times_mask", edits=[Edit(_FILL, "scores * mask")]),
                Way(name="fill_tiny", edits=[Edit("-math.inf", "1e-9")]),
                Way(name="fill_smallest_positive", edits=[
                    Edit("-math.inf", "torch.finfo(torch.float32).tiny"),
                ]),
            ],
        ),
        Mutant(
            name="fill_minus_ten",
            says="Closed entries still get a little weight: the number you filled in "
            "is not small enough.",
            asks="What is e^-10, and what should it be?",
            ways=[Way(edits=[Edit("-math.inf", "-10.0")])],
        ),
        Mutant(
            name="fill_minus_one",
            says="Closed entries still get weight: a score of -1 is an ordinary score.",
            asks="For which score is the exponential zero?",
            ways=[Way(edits=[Edit("-math.inf", "-1.0")])],
        ),
        Mutant(
            name="fill_minus_hundred",
            says="You filled in a number that is small among ordinary scores. But "
            "scores may be lower still, and then the closed keys win.",
            asks="Which number is smaller than every score?",
            ways=[Way(edits=[Edit("-math.inf", "-100.0")])],
        ),
        Mutant(
            name="fill_plus_infinity",
            says="You filled in *plus* infinity: the closed keys win everything, and "
            "`inf - inf` is `nan`.",
            asks="Should a closed key have the largest or the smallest score?",
            ways=[Way(edits=[Edit("-math.inf", "math.inf")])],
        ),
        Mutant(
            name="mask_added",
            says="You added the boolean mask to the scores, so `True` counts as 1: "
            "open keys get a small bonus, and nobody is closed.",
            asks="What must be added to a score so that its exponential is zero?",
            ways=[Way(edits=[Edit(_FILL, "scores + mask")])],
        ),
        Mutant(
            name="infinity_times_zero",
            says="You multiplied infinity by zero, and that is `nan`.",
            asks="Which function puts a value where a mask says so, without "
            "arithmetic?",
            ways=[
                Way(edits=[Edit(_FILL, "scores * mask + (~mask) * -math.inf")]),
                Way(name="infinity_times_mask", edits=[
                    Edit(_FILL, "scores + (1.0 - mask.to(scores)) * -math.inf"),
                ]),
            ],
        ),
        Mutant(
            name="output_unmasked",
            says="The weights are masked, but the output was mixed with the weights "
            "from before the mask.",
            asks="Which variable does the last product use?",
            ways=[Way(source="""
                def scaled_dot_product_attention(q, k, v, mask=None):
                    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                    output = F.softmax(scores, dim=-1) @ v
                    if mask is not None:
                        scores = scores.masked_fill(~mask, -math.inf)
                    return output, F.softmax(scores, dim=-1)
                """)],
        ),
        Mutant(
            name="weights_unmasked",
            says="The output is masked, but the weights you return are those from "
            "before the mask.",
            asks="Which variable do you return?",
            ways=[Way(source="""
                def scaled_dot_product_attention(q, k, v, mask=None):
                    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                    weights = F.softmax(scores, dim=-1)
                    if mask is not None:
                        scores = scores.masked_fill(~mask, -math.inf)
                    return F.softmax(scores, dim=-1) @ v, weights
                """)],
        ),
        Mutant(
            name="renormalised_badly",
            says="You renormalised the masked weights with a small constant in the "
            "denominator: the rows sum to a little less than one.",
            asks="If you mask *before* the softmax, do you have to renormalise at all?",
            ways=[Way(edits=[
                Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
                Edit(
                    "weights = F.softmax(scores, dim=-1)",
                    """
                    weights = F.softmax(scores, dim=-1) * (1 if mask is None else mask)
                    if mask is not None:
                        weights = weights / (weights.sum(-1, keepdim=True) + 0.01)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="values_masked",
            says="You zeroed the *values* of closed keys, but these keys still take "
            "their share of the weights.",
            asks="Do the weights of the open keys sum to one?",
            ways=[Way(edits=[
                Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
                Edit(
                    _RESULT,
                    """
                    if mask is not None:
                        return (weights * mask) @ v, weights
                    return weights @ v, weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="unscaled_with_mask",
            says="With a mask, the scaling is lost: your masked branch starts from "
            "unscaled scores.",
            asks="Which scores go into the branch with the mask?",
            ways=[Way(edits=[
                Edit(_FILL, "(q @ k.transpose(-2, -1)).masked_fill(~mask, -math.inf)"),
            ])],
        ),
        Mutant(
            name="first_mask",
            says="All sentences got the mask of the first one.",
            asks="Does an index `[0]` or `[:1]` stand beside the mask?",
            ways=[Way(edits=[
                Edit(_FILL,
                     "scores.masked_fill(~(mask[:1] if mask.dim() > 2 else mask), -math.inf)"),
            ])],
        ),
        Mutant(
            name="mask_of_keys_only",
            says="You reduced the mask to one row for all queries, so each query gets "
            "the same closed keys.",
            asks="Which shapes may a mask have besides `(B, 1, Lk)`?",
            ways=[Way(edits=[
                Edit(_FILL,
                     "scores.masked_fill(~mask.any(-2, keepdim=True), -math.inf)"),
            ])],
        ),
        Mutant(
            name="first_head",
            says="The mask reaches the first head only.",
            asks="Is an index `[:, 0]` in your code? What does broadcasting do by "
            "itself?",
            ways=[Way(source="""
                def scaled_dot_product_attention(q, k, v, mask=None):
                    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                    if mask is not None:
                        masked = scores.masked_fill(~mask, -math.inf)
                        if scores.dim() == 4:
                            masked = torch.cat([masked[:, :1], scores[:, 1:]], dim=1)
                        scores = masked
                    weights = F.softmax(scores, dim=-1)
                    return weights @ v, weights
                """)],
        ),
        Mutant(
            name="mask_unsqueezed",
            says="You gave the mask one more dimension. It broadcasts as it is.",
            asks="What shapes do the scores and your mask have at that line?",
            ways=[Way(edits=[Edit("~mask", "~mask.unsqueeze(1)")])],
        ),
        Mutant(
            name="truth_of_tensor",
            says="`if mask:` asks a whole tensor whether it is true. The question is "
            "only whether there *is* a mask.",
            asks="How do you ask whether something is not `None`?",
            ways=[Way(edits=[Edit("if mask is not None:", "if mask:")])],
        ),
        Mutant(
            name="mask_required",
            says="With a mask all is well, but without one your code asks `None` for "
            "help.",
            asks="What should happen if `mask` is `None`?",
            ways=[Way(edits=[Edit("if mask is not None:", "if True:")])],
        ),
        Mutant(
            name="always_causal",
            says="You always use a causal mask, whatever the caller asks for.",
            asks="Who decides which mask is used?",
            ways=[Way(edits=[
                Edit(
                    "if mask is not None:",
                    """
                    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
                    if mask is not None:
                    """,
                ),
            ])],
        ),
        Mutant(
            name="mask_turned",
            says="The mask is transposed: rows and columns have changed places.",
            asks="The mask has the shape of the scores. Which of its dimensions is "
            "that of the queries?",
            ways=[Way(edits=[Edit("~mask", "~mask.transpose(-2, -1)")])],
        ),
        Mutant(
            name="mask_inverted_in_place",
            says="The results of the first call are right, but the caller's mask was "
            "changed.",
            asks="What is the difference between `~mask` and `mask.logical_not_()`?",
            ways=[Way(edits=[Edit("~mask", "mask.logical_not_()")])],
        ),
    ],
    accepted=[
        Accepted(name="einsum", source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
                if mask is not None:
                    scores = torch.where(mask, scores, float("-inf"))
                weights = scores.softmax(-1)
                return torch.einsum("...ij,...jd->...id", weights, v), weights
            """),
        Accepted(name="large_number", edits=[Edit("-math.inf", "-1e9")]),
        Accepted(name="smallest_number", edits=[
            Edit("-math.inf", "torch.finfo(scores.dtype).min"),
        ]),
        Accepted(name="additive", edits=[
            Edit(_FILL,
                 "scores + torch.zeros(mask.shape).to(scores).masked_fill(~mask, -math.inf)"),
        ]),
        Accepted(name="scale_the_queries", edits=[
            Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
                 "(q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"),
        ]),
        Accepted(name="scale_the_keys", edits=[
            Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
                 "q @ (k / k.shape[-1] ** 0.5).mT"),
        ]),
        Accepted(name="scale_last", edits=[
            Edit(" / math.sqrt(q.size(-1))", ""),
            Edit(_SOFTMAX, "F.softmax(scores / math.sqrt(q.size(-1)), dim=-1)"),
        ]),
        Accepted(name="fused_output", source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                scores = q @ k.mT / math.sqrt(q.shape[-1])
                if mask is not None:
                    scores = scores.masked_fill(mask.logical_not(), -torch.inf)
                return output, scores.softmax(dim=-1)
            """),
        Accepted(name="fused_twice", source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                eye = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], -1)
                weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)
                return weights @ v, weights
            """),
        Accepted(name="own_parts", source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                scores = scaled_scores(q, k)
                if mask is not None:
                    scores = scores.masked_fill(mask == False, -math.inf)  # noqa: E712
                weights = stable_softmax(scores)
                return weights @ v, weights
            """),
        Accepted(name="in_place_on_own", edits=[
            Edit("scores = scores.masked_fill(~mask, -math.inf)",
                 "scores.masked_fill_(~mask, -math.inf)"),
        ]),
        Accepted(name="masked_powers", source="""
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
        Accepted(name="loops", source="""
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
        Accepted(name="bmm", source="""
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
        Accepted(name="list_returned", edits=[
            Edit(_RESULT, "return [weights @ v, weights]"),
        ]),
        Accepted(name="renormalised", source="""
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
    ],
)
