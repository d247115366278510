"""Draw all drawings of the notebooks anew: ``python assets/figures``."""

from __future__ import annotations

import attention
import decoding
import machine
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
    machine.residual_stream,
)

if __name__ == "__main__":
    for name, draw in ({f.__name__: f for f in FIGURES} | machine.MACHINES).items():
        sheet, alt = draw()
        print(sheet.save(name, alt))
