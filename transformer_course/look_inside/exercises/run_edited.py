"""Cases and mistakes for an exercise: a run in which hooks edit modules' outputs."""

from __future__ import annotations

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.look_inside.exercises._models import draw_model


def _draw_run(batch: int, length: int, edits: str, *, blocks: int = 3, fails: bool = False) -> Maker:
    """Make a function that draws a model and a batch of ids.

    ``edits`` assigns the probe's edits to modules: "module: edit, module: edit".
    """
    def make_inputs(draw: Draw) -> Inputs:
        inputs = draw_model(draw, blocks, 11, 6, 3, 1)
        inputs |= {"ids": draw.ids(0, 11, batch, length), "edits": edits}
        return inputs | ({"fails": "yes"} if fails else {})

    return make_inputs


_HOOK = "return lambda module, arguments, output: edit(output)"
_REGISTER = "handles.append(model.get_submodule(name).register_forward_hook(write(edit)))"
_REMOVE = "handle.remove()"

CASES = [
    case("one", "one module, whose output is halved", _draw_run(2, 5, "blocks.1: halve"),
         "Does your hook return what the edit returns?"),
    case("two", "a block and an attention, each with its edit",
         _draw_run(3, 4, "blocks.0.attention: negate, blocks.2: swap"),
         "Does each hook call the edit of its module?"),
    case("in_place", "an edit that changes its argument and returns it", _draw_run(2, 6, "embedding: add"),
         "Which of the hook's three arguments does the edit get?"),
    case("error", "a model that fails in the middle of a run", _draw_run(2, 3, "blocks.0: halve", fails=True),
         "What happens to your hooks if `model(ids)` raises an error?", tests="raises", aspect="limits"),
    case("many", "four edits in five blocks",
         _draw_run(2, 7, "embedding: negate, blocks.1.feed_forward: zero, blocks.3: swap, blocks.4.attention: halve",
                   blocks=5), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("late_binding",
          "Every module gets the edit of the last one: your hooks all read the same loop variable when they run.",
          "When is a variable in a `lambda` looked up: when the lambda is written, or when it runs?",
          edit(_REGISTER, """
              hook = lambda module, arguments, output: edit(output)
              handles.append(model.get_submodule(name).register_forward_hook(hook))
              """)),
    wrong("not_returned",
          "Your hook calls the edit but does not return its result, so the module's own output is kept.",
          "What does a forward hook have to return if the output is to change?",
          edit(_HOOK, """
              def hook(module, arguments, output):
                  edit(output)
              return hook
              """),
          edit(_HOOK, """
              def hook(module, arguments, output):
                  output = edit(output)
              return hook
              """, name="name_rebound"),
          edit(_HOOK, """
              def hook(module, arguments, output):
                  edit(output)
                  return output
              return hook
              """, name="old_output")),
    wrong("hooks_stay", "Your hooks stay in the model, so that every later run is edited as well.",
          "What does `register_forward_hook` return, and what is it for?",
          edit(_REMOVE, "pass"), tests="yours are gone"),
    wrong("only_the_last_removed", "Only one of your hooks is removed; the others stay in the model.",
          "How many handles are there?",
          edit("for handle in handles:", "for handle in handles[-1:]:")),
    wrong("hooks_survive_an_error", "If the model raises an error, your hooks stay in it.",
          "Which block of a `try` statement runs in either case?",
          edit("try:", "if True:", "return model(ids)", "logits = model(ids)", "finally:", "if True:",
               "    handle.remove()", "    handle.remove()\nreturn logits")),
    wrong("error_hidden", "If the model raises an error, your function hides it from the caller.",
          "Does a `return` in `finally`, or an `except` without `raise`, let an error through?",
          edit("try:", "logits = None\ntry:", "return model(ids)", "logits = model(ids)",
               "finally:", "except Exception:\n    pass\nfinally:",
               "    handle.remove()", "    handle.remove()\nreturn logits")),
    wrong("all_hooks_cleared", "You remove all hooks of the modules, also those that the caller had put there.",
          "Whose hooks are in `_forward_hooks`?",
          edit("for handle in handles:", "for name in edits:",
               _REMOVE, "model.get_submodule(name)._forward_hooks.clear()"), tests="caller's hooks"),
    wrong("the_input", "The edit is applied to what the module *reads*, or is given that in place of the output.",
          "A hook gets the module, its arguments and its output. Which of them should the edit see?",
          edit("edit(output)", "edit(arguments[0])"),
          edit(_REGISTER, """
              hook = lambda module, arguments, edit=edit: (edit(arguments[0]),)
              handles.append(model.get_submodule(name).register_forward_pre_hook(hook))
              """, name="pre_hook")),
    wrong("added", "The edited output is added to the module's output instead of replacing it.",
          "What does PyTorch do with the value that a hook returns?",
          edit("edit(output)", "output + edit(output)")),
    wrong("run_before",
          "The model runs before your hooks are registered, or after they are removed: nothing is edited.",
          "In which order must register, run and remove happen?",
          edit("handles = []", "handles = []\nlogits = model(ids)", "return model(ids)", "return logits")),
    wrong("run_twice", "The model runs more than once.",
          "How many runs does one set of edits need?",
          edit("return model(ids)", "model(ids)\nreturn model(ids)"), tests="once"),
    wrong("first_only", "Only the first edit takes effect.",
          "Is something inside the loop that belongs after it?",
          edit("edits.items()", "list(edits.items())[:1]")),
]

ACCEPTED = [
    right("default_argument", edit(_REGISTER, """
        hook = lambda module, arguments, output, edit=edit: edit(output)
        handles.append(model.get_submodule(name).register_forward_hook(hook))
        """)),
    right("exit_stack", source("""
        def run_edited(model, ids, edits):
            from contextlib import ExitStack
            modules = dict(model.named_modules())
            with ExitStack() as stack:
                for name, edit in edits.items():
                    def hook(module, arguments, output, edit=edit):
                        return edit(output.clone())
                    stack.callback(modules[name].register_forward_hook(hook).remove)
                with torch.no_grad():
                    return model(ids)
        """)),
    right("by_module", source("""
        def run_edited(model, ids, edits):
            by_module = {model.get_submodule(name): edit for name, edit in edits.items()}
            handles = [
                module.register_forward_hook(lambda module, arguments, output: by_module[module](output))
                for module in by_module
            ]
            try:
                logits = model(ids)
            finally:
                [handle.remove() for handle in handles]
            return logits
        """)),
]

EXERCISE = Specification(cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
