"""Cases and mistakes for an exercise: record attention weights with hooks."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_model(
    batch: int, heads: int, length: int, size: int, count: int, indices: tuple[int, ...],
    memory: int = 0, look: str = "weights", shift: bool = False,
) -> Maker:  # fmt: skip
    """Make a function that draws a model with ``count`` attention layers.

    Args:
        indices: the layers whose weights are to be recorded.
        memory: the length of a second input, to which every other layer attends.
        look: what else the probe reports: changes of the "model", the autograd
            "graph", or nothing ("weights").
        shift: whether the model has a third input, which is added to x.
    """

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, length, size, scale=1.0)}
        inputs |= {"memory": draw.tensor(batch, memory, size)} if memory else {}
        inputs |= {"shift": draw.tensor(size)} if shift else {}
        shapes = {f"looks.{i}.matrices": (heads, size, size) for i in range(count)}
        inputs |= draw.weights(**shapes)
        return inputs | {"asked": torch.tensor(indices), "look": look}

    return make_inputs


_KEEP = "kept[attention] = result[1].detach()"
_RETURN = "return [kept[attention] for attention in attentions]"

CASES = [
    case("encoder", "the three attention modules of an encoder", _draw_model(2, 3, 4, 5, 3, (0, 1, 2)),
         "What does each attention return, and which part of it is wanted?"),
    case("cross", "three inputs, and every other attention module", _draw_model(3, 2, 4, 6, 4, (1, 3), memory=5, shift=True),
         "Does the model get all inputs? Do you listen only to the modules that were given?"),
    case("another_order", "attention modules listed in a different order than they are called",
         _draw_model(2, 2, 3, 4, 4, (2, 0, 3)),
         "How do you know which weights belong to which module?"),
    case("as_it_was", "the model afterwards", _draw_model(2, 3, 5, 4, 3, (0, 2), look="model"),
         "The model belongs to the caller. What have you left behind in it?", aspect="calls"),
    case("detached", "weights to look at, not to learn from", _draw_model(2, 2, 4, 3, 2, (0, 1), look="graph"),
         "What does `detach()` do?", aspect="learning",
         says="The weights are still attached to the graph, which keeps everything that a backward pass would need.",
         asks="How do you cut a tensor off from its history?"),
    case("one", "one attention module with one head, and one sentence", _draw_model(1, 1, 3, 4, 1, (0,)),
         "Which dimensions may be 1?", hidden_only=True),
    case("memory_reversed", "five of six attention modules, in a different order, with a memory",
         _draw_model(2, 3, 3, 4, 6, (5, 1, 4, 0, 2), memory=5),
         "Does the number of layers matter?", hidden_only=True),
]

MISTAKES = [
    wrong("not_weights", "You kept the *outputs* or the *inputs* of the attention modules, not their weights.",
          "A hook gets three arguments. Which one is the result, and which part of it are the weights?",
          edit("result[1]", "result[0]"),
          edit("result[1]", "given[0]", name="given_kept")),
    wrong("model_by_forward", "You call `model.forward` directly, so hooks on the model do not run.",
          "What does `model(...)` do besides calling `forward`?",
          edit("model(*inputs)", "model.forward(*inputs)")),
    wrong("pairs", "The list holds pairs (output, weights) instead of weights.",
          "Which part of each pair is wanted?",
          edit("result[1].detach()", "result")),
    wrong("graph_kept",
          "The weights are still attached to the graph, which keeps everything that a backward pass would need.",
          "How do you cut a tensor off from its history?",
          edit("result[1].detach()", "result[1]"), tests="otherwise"),
    wrong("hooks_of_others", "You removed all hooks of the attention modules, even those that were there before.",
          "Which hooks are yours, and what did `register_forward_hook` return for each of them?",
          edit("hook.remove()", "[each._forward_hooks.clear() for each in attentions]")),
    wrong("hooks_stay",
          "Something that you attached to the modules is still there, and records weights whenever the model is used.",
          "How do you remove what you attached?",
          edit("hook.remove()", "pass"), tests="gradients"),
    wrong("one_hook_for_all", "Every entry holds the weights of the module that was called last.",
          "All modules call the same function. Where does it store the weights of the second one?",
          edit(_KEEP, 'kept["weights"] = result[1].detach()', _RETURN, 'return [kept["weights"] for _ in attentions]')),
    wrong("late_number", "Only the last entry was filled: every hook wrote to the last index.",
          "What is the value of the loop variable when the hook is *called*?",
          edit("kept = {}", "kept = [torch.zeros(1)] * len(attentions)",
               "keep) for attention in attentions]", "keep) for number, attention in enumerate(attentions)]",
               _KEEP, "kept[len(attentions) - 1] = result[1].detach()", _RETURN, "return kept")),
    wrong("another_order", "The weights are not in the order of the list that you were given.",
          "In which order does the model call its attention modules, and which order does the docstring promise?",
          edit(_RETURN, "return list(kept.values())"),
          edit(_RETURN, "return [kept[a] for a in attentions[::-1]]", name="reversed"), tests="differ"),
    wrong("not_all",
          "The weights are not those of all heads and of all sentences: some are left out, or heads are averaged.",
          "What shape does the docstring promise?",
          edit("result[1].detach()", "result[1].detach().mean(1)"),
          edit("result[1].detach()", "result[1][:, 0].detach()", name="first_head"),
          edit("result[1].detach()", "result[1][0].detach()", name="first_sentence")),
    wrong("keys_down", "Queries and keys are swapped in your weights.",
          "Which of the last two dimensions sums to 1?",
          edit("result[1].detach()", "result[1].detach().mT")),
    wrong("squeezed", "Dimensions of size 1 were squeezed away.",
          "What does `squeeze` do to a batch of one sentence?",
          edit("result[1].detach()", "result[1].detach().squeeze()")),
    wrong("not_a_list",
          "A list is asked for, with one tensor per module; you returned a dictionary or a single tensor.",
          "In which order should the tensors come, and can tensors of different shapes be stacked?",
          edit(_RETURN, "return kept"),
          edit(_RETURN, "return torch.stack([kept[a] for a in attentions])", name="one_tensor")),
    wrong("first_only", "Only the first attention module was recorded.",
          "Is your `return` inside a loop, or your hook outside one?",
          edit(_RETURN, "return [kept[attentions[0]]]")),
    wrong("inputs_lost", "The model does not get all of its inputs, each as an argument.",
          "What does the star in `*inputs` do?",
          edit("model(*inputs)", "model(inputs[0])"),
          edit("model(*inputs)", "model(*inputs[:2])", name="two_inputs_at_most"),
          edit("model(*inputs)", "model(inputs)", name="inputs_unopened")),
    wrong("nothing_recorded_any_more", "After your function returns, PyTorch no longer records gradients anywhere.",
          "Which way of switching gradients off ends with a block of code?",
          edit("model(*inputs)", "torch.set_grad_enabled(False); model(*inputs)")),
    wrong("called_for_each", "You call the model once per attention module.",
          "Can several hooks listen to the same call?",
          source("""
              def attention_weights(model, attentions, *inputs):
                  found = []
                  for attention in attentions:
                      kept = []
                      hook = attention.register_forward_hook(
                          lambda module, given, result: kept.append(result[1].detach())
                      )
                      model(*inputs)
                      hook.remove()
                      found.append(kept[0])
                  return found
              """)),
    wrong("result_replaced", "Your hook returns a value, which replaces the attention's result.",
          "What do `setdefault` and the like return, and what must a hook return so that nothing changes?",
          edit(_KEEP, f"{_KEEP}; return (torch.zeros_like(result[0]), result[1])"),
          edit(_KEEP, f"{_KEEP}; return kept[attention]", name="weights_returned")),
    wrong("mode_changed", "The model, or a part of it, is left in a different mode.",
          "Who asked for `eval()` or `train()`, and in which modes were the parts before?",
          edit("model(*inputs)", "model.eval()(*inputs)"),
          edit("model(*inputs)", "[a.eval() for a in attentions]; model(*inputs)", name="attentions_changed"),
          edit("model(*inputs)", "model(*inputs); model.train()", name="all_in_training")),
    wrong("left_on_the_modules",
          "The weights are still stored as attributes of the attention modules, so the model has changed.",
          "Where else could your hook store them?",
          edit(_KEEP, f"{_KEEP}; attention.weights = kept[attention]")),
    wrong("mode_for_the_call", "You switch the model to evaluation mode for the call.",
          "Who decides in which mode the model is called?",
          edit("model(*inputs)", """
              modes = [(part, part.training) for part in model.modules()]
              model.eval()(*inputs)
              for part, mode in modes:
                  part.training = mode
              """)),
    wrong("gradients_cleared", "The gradients stored in the model are gone.",
          "What if the caller has just run `backward` and still needs them?",
          edit("model(*inputs)", "model.zero_grad(); model(*inputs)")),
    wrong("weights_of_before", "A second call returns the weights of the first one.",
          "When do you create the container in which your hooks store the weights?",
          edit("kept = {}", "kept = globals().setdefault('_kept', {})",
               _KEEP, "kept.setdefault(attention, result[1].detach())")),
    wrong("gradients_off", "You switched off the gradients of the model's parameters, so it can no longer be trained.",
          "Which tensors should be detached: the model's, or those that you return?",
          edit("model(*inputs)", "model.requires_grad_(False)(*inputs)")),
]

ACCEPTED = [
    right("whatever_happens", source("""
        def attention_weights(model, attentions, *inputs):
            kept = {}
            hooks = [
                attention.register_forward_hook(
                    lambda module, given, result: kept.update({module: result[1]})
                )
                for attention in attentions
            ]
            try:
                with torch.no_grad():
                    model(*inputs)
            finally:
                for hook in hooks:
                    hook.remove()
            return list(map(kept.get, attentions))
        """)),
    right("by_number", source("""
        def attention_weights(model, attentions, *inputs):
            kept = [None] * len(attentions)
            hooks = []
            for number, attention in enumerate(attentions):
                def keep(module, given, result, number=number):
                    kept[number] = result[1].detach().clone()
                hooks.append(attention.register_forward_hook(keep))
            model(*inputs)
            for hook in hooks:
                hook.remove()
            return tuple(kept)
        """)),
    right("by_name", source("""
        def attention_weights(model, attentions, *inputs):
            kept, hooks = {}, []
            for name, module in model.named_modules():
                def keep(_, given, result, name=name):
                    if isinstance(result, tuple):
                        kept[name] = result[1].detach()
                hooks.append(module.register_forward_hook(keep))
            model(*inputs)
            [hook.remove() for hook in hooks]
            names = {module: name for name, module in model.named_modules()}
            return [kept[names[attention]] for attention in attentions]
        """)),
    right("forward_put_back", source("""
        def attention_weights(model, attentions, *inputs):
            kept = {}
            def listening(module):
                def listen(*given, **options):
                    result = type(module).forward(module, *given, **options)
                    kept[module] = result[1].detach()
                    return result
                return listen
            for module in attentions:
                module.forward = listening(module)
            model(*inputs)
            for module in attentions:
                del module.forward
            return [kept[module] for module in attentions]
        """)),
]

EXERCISE = Specification(cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
