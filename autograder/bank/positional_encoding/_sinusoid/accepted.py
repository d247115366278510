"""Other styles in which the sinusoid encoding is right."""

from __future__ import annotations

from autograder.bank.positional_encoding._sinusoid.lines import ANGLES
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="filled", source="""
        def sinusoid(positions, d_model):
            if d_model % 2 != 0:
                raise ValueError('d_model must be even')
            speeds = torch.exp(torch.arange(0, d_model, 2)
                               * -(math.log(10000.0) / d_model))
            angles = positions[..., None] * speeds
            table = torch.zeros(*positions.shape, d_model)
            table[..., 0::2] = torch.sin(angles)
            table[..., 1::2] = torch.cos(angles)
            return table
        """),
    Accepted(name="outer_and_view", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
            angles = torch.outer(positions.flatten().to(speeds), speeds)
            table = torch.stack((torch.sin(angles), torch.cos(angles)), 2)
            return table.reshape(positions.shape + (d_model,))
        """),
    Accepted(name="einsum", edits=[
        Edit(ANGLES,
             "angles = torch.einsum('...,f->...f', positions.to(exponents), 10000**-exponents)"),
    ]),
    Accepted(name="complex", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            angles = positions.unsqueeze(-1) * speeds
            hands = torch.polar(torch.ones_like(angles), angles)
            return torch.view_as_real(hands).flip(-1).flatten(-2)
        """),
    Accepted(name="phase", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            column = torch.arange(d_model)
            angles = positions[..., None] / 10000 ** (column // 2 * 2 / d_model)
            return torch.sin(angles + column % 2 * math.pi / 2)
        """),
    Accepted(name="where", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            column = torch.arange(d_model)
            angles = positions[..., None] / 10000 ** ((column - column % 2) / d_model)
            return torch.where(column % 2 == 0, angles.sin(), angles.cos())
        """),
    Accepted(name="repeat_interleave", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            speeds = torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)
            angles = positions.unsqueeze(-1) * speeds.repeat_interleave(2)
            angles[..., 0::2].sin_()
            angles[..., 1::2].cos_()
            return angles
        """),
    Accepted(name="in_double", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            i = torch.arange(d_model // 2, dtype=torch.float64)
            angles = positions.double()[..., None] / 10000 ** (2 * i / d_model)
            table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
            return table.to(torch.get_default_dtype())
        """),
    Accepted(name="numpy", source="""
        import numpy as np
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            angles = positions.numpy()[..., None] / np.power(
                10000, np.arange(0, d_model, 2) / d_model)
            table = np.zeros(tuple(positions.shape) + (d_model,))
            table[..., 0::2], table[..., 1::2] = np.sin(angles), np.cos(angles)
            return torch.tensor(table, dtype=torch.get_default_dtype())
        """),
    Accepted(name="by_columns", source="""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            columns = []
            for i in range(0, d_model, 2):
                angle = positions / 10000 ** (i / d_model)
                columns += [torch.sin(angle), torch.cos(angle)]
            return torch.stack(columns, dim=-1)
        """),
]
