"""Beam search: mistakes."""

from __future__ import annotations

from autograder.authoring.notation import edit, source, wrong

_LOG_P = "logits[:, -1].log_softmax(dim=-1)"
_ENDED = "((scores + log_p[:, EOS]) / length**alpha).max(dim=0)"
_BETTER = "if ended > best:"
_ANSWER = "[*prefixes[i, 1:].tolist(), EOS]"
_CLOSE = "log_p[:, EOS] = -math.inf"
_STEP = "beam_step(prefixes, scores, log_p, beam_size)"
_LIVE = "scores[0] / length**alpha"
_STOP = f"if best >= {_LIVE}:"

SCORES = [
    wrong("greedy",
          "This is greedy decoding: only one prefix stays live.",
          "How many different prefixes does `beam_size` ask for?",
          edit("log_p, beam_size)", "log_p, 1)")),
    wrong("per_prefix",
          "Every prefix keeps its own best continuation; they should compete with each other.",
          "From how many continuations are the k best chosen?",
          edit(f"prefixes, scores = {_STEP}", """
              own = zip(prefixes.split(1), scores.split(1), log_p.split(1))
              kept = [beam_step(*row, beam_size if n == 1 else 1) for row in own]
              prefixes, scores = (torch.cat(part) for part in zip(*kept))
              order = scores.argsort(descending=True)
              prefixes, scores = prefixes[order], scores[order]
              """)),
    wrong("probabilities",
          "Probabilities are added up, not their logarithms.",
          "What is the probability of two tokens in a row?",
          edit("log_softmax(dim=-1)", "softmax(dim=-1)")),
    wrong("logits",
          "Logits are added up. They are not logarithms of probabilities, so they cannot compare prefixes.",
          "Between which numbers is the logarithm of a probability?",
          edit(_LOG_P, "logits[:, -1].clone()")),
    wrong("first_position",
          "You read the logits at the first position; the last one says what comes next.",
          "Which position of the logits follows the whole prefix?",
          edit("logits[:, -1]", "logits[:, 0]")),
    wrong("scores_start_anew",
          "Each step starts from scores of 0, so only the newest token counts.",
          "What is the score of a prefix?",
          edit(_STEP, "beam_step(prefixes, scores * 0, log_p, beam_size)"), tests="`BOS` alone"),
    wrong("not_normalised",
          "Finished hypotheses are compared by their raw scores, whatever alpha is.",
          "Where does your code use `alpha`?",
          edit(_ENDED, "(scores + log_p[:, EOS]).max(dim=0)", _LIVE, "scores[0]")),
    wrong("always_by_length",
          "Scores are divided by the length, whatever alpha is.",
          "What is length to the power of alpha for alpha = 0?",
          edit(_ENDED, "((scores + log_p[:, EOS]) / length).max(dim=0)", _LIVE, "scores[0] / length")),
    wrong("length_off_by_one",
          "The length of a finished hypothesis is one too large.",
          "What is the length of a hypothesis that consists only of BOS and EOS?",
          edit(_ENDED, "((scores + log_p[:, EOS]) / (length + 1)**alpha).max(dim=0)",
               _LIVE, "scores[0] / (length + 1)**alpha")),
    wrong("published_penalty",
          "Scores are divided by `((5 + length) / 6)^alpha`, as in Wu et al. (2016). This task uses "
          "`length^alpha`.",
          "How much does your divisor grow from length 1 to length 2, and how much should it?",
          edit(_ENDED, "((scores + log_p[:, EOS]) / ((5 + length) / 6)**alpha).max(dim=0)",
               _LIVE, "scores[0] / ((5 + length) / 6)**alpha")),
    wrong("normalised_on_the_way",
          "Live scores are divided by the length in every step, so the divisions accumulate.",
          "When do lengths have to be compared?",
          edit(_STOP, """
              scores = scores / length**alpha
              if best >= scores[0]:
              """),
          unsteady=["defaults"]),  # after 60 divisions all scores are nearly equal
    wrong("narrow_beam",
          "A wide beam is cut down: fewer prefixes stay live than `beam_size` asks for.",
          "Where does your code use `beam_size`?",
          edit("log_p, beam_size)", "log_p, min(beam_size, 5))")),
    wrong("small_steps_lost",
          "Scores are kept in half precision, so scores that differ little become equal.",
          "How many digits does a `bfloat16` have?",
          edit(_LOG_P, f"(scores[:, None] + {_LOG_P}).bfloat16().to(scores.dtype)",
               _ENDED, "(log_p[:, EOS] / length**alpha).max(dim=0)",
               _STEP, "beam_step(prefixes, scores * 0, log_p, beam_size)")),
]

ENDS = [
    wrong("ended_stay_live",
          "Continuations by EOS stay among the live prefixes and go on growing.",
          "What should become of a hypothesis that has ended?",
          edit(_CLOSE, "")),
    wrong("first_end_wins",
          "The first hypothesis that ends is returned. A live one may still be better.",
          "When can no live prefix win any more?",
          edit(_STOP, "if best > -math.inf:")),
    wrong("first_in_the_beam",
          "The search stops as soon as EOS is among the k best continuations. A live prefix may still be better.",
          "When can no live prefix win any more?",
          source("""
              @torch.no_grad()
              def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
                  model.eval()
                  answers = []
                  for one in source.split(1):
                      memory, answer = model.encode(one), []
                      prefixes, scores = one.new_full((1, 1), BOS), torch.zeros(1)
                      for _ in range(max_len):
                          n = len(prefixes)
                          logits = model.decode(prefixes, memory.expand(n, -1, -1), one.expand(n, -1))
                          prefixes, scores = beam_step(prefixes, scores, logits[:, -1].log_softmax(dim=-1), beam_size)
                          ended = (prefixes[:, -1] == EOS).nonzero().flatten().tolist()
                          answer = prefixes[ended[0] if ended else 0, 1:].tolist()
                          if ended:
                              break
                      answers.append(answer)
                  return padded(answers)
              """)),
    wrong("eos_must_be_best",
          "A hypothesis ends only if EOS is the best continuation of all.",
          "In which steps, and after which prefixes, is EOS a continuation?",
          edit(_BETTER, "if ended > best and scores[i] + log_p[i, EOS] >= (scores[:, None] + log_p).max():")),
    wrong("stops_at_a_probable_end",
          "The search ends as soon as EOS is the most probable continuation of the best prefix. A live one may still "
          "be better.",
          "When can no live prefix win any more?",
          edit(_CLOSE, """
              if log_p[0].argmax() == EOS:
                  break
              log_p[:, EOS] = -math.inf
              """,
               _STOP, "if False:")),
    wrong("best_prefix_only",
          "Only the best prefix may end.",
          "After which prefixes is EOS a continuation?",
          edit(_ENDED, "((scores + log_p[:, EOS]) / length**alpha)[:1].max(dim=0)")),
    wrong("last_end_wins",
          "The hypothesis that ended last is taken, not the best one.",
          "What do you remember, and when do you replace it?",
          edit(_BETTER, "if True:")),
    wrong("later_of_equal",
          "Of two finished hypotheses that are equally good, you take the later one.",
          "When does a finished hypothesis replace the one that you remember?",
          edit(_BETTER, "if ended >= best:"), tests="hypotheses"),
    wrong("live_wins",
          "The best live prefix is returned, although others have ended.",
          "What is the answer when the search is over?",
          edit("answers.append(answer)", "answers.append(prefixes[0, 1:].tolist())")),
    wrong("never_stops",
          "The search always runs for `max_len` steps.",
          "When can no live prefix win any more?",
          edit(_STOP, "if False:")),
    wrong("stops_by_raw_score",
          "The stop rule compares a normalised score with a raw one.",
          "Is each score divided by the power of its own length?",
          edit(_LIVE, "scores[0]"), tests="best ended score"),
    wrong("eos_lost",
          "EOS is missing at the end of the answers.",
          "What is the last token of a finished hypothesis?",
          edit(_ANSWER, "prefixes[i, 1:].tolist()"), tests="followed"),
    wrong("bos_returned",
          "BOS is part of the answers.",
          "Where does the answer begin?",
          edit(_ANSWER, "[*prefixes[i].tolist(), EOS]")),
    wrong("one_sentence_alone",
          "For a single sentence, the first dimension is lost.",
          "What is the shape of the result if B is 1?",
          edit("return padded(answers).to(source.device)", "return padded(answers).to(source.device).squeeze(0)")),
    wrong("at_most_60",
          "No text is longer than 60 tokens, whatever `max_len` is.",
          "Where does your code use `max_len`?",
          edit("range(1, max_len + 1)", "range(1, min(max_len, 60) + 1)")),
    wrong("minus_hundred",
          "A number like -100 is used for minus infinity: in a long text, ended prefixes go on.",
          "Which number is below every possible score?",
          edit(_CLOSE, "log_p[:, EOS] = -100.0 - scores")),
]

STEPS = [
    wrong("training_mode",
          "The model is called in training mode.",
          "What does dropout do to a search?",
          edit("model.eval()", ""), tests="evaluation"),
    wrong("gradients",
          "Gradients are recorded: every step keeps its whole graph, for nothing.",
          "Which line of `greedy_decode` saves this memory?",
          edit("@torch.no_grad()", "")),
    wrong("memory_of_others",
          "The prefixes use the memory of another sentence.",
          "Whose memory does `decode` get for the second sentence?",
          edit("model.encode(one)", "model.encode(source[:1])")),
    wrong("one_step_short",
          "The search ends one step too early.",
          "How many tokens may an answer have, EOS included?",
          edit("range(1, max_len + 1)", "range(1, max_len)")),
    wrong("one_step_more",
          "The search takes one step too many.",
          "How many tokens may an answer have, EOS included?",
          edit("range(1, max_len + 1)", "range(1, max_len + 2)")),
]
