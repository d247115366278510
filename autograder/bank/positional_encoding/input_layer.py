"""The input layer."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _tokens(draw: Draw, b: int, length: int, d_model: int, padding_idx: int) -> Inputs:
    """Ids with padding, and weights whose padding row is zero as a layer makes it."""
    vocab_size = 11
    ids = draw.ids(0, vocab_size, b, length)
    ids[0, -2:] = padding_idx
    weights = draw.weights(**{"embedding.weight": (vocab_size, d_model)})
    weights["weights.embedding.weight"][padding_idx] = 0
    return {
        **weights,
        "ids": ids,
        # Without zeros, so that every zero in training mode comes from dropout.
        "positions": draw.tensor(length, d_model) + 1 / 128,
        "vocab_size": torch.tensor(vocab_size),
        "padding_idx": torch.tensor(padding_idx),
        "pull": draw.tensor(b, length, d_model),
    }


_EMBEDDING = "self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"
_SCALED = "x = self.embedding(ids) * self.scale"
_DROP = "return self.dropout(self.positions(x))"
_SCALE = "self.scale = math.sqrt(d_model)"

EXERCISE = Specification(
    name="positional_encoding/input_layer",
    title="The input layer",
    target="InputLayer",
    promise=Promise(
        arguments="ids: B N",
        results="output: B N d",
        on=("padding_is_3",),
        ways=("steady", "alone", "spread", "gradient", "loaded", "start"),
        sizes=special(
            one_word=lambda draw: _tokens(draw, 3, 1, 4, 1),
            equal_sizes=lambda draw: _tokens(draw, 4, 4, 4, 2),
        ),
        module=True,
        dropout=("padding_is_0", {}),
    ),
    cases=[
        CaseKind(
            name="padding_is_0",
            title="padding is token 0",
            inputs=lambda draw: _tokens(draw, 3, 5, 8, 0),
            hint="Look up, scale, add positions, drop: in this order.",
        ),
        CaseKind(
            name="padding_is_3",
            title="padding is token 3",
            inputs=lambda draw: _tokens(draw, 2, 7, 12, 3),
            hint="The embedding layer needs to know which token is padding.",
        ),
        CaseKind(
            name="narrow",
            title="short vectors",
            inputs=lambda draw: _tokens(draw, 5, 9, 6, 1),
            hint="The factor is the square root of d_model, whatever its size.",
        ),
        CaseKind(
            name="one_sentence",
            title="a single sentence",
            inputs=lambda draw: _tokens(draw, 1, 17, 10, 10),
            hint="Does it work for a batch of one?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="not_scaled",
            says="The embeddings are not scaled.",
            asks="By which factor should they be multiplied, and when?",
            ways=[
                Way(edits=[Edit(_SCALED, "x = self.embedding(ids)")]),
                Way(name="scale_discarded", edits=[
                    Edit(
                        _SCALED,
                        """
                        x = self.embedding(ids)
                        x * self.scale
                        """,
                    ),
                ]),
                Way(name="scaled_weights_at_the_start", edits=[
                    Edit(_SCALE, "self.embedding.weight.data *= math.sqrt(d_model)"),
                    Edit(_SCALED, "x = self.embedding(ids)"),
                ]),
            ],
        ),
        Mutant(
            name="divided",
            says="The embeddings are divided by the square root of `d_model`.",
            asks="Should the words get louder or quieter?",
            ways=[Way(edits=[Edit(_SCALED, "x = self.embedding(ids) / self.scale")])],
        ),
        Mutant(
            name="scaled_by_d",
            says="The embeddings are multiplied by `d_model` itself: the square root "
            "is missing, or was applied twice.",
            asks="How often does the factor appear on the way from ids to result?",
            ways=[
                Way(edits=[Edit(_SCALE, "self.scale = d_model")]),
                Way(name="scaled_twice", edits=[
                    Edit(_SCALED,
                         "x = self.embedding(ids) * self.scale * self.scale*1.0"),
                ]),
            ],
        ),
        Mutant(
            name="scaled_by_vocabulary",
            says="The factor is the square root of the size of the vocabulary.",
            asks="Which of the two sizes is the length of a vector?",
            ways=[Way(edits=[Edit(_SCALE, "self.scale = math.sqrt(vocab_size)")])],
        ),
        Mutant(
            name="scaled_by_length",
            says="The factor is the square root of the number of positions.",
            asks="Which size of the tensor is `d_model`?",
            ways=[Way(edits=[
                Edit(_SCALED, "x = self.embedding(ids) * math.sqrt(ids.size(1))"),
            ])],
        ),
        Mutant(
            name="scaled_by_batch",
            says="The factor is the square root of the number of sentences.",
            asks="Which size of the tensor is `d_model`?",
            ways=[Way(edits=[
                Edit(_SCALED, "x = self.embedding(ids) * math.sqrt(len(ids))"),
            ])],
        ),
        Mutant(
            name="scale_fixed",
            says="The factor is that of `d_model = 512`, whatever the size is.",
            asks="Where does `d_model` come into your factor?",
            ways=[Way(edits=[Edit(_SCALE, "self.scale = math.sqrt(512)")])],
        ),
        Mutant(
            name="scaled_after",
            says="The factor is applied after the positions were added, so it scales "
            "them too.",
            asks="Which part of the sum should get louder, and which should not?",
            ways=[Way(edits=[
                Edit(_SCALED, "x = self.embedding(ids)"),
                Edit(_DROP, "return self.dropout(self.positions(x) * self.scale)"),
            ])],
        ),
        Mutant(
            name="positions_first",
            says="The positions are scaled, and the words are not.",
            asks="Which part of the sum should get louder, and which should not?",
            ways=[Way(edits=[
                Edit(_SCALED, "x = self.embedding(ids)"),
                Edit(
                    _DROP,
                    """
                    rows = self.positions(torch.zeros_like(x)) * self.scale
                    return self.dropout(x + rows)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_positions",
            says="The positions are missing.",
            asks="Where does the module `positions` come in?",
            ways=[Way(edits=[Edit(_DROP, "return self.dropout(x)")])],
        ),
        Mutant(
            name="positions_twice",
            says="The positions are added twice.",
            asks="Does the module `positions` return the rows, or the sum with `x`?",
            ways=[Way(edits=[
                Edit(_DROP, "return self.dropout(self.positions(self.positions(x)))"),
            ])],
        ),
        Mutant(
            name="words_twice",
            says="The words are added twice: `positions(x)` is already the sum.",
            asks="Does the module `positions` return the rows, or the sum with `x`?",
            ways=[Way(edits=[
                Edit(_DROP, "return self.dropout(x + self.positions(x))"),
            ])],
        ),
        Mutant(
            name="positions_only",
            says="Only positions come out; the words are lost.",
            asks="What is handed to the module `positions`?",
            ways=[Way(edits=[
                Edit(_DROP, "return self.dropout(self.positions(torch.zeros_like(x)))"),
            ])],
        ),
        Mutant(
            name="no_dropout",
            says="Nothing is dropped in training mode.",
            asks="Is the result of dropout used?",
            ways=[
                Way(edits=[Edit(_DROP, "return self.positions(x)")]),
                Way(name="dropout_discarded", edits=[
                    Edit(
                        _DROP,
                        """
                        x = self.positions(x)
                        self.dropout(x)
                        return x
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="dropout_before_positions",
            says="Dropout comes before the positions, so these are never dropped.",
            asks="The paper applies dropout to the sum. Which sum?",
            ways=[
                Way(edits=[Edit(_DROP, "return self.positions(self.dropout(x))")]),
                Way(name="dropout_before_scale", edits=[
                    Edit(_SCALED, "x = self.dropout(self.embedding(ids)) * self.scale"),
                    Edit(_DROP, "return self.positions(x)"),
                ]),
            ],
        ),
        Mutant(
            name="dropout_twice",
            says="Dropout is applied twice, before and after the positions.",
            asks="How often does the paper drop, between ids and the first layer?",
            ways=[Way(edits=[
                Edit(_DROP, "return self.dropout(self.positions(self.dropout(x)))"),
            ])],
        ),
        Mutant(
            name="dropout_always",
            says="Numbers are dropped in eval mode as well.",
            asks="How does `F.dropout` know whether the module is in training mode?",
            ways=[
                Way(edits=[
                    Edit(_DROP,
                         "return nn.functional.dropout(self.positions(x), self.dropout.p)"),
                ]),
                Way(name="dropout_made_anew", edits=[
                    Edit(_DROP, "return nn.Dropout(self.dropout.p)(self.positions(x))"),
                ]),
            ],
        ),
        Mutant(
            name="share_kept",
            says="The share that should be dropped is kept instead.",
            asks="In PyTorch, is `p` the share that is dropped or the share that is "
            "kept?",
            ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")])],
        ),
        Mutant(
            name="share_ignored",
            says="The dropout has its standard share, not the one that was asked for.",
            asks="What is `dropout` in `__init__` used for?",
            ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout()")])],
        ),
        Mutant(
            name="share_fixed",
            says="The dropout always has the share 0.1, not the one that was asked "
            "for.",
            asks="What is `dropout` in `__init__` used for?",
            ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")])],
        ),
        Mutant(
            name="not_rescaled",
            says="Numbers are dropped, but those that are kept are not made larger, so "
            "the sums change between training and evaluation.",
            asks="What does `nn.Dropout` do to the numbers that it keeps?",
            ways=[Way(edits=[
                Edit(
                    _DROP,
                    """
                    x = self.positions(x)
                    if self.training:
                        x = x * (torch.rand_like(x) > self.dropout.p)
                    return x
                    """,
                ),
            ])],
        ),
        Mutant(
            name="padding_trained",
            says="The row of the padding token gets a gradient: the embedding layer "
            "does not know which token is padding.",
            asks="Which argument of `nn.Embedding` tells it?",
            ways=[Way(edits=[Edit(", padding_idx=padding_idx)", ")")])],
        ),
        Mutant(
            name="padding_always_0",
            says="The embedding layer thinks that token 0 is padding, whatever was "
            "asked for.",
            asks="Where does your code use the value of `padding_idx`?",
            ways=[Way(edits=[Edit("padding_idx=padding_idx)", "padding_idx=0)")])],
        ),
        Mutant(
            name="padding_cut_out",
            says="At padding the whole sum is zero, and its position is lost.",
            asks="Which part of the sum is zero at padding?",
            ways=[Way(edits=[
                Edit(
                    _DROP,
                    """
                    keep = (ids != self.embedding.padding_idx).unsqueeze(-1)
                    return self.dropout(self.positions(x) * keep)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="scale_trained",
            says="The factor is a parameter: training would change it.",
            asks="Is the square root of `d_model` something to learn?",
            ways=[Way(edits=[
                Edit(_SCALE, "self.scale = nn.Parameter(torch.tensor(d_model**0.5))"),
            ])],
        ),
        Mutant(
            name="weights_grow",
            says="The table of the embedding is scaled in place, so it grows with "
            "every call.",
            asks="Does `forward` change something of the module?",
            ways=[Way(edits=[
                Edit(
                    _SCALED,
                    """
                    with torch.no_grad():
                        self.embedding.weight *= self.scale
                    x = self.embedding(ids)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="frozen",
            says="The table of the embedding asks for no gradient, so it could never "
            "learn.",
            asks="Who sets `requires_grad`, and to what?",
            ways=[Way(edits=[
                Edit(
                    _SCALE,
                    """
                    self.scale = math.sqrt(d_model)
                    self.embedding.weight.requires_grad = False
                    """,
                ),
            ])],
        ),
        Mutant(
            name="detached",
            says="No gradient reaches the table of the embedding, so it could never "
            "learn.",
            asks="Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
            ways=[
                Way(edits=[
                    Edit(_SCALED, "x = self.embedding(ids).detach() * self.scale"),
                ]),
            ],
        ),
        Mutant(
            name="other_name",
            says="The embedding layer has another name than the docstring says, so its "
            "weights cannot be found.",
            asks="What is the layer called in `__init__`?",
            ways=[Way(edits=[
                Edit(_EMBEDDING,
                     "self.embed = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"),
                Edit("self.embedding(ids)", "self.embed(ids)"),
            ])],
        ),
        Mutant(
            name="sizes_swapped",
            says="The table of the embedding has its two sizes swapped.",
            asks="Which comes first in `nn.Embedding`: how many vectors, or how long "
            "they are?",
            ways=[Way(edits=[
                Edit("nn.Embedding(vocab_size, d_model,",
                     "nn.Embedding(d_model, vocab_size,"),
            ])],
        ),
        Mutant(
            name="activated",
            says="Negative numbers became zero: there is an activation that nobody "
            "asked for.",
            asks="Which steps does the exercise list?",
            ways=[Way(edits=[
                Edit(_DROP, "return self.dropout(self.positions(x).relu())"),
            ])],
        ),
        Mutant(
            name="normalised",
            says="The result is normalised, which nobody asked for.",
            asks="Which steps does the exercise list?",
            ways=[Way(edits=[
                Edit(
                    _DROP,
                    """
                    x = self.positions(x)
                    return self.dropout(nn.functional.layer_norm(x, x.shape[-1:]))
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="one_line", edits=[
            Edit(_SCALED,
                 "x = self.embedding(ids).mul(self.embedding.embedding_dim**0.5)"),
        ]),
        Accepted(name="functional_dropout", edits=[
            Edit(
                _DROP,
                """
                return nn.functional.dropout(
                            self.positions(x), self.dropout.p, self.training)
                """,
            ),
        ]),
        Accepted(name="sequential", edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.rest = nn.Sequential(positions, nn.Dropout(dropout))"),
            Edit(_DROP, "return self.rest(x)"),
        ]),
        Accepted(name="scale_from_shape", edits=[
            Edit(
                _SCALED,
                """
                x = self.embedding(ids)
                x = x * x.shape[-1] ** 0.5
                """,
            ),
        ]),
        Accepted(name="scale_as_buffer", edits=[
            Edit(_SCALE,
                 'self.register_buffer("scale", torch.tensor(float(d_model)).sqrt())'),
        ]),
        Accepted(name="functional_embedding", edits=[
            Edit(_SCALED,
                 "x = self.scale * nn.functional.embedding(ids, self.embedding.weight, self.embedding.padding_idx)"),
        ]),
        Accepted(name="xavier_start", edits=[
            Edit(
                _SCALE,
                """
                self.scale = math.sqrt(d_model)
                nn.init.xavier_uniform_(self.embedding.weight)
                """,
            ),
        ]),
        Accepted(name="dropout_by_hand", edits=[
            Edit(
                _DROP,
                """
                x = self.positions(x)
                if self.training:
                    keep = torch.rand_like(x) >= self.dropout.p
                    x = x * keep / (1 - self.dropout.p)
                return x
                """,
            ),
        ]),
    ],
)
