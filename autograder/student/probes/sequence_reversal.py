"""Probes of unit 05, sequence reversal: scripted models log what they are asked."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from autograder.student.exercise import Answers, WrongAnswer, plain
from autograder.student.otherside import Ask, OtherSide, given
from autograder.student.probes import (
    Inputs,
    Seen,
    describe,
    load_weights,
    probe,
    returned,
    tensor,
    writing,  # noqa: F401 - registers its probes
)

PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4
VOCABULARY = 14  # of the course's model: the specials and ten digits


# --- data, loss, schedule -------------------------------------------------------------


class _Statistics(OtherSide):
    """What occurs in the sequences, and whether as often as chance has it."""

    MOST = 1 << 20  # ids of one drawing

    def conclude(self, answers: Answers) -> Seen:
        symbols = int(self.inputs["symbols"])
        drawn, second, again = (
            self._rows(name, answers) for name in ("drawn", "second", "again")
        )
        ids = [i for row in drawn for i in row]
        starts = [row[0] for row in drawn if row]
        pairs = [pair for row in drawn for pair in pairwise(row)]
        rising = (symbols - 1) / symbols**2  # the chance that a successor follows
        return {
            "number of sequences": torch.tensor(len(drawn)),
            "lengths that occur": torch.tensor(sorted({len(row) for row in drawn})),
            "ids that occur": torch.tensor(sorted(set(ids))),
            "all lengths equally often": _even(map(len, drawn)),
            "all ids equally often": _even(ids),
            "all ids equally often at the start": _even(starts),
            "equal neighbours": _likely(
                sum(a == b for a, b in pairs), len(pairs), 1 / symbols
            ),
            "rising neighbours": _likely(
                sum(a + 1 == b for a, b in pairs), len(pairs), rising
            ),
            "the same from the same seed": torch.tensor(again == drawn),
            "others with the next call": torch.tensor(second != drawn),
        }

    def _rows(self, name: str, answers: Answers) -> list[list[int]]:
        ids = given(answers, f"{name}, ids", 1, [torch.int64], self.MOST)
        lengths = given(answers, f"{name}, lengths", 1, [torch.int64], self.MOST)
        if int(lengths.clamp(min=0).sum()) != len(ids) or bool((lengths < 0).any()):
            raise WrongAnswer("expected as many ids as the sequences are long")
        return [row.tolist() for row in ids.split(lengths.tolist())]


@probe("sequence_reversal/random_sequences", other=_Statistics)
def random_sequences(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """Two drawings of one generator, and the first once more from the same seed."""
    names = ("count", "longest", "symbols", "seed")
    count, longest, symbols, seed = (int(inputs[name]) for name in names)

    def draw(name: str, rng: random.Random) -> Seen:
        rows = _lists(function(count, rng, longest, symbols))
        return {
            f"{name}, ids": torch.tensor(
                [i for row in rows for i in row], dtype=torch.int64
            ),
            f"{name}, lengths": torch.tensor([len(row) for row in rows]),
        }

    rng = random.Random(seed)
    drawings = draw("drawn", rng) | draw("second", rng)
    return drawings | draw("again", random.Random(seed))


def _lists(result: object) -> list[list[int]]:
    """A list of lists of integers, or a word on what it is instead."""
    if not isinstance(result, list | tuple):
        raise WrongAnswer(f"expected a list of lists of ids, got {describe(result)}")
    for row in result:
        if not isinstance(row, list | tuple):
            raise WrongAnswer(f"expected each sequence as a list, got {describe(row)}")
        for item in row:
            if not isinstance(item, int):
                raise WrongAnswer(f"expected ids as Python integers, got {item!r}")
    return [list(row) for row in result]


def _even(values: Iterable[int]) -> torch.Tensor:
    """Whether all values that occur do so equally often, within five deviations."""
    counts = Counter(values).values()
    mean = sum(counts) / max(len(counts), 1)
    return torch.tensor(all(abs(n - mean) <= 5 * math.sqrt(mean) for n in counts))


def _likely(hits: int, trials: int, chance: float) -> str:
    """Whether there are about as many hits as chance has it, within five deviations."""
    expected = trials * chance
    if abs(hits - expected) <= 5 * math.sqrt(expected):
        return "as often as chance has it"
    return "too often" if hits > expected else "too rarely"


@probe("sequence_reversal/make_batch")
def make_batch(function: Any, inputs: Inputs) -> Seen:
    """Source and target of the sequences "7 5 9; 6", and the sequences afterwards."""
    rows = inputs["sequences"].split(";")
    sequences = [[int(i) for i in row.split()] for row in rows]
    source, target = returned(function(sequences), "source", "target")
    afterwards = "; ".join(" ".join(map(str, row)) for row in sequences)
    return {
        "source": tensor(source, "the source"),
        "target": tensor(target, "the target"),
        "sequences afterwards": afterwards,
    }


@probe("sequence_reversal/shift")
def shift(function: Any, inputs: Inputs) -> Seen:
    """The labels, the decoder's input where there are labels, the target afterwards."""
    target = inputs["target"]
    given, labels = returned(function(target), "decoder input", "labels")
    labels = tensor(labels, "the labels")
    given = tensor(given, "the decoder input")
    return {
        "labels": labels,
        "decoder input": _where_labelled(given, labels),
        "target afterwards": target,
    }


def _where_labelled(given: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """A decoder input with PAD where no label is: what stands there does not matter."""
    if given.shape != labels.shape:
        return given
    return given.masked_fill(labels == PAD, PAD)


@probe("sequence_reversal/masked_loss")
def masked_loss(function: Any, inputs: Inputs) -> Seen:
    """The loss, its gradient with respect to the logits, and both inputs afterwards."""
    logits, labels = inputs["logits"], inputs["labels"]
    loss = tensor(function(logits, labels), "the loss")
    leaf = logits.clone().requires_grad_()
    again = function(leaf * 1, labels)  # a leaf could not be changed in place
    gradient = torch.zeros_like(leaf)
    if again.requires_grad and again.numel() == 1:
        found = torch.autograd.grad(again.sum(), leaf, allow_unused=True)[0]
        gradient = gradient if found is None else found
    return {
        "loss": loss,
        "gradient of the logits": gradient,
        "logits afterwards": logits,
        "labels afterwards": labels,
    }


@probe("sequence_reversal/learning_rate")
def learning_rate(function: Any, inputs: Inputs) -> Seen:
    """The factors at the steps asked for, with the default floor if none is given."""
    warmup, steps = int(inputs["warmup"]), int(inputs["steps"])
    floor = [float(inputs["floor"])] if "floor" in inputs else []
    asked = inputs["asked"].tolist()
    factors = [_number(function(s, warmup, steps, *floor), "the factor") for s in asked]
    return {"factors": torch.tensor(factors, dtype=torch.get_default_dtype())}


def _number(result: object, name: str) -> float:
    if isinstance(result, torch.Tensor) and result.numel() == 1:
        return float(result)
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise WrongAnswer(f"expected {name} as one number, got {describe(result)}")
    return float(result)


# --- training -------------------------------------------------------------------------


class _Scripted(nn.Module):
    """A model of two tables, which logs what it is given.

    Logits at a position depend on the token there and on the mean of the source.
    """

    def __init__(self, inputs: Inputs):
        super().__init__()
        self.table = nn.Parameter(inputs["table"])  # (V, V)
        self.mix = nn.Parameter(inputs["mix"])  # (V, V)
        self.sources: list[torch.Tensor] = []
        self.inputs: list[torch.Tensor] = []
        self.modes: list[bool] = []

    def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        self.sources.append(source.clone())
        self.inputs.append(tokens.clone())
        self.modes.append(self.training)
        return self.table[tokens] + self.mix[source].mean(dim=1, keepdim=True)


class _LoggingSGD(torch.optim.SGD):
    """Plain gradient descent that logs the rates of each step, (groups,)."""

    def __init__(self, groups: Sequence[dict[str, Any]], lr: float):
        super().__init__(groups, lr=lr)
        self.rates: list[list[float]] = []

    def step(self, closure: Any = None) -> Any:
        self.rates.append([group["lr"] for group in self.param_groups])
        return super().step(closure)


@probe("sequence_reversal/training_step")
def training_step(function: Any, inputs: Inputs) -> Seen:
    """Losses, what the model was shown, its mode, and its tables after some steps."""
    model = _Scripted(inputs).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=float(inputs["rate"]))
    for parameter in model.parameters():  # of somebody who came before
        parameter.grad = torch.ones_like(parameter)
    bound = [float(inputs["max_norm"])] if "max_norm" in inputs else []
    losses = [
        function(model, optimizer, source, target, *bound)
        for source, target in zip(inputs["source"], inputs["target"], strict=True)
    ]
    if not model.inputs:
        raise WrongAnswer("the model was never called")
    labels = inputs["target"][0][:, 1:]
    return {
        "decoder input": _where_labelled(model.inputs[0], labels),
        "source that the model sees": model.sources[0],
        "kind of the loss": _kind(losses[0]),
        "losses": _floats(losses),
        "in training mode": torch.tensor(all(model.modes)),
        "first table afterwards": model.table,
        "second table afterwards": model.mix,
    }


def _kind(loss: object) -> str:
    return "a float" if isinstance(loss, float) else describe(loss)


def _floats(losses: Sequence[object]) -> torch.Tensor:
    numbers = [_number(loss, "the loss") for loss in losses]
    return torch.tensor(numbers, dtype=torch.get_default_dtype())


@probe("sequence_reversal/fit")
def fit(function: Any, inputs: Inputs) -> Seen:
    """The rates of all steps, the batches drawn, the losses, the tables afterwards."""
    model = _Scripted(inputs)
    groups = [{"params": [model.table]}, {"params": [model.mix]}]
    optimizer = _LoggingSGD(groups, lr=float(inputs["rate"]))
    batches = list(zip(inputs["source"], inputs["target"], strict=True))
    drawn = 0

    def next_batch() -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal drawn
        drawn += 1
        return batches[(drawn - 1) % len(batches)]

    steps, warmup = int(inputs["steps"]), int(inputs["warmup"])
    losses = function(model, optimizer, next_batch, steps, warmup)
    if not isinstance(losses, list | tuple) or not losses:
        raise WrongAnswer(f"expected a list of losses, got {describe(losses)}")
    rates = torch.tensor(optimizer.rates, dtype=torch.get_default_dtype())
    return {
        "learning rates": rates.reshape(len(rates), -1),
        "batches drawn": torch.tensor(drawn),
        "kind of a loss": _kind(losses[0]),
        "losses": _floats(losses),
        "first table afterwards": model.table,
        "second table afterwards": model.mix,
    }


# --- decoding -------------------------------------------------------------------------


class _Lines(OtherSide):
    """Knows its lines: token t of a row, if it is fed all tokens before.

    Whoever feeds something else hears the last id of the vocabulary. A row is known by
    its source, so that rows may be decoded in any order or number.
    """

    keeps = frozenset({"lines", "noise"})
    MOST = 1 << 16  # numbers of one question

    def answer(self, question: Answers) -> Seen:
        source = given(question, "source", 2, [torch.int64], self.MOST)
        tokens = given(question, "tokens", 2, [torch.int64], self.MOST)
        known, noise = self.inputs["source"], self.inputs["noise"]
        if source.shape != (len(tokens), known.size(1)):
            raise WrongAnswer("the model was given a source of another shape")
        found = torch.eq(source[:, None], known).all(-1)  # (B, rows)
        if not bool(found.any(-1).all()):
            raise WrongAnswer("the model was given a source that nobody asked it about")
        lines = self.inputs["lines"][found.int().argmax(-1)]  # (B, most)
        width = tokens.size(1)
        if not 0 < width <= min(len(noise), lines.size(1)):
            raise WrongAnswer(f"the model was asked for token {width} of a row")
        logits = noise[:width].repeat(len(source), 1, 1)  # (B, T, V)
        best = torch.full_like(tokens, logits.size(-1) - 1)
        for t in range(width):
            right = self._fed_right(tokens[:, : t + 1], lines)
            best[:, t] = torch.where(right, lines[:, t], best[:, t])
        lift = torch.full_like(best[..., None], 3, dtype=logits.dtype)
        return {"logits": logits.scatter_add(-1, best[..., None], lift)}

    @staticmethod
    def _fed_right(tokens: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
        """(B,): BOS, then the lines so far; after EOS anything goes."""
        said = lines[:, : tokens.size(1) - 1]
        over = (said == EOS).int().cumsum(1) > 0
        over = over.roll(1, dims=1)
        over[:, :1] = False
        same = (tokens[:, 1:] == said) | over
        return (tokens[:, 0] == BOS) & same.all(1)


class _Teller(nn.Module):
    """A model that asks for its lines; it notes its mode each time."""

    def __init__(self, ask: Ask):
        super().__init__()
        self._ask = ask
        self.modes: list[bool] = []
        self.gradients: list[bool] = []

    def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        self.modes.append(self.training)
        self.gradients.append(torch.is_grad_enabled())
        logits: torch.Tensor = self._ask({"source": source, "tokens": tokens})["logits"]
        return logits

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """As the Transformer of unit 4, for who reads the source once only."""
        self.modes.append(self.training)
        return torch.zeros(*source.shape, 1)  # (B, Ls, 1): nothing is read from it

    def decode(
        self, tokens: torch.Tensor, memory: torch.Tensor, source: torch.Tensor
    ) -> torch.Tensor:
        logits: torch.Tensor = self(source, tokens)
        return logits


@probe("sequence_reversal/greedy_decode", other=_Lines)
def greedy_decode(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """The tokens, the mode during and after, gradients, and the source afterwards."""
    source, max_len = inputs["source"], int(inputs["max_len"])
    model = _Teller(ask)
    model.train(bool(inputs["training"]))
    tokens = tensor(function(model, source, max_len), "the tokens")
    return {
        "tokens": tokens,
        "in training mode while decoding": torch.tensor(any(model.modes)),
        "with gradients while decoding": torch.tensor(any(model.gradients)),
        "in training mode afterwards": torch.tensor(model.training),
        "source afterwards": source,
    }


@probe("sequence_reversal/exact_match")
def exact_match(function: Any, inputs: Inputs) -> Seen:
    """The share, and both tensors afterwards."""
    decoded, labels = inputs["decoded"], inputs["labels"]
    share = _number(function(decoded, labels), "the share")
    return {
        "share": torch.tensor(share, dtype=torch.get_default_dtype()),
        "decoded afterwards": decoded,
        "labels afterwards": labels,
    }


@probe("sequence_reversal/antidiagonal_share")
def antidiagonal_share(function: Any, inputs: Inputs) -> Seen:
    """The share, and both tensors afterwards."""
    weights, lengths = inputs["weights"], inputs["lengths"]
    share = _number(function(weights, lengths), "the share")
    return {
        "share": torch.tensor(share, dtype=torch.get_default_dtype()),
        "weights afterwards": weights,
        "lengths afterwards": lengths,
    }


@probe("sequence_reversal/word_ids")
def word_ids(function: Any, inputs: Inputs) -> Seen:
    """The words in the order of their ids, and how many there are."""
    found = function(inputs["sentences"].split("\n"))
    if not isinstance(found, dict):
        raise WrongAnswer(f"expected a dictionary, got {describe(found)}")
    pairs = sorted(found.items(), key=lambda pair: (str(pair[1]), str(pair[0])))
    listed = ", ".join(f"{word}={number}" for word, number in pairs)
    return {"number of words": torch.tensor(len(found)), "ids": listed}


class _Layer(nn.Module):
    """Multi-head attention with the names of unit 3; logs how much it projects."""

    def __init__(self, inputs: Inputs):
        super().__init__()
        d_model, self.num_heads = len(inputs["weights.w_q.bias"]), int(inputs["heads"])
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )
        self.most = 0
        for layer in (self.w_k, self.w_v):
            layer.register_forward_hook(self._log)

    def _log(
        self, layer: nn.Module, given: tuple[Any, ...], result: torch.Tensor
    ) -> None:
        self.most = max(self.most, given[0].size(1))

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        q, k, v = (
            rows.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for rows in (self.w_q(query), self.w_k(key), self.w_v(value))
        )
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(2)), weights


@probe("sequence_reversal/attend_with_cache")
def attend_with_cache(function: Any, inputs: Inputs) -> Seen:
    """Outputs step by step, of another sequence, and from an older cache again."""
    layer = _Layer(inputs)
    load_weights(layer, inputs)
    x, other = inputs["x"], inputs["other"]
    with torch.no_grad():
        outputs, caches = _walk(function, layer, x)
        second, _ = _walk(function, layer, other)
        back, _ = returned(function(layer, other[:, :1], caches[1]), "output", "cache")
    return {
        "outputs": outputs,
        "outputs of a second sequence": second,
        "output from an older cache": tensor(back, "the output"),
        "old keys or values computed again": torch.tensor(layer.most > 1),
        "x afterwards": x,
    }


def _walk(
    function: Any, layer: nn.Module, x: torch.Tensor
) -> tuple[torch.Tensor, list[Any]]:
    """All outputs (B, T, d_model), and the cache after each step."""
    outputs, caches, cache = [], [], None
    for t in range(x.size(1)):
        result = function(layer, x[:, t : t + 1], cache)
        output, cache = returned(result, "output", "cache")
        outputs.append(tensor(output, "the output"))
        caches.append(cache)
    return torch.cat(outputs, dim=1), caches


# --- the trained model ----------------------------------------------------------------

# Training takes seconds, so the cases of one check share a model: its cases so far.
_MODELS: WeakKeyDictionary[Any, tuple[nn.Module, set[Any]]] = WeakKeyDictionary()


class RuleBased(nn.Module):
    """A model of the course's own that stands for one that was trained.

    Only where the check itself is tried: grading takes weights, and has no rules.
    """


class Reverser(OtherSide):
    """A model of our own making with the weights that are handed over.

    Decoding is done here: whatever computes the answer in another way than by its
    weights stays behind.
    """

    keeps = frozenset({"source"})

    def decode(self, model: nn.Module, source: torch.Tensor) -> torch.Tensor:
        """(N, Ls): what a model writes greedily, token by token; PAD after EOS."""
        tokens = torch.full((len(source), 1), BOS)
        done = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(source.size(1)):
            logits = _logits(model, source, tokens)[:, -1]  # (N, V)
            chosen = logits.argmax(dim=-1).masked_fill(done, PAD)
            tokens = torch.cat((tokens, chosen[:, None]), dim=1)
            done |= chosen == EOS
        return tokens[:, 1:]

    def shown(self) -> Answers:
        source = self.inputs["source"].numpy().tobytes()
        seeds = {n: v for n, v in self.inputs.items() if n == "seeds"}
        return {"case": hashlib.sha256(source).hexdigest(), **seeds}

    def conclude(self, answers: Answers) -> Seen:
        prefix = "weights."
        weights = {
            name.removeprefix(prefix): value
            for name, value in answers.items()
            if name.startswith(prefix)
        }
        return self.seen(_with_weights(weights), answers)

    def seen(self, model: nn.Module, answers: Answers) -> Seen:
        """What is compared: the share of right rows, or how the seed is used.

        Where nothing has learnt, there is no seed to use well: both count together.
        """
        examined = _examined(model, self.inputs, self.decode)
        if "seeds" not in self.inputs:
            return examined
        used = {name: answers.get(name, torch.tensor(False)) for name in _SEEDED}
        return used | {"some is learnt": examined["share"] > _SOMETHING}


def _trained_here(function: Any, inputs: Inputs) -> Seen:
    """The same without another side; a rule-based model is taken as it is."""
    side = Reverser(inputs, random.Random(0))
    answers = _use_of_the_seed(function, inputs) if "seeds" in inputs else {}
    model = _model_of(function, str(side.shown()["case"]))
    if isinstance(model, RuleBased):
        return side.seen(model, answers)
    return side.conclude({**answers, **_weights_of(model)})


@probe("sequence_reversal/trained_model", other=Reverser, here=_trained_here)
def trained_model(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """The weights of the model by their names, or what the seed does."""
    seen = _use_of_the_seed(function, inputs) if "seeds" in inputs else {}
    return {**seen, **_weights_of(_model_of(function, str(inputs["case"])))}


class _FirstStep(BaseException):
    """Ends a training at its first step; no handler of ordinary errors sees it."""


def _use_of_the_seed(function: Any, inputs: Inputs) -> Seen:
    """Whether a training begins alike from one seed, and differently from another.

    Chance outside is another one each time. Where nothing is trained (the weights come
    from a file), all is as it should be.
    """
    if isinstance(function, nn.Module):
        return dict.fromkeys(_SEEDED, torch.tensor(True))
    one, other = inputs["seeds"].tolist()
    starts = [_start(function, seed, n) for n, seed in enumerate((one, one, other))]
    first, again, another = starts
    told = (not first or first == again, not first or first != another)
    return {n: torch.tensor(true) for n, true in zip(_SEEDED, told, strict=True)}


_SEEDED = ("the same from the same seed", "others from another seed")
_SOMETHING = 0.3  # the share of right rows that no guess reaches


def _start(function: Any, seed: int, noise: int) -> str:
    """A digest of weights and gradients at the first step; "" if there is none."""
    digest = hashlib.sha256()

    def look(optimizer: torch.optim.Optimizer, *_: object) -> None:
        for trained in optimizer.param_groups:
            for parameter in trained["params"]:
                for value in (parameter, parameter.grad):
                    if value is not None:
                        digest.update(value.detach().cpu().numpy().tobytes())
        raise _FirstStep

    torch.manual_seed(noise)
    random.seed(noise)
    given = (seed, "no such file")[: _positional(function)]
    hook = register_optimizer_step_pre_hook(look)
    try:
        function(*given)
    except _FirstStep:
        return digest.hexdigest()
    finally:
        hook.remove()
    return ""


def _positional(function: Any) -> int:
    """How many arguments a function takes by their place."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    usual = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in usual for kind in kinds)


def _weights_of(model: nn.Module) -> Seen:
    """The weights of the model, or of the part of it that ``new_model`` has made."""
    names = set(_named(_like_new_model()))
    parts = [part for part in model.modules() if set(_named(part)) == names]
    weights = _named(parts[0] if parts else model)
    return {f"weights.{name}": plain(value.float()) for name, value in weights.items()}


def _named(model: nn.Module) -> dict[str, nn.Parameter]:
    return dict(model.named_parameters())


def _like_new_model() -> nn.Module:
    """The course's Transformer in the sizes of ``new_model``."""
    parts = importlib.import_module("autograder.solutions.encoder_decoder")
    model: nn.Module = parts.Transformer(
        VOCABULARY, VOCABULARY, 32, num_heads=2, num_layers=1, d_ff=64, norm_first=True
    )
    return model


def _with_weights(weights: Inputs) -> nn.Module:
    """The course's model with these weights.

    Raises:
        WrongAnswer: they are those of another model.
    """
    model = _like_new_model()
    own = _named(model)
    fits = set(weights) == set(own) and all(
        isinstance(value, torch.Tensor)
        and value.dtype == torch.float32
        and value.shape == own[name].shape
        for name, value in weights.items()
    )
    if not fits:
        raise WrongAnswer(
            "the weights of this model are not those of a `new_model()`, so nothing "
            "can be decoded with them"
        )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])
    return model.eval()


Decode = Callable[[nn.Module, torch.Tensor], torch.Tensor]


def _examined(model: nn.Module, inputs: Inputs, decode: Decode) -> Seen:
    """The share of right rows, and what kind of answer the model gives."""
    source = inputs["source"].long()  # (N, Ls), stored in bytes
    rows = decode(model, source)
    # "exact match" is what the finding of this measure is called.
    return {
        "share": torch.tensor(_reversed_share(source, rows), dtype=torch.float64),
        "exact match": _symptom(model, source, rows, decode),
    }


def _model_of(function: Any, case: str) -> nn.Module:
    """The function's model, made anew when a case is asked for the second time.

    Between two checks the student may have changed whatever the function calls.
    """
    if isinstance(function, nn.Module):
        return function.cpu().eval()
    model, seen = _MODELS.get(function, (None, {case}))
    if case in seen:
        model, seen = function(), set()
    if not isinstance(model, nn.Module):
        raise WrongAnswer(f"expected an nn.Module, got {describe(model)}")
    _MODELS[function] = model, seen | {case}
    return model.cpu().eval()  # wherever it was trained


def _logits(
    model: nn.Module, source: torch.Tensor, tokens: torch.Tensor
) -> torch.Tensor:
    with torch.no_grad():
        logits = tensor(model(source, tokens), "the logits")
    if logits.dim() != 3 or logits.shape[:2] != tokens.shape:
        raise WrongAnswer(
            f"expected logits of shape (B, Lt, V) with B, Lt = {tuple(tokens.shape)}, "
            f"got {tuple(logits.shape)}"
        )
    return logits


def _answers(source: torch.Tensor) -> torch.Tensor:
    """(N, Ls): the rows turned round up to EOS, with EOS and PAD behind."""
    lengths = (source == EOS).int().argmax(dim=1, keepdim=True)  # (N, 1)
    places = torch.arange(source.size(1))
    wanted = lengths - 1 - places
    return source.gather(1, torch.where(wanted >= 0, wanted, places))


def _reversed_share(source: torch.Tensor, rows: torch.Tensor) -> float:
    return (rows == _answers(source)).all(dim=1).double().mean().item()


def _symptom(
    model: nn.Module, source: torch.Tensor, rows: torch.Tensor, decode: Decode
) -> str:
    """What kind of answer the model gives, in a few words; facts only."""
    right = _reversed_share(source, rows)
    some, written = source[:40], rows[:40]
    given = torch.cat((torch.full((len(some), 1), BOS), written[:, :-1]), dim=1)
    if _moves(_logits(model, some, given), _logits(model, some, _last_changed(given))):
        return "the future moves the present"
    if right >= 0.9:
        return "reverses"
    if not _moves(_logits(model, some, given), _logits(model, some.roll(1, 0), given)):
        return "the source has no influence"
    if not _moves(_logits(model, some, given), _logits(model, _turned(some), given)):
        return "the order of the source has no influence"
    runs = _runs(source.size(1))
    if _reversed_share(runs, decode(model, runs)) > 0.5 > right:
        return "runs of numbers only"
    if (written == some).all(dim=1).double().mean() > 0.5:
        return "copies the source"
    symbols_right = (written == _answers(some)) | (some == EOS) | (some == PAD)
    if symbols_right.all(dim=1).double().mean() > 0.5 > right:
        return "the symbols are right, EOS is not"
    return "many rows are right" if right > 0.3 else "hardly any row is right"


def _moves(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether logits differ, at any position but the last."""
    return bool(((before - after)[:, :-1].abs() > 1e-3).any())


def _last_changed(tokens: torch.Tensor) -> torch.Tensor:
    changed = tokens.clone()
    changed[:, -1] = FIRST + (tokens[:, -1] + 1) % 10
    return changed


def _turned(source: torch.Tensor) -> torch.Tensor:
    """The rows with their symbols in another order; EOS and PAD stay in place."""
    return torch.cat((_answers(source)[:, :-1], source[:, -1:]), dim=1)


def _runs(width: int) -> torch.Tensor:
    """Rows of consecutive digits, of all lengths that fit."""
    rows = [
        [*range(FIRST + start, FIRST + start + length), EOS]
        for length in range(2, width)
        for start in range(11 - length)
    ]
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
