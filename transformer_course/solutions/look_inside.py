"""Built from notebooks/09_look_inside.py by `make build`; do not edit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformer_course.solutions import multi_head_attention as mha
import torch
import torch.nn.functional as F


def record(
    model: nn.Module, ids: Int[Tensor, "B L"], names: Sequence[str]
) -> dict[str, tuple[Tensor, Tensor]]:
    """Run a model, and return the input and the output of each named module."""
    recorded: dict[str, tuple[Tensor, Tensor]] = {}

    def read(name: str) -> Callable:
        def hook(module: nn.Module, arguments: tuple, output: Tensor) -> None:
            recorded[name] = arguments[0].clone(), output.clone()

        return hook

    handles = [
        model.get_submodule(name).register_forward_hook(read(name)) for name in names
    ]
    try:
        model(ids)
    finally:
        for handle in handles:
            handle.remove()
    return recorded


@torch.no_grad()
def run_edited(
    model: nn.Module, ids: Int[Tensor, "B L"], edits: Mapping[str, Callable]
) -> Float[Tensor, "B L V"]:
    """Run a model in which the outputs of some modules are edited.

    Args:
        model: any module that takes ids.
        ids: texts.
        edits: functions from a module's output to its replacement, by module.

    Returns:
        The logits of the edited run.
    """

    def write(edit: Callable) -> Callable:
        return lambda module, arguments, output: edit(output)

    handles = []
    try:
        for name, edit in edits.items():
            handles.append(model.get_submodule(name).register_forward_hook(write(edit)))
        return model(ids)
    finally:
        for handle in handles:
            handle.remove()


def induction_score(
    weights: Float[Tensor, "*batch L L"], period: int
) -> Float[Tensor, "*batch"]:
    """The mean weight on the token that followed the last time.

    Args:
        weights: attention weights, queries by keys.
        period: the number of tokens after which the text repeats.

    Returns:
        A score between 0 and 1 for each map.
    """
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (..., L - period + 1)
    return stripe[..., 1:].mean(dim=-1)


def silence_head(layer: nn.Module, head: int) -> RemovableHandle:
    """Make a head of an attention layer contribute nothing.

    Args:
        layer: an attention layer.
        head: its index.

    Returns:
        A handle whose `remove()` makes the head speak again.
    """
    d_k = layer.w_o.in_features // layer.num_heads

    def hook(module: nn.Module, arguments: tuple[Tensor]) -> tuple[Tensor]:
        merged = arguments[0].clone()  # (B, L, h * d_k)
        merged[..., head * d_k : (head + 1) * d_k] = 0
        return (merged,)

    return layer.w_o.register_forward_pre_hook(hook)


def head_outputs(
    merged: Float[Tensor, "B L h*d_k"],
    w_o: Float[Tensor, "d_model h*d_k"],
    num_heads: int,
) -> Float[Tensor, "B h L d_model"]:
    """What each head of a layer adds to the residual stream.

    Args:
        merged: the concatenated heads, which the output projection reads.
        w_o: the weight of the output projection.
        num_heads: number of heads.
    """
    heads = mha.split_heads(merged, num_heads)  # (B, h, L, d_k)
    blocks = w_o.unflatten(1, (num_heads, -1)).transpose(0, 1)  # (h, d_model, d_k)
    return heads @ blocks.mT


def attribute_logit(
    parts: Float[Tensor, "n d_model"],
    gain: Float[Tensor, "d_model"],
    direction: Float[Tensor, "d_model"],
    eps: float = 1e-6,
) -> Float[Tensor, "n"]:
    """What each part of the residual stream contributes to a logit.

    Args:
        parts: vectors whose sum is the stream at one position.
        gain: the weight of the final RMSNorm.
        direction: a row of the output matrix, or a difference of two rows.
        eps: of the final norm.
    """
    stream = parts.sum(dim=0)  # (d_model,)
    scale = torch.rsqrt(stream.square().mean() + eps)
    return parts * scale * gain @ direction  # (n,)


def patching_map(
    model: nn.Module,
    ids: Int[Tensor, "1 L"],
    other_ids: Int[Tensor, "1 L"],
    answer: int,
    other_answer: int,
) -> Float[Tensor, "blocks L"]:
    """The share of an effect that each state carries.

    Args:
        model: a language model with `embedding` and `blocks`.
        ids: the text that the model reads.
        other_ids: the text whose states are copied, of the same length.
        answer, other_answer: the tokens that the two texts call for.
    """
    names = ["embedding"] + [f"blocks.{i}" for i in range(len(model.blocks) - 1)]

    def difference(logits: Tensor) -> float:
        return (logits[0, -1, other_answer] - logits[0, -1, answer]).item()

    start = difference(run_edited(model, ids, {}))
    end = difference(run_edited(model, other_ids, {}))
    states = record(model, other_ids, names)
    effects = torch.zeros(len(names), ids.size(1))
    for row, name in enumerate(names):
        new = states[name][1]  # (1, L, d_model)
        for position in range(ids.size(1)):

            def replace(
                output: Tensor, position: int = position, new: Tensor = new
            ) -> Tensor:
                output[:, position] = new[:, position]
                return output

            patched = run_edited(model, ids, {name: replace})
            effects[row, position] = (difference(patched) - start) / (end - start)
    return effects


def assert_patches(
    patch: Callable[..., Float[Tensor, "1 L V"]], num_blocks: int, vocab_size: int
) -> None:
    """Pass quietly if a tool patches one state, or else fail an assertion.

    Args:
        patch: from ids, other ids, a block and a position to logits.
        num_blocks: number of blocks of the tool's model.
        vocab_size: number of tokens of its vocabulary.

    Raises:
        AssertionError: the tool does something else.
    """

    def close(logits: Tensor, expected: Tensor) -> bool:
        return torch.allclose(logits, expected, rtol=0, atol=1e-4)

    ids = torch.randint(vocab_size, (1, 5))
    other = (ids + torch.randint(1, vocab_size, (1, 5))) % vocab_size
    plain = patch(ids, ids, 0, 0)
    for position in range(5):
        swapped = torch.where(torch.arange(5) == position, other, ids)
        expected = patch(swapped, swapped, 0, 0)
        assert close(patch(ids, other, 0, position), expected), "not like the token"
        for block in range(num_blocks):
            unchanged = patch(ids, ids, block, position)
            assert close(unchanged, plain), "a text's own state changes it"
    for block in range(1, num_blocks):
        late, early = (patch(ids, other, at, 4) for at in (block, 0))
        assert not close(late, early), "a later state has no context"
