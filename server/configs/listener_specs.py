"""The listeners of a node, made from its settings (KIP-103, KIP-919).

Brokers' listeners come first, in the order of `listeners`; then controllers', in the order of
`controller.listener.names`. A node with the controller's role has the first of those even where
`listeners` does not name it: then it has no socket, and no other node reaches it.
"""

from __future__ import annotations

from ..apis.served import CONTROLLER_SERVED, SERVED
from ..requests.listener_spec import AS_BOUND, PROTOCOLS, ListenerSpec
from .listeners import ADVERTISED, controller_listener_names, endpoints, security_protocols
from .settings import Settings


def listener_specs(settings: Settings) -> tuple[ListenerSpec, ...]:
    """The listeners of a node with these settings, before any socket is bound."""
    roles = settings.list("process.roles")
    return (
        *(_of_broker(settings) if "broker" in roles else ()),
        *(_of_controller(settings) if "controller" in roles else ()),
    )


def _of_broker(settings: Settings) -> list[ListenerSpec]:
    controllers, protocols = controller_listener_names(settings), security_protocols(settings)
    given = {each.name: (each.host, each.port) for each in endpoints(settings, ADVERTISED)}
    return [
        ListenerSpec(name, protocols[name], (host, port), given.get(name) if given else AS_BOUND, SERVED)
        for name, host, port in endpoints(settings)
        if name not in controllers
    ]


def _of_controller(settings: Settings) -> list[ListenerSpec]:
    protocols = security_protocols(settings)
    binds = {each.name: (each.host, each.port) for each in endpoints(settings)}
    given = {each.name: (each.host, each.port) for each in endpoints(settings, ADVERTISED)}
    found = []
    for number, name in enumerate(controller_listener_names(settings)):
        bind, protocol = binds.get(name), protocols.get(name, PROTOCOLS[0])
        if bind is not None or number == 0:
            advertised = None if bind is None else given.get(name, AS_BOUND)
            found.append(ListenerSpec(name, protocol, bind, advertised, CONTROLLER_SERVED))
    return found
