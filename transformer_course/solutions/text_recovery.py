"""Built from notebooks/06_text_recovery.py by `make build`; do not edit."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from jaxtyping import Float, Int
from torch import Tensor, nn
from tqdm.auto import tqdm
from transformer_course.library.checkpoint import handed_in, load, notes, save, shipped
from transformer_course.library.decoding import bucketed, make_batch, padded, recover
from transformer_course.library.text import BOS, EOS, PAD, SPECIALS, SubwordTokenizer, WordTokenizer, pieces, tokenize_13a
from transformer_course.solutions import encoder_decoder as encoder_decoder
from transformer_course.solutions import sequence_reversal as reversal
import math
import random
import torch
import torch.nn.functional as F


class ReadOnce(nn.Module):
    """A model that reads its source once, however often it is asked what comes next."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.memory = model, None
        self.train(model.training)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        if self.memory is None:
            self.memory = self.model.encode(source)  # (B, Ls, d_model)
        return self.model.decode(target, self.memory, source)


def greedy(model: nn.Module, source: Int[Tensor, "B Ls"]) -> Int[Tensor, "B L"]:
    """Ids for source ids: unit 5's search; the source is read once."""
    return reversal.greedy_decode(ReadOnce(model), source, max_len=60)


def ngrams(tokens: Sequence[str], n: int) -> Counter:
    """How often each n-gram, a tuple of n tokens, occurs; none if there are fewer."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def merge_pair(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """The symbols with every occurrence of the pair merged, from left to right."""
    merged, i = [], 0
    while i < len(symbols):
        width = 2 if tuple(symbols[i : i + 2]) == pair else 1
        merged.append("".join(symbols[i : i + width]))
        i += width
    return merged


def learn_merges(counts: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
    """Byte-pair encoding: the pairs to merge, in the order in which they are found.

    Args:
        counts: how often each word occurs; a word is a string of characters.
        num_merges: how many merges to learn, at most.

    Returns:
        Pairs of symbols; fewer than `num_merges` once no pair occurs at least twice.
    """
    words = {word: list(word) for word in counts}
    pairs: Counter = Counter()
    homes = defaultdict(set)  # the words that a pair occurs in: only these change
    merges = []

    def register(word: str, sign: int) -> None:
        for pair in zip(words[word], words[word][1:], strict=False):
            pairs[pair] += sign * counts[word]
            homes[pair].add(word)

    for word in counts:
        register(word, +1)
    quiet = not reversal.watched(num_merges)
    bar = tqdm(range(num_merges), "merges", disable=quiet, delay=1)
    for _ in bar:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
        if best is None or pairs[best] < 2:
            break
        merges.append(best)
        for word in homes.pop(best):
            register(word, -1)
            words[word] = merge_pair(words[word], best)
            register(word, +1)
    return merges


def segment(word: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """The symbols of a word after the merges, applied in their order.

    Args:
        word: any text without spaces; characters may be new.
        merges: pairs of symbols, as `learn_merges` returns them.
    """
    symbols = list(word)
    for pair in merges:
        if len(symbols) == 1:
            break
        symbols = merge_pair(symbols, pair)
    return symbols


def bleu(
    hypotheses: list[str],
    references: list[str],
    tokenize: Callable[[str], list[str]] = tokenize_13a,
) -> float:
    """BLEU-4 of a corpus with one reference per sentence, without smoothing.

    Args:
        hypotheses: what was produced, one text per sentence.
        references: the original of each sentence.
        tokenize: cuts a text into the tokens that are counted.

    Returns:
        A number between 0 and 100.
    """
    matches, totals, h, r = [0] * 4, [0] * 4, 0, 0
    for text, original in zip(hypotheses, references, strict=True):
        tokens, wanted = tokenize(text), tokenize(original)
        for n in range(4):
            own, allowed = ngrams(tokens, n + 1), ngrams(wanted, n + 1)
            matches[n] += (own & allowed).total()
            totals[n] += own.total()
        h, r = h + len(tokens), r + len(wanted)
    if 0 in matches:
        return 0.0
    logs = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True))
    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / 4)


def paired_bootstrap(
    first: Int[Tensor, "n c"],
    second: Int[Tensor, "n c"],
    score: Callable[[Tensor], float],
    rng: random.Random,
    resamples: int = 1000,
) -> tuple[float, float, float]:
    """The 95 % interval of the difference between two models' scores (Koehn 2004).

    Args:
        first, second: counts of the two models on the same n sentences.
        score: maps the sum of rows `(c,)` to the score of a corpus.
        rng: the source of all randomness.
        resamples: how many test sets to draw.

    Returns:
        The lower and the upper end of the interval of second minus first, and the
        fraction of resamples in which the second is better.
    """
    n, differences = len(first), []
    for _ in range(resamples):
        rows = rng.choices(range(n), k=n)
        differences.append(score(second[rows].sum(0)) - score(first[rows].sum(0)))
    differences.sort()
    tail = resamples // 40
    wins = sum(d > 0 for d in differences) / resamples
    return differences[tail], differences[-1 - tail], wins


def beam_step(
    prefixes: Int[Tensor, "n t"],
    scores: Float[Tensor, "n"],
    log_p: Float[Tensor, "n V"],
    k: int,
) -> tuple[Int[Tensor, "k t+1"], Float[Tensor, "k"]]:
    """The k best continuations of all prefixes by one token.

    Args:
        prefixes: ids, int64.
        scores: sums of log-probabilities, one per prefix.
        log_p: log-probabilities of the next token.
        k: how many continuations to keep.

    Returns:
        The longer prefixes and their scores, in this order.
    """
    total = scores[:, None] + log_p  # (n, V)
    scores, flat = total.flatten().topk(min(k, total.numel()))  # (k,)
    parent = flat // total.size(1)
    token = flat % total.size(1)
    return torch.cat([prefixes[parent], token[:, None]], dim=1), scores


@torch.no_grad()
def beam_search(
    model: nn.Module,
    source: Int[Tensor, "B Ls"],
    beam_size: int = 4,
    max_len: int = 60,
    alpha: float = 1.0,
) -> Int[Tensor, "B L"]:
    """Beam search for a batch; scores are divided by a power of the length.

    Args:
        model: with `encode` and `decode`, as above.
        source: source ids.
        beam_size: how many prefixes stay live for each sentence.
        max_len: how many tokens an answer may have.
        alpha: the power of the length by which scores are divided.

    Returns:
        Ids: no BOS; after EOS only PAD. L is at most `max_len`.
    """
    model.eval()
    answers = []
    for one in source.split(1):  # (1, Ls)
        memory, best, answer = model.encode(one), -math.inf, []
        prefixes = one.new_full((1, 1), BOS)  # (n, t)
        scores = torch.zeros(1, device=one.device)  # (n,)
        for length in range(1, max_len + 1):
            n = len(prefixes)
            logits = model.decode(prefixes, memory.expand(n, -1, -1), one.expand(n, -1))
            log_p = logits[:, -1].log_softmax(dim=-1)  # (n, V)
            ended, i = ((scores + log_p[:, EOS]) / length**alpha).max(dim=0)
            if ended > best:
                best, answer = ended, [*prefixes[i, 1:].tolist(), EOS]
            log_p[:, EOS] = -math.inf
            prefixes, scores = beam_step(prefixes, scores, log_p, beam_size)
            if best >= scores[0] / length**alpha:
                break
        answers.append(answer)
    return padded(answers).to(source.device)


def restore(sources: list[str]) -> list[str]:
    """The original sentences of the sources, as well as my model can recover them.

    Args:
        sources: what the pipeline left, one text per sentence.

    Returns:
        One text for each source, in the same order.
    """
    model, tokenizer = load(handed_in(), encoder_decoder, segment)
    return recover(model, tokenizer, sources, greedy)
