"""A snapshot is fetched part by part; anything invalid abandons it, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.snapshots.download import (
    DownloadProgress,
    FetchSnapshotAnswer,
    SnapshotDownload,
    answer_in,
)
from kafkadouble.server.raft.snapshots.fetch_snapshot_response import QuorumView, serve
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.voters import VoterEndpoint

from .making import ID, data, values

WHOLE = data(values(30))
LEADER = QuorumView(1, "c", 5, 1, True, VoterEndpoint("here", 9093))
KEY = ReplicaKey(2, Uuid(bytes([2]) * 16))
LEADERS = MemorySnapshotStore()
LEADERS.add(ID, WHOLE)


def download(max_bytes: int = 100) -> tuple[MemorySnapshotStore, SnapshotDownload]:
    store = MemorySnapshotStore()
    return store, SnapshotDownload(store, ID, 5, max_bytes)


def answered(asker: SnapshotDownload) -> FetchSnapshotAnswer:
    response = serve(asker.request(KEY, "c"), 1, LEADER, LEADERS).response
    answer = answer_in(FetchSnapshotResponse.decode(response.encode(1), 1))
    assert answer is not None
    return answer


@pytest.mark.parametrize("chunk", [1, 37, len(WHOLE) - 1, len(WHOLE), len(WHOLE) + 1])
def test_snapshot_is_stored_when_its_last_piece_arrives(chunk: int) -> None:
    store, asker = download(chunk)
    pieces = 0
    while (progress := asker.take(answered(asker))) is DownloadProgress.MORE:
        pieces += 1
        assert (asker.position, store.ids()) == (chunk * pieces, [])
    assert progress is DownloadProgress.DONE
    assert pieces + 1 == -(-len(WHOLE) // chunk)
    assert store.bytes_of(ID) == WHOLE


def test_the_request_names_the_replica_the_snapshot_and_the_position() -> None:
    _, asker = download(64)
    asker.take(answered(asker))
    requested = asker.request(KEY, "c")
    assert (requested.cluster_id, requested.replica_id, requested.max_bytes) == ("c", 2, 64)
    (partition,) = requested.topics[0].partitions
    assert requested.topics[0].name == "__cluster_metadata"
    assert (partition.partition, partition.current_leader_epoch, partition.position) == (0, 5, 64)
    assert (partition.snapshot_id.end_offset, partition.snapshot_id.epoch) == (100, 3)
    assert partition.replica_directory_id == KEY.directory_id


def test_after_a_lost_answer_the_same_request_is_sent_again() -> None:
    _, asker = download()
    asker.take(answered(asker))
    assert asker.request(KEY, "c") == asker.request(KEY, "c")
    first = answered(asker)
    assert asker.take(first) is DownloadProgress.MORE
    assert asker.take(first) is DownloadProgress.GIVEN_UP, "an answer that comes twice is about another position"


GOOD = FetchSnapshotAnswer(0, 1, 5, None, ID, len(WHOLE), 0, WHOLE[:50])


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        FetchSnapshotAnswer(e.UNKNOWN_SERVER_ERROR),
        GOOD._replace(code=e.SNAPSHOT_NOT_FOUND),
        GOOD._replace(code=e.POSITION_OUT_OF_RANGE),
        GOOD._replace(code=e.NOT_LEADER_OR_FOLLOWER),
        GOOD._replace(code=e.UNKNOWN_SERVER_ERROR),
        GOOD._replace(id=None),
        GOOD._replace(id=OffsetAndEpoch(-1, -1)),
        GOOD._replace(id=OffsetAndEpoch(100, 4)),
        GOOD._replace(id=OffsetAndEpoch(101, 3)),
        GOOD._replace(position=1),
        GOOD._replace(position=-1),
        GOOD._replace(size=49),
        GOOD._replace(size=0),
        GOOD._replace(size=-1),
        GOOD._replace(data=b""),
    ],
)
def test_an_answer_that_does_not_match_the_request_ends_the_fetch_and_leaves_no_file(
    wrong: FetchSnapshotAnswer | None,
) -> None:
    store, asker = download()
    assert asker.take(wrong) is DownloadProgress.GIVEN_UP
    assert (store.ids(), asker.position) == ([], 0)
    assert asker.take(GOOD) is DownloadProgress.GIVEN_UP, "and it stays given up"


def test_wrong_snapshot_response_in_the_middle_is_refused() -> None:
    store, asker = download()
    assert asker.take(GOOD) is DownloadProgress.MORE
    more = GOOD._replace(position=50, data=WHOLE[50:60])
    assert asker.take(more._replace(size=len(WHOLE) + 1)) is DownloadProgress.GIVEN_UP, "the size has changed"
    assert store.ids() == []


def test_more_bytes_than_the_size_give_it_up() -> None:
    store, asker = download()
    assert asker.take(GOOD._replace(data=WHOLE + b"x")) is DownloadProgress.GIVEN_UP
    assert store.ids() == []


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 7))
def test_a_snapshot_that_came_damaged_is_never_there(at: int, bit: int) -> None:
    broken = bytearray(WHOLE)
    broken[at] ^= 1 << bit
    store, asker = download()
    assert asker.take(GOOD._replace(data=bytes(broken))) is DownloadProgress.GIVEN_UP
    assert store.ids() == []


def test_a_snapshot_of_another_epoch_is_never_there() -> None:
    store, asker = download()
    other = data(values(30), OffsetAndEpoch(100, 2))
    assert asker.take(GOOD._replace(size=len(other), data=other)) is DownloadProgress.GIVEN_UP
    assert store.ids() == []


def test_abandoned_snapshot_fetch_leaves_no_file() -> None:
    store, asker = download()
    asker.take(GOOD)
    asker.abandon()
    assert store.ids() == []


def test_stored_snapshot_is_not_fetched_again() -> None:
    asker = SnapshotDownload(LEADERS, ID, 5, 100)
    assert asker.is_there
    assert not download()[1].is_there


def response(*partitions: Any, name: str = "__cluster_metadata", **fields: Any) -> FetchSnapshotResponse:
    return FetchSnapshotResponse(
        topics=[FetchSnapshotResponse.TopicSnapshot(name=name, partitions=list(partitions))], **fields
    )


OF = FetchSnapshotResponse.PartitionSnapshot


@pytest.mark.parametrize(
    "of",
    [FetchSnapshotResponse(), response(), response(OF(), OF(index=1)), response(OF(index=1)), response(OF(), name="t")],
)
def test_response_about_another_partition_is_no_snapshot(of: FetchSnapshotResponse) -> None:
    assert answer_in(of) is None


def test_the_fields_of_an_answer() -> None:
    endpoint = FetchSnapshotResponse.NodeEndpoint(node_id=3, host="h", port=1)
    leader = FetchSnapshotResponse.LeaderIdAndEpoch(leader_id=3, leader_epoch=9)
    of = response(OF(error_code=7, current_leader=leader), node_endpoints=[endpoint])
    assert answer_in(of) == FetchSnapshotAnswer(7, 3, 9, VoterEndpoint("h", 1), OffsetAndEpoch(0, 0))
    leaderless = FetchSnapshotResponse.LeaderIdAndEpoch(leader_id=-1, leader_epoch=9)
    assert answer_in(response(OF(current_leader=leaderless))) == FetchSnapshotAnswer(
        0, None, 9, None, OffsetAndEpoch(0, 0)
    )
    assert answer_in(FetchSnapshotResponse(error_code=-1)) == FetchSnapshotAnswer(-1)
