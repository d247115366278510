"""Cases and mistakes for an exercise: the map of activation patching.

The map shows which hidden states carry the difference between two texts.
"""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.look_inside.exercises._models import draw_model


def _draw_texts(length: int, changed: int, *, blocks: int = 3, d_model: int = 6, heads: int = 3, groups: int = 1) -> Maker:
    """Make a function that draws a model, two texts that differ at position ``changed``, and two tokens to compare."""

    def make_inputs(draw: Draw) -> Inputs:
        inputs = draw_model(draw, blocks, 13, d_model, heads, groups)
        ids = draw.ids(0, 13, 1, length)
        other = ids.clone()
        other[0, changed] = (ids[0, changed] + 1 + int(draw.ids(0, 12, 1))) % 13
        answer = int(draw.ids(0, 13, 1))
        other_answer = (answer + 1 + int(draw.ids(0, 12, 1))) % 13
        return inputs | {"ids": ids, "other": other, "answers": torch.tensor((answer, other_answer))}

    return make_inputs


_NAMES = 'names = ["embedding"] + [f"blocks.{i}" for i in range(len(model.blocks) - 1)]'
_DIFFERENCE = "return (logits[0, -1, other_answer] - logits[0, -1, answer]).item()"
_SHARE = "effects[row, position] = (difference(patched) - start) / (end - start)"
_STATES = "states = record(model, other_ids, names)"
_PATCHED = "patched = run_edited(model, ids, {name: replace})"
_PUT = "output[:, position] = new[:, position]"

CASES = [
    case("noun", "4 positions, of which the third differs; 3 blocks", _draw_texts(4, 2),
         "The last row: which state enters the last block?", atol=1e-4),
    case("first", "5 positions, of which the first differs; 4 blocks", _draw_texts(5, 0, blocks=4),
         "Does each run start from the unpatched model?", atol=1e-4),
    case("last", "3 positions, of which the last differs; 2 blocks",
         _draw_texts(3, 2, blocks=2, d_model=8, heads=4, groups=2),
         "Which logits decide: those of the last position?", atol=1e-4),
    case("more", "6 positions, of which the second differs; 3 blocks", _draw_texts(6, 1, d_model=8, heads=2, groups=2),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("direction", "You patched the wrong way round: states of the first text went into a run of the other one.",
          "Which text does the model read while you patch, and where do the states come from?",
          edit(_STATES, "states = record(model, ids, names)", _PATCHED,
               "patched = run_edited(model, other_ids, {name: replace})")),
    wrong("own_states", "The states that you put in come from the same text, so nothing changes.",
          "Which of the two texts did you record?",
          edit(_STATES, "states = record(model, ids, names)")),
    wrong("all_positions", "You replaced the states of all positions at once.",
          "How many entries of the map does one run fill?",
          edit(_PUT, "output[:] = new")),
    wrong("several_positions", "You copied all positions up to `p`, or all from `p` on; copy `p` alone.",
          "How many states of one run differ from those of the unpatched run?",
          edit(_PUT, "output[:, : position + 1] = new[:, : position + 1]"),
          edit(_PUT, "output[:, position:] = new[:, position:]", name="from_the_position")),
    wrong("outputs_of_blocks", "Your rows are shifted by one: row `i` has to patch what *enters* block `i`.",
          "What enters block 0?",
          edit(_NAMES, 'names = [f"blocks.{i}" for i in range(len(model.blocks))]')),
    wrong("not_normalised", "You return differences of logits, not shares of the effect.",
          "What should the map show where a patch changes nothing, and where it changes everything?",
          edit(_SHARE, "effects[row, position] = difference(patched)"),
          edit(_SHARE, "effects[row, position] = difference(patched) - start", name="change")),
    wrong("start_forgotten", "The start is missing from your share, which is `(patched - start) / (end - start)`.",
          "How far is it from the unpatched run to that of the other text?",
          edit(_SHARE, "effects[row, position] = difference(patched) / end"),
          edit("/ (end - start)", "/ end", name="divided_by_the_end"),
          edit("(difference(patched) - start)", "difference(patched)", name="start_not_subtracted")),
    wrong("reversed_share", "Your shares are reversed: 1 where a patch changes nothing.",
          "Which run is at 0, and which at 1?",
          edit(_SHARE, "effects[row, position] = (end - difference(patched)) / (end - start)")),
    wrong("one_logit", "You compared a single logit. Anything that raises all logits then looks like an effect.",
          "Which *two* tokens does the task compare?",
          edit(_DIFFERENCE, "return logits[0, -1, other_answer].item()"),
          edit(_DIFFERENCE, "return logits[0, -1, answer].item()", name="answer_only")),
    wrong("probabilities", "You compared probabilities instead of logits.",
          "Which difference does the docstring name?",
          edit(_DIFFERENCE, """
              p = logits[0, -1].softmax(-1)
              return (p[other_answer] - p[answer]).item()
              """)),
    wrong("not_the_last", "You compared logits at another position than the last, or their mean.",
          "After which token does the answer follow?",
          edit(_DIFFERENCE, "return (logits[0, 0, other_answer] - logits[0, 0, answer]).item()"),
          edit(_DIFFERENCE, "return (logits[0, :, other_answer] - logits[0, :, answer]).mean().item()",
               name="mean_of_positions"),
          edit(_DIFFERENCE, "return (logits[0, position_of_change, other_answer] - "
                            "logits[0, position_of_change, answer]).item()",
               "names = [", "position_of_change = (ids != other_ids)[0].nonzero()[0, 0]\nnames = [",
               name="at_the_change"),
          edit("difference(patched)", "(patched[0, position, other_answer] - patched[0, position, answer]).item()",
               name="at_the_patch")),
    wrong("patches_pile_up", "Patches stay in place from one run to the next.",
          "How many states differ from those of the unpatched run in each of your runs?",
          edit(_PATCHED, """
              model.get_submodule(name).register_forward_hook(lambda m, a, o, p=position, new=new: put(o, p, new))
              patched = run_edited(model, ids, {})
              """, "effects = ", """
              def put(output, position, new):
                  output = output.clone()
                  output[:, position] = new[:, position]
                  return output
              effects = """), tests="hooks"),
    wrong("transposed", "Rows and columns are swapped.",
          "What are the rows of the map, and what are its columns?",
          edit("return effects", "return effects.T")),
    wrong("next_position", "The state comes from a different position than the one into which it is put.",
          "Should position `p` get its own state of the other run?",
          edit(_PUT, "output[:, position] = new[:, position - 1]")),
    wrong("last_state", "Every row patches the same state.",
          "Which loop variable does `replace` use, and when is it looked up?",
          edit("{name: replace}", "{names[-1]: replace}"),
          edit("{name: replace}", '{"embedding": replace}', name="embedding_only")),
]

ACCEPTED = [
    right("by_hooks", source("""
        @torch.no_grad()
        def patching_map(model, ids, other_ids, answer, other_answer):
            stages = [model.embedding, *model.blocks[:-1]]
            kept, handles = {}, []
            for n, stage in enumerate(stages):
                handles.append(stage.register_forward_hook(lambda m, a, o, n=n: kept.__setitem__(n, o.clone())))
            d = lambda logits: (logits[0, -1, other_answer] - logits[0, -1, answer])
            end = d(model(other_ids))
            [handle.remove() for handle in handles]
            start, rows = d(model(ids)), []
            for n, stage in enumerate(stages):
                for p in range(ids.size(1)):
                    here = torch.arange(ids.size(1))[:, None] == p
                    handle = stage.register_forward_hook(lambda m, a, o: torch.where(here, kept[n], o))
                    rows.append((d(model(ids)) - start) / (end - start))
                    handle.remove()
            return torch.stack(rows).view(len(stages), -1)
        """)),
    right("where_in_the_edit", edit("output[:, position] = new[:, position]", """
        output = output.clone()
        output[:, position] = new[:, position]
        """)),
    right("answer_minus_other", edit(
        _DIFFERENCE, "return (logits[0, -1, answer] - logits[0, -1, other_answer]).item()")),
]

EXERCISE = Specification(cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
