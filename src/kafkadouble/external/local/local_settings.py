"""The server.properties of a Kafka on this machine, from the arguments of KafkaDouble.

Rules. Settings that are implied by `security`, `users`, `acls` and `listeners` are those of a
double: they are Kafka's own. A Kafka that checks its clients has one listener more, on which this
program, the broker and its controller log in as a user that may do everything. So
`User:ANONYMOUS` needs ACLs as any client does.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.access.client_access import ClientAccess
from kafkadouble.access.setting_sources import OwnListeners, settings_of
from kafkadouble.access.users import quoted
from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.engine.node_listeners import Overrides, planned
from kafkadouble.server.configs.settings import Settings, as_text

if TYPE_CHECKING:
    from kafkadouble.access.security import Security
    from kafkadouble.messages.generated.create_acls import CreateAclsRequest
    from kafkadouble.server.requests.listener_spec import ListenerSpec


HOST = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """So many ports that nothing listens on now."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [socket.getsockname()[1] for socket in sockets]
    for each in sockets:
        each.close()
    return ports


ADMIN, CONTROLLER = "KAFKADOUBLE", "CONTROLLER"
"""The listeners for this program and for the controller."""

USER = "kafkadouble"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
LISTENERS, MAP, AUTHORIZER = "listeners", "listener.security.protocol.map", "authorizer.class.name"

SMALL = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}
"""What makes one node a cluster, and quick."""

TAKEN = ("config", "listeners", "security", "users", "certificate", "acls", "super_users")
"""The arguments of KafkaDouble that a Kafka on this machine takes."""


class LocalSettings(NamedTuple):
    """`properties` are the settings of the node, `client` those of this program. The rest is as in
    a KafkaDouble."""

    properties: dict[str, str]
    client: dict[str, object]
    settings: Settings
    security: Security | None
    listeners: tuple[ListenerSpec, ...]
    acls: list[CreateAclsRequest.AclCreation]


def local_settings(
    folder: Path,
    *,
    config: Mapping[str, object] | None = None,
    listeners: Mapping[str, int] | None = None,
    security: str | Mapping[str, str] | None = None,
    users: Mapping[str, str] | None = None,
    certificate: str | None = None,
    acls: Iterable[Any] | None = None,
    super_users: Iterable[str] | None = None,
) -> LocalSettings:
    """The settings of a node with its data in `folder`. Raises UsageError, as KafkaDouble does."""
    access = ClientAccess(security, certificate, users, acls, super_users)
    only, controller, admin = free_ports(3)
    own = OwnListeners(HOST, *_ports(listeners, security, only))
    if config is not None and LISTENERS in config:
        raise UsageError("listeners: give listeners={NAME: port} instead")
    given = [("config", name, as_text(value)) for name, value in (config or {}).items()]
    settings, found = settings_of(access, own, given)
    (specs,) = planned(settings, 1, Overrides(), access.certificate)
    texts = {**SMALL, **{name: settings.texts[name] for name in settings.given}}
    is_checked = access.is_secured or AUTHORIZER in texts
    made = _node(folder, controller, texts)
    client: dict[str, object] = {}
    if is_checked:
        made, client = _with_admin(made, admin)
    client.setdefault("bootstrap.servers", ",".join(text_of(*spec.bind) for spec in specs[:1] if spec.bind))
    return LocalSettings(made, client, settings, found, specs, access.creations())


def _ports(listeners: Mapping[str, int] | None, security: object, only: int) -> tuple[int, Mapping[str, int] | None]:
    """The port of the only listener, or those of several by name."""
    if listeners is None and security is not None:
        return only, None
    if not isinstance(listeners, Mapping):
        return 0, {"PLAINTEXT": only} if listeners is None else listeners
    free = iter(free_ports(len(listeners)))
    return 0, {name: next(free) if port == 0 else port for name, port in listeners.items()}


def _node(folder: Path, controller: int, texts: Mapping[str, str]) -> dict[str, str]:
    """The settings of a node that is broker and controller."""
    first = texts[LISTENERS].partition("://")[0]
    made = {
        "node.id": "1",
        "process.roles": "broker,controller",
        "controller.listener.names": CONTROLLER,
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "log.dirs": str(folder / "data"),
        "inter.broker.listener.name": first,
        **texts,
        LISTENERS: f"{texts[LISTENERS]},{CONTROLLER}://{HOST}:{controller}",
        MAP: texts.get(MAP, f"{CONTROLLER}:PLAINTEXT,{first}:PLAINTEXT"),
    }
    if "security.inter.broker.protocol" in made:
        del made["inter.broker.listener.name"]
    return made


def _with_admin(made: dict[str, str], port: int) -> tuple[dict[str, str], dict[str, object]]:
    """The same with the listener for this program, and the settings of its client."""
    password = secrets.token_hex(16)
    login = f"{MODULE} required username={quoted(USER)} password={quoted(password)} user_{USER}={quoted(password)};"
    protocols = dict(each.split(":") for each in made[MAP].split(","))
    protocols |= {ADMIN: "SASL_PLAINTEXT", CONTROLLER: "SASL_PLAINTEXT"}
    own = {
        LISTENERS: f"{made[LISTENERS]},{ADMIN}://{HOST}:{port}",
        MAP: ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "inter.broker.listener.name": ADMIN,
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "super.users": ";".join(filter(None, [made.get("super.users"), f"User:{USER}"])),
    }
    for name in map(str.lower, (ADMIN, CONTROLLER)):
        own[f"listener.name.{name}.sasl.enabled.mechanisms"] = "PLAIN"
        own[f"listener.name.{name}.plain.sasl.jaas.config"] = login
    client: dict[str, object] = {
        "bootstrap.servers": f"{HOST}:{port}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "sasl.password": password,
    }
    both = {**made, **own}
    both.pop("security.inter.broker.protocol", None)
    return both, client


def as_properties(settings: Mapping[str, str]) -> str:
    """The text of a file of properties."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")
