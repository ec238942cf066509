"""The records of groups, read by a consumer from `__consumer_offsets`, in the formats that Kafka's
own tools read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interop.brokers import Broker
from interop.clients import CREATOR, Client
from interop.clients.shape import Partition
from kafkadouble.messages import coordinator

TOPIC = "__consumer_offsets"


def records(broker: Broker, client: Client = CREATOR) -> Iterator[tuple[Any, Any]]:
    """Key and value of every record, decoded, in the order of each partition. The value of a
    tombstone is None."""
    with CREATOR.admin(broker.bootstrap) as admin:
        every = [Partition(TOPIC, index) for index in admin.partitions_of(TOPIC)]
    with CREATOR.consumer(
        broker.bootstrap
        # A consumer that is fetching answers such requests only between its fetches.
    ) as idle:
        left = {one: end for one in every if (end := idle.bounds(one)[1]) > 0}
    with client.consumer(broker.bootstrap, partitions=sorted(left)) as consumer:
        while left:
            for seen in consumer.poll(30):
                key = coordinator.decode_key(seen.key or b"", coordinator.FAMILIES[TOPIC])
                yield key, None if seen.value is None else coordinator.decode_value(seen.value, key)[0]
                at = Partition(seen.topic, seen.partition)
                if seen.offset + 1 >= left.get(at, 0):
                    left.pop(at, None)


def generations(broker: Broker, group: str) -> list[int]:
    """The generations of a group in the order in which its metadata was written."""
    written = [
        value.generation
        for key, value in records(broker)
        if type(key).__name__ == "GroupMetadataKey" and key.group == group and value is not None
    ]
    assert written, f"nothing is written of {group}"
    return written
