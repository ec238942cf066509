"""The interface of a double that verbs need.

A verb is a function of a Host; KafkaDouble, the double of `kafkadouble serve`, and a real Kafka in
place of a double have one each. It may be used on any thread; what touches the broker runs on its
own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.server.faults.register import MOST_REMEMBERED

if TYPE_CHECKING:
    from kafkadouble.access.security import Security
    from kafkadouble.brokers.snapshot import Snapshot
    from kafkadouble.engine.cluster_api import BrokerApi
    from kafkadouble.engine.running import Running
    from kafkadouble.messages.generated.create_acls import CreateAclsRequest
    from kafkadouble.messages.message import Message
    from kafkadouble.records.initial_topics import InitialTopic
    from kafkadouble.rules import rule_handle
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.seen.requests import Requests
    from kafkadouble.seen.telemetry import TelemetryCollector
    from kafkadouble.server.configs.settings import Settings
    from kafkadouble.server.faults.rule import Rule
    from kafkadouble.server.network.clock import Clock
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.tracing.history import History, SeenRequest
    from kafkadouble.waits import awaited as waits
    from kafkadouble.waits.awaited import Awaited

    from . import host_clock
    from .steps import Steps
else:  # a start waits for none of them
    rule_handle = OnFirstUse("kafkadouble.rules.rule_handle")
    waits = OnFirstUse("kafkadouble.waits.awaited")
    host_clock = OnFirstUse("kafkadouble.host.host_clock")

T = TypeVar("T")
V = TypeVar("V")


class Double(Protocol):
    """The double that a program holds. A verb that uses another one calls it here, since the class
    of the program may have its own."""

    @property
    def page(self) -> str:
        """The URL of the live page."""
        ...

    @property
    def token_endpoint(self) -> str:
        """The URL where clients get tokens."""
        ...

    @property
    def requests(self) -> Requests:
        """The latest requests of clients."""
        ...

    def bootstrap(self, listener: str) -> str:
        """HOST:PORT of every broker on a listener."""
        ...

    def advance(self, seconds: float) -> None:
        """Advances the clock."""
        ...

    def arm(self, rule: Rule) -> RuleHandle:
        """Arms a fault rule."""
        ...

    def create_topic(self, name: str, partitions: int, *, replication_factor: int | None) -> None:
        """Creates a topic."""
        ...

    def _apply_scenario(self) -> None:
        """Begins with the ACLs and the scenario of the start."""
        ...


@dataclass(eq=False)
class Host:
    """The parts of a double. `nodes` are the listeners of each broker; `acls` and `topics` are
    there from the start and after a reset, as is what `scenario` describes, a Scenario if there is
    one; `security` has the users and the certificates.

    `running` is None before the first start, and stays after a stop. `steps` are those of the
    scenario since the last start or reset. `turns` counts the records without a key, which go to
    the partitions in turn. `snapshots` are those with a name. `function_errors` has the latest
    rules with a function that were armed, with their exceptions: they outlive a stop and a reset,
    so that none is lost. `held` gives the double, as long as the program holds it.
    """

    settings: Settings
    clock: Clock
    nodes: list[tuple[ListenerSpec, ...]]
    seed: int | None = None
    security: Security | None = None
    acls: Sequence[CreateAclsRequest.AclCreation] = ()
    topics: Sequence[InitialTopic] = ()
    telemetry: TelemetryCollector | None = None
    scenario: Any = None
    running: Running | None = None
    steps: Steps | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    turns: int = 0
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    unnamed_snapshots: int = 0
    function_errors: deque[tuple[Rule, list[BaseException]]] = field(
        default_factory=lambda: deque(maxlen=MOST_REMEMBERED)
    )
    held: Callable[[], Any] = lambda: None

    def known(self) -> Running:
        """The cluster that runs, or ran until it was stopped. Raises UsageError before the first
        start."""
        if self.running is None:
            raise UsageError("the double was not started")
        return self.running

    def serving(self) -> Running:
        """The cluster that runs now. Raises UsageError if nothing does."""
        running = self.known()
        if running.thread.elsewhere:
            raise UsageError(
                "the double runs in the process that this one was forked from: here only its address is of use"
            )
        if not running.thread.running:
            raise UsageError("the double was stopped")
        return running

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """The result of a function that is called on the thread of the broker."""
        return self.serving().thread.call(function, *args)

    def outcome(self, answer: Future[T]) -> T:
        """Waits for the broker's answer. Raises UsageError if it is stopped before."""
        return answer.result() if answer.done() else self.known().outcome(answer)

    def ask(self, body: Message, at: BrokerApi | None = None) -> Any:
        """The response of a broker to this request, any broker unless one is given."""
        return self.outcome(self.call(self.serving().broker.ask, body, at))

    def look(self, at: Callable[[History], list[SeenRequest]]) -> list[SeenRequest]:
        """Applies a function to the history of requests. Works after a stop too."""
        running = self.known()
        return running.on_thread(lambda: at(running.broker.history))

    def wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float, advance: bool) -> T:
        """The result of what is observed once a state holds. With `advance` time passes until
        then. Raises TimeoutError, which says what was there instead."""
        return result(waits.outcome(self.serving(), awaited, timeout, host_clock.moves(self, advance)))

    def arm(self, rule: Rule) -> RuleHandle:
        """Arms a fault rule. Raises UsageError when it could never apply."""
        running = self.serving()
        handle = running.thread.call(rule_handle.armed, running, rule)
        if rule.has_function:
            self.function_errors.append((rule, handle.errors))
        return handle

    def addresses(self, listener: str | None = None) -> list[tuple[str, int]]:
        """Host and port of every broker on a listener, the first one unless it is named."""
        running = self.known()
        return (running if running.thread.elsewhere else self.serving()).broker.addresses(listener)

    def bootstrap(self, listener: str | None = None) -> str:
        """The addresses, separated by commas. Raises UsageError for an unknown listener."""
        return ",".join(text_of(*address) for address in self.addresses(listener))

    @property
    def double(self) -> Double:
        """The double that the program holds. Raises UsageError if it let go of it."""
        found: Double | None = self.held()
        if found is None:
            raise UsageError("the double was stopped")
        return found

    def apply_scenario(self) -> None:
        """Begins with the ACLs and the scenario of the start."""
        self.double._apply_scenario()

    def end_steps(self) -> None:
        """Calls no further step of a scenario. On the broker's own thread the steps stay, as
        nothing can restart the cluster there."""
        if self.steps is not None and not self.serving().thread.here:
            self.steps.end()


def host_of(double: Any) -> Host:
    """The host of a double, or of a real Kafka in its place. Only this and the double itself read
    the attribute."""
    host: Host = double._double_host
    return host
