"""A corpus of one's own is graded on its own scale, or refused in one line."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from pathlib import Path

import pytest
import torch

from autograder.checks.exercise import RAISED, WrongAnswerError
from tests.transformer_course.handed_in import Restore, numbers, on_track, verdict
from transformer_course.authoring.decoding import recover_with_cache
from transformer_course.library import checkpoint, corpora
from transformer_course.library.corpora import Corpus, CorpusError
from transformer_course.library.model import Restorer, Sizes
from transformer_course.library.pipeline import damage
from transformer_course.library.text import WordTokenizer
from transformer_course.solutions import encoder_decoder
from transformer_course.text_recovery.exercises import _handed_in
from transformer_course.text_recovery.exercises._learnt import (
    new_sources,
    refuse_unlearnt,
)
from transformer_course.text_recovery.library import own_corpus, scale, track
from transformer_course.text_recovery.library.own_corpus import OwnCorpus

LATIN = ["bado", "kime", "lufa", "nosi", "petu", "rago", "sivu", "tamo", "vexi", "zolu"]
HEBREW = ["שלום", "עולם", "ילד", "ספר", "בית", "כלב", "חתול", "מים", "אור", "יום"]
ARABIC = ["كتاب", "بيت", "ولد", "ماء", "نور", "يوم", "قلم", "باب", "شمس", "قمر"]


def sentences(words: list[str], count: int, seed: int = 0, end: str = ".") -> list[str]:
    """Different sentences in which every other word is a small one."""
    draw, small = random.Random(seed), (words[0], words[1])
    texts: dict[str, None] = {}
    while len(texts) < count:
        chosen = [f"{draw.choice(small)} {draw.choice(words)}{draw.randrange(30)}"
                  for _ in range(4)]  # fmt: skip
        texts[f"{' '.join(chosen)}{end}"] = None
    return list(texts)


def corpus_of(words: list[str], count: int = 1500, name: str = "mine") -> Corpus:
    """Pairs whose sources lack the small words; split without overlap."""
    pairs = {}
    for text in sentences(words, count):
        pairs[" ".join(text.rstrip(".").split()[1::2])] = text
    rows = list(pairs.items())
    return Corpus(name, rows[: -count // 5], rows[-count // 5 : -250], rows[-250:])


def to_bytes(corpus: Corpus) -> bytes:
    about = {"name": corpus.name, "train": corpus.train, "dev": corpus.dev}
    return json.dumps({**about, "test": corpus.test}).encode()


MINE = corpus_of(LATIN)


def novel(count: int = 1300) -> Corpus:
    """Sentences that the instructor's weights can recover, with some foreign words."""

    def in_another_dialect(text: str) -> str:
        return re.sub(r"\b(s|b|c|h)(\w{3,})", r"\1z\2", text)

    rows = [
        (damage(text, 2), text)
        for text in map(in_another_dialect, corpora.generate("novel", count))
    ]
    return Corpus("mine", rows[:-220], [], rows[-220:])


def graded(
    tmp_path: Path, data: bytes, restore: Restore | None = None
) -> dict[str, str]:
    """The verdict on the instructor's weights for a corpus of one's own."""
    data = data[: own_corpus.LIMIT + 1]  # as the probe reads it
    (tmp_path / own_corpus.FILE).write_bytes(data)
    weights = on_track(tmp_path / "weights", corpus=track.OWN)
    return verdict(weights, restore, tmp_path / own_corpus.FILE)


def test_baselines_are_measured_on_it_and_sentences_drawn_from_its_test(tmp_path):
    data = to_bytes(novel())
    measured, corpus = numbers(graded(tmp_path, data)), own_corpus.parse(data)
    assert (
        measured["corpus"] == corpus.key > 0
        and 0 < measured["rule"] < measured["inserter"]
    )
    assert f"on {len(corpus.test)} sentences of your corpus mine:" in measured["says"]


def test_a_model_that_knows_no_word_of_it_has_not_learnt_it(tmp_path, monkeypatch):
    # Decoding is slow, so that only what the refusal is based on is decoded.
    monkeypatch.setattr(_handed_in, "_decoded", lambda *given: given[-1].sources)
    monkeypatch.setattr(_handed_in, "_refuse_shipped", lambda *_: None)
    message = graded(tmp_path, to_bytes(MINE), list)[RAISED]
    assert "has not learnt my_corpus.json" in message and "\n" not in message


@pytest.fixture(scope="module")
def untrained(tmp_path_factory) -> tuple[Path, list[str], list[str]]:
    """Random weights for made-up words, sources, and what the weights make of them."""
    path = tmp_path_factory.mktemp("untrained") / "weights"
    words = [f"{a}{b}{c}{d}" for a, b, c, d in product("bdgk", "aeiou", "lmnr", "aeo")]
    tokenizer = WordTokenizer([f"▁{word}" for word in words])
    torch.manual_seed(0)
    model = Restorer(Sizes(len(tokenizer), 32, 2, 1, 64), encoder_decoder).eval()
    with torch.no_grad():
        model.transformer.output.bias[:] = 0.5 * torch.randn(len(tokenizer))
        model.transformer.output.bias[:4] = torch.tensor([-9.0, -9.0, 2.5, -9.0])
    checkpoint.save(path, model, tokenizer, track={"corpus": track.OWN})
    draw = random.Random(0)
    sentences_drawn = {
        " ".join(draw.choices(words, k=draw.randint(2, 5))) for _ in range(1500)
    }
    model, _ = checkpoint.load(path, encoder_decoder, list)
    sources = sorted(sentences_drawn)
    return path, sources, recover_with_cache(model.transformer, tokenizer, sources)


def test_what_an_untrained_model_answers_is_no_corpus(untrained):
    _, sources, texts = untrained
    rows = [
        (source, f"{text} {source.split()[0]} so {i}")  # targets differ
        for i, (source, text) in enumerate(zip(sources, texts, strict=True))
    ]
    with pytest.raises(CorpusError, match="sources are not what is left of its targ"):
        own_corpus.parse(to_bytes(Corpus("mine", rows[:-300], [], rows[-300:])))


def test_an_untrained_model_has_learnt_nothing_even_if_its_corpus_were_read(untrained):
    path, sources, texts = untrained
    rows = list(zip(sources, texts, strict=True))
    corpus = OwnCorpus("mine", rows[:-300], [], rows[-300:], 1)
    model, tokenizer = checkpoint.load(path, encoder_decoder, list)

    def recover(model: Restorer, sources: list[str]) -> list[str]:
        return recover_with_cache(model.transformer, tokenizer, sources)

    with pytest.raises(WrongAnswerError, match="has not learnt"):
        refuse_unlearnt(model, corpus, recover, encoder_decoder, 0)


def test_a_model_that_knows_its_corpus_by_heart_has_not_learnt_it():
    """Whatever it is: right on all sources that were written down, and on no other."""
    corpus = own_corpus.parse(to_bytes(MINE))
    target_of = dict([*corpus.train, *corpus.test])
    model = Restorer(Sizes(8, 8, 1, 1, 8), encoder_decoder)

    def recover(_: Restorer, sources: list[str]) -> list[str]:
        return [target_of.get(source, "bado lufa.") for source in sources]

    with pytest.raises(WrongAnswerError, match="of new sources, made of halves"):
        refuse_unlearnt(model, corpus, recover, encoder_decoder, 0)


def test_new_sources_are_in_no_part_of_the_corpus():
    corpus = own_corpus.parse(to_bytes(MINE))
    sources = new_sources(corpus, 1)
    assert len(set(sources)) == 200 and sources != new_sources(corpus, 2)
    assert not set(sources) & {source for source, _ in (*corpus.train, *corpus.test)}
    words = corpus_of(LATIN[:3])  # few words, short sources
    assert len(new_sources(own_corpus.parse(to_bytes(words)), 1)) == 200


def test_a_draw_is_a_sample_of_test_and_the_same_for_one_seed():
    corpus = own_corpus.parse(to_bytes(MINE))
    assert sorted(corpus.draw_pairs(1)) == sorted(corpus.test) == sorted(MINE.test)
    assert corpus.draw_pairs(1) == corpus.draw_pairs(1) != corpus.draw_pairs(2)


def test_both_forms_of_a_pair_are_the_same_corpus():
    parts = {
        name: [{"src": source, "tgt": target} for source, target in getattr(MINE, name)]
        for name in corpora.SPLITS
    }
    data = json.dumps({"name": "mine", **parts}).encode()
    assert own_corpus.parse(data) == own_corpus.parse(to_bytes(MINE))


@pytest.mark.parametrize("words", [HEBREW, ARABIC], ids=["Hebrew", "Arabic"])
def test_a_script_from_right_to_left_is_a_corpus_like_any(words):
    corpus = own_corpus.parse(to_bytes(corpus_of(words)))
    marks = scale.marks_of_own_corpus(corpus.train, corpus.test)
    assert 0 < marks.rule < marks.inserter


LINE = [["bado kime", "A bado saw a kime."]]
TRAIN, TEST = MINE.train, MINE.test


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (LINE, TEST, "train has 1 different pairs, but at least 1,000 are needed"),
        (LINE * 5000, TEST, "train has 1 different pairs"),
        (TRAIN, TEST[:50], "test has 50 different pairs, but at least 200"),
        (TRAIN, TRAIN[:300], "300 of 300 pairs of test are also in train or dev"),
        (TRAIN, [*TEST, *TRAIN[:50]], "50 of 300 pairs of test are also in train"),
        (TRAIN, [(t, t) for _, t in TEST], "the sources already reach 100.0 BLEU"),
        (TRAIN, [(s, s.replace(" ", "")) for s, _ in TEST], "1.0 words on average"),
        (TRAIN, [["a", ""]], "test[0] has an empty target"),
        (TRAIN, [["a"]], "test[0] is not a [source, target] pair"),
        (TRAIN, [["a", 1]], "test[0] is not a [source, target] pair"),
        (TRAIN, [["a", "b" * 2000]], "test[0] has more than 1,000 characters"),
        (TRAIN, [["a", "\ud800"]], "test[0] has half a character in it"),
        (TRAIN, "abc", '"test" is not a list of [source, target] pairs'),
    ],
)
def test_what_cannot_be_graded_is_refused_in_one_line(train, test, message):
    data = json.dumps({"train": train, "dev": [], "test": test}).encode()
    with pytest.raises(CorpusError) as caught:
        own_corpus.parse(data)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith("my_corpus.json cannot be graded: ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" " * (6 << 20), "it is larger than 5 MB"),
        (b"[" * 100_000, "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        (b"[]", "it is not an object"),
    ],
)
def test_bytes_that_are_no_corpus_are_refused(tmp_path, data, message):
    assert message in graded(tmp_path, data)[RAISED]


def test_a_few_leaks_are_left_out_of_what_is_graded():
    leaky = Corpus("mine", MINE.train, MINE.dev, [*MINE.test, *MINE.train[:5]])
    assert own_corpus.parse(to_bytes(leaky)).test == MINE.test


def test_the_embedded_corpus_under_another_name_is_known():
    test = corpora.generate("again", 300, "test")
    train = corpora.generate("again", 1200)
    rows = [[(damage(text, 2), text) for text in part] for part in (train, test)]
    data = to_bytes(Corpus("novel", rows[0], [], rows[1]))
    with pytest.raises(CorpusError, match="those of the embedded corpus"):
        own_corpus.parse(data)


def test_a_model_for_a_corpus_that_is_missing_is_refused(tmp_path):
    weights = on_track(tmp_path / "weights", corpus=track.OWN)
    assert "my_corpus.json is missing" in verdict(weights, list)[RAISED]


def test_its_name_is_a_short_line():
    named = Corpus("a\n\u202e" + "b" * 100, MINE.train, MINE.dev, MINE.test)
    assert own_corpus.parse(to_bytes(named)).name == f"a {'b' * 38}"
