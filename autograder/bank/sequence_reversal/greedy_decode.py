"""Greedy decoding."""

from __future__ import annotations

import torch

from autograder.bank.sequence_reversal._greedy_decode.accepted import ACCEPTED
from autograder.bank.sequence_reversal._inputs import BOS, EOS, FIRST, PAD
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _lines(
    ends: tuple[int, ...],
    max_len: int,
    vocabulary: int,
    training: bool,
    extra: int = 3,
    pads: bool = False,
) -> Maker:
    """A model's lines, with EOS at the given places (or none); after it, more tokens."""

    def inputs(draw: Draw) -> Inputs:
        rows, width = len(ends), max_len + extra
        source = draw.ids(FIRST, vocabulary - 1, rows, 4)
        source[:, 0] = FIRST + torch.arange(rows)  # all rows differ
        lines = draw.ids(FIRST, vocabulary - 1, rows, width)
        for row, end in zip(lines, ends, strict=True):
            if end < width:
                row[end] = EOS
                row[end + 2 :: 3] = EOS
            if pads and end >= width:
                row[max_len - 2 : max_len] = PAD
            elif pads and end > 1:
                row[end - 2] = PAD
                row[end - 3 : end - 2] = BOS
        return {
            "source": source,
            "lines": lines,
            "max_len": torch.tensor(max_len),
            "noise": draw.tensor(width + 2, vocabulary, scale=1.0),
            "training": torch.tensor(training),
        }

    return inputs


_CHOSEN = "model(source, tokens)[:, -1].argmax(dim=-1)"
_MASKED = "chosen = chosen.masked_fill(done, PAD)"
_DONE = "done |= chosen == EOS"
_STOP = """
if done.all():
    break
"""

EXERCISE = Specification(
    name="sequence_reversal/greedy_decode",
    title="Greedy decoding",
    target="greedy_decode",
    aspects={"form": 3.0, "mode": 3.0},  # what follows an EOS, and an end
    cases=[
        CaseKind(
            name="different_ends",
            title="rows that end after 4, 1, 6 and 3 tokens",
            inputs=_lines((3, 0, 5, 2), 9, 13, training=True),
            hint="Follow the shortest row: what does it get after its EOS?",
        ),
        CaseKind(
            name="bounded",
            title="rows that never end, in evaluation mode",
            inputs=_lines((99, 99, 2), 70, 11, training=False),
            hint="A row that never says EOS gets `max_len` tokens, not one more or "
            "fewer.",
        ),
        CaseKind(
            name="says_pad",
            title="a model that says PAD and BOS before EOS, and at last PAD, without EOS",
            inputs=_lines((3, 2, 1, 6, 99), 9, 13, training=False, pads=True),
            hint="Only EOS ends a row. Before it, PAD and BOS are tokens like any other.",
        ),
        CaseKind(
            name="one_row",
            title="a single row",
            inputs=_lines((14,), 17, 12, training=True),
            hint="Compare with the model's lines: a wrong input makes it say its last "
            "id.",
        ),
        CaseKind(
            name="ends_in_time",
            title="the last EOS comes with the last token that is allowed",
            inputs=_lines((1, 6, 3, 6, 0), 7, 15, training=False),
            hint="EOS itself counts as a token.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="bos_kept",
            says="Your result begins with BOS. It is to hold what was *written*.",
            asks="Who put BOS there: the model or you?",
            ways=[Way(edits=[Edit("return tokens[:, 1:]", "return tokens")])],
        ),
        Mutant(
            name="eos_cut",
            says="The last column is missing: EOS belongs to the result.",
            asks="How does the caller see that a row has ended by itself?",
            ways=[Way(edits=[Edit("return tokens[:, 1:]", "return tokens[:, 1:-1]")])],
        ),
        Mutant(
            name="eos_erased",
            says="EOS was replaced by PAD: nobody can see where a row has ended.",
            asks="From which token on does a row get PAD: EOS, or the one after it?",
            ways=[Way(edits=[
                Edit(_DONE, ""),
                Edit(
                    _MASKED,
                    """
                    done |= chosen == EOS
                    chosen = chosen.masked_fill(done, PAD)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_padding",
            says="Rows that have said EOS go on writing.",
            asks="What should stand in a row behind its EOS?",
            ways=[Way(edits=[Edit(_MASKED, "")])],
        ),
        Mutant(
            name="eos_repeated",
            says="Finished rows get EOS again and again instead of PAD.",
            asks='Which id means "nothing" here?',
            ways=[Way(edits=[
                Edit("masked_fill(done, PAD)", "masked_fill(done, EOS)"),
            ])],
        ),
        Mutant(
            name="stops_for_all",
            says="All rows stop as soon as the first one has said EOS.",
            asks="`any` or `all`: when may the loop end?",
            ways=[Way(edits=[Edit("done.all()", "done.any()")])],
        ),
        Mutant(
            name="this_step_only",
            says="You stop only if all rows say EOS in the *same* step; earlier ends "
            "are forgotten.",
            asks="What must a row remember about its past?",
            ways=[Way(edits=[Edit(_DONE, "done = chosen == EOS")])],
        ),
        Mutant(
            name="never_stops",
            says="You always take `max_len` steps. When all rows are done, the loop "
            "may end.",
            asks="What do the last columns of your result hold?",
            ways=[Way(edits=[Edit(_STOP, "")])],
        ),
        Mutant(
            name="first_position",
            says="You read the logits of the first position. It always knows the first "
            "token only.",
            asks="Which position of `(B, T, V)` speaks about the token that is not "
            "there yet?",
            ways=[Way(edits=[Edit("[:, -1].argmax", "[:, 0].argmax")])],
        ),
        Mutant(
            name="position_before",
            says="You read the logits of the last but one position.",
            asks="Position t speaks about the token after position t. Which one do you "
            "want?",
            ways=[Way(edits=[
                Edit("[:, -1].argmax", "[:, max(tokens.size(1) - 2, 0)].argmax"),
            ])],
        ),
        Mutant(
            name="batch_index",
            says="You took the last row of the batch where the last position is "
            "wanted, so all rows get the same token.",
            asks="Which dimension of `(B, T, V)` does `[-1]` look into?",
            ways=[Way(edits=[
                Edit(_CHOSEN,
                     "model(source, tokens)[-1][-1:].argmax(dim=-1).expand(len(source))"),
            ])],
        ),
        Mutant(
            name="argmax_over_rows",
            says="Your argmax runs over the batch instead of over the vocabulary.",
            asks="Which dimension of `(B, V)` holds the vocabulary?",
            ways=[Way(edits=[Edit("argmax(dim=-1)", "argmax(dim=0)[: len(source)]")])],
        ),
        Mutant(
            name="argmin",
            says="You take the least probable token.",
            asks="What does `argmin` find?",
            ways=[
                Way(edits=[Edit("argmax", "argmin")]),
                Way(name="farthest_from_zero", edits=[Edit("argmax", "abs().argmax")]),
            ],
        ),
        Mutant(
            name="sampled",
            says="You draw the next token at random. Greedy decoding takes the most "
            "probable one.",
            asks="Would two runs of your function agree?",
            ways=[Way(edits=[
                Edit(_CHOSEN,
                     "torch.multinomial((model(source, tokens)[:, -1] / 3).softmax(-1), 1)[:, 0]"),
            ])],
        ),
        Mutant(
            name="last_token_only",
            says="You feed only the newest token. Without a cache, the model has "
            "forgotten all others.",
            asks="What does the model know about the tokens before, if it is not shown "
            "them?",
            ways=[Way(edits=[
                Edit("= model(source, tokens)", "= model(source, tokens[:, -1:])"),
            ])],
        ),
        Mutant(
            name="starts_with_eos",
            says="You start with another token than BOS.",
            asks="What did the decoder's input begin with in training?",
            ways=[
                Way(edits=[
                    Edit("(source.size(0), 1), BOS)", "(source.size(0), 1), EOS)"),
                ]),
                Way(name="starts_with_pad", edits=[
                    Edit("(source.size(0), 1), BOS)", "(source.size(0), 1), PAD)"),
                ]),
                Way(name="starts_with_source", edits=[
                    Edit("tokens = source.new_full((source.size(0), 1), BOS)",
                         "tokens = source[:, :1].clone()"),
                ]),
            ],
        ),
        Mutant(
            name="one_step_less",
            says="You write one token less than `max_len`.",
            asks="How many tokens may a row have, with EOS and without BOS?",
            ways=[Way(edits=[Edit("range(max_len)", "range(max_len - 1)")])],
        ),
        Mutant(
            name="one_step_more",
            says="You write one token more than `max_len`.",
            asks="Does BOS count among the `max_len` tokens?",
            ways=[Way(edits=[Edit("range(max_len)", "range(max_len + 1)")])],
        ),
        Mutant(
            name="padding_ends",
            says="You stop as soon as no row writes anything but PAD and EOS. A row "
            "that writes PAD before its EOS goes on.",
            asks="Which token alone ends a row?",
            ways=[Way(edits=[
                Edit("if done.all()", "if ((chosen == PAD) | (chosen == EOS)).all()"),
            ])],
        ),
        Mutant(
            name="written_padding_cut",
            says="You cut off columns of PAD at the end that a row wrote before any EOS.",
            asks="Is a row that writes PAD done?",
            ways=[Way(edits=[
                Edit("return tokens[:, 1:]", "return tokens[:, 1 : 1 + int((tokens[:, 1:] != PAD).any(0).nonzero().max() + 1)]"),
            ])],
        ),
        Mutant(
            name="source_as_bound",
            says="You write as many tokens as the source has, instead of up to "
            "`max_len`.",
            asks="Where does your code use `max_len`?",
            ways=[Way(edits=[Edit("range(max_len)", "range(source.size(1))")])],
        ),
        Mutant(
            name="source_and_some_more",
            says="You write a few tokens more than the source has, and never more.",
            asks="May a text be much longer than its source?",
            ways=[Way(edits=[
                Edit("range(max_len)", "range(min(max_len, source.size(1) + 3))"),
            ])],
        ),
        Mutant(
            name="training_mode",
            says="You decode in the mode in which the model came. In training mode, "
            "dropout would roll dice.",
            asks="Which call switches dropout off?",
            ways=[
                Way(edits=[Edit("model.eval()", "")]),
                Way(name="memory_in_training_mode", edits=[
                    Edit("model.eval()", """
                        with torch.no_grad():
                            memory = model.encode(source)
                        model.eval()
                        """),
                    Edit("= model(source, tokens)", "= model.decode(tokens, memory, source)"),
                ]),
            ],
        ),
        Mutant(
            name="left_in_eval",
            says="You leave the model in evaluation mode. A training around your "
            "function would go on without dropout, and nobody would notice.",
            asks="In which mode did you find the model?",
            ways=[Way(edits=[Edit("model.train(was_training)", "")])],
        ),
        Mutant(
            name="left_in_train",
            says="You always leave the model in training mode, even if it came in "
            "evaluation mode.",
            asks="How can you know at the end what was the mode at the start?",
            ways=[Way(edits=[Edit("model.train(was_training)", "model.train()")])],
        ),
        Mutant(
            name="gradients",
            says="You decode with gradients on. Every step keeps its whole graph in "
            "memory, for nothing.",
            asks="Who will ever call `backward` on a decoded token?",
            ways=[Way(edits=[
                Edit("with torch.no_grad():", "with torch.enable_grad():"),
            ])],
        ),
        Mutant(
            name="gradients_as_they_come",
            says="The model is called with gradients on, unless somebody has switched "
            "them off before. What it computes keeps its graph in memory, for nothing.",
            asks="Which of your calls of the model stand inside `torch.no_grad`?",
            ways=[
                Way(edits=[Edit("with torch.no_grad():", "if True:")]),
                Way(name="gradients_of_the_memory", edits=[
                    Edit("with torch.no_grad():", """
                        memory = model.encode(source)
                        with torch.no_grad():
                        """),
                    Edit("= model(source, tokens)", "= model.decode(tokens, memory, source)"),
                ]),
            ],
        ),
        Mutant(
            name="gradients_switched",
            says="Afterwards gradients are always recorded, even if somebody had "
            "switched them off.",
            asks="How can you know at the end whether they were recorded at the start? "
            "Who remembers that for you?",
            ways=[Way(edits=[
                Edit("return tokens[:, 1:]", """
                    torch.set_grad_enabled(True)
                    return tokens[:, 1:]
                    """),
            ])],
        ),
        Mutant(
            name="all_unfrozen",
            says="Afterwards all parameters learn, those as well that were frozen.",
            asks="What does `torch.no_grad` do that `requires_grad_(False)` is not "
            "needed for?",
            ways=[Way(edits=[
                Edit("model.train(was_training)", """
                    model.train(was_training)
                    model.requires_grad_(True)
                    """),
            ])],
        ),
        Mutant(
            name="bos_forbidden",
            says="BOS is never chosen, even if it is the most probable token.",
            asks="Which tokens may a model say?",
            ways=[Way(edits=[
                Edit("model(source, tokens)[:, -1].argmax(dim=-1)",
                     "(model(source, tokens)[:, -1] - 99.0 * F.one_hot(torch.tensor(BOS), model(source, tokens).size(-1))).argmax(dim=-1)"),
            ])],
        ),
        Mutant(
            name="memory_of_others",
            says="The model is shown rows with the memory of other rows.",
            asks="Which rows are still being written, and which of them does `memory` hold?",
            ways=[
                Way(source="""
                    def greedy_decode(model, source, max_len):
                        was = model.training
                        model.eval()
                        rows = source.new_full((len(source), max_len + 1), PAD)
                        rows[:, 0] = BOS
                        live, width = torch.arange(len(source)), 0
                        with torch.no_grad():
                            memory = model.encode(source)
                            while len(live) and width < max_len:
                                given = rows[live, : width + 1]
                                logits = model.decode(given, memory[: len(live)], source[live])
                                width += 1
                                rows[live, width] = logits[:, -1].argmax(-1)
                                live = live[rows[live, width] != EOS]
                        model.train(was)
                        return rows[:, 1 : width + 1]
                    """),
            ],
        ),
        Mutant(
            name="row_by_row_mixed",
            says="Only the first row of the batch decides when all others get PAD.",
            asks="Is `done` one flag, or one per row?",
            ways=[Way(edits=[Edit(_DONE, "done |= chosen[0] == EOS")])],
        ),
        Mutant(
            name="all_positions",
            says="You replace all tokens by the newest opinions. What has been written "
            "stays written.",
            asks="How many new tokens does one step give to each row?",
            ways=[Way(edits=[
                Edit("tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)  # (B, T + 1)",
                     "tokens = torch.cat((chosen.unsqueeze(1), tokens), dim=1)"),
            ])],
        ),
        Mutant(
            name="at_most_60",
            says="No row becomes longer than 60 tokens, whatever `max_len` is.",
            asks="Where in your code does the bound on the length come from?",
            ways=[Way(edits=[Edit("range(max_len)", "range(min(max_len, 60))")])],
        ),
    ],
    accepted=ACCEPTED,
)
