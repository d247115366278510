"""Cases and mistakes for an exercise: attribute a logit to the parts of a model."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_STREAM = "stream = parts.sum(dim=0)"
_SCALE = "scale = torch.rsqrt(stream.square().mean() + eps)"
_RETURN = "return parts * scale * gain @ direction"

CASES = [
    case("five", "5 parts of 4 components", sizes(n=5, d_model=4, eps=1e-6),
         "Do your contributions add up to the logit?"),
    case("many", "9 parts of 6 components", sizes(n=9, d_model=6, eps=1e-5),
         "Which vector does the final norm divide by its root mean square?"),
    case("small", "small parts, for which eps matters", sizes(n=4, d_model=7, eps=0.01, scale=0.05),
         "Where does unit 7's RMSNorm add eps?", tests="eps"),
    case("single", "one part", sizes(n=1, d_model=5, eps=1e-6),
         "A single part is the whole stream."),
    case("more", "7 parts of 8 components", sizes(n=7, d_model=8, eps=1e-6), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("normed_alone",
          "You normalised each part by its own root mean square. Every part then looks equally long, and the "
          "contributions do not add up to the logit.",
          "The model normalises once. Which vector: a part, or their sum?",
          edit(_SCALE, "scale = torch.rsqrt(parts.square().mean(dim=-1, keepdim=True) + eps)"), tests="sum"),
    wrong("no_norm", "The final norm's scale is missing.",
          "What happens to the residual stream between the last block and the output matrix?",
          edit("parts * scale * gain", "parts * gain")),
    wrong("no_gain", "The weight of the final norm is missing.",
          "RMSNorm divides, and then?",
          edit("parts * scale * gain", "parts * scale")),
    wrong("one_plus_gain", "You multiplied by `1 + gain`; this norm multiplies by `gain`.",
          "What does the norm do if its weight is all zeros?",
          edit("parts * scale * gain", "parts * scale * (1 + gain)")),
    wrong("length", "You divided by the length of the stream instead of its root mean square.",
          "RMSNorm leaves vectors of which length: 1 or `√d_model`?",
          edit("stream.square().mean()", "stream.square().sum()")),
    wrong("mean_of_parts", "The scale belongs to the mean of the parts, not to their sum.",
          "How does a block combine with the residual stream?",
          edit(_STREAM, "stream = parts.mean(dim=0)")),
    wrong("eps_outside", "`eps` is missing or is added after the square root.",
          "Where does unit 7's RMSNorm add it?",
          edit(" + eps)", ")"),
          edit("torch.rsqrt(", "1 / (", ".mean() + eps", ".mean().sqrt() + eps", name="eps_after_the_root")),
    wrong("centred", "You subtracted a mean, as LayerNorm does.",
          "What distinguishes RMSNorm from LayerNorm?",
          edit(_SCALE, "parts = parts - parts.mean(dim=-1, keepdim=True)\nstream = parts.sum(dim=0)\n" + _SCALE),
          edit("stream.square()", "(stream - stream.mean()).square()", name="centred_for_the_scale")),
    wrong("gain_first", "You multiplied by the norm's weight before the root mean square was taken.",
          "In which order does RMSNorm divide and multiply?",
          edit(_STREAM, "stream = (parts * gain).sum(dim=0)")),
    wrong("total", "You return the logit itself instead of one contribution per part.",
          "Which dimension does the result have?",
          edit(_RETURN, "return (parts * scale * gain @ direction).sum()")),
    wrong("shares",
          "You return shares of the whole. A share hides how large a logit is, and its sign if it is negative.",
          "What should the contributions add up to?",
          edit(_RETURN, """
              contributions = parts * scale * gain @ direction
              return contributions / contributions.sum()
              """)),
    wrong("absolute", "The signs are lost: a part may also work *against* a token.",
          "Can a contribution be negative?",
          edit(_RETURN, "return (parts * scale * gain @ direction).abs()")),
    wrong("cosine", "The direction was normalised.",
          "Does the model's output matrix have rows of length 1?",
          edit("gain @ direction", "gain @ (direction / direction.norm())")),
]

ACCEPTED = [
    right("one_vector", source("""
        def attribute_logit(parts, gain, direction, eps=1e-6):
            rms = (parts.sum(0).pow(2).mean() + eps).sqrt()
            return parts @ (gain * direction / rms)
        """)),
    right("elementwise", source("""
        def attribute_logit(parts, gain, direction, eps=1e-6):
            total = sum(parts)
            normed = parts / torch.sqrt(torch.mean(total * total) + eps)
            return (normed * gain * direction).sum(dim=-1)
        """)),
]

EXERCISE = Specification(
    tells={"more": "absolute", "small": "centred_for_the_scale"},
    results="the contributions", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
