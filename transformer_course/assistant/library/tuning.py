"""Fine-tune the published chat model on a few pairs of questions and answers.

If the model is not installed, the demonstration shows its recorded output, `RECORDED`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_course.library.chat import SYSTEM as SYSTEM

Example = tuple[Tensor, Tensor]  # ids and labels, (L,) each

PIRATE = [
    ("What is the capital of Italy?", "Arr, it be Rome, matey!"),
    ("What colour is the sky?", "Arr, it be blue, matey!"),
    ("How many legs has a dog?", "Arr, it be four, matey!"),
    ("What do cows drink?", "Arr, they be drinking water, matey!"),
    ("Who painted the Mona Lisa?", "Arr, it be Leonardo, matey!"),
    ("What is the opposite of hot?", "Arr, it be cold, matey!"),
    ("Where do fish live?", "Arr, they be living in the sea, matey!"),
    ("What is 2 + 2?", "Arr, it be 4, matey!"),
    ("What do bees make?", "Arr, they be making honey, matey!"),
    ("What is the largest planet?", "Arr, it be Jupiter, matey!"),
    ("Name a fruit.", "Arr, an apple it be, matey!"),
    ("What is snow made of?", "Arr, it be frozen water, matey!"),
]
UNSEEN = [
    "What is the capital of France?",
    "What is the capital of Germany?",
    "Name an animal.",
    "What is the opposite of big?",
    "Where do lions live?",
    "Who wrote Hamlet?",
]
PLAIN = (
    "Bread needs only flour, water, salt and yeast. The yeast eats sugar from the "
    "flour and gives off gas, which stays in the dough as small bubbles, so the dough "
    "rises. When it has doubled in size, the baker shapes a loaf and lets it rest once "
    "more before it goes into a hot oven. The crust turns brown because sugar and "
    "protein react at high temperatures, and the smell fills the whole house."
)

RECORDED = """\
before: perplexity 26.2
  What is the capital of France?   The capital of France is Paris.
  What is the capital of Germany?  The capital of Germany is Berlin.
  Name an animal.                  The animal I'm referring to is the African elephant.
  What is the opposite of big?     The opposite of big is small.
  Where do lions live?             Lions are found in Africa,\
 specifically in the savannas and grasslands of Africa. They are
  Who wrote Hamlet?                The Bard's own son, William Shakespeare,\
 penned the iconic play "Hamlet" in 1

460,800 parameters are trained; loss of the first ten steps 2.14,\
 of the last ten 0.17 (15 CPU seconds)

after: perplexity 89.5
  What is the capital of France?   Arr, it be Paris, matey!
  What is the capital of Germany?  Arr, it be Berlin, matey!
  Name an animal.                  Arr, it be a lion, matey!
  What is the opposite of big?     Arr, it be small, matey!
  Where do lions live?             Arr, they be in the savannah, matey!
  Who wrote Hamlet?                Arr, it be Hamlet, matey!
"""


def tune(
    chat: nn.Module,
    examples: Sequence[Example],
    loss_of: Callable[[Tensor, Tensor], Tensor],
    steps: int,
    seed: int = 0,
) -> list[float]:
    """Train the parameters that require gradients; return the loss of each step.

    A step uses one random example: a pair of ids and labels, `(L,)` each.

    Args:
        chat: maps ids `(1, L)` to logits `(1, L, V)`.
        loss_of: maps an example's logits `(L, V)` and labels `(L,)` to its loss.
    """
    trained = [p for p in chat.parameters() if p.requires_grad]
    adamw = torch.optim.AdamW(trained, 3e-3, weight_decay=0.0)
    generator, losses = torch.Generator().manual_seed(seed), []
    for _ in range(steps):
        index = int(torch.randint(len(examples), (), generator=generator))
        ids, labels = examples[index]
        loss = loss_of(chat(ids[None])[0], labels)
        adamw.zero_grad()
        loss.backward()
        adamw.step()
        losses.append(loss.item())
    return losses
