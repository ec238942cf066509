"""Many records folded at once, as a snapshot brings them: the partitions of a topic that follow one another go into its image together.

Partitions have few different sets of replicas and directories: those are kept once. It gives what folding one record after the other gives,
and is told from it by nothing but time and memory: a property test holds them together. Inside of a metadata transaction, of which a snapshot
has none, everything goes one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.uuid import Uuid

from .fold_topics import known_topic, made_partition
from .image import PartitionImage
from .replay import Fold

MOST_KNOWN = 100_000


def apply_all(fold: Fold, records: Iterable[Any], known: dict[Any, Any] | None = None) -> None:
    """Go on by these records. BrokenLog; then `fold` has followed some of them. What partitions have in common is there once, if it is `known`:
    a dictionary for this, kept from call to call."""
    known = {} if known is None else known
    if len(known) > MOST_KNOWN:
        known.clear()
    shared = known.setdefault
    topic_id: Uuid | None = None
    gathered: dict[int, PartitionImage] = {}
    for record in records:
        if record.__class__ is PartitionRecord and not fold.in_transaction:
            if record.topic_id != topic_id:
                _set(fold, topic_id, gathered)
                topic_id, gathered = known_topic(fold.image, record).id, {}
            gathered[record.partition_id] = made_partition(record, shared)
        else:
            _set(fold, topic_id, gathered)
            topic_id, gathered = None, {}
            fold.apply(record)
    _set(fold, topic_id, gathered)


def _set(fold: Fold, topic_id: Uuid | None, partitions: dict[int, PartitionImage]) -> None:
    if topic_id is not None:
        of = fold.image.topics[topic_id]
        with_them = of._replace(partitions=of.partitions.update(partitions))
        fold.image = fold.image._replace(topics=fold.image.topics.set(topic_id, with_them))
