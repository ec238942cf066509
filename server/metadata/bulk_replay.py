"""Replays many records at once, as from a snapshot: consecutive partitions of one topic are added
to its image together.

Partitions have few different lists of replicas and directories: equal lists are shared. The result
equals that of a replay record by record, but takes less time and memory; a property test checks
that. Inside a metadata transaction, of which a snapshot has none, records are replayed one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.uuid import Uuid

from .image import PartitionImage
from .replay import MetadataDelta
from .replay_topics import known_topic, partition_image

MAX_SHARED_VALUES = 100_000


def replay_all(delta: MetadataDelta, records: Iterable[Any], known: dict[Any, Any] | None = None) -> None:
    """Replays these records. BrokenLog; then `delta` includes some of them. `known` shares equal
    values of partitions across calls.
    """
    known = {} if known is None else known
    if len(known) > MAX_SHARED_VALUES:
        known.clear()
    shared = known.setdefault
    topic_id: Uuid | None = None
    gathered: dict[int, PartitionImage] = {}
    for record in records:
        if record.__class__ is PartitionRecord and not delta.in_transaction:
            if record.topic_id != topic_id:
                _set_partitions(delta, topic_id, gathered)
                topic_id, gathered = known_topic(delta.image, record).id, {}
            gathered[record.partition_id] = partition_image(record, shared)
        else:
            _set_partitions(delta, topic_id, gathered)
            topic_id, gathered = None, {}
            delta.replay(record)
    _set_partitions(delta, topic_id, gathered)


def _set_partitions(delta: MetadataDelta, topic_id: Uuid | None, partitions: dict[int, PartitionImage]) -> None:
    if topic_id is not None:
        of = delta.image.topics[topic_id]
        with_them = of._replace(partitions=of.partitions.update(partitions))
        delta.image = delta.image._replace(topics=delta.image.topics.set(topic_id, with_them))
