"""The settings of listeners: names, hosts, ports, and the security protocol of each (KIP-103).

Rules. A listener's name is in capitals wherever it is compared. Settings that Kafka refuses at the
start are problems here, in Kafka's words. This file opens no socket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..requests.listener_spec import PROTOCOLS
from .definition import InvalidConfig
from .layers import Layers

LISTENERS, ADVERTISED = "listeners", "advertised.listeners"
OVERRIDES = "max.connections.per.ip.overrides"
LOCALHOST = "127.0.0.1"
MAP = "listener.security.protocol.map"
INTER_BROKER_NAME, INTER_BROKER_PROTOCOL = "inter.broker.listener.name", "security.inter.broker.protocol"
HOST = re.compile(r"[0-9a-zA-Z\-%._:]*")
ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,9})")


class ListenerEndpoint(NamedTuple):
    """One listener of a setting. An empty host is every address, and advertised the name of the
    machine; port 0 is any free one."""

    name: str
    host: str
    port: int


def endpoints(layers: Layers, setting: str = LISTENERS) -> list[ListenerEndpoint]:
    """The listeners of `listeners` or `advertised.listeners`. InvalidConfig for an entry that is
    not NAME://HOST:PORT."""
    entries = layers.value(setting)
    found = []
    for entry in entries if isinstance(entries, tuple) else ():
        match = ENDPOINT.fullmatch(entry)
        if match is None:
            raise InvalidConfig(setting, entries, f"Unable to parse {entry} to a broker endpoint")
        found.append(ListenerEndpoint(match[1].upper(), match[2], int(match[3])))
    return found


def security_protocols(layers: Layers) -> dict[str, str]:
    """The security protocol of every listener name. Without a map, and without a listener that is
    secure by its name, the controllers' listeners are PLAINTEXT, by their names as they are given:
    one in small letters is then none of `listeners`, as in Kafka."""
    text = str(layers.value(MAP))
    pairs = [pair.strip().rpartition(":") for pair in text.split(",") if pair.strip()]
    protocols = {name.strip().upper(): protocol.strip().upper() for name, _, protocol in pairs}
    for protocol in protocols.values():
        if protocol not in PROTOCOLS:
            raise InvalidConfig(MAP, text, f"Invalid security protocol `{protocol}`")
    names = _controller_names(layers)
    secure = {*names, *(endpoint.name for endpoint in endpoints(layers))} & set(PROTOCOLS[1:])
    if MAP not in layers.texts and not secure:
        protocols |= dict.fromkeys(names, PROTOCOLS[0])
    return protocols


def controller_listener_names(layers: Layers) -> list[str]:
    """The names of the controllers' listeners, in capitals; the first is the one that nodes connect
    to."""
    return [name.upper() for name in _controller_names(layers)]


def _controller_names(layers: Layers) -> tuple[str, ...]:
    names = layers.value("controller.listener.names")
    return names if isinstance(names, tuple) else ()


def voter_addresses(layers: Layers) -> dict[int, tuple[str, int]]:
    """Host and port of each voter of `controller.quorum.voters`, by its id."""
    entries = layers.value("controller.quorum.voters")
    found = {}
    for entry in entries if isinstance(entries, tuple) else ():
        voter, _, address = entry.partition("@")
        host, _, port = address.rpartition(":")
        found[int(voter)] = host.removeprefix("[").removesuffix("]"), int(port)
    return found


def inter_broker_listener_name(layers: Layers) -> str:
    """The listener that brokers use among themselves: its name is that of
    `security.inter.broker.protocol` unless `inter.broker.listener.name` is set."""
    return str(layers.value(INTER_BROKER_NAME) or layers.value(INTER_BROKER_PROTOCOL)).upper()


@lru_cache(maxsize=8)
def per_ip_overrides(text: str) -> Mapping[str, int]:
    """The limits of `max.connections.per.ip.overrides`, HOST:COUNT[,HOST:COUNT], by address;
    InvalidConfig for anything else. Names other than localhost are not looked up: a limit must not
    depend on a resolver."""
    found = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        host, _, count = entry.rpartition(":")
        try:
            if not HOST.fullmatch(host.strip()):
                raise ValueError(host)
            found[_address(host.strip())] = int(count)
        except ValueError:
            raise InvalidConfig(OVERRIDES, text, f"Unable to parse {entry} to HOST:COUNT") from None
    return found


def _address(host: str) -> str:
    if host.lower() == "localhost":
        return LOCALHOST
    from ipaddress import ip_address

    try:
        return str(ip_address(host.strip("[]")))
    except ValueError:
        return host


def listener_problems(layers: Layers) -> Iterator[tuple[str, str]]:
    """The problems of the settings of listeners: the setting at fault, and why."""
    try:
        per_ip_overrides(str(layers.value(OVERRIDES)))
        protocols = security_protocols(layers)
        advertised = endpoints(layers, ADVERTISED)
    except InvalidConfig as problem:
        yield problem.name, str(problem)
        return
    listeners = endpoints(layers)
    for setting, found in ((LISTENERS, listeners), (ADVERTISED, advertised)):
        for endpoint in found:
            if endpoint.name not in protocols:
                yield setting, f"No security protocol defined for listener {endpoint.name}"
        if len({endpoint.name for endpoint in found}) < len(found):
            yield setting, f"Each listener must have a different name, {setting}: {layers.texts.get(setting)}"
    if _has_shared_port(listeners):
        why = "Each listener must have a different port, unless exactly one has an IPv4 address and the other IPv6"
        yield LISTENERS, f"{why}, listeners: {layers.texts.get(LISTENERS)}"
    for endpoint in advertised:
        if endpoint.host == "0.0.0.0":
            yield ADVERTISED, "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0."
    yield from _inter_broker_problems(layers, protocols)
    roles = layers.value("process.roles")
    if not isinstance(roles, tuple) or "broker" in roles:
        yield from _advertised_problems(layers, listeners, advertised or listeners)


def _has_shared_port(listeners: Sequence[ListenerEndpoint]) -> bool:
    """Whether two listeners have one port, and are not one of IPv4 and one of IPv6."""
    for endpoint in listeners:
        same = [other.host for other in listeners if other.port == endpoint.port != 0]
        if len(same) > 1 and sorted(map(_ip_version, same)) != [4, 6]:
            return True
    return False


def _ip_version(host: str) -> int:
    """4 or 6; 0 for what is no address."""
    from ipaddress import ip_address

    try:
        return ip_address(host).version
    except ValueError:
        return 0


def _inter_broker_problems(layers: Layers, protocols: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if not layers.value(INTER_BROKER_NAME):
        return
    if INTER_BROKER_PROTOCOL in layers.texts:
        yield INTER_BROKER_NAME, f"Only one of {INTER_BROKER_NAME} and {INTER_BROKER_PROTOCOL} should be set."
    if (name := inter_broker_listener_name(layers)) not in protocols:
        yield INTER_BROKER_NAME, f"Listener with name {name} defined in {INTER_BROKER_NAME} not found in {MAP}."


def _advertised_problems(
    layers: Layers, listeners: Sequence[ListenerEndpoint], advertised: Sequence[ListenerEndpoint]
) -> Iterator[tuple[str, str]]:
    """The listeners that a broker advertises: one at least, each of them opened, that of the
    brokers among them."""
    controllers = controller_listener_names(layers)
    names = [endpoint.name for endpoint in advertised if endpoint.name not in controllers]
    opened = [endpoint.name for endpoint in listeners]
    setting = ADVERTISED if ADVERTISED in layers.texts else LISTENERS
    if not names:
        why = "Perhaps all listeners appear in controller.listener.names?"
        yield setting, f"There must be at least one broker advertised listener. {why}"
    elif inter_broker_listener_name(layers) not in names:
        why = f"The valid options based on currently configured listeners are {','.join(names)}"
        yield setting, f"{INTER_BROKER_NAME} must be a listener name defined in {ADVERTISED}. {why}"
    if not set(names) <= set(opened):
        why = f"Found {','.join(names)}. The valid options based on the current configuration are {','.join(opened)}"
        rule = f"{ADVERTISED} listener names must be equal to or a subset of the ones defined in {LISTENERS}."
        yield ADVERTISED, f"{rule} {why}"
