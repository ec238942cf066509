"""Replicas move between the log directories of a broker, as kafka-python asks for it, while
producers and consumers use them; a broker that is killed meanwhile continues."""

from __future__ import annotations

import json
import operator
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from kafka import KafkaAdminClient

from interop.brokers.double import Double
from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.controllers.admin import BROKER, alter_configs
from interop.local import cluster
from interop.support import create_topic, local_kafka
from interop.tools.resident import Resident
from interop.tools.row import CLASSES
from tests.support.client import batches_of
from tests.support.serving import serving
from tests.support.waiting import eventually

TOPIC = "moving"
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
SIZE = 40 << 10
"""Bytes of a record. A move with a rate is not over at once: a first fetch is of a megabyte."""


class TwoDirs(NamedTuple):
    """A broker with two log directories. `server` can be killed and started again."""

    server: Any
    dirs: list[str]

    @property
    def bootstrap(self) -> str:
        found: str = self.server.bootstrap
        return found

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        client = KafkaAdminClient(bootstrap_servers=self.bootstrap)
        try:
            yield client
        finally:
            client.close()

    def move(self, path: str) -> str:
        """Asks for the partition to be moved; the name of the error."""
        with self.admin() as admin:
            [broker] = admin.describe_cluster()["brokers"]
            [found] = admin.alter_replica_log_dirs({(TOPIC, 0, broker["broker_id"]): path}).values()
            name: str = found.__name__
            return name

    def places(self) -> dict[str, bool]:
        """The directories of the partition, and whether it is there in the future."""
        with self.admin() as admin:
            [described] = admin.describe_log_dirs({TOPIC: [0]})
        return {
            place["log_dir"]: partition["is_future_key"]
            for place in described["log_dirs"]
            for topic in place["topics"]
            for partition in topic["partitions"]
        }

    def limit(self, rate: int | None) -> None:
        """Sets the rate of moves in bytes per second, or no rate."""
        answered = alter_configs(self.bootstrap, BROKER, "1", {RATE: str(rate) if rate else None})
        assert answered.error_code == 0, answered

    def fill(self, count: int) -> None:
        with CREATOR.producer(self.bootstrap) as producer:
            for at in range(count):
                producer.send(TOPIC, [Record(b"%d" % at * (SIZE // len(b"%d" % at)))])


@pytest.fixture(params=["double", "local"])
def broker_with_two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TwoDirs]:
    kind = request.param
    if kind not in (request.config.getoption("broker") or ["double"]):
        pytest.skip(f"this is for --broker {kind}")
    dirs = [str(tmp_path / name) for name in ("one", "two")]
    if kind == "double":
        server = Double(dirs[0], "--data-dir", dirs[1])
        server.start()
        try:
            yield made(TwoDirs(server, dirs))
        finally:
            server.stop()
        return
    with local_kafka(request), cluster(tmp_path / "kafka", overrides={"log.dirs": ",".join(dirs)}) as running:
        yield made(TwoDirs(running.nodes[0], dirs))


def made(broker: TwoDirs) -> TwoDirs:
    create_topic(broker.bootstrap, TOPIC, configs={"segment.bytes": "1048576"})
    eventually(broker.places)
    return broker


def other(broker: TwoDirs) -> str:
    """The directory in which the partition is not."""
    return next(path for path in broker.dirs if path not in broker.places())


def test_a_partition_moves_while_a_producer_writes_to_it(broker_with_two: TwoDirs) -> None:
    broker = broker_with_two
    broker.fill(50)
    stop, sent = threading.Event(), list[int]()

    def produce() -> None:
        with CREATOR.producer(broker.bootstrap) as producer:
            while not stop.is_set():
                sent.extend(producer.send(TOPIC, [Record(b"more")]))

    thread = threading.Thread(target=produce)
    thread.start()
    try:
        for _ in range(4):
            target = other(broker)
            before = batches_of(broker.bootstrap, TOPIC)
            assert broker.move(target) == "NoError"
            eventually(broker.places, partial(operator.eq, {target: False}))
            assert batches_of(broker.bootstrap, TOPIC).startswith(before)
    finally:
        stop.set()
        thread.join(60)
    assert sent == list(range(50, 50 + len(sent)))
    assert len(sent) > 4
    assert Path(target, f"{TOPIC}-0").exists()


def test_a_broker_that_is_killed_continues_the_move(broker_with_two: TwoDirs) -> None:
    broker = broker_with_two
    broker.fill(150)
    before, target = batches_of(broker.bootstrap, TOPIC), other(broker)
    broker.limit(1000)
    assert broker.move(target) == "NoError"
    eventually(lambda: list(Path(target).glob(f"{TOPIC}-0.*-future/*.log")), bool)
    assert broker.places()[target] is True
    broker.server.kill()
    assert list(Path(target).glob(f"{TOPIC}-0.*-future"))
    broker.server.start()
    assert broker.places()[target] is True
    assert batches_of(broker.bootstrap, TOPIC) == before
    broker.limit(None)
    eventually(broker.places, lambda found: found == {target: False})
    assert batches_of(broker.bootstrap, TOPIC) == before
    broker.server.kill()
    broker.server.start()
    assert broker.places() == {target: False}
    assert batches_of(broker.bootstrap, TOPIC) == before


def test_a_move_is_cancelled_by_the_current_directory(broker_with_two: TwoDirs) -> None:
    broker = broker_with_two
    broker.fill(150)
    [source], target = broker.places(), other(broker)
    broker.limit(1000)
    assert broker.move(target) == "NoError"
    assert broker.places() == {source: False, target: True}
    assert broker.move(source) == "NoError"
    eventually(broker.places, lambda found: found == {source: False})
    assert broker.move(f"{target}/") == "LogDirNotFoundError"


def test_the_tools_move_a_partition_and_show_it(broker_with_two: TwoDirs, tools: Resident) -> None:
    broker = broker_with_two
    broker.fill(150)
    before, [source], target = batches_of(broker.bootstrap, TOPIC), broker.places(), other(broker)
    plan = {"version": 1, "partitions": [{"topic": TOPIC, "partition": 0, "replicas": [1], "log_dirs": [target]}]}
    Path(tools.folder, "moves.json").write_text(json.dumps(plan))

    def reassign(*words: str) -> str:
        given = ["--bootstrap-server", broker.bootstrap, "--reassignment-json-file", "moves.json", *words]
        done = tools.call(CLASSES["kafka-reassign-partitions"], given)
        assert done.code == 0, done
        return done.out

    def described() -> dict[str, bool]:
        given = ["--bootstrap-server", broker.bootstrap, "--describe", "--topic-list", TOPIC]
        done = tools.call(CLASSES["kafka-log-dirs"], given)
        [found] = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
        dirs = found["brokers"][0]["logDirs"]
        return {place["logDir"]: each["isFuture"] for place in dirs for each in place["partitions"]}

    said = reassign("--execute", "--replica-alter-log-dirs-throttle", "1000")
    assert f"Successfully started moving log directory to {target} for replica {TOPIC}-0 with broker 1" in said
    assert described() == {source: False, target: True}
    assert f"Reassignment of replica {TOPIC}-0-1 is still in progress." in reassign("--verify", "--preserve-throttles")
    broker.limit(None)
    eventually(described, lambda found: found == {target: False})
    assert f"Reassignment of replica {TOPIC}-0-1 completed successfully." in reassign("--verify")
    assert batches_of(broker.bootstrap, TOPIC) == before


def test_each_program_continues_a_move_of_the_other(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Both are killed in the middle of a move, and leave the same files."""
    dirs = [str(tmp_path / name) for name in ("one", "two")]
    with local_kafka(request), cluster(tmp_path / "kafka", overrides={"log.dirs": ",".join(dirs)}) as running:
        [node] = running.nodes
        theirs = made(TwoDirs(node, dirs))
        theirs.fill(150)
        before, [source], target = batches_of(theirs.bootstrap, TOPIC), theirs.places(), other(theirs)

        def begin(broker: TwoDirs, path: str) -> None:
            broker.limit(1000)
            assert broker.move(path) == "NoError"
            eventually(lambda: list(Path(path).glob(f"{TOPIC}-0.*-future/*.log")), bool)

        def ends(broker: TwoDirs, path: str) -> None:
            assert broker.places()[path] is True
            broker.limit(None)
            eventually(broker.places, partial(operator.eq, {path: False}))
            assert batches_of(broker.bootstrap, TOPIC) == before

        begin(theirs, target)
        node.kill()
        with serving("--config", str(node.config)) as process:
            ours = TwoDirs(SimpleNamespace(bootstrap=process.startup["bootstrap.servers"]), dirs)
            ends(ours, target)
            begin(ours, source)
        node.start()
        ends(theirs, source)
