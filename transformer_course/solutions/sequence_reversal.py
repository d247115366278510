"""Built from notebooks/05_sequence_reversal.py by `make build`; do not edit."""

from collections.abc import Callable, Iterable, Sequence
from jaxtyping import Float, Int
from pathlib import Path
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from tqdm.auto import tqdm
from transformer_course.library.text import BOS, EOS, FIRST, PAD, UNK, glue, pieces
from transformer_course.solutions import encoder_decoder as encoder_decoder
import functools
import math
import os
import random
import sys
import torch
import torch.nn.functional as F


def random_sequences(
    count: int, rng: random.Random, longest: int = 10, symbols: int = 10
) -> list[list[int]]:
    """Sequences of random length with random content.

    Args:
        count: how many sequences.
        rng: the source of all randomness.
        longest: lengths are 1, ..., longest, each equally likely.
        symbols: ids are FIRST, ..., FIRST + symbols - 1, each equally likely.

    Returns:
        A list of `count` lists of ids.
    """
    ids = range(FIRST, FIRST + symbols)
    return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]


def new_model(vocab_size: int = 14) -> nn.Module:
    """An untrained Transformer for this unit: small, pre-norm, small embeddings."""
    d_model = 32
    model = encoder_decoder.Transformer(
        vocab_size, vocab_size, d_model, num_heads=2, num_layers=1, d_ff=64,
        norm_first=True,
    )  # fmt: skip
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=d_model**-0.5)
    return model


def make_batch(
    sequences: Sequence[list[int]],
) -> tuple[Int[Tensor, "B n+1"], Int[Tensor, "B n+2"]]:
    """Source and target rows of a batch, with special tokens and padding.

    Args:
        sequences: B lists of ids, none of them empty.

    Returns:
        The source and the target, int64, in this order; n is the length of the longest
        sequence.
    """
    sources = [torch.tensor([*ids, EOS]) for ids in sequences]
    targets = [torch.tensor([BOS, *ids[::-1], EOS]) for ids in sequences]
    pad = functools.partial(pad_sequence, batch_first=True, padding_value=PAD)
    return pad(sources), pad(targets)  # (B, n + 1), (B, n + 2)


def masked_loss(
    logits: Float[Tensor, "B L V"], labels: Int[Tensor, "B L"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy over the real tokens.

    Args:
        logits: unnormalised scores.
        labels: the correct ids, int64; PAD where there is none.

    Returns:
        The loss.
    """
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


def rate_factor(step: int, warmup: int, steps: int, floor: float = 0.02) -> float:
    """The fraction of the peak learning rate at one step: warm-up, then cosine.

    Args:
        step: counted from 0; may be beyond the last one, steps - 1.
        warmup: steps of the linear warm-up, at least 1.
        steps: how many steps the training run has, more than warmup.
        floor: the fraction that is left from step ``steps`` on.

    Returns:
        A number between 0 and 1.
    """
    if step < warmup:
        return (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (steps - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2


def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    source: Int[Tensor, "B Ls"],
    target: Int[Tensor, "B L"],
    max_norm: float = 1.0,
    loss_function: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> float:
    """One step of training with teacher forcing.

    Args:
        model: called as `model(source, decoder_input)`, gives logits `(B, L - 1, V)`.
        optimizer: of the model's parameters.
        source: source rows.
        target: target rows with BOS and EOS.
        max_norm: the largest norm of all gradients together.
        loss_function: maps logits `(B, L - 1, V)` and labels `(B, L - 1)` to the loss;
            None: masked_loss.

    Returns:
        The loss before the step.
    """
    model.train()
    decoder_input, labels = target[:, :-1], target[:, 1:]  # (B, L - 1) each
    loss = (loss_function or masked_loss)(model(source, decoder_input), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()


def watched(steps: int) -> bool:
    """Whether somebody may be waiting: not in grading, nor for a few steps."""
    in_notebook = "ipykernel" in sys.modules
    return steps > 50 and in_notebook and "NBGRADER_EXECUTION" not in os.environ


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    next_batch: Callable[[], tuple[Tensor, Tensor]],
    steps: int,
    warmup: int,
    loss_function: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> list[float]:
    """Train a model with warm-up and cosine decay.

    Args:
        model: see training_step.
        optimizer: its learning rate is the peak of the schedule.
        next_batch: returns a new source and target with each call.
        steps: number of training steps.
        warmup: how many of them are warm-up.
        loss_function: see training_step.

    Returns:
        The loss of each step.
    """
    peak = optimizer.param_groups[0]["lr"]
    losses = []
    for step in tqdm(range(steps), disable=not watched(steps), delay=1, leave=False):
        for group in optimizer.param_groups:
            group["lr"] = peak * rate_factor(step, warmup, steps)
        source, target = next_batch()
        loss = training_step(
            model, optimizer, source, target, loss_function=loss_function
        )
        losses.append(loss)
    return losses


def evaluating(decode: Callable) -> Callable:
    """Decode in evaluation mode without gradients, and restore both afterwards."""

    @functools.wraps(decode)
    def wrapped(model: nn.Module, *arguments: object, **named: object):
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return decode(model, *arguments, **named)
        finally:
            model.train(was_training)

    return wrapped


@evaluating
def greedy_sequence(
    model: nn.Module, source: Int[Tensor, "1 Ls"], max_len: int
) -> list[int]:
    """The most probable token again and again, until EOS.

    Args:
        model: called as `model(source, tokens)`, gives logits `(1, T, V)`.
        source: one source row.
        max_len: the largest number of tokens to write, EOS included.

    Returns:
        The ids that were written, without BOS, with EOS.
    """
    tokens = [BOS]
    while tokens[-1] != EOS and len(tokens) <= max_len:
        logits = model(source, source.new_tensor([tokens]))  # (1, T, V)
        tokens.append(int(logits[0, -1].argmax()))
    return tokens[1:]


@evaluating
def greedy_decode(
    model: nn.Module, source: Int[Tensor, "B Ls"], max_len: int
) -> Int[Tensor, "B T"]:
    """The most probable token again and again, until each row has EOS.

    Args:
        model: called as `model(source, tokens)`, gives logits `(B, T, V)`.
        source: source rows.
        max_len: the largest number of tokens to write, EOS included.

    Returns:
        The tokens that were written, int64: without BOS, with EOS, and PAD after it. T
        is at most max_len.
    """
    tokens = source.new_full((source.size(0), 1), BOS)  # (B, 1)
    done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)  # (B,)
    for _ in range(max_len):
        chosen = model(source, tokens)[:, -1].argmax(dim=-1)  # (B,)
        chosen = chosen.masked_fill(done, PAD)
        tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)  # (B, T + 1)
        done |= chosen == EOS
        if done.all():
            break
    return tokens[:, 1:]


def trained_model(seed: int = 0, weights: str = "reversal.safetensors") -> nn.Module:
    """A model that reverses sequences of digits, loaded from a file or trained.

    Args:
        seed: of the initial weights and of the training data.
        weights: the file with trained weights; it need not exist.

    Returns:
        A module called as `model(source, decoder_input)`, which gives logits
        `(B, Lt, 14)`.
    """
    torch.manual_seed(seed)
    model = new_model()
    if Path(weights).is_file():
        load_model(model, weights)
        return model
    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=2e-2, betas=(0.9, 0.98), fused=True
    )
    fit(
        model, optimizer, lambda: make_batch(random_sequences(32, rng)),
        steps=350, warmup=70,
    )  # fmt: skip
    return model


def antidiagonal_share(
    weights: Float[Tensor, "B Lt Ls"], lengths: Int[Tensor, "B"]
) -> float:
    """How often the largest weight is on the anti-diagonal.

    Args:
        weights: cross-attention weights of one head.
        lengths: the number of symbols in each source row, int64: without EOS and
            padding; less than Lt and Ls.

    Returns:
        The fraction of the steps t < lengths[b], over the whole batch, whose largest
        weight is at lengths[b] - 1 - t.
    """
    steps = torch.arange(weights.size(1))  # (Lt,)
    wanted = lengths.unsqueeze(1) - 1 - steps  # (B, Lt), negative after the last symbol
    hits = (weights.argmax(dim=-1) == wanted)[wanted >= 0]
    return hits.double().mean().item()


def with_temperature(
    logits: Float[Tensor, "*batch V"], temperature: float
) -> Float[Tensor, "*batch V"]:
    """The logits, divided by a temperature above 0."""
    if temperature <= 0:
        raise ValueError(f"the temperature must be above 0, not {temperature}")
    return logits / temperature


def keep_top_k(
    scores: Float[Tensor, "*batch V"], top_k: int
) -> Float[Tensor, "*batch V"]:
    """The `top_k` largest scores of each row; all others are -inf."""
    least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]
    return scores.masked_fill(scores < least, -math.inf)


def keep_top_p(
    scores: Float[Tensor, "*batch V"], top_p: float
) -> Float[Tensor, "*batch V"]:
    """The largest scores that together have probability `top_p`; all others -inf."""
    probabilities, indices = scores.softmax(dim=-1).sort(dim=-1, descending=True)
    before = probabilities.cumsum(dim=-1) - probabilities  # (..., V), ranked higher
    dropped = torch.zeros_like(before, dtype=torch.bool)
    dropped = dropped.scatter(-1, indices, before >= top_p)
    return scores.masked_fill(dropped, -math.inf)


def sampling_distribution(
    logits: Float[Tensor, "*batch V"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch V"]:
    """The probabilities from which the next token is sampled.

    Args:
        logits: scores of the vocabulary; not modified.
        temperature: above 0; the logits are divided by it.
        top_k: how many tokens stay, at least 1; None: all.
        top_p: how much probability must stay, above 0 and at most 1; None: all of it.

    Returns:
        Probabilities; each row sums to 1, dropped tokens have 0.

    Raises:
        ValueError: the temperature is 0 or negative.
    """
    scores = with_temperature(logits, temperature)
    if top_k is not None:
        scores = keep_top_k(scores, top_k)
    if top_p is not None:
        scores = keep_top_p(scores, top_p)
    return scores.softmax(dim=-1)


def perplexity(
    batches: Iterable[tuple[Float[Tensor, "B L V"], Int[Tensor, "B L"]]],
) -> tuple[float, float]:
    """How unsure a model is about a text, per real token.

    Args:
        batches: pairs of logits and labels, int64, PAD where there is none; B and L
            differ from batch to batch. Some batches may have no real label at all.

    Returns:
        The mean of -log p over all real tokens, in nats, and its exponential; floats.
    """
    total, count = 0.0, 0
    for logits, labels in batches:
        real = int((labels != PAD).sum())
        if real:
            total += float(masked_loss(logits, labels)) * real
        count += real
    return total / count, math.exp(total / count)
