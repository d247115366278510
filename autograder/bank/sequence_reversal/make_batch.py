"""A batch of sources and targets."""

from __future__ import annotations

from autograder.bank.sequence_reversal._inputs import random_rows
from autograder.bank.sequence_reversal._make_batch.left_out import LEFT_OUT
from autograder.bank.sequence_reversal._make_batch.targets import TARGETS
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _text(
    *lengths: int,
    high: int = 14,
    targets: tuple[int, ...] | None = None,
    unknown: bool = False,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        given = {"sequences": lengths} | ({} if targets is None else {"targets": targets})
        return {
            name: "; ".join(
                " ".join(map(str, row))
                for row in random_rows(draw, [*sizes], high, unknown)
            )
            for name, sizes in given.items()
        }

    return inputs


EXERCISE = Specification(
    name="sequence_reversal/make_batch",
    title="A batch of sources and targets",
    target="make_batch",
    aspects={"target": 6.0},  # one of two results
    precise=False,
    cases=[
        CaseKind(
            name="four",
            title="four sequences of different lengths",
            inputs=_text(3, 6, 1, 4),
            hint="Write down source and target of the first sequence by hand.",
        ),
        CaseKind(
            name="longest_first",
            title="the longest sequence comes first",
            inputs=_text(7, 2, 5),
            hint="The longest row decides the width; the others are filled up at the "
            "end.",
        ),
        CaseKind(
            name="one",
            title="a batch of one sequence",
            inputs=_text(5),
            hint="A single sequence needs no padding at all.",
        ),
        CaseKind(
            name="targets",
            title="targets of other lengths, one of them empty",
            inputs=_text(3, 5, 2, targets=(4, 0, 7)),
            hint="Targets that are given are written as they are; each tensor has the "
            "width of its own longest row.",
        ),
        CaseKind(
            name="short_targets",
            title="targets that are shorter than the sequences, all in tuples; some "
            "words are unknown",
            inputs=lambda draw: {
                **_text(6, 4, 7, 5, targets=(2, 3, 1, 2), unknown=True)(draw),
                "held": "tuple",
            },
            hint="The width of the target does not depend on the sequences.",
        ),
        CaseKind(
            name="nothing_to_write",
            title="targets that are all empty",
            inputs=_text(3, 2, targets=(0, 0)),
            hint="BOS and EOS stand in each target row, also with nothing between them.",
            whole=True,
        ),
        CaseKind(
            name="large_ids",
            title="ids up to 99, equal lengths",
            inputs=_text(4, 4, high=100),
            hint="Only BOS, EOS and PAD may be added to the sequences.",
            hidden_only=True,
        ),
        CaseKind(
            name="long",
            title="a long sequence, and a longer target",
            inputs=_text(4, 70, 3, targets=(5, 2, 130)),
            hint="A sequence may be as long as it likes.",
            hidden_only=True,
        ),
    ],
    mutants=[
        *TARGETS,
        *LEFT_OUT,
        Mutant(
            name="not_reversed",
            says="Your target repeats the sequence in the same order. That is copying.",
            asks="What should the decoder write for `7 5 9`?",
            ways=[Way(edits=[
                Edit("[ids[::-1] for ids in sequences]",
                     "[ids[:] for ids in sequences]"),
            ])],
        ),
        Mutant(
            name="no_bos",
            says="Your targets do not begin with BOS. The decoder would have nothing to "
            "start from.",
            asks="What stands in the decoder's input before it has written anything?",
            ways=[Way(edits=[Edit("[BOS, *ids, EOS]", "[*ids, EOS]")])],
        ),
        Mutant(
            name="no_eos_in_target",
            says="Your targets do not end with EOS, so the model can never learn to "
            "stop.",
            asks="How will the decoder tell you that it is done?",
            ways=[Way(edits=[Edit("[BOS, *ids, EOS]", "[BOS, *ids]")])],
        ),
        Mutant(
            name="no_eos_in_source",
            says="Your source rows lack EOS. It marks the place from which the decoder "
            "starts to read backwards.",
            asks="Compare your source with the picture above the exercise. What is "
            "missing?",
            ways=[Way(edits=[Edit("source = [[*ids, EOS]", "source = [[*ids]")])],
        ),
        Mutant(
            name="bos_in_source",
            says="Your source rows begin with BOS. Only the decoder needs a start.",
            asks="Who has to begin writing with nothing on the page: reader or writer?",
            ways=[Way(edits=[
                Edit("source = [[*ids, EOS]",
                     "source = [[BOS, *ids, EOS]"),
            ])],
        ),
        Mutant(
            name="flipped_with_padding",
            says="You reversed rows that were padded already, so padding stands between "
            "BOS and the first symbol.",
            asks="In which order must padding and reversing happen?",
            ways=[
                Way(source="""
                    def make_batch(sequences, targets=None):
                        longest = max(map(len, sequences))
                        source = [[*s, EOS] + [PAD] * (longest - len(s)) for s in sequences]
                        widest = max(map(len, targets or sequences))
                        fill = [[PAD] * (widest - len(s)) for s in targets or sequences]
                        target = [[BOS, *([*s] + f)[::-1], EOS] for s, f in zip(sequences, fill)]
                        if targets is not None:
                            target = [[BOS, *s, EOS] + f for s, f in zip(targets, fill)]
                        return torch.tensor(source), torch.tensor(target)
                    """),
            ],
        ),
        Mutant(
            name="flip_tensor",
            says="You flipped the whole padded source, EOS and padding included, and put"
            " BOS in front.",
            asks="Where do EOS and PAD stand in a row of yours, and where should they?",
            ways=[
                Way(source="""
                    def make_batch(sequences, targets=None):
                        pad = lambda rows: nn.utils.rnn.pad_sequence(
                            [torch.tensor(r) for r in rows], batch_first=True)
                        source = pad([[*s, EOS] for s in sequences])
                        start = torch.full((len(source), 1), BOS)
                        if targets is None:
                            return source, torch.cat((start, source.flip(1)), dim=1)
                        return source, pad([[BOS, *s, EOS] for s in targets])
                    """),
            ],
        ),
        Mutant(
            name="eos_reversed",
            says="EOS was reversed together with the symbols: it now stands right behind"
            " BOS.",
            asks="When is EOS to be added: before or after the sequence is turned round?",
            ways=[Way(edits=[
                Edit("[[BOS, *ids, EOS] for ids in targets]",
                     "[[BOS, *[*ids, EOS][::-1]] for ids in sequences] if targets == [ids[::-1] for ids in sequences] else [[BOS, *ids, EOS] for ids in targets]"),
            ])],
        ),
        Mutant(
            name="bos_at_the_end",
            says="BOS and EOS have changed places in your targets.",
            asks="Which of the two begins a sentence?",
            ways=[Way(edits=[Edit("[BOS, *ids, EOS]", "[EOS, *ids, BOS]")])],
        ),
        Mutant(
            name="pad_as_bos",
            says="Your targets begin with PAD in place of BOS. The model masks PAD away,"
            " so its first position would see nothing.",
            asks="Which three jobs do the three special tokens have?",
            ways=[Way(edits=[Edit("[BOS, *ids, EOS]", "[PAD, *ids, EOS]")])],
        ),
        Mutant(
            name="eos_as_padding",
            says="Your rows are filled up with EOS instead of PAD. The loss would count "
            "them, and every row would end many times over.",
            asks="Which id means nothing at all?",
            ways=[Way(edits=[
                Edit("[PAD] * (longest",
                     "[EOS] * (longest"),
                Edit("[PAD] * (widest",
                     "[EOS] * (widest"),
            ])],
        ),
        Mutant(
            name="eos_after_padding",
            says="EOS stands behind the padding: a short row goes on with PAD before it says "
            "that it ends.",
            asks="In the picture, what comes right after the 6?",
            ways=[Way(source="""
                def make_batch(sequences, targets=None):
                    targets = [ids[::-1] for ids in sequences] if targets is None else targets
                    n, m = max(map(len, sequences)), max(map(len, targets))
                    source = [[*ids, *[PAD] * (n - len(ids)), EOS] for ids in sequences]
                    target = [[BOS, *ids, *[PAD] * (m - len(ids)), EOS] for ids in targets]
                    return torch.tensor(source), torch.tensor(target)
                """)],
        ),
        Mutant(
            name="padding_in_front",
            says="Your padding stands in front of the rows; it belongs at their end.",
            asks="What is to be the first token of each target row?",
            ways=[Way(edits=[
                Edit("row + [PAD] * (longest - len(row))",
                     "[PAD] * (longest - len(row)) + row"),
                Edit("row + [PAD] * (widest - len(row))",
                     "[PAD] * (widest - len(row)) + row"),
            ])],
        ),
        Mutant(
            name="source_reversed",
            says="You reversed the source as well, so source and target agree again.",
            asks="Which of the two should be in the order of the sequence?",
            ways=[Way(edits=[
                Edit("[[*ids, EOS] for ids in sequences]",
                     "[[*ids[::-1], EOS] for ids in sequences]"),
            ])],
        ),
        Mutant(
            name="wrong_one_reversed",
            says="You reversed the source and left the target as it was.",
            asks="What is read, and what is to be written?",
            ways=[Way(edits=[
                Edit("[ids[::-1] for ids in sequences]",
                     "[ids[:] for ids in sequences]"),
                Edit("[[*ids, EOS] for ids in sequences]",
                     "[[*ids[::-1], EOS] for ids in sequences]"),
            ])],
        ),
        Mutant(
            name="in_place",
            says="`reverse()` turns the caller's own list round, and the caller's data "
            "with it.",
            asks="Which ways to reverse a list give a new one?",
            ways=[
                Way(source="""
                    def make_batch(sequences, targets=None):
                        pad = lambda rows: nn.utils.rnn.pad_sequence(
                            [torch.tensor(r) for r in rows], batch_first=True)
                        source = pad([[*ids, EOS] for ids in sequences])
                        if targets is None:
                            for ids in sequences:
                                ids.reverse()
                            targets = sequences
                        return source, pad([[BOS, *ids, EOS] for ids in targets])
                    """),
            ],
        ),
        Mutant(
            name="eos_appended",
            says="Your function appends to the caller's own lists.",
            asks="What do the sequences look like after two calls?",
            ways=[
                Way(source="""
                    def make_batch(sequences, targets=None):
                        pad = lambda rows: nn.utils.rnn.pad_sequence(
                            [torch.tensor(r) for r in rows], batch_first=True)
                        if targets is None:
                            targets = [ids[::-1] for ids in sequences]
                        target = pad([[BOS, *ids, EOS] for ids in targets])
                        for ids in sequences:
                            ids.append(EOS)
                        return pad(sequences), target
                    """),
            ],
        ),
        Mutant(
            name="targets_changed",
            says="Your function adds BOS and EOS to the caller's own targets.",
            asks="What do the targets look like after two calls?",
            ways=[
                Way(source="""
                    def make_batch(sequences, targets=None):
                        pad = lambda rows: nn.utils.rnn.pad_sequence(
                            [torch.tensor(r) for r in rows], batch_first=True)
                        if targets is None:
                            targets = [ids[::-1] for ids in sequences]
                        for ids in targets:
                            ids.insert(0, BOS)
                            ids.append(EOS)
                        return pad([[*ids, EOS] for ids in sequences]), pad(targets)
                    """),
            ],
        ),
        Mutant(
            name="sorted_down",
            says="Your targets are sorted from large to small: `sorted(..., "
            "reverse=True)` sorts.",
            asks="What should become of `3 9 1`?",
            ways=[Way(edits=[
                Edit("[ids[::-1] for ids in sequences]",
                     "[sorted(ids, reverse=True) for ids in sequences]"),
            ])],
        ),
        Mutant(
            name="batch_reversed",
            says="You reversed the order of the sequences in the batch, not the order "
            "inside each.",
            asks="What does `sequences[::-1]` turn round?",
            ways=[Way(edits=[
                Edit("[ids[::-1] for ids in sequences]",
                     "sequences[::-1]"),
            ])],
        ),
        Mutant(
            name="target_cut",
            says="Your target rows are as wide as your source rows, so the longest has "
            "lost its EOS.",
            asks="How many tokens has the longest target row, with BOS and EOS?",
            ways=[Way(edits=[
                Edit("for row in target]),",
                     "for row in target])[:, : widest - 1],"),
            ])],
        ),
        Mutant(
            name="fixed_width",
            says="Your rows are filled up to a fixed width, not to the longest of the "
            "batch.",
            asks="Where should the width come from?",
            ways=[Way(edits=[
                Edit("longest, widest = max(map(len, source)), max(map(len, target))",
                     "longest, widest = 11, 12"),
            ])],
        ),
        Mutant(
            name="swapped",
            says="Source and target are returned in the wrong order.",
            asks="Which of the two does the docstring name first?",
            ways=[
                Way(source="""
                    def make_batch(sequences, targets=None):
                        pad = lambda rows: nn.utils.rnn.pad_sequence(
                            [torch.tensor(r) for r in rows], batch_first=True)
                        if targets is None:
                            targets = [ids[::-1] for ids in sequences]
                        return (pad([[BOS, *ids, EOS] for ids in targets]),
                                pad([[*ids, EOS] for ids in sequences]))
                    """),
            ],
        ),
        Mutant(
            name="floats",
            says="Your tensors hold floating-point numbers. Ids are integers, int64; an "
            "embedding would refuse anything else.",
            asks="What does `torch.zeros` give unless told otherwise?",
            ways=[Way(edits=[
                Edit("for row in source]),",
                     "for row in source]).float(),"),
                Edit("for row in target]),",
                     "for row in target]).float(),"),
            ])],
        ),
        Mutant(
            name="int32",
            says="Your tensors hold int32. PyTorch's ids are int64 everywhere.",
            asks="Which integer type does `torch.tensor([1, 2])` give by itself?",
            ways=[Way(edits=[
                Edit("for row in source]),",
                     "for row in source]).int(),"),
                Edit("for row in target]),",
                     "for row in target]).int(),"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="pad_sequence", source="""
            def make_batch(sequences, targets=None):
                pad = lambda rows: nn.utils.rnn.pad_sequence(
                    [torch.tensor(r) for r in rows], batch_first=True)
                if targets is None:
                    targets = [s[::-1] for s in sequences]
                return (pad([s + [EOS] for s in sequences]),
                        pad([[BOS] + t + [EOS] for t in targets]))
            """),
        Accepted(name="filled", source="""
            def make_batch(sequences, targets=None):
                targets = targets or [torch.tensor(s).flip(0).tolist() for s in sequences]
                source = torch.full((len(sequences), max(map(len, sequences)) + 1), PAD)
                target = torch.full((len(targets), max(map(len, targets)) + 2), PAD)
                target[:, 0] = BOS
                for i, (s, t) in enumerate(zip(sequences, targets)):
                    source[i, :len(s)] = torch.tensor(s)
                    source[i, len(s)] = EOS
                    target[i, 1:len(t) + 1] = torch.tensor(t)
                    target[i, len(t) + 1] = EOS
                return source, target
            """),
        Accepted(name="reversed_copy", source="""
            def make_batch(sequences, targets=None):
                if targets is None:
                    targets = []
                    for s in sequences:
                        back = list(s)
                        back.reverse()
                        targets.append(back)
                n, m = (max(len(s) for s in rows) for rows in (sequences, targets))
                sources = [list(s) + [2] + [0] * (n - len(s)) for s in sequences]
                written = [[1] + list(t) + [2] + [0] * (m - len(t)) for t in targets]
                return [torch.tensor(sources), torch.tensor(written)]
            """),
        Accepted(name="zip_longest", source="""
            def make_batch(sequences, targets=None):
                from itertools import zip_longest
                def pad(rows):
                    return torch.tensor(list(zip_longest(*rows, fillvalue=PAD))).T
                written = map(reversed, sequences) if targets is None else targets
                return (pad([[*s, EOS] for s in sequences]),
                        pad([[BOS, *t, EOS] for t in written]))
            """),
    ],
)
