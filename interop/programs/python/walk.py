"""The steps of the contract, for any client in the shape of `interop/clients`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from interop.clients import Client
from interop.clients.shape import Consumer, Partition, Record, Refused, Seen
from interop.walks import promise
from interop.walks.promise import CODECS, EACH, FURTHER, NOT_OFFERED, NOT_TRIED, PARTITIONS, record
from kafkadouble.messages import error_codes

from .report import Report
from .transactions import transact

PATIENCE = 60.0
FAR_FUTURE = 4102444800000
"""The year 2100, in ms."""
WITHOUT_NULL_HEADERS = frozenset({"kafka-python"})
"""Clients that refuse to send a header with a null value."""


class Walk:
    """One run of a program: a method for each verb."""

    def __init__(self, client: Client, report: Report, bootstrap: str, topic: str, group: str) -> None:
        self._client, self._report = client, report
        self._bootstrap, self._topic, self._group = bootstrap, topic, group
        self._null = client.name not in WITHOUT_NULL_HEADERS
        self._end = time.monotonic() + PATIENCE

    def walk(self) -> None:
        self.write()
        # the report is about the records that are read
        self._report.forget()
        with self._member() as first:
            self._read(first)
            with self._report.step("second_member"):
                self._second(first)
        with self._report.step("resume"):
            self._resume()
        with self._report.step("offsets_by_time"), self._client.consumer(self._bootstrap) as consumer:
            assert consumer.offset_at(Partition(self._topic, 0), 0) == 0
            last = consumer.offset_at(Partition(self._topic, 0), FAR_FUTURE)
            assert last is None or last > 0, f"offset {last} in the far future"
        self._transactions()

    def write(self) -> None:
        with self._client.admin(self._bootstrap) as admin:
            self._create(admin)
        for codec in CODECS:
            with self._report.step(f"produce_{codec}"):
                for made in self._produce(codec, 0, EACH):
                    self._report.add(codec, made.key, made.value)

    def read(self) -> None:
        with self._member() as member:
            self._read(member)

    def _create(self, admin: Any) -> None:
        with self._report.step("create_topic"):
            admin.create_topic(self._topic, PARTITIONS)
        with self._report.step("describe_topic"):
            while (found := len(self._partitions(admin))) != PARTITIONS:
                self._in_time(f"{found} partitions")
        if self._report.verb == "walk":
            with self._report.step("create_twice"):
                _exists(admin, self._topic)

    def _partitions(self, admin: Any) -> list[int]:
        try:
            found: list[int] = admin.partitions_of(self._topic)
        except Refused as reason:  # not every broker knows of it at once
            if error_codes.NAMES.get(reason.code) != "UNKNOWN_TOPIC_OR_PARTITION":
                raise
            return []
        return found

    def _in_time(self, seen: str) -> None:
        assert time.monotonic() < self._end, f"still {seen}"
        time.sleep(0.02)

    def _produce(self, codec: str, first: int, end: int) -> list[promise.Record]:
        made = [record(codec, number, self._null) for number in range(first, end)]
        with self._client.producer(self._bootstrap, compression_type=codec, linger_ms=20) as producer:
            producer.send(self._topic, [Record(r.value, r.key, r.headers, partition=None) for r in made])
        return made

    def _transactions(self) -> None:
        if os.environ.get("TRANSACTIONS") != "1":
            self._report.left_out("transactions", NOT_TRIED)
            return
        with self._report.step("transactions"):
            transact(self._client, self._bootstrap, f"{self._topic}-transactions")

    @contextmanager
    def _member(self) -> Iterator[Consumer]:
        with self._report.step("group"):
            options = {"group_protocol": "consumer"} if os.environ.get("GROUP_PROTOCOL") == "consumer" else {}
            member = self._client.consumer(self._bootstrap, topics=[self._topic], group_id=self._group, **options)
        with member:
            yield member

    def _read(self, member: Consumer) -> None:
        """Reads everything with one member, then commits."""
        wrong: list[Seen] = []
        filled: list[Seen] = []
        with self._report.step("read"):
            while not self._report.complete:
                assert time.monotonic() < self._end, f"only {self._report.seen}"
                for one in member.poll(0.5):
                    self._take(one, wrong, filled)
            assert set(self._report.seen.values()) == {EACH}, self._report.seen
        with self._report.step("headers"):
            assert not wrong, wrong[0]
        self._null_header(filled)
        with self._client.admin(self._bootstrap) as admin:
            partitions = self._partitions(admin)
        with self._report.step("group"):
            held = {one.partition for one in member.assignment()}
            assert held == set(partitions), f"one member has {held} of {partitions}"
        with self._report.step("commit"):
            self._commit(member, partitions)

    def _null_header(self, filled: list[Seen]) -> None:
        if self._report.verb == "walk" and not self._null:
            self._report.left_out("null_header", NOT_OFFERED)
            return
        with self._report.step("null_header"):
            assert not filled, filled[0]

    def _take(self, one: Seen, wrong: list[Seen], filled: list[Seen]) -> None:
        """Counts a record, and keeps it if its headers are not as they were written."""
        headers = dict(one.headers)
        codec, number = headers.get("c") or b"", headers.get("n") or b""
        value = one.value or b""
        if not value.startswith(codec + b"-" + number + b"-") or not codec or not number:
            wrong.append(one)
        if headers.get("null", b"") is not None and (self._report.verb == "walk" or "null" in headers):
            filled.append(one)
        self._report.add(value.partition(b"-")[0].decode(), one.key, value)

    def _commit(self, member: Consumer, partitions: Sequence[int]) -> None:
        member.commit()
        found = [member.committed(Partition(self._topic, partition)) for partition in partitions]
        self._report.committed = sum(one[0] for one in found if one is not None)
        assert self._report.committed == sum(self._report.seen.values()), found

    def _second(self, first: Consumer) -> None:
        """A second member gets partitions beside the first; when it has left, the first has all."""
        from interop.support import Member  # this import also loads the tests

        everything = {Partition(self._topic, partition) for partition in range(PARTITIONS)}
        with Member(first, poll=0.1) as one:
            with self._member() as consumer, Member(consumer, poll=0.1) as other:
                while not (one.assignment and other.assignment and one.assignment ^ other.assignment == everything):
                    self._in_time(f"{one.assignment} and {other.assignment} {one.failure} {other.failure}")
            while one.assignment != everything:
                self._in_time(f"{one.assignment} alone {one.failure}")
        assert not one.seen, one.seen[:1]
        assert not other.seen, other.seen[:1]

    def _resume(self) -> None:
        """Further records arrive in the same group, and no others."""
        missing = {made.value for made in self._produce("none", EACH, EACH + FURTHER)}
        with self._member() as member:
            while missing:
                self._in_time(f"without {len(missing)} records")
                for one in member.poll(0.5):
                    assert one.value in missing, f"came again: {one}"
                    missing.remove(one.value)


def _exists(admin: Any, topic: str) -> None:
    answer = "success"
    try:
        admin.create_topic(topic, PARTITIONS)
    except Refused as reason:
        answer = error_codes.NAMES.get(reason.code, str(reason))
    assert answer == "TOPIC_ALREADY_EXISTS", f"created twice: {answer}"
