"""Cases and mistakes for an exercise: decode a batch greedily."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.sequence_reversal.exercises._decoding import (
    draw_lines,
    write_mode_mistakes,
)

_CHOSEN = "model(source, tokens)[:, -1].argmax(dim=-1)"
_MASKED = "chosen = chosen.masked_fill(done, PAD)"
_DONE = "done |= chosen == EOS"
_STOP = """
if done.all():
    break
"""
_LOOP = "for _ in range(max_len):"
_RESULT = "return tokens[:, 1:]"
_LIVING_ROWS = """
    @evaluating
    def greedy_decode(model, source, max_len):
        rows = source.new_full((len(source), max_len + 1), PAD)
        rows[:, 0] = BOS
        live, width = torch.arange(len(source)), 0
        memory = model.encode(source)
        while len(live) and width < max_len:
            prefixes = rows[live, : width + 1]
            logits = model.decode(prefixes, memory[live], source[live])
            width += 1
            rows[live, width] = logits[:, -1].argmax(-1)
            live = live[rows[live, width] != EOS]
        return rows[:, 1 : width + 1]
"""

CASES = [
    case("different_ends", "rows that end after 4, 1, 6 and 3 tokens",
         draw_lines(3, 0, 5, 2, max_len=9, vocabulary=13),
         "Follow the shortest row: what does it get after its EOS?"),
    case("bounded", "rows that never end, in evaluation mode",
         draw_lines(99, 99, 2, max_len=70, vocabulary=11, training=False),
         "A row that never says EOS gets exactly `max_len` tokens."),
    case("says_pad", "a model that says PAD and BOS before EOS, and one row that ends in PAD, without EOS",
         draw_lines(3, 2, 1, 6, 99, max_len=9, vocabulary=13, training=False, pads=True),
         "Only EOS ends a row. Before it, PAD and BOS are tokens like any other."),
    case("one_row", "a single row", draw_lines(14, max_len=17, vocabulary=12),
         "Compare with the model's lines: if its input is wrong, the model says its last id."),
    case("ends_in_time", "the last EOS is the last token that is allowed",
         draw_lines(1, 6, 3, 6, 0, max_len=7, vocabulary=15, training=False),
         "EOS itself counts as a token.", hidden_only=True),
]

MISTAKES = [
    wrong("bos_kept", "Your result begins with BOS; it should hold only what was *written*.",
          "Who put BOS there: the model or you?",
          edit(_RESULT, "return tokens")),
    wrong("eos_cut", "The last column is missing, but EOS belongs in the result.",
          "How can the caller tell that a row ended on its own?",
          edit(_RESULT, "return tokens[:, 1:-1]")),
    wrong("eos_erased", "EOS was replaced by PAD, so the caller cannot see where a row ended.",
          "From which token on does a row get PAD: EOS, or the one after it?",
          edit(_DONE, "",
               _MASKED, """
              done |= chosen == EOS
              chosen = chosen.masked_fill(done, PAD)
              """)),
    wrong("no_padding", "Rows go on writing after their EOS.",
          "What should come after EOS in a row?",
          edit(_MASKED, ""), tests="row gets"),
    wrong("eos_repeated", "Finished rows are filled up with EOS instead of PAD.",
          'Which id means "nothing" here?',
          edit("masked_fill(done, PAD)", "masked_fill(done, EOS)")),
    wrong("stops_for_all", "All rows stop as soon as the first one says EOS.",
          "`any` or `all`: when may the loop end?",
          edit("done.all()", "done.any()"), tests="possible"),
    wrong("row_by_row_mixed", "The first row of the batch alone decides when all the others get PAD.",
          "Is `done` one flag, or one per row?",
          edit(_DONE, "done |= chosen[0] == EOS")),
    wrong("this_step_only", "You stop only if all rows say EOS in the *same* step; earlier ones are forgotten.",
          "What must a row remember about its past?",
          edit(_DONE, "done = chosen == EOS")),
    wrong("never_stops", "The result always has `max_len` columns, even if all rows have said EOS before.",
          "What do the last columns of your result hold?",
          edit(_STOP, "")),
    wrong("other_position", "You read the logits of a position other than the last.",
          "Position t predicts the token after position t. Which one do you want?",
          edit("[:, -1].argmax", "[:, 0].argmax", name="first_position"),
          edit("[:, -1].argmax", "[:, max(tokens.size(1) - 2, 0)].argmax", name="position_before")),
    wrong("rows_mixed",
          "Rows are mixed: you took the last row of the batch instead of the last position, or the argmax over the "
          "batch instead of the vocabulary.",
          "Which dimension of `(B, T, V)` does `[-1]` index, and which dimension of `(B, V)` holds the vocabulary?",
          edit(_CHOSEN, "model(source, tokens)[-1][-1:].argmax(dim=-1).expand(len(source))", name="batch_index"),
          edit("argmax(dim=-1)", "argmax(dim=0)[: len(source)]", name="argmax_over_rows")),
    wrong("argmin", "You do not take the token with the largest logit: very negative ones can win.",
          "Which logit belongs to the most probable token?",
          edit("argmax", "argmin")),
    wrong("rounded",
          "You round the probabilities before you compare them, so tokens that are nearly as probable become equal.",
          "Which operation loses digits before `argmax` sees them?",
          edit("[:, -1].argmax", "[:, -1].softmax(dim=-1).round(decimals=3).argmax")),
    wrong("sampled", "You sample the next token. Greedy decoding takes the most probable one.",
          "Would two runs of your function agree?",
          edit(_CHOSEN, "torch.multinomial((model(source, tokens)[:, -1] / 3).softmax(-1), 1)[:, 0]")),
    wrong("bos_forbidden", "BOS is never chosen, even if it is the most probable token.",
          "Which tokens may a model say?",
          edit("[:, -1].argmax", "[:, -1].index_fill(1, torch.tensor([BOS]), -99.0).argmax")),
    wrong("last_token_only", "You feed only the newest token. Without a cache, the model has forgotten all the others.",
          "What does the model know about tokens that it is not shown?",
          edit("= model(source, tokens)", "= model(source, tokens[:, -1:])")),
    wrong("starts_with_eos", "Your decoder input does not start with BOS.",
          "What did the decoder's input begin with in training?",
          edit("(source.size(0), 1), BOS)", "(source.size(0), 1), EOS)")),
    wrong("newest_first", "Your step moves or changes tokens that were already written.",
          "What should a step leave as it is, and what should it add?",
          edit("(tokens, chosen.unsqueeze(1))", "(chosen.unsqueeze(1), tokens)")),
    wrong("one_step_less", "You write one token fewer than `max_len`, or one more.",
          "How many tokens may a row have, counting EOS but not BOS?",
          edit("range(max_len)", "range(max_len - 1)"),
          edit("range(max_len)", "range(max_len + 1)", name="one_step_more")),
    wrong("other_bound",
          "The length of your rows has a bound other than `max_len`: that of the source, or a fixed number.",
          "Where does your code use `max_len`, and may a text be much longer than its source?",
          edit("range(max_len)", "range(source.size(1))", name="source_as_bound"),
          edit("range(max_len)", "range(min(max_len, source.size(1) + 3))", name="source_and_some_more"),
          edit("range(max_len)", "range(min(max_len, 60))", name="at_most_60")),
    wrong("padding_ends",
          "PAD that a row writes itself, before any EOS, is taken for its end: you stop there, or cut its column off.",
          "Which token alone ends a row?",
          edit("if done.all()", "if ((chosen == PAD) | (chosen == EOS)).all()"),
          edit(_RESULT, """
              written = (tokens != PAD).any(dim=0).nonzero().max()
              return tokens[:, 1 : written + 1]
              """, name="written_padding_cut"), tests="tokens"),
    wrong("memory_of_others", "Some rows are decoded with the memory of other rows.",
          "Which rows are still being written, and which of them does `memory` hold?",
          source(_LIVING_ROWS.replace("memory[live]", "memory[: len(live)]"))),
    *write_mode_mistakes(_LOOP),
]

ACCEPTED = [
    right("deep_copy", edit(_LOOP, f"""
        import copy
        model = copy.deepcopy(model)
        {_LOOP}
        """)),
    right("inference_mode", edit("@evaluating", """
        @evaluating
        @torch.inference_mode()
        """)),
    right("one_by_one", source("""
        def greedy_decode(model, source, max_len):
            rows = [torch.tensor(greedy_sequence(model, one[None], max_len)) for one in source]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True)
        """), tests="`@evaluating`"),
    right("living_memory_only", source(_LIVING_ROWS)),
    right("padded_afterwards", source("""
        @evaluating
        def greedy_decode(model, source, max_len):
            tokens = torch.full((len(source), 1), BOS)
            for _ in range(max_len):
                best = model(source, tokens)[:, -1:].log_softmax(-1).argmax(-1)
                tokens = torch.cat([tokens, best], 1)
                if (tokens == EOS).any(1).all():
                    break
            tokens = tokens[:, 1:]
            ends = (tokens == EOS).int()
            return tokens.masked_fill(ends.cumsum(1) - ends > 0, PAD)
        """)),
]

EXERCISE = Specification(
    ready_made=("transformer_course.sequence_reversal.library.measuring.write",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
