"""A broker with several log directories and a controller on another node: it reports the
directories of its replicas, and failures (KIP-858).
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.server.log.files.errors import LostFile
from kafkadouble.server.metadata.log_dir_ids import LOST, directories_of
from kafkadouble.server.metadata.record_versions import DIRECTORIES
from tests.server.machine import produce_request
from tests.server.many_disks import BROKER, OTHER, OnManyDisks, begun


@pytest.fixture(params=[1, 3])
def cluster(request: pytest.FixtureRequest) -> OnManyDisks:
    return begun(OnManyDisks(request.param))


def test_broker_registers_with_all_online_log_directories(cluster: OnManyDisks) -> None:
    assert list(cluster.broker(BROKER).log_dirs) == list(cluster.nodes[BROKER].logs.directories)
    assert len(cluster.broker(BROKER).log_dirs) == 3


def test_broker_reports_the_log_directories_of_its_replicas(cluster: OnManyDisks) -> None:
    cluster.create("t", partitions=7)
    cluster.until(lambda: cluster.is_assigned("t"))
    lying = [cluster.lies(BROKER, "t", index) for index in range(7)]
    assert sorted(lying.count(each) for each in cluster.broker(BROKER).log_dirs) == [2, 2, 3]


def test_more_than_fit_into_one_request_take_several(cluster: OnManyDisks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.server.broker.assignments_manager.MAX_ASSIGNMENTS_PER_REQUEST", 3)
    cluster.create("t", partitions=10)
    cluster.until(lambda: cluster.is_assigned("t"), within=500)


def test_followers_report_their_directories_too() -> None:
    cluster = begun(OnManyDisks(1), BROKER, OTHER)
    cluster.create("t", partitions=5, replicas=2)
    cluster.until(lambda: cluster.is_assigned("t"))
    assert {cluster.partition("t", index).leader for index in range(5)} == {BROKER, OTHER}


def test_a_failed_directory_is_reported_at_once_and_its_partitions_have_no_leader(cluster: OnManyDisks) -> None:
    cluster.create("t", partitions=3)
    cluster.until(lambda: cluster.is_assigned("t"))
    before, lost = cluster.broker(BROKER).log_dirs, cluster.lies(BROKER, "t", 1)
    assert lost is not None
    cluster.fail(BROKER, lost)
    cluster.ask(cluster.nodes[BROKER], produce_request("t", b"v", index=1), 9)
    cluster.until(lambda: lost not in cluster.broker(BROKER).log_dirs, within=300)
    assert list(cluster.broker(BROKER).log_dirs) == [each for each in before if each != lost]
    assert [cluster.partition("t", index).leader for index in range(3)] == [BROKER, -1, BROKER]
    cluster.step(20_000)
    assert not cluster.broker(BROKER).fenced, "it lives on"


def test_a_partition_that_fails_before_its_assignment_has_another_leader() -> None:
    """The directory is reported as failed while the metadata lack its replicas."""
    cluster = begun(OnManyDisks(1), BROKER, OTHER)
    for id in (BROKER, OTHER):
        cluster.nodes[id].lifecycle._assignments._in_flight = True  # type: ignore[union-attr]  # as if an answer were on its way
    cluster.create("t", partitions=1, replicas=2)
    cluster.until(lambda: all(cluster.lies(id, "t") is not None for id in (BROKER, OTHER)))
    led = cluster.partition("t").leader
    cluster.until(lambda: set(cluster.partition("t").isr) == {BROKER, OTHER})
    lost = cluster.lies(led, "t")
    assert lost is not None
    cluster.fail(led, lost)
    cluster.ask(cluster.nodes[led], produce_request("t", b"v"), 9)
    cluster.until(lambda: lost not in cluster.broker(led).log_dirs)
    assert cluster.partition("t").leader == led, "the assignment is not in the metadata yet"
    cluster.nodes[led].lifecycle._assignments._retry(cluster.now)  # type: ignore[union-attr]
    cluster.until(lambda: cluster.partition("t").leader == 23 - led)
    assert directories_of(cluster.partition("t"))[led] in (lost, LOST)


def test_broker_registers_again_without_failed_log_directory(cluster: OnManyDisks) -> None:
    cluster.create("t", partitions=3)
    cluster.until(lambda: cluster.is_assigned("t"))
    lost = cluster.lies(BROKER, "t", 0)
    assert lost is not None
    cluster.fail(BROKER, lost)
    cluster.ask(cluster.nodes[BROKER], produce_request("t", b"v", index=0), 9)
    cluster.until(lambda: lost not in cluster.broker(BROKER).log_dirs)
    epoch = cluster.broker(BROKER).epoch
    cluster.ask(cluster.leader, UnregisterBrokerRequest(broker_id=BROKER), 0)
    cluster.until(lambda: BROKER in cluster.leader.controller.image.brokers and cluster.broker(BROKER).epoch != epoch)
    assert lost not in cluster.broker(BROKER).log_dirs
    assert len(cluster.broker(BROKER).log_dirs) == 2


def test_directories_are_reported_once_the_metadata_version_has_them() -> None:
    low = FeatureLevelRecord(name="metadata.version", feature_level=DIRECTORIES - 1)
    cluster = begun(OnManyDisks(1, features=[low]))
    cluster.create("t", partitions=4)
    cluster.step(3000)
    assert not cluster.is_assigned("t")
    raised = FeatureLevelRecord(name="metadata.version", feature_level=DIRECTORIES)
    cluster.leader.controller.commit([raised])
    cluster.nodes[BROKER].lifecycle.begin()  # type: ignore[union-attr]  # an older registration has no directories
    cluster.until(lambda: cluster.is_assigned("t"))


def test_a_refused_assignment_is_sent_again(cluster: OnManyDisks) -> None:
    """As of a registration that is another one by now."""
    broker = cluster.nodes[BROKER]
    epoch, type(broker).broker_epoch = type(broker).broker_epoch, property(lambda node: 0)  # type: ignore[assignment,method-assign]
    try:
        cluster.create("t", partitions=2)
        cluster.step(2500)
        assert not cluster.is_assigned("t")
    finally:
        type(broker).broker_epoch = epoch  # type: ignore[method-assign]
    cluster.until(lambda: cluster.is_assigned("t"))


def lose_file(cluster: OnManyDisks, id: int, topic: str) -> None:
    """The batches of partition 0 are deleted, and the broker notices."""
    logs: Any = cluster.nodes[id].logs
    place = logs._dir_of[topic, 0]
    logs._fails(place, LostFile(place.path, "it is missing", f"{topic}-0/{0:020d}.log"))
    cluster.step()


def test_a_partition_with_a_lost_file_is_led_by_another_broker_and_the_directory_stays_online() -> None:
    cluster = begun(OnManyDisks(1), BROKER, OTHER)
    cluster.create("t", partitions=6, replicas=2)
    cluster.until(lambda: cluster.is_assigned("t"))
    leader = cluster.partition("t").leader
    others = [index for index in range(1, 6) if cluster.partition("t", index).leader == leader]
    assert others
    lose_file(cluster, leader, "t")
    cluster.until(lambda: cluster.partition("t").leader not in (leader, -1))
    assert directories_of(cluster.partition("t"))[leader] == LOST
    assert cluster.partition("t").isr == (cluster.partition("t").leader,)
    assert [cluster.partition("t", index).leader for index in others] == [leader] * len(others)
    assert len(cluster.broker(leader).log_dirs) == 3


def test_a_partition_with_its_only_file_lost_has_no_leader_until_a_restart() -> None:
    cluster = begun(OnManyDisks(1), BROKER)
    cluster.create("t", partitions=1)
    cluster.until(lambda: cluster.is_assigned("t"))
    lose_file(cluster, BROKER, "t")
    cluster.until(lambda: cluster.partition("t").leader == -1)
    cluster.stop_broker(BROKER)
    cluster.add_broker(BROKER)
    cluster.until(lambda: cluster.partition("t").leader == BROKER)
    cluster.until(lambda: cluster.is_assigned("t"))
