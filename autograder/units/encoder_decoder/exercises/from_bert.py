"""The weights of a published BERT under the names of one's own encoder."""

from __future__ import annotations

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import (
    Shapes,
    linear_shapes,
    norm_shapes,
)


def _layer(before: str, size: int, hidden: int) -> Shapes:
    """A layer's shapes by BERT's names."""
    shapes: Shapes = {}
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        shapes |= linear_shapes(f"{before}attention.{part}", size, size)
    return (
        shapes
        | norm_shapes(f"{before}attention.output.LayerNorm", size)
        | linear_shapes(f"{before}intermediate.dense", hidden, size)
        | linear_shapes(f"{before}output.dense", size, hidden)
        | norm_shapes(f"{before}output.LayerNorm", size)
    )


def _bert(
    layers: tuple[int, ...], size: int, hidden: int, prefix: str = "", whole: bool = False, by_name: bool = False,
    half: bool = False,
) -> Maker:  # fmt: skip
    """Tensors of the layers with these numbers.

    Args:
        whole: with the embeddings and the pooler, which are in no layer.
        by_name: in alphabetical order, as in many files.
        half: in float16.
    """
    shapes: Shapes = {}
    if whole:
        shapes |= {f"{prefix}embeddings.word_embeddings.weight": (7, size)}
        shapes |= norm_shapes(f"{prefix}embeddings.LayerNorm", size)
    for number in layers:
        shapes |= _layer(f"{prefix}encoder.layer.{number}.", size, hidden)
    if whole:
        shapes |= linear_shapes(f"{prefix}pooler.dense", size, size)

    def inputs(draw: Draw) -> Inputs:
        named = sorted(shapes) if by_name else list(shapes)
        found = {f"published.{name}": draw.tensor(*shapes[name]) for name in named}
        found = {name: value.half() if half else value for name, value in found.items()}
        return found | {"x": draw.tensor(2, 4, size, scale=1.0)}

    return inputs


CASES = [
    case("one_layer", "one layer", _bert((0,), 3, 5),
         "Write both lists of names side by side, in the order of the calls."),
    case("whole", "two layers with embeddings and a pooler", _bert((0, 1), 4, 3, whole=True),
         "Which of these tensors is in no layer?"),
    case("prefix", "two layers under a prefix, in alphabetical order",
         _bert((0, 1), 4, 5, prefix="bert.", whole=True, by_name=True),
         "Does your code work under any prefix, and in any order?"),
    case("deep", "layers 2, 9, 10 and 11 of a deep model, in float16", _bert((2, 9, 10, 11), 3, 4, half=True),
         "How many digits may a layer's number have?", hidden_only=True),
]

_TAKEN = """
if inside:  # "3.attention.self.query.weight"
    number, part = rest.split(".", 1)
    part, kind = part.rsplit(".", 1)
    state[f"layers.{number}.{names[part]}.{kind}"] = tensor
"""
_END = 'state[f"layers.{number}.{names[part]}.{kind}"] = tensor'
_SPLIT = 'number, part = rest.split(".", 1)'

MISTAKES = [
    # The table.
    wrong("norms_swapped",
          "The two norms are swapped.",
          "In post-norm, which sum does `attention.output.LayerNorm` normalise?",
          edit('LayerNorm": "norm1"', 'LayerNorm": "norm2"', '"output.LayerNorm": "norm2"', '"output.LayerNorm": "norm1"')),
    wrong("norms_merged",
          "Both of BERT's norms have become `norm1`.",
          "How many norms does your layer have, and which of them follows the feed-forward network?",
          edit('"output.LayerNorm": "norm2"', '"output.LayerNorm": "norm1"')),
    wrong("norms_merged_last",
          "Both of BERT's norms have become `norm2`.",
          "How many norms does your layer have, and which of them follows the attention?",
          edit('"attention.output.LayerNorm": "norm1"', '"attention.output.LayerNorm": "norm2"')),
    wrong("feed_forward_swapped",
          "The two layers of the feed-forward network are swapped.",
          "Which of the two is wider than `d_model` at its output: the intermediate one or the last?",
          edit('"intermediate.dense": "feed_forward.linear1"', '"intermediate.dense": "feed_forward.linear2"',
               '"output.dense": "feed_forward.linear2"', '"output.dense": "feed_forward.linear1"')),
    wrong("outputs_swapped",
          "The last linear layers of the two sublayers are swapped.",
          "Which of your modules comes last in each sublayer, and which of BERT's?",
          edit('"attention.output.dense": "attention.w_o"', '"attention.output.dense": "feed_forward.linear2"',
               '"output.dense": "feed_forward.linear2"', '"output.dense": "attention.w_o"')),
    wrong("outputs_merged",
          "`attention.output.dense` and `output.dense` have both become `feed_forward.linear2`.",
          "Which linear layer of yours mixes the heads?",
          edit('"attention.output.dense": "attention.w_o"', '"attention.output.dense": "feed_forward.linear2"')),
    wrong("outputs_merged_first",
          "`attention.output.dense` and `output.dense` have both become `attention.w_o`.",
          "Which linear layer of yours narrows the vectors from `d_ff` to `d_model`?",
          edit('"output.dense": "feed_forward.linear2"', '"output.dense": "attention.w_o"')),
    wrong("replaced_inside",
          "There is no `attention.w_o`: your rule for `output.dense` was also applied to `attention.output.dense`.",
          "Which of BERT's names contain `output.dense`, and which of your rules finds them first?",
          edit('"attention.output.dense": "attention.w_o"', '"attention.output.dense": "attention.feed_forward.linear2"')),
    wrong("query_key_swapped",
          "The projections of query and key are swapped.",
          "Which projection of yours is the query's?",
          edit('query": "attention.w_q"', 'query": "attention.w_k"', 'key": "attention.w_k"', 'key": "attention.w_q"')),
    wrong("key_value_swapped",
          "The projections of key and value are swapped.",
          "Which projection of yours is the value's?",
          edit('key": "attention.w_k"', 'key": "attention.w_v"', 'value": "attention.w_v"', 'value": "attention.w_k"')),
    wrong("value_output_swapped",
          "The projection of the value and the one after the heads are swapped.",
          "Which of the two comes after the attention weights?",
          edit('value": "attention.w_v"', 'value": "attention.w_o"',
               '"attention.output.dense": "attention.w_o"', '"attention.output.dense": "attention.w_v"')),
    wrong("decoders_names",
          "The attention is called `self_attention`, as in your decoder layer.",
          "What is the attention of your `EncoderLayer` called?",
          edit('"attention.w_q"', '"self_attention.w_q"', '"attention.w_k"', '"self_attention.w_k"',
               '"attention.w_v"', '"self_attention.w_v"', '"attention.w_o"', '"self_attention.w_o"')),
    wrong("pytorchs_names",
          "These are PyTorch's names; your own are asked for.",
          "What does `EncoderLayer(4, 2, 8).state_dict()` show?",
          edit('"attention.w_o"', '"self_attn.out_proj"', '"feed_forward.linear1"', '"linear1"',
               '"feed_forward.linear2"', '"linear2"')),
    wrong("no_attention",
          "The names of the projections lack the name of the attention that they are in.",
          "What comes before `w_q` in your layer's state dict?",
          edit('"attention.w_q"', '"w_q"', '"attention.w_k"', '"w_k"', '"attention.w_v"', '"w_v"',
               '"attention.w_o"', '"w_o"')),
    wrong("no_feed_forward",
          "The names of `linear1` and `linear2` lack the name of the network that they are in.",
          "What comes before `linear1` in your layer's state dict?",
          edit('"feed_forward.linear1"', '"linear1"', '"feed_forward.linear2"', '"linear2"')),
    wrong("numbered_from_zero",
          "Your norms and linear layers are numbered from 1, not from 0.",
          "What are the two norms of your `EncoderLayer` called?",
          edit('"norm1"', '"norm0"', '"norm2"', '"norm1"', '"feed_forward.linear1"', '"feed_forward.linear0"',
               '"feed_forward.linear2"', '"feed_forward.linear1"')),
    # The loop, rewritten.
    wrong("theirs_kept",
          "The names are still BERT's.",
          "Under which names does your encoder look for its parameters?",
          edit(_END, "state[name] = tensor")),
    wrong("layer_kept",
          "The list of layers is called `layer`, as in BERT; in your stack it is `layers`.",
          "What do the names of your encoder's parameters begin with?",
          edit('f"layers.{number}', 'f"layer.{number}')),
    wrong("stack_kept",
          "The parts have your names, but the stack still has BERT's.",
          "What do the names of your encoder's parameters begin with?",
          edit('f"layers.{number}', 'f"encoder.layer.{number}')),
    wrong("encoder_before",
          "The names begin with `encoder.`, but the state dict is for the encoder itself.",
          "What are the keys of `Stack(...).state_dict()`?",
          edit('f"layers.{number}', 'f"encoder.layers.{number}')),
    wrong("prefix_kept",
          "A prefix like `bert.` is still there.",
          "Does your encoder know what it is a part of?",
          edit('f"layers.{number}', 'f"{_}layers.{number}')),
    wrong("no_prefix",
          "Tensors with a prefix before `encoder.layer.` in their names are left out.",
          "Does `bert.encoder.layer.0.output.dense.bias` begin with `encoder.layer.`?",
          edit("if inside:", 'if inside and name.startswith("encoder"):')),
    wrong("one_digit",
          "Layers 10 and 11 have become layer 1.",
          "How many digits does your code read?",
          edit(_SPLIT, 'number, part = rest[0], rest.split(".", 1)[1]')),
    wrong("ten_lost",
          "Layers from 10 on are missing.",
          "How many digits does your code read?",
          edit("if inside:", 'if inside and rest[1] == ".":')),
    wrong("counted_anew",
          "The layers are numbered in the order in which they come, not by the numbers in their names.",
          "Which layer is `encoder.layer.9`, if it comes first?",
          edit(_SPLIT, f"{_SPLIT}; number = seen.setdefault(number, len(seen))", "state = {}", "state, seen = {}, {}")),
    wrong("others_kept",
          "Tensors that are in no layer are still there.",
          "Does your `Stack` have an embedding?",
          edit(_TAKEN, _TAKEN + """
else:
    state[name] = tensor
""")),
    wrong("biases_lost",
          "The biases are missing.",
          "How many tensors does a linear layer have?",
          edit("if inside:", 'if inside and name.endswith("weight"):')),
    wrong("norms_lost",
          "The norms are missing.",
          "How many of the eight parts does your table hold?",
          edit("if inside:", 'if inside and "LayerNorm" not in name:')),
    wrong("transposed",
          "The weights are transposed. BERT's linear layers are PyTorch's `nn.Linear`.",
          "What is the shape of `nn.Linear(a, b).weight`?",
          edit(_END, f"{_END}.T if tensor.dim() == 2 else tensor")),
    wrong("as_float32",
          "All tensors come back as float32, whatever they were.",
          "What does a conversion do to weights that are stored in float16?",
          edit(_END, f"{_END}.float()")),
    wrong("given_emptied",
          "The given mapping was modified: entries are missing afterwards.",
          "Do you `pop` from what you were given?",
          edit("for name, tensor in published.items():", "for name, tensor in list(published.items()):",
               _END, f"{_END}; published.pop(name)")),
    wrong("given_written",
          "Tensors of the given mapping have different values afterwards.",
          "A new dictionary may still hold the given tensors. Which of your steps writes into them?",
          edit(_END, f"{_END}.clone(); tensor.zero_()")),
]

ACCEPTED = [
    right("splits", source("""
        def from_bert(published):
            state = {}
            for name in published:
                parts = name.split(".")
                if "layer" not in parts:
                    continue
                at = parts.index("layer")
                number, inside, kind = parts[at + 1], parts[at + 2:-1], parts[-1]
                match inside:
                    case ["attention", "self", which]:
                        own = f"attention.w_{which[0]}"
                    case ["attention", "output", "dense"]:
                        own = "attention.w_o"
                    case ["intermediate", "dense"]:
                        own = "feed_forward.linear1"
                    case ["output", "dense"]:
                        own = "feed_forward.linear2"
                    case [*front, "output", "LayerNorm"]:
                        own = "norm1" if front else "norm2"
                state[f"layers.{number}.{own}.{kind}"] = published[name].clone()
            return state
        """)),
    right("replaces", source("""
        def from_bert(published):
            table = [("attention.self.query", "attention.w_q"), ("attention.self.key", "attention.w_k"),
                     ("attention.self.value", "attention.w_v"), ("attention.output.dense", "attention.w_o"),
                     ("attention.output.LayerNorm", "norm1"), ("intermediate.dense", "feed_forward.linear1"),
                     ("output.dense", "feed_forward.linear2"), ("output.LayerNorm", "norm2")]
            state = {}
            for name, tensor in published.items():
                if "encoder.layer." in name:
                    name = "layers." + name[name.index("encoder.layer.") + len("encoder.layer."):]
                    for theirs, ours in table:
                        name = name.replace(theirs, ours)
                    state[name] = tensor
            return state
        """)),
    right("layer_by_layer", source("""
        def from_bert(published):
            parts = {"w_q": "self.query", "w_k": "self.key", "w_v": "self.value", "w_o": "output.dense"}
            rows = {f"attention.{own}": f"attention.{theirs}" for own, theirs in parts.items()} | {
                "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
                "feed_forward.linear1": "intermediate.dense", "feed_forward.linear2": "output.dense"}
            found = {}
            starts = {n.split("encoder.layer.")[0] for n in published if "encoder.layer." in n}
            for start in starts:
                numbers = {n.split("encoder.layer.")[1].split(".")[0] for n in published if "encoder.layer." in n}
                for number in sorted(numbers, key=int):
                    for own, theirs in rows.items():
                        for kind in ("weight", "bias"):
                            found[f"layers.{number}.{own}.{kind}"] = published[
                                f"{start}encoder.layer.{number}.{theirs}.{kind}"]
            return found
        """)),
    right("an_ordered_dict", edit("state = {}", """
        from collections import OrderedDict
        state = OrderedDict()
        """)),
]

EXERCISE = Specification(
    name="encoder_decoder/from_bert", title="BERT's names", target="from_bert",
    contract=Contract(
        ways=(),
        sizes=special(
            two_features_and_one_between=_bert((0,), 2, 1), a_single_feature=_bert((0, 1), 1, 2),
            layers_in_reverse=_bert((2, 1, 0), 2, 3),
        ),
    ),
    precise=False,  # nothing is computed, and float16 must stay float16
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
