"""The corpus that a student hands in; the file is untrusted and may be refused.

It is a JSON object with the parts ``train``, ``dev`` and ``test``, each a list
of ``[source, target]`` or ``{"src": ..., "tgt": ...}``.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from transformer_course.library import abilities, bleu, corpora
from transformer_course.library.corpora import CorpusError, Pair
from transformer_course.library.run_log import plain
from transformer_course.text_recovery.library import pairing

FILE = "my_corpus.json"
LIMIT = 5 << 20  # bytes
FEWEST = {"train": 1000, "test": 200}  # the smallest number of distinct pairs
DRAWN = 1000  # the largest number of sentences that are graded
LONGEST = 1000  # the largest number of characters in a text
LEAK = 0.05  # the largest share of test pairs that may also be in train or dev
COPIED = 90.0  # BLEU of copying, above which nothing is left to recover
SHORTEST = 3.0  # the smallest average number of words in a target
EMBEDDED = 0.95  # the largest share of words that are also in the embedded corpus
FIT = 0.75  # the smallest `pairing.fit` of the pairs
LOOKED_AT = 200  # the number of pairs of which the fit is measured


@dataclass(frozen=True)
class OwnCorpus:
    """A student's corpus: the distinct (source, target) pairs of train, dev and test.

    ``test`` shares no text with the others; ``key`` is a number that identifies it.
    """

    name: str
    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    key: int

    def draw_pairs(self, seed: int | str) -> list[Pair]:
        """Draw the test pairs that are graded: `DRAWN`, or all if there are fewer."""
        return random.Random(seed).sample(self.test, min(DRAWN, len(self.test)))


def to_bytes(corpus: corpora.Corpus) -> bytes:
    """Return the content of the file to hand in for a corpus.

    Raises:
        CorpusError: grading would refuse it; the message says why.
    """
    parts = {name: getattr(corpus, name) for name in corpora.SPLITS}
    about = {"name": PurePath(corpus.name).name, **parts}
    data = json.dumps(about, ensure_ascii=False).encode("utf-8", "replace")
    # This raises an error if grading would refuse the corpus.
    parse(data)
    return data


def parse(data: bytes) -> OwnCorpus:
    """Parse the corpus in a handed-in file, and check that it can be graded.

    Raises:
        CorpusError: it cannot be graded; one line says why, and what to do.
    """
    if len(data) > LIMIT:
        raise _refusal(
            f"it is larger than {LIMIT >> 20} MB: keep fewer train sentences, and "
            "train on these"
        )
    try:
        about = json.loads(data)
    except (ValueError, RecursionError):
        raise _refusal("it is not JSON: let `project.hand_in` write it") from None
    if not isinstance(about, dict):
        raise _refusal('it is not an object with "train", "dev" and "test"')
    train, dev, test = (_read_pairs(about, name) for name in corpora.SPLITS)
    test = _select_unseen(test, [*train, *dev])
    _refuse_small(train, test)
    _refuse_uninformative(test)
    _refuse_unrelated(test)
    digest = hashlib.sha256(json.dumps(sorted(test)).encode()).digest()
    name = plain(about.get("name") or FILE, 40) if _is_text(about.get("name")) else FILE
    return OwnCorpus(name or FILE, train, dev, test, int.from_bytes(digest[:6], "big"))


def _refusal(reason: str) -> CorpusError:
    return CorpusError(f"{FILE} cannot be graded: {reason}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _read_pairs(about: dict[str, Any], name: str) -> list[Pair]:
    """Read the distinct pairs of the part ``name``, such as "train", in order."""
    rows = about.get(name)
    if not isinstance(rows, list):
        raise _refusal(f'"{name}" is not a list of [source, target] pairs')
    return list(
        dict.fromkeys(_parse(row, f"{name}[{i}]") for i, row in enumerate(rows))
    )


def _parse(row: object, location: str) -> Pair:
    """Validate a pair and normalise its spaces. Raises CorpusError."""
    if isinstance(row, dict):
        row = [row.get("src"), row.get("tgt")]
    if not isinstance(row, list) or len(row) != 2 or not all(map(_is_text, row)):
        raise _refusal(f"{location} is not a [source, target] pair")
    source, target = (" ".join(text.split()) for text in row)
    if not source or not target:
        raise _refusal(f"{location} has an empty {'target' if source else 'source'}")
    if max(len(source), len(target)) > LONGEST:
        raise _refusal(f"{location} has more than {LONGEST:,} characters")
    try:
        f"{source}{target}".encode()
    except UnicodeEncodeError:
        raise _refusal(f"{location} has half a character in it") from None
    return source, target


def _select_unseen(test: list[Pair], other_pairs: Sequence[Pair]) -> list[Pair]:
    """Drop test pairs with a text in other parts; refuse more than a few of them."""
    sources = {source.lower() for source, _ in other_pairs}
    targets = {target.lower() for _, target in other_pairs}
    unseen = [
        (source, target)
        for source, target in test
        if source.lower() not in sources and target.lower() not in targets
    ]
    leaked = len(test) - len(unseen)
    if leaked > LEAK * len(test):
        raise _refusal(
            f"{leaked:,} of {len(test):,} pairs of test are also in train or dev: "
            "split by the source, as `corpora.load` does"
        )
    return unseen


def _refuse_small(train: list[Pair], test: list[Pair]) -> None:
    """Refuse a corpus with too few distinct pairs for training or grading."""
    for name, pairs in (("train", train), ("test", test)):
        if len(pairs) < FEWEST[name]:
            raise _refusal(
                f"{name} has {len(pairs):,} different pairs, but at least "
                f"{FEWEST[name]:,} are needed"
            )


def _refuse_uninformative(test: list[Pair]) -> None:
    """Refuse test pairs whose BLEU would say nothing about a model.

    Their targets are too short, their sources hardly damaged, or their sentences
    those of the embedded corpus, which has its own scale.
    """
    sources, targets = zip(*test, strict=True)
    words = sum(len(target.split()) for target in targets) / len(targets)
    if words < SHORTEST:
        raise _refusal(
            f"its targets have {words:.1f} words on average; BLEU counts words, "
            "so put spaces between them"
        )
    copied = bleu.corpus(sources, targets)
    if copied > COPIED:
        raise _refusal(
            f"the sources already reach {copied:.1f} BLEU: there is nothing to recover"
        )
    embedded_words = {
        word for text in corpora.generate("words", 3000) for word in _list_words(text)
    }
    written = [word for target in targets for word in _list_words(target)]
    if sum(word in embedded_words for word in written) > EMBEDDED * len(written):
        raise _refusal(
            'its sentences are those of the embedded corpus: set CORPUS = "embedded"'
        )


def _refuse_unrelated(test: list[Pair]) -> None:
    """Refuse sources that no pipeline can have made from their targets.

    Otherwise a student could choose as targets whatever an untrained model outputs.
    """
    if (fit := pairing.fit(test[:LOOKED_AT])) < FIT:
        raise _refusal(
            f"its sources are not what is left of its targets (fit {fit:.2f}, at "
            f"least {FIT} is needed): a source has the words of its target in their "
            "order, perhaps as dictionary forms, without those that are always dropped"
        )


def _list_words(text: str) -> list[str]:
    return [word.lower() for word in abilities.words(text)]
