"""The brokers of a KafkaDouble. Each can be started, stopped, killed and paused; one of several
can be isolated, too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.common.marking import verb

if TYPE_CHECKING:
    from kafkadouble.engine.cluster import Cluster
    from kafkadouble.engine.cluster_member import ClusterMember
    from kafkadouble.engine.running import Running

Serving = Callable[[], "Running"]


class Brokers(dict[int, "BrokerHandle"]):
    """All brokers, by id. Raises UsageError for an unknown id."""

    def __init__(self, handles: Iterable[BrokerHandle]) -> None:
        super().__init__({handle.id: handle for handle in handles})

    def __missing__(self, id: object) -> BrokerHandle:
        raise UsageError(f"there is no broker {id!r}: ids are {ids_in_words(self)}")


def ids_in_words(ids: Collection[int]) -> str:
    """`1 to 3`, or `1, 2, 5` if some are missing."""
    if len(ids) > 1 and max(ids, default=0) == len(ids):
        return f"1 to {len(ids)}"
    return ", ".join(map(str, ids))


class BrokerHandle:
    """A broker of a cluster. A verb is complete when its call returns; its consequences, such
    as an election, take as long as they take in Kafka."""

    def __init__(self, serving: Serving, id: int) -> None:
        self._serving, self.id = serving, id

    @property
    def bootstrap(self) -> str:
        """HOST:PORT of this broker; it stays the same after a restart."""
        return text_of(*self._member().address())

    @verb
    def bootstrap_on(self, listener: str) -> str:
        """HOST:PORT of this broker on the listener with this name."""
        return text_of(*self._member().address(listener))

    @property
    def running(self) -> bool:
        """Whether the broker runs; a paused or isolated broker runs too."""
        return self._member().broker is not None

    @property
    def metrics(self) -> dict[str, Any]:
        """Metrics of this broker's snapshots of the cluster's metadata, as in
        `KafkaDouble.metrics`. Raises UsageError if the broker does not run."""
        running, _, member = self._all()
        broker = member.broker
        if broker is None:
            raise UsageError(f"broker {self.id} does not run: it has no metrics")
        return running.thread.call(broker.node.snapshot_generator.readings)

    @verb
    def kill(self) -> None:
        """Ends the broker without notice, as `kill -9` does; its log stays for its next start. The
        controller notices when the broker's session times out, after `broker.session.timeout.ms`
        (9 s)."""
        self._run(in_order=False)

    @verb
    def stop(self) -> None:
        """Shuts the broker down in order: other brokers take over its partitions first, and confirm
        that with their next heartbeat. As in Kafka this takes up to two seconds; a stepped clock
        moves by as much."""
        self._run(in_order=True)

    @verb
    def start(self) -> None:
        """Starts the broker on its old log, behind the same port. As in Kafka 4.4, it joins the
        cluster only after the session of its previous incarnation has timed out."""
        running, cluster, member = self._all()
        running.thread.run(cluster.begin(member))

    @verb
    def pause(self) -> None:
        """Pauses the broker, as SIGSTOP pauses a process: connections stay open, and no request is
        answered. Raises UsageError if the broker does not run."""
        if not self.running:
            raise UsageError(f"broker {self.id} does not run: there is nothing to pause")
        self._call(lambda cluster, member: cluster.pause(member, True))

    @verb
    def resume(self) -> None:
        """Ends the pause."""
        self._call(lambda cluster, member: cluster.pause(member, False))

    @verb
    def isolate(self) -> None:
        """Cuts the broker off from the other brokers and the controller, also after a restart.
        Clients still reach it."""
        self._call(lambda cluster, member: cluster.isolate(member, True))

    @verb
    def join(self) -> None:
        """Ends the isolation."""
        self._call(lambda cluster, member: cluster.isolate(member, False))

    def _run(self, *, in_order: bool) -> None:
        running, cluster, member = self._all()
        running.thread.run(cluster.end(member, in_order=in_order))

    def _call(self, do: Callable[[Cluster, ClusterMember], Any]) -> None:
        running, cluster, member = self._all()
        running.thread.call(do, cluster, member)

    def _member(self) -> ClusterMember:
        return self._all()[2]

    def _all(self) -> tuple[Running, Cluster, ClusterMember]:
        running = self._serving()
        cluster: Any = running.broker
        if self.id not in cluster.members_by_id:
            raise UsageError(f"broker {self.id} was removed: ids are {ids_in_words(cluster.members_by_id)}")
        return running, cluster, cluster.members_by_id[self.id]

    def __repr__(self) -> str:
        return f"<{self._member()!r}>"
