"""To PyTorch."""

from __future__ import annotations

from autograder.authoring.contract import Contract, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from transformer_course.multi_head_attention.exercises._inputs import multi_head_inputs


def _for_pytorch(batch: int, h: int, d_k: int, lq: int, lk: int) -> Maker:
    return multi_head_inputs(batch, h, d_k, lq, lk)


_MADE = "theirs = nn.MultiheadAttention(d_model, mine.num_heads, batch_first=True)"
_LAYERS_IN_ORDER = "layers = (mine.w_q, mine.w_k, mine.w_v)"
_COPY_WEIGHTS = "theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))"
_COPY_BIASES = "theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))"
_COPY_OUT = "theirs.out_proj.load_state_dict(mine.w_o.state_dict())"

CASES = [
    case("plain", "three heads", _for_pytorch(2, 3, 4, lq=5, lk=7),
         "Compare `in_proj_weight` with your three weights, row by row.", tests="attribute"),
    case("others", "different sizes", _for_pytorch(3, 4, 2, lq=6, lk=5),
         "Compare `in_proj_weight` with your three weights, row by row."),
    case("single", "a single head", _for_pytorch(2, 1, 6, lq=4, lk=3),
         "PyTorch's layer has as many heads as yours, even if that is just one."),
    case("odd", "an odd number of features", _for_pytorch(2, 3, 3, lq=4, lk=5),
         "Does PyTorch's layer have as many heads as yours?", hidden_only=True),
    case("many", "more heads than features in a head", _for_pytorch(4, 5, 2, lq=3, lk=6),
         "Does PyTorch's layer have as many heads as yours?", hidden_only=True),
]

MISTAKES = [
    wrong("yours_frozen",
          "Your own layer can no longer learn after the call.",
          "Which of your lines switches gradients off, and in which of the two layers?",
          edit(_LAYERS_IN_ORDER, "layers = [layer.requires_grad_(False) for layer in (mine.w_q, mine.w_k, mine.w_v)]")),
    wrong("no_bias_of_the_keys",
          "The bias of the keys is left out. (No attention weight shows it, since it adds the same amount to all "
          "scores of a query.)",
          "Does the exercise ask for a copy, or for a layer that computes the same?",
          edit("[layer.bias for layer in layers]", "[mine.w_q.bias, 0 * mine.w_k.bias, mine.w_v.bias]")),
    wrong("order_kqv",
          "The rows of `in_proj_weight` seem to be in the order k, q, v.",
          "In which order does PyTorch expect queries, keys and values?",
          edit(_LAYERS_IN_ORDER, "layers = (mine.w_k, mine.w_q, mine.w_v)")),
    wrong("order_vkq",
          "The rows of `in_proj_weight` seem to be in the order v, k, q.",
          "In which order does PyTorch expect queries, keys and values?",
          edit(_LAYERS_IN_ORDER, "layers = (mine.w_v, mine.w_k, mine.w_q)")),
    wrong("order_qvk",
          "The rows of `in_proj_weight` seem to be in the order q, v, k.",
          "In which order does PyTorch expect queries, keys and values?",
          edit(_LAYERS_IN_ORDER, "layers = (mine.w_q, mine.w_v, mine.w_k)")),
    wrong("order_kvq",
          "The rows of `in_proj_weight` seem to be in the order k, v, q.",
          "In which order does PyTorch expect queries, keys and values?",
          edit(_LAYERS_IN_ORDER, "layers = (mine.w_k, mine.w_v, mine.w_q)")),
    wrong("order_vqk",
          "The rows of `in_proj_weight` seem to be in the order v, q, k.",
          "In which order does PyTorch expect queries, keys and values?",
          edit(_LAYERS_IN_ORDER, "layers = (mine.w_v, mine.w_q, mine.w_k)")),
    wrong("transposed",
          "The weights of `w_q`, `w_k` and `w_v` were transposed during the conversion.",
          "Do `nn.Linear` and `in_proj_weight` store outputs and inputs in the same order?",
          edit(_COPY_WEIGHTS, "theirs.in_proj_weight.copy_(torch.cat([layer.weight.T for layer in layers]))")),
    wrong("output_transposed",
          "The weight of `w_o` was transposed during the conversion.",
          "What type of layer is `out_proj`?",
          edit(_COPY_OUT,
                "theirs.out_proj.weight.copy_(mine.w_o.weight.T); theirs.out_proj.bias.copy_(mine.w_o.bias)")),
    wrong("rows_interleaved",
          "The rows of q, k and v are interleaved, but they should follow block by block.",
          "Which rows of `in_proj_weight` belong to the keys?",
          edit(_COPY_WEIGHTS,
               "theirs.in_proj_weight.copy_(torch.stack([layer.weight for layer in layers], 1).flatten(0, 1))")),
    wrong("queries_three_times",
          "Keys and values have the weights of the queries.",
          "Which three layers belong in `in_proj_weight`?",
          edit(_LAYERS_IN_ORDER, "layers = (mine.w_q,) * 3")),
    wrong("biases_forgotten",
          "`in_proj_bias` is not copied.",
          "Which parameters does `theirs.named_parameters()` list?",
          edit(_COPY_BIASES, "pass")),
    wrong("output_forgotten",
          "The last layer, `out_proj`, is not copied.",
          "Which parameters does `theirs.named_parameters()` list?",
          edit(_COPY_OUT, "pass")),
    wrong("output_bias_forgotten",
          "The bias of `out_proj` is not copied.",
          "Which parameters does `theirs.named_parameters()` list?",
          edit(_COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)")),
    wrong("all_biases_forgotten",
          "No bias is copied, neither `in_proj_bias` nor that of `out_proj`.",
          "Which parameters does `theirs.named_parameters()` list?",
          edit(_COPY_BIASES, "pass", _COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)")),
    wrong("inputs_forgotten",
          "`in_proj_weight` is not copied.",
          "Which parameters does `theirs.named_parameters()` list?",
          edit(_COPY_WEIGHTS, "pass")),
    wrong("nothing_copied",
          "The new layer still has its random initial weights: nothing was copied.",
          "Do your assignments change the new layer, or only your variables?",
          edit(_COPY_WEIGHTS, "pass", _COPY_BIASES, "pass", _COPY_OUT, "pass")),
    wrong("positions_first",
          "The new layer expects positions before the batch, which is PyTorch's default.",
          "Which argument puts the batch first?",
          edit(_MADE, "theirs = nn.MultiheadAttention(d_model, mine.num_heads)")),
    wrong("one_head",
          "The new layer has a single head.",
          "Where do you pass on the number of heads?",
          edit(_MADE, "theirs = nn.MultiheadAttention(d_model, 1, batch_first=True)")),
    wrong("never_one_head",
          "A layer with a single head becomes one with several.",
          "How many heads should the copy of a single head have?",
          edit(_MADE, """
              theirs = nn.MultiheadAttention(
                  d_model, mine.num_heads if mine.num_heads > 1 else 2, batch_first=True
              )
              """)),
    wrong("heads_guessed",
          "You guess the number of heads, assuming four features per head.",
          "Which attribute tells you how many heads your layer has?",
          edit(_MADE, """
              heads = mine.num_heads if d_model % 4 else d_model // 4
              theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
              """),
          edit(_MADE, """
              heads = mine.num_heads if d_model % 4 or d_model < 8 else d_model // 4
              theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
              """, name="heads_guessed_at_least_two")),
    wrong("remembered",
          "If a layer was copied before, you return its old weights, even if they "
          "have changed since.",
          "What can happen to your layer between two calls?",
          edit("def to_pytorch(mine: nn.Module) -> nn.MultiheadAttention:", """
              import functools

              @functools.cache
              def to_pytorch(mine: nn.Module) -> nn.MultiheadAttention:
              """)),
    wrong("one_copy_for_all",
          "All layers of the same size share one copy, so a later call overwrites what an earlier one returned.",
          "When is the new layer created: in each call, or once per size?",
          source("""
              copies = {}

              def to_pytorch(mine):
                  size = mine.w_o.out_features, mine.num_heads
                  if size not in copies:
                      copies[size] = nn.MultiheadAttention(*size, batch_first=True)
                  theirs = copies[size]
                  layers = (mine.w_q, mine.w_k, mine.w_v)
                  with torch.no_grad():
                      theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
                      theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
                      theirs.out_proj.load_state_dict(mine.w_o.state_dict())
                  return theirs
              """)),
    wrong("size_of_head_for_heads",
          "The new layer has `d_k` heads: the number of heads and their size are swapped.",
          "What is the second argument of `nn.MultiheadAttention`?",
          edit(_MADE, "theirs = nn.MultiheadAttention(d_model, d_model // mine.num_heads, batch_first=True)")),
    wrong("output_tied",
          "`out_proj` shares memory with your `w_o`, so training one layer changes the other.",
          "Does `=` copy a tensor, or give it a second name?",
          edit(_COPY_OUT, "theirs.out_proj = mine.w_o"), tests="training"),
    wrong("output_weight_tied",
          "`out_proj.weight` shares memory with your `w_o.weight`, so training one layer changes the other.",
          "Does `.data = ...` copy the entries, or point to them?",
          edit(_COPY_OUT,
               "theirs.out_proj.weight.data = mine.w_o.weight.data; theirs.out_proj.bias.copy_(mine.w_o.bias)")),
    wrong("wrong_direction",
          "You copied in the wrong direction: *your* layer has changed.",
          "In `a.copy_(b)`, which of the two is written to?",
          edit(_COPY_WEIGHTS,
               "[layer.weight.copy_(part) for layer, part in zip(layers, theirs.in_proj_weight.chunk(3))]",
               _COPY_BIASES, "[layer.bias.copy_(part) for layer, part in zip(layers, theirs.in_proj_bias.chunk(3))]",
               _COPY_OUT, "mine.w_o.load_state_dict(theirs.out_proj.state_dict())")),
    wrong("gradients_recorded",
          "PyTorch refuses to write into a parameter while it records gradients.",
          "How do you tell PyTorch not to record gradients while you copy?",
          edit("with torch.no_grad():", "if True:")),
    wrong("a_state_dict",
          "You return the weights instead of the layer itself.",
          "What return type does the signature promise?",
          edit("return theirs", "return theirs.state_dict()")),
    wrong("nothing_returned",
          "Your function returns nothing.",
          "Is there a `return` in your function?",
          edit("return theirs", "pass")),
    wrong("frozen",
          "PyTorch's layer cannot be trained: its weights do not require a gradient.",
          "What do `requires_grad_(False)` and `detach` do to a parameter?",
          edit("return theirs", "return theirs.requires_grad_(False)")),
    wrong("dropout_kept",
          "PyTorch's layer has the dropout of yours, but it should have none.",
          "Which dropout does the exercise ask for?",
          edit(_MADE, """
              theirs = nn.MultiheadAttention(
                  d_model, mine.num_heads, batch_first=True,
                  dropout=sum(m.p for m in mine.modules() if isinstance(m, nn.Dropout)),
              )
              """), tests="parameters"),
    wrong("mode_of_mine_changed",
          "Your own layer was in training mode, and your call has switched it to eval mode.",
          "Does copying need `eval()`, and on which layer did you call it?",
          edit("return theirs", "mine.eval()\nreturn theirs"), tests="modified"),
]

ACCEPTED = [
    right("slices", source("""
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
        """)),
    right("load_state_dict", source("""
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
        """)),
    right("data_and_clone", source("""
        def to_pytorch(mine):
            theirs = nn.MultiheadAttention(len(mine.w_o.bias), mine.num_heads, batch_first=True)
            qkv = [mine.w_q, mine.w_k, mine.w_v]
            theirs.in_proj_weight.data = torch.vstack([l.weight.data for l in qkv])
            theirs.in_proj_bias.data = torch.hstack([l.bias.data for l in qkv])
            theirs.out_proj.weight.data = mine.w_o.weight.data.clone()
            theirs.out_proj.bias.data = mine.w_o.bias.data.clone()
            return theirs
        """)),
    right("new_parameters", source("""
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
        """)),
]

EXERCISE = Specification(
    # That the copies are not tied is half of it.
    aspects={"calls": 3.0, "weights": 3.0, "in_proj_bias": 1.0},
    contract=Contract(
        ways=(),
        sizes=special(
            heads_of_one_feature=_for_pytorch(2, 4, 1, lq=5, lk=3), a_single_feature=_for_pytorch(2, 1, 1, lq=4, lk=3),
            many_heads_and_features=_for_pytorch(1, 8, 4, lq=3, lk=2),
            a_head_of_many_features=_for_pytorch(1, 1, 16, lq=2, lk=3),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
