"""Snapshots of the metadata log that kafkadouble writes are valid for Apache Kafka: its tools read
them without a complaint, and a node starts from one.

Needs Java, and Maven for the first time; the last test also a Kafka of this machine (`--broker
local`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from interop.local import cluster
from interop.support import local_kafka
from interop.tools import dump_log
from interop.tools.metadata_shell import PASSED_OVER, shell
from interop.tools.same_dump import compare
from kafkadouble.messages import registry
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats import names
from kafkadouble.server.log.formats.names import checkpoint_name
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata import image_snapshots
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.metadata.replay import MetadataDelta, replay
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import BATCH_SIZE_BYTES, write_at_once
from kafkadouble.server.raft.voters import Voter, VoterEndpoint, VoterSet
from tests.support.waiting import PATIENCE, eventually

FOLDER = "__cluster_metadata-0"
NOW = 1_795_000_000_000
LEVEL = 30
"""metadata.version 4.3, the release of the tools."""

DIRECTORY, TOPIC, OTHER = (Uuid(bytes([n]) * 16) for n in (201, 202, 203))
HEAD = SnapshotHeader(
    NOW - 5, 1, VoterSet([Voter(ReplicaKey(1, DIRECTORY), {"CONTROLLER": VoterEndpoint("127.0.0.1", 9093)})])
)


def made(kind: str, /, **fields: Any) -> Any:
    """A metadata record, given its name."""
    return registry.message(kind)(**fields)


def everything() -> list[Any]:
    """One record of each kind that a snapshot can hold, as Kafka itself could have written them."""
    broker: Any = registry.message("RegisterBrokerRecord")
    controller: Any = registry.message("RegisterControllerRecord")
    quota: Any = registry.message("ClientQuotaRecord")
    return [
        made("FeatureLevelRecord", name="metadata.version", feature_level=LEVEL),
        made("FeatureLevelRecord", name="eligible.leader.replicas.version", feature_level=1),
        broker(
            broker_id=1,
            incarnation_id=OTHER,
            broker_epoch=7,
            end_points=[broker.BrokerEndpoint(name="PLAINTEXT", host="127.0.0.1", port=9092, security_protocol=0)],
            features=[broker.BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30)],
            rack="r",
            fenced=False,
            log_dirs=[DIRECTORY],
            cordoned_log_dirs=[],
        ),
        controller(
            controller_id=1,
            incarnation_id=OTHER,
            end_points=[
                controller.ControllerEndpoint(name="CONTROLLER", host="127.0.0.1", port=9093, security_protocol=0)
            ],
            features=[
                controller.ControllerFeature(name="kraft.version", min_supported_version=0, max_supported_version=1)
            ],
        ),
        *(made("TopicRecord", name=name, topic_id=id) for name, id in (("orders", TOPIC), ("pears", OTHER))),
        *(partition(TOPIC, index) for index in range(3)),
        partition(OTHER, 0, eligible_leader_replicas=[2], last_known_elr=[3]),
        made("ConfigRecord", resource_type=2, resource_name="orders", name="retention.ms", value="1000"),
        made("ConfigRecord", resource_type=4, resource_name="", name="min.insync.replicas", value="1"),
        quota(entity=[quota.EntityData(entity_type="user", entity_name="u")], key="producer_byte_rate", value=1.5),
        made("ProducerIdsRecord", broker_id=1, broker_epoch=7, next_producer_id=2000),
        made(
            "AccessControlEntryRecord",
            id=OTHER,
            resource_type=2,
            resource_name="orders",
            pattern_type=3,
            principal="User:u",
            host="*",
            operation=3,
            permission_type=3,
        ),
        made(
            "UserScramCredentialRecord",
            name="u",
            mechanism=1,
            salt=b"salt",
            stored_key=b"k" * 32,
            server_key=b"s" * 32,
            iterations=4096,
        ),
        made(
            "DelegationTokenRecord",
            owner="User:o",
            requester="User:o",
            renewers=["User:r"],
            issue_timestamp=NOW,
            max_timestamp=NOW + 9,
            expiration_timestamp=NOW + 5,
            token_id="t",
        ),
    ]


def partition(topic_id: Uuid, index: int, **fields: Any) -> Any:
    given: dict[str, Any] = {"leader": 1, "leader_epoch": 2, "partition_epoch": 3, "isr": [1], "replicas": [1]}
    return made("PartitionRecord", topic_id=topic_id, partition_id=index, directories=[DIRECTORY], **given | fields)


def write(folder: Path, image: Image, id: OffsetAndEpoch, head: SnapshotHeader, most: int = BATCH_SIZE_BYTES) -> Path:
    """Writes a snapshot into the log directory `folder`; returns its file."""
    disk = RealDisk(str(folder))
    disk.make_folder(FOLDER)
    part = FileSnapshotStore(disk, FOLDER).create(id)
    assert part is not None
    write_at_once(part, head, image_snapshots.encoded_records_of(image), NOW, most=most)
    return folder / FOLDER / checkpoint_name(id)


@pytest.fixture(scope="module")
def written(local_tools: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of everything, in several batches."""
    return write(tmp_path_factory.mktemp("snapshot"), folded(everything()), OffsetAndEpoch(123, 4), HEAD, most=500)


def folded(records: list[Any]) -> Image:
    image = EMPTY
    for record in records:
        image = replay(image, record)
    return image


def test_kafka_dump_log_shows_every_record_and_finds_nothing_wrong(written: Path) -> None:
    rows, output = dump_log.dump([written], "metadata")
    assert not [line for line in output.splitlines() if "log4j" not in line]
    batches = [row for row in rows[written] if "isvalid" in row]
    assert len(batches) > 4
    assert all(row["isvalid"] for row in batches)
    shown = [row["payload"]["type"] for row in rows[written] if "payload" in row]
    assert len(shown) == len(everything())
    controls = [row["control"] for row in rows[written] if "control" in row]
    assert controls[0] == {"version": 0, "lastContainedLogTimestamp": HEAD.timestamp}
    assert (controls[1]["kRaftVersion"], controls[2]["voters"][0]["voterId"]) == (1, 1)
    assert controls[-1] == {"version": 0}


@pytest.mark.usefixtures("local_tools")
def test_metadata_shell_shows_the_same_as_kafkadouble_dump(tmp_path: Path) -> None:
    """Except for credentials, which kafkadouble hides."""
    shown = [record for record in everything() if type(record).__name__ != "UserScramCredentialRecord"]
    path = write(tmp_path, folded(shown), OffsetAndEpoch(123, 4), HEAD, most=500)
    assert compare(tmp_path) == [path]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/image/topics/byName", {"orders", "pears"}),
        ("/image/topics/byName/orders", {"0", "1", "2", "id", "name"}),
        ("/image/cluster/brokers", {"1"}),
        ("/image/cluster/controllers", {"1"}),
        ("/image/configs", {"BROKER", "TOPIC:orders"}),
        ("/image/acls/byId", {str(OTHER)}),
        ("/image/scram/SCRAM-SHA-256", {"u"}),
        ("/image/delegationToken", {"t"}),
        ("/image/features", {"finalized_eligible.leader.replicas.version", "metadataVersion"}),
    ],
)
def test_the_metadata_shell_loads_it_without_a_complaint(written: Path, path: str, expected: set[str]) -> None:
    """For every snapshot, Kafka's own too, the shell reports that it skips the control records."""
    output = shell(written, "ls", path, holds=lambda shown: set(shown.split()) == expected)
    assert len([line for line in output.splitlines() if PASSED_OVER.search(line)]) == 4


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (
            "/image/topics/byName/pears/0",
            ["leaderEpoch=2", "partitionEpoch=3", "elr=[2]", "lastKnownElr=[3]", str(DIRECTORY)],
        ),
        ("/image/producerIds/nextProducerId", ["2000"]),
        ("/image/configs/TOPIC:orders/retention.ms", ["1000"]),
    ],
)
def test_the_metadata_shell_shows_what_was_in_it(written: Path, path: str, parts: list[str]) -> None:
    shell(written, "cat", path, holds=lambda shown: all(part in shown for part in parts))


@pytest.fixture
def kafka(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with local_kafka(request), cluster(tmp_path / "run", request.config.getoption("kafka")) as found:
        yield found


def test_a_real_kafka_without_its_metadata_log_starts_from_our_snapshot(kafka: Any) -> None:
    """The node's own log is replayed into a snapshot, and the rest of the log is deleted."""
    node, admin = kafka.nodes[0], AdminClient({"bootstrap.servers": kafka.bootstrap})
    topic = NewTopic("kept", 3, 1, config={"retention.ms": "123456"})
    admin.create_topics([topic])["kept"].result(PATIENCE)
    node.stop()
    folder = node.data / FOLDER
    image = image_of(folder)
    theirs = FileSnapshotStore(RealDisk(str(node.data)), FOLDER)
    voters, version = theirs.voters_of(theirs.ids()[0])
    for path in [
        *folder.glob("*.log"),
        *folder.glob("*.*index"),
        *folder.glob("*.snapshot"),
        *folder.glob("*-*.checkpoint"),
    ]:
        path.unlink()
    (folder / names.LEADER_EPOCH).unlink()
    ours = write(node.data, image, image.end, SnapshotHeader(NOW, version, voters))
    node.start()
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    eventually(lambda: admin.list_topics(timeout=PATIENCE).topics, lambda found: "kept" in found)
    assert len(admin.list_topics(timeout=PATIENCE).topics["kept"].partitions) == 3
    resource = ConfigResource(ResourceType.TOPIC, "kept")
    assert admin.describe_configs([resource])[resource].result(PATIENCE)["retention.ms"].value == "123456"
    assert ours.exists()
    admin.create_topics([NewTopic("later", 1, 1)])["later"].result(PATIENCE)
    node.stop()
    log = (folder / f"{names.segment_name(image.end.offset)}.log").read_bytes()
    assert next(decode_batches(log)).end.offset > image.end.offset


def image_of(folder: Path) -> Image:
    """The image that results from a metadata log."""
    fold, end = MetadataDelta(), EMPTY.end
    for path in sorted(folder.glob("*.log")):
        for records, reached in decode_batches(path.read_bytes()):
            for record in records:
                fold.replay(record)
            end = reached
    return fold.image._replace(end=end)
