"""Real brokers on one controller of ours, and on three: everything that clients and brokers request
from a controller.

    # our controller
    pytest interop/controllers/test_one.py --broker local
    # Apache Kafka's, which must pass too
    pytest interop/controllers/test_one.py --broker local --controllers local
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import confluent_kafka
import pytest

from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.support import unique
from kafkadouble.messages.generated.fetch import FetchRequest
from tests.support.client import ask, topic_id
from tests.support.waiting import eventually

from . import admin
from .deeds import Ledger
from .kinds import Kafka, Kind
from .mixed import Mixed, mixed
from .plan import broker, controller

ck: Any = confluent_kafka

MOST = "message.max.bytes"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module", params=[1, pytest.param(3, marks=pytest.mark.long)])
def cluster(
    request: pytest.FixtureRequest, ours: Kind, real: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mixed]:
    """Controllers, and two brokers."""
    members = [*(controller(number, ours) for number in range(request.param)), broker(0, real), broker(1, real)]
    with mixed(tmp_path_factory.mktemp("one"), *members) as running:
        eventually(lambda: admin.registered(running.bootstrap), lambda found: found == {1: False, 2: False})
        yield running


@pytest.fixture(scope="module")
def ledger(cluster: Mixed) -> Ledger:
    return Ledger(cluster.bootstrap)


def test_topics(cluster: Mixed, ledger: Ledger) -> None:
    """Topics are created, get partitions, and are deleted."""
    topic = ledger.topic("topics", 3, 2)
    eventually(lambda: [*map(sorted, admin.replicas(cluster.bootstrap, topic))], lambda found: found == [[1, 2]] * 3)
    with CREATOR.admin(cluster.bootstrap) as client:
        client.create_partitions(topic, 5)
        ledger.topics[topic] = 5
        eventually(lambda: len(admin.partitions(cluster.bootstrap, topic)), lambda count: count == 5)
        doomed = ledger.topic("doomed", 2)
        client.delete_topic(doomed)
        eventually(lambda: admin.partitions(cluster.bootstrap, doomed), lambda found: not found)
        del ledger.topics[doomed]
    ledger.check()


def test_records_transactions_and_groups(ledger: Ledger) -> None:
    ledger.all("records", copies=2)
    ledger.check()


def test_a_group_of_the_new_protocol(cluster: Mixed, ledger: Ledger) -> None:
    """KIP-848 is a feature of the cluster."""
    topic = ledger.topic("new-protocol")
    ledger.produce(topic)
    settings = ledger.client("group.id", unique("new"), "group.protocol", "consumer", "auto.offset.reset", "earliest")
    consumer: Any = ck.Consumer(settings)
    try:
        consumer.subscribe([topic])
        seen: list[Any] = []

        def read() -> int:
            seen.extend(consumer.consume(100, 1.0))
            return len(seen)

        eventually(read, lambda count: count == 20)
        assert [each.error() for each in seen] == [None] * 20
    finally:
        consumer.close()


def test_configs(cluster: Mixed, ledger: Ledger) -> None:
    topic = ledger.topic("configs", retention_ms="12345")
    ledger.configure(topic, cleanup_policy="compact")
    with CREATOR.admin(cluster.bootstrap) as client:
        admin.set_default(cluster.bootstrap, MOST, "2000000")
        client.alter_configs("broker", "1", ("set", MOST, "3000000"))
        _wait_for_settings(client, {"1": "3000000", "2": "2000000"})
        client.alter_configs("broker", "1", ("delete", MOST, None))
        _wait_for_settings(client, {"1": "2000000", "2": "2000000"})
        admin.set_default(cluster.bootstrap, MOST, None)
        _wait_for_settings(client, {"1": "1048588", "2": "1048588"})
    ledger.check()


def _wait_for_settings(client: Any, expected: dict[str, str]) -> None:
    """The value of the setting at each broker."""
    eventually(lambda: {id: client.configs("broker", id)[MOST] for id in expected}, lambda found: found == expected)


def test_quotas(cluster: Mixed) -> None:
    """A quota is set, described and enforced: a fetch of more bytes than allowed in a second is
    throttled. Then it is removed."""
    topic = Ledger(cluster.bootstrap).topic("quotas")
    admin.set_quota(cluster.bootstrap, "interop", "consumer_byte_rate", 10.0)
    quota = {"consumer_byte_rate": 10.0}
    eventually(lambda: admin.quotas(cluster.bootstrap, "interop"), lambda found: found == quota)
    with CREATOR.producer(cluster.bootstrap) as producer:
        producer.send(topic, [Record(b"x" * 1000)])
    leader = cluster.node(admin.leaders(cluster.bootstrap, topic)[0])
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic_data = FetchRequest.FetchTopic(topic_id=topic_id(cluster.bootstrap, topic), partitions=[partition])

    def throttled() -> int:
        answer = ask(
            leader.bootstrap, FetchRequest(max_wait_ms=0, max_bytes=1 << 20, topics=[topic_data]), 13, "interop"
        )
        return int(answer.throttle_time_ms)

    eventually(throttled, lambda found: found > 0)
    admin.set_quota(cluster.bootstrap, "interop", "consumer_byte_rate", None)
    eventually(lambda: admin.quotas(cluster.bootstrap, "interop"), lambda found: not found)


def test_reassignments(cluster: Mixed, ledger: Ledger) -> None:
    """Partitions move to another broker with all records, then to both; and a reassignment is
    cancelled before it is complete."""
    topic = ledger.topic("moved", 2)
    ledger.produce(topic)
    here = admin.replicas(cluster.bootstrap, topic)
    there = [[3 - each] for (each,) in here]
    assert admin.reassign(cluster.bootstrap, topic, there) == [0, 0]
    eventually(lambda: admin.replicas(cluster.bootstrap, topic), lambda found: found == there)
    eventually(lambda: admin.reassigning(cluster.bootstrap), lambda found: not found)
    both = [[*now, *then] for now, then in zip(here, there, strict=True)]
    assert admin.reassign(cluster.bootstrap, topic, both) == [0, 0]
    admin.settled(cluster.bootstrap, topic, [[1, 2], [1, 2]])
    eventually(lambda: admin.reassigning(cluster.bootstrap), lambda found: not found)
    ledger.check()


def test_a_reassignment_is_called_off(cluster: Mixed, ledger: Ledger) -> None:
    """The new broker is down, and the reassignment that was begun can be cancelled."""
    lost = cluster.node(2)
    topic = ledger.topic("stays", 1)
    admin.reassign(cluster.bootstrap, topic, [[1]])
    eventually(lambda: admin.replicas(cluster.bootstrap, topic), lambda found: found == [[1]])
    lost.kill()
    try:
        at = cluster.node(1).bootstrap
        assert admin.reassign(at, topic, [[2]]) == [0]
        eventually(lambda: admin.reassigning(at), lambda found: found == {topic: 1})
        assert admin.reassign(at, topic, [None]) == [0]
        eventually(lambda: admin.reassigning(at), lambda found: not found)
        eventually(lambda: admin.replicas(at, topic), lambda found: found == [[1]])
    finally:
        lost.start()
    eventually(lambda: admin.registered(cluster.bootstrap), lambda found: found == {1: False, 2: False})


def test_a_broker_leaves_in_order_and_comes_back(cluster: Mixed, ledger: Ledger) -> None:
    """The broker hands its leaderships over before it ends, and is in sync again after its restart;
    then a preferred leader leads again."""
    topic = ledger.topic("shutdown", 4, 2)
    ledger.produce(topic)
    left, stays = cluster.node(2), cluster.node(1).bootstrap
    left.stop()
    assert admin.leaders(stays, topic) == [1] * 4
    eventually(lambda: admin.registered(stays), lambda found: found == {1: False, 2: True})
    admin.settled(stays, topic, [[1]] * 4)
    ledger.bootstrap = stays
    ledger.produce(topic)
    left.start()
    admin.settled(stays, topic, [[1, 2]] * 4)
    preferred = [replica[0] for replica in admin.replicas(stays, topic)]
    assert set(preferred) == {1, 2}
    # 84 is ELECTION_NOT_NEEDED.
    eventually(lambda: admin.elect_preferred(stays, topic, 4), lambda codes: set(codes) <= {0, 84})
    eventually(lambda: admin.leaders(stays, topic), lambda found: found == preferred)
    ledger.bootstrap = cluster.bootstrap
    ledger.check()


def test_a_broker_is_killed_and_comes_back(cluster: Mixed, ledger: Ledger) -> None:
    """The broker is fenced when its session has ended; its partitions have another leader in a new
    epoch."""
    topic = ledger.topic("killed", 2, 2)
    ledger.produce(topic)
    lost, stays = cluster.node(2), cluster.node(1).bootstrap
    before = admin.partitions(stays, topic)
    assert {each.leader_id for each in before} == {1, 2}
    lost.kill()
    eventually(lambda: admin.leaders(stays, topic), lambda found: found == [1, 1])
    eventually(lambda: admin.registered(stays), lambda found: found == {1: False, 2: True})
    ledger.bootstrap = stays
    ledger.produce(topic)
    lost.start()
    admin.settled(stays, topic, [[1, 2]] * 2)
    for then, now in zip(before, admin.partitions(stays, topic), strict=True):
        assert now.leader_epoch > then.leader_epoch or then.leader_id == 1
    ledger.bootstrap = cluster.bootstrap
    ledger.check()


def test_the_controller_is_killed_and_comes_back(cluster: Mixed, ledger: Ledger) -> None:
    """Brokers continue without the controller, and with it after its restart: a controller leads in
    a new epoch."""
    ledger.all("before", copies=2)
    epoch, node = cluster.led().epoch, cluster.leader()
    node.kill()
    ledger.check()
    node.start()
    assert cluster.led().epoch > epoch
    ledger.all("after", copies=2)
    ledger.check()


def test_features(cluster: Mixed) -> None:
    """Features are described through brokers, lowered and raised."""
    features = admin.features(cluster.bootstrap)
    assert features["metadata.version"] >= 30
    assert admin.update_feature(cluster.bootstrap, "group.version", 0, kind=2) == 0
    eventually(lambda: admin.features(cluster.bootstrap), lambda now: "group.version" not in now)
    assert admin.update_feature(cluster.bootstrap, "group.version", 1) == 0
    eventually(lambda: admin.features(cluster.bootstrap), lambda now: now == features)


def test_a_broker_is_unregistered(cluster: Mixed, ledger: Ledger) -> None:
    """Unregisters a broker that is stopped. This test is the last one, since the broker is the
    second of two."""
    stopped, stays = cluster.node(2), cluster.node(1).bootstrap
    stopped.kill()
    eventually(lambda: admin.registered(stays), lambda found: found == {1: False, 2: True})
    assert admin.unregister(stays, 2) == 0
    eventually(lambda: admin.registered(stays), lambda found: found == {1: False})
    stopped.start()
    eventually(lambda: admin.registered(stays), lambda found: found == {1: False, 2: False})
    eventually(lambda: admin.leaders(stays, "__consumer_offsets"), lambda found: -1 not in found)
    ledger.check()
