"""ShareFetch and ShareAcknowledge on one broker with its share coordinator: waits, several
partitions, connections that end, files, and a restart (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_acknowledge import ShareAcknowledgeRequest
from kafkadouble.messages.generated.share_fetch import ShareFetchRequest, ShareFetchResponse
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.share.persister import SharePartitionKey
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.server.harness import Pending
from tests.server.logs.folders import formatted, logs_in
from tests.server.quotas.quota_requests import set_quota
from tests.server.share.broker import ShareBroker
from tests.support.conversation import Client

ACCEPT, RELEASE = 1, 2
VERSION = 2
Acks = Mapping[int, Sequence[tuple[int, int, int]]]
"""Partition -> first offset, last offset and type of each acknowledgement."""


class Members(ShareBroker):
    """Members of the group "g", which begins at offset 0 of both partitions of "t"."""

    def __init__(self, logs: Logs | None = None, *, is_new: bool = True) -> None:
        super().__init__(logs=logs)
        self.epochs: dict[str, int] = {}
        for partition in (0, 1) if is_new else ():
            assert self.initialize(SharePartitionKey("g", self.topic_id, partition)) == (0, None)

    def produce(self, partition: int, count: int, size: int = 1) -> None:
        """Appends a batch."""
        records = [Record(offset, self.now, None, b"x" * size) for offset in range(count)]
        self.partition("t", partition).append(bytes(encode_batch(records)), self.now)

    def begin_fetch(
        self, member: str, *, partitions: Iterable[int] = (0, 1), acks: Acks | None = None, **fields: Any
    ) -> Pending:
        """Sends the next ShareFetch of a member; the first one names the partitions."""
        epoch = self.epochs.get(member, 0)
        self.epochs[member] = epoch + 1
        named = partitions if epoch == 0 else (acks or {})
        given = {"max_wait_ms": 500, "min_bytes": 1, "max_records": 500, "batch_size": 500, **fields}
        of = ShareFetchRequest
        batches = {
            each: [
                of.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[type])
                for first, last, type in (acks or {}).get(each, ())
            ]
            for each in named
        }
        topics = [
            of.FetchTopic(
                topic_id=self.topic_id,
                partitions=[
                    of.FetchPartition(partition_index=each, acknowledgement_batches=batches[each]) for each in named
                ],
            )
        ]
        body = of(group_id="g", member_id=member, share_session_epoch=epoch, topics=topics if named else [], **given)
        return self.begin(body, VERSION)

    def fetch(self, member: str, **fields: Any) -> dict[int, list[tuple[int, int, int]]]:
        """What a member acquires of each partition in its next ShareFetch."""
        pending = self.begin_fetch(member, **fields)
        self.tick(0)
        return acquired(pending.response)

    def end_session(self, member: str) -> None:
        body = ShareAcknowledgeRequest(group_id="g", member_id=member, share_session_epoch=-1)
        assert self.submit(body, VERSION).error_code == error_codes.NONE
        self.tick(0)


def acquired(response: ShareFetchResponse) -> dict[int, list[tuple[int, int, int]]]:
    assert response.error_code == error_codes.NONE
    return {
        each.partition_index: [(one.first_offset, one.last_offset, one.delivery_count) for one in each.acquired_records]
        for topic in response.responses
        for each in topic.partitions
    }


@pytest.fixture
def broker() -> Members:
    return Members()


def test_a_fetch_waits_for_min_bytes(broker: Members) -> None:
    pending = broker.begin_fetch("m", partitions=[0], min_bytes=300)
    broker.produce(0, 1, size=100)
    broker.tick(499)
    assert not pending.done
    broker.produce(0, 1, size=100)
    broker.tick(0)
    assert acquired(pending.response) == {0: [(0, 1, 1)]}


def test_a_fetch_beyond_the_byte_rate_is_throttled_and_its_records_stay_acquired(broker: Members) -> None:
    """The member gets them when their locks have expired, as from Apache Kafka."""
    set_quota(broker, {"user": "ANONYMOUS"}, consumer_byte_rate=1000)
    broker.produce(0, 1, size=9_000)
    broker.produce(0, 1, size=9_000)
    assert broker.fetch("m", partitions=[0], batch_size=1, max_records=1) == {0: [(0, 0, 1)]}
    throttled = broker.begin_fetch("m", batch_size=1, max_records=1)
    broker.tick(0)
    assert acquired(throttled.response) == {}
    assert throttled.altered is not None
    assert throttled.response.throttle_time_ms == throttled.altered.mute_ms > 5000
    broker.tick(31_000)
    assert broker.fetch("m", batch_size=1, max_records=1) == {0: [(0, 0, 2)]}
    broker.tick(12_000)
    assert broker.fetch("m", batch_size=1, max_records=1) == {0: [(1, 1, 2)]}


def test_a_fetch_takes_what_there_is_when_its_time_is_up(broker: Members) -> None:
    pending = broker.begin_fetch("m", partitions=[0], min_bytes=300)
    broker.produce(0, 1)
    broker.tick(499)
    assert not pending.done
    broker.tick(1)
    assert acquired(pending.response) == {0: [(0, 0, 1)]}


def test_records_go_to_a_single_waiting_share_member(broker: Members) -> None:
    first, second = (broker.begin_fetch(member, partitions=[0]) for member in ("m", "n"))
    broker.produce(0, 3)
    broker.tick(0)
    assert acquired(first.response) == {0: [(0, 2, 1)]}
    assert not second.done
    assert broker.fetch("m", acks={0: [(0, 2, RELEASE)]}, max_wait_ms=0) == {0: []}
    assert acquired(second.response) == {0: [(0, 2, 2)]}


def test_each_request_of_a_session_begins_with_another_partition(broker: Members) -> None:
    for partition in (0, 1):
        for _ in range(2):
            broker.produce(partition, 5)
    found = [broker.fetch("m", max_records=5) for _ in range(4)]
    assert [[each for each, ranges in one.items() if ranges] for one in found] == [[0], [1], [0], [1]]


def test_acknowledgements_come_with_the_fetch(broker: Members) -> None:
    broker.produce(0, 2)
    assert broker.fetch("m") == {0: [(0, 1, 1)], 1: []}
    pending = broker.begin_fetch("m", acks={0: [(0, 1, ACCEPT)]})
    broker.tick(0)
    assert not pending.done
    broker.tick(500)
    (partition,) = pending.response.responses[0].partitions
    assert (partition.partition_index, partition.acknowledge_error_code, partition.records) == (0, 0, b"")


def test_the_end_of_a_connection_releases_what_its_member_has(broker: Members) -> None:
    broker.produce(0, 2)
    assert broker.fetch("m", partitions=[0]) == {0: [(0, 1, 1)]}
    own, broker.peer = broker.peer, Peer(2, "127.0.0.1", 50_001, broker.node.listeners[0])
    waiting = broker.begin_fetch("n", partitions=[0])
    (on_disconnect,) = own.on_disconnect
    on_disconnect(own.id)
    broker.tick(0)
    assert acquired(waiting.response) == {0: [(0, 1, 2)]}


def test_a_lost_connection_is_reported_to_the_sessions(broker: Members) -> None:
    client = Client("a", broker.node, 7)
    ended: list[int] = []
    client.connection.peer.listen_to_disconnect(ended.append)
    client.connection.lost()
    assert ended == [7]


def test_the_last_session_of_a_group_ends_its_share_partitions(broker: Members) -> None:
    broker.produce(0, 2)
    broker.fetch("m", partitions=[0])
    broker.end_session("m")
    assert len(list(broker.node.share_partitions)) == 1
    (on_disconnect,) = broker.peer.on_disconnect
    on_disconnect(broker.peer.id)
    assert list(broker.node.share_partitions) == []


def test_a_restarted_broker_goes_on_where_it_was(tmp_path: Path) -> None:
    """What was accepted never comes again; what was only acquired was never delivered."""
    formatted(tmp_path)
    broker = Members(logs_in(tmp_path))
    broker.produce(0, 3)
    broker.produce(0, 2)
    assert broker.fetch("m", partitions=[0], batch_size=1) == {0: [(0, 2, 1), (3, 4, 1)]}
    broker.fetch("m", acks={0: [(0, 0, ACCEPT), (2, 2, RELEASE), (3, 4, ACCEPT)]}, max_wait_ms=0)
    broker.node.close(broker.now)
    again = Members(logs_in(tmp_path), is_new=False)
    assert again.fetch("m", partitions=[0]) == {0: [(1, 1, 1), (2, 2, 2)]}
