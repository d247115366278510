"""Built from notebooks/08_assistant.py by `make build`; do not edit."""

from collections.abc import Callable
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformer_course.solutions import sequence_reversal as reversal
import copy
import math
import torch
import torch.nn.functional as F


IGNORE = -100  # the label that F.cross_entropy leaves out


def chat_example(
    turns: list[tuple[str, str]], encode: Callable[[str], list[int]]
) -> tuple[Int[Tensor, "L"], Int[Tensor, "L"]]:
    """A conversation as SmolLM2 reads it, and what is learnt from it.

    Args:
        turns: pairs of a role ("system", "user" or "assistant") and its text.
        encode: from a text to a list of ids; each marker becomes one id.

    Returns:
        ids, labels: int64; a label of `IGNORE` is not learnt.
    """
    ids, labels = [], []
    for role, text in turns:
        header = encode(f"<|im_start|>{role}\n")
        body = encode(f"{text}<|im_end|>")
        newline = encode("\n")
        learnt = body if role == "assistant" else [IGNORE] * len(body)
        ids += header + body + newline
        labels += [IGNORE] * len(header) + learnt + [IGNORE] * len(newline)
    return torch.tensor(ids), torch.tensor(labels)


class LoRALinear(nn.Module):
    """A frozen linear layer plus a trainable update of low rank (Hu et al. 2021).

    Args:
        base: the layer to tune, from d_in to d_out features.
        rank: of the update.
        alpha: the update is multiplied by alpha / rank.
    """

    def __init__(self, base: nn.Linear, rank: int = 8, alpha: float = 16.0):
        super().__init__()
        d_out, d_in = base.weight.shape
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.b = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """The layer's output plus the low-rank update."""
        change = x @ self.a.T @ self.b.T  # (..., d_out)
        return self.base(x) + self.scale * change

    def merged(self) -> nn.Linear:
        """One plain layer that computes the same."""
        layer = copy.deepcopy(self.base)
        with torch.no_grad():
            layer.weight += self.scale * self.b @ self.a  # (d_out, d_in)
        return layer


def dpo_loss(
    chosen: Float[Tensor, "N"],
    rejected: Float[Tensor, "N"],
    reference_chosen: Float[Tensor, "N"],
    reference_rejected: Float[Tensor, "N"],
    beta: float = 0.1,
) -> Float[Tensor, ""]:
    """The loss of direct preference optimisation (Rafailov et al. 2023, equation 7).

    Args:
        chosen, rejected: the model's log-probabilities of the answers of each pair.
        reference_chosen, reference_rejected: those of the reference.
        beta: the price of moving away from the reference.

    Returns:
        The loss.
    """
    better = chosen - reference_chosen  # (N,)
    worse = rejected - reference_rejected  # (N,)
    return -F.logsigmoid(beta * (better - worse)).mean()


def group_advantages(
    rewards: Float[Tensor, "P S"], eps: float = 1e-4
) -> Float[Tensor, "P S"]:
    """How much better each answer is than its group (Shao et al. 2024, section 4.1).

    Args:
        rewards: of S answers to each of P prompts.
        eps: added to the standard deviation.

    Returns:
        The advantage of each answer.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)  # (P, S)
    spread = centred.square().mean(dim=-1, keepdim=True).sqrt()  # (P, 1)
    return centred / (spread + eps)


def grpo_loss(
    logits: Float[Tensor, "N T V"],
    written: Int[Tensor, "N T"],
    advantages: Float[Tensor, "N"],
) -> Float[Tensor, ""]:
    """The loss of sampled answers, weighted with their advantages (Shao et al. 2024).

    Args:
        logits: for each token of the answers.
        written: the answers, int64; `reversal.PAD` after the end.
        advantages: one per answer.

    Returns:
        The loss.
    """
    real = written != reversal.PAD  # (N, T)
    log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)
    means = (log_p * real).sum(dim=1) / real.sum(dim=1)  # (N,)
    return -(advantages * means).mean()


def assert_learns_answers(step: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Pass quietly if a training step learns the answers and nothing else.

    Args:
        step: from logits, ids and answers to loss and gradient, like `published_step`.

    Raises:
        AssertionError: it learns something else.
    """
    logits, ids = torch.randn(3, 12, 7), torch.randint(7, (3, 12))
    answers = torch.zeros(3, 12, dtype=torch.bool)
    for row, begin, end in ((0, 3, 6), (0, 9, 11), (1, 2, 9), (2, 5, 7), (2, 10, 12)):
        answers[row, begin:end] = True
    leaf, learnt = logits.clone().requires_grad_(), answers[:, 1:]
    right = F.cross_entropy(leaf[:, :-1][learnt], ids[:, 1:][learnt])
    right.backward()
    loss, gradient = step(logits, ids, answers)
    assert (loss - right.detach()).abs() < 1e-4, "the loss differs"
    assert (gradient - leaf.grad).abs().max() < 1e-4, "the gradient differs"


def quantize_per_channel(
    weight: Float[Tensor, "d_out d_in"], bits: int = 8
) -> tuple[Int[Tensor, "d_out d_in"], Float[Tensor, "d_out 1"]]:
    """Quantise each row by its largest absolute value (Dettmers et al. 2022).

    Args:
        weight: the matrix of a linear layer.
        bits: for each code, from 2 to 8.

    Returns:
        The codes, and the scale of each row: `codes * scales` is close to `weight`.
    """
    largest = 2 ** (bits - 1) - 1
    peaks = weight.abs().amax(dim=1, keepdim=True)  # (d_out, 1)
    scales = torch.where(peaks > 0, peaks / largest, 1.0)  # (d_out, 1)
    codes = (weight / scales).round().to(torch.int8)  # (d_out, d_in)
    return codes, scales


def accept_rule(
    p: Float[Tensor, "*batch V"], q: Float[Tensor, "*batch V"]
) -> tuple[Float[Tensor, "*batch V"], Float[Tensor, "*batch V"]]:
    """Accept guesses so that the large model's distribution is kept.

    Leviathan et al. 2023, *Fast Inference from Transformers via Speculative Decoding*,
    section 2.3.

    Args:
        p: distributions of the large model.
        q: distributions from which the cheap model samples its guesses.

    Returns:
        The acceptance probability of each token, and the residual distribution.
    """
    accept = torch.where(q > 0, p / q, 1.0).clamp(max=1)  # (*batch, V)
    excess = (p - q).clamp(min=0)  # (*batch, V)
    total = excess.sum(dim=-1, keepdim=True)  # (*batch, 1)
    return accept, torch.where(total > 0, excess / total, p)


def judge_guesses(
    p: Float[Tensor, "k+1 V"],
    q: Float[Tensor, "k V"],
    guesses: Int[Tensor, "k"],
    uniforms: Float[Tensor, "k"],
) -> tuple[Int[Tensor, ""], Float[Tensor, "V"]]:
    """Keep guesses up to the first that is rejected (Leviathan et al. 2023).

    Args:
        p: distributions of the large model, before each guess and after the last.
        q: distributions from which the guesses were sampled.
        guesses: the tokens that the cheap model guessed, int64.
        uniforms: random numbers from 0 to 1, one for each guess.

    Returns:
        How many guesses are kept, and the distribution of the next token.
    """
    accept, residual = accept_rule(p[:-1], q)
    chances = accept.gather(-1, guesses[:, None])[:, 0]  # (k,)
    rejected = (uniforms >= chances).nonzero()[:, 0]  # positions
    if len(rejected) == 0:
        return torch.tensor(len(guesses)), p[-1]
    return rejected[0], residual[rejected[0]]


def choice_scores(
    log_p: Float[Tensor, "N T"],
    alone: Float[Tensor, "N T"],
    real: Bool[Tensor, "N T"],
) -> tuple[Float[Tensor, "N"], Float[Tensor, "N"], Float[Tensor, "N"]]:
    """Score the choices of a question in three ways (Brown et al. 2020, section 2.4).

    Args:
        log_p: log-probability of each token of a choice after the question.
        alone: the same tokens' log-probabilities without the question.
        real: False for padding after the end of a choice.

    Returns:
        Sums, means per token, and gains.
    """
    log_p, alone = (x.masked_fill(~real, 0) for x in (log_p, alone))  # (N, T)
    sums = log_p.sum(dim=1)  # (N,)
    return sums, sums / real.sum(dim=1), sums - alone.sum(dim=1)


def top_passages(
    question: Float[Tensor, "d_model"], passages: Float[Tensor, "N d_model"], k: int
) -> tuple[Float[Tensor, "k"], Int[Tensor, "k"]]:
    """The passages whose vectors are nearest to a question's, by their cosine.

    Args:
        question: its vector.
        passages: their vectors.
        k: how many to return, at most N.

    Returns:
        The largest cosines in falling order, and the indices of their passages.
    """
    passages = F.normalize(passages, dim=-1)  # (N, d_model)
    cosines = passages @ F.normalize(question, dim=-1)  # (N,)
    best = cosines.argsort(descending=True)[:k]
    return cosines[best], best
