"""Tokenizers: texts are cut into pieces, and the pieces are mapped to ids."""

from __future__ import annotations

import functools
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

PAD, BOS, EOS, UNK = range(4)
FIRST = 4  # the id of the first ordinary token
SPACE = "▁"  # represents the space before a piece
SPECIALS = ("<pad>", "<bos>", "<eos>", f"{SPACE}<unk>")


def pieces(text: str) -> list[str]:
    """Cut a text into words and punctuation marks, with "▁" for a space before one.

    >>> pieces('"Go," she said.')
    ['▁"', 'Go', ',', '"', '▁she', '▁said', '.']
    """
    matches = re.findall(r" ?\w+| ?[^\w\s]", " " + " ".join(text.split()))
    return [piece.replace(" ", SPACE) for piece in matches]


def glue(parts: Iterable[str]) -> str:
    """Join pieces, or parts of pieces, to the text they were cut from."""
    return "".join(parts).replace(SPACE, " ").strip()


class WordTokenizer:
    """A tokenizer of whole words and punctuation marks; rare ones become ``UNK``.

    ``words`` are its tokens in the order of their ids, without the special ones.
    """

    def __init__(self, words: Iterable[str]):
        self.vocab = [*SPECIALS, *words]
        self._ids = {token: i for i, token in enumerate(self.vocab)}

    @classmethod
    def learn(cls, texts: Iterable[str], min_freq: int = 2) -> WordTokenizer:
        """Make a tokenizer of the pieces that occur at least min_freq times in texts.

        The most frequent pieces get the lowest ids.
        """
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
        return _decode_ids(ids, self.vocab)

    def to_json(self) -> str:
        """The complete tokenizer as JSON; see `tokenizer_from_json`."""
        return json.dumps({"words": self.vocab[len(SPECIALS) :]})


class SubwordTokenizer:
    """A tokenizer by byte-pair encoding.

    Args:
        alphabet: the characters that can be encoded; others become ``UNK``.
        merges: pairs of symbols in the order in which they were learnt.
        segment: called with a piece and the merges; returns the piece's symbols.
    """

    def __init__(
        self,
        alphabet: Iterable[str],
        merges: Sequence[tuple[str, str]],
        segment: Callable[[str, Sequence[tuple[str, str]]], list[str]],
    ):
        self.alphabet = sorted(set(alphabet))
        self.merges = [(first, second) for first, second in merges]
        # Several merges can result in the same symbol, which gets one id.
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
        """The ids of a piece, which are cached so that it is segmented only once."""
        if piece not in self._known:
            symbols = self._segment(piece, self.merges)
            self._known[piece] = [self._ids.get(symbol, UNK) for symbol in symbols]
        return self._known[piece]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the first EOS; PAD and BOS are left out."""
        return _decode_ids(ids, self.vocab)

    def to_json(self) -> str:
        """The tokenizer without ``segment`` as JSON; see `tokenizer_from_json`."""
        return json.dumps({"alphabet": self.alphabet, "merges": self.merges})


Tokenizer = WordTokenizer | SubwordTokenizer


def tokenizer_from_json(
    text: str, segment: Callable[[str, Sequence[tuple[str, str]]], list[str]]
) -> Tokenizer:
    """Restore a tokenizer from its JSON; ``segment`` is as for SubwordTokenizer.

    Raises:
        ValueError, TypeError, KeyError: the text does not describe a tokenizer.
    """
    about = json.loads(text)
    if "words" in about:
        return WordTokenizer(about["words"])
    return SubwordTokenizer(about["alphabet"], about["merges"], segment)


def _decode_ids(ids: Iterable[int], vocab: Sequence[str]) -> str:
    """The text of ids up to the first EOS, without PAD and BOS."""
    tokens = []
    for i in ids:
        if i == EOS:
            break
        if i not in (PAD, BOS):
            tokens.append(vocab[i])
    return glue(tokens)


def tokenize_13a(text: str) -> list[str]:
    """Tokenize a text for BLEU by the rules of mteval-v13a, as sacrebleu does."""
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
    """Return an English word's dictionary form, such as "child" for "children".

    This needs the package `simplemma`, which only level 3 uses.
    """
    import simplemma

    return simplemma.lemmatize(word, lang="en")
