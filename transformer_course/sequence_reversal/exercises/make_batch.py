"""A batch of sources and targets."""

from __future__ import annotations

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import random_rows


def _text(*lengths: int, high: int = 14, unknown: bool = False) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        rows = random_rows(draw, [*lengths], high, unknown)
        return {"sequences": "; ".join(" ".join(map(str, row)) for row in rows)}

    return make_inputs


CASES = [
    case("four", "four sequences of different lengths", _text(3, 6, 1, 4),
         "Write down source and target of the first sequence by hand."),
    case("longest_first", "the longest sequence comes first", _text(7, 2, 5),
         "The longest row sets the width; the others are padded at the end."),
    case("one", "a batch of one sequence", _text(5),
         "A single sequence needs no padding at all."),
    case("tuple", "a tuple of sequences, with unknown words",
         lambda draw: {**_text(6, 4, 7, 5, unknown=True)(draw), "held": "tuple"},
         "UNK is an id like any other: only BOS, EOS and PAD are added."),
    case("large_ids", "ids up to 99, equal lengths", _text(4, 4, high=100),
         "Only BOS, EOS and PAD may be added to the sequences.", hidden_only=True),
    case("long", "a long sequence", _text(4, 70, 3),
         "A sequence may have any length.", hidden_only=True),
]

MISTAKES = [
    wrong("not_reversed",
          "Your target repeats the sequence in the same order: that is copying.",
          "What should the decoder write for `7 5 9`?",
          edit("*ids[::-1]", "*ids")),
    wrong("no_bos",
          "Your targets do not begin with BOS, so the decoder has nothing to start from.",
          "What is in the decoder's input before it has written anything?",
          edit("[BOS, *ids[::-1], EOS]", "[*ids[::-1], EOS]")),
    wrong("no_eos_in_target",
          "Your targets do not end with EOS, so the model can never learn to stop.",
          "How will the decoder tell you that it is done?",
          edit("[BOS, *ids[::-1], EOS]", "[BOS, *ids[::-1]]")),
    wrong("no_eos_in_source",
          "Your source rows lack EOS, which marks where the decoder starts to read backwards.",
          "Compare your source with the example. What is missing?",
          edit("[*ids, EOS]", "[*ids]")),
    wrong("pad_for_eos_in_source",
          "Your source rows lack EOS: PAD is in its place, so nothing marks where the decoder starts to read "
          "backwards.",
          "Compare your source with the example. What is missing?",
          edit("[*ids, EOS]", "[*ids, PAD]")),
    wrong("bos_in_source",
          "Your source rows begin with BOS, but only the decoder needs a start token.",
          "Who has to begin with nothing on the page: the reader or the writer?",
          edit("[*ids, EOS]", "[BOS, *ids, EOS]")),
    wrong("flipped_with_padding",
          "You reversed rows that were already padded, so there is padding between BOS and the first symbol.",
          "Which has to happen first: padding or reversing?",
          source("""
              def make_batch(sequences):
                  longest = max(map(len, sequences))
                  fill = [[PAD] * (longest - len(ids)) for ids in sequences]
                  source = [[*ids, EOS] + pad for ids, pad in zip(sequences, fill)]
                  target = [[BOS, *[*ids, *pad][::-1], EOS] for ids, pad in zip(sequences, fill)]
                  return torch.tensor(source), torch.tensor(target)
              """)),
    wrong("flip_tensor",
          "You flipped the whole padded source, EOS and padding included, and put BOS in front.",
          "Where are EOS and PAD in your rows, and where should they be?",
          source("""
              def make_batch(sequences):
                  rows = [torch.tensor([*s, EOS]) for s in sequences]
                  source = nn.utils.rnn.pad_sequence(rows, batch_first=True)
                  start = torch.full((len(source), 1), BOS)
                  return source, torch.cat((start, source.flip(1)), dim=1)
              """)),
    wrong("eos_reversed",
          "EOS was reversed together with the symbols, so it now comes right after BOS.",
          "When should EOS be added: before or after reversing?",
          edit("[BOS, *ids[::-1], EOS]", "[BOS, *[*ids, EOS][::-1]]")),
    wrong("bos_at_the_end",
          "BOS and EOS are swapped in your targets.",
          "Which of the two begins a sentence?",
          edit("[BOS, *ids[::-1], EOS]", "[EOS, *ids[::-1], BOS]")),
    wrong("pad_as_bos",
          "Your targets begin with PAD instead of BOS. The model masks PAD, so its first position would see nothing.",
          "What are the jobs of the three special tokens?",
          edit("[BOS, *ids[::-1], EOS]", "[PAD, *ids[::-1], EOS]")),
    wrong("eos_as_padding",
          "Your rows are padded with EOS instead of PAD: the loss would count it, and every row would end many times "
          "over.",
          "Which id means nothing at all?",
          edit("padding_value=PAD", "padding_value=EOS"), tests="longest"),
    wrong("eos_after_padding",
          "EOS comes after the padding, so a short row continues with PAD before it ends.",
          "In the example, what comes right after the 6?",
          source("""
              def make_batch(sequences):
                  n = max(map(len, sequences))
                  source = [[*ids, *[PAD] * (n - len(ids)), EOS] for ids in sequences]
                  target = [[BOS, *ids[::-1], *[PAD] * (n - len(ids)), EOS] for ids in sequences]
                  return torch.tensor(source), torch.tensor(target)
              """)),
    wrong("padding_in_front",
          "Your padding comes at the start of the rows; it belongs at the end.",
          "What should the first token of every target row be?",
          edit("padding_value=PAD", 'padding_value=PAD, padding_side="left"')),
    wrong("source_reversed",
          "You reversed the source as well, so source and target have the same order again.",
          "Which of the two should be in the order of the sequence?",
          edit("[*ids, EOS]", "[*ids[::-1], EOS]")),
    wrong("wrong_one_reversed",
          "You reversed the source and left the target as it was.",
          "What should be read, and what should be written?",
          edit("[BOS, *ids[::-1], EOS]", "[BOS, *ids, EOS]", "[*ids, EOS]", "[*ids[::-1], EOS]")),
    wrong("in_place",
          "`reverse()` reverses the caller's own lists, so the caller's data has changed.",
          "Which ways of reversing a list create a new one?",
          source("""
              def make_batch(sequences):
                  pad = lambda rows: nn.utils.rnn.pad_sequence(
                      [torch.tensor(r) for r in rows], batch_first=True)
                  source = pad([[*ids, EOS] for ids in sequences])
                  for ids in sequences:
                      ids.reverse()
                  return source, pad([[BOS, *ids, EOS] for ids in sequences])
              """), tests="sequences"),
    wrong("eos_appended",
          "Your function appends to the caller's own lists.",
          "What do the sequences look like after two calls?",
          source("""
              def make_batch(sequences):
                  pad = lambda rows: nn.utils.rnn.pad_sequence(
                      [torch.tensor(r) for r in rows], batch_first=True)
                  target = pad([[BOS, *ids[::-1], EOS] for ids in sequences])
                  for ids in sequences:
                      ids.append(EOS)
                  return pad(sequences), target
              """)),
    wrong("sorted_down",
          "Your targets are sorted in descending order, not reversed.",
          "What should become of `3 9 1`?",
          edit("*ids[::-1]", "*sorted(ids, reverse=True)")),
    wrong("batch_reversed",
          "You reversed the order of the sequences in the batch, not the order within each.",
          "What do you reverse: each sequence, or the order of the sequences?",
          edit("[BOS, *ids[::-1], EOS]) for ids in sequences]", "[BOS, *ids, EOS]) for ids in sequences[::-1]]")),
    wrong("target_cut",
          "Your target rows are only as wide as your source rows, so the longest has lost its EOS.",
          "How many tokens does the longest target row have, with BOS and EOS?",
          edit("pad(targets)", "pad(targets)[:, :-1]")),
    wrong("fixed_width",
          "Your rows are padded to a fixed width, not to the longest row of the batch.",
          "What should the width depend on?",
          edit("[*ids, EOS]", "[*ids, EOS] + [PAD] * (10 - len(ids))",
               "[BOS, *ids[::-1], EOS]", "[BOS, *ids[::-1], EOS] + [PAD] * (10 - len(ids))")),
    wrong("swapped",
          "Source and target are returned in the wrong order.",
          "Which of the two does the docstring name first?",
          source("""
              def make_batch(sequences):
                  pad = lambda rows: nn.utils.rnn.pad_sequence(
                      [torch.tensor(r) for r in rows], batch_first=True)
                  return (pad([[BOS, *ids[::-1], EOS] for ids in sequences]),
                          pad([[*ids, EOS] for ids in sequences]))
              """)),
    wrong("floats",
          "Your tensors hold floating-point numbers. Ids are integers, and an embedding refuses floats.",
          "Which dtype does `torch.zeros` have unless told otherwise?",
          edit("pad(sources), pad(targets)", "pad(sources).float(), pad(targets).float()")),
    wrong("batch_second",
          "Rows have become columns: the batch is in dimension 1, as `pad_sequence` puts it unless told otherwise.",
          "What does `batch_first` mean in `pad_sequence`, and which shapes does the docstring name?",
          edit("batch_first=True", "batch_first=False")),
    wrong("int32",
          "Your tensors hold int32, but ids are int64 in PyTorch.",
          "Which dtype does `torch.tensor([1, 2])` have?",
          edit("pad(sources), pad(targets)", "pad(sources).int(), pad(targets).int()")),
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
            return (pad([[*s, EOS] for s in sequences]),
                    pad([[BOS, *reversed(s), EOS] for s in sequences]))
        """)),
]

EXERCISE = Specification(
    aspects={"target": 6.0},  # one of two results
    precise=False,
    ready_made=("transformer_course.library.decoding.make_batch",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
