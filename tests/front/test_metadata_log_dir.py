"""`metadata.log.dir` that is not among `log.dirs` has the metadata log alone. Data of earlier
versions, which put partitions there, still open: the partitions are moved."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from tests.support.records import batch
from tests.support.serving import Serving, run, serving

PARTITIONS = 9
EARLIEST, LATEST = -2, -1


def properties(folder: Path, dirs: tuple[str, ...], metadata: str | None = None) -> str:
    """The path of a file with these directories."""
    file = folder / "server.properties"
    lines = ["node.id=1", f"log.dirs={','.join(str(folder / each) for each in dirs)}"]
    lines += [f"metadata.log.dir={folder / metadata}"] if metadata else []
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def holders(folder: Path) -> dict[str, int]:
    """How many partitions of t each directory has."""
    return {name: len([*(folder / name).glob("t-?")]) for name in ("meta", "a", "b")}


def offsets(broker: Serving, timestamp: int) -> list[tuple[int, int]]:
    """Error code and offset of each partition."""
    of = ListOffsetsRequest
    partitions = [of.ListOffsetsPartition(partition_index=n, timestamp=timestamp) for n in range(PARTITIONS)]
    answer = broker.ask(of(replica_id=-1, topics=[of.ListOffsetsTopic(name="t", partitions=partitions)]), 7)
    return [
        (each.error_code, each.offset) for each in sorted(answer.topics[0].partitions, key=lambda p: p.partition_index)
    ]


def produce(broker: Serving) -> None:
    """Two records into each partition."""
    data = [
        ProduceRequest.PartitionProduceData(index=n, records=batch([{"value": "x"}, {"value": "y"}]))
        for n in range(PARTITIONS)
    ]
    topic = ProduceRequest.TopicProduceData(name="t", partition_data=data)
    answer = broker.ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]), 9)
    assert {response.error_code for response in answer.responses[0].partition_responses} == {0}


def test_partitions_are_placed_and_described_in_log_dirs_only(tmp_path: Path) -> None:
    file = properties(tmp_path, ("a", "b"), "meta")
    assert run("format", "--config", file).returncode == 0
    with serving("--config", file, "--port", "0", "--topic", f"t:{PARTITIONS}") as broker:
        described = broker.ask(DescribeLogDirsRequest(topics=None), 4).results
        assert sorted(Path(each.log_dir).name for each in described) == ["a", "b"]
        assert broker.end()[0] == 0
    found = holders(tmp_path)
    assert (found["meta"], found["a"] + found["b"]) == (0, PARTITIONS)
    assert [path.parent.name for path in tmp_path.glob("*/__cluster_metadata-0")] == ["meta"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_partitions_in_the_directory_of_the_metadata_log_are_moved(tmp_path: Path, number: signal.Signals) -> None:
    before = properties(tmp_path, ("meta", "a", "b"))
    assert run("format", "--config", before).returncode == 0
    checkpoints = ("-c", "log.flush.start.offset.checkpoint.interval.ms=20")
    with serving("--config", before, "--port", "0", "--topic", f"t:{PARTITIONS}", *checkpoints) as broker:
        produce(broker)
        of = DeleteRecordsRequest
        partitions = [of.DeleteRecordsPartition(partition_index=n, offset=1) for n in range(PARTITIONS)]
        answer = broker.ask(of(topics=[of.DeleteRecordsTopic(name="t", partitions=partitions)], timeout_ms=5000), 2)
        assert {each.error_code for each in answer.topics[0].partitions} == {0}
        while "t 8 1" not in "".join(path.read_text() for path in tmp_path.glob("*/log-start-offset-checkpoint")):
            broker.ask(MetadataRequest(topics=[]), 12)
        broker.end(number)
    assert holders(tmp_path) == {"meta": 3, "a": 3, "b": 3}
    after = properties(tmp_path, ("a", "b"), "meta")
    for life in range(2):
        with serving("--config", after, "--port", "0") as broker:
            assert offsets(broker, EARLIEST) == [(0, 1)] * PARTITIONS
            assert offsets(broker, LATEST) == [(0, 2 + 2 * life)] * PARTITIONS
            produce(broker)
            code, said = broker.end()
        assert code == 0
        assert said.count("it is for the metadata log alone") == (3 if not life else 0)
        found = holders(tmp_path)
        assert (found["meta"], found["a"] + found["b"]) == (0, PARTITIONS)
