"""Cases and mistakes for an exercise: train a language model."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_model
from torch import nn

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.checks.exercise import Answers
from transformer_course.library import corpora

INSTRUCTOR_WEIGHTS = Path(__file__).parents[1] / "modern.safetensors"  # the instructor's own
_WINDOW = 96
# The probability of the correct byte, in percent, and the share of the points. A bigram model
# reaches 10; the recipe reaches 37 after 800 steps and 43 after 3,200.
SCALE = ((10.0, 0.0), (30.0, 0.5), (41.5, 1.0), (46.0, 1.0), (52.0, 1.125))


def instructors_model() -> nn.Module:
    """Load the instructor's model, which was trained by the notebook's recipe."""
    from transformer_course.solutions.since_2017 import new_model

    model = new_model()
    load_model(model, INSTRUCTOR_WEIGHTS)
    return model


def _draw_windows(sentences: int) -> Maker:
    """Make a function that draws new text in windows, (N, L + 1) bytes.

    With more ``sentences``, a model's score depends less on the text: its standard
    deviation is 0.45 percentage points with 200, and 0.32 with 400.
    """

    def make_inputs(draw: Draw) -> Inputs:
        seed = f"grade {int(draw.ids(0, 2**31, 1))}"
        text = "\n".join(corpora.generate(seed, sentences, "test")) + "\n"
        ids = torch.tensor(list(text.encode()), dtype=torch.uint8)
        size = _WINDOW + 1
        return {"windows": ids[: len(ids) // size * size].view(-1, size)}

    return make_inputs


def _answer_ideally(draw: Draw) -> Answers:
    """The answers of an ideal model; they are not compared, since only the loss counts."""
    return {"nats": torch.tensor(0.0, dtype=torch.float64), "likelihood": "writes"}


_TABLE = """
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            text = text_ids("a table", 300)
            counts = torch.full((128, 128), 0.05)
            ones = torch.ones(len(text) - 1)
            counts.index_put_((text[:-1], text[1:]), ones, accumulate=True)
            self.table = nn.Parameter({rows})

        def forward(self, ids):
            return self.table[ids]

    def trained_model():
        return Table()
"""
_INSTRUCTORS = """
    def trained_model():
        from transformer_course.since_2017.exercises.trained_model import instructors_model
        model = instructors_model()
        {step}
        return model
"""

CASES = [
    case("fresh", "fresh text of 200 sentences", _draw_windows(200),
         "Train for more steps, and look at the loss: it should fall below 0.9.", measure="likelihood", scale=SCALE,
         expected=_answer_ideally),
    case("more", "fresh text of 400 sentences", _draw_windows(400),
         "Train for more steps, and look at the loss: it should fall below 0.9.", measure="likelihood", scale=SCALE,
         expected=_answer_ideally, hidden_only=True),
]

MISTAKES = [
    wrong("untrained", "The model knows nothing: it looks untrained, or was trained for only a few steps.",
          "Is the model in the file the one that you trained?",
          source("""
              def trained_model():
                  torch.manual_seed(0)
                  return new_model()
              """),
          source("""
              def trained_model():
                  model = new_model()
                  for parameter in model.parameters():
                      nn.init.zeros_(parameter)
                  return model
              """, name="zeros")),
    wrong("frequencies", "The model knows how often each byte occurs, and hardly more.",
          "How much of the earlier text does it see: what does your causal mask allow?",
          source(_TABLE.format(rows="counts.sum(0).log().expand(128, 128).clone()")),
          source(_TABLE.format(rows="(9 * counts.sum(0) / counts.sum() + counts / counts.sum(1, keepdim=True)).log()"),
                 name="mixed")),
    wrong("pairs", "The model knows which byte follows which, but no words.",
          "How far did the loss fall, and how many steps did you train?",
          source(_TABLE.format(rows="(counts / counts.sum(1, keepdim=True)).log()"))),
    wrong("repeats", "The model repeats the byte that it sees: it was trained without the shift.",
          "Which bytes are shown, and which are wanted?",
          source(_TABLE.format(rows="20 * torch.eye(128)")),
          source(_TABLE.format(rows="6 * torch.eye(128)"), name="repeats_gently")),
    wrong("sees_the_future", "A later byte changes earlier logits: the model sees the future.",
          "Which mask does your attention use?",
          source("""
              class Peeking(nn.Module):
                  def __init__(self):
                      super().__init__()
                      self.scale = nn.Parameter(torch.tensor(9.0))

                  def forward(self, ids):
                      return self.scale * F.one_hot(F.pad(ids[:, 1:], (0, 1)), 128)

              def trained_model():
                  return Peeking()
              """), tests="sees the future"),
    wrong("some_words", "The model knows words, but not yet how sentences continue: it needs more training.",
          "How many steps did you train, and was the loss still falling?",
          source(_INSTRUCTORS.format(step="model.norm.weight.data.mul_(0.45)"))),
    wrong("no_file", "There is no file with weights beside the notebook.",
          "Did you hand in `modern.safetensors`, under this very name?",
          source("""
              def trained_model(weights="no such modern.safetensors"):
                  model = new_model()
                  load_model(model, weights)
                  return model
              """)),
    common("nothing_returned", source("def trained_model():\n    new_model()\n")),
    common("returns_class", source("def trained_model():\n    return LanguageModel\n")),
    common("returns_pair", source("def trained_model():\n    return new_model(), 0.9\n")),
    wrong("last_byte_only", "The model gives logits for the last position only.",
          "How many predictions does a window of 96 bytes hold?",
          source("""
              class Last(LanguageModel):
                  def forward(self, ids):
                      return super().forward(ids)[:, -1]

              def trained_model():
                  return Last(128, 48, 4, 2, 2, 144)
              """)),
]

ACCEPTED = [
    right("instructors", source(_INSTRUCTORS.format(step="model.train()"))),
    right("by_state", source("""
        def trained_model():
            from safetensors.torch import load_file
            from transformer_course.since_2017.exercises.trained_model import INSTRUCTOR_WEIGHTS
            model = LanguageModel(128, 48, 4, 2, 2, 144)
            model.load_state_dict(load_file(INSTRUCTOR_WEIGHTS))
            return model
        """)),
    right("in_double", source(_INSTRUCTORS.format(step="model.double()"))),
]

EXERCISE = Specification(
    precise=False, reference=instructors_model, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
