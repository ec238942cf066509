"""The host of a Kafka that is not a double: verbs read it by requests, and waits look again and
again."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.engine.node_listeners import address_on
from kafkadouble.host.host import Host
from kafkadouble.waits.awaited import refuse_event_loop

from . import polling
from .remote.remote_running import RemoteRunning

if TYPE_CHECKING:
    from kafkadouble.messages.message import Message
    from kafkadouble.waits.awaited import Awaited

    from .remote.remote_cluster import RemoteCluster

T = TypeVar("T")
V = TypeVar("V")


class RemoteHost(Host):
    """The host of `kafka`, which is a RealKafka. Its settings are those of the Kafka itself."""

    def __init__(self, kafka: object, remote: RemoteCluster) -> None:
        unknown: Any = None
        super().__init__(unknown, remote.clock, [])
        self.held, self._remote, self._runs = weakref.ref(kafka), remote, RemoteRunning(remote)

    def known(self) -> Any:
        """The stand-in for the thread of a double."""
        return self._runs

    serving = known

    def addresses(self, listener: str | None = None) -> list[tuple[str, int]]:
        """The addresses of a Kafka that was started on this machine."""
        return [address_on(specs, listener) for specs in self.nodes]

    def ask(self, body: Message, at: Any = None) -> Any:
        """The response of a broker to this request, any broker unless one is given."""
        return self.call(self._remote.ask, body, at).result()

    def wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float, advance: bool) -> T:
        """As that of a double. Raises OnlyOnDouble for a wait that advances a clock."""
        polling.check_wait(self.double, advance)
        refuse_event_loop(self.known())
        return result(polling.outcome(self._runs, awaited, timeout))
