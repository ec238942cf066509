"""Kills a broker while clients write to it, and checks that no acknowledged record is lost.

    python -m benchmarks.kill [--kills 500] [--seed 1] [-c log.flush.interval.messages=1] [--json]

Two confluent-kafka producers with acks=all write all the time, an idempotent one and a plain one.
The broker gets SIGKILL at a random moment, and starts again on the same directory. After each
start:

- every acknowledged record is at its acknowledged offset;
- there is no record that was not sent;
- records are in the order of sending; a record that was sent again is there twice for the plain
  producer, and once for the idempotent one;
- OffsetForLeaderEpoch distinguishes the broker's runs.

The exit code is 1 when one of these does not hold; the seed is printed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from tempfile import TemporaryDirectory

from confluent_kafka import KafkaError, Message, Producer

from interop.brokers.double import Double
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.wire.batch import iter_batches, records_of
from tests.support.client import ask

from . import report

MOST = 64 << 20
PATIENCE_S = 60
LONGEST_S = 0.1
"""The longest time that both write before the broker is killed."""


class Broken(Exception):
    """A promise of the broker was broken."""


class Stream:
    """One producer and its topic: the records that were sent, acknowledged and found."""

    def __init__(self, topic: str, bootstrap: str, *, idempotent: bool) -> None:
        self.topic, self.idempotent = topic, idempotent
        self.sent = 0  # values are 0, 1, 2, ...
        self.acknowledged: dict[int, int] = {}  # value -> offset
        self.failed: set[int] = set()
        self.found: list[int] = []  # the value at each offset
        self.epochs: dict[int, int] = {}  # where each leader epoch begins
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": idempotent, "linger.ms": 1,
                "max.in.flight.requests.per.connection": 5 if idempotent else 1, "reconnect.backoff.ms": 5,
                "reconnect.backoff.max.ms": 20, "retry.backoff.ms": 20, "log_level": 0,
            }
        )  # fmt: skip

    def send(self, count: int) -> None:
        for _ in range(count):
            value = b"%d" % self.sent
            self._producer.produce(self.topic, value.ljust(100), partition=0, on_delivery=self._delivered)
            self.sent += 1
        self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        value, offset = int(message.value() or b"-1"), message.offset()
        if error is not None or offset is None:
            self.failed.add(value)
        else:
            self.acknowledged[value] = offset

    def poll(self, seconds: float = 0) -> None:
        self._producer.poll(seconds)

    def finish(self) -> None:
        """Waits until every request is answered."""
        if left := self._producer.flush(PATIENCE_S):
            raise Broken(f"{self.topic}: {left} records were not answered in {PATIENCE_S} s")

    def check(self, bootstrap: str) -> None:
        """Reads on from the last position. Every record acknowledged since must be there."""
        due, self.acknowledged = self.acknowledged, {}
        self._read_on(bootstrap)
        for value, offset in due.items():
            if offset >= len(self.found) or self.found[offset] != value:
                raise Broken(f"{self.topic}: record {value} was acknowledged at offset {offset}, and is not there")
        if self.failed and self.idempotent:
            raise Broken(f"{self.topic}: {len(self.failed)} records were refused")
        self._check_order()
        self._check_epochs(bootstrap)

    def check_all(self, bootstrap: str) -> None:
        """Reads from the beginning. No record that was found before may have changed."""
        before, self.found, self.epochs = self.found, [], {}
        self._read_on(bootstrap)
        if self.found[: len(before)] != before:
            raise Broken(f"{self.topic}: what was found before is there no more")

    def _read_on(self, bootstrap: str) -> None:
        while True:
            partition = FetchRequest.FetchPartition(
                partition=0, fetch_offset=len(self.found), partition_max_bytes=MOST, current_leader_epoch=-1
            )
            topic = FetchRequest.FetchTopic(topic=self.topic, partitions=[partition])
            answer = ask(bootstrap, FetchRequest(max_wait_ms=0, max_bytes=MOST, topics=[topic]), 12)
            data = answer.responses[0].partitions[0]
            if data.error_code:
                raise Broken(f"{self.topic}: error {data.error_code} at offset {len(self.found)}")
            if not data.records:
                return
            self._take(bytes(data.records))

    def _take(self, records: bytes) -> None:
        for position, header in iter_batches(records):
            self.epochs.setdefault(header.partition_leader_epoch, header.base_offset)
            for record in records_of(records, position, header):
                if record.offset != len(self.found):
                    raise Broken(f"{self.topic}: offset {record.offset} where {len(self.found)} comes next")
                self.found.append(int(record.value or b"-1"))

    def _check_order(self) -> None:
        seen = list(dict.fromkeys(self.found))
        if self.found and max(self.found) >= self.sent:
            raise Broken(f"{self.topic}: {max(self.found)} was never sent")
        if seen != list(range(len(seen))):
            raise Broken(f"{self.topic}: the order is not that of sending, or something is missing in between")
        if self.idempotent and len(seen) != len(self.found):
            raise Broken(f"{self.topic}: {len(self.found) - len(seen)} records are there twice")

    def _check_epochs(self, bootstrap: str) -> None:
        starts = list(self.epochs.items())
        if starts != sorted(starts):
            raise Broken(f"{self.topic}: leader epochs go back: {starts}")
        for (epoch, _), (_, end) in list(pairwise(starts))[-3:]:
            partition = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
            topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=self.topic, partitions=[partition])
            end_of_epoch = (
                ask(bootstrap, OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]), 4).topics[0].partitions[0]
            )
            if (end_of_epoch.leader_epoch, end_of_epoch.end_offset) != (epoch, end):
                raise Broken(
                    f"{self.topic}: epoch {epoch} is reported to end at {end_of_epoch.end_offset}, the next begins at {end}"
                )


class Figures:
    """The result of a run."""

    def __init__(self, streams: Sequence[Stream], starts: Sequence[float]) -> None:
        self.records = sum(len(stream.found) for stream in streams)
        self.acknowledged = sum(len(set(stream.found)) for stream in streams)
        self.again = sum(len(stream.found) - len(set(stream.found)) for stream in streams)
        self.runs = min(len(stream.epochs) for stream in streams)
        self.start_ms = statistics.median(starts) * 1000


def kill_again_and_again(kills: int, seed: int, settings: Sequence[str] = (), *, kept: bool = True) -> Figures:
    """Raises Broken with the broken promise. A broker whose data is not `kept` breaks them all."""
    random, starts = Random(seed), list[float]()
    words = [word for setting in settings for word in ("-c", setting)]
    with TemporaryDirectory(prefix="kill-") as folder:
        server = Double(folder if kept else None, *words)
        server.start()
        try:
            streams = _streams(server.bootstrap)
            for _ in range(kills):
                _live(streams, random)
                server.kill()
                begun = time.perf_counter()
                server.start()
                starts.append(time.perf_counter() - begun)
                for stream in streams:
                    stream.poll()
                    stream.check(server.bootstrap)
            for stream in streams:
                stream.finish()
                stream.check(server.bootstrap)
                stream.check_all(server.bootstrap)
        finally:
            server.kill()
    return Figures(streams, starts)


def _streams(bootstrap: str) -> list[Stream]:
    names = ("idempotent", "plain")
    topics = [CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    ask(bootstrap, CreateTopicsRequest(topics=topics, timeout_ms=10_000), 7)
    return [Stream(name, bootstrap, idempotent=name == "idempotent") for name in names]


def _live(streams: Sequence[Stream], random: Random) -> None:
    """Sends for a while; in most runs the time begins when both producers have had a response."""
    if random.random() < 0.8:
        end = time.perf_counter() + PATIENCE_S
        while not all(stream.acknowledged for stream in streams):
            _send_for(streams, 0.005, random)
            if time.perf_counter() > end:
                raise Broken(f"a producer was not answered in {PATIENCE_S} s")
    _send_for(streams, random.uniform(0, LONGEST_S), random)


def _send_for(streams: Sequence[Stream], seconds: float, random: Random) -> None:
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        for stream in streams:
            stream.send(random.randint(1, 20))
        time.sleep(min(left, 0.002))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-c", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        figures = kill_again_and_again(arguments.kills, arguments.seed, arguments.settings)
    except Broken as problem:
        sys.exit(f"seed {arguments.seed}: {problem}")
    table = report.Table("kill", "what a broker keeps that is killed; acknowledged records that were lost: 0")
    table.add("kills", arguments.kills, {})
    table.add("runs of the broker in which records were written", figures.runs, {})
    table.add("records found, every acknowledged one among them", figures.records, {})
    table.add("of these sent again by the plain producer", figures.again, {})
    table.add("ms from kill to serving again (median)", figures.start_ms, {})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
