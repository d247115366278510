"""A test of decoder layers, put together from the lines for each rule."""

from __future__ import annotations

import textwrap

from autograder.oracle.variants import clean


def test(*blocks: str) -> str:
    """A test of the given lines, which see x, memory, and what moves what."""
    start = """
        def assert_decoder_layer(layer, d_model, d_ff):
            torch.manual_seed(0)
            layer.requires_grad_(False)
            x, memory = torch.randn(3, 5, d_model), torch.randn(3, 4, d_model)
            push = torch.linspace(-1, 1, d_model)
            def moves(x2, memory2, n=3):
                before, after = layer(x[:n], memory[:n]), layer(x2[:n], memory2[:n])
                return ((after - before).abs() > 1e-5).any(-1)
            def nudged(z, b, j):
                z = z.clone()
                z[b, j] += push
                return z
        """
    return inside(clean(start), *blocks)


def inside(head: str, *blocks: str) -> str:
    """Blocks of lines, indented below a line that begins them."""
    body = "\n".join(map(clean, blocks))
    return f"{head}\n{textwrap.indent(body, '    ')}"


COUNT = """
    n = 8 * (d_model * d_model + d_model) + 2 * d_model * d_ff + d_ff + 7 * d_model
    assert sum(p.numel() for p in layer.parameters()) == n
    """
SHAPE = """
    for batch, Lt, Ls in ((1, 5, 4), (2, 4, 5), (3, 5, 5)):
        z = torch.randn(batch, Lt, d_model)
        assert layer(z, torch.randn(batch, Ls, d_model)).shape == z.shape
    """
FUTURE = """
    for b in range(3):
        for j in range(1, 5):
            assert not moves(nudged(x, b, j), memory)[b, :j].any()
    """
PAST = """
    for j in range(5):
        assert moves(nudged(x, 1, j), memory)[1, j:].all()
    """
MEMORY = """
    for j in range(4):
        assert moves(x, nudged(memory, 1, j))[1].all()
    """
OTHERS = """
    for n, b in ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)):
        others = torch.arange(n) != b
        assert not moves(nudged(x, b, 2), memory, n)[others].any()
        assert not moves(x, nudged(memory, b, 1), n)[others].any()
    """
ALL = (COUNT, SHAPE, FUTURE, PAST, MEMORY, OTHERS)
BUT_MEMORY = (COUNT, SHAPE, FUTURE, PAST, OTHERS)


