"""Cases and mistakes for an exercise: decode one sequence greedily."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.sequence_reversal.exercises._decoding import (
    draw_lines,
    write_mode_mistakes,
)

CASES = [
    case("ends", "a model that writes four tokens, then EOS", draw_lines(4, max_len=9, vocabulary=13),
         "Step through the model by hand: which token does it say after BOS, and which after that?"),
    case("bounded", "a model that never writes EOS", draw_lines(99, max_len=6, vocabulary=11, training=False),
         "A model that never says EOS is stopped after `max_len` tokens."),
    case("nothing", "a model that writes EOS at once", draw_lines(0, max_len=7, vocabulary=12),
         "EOS alone is also an answer: the sequence is empty."),
    case("says_pad", "a model that writes BOS and PAD before EOS",
         draw_lines(5, max_len=9, vocabulary=14, training=False, pads=True),
         "Only EOS ends a sequence. Before it, PAD and BOS are tokens like any other."),
    case("in_time", "a model whose EOS is the last token that is allowed",
         draw_lines(6, max_len=7, vocabulary=12, training=False),
         "`max_len` counts EOS, but not BOS."),
    case("long", "a model that writes 90 tokens", draw_lines(99, max_len=90, vocabulary=15),
         "A sequence may be as long as `max_len` allows.", hidden_only=True),
]

_LOOP = "while tokens[-1] != EOS and len(tokens) <= max_len:"
_BEST = "logits[0, -1].argmax()"
_APPENDED = "tokens.append(int(logits[0, -1].argmax()))"

MISTAKES = [
    wrong("bos_kept", "Your result begins with BOS; it should hold only what was *written*.",
          "Who put BOS there: the model or you?",
          edit("return tokens[1:]", "return tokens")),
    wrong("eos_cut",
          "The end is missing: EOS belongs in the result, or the last symbol of a sequence that was stopped.",
          "How can the caller tell whether the sequence ended on its own?",
          edit("return tokens[1:]", "return tokens[1:-1]"),
          edit("return tokens[1:]", "return [token for token in tokens[1:] if token != EOS]", name="eos_left_out")),
    wrong("never_stops", "You always write `max_len` tokens, even after EOS.",
          "How does the model tell you that it is done?",
          edit("tokens[-1] != EOS and ", "")),
    wrong("no_bound", "If the model never says EOS, your loop does not stop at `max_len`.",
          "What are the two reasons to stop?",
          edit(" and len(tokens) <= max_len", "")),
    wrong("one_step_less", "You write one token fewer than `max_len`, or one more.",
          "How many tokens may the result have, counting EOS but not BOS?",
          edit("<= max_len", "< max_len"),
          edit("<= max_len", "<= max_len + 1", name="one_step_more"), tests="counts"),
    wrong("other_bound",
          "The length of your result has a bound other than `max_len`: that of the source, or a fixed number.",
          "Where does your code use `max_len`?",
          edit("<= max_len", "<= source.size(1)", name="source_as_bound"),
          edit("<= max_len", "<= min(max_len, 60)", name="at_most_60")),
    wrong("stops_at_padding", "You stop at a special token other than EOS, but only EOS ends a sequence.",
          "What may a model write before EOS?",
          edit("tokens[-1] != EOS", "tokens[-1] not in (EOS, PAD)"),
          edit("tokens[-1] != EOS", "(len(tokens) == 1 or tokens[-1] not in (EOS, PAD, BOS))", name="specials_end_it"),
          tests="sequence"),
    wrong("end_not_written",
          "A special token ends your sequence before it is written: PAD and BOS may come before EOS, and EOS belongs "
          "in the result.",
          "How can the caller tell whether the sequence ended on its own?",
          edit(_APPENDED, """
              best = int(logits[0, -1].argmax())
              if best in (PAD, BOS, EOS):
                  break
              tokens.append(best)
              """),
          edit(_APPENDED, """
              best = int(logits[0, -1].argmax())
              if best in (PAD, EOS):
                  break
              tokens.append(best)
              """, name="padding_not_written")),
    wrong("other_position", "You do not read the logits of the last position alone.",
          "Which position of `(1, T, V)` predicts the next token?",
          edit("logits[0, -1]", "logits[0, 0]", name="first_position"),
          edit("logits[0, -1]", "logits[0, max(len(tokens) - 2, 0)]", name="position_before"),
          edit(_BEST, "logits[0].argmax() % logits.size(-1)", name="over_all_positions")),
    wrong("argmin", "You do not take the token with the largest logit: very negative ones can win.",
          "Which logit belongs to the most probable token?",
          edit(_BEST, "logits[0, -1].argmin()")),
    wrong("sampled", "You sample the next token. Greedy decoding takes the most probable one.",
          "Would two runs of your function agree?",
          edit(_BEST, "torch.multinomial((logits[0, -1] / 3).softmax(-1), 1)")),
    wrong("symbols_only", "You choose among the symbols only, so EOS is never chosen.",
          "Which ids may a model write?",
          edit(_BEST, "logits[0, -1, 4:].argmax() + 4")),
    wrong("last_token_only", "You feed only the newest token, so the model has forgotten all the others.",
          "What does the model know about tokens that it is not shown?",
          edit("new_tensor([tokens])", "new_tensor([tokens[-1:]])")),
    wrong("starts_with_pad", "Your decoder input does not start with BOS.",
          "What did the decoder's input begin with in training?",
          edit("tokens = [BOS]", "tokens = [PAD]")),
    wrong("newest_first", "You put each new token in front of the others.",
          "Where in the row does the newest token belong?",
          edit("tokens.append(", "tokens.insert(1, ")),
    wrong("tensor_returned", "You return a tensor; the result should be a list of Python integers.",
          "What does `.tolist()` do?",
          edit("return tokens[1:]", "return torch.tensor(tokens[1:])")),
    *write_mode_mistakes("tokens = [BOS]"),
]

ACCEPTED = [
    right("growing_tensor", source("""
        @evaluating
        def greedy_sequence(model, source, max_len):
            tokens = source.new_full((1, 1), BOS)
            for _ in range(max_len):
                best = model(source, tokens).argmax(dim=-1)[:, -1:]
                tokens = torch.cat((tokens, best), dim=1)
                if best.item() == EOS:
                    break
            return tokens[0, 1:].tolist()
        """)),
    right("by_hand", source("""
        def greedy_sequence(model, source, max_len):
            mode = model.training
            model.eval()
            written = []
            with torch.inference_mode():
                while len(written) < max_len and EOS not in written:
                    logits = model(source, torch.tensor([[BOS, *written]]))
                    written += logits[0, -1:].softmax(-1).argmax(-1).tolist()
            model.train(mode)
            return written
        """)),
    right("encoded_once",
          edit(_LOOP, f"""
              memory = model.encode(source)
              {_LOOP}
              """,
               "model(source, source.new_tensor([tokens]))",
               "model.decode(source.new_tensor([tokens]), memory, source)")),
]

EXERCISE = Specification(
    ready_made=("transformer_course.sequence_reversal.library.measuring.write",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
