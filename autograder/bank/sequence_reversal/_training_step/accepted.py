"""Other styles in which a training step is right."""

from __future__ import annotations

from autograder.bank.sequence_reversal._training_step.lines import CLEAR, STEP
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="cleared_first", edits=[
        Edit(CLEAR, ""),
        Edit(
            "model.train()",
            """
            model.train()
            optimizer.zero_grad()
            """,
        ),
    ]),
    Accepted(name="everything_by_hand", source="""
        def training_step(model, optimizer, source, target, max_norm=1.0, loss_function=None):
            model.train(True)
            for p in model.parameters():
                p.grad = None
            labels = target[:, 1:]
            logits = model(source, target[:, :-1])
            if loss_function is None:
                loss = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)
            else:
                loss = loss_function(logits, labels)
            loss.backward()
            norm = sum((p.grad ** 2).sum() for p in model.parameters()) ** 0.5
            if norm > max_norm:
                for p in model.parameters():
                    p.grad.mul_(max_norm / norm)
            optimizer.step()
            return float(loss)
        """),
    Accepted(name="closure", source="""
        def training_step(model, optimizer, source, target, max_norm=1.0, loss_function=None):
            model.train()
            def closure():
                optimizer.zero_grad(set_to_none=False)
                given, labels = shift(target)
                loss = (loss_function or masked_loss)(model(source, given), labels)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                return loss
            return optimizer.step(closure).item()
        """),
    Accepted(name="model_zero_grad", edits=[Edit(CLEAR, "model.zero_grad()")]),
    Accepted(name="without_eos_in_input", edits=[
        Edit("(model(source, decoder_input)",
             "(model(source, decoder_input.masked_fill(decoder_input == EOS, PAD))"),
    ]),

    Accepted(name="mode_given_back", edits=[
        Edit(
            "model.train()",
            """
            before = model.training
            model.train()
            """,
        ),
        Edit(
            STEP,
            """
            optimizer.step()
            model.train(before)
            """,
        ),
    ]),
]
