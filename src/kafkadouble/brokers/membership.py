"""Membership of brokers: stop and start, add and remove, the end of a session, reassignments. Run
everything here on the loop's thread.

Rules. A broker that goes down shuts down in order. A broker that is removed first has no replicas,
then shuts down, and is unregistered, as in Kafka: a registration that is gone would leave replicas
on a broker that nothing knows. Replicas move by Kafka's own reassignment. With a clock that stands
still, what takes time moves the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError, UsageError, raise_for
from kafkadouble.common.start_options import TWO_BROKERS
from kafkadouble.engine.broker import Broker
from kafkadouble.engine.cluster import Cluster
from kafkadouble.engine.node_listeners import BoundListeners, bound
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.server.controller.broker_heartbeat import fence_one_stale_broker
from kafkadouble.server.metadata.image import Image, PartitionImage
from kafkadouble.topics import placement
from kafkadouble.wire.wording import GivenParameter, VerbCall

from .broker_handle import ids_in_words

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.engine.cluster_member import ClusterMember

JOIN_MS, MOVE_MS, TIMEOUT_MS = 60_000, 60_000, 30_000
"""How long brokers may take to join, and replicas to move; and the timeout of a request."""

MANY = 5
"""How many partitions an error names."""

ReassignableTopic = AlterPartitionReassignmentsRequest.ReassignableTopic
ReassignablePartition = AlterPartitionReassignmentsRequest.ReassignablePartition


def _cluster(broker: ClusterApi, what: str) -> Cluster:
    """UsageError for a broker that is the whole cluster."""
    if isinstance(broker, Cluster):
        return broker
    raise UsageError("a single broker cannot {what}: give {option} or more", what=what, option=TWO_BROKERS)


def _members(cluster: Cluster, id: int | None) -> list[ClusterMember]:
    if id is None:
        return [*cluster.members_by_id.values()]
    check(broker=id)
    if id not in cluster.members_by_id:
        raise UsageError(f"there is no broker {id!r}: ids are {ids_in_words(cluster.members_by_id)}")
    return [cluster.members_by_id[id]]


def _check_single(broker: Broker, id: int | None) -> None:
    if id is not None:
        check(broker=id)
        if id != broker.node.id:
            raise UsageError(f"there is no broker {id!r}: the only one is {broker.node.id}")


async def down(broker: ClusterApi, id: int | None) -> None:
    """Shuts a broker down, or all of them."""
    if isinstance(broker, Broker):
        _check_single(broker, id)
        await broker.down()
        return
    assert isinstance(broker, Cluster)
    members = [member for member in _members(broker, id) if member.broker is not None]
    for member in members:
        broker.pause(member, False)
    await broker.hand_over(members)
    for member in members:
        await broker.end(member, in_order=True)


async def up(broker: ClusterApi, id: int | None) -> None:
    """Starts a broker, or all of them, and waits until each serves clients. KafkaError when they
    are not part of the cluster in time; they go on to try. A session that an earlier incarnation
    has left is ended first: the controller would refuse the broker for the rest of it."""
    if isinstance(broker, Broker):
        _check_single(broker, id)
        await broker.up()
        return
    assert isinstance(broker, Cluster)
    members = _members(broker, id)
    for member in [member for member in members if member.broker is None]:
        if member.id in broker.image.brokers:
            expire_session(broker, member.id)
        await broker.begin(member)
    await _joined(broker, [member.id for member in members if not (member.is_isolated or member.is_paused)])


async def _joined(cluster: Cluster, ids: Sequence[int]) -> None:
    def serve() -> bool:
        running = [cluster.members_by_id[id].broker for id in ids]
        return cluster.is_joined(ids) and all(each is not None and each.node.is_open for each in running)

    if not await cluster.in_process.until(serve, JOIN_MS):
        raise KafkaError(error_codes.REQUEST_TIMED_OUT, f"brokers {ids} are not part of the cluster in {JOIN_MS} ms")


async def add(broker: ClusterApi) -> int:
    """Adds a broker with the next free id, on free ports, and waits until it is part of the
    cluster."""
    cluster = _cluster(broker, "get another one")
    taken = {*cluster.members_by_id, *cluster.removed, cluster.controlling.node.id, *cluster.image.controllers}
    id = next(each for each in count(cluster.controlling.node.id + 1) if each not in taken)
    listeners = _listeners(next(iter(cluster.members_by_id.values())).listeners)
    try:
        member = cluster.add_member(id, listeners)
    except BaseException:
        listeners.close()
        raise
    try:
        await cluster.begin(member)
        await _joined(cluster, [id])
    except BaseException:
        await cluster.end(member, in_order=False)
        cluster.drop_member(member)
        raise
    return id


def _listeners(of: BoundListeners) -> BoundListeners:
    """Listeners as these, on free ports."""
    return bound(
        [
            spec._replace(
                bind=None if spec.bind is None else (spec.bind[0], 0),
                advertised=None if spec.advertised is None else (spec.advertised[0], 0),
            )
            for spec in of.specs
        ]
    )


async def remove(broker: ClusterApi, id: int, reassigns: bool) -> None:
    """Removes a broker. UsageError if it has replicas that are not to move, or cannot."""
    cluster = _cluster(broker, "be removed")
    check(broker=id, reassign=reassigns)
    [member] = _members(cluster, id)
    if len(cluster.members_by_id) == 1:
        raise UsageError(f"broker {id} is the last one: a cluster has one at least")
    if _replicas_on(cluster.image, id):
        if not reassigns:
            has, option = _in_words(cluster.image, id), GivenParameter("reassign", True)
            raise UsageError(f"broker {id} has {has}: give {{option}}, or move them first", option=option)
        await _move_away(cluster, id)
    await down(cluster, id)
    cluster.settle()
    answer = cluster.ask(UnregisterBrokerRequest(broker_id=id)).result()
    raise_for(answer.error_code, answer.error_message)
    cluster.isolate(member, False)
    cluster.removed[id] = cluster.members_by_id.pop(id)
    cluster.settle()


def _replicas_on(image: Image, id: int) -> list[tuple[str, int, PartitionImage]]:
    names = sorted(image.topic_ids)
    topics = (topic for name in names if (topic := image.topic_named(name)) is not None)
    return [(topic.name, index, each) for topic in topics for index, each in topic.in_order() if id in each.replicas]


def _in_words(image: Image, id: int) -> str:
    names = [f"{topic}-{index}" for topic, index, _ in _replicas_on(image, id)]
    more = f" and {len(names) - MANY} more" if len(names) > MANY else ""
    return f"replicas of {', '.join(names[:MANY])}{more}"


async def _move_away(cluster: Cluster, id: int) -> None:
    """Moves each replica of a broker to the live broker that has the fewest, and waits for that."""
    image = cluster.image
    live = [broker.id for broker in image.live_brokers() if broker.active and broker.id != id]
    loads = {each: len(_replicas_on(image, each)) for each in live}
    targets = []
    for topic, index, partition in _replicas_on(image, id):
        free = [each for each in live if each not in partition.replicas]
        if not free:
            verbs = {"add": VerbCall("add_broker"), "reassign": VerbCall("reassign")}
            problem = f"{topic}-{index} has a replica on each live broker: {{add}} first, or {{reassign}} it"
            raise UsageError(problem, **verbs)
        target = min(free, key=lambda each: (loads[each], each))
        loads[target] += 1
        targets.append((topic, index, [target if replica == id else replica for replica in partition.replicas]))
    _reassign(cluster, targets)
    if not await cluster.in_process.until(lambda: not _replicas_on(cluster.image, id), MOVE_MS):
        problem = f"broker {id} still has {_in_words(cluster.image, id)} after {MOVE_MS} ms"
        raise KafkaError(error_codes.REQUEST_TIMED_OUT, problem)


def reassign(broker: ClusterApi, topic: str, index: int, replicas: Sequence[int]) -> None:
    """Begins to move the replicas of a partition to these brokers."""
    check(replicas=replicas)
    placement.find(broker, topic, index)
    _reassign(broker, [(topic, index, replicas)])


def _reassign(broker: ClusterApi, targets: Iterable[tuple[str, int, Sequence[int]]]) -> None:
    by_topic: dict[str, list[ReassignablePartition]] = {}
    for topic, index, replicas in targets:
        by_topic.setdefault(topic, []).append(ReassignablePartition(partition_index=index, replicas=[*replicas]))
    topics = [ReassignableTopic(name=name, partitions=partitions) for name, partitions in by_topic.items()]
    request = AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
    answer = broker.ask(request).result()
    raise_for(answer.error_code, answer.error_message)
    broker.settle()
    for topic in answer.responses:
        for one in topic.partitions:
            raise_for(one.error_code, f"{topic.name}-{one.partition_index}: {one.error_message}")


def expire_session(broker: ClusterApi, id: int) -> None:
    """Ends the session of a broker: the controller fences it."""
    cluster = _cluster(broker, "lose its session")
    _members(cluster, id)
    node = cluster.controlling.node
    node.advance(cluster.clock.now())
    active = node.controller.active
    registered = active.image.brokers.get(id)
    if registered is None:
        raise KafkaError(error_codes.BROKER_ID_NOT_REGISTERED, f"broker {id} is not registered")
    active.heartbeats.expire(registered, node.now)
    while records := fence_one_stale_broker(active.image, node.settings, active.heartbeats, node.now):
        node.controller.commit(records)
    cluster.settle()
