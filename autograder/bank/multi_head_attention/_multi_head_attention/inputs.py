"""Mistakes in the projections, and in the three inputs."""

from __future__ import annotations

from autograder.bank.multi_head_attention._multi_head_attention.lines import (
    RETURN,
    K,
    Q,
    V,
)
from autograder.bank.mutants import mask_in_the_state, under_two_names
from autograder.oracle.specification import Edit, Mutant, Way

PROJECTIONS = [
    Mutant(
        name="no_output_projection",
        says="The merged heads come back as they are: `w_o` is not used.",
        asks="Which line lets the answers of different heads meet?",
        ways=[Way(edits=[
            Edit(RETURN, "return merge_heads(weights @ v), weights"),
        ])],
    ),
    Mutant(
        name="output_projection_twice",
        says="`w_o` is applied twice.",
        asks="How many arrows go through `w_o` in the drawing?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(self.w_o(merge_heads(weights @ v))), weights"),
        ])],
    ),
    Mutant(
        name="projections_of_query_and_key_swapped",
        says="`w_q` and `w_k` have changed places.",
        asks="Which layer makes the queries?",
        ways=[Way(edits=[
            Edit(Q, "q = split_heads(self.w_k(query), self.num_heads)"),
            Edit(K, "k = split_heads(self.w_q(key), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="projections_of_key_and_value_swapped",
        says="`w_k` and `w_v` have changed places.",
        asks="Which layer makes what is mixed, and which one what is compared?",
        ways=[Way(edits=[
            Edit(K, "k = split_heads(self.w_v(key), self.num_heads)"),
            Edit(V, "v = split_heads(self.w_k(value), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="keys_projection_for_values",
        says="The values go through `w_k`.",
        asks="Is the third line of a copied block still the same as the second?",
        ways=[Way(edits=[
            Edit(V, "v = split_heads(self.w_k(value), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="query_projection_for_keys",
        says="The keys go through `w_q`.",
        asks="Is the second line of a copied block still the same as the first?",
        ways=[Way(edits=[
            Edit(K, "k = split_heads(self.w_q(key), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="query_projection_for_keys_of_the_same",
        says="Where one tensor is query and key, the keys go through `w_q`.",
        asks="Does the text make a difference between three tensors and one?",
        ways=[Way(edits=[
            Edit(K, "k = split_heads((self.w_q if key is query else self.w_k)(key), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="residual_of_the_same",
        says="Where one tensor is query and key, it is added to the output.",
        asks="What does the text say of a residual?",
        ways=[Way(edits=[
            Edit(RETURN, """
                output = self.w_o(merge_heads(weights @ v))
                return (output + query if query is key else output), weights
                """),
        ])],
    ),
    mask_in_the_state("self.w_o = nn.Linear(d_model, d_model)"),
    under_two_names(
        "self.w_o = nn.Linear(d_model, d_model)",
        "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v, self.w_o])",
    ),
    Mutant(
        name="one_projection_for_all",
        says="Queries, keys and values all go through `w_q`.",
        asks="What are the other two layers for?",
        ways=[Way(edits=[
            Edit(K, "k = split_heads(self.w_q(key), self.num_heads)"),
            Edit(V, "v = split_heads(self.w_q(value), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="shared_layer",
        says="`w_v` and `w_k` are one and the same layer.",
        asks="How many layers does your `__init__` really make?",
        ways=[Way(edits=[
            Edit("self.w_v = nn.Linear(d_model, d_model)", "self.w_v = self.w_k"),
        ])],
    ),
    Mutant(
        name="values_not_projected",
        says="The values are not projected: `w_v` is not used.",
        asks="What happens to `value` in the drawing before it is split?",
        ways=[Way(edits=[Edit(V, "v = split_heads(value, self.num_heads)")])],
    ),
    Mutant(
        name="layers_without_bias",
        says="The layers have no bias.",
        asks="Which argument of `nn.Linear` did you set?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_model)",
                 "self.w_q = nn.Linear(d_model, d_model, bias=False)"),
            Edit("self.w_k = nn.Linear(d_model, d_model)",
                 "self.w_k = nn.Linear(d_model, d_model, bias=False)"),
            Edit("self.w_v = nn.Linear(d_model, d_model)",
                 "self.w_v = nn.Linear(d_model, d_model, bias=False)"),
            Edit("self.w_o = nn.Linear(d_model, d_model)",
                 "self.w_o = nn.Linear(d_model, d_model, bias=False)"),
        ])],
    ),
    Mutant(
        name="full_size_heads",
        says="Each head got the full size d_model; the heads are to *share* the "
        "features.",
        asks="Which size has one head if all together have d_model?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_model)",
                 "self.w_q = nn.Linear(d_model, num_heads * d_model)"),
            Edit("self.w_k = nn.Linear(d_model, d_model)",
                 "self.w_k = nn.Linear(d_model, num_heads * d_model)"),
            Edit("self.w_v = nn.Linear(d_model, d_model)",
                 "self.w_v = nn.Linear(d_model, num_heads * d_model)"),
        ])],
    ),
    Mutant(
        name="one_head_sized_layers",
        says="The layers make the features of one head only.",
        asks="How many features must come out, if each of `h` heads gets `d_k` of "
        "them?",
        ways=[Way(edits=[
            Edit("self.w_q = nn.Linear(d_model, d_model)",
                 "self.w_q = nn.Linear(d_model, d_model // num_heads)"),
            Edit("self.w_k = nn.Linear(d_model, d_model)",
                 "self.w_k = nn.Linear(d_model, d_model // num_heads)"),
            Edit("self.w_v = nn.Linear(d_model, d_model)",
                 "self.w_v = nn.Linear(d_model, d_model // num_heads)"),
        ])],
    ),
    Mutant(
        name="projections_in_a_list",
        says="`w_q` is not known as a parameter of the module: an ordinary list "
        "hides its layers.",
        asks="Which names does `dict(layer.named_parameters())` show?",
        ways=[Way(edits=[
            Edit("self.w_o = nn.Linear(d_model, d_model)",
                 "self.w_o = [nn.Linear(d_model, d_model)][0]; self.layers = [self.w_q, self.w_k, self.w_v]; del self.w_q, self.w_k, self.w_v"),
        ])],
    ),
]

INPUTS = [
    Mutant(
        name="self_attention_only",
        says="Keys and values are made from `query`: that is self-attention, "
        "whatever the caller asks for.",
        asks="Which argument does each of the three layers read?",
        ways=[Way(edits=[
            Edit(K, "k = split_heads(self.w_k(query), self.num_heads)"),
            Edit(V, "v = split_heads(self.w_v(query), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="values_from_key",
        says="The values are made from `key`; the argument `value` is not used.",
        asks="Is the third line of a copied block still the same as the second?",
        ways=[Way(edits=[
            Edit(V, "v = split_heads(self.w_v(key), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="keys_from_value",
        says="The keys are made from `value`; the argument `key` is not used.",
        asks="Which argument is compared with the query?",
        ways=[Way(edits=[
            Edit(K, "k = split_heads(self.w_k(value), self.num_heads)"),
        ])],
    ),
    Mutant(
        name="keys_from_query",
        says="Queries and keys are mixed up: the keys are made from `query`, or the two "
        "change places in the attention.",
        asks="Which argument does `w_k` read, and which comes first in the attention?",
        ways=[
            Way(edits=[Edit(K, "k = split_heads(self.w_k(query), self.num_heads)")]),
            Way(name="queries_and_keys_exchanged", edits=[
                Edit("attention.scaled_dot_product_attention(q, k, v, mask)",
                     "attention.scaled_dot_product_attention(k, q, v, mask)"),
            ]),
        ],
    ),
    Mutant(
        name="residual_added",
        says="The query is added to the output. This residual comes in unit 4, "
        "outside this layer.",
        asks="What is the last step in the drawing?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return query + self.w_o(merge_heads(weights @ v)), weights"),
        ])],
    ),
    Mutant(
        name="norm_added",
        says="The output is normalised. This comes in unit 4, outside this layer.",
        asks="What is the last step in the drawing?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                out = self.w_o(merge_heads(weights @ v))
                return nn.functional.layer_norm(out, out.shape[-1:]), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="residual_and_norm_added",
        says="There are a residual and a normalisation. Both come in unit 4, "
        "outside this layer.",
        asks="What is the last step in the drawing?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                out = query + self.w_o(merge_heads(weights @ v))
                return nn.functional.layer_norm(out, out.shape[-1:]), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="activation_added",
        says="There is a ReLU before `w_o`; the definition has none.",
        asks="What does the formula at the top of this unit put between Concat and "
        "W^O?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(merge_heads(weights @ v).relu()), weights"),
        ])],
    ),
]
