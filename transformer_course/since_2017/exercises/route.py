"""Which experts a token is sent to, and with which weights."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._inputs import whole


def _logits(top_k: int, *shape: int, scale: float = 2.0, pull: bool = True) -> Maker:
    """Logits whose rows have no two equal entries."""

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"logits": draw.tensor(*shape, scale=scale)} | whole(top_k=top_k)
        return made | ({"pull": draw.tensor(*shape, scale=1.0)} if pull else {})

    return inputs


def _below_zero(draw: Draw) -> Inputs:
    """Negative logits: 0 in the place of one that was not chosen would win."""
    return {"logits": -4.0 - draw.tensor(3, 5).abs(), "pull": draw.tensor(3, 5)} | whole(top_k=2)


def _far(draw: Draw) -> Inputs:
    """Logits that differ by hundreds: the second expert's weight is 0 after rounding."""
    logits = 500.0 * torch.arange(1.0, 7.0).expand(4, 6)
    return {"logits": logits + draw.tensor(4, 6)} | whole(top_k=2)


def _ties(draw: Draw) -> Inputs:
    """Of three equal logits, one belongs to the two largest: whichever it is."""
    logits = 2.0 + draw.tensor(4, 3, 6).abs()
    logits[..., 0] += 3.0
    logits[..., 1:] = logits[..., 1:2]
    logits[..., 4:] = -1.0
    return {"logits": logits.roll(2, -1), "any order": torch.tensor(True)} | whole(top_k=2)


_WEIGHTS = "torch.zeros_like(logits).scatter(-1, indices, values.softmax(dim=-1))"
_CHOSEN = "torch.zeros_like(logits).scatter(-1, indices, 1.0)"

CASES = [
    case("batch", "2 texts of 5 tokens, 2 of 4 experts", _logits(2, 2, 5, 4),
         "A softmax over the two largest logits of each token, 0 elsewhere."),
    case("token", "one token, 2 of 6 experts", _logits(2, 6),
         "A single row is also allowed."),
    case("one", "7 tokens, 1 of 3 experts", _logits(1, 7, 3, pull=False),
         "A softmax over one number is 1."),
    case("below_zero", "negative logits", _below_zero,
         "An expert that is not chosen has the weight 0, not the logit 0."),
    case("far", "logits that are far apart", _far,
         "Which power of e does your softmax compute for a logit of 3000?", open=True),
    case("ties", "three equal logits, of which one is chosen", _ties,
         "How many experts get weight if logits are equal?"),
    case("three", "3 of 8 experts", _logits(3, 4, 3, 8, scale=3.0),
         "As above.", hidden_only=True),
    case("all", "4 of 4 experts", _logits(4, 5, 4),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("not_rescaled",
          "The weights come from a softmax over all experts and are not rescaled: they do not sum to 1.",
          "Over which logits does the softmax in the formula run?",
          edit(_WEIGHTS, f"{_CHOSEN} * logits.softmax(dim=-1)")),
    wrong("all_experts",
          "All experts get weight.",
          "How many weights of a row should be positive?",
          edit(_WEIGHTS, "logits.softmax(dim=-1)")),
    wrong("first_only",
          "Only the best expert gets weight.",
          "What is `top_k` for?",
          edit("logits.topk(top_k, dim=-1)", "logits.topk(1, dim=-1)")),
    wrong("two_always",
          "`top_k` has no influence: there are always two experts.",
          "What is `top_k` for?",
          edit("logits.topk(top_k, dim=-1)", "logits.topk(2, dim=-1)")),
    wrong("one_too_many",
          "One expert too many gets weight.",
          "How many logits are at least as large as the `top_k`-th largest?",
          edit("logits.topk(top_k, dim=-1)", "logits.topk(min(top_k + 1, logits.size(-1)), dim=-1)")),
    wrong("threshold",
          "Every logit that reaches the k-th largest is chosen, so with equal logits more than `top_k` experts "
          "get weight.",
          "For the logits [1, 3, 3, 3, 0], how many experts do you choose?",
          source("""
              def route(logits, top_k):
                  least = logits.topk(top_k, dim=-1).values[..., -1:]
                  return logits.masked_fill(logits < least, -math.inf).softmax(dim=-1)
              """)),
    wrong("equal_weights",
          "All experts that are chosen get the same weight.",
          "Which of the chosen logits is larger?",
          edit("values.softmax(dim=-1)", "torch.ones_like(values) / top_k")),
    wrong("the_smallest",
          "The experts with the smallest logits are chosen.",
          "Does a large logit mean that an expert fits, or that it does not?",
          edit("logits.topk(top_k, dim=-1)", "logits.topk(top_k, dim=-1, largest=False)")),
    wrong("softmax_twice",
          "A softmax is applied to probabilities: the weights of a row are nearly equal.",
          "How often does the softmax appear in the formula?",
          edit("values.softmax(dim=-1)", "logits.softmax(dim=-1).gather(-1, indices).softmax(dim=-1)")),
    wrong("zero_for_minus_infinity",
          "Experts that are not chosen have the logit 0 and still get weight.",
          "What is `e^0`?",
          edit(_WEIGHTS, "torch.zeros_like(logits).scatter(-1, indices, values).softmax(dim=-1)")),
    wrong("sigmoids",
          "The weights are sigmoids that are rescaled to sum to 1 (as in DeepSeek-V3).",
          "Which function does the formula apply to the largest logits?",
          edit("values.softmax(dim=-1)", "torch.sigmoid(values) / torch.sigmoid(values).sum(-1, keepdim=True)")),
    wrong("logits_as_weights",
          "The logits themselves serve as weights.",
          "Can a weight be negative?",
          edit("values.softmax(dim=-1)", "values")),
    wrong("rescaled_logits",
          "The logits are divided by their sum; that is not a softmax.",
          "Can a weight be negative?",
          edit("values.softmax(dim=-1)", "values / values.sum(-1, keepdim=True)")),
    wrong("by_rank",
          "The weights are in order of size, not in the order of the experts.",
          "Which expert does column 0 of the result belong to?",
          edit(_WEIGHTS,
               "torch.cat((values.softmax(dim=-1), torch.zeros_like(logits)[..., top_k:]), dim=-1)")),
    wrong("chosen_only",
          "Your weights have a column per *chosen* expert; there should be one for each expert.",
          "Which expert does column 0 of the result belong to?",
          edit(_WEIGHTS, "values.softmax(dim=-1)")),
    wrong("over_tokens",
          "For each expert you choose tokens; each token should choose experts.",
          "Which dimension holds the experts?",
          edit(_WEIGHTS, "torch.where(logits >= logits.topk(min(top_k, logits.size(0)), dim=0).values[-1:], logits, "
                         "-math.inf).softmax(dim=0).nan_to_num()")),
    wrong("softmax_over_tokens",
          "The softmax runs over the tokens.",
          "Which weights should sum to 1?",
          edit("values.softmax(dim=-1)", "values.softmax(dim=0)")),
    wrong("overflow",
          "Large logits become NaN: a power of e is too large for float32.",
          "What does a softmax subtract before it takes powers?",
          edit("values.softmax(dim=-1)", "values.exp() / values.exp().sum(-1, keepdim=True)")),
    wrong("no_gradient",
          "No gradient reaches the logits, so a router would never learn.",
          "Which operation of yours has no gradient?",
          edit("values.softmax(dim=-1)", "values.softmax(dim=-1).detach()")),
    wrong("pair",
          "You return a pair; return only the weights.",
          "According to the docstring, what should be returned?",
          edit(_WEIGHTS, "(values.softmax(dim=-1), indices)")),
    wrong("mask_only",
          "You return which experts are chosen, without their weights.",
          "According to the docstring, what should be returned?",
          edit(_WEIGHTS, f"{_CHOSEN} > 0")),
    wrong("ones",
          "Each chosen expert gets the weight 1.",
          "What should the weights of a token sum to?",
          edit(_WEIGHTS, _CHOSEN)),
    wrong("logits_changed",
          "Your function modifies the logits that it is given.",
          "Which operation of yours ends with an underscore or assigns into `logits`?",
          edit(_WEIGHTS, f"logits.data.copy_({_WEIGHTS}) + 0 * logits")),
]

ACCEPTED = [
    right("minus_infinity", source("""
        def route(logits, top_k):
            chosen = torch.zeros_like(logits, dtype=torch.bool)
            chosen.scatter_(-1, logits.topk(top_k, dim=-1).indices, True)
            return logits.masked_fill(~chosen, -math.inf).softmax(dim=-1)
        """)),
    right("rescaled", source("""
        def route(logits, top_k):
            probabilities = torch.softmax(logits, dim=-1)
            best = probabilities.topk(top_k, dim=-1).indices
            kept = probabilities * F.one_hot(best, logits.size(-1)).sum(-2)
            return kept / kept.sum(dim=-1, keepdim=True)
        """)),
    right("sorted", source("""
        def route(logits, top_k):
            order = logits.argsort(dim=-1, descending=True)[..., :top_k]
            weights = torch.softmax(logits.gather(-1, order), -1)
            result = torch.zeros(logits.shape, dtype=logits.dtype)
            return result.scatter_(-1, order, weights)
        """)),
]

EXERCISE = Specification(
    name="since_2017/route", title="Routing", target="route",
    contract=Contract(
        arguments="logits: B L E; top_k: _", results="weights: B L E",
        ways=("steady", "alone", "gradient"), on=("batch",), typed=True,
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
