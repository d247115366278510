"""Small models of published architectures, with which notebooks compare their own.

``python assets/likeness.py`` stores random weights, and the logits that the
package transformers computes with them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn

SHIPPED = Path(__file__).with_suffix(".safetensors")
SIZES = {"vocab_size": 50, "d_model": 32, "num_heads": 4, "num_kv_heads": 2,
         "num_layers": 2, "d_ff": 48}  # fmt: skip
D_K, WINDOW, EXPERTS, TOP_K = 8, 4, 4, 2
# By kind: the prefix of its classes in transformers, the base of its rotation angles
# (in global layers), and the settings of its configuration beyond the sizes.
KINDS: Mapping[str, tuple[str, float, dict[str, Any]]] = {
    "llama": ("Llama", 1e4, {}),
    "qwen3": ("Qwen3", 1e6, {}),
    "mistral": ("Mistral", 1e4, {"sliding_window": WINDOW}),
    "mixtral": ("Mixtral", 1e6, {
        "sliding_window": None, "num_local_experts": EXPERTS,
        "num_experts_per_tok": TOP_K,
    }),
    "gemma3": ("Gemma3", 1e6, {
        "sliding_window": WINDOW, "query_pre_attn_scalar": D_K,
        "layer_types": ["sliding_attention", "full_attention"],
    }),
}  # fmt: skip
LOCAL_BASE = 1e4  # base of the angles in those layers of Gemma 3 that have a window


@dataclass(frozen=True)
class Likeness:
    """The weights of a model, and its output for one batch of ids.

    Args:
        weights: tensors by name, mostly as in a published Llama.
        ids: the input, `(B, L)`.
        logits: the output, `(B, L, V)`.
    """

    weights: Mapping[str, Tensor]
    ids: Tensor
    logits: Tensor

    def gap(self, logits: Tensor) -> float:
        """The largest absolute difference from the stored logits."""
        return (logits - self.logits).abs().max().item()


def stored(kind: str) -> Likeness:
    """Load a small model, with logits that the transformers library computed.

    ``kind`` is "llama", "qwen3", "mistral", "mixtral" or "gemma3".
    """
    with safe_open(SHIPPED, framework="pt") as file:
        tensors = {
            name.removeprefix(f"{kind}/"): file.get_tensor(name)
            for name in file.keys()  # noqa: SIM118  (the file is not a dict)
            if name.startswith(f"{kind}/")
        }
    ids, logits = tensors.pop("ids"), tensors.pop("logits")
    return Likeness({n: w.float() for n, w in tensors.items()}, ids, logits)


def transformers_logits(kind: str) -> Tensor | None:
    """Compute a stored model's logits with transformers; None if that is missing."""
    try:
        import transformers
    except ImportError:
        return None
    name, base, additions = KINDS[kind]
    # A gated network has three matrices instead of two, so 2/3 of the width.
    sizes = {
        "vocab_size": SIZES["vocab_size"], "hidden_size": SIZES["d_model"],
        "intermediate_size": 2 * SIZES["d_ff"] // 3, "head_dim": D_K,
        "num_hidden_layers": SIZES["num_layers"],
        "num_attention_heads": SIZES["num_heads"],
        "num_key_value_heads": SIZES["num_kv_heads"],
    }  # fmt: skip
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": base}
    if kind == "gemma3":  # "Text", because its other classes also process images
        local = rope | {"rope_theta": LOCAL_BASE}
        rope = {"sliding_attention": local, "full_attention": rope}
    text = "Text" if kind == "gemma3" else ""
    config = getattr(transformers, f"{name}{text}Config")(
        **sizes, **additions, rms_norm_eps=1e-6, tie_word_embeddings=True,
        rope_parameters=rope, attn_implementation="eager",
    )  # fmt: skip
    model = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    likeness = stored(kind)
    state = _rename_weights(likeness.weights)
    model.load_state_dict(_rename_for_gemma(state) if kind == "gemma3" else state)
    with torch.no_grad():
        logits: Tensor = model(likeness.ids).logits
    return logits


def _rename_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert weights to a state dict of the library ``transformers``.

    There, all experts of a layer are stacked in one tensor.
    """
    state = {"lm_head.weight": weights["model.embed_tokens.weight"]}
    experts: dict[str, dict[str, list[Tensor]]] = {}
    for name, weight in weights.items():
        block, _, part = name.partition(".experts.")
        if part:  # such as "0.gate_proj.weight"; experts are stored in order
            matrices = experts.setdefault(block, {"gate": [], "up": [], "down": []})
            matrices[part.split(".")[1].removesuffix("_proj")].append(weight)
        else:
            state[name] = weight
    for block, matrices in experts.items():
        gate, up, down = (torch.stack(matrix) for matrix in matrices.values())
        state[f"{block}.experts.gate_up_proj"] = torch.cat((gate, up), dim=1)
        state[f"{block}.experts.down_proj"] = down
    return state


def _rename_for_gemma(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert a state dict to Gemma 3's names for norms, and subtract 1 from vectors.

    The vectors are the weights of norms; Gemma 3's norms multiply by 1 + weight.
    """
    renamed = {
        "post_attention_layernorm": "pre_feedforward_layernorm",
        "after_attention": "post_attention_layernorm",
        "after_feed_forward": "post_feedforward_layernorm",
    }
    parts = {name: name.split(".") for name in state}
    return {
        ".".join(renamed.get(part, part) for part in parts[name]): weight
        - float(weight.dim() == 1)
        for name, weight in state.items()
    }


def mistaken(weights: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """Map three mistakes in attention, in words, to weights that have their effect.

    With these, a correct model computes what a mistaken one does with the original
    weights.
    """
    heads, groups = SIZES["num_heads"], SIZES["num_kv_heads"]
    dealt_out = torch.arange(heads).view(-1, groups).T.flatten()  # 0, 2, 1, 3
    inverse = dealt_out.argsort()

    def pair_neighbours(w: Tensor) -> Tensor:
        pairs = w.view(-1, D_K // 2, 2, *w.shape[1:])
        return pairs.transpose(1, 2).reshape(w.shape)

    def permute_heads(w: Tensor) -> Tensor:
        return w.reshape(heads, D_K, -1)[inverse].reshape(w.shape)

    def scale_up(w: Tensor) -> Tensor:
        return w * math.sqrt(D_K)

    changes = {  # by the end of a parameter's name; only Qwen3 has q_norm and k_norm
        "rotated in neighbouring pairs": dict.fromkeys(
            ("q_proj.weight", "k_proj.weight", "q_norm.weight", "k_norm.weight"),
            pair_neighbours,
        ),
        "scores not divided by the root of d_k": dict.fromkeys(
            ("q_proj.weight", "q_norm.weight"), scale_up
        ),
        "key heads dealt out in turn": {
            "q_proj.weight": permute_heads,
            "o_proj.weight": lambda w: permute_heads(w.T).T,
        },
    }
    return {
        mistake: {
            name: next((f(w) for end, f in by_end.items() if name.endswith(end)), w)
            for name, w in weights.items()
        }
        for mistake, by_end in changes.items()
    }


def llama_name(name: str) -> str:
    """Translate a parameter's name in the course to its name in a published Llama."""
    renamed = {
        "embedding": "model.embed_tokens", "norm": "model.norm",
        "blocks": "model.layers", "attention": "self_attn", "feed_forward": "mlp",
        "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
        "router": "gate",  # of a mixture of experts
    }  # fmt: skip
    parts = [renamed.get(part, part) for part in name.split(".")]
    return ".".join(re.sub("^w_(.*)", r"\1_proj", part) for part in parts)


def logits_of(model: nn.Module, weights: Mapping[str, Tensor], ids: Tensor) -> Tensor:
    """The logits of one of the course's models, filled with published weights."""
    names = model.state_dict()
    model.load_state_dict({name: weights[llama_name(name)] for name in names})
    with torch.no_grad():
        logits: Tensor = model(ids)
    return logits


def compare(kind: str, model: nn.Module, mistakes: Mapping[str, nn.Module]) -> None:
    """Print how far the logits of several models are from the stored logits.

    Args:
        model: the course's model, whose parameters are overwritten.
        mistakes: maps the description of a mistake to a model that makes it.
    """
    theirs = stored(kind)

    def print_gap(label: str, logits: Tensor) -> None:
        print(f"    {label:<40} {theirs.gap(logits):9.5f}")

    print(f"transformers' {KINDS[kind][0]}, logits up to "
          f"{theirs.logits.abs().max():.1f}; largest difference:")  # fmt: skip
    print_gap("your model", logits_of(model, theirs.weights, theirs.ids))
    if (computed := transformers_logits(kind)) is not None:
        print_gap("transformers, computed just now", computed)
    for mistake, weights in mistaken(theirs.weights).items():
        print_gap(mistake, logits_of(model, weights, theirs.ids))
    for mistake, other in mistakes.items():
        print_gap(mistake, logits_of(other, theirs.weights, theirs.ids))
