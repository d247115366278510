"""English text that comes with Python: its language reference and its docstrings.

It differs a little between versions of Python.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

HELD_OUT = 20  # one in this many documents is held out
SHORTEST = 200  # characters that a docstring needs to be included
_NOT_READ = {"test", "tests", "idlelib", "lib2to3", "pydoc_data"}

Merges = Sequence[tuple[str, str]]


@functools.cache
def manual() -> tuple[str, ...]:
    """Collect the texts of Python's language reference and its long docstrings."""
    return tuple(dict.fromkeys((*_read_topics(), *_read_docstrings())))


def split(documents: Sequence[str]) -> tuple[str, str]:
    """Join documents into a training text and a held-out text, and return both.

    The first of every `HELD_OUT` documents is held out.
    """
    held_out = documents[::HELD_OUT]
    train = [text for i, text in enumerate(documents) if i % HELD_OUT]
    return "\n\n".join(train), "\n\n".join(held_out)


def _read_topics() -> list[str]:
    """The language reference, as `help()` shows it."""
    from pydoc_data.topics import topics

    return [topics[name].strip() for name in sorted(topics)]


def _read_docstrings() -> Iterator[str]:
    """Yield docstrings of at least `SHORTEST` characters from the standard library."""
    library = Path(os.__file__).parent
    for name in sorted(sys.stdlib_module_names):
        for path in (library / f"{name}.py", *sorted((library / name).rglob("*.py"))):
            inside = path.relative_to(library).parts
            if path.is_file() and not _NOT_READ & set(inside):
                yield from _parse_docstrings(path)


def _parse_docstrings(path: Path) -> Iterator[str]:
    """The longer docstrings in a file: of the module, its classes and functions."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    blocks = ast.stmt | ast.ExceptHandler  # no expression holds a definition
    nodes = deque[ast.AST]([ast.parse(path.read_bytes())])
    while nodes:
        node = nodes.popleft()
        nodes.extend(n for n in ast.iter_child_nodes(node) if isinstance(n, blocks))
        text = ast.get_docstring(node) if isinstance(node, documented) else None
        if text and len(text) >= SHORTEST:
            yield text


class Bytes:
    """A tokenizer for which each byte of the UTF-8 text is a token."""

    vocab_size = 256

    def encode(self, text: str) -> Tensor:
        """The ids of a text, `(n,)`, int64."""
        return torch.tensor(list(text.encode()), dtype=torch.int64)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids; invalid UTF-8 becomes the replacement character."""
        return bytes(ids).decode(errors="replace")


class BytePairs:
    """A tokenizer by byte-pair encoding (Sennrich et al. 2016, but of bytes).

    Args:
        merges: in the order learnt; each character represents one byte (Latin-1).
        segment: called with a piece and the merges; returns the piece's symbols.
        split: cuts a text into pieces; no token crosses their boundaries.
    """

    def __init__(
        self,
        merges: Merges,
        segment: Callable[[str, Merges], Sequence[str]],
        split: Callable[[str], Sequence[str]],
    ):
        symbols = [*map(chr, range(256)), *(a + b for a, b in merges)]
        self.symbols = list(dict.fromkeys(symbols))
        self.vocab_size = len(self.symbols)
        self._ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        self._merges, self._segment, self._split = merges, segment, split
        self._pieces: dict[str, list[int]] = {}

    def encode(self, text: str) -> Tensor:
        """The ids of a text, `(n,)`, int64."""
        ids = [i for piece in self._split(text) for i in self._piece(piece)]
        return torch.tensor(ids, dtype=torch.int64)

    def _piece(self, piece: str) -> list[int]:
        """The ids of a piece, which are cached so that it is segmented only once."""
        if piece not in self._pieces:
            # As in `merges`, each character represents a byte.
            word = piece.encode().decode("latin-1")
            # Faster: a merge whose result does not occur in the word cannot apply.
            merges = [pair for pair in self._merges if pair[0] + pair[1] in word]
            symbols = self._segment(word, merges)
            self._pieces[piece] = [self._ids[symbol] for symbol in symbols]
        return self._pieces[piece]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids; invalid UTF-8 becomes the replacement character."""
        text = "".join(self.symbols[i] for i in ids)
        return text.encode("latin-1").decode(errors="replace")
