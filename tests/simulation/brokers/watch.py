"""The watcher: after every step it compares the node that was touched, and the decisions of the
controllers, with the promises.

At each election it decides which losses the rules allow. An unclean election may lose what its
winner does not have; with KIP-966, so may the election of the last leader when no replica is in
sync or eligible. Without KIP-966's eligible replicas, the last in-sync replica stays in sync
whatever happens to its machine: elected again after a loss of power it has what it had flushed, and
no more is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.metadata.image import EMPTY, Image, PartitionImage
from kafkadouble.server.replica.replication.follower_partition import FollowerPartition
from kafkadouble.server.replica.replication.partition import Partition

from ..world import Broken
from . import promises
from .history import History
from .kept import Kept
from .replicas import Replica
from .shape import TOPIC

if TYPE_CHECKING:
    from .asker import Asker
    from .cluster import Cluster
    from .consumer import Consumer
    from .member import Member
    from .producer import Producer

NO_LEADER = -1


class Watch:
    """Watches one topic. `partitions` is the state that the controllers have committed last."""

    def __init__(self, cluster: Cluster, topic: str = TOPIC, count: int | None = None) -> None:
        self._cluster, self._world, self.topic = cluster, cluster.world, topic
        self._before = self.image = EMPTY
        self._found: Broken | None = None
        self.partitions: dict[int, PartitionImage] = {}
        self.histories: list[History] = []
        # the elected broker, by leader epoch
        self._elected: list[dict[int, int]] = []
        self._grow(cluster.shape.partitions if count is None else count)
        self._replicas: dict[tuple[int, int], Replica] = {}
        self._sent: dict[int, int] = {}  # the partition that each value was sent to
        self.elections = self.losses = self.deaths = self.truncations = 0

    def replica(self, id: int, index: int) -> Replica:
        found = self._replicas.get((id, index))
        if found is None:
            found = self._replicas[id, index] = Replica(self._cluster.members[id], self.topic, index)
        return found

    def _grow(self, count: int) -> None:
        """The topic has at least so many partitions."""
        while len(self.histories) < count:
            self.histories.append(History())
            self._elected.append({})

    @property
    def _indexes(self) -> range:
        return range(len(self.histories))

    def live_brokers(self) -> int:
        return len(self.image.live_brokers())

    # Decisions of the controllers

    def started(self, member: Member) -> None:
        if member.is_controller and member.node is not None:
            member.node.controller.listeners.append(self._decided)
            self._decided(EMPTY, member.node.controller.image, None)

    def _decided(self, before: Image, after: Image, records: Any) -> None:
        if after.end.offset <= self.image.end.offset:
            return  # another controller has shown it already
        self._before, self.image = self.image, after
        topic = after.topic_named(self.topic)
        try:
            for index, partition in sorted(topic.partitions.items()) if topic is not None else ():
                known = self.partitions.get(index)
                if known is not partition and known != partition:
                    self._changed(index, known, partition)
        # A node in the middle of a request would take Broken for its own failure.
        except Broken as problem:
            self._found = self._found or problem

    def _changed(self, index: int, before: PartitionImage | None, after: PartitionImage) -> None:
        self._world.note("{}-{} is to be {}", self.topic, index, _as_text(after))
        self._grow(index + 1)
        self.partitions[index] = after
        if before is not None:
            promises.epochs_grow(index, before, after)
        if after.leader != NO_LEADER and (before is None or after.leader_epoch != before.leader_epoch):
            self.elections += 1
            self._elected[index][after.leader_epoch] = after.leader
            if before is not None:
                self._classify(index, before, after)
        for id in set(() if before is None else before.replicas) - set(after.replicas):
            self.replica(id, index).has_left = True
        for id in set(after.isr) - set(() if before is None else before.isr):
            self._is_back(self.replica(id, index))  # it has fetched up to here, or was elected
        self._look_at_in_sync(index)

    def _classify(self, index: int, before: PartitionImage, after: PartitionImage) -> None:
        """Checks an election, and decides whether the winner may lack records."""
        shape, winner = self._cluster.shape, self.replica(after.leader, index)
        is_moved = bool(before.adding_replicas) and not after.adding_replicas and not after.leader_recovery_state
        is_clean = after.leader in (*before.isr, *before.elr, *(after.isr if is_moved else ()))
        eligible = [id for id in before.elr if self._life_of(id) == self._life_of(id, self._before)]
        was_last = shape.elr and not (before.isr or eligible) and tuple(before.last_known_elr) == (after.leader,)
        if not (is_clean or was_last or shape.unclean):
            raise Broken(f"an unclean election of partition {index}, which is not allowed: {before}, {after}")
        is_back = winner.forgot_in not in (None, self._life_of(after.leader))
        if is_clean and is_back and shape.elr:
            raise Broken(f"{winner!r} is elected as if it had everything, and has lost its power: {before}, {after}")
        if not is_clean or is_back:
            self._world.note("partition {}: the leader of epoch {} may lack something", index, after.leader_epoch)
            self.histories[index].may_lose(after.leader_epoch)
        self._is_back(winner)

    def _is_back(self, replica: Replica) -> None:
        """Forgets the loss of power, if the broker is registered with a later epoch than the one in
        which it happened."""
        if replica.forgot_in != self._life_of(replica.member.id):
            replica.forgot_in = None

    def _life_of(self, broker: int, image: Image | None = None) -> int | None:
        """The broker epoch of its registration."""
        found = (image or self.image).brokers.get(broker)
        return None if found is None else found.epoch

    # Steps of the brokers

    def loses_power(self, member: Member) -> None:
        self.deaths += 1
        for index in self._indexes:
            self.replica(member.id, index).lost_power(self._life_of(member.id))

    def look(self, member: Member) -> None:
        """Raises Broken when something is wrong, in this node or in a decision made meanwhile."""
        if self._found is not None:
            raise self._found
        if not member.is_broker or not self.partitions or member.node is None:
            return
        for index in self._indexes:
            led = member.node.partitions.get(self.topic, index)
            if led is not None:
                self._look_at_leader(self.replica(member.id, index), led)
            elif (
                member.node.fetchers is not None
                and (followed := member.node.fetchers.get(self.topic, index)) is not None
            ):
                self._look_at_follower(self.replica(member.id, index), followed)

    def _look_at_follower(self, replica: Replica, followed: FollowerPartition) -> None:
        """Its high watermark is valid; it may come from a former leader that sent it to no replica
        (KIP-392)."""
        replica.lead = None
        self._read(replica, followed.log)
        history, high_watermark = self.histories[replica.index], followed.log.high_watermark
        replica.high_watermark = high_watermark  # a truncation lowers the replica's own
        promises.last_stable_is_stable(replica, followed.log.last_stable_offset, high_watermark)
        # Otherwise it may belong to a branch that will be truncated.
        if high_watermark > history.end and history.is_whole:
            self._commit(replica, history.end, high_watermark)

    def _read(self, replica: Replica, log: PartitionLog) -> None:
        if replica.has_read(log):
            return
        removed = replica.read(log)
        if removed:
            self.truncations += 1
            self._world.note("{} cuts {}", replica.member.id, [kept.value for kept in removed])
            promises.nothing_committed_is_cut(replica, removed, self.histories[replica.index])
            self._look_at_in_sync(replica.index)

    def _look_at_leader(self, replica: Replica, led: Partition) -> None:
        known, now = replica.lead, (led, led.leader_epoch, led.high_watermark)
        history, since = self.histories[replica.index], len(replica.records)
        self._read(replica, led.log)
        promises.high_watermark_grows(replica, replica.high_watermark, led.high_watermark)
        replica.high_watermark = led.high_watermark
        promises.last_stable_is_stable(replica, led.log.last_stable_offset, led.high_watermark)
        if known is None or known[0] is not led or known[1] != led.leader_epoch:
            self._begins_to_lead(replica, led)
        else:
            promises.epoch_is_stamped(replica, since, led.leader_epoch)
            if known[2] == led.high_watermark:
                return
        replica.lead = now
        if history.is_current(led.leader_epoch):
            self._commit(replica, 0 if known is None or known[0] is not led else known[2], led.high_watermark)

    def _begins_to_lead(self, replica: Replica, led: Partition) -> None:
        history = self.histories[replica.index]
        self._world.note("{} leads {}-{} in epoch {}", replica.member.id, self.topic, replica.index, led.leader_epoch)
        promises.leader_was_elected(replica, led.leader_epoch, self._elected[replica.index])
        losses = len(history.lost)
        lacks = history.led(led.leader_epoch, replica.records)
        promises.leader_has_everything(replica, led.leader_epoch, lacks, history)
        if len(history.lost) > losses:
            promises.flushed_is_never_lost(replica, self._cluster.shape)
            self.losses += len(history.lost) - losses
            self._world.note("partition {}: {} committed records are lost", replica.index, len(history.lost) - losses)

    def _commit(self, replica: Replica, since: int, upto: int) -> None:
        history, end = self.histories[replica.index], self.histories[replica.index].end
        promises.committed_is_final(replica, history.commit(replica.records, since, upto), history)
        # Otherwise a replica that lost records may have a high watermark beyond the records left.
        if history.end > end and history.is_whole:
            kept = history.records[-1]
            replicas = [self.replica(id, replica.index) for id in self._cluster.shape.broker_ids]
            holders = [replica for replica in replicas if replica.records[kept.offset : kept.offset + 1] == [kept]]
            least = min(self._cluster.shape.min_isr, self._cluster.shape.replicas)
            promises.enough_have_it(holders, least, kept)
        self._look_at_in_sync(replica.index)

    def _look_at_in_sync(self, index: int) -> None:
        """The current leader, and all replicas that are in sync with it according to the
        metadata."""
        partition = self.partitions[index]
        if partition.leader == NO_LEADER:
            return
        lead = self.replica(partition.leader, index).lead
        if lead is not None and lead[1] == partition.leader_epoch:
            for id in partition.isr:
                promises.high_watermark_is_reached(self.replica(id, index), lead[2])

    # Answers to the clients

    def sent(self, values: Sequence[int], index: int) -> None:
        self._sent.update(dict.fromkeys(values, index))

    def acknowledged(self, client: object, index: int, values: Sequence[int], offset: int) -> None:
        """A batch was acknowledged under acks=all."""
        if offset >= 0:
            promises.acknowledged_is_committed(client, offset, values, self.histories[index])

    def out_of_step(self, producer: Producer) -> None:
        if producer.acks == -1 and self.histories[producer.index].is_whole:
            raise Broken(f"{producer!r} gets an error of its sequence, and nothing was lost")

    def given(self, consumer: Consumer, given: Sequence[Kept], leader_epoch: int) -> None:
        history = self.histories[consumer.index]
        promises.consumer_is_given_what_its_leader_has(consumer, given, leader_epoch)
        if history.is_current(leader_epoch) and given:
            promises.consumer_learns_of_truncation(consumer, consumer.seen, history)
            promises.consumer_is_given_what_is_committed(consumer, given, consumer.position, history)

    def truncation_answered(self, consumer: Consumer, offset: int, leader_epoch: int) -> None:
        promises.truncation_was_possible(consumer, offset, self.histories[consumer.index])

    def end_answered(self, asker: Asker, offset: int, leader_epoch: int) -> None:
        history = self.histories[asker.index]
        if history.is_whole:
            promises.end_never_goes_back(asker, asker.end, offset)
        if history.is_current(leader_epoch):
            promises.end_is_committed(asker, offset, history)

    # The end of a run

    def compare(self) -> None:
        """All replicas are equal byte for byte, with the same epochs; and they are the committed
        history."""
        for index in self._indexes:
            history = self.histories[index]
            self.compare_replicas(index)
            promises.sent_here(history.records, self._sent, index)
            promises.idempotent_once_in_order(history.records, whole=history.is_whole)
            for consumer in self._cluster.consumers:
                if consumer.index == index and consumer.seen != history.records:
                    raise Broken(f"{consumer!r} was given something else than what was committed")

    def compare_replicas(self, index: int) -> None:
        """All replicas of this partition are equal, and they are the committed history."""
        history, ids = self.histories[index], self.partitions[index].replicas
        logs = [self._cluster.members[id].log(self.topic, index) for id in ids]
        contents = {b"".join(bytes(batch) for batch in log.batches(0)) for log in logs if log is not None}
        epochs = {
            tuple(entry for entry in log.epochs.entries if entry.offset < log.log_end_offset) for log in logs if log
        }
        if len(contents) != 1 or len(epochs) != 1:
            raise Broken(f"the replicas of partition {index} on {ids} are not equal: {contents}, {epochs}")
        for id in ids:
            if self.replica(id, index).records != history.records:
                raise Broken(f"{self.replica(id, index)!r} is not what was committed")


def _as_text(partition: PartitionImage) -> str:
    more = f", eligible {list(partition.elr)}" if partition.elr else ""
    last = f", last {list(partition.last_known_elr)}" if partition.last_known_elr else ""
    moving = f", adding {list(partition.adding_replicas)}" if partition.adding_replicas else ""
    led = f"led by {partition.leader} in epoch {partition.leader_epoch}/{partition.partition_epoch}"
    return f"{led}, in sync {list(partition.isr)} of {list(partition.replicas)}{more}{last}{moving}"
