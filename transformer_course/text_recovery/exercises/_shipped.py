"""Detect whether a handed-in model was made from the checkpoint that ships with the course."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor, nn

from transformer_course.authoring.decoding import recover_with_cache
from transformer_course.authoring.tokenizing import Segmenter
from transformer_course.library import checkpoint
from transformer_course.library.model import Restorer
from transformer_course.library.text import Tokenizer
from transformer_course.measures.recovery import are_shared, errors
from transformer_course.solutions import encoder_decoder

COPY = 0.999  # the cosine of all weights with the shipped ones, above which it is a copy
# The leads of 600 sentences in float32 differ from those in float64 by at most 0.000012.
_CLEAR = 0.01
# The correlation is 0.3 for models that were trained separately, and still 0.86 after noise
# of half its magnitude on each weight, with which a model recovers hardly anything.
_AKIN, _FEWEST = 0.7, 100


def is_copy(model: nn.Module) -> bool:
    """Whether a model's weights are nearly those of the shipped checkpoint."""
    with safe_open(checkpoint.shipped(), framework="pt") as file:
        shipped = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    parameters = dict(model.named_parameters())
    if {n: p.shape for n, p in parameters.items()} != {n: t.shape for n, t in shipped.items()}:
        return False
    mine, theirs = (
        torch.cat([values[name].detach().flatten().double() for name in sorted(parameters)])
        for values in (parameters, shipped)
    )
    return bool(torch.cosine_similarity(mine, theirs, dim=0) > COPY)


def has_same_errors(wanted: list[str], texts: list[str], copied: list[str]) -> bool:
    """Whether ``texts`` and ``copied`` share most of their errors, compared with ``wanted``.

    ``copied`` are the shipped checkpoint's outputs: a trained model makes other errors.
    """
    return are_shared(errors(texts, wanted), errors(copied, wanted))


def shipped_outputs(sources: list[str]) -> list[str]:
    """Return the outputs of the shipped checkpoint, the same on all processors.

    Sentences with an unclear choice of token are decoded again in float64.
    """
    leads = torch.full((len(sources),), math.inf)
    texts = _restored(sources, torch.float32, leads)
    unclear = [i for i, lead in enumerate(leads.tolist()) if not lead > _CLEAR]
    if unclear:
        exact_texts = _restored([sources[i] for i in unclear], torch.float64)
        for i, text in zip(unclear, exact_texts, strict=True):
            texts[i] = text
    return texts


def _restored(
    sources: list[str], dtype: torch.dtype, smallest_margins: Tensor | None = None
) -> list[str]:
    """Return the outputs of the shipped checkpoint, computed with this dtype.

    Each text's smallest margin of a token is written to ``smallest_margins``, if given; see `recover_with_cache`.
    """
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        model, tokenizer = _shipped(dtype)
        return recover_with_cache(model.transformer, tokenizer, sources, smallest_margins=smallest_margins)
    finally:
        torch.set_default_dtype(before)


def is_derived_from_shipped(model: Restorer, tokenizer: Tokenizer, sources: Sequence[str]) -> bool:
    """Return whether a model was derived from the shipped one, by training or noise.

    The angles between the embeddings of symbols are compared: they are unrelated in
    models that were trained separately.
    """
    theirs, shipped_tokenizer = _shipped(torch.float32)
    pairings = (
        _same_names(shipped_tokenizer, tokenizer, sources),
        *_other_names(theirs, model, tokenizer, sources),
    )
    return any(
        _has_same_angles(theirs, model, pairs)
        for pairs in pairings
        if len(pairs) >= _FEWEST
    )


def _same_names(
    shipped_tokenizer: Tokenizer, tokenizer: Tokenizer, sources: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the ids (shipped, handed in) of each shared symbol in the sources."""
    used = dict.fromkeys(i for s in sources for i in shipped_tokenizer.encode(s))
    numbers = {symbol: i for i, symbol in enumerate(tokenizer.vocab)}
    named = ((i, numbers.get(shipped_tokenizer.vocab[i])) for i in used)
    return [(i, j) for i, j in named if j is not None]


def _other_names(
    theirs: Restorer, model: Restorer, tokenizer: Tokenizer, sources: Sequence[str]
) -> Iterator[list[tuple[int, int]]]:
    """Yield pairings of ids (shipped, handed in) for a tokenizer with renamed symbols.

    First come equal ids and then, if the embeddings have the same size, those with the most similar embeddings.
    """
    ours, shipped = _directions(model), _directions(theirs)
    used = sorted({i for s in sources for i in tokenizer.encode(s) if i < len(ours)})
    yield [(i, i) for i in used if i < len(shipped)]
    if ours.size(1) == shipped.size(1):
        nearest = (ours[used] @ shipped.T).argmax(dim=1).tolist()
        pairs = {i: j for i, j in zip(nearest, used, strict=True)}
        yield list(pairs.items())  # each shipped symbol once


def _has_same_angles(
    theirs: Restorer, model: Restorer, pairs: Sequence[tuple[int, int]]
) -> bool:
    """Return whether embeddings form similar angles with each other in both models.

    ``pairs`` are the ids of the same symbol in the shipped model and in the other.
    """
    first, second = torch.tensor(pairs).unbind(1)
    angles = torch.stack((_angles(theirs, first), _angles(model, second)))
    return bool(torch.corrcoef(angles)[0, 1] > _AKIN)


def _angles(model: Restorer, ids: Tensor) -> Tensor:
    """Compute the cosines of all pairs of the embeddings with these ids, (n * n,).

    The cosine of each embedding with itself is replaced by 0.
    """
    vectors = _directions(model, ids)
    angles = vectors @ vectors.T
    return angles.fill_diagonal_(0.0).flatten()


def _directions(model: Restorer, ids: Tensor | None = None) -> Tensor:
    """Compute the directions of embeddings from their mean, (n, d_model).

    ``ids`` selects the embeddings; by default, all are taken.
    """
    weights = model.transformer.source.embedding.weight.detach()
    vectors = (weights if ids is None else weights[ids]).double()
    vectors = vectors.nan_to_num(0.0, 0.0, 0.0)
    vectors = vectors - vectors.mean(dim=1, keepdim=True)  # layer norms ignore it
    vectors = F.normalize(vectors, dim=1)
    return F.normalize(vectors - vectors.mean(dim=0), dim=1)


@functools.cache
def _shipped(dtype: torch.dtype) -> tuple[Restorer, Tokenizer]:
    """The shipped checkpoint as a model; ``dtype`` must be the current default dtype."""
    return checkpoint.load(checkpoint.shipped(), encoder_decoder, Segmenter())
