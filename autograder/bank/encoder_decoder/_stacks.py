"""Mistakes that encoder and decoder stacks share."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way


def stack_mutants(arguments: str) -> list[Mutant]:
    """Mistakes of both stacks; ``arguments`` is what a layer is called with."""
    call = f"layer({arguments})"
    return [
        Mutant(
            name="plain_list",
            says="PyTorch does not know the layers of a new stack (they lie in a plain "
            "Python list, say): it has no parameters to train, save or move.",
            asks="Which list does `nn.Module` look into?",
            ways=[
                Way(edits=[
                    Edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                         "[make_layer() for _ in range(num_layers)]"),
                ]),
                Way(name="tuple_of_layers", edits=[
                    Edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                         "tuple(make_layer() for _ in range(num_layers))"),
                ]),
            ],
        ),
        Mutant(
            name="by_forward",
            says="You call `forward` of each layer: its values are right, but its hooks "
            "do not run.",
            asks="What does `layer(...)` do, besides calling `forward`?",
            ways=[Way(edits=[Edit(call, f"layer.forward({arguments})")])],
        ),
        Mutant(
            name="norm_copied",
            says="`norm` is a copy of the norm that was given, not that one.",
            asks="If whoever made the norm trains it, what does your stack know of it?",
            ways=[Way(edits=[
                Edit("is None else norm", "is None else __import__('copy').deepcopy(norm)"),
            ])],
        ),
        Mutant(
            name="same_layer",
            says="All entries are one and the same layer: the stack has the weights of "
            "a single one.",
            asks="In `[layer] * n`, how many layers were made?",
            ways=[Way(edits=[
                Edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                     "nn.ModuleList([make_layer()] * num_layers)"),
            ])],
        ),
        Mutant(
            name="copied",
            says="You made one layer and copied it, so all layers start with the same "
            "weights.",
            asks="How often is `make_layer` to be called?",
            ways=[Way(edits=[
                Edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                     "nn.ModuleList(copy.deepcopy(layer) for layer in [make_layer()] * num_layers)"),
                Edit(
                    "super().__init__()",
                    """
                    super().__init__()
                    import copy
                    """,
                ),
            ])],
        ),
        Mutant(
            name="one_too_few",
            says="One layer is missing.",
            asks="How many numbers does your `range` run through?",
            ways=[Way(edits=[Edit("range(num_layers)", "range(num_layers - 1)")])],
        ),
        Mutant(
            name="one_too_many",
            says="There is one layer too many.",
            asks="How many numbers does your `range` run through?",
            ways=[Way(edits=[Edit("range(num_layers)", "range(num_layers + 1)")])],
        ),
        Mutant(
            name="last_skipped",
            says="The last layer exists, but is not used.",
            asks="Over which layers does your loop run?",
            ways=[Way(edits=[Edit("in self.layers:", "in self.layers[:-1]:")])],
        ),
        Mutant(
            name="reversed",
            says="The layers are used from the last to the first.",
            asks="Which one gets the input?",
            ways=[Way(edits=[Edit("in self.layers:", "in reversed(self.layers):")])],
        ),
        Mutant(
            name="first_only",
            says="Only the first layer is used, again and again.",
            asks="In your loop, which layer is called in the second round?",
            ways=[Way(edits=[Edit(call, f"self.layers[0]({arguments})")])],
        ),
        Mutant(
            name="no_chain",
            says="Every layer gets the original input, so only the last one counts.",
            asks="What is the input of layer 2?",
            ways=[Way(edits=[
                Edit(
                    "for layer in self.layers:",
                    """
                    start = x
                    for layer in self.layers:
                    """,
                ),
                Edit(call, call.replace("(x", "(start")),
            ])],
        ),
        Mutant(
            name="no_final_norm",
            says="The final norm is not applied.",
            asks="What happens to `norm` in your `forward`?",
            ways=[Way(edits=[Edit("return self.norm(x)", "return x")])],
        ),
        Mutant(
            name="norm_every_layer",
            says="The final norm is applied after each layer, not once at the end.",
            asks="Does the norm stand in the loop, or after it?",
            ways=[Way(edits=[
                Edit("  # (B", "; x = self.norm(x)  # (B"),
                Edit("return self.norm(x)", "return x"),
            ])],
        ),
        Mutant(
            name="norm_at_start",
            says="The norm is applied to the input, before the first layer.",
            asks="Where does a pre-norm stack need its norm?",
            ways=[Way(edits=[
                Edit(
                    "for layer in self.layers:",
                    """
                    x = self.norm(x)
                    for layer in self.layers:
                    """,
                ),
                Edit("return self.norm(x)", "return x"),
            ])],
        ),
        Mutant(
            name="own_final_norm",
            says="There is a norm at the end although none was given.",
            asks="What should the stack do if `norm` is None?",
            ways=[Way(edits=[
                Edit("return self.norm(x)",
                     "return torch.nn.functional.layer_norm(x, x.shape[-1:]) if isinstance(self.norm, nn.Identity) else self.norm(x)"),
            ])],
        ),
        Mutant(
            name="norm_replaced",
            says="There is a norm at the end, but not the one that was given.",
            asks="What does your stack do with the module `norm`?",
            ways=[Way(edits=[
                Edit("nn.Identity() if norm is None else norm",
                     "nn.Identity() if norm is None else nn.LayerNorm(norm.normalized_shape)"),
            ])],
        ),
        Mutant(
            name="norm_unnamed",
            says="The final norm is kept under another name than `norm`, or PyTorch "
            "does not know it.",
            asks="Which names does the docstring give?",
            ways=[Way(edits=[
                Edit("self.norm = nn.Identity() if norm is None else norm",
                     "self.final = nn.Identity() if norm is None else norm"),
                Edit("self.norm(x)", "self.final(x)"),
            ])],
        ),
        Mutant(
            name="returns_all",
            says="Your stack returns a list of all layers' outputs; only the last one "
            "is asked for.",
            asks="What does `forward` promise to return?",
            ways=[Way(edits=[Edit("return self.norm(x)", "return [x, self.norm(x)]")])],
        ),
        Mutant(
            name="returns_early",
            says="The `return` stands in the loop, so the first layer is also the last "
            "one.",
            asks="How far is your `return` indented?",
            ways=[Way(edits=[
                Edit("        return self.norm(x)", "            return self.norm(x)"),
            ])],
        ),
        Mutant(
            name="returns_early_without_norm",
            says="The `return` stands in the loop, so the first layer is also the last "
            "one, and the final norm is never reached.",
            asks="How far is your `return` indented?",
            ways=[Way(edits=[
                Edit("        return self.norm(x)", "            return x"),
            ])],
        ),
    ]
