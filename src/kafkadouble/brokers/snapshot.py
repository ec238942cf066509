"""A snapshot of a double: taken, kept as a value, and restored. Call every function on the loop's
thread.

Rules. Nothing here loads state: a restore puts copies of logs in place, and starts new nodes on
them, as after an outage of the whole cluster. Afterwards every broker runs, the partitions have the
leaders and at least the in-sync replicas of the snapshot, and what was committed can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.common.kinds import given_as
from kafkadouble.common.plural import counted
from kafkadouble.engine import cluster_restart
from kafkadouble.engine.broker import Broker
from kafkadouble.engine.cluster import Cluster
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.metadata.internal_topics import INTERNAL_TOPICS
from kafkadouble.server.replica.replication.partition import Partition

from . import membership
from .broker_handle import ids_in_words

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.engine.data.saved_logs import SavedLogs

RESTORE_MS = 60_000
"""How long followers may take to catch up after a restore."""


class PartitionPlace(NamedTuple):
    """The state of a partition that a restore brings back besides its logs. The offsets are those
    of the leader, 0 if there was none."""

    topic: str
    leader: int
    isr: frozenset[int]
    start_offset: int = 0
    high_watermark: int = 0


class SnapshotForm(NamedTuple):
    """The shape of a double that a snapshot fits: the ids of its brokers and of its
    controller, and so many data directories."""

    brokers: tuple[int, ...]
    controller: int
    data_dirs: int

    def __str__(self) -> str:
        of = f"broker {self.brokers[0]}" if len(self.brokers) == 1 else f"brokers {ids_in_words(self.brokers)}"
        where = f"with {self.data_dirs} data directories" if self.data_dirs > 1 else "with a data directory"
        return f"{of} {where if self.data_dirs else 'in memory'}"


@given_as("snapshot")
class Snapshot:
    """The contents of a double at one moment, for `restore`. It never changes.

    `topics` is the number of topics, `records` that of their committed records, counted by offsets;
    both without internal topics. `size_bytes` is the size of the logs of all nodes, `taken_ms` the
    time of the double (ms since the epoch). `name` is the name by which the double keeps it, or
    None.
    """

    __slots__ = ("_places", "_saved", "form", "name", "records", "size_bytes", "taken_ms", "topics")

    def __init__(
        self,
        form: SnapshotForm,
        saved: Mapping[int, SavedLogs],
        places: Mapping[tuple[Uuid, int], PartitionPlace],
        taken_ms: int,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.form, self._saved, self._places, self.taken_ms = form, saved, places, taken_ms
        own = [place for place in places.values() if place.topic not in INTERNAL_TOPICS]
        self.topics = len({place.topic for place in own})
        self.records = sum(place.high_watermark - place.start_offset for place in own)
        self.size_bytes = sum(each.size for each in saved.values())

    @property
    def saved(self) -> Mapping[int, SavedLogs]:
        """A copy of what each node kept, by its id."""
        return self._saved

    @property
    def places(self) -> Mapping[tuple[Uuid, int], PartitionPlace]:
        """The partitions, by the id of the topic and the index."""
        return self._places

    def __repr__(self) -> str:
        try:
            taken = f"{datetime.fromtimestamp(self.taken_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
        except (OverflowError, ValueError, OSError):  # of a stepped clock
            taken = f"{self.taken_ms} ms"
        held = f"{counted(self.topics, 'topic')}, {counted(self.records, 'record')}, {self.size_bytes} bytes"
        return f"<Snapshot of {self.form}: {held}, taken at {taken}>"


def take(broker: ClusterApi, name: str | None = None) -> Snapshot:
    """UsageError while nodes of other processes are part of the cluster,
    KafkaError(KAFKA_STORAGE_ERROR) if a data directory cannot be read."""
    broker.settle()
    check_alone(broker)
    try:
        saved = cluster_restart.save(broker) if isinstance(broker, Cluster) else _alone(broker)
    except DiskFailure as failure:
        raise KafkaError(error_codes.KAFKA_STORAGE_ERROR, str(failure)) from None
    return Snapshot(_form(broker), saved, dict(_places(broker)), broker.clock.now(), name)


def _alone(broker: ClusterApi) -> dict[int, SavedLogs]:
    assert isinstance(broker, Broker)
    return {broker.node.id: broker.save()}


def _form(broker: ClusterApi) -> SnapshotForm:
    if not isinstance(broker, Cluster):
        return SnapshotForm((broker.node.id,), broker.node.id, len(broker.disk_paths))
    data_dirs = len(next(iter(broker.members_by_id.values())).data.paths)
    return SnapshotForm(tuple(sorted(broker.members_by_id)), broker.controlling.node.id, data_dirs)


def _places(broker: ClusterApi) -> Iterator[tuple[tuple[Uuid, int], PartitionPlace]]:
    for id, topic, index, partition in _partitions(broker):
        place = PartitionPlace(topic, partition.leader, frozenset(partition.isr))
        led = _led(broker, topic, index, partition.leader)
        if led is not None:
            # a log that was truncated inside a batch holds less than its offsets say
            log, held = led.log, led.log.segments[-1].next_offset
            end = max(log.log_start_offset, min(log.high_watermark, held))
            place = place._replace(start_offset=log.log_start_offset, high_watermark=end)
        yield (id, index), place


def _partitions(broker: ClusterApi) -> Iterator[tuple[Uuid, str, int, PartitionImage]]:
    image = broker.node.controller.image
    for name in sorted(image.topic_ids):
        topic = image.topic_named(name)
        if topic is not None:
            for index, partition in topic.in_order():
                yield topic.id, name, index, partition


def _led(broker: ClusterApi, topic: str, index: int, leader: int) -> Partition | None:
    """The partition at the broker that leads it; None if that does not run."""
    if isinstance(broker, Broker):
        return broker.node.partitions.get(topic, index)
    member = broker.member(leader)
    return None if member is None or member.broker is None else member.broker.node.partitions.get(topic, index)


def check_alone(broker: ClusterApi) -> None:
    """UsageError while nodes of other processes are part of the cluster: they would keep what they
    know."""
    node = broker.node
    own = {*broker.states}
    others = {live.id for live in node.controller.image.live_brokers()} - own
    others |= {*node.quorum.replica.voters.ids} - {node.id}
    if others:
        problem = f"nodes of other processes are part of the cluster: {ids_in_words(sorted(others))}"
        raise UsageError(f"{problem}; a snapshot is of a double whose nodes are all its own")


def check_fits(broker: ClusterApi, snapshot: Snapshot) -> None:
    """UsageError for a snapshot of another number of brokers, or of another kind of data."""
    check_alone(broker)
    here = _form(broker)
    known = {*here.brokers, *broker.removed} if isinstance(broker, Cluster) else {*here.brokers}
    form = snapshot.form
    fits = (form.controller, form.data_dirs) == (here.controller, here.data_dirs) and {*form.brokers} <= known
    if not fits or (isinstance(broker, Broker) and len(form.brokers) > 1):
        allowed = here._replace(brokers=tuple(sorted(known)))
        raise UsageError(f"snapshot is one of {allowed}, as this double has, not of {form}")


async def restore(broker: ClusterApi, snapshot: Snapshot) -> None:
    """Replaces the contents of the brokers by those of a snapshot that fits.
    KafkaError(REQUEST_TIMED_OUT) when the brokers are not caught up in time,
    KafkaError(KAFKA_STORAGE_ERROR) if a data directory cannot be written."""
    try:
        if isinstance(broker, Broker):
            await broker.restore(snapshot.saved[broker.node.id])
            broker.settle()
            return
        assert isinstance(broker, Cluster)
        await cluster_restart.restore(broker, snapshot.saved)
    except DiskFailure as failure:
        raise KafkaError(error_codes.KAFKA_STORAGE_ERROR, str(failure)) from None
    # Before any broker begins: followers of one that is still to come would wait to fetch again.
    for id in snapshot.form.brokers:
        if id in broker.image.brokers:
            membership.expire_session(broker, id)
    await membership.up(broker, None)
    await _until(broker, snapshot, _is_in_sync)
    _elect(broker, snapshot)
    await _until(broker, snapshot, _is_readable)


async def _until(cluster: Cluster, snapshot: Snapshot, holds: Callable[[Cluster, Snapshot], bool]) -> None:
    if not await cluster.in_process.until(lambda: holds(cluster, snapshot), RESTORE_MS):
        problem = f"the followers of {snapshot!r} have not caught up in {RESTORE_MS} ms"
        raise KafkaError(error_codes.REQUEST_TIMED_OUT, problem)


def _is_in_sync(cluster: Cluster, snapshot: Snapshot) -> bool:
    """Whether the replicas that were in sync are, except those of brokers that are gone."""
    return all(
        snapshot.places[id, index].isr & {*snapshot.form.brokers} <= {*partition.isr}
        for id, _, index, partition in _partitions(cluster)
        if (id, index) in snapshot.places
    )


def _elect(cluster: Cluster, snapshot: Snapshot) -> None:
    """Elects the leaders that the snapshot had; the controller chose others while the
    brokers started."""
    changes = []
    for id, _, index, partition in _partitions(cluster):
        place = snapshot.places.get((id, index))
        if place is not None and place.leader != partition.leader and place.leader in partition.isr:
            changes.append(PartitionChangeRecord(topic_id=id, partition_id=index, leader=place.leader))
    if changes:
        cluster.controlling.node.advance(cluster.clock.now())
        cluster.controlling.node.controller.commit(changes)
        cluster.settle()


def _is_readable(cluster: Cluster, snapshot: Snapshot) -> bool:
    """Whether all brokers know the leaders, and consumers can read what was committed."""
    if not cluster.is_joined(snapshot.form.brokers):
        return False
    for id, topic, index, partition in _partitions(cluster):
        place = snapshot.places.get((id, index))
        led = _led(cluster, topic, index, partition.leader)
        if place is not None and (led is None or led.log.high_watermark < place.high_watermark):
            return False
    return True
