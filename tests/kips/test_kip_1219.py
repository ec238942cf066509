"""KIP-1219: how many bytes a replica of the metadata log requests at once; it gets no more, but one
batch in any case."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest
from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.definition import ConfigRefused
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots.download import SnapshotDownload
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.wire.batch import iter_batches
from tests.server.raft.asking import ask, begin, elected, fetch, key, member, sole
from tests.server.raft.snapshots.making import ID

SNAPSHOT, LOG = "controller.quorum.fetch.snapshot.max.bytes", "controller.quorum.fetch.max.bytes"


@pytest.mark.parametrize("name", [SNAPSHOT, LOG])
def test_the_default_is_one_mebibyte_and_one_byte_is_the_least(name: str) -> None:
    assert BROKER[name].default_value() == 1 << 20
    assert BROKER[name].parse("1") == 1
    with pytest.raises(ConfigRefused):
        BROKER[name].parse("0")
    assert QuorumSettings.of({name: 7}) != QuorumSettings()
    assert {QuorumSettings().fetch_max_bytes, QuorumSettings().fetch_snapshot_max_bytes} == {1 << 20}


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_fetch_requests_have_the_size_of_the_setting(size: int) -> None:
    settings = QuorumSettings(append_linger_ms=0, fetch_max_bytes=size)
    follower = member(1, settings=settings)
    ask(follower, begin(2, 4))
    (send,) = follower.replica.take_outgoing()
    assert isinstance(send.body, FetchRequest)
    assert send.body.max_bytes == size
    request = SnapshotDownload(MemorySnapshotStore(), ID, 4, size).request(key(1), None)
    assert isinstance(request, FetchSnapshotRequest)
    assert request.max_bytes == size


def test_a_fetch_is_given_whole_batches_up_to_its_size_and_always_one() -> None:
    leader = elected(member(1))
    for _ in range(5):
        leader.replica.append([bytes(100)], leader.replica.now)

    def batches(most: int) -> list[int]:
        found = sole(ask(leader, fetch(2, 0, 0, epoch=leader.replica.epoch, max_bytes=most)))
        return [header.size for _, header in iter_batches(found.records)]

    everything = batches(1 << 20)
    assert len(everything) == 6
    assert batches(1) == everything[:1]
    assert batches(sum(everything[:3])) == everything[:3]
    assert batches(sum(everything[:3]) - 1) == everything[:2]
