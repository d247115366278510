# %% [markdown]
# # 6 · Text recovery: a project
#
# `daughter hungry fed horse field` → *Although my daughter was hungry, she fed the
# horse in the field.* A classic search index keeps the words on the left and throws the
# rest away; in this unit, a model that you design brings the rest back. Along the way
# you build the last missing part of the chat model, the one that cuts text into tokens.

# %% [markdown]
# **Questions of this unit**
# - What do a baseline's mistakes tell you to build next?
# - How does a corpus decide what a token is, and how does a decoder look ahead?
# - What does BLEU measure, and which mistakes does it miss?
# - When is a difference between two models more than luck?
# - How do you spend a training budget, and report honestly what it bought?
#
# *About 6 hours · short path about 2: exercises 6.1, 6.3, 6.4, 6.5, 6.8*
#
# *Eight exercises and three written questions · 100 points; while a model trains, you
# can go on reading.* The short path covers the essentials: for now, just read the other
# sections, and come back to their exercises later. The time given excludes the three
# questions (2¾ hours), and one demonstration will not run until you have solved 6.7.
#
# <details><summary>How the project works</summary>
#
# A preprocessing pipeline has lower-cased a sentence, stripped its punctuation, dropped
# its function words and perhaps reduced each word to its dictionary form. You recover
# the original from what is left. You start with a baseline and read its mistakes, then
# build the tools that your diagnosis calls for. After that the model is yours: within a
# fixed budget you decide everything, and log what you tried and why.
#
# | part | what you do | time | points |
# |---|---|---|---|
# | A | train a baseline with a given tokenizer, and name its mistakes | 1 h | 4 |
# | B | build tools: subwords, BLEU, a test for differences, search | 2¼ h | 40 |
# | C | design your own model within the budget, and log your experiments | 2 h | 40 |
# | D | write one page about it | ¾ h | 16 |
#
# </details>
# <details><summary>Conventions</summary>
#
# | name | meaning |
# |---|---|
# | `B`, `Ls`, `Lt`, `V` | batch size, source length, target length, vocabulary size |
# | `PAD, BOS, EOS, UNK` | ids 0, 1, 2 and 3, reserved for special tokens |
# | `(source, target)` | what the pipeline left, and the original sentence |
# | `▁` | marks the space in front of a token |
# | target tokens | the unit of all budgets: every target id except PAD and BOS |
# | masks | made inside the model, from padding |
#
# </details>

# %%
import hashlib
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: F401 - for your answers
from IPython.display import HTML, Markdown, display
from jaxtyping import Float, Int
from torch import Tensor, nn
from tqdm.auto import tqdm

from autograder import check, demo, drawing, earlier, require_solved
from transformer_course.library import abilities, baselines, chat, corpora
from transformer_course.library import bleu as by_sacrebleu
from transformer_course.library.checkpoint import handed_in, load, notes, save, shipped
from transformer_course.library.decoding import bucketed, make_batch, padded, recover
from transformer_course.library.model import (
    Restorer,
    Sizes,
    cross_attention,
    device,
    parameters,
)
from transformer_course.library.pipeline import damage
from transformer_course.library.text import (
    BOS,
    EOS,
    PAD,
    SPECIALS,
    SubwordTokenizer,
    WordTokenizer,
    pieces,
    tokenize_13a,
)
from transformer_course.text_recovery.library import marks, pictures
from transformer_course.text_recovery.library.meter import TokenMeter
from transformer_course.text_recovery.library.mistakes import KINDS, mistakes_of
from transformer_course.text_recovery.library.project import Project

# False: what earlier units built comes from the course, and is correct. True: from your
# own notebooks, if they are beside this one.
USE_MY_OWN = False
encoder_decoder = earlier("04_encoder_decoder", mine=USE_MY_OWN)
reversal = earlier("05_sequence_reversal", mine=USE_MY_OWN)

torch.set_printoptions(precision=3, sci_mode=False)
WHERE = device()

# %%
drawing(
    "machine_pieces", "6.1",
    "The blue part of the chat model is what you build today: it cuts words into the "
    "pieces that the model reads.",
)  # fmt: skip

# %% [markdown]
# ### The settings of your project
#
# - `CORPUS`: `"embedded"` is the course's own corpus, which works offline. You can also
#   use a corpus of your own.
# - `LEVEL`: 1, 2 or 3, the levels of the table below. Level 1 is a warm-up, in which a
#   model can earn at most two thirds of the points.
# - `LEADERBOARD_NAME`: the name under which the class sees your model's score. Leave it
#   empty to stay off the leaderboard.
#
# <details><summary>A corpus of your own</summary>
#
# `CORPUS` can be a text file, a folder of texts, a folder with `train.json`, `dev.json`
# and `test.json` (lists of `{"src": ..., "tgt": ...}`), or `"hf:NAME"` from the Hugging
# Face Hub. Your model is then graded on this corpus, which must have at least 4,000
# different sentences and at most 5 MB. Its sources must be what is left of its targets:
# the same words in the same order, perhaps as dictionary forms, minus the words that
# are always dropped.
#
# </details>

# %%
CORPUS = "embedded"
LEVEL = 2
LEADERBOARD_NAME = ""

# %% [markdown]
# ## A. The first hour: a baseline
#
# ### What the pipeline leaves
#
# | level | stage | `"Has Anna lost her keys?"` becomes |
# |---|---|---|
# | 1 | lower case, no punctuation | `has anna lost her keys` |
# | 2 | also no function words | `anna lost keys` |
# | 3 | also dictionary forms (*lemmas*) | `anna lose key` |
#
# The pipeline, `damage(sentence, level)`, only ever takes something away. That looks
# harmless, yet *Don't eat, grandma!* and *Don't eat grandma!* become the same source.
#
# *Function words*, also called closed-class words, are the ones that hold a sentence
# together; there are about 150 of them, and new ones hardly ever appear. Lemmas come
# from *simplemma*, a small library that looks up one word at a time and is sometimes
# wrong (`went` becomes `wend`).
#
# Below are four sentences and what is left of them. Cover the fourth one and reveal it
# line by line from the bottom: can you recover it from level 3, or from level 2?


# %%
@demo
def what_is_left():
    for category, members in corpora.function_words().items():
        print(f"{category:>13} ({len(members):2d}): {', '.join(members[:10])}, ...")
    for sentence in corpora.generate("a look", 4, "train"):
        print(f"\n         {sentence}")
        for level in (1, 2, 3):
            print(f"level {level}: {damage(sentence, level)}")


# %% [markdown]
# From `how many bears husband observe` you can guess the sentence, but you cannot tell
# whose husband it was, or whether he *did* or *will* observe them. Level 3 would also
# hide that there were several bears, if *many* did not give it away. Since some
# information is gone for good, no model can reach 100 %.
#
# ### A fair split
#
# The course's corpus is generated by a grammar that covers twelve areas of life, with
# about 2,000 words and forty kinds of sentence. It first decides *who does what*, and
# only then how to say it. A hash of (who, does, what) assigns each sentence to train,
# dev or test, so no test sentence says what a training sentence says, even in different
# words.
#
# It would be simpler to shuffle all sentences and cut the list, but real texts repeat
# themselves. To see the effect, we repeat every third sentence out of 6,000 once, with
# an exclamation mark at the end.
#
# **Predict first.** If you shuffle these sentences and cut the list, how many of the
# 400 test sources also occur in train?

# %%
my_guess = "?"  # write yours here


# %% folded=true
# @title Count the leaks of both splits
@demo
def leaks_of_two_splits():
    sentences = corpora.generate("leaks", 6000)
    sentences += [sentence.rstrip(".") + "!" for sentence in sentences[::3]]
    sources = [damage(sentence, 2) for sentence in sentences]
    random.Random(0).shuffle(sources)

    def in_test(source: str) -> bool:  # SHA-256 is the same on every computer
        return int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20 == 0

    def leak(test: list[str], train: list[str]) -> str:
        known = set(train)
        return f"{sum(source in known for source in test)} of {len(test)}"

    hashed = [[s for s in sources if in_test(s) == part] for part in (True, False)]
    print("test sources that also occur in train:")
    print("  shuffled and cut:", leak(sources[-400:], sources[:-400]))
    print("  split by hash:   ", leak(*hashed))


# %% [markdown]
# After shuffling, half of the test sources also occur in train, because half of the
# 8,000 sentences have a duplicate, which nearly always ends up in train. A model that
# has memorised the training set then looks clever. A hash of the source keeps equal
# sources together, so nothing leaks. `corpora.load` splits your own texts in the same
# way.


# %%
@demo
def the_corpus():
    global corpus
    corpus = corpora.load(CORPUS, partial(damage, level=LEVEL))
    sizes = {split: len(getattr(corpus, split)) for split in ("train", "dev", "test")}
    print(f"{corpus.name}, level {LEVEL}: {sizes}")
    for source, target in corpus.train[:4]:
        print(f"{source:>45} → {target}")


# %% [markdown]
# ### What your model has to beat
#
# *sacrebleu* computes BLEU, a score between 0 and 100 that grows with the number of
# single words, pairs, triples and quadruples that outputs and originals share.
# Section B3 builds it from scratch; until then, read 100 as "everything as it was".
#
# Three baselines need no network: the first copies the source, the second adds a
# capital letter and a full stop, and the third, the *inserter*, fills each gap between
# neighbouring words with whatever occurred there most often in training.
#
# **Predict first.** How many points do they get, and how many does the original get if
# you sort its words alphabetically?

# %%
my_guess = "copied ?, capital and full stop ?, inserter ?, sorted ?"  # write yours here


# %% folded=true
# @title BLEU of the baselines and of the sorted original
@demo
def the_baselines():
    sources, originals = zip(*corpus.dev, strict=True)
    inserter = baselines.Insertion(corpus.train)
    outputs = {
        "copy the source": sources,
        "capital and full stop": [baselines.rule(source) for source in sources],
        "insert the commonest": [inserter(source) for source in sources],
        "the original, words sorted": [" ".join(sorted(t.split())) for t in originals],
    }
    for name, texts in outputs.items():
        print(f"{name:28} {by_sacrebleu.corpus(texts, originals):5.1f}")


# %% [markdown]
# At level 2, copying gets 8 points and the second baseline, the *rule*, gets 13.
# *Every* word in their outputs is also in the original, capitals aside, but hardly any
# sequence of four words is. The sorted original has all the words but is not a
# sentence, and gets 9. The inserter reaches 64, so a model that scores lower has learnt
# less than a table of counts can tell you.
#
# ### The tokenizer, the model and the loop
#
# Tagging the words would not be enough, because words that are gone cannot be tagged:
# the model has to read what is left and *write* a sentence, which is a job for an
# encoder-decoder. Unit 4 built one, and unit 5 trained it on a toy task. The loss,
# schedule, training step and greedy decoding from unit 5 work here unchanged, because
# none of them depends on digits.
#
# The baseline reads whole words and punctuation marks. `WordTokenizer` keeps those that
# occur at least twice in train and turns all others into `UNK` (unknown). `▁` marks the
# space in front of a token, so decoding restores the text exactly, and no stray
# space before a comma costs you points.

# %%
SETTINGS = {
    "tokenizer": "words", "min_freq": 2, "positions": "sinusoidal", "d_model": 128,
    "num_heads": 4, "num_layers": 2, "d_ff": 512, "dropout": 0.0, "smoothing": 0.0,
    "peak": 3e-3, "batch_size": 24,
}  # fmt: skip


def sizes_of(settings: dict, vocab_size: int) -> Sizes:
    """The sizes of a model with these settings."""
    known = {name for name in settings if hasattr(Sizes, name)}
    return Sizes(vocab_size, **{name: settings[name] for name in known})


def build(settings: dict, corpus: corpora.Corpus, seed: int) -> tuple:
    """An untrained model and its tokenizer, which has seen train only."""
    texts = [text for pair in corpus.train for text in pair]
    tokenizer = WordTokenizer.learn(texts, settings["min_freq"])
    torch.manual_seed(seed)
    model = Restorer(sizes_of(settings, len(tokenizer)), encoder_decoder)
    return model.to(WHERE), tokenizer


# %% [markdown]
# The loop is unit 5's, built on `training_step` and `rate_factor`, with two additions.
# `batches` groups sentences of similar length, because padding costs time. `meter`
# counts the **target tokens** that the model has been trained on, ends the loop when
# the budget is used up, and tells the schedule how far training has progressed. Since
# budgets are in target tokens, never in seconds, a slow computer is no disadvantage.
#
# A GPU calls for batches of more than 24 sentences.


# %%
def batches(tokenizer, pairs: list, batch_size: int, seed: int) -> Iterable:
    """Endless batches of (source, target) ids, in a different order in each epoch."""
    examples = [tuple(tokenizer.encode(text)[:80] for text in pair) for pair in pairs]
    for epoch in count():
        order = 1000 * seed + epoch
        for batch in bucketed(examples, batch_size, order, lambda pair: len(pair[1])):
            rows = make_batch(*zip(*batch, strict=True))
            yield tuple(part.to(WHERE) for part in rows)


def train(
    model: nn.Module,
    tokenizer,
    corpus: corpora.Corpus,
    meter: TokenMeter,
    settings: dict,
    seed: int,
    loss_function: Callable[[Tensor, Tensor], Tensor] = reversal.masked_loss,
) -> None:
    """Train until the meter's budget of target tokens is used up."""
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98))
    stream = batches(tokenizer, corpus.train, settings["batch_size"], seed)
    for source, target in meter(stream):
        factor = reversal.rate_factor(int(1000 * meter.progress), 100, 1000)
        optimizer.param_groups[0]["lr"] = settings["peak"] * factor
        reversal.training_step(
            model, optimizer, source, target, loss_function=loss_function
        )


# %% [markdown]
# Decoding uses unit 5's `greedy_decode`, which calls `model(source, tokens)` for each
# new token and would therefore encode the source again every time. A thin wrapper
# encodes it only once.


# %%
class ReadOnce(nn.Module):
    """A model that reads its source once, however often it is asked what comes next."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.memory = model, None
        self.train(model.training)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        if self.memory is None:
            self.memory = self.model.encode(source)  # (B, Ls, d_model)
        return self.model.decode(target, self.memory, source)  # (B, Lt, V)


def greedy(model: nn.Module, source: Int[Tensor, "B Ls"]) -> Int[Tensor, "B L"]:
    """Ids for source ids: unit 5's search; the source is read once."""
    return reversal.greedy_decode(ReadOnce(model), source, max_len=60)


# %% [markdown]
# ### Train the baseline
#
# The baseline is trained on 250,000 target tokens, which takes about a minute on two
# cores.  It is saved beside this notebook and loaded next time, unless you change
# `CORPUS` or `LEVEL`.

# %% folded=true
# @title Train the baseline, or load it
BASELINE = Path("my_baseline.safetensors")
BASELINE_TOKENS = 250_000


@demo
def train_the_baseline():
    global model, tokenizer
    about = {"corpus": corpus.name, "level": LEVEL}
    if not BASELINE.is_file() or notes(BASELINE) != about:
        started, meter = time.perf_counter(), TokenMeter(BASELINE_TOKENS)
        model, tokenizer = build(SETTINGS, corpus, seed=0)
        print(f"{parameters(model):,} parameters, {len(tokenizer):,} tokens")
        train(model, tokenizer, corpus, meter, SETTINGS, seed=0)
        save(BASELINE, model, tokenizer, **about)
        seconds = time.perf_counter() - started
        print(f"{meter.seen:,} target tokens in {seconds:.0f} seconds")
    # Whole words are not cut any further, so any `segment` will do.
    model, tokenizer = load(BASELINE, encoder_decoder, segment=list)
    model = model.to(WHERE)
    sources, originals = zip(*corpus.dev, strict=True)
    outputs = recover(model, tokenizer, sources, greedy)
    print(f"BLEU on dev: {by_sacrebleu.corpus(outputs, originals):.1f}")


# %% [markdown]
# On the embedded corpus at level 2 the baseline reaches about 90 points (88.6 to 91.1
# in six runs). It beats the table of counts by a wide margin after a minute of
# training, because it reads the whole source, whereas the table sees only two
# neighbouring words.
#
# ### Read twenty outputs
#
# A score says *how many* mistakes there are, but never *which*, so read before you
# build: here are the first twenty outputs that differ from the original.


# %% folded=true
# @title Show twenty outputs of the baseline beside the originals
@demo
def twenty_outputs():
    pairs = corpus.dev[:400]
    outputs = recover(model, tokenizer, [source for source, _ in pairs], greedy)
    wrong = [(*p, o) for p, o in zip(pairs, outputs, strict=True) if o != p[1]][:20]
    display(HTML(abilities.coloured(wrong)))


# %% [markdown]
# Sort the outputs by kind of mistake, in your own words, and list the output numbers
# under each kind. Invent the kinds as you read, rename them when they do not fit,
# and stop when a friend would sort the outputs as you did. An output may belong to more
# than one kind; use at most seven kinds in all. This takes about 15 minutes.

# %%
MY_KINDS = {
    # kind of mistake: numbers of the outputs above
    "first kind": [],
    "second kind": [],
    "third kind": [],
}


@demo
def my_kinds():
    display(Markdown(marks.table(MY_KINDS, count=20)))


# %% [markdown]
# **Question 1** (4 points, time ~30 min including the reading). What goes wrong, and
# what would you try? List your kinds with their counts, and propose a remedy for each
# of the two that matter most.
#
# *Points: kinds defined clearly enough for a friend to sort the same
# way (1), their counts and an example of each (1), a cause for the two most important
# ones (1), and for each of these a change whose effect could be measured (1).*

# %% [markdown] written="text_recovery/diagnosis" points=4
# *Your answer here*
#
# ### BEGIN SOLUTION
# | kind | outputs | example (output → original) |
# |---|---|---|
# | determiner: article or possessive | 7 | *polished the* → *polished his bracelet* |
# | content word lost, repeated or replaced | 5 | *cold on* → *cold rice on* |
# | agreement | 3 | *ladders is* → *ladders are rusty* |
# | order | 2 | *Anna and Hans* → *Hans and Anna* |
# | question, pronoun, preposition | 3 | *Before he* → *Before they fell asleep* |
#
# Most determiners, the most frequent kind, cannot be known: *his bracelet* and *the
# bracelet* become the same source, so the model takes the more frequent one. But it
# could know that *a strange portraits* is wrong, so if a longer run does not lower this
# count, I was mistaken. Lost and repeated words are the model's own fault, since they
# are in the source: "bow" became "Victoria Victoria Victoria". The embeddings of rare
# words are hardly trained, so I would try subwords and count these mistakes before and
# after.
# ### END SOLUTION

# %% [markdown]
# ## B1. Subwords: byte-pair encoding
#
# Whole words have two flaws as tokens: an unknown word is lost for good, and `bake`,
# `bakes` and `baked` share nothing, so the model has to learn three embeddings from
# scratch.
#
# Byte-pair encoding (Sennrich et al. 2016, section 3.2) lets the corpus decide what a
# token is. It starts with single characters, finds the pair of neighbours that occurs
# most often, merges it into one symbol, and repeats, until frequent words are whole and
# rare ones consist of useful parts. GPT-2 and many language models since then,
# including SmolLM2, use tokenizers learnt in this way, but from bytes instead of
# characters.
#
# ```text
# counts     low 5   lower 2   newest 6   widest 3
# e s  →  es  (9 times)      n e w es t      w i d es t
# es t →  est (9 times)      n e w est       w i d est
# l o  →  lo  (7 times)      lo w            lo w e r
# ```
#
# In three exercises, you merge one pair, learn the merges, and use them to cut up a
# word.
#
# ### Exercise 6.1 - Merge one pair
#
# *time ~10 min · difficulty 1/5 · 2 points*
#
# **Task.** Go through `symbols` from left to right, join the two symbols of `pair`
# wherever they are neighbours, and return a new list.
#
# **Example.** `merge_pair(["x", "a", "b", "a", "b"], ("a", "b"))` is
# `["x", "ab", "ab"]`.
#
# <details><summary>Contract</summary>
#
# - A symbol that has been merged is used up: `a a a` with `(a, a)` gives `aa a`.
# - `symbols` is not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Why is `for i in range(len(symbols))` awkward here? How far does the index move after
# a merge, and how far otherwise?
#
# </details>
# <details><summary>Hint 2: more examples</summary>
#
# ```text
# x a b a b y    with (a, b)    →   x ab ab y
# a a a a a      with (a, a)    →   aa aa a
# ab a b         with (a, b)    →   ab ab
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# i = 0
# while there is a symbol at i:
#     if symbols i and i + 1 are the pair: append both joined; i moves by 2
#     otherwise:                           append symbol i;    i moves by 1
# ```
#
# </details>


# %% exercise="text_recovery/merge_pair"
def merge_pair(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """The symbols with every occurrence of the pair merged, from left to right."""
    ### BEGIN SOLUTION
    merged, i = [], 0
    while i < len(symbols):
        width = 2 if tuple(symbols[i : i + 2]) == pair else 1
        merged.append("".join(symbols[i : i + width]))
        i += width
    return merged
    ### END SOLUTION


# %% check="text_recovery/merge_pair" points=2
# Checks several occurrences, overlapping ones, and the list afterwards.
check("text_recovery/merge_pair", merge_pair)

# %% [markdown]
# ### Exercise 6.2 - Byte-pair encoding: learn the merges
#
# *time ~25 min · difficulty 3/5 · 8 points*
#
# **Task.** Learn up to `num_merges` merges: in each round, count all pairs of
# neighbouring symbols, each weighted by the count of its word, and merge the most
# frequent pair everywhere. Stop as soon as no pair occurs at least twice.
#
# **Example.** `learn_merges({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 3)` is
# `[("e", "s"), ("es", "t"), ("l", "o")]`.
#
# <details><summary>Contract</summary>
#
# - Every occurrence counts: `a a a` contains the pair `(a, a)` twice.
# - Break ties by taking the smallest pair in Python's tuple order.
#
# </details>
# <details><summary>Speed</summary>
#
# Recounting all pairs in each round is fine; it takes a few seconds on the corpus.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# After a merge, which words have changed? Which pairs exist now that did not exist
# before?
#
# </details>
# <details><summary>Hint 2: the data</summary>
#
# ```text
# words    a list of symbols for each word:  ["n", "e", "w", "es", "t"]
# pairs    Counter: zip(symbols, symbols[1:]), each weighted with the word's count
# best     min(pairs, key=lambda pair: (-pairs[pair], pair))
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# repeat num_merges times:
#     count the pairs of all words
#     best = the most frequent; stop if it occurs less than twice
#     remember best
#     in every word: merge best
# ```
#
# </details>


# %% exercise="text_recovery/learn_merges"
def learn_merges(counts: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
    """Byte-pair encoding: the pairs to merge, in the order in which they are found.

    Args:
        counts: how often each word occurs; a word is a string of characters.
        num_merges: how many merges to learn, at most.

    Returns:
        Pairs of symbols; fewer than `num_merges` once no pair occurs at least twice.
    """
    ### BEGIN SOLUTION
    words = {word: list(word) for word in counts}
    pairs: Counter = Counter()
    homes = defaultdict(set)  # the words that a pair occurs in: only these change
    merges = []

    def register(word: str, sign: int) -> None:
        for pair in zip(words[word], words[word][1:], strict=False):
            pairs[pair] += sign * counts[word]
            homes[pair].add(word)

    for word in counts:
        register(word, +1)
    quiet = not reversal.watched(num_merges)
    bar = tqdm(range(num_merges), "merges", disable=quiet, delay=1)
    for _ in bar:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
        if best is None or pairs[best] < 2:
            break
        merges.append(best)
        for word in homes.pop(best):
            register(word, -1)
            words[word] = merge_pair(words[word], best)
            register(word, +1)
    return merges
    ### END SOLUTION


# %% check="text_recovery/learn_merges" points=8
# Checks small counts, ties, the early stop, and real words.
check("text_recovery/learn_merges", learn_merges)

# %% [markdown]
# ### Exercise 6.3 - Byte-pair encoding: use the merges
#
# *time ~10 min · difficulty 2/5 · 3 points*
#
# **Task.** Cut `word` into symbols: start with its characters and apply the merges in
# the order in which they were learnt. A new word must be cut exactly as it would have
# been in training.
#
# **Example.** `slower` becomes `["s", "low", "er"]` with the merges `(l, o)`, `(e, r)`,
# `(lo, w)`.
#
# <details><summary>Contract</summary>
#
# - A character that no merge contains remains a symbol of its own.
# - Each call returns a new list, or a tuple. No word is empty.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# The merges `(a, b)` and `(b, c)` were learnt in this order. What becomes of `abc`?
# What if you applied them in the other order?
#
# </details>
# <details><summary>Hint 2: step by step</summary>
#
# ```text
# s l o w e r  →  s lo w e r  →  s lo w er  →  s low er
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# symbols = the characters of the word
# for each merge, in order:   symbols = merge_pair(symbols, merge)
# ```
#
# </details>


# %% exercise="text_recovery/segment"
def segment(word: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """The symbols of a word after the merges, applied in their order.

    Args:
        word: any text without spaces; characters may be new.
        merges: pairs of symbols, as `learn_merges` returns them.
    """
    ### BEGIN SOLUTION
    symbols = list(word)
    for pair in merges:
        if len(symbols) == 1:
            break
        symbols = merge_pair(symbols, pair)
    return symbols
    ### END SOLUTION


# %% check="text_recovery/segment" points=3
# Checks known and new words, the order of merges, and single characters.
check("text_recovery/segment", segment)

# %% [markdown]
# `SubwordTokenizer` puts your functions to work: it cuts a text into words and
# punctuation marks, cuts these into symbols, and looks up their ids. Its vocabulary is
# learnt from *train* only and shared by source and target, so a copied word has the
# same embedding on both sides. The cell encodes two sentences, first in whole words and
# then with the 1,500 subwords that `learn_merges` finds in the course's corpus; two
# words of the second sentence do not occur there.


# %%
def subwords(texts: Iterable[str], vocab_size: int = 1500) -> SubwordTokenizer:
    """A byte-pair tokenizer with about this many symbols, learnt from texts."""
    counts = Counter()
    for text in texts:
        counts.update(pieces(text))
    alphabet = {character for piece in counts for character in piece}
    merges = learn_merges(counts, vocab_size - len(alphabet) - len(SPECIALS))
    return SubwordTokenizer(alphabet, merges, segment)


@demo
def two_tokenizers():
    by_words = WordTokenizer.learn([text for pair in corpus.train for text in pair])
    by_symbols = load(shipped(), encoder_decoder, segment)[1]
    print(f"words: {len(by_words)} tokens · subwords: {len(by_symbols)} tokens")
    for text in ("The baker forgot her keys.", "The glassblower overslept."):
        for made in (by_words, by_symbols):
            ids = made.encode(text)
            print(f"\n{' '.join(made.vocab[i] for i in ids)}\n   {made.decode(ids)}")


# %% [markdown]
# With whole words, the glassblower and the oversleeping are both gone, because `<unk>`
# says that there was a word, but not which one. The subwords spell both words out, so
# decoding restores the sentence. The cost is length: the decoder has to write more
# tokens, and your budget is counted in tokens.
#
# ## B2. A loss that leaves room for doubt
#
# Cross-entropy is 0 only if the correct token has probability 1, but here several
# tokens would often be equally good: *a* key or *the* key? **Label smoothing** (Szegedy
# et al. 2016, section 7) asks for a little less. With $V$ tokens and smoothing
# $\varepsilon$, the target distribution is $q$, and the loss is its cross-entropy with
# the model:
#
# $$q_k = (1 - \varepsilon)\,[k = \text{target}] + \frac{\varepsilon}{V},
# \qquad \text{loss} = -\sum_{k=1}^{V} q_k \log p_k .$$
#
# In code, the loss is a weighted mean of the target token's loss and the mean loss over
# the whole vocabulary, with padding left out.


# %%
def smoothed_loss(
    logits: Float[Tensor, "B L V"], target: Int[Tensor, "B L"], smoothing: float = 0.1
) -> Float[Tensor, ""]:
    """Cross-entropy with label smoothing, averaged over the tokens that are not PAD.

    Args:
        logits: scores of the vocabulary.
        target: the correct ids.
        smoothing: the probability that is spread evenly over the vocabulary.

    Returns:
        The loss.
    """
    log_p = logits.log_softmax(dim=-1)  # (B, L, V)
    wanted = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)  # (B, L)
    loss = -(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)  # (B, L)
    return loss[target != PAD].mean()


# %% [markdown]
# A cross-entropy is smallest when the model's distribution *is* the target
# distribution. If we call the function with the logits $\log q$, it therefore returns
# its smallest possible value, the *floor*:


# %% folded=true
# @title The smallest loss for two vocabularies and three values of smoothing
@demo
def the_floor():
    target = torch.tensor([[7]])
    for vocab in (1500, 8000):
        for smoothing in (0.0, 0.1, 0.2):
            q = torch.full((1, 1, vocab), smoothing / vocab)
            q[0, 0, 7] += 1 - smoothing
            floor = smoothed_loss(q.clamp(min=1e-30).log(), target, smoothing)
            print(f"V = {vocab}, smoothing {smoothing}: floor {floor:.3f} nats")


# %% [markdown]
# With 1,500 tokens and $\varepsilon = 0.1$ the floor is 1.056 nats, the entropy of $q$,
# so a loss of 1.25 on dev is not bad at all: at most 0.19 of it can still be removed.
# Losses can be compared only between runs with the same $V$ and $\varepsilon$.
#
# Smoothing regularises a model that is too sure of itself, but it also **biases** the
# distribution: a model that has learnt $q$ spreads a tenth of the probability over all
# tokens, most of which are nonsense. Greedy and beam search hardly
# suffer, but if you *sample* ten tokens from $q$, the probability that they all make
# sense is only $0.9^{10}$, about one in three.
#
# ## B3. BLEU
#
# A source can be restored well in many ways, but we have only one *reference*. BLEU
# (Papineni et al. 2002, section 2) counts the *n-grams* (n tokens in a row) that an
# output, the *hypothesis*, shares with it, for orders n = 1 to 4, and scores a whole
# **corpus**.
#
# All seven words of the hypothesis `the the the the the the the` occur in the reference
# `the cat is on the mat`, but a precision of 7/7 would be absurd. BLEU therefore
# **clips**: an n-gram counts at most as often as it occurs in the reference, and since
# `the` occurs there twice, the precision is 2/7. `ngrams` counts the n-grams of a text:


# %%
def ngrams(tokens: Sequence[str], n: int) -> Counter:
    """How often each n-gram, a tuple of n tokens, occurs; none if there are fewer."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


# %% [markdown]
# Precision alone rewards silence, since the single word `The` is hardly ever wrong.
# BLEU therefore multiplies by a **brevity penalty** BP. With $h$ tokens in all
# hypotheses and $r$ tokens in all references,
#
# $$p_n = \frac{\text{matches}_n}{\text{total}_n}, \qquad
# \text{BLEU} = 100 \cdot \text{BP} \cdot \left(\prod_{n=1}^{4} p_n\right)^{1/4}, \qquad
# \text{BP} = \min\!\big(1,\ e^{\,1 - r/h}\big).$$
#
# Matches and totals are summed over **all** sentences before anything is divided,
# because the mean of the sentences' BLEU scores is a different number.
#
# ### Exercise 6.4 - BLEU with one reference
#
# *time ~20 min · difficulty 3/5 · 8 points*
#
# **Task.** Return the BLEU score of the hypotheses, with one reference each, as a
# number between 0 and 100. `tokenize` cuts a text into tokens (by default
# `tokenize_13a`, which splits off punctuation as sacrebleu does), and `ngrams` counts
# n-grams.
#
# **Example.** For the hypothesis `the cat sat on mat` and the reference `the cat sat on
# the mat`, the precisions are 5/5, 3/4, 2/3 and 1/2, BP is $e^{-1/5}$, and BLEU is
# 57.9.
#
# <details><summary>Contract</summary>
#
# - An n-gram matches at most as often as it occurs in the reference.
# - Counts and lengths are summed over all sentences before anything is divided.
# - If some order has no match, BLEU is 0.
# - Case and punctuation count.
# - A hypothesis may be empty.
# - `sacrebleu` is not allowed, nor is the course's `by_sacrebleu`.
#
# </details>
# <details><summary>Hint 1: two questions</summary>
#
# A set knows *whether*, a Counter knows *how often*. What is the intersection `&` of
# two Counters? And what would a perfect three-word sentence add to a mean of sentence
# scores, and to the counts of order 4?
#
# </details>
# <details><summary>Hint 2: the parts</summary>
#
# ```text
# n = 2    hypothesis  a b a b a b    ab ×3, ba ×2
#          reference   b a b b a      ab ×1, ba ×2     matched: 1 + 2 of 5
#
# for each n:   matches[n], totals[n]     sums over all sentences
# h, r                                    sums over all sentences
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each sentence:
#     cut both texts; add the two lengths
#     for n = 1 to 4: count the n-grams of both; add the clipped matches and the total
# if an order has no match: 0
# mean of the logarithms of the four precisions
# 100 * BP * exp(that mean)
# ```
#
# </details>


# %% exercise="text_recovery/bleu"
def bleu(
    hypotheses: list[str],
    references: list[str],
    tokenize: Callable[[str], list[str]] = tokenize_13a,
) -> float:
    """BLEU-4 of a corpus with one reference per sentence, without smoothing.

    Args:
        hypotheses: what was produced, one text per sentence.
        references: the original of each sentence.
        tokenize: cuts a text into the tokens that are counted.

    Returns:
        A number between 0 and 100.
    """
    ### BEGIN SOLUTION
    matches, totals, h, r = [0] * 4, [0] * 4, 0, 0
    for text, original in zip(hypotheses, references, strict=True):
        tokens, wanted = tokenize(text), tokenize(original)
        for n in range(4):
            own, allowed = ngrams(tokens, n + 1), ngrams(wanted, n + 1)
            matches[n] += (own & allowed).total()
            totals[n] += own.total()
        h, r = h + len(tokens), r + len(wanted)
    if 0 in matches:
        return 0.0
    logs = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True))
    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / 4)
    ### END SOLUTION


# %% check="text_recovery/bleu" points=8
# Checks good, poor, short, long and repetitive outputs, and what happens without a
# match.
check("text_recovery/bleu", bleu)

# %% [markdown]
# It is tempting to report the mean of the sentences' unigram precisions and call it
# BLEU. Here are both numbers for two baselines and the sorted original.


# %% folded=true
# @title Both numbers for two baselines and the sorted original
@demo
def bleu_and_unigrams():
    require_solved(bleu)
    sources, originals = zip(*corpus.dev, strict=True)

    def unigrams_only(texts: Sequence[str]) -> float:
        shares = []
        for text, original in zip(texts, originals, strict=True):
            own, allowed = (ngrams(tokenize_13a(t), 1) for t in (text, original))
            shares.append((own & allowed).total() / max(own.total(), 1))
        return 100 * sum(shares) / len(shares)

    print(f"{'':28}  BLEU   unigrams only")
    for name, texts in {
        "copy the source": sources,
        "capital and full stop": [baselines.rule(source) for source in sources],
        "the original, words sorted": [" ".join(sorted(t.split())) for t in originals],
    }.items():
        print(f"{name:28} {bleu(texts, originals):5.1f}   {unigrams_only(texts):5.1f}")


# %% [markdown]
# The copy has a unigram precision of 82 % and a BLEU score of 8, while the sorted
# original, which no one can read, has 100 % and 9. A score that cannot see word order
# says nothing about sentences.
#
# ## B4. Is the difference real?
#
# Model 1 scores 84.1 BLEU on 200 sentences, and model 2 scores 85.0. Is model 2 better?
# On 200 other sentences, the order could be reversed. We cannot collect thousands of
# test sets, but we can pretend to, by drawing sentences from the test set **with
# replacement** until a new set of the same size is full. Doing so a thousand times,
# which is called the *bootstrap*, shows how much the difference varies.
#
# The trick of the **paired** bootstrap (Koehn 2004, EMNLP) is to score both models on
# the *same* sample of sentences: what is hard for one is usually hard for the other, so
# much of the noise cancels in the difference.
#
# BLEU is not a mean over sentences, so sentence scores cannot be averaged, but the
# counts behind them can be added. We therefore keep one row of counts per sentence, sum
# the drawn rows and compute the score from the sum, without reading any text again.
#
# ### Exercise 6.5 - Paired bootstrap resampling
#
# *time ~20 min · difficulty 3/5 · 7 points*
#
# **Task.** Draw `resamples` test sets, and compute the second model's score minus the
# first's on each. Return both ends of the 95 % interval of these differences, and the
# fraction of resamples in which the second model wins.
#
# **Example.** `paired_bootstrap(rows1, rows2, score, random.Random(0))` may return
# `(-0.4, 2.1, 0.91)`: the interval contains 0, so we cannot say which model is better.
#
# <details><summary>Contract</summary>
#
# - Each resample is drawn with one call to `rng.choices(range(n), k=n)` for n
#   sentences.
# - Both models are scored on the same drawn sentences.
# - `score` is called with the sum of the drawn rows, a tensor of shape `(c,)`.
# - The ends are the entries `resamples // 40` and `-1 - resamples // 40` of the sorted
#   differences: 2.5 % are cut off at each end.
# - A tie is not a win.
# - The rows are not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# May a sentence occur twice in a resample? What would happen if it could not?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# first, second           (n, c)      counts per sentence
# first[drawn].sum(0)     (c,)        what `score` expects
# differences             a list of `resamples` floats
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# resamples times:
#     draw n indices with replacement
#     difference = score(sum of second's rows) - score(sum of first's rows)
# sort the differences and read off both ends
# wins = how many are above 0, as a fraction
# ```
#
# </details>


# %% exercise="text_recovery/paired_bootstrap"
def paired_bootstrap(
    first: Int[Tensor, "n c"],
    second: Int[Tensor, "n c"],
    score: Callable[[Tensor], float],
    rng: random.Random,
    resamples: int = 1000,
) -> tuple[float, float, float]:
    """The 95 % interval of the difference between two models' scores (Koehn 2004).

    Args:
        first, second: counts of the two models on the same n sentences.
        score: maps the sum of rows `(c,)` to the score of a corpus.
        rng: the source of all randomness.
        resamples: how many test sets to draw.

    Returns:
        The lower and the upper end of the interval of second minus first, and the
        fraction of resamples in which the second is better.
    """
    ### BEGIN SOLUTION
    n, differences = len(first), []
    for _ in range(resamples):
        rows = rng.choices(range(n), k=n)
        differences.append(score(second[rows].sum(0)) - score(first[rows].sum(0)))
    differences.sort()
    tail = resamples // 40
    wins = sum(d > 0 for d in differences) / resamples
    return differences[tail], differences[-1 - tail], wins
    ### END SOLUTION


# %% check="text_recovery/paired_bootstrap" points=7
# Checks both ends of the interval, the wins, ties, and the use of `rng`.
check("text_recovery/paired_bootstrap", paired_bootstrap)

# %% [markdown]
# Try it on two models that need no training: an inserter that has seen nine tenths of
# the training set, and one that has seen all of it. On 1,000 sentences of dev the
# second is ahead by 0.6 BLEU.
#
# **Predict first.** By how much is it ahead on the first 50 of these sentences and on
# the first 200, and does either of the two intervals contain 0?

# %%
my_guess = "50 sentences ?, 200 sentences ?"  # write yours here


# %% folded=true
# @title Two inserters, compared on 50, 200 and 1,000 sentences
@demo
def how_many_sentences():
    fewer = baselines.Insertion(corpus.train[: len(corpus.train) * 9 // 10])
    every = baselines.Insertion(corpus.train)
    sources, originals = zip(*corpus.dev, strict=True)
    rows = [
        by_sacrebleu.counts([inserter(s) for s in sources], originals)
        for inserter in (fewer, every)
    ]
    for n in (50, 200, 1000):
        one, two = (r[:n] for r in rows)
        score = by_sacrebleu.bleu_of
        low, high, wins = paired_bootstrap(one, two, score, random.Random(0))
        gain = score(two.sum(0)) - score(one.sum(0))
        interval = f"{gain:+.1f} [{low:+.1f}, {high:+.1f}]"
        print(f"{n:5d} sentences: {interval}, {wins:.0%} of the resamples are won")


# %% [markdown]
# With 50 sentences the difference appears to be 2 points and with 200 it is 0.3, but
# both intervals contain 0. It takes 1,000 sentences to settle it: 0.6, with an interval
# from 0.3 to 1.1. A small test set does not even get the size of a difference right,
# and a difference without an interval cannot be judged.
#
# One warning: the interval accounts only for the choice of *test sentences*. Only
# another training run can tell how much another seed would change the score.
#
# ## B5. Beam search
#
# Greedy decoding never takes a token back, whereas beam search keeps the `k` best
# prefixes at every step, scored by the sum of their tokens' log-probabilities. It rests
# on three ideas, all shown in the picture.

# %%
drawing(
    "beam_search", "6.2",
    "In each of three steps, a beam search with k = 2 keeps the two best prefixes that "
    "have not ended.",
)  # fmt: skip

# %% [markdown]
# **First idea, keep k:** in the picture, each step compares *all* continuations of both
# *live* prefixes (those in the beam) and keeps the two best that do not end (blue),
# whichever prefix they extend.
#
# ### Exercise 6.6 - One step of a beam search
#
# *time ~15 min · difficulty 3/5 · 4 points*
#
# **Task.** Extend every prefix by every token, and return the `k` best continuations of
# all prefixes together, with their scores.
#
# **Example.** With scores `[-0.5, -1.2]` and two rows of log-probabilities
# `[-2.0, -0.1]`, `[-0.2, -3.0]`, `k = 2` keeps `-0.6` (prefix 0, token 1) and `-1.4`
# (prefix 1, token 0).
#
# <details><summary>Contract</summary>
#
# - The best continuation comes first.
# - If there are fewer than `k` continuations, all of them are returned.
# - The arguments are not modified.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# The table of scores has n rows and V columns. You flatten it and take the `k` best.
# With `V = 5`, which prefix and which token does entry 17 of the flat table stand for?
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# ```text
# scores[:, None] + log_p   (n, V)
# flat                      (n * V,)    topk gives values and indices
# prefix = index // V,  token = index % V
# prefixes[prefix]          (k, t)      then one more column
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# total = each prefix's score + its row of log-probabilities
# the k best entries of total, flattened
# their prefixes with their tokens appended, and their scores
# ```
#
# </details>


# %% exercise="text_recovery/beam_step"
def beam_step(
    prefixes: Int[Tensor, "n t"],
    scores: Float[Tensor, "n"],
    log_p: Float[Tensor, "n V"],
    k: int,
) -> tuple[Int[Tensor, "k t+1"], Float[Tensor, "k"]]:
    """The k best continuations of all prefixes by one token.

    Args:
        prefixes: ids, int64.
        scores: sums of log-probabilities, one per prefix.
        log_p: log-probabilities of the next token.
        k: how many continuations to keep.

    Returns:
        The longer prefixes and their scores, in this order.
    """
    ### BEGIN SOLUTION
    total = scores[:, None] + log_p  # (n, V)
    scores, flat = total.flatten().topk(min(k, total.numel()))  # (k,)
    parent = flat // total.size(1)
    token = flat % total.size(1)
    return torch.cat([prefixes[parent], token[:, None]], dim=1), scores
    ### END SOLUTION


# %% check="text_recovery/beam_step" points=4
# Checks wide and narrow beams, the first step, and the order of what is kept.
check("text_recovery/beam_step", beam_step)

# %% [markdown]
# **Second idea, EOS:** in the picture, a prefix that is followed by EOS has *ended*.
# Such finished *hypotheses* leave the beam, and only the best of them is remembered.
# Since a log-probability is never above 0, a score can only fall as a prefix grows.
# Once the best ended score is at least as good as the best live one, nothing can beat
# it, and the search may stop.
#
# **Third idea, the length:** a longer text means multiplying more probabilities below
# 1, so raw scores favour short texts. The search therefore compares
# $\text{score}/\text{length}^\alpha$, with $\alpha = 1$ in the picture and a length
# that counts EOS but not BOS. This quotient ranks finished hypotheses and decides the
# stop. For $\alpha > 0$ it can rise again as a prefix grows, so stopping is then a good
# bet, not a certainty. Which prefixes stay live is still decided by raw scores, because
# all live prefixes have the same length.
#
# A finished hypothesis left in the beam would push out a prefix with a worse raw score,
# although that prefix might, for $\alpha > 0$, still have overtaken it.
#
# ### Exercise 6.7 - Beam search
#
# *time ~30 min · difficulty 4/5 · 8 points*
#
# **Task.** Decode each sentence with your `beam_step`: in each step, compare the
# hypotheses that now end in EOS with the best so far, by
# $\text{score}/\text{length}^\alpha$; then, of the *other* continuations, keep the
# `beam_size` best. Return rows of ids, as `greedy_decode` does.
#
# **Example.** `beam_search(model, ids, beam_size=3)` may return
# `[[57, 9, 210, 5, 2], [8, 31, 2, 0, 0]]` for two sentences.
#
# <details><summary>Contract</summary>
#
# - Start with `BOS` alone, with score 0.
# - Stop when the best ended score is at least as good as the best live one, each
#   divided by its own $\text{length}^\alpha$, or after `max_len` tokens, EOS included.
# - Of two finished hypotheses that are equally good, keep the earlier one.
# - Each row ends in its EOS, followed by any amount of PAD; BOS is left out.
# - Decode the sentences one after the other or all at once.
# - Use evaluation mode and record no gradients.
#
# </details>
# <details><summary>Hint 1: two questions</summary>
#
# How do you keep EOS out of the `k` best, once you have read its score: which number is
# below every score? And after step 3 of the picture, what is the length of the live
# prefixes, and of a hypothesis that ends in the next step?
#
# </details>
# <details><summary>Hint 2: how to ask the model</summary>
#
# ```text
# one    = source[i : i + 1]                        (1, Ls)
# memory = model.encode(one)                        (1, Ls, d_model), once
# logits = model.decode(prefixes, memory, one)      prefixes (n, t) → (n, t, V)
# answers, a list of lists                          → padded(answers), (B, L)
# ```
#
# `decode` expects one row of memory and of source for each prefix: `expand(n, -1, -1)`
# and `expand(n, -1)`. The next token's scores are at the last position.
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# for each sentence, and for length = 1, 2, ... max_len:
#     log_p of the next token for all live prefixes           (n, V)
#     best of (scores + log_p of EOS) / length^alpha: remember it if it is better
#     log_p of EOS = -infinity
#     prefixes, scores = beam_step(...)
#     stop if the best ended >= the best live score / length^alpha
# ```
#
# </details>


# %% exercise="text_recovery/beam_search"
@torch.no_grad()
def beam_search(
    model: nn.Module,
    source: Int[Tensor, "B Ls"],
    beam_size: int = 4,
    max_len: int = 60,
    alpha: float = 1.0,
) -> Int[Tensor, "B L"]:
    """Beam search for a batch; scores are divided by a power of the length.

    Args:
        model: with `encode` and `decode`, as above.
        source: source ids.
        beam_size: how many prefixes stay live for each sentence.
        max_len: how many tokens an answer may have.
        alpha: the power of the length by which scores are divided.

    Returns:
        Ids: no BOS; after EOS only PAD. L is at most `max_len`.
    """
    ### BEGIN SOLUTION
    model.eval()
    answers = []
    for one in source.split(1):  # (1, Ls)
        memory, best, answer = model.encode(one), -math.inf, []
        prefixes = one.new_full((1, 1), BOS)  # (n, t)
        scores = torch.zeros(1, device=one.device)  # (n,)
        for length in range(1, max_len + 1):
            n = len(prefixes)
            logits = model.decode(prefixes, memory.expand(n, -1, -1), one.expand(n, -1))
            log_p = logits[:, -1].log_softmax(dim=-1)  # (n, V)
            ended, i = ((scores + log_p[:, EOS]) / length**alpha).max(dim=0)
            if ended > best:
                best, answer = ended, [*prefixes[i, 1:].tolist(), EOS]
            log_p[:, EOS] = -math.inf
            prefixes, scores = beam_step(prefixes, scores, log_p, beam_size)
            if best >= scores[0] / length**alpha:
                break
        answers.append(answer)
    return padded(answers).to(source.device)
    ### END SOLUTION


# %% check="text_recovery/beam_search" points=8
# Checks narrow and wide beams, lengths and their power, early and late ends.
check("text_recovery/beam_search", beam_search)

# %% [markdown]
# **Predict first.** By how many points does a beam of 3 raise the baseline's BLEU, and
# a beam of 10? Do outputs get shorter when scores are *not* divided by the length?

# %%
my_guess = "beam 3 ?, beam 10 ?, shorter ?"  # write yours here


# %%
@demo
def beams_of_the_baseline():
    sources, originals = zip(*corpus.dev[:200], strict=True)
    for beam, alpha in ((1, 0.0), (3, 0.0), (3, 1.0), (10, 0.0), (10, 1.0)):
        decode = partial(beam_search, beam_size=beam, alpha=alpha)
        texts = recover(model, tokenizer, sources, decode)
        words = sum(len(text.split()) for text in texts) / len(texts)
        score = by_sacrebleu.corpus(texts, originals)
        print(f"beam {beam:2d}, alpha {alpha:g}: BLEU {score:.1f}, {words:.2f} words")


# %% [markdown]
# <details><summary>What we measured</summary>
#
# On these 200 sentences, a beam of 3 gained 0.9 points when we ran this (and 1.6 on a
# different computer), and a beam of 10 gained no more. The outputs hardly changed in
# length, and dividing by the length had no effect at all.
#
# </details>
#
# A wider beam usually finds a more probable sentence, but not always, because an
# additional prefix can push out the one that would have won. Nor is a more probable
# sentence always a better one: for more than half of the sentences that Stahlberg and
# Byrne (2019) translated, the most probable translation of all was the empty one.
#
# ## B6. Which mistakes?
#
# In part A you sorted twenty outputs by hand, but to see what a change does to
# thousands of them, you need a program. `mistakes_of` first *aligns* output and
# original, pairing their tokens in order, such that as few pairs as possible differ
# (Levenshtein 1966). For `baker sleeps` and `the baker slept`, the pairs are `(None,
# the)`, which marks a missing token, `(baker, baker)` and `(sleeps, slept)`. Then it
# counts the pairs that differ, each as the **first** kind that fits:
#
# | kind | fits if |
# |---|---|
# | `case` | both tokens are present and equal in lower case |
# | `punctuation` | neither token contains a letter or a digit |
# | `function word` | every token that is present is a function word |
# | `form` | both are present, and their words have the same lemma |
# | `word` | always |
#
# Your kinds from part A may well be better, but a program can tell these five apart.
# Compare the program's ranking with your own.


# %% folded=true
# @title Draw the mistakes of the inserter and the baseline
@demo
def mistakes_by_kind():
    sources, originals = zip(*corpus.dev[:200], strict=True)
    inserter = baselines.Insertion(corpus.train)
    outputs = {
        "inserter": [inserter(source) for source in sources],
        "baseline": recover(model, tokenizer, sources, greedy),
    }
    bars = {name: mistakes_of(texts, originals) for name, texts in outputs.items()}
    pictures.mistakes(KINDS, bars, len(originals), number="6.3")


# %% [markdown]
# Function words are by far the most frequent kind, with 223 of the inserter's 408
# mistakes in 200 sentences and about 60 % of the baseline's (56 of 88 when we ran
# this). `form` is empty because level 2 leaves the inflected forms in the source; at
# level 3 it fills up. Errors of agreement (*ladders is rusty*) and of clause order,
# which you may have marked, hide under "function word" and "word", because a program
# counts only what its author has defined.
#
# ## B7. Inside a trained model
#
# The course comes with a model that was trained for longer, on the embedded corpus at
# level
# 2. You cannot hand it in, but you can look inside while it recovers the sentence at
# the top of this notebook.
#
# **Predict first.** Neither *she* nor the first *the* is in the source. Which word of
# the source does the decoder attend to most while writing *she*, and which while
# writing *the*?

# %%
my_guess = "she ?, the ?"  # write yours here


# %% folded=true
# @title Draw the cross-attention of the shipped model
@demo
def where_it_looks():
    ready, its = load(shipped(), encoder_decoder, segment)
    source = "daughter hungry fed horse field"
    ids = torch.tensor([[*its.encode(source), EOS]])
    target = greedy(ready, ids)
    begun = torch.cat([torch.full((1, 1), BOS), target[:, :-1]], dim=1)
    weights = cross_attention(ready, ids, begun)[-1].mean(0)  # (Lt, Ls), mean of heads
    names = [[its.vocab[i] for i in row] for row in (ids[0], target[0])]
    pictures.cross_attention(weights, *names)


# %% [markdown]
# While it writes *the*, the decoder looks mostly at *horse* (0.55), the noun that
# decides whether an article is needed, and while it writes *she*, at *daughter* (0.98),
# the noun that the pronoun stands for. The map does not prove what the model uses; unit
# 5 showed how to test that, by taking something away.
#
# Now write sentences of your own, some like the one above and some from your own life,
# and before you run the cell, predict which of them will come back intact.

# %%
MY_SENTENCES = [
    "Zoe was finishing the list when the clock struck ten.",
    "The baker forgot her keys.",
    "Gregor Samsa woke from uneasy dreams.",
    "To be, or not to be, that is the question.",
]


# %% folded=true
# @title What the shipped model makes of them
@demo
def sentences_of_your_own():
    ready, its = load(shipped(), encoder_decoder, segment)
    sources = [damage(text, 2) for text in MY_SENTENCES]
    outputs = recover(ready, its, sources, greedy)
    for text, source, output in zip(MY_SENTENCES, sources, outputs, strict=True):
        mark = "✓" if text == output else "✗"
        print(f"{mark} {text}\n   {source}\n   {output}\n")


# %% [markdown]
# A sentence that the grammar could have written usually comes back intact. One that
# only shares the grammar's words may come back changed, because the model prefers what
# was frequent in *its* texts, and Gregor Samsa comes back in pieces that fit nowhere.
# This model scores above 95 BLEU, but only *on this grammar*, which is its **domain**;
# only other data can show how small it is.

# %% [markdown]
# ## C. Your model
#
# From here on there is no correct answer, only a budget and your ideas.
#
# **The rules**
# - All training runs together may use 6,000,000 target tokens, which takes ten to
#   fifteen minutes on two cores with the default sizes. The runs below need nearly nine
#   tenths of them. The runner hands out the batches; a target token counts each time it
#   is handed out.
# - Two things are not allowed: training on batches that did not come through the meter,
#   and starting from the model that comes with the course. Begin with random weights.
# - Everything else is up to you: data, tokenizer, sizes, positions, schedule, loss and
#   decoding. `corpora.generate(seed, n)` writes as many training sentences as you like.
# - Every run is logged in `runs.jsonl`. Before a run you write down your
#   **hypothesis**; after a comparison you write down what the result says you should do
#   **next**. A hypothesis names what you change, what you expect, why, and which result
#   would prove you wrong.
# - The log needs at least six runs, including the three comparisons below: positions,
#   decoding (not on the short path), and one study of the architecture.
#
# You earn points for your model's BLEU and for the *reasoning* in your log, where a run
# that refutes its hypothesis is worth as much as one that confirms it. Part A's
# baseline would earn about a third of the points for BLEU and the reference run nearly
# two thirds; good decisions of your own can earn the rest.
#
# ### The settings, the model and the loop
#
# `build` and `train_smoothed` are part A's `build` and `train` with part B's tools.
# Change them as you like: any key that you add to `SETTINGS` becomes a setting that a
# run can change. `written` only checks whether your hypotheses are there.

# %%
SETTINGS |= {"symbols": 1500, "smoothing": 0.1, "residual": True}


def build(settings: dict, corpus: corpora.Corpus, seed: int) -> tuple:
    """An untrained model and its tokenizer, which has seen train only."""
    texts = [text for pair in corpus.train for text in pair]
    if settings["tokenizer"] == "subwords":
        tokenizer = subwords(texts, settings["symbols"])
    else:
        tokenizer = WordTokenizer.learn(texts, settings["min_freq"])
    torch.manual_seed(seed)
    model = Restorer(sizes_of(settings, len(tokenizer)), encoder_decoder)
    return model.to(WHERE), tokenizer


def train_smoothed(
    model: nn.Module,
    tokenizer,
    corpus: corpora.Corpus,
    meter: TokenMeter,
    settings: dict,
    seed: int,
) -> None:
    """Part A's loop, with label smoothing."""
    loss = partial(smoothed_loss, smoothing=settings["smoothing"])
    train(model, tokenizer, corpus, meter, settings, seed, loss)


@demo
def your_project():
    global project
    project = Project(
        build, train_smoothed, greedy, corpus, SETTINGS,
        parts=encoder_decoder, segment=segment, level=LEVEL,
    )  # fmt: skip
    project.table()


def written(*hypotheses: str) -> bool:
    """Whether all of these hypotheses are written; says so if not."""
    if not all(hypotheses):
        print("The runner waits for your hypothesis: write it between the quotes.")
    return all(hypotheses)


# %% [markdown]
# ### A reference, twice
#
# The first run trains the baseline again, now with label smoothing and 400,000 target
# tokens, and the second repeats the first with a different seed. The difference between
# the two is your yardstick, since a smaller difference between any two runs may be
# luck.


# %%
RUN_TOKENS = 400_000


@demo
def reference_runs():
    why = "The reference that other runs are compared with; nothing is changed."
    project.run("reference", why, tokens=RUN_TOKENS)
    why = "Only the seed changes: this shows how much two equal runs differ."
    project.run("reference seed 1", why, "reference", tokens=RUN_TOKENS, seed=1)


# %% [markdown]
# Each line of the log gives BLEU on dev and the difference from the run chosen for
# comparison, both with 95 % intervals, and sets this difference beside the one
# between your two seeds. A run that does not yet beat the inserter is marked as too
# short to say anything.
#
# In all cells below, the hypothesis is empty and the runner waits for yours: write it
# between the quotation marks, and run the cell. A run that is already in the log is
# only shown again, so "Restart and run all" costs nothing.
#
# ### Comparison 1: sinusoidal or learnt positions?
#
# On the toy task of unit 1, sinusoids and learnt positions did about equally well. Is
# either of the two better here, after 400,000 target tokens, and if so, why? When the
# run is done, look at the whole curves, not just where they end.


# %%
@demo
def positions():
    hypothesis = ""
    if written(hypothesis):
        project.run(
            "learned positions", hypothesis, "reference", tokens=RUN_TOKENS,
            positions="learned",
        )  # fmt: skip
        shown = "reference", "reference seed 1", "learned positions"
        project.curves(*shown, number="6.5")


# %% [markdown]
# While a curve is steep, its height says little, so compare the ends first, and judge a
# gap between two curves against the gap between your two seeds.
#
# <details><summary>What we measured</summary>
#
# With five seeds each, learnt positions reached 95.2 BLEU (94.7 to 96.1) and sinusoids
# 95.0 (94.4 to 95.2), so the two cannot be told apart. In one of these comparisons,
# after a quarter of the tokens, the learnt positions were ten points behind the
# reference, but the reference's own second seed was fifteen points behind. With your
# corpus and level, the result may differ.
#
# </details>
#
# ### Comparison 2: greedy or beams of 3, 5 and 10?
#
# Decoding uses none of the budget, so compare as much as you like: BLEU, the time
# taken, the mean length of the outputs, and the sentences that differ. (On the short
# path, leave this comparison out.)


# %%
@demo
def decoding():
    hypotheses = {3: "", 5: "", 10: ""}
    if written(*hypotheses.values()):
        for k, hypothesis in hypotheses.items():
            search = partial(beam_search, beam_size=k, alpha=1.0)
            project.decode(
                f"beam {k}", "reference", hypothesis, search, beam=k, alpha=1.0
            )
        names = ("reference", "beam 3", "beam 5", "beam 10")
        project.compare(*names, number="6.6")
        texts = [project.texts(name) for name in names]
        for name, of in zip(names, texts, strict=True):
            print(f"{name}: {sum(len(t.split()) for t in of) / len(of):.2f} words")
        differ = [pair for pair in zip(*texts[:2], strict=True) if len(set(pair)) == 2]
        for greedily, wider in differ[:4]:
            print(f"\ngreedy: {greedily}\nbeam 3: {wider}")


# %% [markdown]
# Beams help where an early wrong token makes the rest improbable, and since all of them
# use the *same* model, their gain has nothing to do with seeds.
#
# <details><summary>What we measured</summary>
#
# A beam of 3 gained 0.9 BLEU [+0.3, +1.7], mostly by repeating fewer words. A beam of
# 10 took longer and found almost nothing better.
#
# </details>
#
# ### Comparison 3: one study of the architecture
#
# Pick **one**: heads (2, 4, 8), depth (1, 2, 4), width, dropout, or no residual stream
# from layer to layer (`residual=False`), and change one thing at a time. The cell below
# studies the number of heads, which does not change the number of parameters.


# %%
@demo
def architecture():
    hypotheses = {2: "", 8: ""}
    if written(*hypotheses.values()):
        for heads, hypothesis in hypotheses.items():
            project.run(
                f"{heads} heads", hypothesis, "reference", tokens=RUN_TOKENS,
                num_heads=heads,
            )  # fmt: skip
        project.compare("reference", "2 heads", "8 heads", number="6.7")


# %% [markdown]
# ### Your own ideas
#
# Begin with your diagnosis: what could cure the most frequent kind of mistake? These
# directions are worth trying:
#
# - subwords, with 500 to 4,000 symbols (`tokenizer="subwords"`, needs exercise 6.2; on
#   the short path, begin with another direction, such as `smoothing=0.0`);
# - other data: more sentences seen once, or fewer seen often;
# - the recipe: batch size, peak rate, smoothing, dropout;
# - size against steps: under a fixed budget of tokens, a larger model costs more
#   seconds but no more tokens.
#
# Run several on a small budget, and compare *kinds of mistakes*, not only BLEU. The
# cell below tries subwords twice, because they make a sentence 29 % longer: the first
# run matches the reference in *tokens* and sees fewer sentences, while the second
# matches it in *sentences* and costs more tokens. Which kinds of mistake, if any, will
# become rarer in each run?


# %%
@demo
def my_runs():
    hypotheses = {"subwords": "", "as many sentences": ""}
    if written(*hypotheses.values()):
        project.run(
            "subwords", hypotheses["subwords"], "reference", tokens=RUN_TOKENS,
            tokenizer="subwords",
        )  # fmt: skip
        project.run(
            "as many sentences", hypotheses["as many sentences"], "subwords",
            tokens=RUN_TOKENS * 129 // 100, tokenizer="subwords",
        )  # fmt: skip
        _, originals = zip(*project.dev, strict=True)
        runs = ("reference", *hypotheses)
        kinds = {name: mistakes_of(project.texts(name), originals) for name in runs}
        pictures.mistakes(KINDS, kinds, len(originals), number="6.8")


# %% [markdown]
# <details><summary>What we measured</summary>
#
# With five seeds each, on one thread (means, and the lowest and highest):
#
# | run | target tokens | BLEU | wrong words | wrong function words |
# |---|---|---|---|---|
# | reference | 400,000 | 95.0 (94.4 to 95.2) | 131 (102 to 159) | 155 (144 to 168) |
# | subwords | 400,000 | 89.5 (89.4 to 89.7) | 180 (167 to 210) | 390 (376 to 413) |
# | as many sentences | 516,000 | 92.7 (92.0 to 93.4) | 114 (96 to 130) | 266 (232 to 296) |
#
# On 29,000 image captions that people wrote (Multi30k), subwords were ahead: 48.8 BLEU
# against 46.5, after two minutes of CPU time each, with one seed.
#
# </details>
#
# More than half of the gap was due to the budget: after the same number of sentences,
# the subword model gets no more content words wrong than the reference, only more
# function words. Nor does it follow that whole words are better: of the 10,276 words
# and punctuation marks in dev, only one is unknown here. Had both tokenizers seen 500
# sentences instead of 30,000, whole words would have lost 943 of these, and subwords 4.
#
# After each comparison, write down in one sentence what follows from it.


# %%
@demo
def next_steps():
    after = {
        "reference seed 1": "", "learned positions": "", "beam 3": "", "2 heads": "",
        "subwords": "", "as many sentences": "",
    }  # fmt: skip
    for name, step in after.items():
        if step:
            project.next_step(name, step)
    project.table()
    project.missing()


# %% [markdown]
# ### The final run, and the hand-in
#
# Spend what is left of the budget on your best recipe. `hand_in` writes
# `my_recovery.safetensors`, and `my_corpus.json` for a corpus of your own; hand them in
# with `runs.jsonl` and this notebook.
#
# <details><summary>To hand in a beam</summary>
#
# Decode the final run as in comparison 2, `project.decode("final beam 3", "final",
# hypothesis, partial(beam_search, beam_size=3), beam=3, alpha=1.0)`, and pass this name
# to `hand_in`.
#
# </details>


# %%
@demo
def final_run():
    hypothesis = ""
    if written(hypothesis):
        # Or with all that is left of the budget:
        project.run("final", hypothesis, "reference", tokens=2_400_000)
        project.hand_in("final")


# %% [markdown]
# During grading, your model recovers up to 1,000 unseen sentences of the corpus and
# level named in your file: either the embedded corpus (level 1, 2 or 3) or the test
# part of your own. The grader takes the weights from the file, decodes as the file
# says, and never trains. Your points grow continuously with BLEU:
#
# | share of the points | level 2 | level 3 | who reaches it |
# |---|---|---|---|
# | none | 13.2 | 6.2 | the better of copying and the rule |
# | 1/6 | 62.9 | 28.5 | the inserter |
# | 1/3 | 90.7 | 82.0 | part A's baseline |
# | 2/3 | 95.5 | 87.3 | the reference run |
# | all | 97.0 | 90.0 | a run with a decision of your own |
#
# On your own corpus, the grader measures the inserter: reaching its BLEU earns half of
# the points, and going a fifth of the way from there to 100 earns them all.
#
# ### Exercise 6.8 - The model that you hand in
#
# *time ~5 min · difficulty 1/5 · 24 points*
#
# **Task.** Return the sentence that your model recovers from each source. Use
# `load(handed_in(), encoder_decoder, segment)` to load the checkpoint that you hand in,
# and decode with `recover`.
#
# **Example.** `restore(["baker forgot keys"])` may return
# `["The baker forgot her keys."]`.
#
# <details><summary>Contract</summary>
#
# - One text for each source, in the same order.
# - Decode greedily or by beam search.
#
# </details>
# <details><summary>How it is graded</summary>
#
# The check measures what your function returns. Grading measures what the weights in
# your file produce, and also calls your function with 100 sentences: texts that cannot
# come from these weights earn nothing.
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# Which model produced the outputs above, and which one is in the file?
#
# </details>
# <details><summary>Hint 2: the parts</summary>
#
# ```text
# load(...)      a path, the module of unit 4, your segment    →  model, tokenizer
# recover(...)   model, tokenizer, sources, a way to decode    →  texts
# ```
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# ```text
# model, tokenizer = load what is handed in
# return the recovered sources
# ```
#
# </details>


# %% exercise="text_recovery/model"
def restore(sources: list[str]) -> list[str]:
    """The original sentences of the sources, as well as my model can recover them.

    Args:
        sources: what the pipeline left, one text per sentence.

    Returns:
        One text for each source, in the same order.
    """
    ### BEGIN SOLUTION
    model, tokenizer = load(handed_in(), encoder_decoder, segment)
    return recover(model, tokenizer, sources, greedy)
    ### END SOLUTION


# %% check="text_recovery/model" points=24
# Lets your model recover sentences that it has never seen, and measures BLEU.
check("text_recovery/model", restore)

# %% [markdown]
# **Question 2** (16 points, time ~90 min including runs, hypotheses and next steps).
# Comment on the three runs in `runs.jsonl` that taught you most, including at least one
# that refuted its hypothesis or showed nothing. What did you expect and why, what do
# the numbers and their intervals allow you to say, and what did you do next?
#
# *Points: hypotheses that name a mechanism and say what would refute
# them (4), comparisons that change one thing at an equal budget and allow for the
# spread between seeds (4), claims that the intervals support, including "no difference"
# (4), and next steps that follow from results rather than from habit (4).*

# %% [markdown] written="text_recovery/log" points=16
# *Your answer here*
#
# ### BEGIN SOLUTION
# **1. Learnt positions.** I expected them to be worse, because sinusoids let the model
# attend to neighbours from the start, whereas with random vectors it has to learn to;
# refuted if the interval of the difference contains 0. Both have 95.7, −0.1 [−0.9,
# +0.8], so it is refuted. After 100,000 tokens the learnt ones were behind, as
# expected, with 56 on 100 sentences against 65, but the reference with another seed has
# 50 at this point, so I can show no difference, early or late. Next: positions are
# settled, and I turn to the mistakes that part A showed.
#
# **2. Beam search.** I expected fewer repeated words from a beam of 3, because one bad
# token no longer decides the rest; refuted if "word" mistakes do not fall. They fell
# from 102 to 70, and BLEU rose by 0.9 [+0.3, +1.7], which no seed can explain, since
# the weights are the same. Beams of 5 and 10 bring no further gain outside the
# intervals. Next: I hand in a beam of 3.
#
# **3. Subwords.** I expected fewer wrong words, because rare words are spelt from parts
# that the model knows; refuted if their number does not fall. It rose from 102 to 178,
# and BLEU fell by 6.1 [4.8, 7.3], while my two seeds differ by 1.2. But a sentence has
# 29 % more tokens now, so the model has seen fewer sentences for the same budget, and I
# cannot say whether that is the only cause. Next: subwords once more, with the same
# number of sentences as the reference.
# ### END SOLUTION

# %% [markdown]
# ## D. One page
#
# **Question 3** (16 points, time ~45 min). Write one page for a reader who knows the
# Transformer but not your project.
#
# 1. The task and the data, and why the split is fair.
# 2. The model and its training, in enough detail for the reader to repeat it.
# 3. The result, with its interval, next to the baselines' results; which kinds of
#    mistake remain, and how that compares with your diagnosis in part A.
# 4. Five sentences from your own life: what your model makes of them
#    (`restore([damage(text, LEVEL) for text in ...])`), what does not come back, and
#    why.
# 5. One thing that did not work or surprised you, and what you would try next.
#
# *Points: task, data and split (3), a recipe that can be repeated (3), results with
# intervals beside those of the baselines, and kinds of mistake compared with the
# diagnosis (4), the model outside its domain (2), and a surprise that leads to a next
# step (4).*

# %% [markdown] written="text_recovery/page" points=16
# *Your answer here*
#
# ### BEGIN SOLUTION
# **Task and data.** Sentences are lower-cased, stripped of punctuation and of function
# words; the model writes the originals. 30,000 generated sentences for training, 1,000
# each for dev and test; a hash of (who, does, what) decides the split, so nothing that
# a test sentence says was said in training. **Model.** Pre-norm Transformer, 2+2
# layers, d_model 128, 4 heads, d_ff 512, one embedding of 2,155 words for source,
# target and output; AdamW (0.9, 0.98), peak rate 0.003, warm-up over a tenth of 400,000
# target tokens, then cosine to 2 %, batches of 24, label smoothing 0.1, greedy
# decoding. **Result.** On dev: copy 8, rule 13, inserter 64, model 95.7 [94.8, 96.6]
# with seed 0 and 94.5 with seed 1; 881 of 1,000 sentences are exactly right. In part A,
# 7 of my 20 mistakes were determiners and 5 lost or repeated words; since then, wrong
# function words have fallen from 322 to 139, and other wrong words from 248 to 102.
# **Outside.** Of five sentences about my week, one came back ("The baker forgot her
# keys."), while the names in the others became names from the grammar, which knows
# 2,000 words. **Surprise.** Half of the remaining determiner mistakes are choices that
# nobody could predict, such as *his bracelet* or *the bracelet*. Next I would measure
# the ceiling this sets, by counting dev sources that occur in train with two different
# originals.
# ### END SOLUTION

# %% [markdown]
# ## Your merges in the machine
#
# Given the 48,900 merges from the chat model's file, your `segment` cuts words into the
# very pieces that the model was trained on. Units 1 to 5 have filled the other slots,
# so your own functions now split the question into tokens, embed them, pass information
# between them, and write the answer.


# %%
@demo
def all_six_slots():
    global slots
    slots = chat.filled(
        "01_positional_encoding",
        "02_attention",
        "03_multi_head_attention",
        "04_encoder_decoder",
        "05_sequence_reversal",
    )
    runs = {"with all of your parts": slots | {"segment": segment}}
    chat.ask("What is the capital of France?", runs)


# %% [markdown]
# **Predict first.** Would the model still find the capital if `segment` used only the
# first 300 merges, the first 100, or none at all?

# %%
my_guess = "300 merges ?, 100 merges ?, none ?"  # write yours here


# %%
def with_first_merges(count: int) -> Callable[..., list[str]]:
    """Your `segment`, limited to the first merges."""
    return lambda word, merges: segment(word, merges[:count])


@demo
def fewer_merges():
    counts = (300, 100, 0)
    runs = {f"{n} merges": slots | {"segment": with_first_merges(n)} for n in counts}
    chat.ask("What is the capital of France?", runs)


# %% [markdown]
# With 300 merges the prompt grows from 37 to 70 tokens, and the answer stays correct.
# With 100 (85 tokens) it is *Franconia*, "a medieval kingdom in the north of England",
# and with none (127 tokens) the model ends its turn at once. If we then keep just
# *system*, *user* and *assistant* whole, it explains *the word "ferr"*: it still reads
# the letters, but no longer the words, presumably because its training text was hardly
# ever cut like this.
#
# ## What you built
#
# You have built a whole project, from raw text to a measured model: a baseline whose
# mistakes you read first, subwords, BLEU, a test for differences, beam search, a log
# and a page.
#
# **Next, if you like:** unit 7 replaces the parts of this 2017 machine, one by one,
# with the ones in use today.
#
# ## Go further
#
# - Set `CORPUS` to a novel of your choice (Project Gutenberg has plain texts), or
#   `LEVEL` to 3, and repeat the runs that convinced you. Which conclusions survive?
# - Sample eight sentences for each source, and take the one that agrees best with the
#   others, by BLEU (minimum Bayes risk; Kumar and Byrne 2004).
# - Start byte-pair encoding from the 256 bytes instead of characters, as GPT-2 did.
#   Then no text contains unknown symbols.
#
# ## Where you stand
#
# Here are your points so far, and what to do next; run the cell again whenever you have
# solved an exercise.

# %%
check.summary()
