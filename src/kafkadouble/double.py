"""KafkaDouble: runs a broker in a thread of this process, and acts on it without a client.

Rules. Only the broker's own thread touches its state; every method here may be called from any
thread, and waits for the broker. A double without references is stopped when it is collected, or
when the interpreter ends. A forked process may use only its address.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.server.configs.settings import as_text
from kafkadouble.server.network.clock import Clock, SteppedClock, SystemClock

from .access.client_access import ClientAccess, with_scenario
from .access.setting_sources import OwnListeners, settings_of
from .arguments.parameters import check, check_given, check_plain
from .common.errors import UsageError
from .engine import member_settings
from .engine.node_listeners import Overrides, checked_port, planned
from .engine.running import Running, RunOptions
from .host.host import Host
from .run_arguments import PathLike, capture_of, check_kept, checked_count, collector_if, paths_of, scenario_of
from .verbs.double_api import DoubleApi

if TYPE_CHECKING:
    from kafkadouble.access import acls as acl_requests
    from kafkadouble.brokers import handles_of_double
    from kafkadouble.control import server
    from kafkadouble.host import host_users
    from kafkadouble.scenario import apply
    from kafkadouble.seen import requests as seen_requests
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck
    from kafkadouble.server.tracing.history import History, SeenRequest
    from kafkadouble.verbs import async_waits
    from kafkadouble.verbs.async_waits import AsyncWaits

    from .access.acls import AclBinding
    from .brokers.broker_handle import BrokerHandle
    from .common.literals import CertificateKind, ListenerProtocol, SecureProtocol, TokenKind
    from .control.server import ControlServer
    from .seen.requests import Requests
else:  # a start waits for none of them
    acl_requests = OnFirstUse("kafkadouble.access.acls")
    seen_requests = OnFirstUse("kafkadouble.seen.requests")
    apply = OnFirstUse("kafkadouble.scenario.apply")
    async_waits = OnFirstUse("kafkadouble.verbs.async_waits")
    handles_of_double = OnFirstUse("kafkadouble.brokers.handles_of_double")
    host_users = OnFirstUse("kafkadouble.host.host_users")
    server = OnFirstUse("kafkadouble.control.server")

T = TypeVar("T")

STARTED: weakref.WeakSet[KafkaDouble] = weakref.WeakSet()
"""The doubles that were started in this process, and that a program can still reach."""

# A library is silent unless the application configures logging.
logging.getLogger("kafkadouble").addHandler(logging.NullHandler())


class KafkaDouble(DoubleApi):
    """A Kafka broker, or a cluster of several, in this process. It runs between `start` and `stop`,
    or inside a `with` or `async with` block.

    - `port`: that of the first broker, 0 for any free one; it stays after `reset`, `stop` and
      `start`.
    - `host`: the address on which brokers listen.
    - `listeners`: the port of each, in place of `port`: `{"INTERNAL": 0, "EXTERNAL": 0}`.
    - `config`: settings of Kafka's broker, by name.
    - `security`: the protocol of clients, or with `listeners` that of each by its name,
      `{"EXTERNAL": "SASL_SSL"}`; `client_config` has settings of clients. With TLS, they trust
      certificates that are made for this double, by the extra `kafkadouble[security]`.
    - `users`: passwords by name, for logins by PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
    - `oauthbearer`: the tokens with which clients log in by OAUTHBEARER: `"unsecured"` ones as by
      Kafka's default, `"signed"` ones of an issuer that the double has, or `"any"`; or a function
      that gets a token, and returns the name of its principal, or None to refuse it.
    - `certificate`: what brokers show to clients with TLS; None is `"valid"`.
    - `brokers`: how many brokers, from 1; their ids begin at 1.
    - `clock`: a SteppedClock, or another clock of the broker, in place of `stepped`.
    - `stepped`: whether time stands still until `advance`.
    - `seed`: makes every random choice repeatable; each start on a `data_dir` makes other choices.
    - `data_dir`: one directory or several for Kafka's own files; without it, all is in memory.
    - `controller_port`: where Apache Kafka's nodes can join the cluster, 0 for any free port.
    - `capture`: a directory or a *.parquet file, which gets a row for each request.
    - `capture_bodies`: whether a row has the contents of request and answer, as JSON.
    - `capture_frames`: whether a row has their bytes, for a replay.
    - `peer_requests`: whether the requests between nodes are kept.
    - `acls`: those of each start and reset, texts such as `User:alice allow READ topic:orders*` or
      AclBindings: clients may do only what they allow. A client on PLAINTEXT is `User:ANONYMOUS`.
    - `super_users`: principals that may do everything, such as `User:admin`.
    - `scenario`: a YAML or TOML file with the topics, groups, rules and steps with which each start
      and reset begins, and with security, users and ACLs if they are not given here.
    - `telemetry`: whether clients may push metrics; needs the extra `kafkadouble[telemetry]`.

    Raises UsageError for a setting that Kafka does not have and for a directory that another broker
    uses, and OSError if the port is in use.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        listeners: Mapping[str, int] | None = None,
        config: Mapping[str, object] | None = None,
        security: SecureProtocol | Mapping[str, ListenerProtocol] | None = None,
        users: Mapping[str, str] | None = None,
        oauthbearer: TokenKind | TokenCheck | None = None,
        certificate: CertificateKind | None = None,
        brokers: int = 1,
        clock: Clock | None = None,
        stepped: bool = False,
        seed: int | None = None,
        data_dir: PathLike | Sequence[PathLike] | None = None,
        controller_port: int | None = None,
        capture: PathLike | None = None,
        capture_bodies: bool = False,
        capture_frames: bool = False,
        peer_requests: bool = False,
        acls: Iterable[AclBinding | str] | None = None,
        super_users: Iterable[str] | None = None,
        scenario: PathLike | None = None,
        telemetry: bool = False,
    ) -> None:
        check(host=host)
        check_given(config=config, seed=seed)
        check_plain(port=port, listeners=listeners, controller_port=controller_port, brokers=brokers)
        if config is not None and "listeners" in config:
            raise UsageError("listeners: give host and port, or listeners={NAME: port}, instead")
        if stepped and clock is not None:
            raise UsageError("a clock and stepped=True are two answers to one question: give one of them")
        controller_port = checked_port("controller_port", controller_port)
        only_port = checked_port("port", port) if listeners is None else None
        described = None if scenario is None else scenario_of(scenario)
        access = ClientAccess(security, certificate, users, acls, super_users, oauthbearer)
        access = with_scenario(access, described and described.access)
        given = [("config", name, as_text(value)) for name, value in (config or {}).items()]
        settings, made = settings_of(access, OwnListeners(host, port, listeners), given)
        if checked_count(brokers) > 1:
            member_settings.check(settings)
        nodes = planned(settings, brokers, Overrides(host, only_port, controller_port), access.certificate)
        clock = clock or (SteppedClock(time.time_ns() // 1_000_000) if stepped else SystemClock())
        self._data_dirs, self._capture = paths_of(data_dir), capture_of(capture, capture_bodies, capture_frames)
        collector, creations = collector_if(telemetry), access.creations()
        self._hold(
            Host(settings, clock, nodes, seed, made, creations, telemetry=collector, scenario=described),
            bool(peer_requests),
        )

    def _hold(self, host: Host, peer_requests: bool = False) -> None:
        """Be the double of this host."""
        super().__init__(host)
        host.held = weakref.ref(self)
        self._peer_requests = peer_requests
        self._control: ControlServer | None = None

    def start(self) -> KafkaDouble:
        """Binds the ports and starts to serve. Does nothing if the double already runs."""
        host, is_new = self._double_host, False
        with host.lock:
            if host.running is None or not (host.running.thread.running or host.running.thread.elsewhere):
                host.running = Running(self._run_options())
                host.nodes = host.running.broker.all_listeners
                self._forgotten = weakref.finalize(self, host.running.stop)
                STARTED.add(self)
                is_new = True
        if is_new:
            try:
                if self._double_host.security is not None:
                    host_users.begin_security(self._double_host, self._double_host.security)
                self._apply_scenario()
            except BaseException:
                self.stop()
                raise
        return self

    def _apply_scenario(self) -> None:
        if self._double_host.acls:
            acl_requests.check_creations(
                self._double_host.acls, self._double_host.ask(acl_requests.to_create(self._double_host.acls))
            )
        if self._double_host.scenario is not None:
            apply.begin(self, self._double_host.scenario)

    def _run_options(self) -> RunOptions:
        host = self._double_host
        return RunOptions(
            host.nodes,
            host.settings,
            host.clock,
            host.seed,
            self._data_dirs,
            self._capture,
            self._peer_requests,
            host.telemetry,
            None if host.security is None else host.security.token_check,
        )

    def stop(self) -> None:
        """Closes every connection, frees the ports, ends the thread. Only `requests` stays.

        Raises UsageError, when all that is done, if a directory of `data_dir` was removed before:
        what brokers acknowledged is lost.
        """
        host = self._double_host
        was_running = host.running is not None and host.running.thread.running
        if host.steps is not None:  # a step may need the lock
            host.steps.end()
        with host.lock:
            control, self._control = self._control, None
            if host.running is not None:
                self._forgotten.detach()
                host.running.stop()
        if control is not None:
            control.stop()
        if host.steps is not None:
            host.steps.join()
        if was_running:
            check_kept(self._data_dirs)

    def __enter__(self) -> KafkaDouble:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    async def __aenter__(self) -> KafkaDouble:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.to_thread(self.stop)

    @property
    def brokers(self) -> dict[int, BrokerHandle]:
        """The brokers of the cluster, by id. Isolating one takes `brokers=2` or more."""
        broker = None if self._double_host.running is None else self._double_host.running.broker
        return handles_of_double.brokers_of(
            self._serving, broker, len(self._double_host.nodes), self._double_host.settings
        )

    @property
    def page(self) -> str:
        """The URL of the live page, which shows every request, and the state of the double. It is
        served from the first use until `stop`. Raises UsageError without the extra
        `kafkadouble[control]`."""
        self._double_host.serving()
        with self._double_host.lock:
            if self._control is None:
                self._control = server.ControlServer(self).start()
        return f"{self._control.url}/"

    @property
    def requests(self) -> Requests:
        """The latest requests of clients, decoded; see `Requests`."""
        return seen_requests.Requests(self._look)

    @property
    def aio(self) -> AsyncWaits:
        """The verbs as coroutines: `await kafka.aio.wait_for_records("orders", 3)`. Those that wait
        for a state take no thread."""
        return async_waits.AsyncWaits(self)

    @property
    def peer_requests(self) -> Requests:
        """The latest requests between nodes. Raises UsageError without `peer_requests=True`."""
        if not self._peer_requests:
            raise UsageError("requests between nodes are not kept: give peer_requests=True")
        return seen_requests.PeerRequests(self._look)

    # What these give out holds the double: without them a program that keeps only its brokers, or
    # its requests, would lose it.

    def _look(self, at: Callable[[History], list[SeenRequest]]) -> list[SeenRequest]:
        return self._double_host.look(at)

    def _serving(self) -> Running:
        return self._double_host.serving()

    def __repr__(self) -> str:
        running = self._double_host.running
        if running is None or not running.thread.running:
            return "<KafkaDouble, not running>"
        return f"<KafkaDouble at {self.bootstrap_servers}: {self._double_host.call(repr, running.broker)}>"
