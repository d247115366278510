"""Draw all drawings of the notebooks anew: ``python assets/figures``."""

from __future__ import annotations

import attention
import decoding
import modern
import training
import transformer

FIGURES = (
    attention.scaled_dot_product,
    attention.one_score,
    attention.self_attention,
    attention.cross_attention,
    attention.list_of_heads,
    attention.multi_head,
    transformer.norm_placements,
    transformer.whole_model,
    decoding.teacher_forcing,
    decoding.beam_search,
    decoding.bottleneck,
    training.training_step,
    training.talk_and_think,
    training.decoder_layer,
    training.wiring,
    modern.three_ages,
    modern.shared_keys,
    modern.block,
)

if __name__ == "__main__":
    for draw in FIGURES:
        sheet, alt = draw()
        print(sheet.save(draw.__name__, alt))
