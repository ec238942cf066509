"""A log directory that fails: its partitions answer KAFKA_STORAGE_ERROR, and everything else is
still served (KIP-112)."""

from __future__ import annotations

import logging

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.describe_producers import DescribeProducersRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.no_op_record import NoOpRecord
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.harness import NOW
from tests.server.machine import Machine, fetch_request, produce_request, produced
from tests.server.topic_requests import creating

STORAGE_ERROR = error_codes.KAFKA_STORAGE_ERROR


@pytest.fixture
def machine() -> Machine:
    """A node with the topics `lost` in the directory b, `kept` in c, and the metadata in a."""
    made = Machine({"offsets.topic.num.partitions": 1}, "a", "b", "c")
    made.create("lost")
    made.create("kept")
    for topic in ("lost", "kept"):
        produce(made, topic)
    made.flush()
    assert [folders(made, path) for path in "abc"] == [["__cluster_metadata-0"], ["lost-0"], ["kept-0"]]
    return made


def folders(machine: Machine, path: str) -> list[str]:
    return sorted(machine.disks[path].folders())


def produce(machine: Machine, topic: str) -> tuple[int, int]:
    return produced(machine.begin(produce_request(topic, b"v"), 9))


def fail(machine: Machine, path: str = "b", topic: str = "lost") -> None:
    """The disk fails, and a request hits the failure."""
    machine.disks[path].failing = True
    assert produce(machine, topic) == (STORAGE_ERROR, -1)


def fetched(machine: Machine, topic: str) -> int:
    return int(machine.submit(fetch_request(topic), 11).responses[0].partitions[0].error_code)


def test_the_others_serve_on(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    fail(machine)
    assert produce(machine, "kept") == (0, 1)
    assert fetched(machine, "kept") == 0
    assert produce(machine, "lost") == (STORAGE_ERROR, -1)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == ["b is offline until a restart, and its partition is not served: no space left on device"]


def test_a_lost_partition_is_reported_before_an_error_of_the_batch(machine: Machine) -> None:
    """The batch is compressed with zstd, which is newer than version 6 of Produce."""
    request = produce_request("lost", b"v")
    request.topic_data[0].partition_data[0].records = encode_batch([Record(0, NOW, None, b"v")], compression=4)
    assert produced(machine.begin(request, 6)) == (error_codes.UNSUPPORTED_COMPRESSION_TYPE, -1)
    fail(machine)
    assert produced(machine.begin(request, 6)) == (STORAGE_ERROR, -1)


def test_requests_for_a_partition_on_a_failed_dir_get_a_storage_error(machine: Machine) -> None:
    fail(machine)
    listed = ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-1)
    epoch = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=0)
    deleted = DeleteRecordsRequest.DeleteRecordsPartition(partition_index=0, offset=1)
    answers = [
        machine.submit(fetch_request("lost"), 11).responses[0].partitions[0],
        machine.submit(
            ListOffsetsRequest(
                replica_id=-1, topics=[ListOffsetsRequest.ListOffsetsTopic(name="lost", partitions=[listed])]
            ),
            7,
        ).topics[0].partitions[0],
        machine.submit(
            OffsetForLeaderEpochRequest(
                replica_id=-1,
                topics=[OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="lost", partitions=[epoch])],
            ),
            4,
        ).topics[0].partitions[0],
        machine.submit(
            DeleteRecordsRequest(topics=[DeleteRecordsRequest.DeleteRecordsTopic(name="lost", partitions=[deleted])]), 2
        ).topics[0].partitions[0],
        machine.submit(
            DescribeProducersRequest(
                topics=[DescribeProducersRequest.TopicRequest(name="lost", partition_indexes=[0])]
            ),
            0,
        ).topics[0].partitions[0],
    ]  # fmt: skip
    assert [answer.error_code for answer in answers] == [STORAGE_ERROR] * len(answers)


def test_the_metadata_has_no_leader_for_it(machine: Machine) -> None:
    before = machine.image.brokers[1].log_dirs
    fail(machine)
    answer = machine.submit(MetadataRequest(topics=None), 12)
    seen = {topic.name: topic.partitions[0] for topic in answer.topics}
    assert (seen["lost"].error_code, seen["lost"].leader_id) == (error_codes.LEADER_NOT_AVAILABLE, -1)
    assert list(seen["lost"].offline_replicas) == [1]
    assert (seen["kept"].error_code, seen["kept"].leader_id, [*seen["kept"].offline_replicas]) == (0, 1, [])
    assert machine.image.brokers[1].log_dirs == (before[0], before[2])


def test_a_fetch_that_waits_for_data_is_answered(machine: Machine) -> None:
    waiting = machine.begin(fetch_request("lost", offset=1, max_wait_ms=60_000), 11)
    fail(machine)
    assert waiting.response.responses[0].partitions[0].error_code == STORAGE_ERROR


def test_new_partitions_go_to_directories_that_work(machine: Machine) -> None:
    fail(machine)
    machine.create("new", partitions=4)
    assert folders(machine, "b") == ["lost-0"]
    assert folders(machine, "a")[1:] + folders(machine, "c")[:-1] != []
    assert [produced(machine.begin(produce_request("new", b"v", index=index), 9)) for index in range(4)] == [(0, 0)] * 4


def test_a_directory_that_fails_over_a_new_partition_leaves_it_to_another(machine: Machine) -> None:
    machine.create("one", "two")  # their directories do not matter: the emptiest is next
    failing = min("bc", key=lambda path: len(folders(machine, path)))
    machine.disks[failing].failing = True
    machine.create("new", partitions=3)
    assert [produced(machine.begin(produce_request("new", b"v", index=index), 9)) for index in range(3)] == [(0, 0)] * 3
    assert machine.image.brokers[1].log_dirs != ()
    assert fetched(machine, "lost" if failing == "b" else "kept") == STORAGE_ERROR


def commit(machine: Machine) -> int:
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="kept", partitions=[partition])
    answer = machine.submit(OffsetCommitRequest(group_id="g", topics=[topic]), 8)
    return int(answer.topics[0].partitions[0].error_code)


def test_a_coordinator_in_it_is_one_no_longer() -> None:
    machine = Machine({"offsets.topic.num.partitions": 1}, "a", "b")
    machine.submit(FindCoordinatorRequest(key="g"), 0)
    machine.create("kept")
    assert folders(machine, "b") == ["__consumer_offsets-0"]
    assert commit(machine) == 0
    machine.disks["b"].failing = True
    assert [commit(machine), commit(machine)] == [error_codes.NOT_COORDINATOR] * 2
    assert machine.submit(FindCoordinatorRequest(key="g"), 0).error_code == error_codes.COORDINATOR_NOT_AVAILABLE


def test_without_the_metadata_a_node_cannot_go_on(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    machine.disks["a"].failing = True
    answer = machine.submit(creating("new"), 7)
    assert answer.topics[0].error_code == STORAGE_ERROR
    assert (
        machine.node.halted == "a, which has the cluster's metadata, cannot be used any more: no space left on device"
    )
    assert machine.image.topic_named("new") is None
    assert machine.node.halted in caplog.text


def test_a_duty_of_the_controller_that_finds_the_disk_full_halts_the_node(machine: Machine) -> None:
    """A timer does the work, so there is no request that could be answered."""
    records = [NoOpRecord()]
    controller = machine.node.controller
    controller.periodic_tasks.schedule(controller.active, lambda: 10, lambda node, leading, now: records)
    machine.disks["a"].failing = True
    machine.tick(20)
    assert machine.node.halted is not None
    assert "which has the cluster's metadata" in machine.node.halted


def test_a_restart_finds_everything_when_the_disk_works_again(machine: Machine) -> None:
    epoch = machine.partition("lost").leader_epoch
    fail(machine)
    machine.disks["b"] = machine.disks["b"].copy()
    machine.node.close(machine.now)
    machine.kill()
    assert machine.partition("lost").leader_epoch > epoch
    assert produce(machine, "lost") == (0, 1)
    assert produce(machine, "kept") == (0, 1)


def test_a_disk_that_fails_at_the_start_takes_only_its_own_with_it(machine: Machine) -> None:
    machine.node.close(machine.now)
    machine.disks["b"].failing_at = "lost-0/leader-epoch-checkpoint.tmp"
    machine.start_again()
    assert produce(machine, "lost") == (STORAGE_ERROR, -1)
    assert produce(machine, "kept") == (0, 1)


def test_a_topic_that_was_deleted_meanwhile_is_put_aside_when_its_disk_works_again(machine: Machine) -> None:
    fail(machine)
    machine.submit(DeleteTopicsRequest(topic_names=["lost"], timeout_ms=1000), 5)
    assert produce(machine, "lost") == (error_codes.UNKNOWN_TOPIC_OR_PARTITION, -1)
    machine.node.close(machine.now)
    machine.kill()
    (folder,) = folders(machine, "b")
    assert folder.endswith("-stray")


def test_stop_leaves_no_clean_shutdown_file_on_a_failed_dir(machine: Machine) -> None:
    fail(machine)
    machine.node.close(machine.now)
    assert [machine.disks[path].exists(".kafka_cleanshutdown") for path in "abc"] == [True, False, True]


def test_retention_goes_on_in_other_dirs(machine: Machine) -> None:
    fail(machine)
    machine.tick(3_600_000)
    machine.flush()
    assert machine.node.halted is None
    assert produce(machine, "kept") == (0, 1)
