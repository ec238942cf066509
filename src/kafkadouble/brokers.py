"""The brokers of a KafkaDouble with several: killed, started, stopped, paused and cut off, each by
itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .listening import text_of

if TYPE_CHECKING:
    from .cluster import Cluster, ClusterMember
    from .running import Running

Serving = Callable[[], "Running"]


class Brokers(dict[int, "BrokerHandle"]):
    """All brokers by id. UsageError for an id that there is not."""

    def __init__(self, serving: Serving, count: int) -> None:
        super().__init__({id: BrokerHandle(serving, id) for id in range(1, count + 1)})

    def __missing__(self, id: object) -> BrokerHandle:
        raise UsageError(f"there is no broker {id!r}: ids are 1 to {len(self)}")


class BrokerHandle:
    """One broker, by its id. What is done to it is done when the call returns; what follows from
    that takes the time that it takes in Kafka."""

    def __init__(self, serving: Serving, id: int) -> None:
        self._serving, self.id = serving, id

    @property
    def bootstrap(self) -> str:
        """HOST:PORT of this broker; it stays the same over its lives."""
        return text_of(*self._member().address())

    def bootstrap_on(self, listener: str) -> str:
        """HOST:PORT of this broker on the listener of this name."""
        return text_of(*self._member().address(listener))

    @property
    def running(self) -> bool:
        """Whether there is a process, so to speak; one that is paused or isolated runs."""
        return self._member().broker is not None

    @property
    def metrics(self) -> dict[str, Any]:
        """Numbers about the snapshots that this broker has of the cluster's metadata, as
        `KafkaDouble.metrics`. UsageError when it does not run."""
        running, _, member = self._all()
        broker = member.broker
        if broker is None:
            raise UsageError(f"broker {self.id} does not run: it has no metrics")
        return running.thread.call(broker.node.snapshot_generator.readings)

    def kill(self) -> None:
        """End it at once, as `kill -9` does; its log stays for the next start. The controller finds
        out when its session is over, after `broker.session.timeout.ms` (9 s)."""
        self._run(in_order=False)

    def stop(self) -> None:
        """End it in order: other brokers lead its partitions first. This takes up to two seconds,
        as in Kafka, of the clock too if that is stepped: the others say only with their next
        heartbeat that they know of it."""
        self._run(in_order=True)

    def start(self) -> None:
        """Start it on what it left. It is part of the cluster when the session of its last life is
        over, as in Kafka 4.4, and a moment later: at once, if it did not run for so long."""
        running, cluster, member = self._all()
        running.thread.run(cluster.begin(member))

    def pause(self) -> None:
        """Let it stand still, as SIGSTOP does: connections stay open, and no request is answered.
        UsageError if it does not run."""
        if not self.running:
            raise UsageError(f"broker {self.id} does not run: there is nothing to pause")
        self._call(lambda cluster, member: cluster.pause(member, True))

    def resume(self) -> None:
        """Let it go on after `pause`."""
        self._call(lambda cluster, member: cluster.pause(member, False))

    def isolate(self) -> None:
        """Cut it off from the other brokers and the controller; clients reach it as before. It
        stays so over its lives."""
        self._call(lambda cluster, member: cluster.isolate(member, True))

    def join(self) -> None:
        """End what `isolate` began."""
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
        return running, cluster, cluster.members_by_id[self.id]

    def __repr__(self) -> str:
        return f"<{self._member()!r}>"
