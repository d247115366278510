"""Cases and mistakes for an exercise: the model that a student hands in.

Students choose the corpus and the level of damage for which it recovers texts.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Mapping
from typing import Any

import torch

from autograder.authoring.answers import LazyAnswers
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import require_tensor
from transformer_course.authoring.limited_fork import run_in_limited_fork
from transformer_course.library import corpora
from transformer_course.measures.recovery import errors
from transformer_course.text_recovery.exercises import _handed_in as handed_in
from transformer_course.text_recovery.exercises._shipped import shipped_outputs
from transformer_course.text_recovery.library import measuring
from transformer_course.text_recovery.library.track import Track
from transformer_course.text_recovery.probes.model import LIMITS, Measured

SAMPLE = 100  # sentences on which the student's function is tested
SECONDS, MEGABYTES = 120, 2000  # for the process that decodes; see `run_in_limited_fork`


class HandedInModel(Measured):
    """The judge of a handed-in model, which decodes all sources with its weights.

    Comparison with the student's outputs for a sample exposes texts that come from
    elsewhere, and copies of the shipped checkpoint.
    """

    keeps = frozenset({"originals"})

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        super().__init__(inputs, draw)
        self._originals: list[str] = json.loads(str(inputs["originals"]))
        self._seed = draw.getrandbits(32)
        count = min(SAMPLE, len(self._originals))
        self._places = draw.sample(range(len(self._originals)), count)
        self._files: dict[str, bytes] = {}

    def answer(self, question: Answers) -> Mapping[str, object]:
        """Keep the student's files for `conclude`, and send a sample of sources for the track that they specify."""
        self._files = {
            name: require_tensor(question, name, 1, [torch.uint8], most + 1).numpy().tobytes()
            for name, most in LIMITS.items()
            if name in question
        }
        chosen = self._apart(handed_in.sample)
        return {"sample": json.dumps(chosen)}

    def conclude(self, answers: Answers) -> Answers:
        work = functools.partial(self._apart, handed_in.graded, texts=_read_texts(answers))
        return {"recovery": str(work())}

    def _apart(self, work: Any, **options: object) -> object:
        """Call a function of `_handed_in` in a separate process with limits.

        It gets the student's files, which are untrusted, and the ``options``.
        """
        task = functools.partial(
            work, self._files, self._originals, self._seed, self._places, **options
        )
        return run_in_limited_fork(task, SECONDS, MEGABYTES)


def _read_texts(answers: Answers) -> list[str]:
    """Read the texts in the answers of a sandbox, which may be forged."""
    try:
        texts = json.loads(str(answers.get("texts", "")))
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise WrongAnswerError("expected a list of texts")
    return texts


_GRADED = 1000
# The share of the points in percent; library/scale.py converts BLEU to points.
SCALE = ((0.0, 0.0), (100.0, 1.0), (100.0 * 13 / 12, 13 / 12))


def _draw_originals(draw: Draw) -> Inputs:
    """New sentences of the embedded corpus, which the model will have to recover."""
    seed = int(draw.ids(0, 2**31, 1))
    return {"originals": json.dumps(corpora.generate(f"grade {seed}", _GRADED, "test"))}


def _answer_shipped_errors(draw: Draw) -> Answers:
    """Return the errors of the shipped checkpoint on these texts, as "copied" (JSON).

    The student's model must not share most of them. They are computed on demand.
    """
    originals = json.loads(str(_draw_originals(draw)["originals"]))[: measuring.COMPARED]
    return LazyAnswers({}, copied=lambda: _list_shipped_errors(originals))


def _list_shipped_errors(originals: list[str]) -> str:
    """The errors of the shipped checkpoint on these sentences, as JSON."""
    pairs = measuring.pairs_of(Track(), originals, None, 0)
    sources, targets = zip(*pairs, strict=True)
    copied_errors = errors(shipped_outputs(list(sources)), targets)
    return json.dumps(copied_errors, ensure_ascii=False)


CASES = [
    case("fresh", "sentences that your model has never seen", _draw_originals,
         "Where BLEU is given, points grow with it: train longer, or look at what goes wrong.",
         measure="recovery", scale=SCALE, expected=_answer_shipped_errors),
]

MISTAKES = [
    wrong("copy", "You return the sources unchanged.",
          "Where do you call the model?",
          source("""
              def restore(sources):
                  return list(sources)
              """)),
    wrong("rule", "Only a capital letter and a full stop were added.",
          "Is there a model in your function?",
          source("""
              def restore(sources):
                  return [f'{s[:1].upper()}{s[1:]}.' for s in sources]
              """)),
    wrong("empty", "The texts are empty.",
          "Is EOS the first token that `decode` receives?",
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
                  from transformer_course.library.checkpoint import shipped
                  model, tokenizer = load(shipped(), encoder_decoder, segment)
                  return recover(model, tokenizer, sources, greedy)
              """)),
    wrong("ids", "You return ids, not texts.",
          "What does the tokenizer's `decode` do?",
          source("""
              def restore(sources):
                  return [[1, 2] for _ in sources]
              """)),
    wrong("another_order", "Your texts are in a different order from the sources.",
          "Which source does the first of your texts belong to?",
          source("""
              def restore(sources):
                  return [f'{s[:1].upper()}{s[1:]}.' for s in sorted(sources)]
              """), tests="source"),
]

ACCEPTED = [
    right("beam", source("""
        from functools import partial
        def restore(sources):
            model, tokenizer = load(handed_in(), encoder_decoder, segment)
            return recover(model, tokenizer, sources, partial(beam_search, beam_size=2))
        """), tests="greedily"),
]

EXERCISE = Specification(
    target="restore", precise=False,
    interactor=HandedInModel,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
