"""The KafkaDouble of the brokers that `kafkadouble serve` runs: the same verbs, for its control
plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .common.errors import UsageError
from .double import KafkaDouble

if TYPE_CHECKING:
    from .control.server import ControlServer
    from .host.host import Host


class ServedDouble(KafkaDouble):
    """A double over brokers that run on this thread, as `host.running`. It neither starts nor stops
    them."""

    def __init__(self, host: Host) -> None:
        self._hold(host)

    def start(self) -> KafkaDouble:
        """Does nothing: it runs."""
        return self

    def stop(self) -> None:
        """Raises UsageError: the process ends by a signal."""
        raise UsageError("the brokers of `kafkadouble serve` end with their process: send it SIGTERM")

    def has_control(self, server: ControlServer) -> None:
        """Its control plane, which `page` and `token_endpoint` name."""
        self._control = server

    def leave(self) -> None:
        """Makes no more calls: every one that waits ends, and later ones are refused. It may be
        called again."""
        if self._double_host.steps is not None:
            self._double_host.steps.end()
        self._double_host.known().thread.stop()

    def begin_scenario(self) -> None:
        """Applies the scenario. Call it on another thread than the brokers'."""
        self._apply_scenario()
