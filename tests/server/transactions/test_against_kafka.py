"""Compares each step of a transactional id with Apache Kafka 4.4.0's own coordinator, on machines
that have its jars. First every cell of every table, then whole random lives, whose seed is printed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import pytest

from kafkadouble.messages.coordinator import decode_value, encode_key, encode_value
from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
from kafkadouble.server.transactions.transaction_log import metadata_of, tombstone, transaction_record
from kafkadouble.server.transactions.transaction_metadata import TransactionalIdEntry, TransactionMetadata
from kafkadouble.server.transactions.transaction_state import (
    BETWEEN_TRANSACTIONS,
    DEAD,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARED,
    VALID_PREVIOUS_STATES,
    TransactionState,
)
from kafkadouble.wire.record import Record
from tests.server.configs.witness import Witness
from tests.server.transactions.sample import (
    NEXT,
    NOW,
    PARTITIONS,
    PREVIOUS,
    PRODUCER,
    STORED_STATES,
    entry_in,
    metadata_in,
)
from tests.server.transactions.steps import (
    Question,
    as_json,
    from_json,
    ours,
    question,
    sorted_answer,
)

EPOCHS = (0, 7, 32765, 32766, 32767)
VERSIONS = (0, 1, 2)
IDS = (PRODUCER, PREVIOUS, 1)
SOURCES = (NEXT, -1)
SEEDS = range(4)


def assert_agrees(coordinator: Witness, asked: Iterable[Question]) -> None:
    questions = list(asked)
    differing = [
        (one, mine, theirs)
        for one, mine, theirs in zip(questions, map(ours, questions), coordinator.ask_all(questions), strict=True)
        if mine != sorted_answer(theirs)
    ]
    assert questions
    assert not differing, f"{len(differing)} of {len(questions)} answers differ, first {differing[0]}"


def test_states_are_kafkas(coordinator: Witness) -> None:
    mine = {
        state.label: [
            state.value,
            state in BETWEEN_TRANSACTIONS,
            sorted(previous.label for previous in VALID_PREVIOUS_STATES[state]),
        ]
        for state in TransactionState
    }
    assert coordinator.ask(op="states") == mine


# Every cell of every table.


def entries() -> Iterator[TransactionalIdEntry]:
    """Every state, at each epoch that matters, before and after a change of the producer id; and
    with a pending transition."""
    for state, previous in product(STORED_STATES, (PRODUCER, PREVIOUS)):
        for epoch in EPOCHS:
            yield entry_in(state, producer_epoch=epoch, previous_producer_id=previous)
        for pending in (ONGOING, PREPARE_ABORT):
            yield entry_in(state, pending=pending, previous_producer_id=previous)


def epochs_around(epoch: int) -> set[int]:
    """Of a request: the current epoch, its neighbours, and the last one of a producer id."""
    return {each for each in (-1, epoch - 1, epoch, epoch + 1, 32766) if -1 <= each <= 32767}


def test_every_end_of_a_transaction_is_kafkas(coordinator: Witness) -> None:
    assert_agrees(
        coordinator,
        (
            question(
                "end", entry, NOW, ids, producer_id=producer, producer_epoch=epoch, committed=committed, version=version
            )
            for entry in entries()
            for epoch in epochs_around(entry.metadata.producer_epoch)
            for producer, committed, version, ids in product(IDS, (True, False), VERSIONS, SOURCES)
        ),
    )


@pytest.mark.parametrize("last_epoch", [-1, 6, 32766])
def test_every_init_producer_id_is_kafkas(coordinator: Witness, last_epoch: int) -> None:
    created = entry_in(EMPTY, producer_epoch=-1)
    assert_agrees(
        coordinator,
        (
            question(
                "init", entry, NOW, ids, expected=expected, producer_id=producer, producer_epoch=epoch, timeout_ms=9
            )
            for entry in (*with_last_epoch(last_epoch), created)
            for epoch in epochs_around(entry.metadata.producer_epoch)
            for producer, expected, ids in product(IDS, (True, False), SOURCES)
        ),
    )


def with_last_epoch(last_epoch: int) -> Iterator[TransactionalIdEntry]:
    for entry in entries():
        entry.metadata = entry.metadata._replace(last_producer_epoch=last_epoch)
        yield entry


@pytest.mark.parametrize("op", ["add", "verify"])
def test_every_request_for_partitions_is_kafkas(coordinator: Witness, op: str) -> None:
    new, known = ("orders", 9), min(PARTITIONS)
    created = entry_in(EMPTY, producer_epoch=-1)
    assert_agrees(
        coordinator,
        (
            question(op, entry, NOW, -1, producer_id=producer, producer_epoch=epoch, partitions=each, version=version)
            for entry in (*entries(), created)
            for epoch in epochs_around(entry.metadata.producer_epoch)
            for producer, each, version in product(IDS, ([], [known], [new], [known, new]), VERSIONS)
        ),
    )


@pytest.mark.parametrize("fence_failed", [False, True])
def test_every_fence_is_kafkas(coordinator: Witness, fence_failed: bool) -> None:
    asked = []
    for epoch, version, client_version, ids in product(EPOCHS, VERSIONS, VERSIONS, SOURCES):
        entry = entry_in(ONGOING, producer_epoch=epoch, client_transaction_version=client_version)
        entry.fence_failed = fence_failed
        asked.append(question("fence", entry, NOW, ids, version=version))
    assert_agrees(coordinator, asked)


# Each function that prepares a transition, in the states that may come before it.


def test_every_prepared_transition_is_kafkas(coordinator: Witness) -> None:
    asked: list[Question] = []
    for before in entries():
        before.pending_state = None
        for client_version, next_id, last in product(VERSIONS, (-1, NEXT), (-1, before.metadata.producer_epoch - 1)):
            entry = TransactionalIdEntry(
                "t",
                before.metadata._replace(
                    client_transaction_version=client_version, next_producer_id=next_id, last_producer_epoch=last
                ),
            )
            asked.extend(prepared(entry))
    assert_agrees(coordinator, asked)


def prepared(entry: TransactionalIdEntry) -> Iterator[Question]:
    state = entry.metadata.state
    if state in BETWEEN_TRANSACTIONS:
        yield question("dead", entry, NOW, -1)
        for epoch, expected in product((entry.metadata.producer_epoch, 6, 1), (True, False)):
            yield question("increment", entry, NOW, -1, expected=expected, producer_epoch=epoch, timeout_ms=9)
            yield question("rotate", entry, NOW, NEXT, keep_last_epoch=expected, timeout_ms=9)
        yield question("prepare_end", entry, NOW, NEXT, state="PrepareAbort", version=2, no_partition_added=True)
    elif state is ONGOING:
        yield question("prepare_fence", entry, NOW, -1)
        for ended, version in product(("PrepareAbort", "PrepareCommit"), VERSIONS):
            yield question("prepare_end", entry, NOW, -1, state=ended, version=version, no_partition_added=False)
    else:
        yield question("complete", entry, NOW, -1)
    if state not in PREPARED:
        for version in VERSIONS:
            yield question("prepare_add", entry, NOW, -1, partitions=[["orders", 9]], version=version)


# Records.


def stored(version: int) -> Iterator[TransactionMetadata]:
    """Every state as the log may hold it; the last epoch is never in the log. Version 0 of the
    value has no field for the client's version, and Kafka writes none but 0."""
    for state, epoch, client_version in product((*STORED_STATES, DEAD), EPOCHS, VERSIONS if version else [0]):
        for previous, next_id in product((-1, PREVIOUS), (-1, NEXT)):
            yield metadata_in(
                state,
                producer_epoch=epoch,
                previous_producer_id=previous,
                next_producer_id=next_id,
                client_transaction_version=client_version,
            )


@pytest.mark.parametrize("version", VERSIONS)
def test_records_are_kafkas_byte_by_byte(coordinator: Witness, version: int) -> None:
    states = list(stored(version))
    mine = [transaction_record("bücher", state, version).encoded(0, NOW) for state in states]
    theirs = coordinator.ask_all(
        {"op": "write", "transactional_id": "bücher", "version": version, "metadata": as_json(each)} for each in states
    )
    for record, written in zip(mine, theirs, strict=True):
        assert record.key is not None
        assert record.value is not None
        assert record.key.hex() == written["key"]
        assert record.value.hex() == in_order(written["value"]).hex()


def in_order(value: str) -> bytes:
    """Kafka's value with its topics and partitions in order; Kafka writes them unordered."""
    message, version = decode_value(bytes.fromhex(value), TransactionLogKey())
    assert isinstance(message, TransactionLogValue)
    for topic in message.transaction_partitions or ():
        topic.partition_ids = sorted(topic.partition_ids)
    if message.transaction_partitions is not None:
        message.transaction_partitions = sorted(message.transaction_partitions, key=lambda topic: topic.topic)
    return encode_value(message, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_kafka_reads_our_records_as_we_do(coordinator: Witness, version: int) -> None:
    records = [transaction_record("t", metadata, version) for metadata in stored(version)]
    encoded = [record.encoded(0, NOW) for record in records]
    theirs = coordinator.ask_all(
        {"op": "read", "key": each.key.hex(), "value": each.value.hex()} for each in encoded if each.key and each.value
    )
    mine = [metadata_of(value) for value in map(decoded, encoded)]
    assert [sorted_answer(their) for their in theirs] == [
        {"transactional_id": "t", "metadata": as_json(each)} for each in mine
    ]


def decoded(record: Record) -> TransactionLogValue:
    assert record.value is not None
    message, _ = decode_value(record.value, TransactionLogKey())
    assert isinstance(message, TransactionLogValue)
    return message


def test_the_version_of_a_client_is_omitted_where_kafka_fails(coordinator: Witness) -> None:
    """After a downgrade to version 0, Kafka throws and the id stays pending. Ours goes on."""
    downgraded = metadata_in(ONGOING, client_transaction_version=2)
    theirs = coordinator.ask(op="write", transactional_id="t", version=0, metadata=as_json(downgraded))
    assert theirs["class"] == "UnsupportedVersionException"
    record = transaction_record("t", downgraded, 0)
    assert record == transaction_record("t", downgraded._replace(client_transaction_version=0), 0)


def test_kafka_reads_our_tombstone(coordinator: Witness) -> None:
    key = encode_key(tombstone("t").key)
    assert tombstone("t").value is None
    assert coordinator.ask(op="read", key=key.hex(), value=None) == {"tombstone": "t"}


# Whole lives.


class Life:
    """A transactional id that gets random requests, good and bad; it follows our answers."""

    def __init__(self, made: random.Random) -> None:
        self.made, self.now = made, 1_000
        self.next_producer_id = NEXT
        # Near the end of the epochs, or new.
        epoch = made.choice([-1, -1, 32763, 32765])
        self.entry = TransactionalIdEntry("t", metadata_in(EMPTY, producer_epoch=epoch, previous_producer_id=-1))

    def questions(self, count: int) -> Iterator[Question]:
        for _ in range(count):
            self.now += self.made.randrange(5)
            if self.made.random() < 0.08:
                self.reload()
            asked = self.question()
            yield asked
            self.follow(asked, ours(asked))

    def question(self) -> Question:
        state = self.entry.metadata.state
        choices = ["init", "add", "add", "end", "end", "verify"]
        if state is ONGOING:
            choices += ["fence"]
        elif state in PREPARED:
            choices += ["complete"] * 4
        elif self.made.random() < 0.1:
            choices = ["dead"]
        ids = -1 if self.made.random() < 0.1 else self.next_producer_id
        return question(self.made.choice(choices), self.entry, self.now, ids, **self.parameters())

    def parameters(self) -> dict[str, Any]:
        made, metadata = self.made, self.entry.metadata
        is_good = made.random() < 0.7
        near = made.choice([metadata.producer_epoch - 1, metadata.last_producer_epoch, 32766, 0])
        ids = [metadata.producer_id, metadata.previous_producer_id, 1]
        return {
            "producer_id": metadata.producer_id if is_good else made.choice(ids),
            "producer_epoch": metadata.producer_epoch if is_good else max(near, -1),
            "expected": made.random() < 0.5,
            "timeout_ms": made.choice([1, 60_000]),
            "committed": made.random() < 0.5,
            "version": made.choice([0, 1, 2, 2]),
            "partitions": [list(each) for each in made.sample(sorted(PARTITIONS), made.randrange(1, 4))],
        }

    def follow(self, asked: Question, answer: dict[str, Any]) -> None:
        """The next state is written, or it fails; a fence that fails has changed the memory."""
        fails = self.made.random() < 0.1
        self.entry.metadata = from_json(answer["metadata" if fails or "completed" not in answer else "completed"])
        if answer["outcome"] and asked["op"] == "complete":
            self.entry.fence_failed = False
        if fails and asked["op"] == "fence" and asked["version"] < 2 and isinstance(answer["outcome"], dict):
            self.entry.fence_failed = True
        if asked["next_producer_id"] == self.next_producer_id:
            self.next_producer_id += 1

    def reload(self) -> None:
        """Another coordinator reads the records."""
        record = transaction_record("t", self.entry.metadata, self.made.choice([1, 2]))
        assert isinstance(record.value, TransactionLogValue)
        self.entry = TransactionalIdEntry("t", metadata_of(record.value))


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_lives_are_as_in_kafka(coordinator: Witness, seed: int) -> None:
    made = random.Random(seed)
    asked = [question for _ in range(100) for question in Life(made).questions(40)]
    seen = {(question["op"], question["metadata"]["state"]) for question in asked}
    assert {("init", state.label) for state in STORED_STATES} < seen
    assert {("end", state.label) for state in STORED_STATES} < seen
    assert_agrees(coordinator, asked)
