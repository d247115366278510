"""Mistakes that encoder and decoder share: dropout in their layers, and their stacks."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant

# On all branches of a layer.
BRANCH_DROPOUT = [
    wrong("kept_not_scaled",
          "In training, the entries that dropout keeps in a branch are not scaled up.",
          "What must happen to the remaining entries so that the mean stays the same?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) if self.training else x")),
    wrong("kept_made_smaller",
          "In training, the entries that dropout keeps in a branch are scaled down.",
          "What must happen to the remaining entries so that the mean stays the same?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) * (1 - dropout) if self.training else x")),
    wrong("positions_dropped",
          "In training, dropout removes whole positions of a branch instead of single entries.",
          "How many random numbers are drawn for a vector of `d_model` features?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x[..., :1]) >= dropout) / (1 - dropout) if self.training else x")),
    wrong("dropout_in_pre_norm_only",
          "In post-norm, no dropout is applied to the branches.",
          "Which lines of your `forward` run in post-norm, and which of them apply dropout?",
          edit("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Dropout(dropout if norm_first else 0.0)")),
    wrong("no_branch_dropout",
          "In training, no dropout is applied to the branches.",
          "Dropout belongs in three places. Which of them does your code reach?",
          edit("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Identity()")),
]
BRANCH, RATE = ("self.dropout", "nn.Identity()"), ("dropout", "0.0")


def without_dropout(
    name: str, where: str, line: str, place: tuple[str, str] = BRANCH
) -> list[Mutant]:
    """Two mutants of each layer: ``{}`` in its line is where dropout stands."""
    given, nothing = place
    flag = "self.norm_first" if place == BRANCH else "norm_first"
    in_post = f"{given} if {flag} else {nothing}"
    return [
        wrong(name,
              f"In training, no dropout is applied {where}.",
              "Which places get dropout, and which of them does your code reach?",
              edit(line.format(given), line.format(nothing))),
        wrong(f"{name}_in_post_norm",
              f"In training, post-norm applies no dropout {where}; pre-norm does.",
              "Which places get dropout, and which of them does your post-norm code reach?",
              edit(line.format(given), line.format(in_post))),
    ]


def stack_mutants(arguments: str) -> list[Mutant]:
    """Mistakes of both stacks; ``arguments`` is what a layer is called with."""
    call = f"layer({arguments})"
    return [
        wrong("plain_list",
              "PyTorch does not see the layers of your stack (are they in a plain list or tuple?), so it has no "
              "parameters to train, save or move.",
              "Which kind of list does `nn.Module` look into?",
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "[make_layer() for _ in range(num_layers)]"),
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "tuple(make_layer() for _ in range(num_layers))", name="tuple_of_layers")),
        wrong("by_forward",
              "You call each layer's `forward` directly: the values are right, but the hooks do not run.",
              "What does `layer(...)` do, besides calling `forward`?",
              edit(call, f"layer.forward({arguments})")),
        wrong("norm_copied",
              "`norm` is a copy of the norm that was given, not the module itself.",
              "If the caller goes on training the norm, what does your stack see of it?",
              edit("is None else norm", "is None else __import__('copy').deepcopy(norm)")),
        wrong("same_layer",
              "All entries of `layers` are the same layer, so the stack has the parameters of just one.",
              "In `[layer] * n`, how many layers are created?",
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "nn.ModuleList([make_layer()] * num_layers)")),
        wrong("copied",
              "You made one layer and copied it, so all layers start with the same weights.",
              "How often should `make_layer` be called?",
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "nn.ModuleList(copy.deepcopy(layer) for layer in [make_layer()] * num_layers)",
                   "super().__init__()", """
                  super().__init__()
                  import copy
                  """)),
        wrong("one_too_few",
              "One layer is missing.",
              "How many layers does your code create for `num_layers = 2`?",
              edit("range(num_layers)", "range(num_layers - 1)")),
        wrong("one_too_many",
              "There is one layer too many.",
              "How many layers does your code create for `num_layers = 2`?",
              edit("range(num_layers)", "range(num_layers + 1)")),
        wrong("last_skipped",
              "The last layer is created but never used.",
              "Which layers does your loop visit?",
              edit("in self.layers:", "in self.layers[:-1]:")),
        wrong("reversed",
              "The layers are applied in reverse order.",
              "Which layer should get the input?",
              edit("in self.layers:", "in reversed(self.layers):")),
        wrong("first_only",
              "Only the first layer is used, again and again.",
              "Which layer does your loop call the second time round?",
              edit(call, f"self.layers[0]({arguments})")),
        wrong("no_chain",
              "Every layer gets the original input, so only the last layer matters.",
              "What is the input of layer 2?",
              edit("for layer in self.layers:", """
                  start = x
                  for layer in self.layers:
                  """,
                   call, call.replace("(x", "(start"))),
        wrong("no_final_norm",
              "The final norm is never applied.",
              "What does your `forward` do with `norm`?",
              edit("return self.norm(x)", "return x")),
        wrong("norm_every_layer",
              "The final norm is applied after every layer instead of once at the end.",
              "Is the norm inside the loop or after it?",
              edit("  # (B", "; x = self.norm(x)  # (B", "return self.norm(x)", "return x")),
        wrong("norm_at_start",
              "The norm is applied to the input, before the first layer.",
              "Where does a pre-norm stack need its norm?",
              edit("for layer in self.layers:", """
                  x = self.norm(x)
                  for layer in self.layers:
                  """,
                   "return self.norm(x)", "return x")),
        wrong("own_final_norm",
              "Your stack applies a final norm although none was given.",
              "What should the stack do if `norm` is None?",
              edit("return self.norm(x)",
                   "return torch.nn.functional.layer_norm(x, x.shape[-1:]) if isinstance(self.norm, nn.Identity) else self.norm(x)")),
        wrong("norm_replaced",
              "Your stack ends with a norm, but not with the one that was given.",
              "What does your stack do with the module `norm`?",
              edit("nn.Identity() if norm is None else norm",
                   "nn.Identity() if norm is None else nn.LayerNorm(norm.normalized_shape)")),
        wrong("norm_unnamed",
              "The final norm is not registered under the name `norm`.",
              "Which names does the docstring give?",
              edit("self.norm = nn.Identity() if norm is None else norm",
                   "self.final = nn.Identity() if norm is None else norm",
                   "self.norm(x)", "self.final(x)")),
        wrong("returns_all",
              "Your stack returns a list; a single tensor is asked for.",
              "What does `forward` promise to return?",
              edit("return self.norm(x)", "return [x, self.norm(x)]")),
        wrong("returns_early",
              "The `return` is inside the loop, so the stack stops after its first layer.",
              "How far is your `return` indented?",
              edit("        return self.norm(x)", "            return self.norm(x)")),
        wrong("returns_early_without_norm",
              "The `return` is inside the loop, so the stack stops after its first layer and never reaches the final "
              "norm.",
              "How far is your `return` indented?",
              edit("        return self.norm(x)", "            return x")),
    ]
