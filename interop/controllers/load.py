"""Clients that continue while servers are killed: one writes records, one creates topics. What is
acknowledged goes into the ledger."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaException, Producer

from interop.clients import CREATOR
from interop.clients.shape import Partition, Refused
from interop.support import unique
from kafkadouble.messages import error_codes
from tests.support.waiting import PATIENCE, eventually

from .deeds import Ledger

THERE = error_codes.TOPIC_ALREADY_EXISTS


class Load:
    """Runs from `with` to its end. `written` and `made` count what has been acknowledged so far."""

    def __init__(self, ledger: Ledger, topic: str) -> None:
        self._ledger, self._topic = ledger, topic
        self._records: list[Any] = []
        self.made: list[str] = []
        self.failures: list[object] = []
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._write, self._make)]

    @property
    def written(self) -> int:
        return len(self._records)

    def goes_on(self) -> None:
        """Waits until both clients have succeeded once more since the call."""
        written, made = self.written, len(self.made)
        eventually(lambda: (self.written, len(self.made)), lambda now: now[0] > written and now[1] > made)

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        self.goes_on()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE)
        if error is None:
            assert not any(thread.is_alive() for thread in self._threads), "a client did not end"
            assert self.failures == []
        for message in self._records:
            at_ = Partition(message.topic(), message.partition())
            self._ledger.records.setdefault(at_, {})[message.offset()] = message.value()
        self._ledger.topics |= dict.fromkeys(self.made, 1)
        self._ledger.configs |= {name: {} for name in self.made}

    def _write(self) -> None:
        producer: Any = Producer(
            self._ledger.client("enable.idempotence", True, "delivery.timeout.ms", 60_000, "linger.ms", 1)
        )
        number = 0
        while not self._ending.is_set():
            number += 1
            with suppress(BufferError):
                value = b"%d under load" % number
                producer.produce(
                    self._topic, value, partition=number % self._ledger.topics[self._topic], on_delivery=self._report
                )
            producer.poll(0.01)
        if producer.flush(PATIENCE):
            self.failures.append("not all was sent in time")

    def _report(self, error: Any, message: Any) -> None:
        if error is None:
            self._records.append(message)
        else:
            self.failures.append(error)

    def _make(self) -> None:
        """Creates topics, one after the other. Each is tried until it exists, even if an earlier
        try created it."""
        while not self._ending.is_set():
            name = unique("made")
            while not self._ending.is_set():
                try:
                    with CREATOR.admin(self._ledger.bootstrap, socket_timeout_ms=3000) as admin:
                        admin.create_topic(name)
                    self.made.append(name)
                    break
                except Refused as refusal:
                    if refusal.code == THERE:
                        self.made.append(name)
                        break
                except KafkaException:
                    pass
            self._ending.wait(0.1)
