"""The verb `endure`, for any client in the shape of `interop/clients`: it writes and reads while
brokers are killed, until its input ends."""

from __future__ import annotations

import sys
import threading
import time

from interop.clients import Client
from interop.clients.shape import Consumer, Partition, Record, Refused
from interop.walks.promise import record

from .report import Report

AT_ONCE = 10
"""Records that are sent together."""
PAUSE = 0.05
"""Seconds between two sends, since other processes share the machine."""
PATIENCE = 100.0
"""Seconds after the end of the input; then it gives up."""


class Endurance:
    """One run. The writer runs on the main thread, the group member on one of its own."""

    def __init__(self, client: Client, report: Report, bootstrap: str, topic: str, group: str) -> None:
        self._client, self._report = client, report
        self._bootstrap, self._topic, self._group = bootstrap, topic, group
        self._acknowledged: set[int] = set()
        self._seen: set[int] = set()
        self._positions: dict[Partition, tuple[int, str]] = {}
        self._over, self._written = threading.Event(), threading.Event()
        self._end = float("inf")
        self._failure: BaseException | None = None

    def endure(self) -> None:
        with self._report.step("endure"):
            threading.Thread(target=self._await_end, daemon=True).start()
            reading = threading.Thread(target=self._read, daemon=True)
            reading.start()
            self._write()
            self._written.set()
            reading.join(PATIENCE)
            if self._failure:
                raise self._failure
            assert not reading.is_alive(), (
                f"{len(self._acknowledged - self._seen)} of what was acknowledged were not read"
            )

    def _await_end(self) -> None:
        sys.stdin.read()
        self._end = time.monotonic() + PATIENCE
        self._over.set()

    def _write(self) -> None:
        first = 0
        with self._client.producer(self._bootstrap, acks="all", enable_idempotence=True) as producer:
            while not self._over.is_set():
                end = first + AT_ONCE
                made = [record("none", number, null_header=False) for number in range(first, end)]
                try:
                    producer.send(self._topic, [Record(r.value, r.key, r.headers, partition=None) for r in made])
                    self._acknowledged.update(range(first, end))
                    say("wrote", first, end)
                except Refused as reason:
                    say("failed", first, end, reason)
                first = end
                time.sleep(PAUSE)

    def _read(self) -> None:
        try:
            with self._client.consumer(self._bootstrap, topics=[self._topic], group_id=self._group) as member:
                while not (self._written.is_set() and self._acknowledged <= self._seen):
                    assert time.monotonic() < self._end, "not all was read in time"
                    if self._poll(member):
                        self._commits(member)
                while not self._commits(member):
                    assert time.monotonic() < self._end, "nothing was committed in time"
        except BaseException as failure:  # reported by the main thread
            self._failure = failure

    def _poll(self, member: Consumer) -> bool:
        found = member.poll(0.2)
        for one in found:
            number = int((one.value or b"").split(b"-")[1])
            say("read", one.partition, one.offset, number)
            self._seen.add(number)
            self._positions[Partition(one.topic, one.partition)] = one.offset + 1, ""
        return bool(found)

    def _commits(self, member: Consumer) -> bool:
        try:
            member.commit(self._positions)
        # As after a rebalance, the next commit covers these records, too.
        except Refused as reason:
            say("uncommitted", reason)
            return False
        say("committed")
        return True


_saying = threading.Lock()


def say(*words: object) -> None:
    """Writes a line for the process that runs this program."""
    line = " ".join(map(str, words)).replace("\n", " ")
    with _saying:
        print(f"> {line}", flush=True)
