"""A transactional producer, and a reader, for tests: they send what a client sends, of transactions
version 1 or 2, and return error codes.

    producer = TransactionalProducer(ask, "app")
    producer.init()
    producer.send(b"a")
    producer.end(commit=True)

`ask(body, version)` returns the response of the broker that the request is for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkadouble.messages.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnRequest
from kafkadouble.messages.generated.end_txn import EndTxnRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.generated.txn_offset_commit import TxnOffsetCommitRequest
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, decode_all, encode_batch, iter_batches
from tests.server.harness import NOW

Ask = Callable[[Message, int], Any]

READ_COMMITTED = 1


class TransactionalProducer:
    """`version` is its transactions version. The sequences of its batches are by partition."""

    def __init__(self, ask: Ask, transactional_id: str = "app", *, version: int = 2, timeout_ms: int = 60_000) -> None:
        self.ask, self.transactional_id, self.version, self.timeout_ms = ask, transactional_id, version, timeout_ms
        self.producer_id = self.epoch = -1
        self._sequences: dict[tuple[str, int], int] = {}
        self._added: set[tuple[str, int]] = set()

    def init(self, *, keep: bool = False) -> int:
        """InitProducerId; `keep` names the producer's id and epoch (KIP-360)."""
        body = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self.timeout_ms,
            producer_id=self.producer_id if keep else -1,
            producer_epoch=self.epoch if keep else -1,
        )
        response = self.ask(body, 5)
        if not response.error_code:
            self._added.clear()
            self._continue(response.producer_id, response.producer_epoch)
        return int(response.error_code)

    def _continue(self, producer_id: int, epoch: int) -> None:
        if (self.producer_id, self.epoch) != (producer_id, epoch):
            self._sequences.clear()
        self.producer_id, self.epoch = producer_id, epoch

    def add(self, topic: str = "t", *indexes: int) -> int:
        """AddPartitionsToTxn, which only clients of version 1 send."""
        added = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=topic, partitions=list(indexes or (0,)))
        body = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[added],
        )
        response = self.ask(body, 3)
        return int(response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)

    def produce_request(
        self, *values: bytes, topic: str = "t", index: int = 0, key: bytes | None = None
    ) -> ProduceRequest:
        """One batch with the next sequences of the partition."""
        batch = encode_batch(
            [Record(at, NOW, key, value) for at, value in enumerate(values)],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get((topic, index), 0),
            is_transactional=True,
        )
        data = ProduceRequest.PartitionProduceData(index=index, records=bytes(batch))
        named = ProduceRequest.TopicProduceData(name=topic, partition_data=[data])
        return ProduceRequest(transactional_id=self.transactional_id, acks=-1, timeout_ms=5000, topic_data=[named])

    @property
    def produce_version(self) -> int:
        return 12 if self.version >= 2 else 11

    def send(self, *values: bytes, topic: str = "t", index: int = 0, key: bytes | None = None) -> int:
        """Produces a batch. A client of version 1 adds the partition before."""
        partition = topic, index
        if self.version < 2 and partition not in self._added:
            if code := self.add(topic, index):
                return code
            self._added.add(partition)
        response = self.ask(self.produce_request(*values, topic=topic, index=index, key=key), self.produce_version)
        code = response.responses[0].partition_responses[0].error_code
        if not code:
            self._sequences[partition] = self._sequences.get(partition, 0) + len(values)
        return int(code)

    def send_offset(self, offset: int, *, group: str = "g", topic: str = "t", index: int = 0) -> int:
        """TxnOffsetCommit. A client of version 1 adds the group's partition before."""
        if self.version < 2:
            added = AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                group_id=group,
            )
            if code := self.ask(added, 3).error_code:
                return int(code)
        of = TxnOffsetCommitRequest
        partition = of.TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        body = of(
            transactional_id=self.transactional_id,
            group_id=group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[of.TxnOffsetCommitRequestTopic(name=topic, partitions=[partition])],
        )
        return int(self.ask(body, 5 if self.version >= 2 else 3).topics[0].partitions[0].error_code)

    def end_request(self, *, commit: bool) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )

    @property
    def end_version(self) -> int:
        return 5 if self.version >= 2 else 4

    def end(self, *, commit: bool) -> int:
        """EndTxn. A client of version 2 continues with the epoch of the response."""
        response = self.ask(self.end_request(commit=commit), self.end_version)
        self._added.clear()
        if not response.error_code and self.version >= 2:
            self._continue(response.producer_id, response.producer_epoch)
        return int(response.error_code)


def fetched(ask: Ask, topic: str = "t", index: int = 0, *, isolation: int = READ_COMMITTED, offset: int = 0) -> Any:
    """The partition of a Fetch response, from the beginning of the partition or from an offset."""
    partition = FetchRequest.FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
    body = FetchRequest(
        max_bytes=1 << 20,
        max_wait_ms=0,
        isolation_level=isolation,
        topics=[FetchRequest.FetchTopic(topic=topic, partitions=[partition])],
    )
    return ask(body, 12).responses[0].partitions[0]


def committed_values(ask: Ask, topic: str = "t", index: int = 0) -> list[bytes | None]:
    """What a read_committed consumer returns. A response ends with its segment."""
    found: list[bytes | None] = []
    offset = 0
    while (data := fetched(ask, topic, index, offset=offset)).records:
        found += _committed(data)
        offset = max(header.next_offset for _, header in iter_batches(bytes(data.records)))
    assert data.error_code == 0
    return found


def _committed(data: Any) -> list[bytes | None]:
    """The values of a response without those of the aborted transactions that it lists."""
    aborted = sorted((each.first_offset, each.producer_id) for each in data.aborted_transactions or ())
    dropped: set[int] = set()
    found: list[bytes | None] = []
    records = bytes(data.records)
    for position, header in iter_batches(records):
        while aborted and aborted[0][0] <= header.base_offset + header.last_offset_delta:
            dropped.add(aborted.pop(0)[1])
        if header.is_control:
            dropped.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in dropped):
            found += [record.value for record in decode_all(records[position : position + header.size])]
    return found


def committed_offset(ask: Ask, *, group: str = "g", topic: str = "t", require_stable: bool = True) -> tuple[int, int]:
    """The error code and the committed offset of a partition; -1 if there is none."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopic(name=topic, partition_indexes=[0])
    body = OffsetFetchRequest(group_id=group, topics=[asked], require_stable=require_stable)
    found = ask(body, 7).topics[0].partitions[0]
    return found.error_code, found.committed_offset
