"""The words of the embedded corpus, and how they are inflected."""

from __future__ import annotations

from transformer_course.library.words import ing_of, past_of, plural_of, topics


def test_inflection():
    assert [plural_of(w) for w in ("fox", "berry", "boy", "fisherman")] == [
        "foxes",
        "berries",
        "boys",
        "fishermen",
    ]
    assert [past_of(w) for w in ("bake", "carry", "play", "open")] == [
        "baked",
        "carried",
        "played",
        "opened",
    ]
    assert [ing_of(w) for w in ("bake", "run", "open", "see", "plan", "forget")] == [
        "baking", "running", "opening", "seeing", "planning", "forgetting",
    ]  # fmt: skip


def test_each_topic_is_complete():
    for topic in topics():
        assert len(topic.people) >= 5 and len(topic.places) >= 5, topic.name
        assert len(topic.verbs) >= 10 and topic.acts and topic.gifts, topic.name
        assert all(topic.scenes) and len(topic.because) >= 4, topic.name
        assert all(verb.objects for verb in topic.verbs), topic.name
