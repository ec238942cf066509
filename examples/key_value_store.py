"""KIP-27's worked example: a key-value store whose replicas race to write one commit log, and a
checker that searches for wrong answers.

    python -m examples.key_value_store [--how conditional | hopeful | local-reads] [--seed N]

Every replica acts as the leader. To answer its clients, it evaluates their operations on its state,
which it built from the log. It appends the effects as one batch, expected at the end of the log
that it has read. If the batch is appended, the answers are correct. If it is refused, another
replica was first: the replica reads on, and its clients repeat their operations. Meanwhile replicas
are killed with operations in flight, and the broker loses answers and refuses to lead, so that
batches are sent again.

`hopeful` is the same program without an expected offset: it reads to the end of the log, evaluates
and appends. `local-reads` uses the expected offset, but answers reads from its state alone. Both
give wrong answers, and the checker finds them. The client is aiokafka. The seed decides everything
except which replica is faster.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from examples.linearizable import Action, Operation, Value, Verdict, check, step
from kafkadouble import KafkaDouble, expected_offset

CONDITIONAL, HOPEFUL, LOCAL_READS = "conditional", "hopeful", "local-reads"
LOG = TopicPartition("commit-log", 0)
REPLICAS, CLIENTS, OPERATIONS, KILLS = 4, 8, 30, 5
KEYS = "ab"
BATCH = 8

T = TypeVar("T")


class NotDone(Exception):
    """The operation was not applied, and will not be: the client may repeat it."""


class Killed(Exception):
    """The replica was killed; whether the operation was applied is unknown."""


class ReplicaCall(NamedTuple):
    """An operation of a client, and the future for its answer."""

    key: str
    action: Action
    answer: asyncio.Future[object]


class Replica:
    """A copy of the store. `upcoming` is the offset up to which it has read the log, and `state` is
    the state at that offset."""

    def __init__(self, name: str, bootstrap: str, how: str, seen: Counter[str]) -> None:
        self.name, self.how, self.seen = name, how, seen
        self.state: dict[str, Value] = {}
        self.upcoming = 0
        self.inbox: asyncio.Queue[ReplicaCall] = asyncio.Queue()
        # The offsets of the effects that this replica wrote.
        self._mine: dict[str, int] = {}
        self._numbers = count()
        self._under_way: list[ReplicaCall] = []
        self._called: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._called.set_result(None)
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap, client_id=name, acks="all", retry_backoff_ms=5, linger_ms=0
        )
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap,
            client_id=name,
            enable_auto_commit=False,
            fetch_max_wait_ms=20,
            retry_backoff_ms=5,
        )

    async def run(self) -> None:
        """Reads the log, then serves clients, until the replica is killed."""
        await self._call(self._producer.start())
        await self._call(self._consumer.start())
        self._consumer.assign([LOG])
        self._consumer.seek(LOG, 0)
        await self._catch_up()
        while True:
            self._under_way = [await self.inbox.get()]
            while len(self._under_way) < BATCH and not self.inbox.empty():
                self._under_way.append(self.inbox.get_nowait())
            await self._serve(self._under_way)

    async def bury(self) -> None:
        """Closes what the operating system would close for a dead process. Sent requests stay
        sent."""
        while not self.inbox.empty():
            self._under_way.append(self.inbox.get_nowait())
        for call in self._under_way:
            _answer(call, Killed())
        with suppress(KafkaError):
            await self._called
        await asyncio.sleep(0)  # aiokafka fails to stop a task that was not yet run
        for part in (self._consumer, self._producer):
            with suppress(KafkaError):
                await part.stop()

    async def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a call to the client library. When the replica is killed, it does not get
        the result, but the call in the library runs to its end."""
        self._called = called = asyncio.ensure_future(work)
        return await asyncio.shield(called)

    async def _serve(self, calls: list[ReplicaCall]) -> None:
        if self.how == LOCAL_READS:
            for one in [call for call in calls if call.action[0] == "get"]:
                _answer(one, self.state.get(one.key))
                calls.remove(one)
        if self.how == HOPEFUL:
            await self._catch_up()
        if calls:
            await self._write(calls)

    async def _write(self, calls: list[ReplicaCall]) -> None:
        """Evaluates the operations, appends their effects, and only then answers."""
        start, state = self.upcoming, dict(self.state)
        results, batch, names = [], self._producer.create_batch(), []
        for one in calls:
            result, state[one.key] = step(state.get(one.key), one.action)
            results.append(result)
            names.append(f"{self.name}-{next(self._numbers)}")
            effect = {"name": names[-1], "key": one.key, "holds": state[one.key]}
            batch.append(key=None, value=json.dumps(effect).encode(), timestamp=None)
        if self.how != HOPEFUL:
            expected_offset.expect(batch, start)
        appended = await self._appended(batch)
        await self._catch_up()
        for index, (one, name, result) in enumerate(zip(calls, names, results, strict=True)):
            offset = self._mine.pop(name, -1)
            held = appended if self.how == HOPEFUL else offset == start + index
            _answer(one, result if held else NotDone())
            self.seen["answered" if held else "refused"] += 1
        if held and not appended:
            self.seen["found after a lost answer"] += len(calls)

    async def _appended(self, batch: object) -> bool:
        """Whether the broker accepted the batch. After a refusal, an earlier attempt whose answer
        was lost may still have been appended."""
        try:
            await self._call(self._send(batch))
        except KafkaError as error:
            if expected_offset.refusal(error) is None:
                raise
            return False
        return True

    async def _send(self, batch: object) -> None:
        await (await self._producer.send_batch(batch, LOG.topic, partition=LOG.partition))

    async def _catch_up(self) -> None:
        """Reads the log up to its current end."""
        end = (await self._call(self._consumer.end_offsets([LOG])))[LOG]
        while self.upcoming < end:
            found = await self._call(self._consumer.getmany(LOG, timeout_ms=200))
            for record in found.get(LOG, ()):
                effect = json.loads(record.value)
                self.state[effect["key"]] = effect["holds"]
                if effect["name"].startswith(f"{self.name}-"):
                    self._mine.setdefault(effect["name"], record.offset)
                self.upcoming = record.offset + 1


def _answer(call: ReplicaCall, result: object) -> None:
    if not call.answer.done():
        if isinstance(result, Exception):
            call.answer.set_exception(result)
        else:
            call.answer.set_result(result)


class Store:
    """The running replicas, the clients, and the history of their operations."""

    def __init__(self, kafka: KafkaDouble, how: str, seed: int) -> None:
        self._kafka, self._how, self._choose = kafka, how, random.Random(seed)
        self._living: dict[Replica, asyncio.Task[None]] = {}
        self._moments = count(1)
        self.history: list[Operation] = []
        self.seen: Counter[str] = Counter()

    async def run(self) -> None:
        for number in range(REPLICAS):
            self._start(f"replica-{number}")
        trouble = asyncio.create_task(self._trouble())
        await asyncio.gather(*(self._client(f"client-{number}") for number in range(CLIENTS)), trouble)
        for replica in list(self._living):
            await self._stop(replica)

    def _start(self, name: str) -> None:
        replica = Replica(name, self._kafka.bootstrap_servers, self._how, self.seen)
        self._living[replica] = asyncio.create_task(replica.run())

    async def _stop(self, replica: Replica) -> None:
        task = self._living.pop(replica)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await replica.bury()

    async def _trouble(self) -> None:
        """Kills replicas in the middle of their work, and makes the broker lose answers and refuse
        to lead."""
        for number in range(KILLS):
            for _ in range(3):
                await asyncio.sleep(self._choose.uniform(0.01, 0.04))
                if self._choose.random() < 0.6:
                    self._kafka.disconnect("Produce", after=True, topic=LOG.topic)
                else:
                    self._kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic=LOG.topic)
                self.seen["faults"] += 1
            await self._stop(self._choose.choice(list(self._living)))
            self._start(f"replica-{REPLICAS + number}")
            self.seen["kills"] += 1

    async def _client(self, name: str) -> None:
        choose = random.Random(self._choose.random())
        holds: dict[str, Value] = {}
        for number in range(OPERATIONS):
            key = choose.choice(KEYS)
            actions: list[Action] = [("get",), ("put", f"{name}.{number}")]
            if (old := holds.get(key)) is not None:
                actions += [("swap", old, f"{name}.{number}")] * 3
            action, called = choose.choice(actions), next(self._moments)
            operation = Operation(name, key, action, called)
            try:
                result = await self._request(key, action, choose)
                operation = operation._replace(returned=next(self._moments), result=result)
                holds[key] = result if action[0] == "get" else action[-1] if result else None  # type: ignore[assignment]  # a get gives a value
            except Killed:
                self.seen["no answer"] += 1
            self.history.append(operation)

    async def _request(self, key: str, action: Action, choose: random.Random) -> object:
        """The answer of one replica. When an operation was not applied, the next replica is
        tried."""
        while True:
            replica = choose.choice(list(self._living))
            call = ReplicaCall(key, action, asyncio.get_running_loop().create_future())
            replica.inbox.put_nowait(call)
            try:
                return await call.answer
            except NotDone:
                continue


async def play(how: str, seed: int) -> tuple[Verdict, Store]:
    """Runs the store for its set time, and checks the history of its clients."""
    asyncio.get_running_loop().set_exception_handler(_hush)
    async with KafkaDouble(seed=seed) as kafka:
        kafka.create_topic(LOG.topic, config={} if how == HOPEFUL else {"produce.expected.offset": "required"})
        store = Store(kafka, how, seed)
        await store.run()
        store.seen["records"] = len(kafka.records(LOG.topic))
    return check(store.history), store


def _hush(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignores a future that aiokafka leaves with the same refusal after it sent a batch twice."""
    if not isinstance(context.get("exception"), KafkaError):
        loop.default_exception_handler(context)


def main(words: list[str] | None = None) -> int:
    """Returns 0 when the operations of all clients are linearizable."""
    parser = argparse.ArgumentParser(description="replicas race to write a commit log")
    parser.add_argument("--how", choices=(CONDITIONAL, HOPEFUL, LOCAL_READS), default=CONDITIONAL)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    chosen = parser.parse_args(words)
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    print(
        f"{chosen.how}, seed {chosen.seed}: {REPLICAS} replicas, {CLIENTS} clients, {CLIENTS * OPERATIONS} operations"
    )
    verdict, store = asyncio.run(play(chosen.how, chosen.seed))
    print("  " + ", ".join(f"{what}: {number}" for what, number in sorted(store.seen.items())))
    if verdict.linearizable:
        print(f"linearizable: an order of {len(verdict.order)} operations explains every answer")
        return 0
    print(f"not linearizable: {len(verdict.order)} operations can have happened in this order, ending with")
    for one in verdict.order[-5:]:
        print(f"    {one}")
    print("and none of these can be next:")
    for one in verdict.stuck:
        print(f"    {one}")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
