"""Coordinators move between a broker of ours and one of Apache Kafka's, and load what the other has
written. Groups commit on both. `test_transactions` has more tests of transactions.

    pytest interop/controllers/test_coordinators.py --broker local
"""

from __future__ import annotations

import pytest

from interop.support import unique
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from tests.support.client import ask
from tests.support.waiting import eventually

from . import admin, placed, replicas, transactional
from .deeds import Ledger
from .mixed import Mixed
from .one_of_each import BOTH, one_of_each
from .traffic import Traffic

pytestmark = pytest.mark.timeout(900)


OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
MIN_ISR_1 = {"min.insync.replicas": "1"}


cluster = one_of_each("theirs", MIN_ISR_1, "module")


def values(bootstrap: str, topic: str, isolation: str = "read_committed") -> list[str]:
    return transactional.read(bootstrap, topic, isolation, partitions=1)[0]


def coordinator(bootstrap: str, group: str) -> int:
    """The coordinator of a group, in this broker's metadata; -1 for none."""
    (response,) = ask(bootstrap, FindCoordinatorRequest(coordinator_keys=[group]), 4).coordinators
    return int(response.node_id)


def test_group_coordinator_moves_to_the_other_broker_and_back(cluster: Mixed) -> None:
    """The member stays in the group, continues to commit, and reads no record twice. The committed
    offsets of a group without members are kept, too."""
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


def test_transactions_continue_after_coordinator_loses_its_disk(cluster: Mixed) -> None:
    """Kafka's broker is killed while it coordinates an open transaction. Its disk is lost, and it
    restarts from our replica: the next producer with that transactional id aborts the transaction,
    and continues."""
    cluster.start()
    ours, theirs = cluster.brokers
    topic, both = unique("transactions"), [[theirs.id, ours.id]]
    placed.create(cluster.bootstrap, topic, both)
    placed.create(cluster.bootstrap, TRANSACTIONS, both, cleanup_policy="compact")
    producer = transactional.producer(cluster.bootstrap, "t")
    for word, ends in (("committed", producer.commit_transaction), ("aborted", producer.abort_transaction)):
        transactional.send(producer, topic, word, [0])
        ends(60)
    transactional.send(producer, topic, "open", [0])
    del producer, ends
    theirs.kill()
    admin.led(ours.bootstrap, topic, [ours.id])
    assert values(ours.bootstrap, topic) == ["committed"]
    assert values(ours.bootstrap, topic, "read_uncommitted") == ["committed", "aborted", "open"]
    theirs.lose_disk()
    theirs.start()
    for each in (topic, TRANSACTIONS):
        admin.settled(ours.bootstrap, each, [BOTH])
        assert placed.elect(ours.bootstrap, each, placed.PREFERRED) == "NONE"
    producer = transactional.producer(cluster.bootstrap, "t")
    transactional.send(producer, topic, "next", [0])
    producer.commit_transaction(60)
    assert values(theirs.bootstrap, topic) == ["committed", "next"]
    theirs.kill()
    admin.led(ours.bootstrap, topic, [ours.id])
    placed.written(ours.bootstrap, topic, [b"last"])
    assert values(ours.bootstrap, topic) == ["committed", "next", "last"]
    theirs.start()
    admin.settled(ours.bootstrap, topic, [BOTH])
    cluster.stop()
    # Five batches, and a marker for each of four transactions.
    assert replicas.equal(cluster.brokers, topic) == 9
