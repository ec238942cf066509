"""What a client does in transactions: ten committed records, ten aborted, ten committed, of which a
consumer with read_committed sees twenty; offsets that are committed with a transaction; a producer
that is fenced by a newer one; a transaction that the broker aborts after its timeout."""

from __future__ import annotations

import time

from interop.clients import Client
from interop.clients.shape import Partition, Record, Refused, TransactionalProducer
from interop.walks.promise import record

PARTS = ((0, True), (10, False), (20, True))
"""The first record of each transaction, and whether it is committed."""
SIZE = 10
SHORT_TIMEOUT_MS = 5000
"""librdkafka bounds the time of a record by it, and needs a second or two to begin."""
PATIENCE = 20.0
"""Seconds until an offset is visible: the coordinator answers before it has written its markers."""


def transact(client: Client, bootstrap: str, topic: str) -> None:
    """Writes and checks the transactions. Raises AssertionError, or the client's own error."""
    with client.admin(bootstrap) as admin:
        admin.create_topic(topic, 1)
    late = client.transactional(bootstrap, transactional_id=f"{topic}-late", transaction_timeout_ms=SHORT_TIMEOUT_MS)
    with late, client.transactional(bootstrap, transactional_id=topic) as producer:
        for first, commit in PARTS:
            producer.begin()
            producer.send(topic, _part(first))
            (producer.commit_transaction if commit else producer.abort_transaction)()
        _check_values(client, bootstrap, topic, _committed())
        _offsets(client, bootstrap, topic, producer)
        _begun(late, topic)
        _fenced(client, bootstrap, topic, producer)
        # The open transaction of `late` holds back what follows, until the broker aborts it.
        _check_values(client, bootstrap, topic, [*_committed(), b"last"])
        _check_fenced(late)


def _committed() -> list[bytes | None]:
    return [one.value for first, commit in PARTS if commit for one in _part(first)]


def _part(first: int) -> list[Record]:
    made = [record("none", number) for number in range(first, first + SIZE)]
    return [Record(one.value, one.key) for one in made]


def _check_values(client: Client, bootstrap: str, topic: str, expected: list[bytes | None]) -> None:
    with client.consumer(bootstrap, partitions=[Partition(topic, 0)], isolation_level="read_committed") as reader:
        assert [one.value for one in reader.read(len(expected))] == expected


def _offsets(client: Client, bootstrap: str, topic: str, producer: TransactionalProducer) -> None:
    """An offset of an aborted transaction, and then one of a committed transaction."""
    partition = Partition(topic, 0)
    with client.consumer(bootstrap, topics=[topic], group_id=topic) as member:
        member.joined()
        for offset, end in ((7, producer.abort_transaction), (5, producer.commit_transaction)):
            producer.begin()
            producer.send_offsets({partition: offset}, member)
            end()
        deadline = time.monotonic() + PATIENCE
        while (found := member.committed(partition)) is None:
            assert time.monotonic() < deadline, "no offset was committed"
        assert found[0] == 5, found


def _begun(producer: TransactionalProducer, topic: str) -> None:
    producer.begin()
    producer.send(topic, [Record(b"never committed")])


def _fenced(client: Client, bootstrap: str, topic: str, zombie: TransactionalProducer) -> None:
    _begun(zombie, topic)
    with client.transactional(bootstrap, transactional_id=topic) as newer:
        newer.begin()
        newer.send(topic, [Record(b"last")])
        newer.commit_transaction()
    _check_fenced(zombie)


def _check_fenced(zombie: TransactionalProducer) -> None:
    try:
        zombie.commit_transaction()
    except Refused:
        return
    raise AssertionError("a fenced producer has committed")
