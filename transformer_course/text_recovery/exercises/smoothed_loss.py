"""Cross-entropy with label smoothing."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.text_recovery.exercises._inputs import PAD


def _logits(
    draw: Draw,
    b: int,
    length: int,
    vocab: int,
    smoothing: float | None,
    scale: float = 3.0,
    real: bool = False,
    gaps: bool = False,
) -> Inputs:
    """Logits, a target with padding (or, if ``real``, without), the smoothing.

    With ``gaps`` there is padding before and between the tokens, too, and the target is
    a part of another tensor.
    """
    target, view = draw.ids(1, vocab, b, length), {}
    if not real:
        target[0, -2:] = PAD
        target[-1, 1:] = PAD
    if gaps:
        target[1, ::2] = PAD
        view = {"view": torch.tensor(True)}
    inputs: Inputs = {
        "logits": draw.tensor(b, length, vocab, scale=scale), "target": target, **view
    }  # fmt: skip
    if smoothing is not None:
        inputs["smoothing"] = torch.tensor(smoothing)
    return inputs


CASES = [
    case("default", "default smoothing", lambda draw: _logits(draw, 3, 5, 11, None),
         "By default, a tenth of the probability is spread over the vocabulary."),
    case("none", "smoothing = 0", lambda draw: _logits(draw, 4, 6, 9, 0.0),
         "Without smoothing this is plain cross-entropy over the real tokens."),
    case("much", "smoothing = 0.25", lambda draw: _logits(draw, 2, 7, 13, 0.25),
         "The target gets 1 - smoothing, plus its share of the rest."),
    case("large", "large logits", lambda draw: _logits(draw, 3, 4, 8, 0.125, scale=150.0),
         "Use log_softmax, not the logarithm of a softmax."),
    case("gaps", "PAD before, between and after the tokens; the target is a slice of a larger tensor",
         lambda draw: _logits(draw, 3, 6, 7, 0.125, gaps=True),
         "A position counts if it is not PAD, wherever it is."),
    case("one_token", "three sentences of one token", lambda draw: _logits(draw, 3, 1, 6, 0.25, real=True),
         "A dimension of size one stays a dimension."),
    case("other", "other sizes", lambda draw: _logits(draw, 5, 3, 17, 0.5),
         "The same for other sizes.", hidden_only=True),
]

MISTAKES = [
    wrong("padding_counts",
          "Padding counts as a token that has to be predicted.",
          "Should the loss change when a batch is padded more?",
          edit("return loss[target != PAD].mean()", "return loss.mean()")),
    wrong("divided_by_all",
          "Padding adds nothing to the sum, but it counts in the number that you divide by.",
          "By how many tokens should the sum be divided?",
          edit("return loss[target != PAD].mean()", "return (loss * (target != PAD)).mean()")),
    wrong("sum",
          "The losses are added up, not averaged.",
          "What happens to the loss of a larger batch?",
          edit("return loss[target != PAD].mean()", "return loss[target != PAD].sum()")),
    wrong("mean_of_rows",
          "You average within each sentence and then over the sentences, so tokens in short sentences count "
          "more.",
          "Does every real token have the same weight?",
          edit("return loss[target != PAD].mean()", """
              real = target != PAD
              return ((loss * real).sum(1) / real.sum(1)).mean()
              """)),
    wrong("no_smoothing",
          "Nothing is smoothed: this is plain cross-entropy.",
          "Where does your loss depend on `smoothing`?",
          edit("loss = -(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)", "loss = -wanted")),
    wrong("sum_over_vocabulary",
          "The even part is summed over the vocabulary, not averaged: its weight is V times too large.",
          "How much does each token get?",
          edit("log_p.mean(dim=-1)", "log_p.sum(dim=-1)")),
    wrong("others_only",
          "The smoothing goes only to the other V - 1 tokens, as in some definitions. Here each of the V tokens gets "
          "smoothing / V, the target included.",
          "By what is the smoothing divided in the formula?",
          edit("- smoothing * log_p.mean(dim=-1)",
               "- smoothing * (log_p.sum(dim=-1) - wanted) / (log_p.size(-1) - 1)")),
    wrong("others_on_top",
          "You divide by V - 1 what you sum over all V tokens: the weights of the tokens sum to more than 1.",
          "By what is the smoothing divided in the formula, and how many tokens get a part of it?",
          edit("smoothing * log_p.mean(dim=-1)", "smoothing * log_p.sum(dim=-1) / (log_p.size(-1) - 1)")),
    wrong("divergence",
          "You return a KL divergence: the entropy of the smoothed targets is subtracted, so the loss is too small by "
          "a constant. Its gradient is right.",
          "What is the loss of a model that predicts the smoothed distribution exactly: 0, or something larger?",
          source("""
              import torch.nn.functional as F
              def smoothed_loss(logits, target, smoothing=0.1):
                  size = logits.size(-1)
                  wanted = F.one_hot(target, size) * (1 - smoothing) + smoothing / size
                  each = F.kl_div(logits.log_softmax(-1), wanted, reduction="none").sum(-1)
                  return each[target != PAD].mean()
              """)),
    wrong("divergence_over_two_fewer",
          "You return a KL divergence, which is the cross-entropy less the entropy of the targets, and spread the "
          "smoothing over V - 2 tokens: all except PAD and the target. This is a published class; the formula above "
          "differs in both.",
          "What is the loss of a model that predicts the smoothed distribution exactly, and which weight does PAD have "
          "in the formula?",
          source("""
              import torch.nn.functional as F
              def smoothed_loss(logits, target, smoothing=0.1):
                  flat, labels = logits.log_softmax(-1).flatten(0, 1), target.flatten()
                  wanted = torch.full_like(flat, smoothing / (flat.size(1) - 2))
                  wanted.scatter_(1, labels.unsqueeze(1), 1 - smoothing)
                  wanted[:, PAD] = 0
                  wanted[labels == PAD] = 0
                  return F.kl_div(flat, wanted, reduction="sum") / (labels != PAD).sum()
              """)),
    wrong("over_two_fewer",
          "You spread the smoothing over V - 2 tokens: all except PAD and the target.",
          "Over which tokens does the docstring spread it?",
          edit("smoothing * log_p.mean(dim=-1)",
               "smoothing * (log_p.sum(-1) - wanted - log_p[..., PAD]) / (log_p.size(-1) - 2)")),
    wrong("not_on_pad",
          "PAD gets none of the smoothing. Some definitions do this; the formula above, like PyTorch, gives each of the "
          "V tokens the same.",
          "Over how many tokens is the smoothing spread?",
          edit("log_p.mean(dim=-1)", "log_p[..., 1:].mean(dim=-1)")),
    wrong("swapped",
          "The two weights are swapped: most of the probability is spread evenly.",
          "Which part should have the weight 1 - smoothing?",
          edit("-(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)",
               "-smoothing * wanted - (1 - smoothing) * log_p.mean(dim=-1)")),
    wrong("weight_one",
          "The target keeps its whole weight; the smoothing comes on top.",
          "Do the weights of all tokens sum to 1?",
          edit("-(1 - smoothing) * wanted", "-wanted")),
    wrong("sign",
          "The sign is wrong: training would make the targets less probable.",
          "Is a logarithm of a probability positive or negative?",
          edit("loss = -(1 - smoothing) * wanted - smoothing", "loss = (1 - smoothing) * wanted + smoothing")),
    wrong("log_of_softmax",
          "For large logits the loss is infinite: a softmax has rounded to 0 before its logarithm was taken.",
          "What is the logarithm of a softmax that underflows, and which function never computes it?",
          edit("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()")),
    wrong("softmax_over_places",
          "The softmax runs over the positions, not over the vocabulary.",
          "Which dimension holds the vocabulary?",
          edit("log_softmax(dim=-1)", "log_softmax(dim=1)")),
    wrong("softmax_twice",
          "The logits went through a softmax before the log-softmax.",
          "What does `cross_entropy` expect: logits or probabilities?",
          edit("logits.log_softmax(dim=-1)", "logits.softmax(-1).log_softmax(dim=-1)")),
    wrong("fixed_smoothing",
          "The smoothing is always 0.1, whatever the argument is.",
          "Where do you use the argument?",
          edit("log_p = logits", """
              smoothing = 0.1
              log_p = logits
              """)),
    wrong("transposed",
          "Logits and targets were flattened in different orders: a target meets the logits of a different position.",
          "In which order does `transpose(...).reshape(...)` list the positions, and in which does `flatten`?",
          source("""
              import torch.nn.functional as F
              def smoothed_loss(logits, target, smoothing=0.1):
                  flat = logits.transpose(0, 1).reshape(-1, logits.size(-1))
                  return F.cross_entropy(flat, target.flatten(), ignore_index=PAD,
                                         label_smoothing=smoothing)
              """)),
    wrong("detached",
          "The value has no gradient, so nothing would be learnt.",
          "What does `.item()` or `.detach()` cut off?",
          edit("return loss[target != PAD].mean()", "return loss[target != PAD].mean().detach()")),
    wrong("until_the_first_pad",
          "Each sentence counts only up to its first PAD.",
          "Which positions are left out: those after a PAD, or those that are PAD?",
          edit("loss[target != PAD]", "loss[(target != PAD).cumprod(dim=1) > 0]")),
    wrong("view",
          "Your function fails for a target that is a slice of another tensor, like those from `shift`.",
          "What does the error say about `view`, and which method does it name?",
          source("""
              import torch.nn.functional as F
              def smoothed_loss(logits, target, smoothing=0.1):
                  return F.cross_entropy(logits.flatten(0, 1), target.view(-1),
                                         ignore_index=PAD, label_smoothing=smoothing)
              """)),
]

ACCEPTED = [
    right("torch_cross_entropy", source("""
        import torch.nn.functional as F
        def smoothed_loss(logits, target, smoothing=0.1):
            return F.cross_entropy(logits.flatten(0, 1), target.flatten(),
                                   ignore_index=PAD, label_smoothing=smoothing)
        """)),
    right("transposed_cross_entropy", source("""
        import torch.nn.functional as F
        def smoothed_loss(logits, target, smoothing=0.1):
            return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD,
                                   label_smoothing=smoothing)
        """)),
    right("wanted_distribution", source("""
        import torch.nn.functional as F
        def smoothed_loss(logits, target, smoothing=0.1):
            vocab = logits.size(-1)
            q = F.one_hot(target, vocab) * (1 - smoothing) + smoothing / vocab
            each = -(q * F.log_softmax(logits, -1)).sum(-1)
            real = (target != PAD).to(each.dtype)
            return (each * real).sum() / real.sum()
        """)),
    right("loop", source("""
        def smoothed_loss(logits, target, smoothing=0.1):
            total, count = 0.0, 0
            for rows, ids in zip(logits, target):
                for row, i in zip(rows, ids):
                    if i != PAD:
                        p = row - row.logsumexp(0)
                        total = total - (1 - smoothing) * p[i] - smoothing * p.mean()
                        count += 1
            return total / count
        """)),
]

EXERCISE = Specification(
    name="text_recovery/smoothed_loss", title="Cross-entropy with label smoothing", target="smoothed_loss",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
