"""Other right ways to pack heads."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

# The line of the solution that joins a tensor of all heads.
CAT = "torch.cat([getattr(getattr(h, name), kind) for h in heads])"

ACCEPTED = [
    Accepted(name="written_out", source="""
        def pack_heads(heads):
            return {
                "w_q.weight": torch.cat([h.w_q.weight for h in heads], dim=0),
                "w_k.weight": torch.cat([h.w_k.weight for h in heads], dim=0),
                "w_v.weight": torch.cat([h.w_v.weight for h in heads], dim=0),
                "w_q.bias": torch.cat([h.w_q.bias for h in heads], dim=0),
                "w_k.bias": torch.cat([h.w_k.bias for h in heads], dim=0),
                "w_v.bias": torch.cat([h.w_v.bias for h in heads], dim=0),
            }
        """),
    Accepted(name="stack_and_flatten", edits=[
        Edit(CAT,
             "torch.stack([getattr(getattr(h, name), kind) for h in heads]).flatten(0, 1).detach()"),
    ]),
    Accepted(name="from_state_dicts", source="""
        from collections import OrderedDict

        def pack_heads(heads):
            states = [head.state_dict() for head in heads]
            packed = OrderedDict()
            for name in states[0]:
                packed[name] = torch.cat([state[name] for state in states])
            return packed
        """),
    Accepted(name="growing_tensor", source="""
        def pack_heads(heads):
            packed = {}
            for name in ("w_q", "w_k", "w_v"):
                first = getattr(heads[0], name)
                weight, bias = first.weight, first.bias
                for head in list(heads)[1:]:
                    layer = getattr(head, name)
                    weight = torch.vstack((weight, layer.weight))
                    bias = torch.hstack((bias, layer.bias))
                packed[name + ".weight"] = nn.Parameter(weight)
                packed[name + ".bias"] = nn.Parameter(bias)
            return packed
        """),
    Accepted(name="filled_slices", source="""
        def pack_heads(heads):
            d_k, d_model = heads[0].w_q.weight.shape
            packed = {}
            for name in ("w_q", "w_k", "w_v"):
                weight = heads[0].w_q.weight.new_zeros(len(heads) * d_k, d_model)
                bias = weight.new_zeros(len(heads) * d_k)
                for i, head in enumerate(heads):
                    rows = slice(i * d_k, (i + 1) * d_k)
                    weight[rows] = getattr(head, name).weight
                    bias[rows] = getattr(head, name).bias
                packed |= {name + ".weight": weight, name + ".bias": bias}
            return packed
        """),
]
