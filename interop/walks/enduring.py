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

import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import IO

from interop.support import eventually

from .promise import ENDURE, PARTITIONS, PASS, parsed
from .run import HOUSE, tail
from .toolchains.building import Program, built

LINE = "> "
AHEAD = 10
"""Records that may be in flight: a record with a greater number was sent later."""
PATIENCE = 150.0
"""Seconds that a program may take to end (it gives up after 100) or to continue. A member that
joins with a new id may have to wait for the session timeout of the old one, which is 30 s with some
libraries."""


class Enduring:
    """A running program. Its output can be read at any time."""

    def __init__(self, program: Program, bootstrap: str, topic: str, group: str) -> None:
        self.program, self.topic, self.group = program, topic, group
        self.acknowledged: set[int] = set()
        self.newest = 0
        """The number of the last acknowledged record."""
        self.failed: list[str] = []
        self.complaints: list[str] = []
        self.read: dict[int, list[tuple[int, int]]] = {partition: [] for partition in range(PARTITIONS)}
        """By partition, the offset and number of each record in the order of reading."""
        self.commits = 0
        self._last = ""
        command = [*program.command(built(program.toolchain)), ENDURE, bootstrap, topic, group]
        self._err: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # as long as this lives
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._err, text=True, cwd=HOUSE
        )
        self._hearing = threading.Thread(target=self._hear, daemon=True)
        self._hearing.start()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(LINE):
                word, *rest = line.removeprefix(LINE).split()
                self._take(word, rest)
            elif line.strip():
                self._last = line

    def _take(self, word: str, rest: list[str]) -> None:
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
            assert self._process.poll() is None, f"{self.program.name} has ended: {self.end()}"
            read = [any(number > mark for _, number in found[-AHEAD:]) for found in self.read.values()]
            return (*read, self.newest > mark, self.commits > commits or not grouped)

        try:
            eventually(done, all, within=PATIENCE)
        except AssertionError as late:
            raise AssertionError(f"{self.program.name}: {late} {self.failed[-3:]} {self.complaints[-3:]}") from None

    def end(self) -> str:
        """Ends its input, and waits until it has ended. Returns its faults, or the empty string."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            code = self._process.wait(PATIENCE)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            code = self.kill()
        self._hearing.join(PATIENCE)
        try:
            found = parsed(self._last).behaviours
        except ValueError:
            found = {}
        return (
            "" if (code, found) == (0, {ENDURE: PASS}) else f"exit code {code}, {found or self._last} {self._errors()}"
        )

    def kill(self) -> int:
        self._process.kill()
        return self._process.wait()

    def close(self) -> None:
        """Stops the program if it still runs."""
        self.kill()
        self._hearing.join(PATIENCE)
        for pipe in (self._process.stdin, self._process.stdout, self._err):
            if pipe is not None:
                pipe.close()

    def _errors(self) -> str:
        return tail(self._err)


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
