"""What may be wrong with a decoder of the clinic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

Turned = tuple[torch.Tensor, ...]  # queries, keys and values, (B, heads, L, d_k)
Project = Callable[[torch.Tensor, int], Turned]  # of rows (B, L, d), from a place on
Pair = tuple[torch.Tensor, torch.Tensor]
Group = Callable[[int, int, int], int]  # of a head, if there are so many of both


def normed(x: torch.Tensor) -> torch.Tensor:
    """Rows with a root mean square of 1."""
    return x * x.pow(2).mean(-1, keepdim=True).add(1e-6).rsqrt()


def _projected(project: Project, x: torch.Tensor, place: int) -> Turned:
    return project(x, place)


def _as_it_is(logits: torch.Tensor) -> torch.Tensor:
    return logits


@dataclass(frozen=True)
class CacheBug:
    """What a decoder does at each step of a feed, and between feeds.

    Each step does the right thing, unless a bug overrides it.
    """

    norms: Callable[[torch.Tensor], torch.Tensor] = normed
    projects: Callable[[Project, torch.Tensor, int], Turned] = _projected
    rewrites: bool = True  # places that were cut away
    reads: Callable[[torch.Tensor, torch.Tensor], Pair] = lambda keys, values: (
        keys, values
    )  # fmt: skip
    group: Group = lambda head, heads, groups: head * groups // heads
    past: Callable[[int, int], int] = lambda past, new: past  # left open
    outputs: Callable[[torch.Tensor], torch.Tensor] = _as_it_is  # behind others only
    starts: bool = True  # anew
    keeps: Callable[[int, int], int] = lambda length, fed: length  # after a cut
    cuts_places: bool = True
    cuts_values: bool = True


def _behind_single_tokens(project: Project, x: torch.Tensor, place: int) -> Turned:
    return project(x, max(place - 1, 0) if x.size(1) == 1 else place)


def _one_place(project: Project, x: torch.Tensor, place: int) -> Turned:
    alone = [project(row, place) for row in x.split(1, dim=1)]
    return tuple(torch.cat(parts, 2) for parts in zip(*alone, strict=True))


def _queries_not_turned_on(project: Project, x: torch.Tensor, place: int) -> Turned:
    return (project(x, 0)[0], *project(x, place)[1:])


def _first_row(keys: torch.Tensor, values: torch.Tensor) -> Pair:
    return keys[:1].expand_as(keys), values[:1].expand_as(values)


def _last_eight(keys: torch.Tensor, values: torch.Tensor) -> Pair:
    keys = keys.clone()
    keys[:, :, : max(keys.size(2) - 8, 0)] = 0
    return keys, values


def _one_too_small(logits: torch.Tensor) -> torch.Tensor:
    logits[0, :, 1] -= 3e-4
    return logits


def _largest_too_large(logits: torch.Tensor) -> torch.Tensor:
    largest = logits[-1].argmax(-1, keepdim=True)
    logits[-1].scatter_add_(-1, largest, torch.full(largest.shape, 5e-4))
    return logits


def _not_a_number(logits: torch.Tensor) -> torch.Tensor:
    logits[0, -1] = torch.nan
    return logits


# Their names stand in cases.
BUGS = {
    "": CacheBug(),
    # A feed, in its order.
    "half": CacheBug(norms=lambda x: normed(x.half()).to(x.dtype)),
    "no offset": CacheBug(projects=lambda project, x, place: project(x, 0)),
    "single tokens": CacheBug(projects=_behind_single_tokens),
    "one place for a chunk": CacheBug(projects=_one_place),
    "queries not turned on": CacheBug(projects=_queries_not_turned_on),
    "written once": CacheBug(rewrites=False),
    "first row for all": CacheBug(reads=_first_row),
    "last eight only": CacheBug(reads=_last_eight),
    "wrong group": CacheBug(group=lambda head, heads, groups: head % groups),
    "sees the chunk": CacheBug(past=lambda past, new: past + new),
    "mask without a past": CacheBug(past=lambda past, new: 0),
    "one number too small": CacheBug(outputs=_one_too_small),
    "the largest too large": CacheBug(outputs=_largest_too_large),
    "not a number": CacheBug(outputs=_not_a_number),
    # Between feeds.
    "starts with the old": CacheBug(starts=False),
    "does not cut": CacheBug(keeps=lambda length, fed: fed),
    "does not cut to 0": CacheBug(keeps=lambda length, fed: length or fed),
    "cuts one at most": CacheBug(keeps=lambda length, fed: max(length, fed - 1)),
    "places go on": CacheBug(cuts_places=False),
    "cuts keys only": CacheBug(cuts_values=False),
}
