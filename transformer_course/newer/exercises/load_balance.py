"""The load-balancing loss of a router."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import whole


def _logits(top_k: int, *shape: int, scale: float = 2.0) -> Maker:
    return lambda draw: {"logits": draw.tensor(*shape, scale=scale)} | whole(top_k=top_k)


def _favourites(draw: Draw) -> Inputs:
    """Router logits with which nearly all tokens choose experts 1 and 3."""
    logits = draw.tensor(3, 6, 5)
    logits[..., 1] += 3.0
    logits[..., 3] += 2.0
    return {"logits": logits} | whole(top_k=2)


def _balance_experts(draw: Draw) -> Inputs:
    """Each of four experts is chosen by half of the tokens, with the same probability."""
    rows = torch.tensor([3.0, 2.0, 0.0, 0.0])
    return {"logits": torch.stack([rows.roll(i) for i in range(4)])} | whole(top_k=2)


_SHARES = "shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0)"
_PROBABILITIES = "probabilities = rows.softmax(dim=-1).mean(dim=0)"
_LOSS = "rows.size(-1) * (shares * probabilities).sum()"

CASES = [
    case("batch", "2 texts of 7 tokens, 2 of 4 experts", _logits(2, 2, 7, 4),
         "Shares and probabilities of each expert, multiplied, summed, times E."),
    case("favourites", "two experts are chosen nearly always", _favourites,
         "An uneven load costs more."),
    case("one", "9 tokens, 1 of 3 experts", _logits(1, 9, 3, scale=3.0),
         "Each token counts for one expert."),
    case("even", "4 tokens that use the experts evenly", _balance_experts,
         "With an even load the loss is top_k.", open=True),
    case("three", "3 of 6 experts", _logits(3, 3, 5, 6),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("not_times_e",
          "The factor `E` is missing.",
          "What is the loss of an even load if there are 64 experts?",
          edit(_LOSS, "(shares * probabilities).sum()")),
    wrong("mean_over_experts",
          "You average over the experts; the formula has their sum, times `E`.",
          "What is the loss of an even load if there are 64 experts?",
          edit(_LOSS, "(shares * probabilities).mean()")),
    wrong("divided_by_top_k",
          "Your shares `f_i` sum to 1, but the shares that the task defines do not.",
          "What do you divide the counts by?",
          edit(_SHARES, "shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0) / top_k")),
    wrong("first_choice_only",
          "Only the best expert of each token is counted.",
          "In the task, for how many experts does a token count?",
          edit("route(rows, top_k)", "route(rows, 1)")),
    wrong("weights_as_shares",
          "You average the experts' weights; the shares come from counting.",
          "Which values can one token contribute to `f_i`?",
          edit(_SHARES, "shares = route(rows, top_k).mean(dim=0)")),
    wrong("probabilities_as_shares",
          "Both factors are mean probabilities; one of them should count tokens.",
          "Which values can one token contribute to `f_i`?",
          edit(_SHARES, "shares = rows.softmax(dim=-1).mean(dim=0) * top_k")),
    wrong("weights_as_probabilities",
          "Your probabilities come from the chosen logits only; this softmax should run over all experts.",
          "Over which logits does the softmax in `P_i` run?",
          edit(_PROBABILITIES, "probabilities = route(rows, top_k).mean(dim=0)")),
    wrong("shares_twice",
          "Both factors count tokens, so no gradient reaches the router.",
          "Through which of the two factors can a gradient flow?",
          edit(_PROBABILITIES, "probabilities = shares + 0 * rows.mean(dim=0)")),
    wrong("product_first",
          "You multiply for each token and then average; take the mean of each factor first.",
          "Is the mean of a product the product of the means?",
          edit(_LOSS, "rows.size(-1) * ((route(rows, top_k) > 0) * rows.softmax(-1)).sum(-1).mean()")),
    wrong("sums",
          "You add over the tokens instead of averaging, so the loss grows with the batch.",
          "Is `f_i` a number of tokens or a share of them?",
          edit(_SHARES, "shares = (route(rows, top_k) > 0).to(rows.dtype).sum(dim=0)"),
          edit("softmax(dim=-1).mean(dim=0)", "softmax(dim=-1).sum(dim=0)", name="probabilities_summed")),
    wrong("no_gradient",
          "No gradient reaches the logits.",
          "Through which of the two factors should it flow?",
          edit(_PROBABILITIES, "probabilities = rows.softmax(dim=-1).mean(dim=0).detach()")),
    wrong("a_float",
          "The loss is a Python float: no gradient can flow through it.",
          "What does `.item()` return?",
          edit(_LOSS, f"({_LOSS}).item()"), tests="gradient"),
    wrong("each_text",
          "You return a loss for each text; return one for the whole batch.",
          "Over which dimensions does the mean run?",
          edit("rows = logits.flatten(0, -2)", "rows = logits.movedim(-2, 0)",
               "(shares * probabilities).sum()", "(shares * probabilities).sum(-1)")),
    wrong("first_text",
          "Only the first text counts.",
          "Over which dimensions does the mean run?",
          edit("rows = logits.flatten(0, -2)", "rows = logits[0].reshape(-1, logits.size(-1))"), tests="dimensions"),
    wrong("mean_of_the_texts",
          "You compute the loss of each text and average these; tokens of all texts belong together.",
          "Is the mean of a product the product of the means?",
          edit(_LOSS, "torch.stack([t.size(-1) * ((route(t, top_k) > 0).float().mean(0) * t.softmax(-1).mean(0)).sum() "
                      "for t in logits.reshape(-1, *logits.shape[-2:])]).mean()")),
    wrong("softmax_over_tokens",
          "The softmax runs over the tokens.",
          "For each token, which probabilities should sum to 1?",
          edit("rows.softmax(dim=-1)", "rows.softmax(dim=0)")),
    wrong("zero_when_even",
          "Your loss is 0 for an even load: something is subtracted from it.",
          "What should the loss of an even load be?",
          edit(_LOSS, f"{_LOSS} - top_k")),
    wrong("variance",
          "You measure how much the shares vary; the formula has a product.",
          "Does counting have a gradient?",
          edit(_LOSS, "rows.size(-1) * (shares - shares.mean()).square().sum() + 0 * probabilities.sum()")),
    wrong("negative",
          "The sign is wrong: a smaller loss means a more uneven load.",
          "Should training raise or lower the probability of an expert that is used often?",
          edit(_LOSS, f"-{_LOSS}")),
    wrong("logits_for_probabilities",
          "You average the logits, without a softmax.",
          "What is `P_i`?",
          edit("rows.softmax(dim=-1).mean(dim=0)", "rows.mean(dim=0)")),
]

ACCEPTED = [
    right("counted", source("""
        def load_balance(logits, top_k):
            experts = logits.size(-1)
            logits = logits.reshape(-1, experts)
            chosen = logits.topk(top_k, dim=-1).indices
            counts = torch.bincount(chosen.flatten(), minlength=experts)
            f = counts / len(logits)
            p = torch.softmax(logits, dim=-1).mean(0)
            return experts * torch.dot(f.to(p.dtype), p)
        """)),
    right("one_hot", source("""
        def load_balance(logits, top_k):
            probabilities = logits.softmax(-1)
            used = F.one_hot(probabilities.topk(top_k, -1).indices, logits.size(-1)).sum(-2)
            every = tuple(range(logits.dim() - 1))
            return logits.size(-1) * (used.to(logits.dtype).mean(every) * probabilities.mean(every)).sum()
        """)),
    right("matrix_product", edit(_LOSS, "rows.size(-1) * shares @ probabilities")),
]

EXERCISE = Specification(
    contract=Contract(ways=(), sizes=lambda draw: {
        "one token": _logits(2, 1, 4)(draw), "one expert": _logits(1, 5, 1)(draw), "a matrix": _logits(2, 4, 4)(draw),
    }),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
