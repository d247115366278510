"""Other styles in which the sinusoid table is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted

ACCEPTED = [
    Accepted(name="by_columns", source="""
        def table_by_loops(max_len, d_model):
            table = torch.empty(max_len, d_model)
            for pos in range(max_len):
                for j in range(d_model):
                    angle = pos / 10000 ** ((j - j % 2) / d_model)
                    table[pos, j] = math.cos(angle) if j % 2 else math.sin(angle)
            return table
        """),
    Accepted(name="even_columns", source="""
        def table_by_loops(max_len, d_model):
            table = torch.zeros((max_len, d_model))
            for j in range(0, d_model, 2):
                for pos in range(max_len):
                    table[pos, j] = math.sin(pos * 10000 ** (-j / d_model))
                    table[pos, j + 1] = math.cos(pos * 10000 ** (-j / d_model))
            return table
        """),
    Accepted(name="lists", source="""
        def table_by_loops(max_len, d_model):
            rows = []
            for pos in range(max_len):
                row = []
                for i in range(d_model // 2):
                    angle = pos * math.exp(-math.log(10000) * 2 * i / d_model)
                    row += [math.sin(angle), math.cos(angle)]
                rows.append(row)
            return torch.tensor(rows)
        """),
    Accepted(name="rotating", source="""
        import cmath
        def table_by_loops(max_len, d_model):
            table = torch.zeros(max_len, d_model)
            for i in range(d_model // 2):
                hand, step = 1, cmath.exp(1j / 10000 ** (2 * i / d_model))
                for pos in range(max_len):
                    table[pos, 2 * i : 2 * i + 2] = torch.tensor(
                        [hand.imag, hand.real])
                    hand *= step
            return table
        """),
    Accepted(name="numpy", source="""
        import numpy as np
        def table_by_loops(max_len, d_model):
            table = np.zeros((max_len, d_model))
            for pos in range(max_len):
                for i in range(d_model // 2):
                    angle = pos / np.power(10000, 2 * i / d_model)
                    table[pos, 2 * i] = np.sin(angle)
                    table[pos, 2 * i + 1] = np.cos(angle)
            return torch.from_numpy(table).to(torch.get_default_dtype())
        """),
]
