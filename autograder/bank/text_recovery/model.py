"""The model that you hand in."""

from __future__ import annotations

import functools
import json

from autograder.bank.text_recovery._handed_in import HandedInModel
from autograder.bank.text_recovery._inputs import closed_class, normal_text
from autograder.bank.text_recovery._shipped import shipped_outputs
from autograder.oracle.answers import Late
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Inputs,
    Mutant,
    Specification,
    Way,
)
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
    return [
        " ".join(w for w in normal_text(s).split() if w not in closed_class())
        for s in sentences
    ]


def _sources(draw: Draw) -> Inputs:
    return {"sources": json.dumps(_left(_originals(draw)))}


def _known(draw: Draw) -> Answers:
    """The originals, and what the checkpoint that ships makes of the first sources."""
    originals = _originals(draw)
    return Late(
        {"bleu": json.dumps(originals)},
        copied=lambda: json.dumps(shipped_outputs(_left(originals[:_COMPARED]))),
    )


EXERCISE = Specification(
    name="text_recovery/model",
    title="The model that you hand in",
    target="restore",
    precise=False,
    other=HandedInModel,
    cases=[
        CaseKind(
            name="fresh",
            title="1,000 fresh sentences",
            inputs=_sources,
            hint="Points grow with BLEU: train longer, or look at what goes wrong.",
            measure="bleu",
            scale=SCALE,
            known=_known,
        ),
    ],
    mutants=[
        Mutant(
            name="copy",
            says="The sources come back as they were.",
            asks="Who calls the model?",
            ways=[Way(source="""
                def restore(sources):
                    return list(sources)
                """)],
        ),
        Mutant(
            name="rule",
            says="Only a capital letter and a full stop were added.",
            asks="Is there a model in your function?",
            ways=[Way(source="""
                def restore(sources):
                    return [f'{s[:1].upper()}{s[1:]}.' for s in sources]
                """)],
        ),
        Mutant(
            name="empty",
            says="The texts are empty.",
            asks="Does `decode` see EOS first?",
            ways=[Way(source="""
                def restore(sources):
                    return ['' for _ in sources]
                """)],
        ),
        Mutant(
            name="shipped",
            says="These are the answers of the checkpoint that ships with the course. "
            "The grade is for a model that you trained.",
            asks="Which file did you load?",
            ways=[Way(source="""
                def restore(sources):
                    from autograder.student.recovery.checkpoint import shipped
                    model, tokenizer = load(shipped(), encoder_decoder, segment)
                    return recover(model, tokenizer, sources, greedy)
                """)],
        ),
        Mutant(
            name="ids",
            says="Ids come back, not texts.",
            asks="What does the tokenizer's `decode` do?",
            ways=[Way(source="""
                def restore(sources):
                    return [[1, 2] for _ in sources]
                """)],
        ),

        Mutant(
            name="another_order",
            says="The texts come back in another order than the sources.",
            asks="Which source does the first of your texts belong to?",
            ways=[Way(source="""
                def restore(sources):
                    return [f'{s[:1].upper()}{s[1:]}.' for s in sorted(sources)]
                """)],
        ),
    ],
    accepted=[
        Accepted(name="beam", source="""
            from functools import partial
            def restore(sources):
                model, tokenizer = load(handed_in(), encoder_decoder, segment)
                return recover(model, tokenizer, sources, partial(beam_search, beam_size=2))
            """),
    ],
)
