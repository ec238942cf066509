"""FindCoordinator: creates the topic, and returns the leader of the key's partition."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.server.coordinator.coordinator_lookup import GROUP, SHARE, TRANSACTION
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from tests.server.groups.bench import Bench

SHARE_KEY = "group:AAAAAAAAAAAAAAAAAAAAAQ:0"


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize("version", range(4))
def test_find_coordinator_has_one_key_before_version_4(bench: Bench, version: int) -> None:
    answer = bench.ask(FindCoordinatorRequest(key="g"), version)
    assert (answer.error_code, answer.node_id, answer.host, answer.port) == (0, 1, "broker", 9092)
    assert answer.error_message == ("NONE" if version >= 1 else "")


@pytest.mark.parametrize("version", range(4, 7))
def test_many_keys_from_version_4_on(bench: Bench, version: int) -> None:
    answer = bench.ask(FindCoordinatorRequest(coordinator_keys=["g", "h", ""]), version)
    assert [(c.key, c.error_code, c.node_id, c.host, c.port, c.error_message) for c in answer.coordinators] == [
        (key, 0, 1, "broker", 9092, "") for key in ("g", "h", "")
    ]


@pytest.mark.parametrize(
    ("key_type", "key", "topic"),
    [(GROUP, "g", CONSUMER_OFFSETS), (TRANSACTION, "x", TRANSACTION_STATE), (SHARE, SHARE_KEY, SHARE_GROUP_STATE)],
)
def test_the_first_request_creates_the_topic(key_type: int, key: str, topic: str) -> None:
    bench = Bench(with_offsets_topic=False)
    body = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    for _ in range(2):
        (coordinator,) = bench.ask(body).coordinators
        assert (coordinator.error_code, coordinator.node_id) == (0, 1)
    image = bench.node.controller.image.topic_named(topic)
    assert image is not None
    assert len(image.partitions) == 50


@pytest.mark.parametrize("key", ["", "group", "group:0", "group:short:0", "group:AAAAAAAAAAAAAAAAAAAAAQ:x", ":A:0"])
def test_a_share_partition_is_named_in_three_parts(bench: Bench, key: str) -> None:
    (coordinator,) = bench.ask(FindCoordinatorRequest(key_type=SHARE, coordinator_keys=[key])).coordinators
    assert (coordinator.error_code, coordinator.node_id, coordinator.port) == (codes.INVALID_REQUEST, -1, -1)


def test_a_group_id_with_colons_has_share_partitions(bench: Bench) -> None:
    (coordinator,) = bench.ask(
        FindCoordinatorRequest(key_type=SHARE, coordinator_keys=["a:b:" + SHARE_KEY])
    ).coordinators
    assert (coordinator.error_code, coordinator.node_id) == (0, 1)


def test_share_partitions_come_with_version_6(bench: Bench) -> None:
    body = FindCoordinatorRequest(key_type=SHARE, coordinator_keys=[SHARE_KEY])
    assert bench.ask(body, 5).coordinators[0].error_code == codes.INVALID_REQUEST


@pytest.mark.parametrize("version", [1, 3, 4, 6])
def test_an_unknown_type_of_key_is_refused(bench: Bench, version: int) -> None:
    if version < 4:
        answer = bench.ask(FindCoordinatorRequest(key_type=9, key="g"), version)
        assert (answer.error_code, answer.node_id) == (codes.INVALID_REQUEST, -1)
        assert answer.error_message
    else:
        (coordinator,) = bench.ask(FindCoordinatorRequest(key_type=9, coordinator_keys=["g"]), version).coordinators
        assert (coordinator.error_code, coordinator.node_id) == (codes.INVALID_REQUEST, -1)


def test_a_topic_that_cannot_be_created_has_no_coordinator() -> None:
    bench = Bench(with_offsets_topic=False, offsets_topic_replication_factor=3)
    (coordinator,) = bench.ask(FindCoordinatorRequest(coordinator_keys=["g"])).coordinators
    assert (coordinator.error_code, coordinator.node_id) == (codes.COORDINATOR_NOT_AVAILABLE, -1)


@pytest.mark.parametrize("version", [3, 6])
def test_a_partition_without_a_leader_has_no_coordinator(version: int) -> None:
    bench = Bench(with_offsets_topic=False)
    bench.create_topic(CONSUMER_OFFSETS, leader=-1)
    if version < 4:
        answer = bench.ask(FindCoordinatorRequest(key="g"), version)
    else:
        (answer,) = bench.ask(FindCoordinatorRequest(coordinator_keys=["g"]), version).coordinators
    assert (answer.error_code, answer.node_id) == (codes.COORDINATOR_NOT_AVAILABLE, -1)
