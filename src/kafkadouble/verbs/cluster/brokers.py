"""The methods of KafkaDouble about its brokers: down and up, add and remove, sessions, replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.brokers import cluster_description, membership
from kafkadouble.common.marking import verb

if TYPE_CHECKING:
    from kafkadouble.brokers.cluster_description import ClusterDescription
    from kafkadouble.host.host import Host


@verb
def describe_cluster(host: Host) -> ClusterDescription:
    """The id of the cluster, its controller, the time of its clock, and its brokers with their
    addresses and states."""
    return host.call(cluster_description.describe, host.serving().broker)


@verb
def down(host: Host, broker: int | None = None) -> None:
    """Shuts a broker down in order, or every broker if none is named; a single broker, too. Its
    data stays, in memory as well. Clients get connection refused, and no other process gets the
    port. Does nothing if the broker is down.

    With several brokers this takes up to two seconds, as `brokers[1].stop()` does.
    """
    running = host.serving()
    running.thread.run(membership.down(running.broker, broker))


@verb
def up(host: Host, broker: int | None = None) -> None:
    """Starts a broker that is down, or every broker, on its data and behind the same port, and
    waits until it serves clients. Does nothing if the broker runs. Fault rules and `requests`
    stay.

    The session of its previous incarnation ends at once; `brokers[1].start()` waits for that as
    Kafka does. An isolated broker is started, and not waited for. Raises
    KafkaError(REQUEST_TIMED_OUT) if a broker is not part of the cluster after 60 s.
    """
    running = host.serving()
    running.thread.run(membership.up(running.broker, broker))


@verb
def add_broker(host: Host) -> int:
    """Adds a broker to a cluster, on a free port, and returns its id: one more than the
    controller's, or the next free one. It has no replicas until topics are created or
    partitions are reassigned. `reset` removes it again; after a stop, `add_broker` gives the
    same id and finds its data.

    Raises UsageError for a KafkaDouble with a single broker.
    """
    running = host.serving()
    return running.thread.run(membership.add(running.broker))


@verb
def remove_broker(host: Host, broker: int, reassign: bool = False) -> None:
    """Shuts a broker down in order and unregisters it. It must have no replicas; with
    `reassign=True` they are moved to the other brokers first. The id is not used again before
    a `reset`, which brings a broker back that was there at the start.

    Raises UsageError if it has replicas, or if they find no other broker.
    """
    running = host.serving()
    running.thread.run(membership.remove(running.broker, broker, reassign))


@verb
def expire_session(host: Host, broker: int) -> None:
    """Ends the session of a broker at once, as `broker.session.timeout.ms` does later: the
    controller fences it, and other brokers lead its partitions. A broker that was killed can
    be started at once then; one that runs is fenced until its next heartbeat.

    Raises KafkaError(BROKER_ID_NOT_REGISTERED).
    """
    host.call(membership.expire_session, host.serving().broker, broker)


@verb
def reassign(host: Host, topic: str, partition: int, replicas: Sequence[int]) -> None:
    """Begins to move the replicas of a partition to these brokers, as
    `kafka-reassign-partitions` does; the first is the preferred leader. It ends when the new
    replicas are in sync; `topics()` has the replicas.

    Raises KafkaError: INVALID_REPLICA_ASSIGNMENT, UNKNOWN_TOPIC_OR_PARTITION.
    """
    host.call(membership.reassign, host.serving().broker, topic, partition, replicas)
