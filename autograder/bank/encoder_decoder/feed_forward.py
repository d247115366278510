"""The position-wise feed-forward network."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._feed_forward.accepted import ACCEPTED
from autograder.bank.encoder_decoder._feed_forward.making import MAKING
from autograder.bank.encoder_decoder._inputs import (
    EVERYTHING,
    feed_forward_shapes,
    rate_of,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
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
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(*lead, d_model, scale=scale)}
        made |= draw.weights(**feed_forward_shapes("", d_model, d_ff))
        made |= {"activation": activation} if activation else {}
        made |= rate_of(rate)
        return made | ({"pull": draw.tensor(*lead, d_model)} if pull else {})

    return inputs


def _often(draw: Draw) -> Inputs:
    made = _network(d_model=8, d_ff=6, rate=0.5, scale=1.0)(draw)
    return made | {"often": torch.tensor(2**14)}


EXERCISE = Specification(
    name="encoder_decoder/feed_forward",
    title="The position-wise feed-forward network",
    target="FeedForward",
    promise=Promise(
        typed=True,
        arguments="x: B L d",
        results="output: B L d",
        on=("gelu", "relu"),
        ways=OF_MODULES,
        module=True,
        named=True,
        dropout=(("gelu", "relu"), {"rate": 0.375}),
        sizes=special(
            one_sentence=_network(1, 3, d_model=4, d_ff=5),
            one_position=_network(2, 1, d_model=4, d_ff=5),
            equal_sizes=_network(3, 3, d_model=3, d_ff=3),
            no_batch=_network(d_model=4, d_ff=3),
            large_numbers=_network(2, 3, d_model=4, d_ff=6, scale=32.0),
        ),
    ),
    cases=[
        CaseKind(
            name="relu",
            title="ReLU, 3 sentences of 4 positions",
            inputs=_network(3, 4, d_model=5, d_ff=7, pull=True),
            hint="Widen, bend, narrow: does each step happen once, and in this order?",
        ),
        CaseKind(
            name="gelu",
            title="GELU, where one is asked for",
            inputs=_network(2, 3, d_model=6, d_ff=4, activation="gelu", pull=True),
            hint="Does your code look at `activation`?",
        ),
        CaseKind(
            name="dropout",
            title="everything dropped in training, nothing in eval mode",
            inputs=_network(2, 5, d_model=4, d_ff=6, rate=EVERYTHING),
            hint="Where does dropout stand, and does it know whether the module "
            "trains?",
        ),
        CaseKind(
            name="expectation",
            title="the mean over many rows, half of the hidden numbers dropped",
            inputs=_often,
            hint="What is left is divided by something, so that the mean stays.",
            atol=0.25,
            aspect="mode",
        ),
        CaseKind(
            name="heads",
            title="more leading dimensions",
            inputs=_network(2, 3, 4, d_model=6, d_ff=9, activation="relu"),
            hint="Does your code count dimensions from the end?",
            hidden_only=True,
        ),
    ],
    mutants=[
        *MAKING,
        Mutant(
            name="noise_for_dropout",
            says="In training, hidden numbers are multiplied by noise; none is dropped.",
            asks="What are the only two things that dropout does to a number?",
            ways=[Way(edits=[
                Edit(
                    "return self.linear2(self.dropout(hidden))",
                    """
                    p = self.dropout.p
                    if self.training and 0 < p < 1:
                        noise = torch.randn_like(hidden) * (p / (1 - p)) ** 0.5
                        return self.linear2(hidden * (1 + noise))
                    return self.linear2(self.dropout(hidden))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="in_float32",
            says="The network computes in float32, even if it and its input are float64.",
            asks="Which of your steps names a type?",
            ways=[Way(edits=[
                Edit("self.activation(self.linear1(x))", "self.activation(self.linear1(x.float()))"),
            ])],
        ),
        Mutant(
            name="no_activation",
            says="There is no activation between the two linear layers, so together "
            "they are one linear layer.",
            asks="What can two matrices in a row do that one cannot?",
            ways=[Way(edits=[
                Edit("self.activation(self.linear1(x))", "self.linear1(x)"),
            ])],
        ),
        Mutant(
            name="always_relu",
            says="Your network uses ReLU whatever `activation` says.",
            asks="Where in your code does the word `activation` decide something?",
            ways=[Way(edits=[
                Edit('{"relu": F.relu, "gelu": F.gelu}[activation]', "F.relu"),
            ])],
        ),
        Mutant(
            name="always_gelu",
            says="Your network uses GELU where ReLU was asked for (and is the "
            "default).",
            asks="What does your code do with `activation`?",
            ways=[Way(edits=[
                Edit('{"relu": F.relu, "gelu": F.gelu}[activation]', "F.gelu"),
            ])],
        ),
        Mutant(
            name="swapped_activations",
            says="ReLU and GELU have changed places.",
            asks='Which of the two gets `"gelu"`?',
            ways=[Way(edits=[
                Edit('"relu": F.relu, "gelu": F.gelu',
                     '"relu": F.gelu, "gelu": F.relu'),
            ])],
        ),
        Mutant(
            name="tanh_gelu",
            says="Your GELU is the approximation with tanh. It is close, but the exact "
            "one was asked for.",
            asks="Which argument of PyTorch's GELU chooses between the two?",
            ways=[Way(edits=[
                Edit('"gelu": F.gelu', '"gelu": nn.GELU(approximate="tanh")'),
            ])],
        ),
        Mutant(
            name="activation_last",
            says="The activation comes after the second layer, so no output can be "
            "negative, and nothing bends in between.",
            asks="Between which two layers does the formula put the max?",
            ways=[Way(edits=[
                Edit("self.activation(self.linear1(x))", "self.linear1(x)"),
                Edit("self.linear2(self.dropout(hidden))",
                     "self.activation(self.linear2(self.dropout(hidden)))"),
            ])],
        ),
        Mutant(
            name="activation_twice",
            says="The activation stands after both layers; after the second one there "
            "is none.",
            asks="May the result be negative?",
            ways=[Way(edits=[
                Edit("self.linear2(self.dropout(hidden))",
                     "self.activation(self.linear2(self.dropout(hidden)))"),
            ])],
        ),
        Mutant(
            name="activation_first",
            says="The activation is applied to `x`, before the first layer.",
            asks="What is the formula's max taken of?",
            ways=[Way(edits=[
                Edit("self.activation(self.linear1(x))",
                     "self.linear1(self.activation(x))"),
            ])],
        ),
        Mutant(
            name="d_ff_ignored",
            says="The hidden vectors have size `d_model`: `d_ff` is not used.",
            asks="What are the two sizes of `linear1`?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_model)"),
                Edit("nn.Linear(d_ff, d_model)", "nn.Linear(d_model, d_model)"),
            ])],
        ),
        Mutant(
            name="sizes_swapped",
            says="`linear1` goes from `d_ff` to `d_model`: its sizes are exchanged.",
            asks="In `nn.Linear(a, b)`, which one is the size of what comes in?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_ff, d_model)"),
                Edit("self.linear2 = nn.Linear(d_ff, d_model)",
                     "self.linear2 = nn.Linear(d_model, d_ff)"),
            ])],
        ),
        Mutant(
            name="no_bias",
            says="The linear layers have no bias.",
            asks="Which letters of the formula are vectors?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, d_ff)",
                     "nn.Linear(d_model, d_ff, bias=False)"),
                Edit("nn.Linear(d_ff, d_model)",
                     "nn.Linear(d_ff, d_model, bias=False)"),
            ])],
        ),
        Mutant(
            name="other_names",
            says="The layers have other names than `linear1` and `linear2`.",
            asks="Which names does the docstring give?",
            ways=[Way(source="""
                class FeedForward(nn.Module):
                    def __init__(self, d_model, d_ff, dropout=0.0, activation='relu'):
                        super().__init__()
                        bend = {'relu': nn.ReLU(), 'gelu': nn.GELU()}[activation]
                        self.net = nn.Sequential(nn.Linear(d_model, d_ff), bend,
                            nn.Dropout(dropout), nn.Linear(d_ff, d_model))
                    def forward(self, x):
                        return self.net(x)
                """)],
        ),
        Mutant(
            name="residual_inside",
            says="`x` is added already. The residual belongs to add & norm, which "
            "comes next.",
            asks="What does the formula of FFN add to the second product?",
            ways=[Way(edits=[Edit("return self.linear2", "return x + self.linear2")])],
        ),
        Mutant(
            name="no_dropout",
            says="In training nothing is dropped.",
            asks="You were given a rate. Is the dropout layer used in `forward`?",
            ways=[
                Way(edits=[
                    Edit("self.linear2(self.dropout(hidden))", "self.linear2(hidden)"),
                ]),
                Way(name="no_dropout_after_relu", edits=[
                    Edit("self.dropout(hidden)",
                         "(hidden if self.activation is F.relu else self.dropout(hidden))"),
                ]),
                Way(name="dropout_discarded", edits=[
                    Edit(
                        "return self.linear2(self.dropout(hidden))",
                        """
                        self.dropout(hidden)
                        return self.linear2(hidden)
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="dropout_last",
            says="Dropout stands after `linear2`, so it drops the bias as well. It "
            "belongs to the hidden vectors.",
            asks="With everything dropped: what would be left of the formula?",
            ways=[Way(edits=[
                Edit("self.linear2(self.dropout(hidden))",
                     "self.dropout(self.linear2(hidden))"),
            ])],
        ),
        Mutant(
            name="dropout_before_activation",
            says="Dropout stands before the activation. GELU bends what was scaled up "
            "otherwise than what is scaled up afterwards.",
            asks="In which order does the text name them: activation, dropout?",
            ways=[Way(edits=[
                Edit("self.activation(self.linear1(x))",
                     "self.activation(self.dropout(self.linear1(x)))"),
                Edit("self.linear2(self.dropout(hidden))", "self.linear2(hidden)"),
            ])],
        ),
        Mutant(
            name="dropped_together",
            says="Several hidden numbers are dropped together: one draw serves for all "
            "positions, or for all sentences.",
            asks="How many numbers does the tensor hold that your dropout is given?",
            ways=[
                Way(edits=[
                    Edit("self.dropout(hidden)",
                         "hidden * self.dropout(torch.ones(hidden.size(-1)))"),
                ]),
                Way(name="sentences_dropped_together", edits=[
                    Edit("self.dropout(hidden)",
                         "hidden * self.dropout(torch.ones_like(hidden[:1]))"),
                ]),
            ],
        ),
        Mutant(
            name="positions_dropped",
            says="All hidden numbers of a position are dropped together, or none of them.",
            asks="How many numbers does the tensor hold that your dropout is given?",
            ways=[Way(edits=[
                Edit("self.dropout(hidden)",
                     "hidden * self.dropout(torch.ones_like(hidden[..., :1]))"),
            ])],
        ),
        Mutant(
            name="dropout_unscaled",
            says="What dropout keeps is not divided by 1 - p: in training the hidden "
            "numbers are smaller on average than in eval mode.",
            asks="If half of ten numbers are dropped, what is the mean of their sum, and "
            "what makes up for it?",
            ways=[Way(edits=[
                Edit("self.dropout(hidden)",
                     "hidden * (torch.rand_like(hidden) >= self.dropout.p) "
                     "if self.training else hidden"),
            ])],
        ),
        Mutant(
            name="dropout_always",
            says="Dropout is active in eval mode, too.",
            asks="`F.dropout` does not know the module's mode. Who could tell it?",
            ways=[Way(edits=[
                Edit("self.dropout(hidden)", "F.dropout(hidden, self.dropout.p)"),
            ])],
        ),
        Mutant(
            name="flattened",
            says="Positions are mixed: changing one moves others. Each is to be "
            "treated alone.",
            asks="Along which dimension does your code add up or average?",
            ways=[Way(edits=[
                Edit(
                    "return self.linear2",
                    """
                    hidden = hidden.mean(-2, True) + hidden
                    return self.linear2
                    """,
                ),
            ])],
        ),
        Mutant(
            name="softmax_bend",
            says="Between the layers stands a softmax, not the activation.",
            asks="Should the hidden numbers sum to one?",
            ways=[Way(edits=[
                Edit("self.activation(self.linear1(x))", "self.linear1(x).softmax(-1)"),
            ])],
        ),
        Mutant(
            name="batch_added_in_place",
            says="A sentence without a batch has one dimension more than before: your "
            "code gave it a batch in place.",
            asks="Whose tensor is `x`, and which operations end with an underscore?",
            ways=[Way(edits=[
                Edit(
                    "hidden = self.activation(self.linear1(x))",
                    """
                    if x.dim() == 2:
                        x.unsqueeze_(0)
                        return self.linear2(self.dropout(self.activation(self.linear1(x))))[0]
                    hidden = self.activation(self.linear1(x))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="in_place",
            says="`x` is not what it was before: your code writes into it.",
            asks="Which operation ends with an underscore, or has `inplace=True`?",
            ways=[Way(edits=[
                Edit(
                    "hidden = self.activation(self.linear1(x))",
                    """
                    hidden = self.activation(self.linear1(x.mul_(1)))
                    x.data.relu_()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="detached",
            says="The values are right, but no gradient flows back to `x`.",
            asks="Is there a `detach()`, `.data`, `no_grad` or numpy on the way?",
            ways=[Way(edits=[Edit("self.linear1(x)", "self.linear1(x.detach())")])],
        ),
        Mutant(
            name="one_layer",
            says="Only the first linear layer is applied, so the result has size "
            "`d_ff`.",
            asks="What brings the vector back to `d_model`?",
            ways=[Way(edits=[
                Edit("self.linear2(self.dropout(hidden))", "self.dropout(hidden)"),
            ])],
        ),
    ],
    accepted=ACCEPTED,
)
