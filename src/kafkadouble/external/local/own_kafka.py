"""A Kafka that was started on this machine: besides the verbs of any Kafka it can be stopped,
killed and restarted, and shows another certificate."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.access import users
from kafkadouble.access.acls import check_creations, to_create
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.verbs.double_api import DoubleApi

from ..real_kafka import RealKafka
from .local_brokers import ONLY, LocalBroker, LocalBrokers
from .local_kafka import LocalKafka

if TYPE_CHECKING:
    from kafkadouble.common.literals import CertificateKind

UNFENCED_S, LOOK_S = 60.0, 0.05


class OwnKafka(RealKafka):
    """The Kafka of this process. `begin` starts it, with its users and ACLs."""

    def __init__(self, process: LocalKafka, target: str = "local") -> None:
        made = process.settings
        self._process, self._listeners = process, made.listeners
        super().__init__(self.bootstrap(made.listeners[0].name), made.client, target)
        host = self._double_host
        host.settings, host.nodes, host.security, host.acls = made.settings, [made.listeners], made.security, made.acls
        self.has_other_certificate = self.is_closed = False

    def begin(self) -> OwnKafka:
        """Starts the process, and creates the users and the ACLs."""
        self.up()
        if self._double_host.security is not None:
            self._double_host.security.begin()
            for request in (
                users.scram_requests(self._double_host.security.users, Random())
                if self._double_host.security.users
                else ()
            ):
                users.check_results(self._double_host.ask(request))
        if self._double_host.acls:
            check_creations(self._double_host.acls, self._double_host.ask(to_create(self._double_host.acls)))
        return self

    def bootstrap(self, listener: str) -> str:
        """HOST:PORT of the broker on this listener. Raises UsageError for an unknown one."""
        from kafkadouble.engine.node_listeners import address_on  # where an address is asked for

        return text_of(*address_on(self._listeners, listener))

    @property
    def brokers(self) -> LocalBrokers:  # type: ignore[override]  # its only broker has the same verbs
        """The only broker, by its id: it can be killed, stopped, started and paused."""
        return LocalBrokers({ONLY: LocalBroker(self._process, self.bootstrap, self._wait_until_it_serves)})

    def down(self, broker: int | None = None) -> None:
        """Shuts the broker down in order. Its data stays. Does nothing if the broker is down."""
        _check_id(broker)
        self._process.stop()

    def up(self, broker: int | None = None) -> None:
        """Starts the broker if it is down, on its data and behind the same port, and waits until it
        serves clients. After a kill that takes as long as the session of its previous incarnation.
        Does nothing if the broker runs."""
        _check_id(broker)
        if not self._process.running:
            self.brokers[ONLY].start()

    def _wait_until_it_serves(self) -> None:
        """Waits until the metadata has the broker: it is not fenced any more."""
        self._connections.begin_anew()
        end = time.monotonic() + UNFENCED_S
        while not self._connections.ask(MetadataRequest(topics=[])).brokers:
            if time.monotonic() > end:
                raise KafkaError(error_codes.REQUEST_TIMED_OUT, f"broker {ONLY} is not part of the cluster")
            time.sleep(LOOK_S)

    client_config = DoubleApi.client_config

    def set_certificate(self, certificate: CertificateKind) -> None:
        """As KafkaDouble.set_certificate."""
        self.has_other_certificate = True
        DoubleApi.set_certificate(self, certificate)

    def _address(self, host: str, port: int) -> str:
        return self.bootstrap_servers

    def close(self) -> None:
        """Ends the process, and removes the files of its certificates."""
        super().close()
        self.is_closed = True
        self._process.kill()
        if self._double_host.security is not None:
            self._double_host.security.close()


def _check_id(broker: Any) -> None:
    if broker not in (None, ONLY):
        raise UsageError(f"there is no broker {broker!r}: ids are {ONLY}")
