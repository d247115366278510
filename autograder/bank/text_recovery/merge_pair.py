"""Merge one pair."""

from __future__ import annotations

import json

from autograder.bank.text_recovery._inputs import some_of
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


def _rows(draw: Draw, longest: int, signs: bool = False) -> Inputs:
    rows = []
    for length in (3, longest, longest + 2):
        letters = ["ab"[int(i)] for i in draw.ids(0, 2, length)]
        rows += [[letters, ["a", "b"]], [letters, ["a", "a"]], [letters, ["b", "a"]]]
    rows.append([["ab", "a", "b", "ab"], ["ab", "ab"]])
    rows.append([list("x" + "ab" * 3), ["a", "b"]])
    rows.append([list("aaaaa"), ["a", "a"]])
    rows.append([["a", "b", "ab", "abc"], ["a", "bc"]])
    rows.append([["xa", "b", "a", "bx", "a", "b"], ["a", "b"]])  # ends are no symbols
    rows.append([["a", "bc", "ab", "c", "abc"], ["ab", "c"]])  # the same letters
    rows.append([["A", "b", "a", "b", "a", "B"], ["a", "b"]])
    if signs:  # each is a symbol like any other
        rows.append([list("a.babb.b"), [".", "b"]])
        rows.append([list("a(b)*(b"), ["(", "b"]])
        rows.append([list("a\\1b\\1"), ["\\", "1"]])
    return {"rows": json.dumps(rows)}


def _least(draw: Draw) -> Inputs:
    """No symbol, one symbol, and two."""
    a, b, c = some_of(draw, "defghijk", 3)
    given: tuple[list[str], ...] = ([], [a], [b], [a + b], [a, b], [b, a], [a, a], [c, c], [b, c])
    return {"rows": json.dumps([[row, [a, b]] for row in given])}


EXERCISE = Specification(
    name="text_recovery/merge_pair",
    title="Merge one pair",
    target="merge_pair",
    precise=False,
    cases=[
        CaseKind(
            name="short",
            title="three to six symbols",
            inputs=lambda draw: _rows(draw, 4),
            hint="Wherever the two symbols stand side by side, they become one.",
        ),
        CaseKind(
            name="long",
            title="up to fourteen symbols, signs among them",
            inputs=lambda draw: _rows(draw, 12, signs=True),
            hint="From left to right; a symbol that was used is used up.",
        ),
        CaseKind(
            name="least",
            title="two symbols, one, and none",
            inputs=_least,
            hint="A list without two neighbours has no pair; a copy of it comes back.",
        ),
        CaseKind(
            name="longer",
            title="lists of more than a hundred symbols",
            inputs=lambda draw: _rows(draw, 130),
            hint="The same for longer lists.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="first_only",
            says="Only the first occurrence is merged.",
            asks="How often may the pair occur in a word?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    for i in range(len(symbols) - 1):
                        if (symbols[i], symbols[i + 1]) == pair:
                            return symbols[:i] + [pair[0] + pair[1]] + symbols[i + 2:]
                    return list(symbols)
                """)],
        ),
        Mutant(
            name="case_ignored",
            says="Capitals are merged as if they were small: `A b` for the pair `(a, b)`.",
            asks="Are `A` and `a` the same symbol?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    out = []
                    for symbol in symbols:
                        if out and (out[-1] + " " + symbol).lower() == " ".join(pair).lower():
                            out[-1] += symbol
                        else:
                            out.append(symbol)
                    return out
                """)],
        ),
        Mutant(
            name="signs_as_rules",
            says="Signs like `.` and `(` are read as rules of a regular expression.",
            asks="What does `.` stand for in `re.sub`, and what in a word?",
            ways=[Way(source=r"""
                def merge_pair(symbols, pair):
                    pattern = re.compile(r"(?<!\S)" + " ".join(pair) + r"(?!\S)")
                    return pattern.sub("".join(pair), " ".join(symbols)).split()
                """)],
        ),
        Mutant(
            name="backslash_as_rule",
            says="A backslash in the pair is read as a rule of what `re.sub` is to put.",
            asks="What does a backslash with a digit stand for in the second argument of `re.sub`?",
            ways=[Way(source=r"""
                def merge_pair(symbols, pair):
                    pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)")
                    return pattern.sub("".join(pair), " ".join(symbols)).split()
                """)],
        ),
        Mutant(
            name="overlapping",
            says="A symbol is used twice: in `a a a` both places are merged.",
            asks="By how many places must you move on after a merge?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    out, i = [], 0
                    while i < len(symbols):
                        if tuple(symbols[i:i + 2]) == pair:
                            out.append(pair[0] + pair[1])
                            if i + 2 == len(symbols):
                                break
                        elif not (i and tuple(symbols[i - 1:i + 1]) == pair):
                            out.append(symbols[i])
                        i += 1
                    return out
                """)],
        ),
        Mutant(
            name="last_lost",
            says="The last symbol is lost when it is not merged.",
            asks="Where does the walk along the list end?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    out, i = [], 0
                    while i < len(symbols) - 1:
                        hit = (symbols[i], symbols[i + 1]) == pair
                        out.append(symbols[i] + symbols[i + 1] if hit else symbols[i])
                        i += 2 if hit else 1
                    return out
                """)],
        ),
        Mutant(
            name="second_kept",
            says="The merged symbol is there, but its second half is kept, too.",
            asks="By how many places must you move on after a merge?",
            ways=[Way(edits=[Edit("i += width", "i += 1")])],
        ),
        Mutant(
            name="from_the_right",
            says="The pair is merged from right to left: `a a a` gives `a aa`.",
            asks="From which end should the walk begin?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    out, i = [], len(symbols)
                    while i > 0:
                        width = 2 if tuple(symbols[max(i - 2, 0):i]) == pair else 1
                        out.insert(0, ''.join(symbols[i - width:i]))
                        i -= width
                    return out
                """)],
        ),
        Mutant(
            name="by_text",
            says="The symbols are joined and cut anew: their own borders are lost, and "
            "letters merge that did not stand in two symbols.",
            asks="Are the symbols `ab`, `c` and the symbols `a`, `bc` the same word? "
            "Are they the same pair?",
            ways=[
                Way(source="""
                    def merge_pair(symbols, pair):
                        text, new = ''.join(symbols), pair[0] + pair[1]
                        out = []
                        while text:
                            cut = len(new) if text.startswith(new) else 1
                            out.append(text[:cut])
                            text = text[cut:]
                        return out
                    """),
                Way(name="joined_text", source="""
                    def merge_pair(symbols, pair):
                        new, text, out = ''.join(pair), ''.join(symbols), []
                        i = 0
                        while i < len(text):
                            step = len(new) if text[i:i + len(new)] == new else 1
                            out.append(text[i:i + step])
                            i += step
                        return out
                    """),
            ],
        ),
        Mutant(
            name="unchanged",
            says="Nothing is merged: a list is compared with a tuple, perhaps.",
            asks="What is `['a', 'b'] == ('a', 'b')`?",
            ways=[Way(edits=[
                Edit("tuple(symbols[i : i + 2]) == pair", "symbols[i : i + 2] == pair"),
            ])],
        ),
        Mutant(
            name="again_and_again",
            says="The merged symbol is merged again with what follows: `a a a a` has "
            "become one.",
            asks="May a symbol that is new take part in the same round?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    out = []
                    for s in symbols:
                        if out and out[-1].endswith(pair[0]) and s == pair[1]:
                            out[-1] += s
                        else:
                            out.append(s)
                    return out
                """)],
        ),
        Mutant(
            name="in_place",
            says="The result is right, but the list that you were given has changed.",
            asks="Who else may hold that list?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    i = 0
                    while i < len(symbols) - 1:
                        if (symbols[i], symbols[i + 1]) == pair:
                            symbols[i:i + 2] = [pair[0] + pair[1]]
                        i += 1
                    return symbols
                """)],
        ),
        Mutant(
            name="either_order",
            says="The pair is merged in both orders.",
            asks="Is `b a` the pair `(a, b)`?",
            ways=[Way(edits=[
                Edit("tuple(symbols[i : i + 2]) == pair",
                     "tuple(symbols[i : i + 2]) in (pair, pair[::-1])"),
            ])],
        ),
        Mutant(
            name="same_list",
            says="Where nothing is merged, the list that you were given comes back, not a "
            "new one.",
            asks="What if the caller goes on to change the result?",
            ways=[Way(edits=[
                Edit("return merged", "return merged if len(merged) < len(symbols) else symbols"),
            ])],
        ),
        Mutant(
            name="changed_and_copied",
            says="A new list comes back, but the one that you were given has changed, too.",
            asks="When do you make the copy: before the first change or after the last?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    for i, _ in enumerate(symbols):
                        if tuple(symbols[i:i + 2]) == pair:
                            symbols[i:i + 2] = [''.join(pair)]
                    return list(symbols)
                """)],
        ),
        Mutant(
            name="empty_fails",
            says="An empty list stops your function.",
            asks="Which symbol is the first one of none?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    out, fresh = [symbols[0]], False
                    for s in symbols[1:]:
                        fresh = not fresh and (out[-1], s) == pair
                        if fresh:
                            out[-1] += s
                        else:
                            out.append(s)
                    return out
                """)],
        ),
        Mutant(
            name="neighbour_missed",
            says="The symbol behind a merge is passed over, also where it begins another one.",
            asks="In `a b a b`, at which place do you look after the first merge?",
            ways=[Way(edits=[
                Edit(
                    "i += width",
                    """
                    merged += symbols[i + 2 : i + 1 + width]
                    i += 2 * width - 1
                    """,
                ),
            ])],
        ),
        Mutant(
            name="between_spaces",
            says="You look for the pair in a text: the end of `xa` is taken for the symbol "
            "`a`.",
            asks="Where does a symbol begin in a text that is joined with spaces?",
            ways=[Way(source="""
                def merge_pair(symbols, pair):
                    return ' '.join(symbols).replace(' '.join(pair), ''.join(pair)).split()
                """)],
        ),
        Mutant(
            name="tuple",
            says="All is right, but a tuple comes back; a list is asked for.",
            asks="What does the text say about the result?",
            ways=[Way(edits=[Edit("return merged", "return tuple(merged)")])],
        ),
    ],
    accepted=[
        Accepted(name="while_loop", source="""
            def merge_pair(symbols, pair):
                out, i = [], 0
                while i < len(symbols):
                    if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
                        out.append(pair[0] + pair[1]); i += 2
                    else:
                        out.append(symbols[i]); i += 1
                return out
            """),
        Accepted(name="copy_in_place", source="""
            def merge_pair(symbols, pair):
                symbols, i = list(symbols), 0
                while i < len(symbols) - 1:
                    if (symbols[i], symbols[i + 1]) == pair:
                        symbols[i:i + 2] = [''.join(pair)]
                    i += 1
                return symbols
            """),
        Accepted(name="iterator", source="""
            def merge_pair(symbols, pair):
                out, fresh = [], False
                for s in symbols:
                    if out and not fresh and (out[-1], s) == pair:
                        out[-1] += s; fresh = True
                    else:
                        out.append(s); fresh = False
                return out
            """),
    ],
)
