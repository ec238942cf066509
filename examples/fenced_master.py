"""Fences a replaced master with the expected offset alone (KIP-27): no clock, and no trust in a
lock.

    python -m examples.fenced_master [--unfenced] [--seed N]

A lock service makes one process the master for some time. It cannot know whether the previous
master has noticed: that process may be paused, with a write in flight. So each new master reads the
journal to its end and appends a claim, expected at that offset. The writes of an earlier master, in
flight or later, expect an offset that is now taken. They are refused, and that master steps down.

In each round the master is paused with a write in flight, the next master claims the journal, and
then the write arrives. With `--unfenced` the same masters write without an expected offset, as with
a lock alone, and the journal contains entries of replaced masters. The client is confluent-kafka,
which needs no support for this: the expected offset is a record header.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from kafkadouble import KafkaDouble, expected_offset

JOURNAL = "journal"
ROUNDS, MOST_ENTRIES = 5, 4
ASLEEP = 3600.0
"""The delay of a write, in seconds of the broker's clock. The clock only moves when the example
advances it."""

QUIET: dict[str, str | int | float | bool | None] = {"log_level": 0}
"""Silences the clients, which would log that the broker stops before they do."""


class Entry(NamedTuple):
    """A record of the journal: the number of the master, and `what` it wrote, its claim or an
    entry."""

    offset: int
    master: int
    what: str


class Master:
    """A process that believes that it is the master. `upcoming` is the expected offset of its next
    entry."""

    def __init__(self, number: int, bootstrap: str, fenced: bool) -> None:
        self.number, self.fenced = number, fenced
        self.deposed: expected_offset.ConditionalPublishError | None = None
        self.upcoming = _end_of_journal(bootstrap)
        settings = {"bootstrap.servers": bootstrap, "client.id": self.name, "max.in.flight": 1, "linger.ms": 0}
        self._producer = Producer({**QUIET, **settings})

    @property
    def name(self) -> str:
        return f"master-{self.number}"

    def write(self, what: str) -> None:
        """Appends an entry and waits for the answer. After a refusal the process is no longer the
        master, and writes nothing."""
        self.begin(what)
        if not self.finish():
            raise RuntimeError(f"{self.name} is not answered")

    def begin(self, what: str) -> None:
        """Sends an entry without waiting."""
        if self.deposed is not None:
            return
        value = json.dumps({"master": self.number, "what": what})
        headers: list[tuple[str, str | bytes | None]] = [expected_offset.header(self.upcoming)] if self.fenced else []
        self._producer.produce(JOURNAL, value, partition=0, headers=headers, on_delivery=self._delivered)
        self._producer.poll(0)

    def finish(self, seconds: float = 30) -> bool:
        """Waits at most this many seconds for the answers to all entries. Returns whether they
        arrived."""
        return self._producer.flush(seconds) == 0

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.upcoming = (message.offset() or 0) + 1
            return
        self.deposed = expected_offset.refusal(error)
        if self.deposed is None:
            raise RuntimeError(f"{self.name}: {error}")


def _end_of_journal(bootstrap: str) -> int:
    consumer = Consumer({**QUIET, "bootstrap.servers": bootstrap, "group.id": "masters"})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(JOURNAL, 0), timeout=30)
        return int(end)
    finally:
        consumer.close()


def play(seed: int, *, fenced: bool) -> tuple[list[Entry], list[Master]]:
    """Runs masters one after the other, each paused in the middle of a write. Returns the journal
    and the masters."""
    choose, masters = random.Random(seed), list[Master]()
    with KafkaDouble(stepped=True, seed=seed) as kafka:
        kafka.create_topic(JOURNAL, config={"produce.expected.offset": "optional"} if fenced else {})
        for number in range(1, ROUNDS + 1):
            master = Master(number, kafka.bootstrap_servers, fenced)
            masters.append(master)
            master.write("claim")
            for one in range(choose.randint(0, MOST_ENTRIES)):
                master.write(f"entry {one}")
            if number > 1:
                _wake(kafka, masters[-2])
            held = kafka.delay("Produce", ASLEEP, client_id=master.name)
            master.begin("entry on its way")
            while not held.hits:
                master.finish(0.01)
        _wake(kafka, masters[-1])
        return _journal(kafka), masters


def _wake(kafka: KafkaDouble, master: Master) -> None:
    """Lets the delayed write arrive. The master writes on unless that write was refused."""
    kafka.advance(ASLEEP)
    if not master.finish():
        raise RuntimeError(f"{master.name} is not answered")
    master.write("entry after a long sleep")


def _journal(kafka: KafkaDouble) -> list[Entry]:
    found = [(record.offset, json.loads(record.value or b"")) for record in kafka.records(JOURNAL)]
    return [Entry(offset, held["master"], held["what"]) for offset, held in found]


def violations(journal: list[Entry]) -> list[Entry]:
    """The entries of a master that are after the claim of a later master."""
    claimed, wrong = 0, []
    for entry in journal:
        if entry.what == "claim":
            claimed = max(claimed, entry.master)
        if entry.master < claimed:
            wrong.append(entry)
    return wrong


def main(words: list[str] | None = None) -> int:
    """Returns 0 when no master wrote after the claim of a later one."""
    parser = argparse.ArgumentParser(
        description="masters that follow one another, fenced by the offsets of their journal"
    )
    parser.add_argument("--unfenced", action="store_true", help="publish without an expectation")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    chosen = parser.parse_args(words)
    print(f"{'unfenced' if chosen.unfenced else 'fenced'}, seed {chosen.seed}")
    journal, masters = play(chosen.seed, fenced=not chosen.unfenced)
    wrong = violations(journal)
    for entry in journal:
        print(
            f"  {entry.offset:3}  master {entry.master}: {entry.what}{'   <- replaced before' if entry in wrong else ''}"
        )
    print(f"stepped down: {', '.join(one.name for one in masters if one.deposed is not None) or 'none'}")
    print(f"{len(wrong)} entries of masters that had been replaced")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
