"""Functions that draw sentences of the embedded corpus, one for each sentence form."""

from __future__ import annotations

from transformer_course.library.forms import clauses, sentences, speech
from transformer_course.library.forms.phrases import Form, capital
from transformer_course.library.grammar import UnsaidError, Writer

# Each form of a sentence and its weight, to which its probability is proportional.
FORMS: tuple[tuple[Form, int], ...] = (
    (clauses.in_the_past, 6), (clauses.not_done, 4), (clauses.statement, 3),
    (clauses.as_a_habit, 6), (clauses.just_now, 5), (clauses.in_the_future, 5),
    (clauses.already_done, 4), (clauses.able, 2), (clauses.remarked, 4),
    (clauses.there_is, 3), (clauses.compared, 2), (clauses.priced, 2),
    (clauses.journey, 2), (clauses.life, 2), (clauses.passive, 4), (clauses.gift, 3),
    (speech.question, 8), (speech.question_about_object, 3),
    (speech.question_about_subject, 2), (speech.request, 3), (speech.exclaimed, 1),
    (speech.quoted, 5), (speech.quoted_remark, 3), (speech.quoted_question, 3),
    (sentences.meanwhile, 4),
    (sentences.because, 5), (sentences.although, 5), (sentences.interruption, 4),
    (sentences.before, 5), (sentences.after, 4), (sentences.reported, 6),
    (sentences.persuasion, 4), (sentences.handed_on, 4), (sentences.wish, 3),
    (sentences.two_things, 3), (sentences.whose, 3), (sentences.relative_clause, 4),
    (sentences.opinion, 3), (sentences.condition, 3), (sentences.described, 2),
)  # fmt: skip
_WEIGHTED_FORMS = tuple(form for form, weight in FORMS for _ in range(weight))


def sentence(w: Writer) -> str:
    """A random sentence of a random form."""
    try:
        text = w.pick(_WEIGHTED_FORMS)(w)
    except UnsaidError:
        return sentence(w)
    return text if text.startswith('"') else capital(text)
