"""What the clients of a partition know: the records they sent, and those acknowledged; compared
with the log after each life.

Rules. Every value is sent once. A record in the log was sent, and occurs once; an acknowledged
record is at its offset, unless the topic's own policy removed it: retention removes records from
the beginning, compaction removes records that have a later one of their key. A loss of power may
take the unflushed end, but no life may bring a lost record back.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import iter_batches, records_of

from ..world import Broken


class Stored(NamedTuple):
    """A record as the log has it."""

    offset: int
    key: bytes | None
    value: int


class Ledger:
    """The ledger of one partition; `compacts` by the topic's policy."""

    def __init__(self, name: str, *, compacts: bool) -> None:
        self.name, self.compacts = name, compacts
        self.sent: dict[int, bytes | None] = {}  # the key of each value
        self.acknowledged: dict[int, Stored] = {}  # by offset

    def check(self, log: PartitionLog, *, may_lose: bool) -> None:
        """Raises Broken when the leader's log breaks a rule; forgets records whose loss is
        allowed."""
        found = read(log)
        values = [each.value for each in found]
        if len(set(values)) < len(values):
            raise Broken(f"{self.name}: a record is there twice: {values}")
        if any(self.sent.get(each.value, b"") != each.key for each in found):
            raise Broken(f"{self.name}: a record is there that was not sent: {found}")
        there = {each.offset: each for each in found}
        lost = [each for each in self.acknowledged.values() if there.get(each.offset) != each]
        lost = [each for each in lost if not self._may_be_lost(each, log, there)]
        if lost and not may_lose:
            raise Broken(
                f"{self.name}: acknowledged, and not there: {lost[:5]} of {len(lost)}; there are {found[-5:]} in {log!r}"
            )
        for each in lost:
            del self.acknowledged[each.offset]

    def _may_be_lost(self, record: Stored, log: PartitionLog, there: dict[int, Stored]) -> bool:
        if record.offset in there:
            return False  # another record has its offset
        if self.compacts:
            return any(each.key == record.key and each.offset > record.offset for each in there.values())
        return record.offset < log.log_start_offset


def read(log: PartitionLog) -> list[Stored]:
    """All records that are committed."""
    found = []
    for batch in log.batches(log.log_start_offset):
        for position, header in iter_batches(bytes(batch)):
            for record in records_of(bytes(batch), position, header):
                if log.log_start_offset <= record.offset < log.high_watermark:
                    key = None if record.key is None else bytes(record.key)
                    found.append(Stored(record.offset, key, int(bytes(record.value or b"-1"))))
    return found
