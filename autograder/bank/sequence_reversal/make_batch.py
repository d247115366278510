"""A batch of sources and targets."""

from __future__ import annotations

from autograder.bank.sequence_reversal._inputs import random_rows
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


def _text(*lengths: int, high: int = 14) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        rows = random_rows(draw, list(lengths), high)
        return {"sequences": "; ".join(" ".join(map(str, row)) for row in rows)}

    return inputs


EXERCISE = Specification(
    name="sequence_reversal/make_batch",
    title="A batch of sources and targets",
    target="make_batch",
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
            name="large_ids",
            title="ids up to 99, equal lengths",
            inputs=_text(4, 4, high=100),
            hint="Only BOS, EOS and PAD may be added to the sequences.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="not_reversed",
            says="Your target repeats the sequence in the same order. That is copying.",
            asks="What should the decoder write for `7 5 9`?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids, EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="no_bos",
            says="Your targets do not begin with BOS. The decoder would have nothing "
            "to start from.",
            asks="What stands in the decoder's input before it has written anything?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[*ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="no_eos_in_target",
            says="Your targets do not end with EOS, so the model can never learn to "
            "stop.",
            asks="How will the decoder tell you that it is done?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1]] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="no_eos_in_source",
            says="Your source rows lack EOS. It marks the place from which the decoder "
            "starts to read backwards.",
            asks="Compare your source with the picture above the exercise. What is "
            "missing?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [list(ids) for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="bos_in_source",
            says="Your source rows begin with BOS. Only the decoder needs a start.",
            asks="Who has to begin writing with nothing on the page: reader or writer?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[BOS, *ids, EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="flipped_with_padding",
            says="You reversed rows that were padded already, so padding stands "
            "between BOS and the first symbol.",
            asks="In which order must padding and reversing happen?",
            ways=[Way(source="""
                def make_batch(sequences):
                    longest = max(map(len, sequences))
                    source = [[*s, EOS] + [PAD] * (longest - len(s)) for s in sequences]
                    target = [[BOS, *([*s] + [PAD] * (longest - len(s)))[::-1], EOS] for s in sequences]
                    return torch.tensor(source), torch.tensor(target)
                """)],
        ),
        Mutant(
            name="flip_tensor",
            says="You flipped the whole padded source, EOS and padding included, and "
            "put BOS in front.",
            asks="Where do EOS and PAD stand in a row of yours, and where should they?",
            ways=[Way(source="""
                def make_batch(sequences):
                    longest = max(map(len, sequences)) + 1
                    source = torch.tensor([[*s, EOS] + [PAD] * (longest - len(s) - 1) for s in sequences])
                    start = torch.full((len(source), 1), BOS)
                    return source, torch.cat((start, source.flip(1)), dim=1)
                """)],
        ),
        Mutant(
            name="eos_reversed",
            says="EOS was reversed together with the symbols: it now stands right "
            "behind BOS.",
            asks="When is EOS to be added: before or after the sequence is turned "
            "round?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *[*ids, EOS][::-1]] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="bos_at_the_end",
            says="BOS and EOS have changed places in your targets.",
            asks="Which of the two begins a sentence?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[EOS, *ids[::-1], BOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="pad_as_bos",
            says="Your targets begin with PAD in place of BOS. The model masks PAD "
            "away, so its first position would see nothing.",
            asks="Which three jobs do the three special tokens have?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[PAD, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="eos_as_padding",
            says="Your rows are filled up with EOS instead of PAD. The loss would "
            "count them, and every row would end many times over.",
            asks="Which id means nothing at all?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [EOS] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [EOS] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="padding_in_front",
            says="Your padding stands in front of the rows; it belongs at their end.",
            asks="What is to be the first token of each target row?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([[PAD] * (longest - len(row)) + row for row in source]),
                        torch.tensor([[PAD] * (width - len(row)) + row for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="source_reversed",
            says="You reversed the source as well, so source and target agree again.",
            asks="Which of the two should be in the order of the sequence?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids[::-1], EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="wrong_one_reversed",
            says="You reversed the source and left the target as it was.",
            asks="What is read, and what is to be written?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids[::-1], EOS] for ids in sequences]
                    target = [[BOS, *ids, EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="in_place",
            says="`reverse()` turns the caller's own list round, and the caller's data "
            "with it.",
            asks="Which ways to reverse a list give a new one?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    for ids in sequences:
                        ids.reverse()
                    target = [[BOS, *ids, EOS] for ids in sequences]
                    n = max(map(len, source))
                    return (torch.tensor([r + [PAD] * (n - len(r)) for r in source]),
                            torch.tensor([r + [PAD] * (n + 1 - len(r)) for r in target]))
                """)],
        ),
        Mutant(
            name="eos_appended",
            says="Your function appends to the caller's own lists.",
            asks="What do the sequences look like after two calls?",
            ways=[Way(source="""
                def make_batch(sequences):
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    n = max(map(len, sequences)) + 1
                    for ids in sequences:
                        ids.append(EOS)
                    return (torch.tensor([r + [PAD] * (n - len(r)) for r in sequences]),
                            torch.tensor([r + [PAD] * (n + 1 - len(r)) for r in target]))
                """)],
        ),
        Mutant(
            name="sorted_down",
            says="Your targets are sorted from large to small: `sorted(..., "
            "reverse=True)` sorts.",
            asks="What should become of `3 9 1`?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *sorted(ids, reverse=True), EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="batch_reversed",
            says="You reversed the order of the sequences in the batch, not the order "
            "inside each.",
            asks="What does `sequences[::-1]` turn round?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids, EOS] for ids in sequences[::-1]]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="target_cut",
            says="Your target rows are as wide as your source rows, so the longest has "
            "lost its EOS.",
            asks="How many tokens has the longest target row, with BOS and EOS?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target])[:, :longest],
                    )
                """)],
        ),
        Mutant(
            name="fixed_width",
            says="Your rows are filled up to a fixed width, not to the longest of the "
            "batch.",
            asks="Where should the width come from?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[*ids, EOS] for ids in sequences]
                    target = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    longest = 11
                    width = 12
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="swapped",
            says="Source and target are returned in the wrong order.",
            asks="Which of the two does the docstring name first?",
            ways=[Way(source="""
                def make_batch(sequences):
                    source = [[BOS, *ids[::-1], EOS] for ids in sequences]
                    target = [[*ids, EOS] for ids in sequences]
                    longest = max(map(len, source))
                    width = max(map(len, target))
                    return (
                        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
                        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
                    )
                """)],
        ),
        Mutant(
            name="floats",
            says="Your tensors hold floating-point numbers. Ids are integers, int64; "
            "an embedding would refuse anything else.",
            asks="What does `torch.zeros` give unless told otherwise?",
            ways=[Way(edits=[
                Edit("for row in source]),", "for row in source]).float(),"),
                Edit("for row in target]),", "for row in target]).float(),"),
            ])],
        ),
        Mutant(
            name="int32",
            says="Your tensors hold int32. PyTorch's ids are int64 everywhere.",
            asks="Which integer type does `torch.tensor([1, 2])` give by itself?",
            ways=[Way(edits=[
                Edit("for row in source]),", "for row in source]).int(),"),
                Edit("for row in target]),", "for row in target]).int(),"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="pad_sequence", source="""
            def make_batch(sequences):
                pad = lambda rows: nn.utils.rnn.pad_sequence(
                    [torch.tensor(r) for r in rows], batch_first=True)
                return (pad([s + [EOS] for s in sequences]),
                        pad([[BOS] + s[::-1] + [EOS] for s in sequences]))
            """),
        Accepted(name="filled", source="""
            def make_batch(sequences):
                n = max(len(s) for s in sequences)
                source = torch.full((len(sequences), n + 1), PAD)
                target = torch.full((len(sequences), n + 2), PAD)
                target[:, 0] = BOS
                for i, s in enumerate(sequences):
                    source[i, :len(s)] = torch.tensor(s)
                    source[i, len(s)] = EOS
                    target[i, 1:len(s) + 1] = torch.tensor(s).flip(0)
                    target[i, len(s) + 1] = EOS
                return source, target
            """),
        Accepted(name="reversed_copy", source="""
            def make_batch(sequences):
                sources, targets = [], []
                n = max(len(s) for s in sequences)
                for s in sequences:
                    back = list(s)
                    back.reverse()
                    fill = [0] * (n - len(s))
                    sources.append(list(s) + [2] + fill)
                    targets.append([1] + back + [2] + fill)
                return [torch.tensor(sources), torch.tensor(targets)]
            """),
        Accepted(name="zip_longest", source="""
            def make_batch(sequences):
                from itertools import zip_longest
                def pad(rows):
                    return torch.tensor(list(zip_longest(*rows, fillvalue=PAD))).T
                return (pad([[*s, EOS] for s in sequences]),
                        pad([[BOS, *reversed(s), EOS] for s in sequences]))
            """),
    ],
)
