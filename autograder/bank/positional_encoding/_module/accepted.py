"""Other styles in which the module is right."""

from __future__ import annotations

from autograder.bank.positional_encoding._module.lines import ADD, REGISTER
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="batch_dimension", edits=[
        Edit(REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))'),
        Edit(ADD, "return x + self.pe[:, : x.shape[1], :]"),
    ]),
    Accepted(name="not_persistent", edits=[
        Edit(REGISTER, 'self.register_buffer("pe", table, persistent=False)'),
    ]),
    Accepted(name="detached_copy", edits=[
        Edit(REGISTER, 'self.register_buffer("pe", table.detach().clone())'),
    ]),
    Accepted(name="sequence_first_inside", edits=[
        Edit(REGISTER, 'self.register_buffer("pe", table[:, None])'),
        Edit(ADD,
             "return (x.transpose(0, 1) + self.pe[: x.size(1)]).transpose(0, 1)"),
    ]),
    Accepted(name="narrow", edits=[
        Edit(ADD, "return torch.add(x, self.pe.narrow(0, 0, x.size(-2)))"),
    ]),
    Accepted(name="own_copy_in_place", edits=[
        Edit(
            ADD,
            """
            x = x.clone()
            x += self.pe[: x.size(1)]
            return x
            """,
        ),
    ]),
    Accepted(name="lookup", edits=[
        Edit(
            ADD,
            """
            positions = torch.arange(x.size(1), device=x.device)
            return x + nn.functional.embedding(positions, self.pe)
            """,
        ),
    ]),
    Accepted(name="sentence_by_sentence", edits=[
        Edit(
            ADD,
            """
            rows = self.pe[: x.size(1)]
            return torch.stack([sentence + rows for sentence in x])
            """,
        ),
    ]),
    Accepted(name="unpacked_shape", edits=[
        Edit(
            ADD,
            """
            b, length, d_model = x.shape
            return x + self.pe[:length].expand(b, -1, -1).detach()
            """,
        ),
    ]),
]
