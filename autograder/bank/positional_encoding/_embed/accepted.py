"""Other styles in which the lookup is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="where", edits=[
        Edit("vectors.masked_fill(is_padding, 0.0)",
             "torch.where(is_padding, torch.zeros(()).to(vectors), vectors)"),
    ]),
    Accepted(name="zeroed_copy", source="""
        def embed(ids, table, padding_idx=None):
            if padding_idx is not None:
                table = table.clone()
                table[padding_idx] = 0
            return nn.functional.embedding(ids, table)
        """),
    Accepted(name="one_hot", source="""
        import torch.nn.functional as F
        def embed(ids, table, padding_idx=None):
            hot = F.one_hot(ids, len(table)).to(table.dtype)
            if padding_idx is not None:
                hot[..., padding_idx] = 0
                rows = torch.arange(len(table)) == padding_idx
                table = table.masked_fill(rows[:, None], 0.0)
            return torch.einsum('blv,vd->bld', hot, table)
        """),
    Accepted(name="index_select", source="""
        def embed(ids, table, padding_idx=None):
            rows = table.index_select(0, ids.reshape(-1))
            out = rows.reshape(*ids.shape, table.shape[1]).clone()
            if padding_idx is not None:
                out[ids == padding_idx] = 0.0
            return out
        """),
    Accepted(name="loops", source="""
        def embed(ids, table, padding_idx=None):
            sentences = []
            for sentence in ids.tolist():
                rows = [table[t] if t != padding_idx else torch.zeros_like(table[0])
                        for t in sentence]
                sentences.append(torch.stack(rows))
            return torch.stack(sentences)
        """),
]
