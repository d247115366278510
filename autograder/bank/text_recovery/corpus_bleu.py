"""BLEU of a corpus."""

from __future__ import annotations

import json

from autograder.bank.text_recovery._inputs import natural_sentences, some_of
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


def _shuffled(draw: Draw, items: list[str]) -> list[str]:
    return some_of(draw, items, len(items))


def _blurred(draw: Draw, text: str, share: float) -> str:
    """The text with some words dropped, doubled or exchanged."""
    words = text.split()
    for i in range(len(words)):
        if bool(draw.flags(1, chance=share)):
            word = words[i]
            kinds = ("", f"{word} {word}", "the", word.lower(), word.strip('.,!?"'))
            words[i] = kinds[int(draw.ids(0, len(kinds), 1))]
    return " ".join(" ".join(words).split())


_ALL = [
    f"{tokens}, {smooth}, {order}"
    for tokens in ("13a", "none")
    for smooth in ("exp", "none")
    for order in ("all orders", "effective order")
]


def _corpus(draw: Draw, count: int, references: int, share: float) -> Inputs:
    originals = natural_sentences(draw, count)
    hypotheses = [_blurred(draw, text, share) for text in originals]
    for i in range(0, count, 2):
        hypotheses[i] = " ".join(hypotheses[i].split()[:-2])
    others = [
        [text, *(_blurred(draw, text, 0.3) for _ in range(references - 1))]
        for text in originals
    ]
    for row in others:  # a very short reference that is never the closest
        row[2:] = [" ".join(text.split()[:2]) for text in row[2:]]
    return {
        "hypotheses": json.dumps(hypotheses),
        "references": json.dumps(others),
        "switches": json.dumps(_ALL),
    }


def _wordy(draw: Draw) -> Inputs:
    """Hypotheses that are longer than their references: no brevity penalty."""
    originals = natural_sentences(draw, 9)
    longer = [f"{_blurred(draw, text, 0.1)} And so on and on." for text in originals]
    return {
        "hypotheses": json.dumps(longer),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[:3]),
    }


def _brief(draw: Draw) -> Inputs:
    """Hypotheses of up to three words, so that orders are missing; one is empty."""
    originals = natural_sentences(draw, 6)
    starts = [" ".join(text.split()[: 1 + i % 3]) for i, text in enumerate(originals)]
    starts[1], starts[2] = starts[1].replace(" ", " so "), ""
    return {
        "hypotheses": json.dumps(starts),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[4:]),
    }


def _no_match(draw: Draw) -> Inputs:
    """Some orders without a match: no common four-gram, or no common word at all."""
    originals = natural_sentences(draw, 4)
    jumbled = [" ".join(_shuffled(draw, text.split())) for text in originals]
    return {
        "hypotheses": json.dumps(jumbled),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _nothing(draw: Draw) -> Inputs:
    """Not one word in common; all outputs have four tokens and more."""
    originals = natural_sentences(draw, 3)
    return {
        "hypotheses": json.dumps(["qu qa qe qi qo"] * 3),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _silent(draw: Draw) -> Inputs:
    """All outputs are empty."""
    originals = natural_sentences(draw, 2)
    return {
        "hypotheses": json.dumps(["", ""]),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL),
    }


def _lengths(draw: Draw) -> Inputs:
    """Two references, one shorter and one longer by the same number of tokens.

    The longest row has another word within, so that the score is not always 100.
    """
    rows = [text.rstrip(".?!\"'") for text in natural_sentences(draw, 5)]
    others = [
        [" ".join([*t.split(), "so", "it", "is"]), " ".join(t.split()[:-3])]
        for t in rows
    ]
    others[0].reverse()  # the shorter one does not always come last
    others[3].reverse()
    words = max((text.split() for text in rows), key=len)
    rows[rows.index(" ".join(words))] = " ".join([*words[:3], "so", *words[4:]])
    return {
        "hypotheses": json.dumps(rows),
        "references": json.dumps(others),
        "switches": json.dumps(["none, exp, all orders"]),
    }


_LOGS = """
logs, share = 0.0, 1.0
for found, total in zip(matches[:orders], totals, strict=False):
    if found == 0 and smooth == "none":
        return 0.0
    if found == 0:
        share /= 2
    logs += math.log((found or share) / total)
return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / orders)
"""
_CLOSEST = "min(map(len, wanted), key=lambda size: (abs(size - len(tokens)), size))"
_BP = "min(1.0, math.exp(1 - r / h))"

EXERCISE = Specification(
    name="text_recovery/corpus_bleu",
    title="BLEU of a corpus",
    target="corpus_bleu",
    cases=[
        CaseKind(
            name="good",
            title="good outputs, one reference",
            inputs=lambda draw: _corpus(draw, 12, 1, 0.1),
            hint="Counts are added up over all sentences; then, once, everything else.",
        ),
        CaseKind(
            name="references",
            title="poorer outputs, three references",
            inputs=lambda draw: _corpus(draw, 10, 3, 0.35),
            hint="With several references the length closest to the hypothesis counts.",
        ),
        CaseKind(
            name="nothing",
            title="outputs without one right word",
            inputs=_nothing,
            hint="Smoothing helps orders without a match, not a corpus without any.",
        ),
        CaseKind(
            name="silent",
            title="all outputs are empty",
            inputs=_silent,
            hint="Nothing matches: BLEU is 0, and nothing is divided by h = 0.",
        ),
        CaseKind(
            name="wordy",
            title="outputs that are too long",
            inputs=_wordy,
            hint="The brevity penalty is never larger than 1.",
        ),
        CaseKind(
            name="brief",
            title="outputs of three words at most",
            inputs=_brief,
            hint="Without any 4-gram, `effective_order` decides.",
        ),
        CaseKind(
            name="jumbled",
            title="shuffled outputs",
            inputs=_no_match,
            hint="Orders without a match: `smooth` decides.",
        ),
        CaseKind(
            name="lengths",
            title="two references, equally far in length",
            inputs=_lengths,
            hint="Of two equally close references the shorter one counts.",
        ),
        CaseKind(
            name="more",
            title="other outputs, two references",
            inputs=lambda draw: _corpus(draw, 25, 2, 0.2),
            hint="The same for other texts.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="mean_of_sentences",
            says="This is the mean of the sentences' BLEUs. BLEU adds up counts over "
            "the corpus first.",
            asks="What does a perfect sentence of three words add to the mean, and "
            "what to the counts?",
            ways=[Way(source="""
                def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):
                    def one(text, originals):
                        tokens, wanted = tokenize(text), [tokenize(o) for o in originals]
                        pairs = [clipped_matches(tokens, wanted, n) for n in range(1, 5)]
                        orders = sum(t > 0 for _, t in pairs) if effective_order else 4
                        if not any(m for m, _ in pairs) or any(t == 0 for _, t in pairs[:orders]):
                            return 0.0
                        logs, share = 0.0, 1.0
                        for m, t in pairs[:orders]:
                            if m == 0 and smooth == 'none':
                                return 0.0
                            if m == 0:
                                share /= 2
                            logs += math.log((m or share) / t)
                        r = min(map(len, wanted), key=lambda n: (abs(n - len(tokens)), n))
                        return 100 * min(1.0, math.exp(1 - r / len(tokens))) * math.exp(logs / orders)
                    scores = [one(*row) for row in zip(hypotheses, references)]
                    return sum(scores) / len(scores)
                """)],
        ),
        Mutant(
            name="unigrams_only",
            says="Only single words are counted: a shuffled sentence would be perfect.",
            asks="Which orders does BLEU-4 count?",
            ways=[Way(edits=[
                Edit("orders = sum(total > 0 for total in totals) if effective_order else 4",
                     "orders = 1"),
            ])],
        ),
        Mutant(
            name="no_brevity_penalty",
            says="There is no brevity penalty: who says nothing wrong by saying little "
            "wins.",
            asks="What would the single word `The` score?",
            ways=[Way(edits=[Edit("min(1.0, math.exp(1 - r / h)) * ", "")])],
        ),
        Mutant(
            name="penalty_inverted",
            says="The brevity penalty hits long outputs and spares short ones.",
            asks="Is it r / h or h / r?",
            ways=[Way(edits=[Edit(_BP, "min(1.0, math.exp(1 - h / r))")])],
        ),
        Mutant(
            name="penalty_ratio",
            says="The brevity penalty is h / r, not an exponential.",
            asks="What does the formula say?",
            ways=[Way(edits=[Edit(_BP, "min(1.0, h / r)")])],
        ),
        Mutant(
            name="penalty_rewards",
            says="Long outputs are rewarded: the penalty can be larger than 1.",
            asks="What is the largest value of BP?",
            ways=[Way(edits=[Edit(_BP, "math.exp(1 - r / h)")])],
        ),
        Mutant(
            name="penalty_per_sentence",
            says="The brevity penalty is computed for each sentence and averaged.",
            asks="Whose lengths are h and r?",
            ways=[Way(edits=[
                Edit("h, r = [0] * 4, [0] * 4, 0, 0",
                     "h, r, parts = [0] * 4, [0] * 4, 0, 0, []"),
                Edit(
                    "h += len(tokens)",
                    """
                    near = min(map(len, wanted), key=lambda n: (abs(n - len(tokens)), n))
                    parts.append(min(1.0, math.exp(1 - near / len(tokens))) if tokens else 0.0)
                    h += len(tokens)
                    """,
                ),
                Edit(_BP, "sum(parts) / len(parts)"),
            ])],
        ),
        Mutant(
            name="arithmetic_mean",
            says="The precisions are averaged by adding them up; BLEU takes the "
            "geometric mean.",
            asks="What is the fourth root of a product?",
            ways=[Way(edits=[
                Edit(
                    _LOGS,
                    """
                    share, precisions = 1.0, []
                    for found, total in zip(matches[:orders], totals, strict=False):
                        if found == 0 and smooth == "none":
                            return 0.0
                        if found == 0:
                            share /= 2
                        precisions.append((found or share) / total)
                    return 100 * min(1.0, math.exp(1 - r / h)) * sum(precisions) / orders
                    """,
                ),
            ])],
        ),
        Mutant(
            name="halving_weights",
            says="The orders weigh 1/2, 1/4, 1/8, 1/16 instead of a quarter each.",
            asks="Which weights has BLEU-4?",
            ways=[Way(edits=[
                Edit("logs, share = 0.0, 1.0", "logs, share, weight = 0.0, 1.0, 1.0"),
                Edit(
                    "logs += math.log((found or share) / total)",
                    """
                    weight /= 2
                    logs += orders * weight * math.log((found or share) / total)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="three_orders",
            says="Only n-grams up to 3 are counted.",
            asks="What is the 4 in BLEU-4?",
            ways=[Way(edits=[
                Edit("orders = sum(total > 0 for total in totals) if effective_order else 4",
                     "orders = min(3, sum(total > 0 for total in totals)) if effective_order else 3"),
            ])],
        ),
        Mutant(
            name="zero_to_one",
            says="The result lies between 0 and 1.",
            asks="What does 100 mean in BLEU?",
            ways=[Way(edits=[Edit("return 100 * min", "return min")])],
        ),
        Mutant(
            name="lower_cased",
            says="The texts are lower-cased: nobody sees whether case was recovered.",
            asks="Which half of the task is to recover case?",
            ways=[Way(edits=[
                Edit("tokens, wanted = tokenize(text), [tokenize(original) for",
                     "tokens, wanted = tokenize(text.lower()), [tokenize(original.lower()) for"),
            ])],
        ),
        Mutant(
            name="signs_stripped",
            says="Signs are stripped before counting: nobody sees whether they were "
            "recovered.",
            asks="Do commas count?",
            ways=[Way(edits=[
                Edit(
                    "tokens, wanted = tokenize(text), [tokenize(original) for",
                    r"""
                    strip = lambda t: re.sub(r'[^\w\s]', '', t)
                    tokens, wanted = tokenize(strip(text)), [tokenize(strip(original)) for
                    """,
                ),
            ])],
        ),
        Mutant(
            name="split_always",
            says="Texts are cut at spaces, whatever `tokenize` says.",
            asks="What is `key.` after `split`, and after 13a?",
            ways=[Way(edits=[
                Edit("tokens, wanted = tokenize(text), [tokenize(original) for",
                     "tokens, wanted = text.split(), [original.split() for"),
            ])],
        ),
        Mutant(
            name="characters",
            says="The n-grams are made of characters: a text was counted, not its "
            "tokens.",
            asks="What does `tokenize` return, and did you use it?",
            ways=[Way(edits=[
                Edit("tokens, wanted = tokenize(text), [tokenize(original) for",
                     "tokens, wanted = list(text), [list(original) for"),
            ])],
        ),
        Mutant(
            name="swapped",
            says="Hypotheses and references are exchanged: precision has become "
            "recall.",
            asks="Whose n-grams are asked to match?",
            ways=[Way(source="""
                def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):
                    matches, totals, h, r = [0] * 4, [0] * 4, 0, 0
                    for text, originals in zip(hypotheses, references):
                        tokens, wanted = tokenize(originals[0]), [tokenize(text)]
                        for n in range(4):
                            m, t = clipped_matches(tokens, wanted, n + 1)
                            matches[n] += m; totals[n] += t
                        h += len(tokens); r += len(wanted[0])
                    orders = sum(t > 0 for t in totals) if effective_order else 4
                    if not any(matches) or 0 in totals[:orders]:
                        return 0.0
                    logs, share = 0.0, 1.0
                    for m, t in zip(matches[:orders], totals):
                        if m == 0 and smooth == 'none':
                            return 0.0
                        if m == 0:
                            share /= 2
                        logs += math.log((m or share) / t)
                    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / orders)
                """)],
        ),
        Mutant(
            name="first_reference",
            says="Only the first reference is used.",
            asks="Where are the others?",
            ways=[Way(edits=[
                Edit("[tokenize(original) for original in originals]",
                     "[tokenize(original) for original in originals[:1]]"),
            ])],
        ),
        Mutant(
            name="references_as_characters",
            says="Each reference was taken apart into characters: one level of lists "
            "is missing, or one too many.",
            asks="What is `references[0]`, and what is `references[0][0]`?",
            ways=[Way(edits=[
                Edit("for original in originals]", "for original in originals[0]]"),
            ])],
        ),
        Mutant(
            name="one_sentence",
            says="Only one sentence was scored: `zip` stopped there without a word.",
            asks="Which of the two lists was shorter, and why?",
            ways=[Way(edits=[
                Edit("in zip(hypotheses, references, strict=True)",
                     "in list(zip(hypotheses, references))[:1]"),
            ])],
        ),
        Mutant(
            name="joined_corpus",
            says="The sentences were joined into one text: n-grams cross the borders "
            "of sentences.",
            asks="Is the end of one sentence and the beginning of the next an n-gram?",
            ways=[Way(edits=[
                Edit(
                    "for text, originals in zip(hypotheses, references, strict=True):",
                    """
                    hypotheses = [' '.join(hypotheses)]
                    references = [[' '.join(o[min(i, len(o) - 1)] for o in references) for i in range(max(map(len, references)))]]
                    for text, originals in zip(hypotheses, references, strict=True):
                    """,
                ),
            ])],
        ),
        Mutant(
            name="shortest_reference",
            says="The shortest reference counts for the length, not the closest one.",
            asks="Which reference would a fair judge compare your length with?",
            ways=[Way(edits=[Edit(_CLOSEST, "min(map(len, wanted))")])],
        ),
        Mutant(
            name="longest_reference",
            says="The longest reference counts for the length.",
            asks="Which reference would a fair judge compare your length with?",
            ways=[Way(edits=[Edit(_CLOSEST, "max(map(len, wanted))")])],
        ),
        Mutant(
            name="mean_length",
            says="The references' mean length counts.",
            asks="Which reference is closest in length?",
            ways=[Way(edits=[Edit(_CLOSEST, "sum(map(len, wanted)) / len(wanted)")])],
        ),
        Mutant(
            name="all_lengths",
            says="The lengths of all references are added up.",
            asks="How many references should count for the length?",
            ways=[Way(edits=[Edit(_CLOSEST, "sum(map(len, wanted))")])],
        ),
        Mutant(
            name="tie_to_longer",
            says="Of two equally close references the longer one counts.",
            asks="Which of the two does the text above choose?",
            ways=[Way(edits=[
                Edit("(abs(size - len(tokens)), size)",
                     "(abs(size - len(tokens)), -size)"),
            ])],
        ),
        Mutant(
            name="smoothing_missing",
            says='`smooth="exp"` does nothing: one order without a match makes '
            "everything 0.",
            asks="What becomes of the first order without a match?",
            ways=[Way(edits=[
                Edit('if found == 0 and smooth == "none":', "if found == 0:"),
            ])],
        ),
        Mutant(
            name="smoothing_always",
            says='`smooth="none"` smooths as well.',
            asks="What should one order without a match do to the product?",
            ways=[Way(edits=[
                Edit(
                    """
                    if found == 0 and smooth == "none":
                        return 0.0
                    """,
                    "",
                ),
            ])],
        ),
        Mutant(
            name="smoothing_constant",
            says="Every order without a match gets the same share; it should be halved "
            "each time.",
            asks="What does the second one become?",
            ways=[Way(edits=[Edit("share /= 2", "share = 1 / 2")])],
        ),
        Mutant(
            name="smoothing_one",
            says="An order without a match counts as one match.",
            asks="What is half of one match?",
            ways=[Way(edits=[Edit("share /= 2", "share = 1.0")])],
        ),
        Mutant(
            name="zeros_skipped",
            says="Orders without a match are left out: silence counts as success.",
            asks="What should a precision of 0 do to a product?",
            ways=[Way(edits=[Edit("share /= 2", "continue")])],
        ),
        Mutant(
            name="effective_always",
            says="Missing orders are always left out, also without `effective_order`.",
            asks="What does the switch decide?",
            ways=[Way(edits=[Edit("if effective_order else 4", "or 1")])],
        ),
        Mutant(
            name="effective_never",
            says="`effective_order` does nothing.",
            asks="Which orders exist in texts of three words?",
            ways=[Way(edits=[
                Edit("orders = sum(total > 0 for total in totals) if effective_order else 4",
                     "orders = 4"),
            ])],
        ),
        Mutant(
            name="fourth_root_always",
            says="With fewer orders the fourth root is still taken.",
            asks="Of how many precisions is it the mean?",
            ways=[Way(edits=[Edit("math.exp(logs / orders)", "math.exp(logs / 4)")])],
        ),
    ],
    accepted=[
        Accepted(name="numbers_first", source="""
            def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):
                hyps = [tokenize(t) for t in hypotheses]
                refs = [[tokenize(t) for t in row] for row in references]
                h = sum(map(len, hyps))
                r = sum(sorted((abs(len(w) - len(t)), len(w)) for w in ws)[0][1] for t, ws in zip(hyps, refs))
                stats = []
                for n in (1, 2, 3, 4):
                    pairs = [clipped_matches(t, ws, n) for t, ws in zip(hyps, refs)]
                    stats.append((sum(m for m, _ in pairs), sum(t for _, t in pairs)))
                if effective_order:
                    stats = [s for s in stats if s[1]]
                if not stats or stats[0][0] == 0 or any(t == 0 for _, t in stats):
                    return 0.0
                product, power = 1.0, 2
                for m, t in stats:
                    if not m:
                        if smooth == 'none':
                            return 0.0
                        product *= 1 / (power * t); power *= 2
                    else:
                        product *= m / t
                bp = 1.0 if h >= r else math.exp(1 - r / h)
                return 100.0 * bp * product ** (1 / len(stats))
            """),
        Accepted(name="sacrebleu", source="""
            def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):
                import sacrebleu
                most = max(map(len, references))
                streams = [[row[i] if i < len(row) else None for row in references] for i in range(most)]
                metric = sacrebleu.BLEU(tokenize='none' if tokenize is str.split else '13a',
                                        smooth_method=smooth, effective_order=effective_order)
                return metric.corpus_score(hypotheses, streams).score
            """),
    ],
)
