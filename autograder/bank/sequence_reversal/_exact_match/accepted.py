"""Other styles in which exact match is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="lists", source="""
        def exact_match(decoded, labels):
            def cut(row):
                row = row.tolist()
                return row[:row.index(EOS) + 1] if EOS in row else row + [None]
            pairs = [cut(a) == cut(b) for a, b in zip(decoded, labels)]
            return sum(pairs) / len(pairs)
        """),
    Accepted(name="real_places", edits=[
        Edit("(decoded == labels)", "((decoded == labels) | (labels == PAD))"),
    ]),
    Accepted(name="columns_of_labels", source="""
        def exact_match(decoded, labels):
            width = labels.size(1)
            decoded = F.pad(decoded, (0, max(0, width - decoded.size(1))))
            return (decoded[:, :width] == labels).all(1).double().mean().item()
        """),
    Accepted(name="cut_and_rest", source="""
        def exact_match(decoded, labels):
            w = min(decoded.size(1), labels.size(1))
            right = (decoded[:, :w] == labels[:, :w]).all(1)
            right &= (decoded[:, w:] == PAD).all(1) & (labels[:, w:] == PAD).all(1)
            return right.float().mean().item()
        """),
    Accepted(name="differences", source="""
        def exact_match(decoded, labels):
            w = max(decoded.size(1), labels.size(1))
            gap = labels.new_zeros(len(labels), w)
            gap[:, :labels.size(1)] += labels
            gap[:, :decoded.size(1)] -= decoded
            return 1 - (gap != 0).any(dim=1).sum().item() / len(labels)
        """),
]
