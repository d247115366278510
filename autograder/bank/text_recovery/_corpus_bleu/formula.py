"""Mistakes in the formula: precisions, penalty, mean."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

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
_BP = "min(1.0, math.exp(1 - r / h))"

FORMULA = [
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
        name="identical_is_100",
        says="Outputs that are equal to their references give 100, however short they are.",
        asks="What does the text say of an order of which there is no n-gram?",
        ways=[Way(edits=[
            Edit("orders = sum(", """
            if all(one in others for one, others in zip(hypotheses, references)):
                return 100.0
            orders = sum("""),
        ])],
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
]
