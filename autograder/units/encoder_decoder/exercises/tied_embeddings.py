"""One table for source, target and output."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import token_ids


def _model(src_vocab: int, tgt_vocab: int, d_model: int, batch: int, ls: int, lt: int, pad_id: int = 0) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        shapes = {
            "source.embedding.weight": (src_vocab, d_model),
            "target.embedding.weight": (tgt_vocab, d_model),
            "output.weight": (tgt_vocab, d_model),
            "output.bias": (tgt_vocab,),
        }
        made: Inputs = draw.weights(**shapes)
        for name in ("source", "target"):
            made[f"weights.{name}.embedding.weight"][pad_id] = 0
        made["src"] = token_ids(draw, batch, ls, src_vocab, pad_id)
        made["tgt"] = token_ids(draw, batch, lt, tgt_vocab, pad_id)
        made["pull"] = draw.tensor(batch, lt, tgt_vocab)
        return made | {"pad_id": torch.tensor(pad_id)}

    return inputs


CASES = [
    case("seven", "seven words, four features", _model(7, 7, 4, batch=2, ls=5, lt=3),
         "Which of the three tables is the one that remains?"),
    case("square", "as many words as features, a different pad_id", _model(5, 5, 5, batch=3, ls=4, lt=6, pad_id=2),
         "Even a square table is shared as it is, not transposed."),
    case("larger_source", "the source has the larger vocabulary: refused",
         _model(8, 6, 4, batch=2, ls=3, lt=4),
         "The docstring names the error.", aspect="errors", open=True),
    case("larger_target", "the target has the larger vocabulary: refused",
         _model(6, 9, 4, batch=2, ls=3, lt=4),
         "The docstring names the error.", aspect="errors", open=True),
    case("wide", "many features, few words", _model(4, 4, 9, batch=2, ls=6, lt=5, pad_id=1),
         "Does your code depend on the sizes?", hidden_only=True),
]

_TIE = "model.target.embedding.weight = model.output.weight = table"
_CHECK = "if model.output.weight.shape != table.shape:"

MISTAKES = [
    wrong("nothing_tied",
          "Nothing is shared: there are still three tables.",
          "Which attribute of which module should hold the source's parameter?",
          edit(_TIE, "pass")),
    wrong("output_not_tied",
          "Source and target share their table, but the output layer has a weight of its own.",
          "How many modules should use the shared table?",
          edit(_TIE, "model.target.embedding.weight = table")),
    wrong("target_not_tied",
          "Source and output share one table, but the target has its own.",
          "How many modules should use the shared table?",
          edit(_TIE, "model.output.weight = table")),
    wrong("source_not_tied",
          "Target and output share one table, but the source has its own.",
          "Whose table should all three use?",
          edit(_TIE, "model.output.weight = model.target.embedding.weight")),
    wrong("tied_by_copy",
          "There are still three parameters: equal today, different after the first step of training.",
          "Do all three names refer to the same `nn.Parameter`?",
          edit(_TIE, """
              with torch.no_grad():
                  model.target.embedding.weight.copy_(table)
                  model.output.weight.copy_(table)
              """),
          edit(_TIE, """
              model.target.embedding.weight = nn.Parameter(table.detach().clone())
              model.output.weight = nn.Parameter(table.detach().clone())
              """, name="tied_by_clone"),
          edit(_TIE, "model.target.embedding.weight.data = model.output.weight.data = table.data", name="data_shared")),
    wrong("table_of_the_target",
          "The shared table is the target's.",
          "Whose table does the text name?",
          edit(_TIE, "model.source.embedding.weight = model.output.weight = model.target.embedding.weight")),
    wrong("table_of_the_output",
          "The shared table is the one that the output layer was created with, so padding's vector is not zero.",
          "Which of the three modules knows about padding, and whose values remain?",
          edit(_TIE, "model.source.embedding.weight = model.target.embedding.weight = model.output.weight")),
    wrong("started_again",
          "The shared table has new values, so padding's vector is not zero any more.",
          "Which values should the table have afterwards?",
          edit(_TIE, f"{_TIE}; nn.init.xavier_uniform_(table)")),
    wrong("frozen",
          "The shared table is never trained: it does not require a gradient.",
          "Where does your code detach something, or set `requires_grad`?",
          edit(_TIE, f"{_TIE}; table.requires_grad_(False)")),
    wrong("bias_lost",
          "The output layer has lost its bias.",
          "Which parts of the output layer should change?",
          edit(_TIE, """
              model.target.embedding.weight = table
              model.output = nn.Linear(table.size(1), len(table), bias=False)
              model.output.weight = table
              """)),
    wrong("bias_zeroed",
          "The bias of the output layer has been set to zero.",
          "Which parts of the output layer should change?",
          edit(_TIE, f"{_TIE}; nn.init.zeros_(model.output.bias)"),
          edit(_TIE, """
              model.target.embedding.weight = table
              model.output = nn.Linear(table.size(1), len(table))
              model.output.weight = table
              """, name="new_output_layer")),
    wrong("sizes_not_refused",
          "Tables of different sizes are not refused.",
          "Can one table have both 6 and 8 rows, and which error should say so?",
          edit(_CHECK, "if False:")),
    wrong("only_larger_source_refused",
          "Different sizes are refused only if the source has the larger vocabulary.",
          "What if the target has more words than the source?",
          edit(_CHECK, "if len(model.output.weight) < len(table):")),
    wrong("only_larger_target_refused",
          "Your code rejects different vocabulary sizes only if the target's is the larger one.",
          "What if the source has more words than the target?",
          edit(_CHECK, "if len(model.output.weight) > len(table):")),
    wrong("refused_too_late",
          "Different sizes raise a `ValueError`, but by then the model has been changed.",
          "Which comes first in your code: the check or the assignment?",
          edit("table = model.source.embedding.weight  # (vocab, d_model)", """
              table = model.source.embedding.weight  # (vocab, d_model)
              before = model.output.weight
              """,
               _CHECK, """
              model.target.embedding.weight = model.output.weight = table
              if before.shape != table.shape:
              """)),
    wrong("assertion",
          "Different sizes raise an `AssertionError`; a `ValueError` is asked for.",
          "What does `assert` raise?",
          edit(_CHECK, "assert model.output.weight.shape == table.shape\nif False:")),
    wrong("returns_nothing",
          "The model is tied, but nothing is returned.",
          "What does the docstring promise to return?",
          edit("return model", "return None")),
    wrong("returns_a_copy",
          "You return a copy; the given model is not changed.",
          "Which object does the docstring promise to return?",
          edit("table = model.source", "model = __import__('copy').deepcopy(model)\ntable = model.source")),
]

ACCEPTED = [
    right("module_shared", edit(_TIE, """
        model.target = model.source
        model.output.weight = model.source.embedding.weight
        """)),
    right("embedding_shared", edit(_TIE, """
        model.target.embedding = model.source.embedding
        model.output.weight = model.source.embedding.weight
        """)),
    right("in_steps", source("""
        def tie_embeddings(model):
            if model.source.embedding.num_embeddings != model.output.out_features:
                raise ValueError('one table, one vocabulary')
            for module in (model.target.embedding, model.output):
                module.weight = model.source.embedding.weight
            return model
        """)),
    right("registered", edit(_TIE, """
        for module in (model.target.embedding, model.output):
            module.register_parameter("weight", table)
        """)),
]

EXERCISE = Specification(
    name="encoder_decoder/tied_embeddings", title="Tied embeddings", target="tie_embeddings",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
