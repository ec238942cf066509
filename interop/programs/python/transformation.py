"""The verb `transform`, for any client in the shape of `interop/clients`: reads a topic in a group,
and writes a result for each record to the same partition of another topic, in transactions that
also commit the offsets, until its input ends.

Rules. On an error it begins again as the same member and with the same transactional id, which
aborts the open transaction. Two lines of its input are orders: `hold` has it wait, with results in
an open transaction, for `go`. The offsets of a transaction are committed for the generation of the
group in which their records were read (KIP-447), as the Java consumer does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from interop.clients import Client
from interop.clients.shape import Consumer, Partition, Record, Refused, Seen, TransactionalProducer
from interop.walks.promise import SESSION_TIMEOUT_MS, result_of, results_of
from kafkadouble.messages import error_codes

from .endurance import say
from .report import Report

POLL = 0.1
PRODUCER: Mapping[str, Mapping[str, Any]] = {"confluent-kafka": {"max_in_flight_requests_per_connection": 1}}
"""Settings of producers by client. With more requests in flight, librdkafka can lose or repeat
records when a leader changes."""


class Transformation:
    def __init__(self, client: Client, report: Report, bootstrap: str, topic: str, group: str) -> None:
        self._client, self._report = client, report
        self._bootstrap, self._topic, self._group = bootstrap, topic, group
        self._name = f"{group}-{os.getpid()}"
        self._over, self._hold, self._go = threading.Event(), threading.Event(), threading.Event()

    def transform(self) -> None:
        with self._report.step("transform"):
            threading.Thread(target=self._hear, daemon=True).start()
            while not self._over.is_set():
                try:
                    self._run()
                except Refused as reason:
                    say("refused", error_codes.NAMES.get(reason.code, reason.code), reason)

    def _hear(self) -> None:
        for line in sys.stdin:
            {"hold": self._hold, "go": self._go}[line.strip()].set()
        self._over.set()

    def _run(self) -> None:
        with ExitStack() as stack:
            producer = stack.enter_context(self._producer())
            consumer = stack.enter_context(self._consumer())
            while not self._over.is_set():
                if found := consumer.poll(POLL):
                    self._transact(producer, consumer, found)

    def _producer(self) -> TransactionalProducer:
        more = PRODUCER.get(self._client.name, {})
        return self._client.transactional(self._bootstrap, transactional_id=self._name, acks="all", **more)

    def _consumer(self) -> Consumer:
        return self._client.consumer(
            self._bootstrap,
            topics=[self._topic],
            group_id=self._group,
            group_instance_id=self._name,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            isolation_level="read_committed",
        )

    def _transact(self, producer: TransactionalProducer, consumer: Consumer, found: Sequence[Seen]) -> None:
        group = _Group(consumer)
        producer.begin()
        target = results_of(self._topic)
        producer.send(target, [Record(result_of(one.value or b""), partition=one.partition) for one in found])
        if self._hold.is_set():
            self._hold.clear()
            say("holds")
            self._go.wait()
        ends = {Partition(one.topic, one.partition): one.offset + 1 for one in found}
        producer.send_offsets(ends, group)
        producer.commit_transaction()
        for partition, end in ends.items():
            say("committed", partition.partition, end)


class _Group:
    """A consumer's group as it was when this was made: member, generation and name."""

    def __init__(self, consumer: Consumer) -> None:
        self.group_id = getattr(consumer, "group_id", None)
        self._metadata = consumer.group_metadata() if hasattr(consumer, "group_metadata") else None

    def group_metadata(self) -> Any:
        return self._metadata
