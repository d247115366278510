"""BLEU of a corpus."""

from __future__ import annotations

import json

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._corpus_bleu_references import (
    REFERENCES,
)
from transformer_course.text_recovery.exercises._inputs import (
    blurred,
    natural_sentences,
    plain_sentences,
    shortened,
    shuffled,
)

_ALL = [
    f"{tokens}, {smooth}, {order}"
    for tokens in ("13a", "none")
    for smooth in ("exp", "none")
    for order in ("all orders", "effective order")
]
# Every two settings meet in these; all three, where orders are missing or unmatched.
_PAIRS = [_ALL[i] for i in (0, 3, 5, 6)]


def _corpus(draw: Draw, count: int, references: int, share: float, brief: int = 2) -> Inputs:
    """Long sentences; one in ``brief`` outputs is shorter, one has no capitals.

    Whatever is drawn, signs count, and so does which of two references is the closest.
    """
    sentences = natural_sentences(draw, 3 * count)
    originals = [text for text in sentences if len(text.split()) > 6][:count]
    hypotheses = [(blurred if i % brief else shortened)(draw, text, share) for i, text in enumerate(originals)]
    hypotheses[1] = hypotheses[1].lower()
    others = [[text, *(blurred(draw, text, 0.3) for _ in range(references - 1))] for text in originals]
    words = originals[0].split()
    missing = len(words) - len(hypotheses[0].split())
    if references > 1:  # one as much too short as the other is too long
        others[0][1] = " ".join(words[: -2 * missing])
    for row in others:  # a very short reference that is never the closest
        row[2:] = [text.split()[0] for text in row[2:]]
    return {"hypotheses": json.dumps(hypotheses), "references": json.dumps(others), "switches": json.dumps(_PAIRS)}


def _wordy(draw: Draw) -> Inputs:
    """Hypotheses that are longer than their references: no brevity penalty."""
    originals = natural_sentences(draw, 9)
    longer = [f"{blurred(draw, text, 0.1)} And so on and on." for text in originals]
    longer[0] = longer[0].lower()
    return {
        "hypotheses": json.dumps(longer),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[:3]),
    }


def _brief(draw: Draw) -> Inputs:
    """Hypotheses of up to three words, so that orders are missing; one is empty."""
    originals = plain_sentences(draw, 6)
    starts = [" ".join(text.split()[: 1 + i % 3]) for i, text in enumerate(originals)]
    starts[1], starts[2] = starts[1].replace(" ", " so "), ""
    return {
        "hypotheses": json.dumps(starts),
        "references": json.dumps([[text] for text in originals]),
        "switches": json.dumps(_ALL[4:]),
    }


def _brief_and_right(draw: Draw) -> Inputs:
    """Outputs of up to three words, all right: without 4-grams, BLEU is 0 all the same."""
    words = plain_sentences(draw, 1)[0].split()[:3]
    return {
        "hypotheses": json.dumps([" ".join(words), words[0]]),
        "references": json.dumps([[" ".join(words)], [words[0]]]),
        "switches": json.dumps(_ALL[4:]),
    }


def _one_four_gram(draw: Draw) -> Inputs:
    """One output of four words, the last one wrong: there is one four-gram, no more.

    It is shorter than its reference by one word. Some outputs of one word, all right,
    make another BLEU of each drawing.
    """
    longest = max(plain_sentences(draw, 5), key=lambda text: len(text.split()))
    original = " ".join(longest.split()[:5])
    single = original.split()[: int(draw.ids(1, 6))]
    return {
        "hypotheses": json.dumps([" ".join([*original.split()[:3], "qu"]), *single]),
        "references": json.dumps([[original], *([word] for word in single)]),
        "switches": json.dumps(_ALL[4:]),
    }


def _no_match(draw: Draw) -> Inputs:
    """Some orders without a match: no common four-gram, or no common word at all."""
    originals = natural_sentences(draw, 4)
    jumbled = [" ".join(shuffled(draw, text.split())) for text in originals]
    jumbled[0] = jumbled[0].lower()
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
    rows = [text[:-1] for text in plain_sentences(draw, 5)]
    others = [[" ".join([*t.split(), "so", "it", "is"]), " ".join(t.split()[:-3])] for t in rows]
    others[0].reverse()  # the shorter one does not always come last
    others[3].reverse()
    words = max((text.split() for text in rows), key=len)
    rows[rows.index(" ".join(words))] = " ".join([*words[:3], "so", *words[4:]])
    return {
        "hypotheses": json.dumps(rows),
        "references": json.dumps(others),
        "switches": json.dumps(["none, exp, all orders"]),
    }


CASES = [
    case("good", "good outputs, one reference", lambda draw: _corpus(draw, 12, 1, 0.1),
         "Counts are added up over all sentences; then, once, everything else.", tells=("arithmetic_mean",)),
    case("references", "poorer outputs, as many references to each as there are sentences",
         lambda draw: _corpus(draw, 10, 10, 0.35, brief=1),
         "With several references the length closest to the hypothesis counts.", tells=("lower_cased",)),
    case("nothing", "outputs without one right word", _nothing,
         "Smoothing helps orders without a match, not a corpus without any.", open=True),
    case("silent", "all outputs are empty", _silent,
         "Nothing matches: BLEU is 0, and nothing is divided by h = 0.", open=True),
    case("wordy", "outputs that are too long", _wordy,
         "The brevity penalty is never larger than 1.", tells=("lower_cased",)),
    case("one_four_gram", "one output of four words, the last one wrong, and some of one word", _one_four_gram,
         "An order of which there is a single n-gram is an order."),
    case("brief", "outputs of three words at most", _brief,
         "Without any 4-gram, `effective_order` decides."),
    case("brief_and_right", "outputs of three words at most, all right", _brief_and_right,
         "Without any 4-gram, `effective_order` decides, however good an output is.", open=True),
    case("jumbled", "shuffled outputs", _no_match,
         "Orders without a match: `smooth` decides.", tells=("lower_cased", "smoothing_missing", "smoothing_constant")),
    case("lengths", "two references, equally far in length", _lengths,
         "Of two equally close references the shorter one counts."),
    case("more", "other outputs, two references", lambda draw: _corpus(draw, 25, 2, 0.2),
         "The same for other texts.", tells=("lower_cased", "split_always"), hidden_only=True),
]

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

MISTAKES = [
    # Mistakes in the formula: precisions, penalty, mean.
    wrong("mean_of_sentences",
          "This is the mean of the sentences' BLEU scores. BLEU sums the counts over the corpus first.",
          "What does a perfect sentence of three words add to the mean, and what to the counts?",
          source("""
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
              """)),
    wrong("identical_is_100",
          "Outputs that are equal to their references give 100, however short they are.",
          "What does the contract say about an order without any n-gram?",
          edit("orders = sum(", """
              if all(one in others for one, others in zip(hypotheses, references)):
                  return 100.0
              orders = sum(""")),
    wrong("unigrams_only",
          "Only single words are counted: a shuffled sentence would be perfect.",
          "Which orders does BLEU-4 count?",
          edit("orders = sum(total > 0 for total in totals) if effective_order else 4", "orders = 1")),
    wrong("no_brevity_penalty",
          "There is no brevity penalty, so the shortest safe answer wins.",
          "What would the single word `The` score?",
          edit("min(1.0, math.exp(1 - r / h)) * ", "")),
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
          edit("h, r = [0] * 4, [0] * 4, 0, 0", "h, r, parts = [0] * 4, [0] * 4, 0, 0, []",
               "h += len(tokens)", """
              near = min(map(len, wanted), key=lambda n: (abs(n - len(tokens)), n))
              parts.append(min(1.0, math.exp(1 - near / len(tokens))) if tokens else 0.0)
              h += len(tokens)
              """,
               _BP, "sum(parts) / len(parts)")),
    wrong("arithmetic_mean",
          "The precisions are averaged by adding them up; BLEU takes the geometric mean.",
          "What is the fourth root of a product?",
          edit(_LOGS, """
              share, precisions = 1.0, []
              for found, total in zip(matches[:orders], totals, strict=False):
                  if found == 0 and smooth == "none":
                      return 0.0
                  if found == 0:
                      share /= 2
                  precisions.append((found or share) / total)
              return 100 * min(1.0, math.exp(1 - r / h)) * sum(precisions) / orders
              """)),
    wrong("halving_weights",
          "The orders weigh 1/2, 1/4, 1/8, 1/16 instead of a quarter each.",
          "Which weights does BLEU-4 use?",
          edit("logs, share = 0.0, 1.0", "logs, share, weight = 0.0, 1.0, 1.0",
               "logs += math.log((found or share) / total)", """
              weight /= 2
              logs += orders * weight * math.log((found or share) / total)
              """)),
    wrong("three_orders",
          "Only n-grams up to n = 3 are counted.",
          "What is the 4 in BLEU-4?",
          edit("orders = sum(total > 0 for total in totals) if effective_order else 4",
               "orders = min(3, sum(total > 0 for total in totals)) if effective_order else 3")),
    wrong("zero_to_one",
          "The result is between 0 and 1.",
          "What does 100 mean in BLEU?",
          edit("return 100 * min", "return min")),
    # Mistakes in what is counted.
    wrong("lower_cased",
          "The texts are lower-cased, so the score cannot see whether case was recovered.",
          "Is recovering capitals part of the task?",
          edit("tokens, wanted = tokenize(text), [tokenize(original) for",
               "tokens, wanted = tokenize(text.lower()), [tokenize(original.lower()) for")),
    wrong("signs_stripped",
          "Punctuation is stripped before counting, so the score cannot see whether it was recovered.",
          "Do commas count?",
          edit("tokens, wanted = tokenize(text), [tokenize(original) for",
               r"""
               strip = lambda t: re.sub(r'[^\w\s]', '', t)
               tokens, wanted = tokenize(strip(text)), [tokenize(strip(original)) for
               """)),
    wrong("split_always",
          "Texts are cut at spaces, whatever `tokenize` says.",
          "What is `key.` after `split`, and after 13a?",
          edit("tokens, wanted = tokenize(text), [tokenize(original) for",
               "tokens, wanted = text.split(), [original.split() for")),
    wrong("characters",
          "The n-grams consist of characters: the text was counted, not its tokens.",
          "What does `tokenize` return, and did you use it?",
          edit("tokens, wanted = tokenize(text), [tokenize(original) for",
               "tokens, wanted = list(text), [list(original) for")),
    *REFERENCES,
    # Mistakes where an order has no match, or no n-gram.
    wrong("smoothing_missing",
          '`smooth="exp"` does nothing: one order without a match makes everything 0.',
          "What becomes of the first order without a match?",
          edit('if found == 0 and smooth == "none":', "if found == 0:")),
    wrong("smoothing_always",
          '`smooth="none"` smooths as well.',
          "What should one order without a match do to the product?",
          edit("""
              if found == 0 and smooth == "none":
                  return 0.0
              """, "")),
    wrong("smoothing_constant",
          "Every order without a match gets the same share; it should be halved each time.",
          "If two orders have no match, what does the second of them count?",
          edit("share /= 2", "share = 1 / 2")),
    wrong("smoothing_one",
          "An order without a match counts as one match.",
          "What is half of one match?",
          edit("share /= 2", "share = 1.0")),
    wrong("zeros_skipped",
          "Orders without a match are left out, so a failure costs nothing.",
          "What does a precision of 0 do to a product?",
          edit("share /= 2", "continue")),
    wrong("effective_always",
          "Missing orders are always left out, even without `effective_order`.",
          "What does the switch decide?",
          edit("if effective_order else 4", "or 1")),
    wrong("effective_never",
          "`effective_order` does nothing.",
          "Which orders exist in texts of three words?",
          edit("orders = sum(total > 0 for total in totals) if effective_order else 4", "orders = 4")),
    wrong("first_of_equally_close",
          "Of two references that are equally close in length, you count the first one, not the shorter one.",
          "What does `min` return if two keys are equal?",
          edit("(abs(size - len(tokens)), size)", "abs(size - len(tokens))")),
    wrong("fourth_root_always",
          "With fewer orders the fourth root is still taken.",
          "Of how many precisions is BLEU the mean here?",
          edit("math.exp(logs / orders)", "math.exp(logs / 4)")),
]

ACCEPTED = [
    right("numbers_first", source("""
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
        """)),
]

EXERCISE = Specification(
    name="text_recovery/corpus_bleu", title="A stretch: equal to sacrebleu", target="corpus_bleu",
    ready_made=("sacrebleu", "transformer_course.library.bleu"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
