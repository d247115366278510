"""The probe of the model that unit 05 trains: the judge decodes with its weights."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import random
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, Interactor
from autograder.checks.probes import Inputs, Seen, describe, probe
from autograder.checks.probes.weights import WEIGHTS, weights_of, with_weights
from transformer_course.sequence_reversal.probes.observing import BOS, EOS, PAD
from transformer_course.sequence_reversal.probes.symptoms import (
    Decode,
    describe_symptom,
    measure_share,
    read_logits,
)

_OTHER = (
    "the weights of this model are not those of a `new_model()`, so nothing can be "
    "decoded with them"
)
VOCABULARY = 14  # tokens of the course's model: the special ones and ten digits


# Training takes seconds, so the cases of one check share a model. By function: its
# model, and the cases that have used it.
_MODELS: WeakKeyDictionary[Any, tuple[nn.Module, set[Any]]] = WeakKeyDictionary()


class RuleBased(nn.Module):
    """A base class for models that follow a rule, which only the course itself uses.

    They stand for trained models when the exercise is built and tested.
    """


class Reverser(Interactor):
    """The judge's side: decodes with the student's weights in the course's model.

    Thus a model that computes its answers by a rule gains nothing.
    """

    keeps = frozenset({"source"})

    def decode(self, model: nn.Module, source: torch.Tensor) -> torch.Tensor:
        """Return the ids that a model decodes greedily, (N, Ls), PAD after EOS."""
        tokens = torch.full((len(source), 1), BOS)
        ended = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(source.size(1)):
            logits = read_logits(model, source, tokens)[:, -1]  # (N, V)
            chosen = logits.argmax(dim=-1).masked_fill(ended, PAD)
            tokens = torch.cat((tokens, chosen[:, None]), dim=1)
            ended |= chosen == EOS
        return tokens[:, 1:]

    def reveal_inputs(self) -> Answers:
        """Tell the student's side a hash that identifies the case, and any seeds.

        The sources stay with the judge; their hash is all that the probe needs.
        """
        source = self.inputs["source"].numpy().tobytes()
        seeds = {n: v for n, v in self.inputs.items() if n == "seeds"}
        return {"case": hashlib.sha256(source).hexdigest(), **seeds}

    def conclude(self, answers: Answers) -> Seen:
        """Put the student's weights into the course's model, and `observe` it."""
        weights = {n: v for n, v in answers.items() if n.startswith(WEIGHTS)}
        return self.observe(with_weights(_create_model(), weights, _OTHER), answers)

    def observe(self, model: nn.Module, answers: Answers) -> Seen:
        """Report how well the model reverses the sources, or what a seed changes.

        In a case with seeds, ``answers`` has the findings of `_observe_seed`.
        """
        examined = _examine(model, self.inputs, self.decode)
        if "seeds" not in self.inputs:
            return examined
        used = {name: answers.get(name, torch.tensor(False)) for name in _SEEDED}
        return used | {"some is learnt": examined["share"] > _SOMETHING}


def _observe_in_notebook(function: Any, inputs: Inputs) -> Seen:
    """Observe a model in the notebook's process, by its weights as in grading.

    Only a `RuleBased` model runs as it is.
    """
    side = Reverser(inputs, random.Random(0))
    answers = _observe_seed(function, inputs) if "seeds" in inputs else {}
    model = _train_once(function, str(side.reveal_inputs()["case"]))
    if isinstance(model, RuleBased):
        return side.observe(model, answers)
    return side.conclude({**answers, **_report_weights(model)})


@probe(
    "sequence_reversal/trained_model",
    interactor=Reverser,
    in_notebook=_observe_in_notebook,
    results="share; exact match; the same from the same seed; "
    "others from another seed; some is learnt",
)
def trained_model(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """Report the model's weights by name and, given two seeds, the seed's effect."""
    observations = _observe_seed(function, inputs) if "seeds" in inputs else {}
    return {
        **observations,
        **_report_weights(_train_once(function, str(inputs["case"]))),
    }


class _FirstStep(BaseException):
    """Ends a training run at its first step; a BaseException, to bypass handlers."""


def _observe_seed(function: Any, inputs: Inputs) -> Seen:
    """Report whether equal seeds start training alike, and different ones differently.

    If the weights come from a file, both answers are True.
    """
    if isinstance(function, nn.Module):
        return dict.fromkeys(_SEEDED, torch.tensor(True))
    first_seed, second_seed = inputs["seeds"].tolist()
    starts = [
        _hash_start(function, seed, n)
        for n, seed in enumerate((first_seed, first_seed, second_seed))
    ]
    first, repeated, different = starts
    # Without a first optimizer step, there is nothing to compare.
    answers = (not first or first == repeated, not first or first != different)
    return {n: torch.tensor(true) for n, true in zip(_SEEDED, answers, strict=True)}


_SEEDED = ("the same from the same seed", "others from another seed")


_SOMETHING = 0.3  # a share of correct rows that cannot be reached by guessing


def _hash_start(function: Any, seed: int, noise: int) -> str:
    """Hash the weights and gradients that the first optimizer step would use.

    The hash is "" without a step. ``noise`` seeds the global random state,
    which must not matter.
    """
    digest = hashlib.sha256()

    def hash_step(optimizer: torch.optim.Optimizer, *_: object) -> None:
        """A hook that hashes what an optimizer is about to use, and ends training."""
        for trained in optimizer.param_groups:
            for parameter in trained["params"]:
                for value in (parameter, parameter.grad):
                    if value is not None:
                        digest.update(value.detach().cpu().numpy().tobytes())
        raise _FirstStep

    torch.manual_seed(noise)
    random.seed(noise)
    # The second parameter is the file with trained weights: without one it must train.
    arguments = (seed, "no such file")[: _count_arguments(function)]
    hook = register_optimizer_step_pre_hook(hash_step)
    try:
        function(*arguments)
    except _FirstStep:
        return digest.hexdigest()
    finally:
        hook.remove()
    return ""


def _count_arguments(function: Any) -> int:
    """Count a function's positional parameters; at least 1 if it has ``*args``."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    usual = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    passed_on = inspect.Parameter.VAR_POSITIONAL in kinds
    return max(sum(kind in usual for kind in kinds), int(passed_on))


def _report_weights(model: nn.Module) -> Seen:
    """Return the weights of the model, or of its part that ``new_model`` made, if any.

    That is the first module whose parameters are named as in `_create_model`.
    """
    names = _list_names(_create_model())
    parts = (part for part in model.modules() if _list_names(part) == names)
    return weights_of(next(parts, model))


def _list_names(module: nn.Module) -> set[str]:
    """The names of a module's parameters."""
    return {name for name, _ in module.named_parameters()}


def _create_model() -> nn.Module:
    """The course's Transformer with the sizes of ``new_model``."""
    parts = importlib.import_module("transformer_course.solutions.encoder_decoder")
    model: nn.Module = parts.Transformer(
        VOCABULARY, VOCABULARY, 32, num_heads=2, num_layers=1, d_ff=64, norm_first=True
    )
    return model


def _examine(model: nn.Module, inputs: Inputs, decode: Decode) -> Seen:
    """The share of correct rows, and a description of the model's outputs."""
    source = inputs["source"].long()  # (N, Ls), stored in bytes
    rows = decode(model, source)
    # The finding has the name of the measure that it belongs to, "exact match".
    return {
        "share": torch.tensor(measure_share(source, rows), dtype=torch.float64),
        "exact match": describe_symptom(model, source, rows, decode),
    }


def _train_once(function: Any, case: str) -> nn.Module:
    """Call the function for its trained model, which the cases of one check share.

    A case that comes for a second time begins a new check, with a new model.
    """
    if isinstance(function, nn.Module):
        return function.cpu().eval()
    model, cases = _MODELS.get(function, (None, {case}))
    if case in cases:
        model, cases = function(), set()
    if not isinstance(model, nn.Module):
        raise WrongAnswerError(f"expected an nn.Module, got {describe(model)}")
    _MODELS[function] = model, cases | {case}
    return model.cpu().eval()  # wherever it was trained
