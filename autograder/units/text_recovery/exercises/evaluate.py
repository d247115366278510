"""The loss on dev."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from autograder.units.text_recovery.exercises._inputs import random_batches


def _evaluation(draw: Draw, sizes: Sequence[tuple[int, int]], training: bool, smoothed: bool = False) -> Inputs:
    """Batches, and the mode; ``smoothed``: the loss function is another one."""
    another = {"smoothed": torch.tensor(True)} if smoothed else {}
    return random_batches(draw, sizes, 8) | {"training": torch.tensor(training)} | another


CASES = [
    case("training", "a model in training mode", lambda draw: _evaluation(draw, [(3, 5), (1, 2), (4, 3)], True),
         "Evaluate without dropout, and give the model back in training mode."),
    case("evaluation", "a model in evaluation mode", lambda draw: _evaluation(draw, [(2, 6), (5, 2)], False, True),
         "A model that came in evaluation mode stays in it."),
    case("unequal", "batches of very different sizes",
         lambda draw: _evaluation(draw, [(7, 6), (1, 1), (1, 2), (2, 9)], True),
         "The mean is over tokens: it does not depend on how batches are cut."),
    case("many", "36 small batches", lambda draw: _evaluation(draw, [(1 + i % 2, 1 + i % 3) for i in range(36)], True),
         "The mean is over all batches, however many there are."),
    case("other", "other batches", lambda draw: _evaluation(draw, [(2, 3), (4, 8), (1, 5)], False),
         "The same for other batches.", tells=("padding_in_mean", "sentences_in_mean", "mean_of_batches"),
         hidden_only=True),
]

MISTAKES = [
    wrong("in_training_mode",
          "The model is asked in training mode: dropout blurs what you measure.",
          "Which method switches dropout off?",
          edit("model.eval()", "")),
    wrong("left_in_eval",
          "The model stays in evaluation mode: from here on it trains without dropout.",
          "In which mode did it come?",
          edit("model.train(before)", "")),
    wrong("always_training",
          "The model always goes back to training mode, also when it came in evaluation mode.",
          "How could you know how it came?",
          edit("model.train(before)", "model.train()")),
    wrong("with_gradients",
          "Gradients are recorded: it costs memory and time for nothing.",
          "What does `torch.no_grad()` do?",
          edit("with torch.no_grad():", "if True:")),
    wrong("mean_of_batches",
          "The mean is taken over batches, not over tokens.",
          "Would the same sentences in other batches give the same number?",
          edit("total + loss.item() * tokens, count + tokens", "total + loss.item(), count + 1")),
    wrong("padding_in_mean",
          "Padding counts in the mean.",
          "Which places does the loss function average over?",
          edit("int((target_out != PAD).sum())", "target_out.numel()")),
    wrong("flat_rows",
          "Your `loss_function` gets flat rows of logits and ids, not those of a batch.",
          "Which shape has what the model gives?",
          edit("loss_function(model(source, target_in), target_out)",
               "loss_function(model(source, target_in).flatten(0, 1), target_out.flatten())")),
    wrong("sentences_in_mean",
          "Batches are weighted with their sentences, not their tokens.",
          "What does the loss function average over?",
          edit("int((target_out != PAD).sum())", "len(target_out)")),
    wrong("sum",
          "The sum comes back, not the mean.",
          "By what is it to be divided?",
          edit("return total / count", "return total")),
    wrong("last_batch",
          "The loss of the last batch comes back.",
          "What about all the others?",
          edit("return total / count", "return loss.item()")),
    wrong("learns",
          "The model learns while it is evaluated: its weights have changed.",
          "What is dev for?",
          edit("with torch.no_grad():", "if True:",
               "tokens = int(", """
              loss.backward()
              for p in model.parameters():
                  p.data -= 0.1 * p.grad
              tokens = int(
              """)),
    wrong("reads_the_answer",
          "The model is given `target_out`: it reads what it should say.",
          "What does the decoder read in teacher forcing?",
          edit("(model(source, target_in)", "(model(source, target_out)")),
    wrong("asks_for_input",
          "The model is asked to say what it reads: nothing is shifted.",
          "Which token should be said at the place of BOS?",
          edit("(model(source, target_in), target_out)", "(model(source, target_in), target_in)")),
    wrong("best_batch",
          "The smallest loss of all batches comes back.",
          "What about all the others?",
          edit("total, count = 0.0, 0", "total, count = math.inf, 1",
               "total + loss.item() * tokens, count + tokens", "min(total, loss.item()), 1")),
    wrong("perplexity",
          "The exponential of the mean comes back: the perplexity, not the loss.",
          "In which unit is a mean loss?",
          edit("return total / count", "return math.exp(total / count)")),
    wrong("one_batch",
          "Only the first batch is used.",
          "Where does your loop end?",
          edit("total, count = total + loss.item() * tokens, count + tokens", """
              total, count = total + loss.item() * tokens, count + tokens
              break
              """)),
    wrong("first_ten",
          "Only the first ten batches are used.",
          "How many batches may there be?",
          edit("for source, target_in, target_out in batches:",
               "for source, target_in, target_out in [*batches][:10]:")),
    common("tensor", edit("loss.item()", "loss")),
    wrong("all_unfrozen",
          "Afterwards all parameters learn, those as well that were frozen.",
          "Which parameters learnt before your function was called?",
          edit("model.train(before)", """
              model.train(before)
              model.requires_grad_(True)
              """)),
    wrong("recording_switched_on",
          "Afterwards gradients are recorded, also where they were not before.",
          "Who else may have switched the recording of gradients off?",
          edit("with torch.no_grad():", "torch.set_grad_enabled(False)\nif True:",
               "model.train(before)", """
              model.train(before)
              torch.set_grad_enabled(True)
              """)),
    wrong("own_loss",
          "You call `smoothed_loss`, whatever `loss_function` is given.",
          "What does your function do with its third argument?",
          edit("loss_function(model(", "smoothed_loss(model(")),
    wrong("read_twice",
          "The batches are gone through twice: an iterator is empty the second time.",
          "What is left of an iterator after a `for` loop?",
          edit("total, count = 0.0, 0", "total, count = 0.0, sum(int((b[2] != PAD).sum()) for b in batches)",
               "total + loss.item() * tokens, count + tokens", "total + loss.item() * tokens, count")),
    wrong("until_padding",
          "Tokens behind a PAD do not count, though they are no PAD.",
          "What makes a place real: what stands there, or what stands before it?",
          edit("int((target_out != PAD).sum())", "int((target_out != PAD).cumprod(1).sum())")),
    wrong("until_the_end",
          "Tokens behind the first EOS do not count, though they are no PAD.",
          "Which ids does the text leave out of the mean?",
          source("""
              def evaluate(model, batches, loss_function):
                  before = model.training
                  model.eval()
                  total, count = 0.0, 0
                  with torch.no_grad():
                      for source, target_in, target_out in batches:
                          loss = loss_function(model(source, target_in), target_out).item()
                          after = (target_out == EOS).cumsum(1) - (target_out == EOS).int()
                          tokens = int(((after == 0) & (target_out != PAD)).sum())
                          total, count = total + loss * tokens, count + tokens
                  model.train(before)
                  return total / count
              """)),
]

ACCEPTED = [
    right("decorated", source("""
        @torch.no_grad()
        def evaluate(model, batches, loss_function):
            mode = model.training
            model.train(False)
            pairs = [(loss_function(model(s, i), o), (o != PAD).sum()) for s, i, o in batches]
            if mode:
                model.train()
            return float(sum(l * n for l, n in pairs) / sum(n for _, n in pairs))
        """)),
    right("deep_copy", source("""
        import copy

        def evaluate(model, batches, loss_function):
            twin = copy.deepcopy(model).eval()
            total = count = 0
            with torch.no_grad():
                for source, target_in, target_out in batches:
                    real = (target_out != PAD).sum().item()
                    total += loss_function(twin(source, target_in), target_out).item() * real
                    count += real
            return total / count
        """)),
    right("inference_mode", edit("with torch.no_grad():", "with torch.inference_mode():")),
    right("try_finally", source("""
        def evaluate(model, batches, loss_function):
            was_training = model.training
            model.eval()
            total = n = 0
            try:
                for source, a, b in batches:
                    with torch.no_grad():
                        k = (b != 0).sum().item()
                        total += k * loss_function(model(source, a), b).item()
                        n += k
            finally:
                model.train(was_training)
            return total / n
        """)),
]

EXERCISE = Specification(
    name="text_recovery/evaluate", title="The loss on dev", target="evaluate",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
