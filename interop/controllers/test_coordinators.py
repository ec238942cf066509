"""Coordinators move between a broker of ours and one of Apache Kafka's, and load what the other has
written. Groups commit on both. `test_transactions` has more of transactions.

    pytest interop/controllers/test_coordinators.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import confluent_kafka
import pytest

from interop.support import unique
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from tests.support.client import ask
from tests.support.waiting import eventually

from . import admin, placed, replicas
from .broker_lives import KEPT
from .deeds import Ledger
from .kinds import DOUBLE, Kafka
from .mixed import Mixed, mixed
from .plan import broker, controller
from .traffic import Traffic

pytestmark = pytest.mark.timeout(900)

ck: Any = confluent_kafka

BOTH = [1, 2]
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
ONE_IS_ENOUGH = {"min.insync.replicas": "1"}


@pytest.fixture(scope="module", params=["under-theirs", pytest.param("under-ours", marks=pytest.mark.long)])
def cluster(request: pytest.FixtureRequest, real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    """Broker 1 is ours, broker 2 is Kafka's."""
    chief, folder = controller(0, DOUBLE if request.param == "under-ours" else real), tmp_path_factory.mktemp("both")
    with mixed(folder, chief, broker(0, DOUBLE), broker(1, real), overrides=KEPT | ONE_IS_ENOUGH) as running:
        yield running


def coordinator(bootstrap: str, group: str) -> int:
    """The coordinator of a group, in this broker's metadata; -1 for none."""
    (response,) = ask(bootstrap, FindCoordinatorRequest(coordinator_keys=[group]), 4).coordinators
    return int(response.node_id)


def test_a_group_moves_to_the_other_and_back(cluster: Mixed) -> None:
    """The group's member stays, continues to commit, and reads nothing twice. The offsets of a
    group without members are kept, too."""
    topic, ledger = unique("groups"), Ledger(cluster.bootstrap)
    placed.create(cluster.bootstrap, OFFSETS, [BOTH], cleanup_policy="compact")
    placed.create(cluster.bootstrap, topic, [BOTH])
    resting = ledger.topic("resting")
    ledger.produce(resting)
    ledger.consume(resting)
    with Traffic(cluster.bootstrap, topic, 1) as traffic:
        for old, new in (BOTH, BOTH[::-1]):
            killed, running = cluster.node(old), cluster.node(new)
            eventually(lambda: coordinator(running.bootstrap, traffic.group), lambda id: id == old)  # noqa: B023  # at once
            killed.kill()
            eventually(lambda: coordinator(running.bootstrap, traffic.group), lambda id: id == new)  # noqa: B023  # at once
            traffic.goes_on()
            killed.start()
            admin.settled(running.bootstrap, OFFSETS, [BOTH])
            admin.settled(running.bootstrap, topic, [BOTH])
            traffic.goes_on()
    ledger.check()
    cluster.stop()
    assert replicas.equal(cluster.brokers, OFFSETS) > 0


def test_transactions_outlive_their_coordinators_disk(cluster: Mixed) -> None:
    """Kafka's coordinator and its disk are lost while a transaction is open, and it starts again
    from our replica: the next producer with that transactional id aborts the transaction, and
    continues."""
    cluster.start()
    ours, theirs = cluster.brokers
    topic, both = unique("transactions"), [[theirs.id, ours.id]]
    placed.create(cluster.bootstrap, topic, both)
    placed.create(cluster.bootstrap, TRANSACTIONS, both, cleanup_policy="compact")
    producer = transactional(cluster.bootstrap)
    for word, ends in (("committed", producer.commit_transaction), ("aborted", producer.abort_transaction)):
        send(producer, topic, word)
        ends(60)
    send(producer, topic, "open")
    del producer, ends
    theirs.kill()
    admin.led(ours.bootstrap, topic, [ours.id])
    assert read(ours.bootstrap, topic) == [b"committed"]
    assert read(ours.bootstrap, topic, "read_uncommitted") == [b"committed", b"aborted", b"open"]
    theirs.lose_disk()
    theirs.start()
    for each in (topic, TRANSACTIONS):
        admin.settled(ours.bootstrap, each, [BOTH])
        assert placed.elect(ours.bootstrap, each, placed.PREFERRED) == "NONE"
    producer = transactional(cluster.bootstrap)
    send(producer, topic, "next")
    producer.commit_transaction(60)
    assert read(theirs.bootstrap, topic) == [b"committed", b"next"]
    theirs.kill()
    admin.led(ours.bootstrap, topic, [ours.id])
    placed.written(ours.bootstrap, topic, [b"last"])
    assert read(ours.bootstrap, topic) == [b"committed", b"next", b"last"]
    theirs.start()
    admin.settled(ours.bootstrap, topic, [BOTH])
    cluster.stop()
    # Five batches, and a marker for each of four transactions.
    assert replicas.equal(cluster.brokers, topic) == 9


def transactional(bootstrap: str) -> Any:
    """A producer that can begin a transaction: those of earlier producers with its id are
    complete."""
    found = ck.Producer({**Ledger(bootstrap).client(), "transactional.id": "t", "transaction.timeout.ms": 120_000})
    found.init_transactions(60)
    return found


def send(producer: Any, topic: str, word: str) -> None:
    """Sends one record in a transaction that stays open."""
    producer.begin_transaction()
    producer.produce(topic, word.encode(), partition=0)
    assert producer.flush(60) == 0


def read(bootstrap: str, topic: str, isolation: str = "read_committed") -> list[bytes]:
    """All values that a consumer gets up to the end of the partition, or up to an open
    transaction."""
    settings = {
        **Ledger(bootstrap).client(),
        "group.id": "g",
        "enable.partition.eof": True,
        "isolation.level": isolation,
    }
    consumer = ck.Consumer(settings | {"enable.partition.eof": True, "isolation.level": isolation})
    found: list[bytes] = []
    consumer.assign([ck.TopicPartition(topic, 0, 0)])

    def ends() -> bool:
        for message in consumer.consume(100, 0.2):
            if message.error():
                assert message.error().code() == ck.KafkaError._PARTITION_EOF, message.error()
                return True
            found.append(message.value())
        return False

    eventually(ends)
    consumer.close()
    return found
