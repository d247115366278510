"""Other right ways to PyTorch's layer."""

from __future__ import annotations

from autograder.oracle.specification import Accepted

ACCEPTED = [
    Accepted(name="slices", source="""
        def to_pytorch(mine):
            d = mine.w_q.weight.shape[0]
            theirs = nn.MultiheadAttention(d, mine.num_heads, dropout=0.0, batch_first=True)
            with torch.no_grad():
                theirs.in_proj_weight[:d] = mine.w_q.weight
                theirs.in_proj_weight[d : 2 * d] = mine.w_k.weight
                theirs.in_proj_weight[2 * d :] = mine.w_v.weight
                theirs.in_proj_bias[:d] = mine.w_q.bias
                theirs.in_proj_bias[d : 2 * d] = mine.w_k.bias
                theirs.in_proj_bias[2 * d :] = mine.w_v.bias
                theirs.out_proj.weight.copy_(mine.w_o.weight)
                theirs.out_proj.bias.copy_(mine.w_o.bias)
            return theirs
        """),
    Accepted(name="load_state_dict", source="""
        def to_pytorch(mine):
            theirs = nn.MultiheadAttention(
                mine.w_o.in_features, num_heads=mine.num_heads, batch_first=True)
            theirs.load_state_dict({
                "in_proj_weight": torch.cat((mine.w_q.weight, mine.w_k.weight, mine.w_v.weight)),
                "in_proj_bias": torch.cat((mine.w_q.bias, mine.w_k.bias, mine.w_v.bias)),
                "out_proj.weight": mine.w_o.weight,
                "out_proj.bias": mine.w_o.bias,
            })
            return theirs
        """),
    Accepted(name="data_and_clone", source="""
        def to_pytorch(mine):
            theirs = nn.MultiheadAttention(len(mine.w_o.bias), mine.num_heads, batch_first=True)
            qkv = [mine.w_q, mine.w_k, mine.w_v]
            theirs.in_proj_weight.data = torch.vstack([l.weight.data for l in qkv])
            theirs.in_proj_bias.data = torch.hstack([l.bias.data for l in qkv])
            theirs.out_proj.weight.data = mine.w_o.weight.data.clone()
            theirs.out_proj.bias.data = mine.w_o.bias.data.clone()
            return theirs
        """),
    Accepted(name="new_parameters", source="""
        import copy

        def to_pytorch(mine):
            d = mine.w_q.in_features
            theirs = nn.MultiheadAttention(d, mine.num_heads, batch_first=True).eval()
            layers = mine.w_q, mine.w_k, mine.w_v
            theirs.in_proj_weight = nn.Parameter(torch.cat([l.weight for l in layers]).detach())
            theirs.in_proj_bias = nn.Parameter(torch.cat([l.bias for l in layers]).detach())
            theirs.out_proj.weight = nn.Parameter(mine.w_o.weight.detach().clone())
            theirs.out_proj.bias = copy.deepcopy(mine.w_o.bias)
            return theirs
        """),
]
