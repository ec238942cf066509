"""The methods of KafkaDouble that arm a fault rule for the disks of a `data_dir`.

A rule of these lasts until it is removed, unless `times` or `for_seconds` is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.common.marking import verb

from .arming import arm_of

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.host.host import Host
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.server.faults.narrowing import DiskNarrowing


@verb
def disk_full(host: Host, **more: Unpack[DiskNarrowing]) -> RuleHandle:
    """Fails appends to partitions as a full disk does (ENOSPC). As in Kafka, the log directory
    goes offline."""
    return _arm_operation(host, "disk_full", **more)


@verb
def disk_error(host: Host, on: str = "append", **more: Unpack[DiskNarrowing]) -> RuleHandle:
    """Fails an "append", a "read" or a "flush" as a broken disk does (EIO). As in Kafka, the
    log directory goes offline."""
    return _arm_operation(host, "disk_error", on=on, **more)


@verb
def disk_slow(host: Host, seconds: float, **more: Unpack[DiskNarrowing]) -> RuleHandle:
    """Lets each flush take so many seconds of the broker's clock. Records that must be flushed
    before they count (`flush.messages`) wait for it."""
    return _arm_operation(host, "disk_slow", seconds=seconds, **more)


@verb
def lose_flushes(host: Host, **more: Unpack[DiskNarrowing]) -> RuleHandle:
    """Reports flushes as done without doing them. The writes that the flushes covered are lost when
    the broker is killed."""
    return _arm_operation(host, "lose_flushes", **more)


def _arm_operation(host: Host, action: str, **fields: Any) -> RuleHandle:
    return arm_of(host, action, **{"times": None, **fields})
