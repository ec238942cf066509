"""The listeners of a node, made from its settings (KIP-103, KIP-919).

Brokers' listeners come first, in the order of `listeners`; then controllers', in the order of
`controller.listener.names`. A node with the controller's role has the first of those even where
`listeners` does not name it: then it has no socket, and no other node reaches it.

A listener advertises what `advertised.listeners` says of it, and else its host and port as
`listeners` has them: a name stays a name, and no host means the name of the machine, as in Kafka.
The host 0.0.0.0 is for sockets alone, and `check_routable` refuses to advertise it to clients.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.wire.errors import UsageError

from ..apis.served import CONTROLLER_SERVED, SERVED
from ..requests.listener_spec import PROTOCOLS, Address, ListenerSpec, of_brokers
from .listeners import ADVERTISED, LISTENERS, controller_listener_names, endpoints, security_protocols, voter_addresses
from .settings import Settings

EVERY_ADDRESS = "0.0.0.0"


def listener_specs(settings: Settings) -> tuple[ListenerSpec, ...]:
    """The listeners of a node with these settings, before any socket is bound."""
    roles = settings.list("process.roles")
    return (
        *(_of_broker(settings) if "broker" in roles else ()),
        *(_of_controller(settings) if "controller" in roles else ()),
    )


def _of_broker(settings: Settings) -> list[ListenerSpec]:
    controllers, protocols = controller_listener_names(settings), security_protocols(settings)
    given = {endpoint.name: (endpoint.host, endpoint.port) for endpoint in endpoints(settings, ADVERTISED)}
    return [
        ListenerSpec(name, protocols[name], (host, port), given.get(name) if given else (host, port), SERVED)
        for name, host, port in endpoints(settings)
        if name not in controllers
    ]


def _of_controller(settings: Settings) -> list[ListenerSpec]:
    protocols = security_protocols(settings)
    binds = {endpoint.name: (endpoint.host, endpoint.port) for endpoint in endpoints(settings)}
    given = {endpoint.name: (endpoint.host, endpoint.port) for endpoint in endpoints(settings, ADVERTISED)}
    specs = []
    for number, name in enumerate(controller_listener_names(settings)):
        bind, protocol = binds.get(name), protocols.get(name, PROTOCOLS[0])
        if bind is not None or number == 0:
            advertised = None if bind is None else given.get(name) or _of_bind(settings, bind, number)
            specs.append(ListenerSpec(name, protocol, bind, advertised, CONTROLLER_SERVED))
    return specs


def _of_bind(settings: Settings, bind: Address, number: int) -> Address:
    """The address of a controller without an advertised one. Where it listens at every address, the
    first has the one by which `controller.quorum.voters` names this node, and others have the
    machine's name."""
    if bind[0] not in ("", EVERY_ADDRESS):
        return bind
    voter = None if number else voter_addresses(settings).get(settings.int("node.id"))
    return voter or ("", bind[1])


def check_routable(settings: Settings, specs: Iterable[ListenerSpec]) -> None:
    """UsageError for a listener for clients that advertises 0.0.0.0."""
    for spec in of_brokers(specs):
        if spec.advertised is not None and spec.advertised[0] == EVERY_ADDRESS:
            raise UsageError(
                f"{settings.given.get(LISTENERS, LISTENERS)}: no client can connect to {spec!r}, where {spec.name} listens; "
                f"give an address for clients in {ADVERTISED}"
            )
