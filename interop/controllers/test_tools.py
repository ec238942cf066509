"""Kafka's own tools on our controllers and their directories: kafka-metadata-quorum,
kafka-features, kafka-cluster, kafka-storage, kafka-metadata-shell. kafka-dump-log is covered in
`test_mixed.py`.

    pytest interop/controllers/test_tools.py --broker local
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.observing import tool
from interop.tools.metadata_shell import shell
from interop.tools.parse import pairs
from interop.tools.resident import ToolOutput
from kafkadouble.server.log.formats import names
from tests.support.waiting import eventually

from .deeds import Ledger
from .kinds import Kafka, Kind
from .logs import image_in, snapshot_ids
from .mixed import Mixed, mixed
from .node import METADATA
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

QUORUM, FEATURES, CLUSTER = "MetadataQuorumCommand", "FeatureCommand", "ClusterTool"
RELEASE = "4.3"
"""The metadata version of the cluster: the newest that Kafka's tools know, since those of 4.4 were
not published."""

SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "2000"}


@pytest.fixture(scope="module")
def cluster(ours: Kind, real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    """Three controllers in a dynamic quorum, and a broker."""
    members = [*(controller(number, ours) for number in range(3)), broker(0, real)]
    folder = tmp_path_factory.mktemp("tools")
    with mixed(folder, *members, dynamic=True, release=RELEASE, overrides=SNAPSHOTS) as running:
        Ledger(running.bootstrap).all("tools")
        yield running


@pytest.fixture(params=["--bootstrap-controller", "--bootstrap-server"])
def at(request: pytest.FixtureRequest, cluster: Mixed) -> tuple[str, str]:
    """The tool's bootstrap option: a controller, or a broker, which asks one."""
    word: str = request.param
    return word, cluster.bootstrap_controllers if "controller" in word else cluster.bootstrap


def test_the_status_of_the_quorum(cluster: Mixed, at: tuple[str, str]) -> None:
    cluster.caught_up()
    output = tool(QUORUM, *at, "describe", "--status")
    matches = dict(re.findall(r"^(\w+):\s+(.*)$", output, re.MULTILINE))
    quorum = cluster.led()
    assert matches["ClusterId"] == cluster.nodes[0].cluster_id
    assert (matches["LeaderId"], matches["LeaderEpoch"]) == (str(quorum.leader), str(quorum.epoch))
    assert int(matches["HighWatermark"]) > 0
    assert [int(id) for id in re.findall(r'"id": (\d+)', matches["CurrentVoters"])] == [3000, 3001, 3002]
    assert [int(id) for id in re.findall(r'"id": (\d+)', matches["CurrentObservers"])] == [1]
    for node in cluster.controllers:
        assert f"{node.controls_at[0]}:{node.controls_at[1]}" in matches["CurrentVoters"]


def test_the_replication_of_the_quorum(cluster: Mixed, at: tuple[str, str]) -> None:
    output = tool(QUORUM, *at, "describe", "--replication")
    head, *lines = [line.split() for line in output.splitlines() if line.strip()]
    rows = [dict(zip(head, line, strict=False)) for line in lines]
    leader = str(cluster.led().leader)
    statuses = {row["NodeId"]: row["Status"] for row in rows}
    followers = {str(node.id) for node in cluster.controllers} - {leader}
    assert statuses == {leader: "Leader", **dict.fromkeys(followers, "Follower"), "1": "Observer"}
    assert all(int(row["LogEndOffset"]) > 0 for row in rows)


def test_the_features(cluster: Mixed, at: tuple[str, str]) -> None:
    found = {row["Feature"]: row for row in pairs(ToolOutput(0, tool(FEATURES, *at, "describe"), ""))}
    assert found["metadata.version"]["FinalizedVersionLevel"] == "4.3-IV0"
    assert found["kraft.version"]["FinalizedVersionLevel"] == "1"
    assert found["group.version"]["FinalizedVersionLevel"] == "1"


def test_the_controllers_are_listed(cluster: Mixed) -> None:
    output = tool(CLUSTER, "list-endpoints", "--bootstrap-controller", cluster.bootstrap_controllers)
    for node in cluster.controllers:
        assert re.search(rf"^{node.id}\s+{node.controls_at[0]}\s+{node.controls_at[1]}\s", output, re.MULTILINE), output
    output = tool(CLUSTER, "cluster-id", "--bootstrap-controller", cluster.bootstrap_controllers)
    assert cluster.nodes[0].cluster_id in output


def test_kafka_storage_reads_our_directories(cluster: Mixed, real: Kafka) -> None:
    """It describes a directory, and does not change it."""
    for node in cluster.controllers:
        output = real.call("kafka.tools.StorageTool", "info", "-c", str(node.config))
        assert f"cluster.id={node.cluster_id}" in output.replace("clusterId", "cluster.id")
        assert "directory.id" in output
        output = real.call(
            "kafka.tools.StorageTool", "format", "-t", node.cluster_id, "-c", str(node.config), "-g", "-N"
        )
        assert "already formatted" in output


def test_the_metadata_shell_reads_our_snapshots(cluster: Mixed, tmp_path: Path) -> None:
    """The shell reads copies, since it refuses a directory that a node has locked, ours as well as
    Kafka's."""
    for node in cluster.controllers:
        id = eventually(lambda: snapshot_ids(node))[-1]  # noqa: B023  # at once
        topics = {topic.name for topic in image_in(node, id).topics.values()}
        path = node.metadata / names.checkpoint_name(id)
        with pytest.raises(AssertionError, match="Unable to lock"):
            shell(path, "ls", "/", holds=bool)
        copy = tmp_path / str(node.id) / METADATA
        copy.mkdir(parents=True)
        shutil.copy(path, copy)
        shell(copy / path.name, "ls", "/image/topics/byName", holds=lambda shown: set(shown.split()) >= topics)  # noqa: B023


def test_a_controller_is_taken_away_and_added_again(cluster: Mixed) -> None:
    """Uses kafka-metadata-quorum with the controller's own settings and directory (KIP-853). This
    test is the last one."""
    at = ("--bootstrap-controller", cluster.bootstrap_controllers)
    node = next(node for node in cluster.controllers if node.id != cluster.led().leader)
    words = ("--controller-id", str(node.id), "--controller-directory-id", node.directory_id)
    tool(QUORUM, *at, "remove-controller", *words)
    left = tuple(controller.id for controller in cluster.controllers if controller is not node)
    eventually(lambda: cluster.led().voters, lambda voters: voters == left)
    tool(QUORUM, *at, "--command-config", str(node.config), "add-controller")
    eventually(lambda: cluster.led().voters, lambda voters: voters == (3000, 3001, 3002))
    ledger = Ledger(cluster.bootstrap)
    ledger.all("voters")
    cluster.led_by([node.id])
    ledger.check()
