"""BLEU with one reference, without smoothing."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import (
    blurred,
    natural_sentences,
    plain_sentences,
    shortened,
    shuffled,
)


def _texts(hypotheses: list[str], references: list[str]) -> Inputs:
    return {"hypotheses": json.dumps(hypotheses), "references": json.dumps(references)}


def _corpus(draw: Draw, count: int, share: float, brief: int = 2) -> Inputs:
    """Long sentences; one in ``brief`` outputs is shorter, one has no capitals."""
    sentences = natural_sentences(draw, 3 * count)
    originals = [text for text in sentences if len(text.split()) > 6][:count]
    outputs = [(blurred if i % brief else shortened)(draw, text, share) for i, text in enumerate(originals)]
    outputs[1] = outputs[1].lower()
    outputs[2] = originals[2]  # so that there is always a common four-gram
    return _texts(outputs, originals)


def _wordy(draw: Draw) -> Inputs:
    """Outputs longer than their references, which get no brevity penalty."""
    originals = natural_sentences(draw, 9)
    longer = [f"{blurred(draw, text, 0.1)} And so on and on." for text in originals]
    longer[0] = longer[0].lower()
    return _texts([*longer, originals[1]], [*originals, originals[1]])


def _repetitive(draw: Draw) -> Inputs:
    """Texts of few different words, so that n-grams recur; the last output is right."""
    pool = ["the", "cat", "sat", "on", "mat"]

    def text(low: int, high: int) -> str:
        return " ".join(pool[int(i)] for i in draw.ids(0, len(pool), int(draw.ids(low, high, 1))))

    rows = [(text(6, 12), text(6, 12)) for _ in range(8)]
    rows += [("the " * 7, "the cat is on the mat"), ("a b a b a b a b", "a b a b a b a b")]
    hypotheses, originals = map(list, zip(*rows, strict=True))
    return _texts(hypotheses, originals)


def _brief(draw: Draw) -> Inputs:
    """Long outputs beside perfect ones of one to three words; one output is empty."""
    originals = natural_sentences(draw, 6)
    short = [" ".join(text.split()[: 1 + i % 3]).rstrip(",.?!") for i, text in enumerate(originals)]
    long = [blurred(draw, text, 0.15) for text in originals]
    return _texts([*short, *long, originals[0], ""], [*short, *originals, originals[0], originals[1]])


def _no_match(draw: Draw) -> Inputs:
    """Texts with common words, but without a common four-gram."""
    originals = [" ".join(text.split()[:6]) for text in plain_sentences(draw, 4)]
    return _texts([" ".join(shuffled(draw, text.split())[:3]) + " qu qa" for text in originals], originals)


def _nothing(draw: Draw) -> Inputs:
    """Texts without a common word, or without any word."""
    originals = natural_sentences(draw, 3)
    return _texts(["qu qa qe qi qo", "", "qu"], originals)


CASES = [
    case("good", "good outputs", lambda draw: _corpus(draw, 12, 0.1),
         "Sum the counts over all sentences; then divide, once."),
    case("poor", "poorer outputs, all of them short", lambda draw: _corpus(draw, 10, 0.3, brief=1),
         "The brevity penalty uses the lengths of the whole corpus."),
    case("repetitive", "texts of few different words", _repetitive,
         "An n-gram matches at most as often as it occurs in the reference."),
    case("wordy", "outputs that are longer than the references", _wordy,
         "The brevity penalty is never larger than 1."),
    case("brief", "perfect outputs of up to three words and an empty output, among longer outputs", _brief,
         "A sentence of three words adds nothing to the counts of order 4.", tests="hypothesis"),
    case("no_match", "no common four-gram", _no_match,
         "An order without a match makes BLEU 0.", open=True),
    case("nothing", "no common word", _nothing,
         "Without any match, BLEU is 0; nothing raises an error.", open=True),
    case("other", "other outputs", lambda draw: _corpus(draw, 14, 0.2),
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
    wrong("no_clipping",
          "Matches are not clipped: `the the the` matches a reference with one `the` three times.",
          "How often may an n-gram count?",
          edit(_MATCHES, "sum(c for gram, c in own.items() if gram in allowed)"), tests="reference"),
    wrong("sets",
          "Each distinct n-gram counts only once.",
          "What does a set forget about repeated items?",
          edit(_MATCHES, "len(own & allowed)", "own.total()", "len(own)")),
    wrong("each_counts_once",
          "Matches are counted with sets: each n-gram counts once.",
          "How often does an n-gram count that occurs twice in both texts?",
          edit(_MATCHES, "len(own & allowed)")),
    wrong("total_of_reference",
          "The total counts the n-grams of the reference: that is recall, not precision.",
          "Whose n-grams have to match?",
          edit("own.total()", "allowed.total()")),
    wrong("unigrams_only",
          "Only single words are counted: a shuffled sentence would be perfect.",
          "Which orders does BLEU-4 count?",
          edit(_LOGS, "logs = 4 * math.log(matches[0] / totals[0])")),
    wrong("no_brevity_penalty",
          "There is no brevity penalty, so the shortest safe answer wins.",
          "What would the single word `The` score?",
          edit(f"{_BP} * ", "")),
    wrong("penalty_inverted",
          "The brevity penalty hits long outputs and spares short ones.",
          "What is the penalty for an output half as long as its reference, and for one twice as long?",
          edit(_BP, "min(1.0, math.exp(1 - h / r))")),
    wrong("penalty_ratio",
          "The brevity penalty is h / r, not an exponential.",
          "What does the formula say?",
          edit(_BP, "min(1.0, h / r)")),
    wrong("penalty_rewards",
          "Long outputs are rewarded: the penalty can be larger than 1.",
          "What is the largest value of BP?",
          edit(_BP, "math.exp(1 - r / h)")),
    wrong("penalty_per_sentence",
          "The brevity penalty is computed for each sentence and averaged.",
          "Whose lengths are h and r?",
          edit("matches, totals, h, r = [0] * 4, [0] * 4, 0, 0", "matches, totals, h, r, parts = [0] * 4, [0] * 4, 0, 0, []",
               "h, r = h + len(tokens), r + len(wanted)", """
              parts.append(min(1.0, math.exp(1 - len(wanted) / len(tokens))) if tokens else 0.0)
              h, r = h + len(tokens), r + len(wanted)
              """,
               _BP, "sum(parts) / len(parts)")),
    wrong("arithmetic_mean",
          "The precisions are averaged by adding them up; BLEU takes the geometric mean.",
          "What is the fourth root of a product?",
          edit("math.exp(logs / 4)", "sum(m / t for m, t in zip(matches, totals)) / 4")),
    wrong("product",
          "The precisions are multiplied, but the fourth root is missing.",
          "Which exponent does the formula have?",
          edit("math.exp(logs / 4)", "math.exp(logs)")),
    wrong("halving_weights",
          "Your orders have the weights 1/2, 1/4, 1/8 and 1/16, as in a well-known textbook; here all four weigh the "
          "same.",
          "Which weight does each of the four precisions have in a geometric mean?",
          edit("math.exp(logs / 4)",
               "math.prod((m / t) ** 0.5**n for n, (m, t) in enumerate(zip(matches, totals), start=1))")),
    wrong("extra_words_left_out",
          "The length of an output counts only up to that of its reference, so a long output no longer makes up for a "
          "short one.",
          "Whose lengths are h and r: each sentence's, or the corpus's?",
          edit("h, r = h + len(tokens), r + len(wanted)", "h, r = h + min(len(tokens), len(wanted)), r + len(wanted)")),
    wrong("three_orders",
          "Only n-grams up to n = 3 are counted.",
          "What is the 4 in BLEU-4?",
          edit("math.exp(logs / 4)", "math.exp((logs - math.log(matches[3] / totals[3])) / 3)")),
    wrong("zero_to_one",
          "The result is between 0 and 1.",
          "What does 100 mean in BLEU?",
          edit("return 100 * min", "return min")),
    wrong("lower_cased",
          "The texts are lower-cased, so the score cannot see whether case was recovered.",
          "Is recovering capitals part of the task?",
          edit(_TOKENS, "tokens, wanted = tokenize(text.lower()), tokenize(original.lower())"), tests="punctuation"),
    wrong("signs_stripped",
          "Punctuation is stripped before counting, so the score cannot see whether it was recovered.",
          "Do commas count?",
          edit(_TOKENS, r"""
              strip = lambda t: re.sub(r'[^\w\s]', '', t)
              tokens, wanted = tokenize(strip(text)), tokenize(strip(original))
              """)),
    wrong("split_always",
          "Texts are cut at spaces, whatever `tokenize` does.",
          "What is `key.` after `split`, and after 13a?",
          edit(_TOKENS, "tokens, wanted = text.split(), original.split()")),
    wrong("own_tokenize",
          "Texts are always cut by 13a, whatever `tokenize` is.",
          "Where do you use the argument?",
          edit(_TOKENS, "tokens, wanted = tokenize_13a(text), tokenize_13a(original)")),
    wrong("characters",
          "The n-grams consist of characters: the text was counted, not its tokens.",
          "What does `tokenize` return, and did you use it?",
          edit(_TOKENS, "tokens, wanted = list(text), list(original)")),
    wrong("swapped",
          "Hypotheses and references are swapped: precision has become recall.",
          "Which text's n-grams have to match?",
          edit("own.total()", "allowed.total()",
               "h, r = h + len(tokens), r + len(wanted)", "h, r = h + len(wanted), r + len(tokens)")),
    wrong("one_sentence",
          "Only the first sentence was scored.",
          "Where does your loop end?",
          edit("in zip(hypotheses, references, strict=True)", "in list(zip(hypotheses, references))[:1]")),
    wrong("joined_corpus",
          "The sentences were joined into one text, so n-grams cross sentence boundaries.",
          "Do the last word of a sentence and the first word of the next form an n-gram?",
          edit("for text, original in", """
              hypotheses, references = [' '.join(hypotheses)], [' '.join(references)]
              for text, original in""")),
    wrong("zeros_skipped",
          "Orders without a match are left out, so a failure costs nothing.",
          "What does a precision of 0 do to a product?",
          edit("if 0 in matches:", "if not any(matches):",
               "for m, t in zip(matches, totals, strict=True))", "for m, t in zip(matches, totals) if m)"),
          tests="some order"),
    wrong("a_little_for_zero",
          "An order without a match counts as a tiny number instead of 0, so BLEU is not 0.",
          "What does a precision of 0 do to a product, and what does 1e-9?",
          edit("if 0 in matches:", "if h == 0:",
               _LOGS, "logs = sum(math.log((m + 1e-9) / (t + 1e-9)) for m, t in zip(matches, totals, strict=True))")),
    wrong("log_of_zero",
          "An order without a match makes your function raise an error.",
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
    ready_made=("sacrebleu", "transformer_course.library.bleu"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
