"""Texts as pieces and pieces as numbers: what tokenizers of this course share."""

from __future__ import annotations

import functools
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

PAD, BOS, EOS, UNK = range(4)
FIRST = 4  # the id of the first token that is none of these
SPACE = "▁"  # stands for the space before a piece
SPECIALS = ("<pad>", "<bos>", "<eos>", f"{SPACE}<unk>")


def pieces(text: str) -> list[str]:
    """Words and single signs, each with "▁" in front where a space was.

    >>> pieces('"Go," she said.')
    ['▁"', 'Go', ',', '"', '▁she', '▁said', '.']
    """
    matches = re.findall(r" ?\w+| ?[^\w\s]", " " + " ".join(text.split()))
    return [piece.replace(" ", SPACE) for piece in matches]


def glue(parts: Iterable[str]) -> str:
    """The text that the pieces, or parts of pieces, were made from."""
    return "".join(parts).replace(SPACE, " ").strip()


class WordTokenizer:
    """Whole words and punctuation marks as tokens; rare ones are unknown.

    Args:
        words: the tokens in the order of their ids, without the special ones.
    """

    def __init__(self, words: Iterable[str]):
        self.vocab = [*SPECIALS, *words]
        self._ids = {token: i for i, token in enumerate(self.vocab)}

    @classmethod
    def learn(cls, texts: Iterable[str], min_freq: int = 2) -> WordTokenizer:
        """The tokenizer of all pieces that occur at least this often, by frequency."""
        counts = Counter(piece for text in texts for piece in pieces(text))
        frequent = (piece for piece, count in counts.items() if count >= min_freq)
        return cls(sorted(frequent, key=lambda piece: (-counts[piece], piece)))

    def __len__(self) -> int:
        return len(self.vocab)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without BOS and EOS; UNK for an unknown word."""
        return [self._ids.get(piece, UNK) for piece in pieces(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the first EOS; PAD and BOS are left out."""
        return _decoded(ids, self.vocab)

    def to_json(self) -> str:
        """Everything there is to know about it, as text."""
        return json.dumps({"words": self.vocab[len(SPECIALS) :]})


class SubwordTokenizer:
    """Texts to ids by byte-pair encoding, and back without loss.

    Args:
        alphabet: the characters that can be written; others become ``UNK``.
        merges: pairs of symbols in the order in which they were learnt.
        segment: cuts a piece into symbols, given the piece and the merges.
    """

    def __init__(
        self,
        alphabet: Iterable[str],
        merges: Sequence[tuple[str, str]],
        segment: Callable[[str, Sequence[tuple[str, str]]], list[str]],
    ):
        self.alphabet = sorted(set(alphabet))
        self.merges = [(first, second) for first, second in merges]
        joined = dict.fromkeys(first + second for first, second in self.merges)
        self.vocab = [*SPECIALS, *self.alphabet, *joined]
        self._ids = {symbol: i for i, symbol in enumerate(self.vocab)}
        self._segment = segment
        self._known: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self.vocab)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without BOS and EOS."""
        return [i for piece in pieces(text) for i in self._piece(piece)]

    def _piece(self, piece: str) -> list[int]:
        if piece not in self._known:
            symbols = self._segment(piece, self.merges)
            self._known[piece] = [self._ids.get(symbol, UNK) for symbol in symbols]
        return self._known[piece]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the first EOS; PAD and BOS are left out."""
        return _decoded(ids, self.vocab)

    def to_json(self) -> str:
        """Everything but ``segment``, as text."""
        return json.dumps({"alphabet": self.alphabet, "merges": self.merges})


Tokenizer = WordTokenizer | SubwordTokenizer


def tokenizer_from_json(
    text: str, segment: Callable[[str, Sequence[tuple[str, str]]], list[str]]
) -> Tokenizer:
    """The tokenizer whose ``to_json`` gave this text.

    Args:
        segment: as for SubwordTokenizer.

    Raises:
        ValueError, TypeError, KeyError: no tokenizer has given it.
    """
    about = json.loads(text)
    if "words" in about:
        return WordTokenizer(about["words"])
    return SubwordTokenizer(about["alphabet"], about["merges"], segment)


def _decoded(ids: Iterable[int], vocab: Sequence[str]) -> str:
    tokens = []
    for i in ids:
        if i == EOS:
            break
        if i not in (PAD, BOS):
            tokens.append(vocab[i])
    return glue(tokens)


def tokenize_13a(text: str) -> list[str]:
    """The words and signs that BLEU counts: the rules of mteval-v13a, as in sacrebleu.

    Signs are cut off from words; full stops and commas stay inside numbers (3.14).
    """
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity in ("&quot;", "&amp;", "&lt;", "&gt;"):
            text = text.replace(entity, html.unescape(entity))
    text = re.sub(r"([{-~\[-` -&(-+:-@/])", r" \1 ", f" {text} ")
    text = re.sub(r"([^0-9])([.,])", r"\1 \2 ", text)
    text = re.sub(r"([.,])([^0-9])", r" \1 \2", text)
    return re.sub(r"([0-9])(-)", r"\1 \2 ", text).split()


@functools.cache
def lemma(word: str) -> str:
    """The dictionary form of an English word: "baked" -> "bake", "children" -> "child".

    Raises:
        ImportError: the package `simplemma` is missing; only level 3 needs it.
    """
    import simplemma

    return simplemma.lemmatize(word, lang="en")
