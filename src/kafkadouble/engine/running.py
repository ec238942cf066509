"""Brokers and the thread in which they run, from one start to one stop. Nothing here knows the
KafkaDouble, which can thus be collected."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafkadouble.common.errors import UsageError
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.clock import Clock
from kafkadouble.server.network.thread import LoopThread

from .broker import Broker
from .node_listeners import BoundListeners, bound

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.engine.data import data_dirs as directories
    from kafkadouble.engine.data import member_data
    from kafkadouble.seen import capturing
    from kafkadouble.seen import capturing as captures
    from kafkadouble.seen.telemetry import TelemetryCollector
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck

    from . import cluster
    from .data.data_dirs import DataDirs
else:  # a start waits for none of them
    captures = OnFirstUse("kafkadouble.seen.capturing")
    directories = OnFirstUse("kafkadouble.engine.data.data_dirs")
    cluster = OnFirstUse("kafkadouble.engine.cluster")
    member_data = OnFirstUse("kafkadouble.engine.data.member_data")

T = TypeVar("T")


class RunOptions(NamedTuple):
    """The options of a run: `nodes` has the listeners of each node, as `node_listeners.planned`
    gives them."""

    nodes: Sequence[tuple[ListenerSpec, ...]]
    settings: Settings
    clock: Clock
    seed: int | None
    data_dirs: Sequence[str]
    capture: capturing.CaptureOptions | None = None
    peer_requests: bool = False
    telemetry: TelemetryCollector | None = None
    token_check: TokenCheck | None = None


class Running:
    """`broker` is the only one, or stands for all of a cluster."""

    broker: ClusterApi
    before_stop: Callable[[], None] | None = None
    """The function that ends the steps of a scenario."""
    replacing: threading.RLock
    """Held while the contents of all brokers are replaced, which takes several steps."""

    def __init__(self, options: RunOptions) -> None:
        self.replacing = threading.RLock()
        listeners: list[BoundListeners] = []
        self._capturing = _begun(options.capture)
        self.thread = LoopThread("kafkadouble")
        self._data: DataDirs | None = None
        try:
            listeners.extend(map(bound, options.nodes))
            self._begin(options, listeners)
            self.thread.run(self.broker.start())
        except BaseException:
            self._fail(listeners)
            raise

    @classmethod
    def over(cls, broker: ClusterApi) -> Running:
        """Brokers that run on this thread already, and that another part of the program ends."""
        made = cls.__new__(cls)
        made.broker, made.thread = broker, LoopThread.adopted("kafkadouble")
        made.replacing = threading.RLock()
        made._capturing = made._data = None
        return made

    def _begin(self, options: RunOptions, listeners: Sequence[BoundListeners]) -> None:
        is_cluster = len(listeners) > 1
        if options.data_dirs and not is_cluster:
            member_data.check_count(options.data_dirs, 1)
            self._data = directories.DataDirs(options.data_dirs, options.settings.int("node.id"), options.clock.now())
        make: Any = (
            partial(cluster.Cluster, data_dirs=options.data_dirs) if is_cluster else partial(Broker, data=self._data)
        )
        self.thread.start()
        self.broker = self.thread.call(
            make,
            options.settings,
            listeners if is_cluster else listeners[0],
            options.clock,
            seed=options.seed,
            peer_requests=options.peer_requests,
            capture=None if self._capturing is None else self._capturing.capture,
            telemetry=options.telemetry,
            token_check=options.token_check,
        )

    def _fail(self, listeners: Sequence[BoundListeners]) -> None:
        if hasattr(self, "broker") and self.thread.running and len(listeners) > 1:
            self.thread.run(self.broker.stop())
        self.thread.stop()
        for listener in listeners:
            listener.close()
        if self._data is not None:
            self._data.release()
        self._close_capture()

    def _close_capture(self) -> None:
        if self._capturing is not None:
            self._capturing.close()

    def on_thread(self, function: Callable[[], T]) -> T:
        """The result of a function that only reads or cleans up; it works after a stop too."""
        return self.thread.call(function) if self.thread.running else function()

    def outcome(self, answer: Future[T]) -> T:
        """Waits for the broker's answer. Raises UsageError if the double is stopped before; an
        answer that comes later is lost."""
        result: Future[T] = self.thread.hold(Future())
        answer.add_done_callback(lambda done: _pass_on(done, result))
        if not self.thread.running:  # it was stopped before it could hold the result
            result.cancel()
        try:
            return result.result()
        except CancelledError:
            raise UsageError("the double was stopped meanwhile") from None

    def stop(self) -> None:
        """Ends both; more than once is no error. The collector of garbage may call it on any
        thread, also on the loop's."""
        if self.before_stop is not None:
            self.before_stop()
        self.thread.cancel_held()
        if self.thread.here:
            self._ending = asyncio.ensure_future(self._end())
            return
        try:
            if self.thread.running:
                self.thread.run(self.broker.stop())
        finally:
            self.thread.stop()
            self._close_capture()

    async def _end(self) -> None:
        await self.broker.stop()
        self.thread.stop()
        self._close_capture()


def _pass_on(answer: Future[T], result: Future[T]) -> None:
    with suppress(InvalidStateError):  # it was cancelled
        if (problem := answer.exception()) is not None:
            result.set_exception(problem)
        else:
            result.set_result(answer.result())


def _begun(options: capturing.CaptureOptions | None) -> captures.Capturing | None:
    if options is None:
        return None
    return captures.Capturing(options)
