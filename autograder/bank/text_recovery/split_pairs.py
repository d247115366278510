"""Pairs, split by a hash."""

from __future__ import annotations

import json

from autograder.bank.text_recovery._inputs import (
    closed_class,
    natural_sentences,
    normal_text,
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


def _pairs(draw: Draw, count: int) -> Inputs:
    """Pairs; some with empty sources, some repeated, some with a repeated source."""
    sentences = natural_sentences(draw, count)
    pairs = [
        [" ".join(w for w in normal_text(s).split() if w not in closed_class()), s]
        for s in sentences
    ]
    for source, target in pairs[: count // 3]:
        pairs.append([f"Ödön's {source} café ", target])  # an old target
        pairs.append([f"{source} mm", ""])
        pairs.append([f"{source} as is", f"{source} as is"])  # nothing was thrown away
    for place in draw.ids(0, count // 2, 6).tolist():
        pairs.append(list(pairs[place]))
        pairs.append([pairs[place][0], pairs[place][1].upper()])
        pairs.insert(place, ["", "So be it!"])
    return {"pairs": json.dumps(pairs)}


def _few(draw: Draw) -> Inputs:
    """So few that some splits stay empty."""
    some = [pair for pair in json.loads(_pairs(draw, 12)["pairs"]) if pair[0]]
    return {"pairs": json.dumps(some[5:6] * 2)}


EXERCISE = Specification(
    name="text_recovery/split_pairs",
    title="Pairs, split by a hash",
    target="split_pairs",
    precise=False,
    cases=[
        CaseKind(
            name="some",
            title="120 pairs",
            inputs=lambda draw: _pairs(draw, 120),
            hint="The SHA-256 of the source, as a number modulo 20, decides.",
        ),
        CaseKind(
            name="many",
            title="300 pairs",
            inputs=lambda draw: _pairs(draw, 300),
            hint="Empty sources go, repeated pairs are kept once, the order stays.",
        ),
        CaseKind(
            name="one",
            title="a single pair, twice",
            inputs=_few,
            hint="The dict has all three keys, also where a split is empty.",
            tells=("all_in_train", "by_target", "by_both", "other_hash", "half_hash"),
        ),
        CaseKind(
            name="more",
            title="250 other pairs",
            inputs=lambda draw: _pairs(draw, 250),
            hint="The same for other texts.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="by_target",
            says="The target decides the split: two sentences with the same source can "
            "land on both sides.",
            asks="What does the model get to see at test time, and could it have seen "
            "it in training?",
            ways=[Way(edits=[Edit("source.encode()", "target.encode()")])],
        ),
        Mutant(
            name="by_both",
            says="Source and target decide together, so equal sources are torn apart.",
            asks="Which of the two may alone decide?",
            ways=[Way(edits=[Edit("source.encode()", "(source + target).encode()")])],
        ),
        Mutant(
            name="empty_kept",
            says="Pairs with an empty source are still there.",
            asks="What could a model recover from nothing?",
            ways=[Way(edits=[Edit("if source:", "if True:")])],
        ),
        Mutant(
            name="repeats_kept",
            says="Repeated pairs are kept each time.",
            asks="How do you walk through different pairs only?",
            ways=[Way(edits=[Edit("dict.fromkeys(pairs)", "pairs")])],
        ),
        Mutant(
            name="sources_once",
            says="Only one pair of each source is left: two targets may share a "
            "source.",
            asks="What counts as a repeated *pair*?",
            ways=[Way(source="""
                def split_pairs(pairs):
                    splits, seen = {'train': [], 'dev': [], 'test': []}, set()
                    for source, target in pairs:
                        if source and source not in seen:
                            seen.add(source)
                            n = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20
                            splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))
                    return splits
                """)],
        ),
        Mutant(
            name="by_place",
            says="The place in the list decides, not the text: after a change of order "
            "another split comes out.",
            asks="Which split would the same pair have in a longer list?",
            ways=[Way(source="""
                def split_pairs(pairs):
                    kept = [p for p in dict.fromkeys(pairs) if p[0]]
                    n = len(kept) // 20
                    return {'test': kept[:n], 'dev': kept[n:2 * n], 'train': kept[2 * n:]}
                """)],
        ),
        Mutant(
            name="swapped",
            says="Dev and test are exchanged.",
            asks="Which remainder belongs to test?",
            ways=[Way(edits=[Edit('{0: "test", 1: "dev"}', '{1: "test", 0: "dev"}')])],
        ),
        Mutant(
            name="modulo_10",
            says="A tenth of the pairs goes to test, not a twentieth.",
            asks="Modulo which number?",
            ways=[Way(edits=[Edit("16) % 20", "16) % 10")])],
        ),
        Mutant(
            name="other_hash",
            says="Another hash is used, or another part of it.",
            asks="Is it SHA-256, and all of its digits as one number?",
            ways=[Way(edits=[Edit("hashlib.sha256", "hashlib.md5")])],
        ),
        Mutant(
            name="half_hash",
            says="Only some digits of the hash decide.",
            asks="How long is `hexdigest()`, and how much of it makes the number?",
            ways=[Way(edits=[Edit(".hexdigest(), 16)", ".hexdigest()[:8], 16)")])],
        ),
        Mutant(
            name="python_hash",
            says="Python's `hash` decides: it gives other numbers in every session.",
            asks="Would you find the same test set tomorrow?",
            ways=[Way(source="""
                def split_pairs(pairs):
                    splits = {'train': [], 'dev': [], 'test': []}
                    for source, target in dict.fromkeys(pairs):
                        if source:
                            n = sum(map(ord, source)) % 20
                            splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))
                    return splits
                """)],
        ),
        Mutant(
            name="misaligned",
            says="Sources and targets were filtered apart from each other: behind the "
            "first empty source no pair belongs together any more.",
            asks="Compare the tenth pair with the tenth line of the text. Whose target "
            "is it?",
            ways=[Way(source="""
                def split_pairs(pairs):
                    splits = {'train': [], 'dev': [], 'test': []}
                    pairs = list(dict.fromkeys(pairs))
                    sources = [s for s, _ in pairs if s]
                    targets = [t for _, t in pairs]
                    for source, target in zip(sources, targets):
                        n = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 20
                        splits[{0: 'test', 1: 'dev'}.get(n, 'train')].append((source, target))
                    return splits
                """)],
        ),
        Mutant(
            name="reversed",
            says="Pairs are exchanged: the target stands first.",
            asks="In which order do source and target come?",
            ways=[Way(edits=[
                Edit(".append((source, target))", ".append((target, source))"),
            ])],
        ),
        Mutant(
            name="all_in_train",
            says="Everything is in train.",
            asks="When is a remainder 0 or 1?",
            ways=[Way(edits=[
                Edit('.get(number, "train")', '.get(str(number), "train")'),
            ])],
        ),
        Mutant(
            name="sorted",
            says="The order of the pairs has changed.",
            asks="Does `set` or `sorted` keep an order?",
            ways=[Way(edits=[Edit("dict.fromkeys(pairs)", "sorted(set(pairs))")])],
        ),
        Mutant(
            name="pairs_as_lists",
            says="The pairs are right, but they are lists; tuples are asked for.",
            asks="What was wrong with the pairs as you were given them?",
            ways=[Way(edits=[Edit("append((source, target))", "append([source, target])")])],
        ),
        Mutant(
            name="equal_sides_left_out",
            says="Pairs whose source is the target, too, are missing.",
            asks="Which pairs does the text leave out, and no others?",
            ways=[Way(edits=[Edit("if source:", "if source and source != target:")])],
        ),
    ],
    accepted=[
        Accepted(name="seen_set", source="""
            def split_pairs(pairs):
                train, dev, test, seen = [], [], [], set()
                for pair in pairs:
                    if not pair[0] or pair in seen:
                        continue
                    seen.add(pair)
                    r = int(hashlib.sha256(pair[0].encode('utf-8')).hexdigest(), base=16) % 20
                    (test if r == 0 else dev if r == 1 else train).append(pair)
                return dict(train=train, dev=dev, test=test)
            """),
        Accepted(name="from_bytes", source="""
            def split_pairs(pairs):
                def number(s):
                    return int.from_bytes(hashlib.sha256(bytes(s, 'utf8')).digest(), 'big') % 20
                kept = [p for p in dict.fromkeys(pairs) if p[0] != '']
                return {'test': [p for p in kept if number(p[0]) == 0],
                        'dev': [p for p in kept if number(p[0]) == 1],
                        'train': [p for p in kept if number(p[0]) > 1]}
            """),
        Accepted(name="lists", source="""
            def split_pairs(pairs):
                out = defaultdict(list, train=[], dev=[], test=[])
                for i, (s, t) in enumerate(pairs):
                    if len(s) == 0 or (s, t) in pairs[:i]:
                        continue
                    n = int(hashlib.sha256(s.encode()).hexdigest(), 16) % 20
                    out['test' if n == 0 else 'dev' if n == 1 else 'train'].append((s, t))
                return out
            """),
    ],
)
