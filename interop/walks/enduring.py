"""Runs programs with the verb `endure` while brokers are killed, and judges their output.

A program writes ten records at a time and reads them in its group, and commits as it goes, until
its input ends. Then it ends once it has read and committed every record that was acknowledged to
it. It writes a line for each of these:

    > wrote FIRST END                  records [FIRST, END) are acknowledged
    > failed FIRST END WHY             or not: the application got this error
    > read PARTITION OFFSET NUMBER
    > committed                        the positions up to here
    > unread WHY                       an error of a poll, after which it polled again
    > uncommitted WHY

Rules. The output of a program is compared with itself and with the broker: no acknowledged record
is lost, none was skipped, no offset has held two records, the records of a partition are in the
order in which they were written, and the group's committed offset is the one after the last.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.waiting import eventually

from .promise import ENDURE, PARTITIONS
from .running import PATIENCE, RunningProgram
from .toolchains.building import Program

AHEAD = 10
"""Records that may be in flight: a record with a greater number was sent later."""


class Enduring(RunningProgram):
    """A running program. Its output can be read at any time."""

    def __init__(self, program: Program, bootstrap: str, topic: str, group: str) -> None:
        self.topic, self.group = topic, group
        self.acknowledged: set[int] = set()
        self.newest = 0
        """The number of the last acknowledged record."""
        self.failed: list[str] = []
        self.complaints: list[str] = []
        self.read: dict[int, list[tuple[int, int]]] = {partition: [] for partition in range(PARTITIONS)}
        """By partition, the offset and number of each record in the order of reading."""
        self.commits = 0
        super().__init__(program, ENDURE, bootstrap, topic, group)

    def take(self, word: str, rest: list[str]) -> None:
        match word:
            case "wrote":
                first, end = map(int, rest)
                self.acknowledged.update(range(first, end))
                self.newest = end - 1
            case "failed":
                self.failed.append(" ".join(rest))
            case "read":
                partition, offset, number = map(int, rest)
                self.read[partition].append((offset, number))
            case "committed":
                self.commits += 1
            case "uncommitted" | "unread":
                self.complaints.append(" ".join([word, *rest]))

    def goes_on(self) -> None:
        """Waits until records from every partition were acknowledged, read and committed that were
        sent after the call."""
        seen = [number for found in self.read.values() for _, number in found[-1:]]
        mark, commits = max([self.newest, *seen]) + AHEAD, self.commits + 1
        grouped = "commit" not in self.program.not_offered

        def done() -> tuple[bool, ...]:
            self.assert_runs()
            read = [any(number > mark for _, number in found[-AHEAD:]) for found in self.read.values()]
            return (*read, self.newest > mark, self.commits > commits or not grouped)

        try:
            eventually(done, all, within=PATIENCE)
        except AssertionError as late:
            raise AssertionError(f"{self.program.name}: {late} {self.failed[-3:]} {self.complaints[-3:]}") from None


def faults(one: Enduring, committed: Mapping[int, int]) -> list[str]:
    """The faults in a program's output, and in the committed offsets of its group, if it has
    one."""
    grouped = "commit" not in one.program.not_offered
    read = {number for found in one.read.values() for _, number in found}
    wrong = [f"acknowledged and not read: {sorted(one.acknowledged - read)[:20]}"] if one.acknowledged - read else []
    for partition, found in one.read.items():
        wrong += [f"partition {partition}: {reason}" for reason in _apart(found)]
        last = max((offset for offset, number in found if number in one.acknowledged), default=-1)
        if grouped and not last < (group_offset := committed.get(partition, 0)) <= len(dict(found)):
            wrong.append(f"partition {partition}: the group is at {group_offset}, the last acknowledged at {last}")
    if (words := one.program.gives_up_with) and not any(words in reason for reason in one.failed):
        wrong.append(f"gave up on no record with {words!r}, as its row states: {one.failed or 'on none at all'}")
    return wrong


def _apart(found: list[tuple[int, int]]) -> list[str]:
    wrong, log = [], dict[int, int]()
    for offset, number in found:
        if offset > len(log):
            wrong.append(f"from {len(log) - 1} to {offset}: what is between was passed over")
        if log.setdefault(offset, number) != number:
            wrong.append(f"offset {offset} has held {log[offset]} and {number}")
    first_seen = list(dict.fromkeys(number for _, number in sorted(log.items())))
    if first_seen != sorted(first_seen):
        wrong.append(f"out of order: {first_seen}")
    return wrong


def twice(one: Enduring) -> int:
    """The number of records that are in the log more than once."""
    return sum(len(log) - len(set(log.values())) for log in map(dict, one.read.values()))
