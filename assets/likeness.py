"""Draw the models to compare with: ``python assets/likeness.py``.

It needs the package transformers, which computes their logits; the course's own classes
take no part.
"""

from __future__ import annotations

import torch
from safetensors.torch import save_file
from torch import Tensor

from transformer_course.library.likeness import (
    D_K,
    EXPERTS,
    KINDS,
    SHIPPED,
    SIZES,
    transformers_logits,
)

BATCH, LENGTH = 2, 17


def weights_of(kind: str) -> dict[str, Tensor]:
    """Weights that bfloat16 holds exactly, with which attention is far from flat."""
    d_model, width = SIZES["d_model"], 2 * SIZES["d_ff"] // 3

    def drawn(*shape: int, mean: float = 0.0, std: float = 0.3) -> Tensor:
        return (mean + std * torch.randn(shape)).bfloat16()

    gemma = kind == "gemma3"  # it scales its embedding by the root of d_model
    std = 0.6 if gemma else 1.0
    made = {"model.embed_tokens.weight": drawn(SIZES["vocab_size"], d_model, std=std)}
    for layer in range(SIZES["num_layers"]):
        at = f"model.layers.{layer}."
        rows = {"q": d_model, "k": SIZES["num_kv_heads"] * D_K,
                "v": SIZES["num_kv_heads"] * D_K, "o": d_model}  # fmt: skip
        for part, count in rows.items():
            made[f"{at}self_attn.{part}_proj.weight"] = drawn(count, d_model)
        if kind in ("qwen3", "gemma3"):
            for part in ("q", "k"):
                norm = drawn(D_K, mean=1.5, std=0.3)
                made[f"{at}self_attn.{part}_norm.weight"] = norm
        for name in ("input_layernorm", "post_attention_layernorm"):
            made[f"{at}{name}.weight"] = drawn(d_model, mean=1.0, std=0.2)
        for name in ("after_attention", "after_feed_forward") if gemma else ():
            made[f"{at}{name}.weight"] = drawn(d_model, mean=7.0, std=0.5)
        matrices = {"gate": (width, d_model), "up": (width, d_model),
                    "down": (d_model, width)}  # fmt: skip
        networks = [f"{at}mlp."]
        if kind == "mixtral":
            made[f"{at}mlp.gate.weight"] = drawn(EXPERTS, d_model)
            networks = [f"{at}mlp.experts.{i}." for i in range(EXPERTS)]
        for network in networks:
            for part, shape in matrices.items():
                made[f"{network}{part}_proj.weight"] = drawn(*shape)
    made["model.norm.weight"] = drawn(d_model, mean=1.0, std=0.2)
    return made


def main() -> None:
    """Write all kinds into one file."""
    torch.manual_seed(2017)
    kept: dict[str, Tensor] = {}
    ids = torch.randint(SIZES["vocab_size"], (BATCH, LENGTH))
    for kind in KINDS:
        kept |= {f"{kind}/{name}": w for name, w in weights_of(kind).items()}
        kept[f"{kind}/ids"] = ids.clone()
        kept[f"{kind}/logits"] = torch.zeros(BATCH, LENGTH, SIZES["vocab_size"])
    save_file(kept, SHIPPED)  # without logits, for transformers to read
    for kind in KINDS:
        logits = transformers_logits(kind)
        if logits is None:
            raise SystemExit("pip install transformers: it computes the logits")
        kept[f"{kind}/logits"] = logits.contiguous()
    save_file(kept, SHIPPED)


if __name__ == "__main__":
    main()
