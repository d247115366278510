"""Other styles in which BLEU of a corpus is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted

ACCEPTED = [
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
]
