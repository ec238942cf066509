"""Topics that the recorded cluster had before the recording: its answers name them, and no recorded
request creates them."""

from __future__ import annotations

from collections.abc import Mapping

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse

from .recorded.recording import Recording
from .target import Address, TargetError, asked
from .target_security import PLAINTEXT, TargetSecurity

VERSION = 5
TIMEOUT_MS = 30_000


def earlier_topics(recording: Recording) -> dict[str, int]:
    """The number of partitions of each such topic, by name."""
    found: dict[str, int] = {}
    created: set[str] = set()
    for each in recording.exchanges:
        if each.api_key == ApiKeys.CREATE_TOPICS:
            created.update(topic.name for topic in each.request().topics)
        elif each.api_key == ApiKeys.METADATA and (answer := each.answer()) is not None:
            for topic in answer.topics:
                if topic.name and not topic.error_code and not topic.is_internal:
                    found.setdefault(topic.name, len(topic.partitions))
    return {name: count for name, count in found.items() if name not in created}


async def create(
    topics: Mapping[str, int], target: Address, patience: float, security: TargetSecurity = PLAINTEXT
) -> None:
    """Creates the topics that are not there. Raises TargetError when one cannot be created."""
    wanted = [
        CreateTopicsRequest.CreatableTopic(name=name, num_partitions=count, replication_factor=-1)
        for name, count in topics.items()
    ]
    request = CreateTopicsRequest(topics=wanted, timeout_ms=TIMEOUT_MS)
    answer = await asked(target, request, VERSION, patience, security)
    assert isinstance(answer, CreateTopicsResponse)
    for topic in answer.topics:
        if topic.error_code not in (error_codes.NONE, error_codes.TOPIC_ALREADY_EXISTS):
            raise TargetError(f"topic {topic.name!r} cannot be created: {error_codes.name(topic.error_code)}")
