"""Transactions in a cluster of one broker of ours and one of Apache Kafka's: each coordinates one
partition of `__transaction_state`, and each leads one partition of the topic. So each broker sends
WriteTxnMarkers and AddPartitionsToTxn to the other, and takes over as coordinator from the other.

    pytest interop/controllers/test_transactions.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from interop.support import unique
from kafkadouble.server.coordinator.coordinator_runtime import partition_for
from tests.support.waiting import eventually

from . import admin, placed, replicas
from .broker_lives import KEPT
from .kinds import DOUBLE, Kafka
from .mixed import Mixed, mixed
from .plan import broker, controller
from .transactional import TIMEOUT_S, ck, producer, read, send

pytestmark = pytest.mark.timeout(900)


OURS, THEIRS = 1, 2
BOTH = [OURS, THEIRS]
TRANSACTIONS = "__transaction_state"
LEADERS = [BOTH, BOTH[::-1]]
"""The replicas of partitions 0 and 1 of each topic, the leader first."""
IN_SYNC = [BOTH, BOTH]
SETTINGS = {
    "min.insync.replicas": "1",
    "transaction.state.log.min.isr": "1",
    # Kafka counts the partitions when it starts, before the topic exists.
    "transaction.state.log.num.partitions": "2",
}


@pytest.fixture(scope="module")
def cluster(real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    """Broker 1 is ours, broker 2 is Kafka's."""
    folder = tmp_path_factory.mktemp("transactions")
    nodes = controller(0, real), broker(0, DOUBLE), broker(1, real)
    with mixed(folder, *nodes, overrides=KEPT | SETTINGS) as running:
        placed.create(running.bootstrap, TRANSACTIONS, LEADERS, cleanup_policy="compact")
        yield running


@pytest.fixture
def topic(cluster: Mixed) -> str:
    cluster.start()
    name = unique("orders")
    placed.create(cluster.bootstrap, name, LEADERS)
    return name


def id_at(partition: int) -> str:
    """A new transactional id of this partition of `__transaction_state`."""
    prefix = unique("id")
    return next(id for number in count() if partition_for(id := f"{prefix}-{number}", 2) == partition)


@pytest.mark.parametrize("partition", [0, 1], ids=["ours coordinates", "theirs coordinates"])
def test_transaction_markers_reach_partitions_of_both_brokers(cluster: Mixed, topic: str, partition: int) -> None:
    writer = producer(cluster.bootstrap, id_at(partition))
    for word, end in (("one", writer.commit_transaction), ("two", writer.abort_transaction)):
        send(writer, topic, word)
        end(TIMEOUT_S)
    send(writer, topic, "three")
    writer.commit_transaction(TIMEOUT_S)
    eventually(lambda: read(cluster.bootstrap, topic), lambda found: found == [["one", "three"]] * 2)
    assert read(cluster.bootstrap, topic, "read_uncommitted") == [["one", "two", "three"]] * 2


@pytest.mark.parametrize("partition", [0, 1], ids=["ours coordinates", "theirs coordinates"])
def test_producer_epoch_is_fenced_through_either_coordinator(cluster: Mixed, topic: str, partition: int) -> None:
    id = id_at(partition)
    zombie = producer(cluster.bootstrap, id)
    send(zombie, topic, "zombie")
    successor = producer(cluster.bootstrap, id)
    with pytest.raises(ck.KafkaException):
        zombie.commit_transaction(TIMEOUT_S)
    send(successor, topic, "fresh")
    successor.commit_transaction(TIMEOUT_S)
    eventually(lambda: read(cluster.bootstrap, topic), lambda found: found == [["fresh"]] * 2)


@pytest.mark.parametrize("partition", [0, 1], ids=["from ours to theirs", "from theirs to ours"])
def test_open_transaction_commits_after_coordinator_failover(cluster: Mixed, topic: str, partition: int) -> None:
    """The coordinator is killed. The other broker reads the transaction state that the coordinator
    wrote, takes over, and commits."""
    for each in (TRANSACTIONS, topic):
        admin.settled(cluster.bootstrap, each, IN_SYNC)
        placed.elect(cluster.bootstrap, each, placed.PREFERRED)
    writer = producer(cluster.bootstrap, id_at(partition))
    send(writer, topic, "before")
    writer.commit_transaction(TIMEOUT_S)
    send(writer, topic, "open")
    killed, other = (cluster.node(id) for id in LEADERS[partition])
    killed.kill()
    admin.led(other.bootstrap, topic, [other.id, other.id])
    writer.commit_transaction(TIMEOUT_S)
    eventually(lambda: read(other.bootstrap, topic), lambda found: found == [["before", "open"]] * 2)
    killed.start()
    admin.settled(other.bootstrap, topic, IN_SYNC)
    admin.settled(other.bootstrap, TRANSACTIONS, IN_SYNC)
    cluster.stop()
    assert replicas.equal(cluster.brokers, topic) > 0
