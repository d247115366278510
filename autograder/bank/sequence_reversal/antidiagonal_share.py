"""The share of the anti-diagonal."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
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


def _map(
    lengths: tuple[int, ...],
    width: int,
    chance: float,
    top: float = 4.0,
    places: int | None = None,
) -> Maker:
    """Weights whose largest entry lies on the anti-diagonal with the given chance.

    There are so many steps as ``width``, and ``places`` in the source, or one more than
    steps. The score of the largest one is ``top``; the others' lie between -1 and 1.

    Along the other axis the largest ones lie there a different number of times.
    """

    long = width + 1 if places is None else places

    def inputs(draw: Draw) -> Inputs:
        sizes = torch.tensor(lengths)
        order = torch.argsort(draw.tensor(len(lengths), scale=500.0))
        sizes = sizes[order]
        steps = torch.arange(width)
        anti = (sizes[:, None] - 1 - steps) % min(width, long)  # (B, Lt), wraps at the end
        real = steps < sizes[:, None]  # (B, Lt)
        while True:
            elsewhere = draw.ids(0, long, len(lengths), width)
            hit = draw.flags(len(lengths), width, chance=chance)
            hit[0, 0], hit[-1, 1] = True, False
            place = torch.where(hit, anti, elsewhere)
            scores = draw.tensor(len(lengths), width, long, scale=1.0)
            scores.scatter_(-1, place.unsqueeze(-1), top)
            weights = scores.softmax(-1)  # (B, Lt, Ls)
            right = (weights.argmax(2) == anti)[real].sum()
            across = F.pad(weights.argmax(1), (0, width))[:, :width]
            if right != (across == anti)[real].sum():
                return {"weights": weights, "lengths": sizes}

    return inputs


_HITS = "(weights.argmax(dim=-1) == wanted)[wanted >= 0]"

EXERCISE = Specification(
    name="sequence_reversal/antidiagonal_share",
    title="The share of the anti-diagonal",
    target="antidiagonal_share",
    promise=Promise(
        ways=(),
        sizes=special(one_row=_map((7,), 9, 0.5)),
    ),
    cases=[
        CaseKind(
            name="four_rows",
            title="4 rows of different lengths",
            inputs=_map((5, 2, 7, 3), 9, 0.7),
            hint="Take the shortest row and mark, step by step, where it should look.",
        ),
        CaseKind(
            name="one_head",
            title="the map of one head, cut out of those of three",
            inputs=lambda draw: {**_map((3, 6, 4, 2), 8, 0.6)(draw), "head": "yes"},
            hint="What is cut out of a tensor does not lie in one piece in memory.",
        ),
        CaseKind(
            name="mostly_elsewhere",
            title="6 rows that mostly look elsewhere, and as many steps as source places",
            inputs=_map((4, 6, 5, 6, 2, 3), 8, 0.3, places=8),
            hint="Step t belongs to symbol n - 1 - t, with its own n in each row.",
        ),
        CaseKind(
            name="equal_lengths",
            title="3 rows of equal length",
            inputs=_map((6, 6, 6), 11, 0.6),
            hint="Padding stands behind EOS: the last symbol is not the last column.",
        ),
        CaseKind(
            name="flat",
            title="4 rows whose largest weights are small",
            inputs=_map((5, 3, 6, 4), 8, 0.6, top=1.5),
            hint="The largest weight of a step counts, however small it is.",
        ),
        CaseKind(
            name="many",
            title="12 rows, and more steps than source places",
            inputs=_map((1, 9, 3, 8, 2, 2, 7, 5, 4, 6, 3, 9), 12, 0.8, places=10),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="diagonal",
            says="You look for the diagonal: that is what a copying model would show.",
            asks="At which symbol should the very first step look?",
            ways=[Way(edits=[
                Edit("lengths.unsqueeze(1) - 1 - steps",
                     "torch.where(steps < lengths.unsqueeze(1), steps, -1)"),
            ])],
        ),
        Mutant(
            name="one_too_far",
            says="Your line is one place too far to the right: it starts at EOS.",
            asks="Places count from 0. Where does the last of n symbols stand?",
            ways=[Way(edits=[
                Edit(_HITS, "(weights.argmax(dim=-1) == wanted + 1)[wanted >= 0]"),
            ])],
        ),
        Mutant(
            name="above_one_half",
            says="A step counts if its weight on the line is above one half. The largest "
            "one may be smaller than that.",
            asks="Three symbols get 0.4, 0.3 and 0.3. Which weight is the largest?",
            ways=[Way(edits=[
                Edit(_HITS,
                     "(weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1)).squeeze(-1) > 0.5)[wanted >= 0]"),
            ])],
        ),
        Mutant(
            name="eos_counted",
            says="The step that writes EOS counts among your steps. It belongs to no "
            "symbol.",
            asks="How many steps has a sequence of n symbols, without EOS?",
            ways=[Way(edits=[Edit("[wanted >= 0]", "[wanted >= -1]")])],
        ),
        Mutant(
            name="padding_counted",
            says="Steps of padding count in your share.",
            asks="How many of the steps of a short row are real?",
            ways=[Way(edits=[Edit("[wanted >= 0]", "")])],
        ),
        Mutant(
            name="width_for_length",
            says="You measure from the end of the padded row, not from the last symbol "
            "of each sequence.",
            asks="Is the last symbol in the same column in all rows?",
            ways=[Way(edits=[
                Edit("lengths.unsqueeze(1) - 1 - steps",
                     "torch.where(steps < lengths.unsqueeze(1), weights.size(2) - 1 - steps, -1)"),
            ])],
        ),
        Mutant(
            name="longest_for_all",
            says="You use the length of the longest sequence for all rows.",
            asks="Where does `lengths` enter your formula, row by row?",
            ways=[Way(edits=[
                Edit("lengths.unsqueeze(1) - 1 - steps",
                     "(lengths.max() - 1 - steps).expand(len(lengths), -1)"),
            ])],
        ),
        Mutant(
            name="mean_of_rows",
            says="You averaged each row first and then the rows. All *steps* are to "
            "weigh the same.",
            asks="How much does a step of a short row count in your share?",
            ways=[Way(source="""
                def antidiagonal_share(weights, lengths):
                    shares = []
                    for row, n in zip(weights.argmax(-1).tolist(), lengths.tolist()):
                        shares.append(sum(row[t] == n - 1 - t for t in range(n)) / n)
                    return sum(shares) / len(shares)
                """)],
        ),
        Mutant(
            name="whole_rows",
            says="You count sequences whose steps are all right; single steps are "
            "asked for.",
            asks="What is the share if each sequence has one wrong step of ten?",
            ways=[Way(source="""
                def antidiagonal_share(weights, lengths):
                    right = [all(row[t] == n - 1 - t for t in range(n)) for row, n in zip(weights.argmax(-1).tolist(), lengths.tolist())]
                    return sum(right) / len(right)
                """)],
        ),
        Mutant(
            name="wrong_axis",
            says="You looked for the largest weight over steps, not over source "
            "places.",
            asks="Which dimension of `(B, Lt, Ls)` is looked *at*?",
            ways=[
                Way(source="""
                    def antidiagonal_share(weights, lengths):
                        hits, count = 0, 0
                        for row, n in zip(weights.argmax(1).tolist(), lengths.tolist()):
                            hits += sum(row[t] == n - 1 - t for t in range(n))
                            count += n
                        return hits / count
                    """),
            ],
        ),
        Mutant(
            name="wrong_axis_of_squares",
            says="With as many steps as source places, you looked for the largest weight "
            "over steps.",
            asks="Which dimension of `(B, Lt, Ls)` is looked *at*, whatever its size?",
            ways=[
                Way(edits=[
                    Edit(_HITS,
                         "(weights.argmax(dim=-1 if weights.size(1) != weights.size(2) else 1) == wanted)[wanted >= 0]"),
                ]),
            ],
        ),
        Mutant(
            name="mass",
            says="You averaged the weights that lie on the line. The question is how "
            "often the *largest* weight lies there.",
            asks="A step gives 0.4 to the right place and less to all others. Does it "
            "count fully?",
            ways=[Way(edits=[
                Edit(_HITS,
                     "weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1))[..., 0][wanted >= 0]"),
            ])],
        ),
        Mutant(
            name="count",
            says="You return how many steps hit, not which share of them.",
            asks="By what must you divide?",
            ways=[Way(edits=[Edit(".double().mean()", ".double().sum()")])],
        ),
        Mutant(
            name="percent",
            says="Your result is in percent; a share between 0 and 1 is asked for.",
            asks="What is the result if all steps hit?",
            ways=[Way(edits=[Edit(".mean().item()", ".mean().item() * 100")])],
        ),
        Mutant(
            name="first_row",
            says="Only the first row of the batch enters your share.",
            asks="What does `weights[0]` select?",
            ways=[Way(edits=[
                Edit(_HITS, "(weights.argmax(dim=-1) == wanted)[0][wanted[0] >= 0]"),
            ])],
        ),
        Mutant(
            name="tensor",
            says="The number is right, but it comes as a tensor; a float is asked for.",
            asks="Which method of a tensor with one number gives that number?",
            ways=[Way(edits=[Edit(".mean().item()", ".mean()")])],
        ),
    ],
    accepted=[
        Accepted(name="loops", source="""
            def antidiagonal_share(weights, lengths):
                hits = total = 0
                for b in range(weights.size(0)):
                    for t in range(int(lengths[b])):
                        hits += int(weights[b, t].argmax()) == int(lengths[b]) - 1 - t
                        total += 1
                return hits / total
            """),
        Accepted(name="flipped", source="""
            def antidiagonal_share(weights, lengths):
                right = [w[:n, :].argmax(1).flip(0) == torch.arange(n) for w, n in zip(weights, lengths.tolist())]
                return torch.cat(right).float().mean().item()
            """),
        Accepted(name="sums", source="""
            def antidiagonal_share(weights, lengths):
                best = weights.max(dim=2).indices
                t = torch.arange(weights.shape[1])[None]
                real = t < lengths[:, None]
                return ((best + t + 1 == lengths[:, None]) & real).sum().item() / real.sum().item()
            """),
    ],
)
