"""MiniLM in the encoder of unit 4: a vector that represents a sentence's meaning."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.library.published import PublishedModel, available

# Maps BERT's names of the parts of a layer to those of unit 4.
_PARTS = {
    "attention.self.query": "attention.w_q",
    "attention.self.key": "attention.w_k",
    "attention.self.value": "attention.w_v",
    "attention.output.dense": "attention.w_o",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "feed_forward.linear1",
    "output.dense": "feed_forward.linear2",
    "output.LayerNorm": "norm2",
}


def load_reader(encoder_decoder: ModuleType) -> SentenceReader | None:
    """Load MiniLM into the classes of ``encoder_decoder``, the module of unit 4.

    If the model is not available, print what to install, and return None.
    """
    published = available("minilm")
    return SentenceReader(encoder_decoder, published) if published else None


class SentenceReader:
    """MiniLM with its tokenizer, in the classes of unit 4 (``encoder_decoder``)."""

    def __init__(self, encoder_decoder: ModuleType, published: PublishedModel):
        def new_layer() -> nn.Module:
            # The sizes of MiniLM: d_model, the number of heads, and d_ff.
            layer: nn.Module = encoder_decoder.EncoderLayer(
                384, 12, 1536, activation="gelu"
            )
            return layer

        self.encode, self.weights = published.encode, published.weights
        self.stack = encoder_decoder.Stack(new_layer, 6)
        self.stack.load_state_dict(_rename(published.weights))
        self.stack.eval()

    @torch.no_grad()
    def vector(self, text: str) -> Tensor:
        """The mean of the last layer's output over all positions, `(d_model,)`."""
        ids = torch.tensor(self.encode(text))
        word, position, kind = (
            self.weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        x = word[ids] + position[: len(ids)] + kind[0]  # (L, d_model)
        scale, shift = (
            self.weights[f"embeddings.LayerNorm.{end}"] for end in ("weight", "bias")
        )
        x = F.layer_norm(x, scale.shape, scale, shift, eps=1e-12)
        output: Tensor = self.stack(x[None])
        return output[0].mean(dim=0)


def _rename(published: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the weights of the layers to unit 4's names; leave out all others."""
    state = {}
    for name, tensor in published.items():
        if "encoder.layer." in name:  # before "3.attention.self.query.weight"
            number, rest = name.partition("encoder.layer.")[2].split(".", 1)
            part, kind = rest.rsplit(".", 1)
            state[f"layers.{number}.{_PARTS[part]}.{kind}"] = tensor
    return state
