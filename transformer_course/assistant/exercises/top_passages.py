"""Cases and mistakes for an exercise: the passages most similar to a question."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_lengths(draw: Draw, N: int, d_model: int) -> torch.Tensor:
    """Passages as vectors of very different lengths."""
    return draw.tensor(N, d_model) * torch.linspace(0.1, 9, N)[draw.tensor(N).argsort()][:, None]


def _draw_small(draw: Draw, N: int, d_model: int) -> torch.Tensor:
    """Passages as vectors that are all short."""
    return 0.01 * draw.tensor(N, d_model)


_UNIT = "passages = F.normalize(passages, dim=-1)  # (N, d_model)"
_COSINES = "cosines = passages @ F.normalize(question, dim=-1)  # (N,)"
_RESULT = "return cosines[best], best"
_BEST = "best = cosines.argsort(descending=True)[:k]"

CASES = [
    case("three", "3 of 7 passages", sizes(N=7, d_model=5, k=3),
         "Compute one cosine by hand: the dot product, divided by both lengths."),
    case("lengths", "passages with vectors of very different lengths",
         sizes(N=9, d_model=4, k=4, passages=_draw_lengths),
         "The length of a vector does not count, only its direction."),
    case("best", "the best of 6 passages", sizes(N=6, d_model=8, k=1), "With k = 1, both results have one entry."),
    case("small", "short vectors", sizes(N=5, d_model=6, k=2, passages=_draw_small),
         "Is something added to the lengths before you divide?"),
    case("all", "all of 5 passages", sizes(N=5, d_model=3, k=5), "With k = N, all passages come back, sorted."),
    case("many", "5 of 23 passages", sizes(N=23, d_model=11, k=5, passages=_draw_lengths),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("dot_products",
          "You do not divide by the lengths of the passages, so a long vector wins whatever it is about.",
          "Two passages point in the same direction, and one vector is ten times as long. Which is nearer?",
          edit(_UNIT, "pass"), tests="any norm"),
    wrong("question_not_divided",
          "You do not divide by the length of the question, so your scores are not cosines.",
          "What is the cosine of a vector with itself?",
          edit(_COSINES, "cosines = passages @ question")),
    wrong("worst_first", "You return the passages that fit *worst*, or the best ones in rising order.",
          "In which order does `sort` return its values if you do not say otherwise?",
          edit("argsort(descending=True)[:k]", "argsort()[:k]"),
          edit("argsort(descending=True)[:k]", "argsort()[-k:]", name="rising")),
    wrong("distances", "You rank by the distance between the vectors, or return distances instead of cosines.",
          "Is the nearest point also the one in the most similar direction?",
          edit(_RESULT, "return 1 - cosines[best], best"),
          source("""
              def top_passages(question, passages, k):
                  distances = (passages - question).norm(dim=-1)
                  best = distances.argsort()[:k]
                  return distances[best], best
              """, name="euclidean")),
    wrong("wrong_dimension", "You normalise over the passages instead of over the components of a vector.",
          "Which dimension of `passages` has the size of the question?",
          edit("F.normalize(passages, dim=-1)", "F.normalize(passages, dim=0)")),
    wrong("whole_matrix",
          "You divide all passages by one number, the norm of the whole matrix; each has a length of its own.",
          "How many lengths do N passages have, and which argument of `norm` gives you all of them?",
          edit("F.normalize(passages, dim=-1)", "passages / passages.norm()")),
    wrong("softmax", "You return the softmax of the cosines.",
          "What should the score of a passage be that is the question itself?",
          edit(_RESULT, "return cosines.softmax(0)[best], best")),
    wrong("absolute", "You rank by absolute values, so a passage that points the opposite way counts as near.",
          "What does a cosine of -1 mean?",
          edit(_BEST, "best = cosines.abs().argsort(descending=True)[:k]"),
          edit(_COSINES, "cosines = (passages @ F.normalize(question, dim=-1)).abs()", name="absolute_cosines")),
    wrong("ranks",
          "You return the rank of each passage, or positions among the best, instead of the indices of the passages.",
          "Which index do you need to look up the text of a passage?",
          edit(_RESULT, "return cosines[best], torch.arange(k)")),
    wrong("in_their_order", "You return the best passages in the order of the text, not the best one first.",
          "Which entry of your result is the best passage?",
          edit(_RESULT, "best = best.sort().values; return cosines[best], best")),
    wrong("all_returned", "You ignore `k`.",
          "How many entries should come back for k = 3?",
          edit("[:k]", "")),
    wrong("results_in_reverse", "You return the indices first.",
          "Which of the two does the docstring list first?",
          edit(_RESULT, "return best, cosines[best]")),
    wrong("epsilon", "A number that you add to the lengths changes the cosines of short vectors.",
          "How long are the vectors of the case, and how large is what you add?",
          edit("F.normalize(passages, dim=-1)", "passages / (passages.norm(dim=-1, keepdim=True) + 1e-3)")),
    wrong("argument_changed", "Your function modifies one of its arguments.",
          "Which of your operations works in place?",
          edit(_UNIT, "passages /= passages.norm(dim=-1, keepdim=True)"), tests="is modified"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("cosine_similarity", source("""
        def top_passages(question, passages, k):
            scores, indices = F.cosine_similarity(passages, question[None], dim=-1).topk(k)
            return scores, indices
        """)),
    right("by_hand", source("""
        def top_passages(question, passages, k):
            lengths = passages.square().sum(-1).sqrt() * question.square().sum().sqrt()
            scores = (passages * question).sum(-1) / lengths
            return tuple(scores.topk(k))
        """)),
    right("sorted_list", source("""
        def top_passages(question, passages, k):
            cosines = [torch.dot(p, question) / (p.norm() * question.norm()) for p in passages]
            best = sorted(range(len(cosines)), key=lambda i: -cosines[i])[:k]
            return torch.stack([cosines[i] for i in best]), torch.tensor(best)
        """)),
]

EXERCISE = Specification(
    results="cosines, indices", gradients=False, fixed="N d_model k", cases=CASES, mutants=MISTAKES,
    accepted=ACCEPTED,
)
