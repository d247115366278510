"""Lines of the solution that many mistakes change."""

from __future__ import annotations

CLEAR = "optimizer.zero_grad()"
BACK = "loss.backward()"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
STEP = "optimizer.step()"
FORWARD = "loss = (loss_function or masked_loss)(model(source, decoder_input), labels)"
