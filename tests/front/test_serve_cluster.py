"""`kafkadouble serve --brokers N`: the brokers' addresses, what they keep, and which options are
refused."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import confluent_kafka
import pytest

from kafkadouble.cli.serving.serving import _begin
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.control.http import post
from tests.support.client import ask
from tests.support.serving import run, serving

PATIENCE_S = 60
SHORT_SESSION = ("-c", "broker.session.timeout.ms=1000", "-c", "broker.heartbeat.interval.ms=100")


def test_three_brokers_at_three_ports() -> None:
    with serving("--brokers", "3", "--topic", "t:3") as cluster:
        assert list(cluster.startup) == ["bootstrap.servers", "cluster.id", "node.id", "pid", "version"]
        assert cluster.startup["node.id"] == "1,2,3"
        places = [place.rpartition(":") for place in cluster.startup["bootstrap.servers"].split(",")]
        assert len({port for _, _, port in places}) == 3
        for host, _, port in places:
            metadata = ask((host, int(port)), MetadataRequest(topics=None), 12)
            assert metadata.cluster_id == cluster.startup["cluster.id"]
            assert [str(broker.port) for broker in sorted(metadata.brokers, key=lambda one: one.node_id)] == [
                each[2] for each in places
            ]
            assert {each.leader_id for each in metadata.topics[0].partitions} == {1, 2, 3}
        code, stderr = cluster.end()
        assert (code, "Traceback" in stderr) == (0, False)


def test_a_topic_has_the_replicas_that_are_given_also_after_a_reset() -> None:
    with serving("--brokers", "3", "--topic", "t:2:3", "--topic", "u:2", "--control-port", "0") as cluster:
        url = cluster.control_url()
        for _ in range(2):
            topics = ask(cluster.startup["bootstrap.servers"], MetadataRequest(topics=None), 12).topics
            replicas = {topic.name: [len(each.replica_nodes) for each in topic.partitions] for topic in topics}
            assert replicas == {"t": [3, 3], "u": [1, 1]}
            post(url, "reset")
        cluster.end()


def test_ports_follow_one_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        if port + 1 > 65535:
            pytest.skip("the last port there is")
        ended = run("serve", "--brokers", "2", "--port", str(port - 1))
    assert ended.returncode == 1
    assert "is taken" in ended.stderr


@pytest.mark.parametrize("brokers", ["1", "3"])
def test_a_topic_that_is_there_is_not_created_again(tmp_path: Path, brokers: str) -> None:
    config = ("--brokers", brokers, "--data-dir", str(tmp_path))
    for words in (("--topic", "t:2"), ("--topic", "t:2", "--topic", "u"), ("--topic", "t")):
        with serving(*config, *words) as cluster:
            answer = ask(cluster.startup["bootstrap.servers"], MetadataRequest(topics=None), 12)
            assert {topic.name: len(topic.partitions) for topic in answer.topics}["t"] == 2
            assert cluster.end()[0] == 0
    ended = run("serve", "--port", "0", *config, "--topic", "t:4")
    assert ended.returncode == 2
    assert "--topic t:4: the topic is there already, with 2 partitions" in ended.stderr
    assert ended.stdout == ""


async def test_serve_of_a_cluster_is_ready_when_every_broker_accepts() -> None:
    """After `kill -9` the metadata list the brokers of the previous run as alive, although the new
    ones accept no client yet."""

    async def started() -> None: ...

    members = [SimpleNamespace(listener=SimpleNamespace(opened=asyncio.Event())) for _ in range(3)]
    cluster: Any = SimpleNamespace(all_listeners=[()] * 4, members=members, start=started)
    options: Any = SimpleNamespace(topic=[], scenario=None, security=None, access=None)
    begun = asyncio.ensure_future(_begin(options, cluster))
    for member in members:
        await asyncio.sleep(0)
        assert not begun.done()
        member.listener.opened.set()
    await begun


def test_acknowledged_records_survive_a_kill_of_all_brokers(tmp_path: Path) -> None:
    """The whole process is killed: neither the brokers nor the controller can shut down in
    order."""
    config = ("--brokers", "3", "--data-dir", str(tmp_path), "-c", "default.replication.factor=3", *SHORT_SESSION)
    for life in range(3):
        with serving(*config, *(("--topic", "t") if not life else ())) as cluster:
            places = cluster.startup["bootstrap.servers"]
            producer = confluent_kafka.Producer({"bootstrap.servers": places, "acks": "all", "log_level": 0})
            producer.produce("t", b"%d" % life)
            assert producer.flush(PATIENCE_S) == 0
            consumer = confluent_kafka.Consumer({"bootstrap.servers": places, "group.id": "g", "log_level": 0})
            consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
            found = consumer.consume(life + 1, PATIENCE_S)
            consumer.close()
            assert [each.value() for each in found] == [b"%d" % number for number in range(life + 1)]
            assert cluster.end(signal.SIGKILL)[0] == -signal.SIGKILL
