"""A batch for teacher forcing."""

from __future__ import annotations

import json
from collections.abc import Sequence

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _examples(draw: Draw, sizes: Sequence[tuple[int, int]], max_len: int = 0) -> Inputs:
    examples = [[draw.ids(4, 60, size).tolist() for size in pair] for pair in sizes]
    inputs: Inputs = {"examples": json.dumps(examples)}
    return inputs | {"max_len": torch.tensor(max_len)} if max_len else inputs


EXERCISE = Specification(
    name="text_recovery/collate",
    title="A batch for teacher forcing",
    target="collate",
    precise=False,
    cases=[
        CaseKind(
            name="four",
            title="four examples",
            inputs=lambda draw: _examples(draw, [(3, 5), (6, 2), (1, 7), (4, 4)]),
            hint="source: ids and EOS; target_in: BOS and ids; target_out: ids and "
            "EOS.",
        ),
        CaseKind(
            name="one",
            title="one example",
            inputs=lambda draw: _examples(draw, [(2, 4)]),
            hint="A batch of one has no padding, but all special tokens.",
        ),
        CaseKind(
            name="cut",
            title="max_len = 4",
            inputs=lambda draw: _examples(draw, [(9, 3), (2, 8), (4, 5), (3, 4)], 4),
            hint="At most max_len ids are kept; BOS and EOS come on top.",
        ),
        CaseKind(
            name="roomy",
            title="max_len longer than all rows",
            inputs=lambda draw: _examples(draw, [(3, 2), (5, 6), (2, 3)], 11),
            hint="A generous max_len changes nothing.",
        ),
        CaseKind(
            name="six",
            title="six examples, one without a target",
            inputs=lambda draw: _examples(
                draw, [(3, 1), (7, 2), (2, 0), (5, 5), (1, 3), (4, 6)]
            ),
            hint="An empty target still has BOS and EOS.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="no_shift",
            says="The decoder reads at each place what it should say there: nothing is "
            "shifted.",
            asks="What may the decoder know when it has to say the first word?",
            ways=[Way(edits=[
                Edit("padded([[BOS, *target] for target in targets])",
                     "padded([[*target, EOS] for target in targets])"),
            ])],
        ),
        Mutant(
            name="both_begin",
            says="Both begin with BOS: the model learns to say BOS first, and nothing "
            "is shifted.",
            asks="What should the first word of `target_out` be?",
            ways=[Way(edits=[
                Edit("padded([[*target, EOS] for target in targets])",
                     "padded([[BOS, *target] for target in targets])"),
            ])],
        ),
        Mutant(
            name="shifted_back",
            says="`target_in` and `target_out` are exchanged.",
            asks="Which one begins with BOS?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    s = [a[:max_len] for a, _ in examples]
                    t = [b[:max_len] for _, b in examples]
                    return (padded([[*a, EOS] for a in s]), padded([[*b, EOS] for b in t]),
                            padded([[BOS, *b] for b in t]))
                """)],
        ),
        Mutant(
            name="no_eos_in_target",
            says="`target_out` has no EOS: the model never learns to stop.",
            asks="What should be said after the last word?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    s = [a[:max_len] for a, _ in examples]
                    t = [b[:max_len] for _, b in examples]
                    whole = padded([[BOS, *b] for b in t])
                    return padded([[*a, EOS] for a in s]), whole[:, :-1], whole[:, 1:]
                """)],
        ),
        Mutant(
            name="eos_of_longest_lost",
            says="Padding came first and the last column was cut off then: the longest "
            "row lost its EOS, all others kept it.",
            asks="What stands in the last column: of a short row, and of the longest?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    s = [a[:max_len] for a, _ in examples]
                    t = [b[:max_len] for _, b in examples]
                    longest = max(map(len, t))
                    out = padded([[*b, EOS] for b in t])[:, :max(longest, 1)]
                    return padded([[*a, EOS] for a in s]), padded([[BOS, *b] for b in t])[:, :max(longest, 1)], out
                """)],
        ),
        Mutant(
            name="no_eos_in_source",
            says="The source has no EOS.",
            asks="What ends a source?",
            ways=[Way(edits=[
                Edit("[[*source, EOS] for source in sources]",
                     "[[*source] for source in sources]"),
            ])],
        ),
        Mutant(
            name="bos_in_source",
            says="The source begins with BOS.",
            asks="What belongs to a source?",
            ways=[Way(edits=[
                Edit("[[*source, EOS] for source in sources]",
                     "[[BOS, *source, EOS] for source in sources]"),
            ])],
        ),
        Mutant(
            name="eos_read",
            says="`target_in` holds EOS, too: it is one place longer than "
            "`target_out`.",
            asks="Who needs to read EOS in training?",
            ways=[Way(edits=[
                Edit("[[BOS, *target] for target in targets]",
                     "[[BOS, *target, EOS] for target in targets]"),
            ])],
        ),
        Mutant(
            name="cut_after_eos",
            says="Rows are cut with their special tokens on: long ones lose EOS.",
            asks="Which comes first: cutting, or adding EOS?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    s = [[*a, EOS][:max_len] for a, _ in examples]
                    i = [[BOS, *b][:max_len] for _, b in examples]
                    o = [[*b, EOS][:max_len] for _, b in examples]
                    return padded(s), padded(i), padded(o)
                """)],
        ),
        Mutant(
            name="source_cut_only",
            says="Sources are cut, targets are not.",
            asks="Does `max_len` hold for both?",
            ways=[Way(edits=[
                Edit("[target[:max_len] for _, target in examples]",
                     "[target for _, target in examples]"),
            ])],
        ),
        Mutant(
            name="not_cut",
            says="`max_len` is ignored.",
            asks="Which rows may be longer than `max_len`?",
            ways=[Way(edits=[
                Edit("[target[:max_len] for _, target in examples]",
                     "[target for _, target in examples]"),
                Edit("[source[:max_len] for source, _ in examples]",
                     "[source for source, _ in examples]"),
            ])],
        ),
        Mutant(
            name="padded_left",
            says="Rows are padded at the left.",
            asks="Where should position 0 of every sentence be?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    def left(rows):
                        n = max(map(len, rows))
                        return torch.tensor([[PAD] * (n - len(r)) + r for r in rows])
                    s = [a[:max_len] for a, _ in examples]
                    t = [b[:max_len] for _, b in examples]
                    return (left([[*a, EOS] for a in s]), left([[BOS, *b] for b in t]),
                            left([[*b, EOS] for b in t]))
                """)],
        ),
        Mutant(
            name="padded_with_eos",
            says="Rows are filled up with EOS rather than with PAD.",
            asks="Which token does the loss leave out?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    def fill(rows):
                        n = max(map(len, rows))
                        return torch.tensor([r + [EOS] * (n - len(r)) for r in rows])
                    s = [a[:max_len] for a, _ in examples]
                    t = [b[:max_len] for _, b in examples]
                    return (fill([[*a, EOS] for a in s]), fill([[BOS, *b] for b in t]),
                            fill([[*b, EOS] for b in t]))
                """)],
        ),
        Mutant(
            name="bos_is_pad",
            says="BOS has the id of PAD: the first place is masked away.",
            asks="Which id has BOS?",
            ways=[Way(edits=[
                Edit("[[BOS, *target] for target in targets]",
                     "[[PAD, *target] for target in targets]"),
            ])],
        ),
        Mutant(
            name="one_length",
            says="Sources and targets are padded to one common length.",
            asks="Why should a short source be as long as a long target?",
            ways=[Way(source="""
                def collate(examples, max_len=None):
                    s = [[*a[:max_len], EOS] for a, _ in examples]
                    i = [[BOS, *b[:max_len]] for _, b in examples]
                    o = [[*b[:max_len], EOS] for _, b in examples]
                    whole = padded(s + i + o)
                    n = len(examples)
                    return whole[:n], whole[n:2 * n], whole[2 * n:]
                """)],
        ),
    ],
    accepted=[
        Accepted(name="pad_sequence", source="""
            from torch.nn.utils.rnn import pad_sequence
            def collate(examples, max_len=None):
                def rows(lists):
                    return pad_sequence([torch.tensor(r) for r in lists], batch_first=True,
                                        padding_value=PAD)
                sources, targets = zip(*examples)
                n = max_len if max_len is not None else 10**9
                return (rows([list(s[:n]) + [EOS] for s in sources]),
                        rows([[BOS] + list(t[:n]) for t in targets]),
                        rows([list(t[:n]) + [EOS] for t in targets]))
            """),
        Accepted(name="fill_zeros", source="""
            def collate(examples, max_len=None):
                s = [a[:max_len] + [EOS] for a, _ in examples]
                t = [[BOS] + b[:max_len] + [EOS] for _, b in examples]
                source = torch.zeros(len(s), max(map(len, s)), dtype=torch.long)
                ins = torch.full((len(t), max(map(len, t)) - 1), PAD)
                outs = ins.clone()
                for k, (a, b) in enumerate(zip(s, t)):
                    source[k, :len(a)] = torch.tensor(a)
                    ins[k, :len(b) - 1] = torch.tensor(b[:-1])
                    outs[k, :len(b) - 1] = torch.tensor(b[1:])
                return source, ins, outs
            """),
        Accepted(name="a_list", edits=[
            Edit("return (", "return list(("),
            Edit(
                """
                    padded([[*target, EOS] for target in targets]),  # (B, Lt)
                )
                """,
                """
                    padded([[*target, EOS] for target in targets]),  # (B, Lt)
                ))
                """,
            ),
        ]),
    ],
)
