"""Optimizers of PyTorch's that do the work."""

from __future__ import annotations

from autograder.oracle.specification import Mutant, Way

BORROWED = [
    Mutant(
        name="torch_inside",
        says="PyTorch's AdamW does the work.",
        asks="Can you write the six lines yourself?",
        ways=[Way(source="""
            class AdamW:
                def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                    self.parameters, self.lr = list(parameters), lr
                    self.inner = torch.optim.AdamW(
                        self.parameters, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

                def zero_grad(self):
                    self.inner.zero_grad()

                def step(self):
                    self.inner.param_groups[0]["lr"] = self.lr
                    self.inner.step()
            """),
            Way(name="torchs_function", source="""
            from torch.optim.adamw import adamw as torchs
            class AdamW:
                def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                    self.parameters, self.lr, self.eps = list(parameters), lr, eps
                    (self.beta1, self.beta2), self.weight_decay = betas, weight_decay
                    self.means, self.squares, self.steps = (
                        [make(p) for p in self.parameters]
                        for make in (torch.zeros_like, torch.zeros_like, lambda p: torch.tensor(0.0)))

                def zero_grad(self):
                    for p in self.parameters:
                        p.grad = None

                @torch.no_grad()
                def step(self):
                    kept = [i for i, p in enumerate(self.parameters) if p.grad is not None]
                    sets = [[s[i] for i in kept] for s in (self.means, self.squares, self.steps)]
                    chosen = [self.parameters[i] for i in kept]
                    torchs(chosen, [p.grad for p in chosen], *sets[:2], [], sets[2],
                           foreach=False, amsgrad=False, beta1=self.beta1, beta2=self.beta2, lr=self.lr,
                           weight_decay=self.weight_decay, eps=self.eps, maximize=False)
            """),
            Way(name="torchs_fused_step", source="""
            class AdamW:
                def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                    self.parameters, self.lr, self.eps = list(parameters), lr, eps
                    (self.beta1, self.beta2), self.weight_decay = betas, weight_decay
                    self.means, self.squares, self.steps = (
                        [make(p) for p in self.parameters]
                        for make in (torch.zeros_like, torch.zeros_like, lambda p: torch.tensor(0.0)))

                def zero_grad(self):
                    for p in self.parameters:
                        p.grad = None

                @torch.no_grad()
                def step(self):
                    kept = [i for i, p in enumerate(self.parameters) if p.grad is not None]
                    sets = [[s[i] for i in kept] for s in (self.means, self.squares, self.steps)]
                    chosen = [self.parameters[i] for i in kept]
                    for step in sets[2]:
                        step += 1
                    torch._fused_adamw_(
                        chosen, [p.grad for p in chosen], *sets[:2], [], sets[2], amsgrad=False,
                        beta1=self.beta1, beta2=self.beta2, lr=self.lr,
                        weight_decay=self.weight_decay, eps=self.eps, maximize=False)
            """)],
    ),
]
