"""The warnings of `kafkadouble serve` about listeners that other machines reach."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.common.listening import text_of
from kafkadouble.engine.node_listeners import of_brokers
from kafkadouble.wire.client_log import ClientLog

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

log = ClientLog("kafkadouble")


def warn_of_reach(socks: Iterable[socket.socket], broker: ClusterApi) -> None:
    """Warns of listeners that other machines reach, and of addresses that they do not."""
    from ipaddress import ip_address  # seldom needed

    clients = [spec for specs in broker.all_listeners for spec in of_brokers(specs)]
    hosts = {sock.getsockname()[0] for sock in socks}
    reached = sorted(host for host in hosts if not ip_address(host.partition("%")[0]).is_loopback)
    if not reached:
        return
    if not all(spec.has_sasl and spec.has_tls for spec in clients):
        log.warning(
            "listening at %s: every client that reaches this machine can read, write and delete everything; %s",
            ", ".join(reached),
            "its password is sent as plain text" if all(spec.has_sasl for spec in clients) else "none is authenticated",
        )
    reached_there = [spec for spec in clients if spec.bind is not None and spec.bind[0] in reached]
    addresses = [spec.advertised for spec in reached_there if spec.advertised is not None]
    if loopback := [text_of(host, port) for host, port in addresses if host in ("127.0.0.1", "::1")]:
        log.warning(
            "clients will connect to %s, which only this machine can reach: --advertised HOST:PORT, or "
            "advertised.listeners, names another address",
            ", ".join(loopback),
        )
