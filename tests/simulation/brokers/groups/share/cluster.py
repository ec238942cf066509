"""A simulated cluster with a share group, whose share partitions are kept in
`__share_group_state`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.metadata.image import GROUP
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE
from kafkadouble.server.share.share_partition import SharePartition

from ....world import Broken, World
from ...shape import TOPIC, Shape
from ...watch import Watch
from ..cluster import GroupCluster
from ..modern_member import NAME
from . import promises
from .deliveries import LOCK_MS, Deliveries, RecordKey
from .member import TOPICS, ShareMember
from .offset_reader import StartOffsetReader
from .watch import ShareWatch

SHARE_COORDINATORS = 2
FIRST_OFFSET_READER = 501
ALTER_CONFIGS_VERSION = 1

Lives = dict[int, SharePartition]
"""The share partitions of the topic at one broker, by index."""


class ShareGroupCluster(GroupCluster):
    """`deliveries` is what all members that ever lived were given."""

    stable_within = 90_000
    settings: ClassVar[Mapping[str, object]] = {
        "group.share.min.session.timeout.ms": 1000,
        "group.share.session.timeout.ms": 6000,
        "group.share.min.heartbeat.interval.ms": 100,
        "group.share.heartbeat.interval.ms": 400,
        # Longer than all attempts to initialize a partition: as in Kafka, a second initialization
        # may reset a share partition that is in use.
        "group.share.initialize.retry.interval.ms": 60_000,
        "group.share.min.record.lock.duration.ms": 1000,
        "group.share.record.lock.duration.ms": LOCK_MS,
        "share.coordinator.snapshot.update.records.per.snapshot": 5,
    }
    internal_topics: ClassVar[Mapping[str, int]] = {CONSUMER_OFFSETS: 1, SHARE_GROUP_STATE: SHARE_COORDINATORS}
    watch: ShareWatch

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.deliveries = Deliveries(shape.delivery_count_limit)

    def _make_watch(self) -> ShareWatch:
        return ShareWatch(self, self.internal_topics)

    def settings_of(self, id: int) -> dict[str, object]:
        settings = super().settings_of(id)
        if id in self.shape.broker_ids:
            settings["group.share.delivery.count.limit"] = self.shape.delivery_count_limit
            settings["group.share.assignment.interval.ms"] = self.shape.assignment_interval_ms
        return settings

    def _begin_members(self) -> None:
        self._read_from_the_start()
        for _ in range(self.shape.share_members):
            self._begin(lambda id: ShareMember(self, id, f"s{id}"))
        StartOffsetReader(self, FIRST_OFFSET_READER).begin()
        self._let_grow(self.watch, [self.shape.partitions + 1])
        self._let_grow(self.watch.add(TOPICS[1]), [1, 2])

    def _read_from_the_start(self) -> None:
        of = IncrementalAlterConfigsRequest
        config = of.AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
        resource = of.AlterConfigsResource(resource_type=GROUP, resource_name=NAME, configs=[config])
        answer = self.ask_controller(of(resources=[resource]), ALTER_CONFIGS_VERSION)
        if answer.responses[0].error_code:
            raise Broken(f"the group cannot be configured: {answer}")
        self.require(self._is_configured, "a broker does not learn the configuration of the group")

    def _is_configured(self) -> bool:
        return all(
            member.node is not None and member.node.image.config_overrides(GROUP, NAME) for member in self.brokers
        )

    def _begin_successor(self, member: ShareMember) -> None:
        self._begin(lambda id: ShareMember(self, id, f"s{id}"))

    def grown(self, watch: Watch) -> None:
        """A producer writes to the new partition."""
        if watch is self.watch:
            self.partitions = range(len(watch.partitions))
            producer = self._make_producer(self.partitions[-1])
            producer.is_ending = self.is_ending
            producer.begin()

    def terms(self, id: int) -> list[int | None]:
        """The leader epochs of the coordinators: of the group, if this broker is it, and of the
        share partitions."""
        topic = SHARE_GROUP_STATE
        partitions = self.watch.internal[topic].partitions
        led = [index for index in partitions if self.coordinator_of(topic, index) is not None]
        return [self.term(id), *(partitions[index].leader_epoch if index in led else None for index in partitions)]

    # Share partitions.

    def lives(self, id: int) -> Lives:
        """The share partitions of the topic at this broker now."""
        node = self.members[id].node
        found = () if node is None else node.share_partitions
        return {each.key.partition: each for each in found if each.topic == TOPIC}

    def life(self, id: int, index: int, before: Lives) -> SharePartition | None:
        """The share partition that has answered since there were those; None if it may have been
        another one."""
        now = self.lives(id).get(index)
        return now if before.get(index, now) is now else None

    # The end.

    def figures(self) -> dict[str, int]:
        seen, done = len(self.deliveries.seen), self.deliveries.confirmed
        return {"records delivered": seen, "records done": done} | super().figures()

    def _is_shared(self) -> bool:
        """Every partition is assigned, and each member has its target assignment."""
        group: Any = self.group
        everything = {
            (watch.topic, index) for watch in (self.watch, self.watch.internal[TOPICS[1]]) for index in watch.partitions
        }
        assigned = [member.assigned for member in self.group_members]
        return set().union(*assigned) == everything and all(
            member.assigned
            == {
                (topic, index)
                for topic in TOPICS
                for index in group.target_assignment.get(member.member_id, {}).get(self.topic_id(topic), ())
            }
            for member in self.group_members
        )

    def _finish(self) -> None:
        """Every record is delivered and done."""
        self.require(lambda: all(each.is_idle for each in self.producers), "a producer does not come to its end")
        self.require(self._is_consumed, "not every record is acknowledged", CONSUMED_WITHIN)
        everything = {
            RecordKey(index, offset)
            for index, history in enumerate(self.watch.histories)
            for offset in range(history.end)
        }
        promises.everything_is_delivered(everything - self.deliveries.seen, self.shape)

    def _is_consumed(self) -> bool:
        for index, history in enumerate(self.watch.histories):
            leader = self.leader(index)
            found = None if leader is None else self.lives(leader.id).get(index)
            if found is None or not found.is_active or found.records.start_offset < history.end:
                return False
        return True


CONSUMED_WITHIN = 80_000
"""The time (ms) in which a share group comes to the end of its topic: many locks, one after the
other, and some pauses of the persister."""
