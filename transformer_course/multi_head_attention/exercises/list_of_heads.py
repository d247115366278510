"""A list of heads."""

from __future__ import annotations

from autograder.authoring.common import common, under_two_names
from autograder.authoring.contract import OF_ATTENTION, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask, open_mask, with_zeros
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.multi_head_attention.exercises._inputs import (
    head_parameters,
    linear_parameters,
)


def _list(
    batch: int, length: int, h: int, d_model: int, d_k: int, d_v: int, d_out: int, mask: str = "", pull: bool = False
) -> Maker:
    """An input and the weights for a list of heads; mask is "causal" or "padding"."""

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, length, d_model)}
        inputs |= head_parameters(draw, h, d_model, d_k, d_v, scale=0.5)
        inputs |= linear_parameters(draw, 1.0, w_o=(d_out, h * d_v))
        if mask == "causal":
            inputs["mask"] = causal_mask(length)
        elif mask == "padding":
            inputs["mask"] = open_mask(draw, batch, 1, length)
        return inputs | ({"pull": draw.tensor(batch, length, d_out)} if pull else {})

    return make_inputs


CASES = [
    case("plain", "three heads, no mask", _list(2, 5, h=3, d_model=7, d_k=4, d_v=6, d_out=8),
         "Follow one head's output: at which indices are its features after concatenation?"),
    case("causal", "a causal mask (L, L)", _list(3, 4, h=2, d_model=6, d_k=5, d_v=3, d_out=7, mask="causal"),
         "Every head must be given the mask.", aspect="masks"),
    case("padding", "a padding mask (B, 1, L), and the gradient",
         _list(2, 6, h=4, d_model=5, d_k=3, d_v=2, d_out=9, mask="padding", pull=True),
         "Does every head respect the mask, and does the gradient reach x?", aspect="masks"),
    case("single", "a single head", _list(3, 5, h=1, d_model=4, d_k=6, d_v=7, d_out=2, mask="padding"),
         "One head is a list of length one; nothing else changes.", hidden_only=True, aspect="masks"),
]

RESULTS = "results = [head(x, mask) for head in self.heads]"
JOINED = "joined = torch.cat(outputs, dim=-1)"
LIST_RETURN = "return self.w_o(joined), torch.stack(weights, dim=1)"

MISTAKES = [
    # Mistakes in how the heads are listed and joined.
    wrong("python_list",
          "The heads seem to be in an ordinary Python list, so the module does not know their parameters and no "
          "optimizer would train them.",
          "Which `nn` container registers the modules that it holds?",
          edit("nn.ModuleList(", "list("), tests="registers"),
    wrong("same_head_repeated",
          "All heads are the same object, listed `num_heads` times: they share their weights and can never differ.",
          "How many times does your code call `SelfAttention(...)`?",
          edit("attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)",
               "[attention.SelfAttention(d_model, d_k, d_v)] * num_heads")),
    wrong("heads_not_joined",
          "`w_o` takes the features of one head only, so the heads are probably averaged or summed instead of "
          "concatenated.",
          "If each head gives `d_v` features and all are kept, how many does `w_o` receive?",
          edit("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)",
               JOINED, "joined = torch.stack(outputs).mean(dim=0)")),
    wrong("one_head_not_projected",
          "If a single head already has `d_out` features, the output projection is left out.",
          "Does a single head need its output projection any less than several heads do?",
          edit("nn.Linear(num_heads * d_v, d_out)",
               "nn.Linear(num_heads * d_v, d_out) if num_heads > 1 or d_v != d_out else nn.Identity()")),
    wrong("averaged_and_repeated",
          "Every head's block holds the same features, the average of all heads.",
          "What use are several heads if their outputs are averaged at once?",
          edit(JOINED, "joined = torch.cat([sum(outputs) / len(outputs)] * len(outputs), -1)")),
    wrong("only_first_head",
          "All blocks come from head 0: the loop seems to call the same head each time.",
          "Do you use your loop variable inside the loop?",
          edit(RESULTS, "results = [self.heads[0](x, mask) for _ in self.heads]")),
    wrong("joined_along_positions",
          "The outputs are not concatenated along the features, so `w_o` does not fit.",
          "Which of the three dimensions of `(B, L, d_v)` should grow?",
          edit(JOINED, "joined = torch.cat(outputs, dim=1)")),
    wrong("no_output_projection",
          "You return the concatenated heads as they are: `w_o` is created but never used.",
          "Which step lets the outputs of different heads interact?",
          edit(LIST_RETURN, "return joined, torch.stack(weights, dim=1)")),
    wrong("features_interleaved",
          "The features are interleaved (head 0, head 1, ..., head 0 again), not in blocks; `stack` and `flatten` on "
          "the last dimension have this effect.",
          "After `stack(..., dim=-1)`, which index varies fastest: head or feature?",
          edit(JOINED, "joined = torch.stack(outputs, dim=-1).flatten(-2)")),
    wrong("heads_reversed",
          "The heads are concatenated in reverse order.",
          "Which head's features should come first?",
          edit(JOINED, "joined = torch.cat(outputs[::-1], dim=-1)"), tests="features"),
    wrong("activation_added",
          "There is a ReLU between the heads and `w_o`, which the definition does not have.",
          "What does the formula at the top of this unit put between Concat and W^O?",
          edit(LIST_RETURN, "return self.w_o(joined.relu()), torch.stack(weights, 1)")),
    wrong("bias_once_per_head",
          "The bias of `w_o` is added once for every head.",
          "If you apply `w_o` piece by piece, how many times should its bias be added?",
          edit(LIST_RETURN,
               "return self.w_o(joined) + (len(outputs) - 1) * self.w_o.bias, torch.stack(weights, dim=1)")),
    # Mistakes in how weights and output come back.
    wrong("weights_averaged",
          "The attention weights are averaged over the heads, but each head should have its own map.",
          "How many maps does a sentence have if there are `h` heads?",
          edit(LIST_RETURN, "return self.w_o(joined), torch.stack(weights).mean(0)")),
    wrong("weights_of_last_head",
          "You return only the last head's weights; in a loop, each iteration may overwrite those of the previous one.",
          "Where do you collect the weights of each head?",
          edit(LIST_RETURN, "return self.w_o(joined), weights[-1]")),
    wrong("weights_heads_first",
          "The weights have shape `(h, B, L, L)`: the new dimension comes before the batch.",
          "Which `dim` does `stack` use by default?",
          edit(LIST_RETURN, "return self.w_o(joined), torch.stack(weights)")),
    wrong("weights_concatenated",
          "The maps are joined into one long map, but the heads should have their own dimension.",
          "What is the difference between `cat` and `stack`?",
          edit(LIST_RETURN, "return self.w_o(joined), torch.cat(weights, dim=1)")),
    wrong("weights_concatenated_along_keys",
          "The maps are joined along the keys, but the heads should have their own dimension.",
          "What is the difference between `cat` and `stack`?",
          edit(LIST_RETURN, "return self.w_o(joined), torch.cat(weights, dim=-1)")),
    wrong("weights_in_a_tuple",
          "You return a tuple of maps instead of one tensor.",
          "Which function combines several tensors into one, with a new dimension?",
          edit(LIST_RETURN, "return self.w_o(joined), weights")),
    wrong("weights_in_a_list",
          "You return a list of maps instead of one tensor.",
          "Which function combines several tensors into one, with a new dimension?",
          edit(LIST_RETURN, "return self.w_o(joined), list(weights)")),
    common("only_output", edit(LIST_RETURN, "return self.w_o(joined)")),
    common("results_swapped", edit(LIST_RETURN, "return torch.stack(weights, dim=1), self.w_o(joined)")),
    # Mistakes in what each head is given, and what it is made of.
    wrong("mask_forgotten",
          "The mask is not passed on, so the heads attend to forbidden positions.",
          "Which arguments does `SelfAttention.forward` take?",
          edit(RESULTS, "results = [head(x) for head in self.heads]"), tests="applies"),
    wrong("mask_for_first_head_only",
          "Only head 0 respects the mask; through the other heads, forbidden positions still affect the output.",
          "What is `mask` in the second iteration of your loop?",
          edit(RESULTS, "results = [h(x, None if i else mask) for i, h in enumerate(self.heads)]")),
    wrong("mask_inverted",
          "The mask is inverted: allowed positions are masked.",
          "What does `True` mean in the masks of this course?",
          edit(RESULTS, "results = [head(x, None if mask is None else ~mask) for head in self.heads]")),
    wrong("heads_in_a_chain",
          "Each head gets the output of the previous head, but all of them should get `x`.",
          "After the first iteration, does the name of your input still refer to the input?",
          edit(RESULTS, """
              results = []
              for head in self.heads:
                  results.append(head(x, mask))
                  x = results[-1][0]
              """)),
    wrong("no_gradient",
          "No gradient flows back from the output: there is a `no_grad`, a `detach` or a `.data` on the way.",
          "Would training reach the weights of your heads?",
          edit(JOINED, "joined = torch.cat(outputs, dim=-1).detach()"), tests="Gradients"),
    common("weights_detached", on=LIST_RETURN),
    wrong("projection_without_bias",
          "`w_o` has no bias.",
          "Which argument of `nn.Linear` did you set?",
          edit("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(num_heads * d_v, d_out, bias=False)"),
          tests="contains"),
    wrong("sizes_swapped",
          "`d_k` and `d_v` are swapped in the heads.",
          "In which order does `SelfAttention` take its arguments?",
          edit("SelfAttention(d_model, d_k, d_v)", "SelfAttention(d_model, d_v, d_k)")),
    wrong("heads_of_a_slice",
          "Each head takes only part of the features, but here every head should see the whole `x`.",
          "In the drawing above, which arrows go into `heads[1]`?",
          edit("SelfAttention(d_model, d_k, d_v)", "SelfAttention(d_model // num_heads, d_k, d_v)")),
    common("mask_in_the_state", on="self.w_o = nn.Linear(num_heads * d_v, d_out)"),
    under_two_names("self.w_o = nn.Linear(num_heads * d_v, d_out)",
                    "for number, head in enumerate(self.heads):\n    self.add_module(f'head{number}', head)",
                    subject="The weights of the heads"),
    wrong("heads_start_alike",
          "All heads start as copies of one, so at first they all attend in the same way.",
          "At first, what can one head find that the others cannot?",
          edit("self.w_o = nn.Linear(num_heads * d_v, d_out)",
               "self.w_o = nn.Linear(num_heads * d_v, d_out)\nfor head in self.heads:\n    head.load_state_dict(self.heads[0].state_dict())"),
          tests="starts"),
]

ACCEPTED = [
    right("plain_loop", edit(RESULTS, """
        results = []
        for head in self.heads:
            results.append(head(x, mask=mask))
        """)),
    right("append_and_unsqueeze", source("""
        class ListOfHeads(nn.Module):
            def __init__(self, d_model, num_heads, d_k, d_v, d_out):
                super().__init__()
                self.w_o = nn.Linear(d_v * num_heads, d_out)
                self.heads = nn.ModuleList()
                for _ in range(num_heads):
                    self.heads.append(attention.SelfAttention(d_model, d_k, d_v))

            def forward(self, x, mask=None):
                outs, maps = [], []
                for head in self.heads:
                    o, w = head(x, mask)
                    outs.append(o)
                    maps.append(w.unsqueeze(1))
                return self.w_o(torch.cat(outs, -1)), torch.cat(maps, 1)
        """)),
    right("stack_then_flatten", edit(JOINED, "joined = torch.stack(outputs, dim=2).flatten(2)")),
    right("sum_of_blocks", edit(LIST_RETURN, """
        blocks = self.w_o.weight.chunk(len(outputs), dim=1)
        out = sum(o @ b.T for o, b in zip(outputs, blocks))
        return out + self.w_o.bias, torch.stack(weights, dim=1)
        """)),
    right("sequential_container_and_list_result", edit("""
        self.heads = nn.ModuleList(
            attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
        )
        """, "self.heads = nn.Sequential(*[attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)])",
                                                       LIST_RETURN,
                                                       "return [self.w_o(joined), torch.stack(weights, dim=1)]")),
    right("filled_in_place", source("""
        class ListOfHeads(nn.Module):
            def __init__(self, d_model, num_heads, d_k, d_v, d_out):
                super().__init__()
                self.heads = nn.ModuleList(
                    [attention.SelfAttention(d_model=d_model, d_k=d_k, d_v=d_v)
                     for _ in range(num_heads)])
                self.w_o = nn.Linear(in_features=num_heads * d_v, out_features=d_out)
                self.d_v = d_v

            def forward(self, x, mask=None):
                B, L, _ = x.shape
                joined = x.new_zeros(B, L, self.w_o.in_features)
                maps = x.new_zeros(B, len(self.heads), L, L)
                for i, head in enumerate(self.heads):
                    output, maps[:, i] = head(x, mask)
                    joined[..., i * self.d_v : (i + 1) * self.d_v] = output
                return self.w_o(joined), maps
        """)),
]

EXERCISE = Specification(
    target="ListOfHeads",
    aspects={"weights": 4.0},  # right ones are half of the way
    contract=Contract(
        arguments="x: B L d; mask?: L L | B L L", results="output: B L e; weights: B h L L", on=("plain", "padding"),
        ways=OF_ATTENTION, module=True, alone=True,
        sizes=special(
            one_sentence=_list(1, 3, 2, 5, 4, 3, 7, mask="padding"), one_head=_list(2, 3, 1, 5, 4, 6, 7, mask="causal"),
            one_head_as_large_as_the_output=_list(2, 3, 1, 5, 4, 6, 6), one_position=_list(2, 1, 3, 5, 4, 6, 7),
            equal_sizes=_list(3, 3, 3, 3, 3, 3, 3, mask="causal"),
            as_many_sentences_as_heads=_list(3, 4, 3, 5, 4, 2, 6, mask="padding"),
            a_position_of_zeros=with_zeros(_list(2, 3, 2, 5, 4, 3, 7), "x"),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
