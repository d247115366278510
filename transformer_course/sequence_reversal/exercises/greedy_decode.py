"""Greedy decoding."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.sequence_reversal.exercises._decoding import unevaluated
from transformer_course.sequence_reversal.exercises._inputs import lines_of

_CHOSEN = "model(source, tokens)[:, -1].argmax(dim=-1)"
_MASKED = "chosen = chosen.masked_fill(done, PAD)"
_DONE = "done |= chosen == EOS"
_STOP = """
if done.all():
    break
"""

CASES = [
    case("different_ends", "rows that end after 4, 1, 6 and 3 tokens", lines_of((3, 0, 5, 2), 9, 13, training=True),
         "Follow the shortest row: what does it get after its EOS?"),
    case("bounded", "rows that never end, in evaluation mode", lines_of((99, 99, 2), 70, 11, training=False),
         "A row that never says EOS gets exactly `max_len` tokens."),
    case("says_pad", "a model that says PAD and BOS before EOS, and one row that ends in PAD, without EOS",
         lines_of((3, 2, 1, 6, 99), 9, 13, training=False, pads=True),
         "Only EOS ends a row. Before it, PAD and BOS are tokens like any other."),
    case("one_row", "a single row", lines_of((14,), 17, 12, training=True),
         "Compare with the model's lines: if its input is wrong, the model says its last id."),
    case("ends_in_time", "the last EOS is the last token that is allowed",
         lines_of((1, 6, 3, 6, 0), 7, 15, training=False),
         "EOS itself counts as a token.", hidden_only=True),
]

MISTAKES = [
    wrong("bos_kept",
          "Your result begins with BOS; it should hold only what was *written*.",
          "Who put BOS there: the model or you?",
          edit("return tokens[:, 1:]", "return tokens")),
    wrong("eos_cut",
          "The last column is missing, but EOS belongs in the result.",
          "How can the caller tell that a row ended on its own?",
          edit("return tokens[:, 1:]", "return tokens[:, 1:-1]")),
    wrong("eos_erased",
          "EOS was replaced by PAD, so the caller cannot see where a row ended.",
          "From which token on does a row get PAD: EOS, or the one after it?",
          edit(_DONE, "",
               _MASKED, """
              done |= chosen == EOS
              chosen = chosen.masked_fill(done, PAD)
              """)),
    wrong("no_padding",
          "Rows go on writing after their EOS.",
          "What should come after EOS in a row?",
          edit(_MASKED, ""), tests="row gets"),
    wrong("eos_repeated",
          "Finished rows are filled up with EOS instead of PAD.",
          'Which id means "nothing" here?',
          edit("masked_fill(done, PAD)", "masked_fill(done, EOS)")),
    wrong("stops_for_all",
          "All rows stop as soon as the first one says EOS.",
          "`any` or `all`: when may the loop end?",
          edit("done.all()", "done.any()"), tests="possible"),
    wrong("this_step_only",
          "You stop only if all rows say EOS in the *same* step; earlier ones are forgotten.",
          "What must a row remember about its past?",
          edit(_DONE, "done = chosen == EOS")),
    wrong("never_stops",
          "You always take `max_len` steps, even after all rows have said EOS.",
          "What do the last columns of your result hold?",
          edit(_STOP, "")),
    wrong("first_position",
          "You read the logits of the first position, which only ever predict the first token.",
          "Which position of `(B, T, V)` predicts the next token?",
          edit("[:, -1].argmax", "[:, 0].argmax")),
    wrong("position_before",
          "You read the logits of the second-to-last position.",
          "Position t predicts the token after position t. Which one do you want?",
          edit("[:, -1].argmax", "[:, max(tokens.size(1) - 2, 0)].argmax")),
    wrong("batch_index",
          "You took the last row of the batch instead of the last position, so all rows get the same token.",
          "Which dimension of `(B, T, V)` does `[-1]` index?",
          edit(_CHOSEN, "model(source, tokens)[-1][-1:].argmax(dim=-1).expand(len(source))")),
    wrong("argmax_over_rows",
          "Your argmax runs over the batch instead of the vocabulary.",
          "Which dimension of `(B, V)` holds the vocabulary?",
          edit("argmax(dim=-1)", "argmax(dim=0)[: len(source)]")),
    wrong("argmin",
          "You do not take the token with the largest logit: very negative ones can win.",
          "Which logit belongs to the most probable token?",
          edit("argmax", "argmin")),
    wrong("rounded",
          "You round the probabilities before you compare them, so tokens that are nearly as probable become equal.",
          "Which operation loses digits before `argmax` sees them?",
          edit(_CHOSEN, "model(source, tokens)[:, -1].softmax(dim=-1).round(decimals=3).argmax(dim=-1)")),
    wrong("sampled",
          "You sample the next token. Greedy decoding takes the most probable one.",
          "Would two runs of your function agree?",
          edit(_CHOSEN, "torch.multinomial((model(source, tokens)[:, -1] / 3).softmax(-1), 1)[:, 0]")),
    wrong("last_token_only",
          "You feed only the newest token. Without a cache, the model has forgotten all the others.",
          "What does the model know about tokens that it is not shown?",
          edit("= model(source, tokens)", "= model(source, tokens[:, -1:])")),
    wrong("starts_with_eos",
          "Your decoder input does not start with BOS.",
          "What did the decoder's input begin with in training?",
          edit("(source.size(0), 1), BOS)", "(source.size(0), 1), EOS)")),
    wrong("one_step_less",
          "You write one token fewer than `max_len`.",
          "How many tokens may a row have, counting EOS but not BOS?",
          edit("range(max_len)", "range(max_len - 1)")),
    wrong("one_step_more",
          "You write one more token than `max_len` allows.",
          "Does BOS count among the `max_len` tokens?",
          edit("range(max_len)", "range(max_len + 1)")),
    wrong("padding_ends",
          "You stop as soon as every row writes PAD or EOS, but a row that writes PAD before its EOS must go on.",
          "Which token alone ends a row?",
          edit("if done.all()", "if ((chosen == PAD) | (chosen == EOS)).all()")),
    wrong("written_padding_cut",
          "You cut off PAD columns at the end, even where a row wrote PAD itself before any EOS.",
          "Is a row done when it writes PAD?",
          edit("return tokens[:, 1:]",
               "return tokens[:, 1 : 1 + int((tokens[:, 1:] != PAD).any(0).nonzero().max() + 1)]"), tests="tokens"),
    wrong("source_as_bound",
          "You write as many tokens as the source has, not up to `max_len`.",
          "Where does your code use `max_len`?",
          edit("range(max_len)", "range(source.size(1))")),
    wrong("source_and_some_more",
          "You never write more than a few tokens beyond the length of the source.",
          "May a text be much longer than its source?",
          edit("range(max_len)", "range(min(max_len, source.size(1) + 3))")),
    *unevaluated("for _ in range(max_len):"),
    wrong("bos_forbidden",
          "BOS is never chosen, even if it is the most probable token.",
          "Which tokens may a model say?",
          edit("model(source, tokens)[:, -1].argmax(dim=-1)",
               "(model(source, tokens)[:, -1] - 99.0 * F.one_hot(torch.tensor(BOS), model(source, tokens).size(-1))).argmax(dim=-1)")),
    wrong("memory_of_others",
          "Some rows are decoded with the memory of other rows.",
          "Which rows are still being written, and which of them does `memory` hold?",
          source("""
              @evaluating
              def greedy_decode(model, source, max_len):
                  rows = source.new_full((len(source), max_len + 1), PAD)
                  rows[:, 0] = BOS
                  live, width = torch.arange(len(source)), 0
                  memory = model.encode(source)
                  while len(live) and width < max_len:
                      given = rows[live, : width + 1]
                      logits = model.decode(given, memory[: len(live)], source[live])
                      width += 1
                      rows[live, width] = logits[:, -1].argmax(-1)
                      live = live[rows[live, width] != EOS]
                  return rows[:, 1 : width + 1]
              """)),
    wrong("row_by_row_mixed",
          "The first row of the batch alone decides when all the others get PAD.",
          "Is `done` one flag, or one per row?",
          edit(_DONE, "done |= chosen[0] == EOS")),
    wrong("all_positions",
          "Your step moves or changes tokens that were already written.",
          "What should a step leave as it is, and what should it add?",
          edit("tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)  # (B, T + 1)",
               "tokens = torch.cat((chosen.unsqueeze(1), tokens), dim=1)")),
    wrong("at_most_60",
          "No row gets longer than 60 tokens, whatever `max_len` is.",
          "Where does your bound on the length come from?",
          edit("range(max_len)", "range(min(max_len, 60))")),
]

ACCEPTED = [
    right("deep_copy", edit("for _ in range(max_len):", """
        import copy
        model = copy.deepcopy(model)
        for _ in range(max_len):""")),
    right("inference_mode", source("""
        @torch.inference_mode()
        def greedy_decode(model, source, max_len):
            mode = model.training
            model.eval()
            rows = source.new_full((len(source), max_len + 1), PAD)
            rows[:, 0] = BOS
            alive = torch.ones(len(source), dtype=torch.bool)
            width = 0
            for t in range(max_len):
                if not alive.any():
                    break
                best = model(source, rows[:, :t + 1]).argmax(-1)[:, t]
                rows[alive, t + 1] = best[alive]
                alive &= best != EOS
                width = t + 1
            if mode:
                model.train()
            return rows[:, 1:width + 1].clone()
        """)),
    right("living_rows_only", source("""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            said = [[] for _ in source]
            with torch.no_grad():
                for _ in range(max_len):
                    live = [i for i, r in enumerate(said) if EOS not in r]
                    if not live:
                        break
                    given = torch.tensor([[BOS] + said[i] for i in live])
                    best = model(source[live], given)[:, -1].argmax(-1).tolist()
                    for i, token in zip(live, best):
                        said[i].append(token)
            model.train(was)
            width = max(map(len, said))
            return torch.tensor([r + [PAD] * (width - len(r)) for r in said])
        """)),
    right("one_by_one", source("""
        def greedy_decode(model, source, max_len):
            rows = [torch.tensor(greedy_sequence(model, one[None], max_len)) for one in source]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True)
        """), tests="`@evaluating`"),
    right("encoded_once", edit("for _ in", """
        memory = model.encode(source)
        for _ in
        """,
                               "= model(source, tokens)", "= model.decode(tokens, memory, source)")),
    right("living_memory_only", source("""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            rows = source.new_full((len(source), max_len + 1), PAD)
            rows[:, 0] = BOS
            live, width = torch.arange(len(source)), 0
            with torch.no_grad():
                memory = model.encode(source)
                while len(live) and width < max_len:
                    given = rows[live, : width + 1]
                    logits = model.decode(given, memory[live], source[live])
                    width += 1
                    rows[live, width] = logits[:, -1].argmax(-1)
                    live = live[rows[live, width] != EOS]
            model.train(was)
            return rows[:, 1 : width + 1]
        """)),
    right("padded_afterwards", source("""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            tokens = torch.full((len(source), 1), BOS)
            with torch.no_grad():
                for _ in range(max_len):
                    best = model(source, tokens)[:, -1:].log_softmax(-1).argmax(-1)
                    tokens = torch.cat([tokens, best], 1)
                    if (tokens == EOS).any(1).all():
                        break
            model.train(was)
            tokens = tokens[:, 1:]
            ends = (tokens == EOS).int()
            return tokens.masked_fill(ends.cumsum(1) - ends > 0, PAD)
        """)),
]

EXERCISE = Specification(
    aspects={"form": 3.0, "mode": 3.0},  # what follows an EOS, and an end
    ready_made=("transformer_course.sequence_reversal.library.measuring.write",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
