"""Compute the attention maps that ship: ``python assets/attention_maps.py``.

It needs MiniLM (``transformer_course.library.published`` says what to install) and the
package transformers, so that the maps do not depend on this course's own encoder.
"""

from __future__ import annotations

import json

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

from transformer_course.library.attention_maps import SHIPPED
from transformer_course.library.published import LISTED, fetch

SENTENCES = (
    "The cat didn't climb the tree because it was too scared.",
    "The cat didn't climb the tree because it was too tall.",
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The trophy doesn't fit into the suitcase because it is too big.",
    "The trophy doesn't fit into the suitcase because it is too small.",
    "Dog bites man, and man bites dog.",
    "The keys to the old house are on the table.",
    "She gave him the book that he had lost.",
    "In 2017, eight people wrote that attention is all you need.",
)


def main() -> None:
    """Write the maps of all sentences, and where they come from, into one file."""
    published, listing = fetch("minilm"), LISTED["minilm"]
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
    config = BertConfig(
        intermediate_size=1536, attn_implementation="eager", **sizes
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False).eval()
    model.load_state_dict(dict(published.weights), strict=False)
    maps, tokens = {}, {}
    for sentence in SENTENCES:
        ids = published.encode(sentence)
        with torch.no_grad():
            found = model(torch.tensor([ids]), output_attentions=True).attentions
        maps[sentence] = torch.cat(found).half()  # (layers, h, L, L)
        tokens[sentence] = [published.token(i) for i in ids]
    about = {
        "model": listing.title,
        "source": f"https://huggingface.co/{listing.hub[0]}",
        "licence": listing.licence,
        "tokens": tokens,
    }
    save_file(maps, SHIPPED, {"about": json.dumps(about)})


if __name__ == "__main__":
    main()
