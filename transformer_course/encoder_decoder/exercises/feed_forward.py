"""Cases and mistakes for an exercise: the position-wise feed-forward network."""

from __future__ import annotations

from autograder.authoring.common import under_two_names
from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.encoder_decoder.exercises._inputs import EVERYTHING

_HIDDEN = "self.activation(self.linear1(x))"
_RETURN = "return self.linear2(self.dropout(hidden))"
_TABLE = '{"relu": F.relu, "gelu": F.gelu}[activation]'

CASES = [
    case("relu", "ReLU, 3 sentences of 4 positions", sizes(batch=(3, 4), d_model=5, d_ff=7),
         "Widen, activate, narrow: does each step happen once, and in this order?"),
    case("gelu", "GELU, where it is asked for", sizes(batch=(2, 3), d_model=6, d_ff=4, activation="gelu"),
         "Does your code look at `activation`?"),
    case("dropout", "everything dropped in training, nothing in eval mode",
         sizes(batch=(5,), d_model=4, d_ff=6, dropout=EVERYTHING),
         "Where is dropout applied, and does it know the module's mode?"),
    case("expectation", "the mean over many rows, with half of the hidden entries dropped",
         sizes(batch=(), d_model=8, d_ff=6, dropout=0.5, scale=1.0),
         "The remaining entries are scaled so that the mean stays the same.", atol=0.25, aspect="mode"),
    case("heads", "more leading dimensions", sizes(batch=(2, 3, 4), d_model=6, d_ff=9, activation="relu"),
         "Does your code count dimensions from the end?", hidden_only=True),
]

MISTAKES = [
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
                    "self.layers = nn.Sequential(self.linear1, self.dropout, self.linear2)", tests="appears twice"),
    wrong("in_float32", "The network computes in float32 even if it and its input are float64.",
          "Which of your steps names a dtype?",
          edit(_HIDDEN, "self.activation(self.linear1(x.float()))")),
    wrong("no_activation",
          "There is no activation between the two linear layers, so together they are one linear layer.",
          "What can two matrices in a row do that one cannot?",
          edit(_HIDDEN, "self.linear1(x)"), tests="activation"),
    wrong("one_activation", "Your network uses the same activation, whatever `activation` says.",
          "Where in your code does `activation` decide anything?",
          edit(_TABLE, "F.relu"),
          edit(_TABLE, "F.gelu", name="always_gelu")),
    wrong("swapped_activations", "ReLU and GELU are swapped.",
          'Which function does `"gelu"` select?',
          edit('"relu": F.relu, "gelu": F.gelu', '"relu": F.gelu, "gelu": F.relu')),
    wrong("tanh_gelu", "Your GELU is the tanh approximation. It is close, but the exact version is asked for.",
          "Which argument of PyTorch's GELU chooses between the two?",
          edit('"gelu": F.gelu', '"gelu": nn.GELU(approximate="tanh")'), tests="PyTorch's"),
    wrong("activation_elsewhere", "The activation belongs between the two layers, and nowhere else.",
          "What does the formula take the max of, and may the result be negative?",
          edit(_HIDDEN, "self.linear1(x)",
               _RETURN, "return self.activation(self.linear2(self.dropout(hidden)))"),
          edit(_RETURN, "return self.activation(self.linear2(self.dropout(hidden)))", name="activation_twice"),
          edit(_HIDDEN, "self.linear1(self.activation(x))", name="activation_first")),
    wrong("d_ff_ignored", "The hidden vectors have size `d_model`: `d_ff` is not used.",
          "What are the two sizes of `linear1`?",
          edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_model)",
               "nn.Linear(d_ff, d_model)", "nn.Linear(d_model, d_model)")),
    wrong("sizes_swapped", "`linear1` maps from `d_ff` to `d_model`: its sizes are swapped.",
          "In `nn.Linear(a, b)`, which one is the input size?",
          edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_ff, d_model)",
               "self.linear2 = nn.Linear(d_ff, d_model)", "self.linear2 = nn.Linear(d_model, d_ff)")),
    wrong("no_bias", "The linear layers have no bias.",
          "Which letters of the formula are vectors?",
          edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_ff, bias=False)",
               "nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model, bias=False)"), tests="Submodules"),
    wrong("starts_at_zero", "One of the weight matrices starts as zeros; both start at random.",
          "What gradient does `linear1` get while the weight of `linear2` is zero?",
          edit("self.linear2 = nn.Linear(d_ff, d_model)",
               "self.linear2 = nn.Linear(d_ff, d_model); nn.init.zeros_(self.linear2.weight)"),
          edit("self.linear1 = nn.Linear(d_model, d_ff)",
               "self.linear1 = nn.Linear(d_model, d_ff); nn.init.zeros_(self.linear1.weight)", name="linear1_at_zero"),
          tests="randomly initialised"),
    wrong("other_names", "The layers are not called `linear1` and `linear2`.",
          "Which names does the docstring give?",
          edit("self.linear1 = nn", "self.widen = nn", "self.linear1(x)", "self.widen(x)",
               "self.linear2 = nn", "self.narrow = nn", "self.linear2(self", "self.narrow(self")),
    wrong("residual_inside",
          "You already add `x`, but the residual connection belongs to add & norm, which comes next.",
          "What does the FFN formula add to the second product?",
          edit("return self.linear2", "return x + self.linear2")),
    wrong("no_dropout", "In training, nothing is dropped.",
          "You were given a dropout rate. Does the result of dropout reach `linear2`?",
          edit("self.linear2(self.dropout(hidden))", "self.linear2(hidden)"),
          edit("self.dropout(hidden)",
               "(hidden if self.activation is F.relu else self.dropout(hidden))", name="no_dropout_after_relu"),
          edit(_RETURN, """
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
          edit(_HIDDEN, "self.activation(self.dropout(self.linear1(x)))",
               "self.linear2(self.dropout(hidden))", "self.linear2(hidden)")),
    wrong("dropped_together",
          "Hidden entries are dropped together: those of several features, positions or sentences share one random "
          "number.",
          "What is the shape of the tensor that you apply dropout to?",
          edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones(hidden.size(-1)))"),
          edit("self.dropout(hidden)",
               "hidden * self.dropout(torch.ones_like(hidden[:1]))", name="sentences_dropped_together"),
          edit("self.dropout(hidden)",
               "hidden * self.dropout(torch.ones_like(hidden[..., :1]))", name="positions_dropped")),
    wrong("dropout_unscaled",
          "The entries that dropout keeps are not divided by 1 - p, so in training they are too small on average.",
          "If half of ten entries are dropped, what happens to their sum on average, and what makes up for it?",
          edit("self.dropout(hidden)",
               "hidden * (torch.rand_like(hidden) >= self.dropout.p) if self.training else hidden")),
    wrong("dropout_always", "Dropout is active even in eval mode.",
          "`F.dropout` does not know the module's mode. How could it find out?",
          edit("self.dropout(hidden)", "F.dropout(hidden, self.dropout.p)")),
    wrong("flattened", "Positions are mixed: changing one changes others, but each should be treated on its own.",
          "Along which dimension does your code sum or average?",
          edit("return self.linear2", """
              hidden = hidden.mean(-2, True) + hidden
              return self.linear2
              """)),
    wrong("softmax_bend", "Between the layers there is a softmax instead of the activation.",
          "Should the hidden entries sum to 1?",
          edit(_HIDDEN, "self.linear1(x).softmax(-1)")),
    wrong("in_place", "Your code changes `x` itself: its entries, or its shape.",
          "Whose tensor is `x`, and which operations end with an underscore, or have `inplace=True`?",
          edit("hidden = self.activation(self.linear1(x))", """
              hidden = self.activation(self.linear1(x.mul_(1)))
              x.data.relu_()
              """),
          edit("hidden = self.activation(self.linear1(x))", """
              if x.dim() == 2:
                  x.unsqueeze_(0)
                  return self.linear2(self.dropout(self.activation(self.linear1(x))))[0]
              hidden = self.activation(self.linear1(x))
              """, name="batch_added_in_place"), tests="modified"),
    wrong("detached", "No gradient flows back to `x`.",
          "Is there a `detach()`, `.data`, `no_grad` or numpy on the way?",
          edit("self.linear1(x)", "self.linear1(x.detach())")),
    wrong("one_layer", "Only the first linear layer is applied, so the result has size `d_ff`.",
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
          edit(_HIDDEN,
               "self.linear1(x).relu_() if self.activation is F.relu else F.gelu(self.linear1(x))")),
    right("dropout_before_relu", edit(_RETURN, """
        if self.activation is F.relu:
            return self.linear2(F.relu(self.dropout(self.linear1(x))))
        return self.linear2(self.dropout(hidden))
        """)),
    right("functional", edit("hidden = self.activation(self.linear1(x))",
                             "hidden = self.activation(F.linear(x, self.linear1.weight, self.linear1.bias))",
                             "self.dropout(hidden)", "F.dropout(hidden, self.dropout.p, training=self.training)")),
    right("flat_rows", edit(_RETURN, """
        rows = hidden.reshape(-1, hidden.size(-1))
        return self.linear2(self.dropout(rows)).reshape(x.shape)
        """)),
]

EXERCISE = Specification(
    target="FeedForward", results="output", tests="randomly initialised",
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("gelu", "relu"), named=True,
        dropout=(("gelu", "relu"), {"make.dropout": 0.375}), sizes={"no batch": {"batch": ()}},
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
