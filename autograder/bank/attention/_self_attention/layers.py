"""Mistakes in the linear layers: their sizes, names and places."""

from __future__ import annotations

from autograder.bank.mutants import mask_in_the_state, under_two_names
from autograder.oracle.specification import Edit, Mutant, Way

LAYERS = [
    under_two_names(
        "self.w_v = nn.Linear(d_model, d_v)",
        "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v])",
    ),
    mask_in_the_state("self.w_v = nn.Linear(d_model, d_v)"),
    Mutant(
        name="value_size",
        says="`w_v` has the size of the keys. Values have a size of their own, "
        "`d_v`.",
        asks="Which size must the output have?",
        ways=[Way(edits=[
            Edit("nn.Linear(d_model, d_v)", "nn.Linear(d_model, d_k)"),
        ])],
    ),
    Mutant(
        name="key_size",
        says="`w_q` and `w_k` have the size of the values, `d_v`, not `d_k`.",
        asks="Which size do queries and keys share?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_k)",
                 "self.w_q = nn.Linear(d_model, d_v)"),
            Edit("self.w_k = nn.Linear(d_model, d_k)",
                 "self.w_k = nn.Linear(d_model, d_v)"),
        ])],
    ),
    Mutant(
        name="model_size",
        says="Your layers keep the size `d_model`. They should lead to `d_k`, "
        "`d_k` and `d_v`.",
        asks="What are the two arguments of `nn.Linear`?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_k)",
                 "self.w_q = nn.Linear(d_model, d_model)"),
            Edit("self.w_k = nn.Linear(d_model, d_k)",
                 "self.w_k = nn.Linear(d_model, d_model)"),
            Edit("self.w_v = nn.Linear(d_model, d_v)",
                 "self.w_v = nn.Linear(d_model, d_model)"),
        ])],
    ),
    Mutant(
        name="sizes_turned",
        says="The sizes of your layers are the wrong way round: from `d_k` to "
        "`d_model`.",
        asks="`nn.Linear(a, b)`: which is the size that comes in?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_k)",
                 "self.w_q = nn.Linear(d_k, d_model)"),
            Edit("self.w_k = nn.Linear(d_model, d_k)",
                 "self.w_k = nn.Linear(d_k, d_model)"),
            Edit("self.w_v = nn.Linear(d_model, d_v)",
                 "self.w_v = nn.Linear(d_v, d_model)"),
        ])],
    ),
    Mutant(
        name="no_bias",
        says="Your linear layers have no bias. Here they have one, PyTorch's "
        "default.",
        asks="Which argument of `nn.Linear` did you set?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_k)",
                 "self.w_q = nn.Linear(d_model, d_k, bias=False)"),
            Edit("self.w_k = nn.Linear(d_model, d_k)",
                 "self.w_k = nn.Linear(d_model, d_k, bias=False)"),
            Edit("self.w_v = nn.Linear(d_model, d_v)",
                 "self.w_v = nn.Linear(d_model, d_v, bias=False)"),
        ])],
    ),
    Mutant(
        name="other_names",
        says="Your layers have other names than `w_q`, `w_k` and `w_v`, so no "
        "weights can be loaded into them.",
        asks="What names does the text give?",
        ways=[Way(source="""
            class SelfAttention(nn.Module):
                def __init__(self, d_model, d_k, d_v):
                    super().__init__()
                    self.query = nn.Linear(d_model, d_k)
                    self.key = nn.Linear(d_model, d_k)
                    self.value = nn.Linear(d_model, d_v)

                def forward(self, x, mask=None):
                    q, k, v = self.query(x), self.key(x), self.value(x)
                    return scaled_dot_product_attention(q, k, v, mask)
            """)],
    ),
    Mutant(
        name="plain_list",
        says="PyTorch cannot see your layers: they lie in a plain Python list (or "
        "are made anew in `forward`). Such layers never learn.",
        asks="What does `list(layer.parameters())` show?",
        ways=[
            Way(source="""
                class SelfAttention(nn.Module):
                    def __init__(self, d_model, d_k, d_v):
                        super().__init__()
                        self.layers = [nn.Linear(d_model, d) for d in (d_k, d_k, d_v)]

                    def forward(self, x, mask=None):
                        q, k, v = (layer(x) for layer in self.layers)
                        return scaled_dot_product_attention(q, k, v, mask)
                """),
            Way(name="made_in_forward", source="""
                class SelfAttention(nn.Module):
                    def __init__(self, d_model, d_k, d_v):
                        super().__init__()
                        self.sizes = d_model, d_k, d_v

                    def forward(self, x, mask=None):
                        d_model, d_k, d_v = self.sizes
                        q, k, v = (nn.Linear(d_model, d)(x) for d in (d_k, d_k, d_v))
                        return scaled_dot_product_attention(q, k, v, mask)
                """),
        ],
    ),
]
