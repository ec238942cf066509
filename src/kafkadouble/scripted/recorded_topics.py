"""The names of topic ids, from the answers of a recording."""

from __future__ import annotations

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.recording import Recording


def topic_names(recording: Recording) -> dict[Uuid, str]:
    """The topic ids that an answer gives together with a name."""
    found: dict[Uuid, str] = {}
    for each in recording.exchanges:
        if each.api_key in (ApiKeys.METADATA, ApiKeys.CREATE_TOPICS) and (answer := each.answer()) is not None:
            found.update((topic.topic_id, topic.name) for topic in answer.topics if topic.name)
    found.pop(Uuid.ZERO, None)
    return found
