"""The promises of share groups. Each is a small function that raises Broken, and states the
sentence of the KIP that is broken."""

from __future__ import annotations

from collections.abc import Collection

from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.share.share_partition import SharePartition

from ....world import Broken
from ...kept import Kept
from ...shape import Shape


def record_has_one_holder(client: object, record: object, holder: object) -> None:
    """KIP-932: a record that a member has acquired is delivered to no other member, until the
    member acknowledges it, its lock times out, or its share session ends."""
    raise Broken(f"{client!r} acquires {record}, which {holder!r} has acquired")


def count_is_of_one_delivery(client: object, record: object, count: int, counts: Collection[int]) -> None:
    """KIP-932: every delivery of a record adds one to its delivery count."""
    if count in counts:
        raise Broken(f"{client!r} acquires {record} as delivery {count}, and there was one with this count")


def count_is_within_limit(client: object, record: object, count: int, limit: int) -> None:
    """KIP-932: a record is delivered at most as often as the delivery count limit says."""
    if not 1 <= count <= limit:
        raise Broken(f"{client!r} acquires {record} as delivery {count}, and the limit is {limit}")


def done_is_not_delivered(client: object, record: object, how: str) -> None:
    """KIP-932: a record whose acknowledgement was confirmed is not delivered again: the
    acknowledgement is persisted, so the next leader knows it, too."""
    raise Broken(f"{client!r} acquires {record}, which is {how}")


def holder_may_acknowledge(client: object, record: object, why: str | None) -> None:
    """KIP-932: a member can acknowledge the records whose acquisition locks it has."""
    raise Broken(f"{client!r} has acquired {record}, and cannot acknowledge it: {why}")


def acquired_is_in_the_answer(client: object, record: object, kept: Kept | None, committed: Kept | None) -> None:
    """KIP-932: the records that a member acquires are in the answer, as they are committed."""
    if kept is None or kept != committed:
        raise Broken(f"{client!r} acquires {record}, is given {kept}, and {committed} is committed")


def belongs_to_its_leader(share_partition: SharePartition, led: Partition | None) -> None:
    """KIP-932: a share partition is at the leader of the partition, in one leader epoch."""
    if led is None or led.leader_epoch != share_partition.leader_epoch:
        raise Broken(f"{share_partition!r} is active, and its broker has {led!r}")


def start_offset_only_grows(share_partition: object, before: int) -> None:
    """KIP-932: the start offset of a share partition never goes back."""
    raise Broken(f"{share_partition!r} began at {before} before")


def described_start_only_grows(client: object, index: int, before: int, start: int) -> None:
    """KIP-932: the stored start offset never goes back, whichever brokers coordinate."""
    if start < before:
        raise Broken(f"{client!r} reads {start} as the start of partition {index}, and read {before} before")


def everything_is_delivered(missing: Collection[object], shape: Shape) -> None:
    """KIP-932: every record is delivered at least once, whatever fails. With a low limit of the
    delivery count, all answers with a record may have been lost."""
    if missing and shape.delivery_count_limit >= HIGH_LIMIT:
        raise Broken(f"no member was given {missing}")


HIGH_LIMIT = 10
"""A delivery count limit that a record reaches only by its members' will."""
