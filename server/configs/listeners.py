"""What the settings of listeners say: names, hosts, ports, and the security protocol of each (KIP-103).

This file opens nothing. A listener's name is in capitals wherever it is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from .definition import InvalidConfig
from .layers import Layers

OVERRIDES = "max.connections.per.ip.overrides"
LOCALHOST = "127.0.0.1"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MAP = "listener.security.protocol.map"
ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,9})")


class Endpoint(NamedTuple):
    """One listener. An empty host stands for every address, port 0 for any that is free."""

    name: str
    host: str
    port: int


def endpoints(layers: Layers, setting: str = "listeners") -> list[Endpoint]:
    """The listeners of `listeners` or `advertised.listeners`; InvalidConfig for what is no NAME://HOST:PORT."""
    entries = layers.value(setting)
    found = []
    for entry in entries if isinstance(entries, tuple) else ():
        match = ENDPOINT.fullmatch(entry)
        if match is None:
            raise InvalidConfig(setting, entries, f"Unable to parse {entry} to a broker endpoint")
        found.append(Endpoint(match[1].upper(), match[2], int(match[3])))
    return found


def security_protocols(layers: Layers) -> dict[str, str]:
    """The security protocol of every listener name. A controller's is PLAINTEXT as long as nobody speaks of security."""
    text = str(layers.value(MAP))
    pairs = [pair.strip().rpartition(":") for pair in text.split(",") if pair.strip()]
    protocols = {name.strip().upper(): protocol.strip() for name, _, protocol in pairs}
    for protocol in protocols.values():
        if protocol not in PROTOCOLS:
            raise InvalidConfig(MAP, text, f"Invalid security protocol `{protocol}`")
    controllers = layers.value("controller.listener.names")
    names = [str(name).upper() for name in (controllers if isinstance(controllers, tuple) else ())]
    secure = {*names, *(endpoint.name for endpoint in endpoints(layers))} & set(PROTOCOLS[1:])
    if MAP not in layers.texts and not secure:
        protocols |= {name: "PLAINTEXT" for name in names if name != "PLAINTEXT"}
    return protocols


@lru_cache(maxsize=8)
def per_ip_overrides(text: str) -> Mapping[str, int]:
    """The limits of `max.connections.per.ip.overrides`, HOST:COUNT[,HOST:COUNT], by address; InvalidConfig
    for anything else. Names other than localhost are not looked up: a limit must not depend on a resolver."""
    found = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        host, _, count = entry.rpartition(":")
        try:
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
    """What is wrong with the settings of listeners: the setting at fault, and why."""
    protocols: dict[str, str] = {}
    try:
        per_ip_overrides(str(layers.value(OVERRIDES)))
        protocols = security_protocols(layers)
        advertised = endpoints(layers, "advertised.listeners")
    except InvalidConfig as problem:
        yield problem.name, str(problem)
        return
    listeners = endpoints(layers)
    for setting, found in (("listeners", listeners), ("advertised.listeners", advertised)):
        for endpoint in found:
            if endpoint.name not in protocols:
                yield setting, f"No security protocol defined for listener {endpoint.name}"
        if len({endpoint.name for endpoint in found}) < len(found):
            yield setting, f"Each listener must have a different name, {setting}: {layers.texts.get(setting)}"
    for endpoint in listeners:
        same = [other for other in listeners if other.port == endpoint.port != 0]
        if len(same) > 1 and [":" in other.host for other in same] not in ([True, False], [False, True]):
            why = "Each listener must have a different port, unless exactly one has an IPv4 address and the other IPv6"
            yield "listeners", f"{why}, listeners: {layers.texts.get('listeners')}"
            return
    for endpoint in advertised:
        if endpoint.host == "0.0.0.0":
            yield "advertised.listeners", "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0."
