"""AdamW by hand."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.since_2017.exercises._inputs import options


def _training(
    steps: int, rows: int, columns: int, size: int, *,
    betas: tuple[float, float] | None = None, rates: bool = False, idle: bool = False,
    scale: float = 1.0, burst: int = 0, still: int = 0, **more: float,
) -> Maker:  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made = options(**more) | {
            "matrix": draw.tensor(rows, columns),
            "vector": draw.tensor(size),
            "gradient of matrix": draw.tensor(steps, rows, columns) * scale,
            "gradient of vector": draw.tensor(steps, size, scale=16.0) * scale,
        }
        # One number whose gradient is zero at first and at last, and one with a small one.
        made["gradient of vector"][[0, -1], 0] = 0.0
        made["gradient of vector"][:, 1] = 1 / 64
        if still:  # a step in which nothing pulls: the memories fade all the same
            made["gradient of vector"][still] = 0.0
        if burst:
            made["gradient of matrix"][1] *= 2.0**burst
        if betas:
            made["betas"] = torch.tensor(betas, dtype=torch.float64)
        if rates:
            made["rates"] = torch.linspace(0.25, 0.0625, steps, dtype=torch.float64)
            made["rates"][steps // 2] = 0.0
        if idle:
            made["idle"] = draw.tensor(4)
            # The second pull is outweighed by what the first has left, if that has not faded.
            beta = betas[0] if betas else 0.9
            first = 1 + draw.tensor(5).abs()
            made["pulls of late"] = torch.stack([first, -first * beta**2])
        return made

    return inputs


_MEAN = "mean.mul_(beta1).add_(p.grad, alpha=1 - beta1)"
_SQUARE = "square.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)"
_UNBIASED = "unbiased = mean / (1 - beta1**self.steps)"
_ROOT = "root = (square / (1 - beta2**self.steps)).sqrt()"
_DECAY = "p.mul_(1 - self.lr * self.weight_decay)"
_STEP = "p.sub_(self.lr * unbiased / (root + self.eps))"

CASES = [
    case("defaults", "4 steps with the defaults", _training(4, 3, 5, 6, lr=0.125),
         "In the first step, every number moves by about lr, however large its gradient is."),
    case("decay", "a large weight decay and other betas",
         _training(5, 2, 4, 3, betas=(0.75, 0.875), lr=0.0625, weight_decay=0.5, still=2),
         "Decay shrinks the parameter itself; it is not part of the gradient. Where a gradient is zero, the memories "
         "still move the parameter."),
    case("large_eps", "a large eps", _training(3, 4, 2, 5, lr=0.25, eps=0.125, weight_decay=0.0),
         "eps is added to the root."),
    case("schedule",
         "a rate that falls and is once 0; a parameter without a gradient, and one that has one in two steps only",
         _training(6, 2, 3, 4, rates=True, idle=True, weight_decay=0.25),
         "`lr` is read in every step. Without a gradient nothing happens, no decay either."),
    case("long", "20 steps, with a huge gradient in the second",
         _training(20, 3, 2, 7, betas=(0.875, 0.9375), lr=0.0625, weight_decay=0.125, idle=True, burst=24),
         "As above.", hidden_only=True, atol=5e-5),
]

MISTAKES = [
    wrong("decay_in_the_gradient",
          "The decay is added to the gradient: that is Adam with L2, not AdamW.",
          "What does $\\sqrt v$ do to a decay that is part of the gradient?",
          edit(_MEAN, "grad = p.grad + self.weight_decay * p; mean.mul_(beta1).add_(grad, alpha=1 - beta1)",
               _SQUARE, "square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)",
               _DECAY, "pass")),
    wrong("no_decay",
          "There is no weight decay.",
          "Where does `weight_decay` stand in your code?",
          edit(_DECAY, "pass")),
    wrong("decay_without_rate",
          "The decay is not multiplied by the learning rate.",
          "By which factor does a parameter shrink in one step?",
          edit(_DECAY, "p.mul_(1 - self.weight_decay)")),
    wrong("decay_grows",
          "The parameters grow by the decay.",
          "Which sign has $\\eta\\lambda$?",
          edit(_DECAY, "p.mul_(1 + self.lr * self.weight_decay)")),
    wrong("no_correction",
          "The two memories are not corrected: the first steps are wrong.",
          "What is $m$ after the first step, if $\\beta_1 = 0.9$: $g$ or $0.1 g$?",
          edit(_UNBIASED, "unbiased = mean", _ROOT, "root = square.sqrt()")),
    wrong("mean_not_corrected",
          "The running mean is not corrected.",
          "What is $m$ after the first step, if $\\beta_1 = 0.9$: $g$ or $0.1 g$?",
          edit(_UNBIASED, "unbiased = mean")),
    wrong("square_not_corrected",
          "The running mean of the squares is not corrected.",
          "What is $v$ after the first step, if $\\beta_2 = 0.999$?",
          edit(_ROOT, "root = square.sqrt()")),
    wrong("corrected_for_good",
          "The corrected memories are kept: they are corrected again in each step.",
          "What should stay in memory: $m$, or $m / (1 - \\beta_1^t)$?",
          edit(_UNBIASED, "unbiased = mean.div_(1 - beta1**self.steps)",
               _ROOT, "root = square.div_(1 - beta2**self.steps).sqrt()")),
    wrong("correction_stands_still",
          "The correction is the same in every step.",
          "What is $t$ in the second step?",
          edit("self.steps += 1", "self.steps = 1"),
          edit("parameter.grad = None", "parameter.grad, self.steps = None, 0", name="begins_anew")),
    wrong("counted_too_far",
          "Your $t$ starts at 2, or grows with each parameter.",
          "How often is one added in one step?",
          edit("self.steps = 0", "self.steps = 1")),
    wrong("counted_by_parameter",
          "Your $t$ grows with each parameter, not with each step.",
          "How often is one added in one step?",
          edit("self.steps += 1", "pass", _MEAN, f"self.steps += 1; {_MEAN}")),
    wrong("betas_exchanged",
          "The two betas have changed places.",
          "Which memory is the longer one?",
          edit("beta1, beta2 = self.betas", "beta2, beta1 = self.betas")),
    wrong("betas_ignored",
          "The betas have no influence.",
          "What does your code do with `betas=(0.75, 0.875)`?",
          edit("beta1, beta2 = self.betas", "beta1, beta2 = 0.9, 0.999")),
    wrong("eps_in_the_root",
          "eps is added under the root.",
          "Where does ε stand in the formula?",
          edit(_ROOT, "root = (square / (1 - beta2**self.steps) + self.eps).sqrt()", "(root + self.eps)", "root")),
    wrong("eps_before_the_correction",
          "You add `eps` to the root before its bias is corrected, so in early steps it counts for more.",
          "In algorithm 2, does `eps` join the corrected root or the other one?",
          edit("(root + self.eps)", "(root + self.eps / (1 - beta2**self.steps) ** 0.5)")),
    wrong("eps_ignored",
          "eps has no influence.",
          "What does your code do with `eps=0.125`?",
          edit("(root + self.eps)", "(root + 1e-8)")),
    wrong("no_root",
          "You divide by the mean square, not by its root.",
          "In which unit is a step, if the gradient is measured in metres?",
          edit("(square / (1 - beta2**self.steps)).sqrt()", "(square / (1 - beta2**self.steps))")),
    wrong("no_memory_of_the_mean",
          "The step goes in the direction of the newest gradient: the running mean has no influence.",
          "Where is $m$ used?",
          edit(_UNBIASED, "unbiased = p.grad")),
    wrong("not_squared",
          "The second memory holds absolute gradients or gradients, not squares.",
          "Of what is $v$ the running mean?",
          edit(_SQUARE, "square.mul_(beta2).add_(p.grad.abs(), alpha=1 - beta2)", ").sqrt()", ")")),
    wrong("sums_instead_of_means",
          "New gradients enter the memories with their full weight.",
          "Which factor stands before $g$ in the formula?",
          edit("alpha=1 - beta1", "alpha=1.0", "value=1 - beta2", "value=1.0")),
    wrong("upwards",
          "The parameters move up the slope.",
          "Which sign has the step?",
          edit("p.sub_(", "p.add_(")),
    wrong("rate_kept",
          "The rate of the beginning is used in all steps.",
          "Who reads `self.lr`, and when?",
          edit("self.steps = 0", "self.steps, self.first_rate = 0, lr",
               _STEP, "p.sub_(self.first_rate * unbiased / (root + self.eps))",
               _DECAY, "p.mul_(1 - self.first_rate * self.weight_decay)")),
    wrong("idle_decays",
          "A parameter without a gradient changes, or stops everything.",
          "What is asked for if the gradient is `None`?",
          edit("continue", "p.mul_(1 - self.lr * self.weight_decay); continue")),
    wrong("idle_memories_fade",
          "The memories of a parameter fade in steps in which it has no gradient.",
          "What is asked for if the gradient is `None`?",
          edit("continue", "mean.mul_(beta1); square.mul_(beta2); continue")),
    wrong("new_data",
          "Your parameters hold new tensors after a step: whoever has a view of the old ones, as a layer with tied "
          "weights may, sees nothing of it.",
          "Which operations of PyTorch write into the tensor that is there?",
          edit(_STEP, "p.data = p - self.lr * unbiased / (root + self.eps)")),
    wrong("one_memory_for_all",
          "All parameters share their memories, or a memory is one number.",
          "Of which shape are $m$ and $v$?",
          edit(_SQUARE, "square.mul_(beta2).add_(p.grad.square().mean(), alpha=1 - beta2)")),
    wrong("memories_lost",
          "The memories start at zero in every step.",
          "Where do they live between two steps?",
          edit(_MEAN, "mean.zero_(); square.zero_(); mean.add_(p.grad, alpha=1 - beta1)")),
    wrong("zeros_stay",
          "A number whose gradient is zero stays where it is, though its mean is not zero.",
          "What does $m$ still know of the steps before?",
          edit(_STEP, "p.sub_(self.lr * unbiased / (root + self.eps) * (p.grad != 0))")),
    wrong("parameters_used_up",
          "Nothing changes: the parameters were used up before `step`.",
          "How often can one run through a generator?",
          source("""
              class AdamW:
                  def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                      self.means = [torch.zeros_like(p) for p in parameters]
                      self.parameters = list(parameters)

                  def zero_grad(self):
                      pass

                  def step(self):
                      for p in self.parameters:
                          p.data -= p.grad
              """)),
    # Optimizers of PyTorch's that do the work.
    wrong("torch_inside",
          "PyTorch's AdamW does the work.",
          "Can you write the six lines yourself?",
          source("""
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
          source("""
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
              """, name="torchs_function"),
          source("""
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
              """, name="torchs_fused_step")),
    wrong("zero_is_default",
          "A rate of 0 counts as the default rate.",
          "What is `0.0 or 0.001`?",
          edit(_DECAY, "p.mul_(1 - (self.lr or 1e-3) * self.weight_decay)",
               _STEP, "p.sub_((self.lr or 1e-3) * unbiased / (root + self.eps))")),
    wrong("clipped",
          "Huge gradients are cut before they are used.",
          "Whose work is it to clip gradients?",
          edit("self.steps += 1", "self.steps += 1; nn.utils.clip_grad_norm_(self.parameters, 1e6)")),
    wrong("gradients_kept",
          "`zero_grad()` leaves gradients where they are, all of them or some.",
          "What does `backward()` do with a gradient that is already there?",
          edit("parameter.grad = None", "pass"),
          edit("for parameter in self.parameters:", "for parameter in self.parameters[:1]:", name="first_cleared")),
    wrong("zero_skipped",
          "A gradient of zeros counts as none: the memories stay as they are, and so does the parameter.",
          "What do $m$ and $v$ become if $g = 0$?",
          edit("if p.grad is None:", "if p.grad is None or not p.grad.any():")),
]

ACCEPTED = [
    right("by_dictionary", source("""
        class AdamW:
            def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                self.parameters = list(parameters)
                self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
                self.state, self.t = {}, 0

            def zero_grad(self):
                for p in self.parameters:
                    p.grad = None

            def step(self):
                self.t += 1
                b1, b2 = self.betas
                for p in self.parameters:
                    if p.grad is None:
                        continue
                    m, v = self.state.get(p, (0.0, 0.0))
                    m = b1 * m + (1 - b1) * p.grad
                    v = b2 * v + (1 - b2) * p.grad ** 2
                    self.state[p] = m, v
                    m_hat, v_hat = m / (1 - b1 ** self.t), v / (1 - b2 ** self.t)
                    decay = self.lr * self.weight_decay * p.data
                    p.data -= decay + self.lr * m_hat / (v_hat ** 0.5 + self.eps)
        """)),
    right("corrected_rate", edit(_UNBIASED, "rate = self.lr / (1 - beta1**self.steps)",
                                 _ROOT, "root = square.sqrt() / math.sqrt(1 - beta2**self.steps)",
                                 _STEP, "p.addcdiv_(mean, root + self.eps, value=-rate)")),
    right("lerp", edit(_MEAN, "mean.lerp_(p.grad, 1 - beta1)",
                       _SQUARE, "square.copy_(beta2 * square + (1 - beta2) * p.grad.square())")),
]

EXERCISE = Specification(
    name="since_2017/adamw", title="AdamW", target="AdamW",
    aspects={"learning": 1.0},  # in place; the numbers are most of it
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
