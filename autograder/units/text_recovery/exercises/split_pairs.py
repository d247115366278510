"""Pairs, split by a hash."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.units.text_recovery.exercises._inputs import (
    closed_class,
    natural_sentences,
    normal_text,
)


def _pairs(draw: Draw, count: int) -> Inputs:
    """Pairs; some with empty sources, some repeated, some with a repeated source."""
    sentences = natural_sentences(draw, count)
    pairs = [[" ".join(w for w in normal_text(s).split() if w not in closed_class()), s] for s in sentences]
    for words, target in pairs[: count // 3]:
        pairs.append([f"Ödön's {words} café ", target])  # an old target
        pairs.append([f"{words} mm", ""])
        pairs.append([f"{words} as is", f"{words} as is"])  # nothing was thrown away
    for place in draw.ids(0, count // 2, 6).tolist():
        pairs.append(list(pairs[place]))
        pairs.append([pairs[place][0], pairs[place][1].upper()])
        pairs.insert(place, ["", "So be it!"])
    return {"pairs": json.dumps(pairs)}


def _few(draw: Draw) -> Inputs:
    """So few that some splits stay empty."""
    some = [pair for pair in json.loads(_pairs(draw, 12)["pairs"]) if pair[0]]
    return {"pairs": json.dumps(some[5:6] * 2)}


CASES = [
    case("some", "120 pairs", lambda draw: _pairs(draw, 120),
         "The SHA-256 of the source, as a number modulo 20, decides."),
    case("many", "300 pairs", lambda draw: _pairs(draw, 300),
         "Empty sources go, repeated pairs are kept once, the order stays."),
    case("one", "a single pair, twice", _few,
         "The dict has all three keys, also where a split is empty.",
         tells=("all_in_train", "by_target", "by_both", "other_hash", "half_hash")),
    case("more", "250 other pairs", lambda draw: _pairs(draw, 250),
         "The same for other texts.", hidden_only=True),
]

MISTAKES = [
    wrong("by_target",
          "The target decides the split: two sentences with the same source can land on both sides.",
          "What does the model get to see at test time, and could it have seen it in training?",
          edit("source.encode()", "target.encode()")),
    wrong("by_both",
          "Source and target decide together, so equal sources are torn apart.",
          "Which of the two may alone decide?",
          edit("source.encode()", "(source + target).encode()")),
    wrong("empty_kept",
          "Pairs with an empty source are still there.",
          "What could a model recover from nothing?",
          edit("if source:", "if True:")),
    wrong("repeats_kept",
          "Repeated pairs are kept each time.",
          "How do you walk through different pairs only?",
          edit("dict.fromkeys(pairs)", "pairs")),
    wrong("sources_once",
          "Only one pair of each source is left: two targets may share a source.",
          "What counts as a repeated *pair*?",
          source("""
              def split_pairs(pairs):
                  splits, seen = {'train': [], 'dev': [], 'test': []}, set()
                  for source, target in pairs:
                      if source and source not in seen:
                          seen.add(source)
                          n = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20
                          splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))
                  return splits
              """)),
    wrong("by_place",
          "The place in the list decides, not the text: after a change of order another split comes out.",
          "Which split would the same pair have in a longer list?",
          source("""
              def split_pairs(pairs):
                  kept = [p for p in dict.fromkeys(pairs) if p[0]]
                  n = len(kept) // 20
                  return {'test': kept[:n], 'dev': kept[n:2 * n], 'train': kept[2 * n:]}
              """)),
    wrong("swapped",
          "Dev and test are exchanged.",
          "Which remainder belongs to test?",
          edit('{0: "test", 1: "dev"}', '{1: "test", 0: "dev"}')),
    wrong("modulo_10",
          "A tenth of the pairs goes to test, not a twentieth.",
          "Modulo which number?",
          edit("16) % 20", "16) % 10")),
    wrong("other_hash",
          "Another hash is used, or another part of it.",
          "Is it SHA-256, and all of its digits as one number?",
          edit("hashlib.sha256", "hashlib.md5")),
    wrong("half_hash",
          "Only some digits of the hash decide.",
          "How long is `hexdigest()`, and how much of it makes the number?",
          edit(".hexdigest(), 16)", ".hexdigest()[:8], 16)")),
    wrong("python_hash",
          "Python's `hash` decides: it gives other numbers in every session.",
          "Would you find the same test set tomorrow?",
          source("""
              def split_pairs(pairs):
                  splits = {'train': [], 'dev': [], 'test': []}
                  for source, target in dict.fromkeys(pairs):
                      if source:
                          n = sum(map(ord, source)) % 20
                          splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))
                  return splits
              """)),
    wrong("misaligned",
          "Sources and targets were filtered apart from each other: behind the first empty source no pair belongs "
          "together any more.",
          "Compare the tenth pair with the tenth line of the text. Whose target is it?",
          source("""
              def split_pairs(pairs):
                  splits = {'train': [], 'dev': [], 'test': []}
                  pairs = list(dict.fromkeys(pairs))
                  sources = [s for s, _ in pairs if s]
                  targets = [t for _, t in pairs]
                  for source, target in zip(sources, targets):
                      n = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20
                      splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))
                  return splits
              """)),
    wrong("reversed",
          "Pairs are exchanged: the target stands first.",
          "In which order do source and target come?",
          edit(".append((source, target))", ".append((target, source))")),
    wrong("all_in_train",
          "Everything is in train.",
          "When is a remainder 0 or 1?",
          edit('.get(number, "train")', '.get(str(number), "train")')),
    wrong("sorted",
          "The order of the pairs has changed.",
          "Does `set` or `sorted` keep an order?",
          edit("dict.fromkeys(pairs)", "sorted(set(pairs))")),
    wrong("pairs_as_lists",
          "The pairs are right, but they are lists; tuples are asked for.",
          "What was wrong with the pairs as you were given them?",
          edit("append((source, target))", "append([source, target])")),
    wrong("equal_sides_left_out",
          "Pairs whose source is the target, too, are missing.",
          "Which pairs does the text leave out, and no others?",
          edit("if source:", "if source and source != target:")),
]

ACCEPTED = [
    right("seen_set", source("""
        def split_pairs(pairs):
            train, dev, test, seen = [], [], [], set()
            for pair in pairs:
                if not pair[0] or pair in seen:
                    continue
                seen.add(pair)
                r = int(hashlib.sha256(pair[0].encode('utf-8')).hexdigest(), base=16) % 20
                (test if r == 0 else dev if r == 1 else train).append(pair)
            return dict(train=train, dev=dev, test=test)
        """)),
    right("from_bytes", source("""
        def split_pairs(pairs):
            def number(s):
                return int.from_bytes(hashlib.sha256(bytes(s, 'utf8')).digest(), 'big') % 20
            kept = [p for p in dict.fromkeys(pairs) if p[0] != '']
            return {'test': [p for p in kept if number(p[0]) == 0],
                    'dev': [p for p in kept if number(p[0]) == 1],
                    'train': [p for p in kept if number(p[0]) > 1]}
        """)),
    right("lists", source("""
        def split_pairs(pairs):
            out = defaultdict(list, train=[], dev=[], test=[])
            for i, (s, t) in enumerate(pairs):
                if len(s) == 0 or (s, t) in pairs[:i]:
                    continue
                n = int(hashlib.sha256(s.encode()).hexdigest(), 16) % 20
                out['test' if n == 0 else 'dev' if n == 1 else 'train'].append((s, t))
            return out
        """)),
]

EXERCISE = Specification(
    name="text_recovery/split_pairs", title="Pairs, split by a hash", target="split_pairs", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
