"""Clipped n-gram matches."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification


def _small_texts(draw: Draw, rows: int, references: int, words: str) -> Inputs:
    """Texts of few different words, so that repetitions matter."""
    pool = words.split()

    def text(low: int, high: int) -> list[str]:
        length = int(draw.ids(low, high, 1))
        return [pool[int(i)] for i in draw.ids(0, len(pool), length)]

    made = [[text(3, 12), [text(3, 12) for _ in range(references)]] for _ in range(rows)]
    last = text(4, 8)
    made.append([["the"] * 7, [last] * references])
    made.append([[word.title() for word in last], [last] * references])
    # A reference that is too short for four words in a row stands before the others.
    made.append([last, [last[:3], *[last] * (references - 1)]])
    return {"rows": json.dumps(made)}


def _short_texts(draw: Draw) -> Inputs:
    pool = ["a", "b", "c"]

    def text(length: int) -> list[str]:
        return [pool[int(i)] for i in draw.ids(0, 3, length)]

    rows = [[text(n), [text(m)]] for n, m in ((0, 3), (1, 1), (2, 5), (3, 2), (4, 4))]
    # The same letters and signs, other tokens.
    rows.append([["ab", "c", "c"], [["a", "bc", "c"]]])
    rows += [[["a" + s + "b", "c"], [["a", "b" + s + "c"]]] for s in "-_|"]
    return {"rows": json.dumps([*rows, [text(6), [text(0)]]])}


CASES = [
    case("one", "one reference", lambda draw: _small_texts(draw, 8, 1, "the cat sat on mat"),
         "An n-gram counts at most as often as it occurs in the reference."),
    case("three", "three references", lambda draw: _small_texts(draw, 8, 3, "the dog dog saw a cat"),
         "With several references, an n-gram's limit is its largest count in any of them."),
    case("short", "texts shorter than n", _short_texts,
         "A text of three words has no 4-gram: 0 of 0.", tells=("unordered", "sets_total")),
    case("two", "two references, other words", lambda draw: _small_texts(draw, 12, 2, "the b the c d"),
         "The same for other texts.", hidden_only=True),
]

MISTAKES = [
    wrong("no_clipping",
          "Matches are not clipped: `the the the` matches a reference with one `the` three times.",
          "How often may an n-gram count?",
          edit("(own & allowed).total()", "sum(c for gram, c in own.items() if gram in allowed)")),
    wrong("sets",
          "Each distinct n-gram counts only once.",
          "What does a set forget about repeated items?",
          source("""
              def clipped_matches(hypothesis, references, n):
                  def grams(t):
                      return {tuple(t[i:i + n]) for i in range(len(t) - n + 1)}
                  own = grams(hypothesis)
                  return len(own & set().union(*map(grams, references))), len(own)
              """)),
    wrong("sets_total",
          "Matches are counted with sets: each n-gram counts once.",
          "How often does an n-gram count that occurs twice in both texts?",
          edit("(own & allowed).total()", "len(own & allowed)")),
    wrong("added_up",
          "The counts of several references are added up, so an n-gram may match in each of them.",
          "Which reference decides how often an n-gram may count?",
          edit("allowed |= ngrams(reference)", "allowed += ngrams(reference)")),
    wrong("short_reference_ends",
          "A reference shorter than n hides the references after it.",
          "What does your loop do when a reference has no n-gram?",
          edit("allowed |= ngrams(reference)", """
              if len(reference) < n:
                  break
              allowed |= ngrams(reference)
              """)),
    wrong("smallest",
          "An n-gram must occur in *all* references.",
          "Which of the references has it most often?",
          source("""
              def clipped_matches(hypothesis, references, n):
                  def grams(t):
                      return Counter(tuple(t[i:i + n]) for i in range(len(t) - n + 1))
                  own = grams(hypothesis)
                  left = own
                  for r in references:
                      left = left & grams(r)
                  return left.total(), own.total()
              """)),
    wrong("first_reference",
          "Only the first reference is used.",
          "Where do you use the others?",
          edit("for reference in references:", "for reference in references[:1]:")),
    wrong("best_reference",
          "The best single reference decides for the whole sentence; it should be chosen for each n-gram.",
          "Two n-grams occur in different references: how many match?",
          source("""
              def clipped_matches(hypothesis, references, n):
                  def grams(t):
                      return Counter(tuple(t[i:i + n]) for i in range(len(t) - n + 1))
                  own = grams(hypothesis)
                  return max((own & grams(r)).total() for r in references), own.total()
              """)),
    wrong("total_of_reference",
          "The total counts the n-grams of the reference: that is recall, not precision.",
          "Whose n-grams have to match?",
          edit("own.total()", "allowed.total()")),
    wrong("total_at_least_1",
          "Your total is at least 1, but a sentence of fewer than n tokens has no n-grams.",
          "How many pairs does a sentence of one token have?",
          edit("own.total()", "max(1, own.total())")),
    wrong("last_ngram_lost",
          "The last n-gram is missing.",
          "How many n-grams does a text of L tokens have?",
          edit("len(tokens) - n + 1", "len(tokens) - n")),
    wrong("short_tails",
          "Tails shorter than n count as n-grams.",
          "How many n-grams does a text of L tokens have?",
          edit("range(len(tokens) - n + 1)", "range(len(tokens))")),
    wrong("non_overlapping",
          "Your n-grams do not overlap: every token is used only once.",
          "How many pairs does `a b c` have?",
          edit("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)")),
    wrong("unordered",
          "The order inside an n-gram is lost.",
          "Is `a b` the same as `b a`?",
          edit("tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))")),
    wrong("characters",
          "N-grams are made of characters, not of tokens.",
          "What do you get when you iterate over a string, and what over a list of tokens?",
          edit("Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))",
               "(lambda s: Counter(s[i : i + n] for i in range(len(s) - n + 1)))(' '.join(tokens))")),
    wrong("exactly_n_missing",
          "All orders up to n are counted together.",
          "Is a unigram a bigram?",
          edit("Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))",
               "Counter(tuple(tokens[i : i + m]) for m in range(1, n + 1) for i in range(len(tokens) - m + 1))")),
    wrong("joined_by_hyphens",
          "The tokens of an n-gram are joined by a character that can also occur in a token, so different n-grams can become equal.",
          "Are `a-b`, `c` and `a`, `b-c` the same two tokens?",
          edit("Counter(tuple(tokens[i : i + n])", "Counter('-'.join(tokens[i : i + n])")),
]

ACCEPTED = [
    right("dicts", source("""
        def clipped_matches(hypothesis, references, n):
            def count(tokens):
                table = {}
                for i in range(len(tokens) - n + 1):
                    gram = ' '.join(tokens[i:i + n])
                    table[gram] = table.get(gram, 0) + 1
                return table
            own, others = count(hypothesis), [count(r) for r in references]
            good = sum(min(c, max(o.get(g, 0) for o in others)) for g, c in own.items())
            return good, sum(own.values())
        """)),
    right("zip_ngrams", source("""
        def clipped_matches(hypothesis, references, n):
            grams = lambda t: Counter(zip(*(t[i:] for i in range(n))))
            own = grams(hypothesis)
            most = Counter()
            for reference in map(grams, references):
                for g in reference:
                    most[g] = max(most[g], reference[g])
            return sum((own & most).values()), max(len(hypothesis) - n + 1, 0)
        """)),
]

EXERCISE = Specification(
    name="text_recovery/clipped_matches", title="Clipped n-gram matches", target="clipped_matches", precise=False,
    ready_made=("sacrebleu", "transformer_course.library.bleu"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
