"""Other ways to write the test."""

from __future__ import annotations

from autograder.bank.encoder_decoder._bug_clinic.lines import ALL, inside, test
from autograder.oracle.specification import Accepted

ACCEPTED = [
    Accepted(name="rule_by_rule", source=test(*ALL)),
    Accepted(name="one_matrix", source="""
        def assert_decoder_layer(layer, d_model, d_ff):
            sizes = [p.numel() for p in layer.parameters()]
            attention_size = 4 * d_model * (d_model + 1)
            network = nn.Sequential(nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
            network_size = sum(p.numel() for p in network.parameters())
            assert sum(sizes) == 2 * attention_size + network_size + 6 * d_model
            with torch.no_grad():
                for B, Lt, Ls in ((1, 4, 6), (2, 3, 5), (3, 5, 4)):
                    x, memory = torch.randn(B, Lt, d_model), torch.randn(B, Ls, d_model)
                    y = layer(x, memory)
                    assert y.shape == (B, Lt, d_model)
                    own = torch.eye(B, dtype=torch.bool)
                    for b in range(B):
                        for j in range(Lt):
                            x2 = x.clone()
                            x2[b, j] = torch.randn(d_model)
                            moved = (layer(x2, memory) - y).abs().amax(-1) > 1e-5
                            later = torch.arange(Lt) >= j
                            assert (moved == (own[b][:, None] & later)).all()
                        for j in range(Ls):
                            m2 = memory.clone()
                            m2[b, j] = -3 * memory[b, j].flip(0)
                            moved = (layer(x, m2) - y).abs().amax(-1) > 1e-5
                            assert (moved == own[b][:, None].expand(-1, Lt)).all()
        """),
    Accepted(name="by_gradients", source="""
        def assert_decoder_layer(layer, d_model, d_ff):
            count = sum(p.numel() for p in layer.parameters())
            wanted = 8 * d_model**2 + 8 * d_model + 2 * d_model * d_ff + d_ff + 7 * d_model
            if count != wanted:
                raise AssertionError(f'{count} weights, not {wanted}')
            for B, Lt, Ls in ((3, 4, 6), (1, 5, 3), (2, 4, 4)):
                x = torch.randn(B, Lt, d_model, requires_grad=True)
                memory = torch.randn(B, Ls, d_model, requires_grad=True)
                y = layer(x, memory)
                assert y.shape == x.shape
                for b in range(B):
                    for i in range(Lt):
                        pull = torch.randn(d_model)
                        gx, gm = torch.autograd.grad((y[b, i] * pull).sum(), (x, memory),
                            retain_graph=True, allow_unused=True)
                        assert gx is not None and gm is not None
                        sx, sm = gx.abs().sum(-1) > 1e-7, gm.abs().sum(-1) > 1e-7
                        assert sx[b, :i + 1].all() and not sx[b, i + 1:].any()
                        assert sm[b].all()
                        rest = torch.arange(B) != b
                        assert not sx[rest].any() and not sm[rest].any()
        """),
    Accepted(name="catches_and_raises", source=test(
        inside("try:", *ALL),
        """
        except (ValueError, RuntimeError) as error:
            raise AssertionError('it crashes') from error
        """,
    ).replace("1e-5", "1e-6")),
]
