"""The methods of KafkaDouble that arm a fault rule for the disks of a `data_dir`.

A rule of these lasts until it is removed, unless `times` or `for_seconds` is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arming import ArmingVerbs

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.server.faults.narrowing import DiskNarrowing


class DiskFaultVerbs(ArmingVerbs):
    """A part of KafkaDouble."""

    def disk_full(self, **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Fails appends to partitions as a full disk does (ENOSPC). As in Kafka, the log directory
        goes offline."""
        return self._arm_operation("disk_full", **more)

    def disk_error(self, on: str = "append", **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Fails an "append", a "read" or a "flush" as a broken disk does (EIO). As in Kafka, the
        log directory goes offline."""
        return self._arm_operation("disk_error", on=on, **more)

    def disk_slow(self, seconds: float, **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Lets each flush take so many seconds of the broker's clock. Records that must be flushed
        before they count (`flush.messages`) wait for it."""
        return self._arm_operation("disk_slow", seconds=seconds, **more)

    def lose_flushes(self, **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Reports flushes as done without doing them. What they covered is gone when the broker is
        killed."""
        return self._arm_operation("lose_flushes", **more)

    def _arm_operation(self, action: str, **fields: Any) -> RuleHandle:
        return self._arm(action, **{"times": None, **fields})
