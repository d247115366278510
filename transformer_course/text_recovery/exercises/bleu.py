"""Cases and mistakes for an exercise: BLEU with one reference, unsmoothed."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import (
    blur_words,
    draw_sentences,
    list_words,
)


def _pack_texts(hypotheses: list[str], references: list[str]) -> Inputs:
    """The inputs of a case, in which texts are stored as JSON."""
    return {"hypotheses": json.dumps(hypotheses), "references": json.dumps(references)}


def _draw_corpus(draw: Draw, count: int, share: float, shorter: int = 0) -> Inputs:
    """Draw sentences, and outputs that differ from them in at most about this share of the words.

    Of each output, the first ``shorter`` words are left out, and the first output is in lower case.
    """
    originals = draw_sentences(draw, count)
    outputs = [" ".join(blur_words(draw, text, share).split()[shorter:]) for text in originals]
    return _pack_texts([outputs[0].lower(), *outputs[1:]], originals)


def _draw_uneven(draw: Draw, count: int, share: float, longer: bool) -> Inputs:
    """Draw outputs of which one has a word too many that another one lacks.

    Together they are ``longer`` than the references, or else shorter.
    """
    originals = draw_sentences(draw, count)
    outputs = [blur_words(draw, text, share) for text in originals]
    *kept, moved = originals[2].split()
    outputs[:3] = outputs[0].lower(), f"{originals[1]} {moved}", " ".join(kept)
    for i in (3, 4):
        fewer = outputs[i].split()[4:] or [moved]
        outputs[i] = f"{outputs[i]} and so on and on and on" if longer else " ".join(fewer)
    return _pack_texts(outputs, originals)


def _draw_wordy(draw: Draw) -> Inputs:
    """Outputs longer than their references, which get no brevity penalty."""
    originals = draw_sentences(draw, 10)
    outputs = [f"{blur_words(draw, text, 0.1)} And so on and on." for text in originals[1:]]
    return _pack_texts([originals[0].lower(), *outputs], originals)


def _draw_repetitive(draw: Draw) -> Inputs:
    """Texts with few distinct words, so that n-grams recur; the last output is correct."""
    pool = ["the", "cat", "sat", "on", "mat"]
    lengths = draw.ids(6, 12, 20).tolist()
    texts = [" ".join(pool[i] for i in draw.ids(0, len(pool), length).tolist()) for length in lengths]
    return _pack_texts([*texts[:10], "the " * 7, texts[0]], [*texts[10:], "the cat is on the mat", texts[0]])


def _draw_brief(draw: Draw) -> Inputs:
    """Perfect outputs of one to three words and long imperfect ones; one output is empty."""
    originals = draw_sentences(draw, 7)
    short = [" ".join(text.split()[: 1 + i % 3]).rstrip(",.?!") for i, text in enumerate(originals)]
    return _pack_texts([*short, *(blur_words(draw, text, 0.15) for text in originals), ""], [*short, *originals, originals[0]])


def _draw_only_brief(draw: Draw) -> Inputs:
    """Perfect outputs of one to three words, so that there is no n-gram of order 4."""
    short = [" ".join(text.split()[: 1 + i % 3]).rstrip(",.?!") for i, text in enumerate(draw_sentences(draw, 5))]
    return _pack_texts(short, short)


def _draw_without_match(draw: Draw) -> Inputs:
    """Texts with common words, but without a common four-gram."""
    originals = draw_sentences(draw, 4)
    return _pack_texts([" ".join([*list_words([text])[:3], "qu", "qa"]) for text in originals], originals)


def _draw_nothing_alike(draw: Draw) -> Inputs:
    """Texts without a common word, or without any word."""
    return _pack_texts(["qu qa qe qi qo", "", "qu"], draw_sentences(draw, 3))


CASES = [
    case("good", "good outputs", lambda draw: _draw_uneven(draw, 12, 0.1, longer=False),
         "Sum the counts over all sentences; then divide, once."),
    case("poor", "poorer outputs, all of them short", lambda draw: _draw_corpus(draw, 10, 0.2, shorter=2),
         "The brevity penalty uses the lengths of the whole corpus."),
    case("repetitive", "texts of few different words", _draw_repetitive,
         "An n-gram matches at most as often as it occurs in the reference."),
    case("wordy", "outputs that are longer than the references", _draw_wordy,
         "The brevity penalty is never larger than 1."),
    case("brief", "perfect outputs of up to three words and an empty output, among longer outputs", _draw_brief,
         "A sentence of three words adds nothing to the counts of order 4.", tests="hypothesis"),
    case("no_match", "no common four-gram", _draw_without_match,
         "An order without a match makes BLEU 0.", open=True, aspect="limits"),
    case("only_brief", "nothing but perfect outputs of up to three words", _draw_only_brief,
         "An order without n-grams has no match, so BLEU is 0.", open=True, aspect="limits"),
    case("nothing", "no common word", _draw_nothing_alike,
         "Without any match, BLEU is 0; nothing raises an error.", open=True, aspect="limits"),
    case("other", "other outputs", lambda draw: _draw_uneven(draw, 14, 0.2, longer=True),
         "The same for other texts.", hidden_only=True),
]

_MATCHES = "(own & allowed).total()"
_BP = "min(1.0, math.exp(1 - r / h))"
_TOKENS = "tokens, wanted = tokenize(text), tokenize(original)"
_LOGS = "logs = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True))"

MISTAKES = [
    wrong("mean_of_sentences",
          "This is the mean of the sentences' BLEU scores. BLEU sums the counts over the corpus first.",
          "What does a perfect sentence of three words add to the mean, and what to the counts?",
          source("""
              def bleu(hypotheses, references, tokenize=tokenize_13a):
                  def one(text, original):
                      tokens, wanted = tokenize(text), tokenize(original)
                      pairs = [(ngrams(tokens, n), ngrams(wanted, n)) for n in range(1, 5)]
                      if not all(own & allowed for own, allowed in pairs):
                          return 0.0
                      logs = sum(math.log((own & allowed).total() / own.total()) for own, allowed in pairs)
                      return 100 * min(1.0, math.exp(1 - len(wanted) / len(tokens))) * math.exp(logs / 4)
                  scores = [one(*row) for row in zip(hypotheses, references)]
                  return sum(scores) / len(scores)
              """), tests="sentences"),
    wrong("precisions_averaged",
          "Each precision is the mean of the sentences' precisions. BLEU sums matches and totals over the corpus, and "
          "divides once.",
          "Should a sentence of four words count as much as one of forty?",
          source("""
              def bleu(hypotheses, references, tokenize=tokenize_13a):
                  rows, h, r = [[] for _ in range(4)], 0, 0
                  for text, original in zip(hypotheses, references):
                      tokens, wanted = tokenize(text), tokenize(original)
                      h, r = h + len(tokens), r + len(wanted)
                      for n in range(1, 5):
                          own = ngrams(tokens, n)
                          if own:
                              rows[n - 1].append((own & ngrams(wanted, n)).total() / own.total())
                  means = [sum(row) / len(row) if row else 0.0 for row in rows]
                  if not all(means):
                      return 0.0
                  return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(sum(map(math.log, means)) / 4)
              """), tests="sentences"),
    wrong("pooled",
          "N-grams are clipped over the whole corpus, so one may match the reference of *another* sentence.",
          "What happens to your score if you shuffle the outputs?",
          source("""
              def bleu(hypotheses, references, tokenize=tokenize_13a):
                  texts, originals = [tokenize(t) for t in hypotheses], [tokenize(t) for t in references]
                  h, r, logs = sum(map(len, texts)), sum(map(len, originals)), 0.0
                  for n in range(1, 5):
                      own, allowed = (sum((ngrams(t, n) for t in side), Counter()) for side in (texts, originals))
                      if not own & allowed:
                          return 0.0
                      logs += math.log((own & allowed).total() / own.total())
                  return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / 4)
              """)),
    wrong("no_clipping", "Matches are not clipped: `the the the` matches a reference with one `the` three times.",
          "How often may an n-gram count?",
          edit(_MATCHES, "sum(c for gram, c in own.items() if gram in allowed)"), tests="reference"),
    wrong("sets", "Each distinct n-gram counts only once.",
          "What does a set forget about an n-gram that occurs twice in both texts?",
          edit(_MATCHES, "len(own & allowed)", "own.total()", "len(own)"),
          edit(_MATCHES, "len(own & allowed)", name="sets_of_matches")),
    wrong("recall", "Precision has become recall: you divide by the number of n-grams in the reference.",
          "Which text's n-grams have to match?",
          edit("own.total()", "allowed.total()", name="total_of_reference"),
          edit("own.total()", "allowed.total()",
               "h, r = h + len(tokens), r + len(wanted)", "h, r = h + len(wanted), r + len(tokens)", name="swapped")),
    wrong("not_four_orders", "Other orders are counted than 1 to 4: only single words, or n-grams up to n = 3.",
          "What is the 4 in BLEU-4?",
          edit(_LOGS, "logs = 4 * math.log(matches[0] / totals[0])", name="unigrams_only"),
          edit("math.exp(logs / 4)", "math.exp((logs - math.log(matches[3] / totals[3])) / 3)", name="three_orders")),
    wrong("no_brevity_penalty", "Short outputs are not penalised: your brevity penalty is missing, or it is always 1.",
          "What would the single word `The` score? If you have a penalty, which of h and r is in the numerator?",
          edit(f"{_BP} * ", "")),
    wrong("another_penalty", "Your brevity penalty is not that of the formula.",
          "What is BP for an output half as long as its reference, and for one twice as long?",
          edit(_BP, "min(1.0, math.exp(1 - h / r))", name="penalty_inverted"),
          edit(_BP, "min(1.0, h / r)", name="penalty_ratio"),
          edit(_BP, "math.exp(1 - r / h)", name="penalty_rewards")),
    wrong("empty_left_out",
          "Empty hypotheses are skipped, and their references with them: the tokens of these are missing from r.",
          "What does an empty output cost, if its reference does not count either?",
          edit(_TOKENS, f"""
              {_TOKENS}
              if not tokens:
                  continue
              """), tests="may be empty"),
    wrong("penalty_per_sentence", "The brevity penalty is computed for each sentence and averaged.",
          "Whose lengths are h and r?",
          edit(_BP, """
              sum(min(1.0, math.exp(1 - len(wanted) / len(tokens))) if tokens else 0.0 for tokens, wanted in
                  zip(map(tokenize, hypotheses), map(tokenize, references))) / len(hypotheses)""")),
    wrong("another_mean",
          "The four precisions are not combined by their geometric mean, in which all of them weigh the same.",
          "What is the fourth root of a product, and is it in your code?",
          edit("math.exp(logs / 4)", "sum(m / t for m, t in zip(matches, totals)) / 4", name="arithmetic_mean"),
          edit("math.exp(logs / 4)", "math.exp(logs)", name="product"),
          edit("math.exp(logs / 4)",
               "math.prod((m / t) ** 0.5**n for n, (m, t) in enumerate(zip(matches, totals), start=1))",
               name="halving_weights")),
    wrong("extra_words_left_out",
          "The length of an output counts only up to that of its reference, so a long output no longer makes up for a "
          "short one.",
          "Whose lengths are h and r: each sentence's, or the corpus's?",
          edit("h, r = h + len(tokens), r + len(wanted)", "h, r = h + min(len(tokens), len(wanted)), r + len(wanted)")),
    wrong("zero_to_one", "The result is between 0 and 1.",
          "What does 100 mean in BLEU?",
          edit("return 100 * min", "return min")),
    wrong("normalised",
          "The texts are lower-cased or stripped of punctuation, so the score cannot see whether these were recovered.",
          "Is recovering capitals and commas part of the task?",
          edit(_TOKENS, "tokens, wanted = tokenize(text.lower()), tokenize(original.lower())", name="lower_cased"),
          edit(_TOKENS, r"""
              import re
              strip = lambda t: re.sub(r'[^\w\s]', '', t)
              tokens, wanted = tokenize(strip(text)), tokenize(strip(original))
              """, name="signs_stripped"), tests="punctuation"),
    wrong("tokenize_ignored", "Texts are always cut in the same way, at spaces or by 13a, whatever `tokenize` is.",
          "Where do you use the argument?",
          edit(_TOKENS, "tokens, wanted = text.split(), original.split()", name="split_always"),
          edit(_TOKENS, "tokens, wanted = tokenize_13a(text), tokenize_13a(original)", name="always_13a")),
    wrong("characters", "The n-grams consist of characters: the text was counted, not its tokens.",
          "What does `tokenize` return, and did you use it?",
          edit(_TOKENS, "tokens, wanted = list(text), list(original)")),
    wrong("one_sentence", "Only the first sentence was scored.",
          "Where does your loop end?",
          edit("in zip(hypotheses, references, strict=True)", "in list(zip(hypotheses, references))[:1]")),
    wrong("joined_corpus", "The sentences were joined into one text, so n-grams cross sentence boundaries.",
          "Do the last word of a sentence and the first word of the next form an n-gram?",
          edit("for text, original in", """
              hypotheses, references = [' '.join(hypotheses)], [' '.join(references)]
              for text, original in""")),
    wrong("zeros_skipped", "An order without a match is left out or counts a tiny number, so BLEU is not 0.",
          "What does a precision of 0 do to a product?",
          edit("if 0 in matches:", "if not any(matches):",
               "for m, t in zip(matches, totals, strict=True))", "for m, t in zip(matches, totals) if m)"),
          edit("if 0 in matches:", "if h == 0:",
               _LOGS, "logs = sum(math.log((m + 1e-9) / (t + 1e-9)) for m, t in zip(matches, totals, strict=True))",
               name="a_little_for_zero"),
          edit("if 0 in matches:", "if 0 in [m for m, t in zip(matches, totals, strict=True) if t]:",
               "math.log(m / t) for m, t in zip(matches, totals, strict=True)",
               "math.log(m / t) for m, t in zip(matches, totals) if t", name="empty_orders_skipped"),
          tests="some order"),
    wrong("smoothed", "The precisions are smoothed: you add 1 to the counts, so an order without a match still scores.",
          "What is the precision of an order without a match, and what does that do to BLEU?",
          edit("if 0 in matches:", "if matches[0] == 0:",
               _LOGS, "logs = sum(math.log((matches[n] + (n > 0)) / (totals[n] + (n > 0))) for n in range(4))",
               name="one_added_to_longer"),
          edit("if 0 in matches:", "if h == 0:",
               _LOGS, "logs = sum(math.log((m + 1) / (t + 1)) for m, t in zip(matches, totals, strict=True))",
               name="one_added_to_all"), tests="some order"),
    wrong("log_of_zero", "An order without a match makes your function raise an error.",
          "What is the logarithm of 0, and what should BLEU be?",
          edit("if 0 in matches:", "if False:")),
]

ACCEPTED = [
    right("numbers_first", source("""
        def bleu(hypotheses, references, tokenize=tokenize_13a):
            hyps, refs = [tokenize(t) for t in hypotheses], [tokenize(t) for t in references]
            h, r, product = sum(map(len, hyps)), sum(map(len, refs)), 1.0
            for n in (1, 2, 3, 4):
                matched = total = 0
                for own, allowed in ((ngrams(t, n), ngrams(w, n)) for t, w in zip(hyps, refs)):
                    matched += sum(min(c, allowed[gram]) for gram, c in own.items())
                    total += sum(own.values())
                product *= matched / total if total else 0
            return 100.0 * (1.0 if h >= r or h == 0 else math.exp(1 - r / h)) * product ** 0.25
        """)),
    right("exponent", edit("math.exp(logs / 4)", "math.e ** (logs / 4)")),
]

EXERCISE = Specification(
    tells={"poor": "extra_words_left_out"},
    ready_made=("sacrebleu", "transformer_course.library.bleu"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
