"""A word count of Kafka Streams as a process that can be killed, the lines that it counts, and its
results.

The application has no cache, so it writes a result for each word of each line: if each line is
counted exactly once, the results of a word are 1, 2, 3 and so on, each of them once.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.clients.shape import Consumer, Partition, Record
from interop.support import unique
from tests.support.waiting import eventually

from .committed import committed_records
from .run import tail
from .toolchains.building import built
from .toolchains.java import TOOLCHAIN, endless_word_count

AT_ONCE = 10
"""Lines that are written together."""
WORDS = 4
"""Words of a line."""
PARTITIONS = 2
POLL = 0.1
PATIENCE = 60.0
"""Seconds that the application may take to stop, and to write results."""


def line(number: int) -> str:
    return f"every word counts w{number % 7}"


class WordCount:
    """The topics of one application, and its process while it runs. It keeps its state in
    `folder`."""

    def __init__(
        self, broker: Broker, stack: ExitStack, guarantee: str, commit_interval_ms: int, protocol: str = "classic"
    ) -> None:
        """`protocol` is that of the group: classic or streams. Raises Missing."""
        self._broker, self._stack = broker, stack
        self.topic = unique("counting")
        self.results = f"{self.topic}-counts"
        self.lines = 0
        """The number of lines that were written."""
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="word-count-"))
        words = [
            guarantee,
            protocol,
            broker.bootstrap,
            self.topic,
            f"app-{self.topic}",
            folder,
            str(commit_interval_ms),
        ]
        self._command = [*endless_word_count(built(TOOLCHAIN)), *words]
        self._errors = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # the stack closes it
        with CREATOR.admin(broker.bootstrap) as admin:
            for topic in (self.topic, self.results):
                admin.create_topic(topic, PARTITIONS)
        self._lines = stack.enter_context(CREATOR.producer(broker.bootstrap, acks="all", enable_idempotence=True))
        self._committed, self._written = self._reader("read_committed"), self._reader("read_uncommitted")
        self._seen = 0
        self.start()

    def _reader(self, isolation_level: str) -> Consumer:
        partitions = [Partition(self.results, index) for index in range(PARTITIONS)]
        reader: Consumer = self._stack.enter_context(
            CREATOR.consumer(self._broker.bootstrap, partitions=partitions, isolation_level=isolation_level)
        )
        return reader

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._errors
        )
        self._stack.callback(self.kill)

    def kill(self) -> None:
        """Kills it without a clean shutdown."""
        with self._process:
            self._process.kill()

    def stop(self) -> None:
        """Has it commit and end."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            code = self._process.wait(PATIENCE)
        assert code == 0, f"exit code {code}: {self._complaints()}"

    def write(self) -> None:
        end = self.lines + AT_ONCE
        self._lines.send(
            self.topic,
            [Record(line(n).encode(), b"%d" % n, partition=n % PARTITIONS) for n in range(self.lines, end)],
        )
        self.lines = end

    def goes_on(self) -> None:
        """Writes lines, and waits until there are committed results of all lines."""
        self.write()
        self.has_counted(self.lines)

    def has_counted(self, lines: int) -> None:
        """Waits until there are committed results of so many lines, whatever lines they are."""
        eventually(self._committed_results, lambda found: found >= WORDS * lines, within=PATIENCE)

    def begins_a_transaction(self) -> None:
        """Writes lines, and waits until results of some of them are written and not committed."""
        self.write()
        eventually(self.is_in_a_transaction, bool, within=PATIENCE)

    def _committed_results(self) -> int:
        """The number of committed results until now."""
        assert self._process.poll() is None, f"the application has ended: {self._complaints()}"
        self._seen += len(self._committed.poll(POLL))
        return self._seen

    def is_in_a_transaction(self) -> bool:
        """Whether results were written that are neither committed nor aborted."""
        partitions = [Partition(self.results, index) for index in range(PARTITIONS)]
        return any(self._committed.bounds(each) < self._written.bounds(each) for each in partitions)

    def counts(self) -> Mapping[str, Sequence[int]]:
        """By word, the committed results in their order, after the application has stopped."""
        found: dict[str, list[int]] = {}
        for records in committed_records(self._broker.bootstrap, self.results, PARTITIONS):
            for one in records:
                found.setdefault((one.key or b"").decode(), []).append(int.from_bytes(one.value or b""))
        return found

    def _complaints(self) -> str:
        return tail(self._errors)


def faults(counts: Mapping[str, Sequence[int]], lines: int) -> list[str]:
    """A line for each word whose results are not those of lines that are counted exactly once."""
    expected = Counter(word for number in range(lines) for word in line(number).split())
    return [
        f"{word}: {len(count)} results, the last {count[-3:]}, for {expected[word]} words"
        for word in sorted(expected.keys() | counts.keys())
        if (count := list(counts.get(word, ()))) != list(range(1, expected[word] + 1))
    ]
