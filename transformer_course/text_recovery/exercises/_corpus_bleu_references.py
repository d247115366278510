"""BLEU of a corpus: references."""

from __future__ import annotations

from autograder.authoring.notation import edit, source, wrong

_CLOSEST = "min(map(len, wanted), key=lambda size: (abs(size - len(tokens)), size))"

REFERENCES = [
    wrong("swapped",
          "Hypotheses and references are swapped: precision has become recall.",
          "Whose n-grams have to match?",
          source("""
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
              """)),
    wrong("first_reference",
          "Only the first reference is used.",
          "Where do you use the others?",
          edit("[tokenize(original) for original in originals]", "[tokenize(original) for original in originals[:1]]")),
    wrong("references_as_characters",
          "Each reference was taken apart into characters: one level of lists is missing, or one too many.",
          "What is `references[0]`, and what is `references[0][0]`?",
          edit("for original in originals]", "for original in originals[0]]")),
    wrong("one_sentence",
          "Only one sentence was scored: `zip` stopped there silently.",
          "Which of the two lists was shorter, and why?",
          edit("in zip(hypotheses, references, strict=True)", "in list(zip(hypotheses, references))[:1]")),
    wrong("joined_corpus",
          "The sentences were joined into one text, so n-grams cross sentence boundaries.",
          "Do the last word of a sentence and the first word of the next form an n-gram?",
          edit("for text, originals in zip(hypotheses, references, strict=True):", """
              hypotheses = [' '.join(hypotheses)]
              references = [[' '.join(o[min(i, len(o) - 1)] for o in references) for i in range(max(map(len, references)))]]
              for text, originals in zip(hypotheses, references, strict=True):
              """)),
    wrong("shortest_reference",
          "The shortest reference counts for the length, not the closest one.",
          "Which reference would a fair judge compare your length with?",
          edit(_CLOSEST, "min(map(len, wanted))")),
    wrong("longest_reference",
          "The longest reference counts for the length.",
          "Which reference would a fair judge compare your length with?",
          edit(_CLOSEST, "max(map(len, wanted))")),
    wrong("mean_length",
          "The mean length of the references counts.",
          "Which reference is closest in length?",
          edit(_CLOSEST, "sum(map(len, wanted)) / len(wanted)")),
    wrong("all_lengths",
          "The lengths of all references are added up.",
          "How many references should count for the length?",
          edit(_CLOSEST, "sum(map(len, wanted))")),
    wrong("tie_to_longer",
          "Of two equally close references, the longer one counts.",
          "Which of the two does the contract choose?",
          edit("(abs(size - len(tokens)), size)", "(abs(size - len(tokens)), -size)")),
    wrong("references_sorted",
          "BLEU is correct, but you have reordered the lists of references.",
          "Which of your steps modifies an argument?",
          edit("return 100 *", """
              for originals in references:
                  originals.sort()
              return 100 *
              """)),
]
