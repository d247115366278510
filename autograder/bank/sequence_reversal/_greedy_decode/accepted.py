"""Other styles in which greedy decoding is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="deep_copy", edits=[
        Edit("model.eval()", "import copy; model = copy.deepcopy(model).eval()"),
    ]),
    Accepted(name="inference_mode", source="""
        @torch.inference_mode()
        def greedy_decode(model, source, max_len):
            mode = model.training
            model.eval()
            rows = source.new_full((len(source), max_len + 1), PAD)
            rows[:, 0] = BOS
            alive = torch.ones(len(source), dtype=torch.bool)
            width = 0
            for t in range(max_len):
                if not alive.any():
                    break
                best = model(source, rows[:, :t + 1]).argmax(-1)[:, t]
                rows[alive, t + 1] = best[alive]
                alive &= best != EOS
                width = t + 1
            if mode:
                model.train()
            return rows[:, 1:width + 1].clone()
        """),
    Accepted(name="living_rows_only", source="""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            said = [[] for _ in source]
            with torch.no_grad():
                for _ in range(max_len):
                    live = [i for i, r in enumerate(said) if EOS not in r]
                    if not live:
                        break
                    given = torch.tensor([[BOS] + said[i] for i in live])
                    best = model(source[live], given)[:, -1].argmax(-1).tolist()
                    for i, token in zip(live, best):
                        said[i].append(token)
            model.train(was)
            width = max(map(len, said))
            return torch.tensor([r + [PAD] * (width - len(r)) for r in said])
        """),
    Accepted(name="one_by_one", source="""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            rows = []
            for one in source:
                tokens = [BOS]
                while len(tokens) <= max_len and tokens[-1] != EOS:
                    with torch.no_grad():
                        logits = model(one[None], torch.tensor([tokens]))
                    tokens.append(int(logits[0, -1].argmax()))
                rows.append(torch.tensor(tokens[1:]))
            model.train(was)
            return nn.utils.rnn.pad_sequence(rows, batch_first=True)
        """),
    Accepted(name="encoded_once", edits=[
        Edit(
            "for _ in",
            """
            memory = model.encode(source)
            for _ in
            """,
        ),
        Edit("= model(source, tokens)", "= model.decode(tokens, memory, source)"),
    ]),
    Accepted(name="living_memory_only", source="""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            rows = source.new_full((len(source), max_len + 1), PAD)
            rows[:, 0] = BOS
            live, width = torch.arange(len(source)), 0
            with torch.no_grad():
                memory = model.encode(source)
                while len(live) and width < max_len:
                    given = rows[live, : width + 1]
                    logits = model.decode(given, memory[live], source[live])
                    width += 1
                    rows[live, width] = logits[:, -1].argmax(-1)
                    live = live[rows[live, width] != EOS]
            model.train(was)
            return rows[:, 1 : width + 1]
        """),
    Accepted(name="padded_afterwards", source="""
        def greedy_decode(model, source, max_len):
            was = model.training
            model.eval()
            tokens = torch.full((len(source), 1), BOS)
            with torch.no_grad():
                for _ in range(max_len):
                    best = model(source, tokens)[:, -1:].log_softmax(-1).argmax(-1)
                    tokens = torch.cat([tokens, best], 1)
                    if (tokens == EOS).any(1).all():
                        break
            model.train(was)
            tokens = tokens[:, 1:]
            ends = (tokens == EOS).int()
            return tokens.masked_fill(ends.cumsum(1) - ends > 0, PAD)
        """),
]
