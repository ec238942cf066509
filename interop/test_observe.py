"""`kafkadouble observe` on Apache Kafka's own quorums: one node, and three controllers whose leader
is killed. It must show the same as Kafka's tools and brokers.

    pytest interop/test_observe.py --broker local      Java; Kafka from Maven's cache, or Maven
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from interop.controllers import admin
from interop.controllers.quorum import described
from interop.local import Cluster, Node, cluster
from interop.observing import Row, Watch, described_topics, observed, run_here, tables, watching
from interop.quorum import CONTROLLER
from interop.support import local_kafka, unique
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.server.raft import follower_actions
from kafkadouble.server.raft.snapshots import download
from tests.support.client import ask
from tests.support.waiting import eventually

SOON = {"metadata.log.max.snapshot.interval.ms": "1000"}
HISTORY = "Leaders and ISRs, as they changed"

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("local_tools")]


@pytest.fixture(scope="module")
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A node that is broker and controller, and seldom writes a snapshot."""
    version = request.config.getoption("kafka")
    with local_kafka(request), cluster(tmp_path_factory.mktemp("one"), version) as running:
        yield running


@pytest.fixture(scope="module")
def three(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers that write a snapshot every second, and two brokers."""
    folder, version = tmp_path_factory.mktemp("three"), request.config.getoption("kafka")
    with local_kafka(request), cluster(folder, version, brokers=2, controllers=3, overrides=SOON) as running:
        yield running


def test_observer_of_a_single_node(one: Cluster) -> None:
    topic = made(one.bootstrap, "one", partitions=3, configs={"retention.ms": "12345", "cleanup.policy": "compact"})
    output = observed(controllers(one))
    assert (output.code, output.err) == (0, "")
    found = tables(output.out)
    compare(found, one)
    assert found["Cluster"][0]["begun with"] == "the first record"
    assert [(row["PARTITION"], row["WHAT"]) for row in found[HISTORY] if row["PARTITION"].startswith(topic)] == [
        (f"{topic}-{index}", "created") for index in range(3)
    ]
    configs = {(row["RESOURCE"], row["NAME"]): row["VALUE"] for row in found["Configurations"]}
    assert configs[f"topic {topic}", "retention.ms"] == "12345"
    assert configs[f"topic {topic}", "cleanup.policy"] == "compact"


@pytest.mark.parametrize("version", range(13, 19))
def test_observer_fetches_in_each_version_of_fetch_of_a_quorum(
    one: Cluster, version: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = made(one.bootstrap, f"fetch-{version}")
    monkeypatch.setattr(follower_actions, "FETCH_VERSION", version)
    assert run_here([controllers(one)]) == 0
    assert topic in [row["TOPIC"] for row in tables(capsys.readouterr().out)["Topics"]]


def test_an_id_of_its_own_is_listed_and_one_in_use_is_refused(one: Cluster) -> None:
    with watching("--replica-id", "4711", controllers(one)):
        eventually(lambda: described(one.bootstrap), lambda found: found is not None and 4711 in found.observers)
    output = observed("--replica-id", "1", controllers(one))
    assert (output.code, output.out) == (1, "")
    assert output.err == (
        "kafkadouble observe: 1 is the id of a node of this cluster: an observer needs one of its own\n"
    )


def test_a_listener_of_a_broker(one: Cluster) -> None:
    output = observed(one.bootstrap)
    assert (output.code, output.out) == (1, "")
    assert output.err == (
        f"kafkadouble observe: {one.bootstrap} is a listener of a broker: a quorum is observed at a listener of a "
        "controller (controller.listener.names)\n"
    )


@pytest.mark.parametrize("pieces", [37, 1 << 20])
def test_a_fresh_observer_begins_with_a_snapshot(
    three: Cluster, pieces: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pieces of the snapshot may be of any size."""
    topic = made(three.bootstrap, "snapshot", partitions=2, copies=2)
    original = download.SnapshotDownload.__init__

    def in_pieces(self: Any, store: Any, id: Any, epoch: int, max_bytes: int) -> None:
        original(self, store, id, epoch, pieces)

    monkeypatch.setattr(download.SnapshotDownload, "__init__", in_pieces)

    def begun_with() -> dict[str, list[Row]]:
        assert run_here([controllers(three)]) == 0
        return tables(capsys.readouterr().out)

    found = eventually(
        begun_with,
        lambda found: found["Cluster"][0]["begun with"].startswith("a snapshot up to offset") and not found[HISTORY],
    )
    assert topic in [row["TOPIC"] for row in found["Topics"]]
    compare(found, three)


def test_the_leader_is_killed_and_comes_back(three: Cluster) -> None:
    with watching(controllers(three)) as watch:
        before = made(three.bootstrap, "before", partitions=2, copies=2)
        eventually(lambda: [each["name"] for each in watch.of("TopicRecord")], lambda names: before in names)
        for name in ("first", "second"):
            outlived(three, watch, name)
        output = watch.end()
        assert output.code == 0
    in_order([each["offset"] for each in watch.objects if "offset" in each and each["kind"] != "quorum"])
    last = [each for each in watch.objects if each["kind"] == "quorum"][-1]
    assert last["leaderId"] == leader_of(three)
    assert {each["id"] for each in last["voters"]} == {3000, 3001, 3002}


def outlived(running: Cluster, watch: Watch, name: str) -> None:
    """Kills the leader. The observer shows what its successor commits; the killed controller is
    then restarted."""
    leader = node(running, leader_of(running))
    leader.kill()
    epoch = eventually(
        lambda: quorum(running), lambda leader_and_epoch: leader_and_epoch[0] not in (-1, leader.seat.id)
    )[1]
    topic = made(running.bootstrap, name, copies=2)
    eventually(lambda: [each["name"] for each in watch.of("TopicRecord")], lambda names: topic in names)
    elected = [each for each in watch.objects if each.get("type") == "LeaderChangeMessage"]
    assert elected[-1]["epoch"] == epoch
    assert elected[-1]["data"]["leaderId"] != leader.seat.id
    compare(tables(observed(controllers(running)).out), running)
    leader.start()


def test_the_history_of_an_isr(three: Cluster) -> None:
    """A broker is killed and restarted. The observer shows leaders, in-sync replicas and epochs as
    brokers report them."""
    with watching(controllers(three)) as watch:
        topic = made(three.bootstrap, "isr", partitions=2, copies=2)
        lost = three.brokers[1]
        lost.kill()
        alive = three.brokers[0].bootstrap
        eventually(lambda: [p.isr_nodes for p in admin.partitions(alive, topic)], lambda isrs: isrs == [(1,), (1,)])
        lost.start()
        eventually(
            lambda: [sorted(p.isr_nodes) for p in admin.partitions(alive, topic)], lambda isrs: isrs == [[1, 2]] * 2
        )
        ids = {each["name"]: each["topicId"] for each in watch.of("TopicRecord")}

        def ends() -> list[list[int]]:
            changes = [each for each in watch.of("PartitionChangeRecord") if each["topicId"] == ids[topic]]
            isrs = [[each["isr"] for each in changes if each["partitionId"] == at and "isr" in each] for at in (0, 1)]
            return [sorted(isr[-1]) if isr else [] for isr in isrs]

        eventually(ends, lambda found: found == [[1, 2], [1, 2]])
        changes = [each for each in watch.of("PartitionChangeRecord") if each["topicId"] == ids[topic]]
    for index in (0, 1):
        isrs = [change["isr"] for change in changes if change["partitionId"] == index and change.get("isr") is not None]
        assert [1] in isrs
        leaders = [
            change["leader"] for change in changes if change["partitionId"] == index and change.get("leader", -2) != -2
        ]
        assert len(leaders) == admin.partitions(alive, topic)[index].leader_epoch
    compare(tables(observed(controllers(three)).out), three)


def test_the_history_of_an_isr_is_a_table_too(one: Cluster) -> None:
    """The case without a snapshot: a node that is stopped and restarted."""
    topic = made(one.bootstrap, "bounce")
    one.nodes[0].stop()
    one.nodes[0].start()
    found = tables(observed(controllers(one)).out)
    rows = [row for row in found[HISTORY] if row["PARTITION"] == f"{topic}-0"]
    if found["Cluster"][0]["begun with"] != "the first record":
        pytest.fail("a snapshot was written: nothing is known of what was before")
    assert rows[0]["WHAT"] == "created"
    assert int(rows[-1]["LEADER EPOCH"]) == admin.partitions(one.bootstrap, topic)[0].leader_epoch
    in_order([int(row["OFFSET"]) for row in found[HISTORY]])
    assert {row["EPOCH"] for row in found[HISTORY]} >= {"1"}


def test_json_and_tables_have_the_same_content(three: Cluster) -> None:
    def printed_objects() -> list[dict[str, Any]]:
        output = observed("--json", controllers(three))
        assert (output.code, output.err) == (0, "")
        return [json.loads(line) for line in output.out.splitlines()]

    objects = eventually(printed_objects, lambda found: bool(found[0]["kind"] == "snapshot"))
    assert objects[-1]["kind"] == "quorum"
    names = {each["data"]["name"] for each in objects if each.get("type") == "TopicRecord"}
    assert names == {row["Topic"] for row in described_topics(three.bootstrap)}
    assert all(("snapshot" in each) != ("offset" in each) for each in objects if each["kind"] == "record")


# Comparisons with Kafka.


def compare(rows: dict[str, list[Row]], running: Cluster) -> None:
    """Compares the tables with what Kafka reports."""
    bootstrap = running.bootstrap
    of_topics = [(row["TOPIC"], row["PARTITION"], row["LEADER"], row["REPLICAS"], row["ISR"]) for row in rows["Topics"]]
    assert sorted(of_topics) == sorted(
        (row["Topic"], row["Partition"], row["Leader"], row["Replicas"], row["Isr"])
        for row in described_topics(bootstrap)
    )
    for topic in {row["TOPIC"] for row in rows["Topics"]}:
        epochs = [row["LEADER EPOCH"] for row in rows["Topics"] if row["TOPIC"] == topic]
        assert epochs == [str(each.leader_epoch) for each in admin.partitions(bootstrap, topic)]
    cluster = ask(bootstrap, DescribeClusterRequest(include_fenced_brokers=True), 2)
    assert rows["Cluster"][0]["cluster id"] == cluster.cluster_id
    assert [(row["ID"], row["ENDPOINTS"], row["STATE"] == "fenced") for row in rows["Brokers"]] == sorted(
        (str(each.broker_id), f"PLAINTEXT://{each.host}:{each.port}", each.is_fenced) for each in cluster.brokers
    )
    features = ask(bootstrap, ApiVersionsRequest(client_software_name="x", client_software_version="1"), 4)
    levels = {feature.name: str(feature.max_version_level) for feature in features.finalized_features}
    assert {row["NAME"]: row["LEVEL"].partition(" ")[0] for row in rows["Features"]} == levels
    leader, epoch = quorum(running)
    assert rows["Cluster"][0]["leader"] == f"{leader} in epoch {epoch}"
    voters = [str(each.seat.id) for each in running.nodes if each.seat.is_a("controller")]
    assert sorted(rows["Cluster"][0]["voters"].split(",")) == voters


def controllers(running: Cluster) -> str:
    """The addresses of the controllers, where observers begin."""
    return ",".join(
        "{}:{}".format(*node.seat.known[CONTROLLER]) for node in running.nodes if node.seat.is_a("controller")
    )


def node(running: Cluster, id: int) -> Node:
    return next(each for each in running.nodes if each.seat.id == id)


def quorum(running: Cluster) -> tuple[int, int]:
    """The leader and the epoch; (-1, -1) while there is none."""
    found = described(running.bootstrap)
    return (-1, -1) if found is None else (found.leader, found.epoch)


def leader_of(running: Cluster) -> int:
    return eventually(lambda: quorum(running), lambda partition: partition[0] >= 0)[0]


def made(
    bootstrap: str, stem: str, partitions: int = 1, copies: int = 1, configs: Mapping[str, str] | None = None
) -> str:
    """A topic that every broker knows."""
    name, of = unique(stem), CreateTopicsRequest
    new_topic = of.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=copies,
        configs=[of.CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )

    def create() -> int:
        code: int = ask(bootstrap, of(topics=[new_topic], timeout_ms=10_000), 7).topics[0].error_code
        return code

    # The topic exists already if an earlier response was late.
    eventually(create, lambda code: code in (0, 36))
    for one in bootstrap.split(","):
        eventually(partial(admin.partitions, one, name), lambda found: len(found) == partitions)
    return name


def in_order(numbers: list[int]) -> None:
    assert numbers == sorted(numbers)
