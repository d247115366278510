"""Cases and mistakes for an exercise: keep the k best prefixes of a beam search."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification
from transformer_course.text_recovery.exercises._inputs import draw_fine_numbers


def _draw_beam(n: int, t: int, V: int, k: int, richer: float = 0.0) -> InputSizes:
    """Return the sizes of a step's inputs, which the build draws later.

    There are n prefixes of t tokens; ``richer`` is added to the score of the last one.
    """

    def draw_scores(draw: Draw) -> torch.Tensor:
        scores = draw_fine_numbers(draw, n, scale=1.0).sort(descending=True).values - 4.0
        scores[-1] += richer
        return scores

    return sizes(
        n=n, t=t, V=V, k=k, below=V, scores=draw_scores,
        log_p=lambda draw: draw_fine_numbers(draw, n, V, scale=2.0).log_softmax(-1),
    )


CASES = [
    case("three", "3 prefixes of 4 tokens, k = 3", _draw_beam(3, 4, 7, 3),
         "All continuations of all prefixes compete."),
    case("first", "the first step: BOS alone, k = 4", _draw_beam(1, 1, 8, 4),
         "Several continuations of one prefix can stay."),
    case("wide", "2 prefixes, k = 5", _draw_beam(2, 3, 11, 5),
         "The beam may become wider: k counts the prefixes that stay, not those before the step."),
    case("narrow", "5 prefixes, k = 2", _draw_beam(5, 2, 6, 2),
         "Only the k best stay."),
    case("few", "k larger than the number of continuations", _draw_beam(2, 2, 5, 12),
         "If there are fewer than k continuations, all of them stay.", aspect="limits"),
    case("rich", "one prefix that is far better than the others", _draw_beam(4, 3, 9, 4, richer=30.0),
         "A prefix may lose all its continuations."),
    case("other", "other prefixes", _draw_beam(6, 5, 13, 6),
         "The same for other prefixes.", hidden_only=True),
]

_TOTAL = "total = scores[:, None] + log_p"
_PARENT = "parent = flat // total.size(1)"
_TOKEN = "token = flat % total.size(1)"
_TOPK = "total.flatten().topk(min(k, total.numel()))"

MISTAKES = [
    wrong("per_prefix",
          "Every prefix keeps its own best continuations; all of them should compete, and k of them stay.",
          "From how many continuations are the k best chosen?",
          edit(f"scores, flat = {_TOPK}", """
              each, tokens = total.topk(-(-min(k, total.numel()) // len(total)), dim=1)
              flat = (tokens + torch.arange(len(total))[:, None] * total.size(1)).flatten()
              scores, order = each.flatten().sort(descending=True)
              scores, flat = scores[:k], flat[order][:k]
              """),
          edit(f"scores, flat = {_TOPK}", """
              each, tokens = total.topk(min(k, total.size(1)), dim=1)
              flat = (tokens + torch.arange(len(total))[:, None] * total.size(1)).flatten()
              scores, order = each.flatten().sort(descending=True)
              flat = flat[order]
              """, name="k_of_each_prefix"),
          edit(f"scores, flat = {_TOPK}", """
              each, tokens = total.max(dim=1)
              scores, rows = each.topk(min(k, len(total)))
              flat = rows * total.size(1) + tokens[rows]
              """, name="best_of_each_prefix")),
    wrong("scores_forgotten",
          "The k best are chosen by the new token's log-probability alone; the prefix's own score is forgotten.",
          "What is the score of a continuation made of?",
          edit(_TOTAL, "total = log_p"),
          edit("return torch.cat", """
              flat = log_p.flatten().topk(min(k, total.numel())).indices
              scores, order = total.flatten()[flat].sort(descending=True)
              parent, token = flat[order] // total.size(1), flat[order] % total.size(1)
              return torch.cat""", name="scores_added_later")),
    wrong("multiplied", "Logarithms are multiplied. The logarithm of a product is a *sum* of logarithms.",
          "What is log(p · q)?",
          edit(_TOTAL, "total = scores[:, None] * log_p")),
    wrong("probabilities", "Probabilities are added to the scores, not their logarithms.",
          "What turns a product of probabilities into a sum?",
          edit(_TOTAL, "total = scores[:, None] + log_p.exp()")),
    wrong("divided_by_k",
          "For the prefix or for the token, the flat index is divided by something other than the size of the "
          "vocabulary: `//` gives the prefix, the remainder `%` the token.",
          "How many entries does one row of the table have?",
          edit(_PARENT, "parent = (flat // k) % len(prefixes)"),
          edit(_PARENT, "parent = flat % len(prefixes)", _TOKEN, "token = flat // len(prefixes)", name="divided_by_n"),
          edit(_PARENT, "parent = (flat // len(prefixes)) % len(prefixes)", name="parent_by_n"),
          edit(_PARENT, "parent = (flat // len(prefixes)).clamp(max=len(prefixes) - 1)",
               _TOKEN, "token = flat % len(prefixes)", name="both_by_rows"),
          edit(_TOKEN, "token = flat % len(prefixes)", name="token_by_rows")),
    wrong("wrong_parent", "The tokens are appended to the wrong prefixes.",
          "Which prefix does each of the k best continue?",
          edit(_PARENT, "parent = torch.arange(len(flat)) % len(prefixes)", name="old_order"),
          edit(_PARENT, "parent = torch.zeros_like(flat)", name="best_prefix")),
    wrong("transposed", "The table was flattened column by column, but read row by row.",
          "Which index changes faster in the flat list: prefix or token?",
          edit("total.flatten()", "total.T.flatten()")),
    wrong("worst", "The k worst continuations stay.",
          "At which end of the list are the best?",
          edit("min(k, total.numel()))", "min(k, total.numel()), largest=False)")),
    wrong("not_best_first", "The continuations are not sorted by score, from best to worst.",
          "In which order does the contract want them?",
          edit("return torch.cat", """
              scores, parent, token = scores.flip(0), parent.flip(0), token.flip(0)
              return torch.cat""", name="worst_first"),
          edit("return torch.cat", """
              order = flat.argsort()
              scores, parent, token = scores[order], parent[order], token[order]
              return torch.cat""", name="in_the_order_of_the_table"), tests="continuation comes"),
    wrong("token_in_front", "The new token comes first.",
          "At which end does a prefix grow?",
          edit("[prefixes[parent], token[:, None]]", "[token[:, None], prefixes[parent]]")),
    wrong("as_many_as_before", "The beam never grows: you keep at most as many prefixes as you were given.",
          "From BOS alone with k = 4: how many prefixes do you return?",
          edit("min(k, total.numel())", "min(len(prefixes), total.numel())")),
    wrong("one_row_at_most", "You keep at most V continuations, as many as one prefix has.",
          "How many continuations do n prefixes have in total?",
          edit("min(k, total.numel())", "min(k, total.size(1))"), tests="fewer than"),
    wrong("one_less", "You keep one prefix too few.",
          "How many should stay?",
          edit("min(k, total.numel())", "max(1, min(k, total.numel()) - 1)")),
    wrong("too_few_fail", "Your function fails if there are fewer than k continuations.",
          "How many entries does the table have, and what does `topk` do with fewer than k?",
          edit("min(k, total.numel())", "k"), tests="continuations"),
    wrong("old_scores", "The scores are those of the prefixes before the step.",
          "What is the score of the longer prefix?",
          edit("scores, flat =", "_, flat =", _PARENT, f"{_PARENT}\nscores = scores[parent]")),
    wrong("newest_scores",
          "The scores that you return are those of the new tokens alone; those of the prefixes are missing.",
          "What is the score of the longer prefix, and which table do you read it from?",
          edit("return torch.cat", """
              scores = log_p.flatten()[flat]
              return torch.cat""")),
    wrong("in_place", "Your function modifies `log_p`.",
          "Which operation modifies its tensor in place: `+=`, or a method whose name ends in `_`?",
          edit(_TOTAL, "total = log_p.add_(scores[:, None])"), tests="arguments"),
]

ACCEPTED = [
    right("lists", source("""
        def beam_step(prefixes, scores, log_p, k):
            rows = [(float(s + p), [*prefix.tolist(), t])
                    for prefix, s, row in zip(prefixes, scores, log_p) for t, p in enumerate(row)]
            rows = sorted(rows, key=lambda row: -row[0])[:k]
            return torch.tensor([ids for _, ids in rows]), torch.tensor([s for s, _ in rows], dtype=scores.dtype)
        """)),
    right("sort", source("""
        def beam_step(prefixes, scores, log_p, k):
            V = log_p.shape[-1]
            flat, where = (scores.unsqueeze(1) + log_p).reshape(-1).sort(descending=True)
            where = where[:k]
            rows = torch.div(where, V, rounding_mode='floor')
            return torch.hstack((prefixes[rows], (where - rows * V).view(-1, 1))), flat[:k]
        """)),
    right("prune_first", source("""
        def beam_step(prefixes, scores, log_p, k):
            each, tokens = (scores[:, None] + log_p).topk(min(k, log_p.size(1)), dim=1)
            best, i = each.flatten().topk(min(k, each.numel()))
            rows = i // each.size(1)
            return torch.cat((prefixes[rows], tokens.flatten()[i].unsqueeze(1)), 1), best
        """)),
]

EXERCISE = Specification(
    tells={"property_sizes": "per_prefix best_of_each_prefix divided_by_k parent_by_n old_order best_prefix"},
    results="prefixes, scores", gradients=False, fixed="n V", contract=Contract(ways=("steady", "spread")),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
