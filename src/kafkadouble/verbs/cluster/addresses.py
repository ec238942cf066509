"""The methods of KafkaDouble about where it is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.common.marking import attribute, verb

if TYPE_CHECKING:
    from kafkadouble.host.host import Host


@attribute
def port(host: Host) -> int:
    """The port of the first broker, on its first listener."""
    return host.addresses()[0][1]


@attribute
def bootstrap_servers(host: Host) -> str:
    """HOST:PORT of every broker, separated by commas, for the setting `bootstrap.servers` of a
    client. With several listeners, these are the addresses of the first."""
    return host.bootstrap()


@verb
def bootstrap(host: Host, listener: str) -> str:
    """HOST:PORT of every broker on this listener. Raises UsageError for an unknown one."""
    return host.bootstrap(listener)


@attribute
def controller_bootstrap_servers(host: Host) -> str:
    """HOST:PORT of the controller, for the setting `controller.quorum.bootstrap.servers` of a
    node that joins. Raises UsageError without `controller_port`."""
    controller = host.known().broker.controller
    if controller is None:
        raise UsageError("no other node reaches its controller: give controller_port=0")
    return text_of(*controller)
