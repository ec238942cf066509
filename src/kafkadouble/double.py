"""KafkaDouble: runs a broker in a thread of this process, and acts on it without a client.

Rules. Only the broker's own thread touches its state; every method here may be called from any
thread, and waits for the broker. A double without references is stopped when it is collected, or
when the interpreter ends. A forked process may use only its address.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import as_text
from kafkadouble.server.faults.register import MOST_REMEMBERED
from kafkadouble.server.network.clock import Clock, SteppedClock, SystemClock

from .access.client_access import ClientAccess, with_scenario
from .access.setting_sources import OwnListeners, settings_of
from .arguments.parameters import check, check_given, check_plain
from .common.errors import UsageError
from .engine.node_listeners import Overrides, checked_port, planned
from .engine.running import Running, RunOptions
from .run_arguments import PathLike, capture_of, check_kept, checked_count, collector_if, paths_of, scenario_of
from .verbs.double_api import DoubleApi

if TYPE_CHECKING:
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck
    from kafkadouble.server.tracing.history import History, SeenRequest

    from .access.acls import AclBinding
    from .brokers.broker_handle import BrokerHandle
    from .common.literals import CertificateKind, ListenerProtocol, SecureProtocol, TokenKind
    from .control.server import ControlServer
    from .engine.broker import Broker
    from .scenario.steps import ScenarioSteps
    from .seen.requests import Requests
    from .verbs.async_waits import AsyncWaits

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
        self._seed, self._peer_requests = seed, bool(peer_requests)
        self._telemetry = collector_if(telemetry)
        controller_port = checked_port("controller_port", controller_port)
        only_port = checked_port("port", port) if listeners is None else None
        self._scenario = None if scenario is None else scenario_of(scenario)
        access = ClientAccess(security, certificate, users, acls, super_users, oauthbearer)
        access = with_scenario(access, self._scenario and self._scenario.access)
        self._acls = access.creations()
        given = [("config", name, as_text(value)) for name, value in (config or {}).items()]
        self._settings, self._security = settings_of(access, OwnListeners(host, port, listeners), given)
        if checked_count(brokers) > 1:
            from .engine import member_settings

            member_settings.check(self._settings)
        self._nodes = planned(self._settings, brokers, Overrides(host, only_port, controller_port), access.certificate)
        self._data_dirs, self._capture = paths_of(data_dir), capture_of(capture, capture_bodies, capture_frames)
        self._clock = clock or (SteppedClock(time.time_ns() // 1_000_000) if stepped else SystemClock())
        self._lock = threading.Lock()
        self._running: Running | None = None
        self._snapshots = {}
        self._function_errors = deque(maxlen=MOST_REMEMBERED)
        self._control: ControlServer | None = None
        self._round = 0
        self._steps: ScenarioSteps | None = None

    def start(self) -> KafkaDouble:
        """Binds the ports and starts to serve. Does nothing if the double already runs."""
        is_new = False
        with self._lock:
            if self._running is None or not (self._running.thread.running or self._running.thread.elsewhere):
                self._running = Running(self._run_options())
                self._nodes = self._running.broker.all_listeners
                self._forgotten = weakref.finalize(self, self._running.stop)
                STARTED.add(self)
                is_new = True
        if is_new:
            self._begin_new()
        return self

    def _begin_new(self) -> None:
        try:
            self._begin_security()
            self._apply_scenario()
        except BaseException:
            self.stop()
            raise

    def _apply_scenario(self) -> None:
        if self._acls:
            from .access.acls import check_creations, to_create

            check_creations(self._acls, self._ask(to_create(self._acls)))
        if self._scenario is not None:
            from .scenario import apply

            apply.begin(self, self._scenario)

    def _run_options(self) -> RunOptions:
        return RunOptions(
            self._nodes,
            self._settings,
            self._clock,
            self._seed,
            self._data_dirs,
            self._capture,
            self._peer_requests,
            self._telemetry,
            self._token_check,
        )

    def stop(self) -> None:
        """Closes every connection, frees the ports, ends the thread. Only `requests` stays.

        Raises UsageError, when all that is done, if a directory of `data_dir` was removed before:
        what brokers acknowledged is lost.
        """
        was_running = self._running is not None and self._running.thread.running
        if self._steps is not None:  # a step may need the lock
            self._steps.end()
        with self._lock:
            control, self._control = self._control, None
            if self._running is not None:
                self._forgotten.detach()
                self._running.stop()
        if control is not None:
            control.stop()
        if self._steps is not None:
            self._steps.join()
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
        from .brokers.handles_of_double import brokers_of

        broker = None if self._running is None else self._running.broker
        return brokers_of(self._serving, broker, len(self._nodes), self._settings)

    @property
    def page(self) -> str:
        """The URL of the live page, which shows every request, and the state of the double. It is
        served from the first use until `stop`. Raises UsageError without the extra
        `kafkadouble[control]`."""
        self._serving()
        with self._lock:
            if self._control is None:
                from .control.server import ControlServer

                self._control = ControlServer(self).start()
        return f"{self._control.url}/"

    @property
    def requests(self) -> Requests:
        """The latest requests of clients, decoded; see `Requests`."""
        from .seen.requests import Requests

        return Requests(self._look)

    @property
    def aio(self) -> AsyncWaits:
        """The verbs as coroutines: `await kafka.aio.wait_for_records("orders", 3)`. Those that wait
        for a state take no thread."""
        from .verbs.async_waits import AsyncWaits

        return AsyncWaits(self)

    @property
    def peer_requests(self) -> Requests:
        """The latest requests between nodes. Raises UsageError without `peer_requests=True`."""
        from .seen.requests import PeerRequests

        if not self._peer_requests:
            raise UsageError("requests between nodes are not kept: give peer_requests=True")
        return PeerRequests(self._look)

    def _look(self, at: Callable[[History], list[SeenRequest]]) -> list[SeenRequest]:
        running = self._known()
        return running.on_thread(lambda: at(running.broker.history))

    def _ask(self, body: Message, at: Broker | None = None) -> Any:
        return self._outcome(self._call(self._serving().broker.ask, body, at))

    def _outcome(self, answer: Future[T]) -> T:
        return answer.result() if answer.done() else self._known().outcome(answer)

    def _call(self, function: Callable[..., T], *args: Any) -> T:
        return self._serving().thread.call(function, *args)

    def _known(self) -> Running:
        if self._running is None:
            raise UsageError("the double was not started")
        return self._running

    def _serving(self) -> Running:
        running = self._known()
        if running.thread.elsewhere:
            raise UsageError(
                "the double runs in the process that this one was forked from: here only its address is of use"
            )
        if not running.thread.running:
            raise UsageError("the double was stopped")
        return running

    def __repr__(self) -> str:
        running = self._running
        if running is None or not running.thread.running:
            return "<KafkaDouble, not running>"
        return f"<KafkaDouble at {self.bootstrap_servers}: {self._call(repr, running.broker)}>"
