"""Perplexity with a sliding window."""

from __future__ import annotations

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.since_2017.exercises._inputs import whole


def _text(length: int, vocabulary: int, window: int, stride: int, num_bytes: int, scale: float = 2.0) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        sizes = whole(window=window, stride=stride, num_bytes=num_bytes)
        return sizes | {
            "ids": draw.ids(0, vocabulary, length),
            "table": draw.tensor(vocabulary, vocabulary, scale=scale),
        }

    return inputs


_NEW = "total += prices[-(end - scored) :].sum().item()"
_PRICES = 'prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")'
_RETURN = "return math.exp(total / (len(ids) - 1)), total / math.log(2) / num_bytes"

CASES = [
    case("overlapping", "11 tokens, window 6, stride 4", _text(11, 9, 6, 4, 25),
         "Compare with the picture: the third window has three tokens, one of them new."),
    case("one_window", "7 tokens in one window", _text(7, 8, 12, 5, 19),
         "A window that holds the whole text is the only one."),
    case("by_one", "8 tokens, window 4, stride 1", _text(8, 6, 4, 1, 30),
         "Each later window has one new token."),
    case("exact", "13 tokens, window 5, stride 4", _text(13, 7, 5, 4, 40),
         "The last window ends with the text, and no other follows."),
    # Prices of up to 72 nats: float32 still knows such a probability.
    case("hopeless", "a model that is nearly always wrong, and very sure", _text(9, 8, 5, 3, 31, scale=12.0),
         "A price may be large: nothing stops it at 20 nats.", tells=("bounded_prices",)),
    case("long", "30 tokens, window 9, stride 5", _text(30, 10, 9, 5, 77),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("all_counted",
          "Tokens that an earlier window has counted are counted again.",
          "How many tokens of the second window are new?",
          edit(_NEW, "total += prices.sum().item()")),
    wrong("mean_of_windows",
          "You average the windows' means: short windows weigh as much as long ones.",
          "Does every token weigh the same?",
          source("""
              def sliding_perplexity(model, ids, window, stride, num_bytes):
                  means, total, scored = [], 0.0, 1
                  for begin in range(0, len(ids), stride):
                      end = min(begin + window, len(ids))
                      seen = ids[begin:end]
                      logits = model(seen[None])[0]
                      prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")
                      new = prices[-(end - scored):]
                      means.append(new.mean().item())
                      total, scored = total + new.sum().item(), end
                      if end == len(ids):
                          break
                  return math.exp(sum(means) / len(means)), total / math.log(2) / num_bytes
              """)),
    wrong("mean_of_perplexities",
          "You average perplexities; the mean belongs into the exponent.",
          "Is the mean of $e^a$ and $e^b$ the same as $e$ to the mean of $a$ and $b$?",
          source("""
              def sliding_perplexity(model, ids, window, stride, num_bytes):
                  every, scored = [], 1
                  for begin in range(0, len(ids), stride):
                      end = min(begin + window, len(ids))
                      seen = ids[begin:end]
                      logits = model(seen[None])[0]
                      prices = F.cross_entropy(logits[:-1], seen[1:], reduction="none")
                      every += prices[-(end - scored):].tolist()
                      scored = end
                      if end == len(ids):
                          break
                  return sum(map(math.exp, every)) / len(every), sum(every) / math.log(2) / num_bytes
              """)),
    wrong("no_overlap",
          "Your windows do not overlap: each starts where the one before ended.",
          "What is `stride` for?",
          edit("range(0, len(ids), stride)", "range(0, len(ids), window)")),
    wrong("goes_on",
          "You go on after the window that reaches the end of the text.",
          "Which window is the last one?",
          edit("if end == len(ids):", "if False:",
               _NEW, "total += prices[len(prices) - (end - scored) :].sum().item()")),
    wrong("last_window_dropped",
          "The last, shorter window is left out: the end of the text is not counted.",
          "Is each token but the first counted?",
          edit("seen = ids[begin:end]  # (n,)", """
              seen = ids[begin:end]
              if 0 < begin and end - begin < window:
                  break
              """)),
    wrong("last_window_moved",
          "Your last window is moved back so that it is full.",
          "Where does each window start?",
          edit("seen = ids[begin:end]", "seen = ids[max(0, end - window):end]")),
    wrong("not_shifted",
          "Each position is asked for its own token, not for the next one.",
          "What is the logit of position t an opinion on?",
          edit(_PRICES, 'prices = F.cross_entropy(logits, seen, reduction="none")')),
    wrong("shifted_the_wrong_way",
          "Each position is asked for the token *before* it.",
          "Which logits belong to `seen[1:]`: those without the last, or those without the first?",
          edit("F.cross_entropy(logits[:-1], seen[1:]", "F.cross_entropy(logits[1:], seen[:-1]")),
    wrong("divided_by_length",
          "You divide by the number of tokens, though one fewer is predicted.",
          "Which token is never predicted?",
          edit("total / (len(ids) - 1)", "total / len(ids)")),
    wrong("perplexity_of_bytes",
          "You divide by the number of bytes in the perplexity, too.",
          "Perplexity is per what?",
          edit("total / (len(ids) - 1)", "total / num_bytes")),
    wrong("no_exponential",
          "You return the mean price; the perplexity is $e$ to the power of it.",
          "What is the perplexity of a model that is always sure and right?",
          edit("math.exp(total / (len(ids) - 1))", "total / (len(ids) - 1)")),
    wrong("power_of_two",
          "You take 2 to the power of a price that is in nats.",
          "Which logarithm does `cross_entropy` use?",
          edit("math.exp(total / (len(ids) - 1))", "2 ** (total / (len(ids) - 1))")),
    wrong("nats_per_byte",
          "Your second number is in nats, not in bits.",
          "How many nats are a bit?",
          edit("total / math.log(2) / num_bytes", "total / num_bytes")),
    wrong("bits_multiplied",
          "You multiply by $\\log 2$; a nat is *more* than a bit.",
          "How many nats are a bit?",
          edit("total / math.log(2) / num_bytes", "total * math.log(2) / num_bytes")),
    wrong("bits_per_token",
          "Your second number is per token, not per byte.",
          "What is `num_bytes` for?",
          edit("total / math.log(2) / num_bytes", "total / math.log(2) / (len(ids) - 1)")),
    wrong("pair_swapped",
          "The pair is in the wrong order: first the perplexity, then the bits per byte.",
          "What does the docstring return first?",
          edit(_RETURN, "return total / math.log(2) / num_bytes, math.exp(total / (len(ids) - 1))")),
    wrong("tensors",
          "You return tensors; floats are asked for.",
          "What does `.item()` do?",
          edit(_RETURN,
               "return torch.tensor(math.exp(total / (len(ids) - 1))), torch.tensor(total / math.log(2) / num_bytes)")),
    wrong("probabilities",
          "You take the model's answers for probabilities: they are logits.",
          "What does `cross_entropy` expect, and what does a plain logarithm?",
          edit(_PRICES, "prices = -logits[:-1].softmax(-1).gather(1, seen[1:, None])[:, 0]")),
    wrong("one_token_more_seen",
          "Your windows have one token too many or too few.",
          "How many tokens may the model see at most?",
          edit("min(begin + window, len(ids))", "min(begin + window + 1, len(ids))")),
    wrong("bounded_prices",
          "No token costs more than about 20 nats: a small number is added to its probability.",
          "Which function gives the logarithm of a softmax without that?",
          edit(_PRICES, "prices = -(logits[:-1].softmax(-1) + 1e-9).gather(1, seen[1:, None])[:, 0].log()")),
]

ACCEPTED = [
    right("labels_ignored", source("""
        def sliding_perplexity(model, ids, window, stride, num_bytes):
            n, nll, previous = ids.size(0), [], 1
            for start in range(0, n, stride):
                stop = min(start + window, n)
                labels = ids[start:stop].clone()
                labels[: previous - start] = -100
                with torch.inference_mode():
                    logits = model(ids[None, start:stop])
                nll.append(F.cross_entropy(logits[0, :-1], labels[1:], ignore_index=-100, reduction="sum"))
                previous = stop
                if stop == n:
                    break
            whole = torch.stack(nll).sum()
            return float(torch.exp(whole / (n - 1))), float(whole / num_bytes / torch.log(torch.tensor(2.0)))
        """)),
    right("while_loop", source("""
        def sliding_perplexity(model, ids, window, stride, num_bytes):
            price, begin = {}, 0
            while True:
                seen = ids[begin : begin + window]
                log_p = model(seen.reshape(1, -1))[0].detach().log_softmax(-1)
                for i in range(1, len(seen)):
                    price.setdefault(begin + i, -log_p[i - 1, seen[i]].item())
                if begin + window >= len(ids):
                    break
                begin += stride
            total = sum(price.values())
            return math.exp(total / len(price)), total / (num_bytes * math.log(2))
        """)),
    right("base_two", edit("math.exp(total / (len(ids) - 1))", "2.0 ** (total / math.log(2) / (len(ids) - 1))")),
]

EXERCISE = Specification(
    name="since_2017/sliding_perplexity", title="Perplexity", target="sliding_perplexity",
    aspects={"windows": 2.0, "bits per byte": 4.0},  # beside the perplexity
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
