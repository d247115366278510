"""Built from notebooks/06_text_recovery.py by `make build`; do not edit."""

from transformer_course.library.checkpoint import handed_in, load, notes, save, shipped
from transformer_course.library.decoding import bucketed, make_batch, padded, recover
from transformer_course.library.text import BOS, EOS, PAD, SPECIALS, SubwordTokenizer, WordTokenizer, lemma, pieces, tokenize_13a
from transformer_course.solutions import encoder_decoder as encoder_decoder
from transformer_course.solutions import sequence_reversal as reversal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from torch import Tensor, nn
from tqdm.auto import tqdm
import math
import random
import re
import torch


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


def greedy(model: nn.Module, source: Tensor) -> Tensor:
    """Ids (B, L) for source ids (B, Ls): unit 5's search; the source is read once."""
    return reversal.greedy_decode(ReadOnce(model), source, max_len=60)


def preprocess(
    sentence: str,
    level: int,
    function_words: frozenset[str],
    lemma: Callable[[str], str],
) -> str:
    """What the pipeline leaves of a sentence.

    Args:
        sentence: any text.
        level: 1 keeps all words, 2 drops function words, 3 also takes lemmas.
        function_words: the words to drop, in lower case.
        lemma: maps a lower-case word to its dictionary form.

    Returns:
        Words with single spaces between them; "" if nothing is left.
    """
    words = re.findall(r"\w+(?:['-]\w+)*", sentence.lower())
    if level >= 2:
        words = [word for word in words if word not in function_words]
    if level >= 3:
        words = [lemma(word) for word in words]
    return " ".join(words)


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


def smoothed_loss(logits: Tensor, target: Tensor, smoothing: float = 0.1) -> Tensor:
    """Cross-entropy with label smoothing, averaged over the real tokens.

    Args:
        logits: scores of the vocabulary, shape `(B, L, V)`.
        target: the correct ids, shape `(B, L)`, int64; positions with PAD do not count.
        smoothing: the probability that is spread evenly over the vocabulary.

    Returns:
        The loss, shape `()`.
    """
    log_p = logits.log_softmax(dim=-1)  # (B, L, V)
    wanted = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)  # (B, L)
    loss = -(1 - smoothing) * wanted - smoothing * log_p.mean(dim=-1)  # (B, L)
    return loss[target != PAD].mean()


def clipped_matches(
    hypothesis: list[str], references: list[list[str]], n: int
) -> tuple[int, int]:
    """How many n-grams of the hypothesis match, clipped, and how many it has.

    Args:
        hypothesis: its tokens.
        references: the tokens of each reference, one or more.
        n: the length of an n-gram.
    """

    def ngrams(tokens: list[str]) -> Counter:
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    own, allowed = ngrams(hypothesis), Counter()
    for reference in references:
        allowed |= ngrams(reference)
    return (own & allowed).total(), own.total()


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
            found, total = clipped_matches(tokens, [wanted], n + 1)
            matches[n], totals[n] = matches[n] + found, totals[n] + total
        h, r = h + len(tokens), r + len(wanted)
    if 0 in matches:
        return 0.0
    logs = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True))
    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / 4)


def corpus_bleu(
    hypotheses: list[str],
    references: list[list[str]],
    tokenize: Callable[[str], list[str]] = tokenize_13a,
    smooth: str = "exp",
    effective_order: bool = False,
) -> float:
    """BLEU-4 of a corpus, between 0 and 100, equal to sacrebleu's.

    Args:
        hypotheses: what was produced, one text per sentence.
        references: for each sentence its references, one or more texts.
        tokenize: cuts a text into the tokens that are counted.
        smooth: "none" or "exp": how orders without a match are treated.
        effective_order: whether orders without any n-gram are left out.
    """
    matches, totals, h, r = [0] * 4, [0] * 4, 0, 0
    for text, originals in zip(hypotheses, references, strict=True):
        tokens, wanted = tokenize(text), [tokenize(original) for original in originals]
        for n in range(4):
            found, total = clipped_matches(tokens, wanted, n + 1)
            matches[n], totals[n] = matches[n] + found, totals[n] + total
        h += len(tokens)
        r += min(map(len, wanted), key=lambda size: (abs(size - len(tokens)), size))
    orders = sum(total > 0 for total in totals) if effective_order else 4
    if not any(matches) or 0 in totals[:orders]:
        return 0.0
    logs, share = 0.0, 1.0
    for found, total in zip(matches[:orders], totals, strict=False):
        if found == 0 and smooth == "none":
            return 0.0
        if found == 0:
            share /= 2
        logs += math.log((found or share) / total)
    return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / orders)


def paired_bootstrap(
    first: Tensor,
    second: Tensor,
    score: Callable[[Tensor], float],
    rng: random.Random,
    resamples: int = 1000,
) -> tuple[float, float, float]:
    """The 95 % interval of the difference between two models' scores (Koehn 2004).

    Args:
        first, second: counts of the two models on the same n sentences, `(n, c)`.
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
    prefixes: Tensor, scores: Tensor, log_p: Tensor, k: int
) -> tuple[Tensor, Tensor]:
    """The k best continuations of all prefixes by one token.

    Args:
        prefixes: ids, shape `(n, t)`.
        scores: sums of log-probabilities, one per prefix, shape `(n,)`.
        log_p: log-probabilities of the next token, shape `(n, V)`.
        k: how many continuations to keep.

    Returns:
        The longer prefixes `(k, t + 1)` and their scores `(k,)`, in this order.
    """
    total = scores[:, None] + log_p  # (n, V)
    scores, flat = total.flatten().topk(min(k, total.numel()))  # (k,)
    parent = flat // total.size(1)
    token = flat % total.size(1)
    return torch.cat([prefixes[parent], token[:, None]], dim=1), scores


@torch.no_grad()
def beam_sentence(
    model: nn.Module, source: Tensor, beam_size: int = 4, max_len: int = 60
) -> list[int]:
    """Beam search for one sentence, by raw scores.

    Args:
        model: with `encode` and `decode`, as above.
        source: ids of one sentence, shape `(1, Ls)`.
        beam_size: how many prefixes stay live.
        max_len: how many tokens an answer may have.

    Returns:
        The ids of the best finished hypothesis, without BOS, with EOS.
    """
    model.eval()
    memory = model.encode(source)  # (1, Ls, d_model)
    prefixes = source.new_full((1, 1), BOS)  # (n, t)
    scores = torch.zeros(1, device=source.device)  # (n,)
    best, answer = -math.inf, []
    for _ in range(max_len):
        n = len(prefixes)
        logits = model.decode(prefixes, memory.expand(n, -1, -1), source.expand(n, -1))
        log_p = logits[:, -1].log_softmax(dim=-1)  # (n, V)
        ended, i = (scores + log_p[:, EOS]).max(dim=0)
        if ended > best:
            best, answer = ended, [*prefixes[i, 1:].tolist(), EOS]
        log_p[:, EOS] = -math.inf
        prefixes, scores = beam_step(prefixes, scores, log_p, beam_size)
        if best >= scores[0]:
            break
    return answer


@torch.no_grad()
def beam_search(
    model: nn.Module,
    source: Tensor,
    beam_size: int = 4,
    max_len: int = 60,
    alpha: float = 1.0,
) -> Tensor:
    """Beam search for a batch; scores are divided by a power of the length.

    Args:
        model: with `encode` and `decode`, as above.
        source: source ids, shape `(B, Ls)`.
        beam_size: how many prefixes stay live for each sentence.
        max_len: how many tokens an answer may have.
        alpha: the power of the length by which scores are divided.

    Returns:
        Ids, shape `(B, L)` with `L <= max_len`: no BOS; after EOS only PAD.
    """
    model.eval()
    k, answers = beam_size, [[] for _ in source]
    best = torch.full((len(source),), -math.inf, device=source.device)  # (B,) ended
    rows = torch.arange(len(source), device=source.device)  # sentences not yet done
    prefixes = source.new_full((len(rows), 1, 1), BOS)  # (b, live, t)
    scores = best.new_zeros(len(rows), 1)  # (b, live)
    memory = model.encode(source)  # (B, Ls, d_model)
    for length in range(1, max_len + 1):
        live = prefixes.size(1)
        asked = rows.repeat_interleave(live)
        logits = model.decode(prefixes.flatten(0, 1), memory[asked], source[asked])
        log_p = logits[:, -1].log_softmax(-1).unflatten(0, (-1, live))  # (b, live, V)
        total = scores[..., None] + log_p

        ended, winner = (total[..., EOS] / length**alpha).max(dim=-1)  # (b,)
        for i in (ended > best[rows]).nonzero().flatten().tolist():
            answers[rows[i]] = [*prefixes[i, winner[i], 1:].tolist(), EOS]
        best[rows] = best[rows].maximum(ended)

        total[..., EOS] = -math.inf
        wide = min(k, live * (total.size(-1) - 1))
        scores, places = total.flatten(1).topk(wide)  # (b, k)
        token, parent = places % total.size(-1), places // total.size(-1)
        old = prefixes.gather(1, parent[..., None].expand(-1, -1, length))
        prefixes = torch.cat([old, token[..., None]], dim=-1)  # (b, k, t + 1)

        going = best[rows] < scores[:, 0] / length**alpha
        rows, prefixes, scores = rows[going], prefixes[going], scores[going]
        if len(rows) == 0:
            break
    return padded(answers).to(source.device)


def align(
    output: Sequence[str], original: Sequence[str]
) -> list[tuple[str | None, str | None]]:
    """A cheapest alignment of two lists of tokens (Levenshtein 1966).

    Args:
        output: the tokens that were written.
        original: the correct tokens.

    Returns:
        Pairs (token of the output or None, token of the original or None) in order; as
        few as possible differ.
    """
    cost = [[i + j for j in range(len(original) + 1)] for i in range(len(output) + 1)]
    for i, own in enumerate(output, 1):
        for j, right in enumerate(original, 1):
            cost[i][j] = min(
                cost[i - 1][j - 1] + (own != right),
                cost[i - 1][j] + 1,
                cost[i][j - 1] + 1,
            )
    pairs, i, j = [], len(output), len(original)
    while i or j:
        if (
            i and j
            and cost[i][j] == cost[i - 1][j - 1] + (output[i - 1] != original[j - 1])
        ):  # fmt: skip
            i, j = i - 1, j - 1
            pairs.append((output[i], original[j]))
        elif i and cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
            pairs.append((output[i], None))
        else:
            j -= 1
            pairs.append((None, original[j]))
    return pairs[::-1]


def error_kinds(
    pairs: Iterable[tuple[str | None, str | None]],
    function_words: frozenset[str],
    lemma: Callable[[str], str],
) -> dict[str, int]:
    """How many mistakes of each kind an alignment contains.

    Args:
        pairs: of output and original, as `align` returns them.
        function_words: in lower case.
        lemma: maps a lower-case word to its dictionary form.

    Returns:
        Counts by kind: "case", "punctuation", "function word", "form", "word".
    """

    def kind(pair: tuple[str | None, str | None]) -> str:
        there = [side.lower() for side in pair if side is not None]
        both = len(there) == 2
        if both and there[0] == there[1]:
            return "case"
        if not any(c.isalnum() for side in there for c in side):
            return "punctuation"
        if all(side in function_words for side in there):
            return "function word"
        if both and lemma(there[0]) == lemma(there[1]):
            return "form"
        return "word"

    return Counter(kind(pair) for pair in pairs if pair[0] != pair[1])


def restore(sources: list[str]) -> list[str]:
    """The original sentences of the sources, as well as my model can recover them.

    Args:
        sources: what the pipeline left, one text per sentence.

    Returns:
        One text for each source, in the same order.
    """
    model, tokenizer = load(handed_in(), encoder_decoder, segment)
    return recover(model, tokenizer, sources, greedy)
