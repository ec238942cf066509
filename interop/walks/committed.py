"""Everything that a consumer with read_committed reads of a topic, to its end.

The end is a record that is written here: a transaction that is still open would hold it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from interop.clients import CREATOR
from interop.clients.shape import Partition, Record, Seen
from tests.support.waiting import eventually

END = b"the end"
"""The key of the last record of each partition."""
PATIENCE = 60.0


def committed_records(bootstrap: str, topic: str, partitions: int) -> list[Sequence[Seen]]:
    """The records by partition, after all programs that write to the topic have ended."""
    with CREATOR.producer(bootstrap) as producer:
        producer.send(topic, [Record(None, END, partition=index) for index in range(partitions)])
    found: list[Seen] = []
    every = [Partition(topic, index) for index in range(partitions)]
    with CREATOR.consumer(bootstrap, partitions=every, isolation_level="read_committed") as reader:
        eventually(
            lambda: found.extend(reader.poll(1.0)) or sum(one.key == END for one in found),  # type: ignore[func-returns-value]
            lambda ends: ends == partitions,
            within=PATIENCE,
        )
    return [[one for one in found if one.partition == index and one.key != END] for index in range(partitions)]
