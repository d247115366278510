"""Names that are rewritten wrongly, under some prefix or under all."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

NAMES = [
    Mutant(
        name="out_proj_forgotten",
        says="`w_o` keeps its name; PyTorch calls it `out_proj`.",
        asks="Which line of the table is missing in your code?",
        ways=[Way(edits=[Edit('"w_o.": "out_proj.",', "")])],
    ),
    Mutant(
        name="feed_forward_kept",
        says="`feed_forward.` is still in the names; in PyTorch's layer `linear1` "
        "stands by itself.",
        asks="Which line of the table is missing in your code?",
        ways=[Way(edits=[Edit('"feed_forward.linear": "linear",', "")])],
    ),
    Mutant(
        name="cross_forgotten",
        says="The cross-attention has become `cross_self_attn`: the short name was "
        "replaced inside the long one.",
        asks="Which replacement must come first?",
        ways=[Way(edits=[Edit('"cross_attention.w_": "multihead_attn.w_",', "")])],
    ),
    Mutant(
        name="order_of_names",
        says="`self_attention` has become `self_self_attn`, and `cross_attention` "
        "`cross_self_attn`: the short name was replaced inside the long ones.",
        asks="Which replacement must come last?",
        ways=[Way(edits=[
            Edit(
                """
                "cross_attention.w_": "multihead_attn.w_",
                "self_attention.w_": "self_attn.w_",
                "attention.w_": "self_attn.w_",
                """,
                """
                "attention.w_": "self_attn.w_",
                "cross_attention.w_": "multihead_attn.w_",
                "self_attention.w_": "self_attn.w_",
                """,
            ),
        ])],
    ),
    Mutant(
        name="self_forgotten",
        says="`self_attention` has become `self_self_attn`.",
        asks="Which replacement must come before `attention` alone?",
        ways=[Way(edits=[Edit('"self_attention.w_": "self_attn.w_",', "")])],
    ),
    Mutant(
        name="attentions_swapped",
        says="The decoder's two attentions are exchanged.",
        asks="Which of yours is PyTorch's `multihead_attn`?",
        ways=[Way(edits=[
            Edit('"cross_attention.w_": "multihead_attn.w_"',
                 '"cross_attention.w_": "self_attn.w_"'),
            Edit('"self_attention.w_": "self_attn.w_"',
                 '"self_attention.w_": "multihead_attn.w_"'),
        ])],
    ),
    Mutant(
        name="cross_alone",
        says="Where there is no self-attention beside it, `cross_attention` has become "
        "`self_attn`.",
        asks="Which rows of the table look at other names?",
        ways=[Way(edits=[
            Edit(
                "name = name.replace(mine, new)",
                """
                beside = name.replace("cross_attention.w_", "self_attention.w_")
                if mine == "cross_attention.w_" and beside not in state:
                    new = "self_attn.w_"
                name = name.replace(mine, new)
                """,
            ),
        ])],
    ),
    Mutant(
        name="encoder_forgotten",
        says="The encoder's `attention` keeps its name; PyTorch calls it "
        "`self_attn`.",
        asks="Which line of the table is missing in your code?",
        ways=[Way(edits=[
            Edit('"attention.w_": "self_attn.w_",', ""),
        ])],
    ),
    Mutant(
        name="no_prefix",
        says="Your code works for a single layer, but not for names with a prefix.",
        asks="What comes before `attention` in "
        "`encoder.layers.0.attention.w_q.weight`?",
        ways=[Way(edits=[
            Edit(
                "name = name.replace(mine, new)",
                """
                if name.startswith(mine) or '.layers.' not in '.' + name:
                    name = name.replace(mine, new)
                """,
            ),
        ])],
    ),
    Mutant(
        name="prefix_rewritten",
        says="Words of the table are replaced in the prefix, too.",
        asks="In `attention.layers.0.attention.w_q.weight`, which `attention` is "
        "yours, and how could your code tell?",
        ways=[
            Way(edits=[
                Edit('"cross_attention.w_": "multihead_attn.w_"',
                     '"cross_attention.": "multihead_attn."'),
                Edit('"self_attention.w_": "self_attn.w_"',
                     '"self_attention.": "self_attn."'),
                Edit('"attention.w_": "self_attn.w_"', '"attention.": "self_attn."'),
                Edit('"feed_forward.linear": "linear"', '"feed_forward.": ""'),
            ]),
            Way(name="prefix_by_parts", source="""
                def to_pytorch(state):
                    new = {'cross_attention': 'multihead_attn', 'self_attention': 'self_attn',
                           'attention': 'self_attn', 'w_o': 'out_proj'}
                    theirs = {}
                    for name, tensor in state.items():
                        parts = [new.get(p, p) for p in name.split('.') if p != 'feed_forward']
                        if 'w_q' in parts:
                            three = [state[name.replace('w_q', w)] for w in ('w_q', 'w_k', 'w_v')]
                            theirs['.'.join(parts).replace('w_q.', 'in_proj_')] = torch.cat(three)
                        elif 'w_k' not in parts and 'w_v' not in parts:
                            theirs['.'.join(parts)] = tensor
                    return theirs
                """),
        ],
    ),
    Mutant(
        name="first_feed_forward_removed",
        says="Where `feed_forward` stands in the prefix, too, you have removed that one, "
        "and kept yours.",
        asks="Which `feed_forward` of a name is yours: the first, or the one before "
        "`linear1`?",
        ways=[Way(source="""
            import re

            def to_pytorch(state):
                theirs = {}
                for name, tensor in state.items():
                    found = re.fullmatch(r"((?:.*\\.)?)(attention|self_attention|cross_attention)\\.w_([qkvo])\\.(weight|bias)", name)
                    if found:
                        prefix, which, letter, kind = found.groups()
                        new = prefix + ("multihead_attn" if which == "cross_attention" else "self_attn")
                        if letter == "o":
                            theirs[f"{new}.out_proj.{kind}"] = tensor
                        elif letter == "q":
                            theirs[f"{new}.in_proj_{kind}"] = torch.cat([state[f"{prefix}{which}.w_{part}.{kind}"] for part in "qkv"])
                        continue
                    theirs[re.sub(r"^((?:.*?\\.)?)feed_forward\\.(.*linear[12]\\.)", r"\\1\\2", name)] = tensor
                return theirs
            """)],
    ),
    Mutant(
        name="one_digit",
        says="Layers from the tenth on keep their names: `layers.10` has two digits.",
        asks="Which numbers may stand after `layers.`?",
        ways=[Way(edits=[
            Edit(
                "for mine, new in new_names.items():",
                """
                import re
                deep = re.search(r"layers.[0-9][0-9]", name)
                for mine, new in ({} if deep else new_names).items():
                """,
            ),
        ])],
    ),
]
