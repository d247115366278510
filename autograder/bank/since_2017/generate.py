"""Write tokens behind a prompt."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.bank.since_2017._inputs import options, whole
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)

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

EXERCISE = Specification(
    name="since_2017/generate",
    title="Generate",
    target="generate",
    precise=False,
    cases=[
        CaseKind(
            name="plain",
            title="3 tokens behind a prompt of 2, 1000 times",
            inputs=_prompts(2, 5, 3),
            hint="Draw from the distribution, and go on with what was drawn.",
            atol=_NEAR,
        ),
        CaseKind(
            name="sharp",
            title="a low temperature",
            inputs=lambda draw: {
                **_prompts(3, 6, 2, _CLOSE, 0.125, temperature=0.25)(draw), "single": "yes"
            },
            hint="The options belong to `next_distribution`.",
            atol=_NEAR,
        ),
        CaseKind(
            name="pushed",
            title="a repetition penalty and min-p",
            inputs=_prompts(4, 7, 5, _BACK, 0.5, penalty=4.0, min_p=0.0625),
            hint="What is written grows with each token.",
            atol=_NEAR,
        ),
        CaseKind(
            name="far",
            title="a prompt of 90 tokens, a high temperature and min-p",
            inputs=_prompts(90, 6, 3, _USUAL, 0.125, temperature=5.0, min_p=0.625),
            hint="The model sees all that was written; each option is handed on.",
            atol=_NEAR,
        ),
        CaseKind(
            name="one_token",
            title="a model that likes token 2 above all",
            inputs=_prompts(2, 5, 4, best=40.0),
            hint="`count` tokens are written, whatever they are.",
            atol=_NEAR,
            hidden_only=True,
        ),
        CaseKind(
            name="long",
            title="4 tokens behind a prompt of 3",
            inputs=_prompts(3, 6, 4, _BACK, 0.5, penalty=3.0, temperature=0.75),
            hint="As above.",
            hidden_only=True, atol=_NEAR,
        ),
    ],
    mutants=[
        Mutant(
            name="one_prompt_alone",
            says="For a single prompt, the first dimension is lost.",
            asks="Which shape has the result if B is 1?",
            ways=[Way(edits=[Edit("return ids", "return ids.squeeze(0)")])],
        ),
        Mutant(
            name="most_probable",
            says="You take the most probable token: nothing is drawn.",
            asks="What does `argmax` give if the same prompt comes twice?",
            ways=[Way(edits=[Edit(_DRAWN, "drawn = chances.argmax(dim=-1, keepdim=True)")])],
        ),
        Mutant(
            name="global_generator",
            says="You draw from the global generator; the given one is not used.",
            asks="From which generator does `torch.multinomial` draw if nobody tells?",
            ways=[
                Way(edits=[Edit(", generator=generator", "")]),
            ],
        ),
        Mutant(
            name="global_seed",
            says="You set the global seed: all other random numbers of the notebook change with it.",
            asks="What is the argument `generator` good for?",
            ways=[Way(edits=[
                Edit("ids = prompt", "ids = prompt; torch.manual_seed(generator.initial_seed())"), Edit(", generator=generator", "")])],
        ),
        Mutant(
            name="seeded_each_time",
            says="The generator starts anew for each token, so that the dice fall alike every time.",
            asks="What does a generator remember between two draws, and who resets it?",
            ways=[Way(edits=[
                Edit(_DRAWN, "drawn = torch.multinomial(chances, 1, generator=generator.manual_seed(0))")])],
        ),
        Mutant(
            name="one_token_for_all",
            says="One token is drawn for all texts.",
            asks="How many tokens are drawn in a step?",
            ways=[Way(edits=[
                Edit(_DRAWN, "drawn = torch.multinomial(chances[:1], 1, generator=generator).expand(len(ids), 1)")])],
        ),
        Mutant(
            name="mean_of_all",
            says="All rows draw from the mean of their distributions.",
            asks="What does the next token of one text have to do with the other texts?",
            ways=[Way(edits=[
                Edit("torch.multinomial(chances, 1, generator=generator)",
                     "torch.multinomial(chances.mean(0).expand_as(chances), 1, generator=generator)"),
            ])],
        ),
        Mutant(
            name="options_lost",
            says="The options have no influence: they are not handed on, or the distribution is made "
            "without `next_distribution`.",
            asks="Who knows the temperature?",
            ways=[
                Way(edits=[Edit(", **options)", ")")]),
                Way(name="logits_as_chances", edits=[
                    Edit(_CHANCES, "chances = next_logits(ids).softmax(-1)")]),
            ],
        ),
        Mutant(
            name="prompt_only_penalised",
            says="The penalty looks at the prompt only, not at what was written since.",
            asks="What is \"written so far\" in the fifth step?",
            ways=[Way(edits=[Edit("next_logits(ids), ids, **options", "next_logits(ids), prompt, **options")])],
        ),
        Mutant(
            name="new_only_penalised",
            says="The penalty looks at the new tokens only, not at the prompt.",
            asks="Has the prompt been written?",
            ways=[Way(edits=[Edit("next_logits(ids), ids, **options", "next_logits(ids), ids[:, prompt.size(1):] if ids.size(1) > prompt.size(1) else ids[:, -1:], **options")])],
        ),
        Mutant(
            name="model_sees_the_prompt_only",
            says="The model is shown the prompt in each step: it does not know what it has written.",
            asks="What is `next_logits` called with in the second step?",
            ways=[Way(edits=[Edit("next_logits(ids)", "next_logits(prompt)")])],
        ),
        Mutant(
            name="model_sees_the_last_token",
            says="The model is shown the last token only; it is to see the whole text.",
            asks="What is `next_logits` called with?",
            ways=[Way(edits=[Edit("next_logits(ids)", "next_logits(ids[:, -1:])")])],
        ),
        Mutant(
            name="softmax_twice",
            says="You take the softmax of probabilities: the distribution becomes nearly flat.",
            asks="What does `next_distribution` return: logits or probabilities?",
            ways=[Way(edits=[Edit(_CHANCES, f"{_CHANCES}.softmax(-1)")])],
        ),
        Mutant(
            name="evenly",
            says="You draw evenly among the tokens that are left.",
            asks="Do all tokens have the same chance?",
            ways=[Way(edits=[Edit(_CHANCES, "chances = (next_distribution(next_logits(ids), ids, **options) > 0) * 1.0")])],
        ),
        Mutant(
            name="without_the_prompt",
            says="You return the new tokens only; prompt and new tokens are asked for.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit("return ids", "return ids[:, prompt.size(1):]")])],
        ),
        Mutant(
            name="one_too_few",
            says="You write one token too few or too many.",
            asks="How often does your loop run?",
            ways=[Way(edits=[Edit("range(count)", "range(count - 1)")])],
        ),
        Mutant(
            name="length_for_count",
            says="You write until the text has `count` tokens; `count` *new* ones are asked for.",
            asks="How long is the result?",
            ways=[Way(edits=[Edit("range(count)", "range(count - prompt.size(1))")])],
        ),
        Mutant(
            name="gradients",
            says="Gradients are recorded while you write.",
            asks="What does `torch.no_grad` save here?",
            ways=[Way(edits=[Edit("with torch.no_grad():", "if True:")])],
        ),
        Mutant(
            name="gradients_stay_off",
            says="After your function, gradients are never recorded again.",
            asks="Who switches them on again, for the next step of training?",
            ways=[Way(edits=[Edit("with torch.no_grad():", """
                    torch.set_grad_enabled(False)
                    if True:
                    """)])],
        ),
        Mutant(
            name="off_for_nothing",
            says="If no token is asked for, gradients are never recorded again afterwards.",
            asks="What happens between the line that switches them off and your early `return`?",
            ways=[Way(edits=[
                Edit("ids = prompt", """
                    if count == 0:
                        torch.set_grad_enabled(False)
                        return prompt
                    ids = prompt
                    """),
            ])],
        ),
        Mutant(
            name="gradients_switched_on",
            says="After your function gradients are recorded, also where somebody had switched "
            "that off.",
            asks="How was it before?",
            ways=[Way(edits=[
                Edit("with torch.no_grad():", """
                    torch.set_grad_enabled(False)
                    if True:
                    """),
                Edit("return ids", """
                    torch.set_grad_enabled(True)
                    return ids
                    """),
            ])],
        ),
        Mutant(
            name="in_front",
            says="New tokens stand before the old ones.",
            asks="On which side of the ids does the text grow?",
            ways=[Way(edits=[Edit(_BEHIND, "ids = torch.cat((drawn, ids), dim=1)")])],
        ),
        Mutant(
            name="numbers_instead_of_ids",
            says="The ids come back as floating-point numbers.",
            asks="Which dtype do ids have?",
            ways=[Way(edits=[Edit("return ids", "return ids.float()")])],
        ),
        Mutant(
            name="all_at_once",
            says="All tokens are drawn from the first distribution.",
            asks="Does the second token depend on the first?",
            ways=[Way(source="""
                def generate(next_logits, prompt, count, generator, **options):
                    with torch.no_grad():
                        chances = next_distribution(next_logits(prompt), prompt, **options)
                        drawn = torch.multinomial(chances, count, replacement=True, generator=generator)
                    return torch.cat((prompt, drawn), dim=1)
                """)],
        ),
        Mutant(
            name="copied_generator",
            says="A copy of the generator is used: the given one does not move, and two "
            "texts drawn one after the other are the same.",
            asks="Which object should the dice roll in?",
            ways=[Way(edits=[
                Edit("generator=generator", "generator=generator.clone_state()"),
            ])],
        ),

        Mutant(
            name="at_least_one",
            says="A token is written where none is asked for.",
            asks="What should come back if `count` is 0?",
            ways=[Way(edits=[Edit("range(count)", "range(max(count, 1))")])],
        ),
        Mutant(
            name="min_p_lost",
            says="`min_p` has no influence: not all options are handed on.",
            asks="Which options does `next_distribution` know?",
            ways=[Way(edits=[
                Edit("**options)", "**{n: v for n, v in options.items() if n != 'min_p'})"),
            ])],
        ),
        Mutant(
            name="newest_tokens_only",
            says="The model is shown the newest tokens of a long text only.",
            asks="What does `ids so far` hold after a long prompt?",
            ways=[Way(edits=[Edit("next_logits(ids)", "next_logits(ids[:, -32:])")])],
        ),
    ],
    accepted=[
        Accepted(name="cumulative", edits=[
            Edit(_DRAWN, "drawn = (torch.rand(len(ids), 1, generator=generator) > chances.cumsum(-1)[:, :-1]).sum(-1, keepdim=True)")]),
        Accepted(name="gumbel", edits=[
            Edit(_DRAWN, "drawn = (chances / torch.empty_like(chances).exponential_(generator=generator)).argmax(-1, keepdim=True)")]),
        Accepted(name="written_ahead", source="""
            @torch.no_grad()
            def generate(next_logits, prompt, count, generator, **options):
                b, t = prompt.shape
                ids = torch.empty(b, t + count, dtype=prompt.dtype)
                ids[:, :t] = prompt
                for n in range(t, t + count):
                    chances = next_distribution(next_logits(ids[:, :n]), ids[:, :n], **options)
                    ids[:, n] = torch.multinomial(chances, 1, True, generator=generator)[:, 0]
                return ids
            """),
    ],
)
