"""Cases and mistakes for an exercise: read a published model's file.

A solution finds a parameter of the course's model in that file.
"""

from __future__ import annotations

from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._layers import (
    Shapes,
    list_block_shapes,
    make_integers,
)

# Maps the course's name of each part to the name in the file.
_NAMES = {
    "norm1": "attn_norm", "norm2": "ffn_norm",
    "attention.w_q": "attn_q", "attention.w_k": "attn_k", "attention.w_v": "attn_v",
    "attention.w_o": "attn_output",
    "feed_forward.w_gate": "ffn_gate", "feed_forward.w_up": "ffn_up", "feed_forward.w_down": "ffn_down",
}  # fmt: skip


def _draw_file(
    blocks: tuple[int, ...], d_model: int, heads: int, groups: int, d_ff: int, half: bool = False
) -> Maker:  # fmt: skip
    """Make a function that draws the tensors of a published model's file.

    The inputs are the tensors, named "published.NAME", the two numbers of heads,
    and "own": the names of the course's parameters, joined by ", ".

    Args:
        blocks: the numbers of the blocks in the file.
        heads, groups: the number of query heads, and of key and value heads.
    """
    shapes: Shapes = {"token_embd": (7, d_model), "output_norm": (d_model,)}
    names = ["embedding.weight", "norm.weight"]
    for number in blocks:
        for name, shape in list_block_shapes(d_model, heads, groups, d_ff).items():
            part = name.removesuffix(".weight")
            shapes[f"blk.{number}.{_NAMES[part]}"] = shape
            names.append(f"blocks.{number}.{name}")

    def make_inputs(draw: Draw) -> Inputs:
        tensors = {f"published.{name}.weight": draw.tensor(*shape) for name, shape in shapes.items()}
        return {
            **make_integers(num_heads=heads, num_kv_heads=groups), "own": ", ".join(names),
            **{name: value.half() if half else value for name, value in tensors.items()},
        }  # fmt: skip

    return make_inputs


CASES = [
    case("one_block", "one block, 4 heads, 2 of keys and values", _draw_file((0,), 32, 4, 2, 9),
         "Write both lists of names side by side. Which projections feed a rotation?"),
    case("multi_query", "two blocks, 3 heads, 1 of keys and values", _draw_file((0, 1), 12, 3, 1, 15),
         "Keys have their own number of heads."),
    case("deep", "blocks 3 and 12 of a deep model, 2 heads, 1 of keys and values", _draw_file((3, 12), 16, 2, 1, 12),
         "How many digits may a block's number have?"),
    case("half", "blocks 1, 10 and 11, 6 heads, 2 of keys and values, in float16",
         _draw_file((1, 10, 11), 24, 6, 2, 6, half=True),
         "Write both lists of names side by side.", hidden_only=True),
]

_LOOK_UP = 'tensor = published[f"{before}{names[part]}.weight"]'
_HEADS = 'heads = {"w_q": num_heads, "w_k": num_kv_heads}.get(part)'
_BACK = "return pairs_to_halves(tensor, heads) if heads else tensor"
_BEFORE = 'before = f"blk.{block[1]}." if block else ""'

MISTAKES = [
    wrong("not_converted", "Queries, keys or both come back as stored, for neighbours; `rotate` rotates halves.",
          "Which of your functions reorders the rows of a rotary projection, and which projections are rotated?",
          edit(_BACK, "return tensor"),
          edit(_HEADS, 'heads = {"w_q": num_heads}.get(part)', name="only_queries"),
          edit(_HEADS, 'heads = {"w_k": num_kv_heads}.get(part)', name="only_keys")),
    wrong("wrong_heads", "Queries or keys are converted with a number of heads that is not theirs.",
          "How many heads do the queries have, how many the keys, and where does your conversion use these numbers?",
          edit(_HEADS, 'heads = num_heads if part in ("w_q", "w_k") and tensor.size(0) % (2 * num_heads) == 0 '
                       'else {"w_k": num_kv_heads}.get(part)'),
          edit('"w_q": num_heads', '"w_q": num_kv_heads', name="heads_of_keys"),
          edit(_HEADS, 'heads = {"w_q": num_kv_heads, "w_k": num_heads}.get(part)',
               _BACK, """
              if heads and tensor.size(0) % (2 * heads):
                  heads = num_kv_heads
              return pairs_to_halves(tensor, heads) if heads else tensor
              """, name="heads_exchanged"),
          edit(_BACK, "return pairs_to_halves(tensor, 1) if heads else tensor", name="one_head")),
    wrong("converted_too", "Values or the output projection are converted as well.",
          "Which of the four projections feed a rotation?",
          edit(_HEADS, 'heads = {"w_q": num_heads, "w_k": num_kv_heads, "w_v": num_kv_heads}.get(part)'),
          edit(_HEADS, 'heads = {"w_q": num_heads, "w_k": num_kv_heads, "w_o": num_heads}.get(part)',
               name="output_too"),
          edit(_HEADS, 'heads = {"q": num_heads, "k": num_kv_heads, "v": num_kv_heads, "o": num_heads}.get(part[2:])',
               name="attention_too")),
    wrong("other_way", "Queries and keys are converted in the other direction, from halves to neighbours, or twice.",
          "In which order are the rows in the *file*, and how often does your code call `pairs_to_halves` on them?",
          edit(_BACK, "return tensor.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2) if heads else tensor"),
          edit(_BACK, "return pairs_to_halves(pairs_to_halves(tensor, heads), heads) if heads else tensor",
               name="converted_twice")),
    wrong("names_exchanged", "Two names are exchanged in your table, so two parameters get each other's tensor.",
          "Which of your norms comes before the attention, which matrix goes through SiLU, and what does the "
          "letter after `attn_` mean?",
          edit('"norm1": "attn_norm", "norm2": "ffn_norm"', '"norm1": "ffn_norm", "norm2": "attn_norm"'),
          edit('"ffn_gate", "w_up": "ffn_up"', '"ffn_up", "w_up": "ffn_gate"', name="gate_and_up_exchanged"),
          edit('"w_k": "attn_k", "w_v": "attn_v"', '"w_k": "attn_v", "w_v": "attn_k"',
               name="keys_and_values_exchanged"),
          edit('"w_q": "attn_q"', '"w_q": "attn_output"', '"w_o": "attn_output"', '"w_o": "attn_q"',
               name="queries_and_output_exchanged")),
    wrong("last_norm_of_a_block", "The model's last norm is a block's norm.",
          "Which norm in the file is in no block?",
          edit(_LOOK_UP, """
              last = [given for given in published if given.endswith("ffn_norm.weight")]
              tensor = published[last[-1] if part == "norm" else f"{before}{names[part]}.weight"]
              """)),
    wrong("other_block",
          "Some blocks get the weights of a different one: all of them those of the first, or those from 10 on.",
          "Where does your code read the block's number, and how many digits of it?",
          edit(_BEFORE, """
              first = min(int(given.split(".")[1]) for given in published if given[:4] == "blk.")
              before = f"blk.{first}." if block else ""
              """),
          edit(_BEFORE, """
              before = f"blk.{block[1][0]}." if block else ""
              stored = any(given.startswith(before) for given in published)
              before = before if not block or stored else f"blk.{block[1]}."
              """, name="one_digit"),
          edit(_BEFORE, 'before = f"blk.{block[1][0]}." if block else ""', name="only_one_digit"),
          tests="number"),
    wrong("no_such_name",
          "Your code looks for a name that is not in the file: one of your own, or one without the block's number.",
          "Which names does the list in the text show, and what comes between `blk.` and the part's name?",
          edit(_LOOK_UP, "tensor = published[name]"),
          edit(_BEFORE, 'before = "blk." if block else ""', name="without_the_number")),
    wrong("changed", "Tensors come back changed: matrices transposed, or the embedding scaled.",
          "What shape does the parameter have? Does your model scale its embedding, or the file?",
          edit(_BACK, f"tensor = tensor.mT if tensor.dim() == 2 and not heads else tensor; {_BACK}"),
          edit(_BACK, 'tensor = tensor * tensor.size(-1) ** 0.5 if part == "embedding" else tensor; '
                      "return pairs_to_halves(tensor, heads) if heads else tensor", name="embedding_scaled")),
    wrong("all_looked_up",
          "Each call looks up every tensor of the file: for a large model, this takes minutes instead of seconds.",
          "How many tensors does one parameter need?",
          edit(_LOOK_UP, """
              everything = dict(published.items())
              tensor = everything[f"{before}{names[part]}.weight"]
              """), tests="builds"),
    wrong("as_float32", "The tensors come back as float32, whatever their dtype was.",
          "Where does the conversion happen: here, or when the tensor is copied into the parameter?",
          edit(_LOOK_UP, f"{_LOOK_UP}.float()")),
    wrong("given_written", "Tensors of the file have different values afterwards.",
          "Which of your steps writes in place?",
          edit(_BACK, "return tensor.copy_(pairs_to_halves(tensor, heads).clone()) if heads else tensor"),
          tests="modified"),
    wrong("name_returned", "You return a name; return the tensor.",
          "What can you look up under this name?",
          edit(_BACK, 'return f"{before}{names[part]}.weight"')),
]

ACCEPTED = [
    right("replaces", source("""
        def published_tensor(name, published, num_heads, num_kv_heads):
            for ours, theirs in (("blocks", "blk"), ("attention.w_o", "attn_output"), ("attention.w_", "attn_"),
                                 ("feed_forward.w_", "ffn_"), ("norm1", "attn_norm"), ("norm2", "ffn_norm"),
                                 ("embedding", "token_embd")):
                name = name.replace(ours, theirs)
            tensor = published["output_norm.weight" if name == "norm.weight" else name]
            if "attn_q" in name:
                tensor = pairs_to_halves(tensor, num_heads)
            elif "attn_k." in name:
                tensor = pairs_to_halves(tensor, num_kv_heads)
            return tensor
        """)),
    right("matched", source(r"""
        def published_tensor(name, published, num_heads, num_kv_heads):
            import re
            whole = {"embedding.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}
            if name in whole:
                return published[whole[name]].clone()
            number, part = re.fullmatch(r"blocks\.(\d+)\.(.*)\.weight", name).groups()
            kind = part.split("w_")[-1]
            if part.startswith("norm"):
                theirs = ["attn_norm", "ffn_norm"][int(part[-1]) - 1]
            elif part.startswith("feed_forward"):
                theirs = f"ffn_{kind}"
            else:
                theirs = "attn_output" if kind == "o" else f"attn_{kind}"
            tensor = published[f"blk.{number}.{theirs}.weight"].clone()
            return pairs_to_halves(tensor, {"q": num_heads, "k": num_kv_heads}[kind]) if kind in ("q", "k") else tensor
        """)),
    right("rows_by_hand", edit(_BACK, """
        if heads is None:
            return tensor
        d_k = tensor.size(0) // heads
        order = [h * d_k + i for h in range(heads) for i in (*range(0, d_k, 2), *range(1, d_k, 2))]
        return tensor[order]
        """)),
]

EXERCISE = Specification(
    contract=Contract(
        ways=(),
        sizes=special_sizes(
            heads_of_one_pair=_draw_file((0,), 8, 4, 2, 3), one_head=_draw_file((0,), 6, 1, 1, 3),
            as_many_keys_as_queries=_draw_file((0, 1), 12, 3, 3, 6),
        ),
    ),
    precise=False,  # nothing is computed, and float16 is to stay float16
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
