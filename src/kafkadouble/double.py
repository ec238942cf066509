"""KafkaDouble: a broker in a thread of this process, and what a test does to it without a client.

Rules. The state of the broker is touched on its own thread alone; every method here may be called from any thread, and waits for the broker. A
double that is forgotten is stopped when it is collected, or when the interpreter ends. A process that is forked off may use its address.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.messages.message import Message
from kafkadouble.server.clock import Clock, SteppedClock, SystemClock
from kafkadouble.server.settings import Settings
from kafkadouble.server.thread import LoopThread

from .broker import Broker
from .errors import UsageError
from .listening import listen, text_of

if TYPE_CHECKING:
    from kafkadouble.server.faults.rule import Rule
    from kafkadouble.server.history import History, SeenRequest

    from .groups import Group
    from .records import ReadRecord
    from .requests import Requests
    from .rules import RuleHandle
    from .seeding import HeadersLike

T = TypeVar("T")
PathLike = str | os.PathLike[str]

logging.getLogger("kafkadouble").addHandler(logging.NullHandler())  # a library is silent unless it is asked to speak


class KafkaDouble:
    """A Kafka broker in this process, running between `start` and `stop` or for the length of a `with` or `async with`.

    `port` 0 is any free port; it is kept over `reset` and over a stop and a new start. `config` takes Kafka's broker settings. With `stepped`
    (or a SteppedClock as `clock`) time stands still until `advance`. `seed` makes every choice at random repeat itself. `data_dir`, one or
    several, keeps everything in Kafka's own files, over stops and starts; without it everything is in memory, and gone at a stop. UsageError
    for a setting that Kafka does not know, and for a directory that another broker has; OSError when the port is taken.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        config: Mapping[str, object] | None = None,
        brokers: int = 1,
        clock: Clock | None = None,
        stepped: bool = False,
        seed: int | None = None,
        data_dir: PathLike | Sequence[PathLike] | None = None,
    ) -> None:
        if brokers != 1:
            raise UsageError(
                f"brokers is {brokers}: a cluster of several nodes comes in a later version, one node is served"
            )
        if config is not None and "listeners" in config:
            raise UsageError("listeners: give host and port instead")
        if stepped and clock is not None:
            raise UsageError("a clock and stepped=True are two answers to one question: give one of them")
        self._host, self._port, self._seed = host, port, seed
        self._settings = Settings(config)
        self._data_dirs = paths_of(data_dir)
        self._clock = clock or (SteppedClock(time.time_ns() // 1_000_000) if stepped else SystemClock())
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._round = 0

    def start(self) -> KafkaDouble:
        """Bind the port and begin to serve; a double that runs already goes on."""
        with self._lock:
            if self._running is None or not (self._running.thread.running or self._running.thread.elsewhere):
                self._running = _Running(
                    self._host, self._port, self._settings, self._clock, self._seed, self._data_dirs
                )
                self._port = self._running.broker.address[1]
                self._forgotten = weakref.finalize(self, self._running.stop)
        return self

    def stop(self) -> None:
        """Close every connection, free the port, end the thread. What the broker knew is gone, but for `requests`."""
        with self._lock:
            if self._running is not None:
                self._forgotten.detach()
                self._running.stop()

    def __enter__(self) -> KafkaDouble:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    async def __aenter__(self) -> KafkaDouble:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.to_thread(self.stop)

    @property
    def port(self) -> int:
        """The port that it is reached on."""
        return self._address()[1]

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT, for a client's setting of that name."""
        return text_of(*self._address())

    def _address(self) -> tuple[str, int]:
        running = self._known()
        return running.broker.address if running.thread.elsewhere else self._serving().broker.address

    def create_topic(self, name: str, partitions: int = 1, config: Mapping[str, object] | None = None) -> None:
        """Create a topic. KafkaError where a client's admin would get one, such as TOPIC_ALREADY_EXISTS."""
        from . import seeding

        seeding.check_topics(self._ask(seeding.to_create(name, partitions, config or {})).topics)

    def delete_topic(self, name: str) -> None:
        """Delete a topic and all that is in it. KafkaError(UNKNOWN_TOPIC_OR_PARTITION) when there is none."""
        from . import seeding

        seeding.check_topics(self._ask(seeding.to_delete(name)).responses)

    def produce(
        self,
        topic: str,
        value: str | bytes | None = None,
        key: str | bytes | None = None,
        headers: HeadersLike = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> int:
        """Append one record, and tell its offset. Texts become UTF-8; `timestamp` is ms since the epoch, the broker's time unless given.

        Without `partition` the key decides, as Kafka's producer has it; without a key the partitions take turns. A topic that is not there is
        created if `auto.create.topics.enable` is on. KafkaError when the record is refused.
        """
        from . import seeding

        key_bytes = seeding.as_bytes(key)
        at = self._clock.now() if timestamp is None else timestamp
        batch = seeding.batch_of(value, key_bytes, headers, at)

        def choose(partitions: int) -> int:
            return self._choose(key_bytes, partitions) if partition is None else partition

        return seeding.appended_at(self._call(seeding.append, self._serving().broker, topic, choose, batch).result())

    def _choose(self, key: bytes | None, partitions: int) -> int:
        if key is not None:
            from .partitioner import partition_for

            return partition_for(key, partitions)
        with self._lock:
            self._round += 1
            return (self._round - 1) % partitions

    def records(
        self, topic: str, partition: int | None = None, isolation: str = "read_uncommitted"
    ) -> list[ReadRecord]:
        """The records of a topic, or of one partition, by partition and offset. `read_committed` leaves out what was aborted or is not decided.

        KafkaError(UNKNOWN_TOPIC_OR_PARTITION) when there is none such.
        """
        from . import records

        committed = records.check_isolation(isolation)
        taken = self._call(records.take_all, self._serving().broker, topic, partition, committed)
        return [record for one in taken for record in records.read(one)]

    def bump_epoch(self, topic: str, partition: int) -> int:
        """Elect the partition's leader anew, and tell its epoch. Clients that name the old one are fenced, and ask who leads.

        KafkaError(UNKNOWN_TOPIC_OR_PARTITION) when there is none such.
        """
        from . import leadership

        return self._call(leadership.bump, self._serving().broker, topic, partition)

    def truncate(self, topic: str, partition: int, offset: int) -> int:
        """Lose the records from `offset` on, whole batches, as when a broker that lacks them is elected; tells the new leader epoch, which
        begins there. KafkaError: OFFSET_OUT_OF_RANGE below the log's start or beyond its end, UNKNOWN_TOPIC_OR_PARTITION."""
        from . import leadership

        return self._call(leadership.truncate, self._serving().broker, topic, partition, offset)

    def leader_epoch(self, topic: str, partition: int) -> int:
        """The epoch of the partition's leader, which the next batch carries."""
        from . import leadership

        return self._call(leadership.leader_epoch, self._serving().broker, topic, partition)

    def epochs(self, topic: str, partition: int) -> dict[int, int]:
        """The leader epochs that the partition's log knows, oldest first, each with the offset at which it begins."""
        from . import leadership

        return self._call(leadership.epochs, self._serving().broker, topic, partition)

    def groups(self) -> dict[str, Group]:
        """The groups by id: their state, members and committed offsets."""
        from .groups import groups

        return groups(self._ask)

    @property
    def requests(self) -> Requests:
        """What clients asked for lately, decoded; see `Requests`."""
        from .requests import Requests

        return Requests(self._look)

    def _look(self, at: Callable[[History], list[SeenRequest]]) -> list[SeenRequest]:
        running = self._known()
        return self._on_thread(running, lambda: at(running.broker.history))

    def advance(self, seconds: float) -> None:
        """Let so much time pass, with all that is due in it. UsageError unless the clock is stepped."""
        clock = self._clock
        if not isinstance(clock, SteppedClock):
            raise UsageError("only a stepped clock can be advanced: give stepped=True")
        if seconds < 0:
            raise UsageError("time does not go backwards")
        self._call(self._serving().broker.listener.advance, clock, round(seconds * 1000))

    def reset(self) -> None:
        """Begin anew on the same port: no topics, groups, rules or requests, and every connection closed."""
        self._call(self._serving().broker.reset)

    def arm(self, rule: Rule) -> RuleHandle:
        """Put a fault rule in force. UsageError when it could never apply."""
        from .rules import RuleHandle

        broker = self._serving().broker

        def arm() -> RuleHandle:
            return RuleHandle(self._disarm, broker.node, broker.node.faults.arm(rule))

        return self._call(arm)

    def fail(self, api: str, error: str | int, *, times: int | None = 1, **more: Any) -> RuleHandle:
        """Answer the next request to an API with an error. `times`: how many, None for all; `more`: any field of `Rule`, such as `message`,
        `topic`, `partition`, `group`, `client_id`, `when="after"`. Narrowed to a topic or a partition, only that part of a request fails."""
        return self._arm(action="fail", api=api, error=error, times=times, **more)

    def delay(self, api: str, seconds: float, *, times: int | None = 1, **more: Any) -> RuleHandle:
        """Hold the next request to an API back by so many seconds, of the broker's clock. `times` and `more` as for `fail`."""
        return self._arm(action="delay", api=api, seconds=seconds, times=times, **more)

    def disconnect(self, api: str, *, after: bool = False, times: int | None = 1, **more: Any) -> RuleHandle:
        """Close the connection of the next request to an API: without processing it, or `after` that. `times` and `more` as for `fail`."""
        return self._arm(action="disconnect", api=api, when="after" if after else "before", times=times, **more)

    def _arm(self, **fields: Any) -> RuleHandle:
        from kafkadouble.server.faults.rule import Rule

        return self.arm(Rule.of(**fields))

    def _disarm(self, disarm: Callable[[], None]) -> None:
        self._on_thread(self._known(), disarm)

    def _ask(self, body: Message) -> Any:
        return self._call(self._serving().broker.ask, body).result()

    def _call(self, function: Callable[..., T], *args: Any) -> T:
        return self._serving().thread.call(function, *args)

    def _known(self) -> _Running:
        if self._running is None:
            raise UsageError("the double was not started")
        return self._running

    def _serving(self) -> _Running:
        running = self._known()
        if running.thread.elsewhere:
            raise UsageError(
                "the double runs in the process that this one was forked from: here only its address is of use"
            )
        if not running.thread.running:
            raise UsageError("the double was stopped")
        return running

    def _on_thread(self, running: _Running, function: Callable[[], T]) -> T:
        """What a function gives that only looks or tidies up: nothing runs any more that could disturb it after a stop."""
        return running.thread.call(function) if running.thread.running else function()

    def __repr__(self) -> str:
        running = self._running
        if running is None or not running.thread.running:
            return "<KafkaDouble, not running>"
        return f"<KafkaDouble at {self.bootstrap_servers}: {self._call(repr, running.broker)}>"


class _Running:
    """A broker and the thread in which it runs, from one start to one stop. It does not know its KafkaDouble, which can thus be collected."""

    def __init__(
        self, host: str, port: int, settings: Settings, clock: Clock, seed: int | None, data_dirs: Sequence[str]
    ) -> None:
        sock = listen(host, port)
        self.thread = LoopThread("kafkadouble")
        data = None
        try:
            if data_dirs:
                from .data_dirs import DataDirs

                data = DataDirs(data_dirs, settings.int("node.id"), clock.now())
            self.thread.start()
            self.broker = self.thread.call(Broker, settings, sock, clock, seed=seed, data=data)
            self.thread.run(self.broker.start())
        except BaseException:
            self.thread.stop()
            sock.close()
            if data is not None:
                data.release()
            raise

    def stop(self) -> None:
        """End both; more than once is no error. The collector of garbage may call it on any thread, also on the loop's."""
        if self.thread.here:
            self._ending = asyncio.ensure_future(self._end())
            return
        try:
            if self.thread.running:
                self.thread.run(self.broker.stop())
        finally:
            self.thread.stop()

    async def _end(self) -> None:
        await self.broker.stop()
        self.thread.stop()


def paths_of(data_dir: PathLike | Sequence[PathLike] | None) -> list[str]:
    """The paths of one directory, of several, or of none."""
    if data_dir is None:
        return []
    return [os.fspath(path) for path in ([data_dir] if isinstance(data_dir, str | os.PathLike) else data_dir)]
