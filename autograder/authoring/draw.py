"""Reproducible inputs, byte for byte the same on every machine."""

from __future__ import annotations

import math

import numpy as np
import torch

FINENESS = 1 << 14  # steps between whole numbers


class Draw:
    """A seeded generator of inputs that are the same on every machine.

    Floats are multiples of 2**-14. They are exact in float32 up to 1024, but rarely
    in float16 or bfloat16, so code that computes in them gives other results. NumPy
    draws them, since the last digits of PyTorch's floats depend on the processor.
    """

    def __init__(self, seed: int | str):
        # The bytes of the seed as uint32, to which NumPy would convert them anyway.
        letters = np.frombuffer(str(seed).encode(), dtype=np.uint8)
        self._rng = np.random.default_rng(letters.astype(np.uint32))

    def tensor(self, *shape: int, scale: float = 2.0) -> torch.Tensor:
        """float32 numbers between -scale and scale, of either sign."""
        top = int(FINENESS * scale)
        grid = self._rng.integers(-top, top + 1, size=shape)
        return torch.tensor(grid / FINENESS, dtype=torch.float32)

    def ids(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """int64 numbers from low (included) to high (excluded)."""
        return torch.tensor(self._rng.integers(low, high, size=shape))

    def flags(self, *shape: int, chance: float = 0.6) -> torch.Tensor:
        """Booleans that are True with the probability ``chance``."""
        return torch.tensor(self._rng.random(size=shape) < chance)

    def weights(self, **shapes: tuple[int, ...]) -> dict[str, torch.Tensor]:
        """Draw a module's parameters, as inputs named "weights.NAME".

        ``weights(**{"w_q.weight": (6, 5)})`` draws one, in float32 from -1 to 1.
        """
        counts = [math.prod(shape) for shape in shapes.values()]
        parts = self.tensor(sum(counts), scale=1.0).split(counts)
        return {
            f"weights.{name}": part.clone().view(shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }
