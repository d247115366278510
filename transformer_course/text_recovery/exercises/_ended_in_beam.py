"""A beam search in which finished hypotheses stay in the beam, as in many online implementations."""

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
