"""A client creates a topic by asking for its metadata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.server.tracing.history import SeenRequest

from .finding import FoundHabit, LintContext

NAME = "topic-created-by-accident"
MISSING = "UNKNOWN_TOPIC_OR_PARTITION"
INTERNAL = "__"
OF_MANY = "created {count} topics by asking for them: {names}"


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """The Metadata request that found no topic, if the topic exists now and no client created
    it."""
    if not context.creates_topics:
        return
    created: dict[str, SeenRequest] = {}
    for seen in requests:
        if seen.api == "CreateTopics":
            for part in seen.parts:
                if part.error is None and part.topic is not None:
                    created.pop(part.topic, None)
        elif seen.api == "Metadata" and seen.body.allow_auto_topic_creation and not seen.rules:
            for part in seen.parts:
                if part.error == MISSING and part.topic is not None:
                    created.setdefault(part.topic, seen)
    for topic, seen in created.items():
        if topic in context.topics and not topic.startswith(INTERNAL):
            hint = near(topic, context.topics - created.keys())
            sentence = f"created the topic {topic!r} by asking for it{hint}"
            name = f"{topic!r} ({hint.removeprefix('; ')})" if hint else repr(topic)
            yield FoundHabit(NAME, sentence, (seen,), "", name, OF_MANY, is_first=bool(hint))
