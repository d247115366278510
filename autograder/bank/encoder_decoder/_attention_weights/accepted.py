"""Other styles in which listening to attention weights is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted

ACCEPTED = [
    Accepted(name="whatever_happens", source="""
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
        """),
    Accepted(name="by_number", source="""
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
        """),
    Accepted(name="by_name", source="""
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
        """),
    Accepted(name="forward_put_back", source="""
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
        """),
    Accepted(name="an_object_listens", source="""
        class Ear:
            def __init__(self, attention):
                self.hook = attention.register_forward_hook(self)
            def __call__(self, module, given, result):
                output, self.weights = result

        def attention_weights(model, attentions, *inputs):
            ears = [Ear(attention) for attention in attentions]
            with torch.no_grad():
                model(*inputs)
            for ear in ears:
                ear.hook.remove()
            return [ear.weights for ear in ears]
        """),
]
