"""Corpora from any source, as pairs of a damaged and an original sentence.

A damaged sentence lacks words or punctuation, which a model has to recover.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer_course.library.forms import sentence
from transformer_course.library.grammar import Writer
from transformer_course.library.words import lists

Pair = tuple[str, str]  # (source, target): the damaged sentence and the original
SIZES = {"train": 30_000, "dev": 1_000, "test": 1_000}
SPLITS = tuple(SIZES)


class CorpusError(Exception):
    """A corpus that cannot be read; the message says what to do."""


@dataclass(frozen=True)
class Corpus:
    """The (source, target) pairs of each split; ``name`` says where they come from."""

    name: str
    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]


def generate(seed: int | str, count: int, split: str = "train") -> list[str]:
    """Generate distinct sentences of one split of the embedded corpus.

    Splits share no triple (subject, verb, object), even with different seeds.
    """
    writer = Writer(seed, split)
    sentences: dict[str, None] = {}
    while len(sentences) < count:
        sentences[sentence(writer)] = None
    return list(sentences)


def embedded() -> dict[str, list[str]]:
    """Generate the corpus of the text-recovery project, by split.

    It has 30,000 English sentences for training, and 1,000 each for dev and test.
    """
    return {split: generate(0, size, split) for split, size in SIZES.items()}


@functools.cache
def function_words() -> dict[str, tuple[str, ...]]:
    """Map the name of each category of function words to its words."""
    return {name: tuple(words) for name, words in lists("function_words.txt").items()}


@functools.cache
def all_function_words() -> frozenset[str]:
    """All function words, in lower case."""
    return frozenset(w for words in function_words().values() for w in words)


def load(
    where: str | Path, damage: Callable[[str], str], field: str = "text"
) -> Corpus:
    """Load a corpus of pairs.

    Args:
        where: "embedded"; a text file (one sentence per line, or running text) or a
            folder of them; a folder with train.json, dev.json and test.json, lists
            of {"src": ..., "tgt": ...}; or "hf:NAME", a data set on the Hub.
        damage: turns a sentence into its source; not used for JSON pairs.
        field: the column with the text in a Hugging Face data set.

    Raises:
        CorpusError: nothing can be read from there; the message says why.
    """
    if str(where) == "embedded":
        parts = embedded()
        return Corpus(
            "embedded", *(_pair_sentences(parts[split], damage) for split in SPLITS)
        )
    if str(where).startswith("hf:"):
        return _split_by_hash(str(where), _read_hub(str(where)[3:], field), damage)
    path = Path(where)
    if (path / "train.json").is_file():
        return Corpus(
            str(path), *(_read_json(path / f"{name}.json") for name in SPLITS)
        )
    return _split_by_hash(str(path), _read_sentences(path), damage)


def _pair_sentences(
    sentences: Iterable[str], damage: Callable[[str], str]
) -> list[Pair]:
    """Pair each sentence with its damaged source; leave out those with an empty one."""
    pairs = ((damage(text), text) for text in sentences)
    return [(source, target) for source, target in pairs if source]


def _split_by_hash(
    name: str, sentences: Iterable[str], damage: Callable[[str], str]
) -> Corpus:
    """Split sentences by a hash of the source, so that equal sources share a split.

    One in 20 goes to test, another to dev. Raises CorpusError if one is empty.
    """
    parts: dict[str, list[Pair]] = {split: [] for split in SPLITS}
    for source, target in _pair_sentences(dict.fromkeys(sentences), damage):
        digest = hashlib.sha256(source.encode()).digest()
        index = int.from_bytes(digest, "big") % 20
        parts[("test", "dev")[index] if index < 2 else "train"].append((source, target))
    empty = [split for split in SPLITS if not parts[split]]
    if empty:
        raise CorpusError(
            f"{name} is too small: nothing is left for {empty[0]}; add different "
            "sentences (grading needs about 4,000)"
        )
    return Corpus(name, *(parts[split] for split in SPLITS))


def _read_json(path: Path) -> list[Pair]:
    """Read the pairs of a JSON file. Raises CorpusError."""
    if not path.is_file():
        raise CorpusError(f"there is a train.json, but no {path.name} beside it")
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return [(entry["src"], entry["tgt"]) for entry in entries]
    except (ValueError, TypeError, KeyError) as error:
        raise CorpusError(
            f'{path.name} should be a list of {{"src": ..., "tgt": ...}}: {error!r}'
        ) from error


def _read_sentences(path: Path) -> Iterator[str]:
    """The sentences of a text file, or of all .txt and .en files in a folder."""
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.suffix in (".txt", ".en"))
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise CorpusError(
            f'nothing to read at "{path}"; give "embedded", a text file, a folder with '
            '.txt files or train.json, dev.json and test.json, or "hf:NAME"'
        )
    for file in files:
        yield from split_sentences(file.read_text(encoding="utf-8", errors="replace"))


def split_sentences(text: str) -> Iterator[str]:
    """Split a text into sentences of 2 to 40 words.

    The text may be running text or have one sentence per line.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # If most lines do not end like a sentence, sentences go over several lines.
    finished = sum(line[-1] in ".!?\"'" for line in lines)
    if finished < 0.5 * len(lines):
        lines = re.split(r"\n\s*\n", text)  # running text: paragraphs
    for line in lines:
        parts = re.split(r"(?<=[.!?])[\"']?\s+(?=[\"']?[A-Z])", " ".join(line.split()))
        yield from (part for part in parts if 2 <= len(part.split()) <= 40)


def _read_hub(name: str, field: str) -> Iterator[str]:
    """The sentences of a Hugging Face data set. Raises CorpusError."""
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise CorpusError(
            "Hugging Face data sets need the package: pip install datasets"
        ) from error
    try:
        rows = load_dataset(name, split="train")
    except Exception as error:  # offline, unknown, gated: each raises a different type
        raise CorpusError(
            f'cannot get "{name}" from the Hugging Face Hub '
            f'({type(error).__name__}). Without network, use "embedded" or a file.'
        ) from error
    if field not in rows.column_names:
        columns = ", ".join(rows.column_names)
        raise CorpusError(f'"{name}" has no column "{field}", but {columns}')
    for row in rows:
        yield from split_sentences(row[field])
