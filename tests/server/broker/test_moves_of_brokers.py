"""Brokers with several log directories and a controller on another node: replicas move between the
directories, and the controller learns it first (KIP-858).
"""

from __future__ import annotations

import os

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.log_dir_ids import directories_of
from kafkadouble.server.metadata.record_versions import DIRECTORIES
from tests.server.machine import produce_request
from tests.server.many_disks import BROKER, OTHER, OnManyDisks, begun

CONTROLLER = 1


def id_of(cluster: OnManyDisks, broker: int, path: str) -> Uuid:
    uuid: Uuid = cluster.nodes[broker].logs._dirs["abc".index(path)].id  # type: ignore[attr-defined]
    return uuid


def path_of(cluster: OnManyDisks, broker: int, topic: str = "t") -> str:
    return os.path.basename(cluster.nodes[broker].logs.path_of(topic, 0) or "")


def move(cluster: OnManyDisks, broker: int, path: str, topic: str = "t", index: int = 0) -> str:
    of = AlterReplicaLogDirsRequest
    topics = [of.AlterReplicaLogDirTopic(name=topic, partitions=[index])]
    request = of(dirs=[of.AlterReplicaLogDir(path=os.path.abspath(path), topics=topics)])
    answer = cluster.ask(cluster.nodes[broker], request, 2)
    return error_codes.name(answer.results[0].partitions[0].error_code)


def filled(replicas: int = 1, records: int = 20) -> OnManyDisks:
    """A cluster with a topic."""
    cluster = begun(OnManyDisks(1), *((BROKER, OTHER)[:replicas]))
    cluster.create("t", replicas=replicas)
    cluster.until(lambda: cluster.is_assigned("t"))
    for _ in range(records):
        produce(cluster)
    return cluster


def produce(cluster: OnManyDisks) -> None:
    answer = cluster.ask(cluster.nodes[cluster.partition("t").leader], produce_request("t", b"v" * 100), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def others(cluster: OnManyDisks, broker: int) -> list[str]:
    return [path for path in "abc" if path != path_of(cluster, broker)]


def contents(cluster: OnManyDisks, broker: int) -> bytes:
    node = cluster.nodes[broker]
    led = node.partitions.get("t", 0)
    found = led if led is not None else node.fetchers.get("t", 0)  # type: ignore[union-attr]
    assert found is not None
    return b"".join(bytes(batch) for batch in found.log.batches(0))


def test_leaders_and_followers_move_and_the_metadata_follow() -> None:
    cluster = filled(replicas=2)
    before = cluster.partition("t")
    for broker in (BROKER, OTHER, BROKER):
        target = others(cluster, broker)[0]
        assert move(cluster, broker, target) == "NONE"
        produce(cluster)
        cluster.until(lambda broker=broker, target=target: path_of(cluster, broker) == target)  # type: ignore[misc]
        assert directories_of(cluster.partition("t"))[broker] == id_of(cluster, broker, target)
        produce(cluster)
    cluster.until(lambda: contents(cluster, BROKER) == contents(cluster, OTHER))
    after = cluster.partition("t")
    assert (after.leader, after.leader_epoch, set(after.isr)) == (before.leader, before.leader_epoch, set(before.isr))
    assert cluster.is_assigned("t")


def test_replica_is_not_replaced_before_the_controller_knows() -> None:
    cluster = filled()
    source, target = path_of(cluster, BROKER), others(cluster, BROKER)[0]
    cluster.cut.add(CONTROLLER)
    assert move(cluster, BROKER, target) == "NONE"
    cluster.step(3000)
    assert path_of(cluster, BROKER) == source
    produce(cluster)
    cluster.cut.clear()
    cluster.until(lambda: path_of(cluster, BROKER) == target)
    assert directories_of(cluster.partition("t"))[BROKER] == id_of(cluster, BROKER, target)
    assert cluster.nodes[BROKER].partitions.get("t", 0).log.log_end_offset == 21  # type: ignore[union-attr]


def test_a_cancelled_move_is_taken_back_at_the_controller() -> None:
    """It knew of the new directory already."""
    cluster = filled()
    source, target = path_of(cluster, BROKER), others(cluster, BROKER)[0]
    manager = cluster.nodes[BROKER].replica_alter_log_dirs_manager
    replace, manager._replace = manager._replace, lambda *_: None  # type: ignore[method-assign]
    assert move(cluster, BROKER, target) == "NONE"
    cluster.until(lambda: directories_of(cluster.partition("t"))[BROKER] == id_of(cluster, BROKER, target))
    assert move(cluster, BROKER, source) == "NONE"
    manager._replace = replace  # type: ignore[method-assign]
    cluster.until(lambda: directories_of(cluster.partition("t"))[BROKER] == id_of(cluster, BROKER, source))
    assert path_of(cluster, BROKER) == source


def test_a_start_after_the_controller_knew_replaces_without_another_change() -> None:
    cluster = filled()
    target = others(cluster, BROKER)[0]
    manager = cluster.nodes[BROKER].replica_alter_log_dirs_manager
    manager._replace = lambda *_: None  # type: ignore[method-assign]
    assert move(cluster, BROKER, target) == "NONE"
    cluster.until(lambda: directories_of(cluster.partition("t"))[BROKER] == id_of(cluster, BROKER, target))
    cluster.stop_broker(BROKER)
    changes = []
    cluster.leader.controller.listeners.append(
        lambda before, after, records: changes.append(directories_of(cluster.partition("t"))[BROKER])
    )
    cluster.add_broker(BROKER)
    cluster.until(lambda: path_of(cluster, BROKER) == target)
    cluster.until(lambda: cluster.partition("t").leader == BROKER)
    assert set(changes) == {id_of(cluster, BROKER, target)}


def test_a_replica_is_created_in_the_directory_that_was_asked_for_before() -> None:
    """As kafka-reassign-partitions does it: the destination, then the reassignment."""
    cluster = begun(OnManyDisks(1), BROKER, OTHER)
    cluster.create("t")
    cluster.until(lambda: cluster.is_assigned("t"))
    leader = cluster.partition("t").leader
    stranger = BROKER + OTHER - leader
    assert move(cluster, stranger, "b") == "REPLICA_NOT_AVAILABLE"
    assert move(cluster, stranger, "b", index=1) == "UNKNOWN_TOPIC_OR_PARTITION"
    of = AlterPartitionReassignmentsRequest
    partition = of.ReassignablePartition(partition_index=0, replicas=[stranger])
    topics = [of.ReassignableTopic(name="t", partitions=[partition])]
    cluster.ask(cluster.leader, of(topics=topics, timeout_ms=1000), 1)
    cluster.until(lambda: cluster.partition("t").replicas == (stranger,))
    assert path_of(cluster, stranger) == "b"


def test_a_metadata_version_without_directories_needs_no_controller() -> None:
    low = FeatureLevelRecord(name="metadata.version", feature_level=DIRECTORIES - 1)
    cluster = begun(OnManyDisks(1, features=[low]))
    cluster.create("t")
    cluster.until(lambda: cluster.nodes[BROKER].partitions.get("t", 0) is not None)
    target = others(cluster, BROKER)[0]
    assert move(cluster, BROKER, target) == "NONE"
    cluster.until(lambda: path_of(cluster, BROKER) == target)


def test_a_broker_halts_that_cannot_report_a_failed_directory_in_time() -> None:
    """`log.dir.failure.timeout.ms`, 30 s by default."""
    cluster = filled()
    node, lost = cluster.nodes[BROKER], cluster.lies(BROKER, "t")
    assert lost is not None
    cluster.cut.add(CONTROLLER)
    cluster.fail(BROKER, lost)
    cluster.ask(node, produce_request("t", b"v"), 9)
    cluster.step(29_000)
    assert node.halted is None
    cluster.step(2000)
    assert node.halted == f"the failure of the log directory {lost} could not be reported to the controller"


def test_a_broker_that_has_reported_a_failed_directory_lives_on() -> None:
    cluster = filled()
    node, lost = cluster.nodes[BROKER], cluster.lies(BROKER, "t")
    assert lost is not None
    cluster.fail(BROKER, lost)
    cluster.ask(node, produce_request("t", b"v"), 9)
    cluster.until(lambda: lost not in cluster.broker(BROKER).log_dirs)
    cluster.cut.add(CONTROLLER)
    cluster.step(40_000)
    assert node.halted is None
