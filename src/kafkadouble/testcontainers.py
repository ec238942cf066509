"""A module for Testcontainers: kafkadouble in a container, for tests that start every service so.

    with KafkaDoubleContainer() as kafka:
        kafka.call("create_topic", name="orders")
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})

It needs `pip install testcontainers`, a Docker engine, and the image of containers/Dockerfile. A
program in Python that needs no container uses KafkaDouble itself.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

from .common.errors import UsageError
from .common.listening import text_of
from .control.client import ControlClient

if TYPE_CHECKING:
    from .common.literals import CertificateKind, SecureProtocol, TokenKind

IMAGE = "kafkadouble"
TOKEN, USERS = "KAFKADOUBLE_CONTROL_TOKEN", "KAFKADOUBLE_USERS"
ATTEMPTS = 100


class KafkaDoubleContainer(DockerContainer):
    """A container with a double of one broker or more. `arguments` are more of `kafkadouble serve`,
    such as `("--topic", "orders")`. `security`, `users`, `oauthbearer`, `certificate`,
    `acls` and `super_users` are as for a KafkaDouble; `client_config` has the settings of clients.
    With an `alias`, other containers of the network that `with_network` gives reach the brokers at
    `internal_bootstrap_servers`, and programs on the host at `bootstrap_servers`, without
    `security`.

    The ports of the host are chosen before the start, because a broker must know the address that
    it advertises; inside, the ports are the same.
    """

    def __init__(
        self,
        image: str = IMAGE,
        *,
        brokers: int = 1,
        arguments: Sequence[str] = (),
        security: SecureProtocol | None = None,
        users: Mapping[str, str] | None = None,
        oauthbearer: TokenKind | None = None,
        certificate: CertificateKind | None = None,
        acls: Sequence[str] = (),
        super_users: Sequence[str] = (),
        alias: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(image, **more)
        if type(brokers) is not int or brokers < 1:
            raise UsageError(f"brokers is {brokers!r}: there is one at least")
        if alias is not None and security is not None:
            raise UsageError(f"alias {alias!r} with security: other containers are served without it only")
        self._alias = alias
        self._count, self._token, self._users = brokers, secrets.token_hex(16), dict(users or {})
        self._arguments = (
            *arguments,
            *(("--security", security) if security is not None else ()),
            *(("--oauthbearer", oauthbearer) if oauthbearer is not None else ()),
            *(("--certificate", certificate) if certificate is not None else ()),
            *(word for acl in acls for word in ("--acl", acl)),
            *(word for principal in super_users for word in ("--super-user", principal)),
        )

    def start(self) -> Self:
        """Starts the container, and returns once clients are accepted."""
        *ports, self._control_port = free_ports(2 * self._count + 1)
        self._ports, self._inside = ports[: self._count], ports[self._count :]
        for port in (*self._ports, self._control_port):
            self.with_bind_ports(port, port)
        self.with_env(TOKEN, self._token)
        if self._users:  # a command line can be read by others
            self.with_env(USERS, "\n".join(f"{name}:{password}" for name, password in self._users.items()))
        self.with_command(
            [
                *("--brokers", str(self._count)),
                *self._listeners(),
                *("--control-host", "0.0.0.0", "--control-port", str(self._control_port)),
                *self._arguments,
            ]
        )
        if self._alias is not None:
            self.with_network_aliases(self._alias)
        self.waiting_for(HttpWaitStrategy(self._control_port, "/ready"))
        super().start()
        return self

    def _listeners(self) -> list[str]:
        """The options for the host alone, or for other containers as well."""
        outside, inside = f"{self._host}:{self._ports[0]}", f"{self._alias}:{self._inside[0]}"
        if self._alias is None:
            return ["--host", "0.0.0.0", "--port", str(self._ports[0]), "--advertised", outside]
        settings = {
            "listeners": f"INTERNAL://0.0.0.0:{self._inside[0]},EXTERNAL://0.0.0.0:{self._ports[0]}",
            "advertised.listeners": f"INTERNAL://{inside},EXTERNAL://{outside}",
            "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
        }
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

    @property
    def internal_bootstrap_servers(self) -> str:
        """HOST:PORT of every broker, for other containers of the network. Raises UsageError without
        an alias."""
        if self._alias is None:
            raise UsageError("other containers reach no broker: give an alias")
        return ",".join(text_of(self._alias, port) for port in self._inside)

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT of every broker, for programs on the host."""
        return ",".join(text_of(self._host, port) for port in self._ports)

    @property
    def control_url(self) -> str:
        """The address of the control plane, for programs on the host."""
        return f"http://{text_of(self._host, self._control_port)}"

    @property
    def control_token(self) -> str:
        """The token that each call of the control plane must have."""
        return self._token

    @property
    def _host(self) -> str:
        return str(self.get_docker_client().host())

    def client_config(
        self,
        user: str | None = None,
        client: str = "confluent-kafka",
        mechanism: str | None = None,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """The settings of a client, as `KafkaDouble.client_config` has them, with certificates in
        place of names of files. Raises ControlError for a client that takes names only."""
        found: dict[str, Any] = self.call(
            "client_config", user=user, client=client, mechanism=mechanism, contents=True, listener=listener
        )
        return found

    def call(self, verb: str, **parameters: Any) -> Any:
        """Calls a verb with parameters as in JSON; returns its result as in JSON. Raises
        ControlError."""
        return ControlClient(self.control_url, self._token).call(verb, parameters)


def free_ports(count: int) -> list[int]:
    """Ports of this machine that are free now, one after another."""
    for _ in range(ATTEMPTS):
        with ExitStack() as held:
            first = _bound(held, 0)
            try:
                return [first, *(_bound(held, first + number) for number in range(1, count))]
            except (OSError, OverflowError):
                continue
    raise UsageError(f"there are no {count} free ports in a row")


def _bound(held: ExitStack, port: int) -> int:
    sock = held.enter_context(socket.socket())
    sock.bind(("127.0.0.1", port))
    return int(sock.getsockname()[1])
