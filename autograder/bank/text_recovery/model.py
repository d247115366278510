"""The model that you hand in."""

from __future__ import annotations

import functools
import json

from autograder.bank.text_recovery._handed_in import HandedInModel, shipped_outputs
from autograder.bank.text_recovery._inputs import closed_class, normal_text
from autograder.oracle.answers import Late
from autograder.oracle.draw import Draw
from autograder.oracle.notation import case, right, source, wrong
from autograder.oracle.specification import Inputs, Specification
from autograder.student.exercise import Answers
from autograder.student.recovery import corpora

_GRADED = 1000
_COMPARED = 600  # sentences on which the shipped checkpoint is recognised
# BLEU and share of the points: see docs/recovery_grade.md for how they were measured.
# Above the reference, 97, there is a bonus of up to one of the twelve points.
SCALE = ((14.0, 0.0), (62.0, 0.5), (91.0, 1.0), (97.0, 1.0), (100.0, 13 / 12))


def _originals(draw: Draw) -> list[str]:
    return _generated(int(draw.ids(0, 2**31, 1)))


@functools.lru_cache(maxsize=1)  # the sources are made of them, and then the answers
def _generated(seed: int) -> list[str]:
    return corpora.generate(f"grade {seed}", _GRADED, "test")


def _left(sentences: list[str]) -> list[str]:
    return [" ".join(w for w in normal_text(s).split() if w not in closed_class()) for s in sentences]


def _sources(draw: Draw) -> Inputs:
    return {"sources": json.dumps(_left(_originals(draw)))}


def _known(draw: Draw) -> Answers:
    """The originals, and what the checkpoint that ships makes of the first sources."""
    originals = _originals(draw)
    return Late(
        {"bleu": json.dumps(originals)}, copied=lambda: json.dumps(shipped_outputs(_left(originals[:_COMPARED])))
    )


CASES = [
    case("fresh", "1,000 fresh sentences", _sources,
         "Points grow with BLEU: train longer, or look at what goes wrong.", measure="bleu", scale=SCALE, known=_known),
]

MISTAKES = [
    wrong("copy",
          "The sources come back as they were.",
          "Who calls the model?",
          source("""
              def restore(sources):
                  return list(sources)
              """)),
    wrong("rule",
          "Only a capital letter and a full stop were added.",
          "Is there a model in your function?",
          source("""
              def restore(sources):
                  return [f'{s[:1].upper()}{s[1:]}.' for s in sources]
              """)),
    wrong("empty",
          "The texts are empty.",
          "Does `decode` see EOS first?",
          source("""
              def restore(sources):
                  return ['' for _ in sources]
              """)),
    wrong("shipped",
          "These are the answers of the checkpoint that ships with the course. The grade is for a model that you "
          "trained.",
          "Which file did you load?",
          source("""
              def restore(sources):
                  from autograder.student.recovery.checkpoint import shipped
                  model, tokenizer = load(shipped(), encoder_decoder, segment)
                  return recover(model, tokenizer, sources, greedy)
              """)),
    wrong("ids",
          "Ids come back, not texts.",
          "What does the tokenizer's `decode` do?",
          source("""
              def restore(sources):
                  return [[1, 2] for _ in sources]
              """)),
    wrong("another_order",
          "The texts come back in another order than the sources.",
          "Which source does the first of your texts belong to?",
          source("""
              def restore(sources):
                  return [f'{s[:1].upper()}{s[1:]}.' for s in sorted(sources)]
              """)),
]

ACCEPTED = [
    right("beam", source("""
        from functools import partial
        def restore(sources):
            model, tokenizer = load(handed_in(), encoder_decoder, segment)
            return recover(model, tokenizer, sources, partial(beam_search, beam_size=2))
        """)),
]

EXERCISE = Specification(
    name="text_recovery/model", title="The model that you hand in", target="restore", precise=False,
    other=HandedInModel,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
