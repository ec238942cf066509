"""The listeners of the nodes of this process: planned from settings and options, then bound.

Rules. As in Apache Kafka, a listener of the settings without a host listens at every address and
advertises the name of the machine, and one with a name advertises that name. The options for hosts
and ports are not Kafka's: a listener with such a host advertises the address that it is bound to,
or loopback. Brokers of one cluster have the same listeners, the next broker each on the next port;
a port 0 stays 0. Certificates and logins that cannot be used are refused, by the name of their
setting.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import canonical_host_name, hold, listen, text_of
from kafkadouble.server.configs.listener_specs import check_routable, listener_specs
from kafkadouble.server.configs.listeners import ADVERTISED, endpoints, inter_broker_listener_name
from kafkadouble.server.configs.node_rules import check_node
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.listener_spec import AS_BOUND, Address, ListenerSpec
from kafkadouble.server.requests.listener_spec import of_brokers as of_brokers
from kafkadouble.server.requests.listener_spec import of_controllers as of_controllers

DEFAULT_HOST = "127.0.0.1"
LAST_PORT = 65535
NAME = re.compile(r"[A-Za-z0-9_-]+")


class Overrides(NamedTuple):
    """Options that win over the settings. `port` and `advertised` are those of a broker's only
    listener."""

    host: str | None = None
    port: int | None = None
    controller_port: int | None = None
    advertised: Address | None = None


class BoundListeners(NamedTuple):
    """The listeners of one node, and their sockets by name; a listener without an address has
    none."""

    specs: tuple[ListenerSpec, ...]
    sockets: Mapping[str, socket.socket]

    def held(self) -> BoundListeners:
        """The same with new sockets, which do not listen and only hold the addresses."""
        binds = {spec.name: spec.bind for spec in self.specs if spec.bind is not None}
        return self._replace(sockets={name: hold(bind) for name, bind in binds.items()})

    def close(self) -> None:
        """Closes the sockets."""
        for sock in self.sockets.values():
            sock.close()


def checked_port(name: str, port: int | None) -> int | None:
    """UsageError for one that there is not."""
    if port is not None and (type(port) is not int or not 0 <= port <= LAST_PORT):
        raise UsageError(f"{name} is {port!r}: there are ports 1 to {LAST_PORT}, and 0 for any free one")
    return port


def checked_listeners(listeners: Mapping[str, int], port: int) -> None:
    """UsageError for what are no ports by the names of listeners."""
    if port:
        raise UsageError(f"port is {port!r}, and listeners has a port for each: leave it out")
    if not isinstance(listeners, Mapping) or not listeners:
        raise UsageError(f"listeners is {listeners!r}: it has a port for each name, such as {{'EXTERNAL': 0}}")
    for name, its_port in listeners.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a listener: it has letters, digits, _ and -")
        checked_port(f"the port of {name}", its_port)


def planned(
    settings: Settings, brokers: int, overrides: Overrides, certificate: str | None = None
) -> list[tuple[ListenerSpec, ...]]:
    """The listeners of each node: of the only one, or of each broker and, at last, of their
    controller. UsageError for what cannot be served. `certificate` is the option of that name:
    one that clients must refuse is wanted, and brokers in one process do not look at it."""
    check_node(settings)
    specs = listener_specs(settings)
    _check_security(settings, specs)
    if certificate in (None, "valid"):
        # Brokers use this listener among themselves.
        name = inter_broker_listener_name(settings)
        if any(spec.name == name and spec.has_tls and spec.bind is not None for spec in specs):
            # With security alone.
            from kafkadouble.server.security.tls.handshake_check import check_own_trust

            check_own_trust(settings, name)
    clients = _of_clients(settings, of_brokers(specs), overrides)
    controllers = _of_controller(settings, of_controllers(specs), clients, overrides)
    if brokers == 1:
        return [(*clients, *controllers)]
    return [*(_numbered(clients, number) for number in range(brokers)), tuple(controllers)]


def _of_clients(settings: Settings, specs: Sequence[ListenerSpec], overrides: Overrides) -> list[ListenerSpec]:
    if len(specs) > 1:
        _check_only(specs, overrides)
    is_given = ADVERTISED in settings.texts
    found = [_overridden(spec, overrides, is_given) for spec in specs]
    check_routable(settings, found)
    return found


def _check_only(specs: Sequence[ListenerSpec], overrides: Overrides) -> None:
    names = ", ".join(spec.name for spec in specs)
    if overrides.port:
        raise UsageError(f"port {overrides.port} is that of one listener, and there are {names}: give each its own")
    if overrides.advertised is not None:
        address = text_of(*overrides.advertised)
        raise UsageError(f"{address} is the address of one listener, and there are {names}: set advertised.listeners")


def _overridden(spec: ListenerSpec, overrides: Overrides, is_given: bool) -> ListenerSpec:
    """The listener with the options; `is_given` says that the settings advertise addresses."""
    host, port = spec.bind or AS_BOUND
    bind = overrides.host or host, port if overrides.port is None else overrides.port
    if overrides.advertised is not None:
        return spec._replace(bind=bind, advertised=overrides.advertised)
    if is_given:
        return spec._replace(bind=bind, advertised=_named(spec.advertised))
    return spec._replace(bind=bind, advertised=_named((host, bind[1])) if overrides.host is None else AS_BOUND)


def _named(address: Address | None) -> Address | None:
    """An advertised address, with the name of this machine if it has no host."""
    if address is None or address[0]:
        return address
    try:
        return canonical_host_name(), address[1]
    except OSError as problem:
        name = socket.gethostname()
        raise UsageError(
            f"this machine finds no address for its name {name}: give listeners a host ({problem})"
        ) from None


def _of_controller(
    settings: Settings, specs: Sequence[ListenerSpec], clients: Sequence[ListenerSpec], overrides: Overrides
) -> list[ListenerSpec]:
    names = {endpoint.name for endpoint in endpoints(settings, ADVERTISED)}
    found = [_of_options(spec, overrides, spec.name in names) for spec in specs]
    if overrides.controller_port is not None and found:
        known = [spec.bind for spec in (found[0], *clients) if spec.bind is not None]
        host = overrides.host or (known[0][0] if known else DEFAULT_HOST)
        advertised = found[0].advertised if found[0].name in names else AS_BOUND
        found[0] = found[0]._replace(bind=(host, overrides.controller_port), advertised=advertised)
    return found


def _of_options(spec: ListenerSpec, overrides: Overrides, is_given: bool) -> ListenerSpec:
    """A controller's listener; one with the host of the options advertises what it is bound to."""
    is_ours = spec.bind is not None and spec.bind[0] == overrides.host and not is_given
    return spec._replace(advertised=AS_BOUND if is_ours else _named(spec.advertised))


def _numbered(specs: Sequence[ListenerSpec], number: int) -> tuple[ListenerSpec, ...]:
    """The listeners of the broker with this number, from 0 on."""
    return tuple(
        spec._replace(bind=_shifted(spec.bind, number), advertised=_shifted(spec.advertised, number)) for spec in specs
    )


def _shifted(address: Address | None, number: int) -> Address | None:
    if address is None or not address[1]:
        return address
    if address[1] + number > LAST_PORT:
        raise UsageError(f"port {address[1]} leaves no {number + 1} ports: they go up to {LAST_PORT}")
    return address[0], address[1] + number


def _check_security(settings: Settings, specs: Sequence[ListenerSpec]) -> None:
    """UsageError for certificates and logins that cannot be used, of listeners and towards other
    nodes."""
    bound = [spec for spec in specs if spec.bind is not None]
    if any(spec.has_tls for spec in bound):
        # With security alone.
        from kafkadouble.server.security.tls.listener_contexts import ListenerContexts
        from kafkadouble.server.security.tls.principal_mapping import SETTING, mapping_rules

        ListenerContexts(settings, specs)
        mapping_rules(settings.text(SETTING))
    for spec in bound:
        if spec.has_sasl:
            # With security alone.
            from kafkadouble.server.security.sasl.listener_mechanisms import check

            check(settings, spec.name)
    if any(spec.has_tls or spec.has_sasl for spec in bound):
        from kafkadouble.server.network.peer_security import peer_security  # with security alone

        for is_to_controllers in (True, False):
            peer_security(settings, is_to_controllers)


def bound(specs: Sequence[ListenerSpec]) -> BoundListeners:
    """The listeners with new sockets. OSError when an address cannot be had."""
    opened: list[socket.socket | None] = []
    try:
        opened.extend(None if spec.bind is None else listen(*spec.bind) for spec in specs)
    except BaseException:
        for sock in opened:
            if sock is not None:
                sock.close()
        raise
    return paired(specs, [sock for sock in opened if sock is not None])


def paired(specs: Sequence[ListenerSpec], socks: Sequence[socket.socket]) -> BoundListeners:
    """The listeners with these sockets, in the order of those that have an address."""
    left = iter(socks)
    sockets = {spec.name: next(left) for spec in specs if spec.bind is not None}
    resolved = [spec.bound_at(sockets[spec.name].getsockname()[:2]) if spec.bind else spec for spec in specs]
    return BoundListeners(tuple(resolved), sockets)


def address_on(listeners: Sequence[ListenerSpec], name: str | None) -> Address:
    """The address of the listener of this name, or of the first. Raises UsageError if there is
    none."""
    specs = of_brokers(listeners) or listeners
    names = ", ".join(spec.name for spec in specs)
    found = next((spec for spec in specs if name is None or spec.name == name.upper()), None)
    if found is None:
        raise UsageError(f"there is no listener {name!r}: there are {names}")
    address = found.advertised or found.bind
    if address is None:
        raise UsageError(f"the listener {found.name} has no address")
    return address
