"""The start offset of a share partition that no member has read yet: `share.auto.offset.reset`
(KIP-932).

`latest` is the high watermark, `earliest` the log start offset, and `by_duration:P...` the first
record that is no older than the duration. A partition without such a record is
OFFSET_NOT_AVAILABLE, and the next fetch tries again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..requests.request import Refusal

if TYPE_CHECKING:
    from ..replica.replication.partition import Partition
    from .host import ShareHost

UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}
AMOUNT = re.compile(r"\+?(\d+(?:[.,]\d*)?)([dhms])")


def start_offset_of(node: ShareHost, topic: str, index: int, leader_epoch: int, reset: str) -> int:
    """The offset that this value of `share.auto.offset.reset` stands for. Refusal if this broker
    does not lead the partition in this leader epoch, or there is no such offset."""
    partition = node.partitions.get(topic, index)
    if partition is None:
        raise Refusal(node.partitions.code_of_missing(topic, index, leader_epoch))
    if code := partition.check_epoch(leader_epoch):
        raise Refusal(code)
    offset = _offset(partition, reset, node.now)
    if offset is None:
        why = f"Offset for {reset} not found for topic partition: {topic}-{index}"
        raise Refusal(error_codes.OFFSET_NOT_AVAILABLE, why)
    return offset


def _offset(partition: Partition, reset: str, now: int) -> int | None:
    if reset == "earliest":
        return partition.log.log_start_offset
    if reset == "latest":
        return None if partition.lags_behind_epoch else partition.high_watermark
    found = partition.log.offset_for(now - duration_ms(reset.partition(":")[2]))
    return found.offset if 0 <= found.offset < partition.high_watermark else None


def duration_ms(text: str) -> int:
    """A duration of Java's form PnDTnHnMn.nS, in ms."""
    amounts = AMOUNT.findall(text.lower())
    return int(sum(float(amount.replace(",", ".")) * UNITS_MS[unit] for amount, unit in amounts))
