"""Attention weights of a model, heard by hooks."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._attention_weights.accepted import ACCEPTED
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _model(
    batch: int, heads: int, length: int, size: int, count: int, asked: tuple[int, ...],
    memory: int = 0, look: str = "weights", shift: bool = False,
) -> Maker:  # fmt: skip
    """A model with ``count`` attentions; ``asked``: the numbers of those to listen to.

    Every other attention looks at a memory of that length, if there is one.
    """

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, length, size, scale=1.0)}
        made |= {"memory": draw.tensor(batch, memory, size)} if memory else {}
        made |= {"shift": draw.tensor(size)} if shift else {}
        shapes = {f"looks.{i}.matrices": (heads, size, size) for i in range(count)}
        made |= draw.weights(**shapes)
        return made | {"asked": torch.tensor(asked), "look": look}

    return inputs


_KEEP = "kept[attention] = result[1].detach()"
_RETURN = "return [kept[attention] for attention in attentions]"

EXERCISE = Specification(
    name="encoder_decoder/attention_weights",
    title="The weights of all layers",
    target="attention_weights",
    cases=[
        CaseKind(
            name="encoder",
            title="the three attentions of an encoder",
            inputs=_model(2, 3, 4, 5, 3, (0, 1, 2)),
            hint="What does each attention return, and which part of it is wanted?",
        ),
        CaseKind(
            name="cross",
            title="three inputs, and every other attention",
            inputs=_model(3, 2, 4, 6, 4, (1, 3), memory=5, shift=True),
            hint="Does the model get all inputs? Do you listen to those only that "
            "were given?",
        ),
        CaseKind(
            name="another_order",
            title="attentions in another order than they are called",
            inputs=_model(2, 2, 3, 4, 4, (2, 0, 3)),
            hint="How do you know whose weights came first?",
        ),
        CaseKind(
            name="as_it_was",
            title="the model afterwards",
            inputs=_model(2, 3, 5, 4, 3, (0, 2), look="model"),
            hint="The model is somebody else's: what have you left in it?",
            aspect="calls",
        ),
        CaseKind(
            name="detached",
            title="weights to look at, not to learn from",
            inputs=_model(2, 2, 4, 3, 2, (0, 1), look="graph"),
            hint="What does `detach()` do?",
            aspect="learning",
            says="The weights still hold on to the graph, and with it to all that a "
            "backward pass would need.",
            asks="How does one cut a tensor off its history?",
        ),
        CaseKind(
            name="one",
            title="one attention with one head, and one sentence",
            inputs=_model(1, 1, 3, 4, 1, (0,)),
            hint="Which dimensions may be 1?",
            hidden_only=True,
        ),
        CaseKind(
            name="memory_reversed",
            title="five of six attentions, in another order, with a memory",
            inputs=_model(2, 3, 3, 4, 6, (5, 1, 4, 0, 2), memory=5),
            hint="Does the number of layers matter?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="outputs",
            says="You kept the *outputs* of the attentions, not their weights.",
            asks="An attention returns a pair. Which of the two comes first?",
            ways=[Way(edits=[Edit("result[1]", "result[0]")])],
        ),
        Mutant(
            name="given_kept",
            says="You kept what the attentions were *given*.",
            asks="Of the three things that a hook gets, which one is the result?",
            ways=[Way(edits=[Edit("result[1]", "given[0]")])],
        ),
        Mutant(
            name="model_by_forward",
            says="You call the model's `forward`, and not the model: hooks that listen to "
            "it hear nothing.",
            asks="What does exercise 4.4 say of a layer's `forward`?",
            ways=[Way(edits=[Edit("model(*inputs)", "model.forward(*inputs)")])],
        ),
        Mutant(
            name="pairs",
            says="The list holds the pairs (output, weights).",
            asks="What is the second part of a pair?",
            ways=[
                Way(edits=[Edit("result[1].detach()", "result")]),
                Way(name="pairs_detached", edits=[
                    Edit("result[1].detach()", "tuple(r.detach() for r in result)"),
                ]),
            ],
        ),
        Mutant(
            name="graph_kept",
            says="The weights still hold on to the graph, and with it to all that a "
            "backward pass would need.",
            asks="How does one cut a tensor off its history?",
            ways=[
                Way(edits=[Edit("result[1].detach()", "result[1]")]),
                Way(name="graph_cloned", edits=[
                    Edit("result[1].detach()", "result[1].clone()"),
                ]),
            ],
        ),
        Mutant(
            name="hooks_of_others",
            says="You took away all hooks of the attentions, also those that were there "
            "before you came.",
            asks="Which hooks are yours, and what did `register_forward_hook` give you "
            "for each of them?",
            ways=[Way(edits=[
                Edit("hook.remove()", "[each._forward_hooks.clear() for each in attentions]"),
            ])],
        ),
        Mutant(
            name="hooks_stay",
            says="Your hooks are still there: they go on keeping weights whenever the "
            "model is used.",
            asks="What does `register_forward_hook` return?",
            ways=[
                Way(edits=[Edit("hook.remove()", "pass")]),
                Way(name="one_hook_stays", edits=[Edit("in hooks:", "in hooks[:-1]:")]),
                Way(name="forward_stays", source="""
                    def attention_weights(model, attentions, *inputs):
                        kept = {}
                        def listening(module):
                            forward = module.forward
                            def listen(*given):
                                result = forward(*given)
                                kept[module] = result[1].detach()
                                return result
                            return listen
                        for module in attentions:
                            module.forward = listening(module)
                        model(*inputs)
                        return [kept[module] for module in attentions]
                    """),
            ],
        ),
        Mutant(
            name="one_hook_for_all",
            says="Every entry holds the weights of one and the same attention: that "
            "which was called last.",
            asks="All attentions call your function. Where does it keep what the "
            "second one brings?",
            ways=[
                Way(source="""
                    def attention_weights(model, attentions, *inputs):
                        kept = {}
                        def keep(module, given, result):
                            kept["weights"] = result[1].detach()
                        hooks = [a.register_forward_hook(keep) for a in attentions]
                        model(*inputs)
                        for hook in hooks:
                            hook.remove()
                        return [kept["weights"] for a in attentions]
                    """),
            ],
        ),
        Mutant(
            name="late_number",
            says="Only the last entry was filled: each hook wrote to the last place.",
            asks="What is the value of the loop's number when the hook is *called*?",
            ways=[
                Way(source="""
                    def attention_weights(model, attentions, *inputs):
                        kept = [torch.zeros(1)] * len(attentions)
                        hooks = []
                        for number, attention in enumerate(attentions):
                            def keep(module, given, result):
                                kept[number] = result[1].detach()
                            hooks.append(attention.register_forward_hook(keep))
                        model(*inputs)
                        for hook in hooks:
                            hook.remove()
                        return kept
                    """),
            ],
        ),
        Mutant(
            name="in_order_of_calls",
            says="The weights come in the order in which the model calls its "
            "attentions.",
            asks="Which order does the docstring promise?",
            ways=[
                Way(edits=[Edit(_RETURN, "return list(kept.values())")]),
                Way(name="appended", source="""
                    def attention_weights(model, attentions, *inputs):
                        kept = []
                        def keep(module, given, result):
                            kept.append(result[1].detach())
                        hooks = [a.register_forward_hook(keep) for a in attentions]
                        model(*inputs)
                        for hook in hooks:
                            hook.remove()
                        return kept
                    """),
            ],
        ),
        Mutant(
            name="reversed",
            says="The list runs from the last attention to the first.",
            asks="Whose weights should be entry 0?",
            ways=[Way(edits=[Edit(_RETURN, "return [kept[a] for a in attentions[::-1]]")])],
        ),
        Mutant(
            name="mean_of_heads",
            says="You took the mean of the heads.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit("result[1].detach()", "result[1].detach().mean(1)")])],
        ),
        Mutant(
            name="first_head",
            says="You kept the first head only.",
            asks="How many heads has an attention?",
            ways=[Way(edits=[Edit("result[1].detach()", "result[1][:, 0].detach()")])],
        ),
        Mutant(
            name="first_sentence",
            says="You kept the first sentence of the batch only.",
            asks="Which dimension is the batch?",
            ways=[Way(edits=[Edit("result[1].detach()", "result[1][0].detach()")])],
        ),
        Mutant(
            name="keys_down",
            says="Queries and keys have changed places in your weights.",
            asks="Which of the last two dimensions sums to 1?",
            ways=[Way(edits=[Edit("result[1].detach()", "result[1].detach().mT")])],
        ),
        Mutant(
            name="squeezed",
            says="Dimensions of size 1 are gone.",
            asks="What does `squeeze` do with a single sentence?",
            ways=[Way(edits=[
                Edit("result[1].detach()", "result[1].detach().squeeze()"),
            ])],
        ),
        Mutant(
            name="a_dictionary",
            says="You returned the dictionary; a list is asked for.",
            asks="In which order should the entries stand?",
            ways=[Way(edits=[Edit(_RETURN, "return kept")])],
        ),
        Mutant(
            name="one_tensor",
            says="You returned one tensor; a list with a tensor for each attention is "
            "asked for.",
            asks="Can tensors of different shapes be stacked?",
            ways=[Way(edits=[Edit(_RETURN, "return torch.stack([kept[a] for a in attentions])")])],
        ),
        Mutant(
            name="first_only",
            says="Only the first of the attentions was listened to.",
            asks="Is your `return` in a loop, or your hook outside of one?",
            ways=[Way(edits=[Edit(_RETURN, "return [kept[attentions[0]]]")])],
        ),
        Mutant(
            name="first_input_only",
            says="The model gets its first input only.",
            asks="What does the star in `*inputs` stand for?",
            ways=[Way(edits=[Edit("model(*inputs)", "model(inputs[0])")])],
        ),
        Mutant(
            name="two_inputs_at_most",
            says="The model gets its first two inputs only.",
            asks="What does the star in `*inputs` stand for?",
            ways=[Way(edits=[Edit("model(*inputs)", "model(*inputs[:2])")])],
        ),
        Mutant(
            name="nothing_recorded_any_more",
            says="After your function, PyTorch records no gradients any more, for nobody.",
            asks="Which way to switch them off ends where a block of code ends?",
            ways=[Way(edits=[Edit("model(*inputs)", "torch.set_grad_enabled(False); model(*inputs)")])],
        ),
        Mutant(
            name="inputs_unopened",
            says="The model gets its inputs as one tuple.",
            asks="What does the star in `*inputs` stand for?",
            ways=[Way(edits=[Edit("model(*inputs)", "model(inputs)")])],
        ),
        Mutant(
            name="called_for_each",
            says="You call the model once for each attention.",
            asks="Can several hooks listen to one call?",
            ways=[Way(source="""
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
                """)],
        ),
        Mutant(
            name="result_replaced",
            says="Your hook returns something, and this replaces what the attention "
            "returns: the later layers get wrong inputs.",
            asks="What does a hook have to return so that nothing changes?",
            ways=[Way(edits=[
                Edit(_KEEP, f"{_KEEP}; return (torch.zeros_like(result[0]), result[1])"),
            ])],
        ),
        Mutant(
            name="mode_changed",
            says="The model is in another mode afterwards.",
            asks="Who asked for `eval()`?",
            ways=[
                Way(edits=[Edit("model(*inputs)", "model.eval()(*inputs)")]),
                Way(name="attentions_changed", edits=[
                    Edit("model(*inputs)",
                         "[a.eval() for a in attentions]; model(*inputs)"),
                ]),
            ],
        ),
        Mutant(
            name="all_in_training",
            says="All parts of the model are in training mode afterwards, whatever they were in.",
            asks="Whose is the mode of a part that somebody has put into evaluation mode?",
            ways=[Way(edits=[Edit("model(*inputs)", "model(*inputs); model.train()")])],
        ),
        Mutant(
            name="left_on_the_modules",
            says="The weights still lie on the attentions, as an attribute: the model is not as it was.",
            asks="Where else could your hook keep them?",
            ways=[Way(edits=[Edit(_KEEP, f"{_KEEP}; attention.weights = kept[attention]")])],
        ),
        Mutant(
            name="mode_for_the_call",
            says="You put the model into evaluation mode for the call, and back.",
            asks="Whose is the mode in which the model is called?",
            ways=[Way(edits=[Edit("model(*inputs)", """
                modes = [(part, part.training) for part in model.modules()]
                model.eval()(*inputs)
                for part, mode in modes:
                    part.training = mode
                """)])],
        ),
        Mutant(
            name="gradients_cleared",
            says="The gradients that the model held are gone.",
            asks="Who called `backward` before you came, and who wants to use it?",
            ways=[Way(edits=[Edit("model(*inputs)", "model.zero_grad(); model(*inputs)")])],
        ),
        Mutant(
            name="weights_of_before",
            says="A second call gives the weights of the first one.",
            asks="When is the place made where your hooks keep the weights?",
            ways=[Way(source="""
                def attention_weights(model, attentions, *inputs, kept={}):
                    def keep(module, given, result):
                        kept.setdefault(module, result[1].detach())
                    hooks = [a.register_forward_hook(keep) for a in attentions]
                    model(*inputs)
                    for hook in hooks:
                        hook.remove()
                    return [kept[a] for a in attentions]
                """)],
        ),
        Mutant(
            name="gradients_off",
            says="The weights of the model no longer learn: you have switched their "
            "gradients off.",
            asks="Which tensors should be detached: the model's, or those that you "
            "return?",
            ways=[Way(edits=[
                Edit("model(*inputs)", "model.requires_grad_(False)(*inputs)"),
            ])],
        ),
    ],
    accepted=ACCEPTED,
)
