"""The position-wise feed-forward network."""

from __future__ import annotations

import torch

from autograder.authoring.common import under_two_names
from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    EVERYTHING,
    feed_forward_shapes,
    rate_of,
)


def _network(
    *lead: int,
    d_model: int,
    d_ff: int,
    activation: str = "",
    rate: float | None = None,
    pull: bool = False,
    scale: float = 2.0,
) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(*lead, d_model, scale=scale)}
        inputs |= draw.weights(**feed_forward_shapes("", d_model, d_ff))
        inputs |= {"activation": activation} if activation else {}
        inputs |= rate_of(rate)
        return inputs | ({"pull": draw.tensor(*lead, d_model)} if pull else {})

    return make_inputs


def _often(draw: Draw) -> Inputs:
    inputs = _network(d_model=8, d_ff=6, rate=0.5, scale=1.0)(draw)
    return inputs | {"often": torch.tensor(2**15)}


CASES = [
    case("relu", "ReLU, 3 sentences of 4 positions", _network(3, 4, d_model=5, d_ff=7, pull=True),
         "Widen, activate, narrow: does each step happen once, and in this order?"),
    case("gelu", "GELU, where it is asked for", _network(2, 3, d_model=6, d_ff=4, activation="gelu", pull=True),
         "Does your code look at `activation`?"),
    case("dropout", "everything dropped in training, nothing in eval mode",
         _network(2, 5, d_model=4, d_ff=6, rate=EVERYTHING),
         "Where is dropout applied, and does it know the module's mode?"),
    case("expectation", "the mean over many rows, with half of the hidden entries dropped", _often,
         "The remaining entries are scaled so that the mean stays the same.", atol=0.25, aspect="mode"),
    case("heads", "more leading dimensions", _network(2, 3, 4, d_model=6, d_ff=9, activation="relu"),
         "Does your code count dimensions from the end?", hidden_only=True),
]

MISTAKES = [
    # Mistakes in how the network is made.
    wrong("arguments_in_another_order",
          "Your arguments are in a different order than in the stub, so positional calls fail or set the wrong ones.",
          "In which order do `dropout` and `activation` come in the stub?",
          edit("""
              dropout: float = 0.0,
              activation: str = "relu",
              """, """
              activation: str = "relu",
              dropout: float = 0.0,
              """)),
    wrong("dropout_in_place",
          "In training no gradient can be computed, because dropout overwrites what the activation needs for it.",
          "What does `inplace=True` ask for, and what still needs the old values?",
          edit("nn.Dropout(dropout)", "nn.Dropout(dropout, inplace=True)")),
    under_two_names("self.dropout = nn.Dropout(dropout)",
                    "self.layers = nn.Sequential(self.linear1, self.dropout, self.linear2)", tests="parameter once"),
    wrong("noise_for_dropout",
          "In training, hidden entries are multiplied by noise; none is dropped.",
          "What are the only two things that dropout can do to an entry?",
          edit("return self.linear2(self.dropout(hidden))", """
              p = self.dropout.p
              if self.training and 0 < p < 1:
                  noise = torch.randn_like(hidden) * (p / (1 - p)) ** 0.5
                  return self.linear2(hidden * (1 + noise))
              return self.linear2(self.dropout(hidden))
              """)),
    wrong("in_float32",
          "The network computes in float32 even if it and its input are float64.",
          "Which of your steps names a dtype?",
          edit("self.activation(self.linear1(x))", "self.activation(self.linear1(x.float()))")),
    wrong("no_activation",
          "There is no activation between the two linear layers, so together they are one linear layer.",
          "What can two matrices in a row do that one cannot?",
          edit("self.activation(self.linear1(x))", "self.linear1(x)"), tests="activation"),
    wrong("always_relu",
          "Your network uses ReLU whatever `activation` says.",
          "Where in your code does `activation` decide anything?",
          edit('{"relu": F.relu, "gelu": F.gelu}[activation]', "F.relu")),
    wrong("always_gelu",
          "Your network uses GELU even where ReLU is asked for (or left to the default).",
          "What does your code do with `activation`?",
          edit('{"relu": F.relu, "gelu": F.gelu}[activation]', "F.gelu")),
    wrong("swapped_activations",
          "ReLU and GELU are swapped.",
          'Which function does `"gelu"` select?',
          edit('"relu": F.relu, "gelu": F.gelu', '"relu": F.gelu, "gelu": F.relu')),
    wrong("tanh_gelu",
          "Your GELU is the tanh approximation. It is close, but the exact version is asked for.",
          "Which argument of PyTorch's GELU chooses between the two?",
          edit('"gelu": F.gelu', '"gelu": nn.GELU(approximate="tanh")'), tests="PyTorch's"),
    wrong("activation_last",
          "The activation comes after the second layer, so the two layers are one linear map again.",
          "Between which two layers does the formula put the max?",
          edit("self.activation(self.linear1(x))", "self.linear1(x)",
               "self.linear2(self.dropout(hidden))", "self.activation(self.linear2(self.dropout(hidden)))")),
    wrong("activation_twice",
          "The activation is applied after both layers.",
          "May the result be negative?",
          edit("self.linear2(self.dropout(hidden))", "self.activation(self.linear2(self.dropout(hidden)))")),
    wrong("activation_first",
          "The activation is applied to `x`, before the first layer.",
          "What does the formula take the max of?",
          edit("self.activation(self.linear1(x))", "self.linear1(self.activation(x))")),
    wrong("d_ff_ignored",
          "The hidden vectors have size `d_model`: `d_ff` is not used.",
          "What are the two sizes of `linear1`?",
          edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_model)",
               "nn.Linear(d_ff, d_model)", "nn.Linear(d_model, d_model)")),
    wrong("sizes_swapped",
          "`linear1` maps from `d_ff` to `d_model`: its sizes are swapped.",
          "In `nn.Linear(a, b)`, which one is the input size?",
          edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_ff, d_model)",
               "self.linear2 = nn.Linear(d_ff, d_model)", "self.linear2 = nn.Linear(d_model, d_ff)")),
    wrong("no_bias",
          "The linear layers have no bias.",
          "Which letters of the formula are vectors?",
          edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_ff, bias=False)",
               "nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model, bias=False)"), tests="Submodules"),
    wrong("other_names",
          "The layers are not called `linear1` and `linear2`.",
          "Which names does the docstring give?",
          source("""
              class FeedForward(nn.Module):
                  def __init__(self, d_model, d_ff, dropout=0.0, activation='relu'):
                      super().__init__()
                      bend = {'relu': nn.ReLU(), 'gelu': nn.GELU()}[activation]
                      self.net = nn.Sequential(nn.Linear(d_model, d_ff), bend,
                          nn.Dropout(dropout), nn.Linear(d_ff, d_model))
                  def forward(self, x):
                      return self.net(x)
              """)),
    wrong("residual_inside",
          "You already add `x`, but the residual connection belongs to add & norm, which comes next.",
          "What does the FFN formula add to the second product?",
          edit("return self.linear2", "return x + self.linear2")),
    wrong("no_dropout",
          "In training, nothing is dropped.",
          "You were given a dropout rate. Does the result of dropout reach `linear2`?",
          edit("self.linear2(self.dropout(hidden))", "self.linear2(hidden)"),
          edit("self.dropout(hidden)",
               "(hidden if self.activation is F.relu else self.dropout(hidden))", name="no_dropout_after_relu"),
          edit("return self.linear2(self.dropout(hidden))", """
              self.dropout(hidden)
              return self.linear2(hidden)
              """, name="dropout_discarded")),
    wrong("dropout_last",
          "Dropout comes after `linear2`, so it drops the bias as well; it belongs on the hidden vectors.",
          "With everything dropped, what should be left of the formula?",
          edit("self.linear2(self.dropout(hidden))", "self.dropout(self.linear2(hidden))")),
    wrong("dropout_before_activation",
          "Dropout comes before the activation, and GELU of a scaled-up entry is not a scaled-up GELU.",
          "In which order does the text name activation and dropout?",
          edit("self.activation(self.linear1(x))", "self.activation(self.dropout(self.linear1(x)))",
               "self.linear2(self.dropout(hidden))", "self.linear2(hidden)")),
    wrong("dropped_together",
          "Several hidden entries are dropped together: all positions, or all sentences, share one random mask.",
          "What is the shape of the tensor that you apply dropout to?",
          edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones(hidden.size(-1)))"),
          edit("self.dropout(hidden)",
               "hidden * self.dropout(torch.ones_like(hidden[:1]))", name="sentences_dropped_together")),
    wrong("positions_dropped",
          "All hidden entries of a position are dropped together, or none of them.",
          "What is the shape of the tensor that you apply dropout to?",
          edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[..., :1]))")),
    wrong("dropout_unscaled",
          "The entries that dropout keeps are not divided by 1 - p, so in training they are too small on average.",
          "If half of ten entries are dropped, what happens to their sum on average, and what makes up for it?",
          edit("self.dropout(hidden)",
               "hidden * (torch.rand_like(hidden) >= self.dropout.p) if self.training else hidden")),
    wrong("dropout_always",
          "Dropout is active even in eval mode.",
          "`F.dropout` does not know the module's mode. How could it find out?",
          edit("self.dropout(hidden)", "F.dropout(hidden, self.dropout.p)")),
    wrong("flattened",
          "Positions are mixed: changing one changes others, but each should be treated on its own.",
          "Along which dimension does your code sum or average?",
          edit("return self.linear2", """
              hidden = hidden.mean(-2, True) + hidden
              return self.linear2
              """)),
    wrong("softmax_bend",
          "Between the layers there is a softmax instead of the activation.",
          "Should the hidden entries sum to 1?",
          edit("self.activation(self.linear1(x))", "self.linear1(x).softmax(-1)")),
    wrong("batch_added_in_place",
          "Your code adds a batch dimension to `x` in place, so the caller's tensor has one dimension more than "
          "before.",
          "Whose tensor is `x`, and which operations end with an underscore?",
          edit("hidden = self.activation(self.linear1(x))", """
              if x.dim() == 2:
                  x.unsqueeze_(0)
                  return self.linear2(self.dropout(self.activation(self.linear1(x))))[0]
              hidden = self.activation(self.linear1(x))
              """)),
    wrong("in_place",
          "Your code changes `x` in place.",
          "Which operation ends with an underscore, or has `inplace=True`?",
          edit("hidden = self.activation(self.linear1(x))", """
              hidden = self.activation(self.linear1(x.mul_(1)))
              x.data.relu_()
              """), tests="modified"),
    wrong("detached",
          "No gradient flows back to `x`.",
          "Is there a `detach()`, `.data`, `no_grad` or numpy on the way?",
          edit("self.linear1(x)", "self.linear1(x.detach())")),
    wrong("one_layer",
          "Only the first linear layer is applied, so the result has size `d_ff`.",
          "What brings the vector back to `d_model`?",
          edit("self.linear2(self.dropout(hidden))", "self.dropout(hidden)")),
]

ACCEPTED = [
    right("in_steps", source("""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.0, activation='relu'):
                super().__init__()
                self.drop = nn.Dropout(p=dropout)
                self.linear2 = nn.Linear(d_ff, d_model)
                self.linear1 = nn.Linear(d_model, d_ff)
                self.act = nn.ReLU() if activation == 'relu' else nn.GELU()
                nn.init.xavier_uniform_(self.linear1.weight)
            def forward(self, x):
                x = self.linear1(x)
                x = self.act(x)
                x = self.drop(x)
                x = self.linear2(x)
                return x
        """)),
    right("own_tensor_in_place",
          edit("self.activation(self.linear1(x))",
               "self.linear1(x).relu_() if self.activation is F.relu else F.gelu(self.linear1(x))")),
    right("dropout_before_relu", edit("return self.linear2(self.dropout(hidden))", """
        if self.activation is F.relu:
            return self.linear2(F.relu(self.dropout(self.linear1(x))))
        return self.linear2(self.dropout(hidden))
        """)),
    right("functional", edit("hidden = self.activation(self.linear1(x))",
                             "hidden = self.activation(F.linear(x, self.linear1.weight, self.linear1.bias))",
                             "self.dropout(hidden)", "F.dropout(hidden, self.dropout.p, training=self.training)")),
    right("getattr", edit('{"relu": F.relu, "gelu": F.gelu}[activation]', "getattr(F, activation)")),
    right("flat_rows", edit("return self.linear2(self.dropout(hidden))", """
        rows = hidden.reshape(-1, hidden.size(-1))
        return self.linear2(self.dropout(rows)).reshape(x.shape)
        """)),
]

EXERCISE = Specification(
    target="FeedForward",
    tests="start at random",
    contract=Contract(
        typed=True, arguments="x: B L d", results="output: B L d", on=("gelu", "relu"), ways=OF_MODULES, module=True,
        named=True, dropout=(("gelu", "relu"), {"rate": 0.375}),
        sizes=special(
            one_sentence=_network(1, 3, d_model=4, d_ff=5), one_position=_network(2, 1, d_model=4, d_ff=5),
            equal_sizes=_network(3, 3, d_model=3, d_ff=3), no_batch=_network(d_model=4, d_ff=3),
            large_numbers=_network(2, 3, d_model=4, d_ff=6, scale=32.0),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
