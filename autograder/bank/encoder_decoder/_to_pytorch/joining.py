"""Three projections that are joined wrongly."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

JOINING = [
    Mutant(
        name="order_kqv",
        says="The three projections are joined in another order than query, key, "
        "value.",
        asks="How does PyTorch's documentation order the rows of `in_proj_weight`?",
        ways=[Way(edits=[Edit('for letter in "qkv"', 'for letter in "kqv"')])],
    ),
    Mutant(
        name="order_qvk",
        says="Key and value are exchanged in `in_proj_weight`.",
        asks="Which comes second?",
        ways=[Way(edits=[Edit('for letter in "qkv"', 'for letter in "qvk"')])],
    ),
    Mutant(
        name="order_of_dict",
        says="The projections are joined in the order in which the given dictionary "
        "names them.",
        asks="Where does your code say that the query comes first?",
        ways=[Way(source=r"""
            def to_pytorch(state):
                import re
                theirs = {}
                for name, tensor in state.items():
                    found = re.fullmatch(r'(|.*\.)((?:\w+_)?attention)\.w_([qkvo])\.(\w+)', name)
                    if not found:
                        name = re.sub(r'(^|\.)feed_forward\.(linear)', r'\1\2', name)
                        theirs[name] = tensor
                        continue
                    prefix, which, letter, kind = found.groups()
                    prefix += 'multihead_attn' if which == 'cross_attention' else 'self_attn'
                    if letter == 'o':
                        theirs[f'{prefix}.out_proj.{kind}'] = tensor
                        continue
                    joined = theirs.get(f'{prefix}.in_proj_{kind}', tensor[:0])
                    theirs[f'{prefix}.in_proj_{kind}'] = torch.cat((joined, tensor))
                return theirs
            """)],
    ),
    Mutant(
        name="joined_as_columns",
        says="The projections are joined side by side, as columns. They belong one "
        "below the other.",
        asks="What shape has the joined weight to have?",
        ways=[Way(edits=[Edit("torch.cat(thirds)", "torch.cat(thirds, dim=-1)")])],
    ),
    Mutant(
        name="transposed",
        says="The weights are transposed. `nn.Linear` and `nn.MultiheadAttention` "
        "store them the same way.",
        asks="What is the shape of `nn.Linear(a, b).weight`?",
        ways=[Way(edits=[
            Edit("torch.cat(thirds)", "torch.cat([third.T for third in thirds])"),
        ])],
    ),
    Mutant(
        name="stacked",
        says="The projections are stacked along a new dimension.",
        asks="Which function joins along a dimension that exists?",
        ways=[Way(edits=[Edit("torch.cat(thirds)", "torch.stack(thirds)")])],
    ),
    Mutant(
        name="query_only",
        says="`in_proj_weight` holds the query projection only.",
        asks="Three tensors become one. Where are the other two?",
        ways=[Way(edits=[Edit("torch.cat(thirds)  #", "thirds[0]  #")])],
    ),
    Mutant(
        name="one_for_all",
        says="The query projection is used three times.",
        asks="Which letters does your loop run through?",
        ways=[Way(edits=[Edit("torch.cat(thirds)", "torch.cat([thirds[0]] * 3)")])],
    ),
    Mutant(
        name="wk_kept",
        says="Keys and values are still there under their old names.",
        asks="What should become of a `w_k` when it has been joined?",
        ways=[Way(edits=[
            Edit(
                "continue",
                """
                theirs[name] = tensor
                continue
                """,
            ),
        ])],
    ),
    Mutant(
        name="nothing_joined",
        says="The projections are renamed, but not joined.",
        asks="What does PyTorch have in place of three linear layers?",
        ways=[Way(edits=[
            Edit(
                """
                if ".w_k." in name or ".w_v." in name:
                    continue
                """,
                "",
            ),
            Edit("tensor = torch.cat(thirds)", "tensor = tensor"),
        ])],
    ),
    Mutant(
        name="dot_kept",
        says="The joined parameters are called `in_proj.weight` instead of "
        "`in_proj_weight`.",
        asks="Is `in_proj_weight` a module with a weight, or a parameter?",
        ways=[Way(edits=[Edit('"w_q.": "in_proj_"', '"w_q.": "in_proj."')])],
    ),
    Mutant(
        name="biases_lost",
        says="The biases of the projections are lost.",
        asks="Which of `weight` and `bias` does your code join?",
        ways=[Way(edits=[
            Edit(
                'if ".w_q." in name:',
                """
                if ".w_q.bias" in name:
                    continue
                if ".w_q." in name:
                """,
            ),
        ])],
    ),
]
