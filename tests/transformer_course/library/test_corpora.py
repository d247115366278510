"""The embedded corpus is the same everywhere, without a leak; others are read alike."""

from __future__ import annotations

import hashlib
import json
import re
import sys

import pytest

from transformer_course.library import corpora
from transformer_course.library.corpora import CorpusError, load
from transformer_course.library.pipeline import damage

TRAIN_SUM = "a8bdc16c5753435165633d3cc914428c995da48dfa00eec73f3640da2ea746b2"
TEST_SUM = "016866427bdb1a180551ef0d8480fb1205d8e19254b37f9eb32a0f477e5d59ab"
TEXT = "\n".join(f"Sentence number {i} has the words it needs." for i in range(400))


def spoil(text: str) -> str:
    return text.lower().rstrip(".")


def test_embedded():
    corpus = load("embedded", spoil)
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (30000, 1000, 1000)
    assert corpus.train[0][0] == spoil(corpus.train[0][1])


def test_a_text_file_with_one_sentence_a_line(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(TEXT, encoding="utf-8")
    corpus = load(path, spoil)
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 400
    assert min(len(corpus.dev), len(corpus.test)) >= 5


def test_running_text_is_cut_into_sentences():
    text = 'He came in. "Is anybody there?" he asked.\nNobody\nanswered him. He left'
    sentences = list(corpora.split_sentences(text))
    assert sentences[0] == "He came in."
    assert "Nobody answered him." in sentences


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.en").write_text(
        TEXT.replace("number", "no"), encoding="utf-8"
    )
    corpus = load(tmp_path, spoil)
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 800


def test_equal_sources_stay_together(tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text(TEXT + "\n" + TEXT.upper(), encoding="utf-8")
    corpus = load(path, lambda text: text.lower())
    sources = [{s for s, _ in part} for part in (corpus.train, corpus.dev, corpus.test)]
    assert not (
        sources[0] & sources[1] or sources[0] & sources[2] or sources[1] & sources[2]
    )


def test_json_pairs(tmp_path):
    for name in ("train", "dev", "test"):
        pairs = [{"src": f"{name} source", "tgt": f"A {name} target."}]
        (tmp_path / f"{name}.json").write_text(json.dumps(pairs), encoding="utf-8")
    assert load(tmp_path, spoil).dev == [("dev source", "A dev target.")]


NO_PAIRS = '[{"source": "x"}]'


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({}, "no/such/place", "embedded"),
        ({"small.txt": "One sentence only.\n"}, "small.txt", "too small"),
        ({"train.json": "[]"}, "", r"no dev\.json"),
        (
            dict.fromkeys((f"{part}.json" for part in corpora.SPLITS), NO_PAIRS),
            "",
            "src",
        ),
    ],
)
def test_a_corpus_that_is_none_is_explained(tmp_path, files, name, message):
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        load(tmp_path / name, spoil)


class Offline:
    @staticmethod
    def load_dataset(name, split):
        raise ConnectionError("Couldn't reach the Hub")


@pytest.mark.parametrize(
    ("package", "message"),
    [(None, "pip install datasets"), (Offline, "Without network")],
)
def test_what_the_hub_needs_is_said(monkeypatch, package, message):
    monkeypatch.setitem(sys.modules, "datasets", package)
    with pytest.raises(CorpusError, match=message):
        load("hf:some/data", spoil)


def test_a_data_set_of_the_hub(monkeypatch):
    class Rows(list):
        column_names = ("text",)

    class Hub:
        @staticmethod
        def load_dataset(name, split):
            return Rows({"text": line} for line in TEXT.splitlines())

    monkeypatch.setitem(sys.modules, "datasets", Hub)
    corpus = load("hf:some/data", spoil)
    assert len(corpus.train) > 300
    with pytest.raises(CorpusError, match="no column"):
        load("hf:some/data", spoil, field="content")


def test_the_corpus_is_the_same_everywhere(parts):
    for split, checksum in (("train", TRAIN_SUM), ("test", TEST_SUM)):
        text = "\n".join(parts[split]).encode()
        assert hashlib.sha256(text).hexdigest() == checksum


def test_sizes_and_no_repetition(parts):
    assert {name: len(part) for name, part in parts.items()} == corpora.SIZES
    assert all(len(set(part)) == len(part) for part in parts.values())


def test_it_has_between_1300_and_2000_words(parts):
    words = {w.lower() for s in parts["train"] for w in re.findall(r"[A-Za-z'-]+", s)}
    assert 1300 <= len(words) <= 2000


def test_no_test_sentence_and_no_test_source_is_in_train(parts):
    train = set(parts["train"])
    sources = {damage(sentence, 2) for sentence in parts["train"]}
    assert not train & set(parts["test"])
    assert not any(damage(sentence, 2) in sources for sentence in parts["test"])


def test_a_test_set_of_another_seed_is_new_as_well(parts):
    sources = {damage(sentence, 2) for sentence in parts["train"]}
    fresh = corpora.generate("another seed", 300, "test")
    assert not any(damage(sentence, 2) in sources for sentence in fresh)
