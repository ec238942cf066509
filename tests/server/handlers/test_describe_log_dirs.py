"""DescribeLogDirs: directories on disks, as Apache Kafka 4.4 describes them (KIP-113, KIP-827,
KIP-1066)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.kips.replicas import TOPIC, Replicas
from tests.server.harness import Harness
from tests.server.logs.folders import formatted, logs_in
from tests.server.machine import Machine, produce_request, produced
from tests.server.topic_requests import appending, purging

NEWEST = 5
OF = DescribeLogDirsRequest


def requested(**partitions: list[int]) -> DescribeLogDirsRequest:
    return OF(topics=[OF.DescribableLogDirTopic(topic=name, partitions=found) for name, found in partitions.items()])


EVERYTHING = OF(topics=None)


def described(harness: Harness, request: Any = EVERYTHING) -> list[Any]:
    answer = harness.submit(request, NEWEST)
    assert answer.error_code == error_codes.NONE
    return list(answer.results)


def lying(result: Any) -> dict[str, dict[int, int]]:
    """Sizes by topic and partition."""
    return {
        topic.name: {each.partition_index: each.partition_size for each in topic.partitions} for topic in result.topics
    }


def test_each_directory_has_its_volume_and_its_replicas(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    formatted(a, b)
    harness = Harness(logs=logs_in(a, b))
    for topic in ("one", "two", "three"):
        harness.create(topic)
    assert produced(harness.begin(produce_request("two", b"value"), 9)) == (0, 0)
    found = {result.log_dir: result for result in described(harness)}
    assert found.keys() == {str(a), str(b)}
    for path, result in found.items():
        assert result.error_code == error_codes.NONE
        assert result.total_bytes == shutil.disk_usage(path).total > result.usable_bytes >= 0
        assert not result.is_cordoned
    located = {
        f"{topic}-{index}": (path, size)
        for path, result in found.items()
        for topic, sizes in lying(result).items()
        for index, size in sizes.items()
    }
    folders = {folder.parent.name: folder for folder in tmp_path.glob("*/*/*.log")}
    folders.pop("__cluster_metadata-0", None)
    assert located == {name: (str(file.parents[1]), file.stat().st_size) for name, file in folders.items()}
    assert located["two-0"][1] > 0


def test_only_requested_partitions_with_a_replica_here_are_described() -> None:
    machine = Machine({}, "a", "b", "c")
    for topic in ("one", "two"):
        machine.create(topic)
    every = requested(two=[0, 0, 7, -1], nowhere=[0], __cluster_metadata=[0])
    assert [[*lying(result)] for result in described(machine, every)] == [[], [], ["two"]]
    assert [result.topics for result in described(machine, OF(topics=[]))] == [[], [], []]


def test_a_failed_directory_has_an_error_alone() -> None:
    machine = Machine({}, "a", "b", "c")
    for topic in ("lost", "kept"):
        machine.create(topic)
    machine.disks["b"].failing = True
    assert produced(machine.begin(produce_request("lost", b"v"), 9))[0] == error_codes.KAFKA_STORAGE_ERROR
    _, lost, kept = described(machine)
    assert (lost.error_code, lost.topics, lost.total_bytes, lost.usable_bytes) == (
        error_codes.KAFKA_STORAGE_ERROR,
        [],
        -1,
        -1,
    )
    assert [*lying(kept)] == ["kept"]


def test_a_directory_that_the_system_cannot_measure_is_an_unknown_error(tmp_path: Path) -> None:
    formatted(tmp_path / "a")
    harness = Harness(logs=logs_in(tmp_path / "a"))
    shutil.rmtree(tmp_path / "a")
    assert [each.error_code for each in described(harness)] == [error_codes.UNKNOWN_SERVER_ERROR]


@pytest.mark.parametrize(("setting", "cordoned"), [("", []), ("*", ["a", "b"]), ("b", ["b"])])
def test_a_directory_may_be_cordoned(setting: str, cordoned: list[str]) -> None:
    machine = Machine({"cordoned.log.dirs": setting}, "a", "b")
    assert [Path(each.log_dir).name for each in described(machine) if each.is_cordoned] == cordoned


def test_the_size_of_deleted_records_counts_until_their_segment_is_removed() -> None:
    machine = Machine({}, "a")
    machine.create("t")
    assert produced(machine.begin(produce_request("t", b"v"), 9))[0] == 0
    before = lying(described(machine)[0])
    machine.submit(purging("t", 1), 2)
    assert lying(described(machine)[0]) == before, "the segment is still there"


def test_followers_describe_their_replicas_too() -> None:
    replicas = Replicas()
    assert replicas.produce(b"v")[0] == error_codes.NONE
    replicas.until(lambda: replicas.log(12).log_end_offset == 1)
    sizes = [
        lying(replicas.cluster.ask(replicas.cluster.nodes[broker], EVERYTHING, NEWEST).results[0])[TOPIC][0]
        for broker in (11, 12)
    ]
    assert sizes[0] == sizes[1] > 0


@pytest.mark.parametrize("made", [Harness, Machine])
@pytest.mark.parametrize(("segment_ms", "records"), [("10", 2), ("100000", 5)])
def test_a_purge_leaves_the_active_segment_in_memory_as_in_files(
    made: type[Harness], segment_ms: str, records: int
) -> None:
    """Segments are deleted by the next retention check. The active one is rolled by its age or its
    size; the 740 bytes of two records are what Apache Kafka reports with the same settings."""
    node = made()
    node.create("t", configs={"internal.segment.bytes": "2000", "segment.ms": segment_ms})
    for _ in range(60):
        batch = encode_batch([Record(0, node.now, None, b"v" * 300)])
        node.submit(appending("t", batch, acks=1), 9)
        node.tick(6)
    assert size_of(node) == 60 * 370
    assert node.submit(purging("t", -1), 2).topics[0].partitions[0].low_watermark == 60
    assert size_of(node) == 60 * 370
    node.tick(300_000)
    assert size_of(node) == records * 370


def size_of(node: Harness) -> int:
    [directory] = described(node)
    return lying(directory)["t"][0]
