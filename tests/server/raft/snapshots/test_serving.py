"""FetchSnapshot as a leader answers it: every row of its errors, and the bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.snapshots.fetch_snapshot_response import FetchSnapshotResult, QuorumView, serve
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.voters import VoterEndpoint

from .making import ID, data, values

CLUSTER = "c"
LEADER = QuorumView(1, CLUSTER, 5, 1, True, VoterEndpoint("here", 9093))
WHOLE = data(values(30))
BOOTSTRAP = OffsetAndEpoch(0, 0)


def a_store() -> MemorySnapshotStore:
    store = MemorySnapshotStore()
    store.add(ID, WHOLE)
    store.add(BOOTSTRAP, data(id=BOOTSTRAP))
    return store


STORE = a_store()


def partition(**fields: Any) -> FetchSnapshotRequest.PartitionSnapshot:
    of = FetchSnapshotRequest
    id = fields.pop("id", ID)
    given: dict[str, Any] = {
        "current_leader_epoch": 5,
        "snapshot_id": of.SnapshotId(end_offset=id.offset, epoch=id.epoch),
    }
    return of.PartitionSnapshot(**given | fields)


def request(*partitions: Any, name: str = "__cluster_metadata", **fields: Any) -> FetchSnapshotRequest:
    topic = FetchSnapshotRequest.TopicSnapshot(name=name, partitions=list(partitions) or [partition()])
    return FetchSnapshotRequest(**{"replica_id": 2, "max_bytes": 1 << 20, "topics": [topic], **fields})


def served(
    of: FetchSnapshotRequest, seat: QuorumView = LEADER, version: int = 1, most: int | None = None
) -> FetchSnapshotResult:
    """Through the bytes of both."""
    found = serve(FetchSnapshotRequest.decode(of.encode(version), version), version, seat, STORE, most)
    return FetchSnapshotResult(FetchSnapshotResponse.decode(found.response.encode(version), version), found.gave)


def sole(response: FetchSnapshotResponse) -> FetchSnapshotResponse.PartitionSnapshot:
    assert response.error_code == 0
    (topic,) = response.topics
    (found,) = topic.partitions
    return found


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (request(cluster_id="other"), e.INCONSISTENT_CLUSTER_ID),
        (request(cluster_id=""), e.INCONSISTENT_CLUSTER_ID),
        (FetchSnapshotRequest(), e.INVALID_REQUEST),
        (FetchSnapshotRequest(topics=[FetchSnapshotRequest.TopicSnapshot(name="x")]), e.INVALID_REQUEST),
        (request(partition(), partition(partition=1)), e.INVALID_REQUEST),
        (FetchSnapshotRequest(topics=[*request().topics, *request(name="x").topics]), e.INVALID_REQUEST),
        (request(max_bytes=-1), e.INVALID_REQUEST),
        (request(max_bytes=-(1 << 31)), e.INVALID_REQUEST),
        (request(replica_id=1), e.INVALID_REQUEST),
    ],
)
@pytest.mark.parametrize("version", [0, 1])
def test_an_error_of_the_whole_request_is_answered_at_the_top(
    wrong: FetchSnapshotRequest, code: int, version: int
) -> None:
    response, gave = served(wrong, version=version)
    assert (response.error_code, list(response.topics), gave) == (code, [], False)


@pytest.mark.parametrize("cluster", [None, CLUSTER])
def test_a_request_without_a_cluster_id_is_accepted(cluster: str | None) -> None:
    assert served(request(cluster_id=cluster)).gave


FOLLOWER = LEADER._replace(id=2, leads=False)
LOST = LEADER._replace(leader_id=None, leads=False, endpoint=None)


@pytest.mark.parametrize(
    ("wrong", "seat", "code"),
    [
        (request(name="orders"), LEADER, e.UNKNOWN_TOPIC_OR_PARTITION),
        (request(partition(partition=1)), LEADER, e.UNKNOWN_TOPIC_OR_PARTITION),
        (request(partition(current_leader_epoch=4)), LEADER, e.FENCED_LEADER_EPOCH),
        (request(partition(current_leader_epoch=-1)), LEADER, e.FENCED_LEADER_EPOCH),
        (request(partition(current_leader_epoch=6)), LEADER, e.UNKNOWN_LEADER_EPOCH),
        (request(replica_id=3), FOLLOWER, e.NOT_LEADER_OR_FOLLOWER),
        (request(), LOST, e.NOT_LEADER_OR_FOLLOWER),
        (request(), LEADER._replace(leads=False), e.NOT_LEADER_OR_FOLLOWER),
        (request(), LEADER._replace(stopping=True), e.BROKER_NOT_AVAILABLE),
        (request(partition(id=OffsetAndEpoch(100, 4))), LEADER, e.SNAPSHOT_NOT_FOUND),
        (request(partition(id=OffsetAndEpoch(101, 3))), LEADER, e.SNAPSHOT_NOT_FOUND),
        (request(partition(id=OffsetAndEpoch(-1, -1))), LEADER, e.SNAPSHOT_NOT_FOUND),
        (request(partition(id=BOOTSTRAP)), LEADER, e.SNAPSHOT_NOT_FOUND),
        (request(partition(position=-1)), LEADER, e.POSITION_OUT_OF_RANGE),
        (request(partition(position=len(WHOLE))), LEADER, e.POSITION_OUT_OF_RANGE),
        (request(partition(position=1 << 62)), LEADER, e.POSITION_OUT_OF_RANGE),
    ],
)
@pytest.mark.parametrize("version", [0, 1])
def test_an_error_of_the_partition_is_answered_with_the_leader_and_bytes_that_are_not_null(
    wrong: FetchSnapshotRequest, seat: QuorumView, code: int, version: int
) -> None:
    response, gave = served(wrong, seat, version)
    found = sole(response)
    assert (found.error_code, found.unaligned_records, gave) == (code, b"", False)
    leader = found.current_leader
    assert (leader.leader_id, leader.leader_epoch) == (-1 if seat.leader_id is None else seat.leader_id, seat.epoch)
    assert found.index == wrong.topics[0].partitions[0].partition


def test_fetch_snapshot_with_several_errors_gets_the_first() -> None:
    everything = partition(current_leader_epoch=4, id=OffsetAndEpoch(1, 1), position=-1, partition=1)
    of = [
        (request(everything, cluster_id="other", max_bytes=-1), e.INCONSISTENT_CLUSTER_ID),
        (request(everything, max_bytes=-1), e.INVALID_REQUEST),
        (request(everything), e.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert [
        response.error_code or sole(response).error_code for response in (served(each).response for each, _ in of)
    ] == [code for _, code in of]
    everything.partition = 0
    assert sole(served(request(everything), LOST).response).error_code == e.FENCED_LEADER_EPOCH


@pytest.mark.parametrize("chunk", [1, 37, len(WHOLE) - 1, len(WHOLE), len(WHOLE) + 1])
def test_fetch_snapshot_pieces_of_any_size_make_the_snapshot(chunk: int) -> None:
    pieces = bytearray()
    while len(pieces) < len(WHOLE):
        response, gave = served(request(partition(position=len(pieces)), max_bytes=chunk))
        found = sole(response)
        assert gave
        assert (found.size, found.position) == (len(WHOLE), len(pieces))
        assert (found.snapshot_id.end_offset, found.snapshot_id.epoch) == (ID.offset, ID.epoch)
        assert found.unaligned_records is not None
        assert len(found.unaligned_records) == min(chunk, len(WHOLE) - len(pieces))
        pieces += found.unaligned_records
    assert pieces == WHOLE


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 2 * len(WHOLE)))
def test_the_bytes_are_those_from_the_position_on(position: int, most: int) -> None:
    found = sole(served(request(partition(position=position), max_bytes=most)).response)
    assert found.unaligned_records == WHOLE[position : position + most]


def test_no_bytes_are_no_error() -> None:
    found = sole(served(request(max_bytes=0)).response)
    assert (found.error_code, found.unaligned_records, found.size) == (0, b"", len(WHOLE))


def test_the_setting_of_the_broker_binds_where_it_is_to() -> None:
    found = sole(served(request(max_bytes=100), most=10).response)
    assert found.unaligned_records == WHOLE[:10]
    found = sole(served(request(max_bytes=5), most=10).response)
    assert found.unaligned_records == WHOLE[:5]


@pytest.mark.parametrize("wrong", [request(), request(partition(position=-1))])
def test_version_1_has_the_endpoint_of_the_leader(wrong: FetchSnapshotRequest) -> None:
    def endpoints(version: int, seat: QuorumView = LEADER) -> list[tuple[int, str, int]]:
        return [(at.node_id, at.host, at.port) for at in served(wrong, seat, version).response.node_endpoints]

    assert endpoints(1) == [(1, "here", 9093)]
    assert endpoints(1, FOLLOWER._replace(id=7)) == [(1, "here", 9093)]
    assert endpoints(1, LOST) == []
    assert endpoints(0) == []


def test_fetch_snapshot_must_name_the_metadata_partition_only() -> None:
    """KIP-630 allows more; no other topic has snapshots, and Apache Kafka answers the same."""
    for names in (["__cluster_metadata", "__cluster_metadata"], ["__cluster_metadata", "orders"], []):
        body = request()
        body.topics = [topic for name in names for topic in request(name=name).topics]
        assert serve(body, 1, LEADER, STORE).response.error_code == e.INVALID_REQUEST
    assert serve(request(partition(), partition()), 1, LEADER, STORE).response.error_code == e.INVALID_REQUEST
