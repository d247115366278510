"""Beam search for one sentence, by raw scores."""

from __future__ import annotations

import json

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import BOS, EOS
from transformer_course.text_recovery.exercises.beam_search import (
    FEW,
    early_end,
    ends,
    script,
    soft_script,
)


def _rows(made: Inputs, sizes: list[int]) -> Inputs:
    """A script, searched sentence by sentence with these sizes; 0: the defaults."""
    return made | {"beam_sizes": json.dumps(sizes)}


def _one_by_one(draw: Draw, sizes: list[int], max_len: int, eos: float = 0.0) -> Inputs:
    return script(draw, FEW, sizes, 0.0, max_len, eos)


def _by_default(draw: Draw) -> Inputs:
    """EOS is so improbable that all 60 tokens are used; one sentence decides the beam.

    In it, the fourth best first token has a better future than those before it, and the
    fifth a better one still: a beam of 4 finds the one, and not the other.
    """
    made = soft_script(draw, FEW, [0], 0.0, 60, eos=-99.0, vocab=20)
    made["places"] = made["places"] / 4
    made["habits"][[BOS, *range(12, 19)]] = 0.0
    made["habits"][15, 17], made["habits"][16, 17] = 2.0, 6.0
    one = made["places"][FEW[0]]
    one[:] = -40.0
    one[0, 12:17] = -torch.arange(5) / 10
    one[1:, 17], one[1:, 18], one[2:, EOS] = 0.0, -0.25, 20.0
    return made


def _in_training(draw: Draw) -> Inputs:
    return soft_script(draw, FEW, [2], 0.0, 9) | {"training": torch.tensor(True)}


CASES = [
    case("small", "twelve sentences, k = 1 and 2", lambda draw: _one_by_one(draw, [1, 2], 12),
         "In each step: look at EOS, then keep the k best other continuations."),
    case("wide", "twelve sentences, k = 3 and 5", lambda draw: _one_by_one(draw, [3, 5], 11),
         "Of all finished hypotheses, the one with the best score is the answer."),
    case("short", "EOS improbable, max_len = 5", lambda draw: _one_by_one(draw, [3], 5, eos=-6.0),
         "After max_len steps, the best finished hypothesis is the answer."),
    case("early", "an early end that nothing beats", lambda draw: _rows(early_end(draw), [2, 3]),
         "Stop as soon as the best ended score is at least as good as the best live one."),
    case("equal_ends", "two ends with the same score", ends({1: 50.0, 2: 50.0}, {1: 50.0, 2: 50.0}),
         "Between finished hypotheses with equal scores, keep the earlier one."),
    case("defaults", "default beam_size and max_len", _by_default,
         "A beam of 4, at most 60 tokens."),
    case("training", "a model that comes in training mode", _in_training,
         "Dropout is for training: a search works in evaluation mode.", aspect="mode"),
    case("other", "other sentences, k = 4", lambda draw: _one_by_one(draw, [4], 13),
         "The same for other sentences.", hidden_only=True),
    case("endless", "EOS is very improbable", lambda draw: soft_script(draw, FEW, [3], 0.0, 4, eos=-900.0),
         "EOS is a continuation in every step, however improbable.", hidden_only=True),
]

_ENDED = "ended, i = (scores + log_p[:, EOS]).max(dim=0)"
_BETTER = "if ended > best:"
_STOP = "if best >= scores[0]:"
_CLOSE = "log_p[:, EOS] = -math.inf"

MISTAKES = [
    wrong("greedy",
          "This is greedy decoding: only one prefix stays live.",
          "How many different prefixes does `beam_size` ask for?",
          edit("log_p, beam_size)", "log_p, 1)")),
    wrong("probabilities",
          "Probabilities are added up, not their logarithms.",
          "What is the probability of two tokens in a row?",
          edit("log_softmax(dim=-1)", "softmax(dim=-1)")),
    wrong("logits",
          "Logits are added up. They are not logarithms of probabilities, so they cannot compare prefixes.",
          "Between which numbers is the logarithm of a probability?",
          edit("logits[:, -1].log_softmax(dim=-1)", "logits[:, -1].clone()")),
    wrong("first_position",
          "You read the logits at the first position; the last one says what comes next.",
          "Which position of the logits follows the whole prefix?",
          edit("logits[:, -1]", "logits[:, 0]")),
    wrong("first_end_wins",
          "The first hypothesis that ends is returned. A live one may still be better.",
          "When can no live prefix win any more?",
          edit(_STOP, "if best > -math.inf:")),
    wrong("first_in_the_beam",
          "The search stops as soon as EOS is among the k best continuations. A live prefix may still be better.",
          "When can no live prefix win any more?",
          source("""
              @torch.no_grad()
              def beam_sentence(model, source, beam_size=4, max_len=60):
                  model.eval()
                  memory = model.encode(source)
                  prefixes, scores = source.new_full((1, 1), BOS), torch.zeros(1)
                  for _ in range(max_len):
                      n = len(prefixes)
                      logits = model.decode(prefixes, memory.expand(n, -1, -1), source.expand(n, -1))
                      longer, scores = beam_step(prefixes, scores, logits[:, -1].log_softmax(dim=-1), beam_size)
                      prefixes = longer[:, :-1]
                      for i in (longer[:, -1] == EOS).nonzero().flatten().tolist():
                          return [*prefixes[i, 1:].tolist(), EOS]
                      prefixes = longer
                  return prefixes[0, 1:].tolist()
              """)),
    wrong("eos_must_be_best",
          "A hypothesis ends only if EOS is the best continuation of all.",
          "In which steps, and after which prefixes, is EOS a continuation?",
          edit(_BETTER, "if ended >= (scores[:, None] + log_p).max() and ended > best:")),
    wrong("stops_at_a_probable_end",
          "The search ends as soon as EOS is the most probable continuation of the best prefix. A live one may still "
          "be better.",
          "When can no live prefix win any more?",
          edit(_CLOSE, """
              if log_p[0].argmax() == EOS:
                  break
              log_p[:, EOS] = -math.inf
              """,
               _STOP, "if False:")),
    wrong("best_prefix_only",
          "Only the best prefix may end.",
          "After which prefixes is EOS a continuation?",
          edit(_ENDED, "ended, i = scores[0] + log_p[0, EOS], 0")),
    wrong("last_end_wins",
          "The hypothesis that ended last is taken, not the best one.",
          "What do you remember, and when do you replace it?",
          edit(_BETTER, "if True:")),
    wrong("later_of_equal",
          "Of two finished hypotheses with equal scores, you take the later one.",
          "When does a finished hypothesis replace the one that you remember?",
          edit(_BETTER, "if ended >= best:")),
    wrong("live_wins",
          "The best live prefix is returned, although others have ended.",
          "What is the answer when the search is over?",
          edit("return answer", "return prefixes[0, 1:].tolist()")),
    wrong("never_stops",
          "The search always runs for `max_len` steps.",
          "Can a score grow when a token is appended?",
          edit(_STOP, "if False:")),
    wrong("by_length",
          "Scores are divided by the length. That is the next exercise; here raw scores decide.",
          "What does this exercise compare?",
          edit(_ENDED, "ended, i = ((scores + log_p[:, EOS]) / prefixes.size(1)).max(dim=0)",
               _STOP, "if best >= scores[0] / (prefixes.size(1) - 1):")),
    wrong("eos_lost",
          "EOS is missing at the end of the answer.",
          "What is the last token of a finished hypothesis?",
          edit("[*prefixes[i, 1:].tolist(), EOS]", "prefixes[i, 1:].tolist()")),
    wrong("bos_returned",
          "BOS is part of the answer.",
          "Where does the answer begin?",
          edit("[*prefixes[i, 1:].tolist(), EOS]", "[*prefixes[i].tolist(), EOS]")),
    wrong("one_step_short",
          "The search ends one step too early.",
          "How many tokens may an answer have, EOS included?",
          edit("range(max_len)", "range(max_len - 1)")),
    wrong("one_step_more",
          "The search takes one step too many.",
          "How many tokens may an answer have, EOS included?",
          edit("range(max_len)", "range(max_len + 1)")),
    wrong("scores_start_anew",
          "Each step starts from scores of 0, so only the newest token counts.",
          "What is the score of a prefix?",
          edit("beam_step(prefixes, scores, log_p, beam_size)", "beam_step(prefixes, scores * 0, log_p, beam_size)")),
    wrong("training_mode",
          "The model is called in training mode.",
          "What does dropout do to a search?",
          edit("model.eval()", "")),
    wrong("gradients",
          "Gradients are recorded: every step keeps its whole graph, for nothing.",
          "Which line of `greedy_decode` saves this memory?",
          edit("@torch.no_grad()", "")),
]

ACCEPTED = [
    right("lists", source("""
        @torch.no_grad()
        def beam_sentence(model, source, beam_size=4, max_len=60):
            model.eval()
            memory = model.encode(source)
            live, best = [(0.0, [BOS])], (-math.inf, None)
            for _ in range(max_len):
                n = len(live)
                logits = model.decode(torch.tensor([p for _, p in live]), memory.expand(n, -1, -1), source.expand(n, -1))
                new = []
                for (score, prefix), row in zip(live, logits[:, -1].log_softmax(-1).tolist()):
                    for token, value in enumerate(row):
                        if token != EOS:
                            new.append((score + value, prefix + [token]))
                        elif score + value > best[0]:
                            best = (score + value, prefix[1:] + [EOS])
                live = sorted(new, key=lambda x: -x[0])[:beam_size]
                if best[0] >= live[0][0]:
                    break
            return best[1]
        """)),
    # By raw scores, what a finished hypothesis displaces is worse, and stays so.
    right("ended_stay_live", edit(_CLOSE, "")),
    right("tensor", edit("return answer", "return torch.tensor(answer)")),
    right("whole_model", source("""
        def beam_sentence(model, source, beam_size=4, max_len=60):
            model.eval()
            ids, scores, best, answer = torch.full((1, 1), BOS), torch.zeros(1), -math.inf, []
            with torch.no_grad():
                for _ in range(max_len):
                    lp = model(source.repeat(len(ids), 1), ids)[:, -1].log_softmax(-1)
                    ended = scores + lp[:, EOS]
                    if ended.max() > best:
                        best, answer = ended.max().item(), ids[ended.argmax(), 1:].tolist() + [EOS]
                    lp = lp.index_fill(1, torch.tensor([EOS]), -math.inf)
                    ids, scores = beam_step(ids, scores, lp, beam_size)
                    if scores[0] <= best:
                        return answer
            return answer
        """)),
]

EXERCISE = Specification(
    name="text_recovery/beam_sentence", title="Beam search for one sentence", target="beam_sentence",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
