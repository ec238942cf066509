"""`kafkadouble format` beside kafka-storage of Apache Kafka 4.4. With the same arguments and
settings both write the same files, byte for byte except for timestamps, checksums over them, and
random ids; and both refuse the same input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.local import java
from interop.local.cluster import READY
from interop.local.jars import VERSION
from interop.local.process import Process
from kafkadouble.messages import framed
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.properties import parse_properties
from kafkadouble.wire.batch import HEADER_SIZE, SNAPSHOT_HEADER, control_type, iter_batches, records_of
from tests.support.client import ask
from tests.support.ports import free_ports

CLUSTER = "4L6g3nShT-eMCtK--X86sw"
ONE, TWO = Uuid(b"1" * 16), Uuid(b"2" * 16)
VOTERS = f"1@127.0.0.1:9093:{ONE},2@[::1]:9094:{TWO}"

COMMON = """
node.id=1
log.dirs={0}/a,{0}/b
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
"""
COMBINED = (
    "process.roles=broker,controller\nlisteners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\n" + COMMON
)
STATIC = COMBINED + "controller.quorum.voters=1@127.0.0.1:9093\n"
DYNAMIC = COMBINED + "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
CONTROLLER = "process.roles=controller\nlisteners=CONTROLLER://:9093\n" + COMMON
CONTROLLER += "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
BROKER = "process.roles=broker\nlisteners=PLAINTEXT://127.0.0.1:9092\n" + COMMON
BROKER += "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"

FORMATTED = {
    "static": (STATIC, []),
    "static, without initial controllers": (STATIC, ["-N", "-f", "kraft.version=0"]),
    "alone": (DYNAMIC, ["--standalone"]),
    "alone, by its level": (DYNAMIC, ["-s", "-f", "kraft.version=1"]),
    "alone, at every address": (CONTROLLER, ["-s"]),
    "alone, advertised": (DYNAMIC + "advertised.listeners=PLAINTEXT://a:1,CONTROLLER://b.example:2\n", ["-s"]),
    "two": (DYNAMIC, ["--initial-controllers", VOTERS]),
    "two others": (DYNAMIC.replace("node.id=1", "node.id=3"), ["-I", VOTERS]),
    "no initial controllers": (DYNAMIC, ["--no-initial-controllers"]),
    "a broker": (BROKER, []),
    "a broker with initial controllers": (BROKER, ["-I", VOTERS]),
    "a broker without initial controllers": (BROKER, ["-N"]),
    "an older release": (DYNAMIC, ["-s", "-r", "3.9"]),
    "the oldest level": (DYNAMIC, ["-s", "-f", "metadata.version=7"]),
}

REFUSED = {
    "static and alone": (STATIC, ["-s"]),
    "static, with initial controllers": (STATIC, ["-I", VOTERS]),
    "no flags": (DYNAMIC, []),
    "a broker alone": (BROKER, ["-s"]),
    "alone for ever": (DYNAMIC, ["-s", "-f", "kraft.version=0"]),
    "static, and to be changed": (STATIC, ["-f", "kraft.version=1"]),
}

ENDS_ONLY = {
    "two flags": (DYNAMIC, ["-s", "-N"]),
    "no list": (DYNAMIC, ["-I", "nope"]),
    "an empty list": (DYNAMIC, ["-I", ","]),
    "one twice": (DYNAMIC, ["-I", f"1@h:1:{ONE},1@i:2:{TWO}"]),
    "a level that is none": (DYNAMIC, ["-s", "-f", "kraft.version=2"]),
    "a feature that is none": (DYNAMIC, ["-s", "-f", "nope=1"]),
    "a release that is none": (DYNAMIC, ["-s", "-r", "9.9"]),
}
"""Cases that both refuse, with different texts."""


class CommandOutput(NamedTuple):
    """The exit code of a tool, and its output, with the path of the folder replaced by FOLDER."""

    code: int
    out: str
    err: str


class Beside(NamedTuple):
    """A folder for each of the two tools."""

    ours: Path
    theirs: Path

    def run(self, settings: str, words: list[str]) -> tuple[CommandOutput, CommandOutput]:
        return (
            _output_of(self.ours, settings, [sys.executable, "-m", "kafkadouble"], words),
            _output_of(
                self.theirs,
                settings,
                java.command(VERSION, "kafka.tools.StorageTool", flags=java.quick(VERSION)),
                words,
            ),
        )


def _output_of(folder: Path, settings: str, command: list[str], words: list[str]) -> CommandOutput:
    config = folder / "server.properties"
    config.write_text(settings.format(folder))
    command = [*command, "format", "-t", CLUSTER, "-c", str(config), *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return CommandOutput(done.returncode, *(text.replace(str(folder), "FOLDER") for text in (done.stdout, done.stderr)))


@pytest.fixture
def beside(local_jars: None, tmp_path: Path) -> Beside:
    for name in Beside._fields:
        (tmp_path / name).mkdir()
    return Beside(tmp_path / "ours", tmp_path / "theirs")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def owner(file: Path) -> dict[str, str]:
    """The entries of a meta.properties file."""
    return {key: value for _, key, value in parse_properties(file.read_text())}


def masked(data: bytes, directory_id: Uuid) -> tuple[bytes, list[object]]:
    """The bytes of a snapshot without timestamps, checksums, and the random id of a standalone
    directory; and its decoded records."""
    found, records = bytearray(data.replace(directory_id, bytes(16))), list[object]()
    for at, header in iter_batches(data):
        _blank(found, at + 17, 4)  # the checksum
        _blank(found, at + 27, 16)  # the first and the last timestamp
        for record in records_of(data, at, header):
            assert record.value is not None
            records.append(control_type(record) if header.is_control else framed.decode_record(record.value)[0])
            if header.is_control and control_type(record)[1] == SNAPSHOT_HEADER:
                # the timestamp of the snapshot's content
                _blank(found, data.index(record.value, at + HEADER_SIZE) + 2, 8)
    return bytes(found), records


def _blank(found: bytearray, at: int, size: int) -> None:
    found[at : at + size] = bytes(size)


@pytest.mark.parametrize("case", FORMATTED)
def test_the_same_files(beside: Beside, case: str) -> None:
    settings, words = FORMATTED[case]
    ours, theirs = beside.run(settings, words)
    assert (ours.code, theirs.code) == (0, 0), (ours, theirs)
    lines = [line for line in theirs.out.splitlines() if line.startswith("Formatting ")]
    assert sorted(ours.out.splitlines()) == sorted(lines)
    assert files(beside.ours) == files(beside.theirs)
    for name in files(beside.ours):
        _compare(beside.ours / name, beside.theirs / name)


def _compare(ours: Path, theirs: Path) -> None:
    if ours.name == "meta.properties":
        own, their = owner(ours), owner(theirs)
        given_ids = {str(ONE)}  # a given id is not random
        if not given_ids & {own["directory.id"], their["directory.id"]}:
            del own["directory.id"], their["directory.id"]
        assert own == their
    elif ours.suffix == ".checkpoint":
        ids = [Uuid.parse(owner(path.parent.parent / "meta.properties")["directory.id"]) for path in (ours, theirs)]
        found, expected = (masked(path.read_bytes(), id) for path, id in zip((ours, theirs), ids, strict=True))
        assert found[1] == expected[1]
        assert found[0] == expected[0]
        assert len(found[0]) > 200


@pytest.mark.parametrize("case", REFUSED)
def test_format_refuses_options_in_kafkas_words(beside: Beside, case: str) -> None:
    ours, theirs = beside.run(*REFUSED[case])
    assert ours.code == theirs.code == 1
    assert ours.err.removeprefix("kafkadouble: ") == theirs.err
    assert files(beside.ours) == files(beside.theirs) == ["server.properties"]


@pytest.mark.parametrize("case", ENDS_ONLY)
def test_format_refuses_options_that_kafka_refuses(beside: Beside, case: str) -> None:
    ours, theirs = beside.run(*ENDS_ONLY[case])
    assert ours.code == theirs.code == 1
    assert ours.err
    assert "Traceback" not in ours.err
    assert files(beside.ours) == files(beside.theirs) == ["server.properties"]


@pytest.mark.parametrize("formats", Beside._fields)
@pytest.mark.parametrize("runs", Beside._fields)
def test_node_starts_on_a_directory_that_kafka_or_the_double_formatted(beside: Beside, formats: str, runs: str) -> None:
    """Each node becomes the voter that the directory names."""
    clients, controllers = free_ports(2)
    settings = DYNAMIC.replace("9092", str(clients)).replace("9093", str(controllers))
    folder: Path = getattr(beside, formats)
    ours, theirs = beside.run(settings, ["--standalone"])
    assert (ours.code, theirs.code) == (0, 0)
    config = str(folder / "server.properties")
    command = (
        [sys.executable, "-m", "kafkadouble", "serve", "--config", config]
        if runs == "ours"
        else java.command(VERSION, "kafka.Kafka", config, flags=java.quick(VERSION))
    )
    process = Process(command, folder / "server.log", b"pid=" if runs == "ours" else READY)
    try:
        process.wait_ready()
        topic = DescribeQuorumRequest.TopicData(
            topic_name="__cluster_metadata",
            partitions=[DescribeQuorumRequest.PartitionData(partition_index=0)],
        )
        response = ask(f"127.0.0.1:{controllers}", DescribeQuorumRequest(topics=[topic]), 2)
        [voter] = response.topics[0].partitions[0].current_voters
        directory_id = owner(folder / "a" / "meta.properties")["directory.id"]
        assert (voter.replica_id, str(voter.replica_directory_id)) == (1, directory_id)
        assert [(each.host, each.port) for each in response.nodes[0].listeners] == [("127.0.0.1", controllers)]
    finally:
        process.kill()
