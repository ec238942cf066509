"""The promises of a cluster. Each is a small function that raises Broken, with the sentence of the
KIP it checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kafkadouble.server.metadata.image import PartitionImage

from ..world import Broken
from .history import History
from .kept import Kept
from .replicas import Replica
from .shape import Shape


def epochs_grow(index: int, before: PartitionImage, after: PartitionImage) -> None:
    """KIP-101, KIP-497: a leader epoch is used once, and every change of a partition has a greater
    partition epoch."""
    if after.leader_epoch < before.leader_epoch or after.partition_epoch <= before.partition_epoch:
        raise Broken(f"partition {index} goes from {before} back to {after}")
    if after.leader != before.leader and after.leader_epoch == before.leader_epoch:
        raise Broken(f"partition {index} has another leader in the same epoch: {before}, {after}")


def leader_was_elected(replica: Replica, leader_epoch: int, elected: dict[int, int]) -> None:
    """KIP-101: only the broker that was elected in an epoch leads in it."""
    if elected.get(leader_epoch) != replica.member.id:
        raise Broken(f"{replica!r} leads in epoch {leader_epoch}, in which {elected.get(leader_epoch)} was elected")


def leader_has_everything(replica: Replica, leader_epoch: int, lacks: int | None, history: History) -> None:
    """KIP-966: a broker that is elected cleanly has every committed record."""
    if lacks is not None:
        record = history.at(lacks)
        raise Broken(f"{replica!r} leads in epoch {leader_epoch}, and lacks {record}, which is committed")


def flushed_is_never_lost(replica: Replica, shape: Shape) -> None:
    """With `flush.messages=1` an in-sync replica has every record on the disk: no loss of power
    takes it."""
    if shape.flushing and not shape.unclean:
        raise Broken(f"{replica!r} leads, and lacks what all in sync had flushed")


def committed_is_final(replica: Replica, at: int | None, history: History) -> None:
    """KIP-101: a record that is committed at an offset stays there."""
    if at is not None:
        raise Broken(f"{replica!r} commits {replica.records[at]} where {history.at(at)} is committed")


def enough_have_it(holders: Sequence[Replica], least: int, kept: Kept) -> None:
    """KIP-966: the high watermark does not advance while fewer than min.insync.replicas have a
    record."""
    if len(holders) < least:
        raise Broken(
            f"{kept} is committed, and only {[holder.member.id for holder in holders]} of at least {least} have it"
        )


def high_watermark_is_reached(replica: Replica, high_watermark: int) -> None:
    """KIP-101, KIP-497: an in-sync replica has every record below the high watermark."""
    if replica.forgot_in is None and len(replica.records) < high_watermark:
        raise Broken(
            f"{replica!r} is in sync, and ends at {len(replica.records)}, below the high watermark {high_watermark}"
        )


def high_watermark_grows(replica: Replica, before: int, after: int) -> None:
    """KIP-207: the high watermark never goes back while a broker leads, nor when it begins to
    lead."""
    if after < before:
        raise Broken(f"the high watermark of {replica!r} goes back from {before} to {after}")


def last_stable_is_stable(replica: Replica, last_stable_offset: int, high_watermark: int) -> None:
    """KIP-98: the last stable offset passes neither the high watermark nor an open transaction."""
    first = replica.first_open
    if last_stable_offset > (high_watermark if first is None else min(first, high_watermark)):
        raise Broken(
            f"{replica!r} has the last stable offset {last_stable_offset}, and the high watermark {high_watermark}; "
            f"a transaction is open since {first}"
        )


def nothing_committed_is_cut(replica: Replica, removed: Sequence[Kept], history: History) -> None:
    """KIP-101: a follower truncates what the leader does not have, and nothing else."""
    if history.is_whole and replica.forgot_in is None:
        for kept in removed:
            if history.at(kept.offset) == kept:
                raise Broken(f"{replica!r} cuts {kept}, which is committed")


def epoch_is_stamped(replica: Replica, since: int, leader_epoch: int) -> None:
    """KIP-101: a leader stamps its epoch on what it appends."""
    for kept in replica.records[since:]:
        if kept.epoch != leader_epoch:
            raise Broken(f"{replica!r} leads in epoch {leader_epoch}, and appends {kept}")


def acknowledged_is_committed(client: object, offset: int, values: Sequence[int], history: History) -> None:
    """KIP-679: a record acknowledged under acks=all is committed; it is lost only where the rules
    allow a loss."""
    for at, value in enumerate(values, offset):
        kept = history.at(at)
        if (kept is None or kept.value != value) and history.is_whole:
            raise Broken(f"{client!r} gets offset {at} for {value}, where {kept} is committed")


def idempotent_once_in_order(records: Sequence[Kept], *, whole: bool) -> None:
    """KIP-98: the records of one producer id and epoch occur once, in the order of their sequence
    numbers."""
    next_of: dict[tuple[int, int], int] = {}
    for kept in records:
        if kept.producer >= 0 and not kept.marker:
            producer = kept.producer, kept.producer_epoch
            due = next_of.get(producer, 0 if whole else kept.sequence)
            if kept.sequence != due:
                raise Broken(f"{kept} of producer id {kept.producer} has sequence {kept.sequence} where {due} is due")
            next_of[producer] = kept.sequence + 1


def sent_here(records: Sequence[Kept], sent: dict[int, int], index: int) -> None:
    """A log has only records that were sent there, and of an idempotent producer none twice under
    one id."""
    seen: defaultdict[tuple[int, int], int] = defaultdict(int)
    for kept in records:
        if kept.marker:
            continue
        if sent.get(kept.value) != index:
            raise Broken(f"{kept} stands in partition {index}, and was sent to {sent.get(kept.value)}")
        seen[kept.producer, kept.value] += 1
        if kept.producer >= 0 and seen[kept.producer, kept.value] > 1:
            raise Broken(f"{kept} of producer id {kept.producer} stands more than once")


def consumer_is_given_what_is_committed(client: object, given: Sequence[Kept], position: int, history: History) -> None:
    """KIP-320, KIP-207: a consumer receives committed records, from its position on, without a
    gap."""
    for offset, kept in enumerate(given, position):
        if kept.offset != offset:
            raise Broken(f"{client!r} is given {kept} where offset {offset} is due")
        if history.at(offset) != kept:
            raise Broken(f"{client!r} is given {kept}, where {history.at(offset)} is committed")


def consumer_is_given_what_its_leader_has(client: object, given: Sequence[Kept], leader_epoch: int) -> None:
    """KIP-320: a request with a leader epoch is served in that epoch only, and so gets no record of
    a later one."""
    for kept in given:
        if kept.epoch > leader_epoch:
            raise Broken(f"{client!r} asks in leader epoch {leader_epoch}, and is given {kept}")


def consumer_learns_of_truncation(client: object, seen: Sequence[Kept], history: History) -> None:
    """KIP-320: a consumer that read a lost record learns of the loss before it gets the records
    after it."""
    if seen and history.at(len(seen) - 1) != seen[-1]:
        raise Broken(
            f"{client!r} goes on after {seen[-1]}, where {history.at(len(seen) - 1)} is now, and no answer reported it"
        )


def end_never_goes_back(client: object, before: int, end: int) -> None:
    """KIP-207: the end offset that a client receives never goes back, also when another broker
    begins to lead."""
    if end < before:
        raise Broken(f"{client!r} gets the log end offset {end}, and got {before} before")


def end_is_committed(client: object, end: int, history: History) -> None:
    """KIP-207: the end offset that a client receives is that of the committed records."""
    if end > history.end:
        raise Broken(f"{client!r} gets the log end offset {end}, and {history.end} is committed")


def truncation_was_possible(client: object, offset: int, history: History) -> None:
    """KIP-320: the position of a consumer goes back only where records were lost."""
    if history.is_whole:
        raise Broken(f"{client!r} learns of a truncation to {offset}, and nothing was lost")
