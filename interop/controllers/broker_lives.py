"""The records of brokers in the metadata log, and their directories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.metadata_log import decode_batches
from tests.support.waiting import eventually

from .logs import batches

KEPT = {"leader.imbalance.check.interval.seconds": "1000"}
"""The controller does not give leaderships back to preferred leaders during a test."""


class Written:
    """The records of a controller's log about brokers, and the changes of partitions, as lines."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._seen = folder, 0
        self._topics: dict[Uuid, str] = {}
        self.directories: dict[str, str] = {}

    def expect(self, lines: str) -> None:
        """Waits until exactly these lines were written since the last call, in any order."""
        expected = sorted(lines.split("\n")[1:-1])
        eventually(lambda: sorted(self._lines()[self._seen :]), lambda found: found == expected)
        self._seen += len(expected)

    def _lines(self) -> list[str]:
        found = []
        for stored in batches(self._folder):
            for read in decode_batches(stored.data):
                found += [line for record in read.records if (line := self._line(record))]
        return found

    def _line(self, record: Any) -> str:
        kind = type(record).__name__
        if kind == "TopicRecord":
            self._topics[record.topic_id] = record.name
        return KINDS[kind](self, record) if kind in KINDS else ""

    def _registers(self, record: Any) -> str:
        return f"broker {record.broker_id} registers"

    def _is_unregistered(self, record: Any) -> str:
        return f"broker {record.broker_id} is unregistered"

    def _broker(self, record: Any) -> str:
        names = ("fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs")
        return f"broker {record.broker_id}" + self._changed(record, names)

    def _partition(self, record: Any) -> str:
        names = ("isr", "leader", "leader_recovery_state", "eligible_leader_replicas", "last_known_elr")
        changed = self._changed(record, names).replace("eligible_leader_replicas", "elr")
        return changed and f"{self._topics[record.topic_id]}-{record.partition_id}{changed}"

    def _changed(self, record: Any, names: tuple[str, ...]) -> str:
        fresh = type(record)()
        values = {name: getattr(record, name) for name in names if getattr(record, name) != getattr(fresh, name)}
        return "".join(f" {name}={self._as_text(value)}" for name, value in values.items())

    def _as_text(self, value: Any) -> str:
        if isinstance(value, tuple):
            return ",".join(sorted(self.directories.get(str(each), str(each)) for each in value))
        return str(value)


KINDS: dict[str, Callable[[Written, Any], str]] = {
    "RegisterBrokerRecord": Written._registers,
    "UnregisterBrokerRecord": Written._is_unregistered,
    "BrokerRegistrationChangeRecord": Written._broker,
    "PartitionChangeRecord": Written._partition,
}


def directory_id(directory: Path) -> str:
    """The id in the meta.properties of a log directory."""
    lines = (directory / "meta.properties").read_text().split("\n")
    return next(line.partition("=")[2] for line in lines if line.startswith("directory.id="))
