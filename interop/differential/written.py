"""The records that a controller has written about partitions and brokers, in a form that can be
compared with another controller's.

Each controller chooses the order in which it handles topics. So the records are in order for each
partition, and for each broker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.wire.batch import iter_batches
from tests.support.client import ask

OWN = {"topic_id", "broker_epoch", "end_points", "features", "incarnation_id", "unknown_tagged_fields"}
"""Fields that differ between controllers, or are always the same."""

VERSION, MOST = 17, 8 << 20

Story = dict[str, list[dict[str, Any]]]


def records(address: str) -> Iterator[Any]:
    """All records of a controller's metadata log."""
    offset, epoch, last = 0, 0, 0
    while True:
        partition = FetchRequest.FetchPartition(
            current_leader_epoch=epoch, fetch_offset=offset, last_fetched_epoch=last, partition_max_bytes=0
        )
        topic = FetchRequest.FetchTopic(topic_id=Uuid.METADATA_TOPIC_ID, partitions=[partition])
        replica = FetchRequest.ReplicaState(replica_id=-1)
        body = FetchRequest(max_wait_ms=0, max_bytes=MOST, topics=[topic], replica_state=replica)
        answered = ask(address, body, VERSION).responses[0].partitions[0]
        if answered.error_code == error_codes.FENCED_LEADER_EPOCH:
            epoch = answered.current_leader.leader_epoch
            continue
        assert answered.error_code == 0, answered
        data = bytes(answered.records or b"")
        if not data:
            return
        for at, header in iter_batches(data):
            for read in decode_batches(data[at : at + header.size]):
                yield from read.records
            offset, last = header.next_offset, header.partition_leader_epoch


def story(address: str, stem: str, brokers: Container[int]) -> Story:
    """The records of each partition of the topics that begin with `stem`, and of each of these
    brokers."""
    names: dict[Uuid, str] = {}
    stories: Story = defaultdict(list)
    for record in records(address):
        kind = type(record).__name__
        if kind == "TopicRecord":
            names[record.topic_id] = record.name
        elif kind in ("PartitionRecord", "PartitionChangeRecord"):
            if names[record.topic_id].startswith(stem):
                stories[f"{names[record.topic_id]}-{record.partition_id}"].append(_fields(kind, record))
        elif getattr(record, "broker_id", None) in brokers:
            stories[f"broker {record.broker_id}"].append(_fields(kind, record))
    return stories


def _fields(kind: str, record: Any) -> dict[str, Any]:
    fresh = type(record)()
    fields = {name: getattr(record, name) for name in record.__slots__ if name not in OWN}
    return {"record": kind, **{name: value for name, value in fields.items() if value != getattr(fresh, name)}}
