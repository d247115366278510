"""Other right ways to translate the names."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="by_prefix", source="""
        def to_pytorch(state):
            attentions = {'attention': 'self_attn', 'self_attention': 'self_attn', 'cross_attention': 'multihead_attn'}
            out = {}
            for key in state:
                *path, block, module, kind = ['', '', *key.split('.')]
                path = [p for p in path if p]
                if module in ('w_k', 'w_v'):
                    continue
                if module == 'w_q':
                    head = key[: -len(f'w_q.{kind}')]
                    parts = [state[f'{head}{m}.{kind}'] for m in ('w_q', 'w_k', 'w_v')]
                    out['.'.join([*path, attentions[block], f'in_proj_{kind}'])] = torch.cat(parts, dim=0)
                elif module == 'w_o':
                    out['.'.join([*path, attentions[block], 'out_proj', kind])] = state[key].clone()
                elif block == 'feed_forward':
                    out['.'.join([*path, module, kind])] = state[key].clone()
                else:
                    out[key] = state[key].clone()
            return out
        """),
    Accepted(name="regular_expressions", source=r"""
        def to_pytorch(state):
            import re
            def new(name):
                name = re.sub(r'(self_|\b)attention\.w_', 'self_attn.w_', name)
                name = re.sub(r'cross_attention\.w_', 'multihead_attn.w_', name)
                name = re.sub(r'feed_forward\.(linear[12]\.\w+)$', r'\1', name)
                return name.replace('.w_o.', '.out_proj.')
            found = {new(n): t for n, t in state.items()}
            for name in [n for n in found if '.w_q.' in n]:
                q, k, v = (found.pop(name.replace('w_q', w)) for w in ('w_q', 'w_k', 'w_v'))
                found[name.replace('w_q.', 'in_proj_')] = torch.vstack((q, k, v)) if q.dim() == 2 else torch.hstack((q, k, v))
            return found
        """),
    Accepted(name="under_attentions_names", source="""
        def to_pytorch(state):
            theirs = {"attention": "self_attn", "self_attention": "self_attn", "cross_attention": "multihead_attn"}
            result = {}
            for name, tensor in state.items():
                *front, layer, kind = name.split(".")
                block = front[-1] if front else ""
                if layer.startswith("w_") and block in theirs:
                    start = ".".join([*front[:-1], theirs[block]])
                    if layer == "w_q":
                        old = ".".join(front)
                        three = [state[f"{old}.{each}.{kind}"] for each in ("w_q", "w_k", "w_v")]
                        result[f"{start}.in_proj_{kind}"] = torch.cat(three)
                    elif layer == "w_o":
                        result[f"{start}.out_proj.{kind}"] = tensor
                elif layer in ("linear1", "linear2") and block == "feed_forward":
                    result[".".join([*front[:-1], layer, kind])] = tensor
                else:
                    result[name] = tensor
            return result
        """),
    Accepted(name="an_ordered_dict", edits=[
        Edit(
            "theirs = {}",
            """
            from collections import OrderedDict
            theirs = OrderedDict()
            """,
        ),
    ]),
]
