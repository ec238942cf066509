"""The methods of KafkaDouble about where it is reached."""

from __future__ import annotations

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost


class AddressVerbs(VerbHost):
    """A part of KafkaDouble."""

    @property
    def port(self) -> int:
        """The port of the first broker, on its first listener."""
        return self._addresses()[0][1]

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT of every broker, separated by commas, for the setting `bootstrap.servers` of a
        client. With several listeners, these are the addresses of the first."""
        return ",".join(text_of(*address) for address in self._addresses())

    @verb
    def bootstrap(self, listener: str) -> str:
        """HOST:PORT of every broker on this listener. Raises UsageError for an unknown one."""
        return ",".join(text_of(*address) for address in self._addresses(listener))

    @property
    def controller_bootstrap_servers(self) -> str:
        """HOST:PORT of the controller, for the setting `controller.quorum.bootstrap.servers` of a
        node that joins. Raises UsageError without `controller_port`."""
        found = self._known().broker.controller
        if found is None:
            raise UsageError("no other node reaches its controller: give controller_port=0")
        return text_of(*found)

    def _addresses(self, listener: str | None = None) -> list[tuple[str, int]]:
        running = self._known()
        return (running if running.thread.elsewhere else self._serving()).broker.addresses(listener)
