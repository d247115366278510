"""Inputs that several exercises of the unit share."""

from __future__ import annotations

from autograder.oracle.draw import Draw
from autograder.oracle.specification import Inputs, Maker


def queries_and_keys(*lead: int, lq: int, lk: int, d_k: int, scale: float = 2.0) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return {
            "q": draw.tensor(*lead, lq, d_k, scale=scale),
            "k": draw.tensor(*lead, lk, d_k, scale=scale),
        }

    return inputs


def projections(draw: Draw, d_x: int, d_memory: int, d_k: int, d_v: int) -> Inputs:
    shapes = {"w_q": (d_k, d_x), "w_k": (d_k, d_memory), "w_v": (d_v, d_memory)}
    parameters: dict[str, tuple[int, ...]] = {}
    for name, (rows, columns) in shapes.items():
        parameters |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return dict(draw.weights(**parameters))
