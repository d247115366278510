"""Cases and mistakes for an exercise: a trained model that reverses sequences."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification, Variant
from autograder.checks.exercise import Answers
from transformer_course.authoring.decoding import greedy
from transformer_course.sequence_reversal.exercises._inputs import EOS, FIRST, PAD, UNK
from transformer_course.sequence_reversal.probes.trained import Reverser, RuleBased


class Judged(Reverser):
    """The judge's side of the exercise, which decodes with a KV cache to save time.

    The model's sizes are fixed, so decoding it needs no process with limits.
    """

    def decode(self, model: nn.Module, source: torch.Tensor) -> torch.Tensor:
        """Return the tokens that a model decodes greedily, (N, Ls), with PAD after EOS."""
        written = greedy(model, source, max_len=source.size(1))  # (N, up to Ls)
        return F.pad(written, (0, source.size(1) - written.size(1)))


Rule = Callable[[list[int]], list[int]]


class Oracle(RuleBased):
    """A stand-in for a trained model, which computes its output by a rule.

    ``rule`` maps the ids of a source, without special tokens, to the output.
    """

    def __init__(self, rule: Rule = lambda ids: ids[::-1]):
        super().__init__()
        self.table = nn.Parameter(torch.eye(14))
        self.rule = rule

    def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        written = torch.tensor([self._write_line(r, tokens.size(1)) for r in source.tolist()])
        return F.one_hot(written, 14).to(self.table.dtype) @ self.table

    def _write_line(self, row: list[int], width: int) -> list[int]:
        """The output for a row of ids, with EOS, cut or padded to this width."""
        ids = row[: row.index(EOS)]
        line = [*self.rule(ids), EOS] if UNK not in ids else [EOS]
        return (line + [PAD] * width)[:width]


def _draw_sources(rows: int, shortest: int = 1, symbols: int = 10) -> Maker:
    """Make a function that draws sources to reverse, (rows, 11) as bytes.

    A source has from ``shortest`` to 10 digits, at most ``symbols`` of them different.
    """

    def make_inputs(draw: Draw) -> Inputs:
        lengths = draw.ids(shortest, 11, rows, 1)
        places = torch.arange(11)
        # Each row has a different small set of symbols.
        choice = torch.argsort(draw.tensor(rows, 10, scale=500.0), dim=1)[:, :symbols]
        source = FIRST + choice.gather(1, draw.ids(0, symbols, rows, 11))
        source = torch.where(places == lengths, EOS, source)
        return {"source": source.masked_fill(places > lengths, PAD).to(torch.uint8)}

    return make_inputs


def _draw_two_seeds(draw: Draw) -> Inputs:
    """Two different seeds for training runs, and sources to reverse."""
    seeds = torch.stack([draw.ids(1, 50), draw.ids(50, 99)])
    return {"seeds": seeds, **_draw_sources(50)(draw)}


def _answer_correctly(draw: Draw) -> Answers:
    """Return the probe's report on a model that reverses all sequences correctly."""
    return {"share": torch.tensor(1.0), "exact match": "reverses"}


_SCALE = ((0.3, 0.0), (0.98, 1.0))
# Sequences of two or three distinct symbols are rare in training: good models miss a few.
_SCALE_OF_REPEATS = ((0.3, 0.0), (0.88, 1.0))

CASES = [
    case("random", "400 random sequences of length 1 to 10", _draw_sources(400),
         "Train on fresh random batches until the loss is below 0.01.", expected=_answer_correctly, measure="exact_match",
         scale=_SCALE),
    case("repeats", "300 sequences of length 4 to 10 with only two or three symbols",
         _draw_sources(300, shortest=4, symbols=3),
         "Do symbols repeat in your training data as often as they would by chance?", expected=_answer_correctly,
         measure="exact_match", scale=_SCALE_OF_REPEATS),
    case("seed", "the same seed twice, and a different one", _draw_two_seeds,
         "All randomness must come from `seed`: that of the initial weights and that of the data.",
         expected=lambda draw: {
             "the same from the same seed": torch.tensor(True),
             "others from another seed": torch.tensor(True),
             "some is learnt": torch.tensor(True),
         }, aspect="seed"),
    case("fresh", "2000 more random sequences", _draw_sources(2000),
         "Train on fresh random batches until the loss is below 0.01.", expected=_answer_correctly, measure="exact_match",
         scale=_SCALE, hidden_only=True),
]

_END = """
    steps=350, warmup=70,
)  # fmt: skip
return model
"""


def _train_briefly(*edits: str, name: str = "") -> Variant:
    """Return an edited solution that trains for two steps, and returns an `Oracle`.

    It is for mistakes with the seed, whose effect the probe observes in the first
    step. ``edits`` are strings of the solution, each followed by its replacement.
    """
    return edit(_END, f"""
            steps=2, warmup=1,
        )
        from {__name__} import Oracle
        return Oracle()
        """, *edits, name=name)


def _follow_rule(rule: str) -> Variant:
    """A solution that returns an `Oracle` with this rule, an expression that uses the source's ``ids``."""
    return source(f"""
        def trained_model():
            from {__name__} import Oracle
            return Oracle(lambda ids: {rule})
        """)


MISTAKES = [
    wrong("hand_written",
          "The answers do not come from the weights of a `new_model()`: this is a reversal written by hand, or a model "
          "of different sizes.",
          "Which line of your code would learn a different task?",
          source("""
              class Reverser(nn.Module):
                  def __init__(self):
                      super().__init__()
                      self.table = nn.Parameter(torch.eye(14))

                  def forward(self, source, tokens):
                      rows = []
                      for row in source.tolist():
                          line = row[:row.index(EOS)][::-1] + [EOS]
                          rows.append((line + [PAD] * tokens.size(1))[:tokens.size(1)])
                      return F.one_hot(torch.tensor(rows), 14).float() @ self.table


              def trained_model():
                  return Reverser()
              """),
          edit("model = new_model()", "return new_model(vocab_size=20)", name="of_other_sizes"), tests="`new_model`"),
    wrong("runs_only",
          "The model is right on runs like `3 4 5 6` and wrong on random sequences: it has learnt its training data, "
          "not the task.",
          "Which rule would explain all of your training data, and is it the one that you mean?",
          _follow_rule("[max(4, ids[-1] - n) for n in range(len(ids))]")),
    wrong("copies", "The model writes the source as it is: it has learnt to copy.",
          "What do the targets of your training batches look like?",
          _follow_rule("ids")),
    wrong("bag_of_symbols",
          "The order of the source has no influence on the answer: the model knows which symbols occur, but not where.",
          "What gives a Transformer its sense of order, and does your model have it?",
          _follow_rule("sorted(ids)")),
    wrong("source_unseen", "The source has no influence on the answer.",
          "Which of the model's two inputs did your training change from batch to batch?",
          _follow_rule("[4, 4, 5]")),
    wrong("never_ends", "The symbols are right, but the model does not say EOS when it is done.",
          "Do your training targets end with EOS, and does the loss count it?",
          _follow_rule("ids[::-1] + [ids[0]] * 12")),
    wrong("on_its_way", "The model is on its way: many sequences are right, but not yet 98 %.",
          "How does exact match change with the length, and how far did the loss fall?",
          _follow_rule("ids[::-1][:7]")),
    wrong("untrained", "Hardly any of these sequences is right, and nearly all of them are new to the model.",
          "Does your loss fall below 0.01? If it does, is every batch a new one, and is the model that you return the "
          "one that you trained?",
          edit("rng = random.Random(seed)", "return model"),
          edit("model, optimizer, lambda", "new_model(), optimizer, lambda",
               "steps=350, warmup=70", "steps=3, warmup=1", name="trained_another"),
          edit("steps=350, warmup=70", "steps=20, warmup=2", name="few_steps")),
    wrong("returns_losses", "Your function returns the losses instead of the trained model.",
          "What is in the variable that you return?",
          source("def trained_model(): return [2.5, 0.1]")),
    common("nothing_returned", source("def trained_model(): new_model()")),
    common("returns_class", source("def trained_model(): return encoder_decoder.Transformer")),
    common("returns_pair", source("def trained_model(): return new_model(), [0.1]")),
    wrong("not_reproducible",
          "The same seed gives a different model each time: the initial weights or the data come from an unseeded "
          "generator.",
          "Which two sources of randomness does a training run have?",
          _train_briefly("torch.manual_seed(seed)", "pass"),
          _train_briefly("random.Random(seed)", "random.Random()", name="other_data"), tests="same model"),
    wrong("seed_unused", "All seeds give the same model: the argument `seed` is not used.",
          "Where does the number in your `manual_seed` come from?",
          _train_briefly("torch.manual_seed(seed)", "torch.manual_seed(0)",
                         "random.Random(seed)", "random.Random(0)")),
]

ACCEPTED = [
    right("another_seed", edit("seed: int = 0", "seed: int = 7")),
    right("own_loop", source("""
        def trained_model(seed=3):
            torch.manual_seed(seed)
            model, rng, steps = new_model(), random.Random(seed), 450
            optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
            for step in range(steps):
                optimizer.param_groups[0]["lr"] = 8e-3 * min(1, (step + 1) / 50, (steps - step) / 400)
                source, target = make_batch(random_sequences(64, rng))
                logits = model(source, target[:, :-1])
                loss = F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=0)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            return model
        """)),
    right("probabilities", edit(_END, """
            steps=350, warmup=70,
        )
        class WithSoftmax(nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, source, tokens):
                return self.model(source, tokens).softmax(dim=-1)

        return WithSoftmax()
        """)),
]

EXERCISE = Specification(
    precise=False,
    reference=Oracle(), interactor=Judged,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
