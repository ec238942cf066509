"""Writes transactions of several producers into one topic, mixed: with and without compression, of
clients with transactions version 1 and 2, and with records outside of transactions between them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple, Protocol

from confluent_kafka import Producer

from interop.support import unique
from kafkadouble.messages.generated.describe_transactions import DescribeTransactionsRequest
from tests.support.client import ask
from tests.support.transactional_producer import TransactionalProducer
from tests.support.waiting import eventually

PARTITIONS = 2
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PATIENCE_S = 60
TIMEOUT_MS = 900_000
"""No broker aborts a transaction that is open while all readers read."""
PLAIN_SHARE, END_SHARE = 0.15, 0.4
OPEN, COMMITTED, ABORTED = "open", "committed", "aborted"


class Transaction:
    """A transaction, and its state so far."""

    def __init__(self, state: str = OPEN) -> None:
        self.state = state


class Written(NamedTuple):
    """A record and its transaction. A record outside of transactions counts as committed."""

    partition: int
    value: str
    transaction: Transaction


class Writer(Protocol):
    """A transactional producer of any kind."""

    transactional_id: str

    def begin(self) -> None: ...

    def send(self, partition: int, value: str) -> None:
        """Sends a record, and waits until it is acknowledged."""

    def end(self, *, commit: bool) -> None: ...


def _send(producer: Producer, topic: str, partition: int, value: str) -> None:
    producer.produce(topic, value, key=None if int(value) % 3 == 0 else f"k{value}", partition=partition)
    assert producer.flush(PATIENCE_S) == 0


class Librdkafka:
    """librdkafka, whose transactions are of version 1: all have the same producer epoch."""

    def __init__(self, bootstrap: str, topic: str, codec: str) -> None:
        self._topic, self.transactional_id = topic, unique(codec)
        given = {
            "compression.type": codec,
            "transactional.id": self.transactional_id,
            "transaction.timeout.ms": TIMEOUT_MS,
        }
        self._it = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "log_level": 0, **given})
        self._it.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self._it.begin_transaction()

    def send(self, partition: int, value: str) -> None:
        _send(self._it, self._topic, partition, value)

    def end(self, *, commit: bool) -> None:
        (self._it.commit_transaction if commit else self._it.abort_transaction)(PATIENCE_S)


class Version2:
    """Requests of transactions version 2: each transaction has its own producer epoch (KIP-890)."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic, self.transactional_id = topic, unique("version-2")
        self._it = TransactionalProducer(partial(ask, bootstrap), self.transactional_id, timeout_ms=TIMEOUT_MS)
        eventually(self._it.init, lambda code: code == 0)

    def begin(self) -> None:
        """Does nothing: the first record begins the transaction."""

    def send(self, partition: int, value: str) -> None:
        """A broker refuses the first record as long as it writes the markers of the transaction
        before."""
        eventually(lambda: self._it.send(value.encode(), topic=self._topic, index=partition), lambda code: code == 0)

    def end(self, *, commit: bool) -> None:
        eventually(lambda: self._it.end(commit=commit), lambda code: code == 0)


class MixedTransactions:
    """Writers that take turns by chance. `written` has the records of each partition in order."""

    def __init__(self, bootstrap: str, topic: str, seed: int) -> None:
        self._chance, self._bootstrap, self._topic = random.Random(seed), bootstrap, topic
        self._plain = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        self.writers: list[Writer] = [Librdkafka(bootstrap, topic, codec) for codec in CODECS]
        # Last, because a new cluster has no coordinator before librdkafka looks for one.
        self.writers.append(Version2(bootstrap, topic))
        self._open: dict[Writer, Transaction] = {}
        self.written: list[Written] = []

    def run(self, steps: int, writers: Sequence[Writer]) -> None:
        """In each step a writer sends a record or ends its transaction, or a record is sent outside
        of transactions."""
        for _ in range(steps):
            writer, chance = self._chance.choice(writers), self._chance.random()
            if chance < PLAIN_SHARE:
                self.send(None)
            elif writer in self._open and chance < PLAIN_SHARE + END_SHARE:
                self.end(writer, commit=self._chance.random() < 0.5)
            else:
                self.send(writer)

    def send(self, writer: Writer | None, partition: int | None = None) -> None:
        """Sends the next record; without a writer outside of transactions."""
        if writer is not None and writer not in self._open:
            writer.begin()
            self._open[writer] = Transaction()
        transaction = Transaction(COMMITTED) if writer is None else self._open[writer]
        place = self._chance.randrange(PARTITIONS) if partition is None else partition
        record = Written(place, str(len(self.written)), transaction)
        if writer is None:
            _send(self._plain, self._topic, record.partition, record.value)
        else:
            writer.send(record.partition, record.value)
        self.written.append(record)

    def end(self, writer: Writer, *, commit: bool) -> None:
        """Ends the transaction, and waits until it is complete: the answer to EndTxn comes before
        the markers are written."""
        writer.end(commit=commit)
        eventually(lambda: _state(self._bootstrap, writer.transactional_id), lambda state: state.startswith("Complete"))
        self._open.pop(writer).state = COMMITTED if commit else ABORTED

    def end_all(self, writers: Sequence[Writer]) -> None:
        """Ends the open transactions of these writers, by commits and aborts in turn."""
        for number, writer in enumerate(writer for writer in writers if writer in self._open):
            self.end(writer, commit=number % 2 == 0)

    def values(self, partition: int, isolation: str) -> list[str]:
        """The values that a consumer gets of this partition now."""
        records = [written for written in self.written if written.partition == partition]
        if isolation == "read_uncommitted":
            return [record.value for record in records]
        stable = takewhile(lambda each: each.transaction.state != OPEN, records)
        return [each.value for each in stable if each.transaction.state == COMMITTED]


def _state(bootstrap: str, transactional_id: str) -> str:
    answer = ask(bootstrap, DescribeTransactionsRequest(transactional_ids=[transactional_id]), 0)
    return str(answer.transaction_states[0].transaction_state)
