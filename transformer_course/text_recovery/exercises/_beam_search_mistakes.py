"""Beam search: mistakes."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong

_TOTAL = "total = scores[..., None] + log_p"

SCORES = [
    wrong("greedy",
          "This is greedy decoding: only one prefix stays live, or all live prefixes are the same.",
          "How many different prefixes does `beam_size` ask for?",
          edit("k, answers = beam_size,", "k, answers = 1,")),
    wrong("per_prefix",
          "Every prefix keeps its own best continuation; they should compete with each other.",
          "From how many continuations are the k best chosen?",
          edit("scores, places = total.flatten(1).topk(wide)  # (b, k)", """
              each, tokens = total.topk(min(k if live == 1 else 1, total.size(-1)), dim=-1)
              scores = each.flatten(1)
              places = (tokens + torch.arange(live)[:, None] * total.size(-1)).flatten(1)
              scores, order = scores.sort(dim=1, descending=True)
              places = places.gather(1, order)
              """)),
    wrong("probabilities",
          "Probabilities are added up, not their logarithms.",
          "What is the probability of two tokens in a row?",
          edit("log_softmax(-1)", "softmax(-1)")),
    wrong("logits",
          "Logits are added up. They are not logarithms of probabilities, so they cannot compare prefixes.",
          "What makes the scores of different prefixes comparable?",
          edit("[:, -1].log_softmax(-1).unflatten", "[:, -1].unflatten")),
    wrong("scores_forgotten",
          "Only the newest token's score counts: the prefix's own score is forgotten.",
          "What is the score of a continuation made of?",
          edit(_TOTAL, "total = log_p.clone()")),
    wrong("divided_by_k",
          "The index in the flat list is divided by k, not by the size of the vocabulary.",
          "How many columns does the table have?",
          edit("places // total.size(-1)", "(places // k) % live")),
    wrong("no_parent",
          "The new tokens are appended to the wrong prefixes: the prefixes stay in their old order.",
          "Which prefix does each of the k best continue?",
          edit("places // total.size(-1)", "torch.arange(places.size(1)).expand_as(places) % live")),
    wrong("not_normalised",
          "Finished hypotheses are compared by their raw scores, whatever alpha is.",
          "Where does your code use `alpha`?",
          edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / 1)",
               "best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0]")),
    wrong("always_by_length",
          "Scores are divided by the length, whatever alpha is.",
          "What is length to the power of alpha for alpha = 0?",
          edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / length)",
               "best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0] / length")),
    wrong("length_off_by_one",
          "The length of a finished hypothesis is one too large.",
          "What is the length of a hypothesis that consists only of BOS and EOS?",
          edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / (length + 1)**alpha)",
               "best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0] / (length + 1)**alpha")),
    wrong("published_penalty",
          "Scores are divided by `((5 + length) / 6)^alpha`, as in Wu et al. (2016). This task uses "
          "`length^alpha`.",
          "How much does your divisor grow from length 1 to length 2, and how much should it?",
          edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / ((5 + length) / 6)**alpha)",
               "best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0] / ((5 + length) / 6)**alpha")),
    wrong("normalised_on_the_way",
          "Live scores are divided by the length in every step, so the divisions accumulate.",
          "When do lengths have to be compared?",
          edit("going = best", """
              scores = scores / length**alpha
              going = best
              """),
          unsteady=["defaults"]),  # after 60 divisions all scores are nearly equal
    wrong("narrow_beam",
          "A wide beam is cut down: fewer prefixes stay live than `beam_size` asks for.",
          "Where does your code use `beam_size`?",
          edit("k, answers = beam_size,", "k, answers = min(beam_size, 5),")),
    wrong("small_steps_lost",
          "Scores are kept in half precision, so scores that differ little become equal.",
          "How many digits does a `bfloat16` have?",
          edit("total = scores[..., None] + log_p", "total = (scores[..., None] + log_p).bfloat16().to(log_p.dtype)")),
]

ENDS = [
    wrong("ended_stay_live",
          "Continuations by EOS stay among the live prefixes and go on growing.",
          "What should become of a hypothesis that has ended?",
          edit("total[..., EOS] = -math.inf", "")),
    wrong("first_end_wins",
          "The search stops only when EOS is the best continuation of a step; hypotheses that ended in earlier steps "
          "do not stop it.",
          "Which finished hypothesis is compared with the live ones?",
          edit("total[..., EOS] = -math.inf", """
              over = total.flatten(1).argmax(1) % total.size(-1) == EOS
              total[..., EOS] = -math.inf
              """,
               "going = best[rows] < scores[:, 0] / length**alpha", "going = ~over")),
    wrong("last_end_wins",
          "The finished hypothesis that came last is taken, not the best one.",
          "What do you remember, and when do you replace it?",
          edit("(ended > best[rows]).nonzero()", "(ended > -math.inf).nonzero()")),
    wrong("later_of_equal",
          "Of two finished hypotheses that are equally good, you take the later one.",
          "When does a finished hypothesis replace the one that you remember?",
          edit("(ended > best[rows]).nonzero()", "(ended >= best[rows]).nonzero()")),
    wrong("live_wins",
          "The best live hypothesis is returned, although others have ended.",
          "What is the answer when the search is over?",
          edit("return padded(answers)", """
              for i, row in enumerate(rows.tolist()):
                  answers[row] = prefixes[i, 0, 1:].tolist()
              return padded(answers)""")),
    wrong("never_stops",
          "The search always runs for `max_len` steps.",
          "When can no live hypothesis win any more?",
          edit("going = best[rows] < scores[:, 0] / length**alpha", "going = best[rows] < math.inf")),
    wrong("stops_by_raw_score",
          "The stop rule compares a normalised score with a raw one.",
          "Is each score divided by the power of its own length?",
          edit("best[rows] < scores[:, 0] / length**alpha", "best[rows] < scores[:, 0]")),
    wrong("eos_lost",
          "EOS is missing at the end of the answers.",
          "What should an ended row end with?",
          edit("[*prefixes[i, winner[i], 1:].tolist(), EOS]", "prefixes[i, winner[i], 1:].tolist()")),
    wrong("one_sentence_alone",
          "For a single sentence, the first dimension is lost.",
          "What is the shape of the result if B is 1?",
          edit("return padded(answers).to(source.device)", "return padded(answers).to(source.device).squeeze(0)")),
    wrong("bos_returned",
          "BOS is part of the answers.",
          "Where does the answer begin?",
          edit("[*prefixes[i, winner[i], 1:].tolist(), EOS]", "[*prefixes[i, winner[i]].tolist(), EOS]")),
    wrong("at_most_60",
          "No text is longer than 60 tokens, whatever `max_len` is.",
          "Where does your code use `max_len`?",
          edit("range(1, max_len + 1)", "range(1, min(max_len, 60) + 1)")),
    wrong("minus_hundred",
          "A number like -100 is used for minus infinity: in a long text, ended prefixes go on.",
          "Which number is below every possible score?",
          edit("total[..., EOS] = -math.inf", "total[..., EOS] = -100.0")),
]

STEPS = [
    wrong("training_mode",
          "The model is called in training mode.",
          "What does dropout do to a search?",
          edit("model.eval()", "")),
    wrong("gradients",
          "Gradients are recorded: every step keeps its whole graph, for nothing.",
          "Which line of `greedy_decode` saves this memory?",
          edit("@torch.no_grad()", "")),
    wrong("memory_of_others",
          "The prefixes use the memory of other sentences: it was repeated in the wrong order.",
          "Three sentences, two prefixes each: is it 0 0 1 1 2 2 or 0 1 2 0 1 2?",
          edit("asked = rows.repeat_interleave(live)", "asked = rows.repeat(live)")),
    wrong("one_step_short",
          "The search ends one step too early.",
          "How many tokens may an answer have, EOS included?",
          edit("range(1, max_len + 1)", "range(1, max_len)")),
    wrong("worst",
          "The k worst continuations stay live.",
          "At which end of the list are the best?",
          edit(".topk(wide)", ".topk(wide, largest=False)")),
]
