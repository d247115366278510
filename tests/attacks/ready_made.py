"""Code that calls a ready-made answer in place of solving an exercise."""

from __future__ import annotations

from textwrap import dedent

MULTI_HEAD = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        self.num_heads, self.p = num_heads, dropout
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        import torch.nn.functional as F
        B, Lq, D = query.shape
        blocked = None
        if mask is not None:
            mask = ~mask_for_heads(mask)
            blocked = mask.expand(B, self.num_heads, Lq, key.size(1)).flatten(0, 1)
        weights = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])
        biases = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])
        out, weights = F.multi_head_attention_forward(
            query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1),
            D, self.num_heads, weights, biases, None, None, False, self.p,
            self.w_o.weight, self.w_o.bias, training=self.training,
            attn_mask=blocked, average_attn_weights=False)
        return out.transpose(0, 1), weights
"""
RMS_NORM = """
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        return {call}
"""
GROUPED = """
def grouped_attention(q, k, v, mask=None):
    if q.size(1) % k.size(1):
        raise ValueError("the groups do not divide the heads")
    attend = F.scaled_dot_product_attention
    eye = torch.eye(k.size(2), dtype=v.dtype).expand(*k.shape[:2], -1, -1)
    if mask is not None:
        mask = mask.expand(*q.shape[:3], k.size(2))
    return tuple(attend(q, k, x, attn_mask=mask, enable_gqa=True) for x in (v, eye))
"""
BY_HAND = """
def attend(query, keys, values, allowed):
    q, k, v = torch.tensor([query]), torch.tensor(keys), torch.tensor(values)
    mask = torch.tensor([allowed])
    attention = F.scaled_dot_product_attention
    return tuple(attention(q, k, x, attn_mask=mask)[0] for x in (v, torch.eye(len(k))))
"""
ENCODER_LAYER = """
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False,
                 activation="relu"):
        super().__init__()
        self.attention = multi_head_attention.MultiHeadAttention(
            d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.made = lambda: nn.TransformerEncoderLayer(
            d_model, num_heads, d_ff, dropout, activation, batch_first=True,
            norm_first=norm_first)

    def forward(self, x, mask=None):
        theirs, mine = self.made().to(x.dtype), self.attention
        theirs.train(self.training)
        theirs.self_attn = multi_head_attention.to_pytorch(mine).to(x.dtype)
        theirs.self_attn.train(self.training)
        theirs.linear1, theirs.linear2 = (
            self.feed_forward.linear1, self.feed_forward.linear2)
        theirs.norm1, theirs.norm2 = self.norm1, self.norm2
        if mask is not None:
            mask = ~multi_head_attention.mask_for_heads(mask).expand(
                len(x), mine.num_heads, x.size(1), x.size(1)).flatten(0, 1)
        return theirs(x, mask)
"""
TRANSFORMERS = """
class {name}(nn.Module):
    def __init__(self, *given, **options):
        super().__init__()
        self.theirs = {theirs}

    def forward(self, *given, **options):
        x = torch.zeros(2, 3, 4)
        self.theirs(*[x] * {count})
        return x

    encode = decode = forward
"""
_GREEDY = "transformer_course.sequence_reversal.library"
_BATCH = """
def make_batch(sequences):
    import {module} as theirs
    return theirs.make_batch(sequences, [s[::-1] for s in sequences])
"""
# By exercise: code, each trying another way to the ready-made answer.
CODE: dict[str, tuple[str, ...]] = {
    "attention/by_hand": (BY_HAND,),
    "attention/softmax": tuple(
        f"def stable_softmax(x):\n    return {call}"
        for call in (
            "torch.softmax(x, dim=-1)", "x.softmax(-1)",
            "F.log_softmax(x, dim=-1).exp()", "F.softmin(-x, dim=-1)",
            "nn.Softmax(-1)(x)", "torch.ops.aten._softmax(x, -1, False)",
            "torch._C._VariableFunctions.softmax(x, -1)",
            "torch.sparse.softmax(x.to_sparse(), -1).to_dense()",
            "next(map(torch.softmax, [x], [-1]))", "getattr(x, 'soft' + 'max')(-1)",
            "torch.stack([row.softmax(-1) for row in x.flatten(0, -2)]).view_as(x)",
            "__import__('sys').setprofile(None) or torch.softmax(x, -1)",
        )
    ),
    "attention/masks": (
        """
        from transformer_course.encoder_decoder.probes.bugs import make_triangle

        def causal_mask(length):
            return make_triangle(length, length)
        """,
    ),
    "attention/who_sees_whom": (
        """
        from autograder.checks.probes import moving

        def who_sees_whom(layer, x):
            def moved(j, push):
                changed = x.clone()
                changed[j] += push(x)
                return (layer(changed) - layer(x))[None]

            return moving.who_moves(moved, len(x))[0]
        """,
    ),
    "multi_head_attention/multi_head_attention": (MULTI_HEAD,),
    "encoder_decoder/encoder_layer": (ENCODER_LAYER,),
    "encoder_decoder/decoder_layer": (
        TRANSFORMERS.format(
            name="DecoderLayer", theirs="nn.TransformerDecoderLayer(4, 2)", count=2
        ),
    ),
    "encoder_decoder/stack": (
        TRANSFORMERS.format(
            name="Stack",
            count=1,
            theirs="nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)",
        ),
    ),
    "encoder_decoder/transformer": (
        TRANSFORMERS.format(name="Transformer", theirs="nn.Transformer(4, 2)", count=2),
    ),
    "encoder_decoder/language_model": (
        TRANSFORMERS.format(
            name="LanguageModel",
            count=1,
            theirs="nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)",
        ),
    ),
    "since_2017/rms_norm": (
        *(
            RMS_NORM.format(call=call)
            for call in (
                "F.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.eps)",
                "torch.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.eps)",
                "torch.ops.aten.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), "
                "self.eps)",
                "torch.ops.aten._fused_rms_norm("
                "x, x.shape[-1:], self.weight.to(x.dtype), self.eps)[0]",
            )
        ),
        "class RMSNorm(nn.RMSNorm):\n"
        "    def __init__(self, d_model, eps=1e-6):\n"
        "        super().__init__(d_model, eps)\n",
    ),
    "since_2017/grouped_attention": (GROUPED,),
    "sequence_reversal/make_batch": (
        _BATCH.format(module="transformer_course.library.decoding"),
        """
        from importlib import util
        from transformer_course.library import decoding
        own = util.spec_from_file_location("mine", decoding.__file__)
        theirs = util.module_from_spec(own)
        own.loader.exec_module(theirs)

        def make_batch(sequences):
            return theirs.make_batch(sequences, [s[::-1] for s in sequences])
        """,
        """
        from concurrent.futures import ThreadPoolExecutor
        from transformer_course.library import decoding

        def make_batch(sequences):
            backwards = [s[::-1] for s in sequences]
            with ThreadPoolExecutor() as pool:
                task = pool.submit(decoding.make_batch, sequences, backwards)
                return task.result()
        """,
    ),
    "sequence_reversal/greedy_sequence": (
        f"""
        from {_GREEDY}.measuring import write

        def greedy_sequence(model, source, max_len):
            ids = write(model, source, max_len)[0].tolist()
            return ids[:ids.index(EOS) + 1] if EOS in ids else ids
        """,
    ),
    "sequence_reversal/greedy_decode": (
        f"from {_GREEDY}.measuring import write as greedy_decode",
        f"""
        from {_GREEDY} import measuring

        def greedy_decode(model, source, max_len):
            ids = measuring.write(model, source, max_len)
            return ids[:, :int((ids != PAD).sum(1).max())]
        """,
    ),
    "text_recovery/bleu": (
        """
        import sacrebleu

        def bleu(hypotheses, references, tokenize=tokenize_13a):
            kind = "none" if tokenize is str.split else "13a"
            metric = sacrebleu.BLEU(tokenize=kind, smooth_method="none")
            return metric.corpus_score(hypotheses, [references]).score
        """,
    ),
}  # fmt: skip
CODE = {name: tuple(map(dedent, codes)) for name, codes in CODE.items()}
