"""A word tokenizer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import torch

from autograder.bank.text_recovery._inputs import (
    BOS,
    EOS,
    PAD,
    UNK,
    natural_sentences,
    some_of,
)
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)
from autograder.student.recovery.text import pieces


def _texts(draw: Draw, count: int, min_freq: int | None = None) -> Inputs:
    texts = natural_sentences(draw, count)
    # Ties in number, both ways round, so that their order shows.
    rare = some_of(draw, _RARE, 4)
    texts += [f"{rare[0]}, {rare[1]} {rare[2]}", f"{rare[1]} {rare[0]} {rare[3]}"]
    inputs: Inputs = {"texts": json.dumps(texts)}
    return inputs if min_freq is None else inputs | {"min_freq": torch.tensor(min_freq)}


def _new_texts(draw: Draw, count: int) -> Inputs:
    """Texts with pieces that are known, too rare, or new."""
    made = _texts(draw, count)
    first, *_, last = json.loads(made["texts"])
    new = [*natural_sentences(draw, 2), f'"{last} wombat," {first}', first, ""]
    return made | {"new": json.dumps(new)}


def _rows_of_tokens(draw: Draw, *places: Sequence[int | None]) -> Inputs:
    """Rows of ids: of specials, and of frequent pieces where None stands."""
    made = _texts(draw, 40)
    counts = Counter(p for text in json.loads(made["texts"]) for p in pieces(text))
    known = [piece for piece, count in counts.items() if count > 2]
    rows: list[list[str | int]] = []
    for row in places:
        chosen = iter(some_of(draw, known, len(row)))
        rows.append([next(chosen) if place is None else place for place in row])
    rows.append([*some_of(draw, known, 9)])  # all of them words of any vocabulary
    return made | {"rows": json.dumps(rows)}


def _with_all_specials(draw: Draw) -> Inputs:
    row = (BOS, None, PAD, None, UNK, BOS, None, EOS, None, PAD, EOS, None)
    return _rows_of_tokens(draw, row, (None, None, EOS, PAD, PAD))


def _without_an_end(draw: Draw) -> Inputs:
    return _rows_of_tokens(draw, (None,) * 5, (BOS, None, None, UNK, None), ())


_RARE = ("zebra", "yak", "walrus", "llama", "emu", "gnu")

EXERCISE = Specification(
    name="text_recovery/word_tokenizer",
    title="A word tokenizer",
    target="WordTokenizer",
    precise=False,
    cases=[
        CaseKind(
            name="default",
            title="the vocabulary, min_freq as it comes",
            inputs=lambda draw: _texts(draw, 30),
            hint="By default a piece must occur twice.",
        ),
        CaseKind(
            name="three",
            title="the vocabulary, min_freq = 3",
            inputs=lambda draw: _texts(draw, 40, 3),
            hint="A piece belongs to the vocabulary from `min_freq` occurrences on.",
        ),
        CaseKind(
            name="one",
            title="the vocabulary, min_freq = 1",
            inputs=lambda draw: _texts(draw, 12, 1),
            hint="With min_freq = 1 every piece of the texts is known.",
        ),
        CaseKind(
            name="encode",
            title="the tokens whose ids `encode` gives",
            inputs=lambda draw: _new_texts(draw, 30),
            hint="One id for each piece; UNK for a piece that is not in `vocab`.",
        ),
        CaseKind(
            name="decode",
            title="`decode`, with all four specials among the ids",
            inputs=_with_all_specials,
            hint="A text ends before the first EOS; PAD and BOS leave no trace.",
        ),
        CaseKind(
            name="no_end",
            title="`decode`, without an EOS",
            inputs=_without_an_end,
            hint="Without an EOS, the text goes on to the last id.",
        ),
        CaseKind(
            name="four",
            title="the vocabulary, min_freq = 4",
            inputs=lambda draw: _texts(draw, 60, 4),
            hint="The same with other numbers.",
            hidden_only=True,
        ),
        CaseKind(
            name="encode_more",
            title="`encode`, for other texts",
            inputs=lambda draw: _new_texts(draw, 50),
            hint="The same for other texts.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="one_for_all",
            says="All tokenizers share one vocabulary: a second one changes the first.",
            asks="To whom does an attribute of the class belong?",
            ways=[Way(edits=[
                Edit("self.vocab = [*SPECIALS, *ordered]",
                     "type(self).vocab = [*SPECIALS, *ordered]"),
            ])],
        ),
        Mutant(
            name="more_than",
            says="Pieces that occur exactly `min_freq` times are missing.",
            asks="Is it `>` or `>=`?",
            ways=[Way(edits=[Edit("count >= min_freq", "count > min_freq")])],
        ),
        Mutant(
            name="min_freq_ignored",
            says="Every piece is in the vocabulary, however rare.",
            asks="Where is `min_freq` used?",
            ways=[Way(edits=[Edit("count >= min_freq", "count >= 1")])],
        ),
        Mutant(
            name="no_specials",
            says="The vocabulary does not begin with the four SPECIALS, so real words "
            "have the ids of PAD, BOS, EOS and UNK.",
            asks="Which word has id 0?",
            ways=[Way(edits=[Edit("[*SPECIALS, *ordered]", "[*ordered]")])],
        ),
        Mutant(
            name="specials_last",
            says="The SPECIALS stand at the end of the vocabulary.",
            asks="Which id should PAD have?",
            ways=[Way(edits=[Edit("[*SPECIALS, *ordered]", "[*ordered, *SPECIALS]")])],
        ),
        Mutant(
            name="alphabetical",
            says="The vocabulary is in alphabetical order only.",
            asks="Which piece has id 4?",
            ways=[Way(edits=[Edit("(-counts[piece], piece)", "piece")])],
        ),
        Mutant(
            name="rarest_first",
            says="The rarest pieces come first.",
            asks="Which sign turns an order around?",
            ways=[Way(edits=[
                Edit("(-counts[piece], piece)", "(counts[piece], piece)"),
            ])],
        ),
        Mutant(
            name="ties_by_place",
            says="Pieces of equal frequency stand in the order in which they were met, "
            "not in alphabetical order.",
            asks="What does the key say about two pieces with the same count?",
            ways=[Way(edits=[Edit("(-counts[piece], piece)", "-counts[piece]")])],
        ),
        Mutant(
            name="split_at_spaces",
            says="The text is cut at spaces only: signs stick to words, and `key` and "
            "`key.` are two.",
            asks="Which given function knows what a piece is?",
            ways=[Way(source="""
                class WordTokenizer:
                    def __init__(self, texts, min_freq=2):
                        counts = Counter(p for t in texts for p in t.split())
                        known = [p for p, c in counts.items() if c >= min_freq]
                        self.vocab = [*SPECIALS, *sorted(known, key=lambda p: (-counts[p], p))]
                        self._ids = {t: i for i, t in enumerate(self.vocab)}
                    def encode(self, text):
                        return [self._ids.get(p, UNK) for p in text.split()]
                    def decode(self, ids):
                        out = []
                        for i in ids:
                            if i == EOS: break
                            if i not in (PAD, BOS): out.append(self.vocab[i])
                        return ' '.join(out)
                """)],
        ),
        Mutant(
            name="lower_cased",
            says="The text is lower-cased on the way: capitals can never come back.",
            asks="Which half of the task is to recover case?",
            ways=[Way(edits=[
                Edit("for piece in pieces(text))",
                     "for piece in pieces(text.lower()))"),
                Edit("for piece in pieces(text)]",
                     "for piece in pieces(text.lower())]"),
            ])],
        ),
        Mutant(
            name="unknown_skipped",
            says="Unknown pieces disappear instead of becoming UNK.",
            asks="How would the model know that something stood there?",
            ways=[Way(edits=[
                Edit("[self._ids.get(piece, UNK) for piece in pieces(text)]",
                     "[self._ids[piece] for piece in pieces(text) if piece in self._ids]"),
            ])],
        ),
        Mutant(
            name="unknown_crashes",
            says="An unknown piece raises a KeyError.",
            asks="What does `dict.get` do that `[...]` does not?",
            ways=[Way(edits=[Edit("self._ids.get(piece, UNK)", "self._ids[piece]")])],
        ),
        Mutant(
            name="unknown_is_pad",
            says="Unknown pieces become PAD.",
            asks="What will the model do with padding?",
            ways=[Way(edits=[
                Edit("self._ids.get(piece, UNK)", "self._ids.get(piece, PAD)"),
            ])],
        ),
        Mutant(
            name="bos_and_eos_added",
            says="`encode` adds BOS and EOS. The batches do that later, so each would "
            "stand there twice.",
            asks="Who adds the special tokens in this course?",
            ways=[Way(edits=[
                Edit("return [self._ids.get(piece, UNK) for piece in pieces(text)]",
                     "return [BOS] + [self._ids.get(piece, UNK) for piece in pieces(text)] + [EOS]"),
            ])],
        ),
        Mutant(
            name="runs_past_eos",
            says="`decode` goes on behind the first EOS.",
            asks="What may follow EOS in a batch, and should anybody read it?",
            ways=[Way(edits=[Edit("break", "continue")])],
        ),
        Mutant(
            name="eos_shown",
            says="EOS is written into the text.",
            asks="Should a reader see `<eos>`?",
            ways=[Way(edits=[
                Edit(
                    """
                    if i == EOS:
                        break
                    if i not in (PAD, BOS):
                        tokens.append(self.vocab[i])
                    """,
                    """
                    if i not in (PAD, BOS):
                        tokens.append(self.vocab[i])
                    if i == EOS:
                        break
                    """,
                ),
            ])],
        ),
        Mutant(
            name="padding_shown",
            says="PAD is written into the text.",
            asks="Which special tokens must leave no trace?",
            ways=[Way(edits=[Edit("if i not in (PAD, BOS):", "if i != BOS:")])],
        ),
        Mutant(
            name="bos_shown",
            says="BOS is written into the text.",
            asks="Which special tokens must leave no trace?",
            ways=[Way(edits=[Edit("if i not in (PAD, BOS):", "if i not in (PAD,):")])],
        ),
        Mutant(
            name="unknown_hidden",
            says="`decode` drops UNK: the reader does not see that a word is missing.",
            asks="Which special tokens have to disappear, and which one says "
            "something?",
            ways=[Way(edits=[
                Edit("if i not in (PAD, BOS):", "if i not in (PAD, BOS, UNK):"),
            ])],
        ),
        Mutant(
            name="stops_at_padding",
            says="`decode` stops at PAD.",
            asks="At which token does a text end?",
            ways=[Way(edits=[Edit("if i == EOS:", "if i in (EOS, PAD):")])],
        ),
        Mutant(
            name="spaces_between",
            says="The pieces are joined with spaces: `Go , she said .` Every sign "
            "costs BLEU.",
            asks="What does `glue` do with `▁`?",
            ways=[Way(edits=[
                Edit("return glue(tokens)", 'return " ".join(tokens).replace("▁", "")'),
            ])],
        ),
        Mutant(
            name="marks_left",
            says="The marks `▁` are still in the text.",
            asks="Which given function turns pieces into a text?",
            ways=[Way(edits=[Edit("return glue(tokens)", 'return "".join(tokens)')])],
        ),
        Mutant(
            name="vocab_tuple",
            says="All is right, but `vocab` is a tuple; a list is asked for.",
            asks="What does the text say about `vocab`?",
            ways=[Way(edits=[
                Edit("self.vocab = [*SPECIALS, *ordered]", "self.vocab = (*SPECIALS, *ordered)"),
            ])],
        ),

        Mutant(
            name="texts_read_twice",
            says="`texts` is gone through twice: a generator is empty the second time.",
            asks="How often can one walk through an `Iterable`?",
            ways=[Way(edits=[
                Edit(
                    "counts = Counter(piece for text in texts for piece in pieces(text))",
                    """
                    number = sum(1 for _ in texts)
                    counts = Counter(piece for text in texts for piece in pieces(text))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="needs_an_end",
            says="Ids without an EOS stop your `decode`.",
            asks="What does `index` do if it finds nothing?",
            ways=[Way(edits=[Edit("for i in ids:", "ids = list(ids)\nfor i in ids[: ids.index(EOS)]:")])],
        ),
        Mutant(
            name="ids_shortened",
            says="The text is right, but the list of ids that you were given has changed.",
            asks="Who else may hold that list?",
            ways=[Way(edits=[
                Edit(
                    "for i in ids:",
                    """
                    while isinstance(ids, list) and ids and ids[-1] == PAD:
                        ids.pop()
                    for i in ids:
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="loops", source="""
            class WordTokenizer:
                def __init__(self, texts, min_freq=2):
                    counts = {}
                    for text in texts:
                        for p in pieces(text):
                            counts[p] = counts.get(p, 0) + 1
                    self.vocab = list(SPECIALS)
                    for p in sorted(sorted(counts), key=counts.get, reverse=True):
                        if not counts[p] < min_freq:
                            self.vocab.append(p)
                def __len__(self):
                    return len(self.vocab)
                def encode(self, text):
                    return [self.vocab.index(p) if p in self.vocab else UNK for p in pieces(text)]
                def decode(self, ids):
                    ids = list(ids)
                    if EOS in ids:
                        ids = ids[:ids.index(EOS)]
                    return glue(self.vocab[i] for i in ids if i != PAD and i != BOS)
            """),
        Accepted(name="dataclass", source="""
            from dataclasses import InitVar, dataclass, field

            @dataclass
            class WordTokenizer:
                texts: InitVar[Iterable[str]]
                min_freq: InitVar[int] = 2
                vocab: list = field(init=False)

                def __post_init__(self, texts, min_freq):
                    counts = Counter(piece for text in texts for piece in pieces(text))
                    order = sorted(counts, key=lambda piece: (-counts[piece], piece))
                    self.vocab = [*SPECIALS, *(p for p in order if counts[p] >= min_freq)]

                def __len__(self):
                    return len(self.vocab)

                def encode(self, text):
                    return [self.vocab.index(p) if p in self.vocab else UNK for p in pieces(text)]

                def decode(self, ids):
                    ids = list(ids)
                    ids = ids[:ids.index(EOS)] if EOS in ids else ids
                    return glue([self.vocab[i] for i in ids if i > EOS])
            """),
        Accepted(name="takewhile", edits=[
            Edit(
                """
                tokens = []
                for i in ids:
                    if i == EOS:
                        break
                    if i not in (PAD, BOS):
                        tokens.append(self.vocab[i])
                return glue(tokens)
                """,
                """
                from itertools import takewhile
                before = takewhile(lambda i: i != EOS, ids)
                return glue([self.vocab[i] for i in before if i > EOS])
                """,
            ),
        ]),
    ],
)
