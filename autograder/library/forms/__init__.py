"""The forms of sentences of the embedded corpus: clauses turned into one sentence."""

from __future__ import annotations

from autograder.library.forms.clauses import (
    able,
    already_done,
    as_a_habit,
    compared,
    gift,
    in_the_future,
    in_the_past,
    journey,
    just_now,
    life,
    not_done,
    passive,
    priced,
    remarked,
    there_is,
    told,
)
from autograder.library.forms.phrases import Form, capital
from autograder.library.forms.sentences import (
    after,
    although,
    asked_to,
    because,
    before,
    condition,
    described,
    handed_on,
    meanwhile,
    opinion,
    reported,
    two_things,
    wanted,
    when,
    which,
    whose,
)
from autograder.library.forms.speech import (
    asked,
    asked_where,
    asked_who,
    exclaimed,
    quoted,
    quoted_question,
    quoted_remark,
    request,
)
from autograder.library.grammar import UnsaidError, Writer

FORMS: tuple[tuple[Form, int], ...] = (
    (in_the_past, 6), (not_done, 4), (told, 3), (as_a_habit, 6), (just_now, 5),
    (in_the_future, 5), (already_done, 4), (able, 2), (remarked, 4), (there_is, 3),
    (compared, 2), (priced, 2), (journey, 2), (life, 2), (passive, 4), (gift, 3),
    (asked, 8), (asked_where, 3), (asked_who, 2), (request, 3), (exclaimed, 1),
    (quoted, 5), (quoted_remark, 3), (quoted_question, 3), (meanwhile, 4),
    (because, 5), (although, 5), (when, 4), (before, 5), (after, 4), (reported, 6),
    (asked_to, 4), (handed_on, 4), (wanted, 3), (two_things, 3), (whose, 3), (which, 4),
    (opinion, 3), (condition, 3), (described, 2),
)  # fmt: skip
_DEALT = tuple(form for form, weight in FORMS for _ in range(weight))


def sentence(w: Writer) -> str:
    """One sentence of any form."""
    try:
        text = w.pick(_DEALT)(w)
    except UnsaidError:
        return sentence(w)
    return text if text.startswith('"') else capital(text)
