"""Cases and mistakes for an exercise: attention for one query with Python numbers."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_attention(d_k: int, keys: int, d_v: int, masked: int) -> Maker:
    """Make a function that draws a query, ``keys`` keys and values, and a mask.

    The mask forbids ``masked`` random keys, or fewer, since a key may be drawn twice.
    """

    def make_inputs(draw: Draw) -> Inputs:
        allowed = torch.ones(keys, dtype=torch.bool)
        allowed[draw.ids(0, keys, masked)] = False
        tensors = {"query": draw.tensor(d_k), "keys": draw.tensor(keys, d_k), "values": draw.tensor(keys, d_v)}
        return tensors | {"allowed": allowed}

    return make_inputs


CASES = [
    case("parlour", "4 features, 4 dishes, one of them sold out", _draw_attention(4, 4, 2, masked=1),
         "Go through the five steps for Ann with a pencil, and print each of them."),
    case("all_allowed", "nothing is masked", _draw_attention(3, 5, 2, masked=0),
         "Without a mask, every key gets a positive weight."),
    case("long", "9 features, 6 dishes, some of them sold out", _draw_attention(9, 6, 4, masked=3),
         "Read all sizes off the arguments: the root of d_k is 3 here."),
    case("other", "7 features, 3 dishes, one of them sold out", _draw_attention(7, 3, 5, masked=1),
         "Read all sizes off the arguments.", hidden_only=True),
]

_ROOT = "math.sqrt(len(query))"
_POWER = "math.exp(score) if may else 0.0"
_WEIGHTS = "weights = [power / sum(powers) for power in powers]"
_MIXED = "sum(w * value[c] for w, value in zip(weights, values, strict=True))"
_RESULT = "return output, weights"

MISTAKES = [
    wrong("unscaled", "The scores are not divided by the square root of `d_k` before you take powers of e.",
          "What happened to Ann's scores in step 2?",
          edit(f" / {_ROOT}", "")),
    wrong("by_size", "You divided the scores by `d_k` itself, not by its square root.",
          "What did Ann's scores become in step 2, for `d_k = 4`?",
          edit(_ROOT, "len(query)")),
    wrong("root_of_keys", "You took the root of the number of keys instead of the length of the query.",
          "Should a score change because there is one more dish on the menu?",
          edit(_ROOT, "math.sqrt(len(keys))")),
    wrong("always_two", "You always divide by 2, which is correct for `d_k = 4` only.",
          "How can you read `d_k` off the arguments?",
          edit(_ROOT, "2"), tests="lengths"),
    wrong("mask_ignored", "Masked keys still get a weight: their power of e is not zero.",
          "What is e to the power of minus infinity, and what is e to the power of 0?",
          edit(_POWER, "math.exp(score)"),
          edit(_POWER, "math.exp(score) if may else 1.0", name="score_of_zero")),
    wrong("inverted", "Your mask is inverted: you masked the keys that are allowed.",
          "What does `True` mean in this course?",
          edit(_POWER, "0.0 if may else math.exp(score)"), tests="`allowed[j]`"),
    wrong("masked_left_out", "Masked keys are missing from your weights; they need a weight of 0.",
          "If a key gets no entry at all, which value does the next weight meet?",
          edit(f"powers.append({_POWER})", "if may: powers.append(math.exp(score))")),
    wrong("score_not_reset", "Each score also contains the scores of the keys before it.",
          "What should the sum be when a new key begins?",
          edit("powers = []", "powers, score = [], 0.0", "score = sum(products)", "score += sum(products)")),
    wrong("after_softmax",
          "You set the weights of masked keys to zero *after* the softmax, so they no longer sum to 1.",
          "Which powers may be in the sum that you divide by?",
          edit(_POWER, "math.exp(score)",
               _WEIGHTS, "weights = [power / sum(powers) * may for power, may in zip(powers, allowed)]")),
    wrong("powers", "You returned the powers of e, and did not divide them by their sum.",
          "What must the weights sum to?",
          edit("power / sum(powers)", "power")),
    wrong("no_powers", "You divided the scores by their sum, without taking powers of e first.",
          "What would become of a negative score?",
          edit(_POWER, "score if may else 0.0")),
    wrong("base_two", "You took powers of 2 instead of powers of e.",
          "Which function of `math` is the exponential?",
          edit(_POWER, "2.0**score if may else 0.0")),
    wrong("winner_takes_all", "Your output is the value of the best key and nothing else.",
          "How much of the second-best dish is in the mixture?",
          edit(_MIXED, "values[weights.index(max(weights))][c]")),
    wrong("mean_of_values", "Your output is the plain average of the values, as if all weights were equal.",
          "Which number says how much of a value goes into the mixture?",
          edit(_MIXED, "sum(value[c] for value in values) / len(values)")),
    wrong("keys_mixed", "You mixed the keys instead of the values.",
          "What does Ann want to know about each dish?",
          edit(_MIXED, "sum(w * key[c] for w, key in zip(weights, keys, strict=True))")),
    wrong("divided_again", "You divided the weighted sum by the number of keys, although the weights already sum to 1.",
          "If all values are equal, what should the mixture be?",
          edit(_MIXED, f"{_MIXED} / len(values)")),
    wrong("first_component", "Only the first component of the values is mixed.",
          "How many components does the output have?",
          edit("for c in range(len(values[0]))", "for c in range(1)")),
    wrong("rounded", "You rounded the results. The example is rounded only to be easy to read.",
          "Do your weights still sum to exactly 1?",
          edit(_RESULT, "return [round(o, 2) for o in output], [round(w, 2) for w in weights]")),
    common("weights_first", edit(_RESULT, "return weights, output"), tests="weights"),
    common("only_output", edit(_RESULT, "return output")),
    wrong("scores_returned", "In place of the weights, you returned the scores.",
          "Which of your lists sums to 1?",
          edit("powers = []", "powers, scores = [], []", "powers.append(", "scores.append(score); powers.append(",
               _RESULT, "return output, scores")),
    wrong("query_scaled", "The caller's query is scaled on the way.",
          "What is the difference between `query[c] = ...` and a new list?",
          edit("powers = []", """
              powers = []
              for c in range(len(query)):
                  query[c] = query[c] / 2
              """, _ROOT, f"({_ROOT} / 2)"), tests="modified"),
    common("nothing_returned", edit(_RESULT, "output, weights")),
]

ACCEPTED = [
    right("tensors", source("""
        def attend(query, keys, values, allowed):
            q, k, v = torch.tensor([query]), torch.tensor(keys), torch.tensor(values)
            scores = q @ k.T / math.sqrt(len(query))
            weights = scores.masked_fill(~torch.tensor(allowed), -math.inf).softmax(-1)
            return (weights @ v)[0], weights[0]
        """)),
    right("minus_infinity", source("""
        def attend(query, keys, values, allowed):
            scores = []
            for j in range(len(keys)):
                score = sum(query[c] * keys[j][c] for c in range(len(query)))
                scores.append(score / len(query) ** 0.5 if allowed[j] else -math.inf)
            powers = [math.exp(score - max(scores)) for score in scores]
            weights = [power / sum(powers) for power in powers]
            output = [0.0] * len(values[0])
            for weight, value in zip(weights, values):
                for c, component in enumerate(value):
                    output[c] += weight * component
            return output, weights
        """)),
    right("power_of_e", edit("math.exp(score)", "math.e**score")),
]

EXERCISE = Specification(
    target="attend", ready_made=("F.scaled_dot_product_attention",), parts="weights",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
