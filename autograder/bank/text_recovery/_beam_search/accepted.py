"""Other styles in which the beam search is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="one_by_one", source="""
        @torch.no_grad()
        def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
            model.eval()
            answers = []
            for one in source:
                one = one[None]
                memory = model.encode(one)
                live, best = [(0.0, [BOS])], (-math.inf, None)
                for length in range(1, max_len + 1):
                    ids = torch.tensor([p for _, p in live])
                    n = len(live)
                    logits = model.decode(ids, memory.expand(n, -1, -1), one.expand(n, -1))
                    rows = logits[:, -1].log_softmax(-1).tolist()
                    new = []
                    for (score, prefix), row in zip(live, rows):
                        for token, value in enumerate(row):
                            if token == EOS:
                                ended = (score + value) / length ** alpha
                                if ended > best[0]:
                                    best = (ended, prefix[1:] + [EOS])
                            else:
                                new.append((score + value, prefix + [token]))
                    live = sorted(new, key=lambda x: -x[0])[:beam_size]
                    if best[0] >= live[0][0] / length ** alpha:
                        break
                answers.append(best[1] or live[0][1][1:])
            return padded(answers)
        """),
    Accepted(name="topk_one_by_one", source="""
        def beam_search(model, source, beam_size=4, max_len=60, alpha=1.0):
            model.eval()
            out = torch.zeros(len(source), max_len, dtype=torch.long)
            with torch.no_grad():
                for b in range(len(source)):
                    src = source[b:b + 1]
                    ids = torch.full((1, 1), BOS)
                    scores = torch.zeros(1)
                    best_score, best_ids = -float('inf'), None
                    for t in range(1, max_len + 1):
                        lp = model(src.repeat(len(ids), 1), ids)[:, -1].log_softmax(-1)
                        total = scores[:, None] + lp
                        norm = total[:, EOS] / t ** alpha
                        j = norm.argmax()
                        if norm[j] > best_score:
                            best_score = norm[j].item()
                            best_ids = torch.cat([ids[j, 1:], torch.tensor([EOS])])
                        total[:, EOS] = -1e9
                        V = total.shape[1]
                        size = min(beam_size, len(ids) * (V - 1))
                        scores, flat = total.view(-1).topk(size)
                        ids = torch.cat([ids[flat // V], (flat % V)[:, None]], 1)
                        if best_score >= scores[0] / t ** alpha:
                            break
                    best_ids = ids[0, 1:] if best_ids is None else best_ids
                    out[b, :len(best_ids)] = best_ids
            return out
        """),
    Accepted(name="deep_copy", edits=[
        Edit("model.eval()", "import copy; model = copy.deepcopy(model).eval()"),
    ]),
    Accepted(name="full_batch", edits=[
        Edit("memory[asked], source[asked]",
             "memory.index_select(0, asked), source.index_select(0, asked)"),
    ]),
]
