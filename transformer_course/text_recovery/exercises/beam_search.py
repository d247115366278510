"""Cases and mistakes for an exercise: beam search."""

from __future__ import annotations

import json

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.library.text import BOS, EOS, PAD
from transformer_course.text_recovery.exercises._inputs import (
    draw_fine_numbers,
    draw_some,
)
from transformer_course.text_recovery.exercises._searches import (
    ALL_AT_ONCE,
    ENDED_IN_BEAM,
    ENDED_TAKE_PLACES,
)


def _draw_script(
    *sizes: int, alpha: float, max_len: int, eos: float = 0.0, special_logit: float = -40.0, habit: float = 0.5,
    count: int = 8, vocab: int = 9,
) -> Maker:
    """Make a function that draws the tables of the probe's model, `Script`.

    Args:
        sizes: the beam sizes to search with.
        alpha: the power of the length by which scores are divided.
        eos, special_logit: added to EOS's logits, and the logits of PAD and BOS.
        habit: how much each token of a prefix changes the logits of later tokens.
        count, vocab: the number of sentences, and of tokens.
    """

    def make_inputs(draw: Draw) -> Inputs:
        places = draw_fine_numbers(draw, count, max_len + 1, vocab, scale=2.0)
        places[..., [PAD, BOS]] = special_logit
        places[..., EOS] += torch.arange(max_len + 1) * 0.75 - 2.0 + eos
        habits = draw_fine_numbers(draw, vocab, vocab, scale=habit)
        source = draw.ids(4, vocab, count, 5)
        source[:, 0] = 4 + torch.tensor(draw_some(draw, range(count), count))
        source[-1, 3:] = PAD
        return _pack_inputs(places, habits, source, sizes, alpha, max_len)

    return make_inputs


def _pack_inputs(
    places: torch.Tensor, habits: torch.Tensor, source: torch.Tensor, sizes: tuple[int, ...], alpha: float, max_len: int
) -> Inputs:
    """The inputs of a case: the tables of the probe's `Script`, sources, and options of the search."""
    return {
        "places": places, "habits": habits, "source": source, "beam_sizes": json.dumps(sizes),
        "alpha": torch.tensor(alpha), "max_len": torch.tensor(max_len),
    }


def _draw_offered_ends(*sentences: dict[int, float], alpha: float = 0.0) -> Maker:
    """Make a function that draws tables in which the logits of EOS are prescribed.

    ``sentences`` are two dicts that map a position to EOS's logit there, without
    its minus sign. The logits decide which finished hypothesis is the best.
    """

    def make_inputs(draw: Draw) -> Inputs:
        vocab, steps = 9, max(map(max, sentences)) + 1
        places = torch.full((2, steps + 1, vocab), -200.0)
        free = 4 + draw.ids(0, 5, steps + 1)
        for sentence, costs in enumerate(sentences):
            places[sentence, range(steps + 1), free] = 0.0
            for place, cost in costs.items():
                places[sentence, place, EOS] = -cost
            free = 4 + (free - 3 + draw.ids(0, 4, steps + 1)) % 5  # others, everywhere
        source = draw.ids(4, vocab, 2, 5)
        source[:, 0] = torch.tensor([5, 4])
        return _pack_inputs(places, torch.zeros(vocab, vocab), source, (1, 2), alpha, steps)

    return make_inputs


_EQUAL, _NEARLY_EQUAL = {1: 50.0, 2: 50.0}, {1: 50 + 164 / 2**14, 2: 50 + 82 / 2**14}


def _draw_for_defaults(draw: Draw) -> Inputs:
    """Draw inputs for a search with default arguments, marked by the beam size 0.

    The results depend on the default length limit and alpha.
    """
    inputs = _draw_script(0, alpha=1.0, max_len=60, count=5, vocab=12)(draw)
    places = inputs["places"]
    places[0, :, EOS] = -900.0
    places[1] = -200.0
    places[1, :, 4] = 0.0
    places[1, :, EOS] = -900.0
    places[1, [1, 4], EOS] = torch.tensor([-8.0, -25.5])
    return inputs


CASES = [
    case("small", "eight sentences, k = 1 and 2", _draw_script(1, 2, alpha=1.0, max_len=30),
         "The k best continuations of all prefixes together stay live."),
    case("wide", "eight sentences, k = 3 and 5", _draw_script(3, 5, alpha=1.0, max_len=30),
         "Finished hypotheses are compared by score / length^alpha."),
    case("no_norm", "alpha = 0: raw scores", _draw_script(2, 4, alpha=0.0, max_len=30),
         "With alpha = 0, the lengths do not count."),
    case("half", "alpha = 0.5, EOS unlikely, max_len = 5", _draw_script(3, alpha=0.5, max_len=5, eos=-6.0),
         "After max_len steps, the best finished hypothesis is the answer."),
    case("early", "early ends", _draw_script(2, 3, alpha=1.0, max_len=30, eos=2.0),
         "A sentence stops when its best finished hypothesis, of any step, is at least as good as its best live one."),
    case("equal", "an ended and a live hypothesis that are equally good, alpha = 0",
         _draw_offered_ends({0: 0.0, 4: 50.0}, {0: 0.0, 4: 50.0}),
         "A finished hypothesis that is only *as good as* the best live one already stops its sentence.", open=True, aspect="limits"),
    case("equal_ends", "two finished hypotheses that are equally good, alpha = 0", _draw_offered_ends(_EQUAL, _EQUAL),
         "Between finished hypotheses that are equally good, keep the earlier one.", aspect="limits"),
    case("nearly_equal_ends", "two finished hypotheses, the later one better by five thousandths, alpha = 0",
         _draw_offered_ends(_NEARLY_EQUAL, _NEARLY_EQUAL),
         "The better one stays, however small its lead.", aspect="limits"),
    case("lengths", "ends after 2 and after 5 tokens, alpha = 1",
         _draw_offered_ends({1: 8.0, 4: 18.0}, {1: 8.0, 4: 25.5}, alpha=1.0),
         "The length counts all tokens, EOS included but not BOS."),
    case("defaults", "five sentences, with the default beam_size, max_len and alpha", _draw_for_defaults,
         "A beam of 4, at most 60 tokens, scores divided by the length."),
    case("specials", "PAD and BOS as continuations, alpha = 0.25", _draw_script(2, 3, alpha=0.25, max_len=6, special_logit=2.0),
         "All tokens can continue a prefix; only EOS ends it."),
    case("exhaustive", "k as large as the number of prefixes", _draw_script(400, alpha=1.0, max_len=4, vocab=6, count=4),
         "With a beam that wide, nothing is ever dropped."),
    case("training", "a model that comes in training mode",
         lambda draw: _draw_script(2, alpha=1.0, max_len=5)(draw) | {"training": torch.tensor(True)},
         "Dropout is for training: a search works in evaluation mode.", aspect="mode"),
    case("other", "eight sentences, k = 4", _draw_script(4, alpha=0.75, max_len=30),
         "The same for other sentences.", hidden_only=True),
    case("long", "a beam of 9, up to 70 tokens",
         _draw_script(9, alpha=1.0, max_len=70, eos=-99.0, habit=1 / 16, count=2, vocab=40),
         "Neither the width of a beam nor the length of a text has a fixed limit.", hidden_only=True),
    case("endless", "EOS is very improbable", _draw_script(3, alpha=1.0, max_len=4, eos=-900.0),
         "EOS is a continuation in every step, however improbable.", hidden_only=True),
]

_LOG_P = "logits[:, -1].log_softmax(dim=-1)"
_ENDED = "((scores + log_p[:, EOS]) / length**alpha).max(dim=0)"
_BETTER = "if ended > best:"
_ANSWER = "[*prefixes[i, 1:].tolist(), EOS]"
_CLOSE = "log_p[:, EOS] = -math.inf"
_STEP = "beam_step(prefixes, scores, log_p, beam_size)"
_LIVE = "scores[0] / length**alpha"
_STOP = f"if best >= {_LIVE}:"

MISTAKES = [
    wrong("greedy", "This is greedy decoding: only one prefix stays live.",
          "How many different prefixes does `beam_size` ask for?",
          edit("log_p, beam_size)", "log_p, 1)")),
    wrong("per_prefix", "Every prefix keeps its own best continuation; they should compete with each other.",
          "From how many continuations are the k best chosen?",
          edit(f"prefixes, scores = {_STEP}", """
              own = zip(prefixes.split(1), scores.split(1), log_p.split(1))
              kept = [beam_step(*row, beam_size if n == 1 else 1) for row in own]
              prefixes, scores = (torch.cat(part) for part in zip(*kept))
              order = scores.argsort(descending=True)
              prefixes, scores = prefixes[order], scores[order]
              """)),
    wrong("not_log_probabilities",
          "What you add up are not logarithms of probabilities, so prefixes cannot be compared by it.",
          "What is the probability of two tokens in a row, and between which numbers is its logarithm?",
          edit("log_softmax(dim=-1)", "softmax(dim=-1)", name="probabilities"),
          edit(_LOG_P, "logits[:, -1].clone()", name="logits")),
    wrong("first_position", "You read the logits at the first position; the last one says what comes next.",
          "Which position of the logits follows the whole prefix?",
          edit("logits[:, -1]", "logits[:, 0]")),
    wrong("scores_start_anew", "Each step starts from scores of 0, so only the newest token counts.",
          "What is the score of a prefix?",
          edit(_STEP, "beam_step(prefixes, scores * 0, log_p, beam_size)"), tests="`BOS` alone"),
    wrong("alpha_ignored",
          "`alpha` has no effect: finished hypotheses are compared by their raw scores, or always by score / length.",
          "What is length to the power of alpha for alpha = 0, and for alpha = 1?",
          edit(_ENDED, "(scores + log_p[:, EOS]).max(dim=0)", _LIVE, "scores[0]", name="not_normalised"),
          edit(_ENDED, "((scores + log_p[:, EOS]) / length).max(dim=0)", _LIVE, "scores[0] / length",
               name="always_by_length")),
    wrong("length_off_by_one", "The length of a finished hypothesis is one too large.",
          "What is the length of a hypothesis that consists only of BOS and EOS?",
          edit(_ENDED, "((scores + log_p[:, EOS]) / (length + 1)**alpha).max(dim=0)",
               _LIVE, "scores[0] / (length + 1)**alpha")),
    wrong("published_penalty",
          "Scores are divided by `((5 + length) / 6)^alpha`, as in Wu et al. (2016). This task uses "
          "`length^alpha`.",
          "How much does your divisor grow from length 1 to length 2, and how much should it?",
          edit(_ENDED, "((scores + log_p[:, EOS]) / ((5 + length) / 6)**alpha).max(dim=0)",
               _LIVE, "scores[0] / ((5 + length) / 6)**alpha")),
    wrong("normalised_on_the_way", "Live scores are divided by the length in every step, so the divisions accumulate.",
          "When do lengths have to be compared?",
          edit(_STOP, """
              scores = scores / length**alpha
              if best >= scores[0]:
              """)),
    wrong("fixed_limit", "A wide beam or a long text is cut down: your code has a limit that no argument can raise.",
          "Where does your code use `beam_size`, and where `max_len`?",
          edit("log_p, beam_size)", "log_p, min(beam_size, 5))", name="narrow_beam"),
          edit("range(1, max_len + 1)", "range(1, min(max_len, 60) + 1)", name="at_most_60")),
    wrong("best_of_earlier_sentences",
          "The best score is not reset between sentences: a sentence that does not beat it gets an earlier answer.",
          "What do `best` and `answer` hold when the second sentence begins?",
          edit("memory, best, answer = model.encode(one), -math.inf, []",
               "memory = model.encode(one)", "answers = []", "answers, best, answer = [], -math.inf, []")),
    wrong("ended_take_places",
          "Finished hypotheses take up slots among the `beam_size` best, so fewer prefixes stay live, and an "
          "ending outside the best is never considered.",
          "What must the log-probability of EOS be when `beam_step` chooses the prefixes that stay live?",
          source(ENDED_TAKE_PLACES)),
    wrong("ended_stay_live", "Continuations by EOS stay among the live prefixes and go on growing.",
          "What should become of a hypothesis that has ended?",
          edit(_CLOSE, "")),
    wrong("ended_in_the_beam",
          "Finished hypotheses stay in the beam, where they take the place of live prefixes.",
          "When a hypothesis has ended, how many live prefixes does the next step begin with, and how many "
          "should there be?",
          source(ENDED_IN_BEAM),
          source(ENDED_IN_BEAM.replace("len(ids)", "((5 + len(ids)) / 6)"), name="ended_by_published")),
    wrong("stops_too_early",
          "The search stops as soon as a hypothesis has ended or is likely to. A live one may still be better.",
          "When can no live prefix win any more?",
          edit(_STOP, "if best > -math.inf:", name="first_end_wins"),
          edit(_CLOSE, "", _BETTER, "if False:", _STOP, """
              i = min((i for i, p in enumerate(prefixes) if p[-1] == EOS), default=None)
              answer = prefixes[i or 0, 1:].tolist()
              if i is not None:
              """, name="first_in_the_beam"),
          edit(_CLOSE, f"if log_p[0].argmax() == EOS: break\n{_CLOSE}", _STOP, "if False:", name="at_a_probable_end")),
    wrong("some_may_not_end", "Only the best prefix may end, or only by the best continuation of all.",
          "In which steps, and after which prefixes, is EOS a continuation?",
          edit(_BETTER, "if ended > best and scores[i] + log_p[i, EOS] >= (scores[:, None] + log_p).max():",
               name="eos_must_be_best"),
          edit(_ENDED, "((scores + log_p[:, EOS]) / length**alpha)[:1].max(dim=0)", name="best_prefix_only")),
    wrong("last_end_wins", "The hypothesis that ended last is taken, not the best one.",
          "What do you remember, and when do you replace it?",
          edit(_BETTER, "if True:")),
    wrong("later_of_equal", "Of two finished hypotheses that are equally good, you take the later one.",
          "When does a finished hypothesis replace the one that you remember?",
          edit(_BETTER, "if ended >= best:"), tests="hypotheses"),
    wrong("live_wins", "The best live prefix is returned, although others have ended.",
          "What is the answer when the search is over?",
          edit("answers.append(answer)", "answers.append(prefixes[0, 1:].tolist())")),
    wrong("never_stops", "The search goes on although no live prefix can win any more.",
          "By which length does the stop rule divide the score of a live prefix, and does it ever hold?",
          edit(_STOP, "if False:"),
          edit(_LIVE, "scores[0] / (length + 1) ** alpha", name="live_length_too_large")),
    wrong("stops_at_the_worst", "The stop rule compares with the worst live prefix; the best one may still win.",
          "Where in `scores` is the best live prefix?",
          edit(_LIVE, "scores[-1] / length**alpha"), tests="best ended score"),
    wrong("stops_by_raw_score", "The stop rule compares a normalised score with a raw one.",
          "Is each score divided by the power of its own length?",
          edit(_LIVE, "scores[0]"), tests="best ended score"),
    wrong("answer_cut", "The answers begin or end at the wrong place: BOS is part of them, or EOS is missing.",
          "Where does an answer begin, and what is the last token of a finished hypothesis?",
          edit(_ANSWER, "prefixes[i, 1:].tolist()", name="eos_lost"),
          edit(_ANSWER, "[*prefixes[i].tolist(), EOS]", name="bos_returned"), tests="followed"),
    wrong("one_sentence_alone", "For a single sentence, the first dimension is lost.",
          "What is the shape of the result if B is 1?",
          edit("return padded(answers).to(source.device)", "return padded(answers).to(source.device).squeeze(0)")),
    wrong("minus_hundred", "A number like -100 is used for minus infinity: in a long text, ended prefixes go on.",
          "Which number is below every possible score?",
          edit(_CLOSE, "log_p[:, EOS] = -100.0 - scores")),
    wrong("training_mode", "The model is called in training mode.",
          "What does dropout do to a search?",
          edit("model.eval()", ""), tests="evaluation"),
    wrong("gradients", "Gradients are recorded: every step keeps its whole graph, for nothing.",
          "Which line of `greedy_decode` saves this memory?",
          edit("@torch.no_grad()", "")),
    wrong("memory_of_others", "The prefixes use the memory of another sentence.",
          "Whose memory does `decode` get for the second sentence?",
          edit("model.encode(one)", "model.encode(source[:1])")),
    wrong("number_of_steps", "The search takes one step too few or too many.",
          "How many tokens may an answer have, EOS included?",
          edit("range(1, max_len + 1)", "range(1, max_len)", name="one_step_short"),
          edit("range(1, max_len + 1)", "range(1, max_len + 2)", name="one_step_more")),
]

ACCEPTED = [
    right("whole_model", edit("model.decode(prefixes, memory.expand(n, -1, -1), one.expand(n, -1))",
                              "model(one.expand(n, -1), prefixes)")),
    right("deep_copy", edit("model.eval()", "import copy; model = copy.deepcopy(model).eval()")),
    right("all_at_once", source(ALL_AT_ONCE), tests="sentences"),
]

EXERCISE = Specification(cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
