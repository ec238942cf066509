"""Random lives of several transactional producers, on one broker and on three that fail: what a
read_committed consumer returns is what was committed, in order, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.message import Message
from kafkadouble.server.handlers import write_txn_markers
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.transactions.transaction_state import BETWEEN_TRANSACTIONS
from tests.server.harness import SEED
from tests.server.transactions.broker import Broker
from tests.server.transactions.brokers import BROKERS, Brokers, topic_of
from tests.support.transactional_producer import Ask, TransactionalProducer, committed_values, fetched

RETRIED = {
    codes.CONCURRENT_TRANSACTIONS,
    codes.NOT_ENOUGH_REPLICAS,
    codes.COORDINATOR_LOAD_IN_PROGRESS,
    codes.COORDINATOR_NOT_AVAILABLE,
    codes.NOT_COORDINATOR,
    codes.NOT_LEADER_OR_FOLLOWER,
    codes.REQUEST_TIMED_OUT,
}
TIMEOUT_MS = 600_000


class Life:
    """One producer, and its open transaction."""

    def __init__(self, ask: Ask, number: int, version: int) -> None:
        self.producer = TransactionalProducer(ask, f"app{number}", version=version, timeout_ms=TIMEOUT_MS)
        self.number, self.sent = number, 0
        self.open: list[tuple[int, bytes]] = []

    def own(self, values: list[bytes]) -> list[bytes]:
        """The values of this producer."""
        return [value for value in values if value.startswith(b"%d-" % self.number)]

    def values_of(self, index: int) -> list[bytes]:
        return [value for at, value in self.open if at == index]


class Lives:
    """`pause` lets time pass between two attempts of a request that is retried."""

    def __init__(self, ask: Ask, random: Random, partitions: int) -> None:
        self.ask, self.random, self.partitions = ask, random, partitions
        self.lives = [Life(ask, number, random.choice([1, 2])) for number in range(3)]
        self.committed: dict[int, list[bytes]] = {index: [] for index in range(partitions)}
        for life in self.lives:
            self.init(life)

    def pause(self) -> None:
        raise NotImplementedError

    def retried(self, attempt: Callable[[], int]) -> None:
        """Calls until the code is none that clients retry; it must be 0 then."""
        for _ in range(200):
            code = attempt()
            if code not in RETRIED:
                assert code == 0, codes.name(code)
                return
            self.pause()
        raise AssertionError(f"a producer does not come to its end: {codes.name(code)}")

    def init(self, life: Life) -> None:
        """A new producer of the id: what the old one left open is aborted."""
        self.retried(life.producer.init)
        life.open.clear()

    def send(self, life: Life) -> None:
        index = self.random.randrange(self.partitions)
        life.sent += 1
        value = b"%d-%d" % (life.number, life.sent)
        self.retried(lambda: life.producer.send(value, index=index))
        life.open.append((index, value))

    def end(self, life: Life) -> None:
        if not life.open:
            return
        commit = self.random.random() < 0.6
        self.retried(lambda: life.producer.end(commit=commit))
        if commit:
            for index in self.committed:
                self.committed[index] += life.values_of(index)
        life.open.clear()

    def step(self) -> None:
        life = self.random.choice(self.lives)
        how = self.random.choices([self.send, self.end, self.init], [5, 3, 1])[0]
        how(life)
        self.check()

    def check(self) -> None:
        """What is shown is committed, and is a prefix of each producer's values."""
        for index, committed in self.committed.items():
            shown = committed_values(self.ask, index=index)
            assert set(shown) <= set(committed)
            assert len(set(shown)) == len(shown)
            data = fetched(self.ask, index=index)
            assert data.last_stable_offset <= data.high_watermark

    def check_end(self) -> None:
        for life in self.lives:
            self.retried(life.producer.init)
        for index, committed in self.committed.items():
            shown = [value or b"" for value in committed_values(self.ask, index=index)]
            assert sorted(shown) == sorted(committed)
            for life in self.lives:
                assert life.own(shown) == life.own(committed)
            data = fetched(self.ask, index=index)
            assert data.last_stable_offset == data.high_watermark


class OnOne(Lives):
    def __init__(self, broker: Broker, random: Random) -> None:
        self.broker = broker
        super().__init__(self.asked, random, 2)

    def asked(self, body: Message, version: int) -> Any:
        pending = self.broker.begin(body, version)
        while not pending.done:
            self.broker.tick(10)
        return pending.response

    def pause(self) -> None:
        self.broker.tick(50)

    def disturb(self) -> None:
        """Loads a shard again, or lets time pass."""
        if self.random.random() < 0.5:
            topic = self.random.choice([TRANSACTION_STATE, CONSUMER_OFFSETS])
            runtimes = (self.broker.node.transactions.runtime, self.broker.node.groups.runtime)
            for runtime in runtimes:
                runtime.on_election(self.broker.partition(topic, self.random.randrange(2)))
        self.broker.tick(self.random.choice([0, 7, 60]))


@pytest.mark.parametrize("seed", range(10))
def test_on_one_broker(broker: Broker, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(SEED + seed)
    write = write_txn_markers._write

    def lossy(*given: object) -> object:
        """A leader that refuses some markers."""
        return codes.NOT_LEADER_OR_FOLLOWER if random.random() < 0.3 else write(*given)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(write_txn_markers, "_write", lossy)
    lives = OnOne(broker, random)
    for _ in range(80):
        lives.step()
        lives.disturb()
    lives.check_end()
    entries = [entry for shard in broker.node.transactions for entry in shard.entries.values()]
    assert {entry.metadata.state in BETWEEN_TRANSACTIONS and entry.pending_state is None for entry in entries} == {True}


class OnThree(Lives):
    def __init__(self, brokers: Brokers, random: Random) -> None:
        self.brokers = brokers
        super().__init__(self.asked, random, 1)

    def asked(self, body: Message, version: int) -> Any:
        """The response, of another leader if the first one fails."""
        brokers, answers, topic = self.brokers, list[Any](), topic_of(body)
        while not answers or answers[0] is RequestFailure.LOST:
            brokers.until(lambda: brokers.led_by(topic) is not None, 60_000)
            node = brokers.led_by(topic)
            assert node is not None
            answers = []
            brokers.submit(node, body, version, answers.append)
            brokers.until(lambda: bool(answers) or brokers.led_by(topic) is not node, 60_000)  # noqa: B023  # at once
        return answers[0]

    def pause(self) -> None:
        self.brokers.step(100)

    def disturb(self) -> None:
        """Kills or cuts off one broker, or brings it back."""
        down = [id for id in BROKERS if id not in self.brokers.nodes]
        if down:
            self.brokers.add_broker(down[0])
            self.brokers.until(self.is_in_order, 120_000)
        elif self.brokers.cut:
            self.brokers.cut.clear()
            self.brokers.until(self.is_in_order, 120_000)
        elif self.random.random() < 0.5:
            self.brokers.kill(self.random.choice(BROKERS))
        else:
            self.brokers.cut.add(self.random.choice(BROKERS))

    def is_in_order(self) -> bool:
        topics = (TRANSACTION_STATE, "t", CONSUMER_OFFSETS)
        return all(len(self.brokers.of(topic).isr) == 3 and self.brokers.led_by(topic) for topic in topics)


@pytest.mark.parametrize("seed", range(3))
def test_on_three_brokers(seed: int) -> None:
    lives = OnThree(Brokers(), Random(SEED + seed))
    for number in range(30):
        lives.step()
        if number % 5 == 4:
            lives.disturb()
    lives.brokers.cut.clear()
    for id in BROKERS:
        if id not in lives.brokers.nodes:
            lives.brokers.add_broker(id)
    lives.brokers.until(lives.is_in_order, 120_000)
    lives.check_end()
