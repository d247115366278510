"""The model that you hand in."""

from __future__ import annotations

import functools
import json
import math
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sacrebleu
import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import nn

from autograder.authoring.answers import Late
from autograder.authoring.decoding import recovered
from autograder.authoring.draw import Draw
from autograder.authoring.limited_fork import apart
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.authoring.tokenizing import Segmenter
from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Interactor, given
from autograder.library import checkpoint, corpora
from autograder.library.model import Restorer
from autograder.library.text import SubwordTokenizer
from autograder.solutions import encoder_decoder
from autograder.units.text_recovery.exercises._inputs import closed_class, normal_text

SAMPLE = 100  # sentences that the student's function is tried on
SAME = 75.0  # BLEU of those texts against ours; a beam of one model gives above 90
COPY = 0.999  # cosine of all weights with those that ship
SECONDS, MEGABYTES = 120, 2000  # for the process that decodes; see `apart`
_TELLING = 3  # sentences on which two models differ, to tell which one was asked
_LARGEST = {
    "vocab_size": 20_000, "d_model": 512, "num_heads": 64, "num_layers": 12,
    "d_ff": 4096, "max_len": 2048,
}  # fmt: skip
_ABOUT = 1 << 21  # characters of sizes, tokenizer and notes
_LONGEST = 1000  # characters of a text; an original has a hundred or two
# The leads of 600 sentences in float32 are those in float64, give or take 0.000012.
_CLEAR = 0.01
# Of two models trained apart, the likeness of embeddings is 0.3; with noise of half its
# own size on each weight, after which it recovers hardly anything, 0.86.
_AKIN, _FEWEST = 0.7, 100


class Decoded(NamedTuple):
    """What weights make of sources, and whether they go back to those that ship."""

    texts: list[str]
    goes_back: bool


class HandedInModel(Interactor):
    """Decodes the sources with the weights from the student's file, greedily.

    The box restores a sample only. Texts made in another way (a rule, somebody else's
    outputs) are found out, and so is the checkpoint that everybody has, changed a
    little.
    """

    keeps = frozenset({"sources"})

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        super().__init__(inputs, draw)
        self._sources: list[str] = json.loads(str(inputs["sources"]))
        count = min(SAMPLE, len(self._sources))
        self._sample = draw.sample(range(len(self._sources)), count)

    def shown(self) -> Answers:
        return {"sample": json.dumps([self._sources[i] for i in self._sample])}

    def conclude(self, answers: Answers) -> Answers:
        if "checkpoint" not in answers:
            raise WrongAnswerError(
                f"no model is handed in: {checkpoint.HANDED_IN} is missing"
            )
        most = checkpoint.LIMIT + 2**20
        data = given(answers, "checkpoint", 1, [torch.uint8], most)
        texts = _texts(answers)
        own = decoded(data.numpy().tobytes(), self._sources)
        self._refuse_others(texts, [own.texts[i] for i in self._sample])
        found = {"bleu": json.dumps(own.texts)}
        return found | ({"goes back": "yes"} if own.goes_back else {})

    def _refuse_others(self, texts: list[str], own: list[str]) -> None:
        """Refuse texts of a sample that are not what the weights gave."""
        if texts == own:
            return
        if likeness(texts, own) < SAME:
            raise WrongAnswerError(
                f"these texts are not what the weights in {checkpoint.HANDED_IN} give"
            )
        shipped = shipped_outputs([self._sources[i] for i in self._sample])
        rows = zip(texts, own, shipped, strict=True)
        others = [text == its for text, ours, its in rows if ours != its]
        if len(others) >= _TELLING and all(others):
            raise WrongAnswerError(
                "these are the answers of the checkpoint that ships with the course; "
                "the grade is for a model that you trained"
            )


def _texts(answers: Answers) -> list[str]:
    try:
        texts = json.loads(str(answers.get("bleu", "")))
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise WrongAnswerError("expected a list of texts")
    return texts


def decoded(data: bytes, sources: list[str]) -> Decoded:
    """What the course's model with a checkpoint's weights makes of sources.

    Raises:
        WrongAnswerError: it is no checkpoint, a larger one than can be tried, or the one
            that everybody has.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, checkpoint.HANDED_IN)
        path.write_bytes(data)
        found = apart(functools.partial(_decoded, path, sources), SECONDS, MEGABYTES)
    assert isinstance(found, list)
    return Decoded(*found)


def _decoded(path: Path, sources: list[str]) -> Decoded:
    try:
        _refuse_vast(path)
        model, tokenizer = checkpoint.load(path, encoder_decoder, Segmenter())
        if is_copy(model):
            raise WrongAnswerError(
                "these are the weights of the checkpoint that ships with the course; "
                "the grade is for a model that you trained"
            )
        texts = recovered(model.transformer, tokenizer, sources)
        old = goes_back(model, tokenizer, sources)
        return Decoded([text[:_LONGEST] for text in texts], old)
    except WrongAnswerError:
        raise
    except Exception as error:  # a stranger's file: sizes, weights, tokenizer
        reason = str(error).strip().split("\n")[0][:200]
        raise WrongAnswerError(f"nothing can be decoded with this file: {reason}") from error


def _refuse_vast(path: Path) -> None:
    with safe_open(path, framework="pt") as file:
        about = file.metadata()["about"]
    if len(about) > _ABOUT:
        raise WrongAnswerError("the checkpoint's notes are too long")
    sizes: dict[str, Any] = json.loads(about)["sizes"]
    for name, most in _LARGEST.items():
        size = sizes.get(name, 1)
        if type(size) is not int or not 0 < size <= most:
            raise WrongAnswerError(
                f"a model of {name} {size!r:.20} is too large to be tried"
            )


def is_copy(model: nn.Module) -> bool:
    """Whether a model's weights are nearly those of the shipped checkpoint."""
    with safe_open(checkpoint.shipped(), framework="pt") as file:
        shipped = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    own = dict(model.named_parameters())
    if {n: p.shape for n, p in own.items()} != {n: t.shape for n, t in shipped.items()}:
        return False
    mine, theirs = (
        torch.cat([values[name].detach().flatten().double() for name in sorted(own)])
        for values in (own, shipped)
    )
    return bool(torch.cosine_similarity(mine, theirs, dim=0) > COPY)


def likeness(texts: list[str], others: list[str]) -> float:
    """BLEU of some texts against others; 0 if they are not as many."""
    if len(texts) != len(others):
        return 0.0
    return float(sacrebleu.corpus_bleu(texts, [others], force=True).score)


def shipped_outputs(sources: list[str]) -> list[str]:
    """What the checkpoint in assets/ answers, alike on all processors.

    A token with a clear lead in float32 is the same one everywhere. Sentences with any
    other, about one in 300, are decoded anew in float64.
    """
    leads = torch.full((len(sources),), math.inf)
    texts = _restored(sources, torch.float32, leads)
    unclear = [i for i, lead in enumerate(leads.tolist()) if not lead > _CLEAR]
    if unclear:
        again = _restored([sources[i] for i in unclear], torch.float64)
        for i, text in zip(unclear, again, strict=True):
            texts[i] = text
    return texts


def _restored(
    sources: list[str], dtype: torch.dtype, leads: torch.Tensor | None = None
) -> list[str]:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        model, tokenizer = _shipped(dtype)
        return recovered(model.transformer, tokenizer, sources, leads=leads)
    finally:
        torch.set_default_dtype(before)


def goes_back(
    model: Restorer, tokenizer: SubwordTokenizer, sources: list[str]
) -> bool:
    """Whether a model was made from the shipped one: trained on, or with noise on it.

    How the symbols of the sources stand to each other tells: in two trainings they
    start anywhere, and neither turning all of them nor another order of hidden units
    changes it. Symbols that no source has could hold anything.
    """
    theirs, known = _shipped(torch.float32)
    used = dict.fromkeys(i for source in sources for i in known.encode(source))
    own = {symbol: i for i, symbol in enumerate(tokenizer.vocab)}
    pairs = [(i, own[known.vocab[i]]) for i in used if known.vocab[i] in own]
    if len(pairs) < _FEWEST:
        return False
    ours, others = torch.tensor(pairs).unbind(1)
    both = torch.stack((_angles(theirs, ours), _angles(model, others)))
    return bool(torch.corrcoef(both)[0, 1] > _AKIN)


def _angles(model: Restorer, ids: torch.Tensor) -> torch.Tensor:
    """The cosines of all pairs of embeddings, (n * n,), without their mean.

    A symbol counts as much as any other: one that is huge, or no number, hides none.
    """
    vectors = model.transformer.source.embedding.weight.detach()[ids].double()
    vectors = vectors.nan_to_num(0.0, 0.0, 0.0)
    vectors = vectors - vectors.mean(dim=1, keepdim=True)  # which no layer norm sees
    vectors = F.normalize(vectors, dim=1)
    vectors = F.normalize(vectors - vectors.mean(dim=0), dim=1)
    angles = vectors @ vectors.T
    return angles.fill_diagonal_(0.0).flatten()


@functools.cache
def _shipped(dtype: torch.dtype) -> tuple[Restorer, SubwordTokenizer]:
    """The checkpoint as a model of this kind of numbers, which is the default now."""
    return checkpoint.load(checkpoint.shipped(), encoder_decoder, Segmenter())


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
                  from autograder.library.checkpoint import shipped
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
