"""Mistakes that encoder and decoder share: dropout in their layers, and their stacks."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant

# On all branches of a layer.
BRANCH_DROPOUT = [
    wrong("kept_not_scaled",
          "In training, what is kept of a branch is as large as before.",
          "What must become of the rest, if the mean is to stay what it was?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) if self.training else x")),
    wrong("kept_made_smaller",
          "In training, what is kept of a branch is made smaller.",
          "What must become of the rest, if the mean is to stay what it was?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) * (1 - dropout) if self.training else x")),
    wrong("positions_dropped",
          "Whole positions of a branch are dropped together.",
          "How many numbers are drawn for a vector of `d_model` features?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x[..., :1]) >= dropout) / (1 - dropout) if self.training else x")),
    wrong("dropout_in_pre_norm_only",
          "In post-norm, the branches are not dropped in training.",
          "Which lines of your `forward` run in post-norm, and which of them drop?",
          edit("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Dropout(dropout if norm_first else 0.0)")),
    wrong("no_branch_dropout",
          "In training, the branches are not dropped.",
          "Three places get dropout. Which ones does your code reach?",
          edit("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Identity()")),
]
BRANCH, RATE = ("self.dropout", "nn.Identity()"), ("dropout", "0.0")


def without_dropout(
    name: str, where: str, line: str, place: tuple[str, str] = BRANCH
) -> Mutant:
    """A mutant of each layer: ``{}`` in its line is where dropout stands."""
    given, nothing = place
    flag = "self.norm_first" if place == BRANCH else "norm_first"
    in_post = f"{given} if {flag} else {nothing}"
    return wrong(name,
                 f"In training, nothing is dropped {where}.",
                 "Which places get dropout? Which ones does your code reach?",
                 edit(line.format(given), line.format(nothing)),
                 edit(line.format(given), line.format(in_post), name=f"{name}_in_post_norm"))


def stack_mutants(arguments: str) -> list[Mutant]:
    """Mistakes of both stacks; ``arguments`` is what a layer is called with."""
    call = f"layer({arguments})"
    return [
        wrong("plain_list",
              "PyTorch does not know the layers of a new stack (they lie in a plain Python list, say): it has no "
              "parameters to train, save or move.",
              "Which list does `nn.Module` look into?",
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "[make_layer() for _ in range(num_layers)]"),
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "tuple(make_layer() for _ in range(num_layers))", name="tuple_of_layers")),
        wrong("by_forward",
              "You call `forward` of each layer: its values are right, but its hooks do not run.",
              "What does `layer(...)` do, besides calling `forward`?",
              edit(call, f"layer.forward({arguments})")),
        wrong("norm_copied",
              "`norm` is a copy of the norm that was given, not that one.",
              "If whoever made the norm trains it, what does your stack know of it?",
              edit("is None else norm", "is None else __import__('copy').deepcopy(norm)")),
        wrong("same_layer",
              "All entries are one and the same layer: the stack has the weights of a single one.",
              "In `[layer] * n`, how many layers were made?",
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "nn.ModuleList([make_layer()] * num_layers)")),
        wrong("copied",
              "You made one layer and copied it, so all layers start with the same weights.",
              "How often is `make_layer` to be called?",
              edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                   "nn.ModuleList(copy.deepcopy(layer) for layer in [make_layer()] * num_layers)",
                   "super().__init__()", """
                  super().__init__()
                  import copy
                  """)),
        wrong("one_too_few",
              "One layer is missing.",
              "How many numbers does your `range` run through?",
              edit("range(num_layers)", "range(num_layers - 1)")),
        wrong("one_too_many",
              "There is one layer too many.",
              "How many numbers does your `range` run through?",
              edit("range(num_layers)", "range(num_layers + 1)")),
        wrong("last_skipped",
              "The last layer exists, but is not used.",
              "Over which layers does your loop run?",
              edit("in self.layers:", "in self.layers[:-1]:")),
        wrong("reversed",
              "The layers are used from the last to the first.",
              "Which one gets the input?",
              edit("in self.layers:", "in reversed(self.layers):")),
        wrong("first_only",
              "Only the first layer is used, again and again.",
              "In your loop, which layer is called in the second round?",
              edit(call, f"self.layers[0]({arguments})")),
        wrong("no_chain",
              "Every layer gets the original input, so only the last one counts.",
              "What is the input of layer 2?",
              edit("for layer in self.layers:", """
                  start = x
                  for layer in self.layers:
                  """,
                   call, call.replace("(x", "(start"))),
        wrong("no_final_norm",
              "The final norm is not applied.",
              "What happens to `norm` in your `forward`?",
              edit("return self.norm(x)", "return x")),
        wrong("norm_every_layer",
              "The final norm is applied after each layer, not once at the end.",
              "Does the norm stand in the loop, or after it?",
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
              "There is a norm at the end although none was given.",
              "What should the stack do if `norm` is None?",
              edit("return self.norm(x)",
                   "return torch.nn.functional.layer_norm(x, x.shape[-1:]) if isinstance(self.norm, nn.Identity) else self.norm(x)")),
        wrong("norm_replaced",
              "There is a norm at the end, but not the one that was given.",
              "What does your stack do with the module `norm`?",
              edit("nn.Identity() if norm is None else norm",
                   "nn.Identity() if norm is None else nn.LayerNorm(norm.normalized_shape)")),
        wrong("norm_unnamed",
              "The final norm is kept under another name than `norm`, or PyTorch does not know it.",
              "Which names does the docstring give?",
              edit("self.norm = nn.Identity() if norm is None else norm",
                   "self.final = nn.Identity() if norm is None else norm",
                   "self.norm(x)", "self.final(x)")),
        wrong("returns_all",
              "Your stack returns a list of all layers' outputs; only the last one is asked for.",
              "What does `forward` promise to return?",
              edit("return self.norm(x)", "return [x, self.norm(x)]")),
        wrong("returns_early",
              "The `return` stands in the loop, so the first layer is also the last one.",
              "How far is your `return` indented?",
              edit("        return self.norm(x)", "            return self.norm(x)")),
        wrong("returns_early_without_norm",
              "The `return` stands in the loop, so the first layer is also the last one, and the final norm is never "
              "reached.",
              "How far is your `return` indented?",
              edit("        return self.norm(x)", "            return x")),
    ]
