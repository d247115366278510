"""Code of whole beam searches: two in which finished hypotheses displace unfinished ones, and a correct one."""

# Finished hypotheses stay in the beam, as in many online implementations.
ENDED_IN_BEAM = """
@torch.no_grad()
def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
    def worth(hypothesis):
        ids, score = hypothesis
        return score / max(1, len(ids)) ** alpha

    model.eval()
    answers = []
    for one in source.split(1):
        memory, beam = model.encode(one), [([], 0.0)]
        for _ in range(max_len):
            candidates = [(ids, score) for ids, score in beam if EOS in ids]
            if len(candidates) == len(beam):
                break
            for ids, score in beam:
                if EOS not in ids:
                    logits = model.decode(one.new_tensor([[BOS, *ids]]), memory, one)
                    log_p = logits[0, -1].log_softmax(dim=-1).tolist()
                    candidates += [([*ids, token], score + p) for token, p in enumerate(log_p)]
            beam = sorted(candidates, key=worth, reverse=True)[:beam_size]
        ended = [hypothesis for hypothesis in beam if EOS in hypothesis[0]]
        answers.append(max(ended or beam, key=worth)[0])
    return padded(answers).to(source.device)
"""

# Endings compete with the prefixes that are to stay live, and are then removed.
ENDED_TAKE_PLACES = """
@torch.no_grad()
def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
    model.eval()
    answers = []
    for one in source.split(1):
        memory, best, answer = model.encode(one), -math.inf, [EOS]
        prefixes, scores = one.new_full((1, 1), BOS), torch.zeros(1, device=one.device)
        for length in range(1, max_len + 1):
            n = len(prefixes)
            logits = model.decode(prefixes, memory.expand(n, -1, -1), one.expand(n, -1))
            log_p = logits[:, -1].log_softmax(dim=-1)
            if length == max_len:
                log_p = log_p.masked_fill(torch.arange(log_p.size(1)) != EOS, -math.inf)
            rows, totals = beam_step(prefixes, scores, log_p, beam_size)
            done = rows[:, -1] == EOS
            for row, total in zip(rows[done], totals[done]):
                if total / length**alpha > best:
                    best, answer = total / length**alpha, row[1:].tolist()
            prefixes, scores = rows[~done], totals[~done]
            if len(prefixes) == 0 or best >= scores[0] / length**alpha:
                break
        answers.append(answer)
    return padded(answers).to(source.device)
"""

# A right solution, which searches for all sentences at once.
ALL_AT_ONCE = """
@torch.no_grad()
def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
    model.eval()
    answers = [[] for _ in source]
    best = torch.full((len(source),), -math.inf)
    rows = torch.arange(len(source))
    prefixes, scores = source.new_full((len(rows), 1, 1), BOS), torch.zeros(len(rows), 1)
    memory = model.encode(source)
    for length in range(1, max_len + 1):
        live = prefixes.size(1)
        sentences = rows.repeat_interleave(live)
        logits = model.decode(prefixes.flatten(0, 1), memory[sentences], source[sentences])
        total = scores[..., None] + logits[:, -1].log_softmax(-1).unflatten(0, (-1, live))

        ended, winner = (total[..., EOS] / length**alpha).max(dim=-1)
        for i in (ended > best[rows]).nonzero().flatten().tolist():
            answers[rows[i]] = [*prefixes[i, winner[i], 1:].tolist(), EOS]
        best[rows] = best[rows].maximum(ended)

        total[..., EOS] = -math.inf
        scores, places = total.flatten(1).topk(min(beam_size, live * (total.size(-1) - 1)))
        token, parent = places % total.size(-1), places // total.size(-1)
        old = prefixes.gather(1, parent[..., None].expand(-1, -1, length))
        prefixes = torch.cat([old, token[..., None]], dim=-1)

        going = best[rows] < scores[:, 0] / length**alpha
        rows, prefixes, scores = rows[going], prefixes[going], scores[going]
        if len(rows) == 0:
            break
    return padded(answers)
"""
