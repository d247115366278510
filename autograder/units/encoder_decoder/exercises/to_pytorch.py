"""Your parameters under PyTorch's names."""

from __future__ import annotations

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import (
    DECODER,
    ENCODER,
    Shapes,
    attention_shapes,
    feed_forward_shapes,
    layer_shapes,
    stack_shapes,
)


def _state(shapes: Shapes, half: bool = False) -> Maker:
    """A state dict with names in the order of ``shapes``; ``half``: in float16."""

    def inputs(draw: Draw) -> Inputs:
        state = {f"state.{name}": draw.tensor(*size) for name, size in shapes.items()}
        return {name: value.half() if half else value for name, value in state.items()}

    return inputs


def _learning(shapes: Shapes) -> Maker:
    return lambda draw: _state(shapes)(draw) | {"learning": "yes"}


def _by_name(shapes: Shapes) -> Shapes:
    """In the order of the alphabet, as files of weights often have it: w_k before w_q."""
    return dict(sorted(shapes.items()))


def _parts() -> Shapes:
    """Parts of layers, each under a prefix of its own."""
    return (
        attention_shapes("reader.cross_attention", 3)
        | attention_shapes("writer.self_attention", 2)
        | attention_shapes("attention.attention", 2)
        | feed_forward_shapes("body.feed_forward.", 2, 4)
    )


CASES = [
    case("encoder_layer", "an encoder layer", _state(layer_shapes("", ENCODER, 4, 3)),
         "Write both lists of names side by side."),
    case("decoder_layer", "a decoder layer, its names in the order of the alphabet",
         _state(_by_name(layer_shapes("", DECODER, 3, 5))),
         "`attention` is a part of `self_attention` and `cross_attention`, too. And who says that `w_q` comes first?"),
    case("both_stacks", "encoder and decoder with final norms",
         _state(stack_shapes("encoder.", ENCODER, 2, 2, 3, True) | stack_shapes("decoder.", DECODER, 1, 2, 3, True)),
         "Does your code work under any prefix?"),
    case("other_names", "a whole model that learns: its other names are kept as they are",
         _learning({"source.embedding.weight": (5, 2), "output.weight": (7, 2)}
         | stack_shapes("encoder.", ENCODER, 1, 2, 3, False)
         | {"output.bias": (7,)}),
         "What does your code do with a name that stands in no row of the table?"),
    case("words_in_prefix", "prefixes that hold words of the table",
         _state(layer_shapes("feed_forward.attention.layers.10.", ENCODER, 2, 3)
                | layer_shapes("body.feed_forward.cross_attention.", DECODER, 2, 3)),
         "A prefix stays as it is. What follows `attention.` where it is yours?"),
    case("parts", "parts of layers, each alone", _state(_parts()),
         "Does what becomes of a name depend on which other names there are?"),
    case("deep", "two of the layers of a deep stack under a long prefix, in float16",
         _state(layer_shapes("model.body.decoder.layers.9.", DECODER, 2, 5)
                | layer_shapes("model.body.decoder.layers.10.", DECODER, 2, 5), half=True),
         "Does your code work under any prefix, and leave numbers as they are?", hidden_only=True),
]

MISTAKES = [
    # Three projections that are joined wrongly.
    wrong("order_kqv",
          "The three projections are joined in another order than query, key, value.",
          "How does PyTorch's documentation order the rows of `in_proj_weight`?",
          edit('for letter in "qkv"', 'for letter in "kqv"')),
    wrong("order_qvk",
          "Key and value are exchanged in `in_proj_weight`.",
          "Which comes second?",
          edit('for letter in "qkv"', 'for letter in "qvk"')),
    wrong("order_of_dict",
          "The projections are joined in the order in which the given dictionary names them.",
          "Where does your code say that the query comes first?",
          source(r"""
                     def to_pytorch(state):
                         import re
                         theirs = {}
                         for name, tensor in state.items():
                             found = re.fullmatch(r'(|.*\.)((?:\w+_)?attention)\.w_([qkvo])\.(\w+)', name)
                             if not found:
                                 name = re.sub(r'(^|\.)feed_forward\.(linear)', r'\1\2', name)
                                 theirs[name] = tensor
                                 continue
                             prefix, which, letter, kind = found.groups()
                             prefix += 'multihead_attn' if which == 'cross_attention' else 'self_attn'
                             if letter == 'o':
                                 theirs[f'{prefix}.out_proj.{kind}'] = tensor
                                 continue
                             joined = theirs.get(f'{prefix}.in_proj_{kind}', tensor[:0])
                             theirs[f'{prefix}.in_proj_{kind}'] = torch.cat((joined, tensor))
                         return theirs
                     """)),
    wrong("joined_as_columns",
          "The projections are joined side by side, as columns. They belong one below the other.",
          "What shape has the joined weight to have?",
          edit("torch.cat(thirds)", "torch.cat(thirds, dim=-1)")),
    wrong("transposed",
          "The weights are transposed. `nn.Linear` and `nn.MultiheadAttention` store them the same way.",
          "What is the shape of `nn.Linear(a, b).weight`?",
          edit("torch.cat(thirds)", "torch.cat([third.T for third in thirds])")),
    wrong("stacked",
          "The projections are stacked along a new dimension.",
          "Which function joins along a dimension that exists?",
          edit("torch.cat(thirds)", "torch.stack(thirds)")),
    wrong("query_only",
          "`in_proj_weight` holds the query projection only.",
          "Three tensors become one. Where are the other two?",
          edit("torch.cat(thirds)  #", "thirds[0]  #")),
    wrong("one_for_all",
          "The query projection is used three times.",
          "Which letters does your loop run through?",
          edit("torch.cat(thirds)", "torch.cat([thirds[0]] * 3)")),
    wrong("wk_kept",
          "Keys and values are still there under their old names.",
          "What should become of a `w_k` when it has been joined?",
          edit("continue", """
              theirs[name] = tensor
              continue
              """)),
    wrong("nothing_joined",
          "The projections are renamed, but not joined.",
          "What does PyTorch have in place of three linear layers?",
          edit("""
              if ".w_k." in name or ".w_v." in name:
                  continue
              """, "",
               "tensor = torch.cat(thirds)", "tensor = tensor")),
    wrong("dot_kept",
          "The joined parameters are called `in_proj.weight` instead of `in_proj_weight`.",
          "Is `in_proj_weight` a module with a weight, or a parameter?",
          edit('"w_q.": "in_proj_"', '"w_q.": "in_proj."')),
    wrong("biases_lost",
          "The biases of the projections are lost.",
          "Which of `weight` and `bias` does your code join?",
          edit('if ".w_q." in name:', """
              if ".w_q.bias" in name:
                  continue
              if ".w_q." in name:
              """)),
    # Names that are rewritten wrongly, under some prefix or under all.
    wrong("out_proj_forgotten",
          "`w_o` keeps its name; PyTorch calls it `out_proj`.",
          "Which line of the table is missing in your code?",
          edit('"w_o.": "out_proj.",', "")),
    wrong("feed_forward_kept",
          "`feed_forward.` is still in the names; in PyTorch's layer `linear1` stands by itself.",
          "Which line of the table is missing in your code?",
          edit('"feed_forward.linear": "linear",', "")),
    wrong("cross_forgotten",
          "The cross-attention has become `cross_self_attn`: the short name was replaced inside the long one.",
          "Which replacement must come first?",
          edit('"cross_attention.w_": "multihead_attn.w_",', "")),
    wrong("order_of_names",
          "`self_attention` has become `self_self_attn`, and `cross_attention` `cross_self_attn`: the short name was "
          "replaced inside the long ones.",
          "Which replacement must come last?",
          edit("""
              "cross_attention.w_": "multihead_attn.w_",
              "self_attention.w_": "self_attn.w_",
              "attention.w_": "self_attn.w_",
              """, """
              "attention.w_": "self_attn.w_",
              "cross_attention.w_": "multihead_attn.w_",
              "self_attention.w_": "self_attn.w_",
              """)),
    wrong("self_forgotten",
          "`self_attention` has become `self_self_attn`.",
          "Which replacement must come before `attention` alone?",
          edit('"self_attention.w_": "self_attn.w_",', "")),
    wrong("attentions_swapped",
          "The decoder's two attentions are exchanged.",
          "Which of yours is PyTorch's `multihead_attn`?",
          edit('"cross_attention.w_": "multihead_attn.w_"', '"cross_attention.w_": "self_attn.w_"',
               '"self_attention.w_": "self_attn.w_"', '"self_attention.w_": "multihead_attn.w_"')),
    wrong("cross_alone",
          "Where there is no self-attention beside it, `cross_attention` has become `self_attn`.",
          "Which rows of the table look at other names?",
          edit("name = name.replace(mine, new)", """
              beside = name.replace("cross_attention.w_", "self_attention.w_")
              if mine == "cross_attention.w_" and beside not in state:
                  new = "self_attn.w_"
              name = name.replace(mine, new)
              """)),
    wrong("encoder_forgotten",
          "The encoder's `attention` keeps its name; PyTorch calls it `self_attn`.",
          "Which line of the table is missing in your code?",
          edit('"attention.w_": "self_attn.w_",', "")),
    wrong("no_prefix",
          "Your code works for a single layer, but not for names with a prefix.",
          "What comes before `attention` in `encoder.layers.0.attention.w_q.weight`?",
          edit("name = name.replace(mine, new)", """
              if name.startswith(mine) or '.layers.' not in '.' + name:
                  name = name.replace(mine, new)
              """)),
    wrong("prefix_rewritten",
          "Words of the table are replaced in the prefix, too.",
          "In `attention.layers.0.attention.w_q.weight`, which `attention` is yours, and how could your code tell?",
          edit('"cross_attention.w_": "multihead_attn.w_"', '"cross_attention.": "multihead_attn."',
               '"self_attention.w_": "self_attn.w_"', '"self_attention.": "self_attn."',
               '"attention.w_": "self_attn.w_"', '"attention.": "self_attn."',
               '"feed_forward.linear": "linear"', '"feed_forward.": ""'),
          source("""
              def to_pytorch(state):
                  new = {'cross_attention': 'multihead_attn', 'self_attention': 'self_attn',
                         'attention': 'self_attn', 'w_o': 'out_proj'}
                  theirs = {}
                  for name, tensor in state.items():
                      parts = [new.get(p, p) for p in name.split('.') if p != 'feed_forward']
                      if 'w_q' in parts:
                          three = [state[name.replace('w_q', w)] for w in ('w_q', 'w_k', 'w_v')]
                          theirs['.'.join(parts).replace('w_q.', 'in_proj_')] = torch.cat(three)
                      elif 'w_k' not in parts and 'w_v' not in parts:
                          theirs['.'.join(parts)] = tensor
                  return theirs
              """, name="prefix_by_parts")),
    wrong("first_feed_forward_removed",
          "Where `feed_forward` stands in the prefix, too, you have removed that one, and kept yours.",
          "Which `feed_forward` of a name is yours: the first, or the one before `linear1`?",
          source("""
              import re

              def to_pytorch(state):
                  theirs = {}
                  for name, tensor in state.items():
                      found = re.fullmatch(r"((?:.*\\.)?)(attention|self_attention|cross_attention)\\.w_([qkvo])\\.(weight|bias)", name)
                      if found:
                          prefix, which, letter, kind = found.groups()
                          new = prefix + ("multihead_attn" if which == "cross_attention" else "self_attn")
                          if letter == "o":
                              theirs[f"{new}.out_proj.{kind}"] = tensor
                          elif letter == "q":
                              theirs[f"{new}.in_proj_{kind}"] = torch.cat([state[f"{prefix}{which}.w_{part}.{kind}"] for part in "qkv"])
                          continue
                      theirs[re.sub(r"^((?:.*?\\.)?)feed_forward\\.(.*linear[12]\\.)", r"\\1\\2", name)] = tensor
                  return theirs
              """)),
    wrong("one_digit",
          "Layers from the tenth on keep their names: `layers.10` has two digits.",
          "Which numbers may stand after `layers.`?",
          edit("for mine, new in new_names.items():", """
              import re
              deep = re.search(r"layers.[0-9][0-9]", name)
              for mine, new in ({} if deep else new_names).items():
              """)),
    # What becomes of other names, and of what was given.
    wrong("squeezed",
          "In a layer of a single feature, dimensions are lost.",
          "Which shape has a weight from one feature to one feature?",
          edit("theirs[name] = tensor", "theirs[name] = tensor.squeeze()")),
    wrong("others_lost",
          "Names that are the same on both sides are left out.",
          "What does the docstring say of other names?",
          edit("theirs[name] = tensor", "theirs |= {name: tensor} if name not in state or 'norm' in name else {}")),
    wrong("given_written",
          "You write into the given dictionary.",
          "To which of the two dictionaries does your code assign?",
          edit("return theirs", """
              state.update({name: tensor.clone() for name, tensor in state.items()})
              return theirs
              """)),
    wrong("norms_lost",
          "The norms are missing.",
          "What does your code do with names that are not in the table?",
          edit("theirs[name] = tensor", """
              if "norm" not in name:
                  theirs[name] = tensor
              """)),
    wrong("changes_given",
          "The given dictionary is changed: entries are missing from it afterwards.",
          "Do you `pop` from the dictionary that you were given?",
          edit("for name, tensor in state.items():", """
              for name in list(state):
                  tensor = state[name]
              """,
               """
              if ".w_k." in name or ".w_v." in name:
                  continue
              """, """
              if ".w_k." in name or ".w_v." in name:
                  continue
              old = name
              """,
               "theirs[name] = tensor", """
              theirs[name] = tensor
              if not old.endswith('_q.weight'):
                  state.pop(old)
              """)),
    wrong("tensors_changed",
          "The names are right, but tensors of the given dictionary hold other numbers afterwards.",
          "A dictionary may be new and its tensors the old ones. Which of your steps writes into them?",
          edit("theirs[name] = tensor", """
              theirs[name] = tensor.clone()
              state[name].zero_() if name in state else None
              """)),
    wrong("given_detached",
          "The names are right, but the tensors of the given dictionary no longer learn.",
          "A dictionary may be new and its tensors the old ones. Which of your steps changes them?",
          edit("theirs[name] = tensor", "theirs[name] = tensor.detach_().requires_grad_(False)")),
    wrong("as_float32",
          "All numbers come back as float32, whatever they were.",
          "What does the conversion do to weights that are kept in float16?",
          edit("theirs[name] = tensor", "theirs[name] = tensor.float()")),
]

ACCEPTED = [
    right("by_prefix", source("""
        def to_pytorch(state):
            attentions = {'attention': 'self_attn', 'self_attention': 'self_attn', 'cross_attention': 'multihead_attn'}
            out = {}
            for key in state:
                *path, block, module, kind = ['', '', *key.split('.')]
                path = [p for p in path if p]
                if module in ('w_k', 'w_v'):
                    continue
                if module == 'w_q':
                    head = key[: -len(f'w_q.{kind}')]
                    parts = [state[f'{head}{m}.{kind}'] for m in ('w_q', 'w_k', 'w_v')]
                    out['.'.join([*path, attentions[block], f'in_proj_{kind}'])] = torch.cat(parts, dim=0)
                elif module == 'w_o':
                    out['.'.join([*path, attentions[block], 'out_proj', kind])] = state[key].clone()
                elif block == 'feed_forward':
                    out['.'.join([*path, module, kind])] = state[key].clone()
                else:
                    out[key] = state[key].clone()
            return out
        """)),
    right("regular_expressions", source(r"""
        def to_pytorch(state):
            import re
            def new(name):
                name = re.sub(r'(self_|\b)attention\.w_', 'self_attn.w_', name)
                name = re.sub(r'cross_attention\.w_', 'multihead_attn.w_', name)
                name = re.sub(r'feed_forward\.(linear[12]\.\w+)$', r'\1', name)
                return name.replace('.w_o.', '.out_proj.')
            found = {new(n): t for n, t in state.items()}
            for name in [n for n in found if '.w_q.' in n]:
                q, k, v = (found.pop(name.replace('w_q', w)) for w in ('w_q', 'w_k', 'w_v'))
                found[name.replace('w_q.', 'in_proj_')] = torch.vstack((q, k, v)) if q.dim() == 2 else torch.hstack((q, k, v))
            return found
        """)),
    right("under_attentions_names", source("""
        def to_pytorch(state):
            theirs = {"attention": "self_attn", "self_attention": "self_attn", "cross_attention": "multihead_attn"}
            result = {}
            for name, tensor in state.items():
                *front, layer, kind = name.split(".")
                block = front[-1] if front else ""
                if layer.startswith("w_") and block in theirs:
                    start = ".".join([*front[:-1], theirs[block]])
                    if layer == "w_q":
                        old = ".".join(front)
                        three = [state[f"{old}.{each}.{kind}"] for each in ("w_q", "w_k", "w_v")]
                        result[f"{start}.in_proj_{kind}"] = torch.cat(three)
                    elif layer == "w_o":
                        result[f"{start}.out_proj.{kind}"] = tensor
                elif layer in ("linear1", "linear2") and block == "feed_forward":
                    result[".".join([*front[:-1], layer, kind])] = tensor
                else:
                    result[name] = tensor
            return result
        """)),
    right("an_ordered_dict", edit("theirs = {}", """
        from collections import OrderedDict
        theirs = OrderedDict()
        """)),
]

EXERCISE = Specification(
    name="encoder_decoder/to_pytorch", title="Your parameters under PyTorch's names", target="to_pytorch",
    contract=Contract(
        ways=(),
        sizes=special(
            two_features_and_one_between=_state(layer_shapes("", DECODER, 2, 1)),
            a_single_feature=_state(layer_shapes("", ENCODER, 1, 2)),
            cross_attention_alone=_state(attention_shapes("reader.cross_attention", 2)),
        ),
    ),
    precise=False,  # nothing is computed, and float16 is to stay float16
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
