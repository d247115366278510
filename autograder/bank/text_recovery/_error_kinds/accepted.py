"""Other styles in which the kinds of mistakes are right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="if_chain", source="""
        def error_kinds(pairs, function_words, lemma):
            found = dict.fromkeys(("case", "sign", "function word", "form", "word"), 0)
            for a, b in pairs:
                if a == b:
                    continue
                x, y = (None if s is None else s.lower() for s in (a, b))
                there = {s for s in (x, y) if s is not None}
                if x == y:
                    kind = "case"
                elif not re.search(r"[^\\W_]", "".join(there)):
                    kind = "sign"
                elif there <= function_words:
                    kind = "function word"
                elif x is not None and y is not None and lemma(x) == lemma(y):
                    kind = "form"
                else:
                    kind = "word"
                found[kind] += 1
            return found
        """),
    Accepted(name="rules", source="""
        def error_kinds(pairs, function_words, lemma):
            rules = {
                "case": lambda t: len(t) == 2 and t[0] == t[1],
                "sign": lambda t: all(not c.isalnum() for c in "".join(t)),
                "function word": lambda t: set(t).issubset(function_words),
                "form": lambda t: len(t) == 2 and len(set(map(lemma, t))) == 1,
                "word": lambda t: True,
            }
            counts = defaultdict(int)
            for pair in pairs:
                if len(set(pair)) == 2:
                    there = [s.lower() for s in pair if s]
                    counts[next(k for k, fits in rules.items() if fits(there))] += 1
            return counts
        """),
    Accepted(name="a_list_first", edits=[
        Edit("for pair in pairs if", "for pair in list(pairs) if"),
    ]),
]
