"""The methods of KafkaDouble about its brokers: down and up, add and remove, sessions, replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.brokers.cluster_description import ClusterDescription


class BrokerVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def describe_cluster(self) -> ClusterDescription:
        """The id of the cluster, its controller, the time of its clock, and its brokers with their
        addresses and states."""
        from kafkadouble.brokers import cluster_description

        return self._call(cluster_description.describe, self._serving().broker)

    @verb
    def down(self, broker: int | None = None) -> None:
        """Shuts a broker down in order, or every broker if none is named; a single broker, too. Its
        data stays, in memory as well. Clients get connection refused, and no other process gets the
        port. Does nothing if the broker is down.

        With several brokers this takes up to two seconds, as `brokers[1].stop()` does.
        """
        from kafkadouble.brokers import membership

        running = self._serving()
        running.thread.run(membership.down(running.broker, broker))

    @verb
    def up(self, broker: int | None = None) -> None:
        """Starts a broker that is down, or every broker, on its data and behind the same port, and
        waits until it serves clients. Does nothing if the broker runs. Fault rules and `requests`
        stay.

        The session of its previous incarnation ends at once; `brokers[1].start()` waits for that as
        Kafka does. An isolated broker is started, and not waited for. Raises
        KafkaError(REQUEST_TIMED_OUT) if a broker is not part of the cluster after 60 s.
        """
        from kafkadouble.brokers import membership

        running = self._serving()
        running.thread.run(membership.up(running.broker, broker))

    @verb
    def add_broker(self) -> int:
        """Adds a broker to a cluster, on a free port, and returns its id: one more than the
        controller's, or the next free one. It has no replicas until topics are created or
        partitions are reassigned. `reset` removes it again; after a stop, `add_broker` gives the
        same id and finds its data.

        Raises UsageError for a KafkaDouble with a single broker.
        """
        from kafkadouble.brokers import membership

        running = self._serving()
        return running.thread.run(membership.add(running.broker))

    @verb
    def remove_broker(self, broker: int, reassign: bool = False) -> None:
        """Shuts a broker down in order and unregisters it. It must have no replicas; with
        `reassign=True` they are moved to the other brokers first. The id is not used again before
        a `reset`, which brings a broker back that was there at the start.

        Raises UsageError if it has replicas, or if they find no other broker.
        """
        from kafkadouble.brokers import membership

        running = self._serving()
        running.thread.run(membership.remove(running.broker, broker, reassign))

    @verb
    def expire_session(self, broker: int) -> None:
        """Ends the session of a broker at once, as `broker.session.timeout.ms` does later: the
        controller fences it, and other brokers lead its partitions. A broker that was killed can
        be started at once then; one that runs is fenced until its next heartbeat.

        Raises KafkaError(BROKER_ID_NOT_REGISTERED).
        """
        from kafkadouble.brokers import membership

        self._call(membership.expire_session, self._serving().broker, broker)

    @verb
    def reassign(self, topic: str, partition: int, replicas: Sequence[int]) -> None:
        """Begins to move the replicas of a partition to these brokers, as
        `kafka-reassign-partitions` does; the first is the preferred leader. It ends when the new
        replicas are in sync; `topics()` has the replicas.

        Raises KafkaError: INVALID_REPLICA_ASSIGNMENT, UNKNOWN_TOPIC_OR_PARTITION.
        """
        from kafkadouble.brokers import membership

        self._call(membership.reassign, self._serving().broker, topic, partition, replicas)
