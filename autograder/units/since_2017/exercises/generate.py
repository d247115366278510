"""Write tokens behind a prompt."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.since_2017.exercises._inputs import options, whole

_ROWS = 1000
# Two right answers draw with other dice. By Hoeffding's inequality, the means of n numbers
# between 0 and 1 differ by t or more with a chance of at most 2 exp(-n t^2). A check
# compares 454 of them: 908 exp(-23.2) is 8e-8, the chance to refuse a right one.
_NEAR = 0.1525
# What a token likes to have behind it, by how far that lies ahead.
_USUAL = {0: 3.0, 1: 2.0, 2: -2.0}
_CLOSE = {0: 1.5, 1: 1.25, 2: -2.0}
_BACK = {0: 3.0, -2: 3.0, -1: 2.0, 2: -2.0}  # the prompt's tokens, and one between them


def _prompts(
    prompt: int, vocabulary: int, count: int, likes: Mapping[int, float] = _USUAL,
    scale: float = 1.0, best: float = 0.0, **pushes: float,
) -> Maker:  # fmt: skip
    """A table of logits; the smaller the scale, the more drawings have in common.

    No text may be nearly sure: other dice are to give another text. Unless token 2 is
    best by far, two of them give the same token with a chance of at most 0.9, and two
    times 200 texts are the same with one of at most 0.9^200, 7e-10.
    """

    def inputs(draw: Draw) -> Inputs:
        table = draw.tensor(vocabulary, vocabulary, scale=scale)
        places = torch.arange(vocabulary)
        for ahead, push in likes.items():
            table[places, (places + ahead) % vocabulary] += push
        table[:, 2] += best
        ids = (torch.arange(prompt) * 2 + int(draw.ids(0, vocabulary))) % vocabulary
        sizes = whole(count=count, rows=_ROWS, seed=int(draw.ids(0, 10**6)))
        return sizes | {"prompt": ids[None], "table": table} | options(**pushes)

    return inputs


_CHANCES = "chances = next_distribution(next_logits(ids), ids, **options)"
_DRAWN = "drawn = torch.multinomial(chances, 1, generator=generator)"
_BEHIND = "ids = torch.cat((ids, drawn), dim=1)"

CASES = [
    case("plain", "3 tokens behind a prompt of 2, 1000 times", _prompts(2, 5, 3),
         "Draw from the distribution, and go on with what was drawn.", atol=_NEAR),
    case("sharp", "a low temperature",
         lambda draw: {**_prompts(3, 6, 2, _CLOSE, 0.125, temperature=0.25)(draw), "single": "yes"},
         "The options belong to `next_distribution`.", atol=_NEAR),
    case("pushed", "a repetition penalty and min-p", _prompts(4, 7, 5, _BACK, 0.5, penalty=4.0, min_p=0.0625),
         "What is written grows with each token.", atol=_NEAR),
    case("far", "a prompt of 90 tokens, a high temperature and min-p",
         _prompts(90, 6, 3, _USUAL, 0.125, temperature=5.0, min_p=0.625),
         "The model sees all that was written; each option is handed on.", atol=_NEAR),
    case("one_token", "a model that likes token 2 above all", _prompts(2, 5, 4, best=40.0),
         "`count` tokens are written, whatever they are.", atol=_NEAR, hidden_only=True),
    case("long", "4 tokens behind a prompt of 3", _prompts(3, 6, 4, _BACK, 0.5, penalty=3.0, temperature=0.75),
         "As above.", hidden_only=True, atol=_NEAR),
]

MISTAKES = [
    wrong("one_prompt_alone",
          "For a single prompt, the first dimension is lost.",
          "Which shape has the result if B is 1?",
          edit("return ids", "return ids.squeeze(0)")),
    wrong("most_probable",
          "You take the most probable token: nothing is drawn.",
          "What does `argmax` give if the same prompt comes twice?",
          edit(_DRAWN, "drawn = chances.argmax(dim=-1, keepdim=True)")),
    wrong("global_generator",
          "You draw from the global generator; the given one is not used.",
          "From which generator does `torch.multinomial` draw if nobody tells?",
          edit(", generator=generator", "")),
    wrong("global_seed",
          "You set the global seed: all other random numbers of the notebook change with it.",
          "What is the argument `generator` good for?",
          edit("ids = prompt", "ids = prompt; torch.manual_seed(generator.initial_seed())",
               ", generator=generator", "")),
    wrong("seeded_each_time",
          "The generator starts anew for each token, so that the dice fall alike every time.",
          "What does a generator remember between two draws, and who resets it?",
          edit(_DRAWN, "drawn = torch.multinomial(chances, 1, generator=generator.manual_seed(0))")),
    wrong("one_token_for_all",
          "One token is drawn for all texts.",
          "How many tokens are drawn in a step?",
          edit(_DRAWN, "drawn = torch.multinomial(chances[:1], 1, generator=generator).expand(len(ids), 1)")),
    wrong("mean_of_all",
          "All rows draw from the mean of their distributions.",
          "What does the next token of one text have to do with the other texts?",
          edit("torch.multinomial(chances, 1, generator=generator)",
               "torch.multinomial(chances.mean(0).expand_as(chances), 1, generator=generator)")),
    wrong("options_lost",
          "The options have no influence: they are not handed on, or the distribution is made without "
          "`next_distribution`.",
          "Who knows the temperature?",
          edit(", **options)", ")")),
    wrong("prompt_only_penalised",
          "The penalty looks at the prompt only, not at what was written since.",
          "What is \"written so far\" in the fifth step?",
          edit("next_logits(ids), ids, **options", "next_logits(ids), prompt, **options")),
    wrong("new_only_penalised",
          "The penalty looks at the new tokens only, not at the prompt.",
          "Has the prompt been written?",
          edit("next_logits(ids), ids, **options",
               "next_logits(ids), ids[:, prompt.size(1):] if ids.size(1) > prompt.size(1) else ids[:, -1:], **options")),
    wrong("model_sees_the_prompt_only",
          "The model is shown the prompt in each step: it does not know what it has written.",
          "What is `next_logits` called with in the second step?",
          edit("next_logits(ids)", "next_logits(prompt)")),
    wrong("model_sees_the_last_token",
          "The model is shown the last token only; it is to see the whole text.",
          "What is `next_logits` called with?",
          edit("next_logits(ids)", "next_logits(ids[:, -1:])")),
    wrong("softmax_twice",
          "You take the softmax of probabilities: the distribution becomes nearly flat.",
          "What does `next_distribution` return: logits or probabilities?",
          edit(_CHANCES, f"{_CHANCES}.softmax(-1)")),
    wrong("evenly",
          "You draw evenly among the tokens that are left.",
          "Do all tokens have the same chance?",
          edit(_CHANCES, "chances = (next_distribution(next_logits(ids), ids, **options) > 0) * 1.0")),
    wrong("without_the_prompt",
          "You return the new tokens only; prompt and new tokens are asked for.",
          "Which shape does the docstring promise?",
          edit("return ids", "return ids[:, prompt.size(1):]")),
    wrong("one_too_few",
          "You write one token too few or too many.",
          "How often does your loop run?",
          edit("range(count)", "range(count - 1)")),
    wrong("length_for_count",
          "You write until the text has `count` tokens; `count` *new* ones are asked for.",
          "How long is the result?",
          edit("range(count)", "range(count - prompt.size(1))")),
    wrong("gradients",
          "Gradients are recorded while you write.",
          "What does `torch.no_grad` save here?",
          edit("with torch.no_grad():", "if True:")),
    wrong("gradients_stay_off",
          "After your function, gradients are never recorded again.",
          "Who switches them on again, for the next step of training?",
          edit("with torch.no_grad():", """
              torch.set_grad_enabled(False)
              if True:
              """)),
    wrong("off_for_nothing",
          "If no token is asked for, gradients are never recorded again afterwards.",
          "What happens between the line that switches them off and your early `return`?",
          edit("ids = prompt", """
              if count == 0:
                  torch.set_grad_enabled(False)
                  return prompt
              ids = prompt
              """)),
    wrong("gradients_switched_on",
          "After your function gradients are recorded, also where somebody had switched that off.",
          "How was it before?",
          edit("with torch.no_grad():", """
              torch.set_grad_enabled(False)
              if True:
              """,
               "return ids", """
              torch.set_grad_enabled(True)
              return ids
              """)),
    wrong("in_front",
          "New tokens stand before the old ones.",
          "On which side of the ids does the text grow?",
          edit(_BEHIND, "ids = torch.cat((drawn, ids), dim=1)")),
    wrong("numbers_instead_of_ids",
          "The ids come back as floating-point numbers.",
          "Which dtype do ids have?",
          edit("return ids", "return ids.float()")),
    wrong("all_at_once",
          "All tokens are drawn from the first distribution.",
          "Does the second token depend on the first?",
          source("""
              def generate(next_logits, prompt, count, generator, **options):
                  with torch.no_grad():
                      chances = next_distribution(next_logits(prompt), prompt, **options)
                      drawn = torch.multinomial(chances, count, replacement=True, generator=generator)
                  return torch.cat((prompt, drawn), dim=1)
              """)),
    wrong("copied_generator",
          "A copy of the generator is used: the given one does not move, and two texts drawn one after the other are "
          "the same.",
          "Which object should the dice roll in?",
          edit("generator=generator", "generator=generator.clone_state()")),
    wrong("at_least_one",
          "A token is written where none is asked for.",
          "What should come back if `count` is 0?",
          edit("range(count)", "range(max(count, 1))")),
    wrong("min_p_lost",
          "`min_p` has no influence: not all options are handed on.",
          "Which options does `next_distribution` know?",
          edit("**options)", "**{n: v for n, v in options.items() if n != 'min_p'})")),
    wrong("newest_tokens_only",
          "The model is shown the newest tokens of a long text only.",
          "What does `ids so far` hold after a long prompt?",
          edit("next_logits(ids)", "next_logits(ids[:, -32:])")),
]

ACCEPTED = [
    right("cumulative",
          edit(_DRAWN,
               "drawn = (torch.rand(len(ids), 1, generator=generator) > chances.cumsum(-1)[:, :-1]).sum(-1, keepdim=True)")),
    right("gumbel",
          edit(_DRAWN,
               "drawn = (chances / torch.empty_like(chances).exponential_(generator=generator)).argmax(-1, keepdim=True)")),
    right("written_ahead", source("""
        @torch.no_grad()
        def generate(next_logits, prompt, count, generator, **options):
            b, t = prompt.shape
            ids = torch.empty(b, t + count, dtype=prompt.dtype)
            ids[:, :t] = prompt
            for n in range(t, t + count):
                chances = next_distribution(next_logits(ids[:, :n]), ids[:, :n], **options)
                ids[:, n] = torch.multinomial(chances, 1, True, generator=generator)[:, 0]
            return ids
        """)),
]

EXERCISE = Specification(
    name="since_2017/generate", title="Generate", target="generate", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
