"""Greedy decoding of one sequence."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.sequence_reversal.exercises._decoding import unevaluated
from transformer_course.sequence_reversal.exercises._inputs import lines_of

CASES = [
    case("ends", "a model that writes four tokens, then EOS", lines_of((4,), 9, 13, training=True),
         "Step through the model by hand: which token does it say after BOS, and which after that?"),
    case("bounded", "a model that never writes EOS", lines_of((99,), 6, 11, training=False),
         "A model that never says EOS is stopped after `max_len` tokens."),
    case("nothing", "a model that writes EOS at once", lines_of((0,), 7, 12, training=True),
         "EOS alone is also an answer: the sequence is empty."),
    case("says_pad", "a model that writes BOS and PAD before EOS", lines_of((5,), 9, 14, training=False, pads=True),
         "Only EOS ends a sequence. Before it, PAD and BOS are tokens like any other."),
    case("in_time", "a model whose EOS is the last token that is allowed", lines_of((6,), 7, 12, training=False),
         "`max_len` counts EOS, but not BOS."),
    case("long", "a model that writes 90 tokens", lines_of((99,), 90, 15, training=True),
         "A sequence may be as long as `max_len` allows.", hidden_only=True),
]

_LOOP = "while tokens[-1] != EOS and len(tokens) <= max_len:"
_BEST = "logits[0, -1].argmax()"

MISTAKES = [
    wrong("bos_kept",
          "Your result begins with BOS; it should hold only what was *written*.",
          "Who put BOS there: the model or you?",
          edit("return tokens[1:]", "return tokens")),
    wrong("eos_cut",
          "You always drop the last token, but EOS belongs in the result, and so does the last symbol of a sequence "
          "that was stopped.",
          "How can the caller tell whether the sequence ended on its own?",
          edit("return tokens[1:]", "return tokens[1:-1]")),
    wrong("eos_left_out",
          "You leave EOS out, but it belongs in the result.",
          "How can the caller tell whether the sequence ended on its own?",
          edit("return tokens[1:]", "return [token for token in tokens[1:] if token != EOS]")),
    wrong("never_stops",
          "You always write `max_len` tokens, even after EOS.",
          "How does the model tell you that it is done?",
          edit(_LOOP, "while len(tokens) <= max_len:")),
    wrong("no_bound",
          "If the model never says EOS, your loop does not stop at `max_len`.",
          "What are the two reasons to stop?",
          edit(_LOOP, "while tokens[-1] != EOS:")),
    wrong("one_step_less",
          "You write one token fewer than `max_len`.",
          "How many tokens may the result have, counting EOS but not BOS?",
          edit("<= max_len", "< max_len"), tests="counts"),
    wrong("one_step_more",
          "You write one more token than `max_len` allows.",
          "Does BOS count among the `max_len` tokens?",
          edit("<= max_len", "<= max_len + 1")),
    wrong("source_as_bound",
          "You write at most as many tokens as the source has, whatever `max_len` is.",
          "Where does your code use `max_len`?",
          edit("<= max_len", "<= source.size(1)")),
    wrong("at_most_60",
          "You never write more than 60 tokens, whatever `max_len` is.",
          "Where does your bound on the length come from?",
          edit("<= max_len", "<= min(max_len, 60)")),
    wrong("stops_at_padding",
          "You stop when the model writes PAD, but only EOS ends a sequence.",
          "What may a model write before EOS?",
          edit("tokens[-1] != EOS", "tokens[-1] not in (EOS, PAD)"), tests="sequence"),
    wrong("specials_end_it",
          "You stop at a special token other than EOS, but only EOS ends a sequence.",
          "What may a model write before EOS?",
          edit("tokens[-1] != EOS and", "(len(tokens) == 1 or tokens[-1] not in (EOS, PAD, BOS)) and")),
    wrong("end_not_written",
          "A special token ends your sequence before it is written: PAD and BOS may come before EOS, and EOS belongs "
          "in the result.",
          "How can the caller tell whether the sequence ended on its own?",
          source("""
              @evaluating
              def greedy_sequence(model, source, max_len):
                  tokens = []
                  for _ in range(max_len):
                      logits = model(source, source.new_tensor([[BOS, *tokens]]))
                      best = int(logits[0, -1].argmax())
                      if best in (PAD, BOS, EOS):
                          break
                      tokens.append(best)
                  return tokens
              """)),
    wrong("first_position",
          "You read the logits of the first position, which only ever predict the first token.",
          "Which position of `(1, T, V)` predicts the next token?",
          edit("logits[0, -1]", "logits[0, 0]")),
    wrong("position_before",
          "You read the logits of the second-to-last position.",
          "Position t predicts the token after position t. Which one do you want?",
          edit("logits[0, -1]", "logits[0, max(len(tokens) - 2, 0)]")),
    wrong("over_all_positions",
          "You take the largest logit over *all* positions.",
          "Which position of `(1, T, V)` predicts the next token?",
          edit(_BEST, "logits[0].argmax() % logits.size(-1)")),
    wrong("argmin",
          "You do not take the token with the largest logit: very negative ones can win.",
          "Which logit belongs to the most probable token?",
          edit(_BEST, "logits[0, -1].argmin()")),
    wrong("sampled",
          "You sample the next token. Greedy decoding takes the most probable one.",
          "Would two runs of your function agree?",
          edit(_BEST, "torch.multinomial((logits[0, -1] / 3).softmax(-1), 1)")),
    wrong("symbols_only",
          "You choose among the symbols only, so EOS is never chosen.",
          "Which ids may a model write?",
          edit(_BEST, "logits[0, -1, 4:].argmax() + 4")),
    wrong("last_token_only",
          "You feed only the newest token, so the model has forgotten all the others.",
          "What does the model know about tokens that it is not shown?",
          edit("new_tensor([tokens])", "new_tensor([tokens[-1:]])")),
    wrong("starts_with_pad",
          "Your decoder input does not start with BOS.",
          "What did the decoder's input begin with in training?",
          edit("tokens = [BOS]", "tokens = [PAD]")),
    wrong("newest_first",
          "You put each new token in front of the others.",
          "Where in the row does the newest token belong?",
          edit("tokens.append(int(logits[0, -1].argmax()))", "tokens.insert(1, int(logits[0, -1].argmax()))")),
    wrong("tensor_returned",
          "You return a tensor; the result should be a list of Python integers.",
          "What does `.tolist()` do?",
          edit("return tokens[1:]", "return torch.tensor(tokens[1:])")),
    *unevaluated("tokens = [BOS]"),
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
    right("encoded_once", edit(_LOOP, """
        memory = model.encode(source)
        while tokens[-1] != EOS and len(tokens) <= max_len:""",
                               "model(source, source.new_tensor([tokens]))",
                               "model.decode(source.new_tensor([tokens]), memory, source)")),
]

EXERCISE = Specification(
    ready_made=("transformer_course.sequence_reversal.library.measuring.write",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
