"""Cases and mistakes for an exercise: attention with a list of single heads."""

from __future__ import annotations

from autograder.authoring.common import common, under_two_names
from autograder.authoring.contract import OF_ATTENTION, Contract
from autograder.authoring.inputs import causal_mask
from autograder.authoring.notation import case, edit, right, sizes, wrong
from autograder.authoring.specification import Specification

_LAST = "self.w_o = nn.Linear(num_heads * d_v, d_out)"
_RESULTS = "[head(x, mask) for head in self.heads]"
_JOINED = "torch.cat(outputs, dim=-1)"
_STACKED = "torch.stack(weights, dim=1)"
_RETURN = f"return self.w_o(joined), {_STACKED}"

CASES = [
    case("plain", "three heads, no mask", sizes(B=2, L=5, d_model=7, num_heads=3, d_k=4, d_v=6, d_out=8, scale=1.0),
         "Follow one head's output: at which indices are its features after concatenation?"),
    case("causal", "a causal mask (L, L)",
         sizes(B=3, L=4, d_model=6, num_heads=2, d_k=5, d_v=3, d_out=7, scale=1.0,
               mask=lambda draw, L: causal_mask(L)),
         "Every head must be given the mask.", aspect="masks"),
    case("padding", "a padding mask (B, 1, L)",
         sizes(B=2, L=6, d_model=5, num_heads=4, d_k=3, d_v=2, d_out=9, scale=1.0, mask="B 1 L"),
         "Does every head respect the mask, and does the gradient reach x?", aspect="masks"),
    case("single", "a single head",
         sizes(B=3, L=5, d_model=4, num_heads=1, d_k=6, d_v=7, d_out=2, scale=1.0, mask="B 1 L"),
         "One head is a list of length one; nothing else changes.", hidden_only=True, aspect="masks"),
]

MISTAKES = [
    wrong("python_list",
          "The heads seem to be in an ordinary Python list, so the module does not know their parameters and no "
          "optimizer would train them.",
          "Which `nn` container registers the modules that it holds?",
          edit("nn.ModuleList(", "list("), tests="registered"),
    wrong("same_head_repeated",
          "All heads are the same object, listed `num_heads` times: they share their weights and can never differ.",
          "How many times does your code call `SelfAttention(...)`?",
          edit("attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)",
               "[attention.SelfAttention(d_model, d_k, d_v)] * num_heads")),
    wrong("heads_not_joined",
          "`w_o` takes the features of one head only, so the heads are probably averaged or summed instead of "
          "concatenated.",
          "If each head gives `d_v` features and all are kept, how many does `w_o` receive?",
          edit("(num_heads * d_v, d_out)", "(d_v, d_out)", _JOINED, "torch.stack(outputs).mean(dim=0)")),
    wrong("one_head_not_projected", "If a single head already has `d_out` features, the output projection is left out.",
          "Does a single head need its output projection any less than several heads do?",
          edit(_LAST, f"{_LAST} if num_heads > 1 or d_v != d_out else nn.Identity()")),
    wrong("averaged_and_repeated", "Every head's block holds the same features, the average of all heads.",
          "What use are several heads if their outputs are averaged at once?",
          edit(_JOINED, "torch.cat([sum(outputs) / len(outputs)] * len(outputs), -1)")),
    wrong("only_first_head", "All blocks come from head 0: the loop seems to call the same head each time.",
          "Do you use your loop variable inside the loop?",
          edit(_RESULTS, "[self.heads[0](x, mask) for _ in self.heads]")),
    wrong("joined_along_positions", "The outputs are not concatenated along the features, so `w_o` does not fit.",
          "Which of the three dimensions of `(B, L, d_v)` should grow?",
          edit(_JOINED, "torch.cat(outputs, dim=1)")),
    wrong("no_output_projection", "You return the concatenated heads as they are: `w_o` is created but never used.",
          "Which step lets the outputs of different heads interact?",
          edit("self.w_o(joined)", "joined")),
    wrong("features_interleaved",
          "The features are interleaved (head 0, head 1, ..., head 0 again), not in blocks; `stack` and `flatten` on "
          "the last dimension have this effect.",
          "After `stack(..., dim=-1)`, which index varies fastest: head or feature?",
          edit(_JOINED, "torch.stack(outputs, dim=-1).flatten(-2)")),
    wrong("heads_reversed", "The heads are concatenated in reverse order.",
          "Which head's features should come first?",
          edit(_JOINED, "torch.cat(outputs[::-1], dim=-1)"), tests="features"),
    wrong("activation_added", "There is a ReLU between the heads and `w_o`, which the definition does not have.",
          "What does the formula at the top of this unit put between Concat and W^O?",
          edit("self.w_o(joined)", "self.w_o(joined.relu())")),
    wrong("bias_once_per_head", "The bias of `w_o` is added once for every head.",
          "If you apply `w_o` piece by piece, how many times should its bias be added?",
          edit("self.w_o(joined)", "self.w_o(joined) + (len(outputs) - 1) * self.w_o.bias")),
    wrong("weights_averaged",
          "The attention weights are averaged over the heads, but each head should have its own map.",
          "How many maps does a sentence have if there are `h` heads?",
          edit(_STACKED, "torch.stack(weights).mean(0)")),
    wrong("weights_of_last_head",
          "You return only the last head's weights; in a loop, each iteration may overwrite those of the previous one.",
          "Where do you collect the weights of each head?",
          edit(_STACKED, "weights[-1]")),
    wrong("weights_heads_first", "The weights have shape `(h, B, L, L)`: the new dimension comes before the batch.",
          "Which `dim` does `stack` use by default?",
          edit(_STACKED, "torch.stack(weights)")),
    wrong("weights_concatenated",
          "The maps are joined into one long map, but the heads should have their own dimension.",
          "What is the difference between `cat` and `stack`?",
          edit(_STACKED, "torch.cat(weights, dim=1)"),
          edit(_STACKED, "torch.cat(weights, dim=-1)", name="weights_concatenated_along_keys")),
    wrong("weights_in_a_tuple", "You return a tuple or a list of maps instead of one tensor.",
          "Which function combines several tensors into one, with a new dimension?",
          edit(_STACKED, "weights"),
          edit(_STACKED, "list(weights)", name="weights_in_a_list")),
    common("only_output", edit(_RETURN, "return self.w_o(joined)")),
    common("results_swapped", edit(_RETURN, "return torch.stack(weights, dim=1), self.w_o(joined)")),
    wrong("mask_forgotten", "The mask is not passed on, so the heads attend to forbidden positions.",
          "Which arguments does `SelfAttention.forward` take?",
          edit(_RESULTS, "[head(x) for head in self.heads]"), tests="applies"),
    wrong("mask_for_first_head_only",
          "Only head 0 respects the mask; through the other heads, forbidden positions still affect the output.",
          "What is `mask` in the second iteration of your loop?",
          edit(_RESULTS, "[h(x, None if i else mask) for i, h in enumerate(self.heads)]")),
    wrong("mask_inverted", "The mask is inverted: allowed positions are masked.",
          "What does `True` mean in the masks of this course?",
          edit(_RESULTS, "[head(x, None if mask is None else ~mask) for head in self.heads]")),
    wrong("heads_in_a_chain", "Each head gets the output of the previous head, but all of them should get `x`.",
          "After the first iteration, does the name of your input still refer to the input?",
          edit(f"results = {_RESULTS}", """
              results = []
              for head in self.heads:
                  results.append(head(x, mask))
                  x = results[-1][0]
              """)),
    wrong("no_gradient",
          "No gradient flows back from the output: there is a `no_grad`, a `detach` or a `.data` on the way.",
          "Would training reach the weights of your heads?",
          edit(_JOINED, "torch.cat(outputs, dim=-1).detach()"), tests="Gradients"),
    common("weights_detached", on=_STACKED),
    wrong("projection_without_bias", "`w_o` has no bias.",
          "Which argument of `nn.Linear` did you set?",
          edit("(num_heads * d_v, d_out)", "(num_heads * d_v, d_out, bias=False)"), tests="state dict"),
    wrong("sizes_swapped", "`d_k` and `d_v` are swapped in the heads.",
          "In which order does `SelfAttention` take its arguments?",
          edit("SelfAttention(d_model, d_k, d_v)", "SelfAttention(d_model, d_v, d_k)")),
    wrong("heads_of_a_slice",
          "Each head takes only part of the features, but here every head should see the whole `x`.",
          "In the drawing above, which arrows go into `heads[1]`?",
          edit("SelfAttention(d_model, d_k, d_v)", "SelfAttention(d_model // num_heads, d_k, d_v)")),
    common("mask_in_the_state", on=_LAST),
    under_two_names(_LAST,
                    "for number, head in enumerate(self.heads):\n    self.add_module(f'head{number}', head)",
                    subject="The weights of the heads"),
    wrong("heads_start_alike", "All heads start as copies of one, so at first they all attend in the same way.",
          "At first, what can one head find that the others cannot?",
          edit(_LAST, f"{_LAST}\nfor head in self.heads:\n    head.load_state_dict(self.heads[0].state_dict())"),
          tests="starts"),
]

ACCEPTED = [
    right("stack_then_flatten", edit(_JOINED, "torch.stack(outputs, dim=2).flatten(2)")),
    right("sum_of_blocks", edit(_RETURN, """
        blocks = self.w_o.weight.chunk(len(outputs), dim=1)
        out = sum(o @ b.T for o, b in zip(outputs, blocks))
        return out + self.w_o.bias, torch.cat([w.unsqueeze(1) for w in weights], dim=1)
        """)),
    right("sequential_container_and_list_result", edit("""
        self.heads = nn.ModuleList(
            attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
        )
        """, "self.heads = nn.Sequential(*[attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)])",
        _RETURN, f"return [self.w_o(joined), {_STACKED}]")),
    right("filled_in_place", edit(f"joined = {_JOINED}", """
        joined = x.new_zeros(*x.shape[:2], self.w_o.in_features)
        maps = x.new_zeros(len(x), len(outputs), x.size(1), x.size(1))
        for i, output in enumerate(outputs):
            maps[:, i] = weights[i]
            joined[..., i * output.size(-1) : (i + 1) * output.size(-1)] = output
        """, _STACKED, "maps")),
]

EXERCISE = Specification(
    target="ListOfHeads",
    results="output, weights",
    parts="weights",
    contract=Contract(
        on=("plain", "padding"), ways=OF_ATTENTION, alone=True,
        sizes={
            "one head": {"num_heads": 1},
            "one head as large as the output": {"num_heads": 1, "d_v": 8},
            "as many sentences as heads, and a mask": {"B": 3, "mask": "B 1 L"},
        },
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
