"""Cases and mistakes for an exercise: make a batch of sources and targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import FIRST, UNK


def _draw_sequences(*lengths: int, low: int = FIRST, high: int = 14, **options: str) -> Maker:
    """Make a function that draws sequences of these lengths, written as a text like "7 5 9; 6".

    The ids are from ``low`` to ``high`` - 1; ``options`` are further inputs of the case.
    """
    def make_inputs(draw: Draw) -> Inputs:
        rows = [draw.ids(low, high, length).tolist() for length in lengths]
        return {"sequences": "; ".join(" ".join(map(str, row)) for row in rows), **options}

    return make_inputs


CASES = [
    case("four", "four sequences of different lengths", _draw_sequences(3, 6, 1, 4),
         "Write down source and target of the first sequence by hand."),
    case("longest_first", "the longest sequence comes first", _draw_sequences(7, 2, 5),
         "The longest row sets the width; the others are padded at the end."),
    case("one", "a batch of one sequence", _draw_sequences(5),
         "A single sequence needs no padding at all."),
    case("tuple", "a tuple of sequences, with unknown words", _draw_sequences(6, 4, 7, 5, low=UNK, high=7, held="tuple"),
         "UNK is an id like any other: only BOS, EOS and PAD are added.", aspect="limits"),
    case("large_ids", "ids up to 99, equal lengths", _draw_sequences(4, 4, high=100),
         "Only BOS, EOS and PAD may be added to the sequences.", hidden_only=True),
    case("long", "a long sequence", _draw_sequences(4, 70, 3),
         "A sequence may have any length.", hidden_only=True),
]

def _is_possible(inputs: Mapping[str, Any]) -> bool:
    """Return whether no sequence is empty in inputs that the engine has shortened."""
    return all(row.split() for row in inputs["sequences"].split(";"))


_SOURCE = "[*ids, EOS]"
_TARGET = "[BOS, *ids[::-1], EOS]"
_RESULT = "pad(sources), pad(targets)"
_FILL = "*[PAD] * (max(map(len, sequences)) - len(ids))"

MISTAKES = [
    wrong("not_reversed", "Source and target have the same order: that is copying.",
          "Which of the two should be in the order of the sequence, and which backwards?",
          edit("*ids[::-1]", "*ids"),
          edit(_SOURCE, "[*ids[::-1], EOS]", name="source_reversed")),
    wrong("wrong_one_reversed", "You reversed the source and left the target as it was.",
          "What should be read, and what should be written?",
          edit(_TARGET, "[BOS, *ids, EOS]", _SOURCE, "[*ids[::-1], EOS]")),
    wrong("sorted_down", "Your targets are sorted in descending order, not reversed.",
          "What should become of `3 9 1`?",
          edit("*ids[::-1]", "*sorted(ids, reverse=True)")),
    wrong("batch_reversed", "You reversed the order of the sequences in the batch, not the order within each.",
          "What do you reverse: each sequence, or the order of the sequences?",
          edit(f"{_TARGET}) for ids in sequences]", "[BOS, *ids, EOS]) for ids in sequences[::-1]]")),
    wrong("no_bos", "Your targets do not begin with BOS, so the decoder has nothing to start from.",
          "What is in the decoder's input before it has written anything?",
          edit(_TARGET, "[*ids[::-1], EOS]"),
          edit(_TARGET, "[PAD, *ids[::-1], EOS]", name="pad_as_bos")),
    wrong("no_eos_in_target", "Your targets do not end with EOS, so the model can never learn to stop.",
          "How will the decoder tell you that it is done?",
          edit(_TARGET, "[BOS, *ids[::-1]]"),
          edit(_TARGET, "[BOS, *ids[::-1], PAD]", name="pad_for_eos_in_target")),
    wrong("no_eos_in_source", "Your source rows lack EOS, which marks where the decoder starts to read backwards.",
          "Compare your source with the example. What is missing?",
          edit(_SOURCE, "[*ids]"),
          edit(_SOURCE, "[*ids, PAD]", name="pad_for_eos_in_source")),
    wrong("bos_in_source", "Your source rows begin with BOS, but only the decoder needs a start token.",
          "Who has to begin with nothing on the page: the reader or the writer?",
          edit(_SOURCE, "[BOS, *ids, EOS]")),
    wrong("eos_reversed", "EOS was reversed together with the symbols, so it now comes right after BOS.",
          "When should EOS be added: before or after reversing?",
          edit(_TARGET, "[BOS, *[*ids, EOS][::-1]]")),
    wrong("bos_at_the_end", "BOS and EOS are swapped in your targets.",
          "Which of the two begins a sentence?",
          edit(_TARGET, "[EOS, *ids[::-1], BOS]")),
    wrong("flipped_with_padding",
          "You reversed rows that were already padded, so there is padding between BOS and the first symbol.",
          "Which has to happen first: padding or reversing?",
          edit("*ids[::-1]", f"*[*ids, {_FILL}][::-1]"),
          edit(f"return {_RESULT}", """
              source = pad(sources)
              return source, torch.cat((torch.full((len(source), 1), BOS), source.flip(1)), dim=1)
              """, name="flip_tensor")),
    wrong("eos_as_padding",
          "Your rows are padded with EOS instead of PAD: the loss would count it, and every row would end many times "
          "over.",
          "Which id means nothing at all?",
          edit("padding_value=PAD", "padding_value=EOS"), tests="longest"),
    wrong("eos_after_padding", "EOS comes after the padding, so a short row continues with PAD before it ends.",
          "In the example, what comes right after the 6?",
          edit(_SOURCE, f"[*ids, {_FILL}, EOS]", _TARGET, f"[BOS, *ids[::-1], {_FILL}, EOS]"),
          edit(_SOURCE, f"[*ids, {_FILL}, EOS]", name="eos_after_padding_in_source"),
          edit(_TARGET, f"[BOS, *ids[::-1], {_FILL}, EOS]", name="eos_after_padding_in_target")),
    wrong("padding_in_front", "Your padding comes at the start of the rows; it belongs at the end.",
          "What should the first token of every target row be?",
          edit("padding_value=PAD", 'padding_value=PAD, padding_side="left"')),
    wrong("caller_changed",
          "Your function reverses the caller's own lists, or appends to them, so the caller's data has changed.",
          "Which ways of reversing a list create a new one?",
          edit("*ids[::-1]", "*(ids.reverse() or ids)"),
          edit("return", """
              [ids.append(EOS) for ids in sequences]
              return
              """, name="eos_appended"), tests="sequences"),
    wrong("target_cut", "Your target rows are only as wide as your source rows, so the longest has lost its EOS.",
          "How many tokens does the longest target row have, with BOS and EOS?",
          edit("pad(targets)", "pad(targets)[:, :-1]")),
    wrong("fixed_width", "Your rows are padded to a fixed width, not to the longest row of the batch.",
          "What should the width depend on?",
          edit(_SOURCE, "[*ids, EOS] + [PAD] * (10 - len(ids))",
               _TARGET, "[BOS, *ids[::-1], EOS] + [PAD] * (10 - len(ids))")),
    wrong("swapped", "Source and target are returned in the wrong order.",
          "Which of the two does the docstring name first?",
          edit(_RESULT, "pad(targets), pad(sources)")),
    wrong("other_dtype", "Your tensors hold floating-point numbers or int32, but ids are int64 in PyTorch.",
          "Which dtype does `torch.tensor([1, 2])` have, and `torch.zeros`?",
          edit(_RESULT, "pad(sources).float(), pad(targets).float()"),
          edit(_RESULT, "pad(sources).int(), pad(targets).int()", name="int32")),
    wrong("batch_second",
          "Rows have become columns: the batch is in dimension 1, as `pad_sequence` puts it unless told otherwise.",
          "What does `batch_first` mean in `pad_sequence`, and which shapes does the docstring name?",
          edit("batch_first=True", "batch_first=False")),
]

ACCEPTED = [
    right("filled", source("""
        def make_batch(sequences):
            longest = max(map(len, sequences))
            source = torch.full((len(sequences), longest + 1), PAD)
            target = torch.full((len(sequences), longest + 2), PAD)
            target[:, 0] = BOS
            for i, s in enumerate(map(torch.tensor, sequences)):
                source[i, :len(s)] = s
                source[i, len(s)] = EOS
                target[i, 1:len(s) + 1] = s.flip(0)
                target[i, len(s) + 1] = EOS
            return source, target
        """)),
    right("reversed_copy", source("""
        def make_batch(sequences):
            targets = []
            for s in sequences:
                back = list(s)
                back.reverse()
                targets.append(back)
            n = max(len(s) for s in sequences)
            sources = [list(s) + [2] + [0] * (n - len(s)) for s in sequences]
            written = [[1] + t + [2] + [0] * (n - len(t)) for t in targets]
            return [torch.tensor(sources), torch.tensor(written)]
        """)),
    right("zip_longest", source("""
        def make_batch(sequences):
            from itertools import zip_longest
            def pad(rows):
                return torch.tensor(list(zip_longest(*rows, fillvalue=PAD))).T
            return pad([[*s, EOS] for s in sequences]), pad([[BOS, *reversed(s), EOS] for s in sequences])
        """)),
]

EXERCISE = Specification(
    parts="target",
    precise=False,
    is_possible=_is_possible,
    ready_made=("transformer_course.library.decoding.make_batch",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
