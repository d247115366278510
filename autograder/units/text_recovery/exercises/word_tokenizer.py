"""A word tokenizer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.library.text import pieces
from autograder.units.text_recovery.exercises._inputs import (
    BOS,
    EOS,
    PAD,
    UNK,
    natural_sentences,
    some_of,
)


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

CASES = [
    case("default", "the vocabulary, min_freq as it comes", lambda draw: _texts(draw, 30),
         "By default a piece must occur twice."),
    case("three", "the vocabulary, min_freq = 3", lambda draw: _texts(draw, 40, 3),
         "A piece belongs to the vocabulary from `min_freq` occurrences on."),
    case("one", "the vocabulary, min_freq = 1", lambda draw: _texts(draw, 12, 1),
         "With min_freq = 1 every piece of the texts is known."),
    case("encode", "the tokens whose ids `encode` gives", lambda draw: _new_texts(draw, 30),
         "One id for each piece; UNK for a piece that is not in `vocab`."),
    case("decode", "`decode`, with all four specials among the ids", _with_all_specials,
         "A text ends before the first EOS; PAD and BOS leave no trace."),
    case("no_end", "`decode`, without an EOS", _without_an_end,
         "Without an EOS, the text goes on to the last id."),
    case("four", "the vocabulary, min_freq = 4", lambda draw: _texts(draw, 60, 4),
         "The same with other numbers.", hidden_only=True),
    case("encode_more", "`encode`, for other texts", lambda draw: _new_texts(draw, 50),
         "The same for other texts.", hidden_only=True),
]

MISTAKES = [
    wrong("one_for_all",
          "All tokenizers share one vocabulary: a second one changes the first.",
          "To whom does an attribute of the class belong?",
          edit("self.vocab = [*SPECIALS, *ordered]", "type(self).vocab = [*SPECIALS, *ordered]")),
    wrong("more_than",
          "Pieces that occur exactly `min_freq` times are missing.",
          "Is it `>` or `>=`?",
          edit("count >= min_freq", "count > min_freq")),
    wrong("min_freq_ignored",
          "Every piece is in the vocabulary, however rare.",
          "Where is `min_freq` used?",
          edit("count >= min_freq", "count >= 1")),
    wrong("no_specials",
          "The vocabulary does not begin with the four SPECIALS, so real words have the ids of PAD, BOS, EOS and UNK.",
          "Which word has id 0?",
          edit("[*SPECIALS, *ordered]", "[*ordered]")),
    wrong("specials_last",
          "The SPECIALS stand at the end of the vocabulary.",
          "Which id should PAD have?",
          edit("[*SPECIALS, *ordered]", "[*ordered, *SPECIALS]")),
    wrong("alphabetical",
          "The vocabulary is in alphabetical order only.",
          "Which piece has id 4?",
          edit("(-counts[piece], piece)", "piece")),
    wrong("rarest_first",
          "The rarest pieces come first.",
          "Which sign turns an order around?",
          edit("(-counts[piece], piece)", "(counts[piece], piece)")),
    wrong("ties_by_place",
          "Pieces of equal frequency stand in the order in which they were met, not in alphabetical order.",
          "What does the key say about two pieces with the same count?",
          edit("(-counts[piece], piece)", "-counts[piece]")),
    wrong("split_at_spaces",
          "The text is cut at spaces only: signs stick to words, and `key` and `key.` are two.",
          "Which given function knows what a piece is?",
          source("""
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
              """)),
    wrong("lower_cased",
          "The text is lower-cased on the way: capitals can never come back.",
          "Which half of the task is to recover case?",
          edit("for piece in pieces(text))", "for piece in pieces(text.lower()))",
               "for piece in pieces(text)]", "for piece in pieces(text.lower())]")),
    wrong("unknown_skipped",
          "Unknown pieces disappear instead of becoming UNK.",
          "How would the model know that something stood there?",
          edit("[self._ids.get(piece, UNK) for piece in pieces(text)]",
               "[self._ids[piece] for piece in pieces(text) if piece in self._ids]")),
    wrong("unknown_crashes",
          "An unknown piece raises a KeyError.",
          "What does `dict.get` do that `[...]` does not?",
          edit("self._ids.get(piece, UNK)", "self._ids[piece]")),
    wrong("unknown_is_pad",
          "Unknown pieces become PAD.",
          "What will the model do with padding?",
          edit("self._ids.get(piece, UNK)", "self._ids.get(piece, PAD)")),
    wrong("bos_and_eos_added",
          "`encode` adds BOS and EOS. The batches do that later, so each would stand there twice.",
          "Who adds the special tokens in this course?",
          edit("return [self._ids.get(piece, UNK) for piece in pieces(text)]",
               "return [BOS] + [self._ids.get(piece, UNK) for piece in pieces(text)] + [EOS]")),
    wrong("runs_past_eos",
          "`decode` goes on behind the first EOS.",
          "What may follow EOS in a batch, and should anybody read it?",
          edit("break", "continue")),
    wrong("eos_shown",
          "EOS is written into the text.",
          "Should a reader see `<eos>`?",
          edit("""
              if i == EOS:
                  break
              if i not in (PAD, BOS):
                  tokens.append(self.vocab[i])
              """, """
              if i not in (PAD, BOS):
                  tokens.append(self.vocab[i])
              if i == EOS:
                  break
              """)),
    wrong("padding_shown",
          "PAD is written into the text.",
          "Which special tokens must leave no trace?",
          edit("if i not in (PAD, BOS):", "if i != BOS:")),
    wrong("bos_shown",
          "BOS is written into the text.",
          "Which special tokens must leave no trace?",
          edit("if i not in (PAD, BOS):", "if i not in (PAD,):")),
    wrong("unknown_hidden",
          "`decode` drops UNK: the reader does not see that a word is missing.",
          "Which special tokens have to disappear, and which one says something?",
          edit("if i not in (PAD, BOS):", "if i not in (PAD, BOS, UNK):")),
    wrong("stops_at_padding",
          "`decode` stops at PAD.",
          "At which token does a text end?",
          edit("if i == EOS:", "if i in (EOS, PAD):")),
    wrong("spaces_between",
          "The pieces are joined with spaces: `Go , she said .` Every sign costs BLEU.",
          "What does `glue` do with `▁`?",
          edit("return glue(tokens)", 'return " ".join(tokens).replace("▁", "")')),
    wrong("marks_left",
          "The marks `▁` are still in the text.",
          "Which given function turns pieces into a text?",
          edit("return glue(tokens)", 'return "".join(tokens)')),
    wrong("vocab_tuple",
          "All is right, but `vocab` is a tuple; a list is asked for.",
          "What does the text say about `vocab`?",
          edit("self.vocab = [*SPECIALS, *ordered]", "self.vocab = (*SPECIALS, *ordered)")),
    wrong("texts_read_twice",
          "`texts` is gone through twice: a generator is empty the second time.",
          "How often can one walk through an `Iterable`?",
          edit("counts = Counter(piece for text in texts for piece in pieces(text))", """
              number = sum(1 for _ in texts)
              counts = Counter(piece for text in texts for piece in pieces(text))
              """)),
    wrong("needs_an_end",
          "Ids without an EOS stop your `decode`.",
          "What does `index` do if it finds nothing?",
          edit("for i in ids:", "ids = list(ids)\nfor i in ids[: ids.index(EOS)]:")),
    wrong("ids_shortened",
          "The text is right, but the list of ids that you were given has changed.",
          "Who else may hold that list?",
          edit("for i in ids:", """
              while isinstance(ids, list) and ids and ids[-1] == PAD:
                  ids.pop()
              for i in ids:
              """)),
]

ACCEPTED = [
    right("loops", source("""
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
        """)),
    right("dataclass", source("""
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
        """)),
    right("takewhile", edit("""
        tokens = []
        for i in ids:
            if i == EOS:
                break
            if i not in (PAD, BOS):
                tokens.append(self.vocab[i])
        return glue(tokens)
        """, """
        from itertools import takewhile
        before = takewhile(lambda i: i != EOS, ids)
        return glue([self.vocab[i] for i in before if i > EOS])
        """)),
]

EXERCISE = Specification(
    name="text_recovery/word_tokenizer", title="A word tokenizer", target="WordTokenizer", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
