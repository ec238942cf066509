"""Produce requests for the tests of fault rules."""

from __future__ import annotations

from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.harness import NOW


def produce(*parts: tuple[str, int], acks: int = -1) -> ProduceRequest:
    topics: dict[str, list[ProduceRequest.PartitionProduceData]] = {}
    for topic, index in parts:
        batch = bytes(encode_batch([Record(0, NOW, None, b"x")]))
        topics.setdefault(topic, []).append(ProduceRequest.PartitionProduceData(index=index, records=batch))
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[ProduceRequest.TopicProduceData(name=name, partition_data=of) for name, of in topics.items()],
    )
