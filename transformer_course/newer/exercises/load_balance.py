"""Cases and mistakes for an exercise: the load-balancing loss of a router."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _balance_experts(draw: Draw) -> torch.Tensor:
    """Return the logits of a balanced router, for 4 tokens and 4 experts.

    All experts are chosen equally often, and have the same mean probability.
    """
    rows = torch.tensor([3.0, 2.0, 0.0, 0.0])
    return torch.stack([rows.roll(i) for i in range(4)])


_SHARES = "shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0)"
_PROBABILITIES = "probabilities = rows.softmax(dim=-1).mean(dim=0)"
_LOSS = "rows.size(-1) * (shares * probabilities).sum()"

CASES = [
    case("batch", "2 texts of 7 tokens, 2 of 4 experts", sizes(batch=(2, 7), E=4, top_k=2),
         "Shares and probabilities of each expert, multiplied, summed, times E."),
    case("one", "9 tokens, 1 of 3 experts", sizes(batch=(9,), E=3, top_k=1, scale=3.0),
         "Each token counts for one expert."),
    case("even", "4 tokens that use the experts evenly", sizes(logits=_balance_experts, top_k=2),
         "With an even load the loss is top_k.", open=True, aspect="limits"),
    case("square", "as many tokens as experts: 4", sizes(batch=(4,), E=4, top_k=2),
         "For each token, the probabilities sum to 1."),
    case("one_token", "a single token", sizes(batch=(1,), E=5, top_k=2),
         "A mean over one token is that token.", hidden_only=True, aspect="limits"),
    case("three", "3 of 6 experts", sizes(batch=(3, 5), E=6, top_k=3),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("not_times_e",
          "The sum over the experts is not multiplied by `E`: the factor is missing, or you take their mean.",
          "What is the loss of an even load if there are 64 experts?",
          edit(_LOSS, "(shares * probabilities).sum()"),
          edit(_LOSS, "(shares * probabilities).mean()", name="mean_over_experts")),
    wrong("divided_by_top_k", "Your shares `f_i` sum to 1, but the shares that the task defines do not.",
          "What do you divide the counts by?",
          edit(_SHARES, "shares = (route(rows, top_k) > 0).to(rows.dtype).mean(dim=0) / top_k")),
    wrong("first_choice_only", "Only the best expert of each token is counted.",
          "In the task, for how many experts does a token count?",
          edit("route(rows, top_k)", "route(rows, 1)")),
    wrong("shares_not_counted", "Your shares are means of weights or of probabilities; they come from counting.",
          "Which values can one token contribute to `f_i`?",
          edit(_SHARES, "shares = route(rows, top_k).mean(dim=0)"),
          edit(_SHARES, "shares = rows.softmax(dim=-1).mean(dim=0) * top_k", name="probabilities_as_shares")),
    wrong("other_probabilities",
          "Your probabilities are not a softmax over all experts: it runs over the chosen logits only, or is missing.",
          "What is `P_i`, and over which logits does its softmax run?",
          edit(_PROBABILITIES, "probabilities = route(rows, top_k).mean(dim=0)"),
          edit("rows.softmax(dim=-1).mean(dim=0)", "rows.mean(dim=0)", name="logits_for_probabilities")),
    wrong("mean_of_products",
          "You average products, of tokens or of texts; take the mean of each factor over all tokens first.",
          "Is the mean of a product the product of the means?",
          edit(_LOSS, "rows.size(-1) * ((route(rows, top_k) > 0) * rows.softmax(-1)).sum(-1).mean()"),
          edit(_LOSS, "torch.stack([t.size(-1) * ((route(t, top_k) > 0).float().mean(0) * t.softmax(-1).mean(0)).sum() "
                      "for t in logits.reshape(-1, *logits.shape[-2:])]).mean()", name="mean_of_the_texts")),
    wrong("sums", "You add over the tokens instead of averaging, so the loss grows with the batch.",
          "Is `f_i` a number of tokens or a share of them?",
          edit(_SHARES, "shares = (route(rows, top_k) > 0).to(rows.dtype).sum(dim=0)"),
          edit("softmax(dim=-1).mean(dim=0)", "softmax(dim=-1).sum(dim=0)", name="probabilities_summed")),
    wrong("no_gradient",
          "No gradient reaches the logits: both factors count tokens, or the loss is detached or a Python float.",
          "Through which of the two factors should a gradient flow, and what do `detach` and `.item()` do to it?",
          edit(_PROBABILITIES, "probabilities = rows.softmax(dim=-1).mean(dim=0).detach()"),
          edit(_PROBABILITIES, "probabilities = shares + 0 * rows.mean(dim=0)", name="shares_twice"),
          edit(_LOSS, f"({_LOSS}).item()", name="a_float"),
          tests="gradient"),
    wrong("each_text", "You return a loss for each text; return one for the whole batch.",
          "Over which dimensions does the mean run?",
          edit("rows = logits.flatten(0, -2)", "rows = logits.movedim(-2, 0)",
               "(shares * probabilities).sum()", "(shares * probabilities).sum(-1)")),
    wrong("first_text", "Only the first text counts.",
          "Over which dimensions does the mean run?",
          edit("rows = logits.flatten(0, -2)", "rows = logits[0].reshape(-1, logits.size(-1))"), tests="dimensions"),
    wrong("softmax_over_tokens", "The softmax runs over the tokens.",
          "For each token, which probabilities should sum to 1?",
          edit("rows.softmax(dim=-1)", "rows.softmax(dim=0)")),
    wrong("zero_when_even", "Your loss is 0 for an even load: something is subtracted from it.",
          "What should the loss of an even load be?",
          edit(_LOSS, f"{_LOSS} - top_k")),
    wrong("variance", "You measure how much the shares vary; the formula has a product.",
          "Does counting have a gradient?",
          edit(_LOSS, "rows.size(-1) * (shares - shares.mean()).square().sum() + 0 * probabilities.sum()")),
    wrong("negative", "The sign is wrong: a smaller loss means a more uneven load.",
          "Should training raise or lower the probability of an expert that is used often?",
          edit(_LOSS, f"-{_LOSS}")),
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
    results="the loss", fixed="E", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
