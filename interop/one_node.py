"""One combined node of a program, with a listener for each of some security protocols: an Apache
Kafka of this machine, or a kafkadouble with the same server.properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from interop import quorum
from interop.controllers.kinds import DOUBLE, KAFKA
from interop.local.node import Kind, Node, finished
from kafkadouble.access.certificates import Certificates
from tests.support.ports import HOST, free_ports

KINDS: Mapping[str, Kind] = {"double": DOUBLE, "local": KAFKA}
"""The programs by their words for `--broker`."""

MODULES = "org.apache.kafka.common.security"


def logins(users: str) -> Mapping[str, str]:
    """The JAAS configurations of listeners by mechanism; `users` are those of PLAIN."""
    return {
        "plain": f"{MODULES}.plain.PlainLoginModule required {users};",
        "scram-sha-256": f"{MODULES}.scram.ScramLoginModule required;",
        "scram-sha-512": f"{MODULES}.scram.ScramLoginModule required;",
        "oauthbearer": f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";',
    }


def at_listeners(names: Sequence[str], configs: Mapping[str, str]) -> dict[str, str]:
    """These JAAS configurations as settings of each of the listeners."""
    return {
        f"listener.name.{name.lower()}.{mechanism}.sasl.jaas.config": login
        for name in names
        for mechanism, login in configs.items()
    }


def pem_stores(certificates: Certificates) -> dict[str, str]:
    """The settings of a broker with a key of its own and with the authority of these
    certificates."""
    pair, own = certificates.of_brokers(), certificates.directory / "broker.pem"
    own.write_text(pair.key + pair.certificate)
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(own),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.authority_file),
    }


def formatted(
    kind: Kind, folder: Path, protocols: Mapping[str, str], settings: Mapping[str, object], users: Sequence[str] = ()
) -> Node:
    """A node that does not run yet. `protocols` are those of its listeners, `users` are the SCRAM
    credentials that it is formatted with. Raises Missing."""
    addresses = {name: (HOST, port) for name, port in zip(protocols, free_ports(len(protocols)), strict=True)}
    seat = quorum.Seat(1, ("broker", "controller"), addresses, addresses)
    given = quorum.settings(seat, [seat], str(folder / "data"))
    given["listener.security.protocol.map"] = ",".join(f"{name}:{protocol}" for name, protocol in protocols.items())
    given |= {name: str(value) for name, value in settings.items()}
    node = Node(seat, kind, quorum.cluster_id(), folder, given)
    finished([node.formatting([word for user in users for word in ("--add-scram", user)])])
    return node


@contextmanager
def one_node(
    kind: Kind, folder: Path, protocols: Mapping[str, str], settings: Mapping[str, object], users: Sequence[str] = ()
) -> Iterator[Node]:
    """The same node, running. Raises Missing."""
    node = formatted(kind, folder, protocols, settings, users)
    try:
        node.start()
        yield node
    finally:
        node.kill()


def addresses_of(node: Node) -> dict[str, str]:
    """HOST:PORT of the node by listener."""
    return {name: f"{host}:{port}" for name, (host, port) in node.seat.known.items()}
