"""Other styles in which the distribution to sample from is right."""

from __future__ import annotations

from autograder.bank.sequence_reversal._sampling_distribution.lines import LEAST
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="probabilities", source="""
        def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
            if not temperature > 0:
                raise ValueError("no such temperature")
            chances = torch.softmax(logits / temperature, dim=-1)
            if top_k is not None:
                rank = chances.argsort(dim=-1, descending=True).argsort(dim=-1)
                chances = chances * (rank < top_k)
                chances = chances / chances.sum(dim=-1, keepdim=True)
            if top_p is not None:
                shares, places = chances.sort(dim=-1, descending=True)
                stays = shares.cumsum(dim=-1) - shares < top_p
                stays = stays.gather(-1, places.argsort(dim=-1))
                chances = chances * stays
                chances = chances / chances.sum(dim=-1, keepdim=True)
            return chances
        """),
    Accepted(name="row_by_row", source="""
        def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
            if temperature <= 0:
                raise ValueError(temperature)
            rows = []
            for row in logits.reshape(-1, logits.size(-1)):
                row = row / temperature
                order = row.argsort(descending=True).tolist()
                if top_k is not None:
                    order = order[:top_k]
                kept = torch.full_like(row, -math.inf)
                kept[order] = row[order]
                if top_p is not None:
                    shares, total, chosen = kept.softmax(0), 0.0, []
                    for place in order:
                        if total >= top_p:
                            break
                        chosen.append(place)
                        total += float(shares[place])
                    again = torch.full_like(row, -math.inf)
                    again[chosen] = row[chosen]
                    kept = again
                rows.append(kept.softmax(0))
            return torch.stack(rows).view(logits.shape)
        """),
    Accepted(name="shifted_mask", source="""
        def sampling_distribution(logits, temperature=1.0, top_k=None, top_p=None):
            if temperature <= 0:
                raise ValueError("the temperature must be positive")
            ordered, places = (logits / temperature).sort(dim=-1, descending=True)
            if top_k is not None:
                ordered = torch.cat((
                    ordered[..., :top_k],
                    torch.full_like(ordered[..., top_k:], -math.inf)), dim=-1)
            if top_p is not None:
                over = ordered.softmax(-1).cumsum(-1) >= top_p
                over = torch.cat((torch.zeros_like(over[..., :1]), over[..., :-1]), -1)
                ordered = ordered.masked_fill(over, -math.inf)
            return torch.zeros_like(ordered).scatter(-1, places, ordered.softmax(-1))
        """),
    Accepted(name="k_by_sort", edits=[
        Edit(LEAST, "least = scores.sort(dim=-1, descending=True).values[..., :top_k][..., -1:]"),
    ]),
]
