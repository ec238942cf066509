"""A machine whose power fails again and again, under a node that receives writes.

    python -m tests.simulation.power --seeds 2000 [--first 0]

Each seed is run with `log.flush.interval.messages=1` and without. These rules are checked after
every run of the node: every record in the log was sent, occurs once, and in the order of sending;
only a tail may be lost; an offset that is reused has a later leader epoch, and OffsetForLeaderEpoch
reports lost records as lost (KIP-101, KIP-320); a killed process loses nothing. With the flushing,
acknowledged data is never lost either: records, offsets of groups, topics, producer ids.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.server.replica import leadership
from kafkadouble.wire.batch import iter_batches, records_of
from tests.server.harness import Pending
from tests.server.machine import Machine, fetch_request, produce_request, produced

FLUSHING = {"log.flush.interval.messages": 1}
TOPICS, PARTITIONS, GROUPS = ("t", "u"), 2, ("g", "h")
LARGE = 400_000
"""The size of some values in bytes, so that segments end."""

Key = tuple[str, int]
Committer = tuple[str, str]
"""Group and topic."""
NO_OFFSET = -1


class Kept(NamedTuple):
    """A record as the log has it; the value is a number that was sent once."""

    offset: int
    epoch: int
    value: int


class Sent(NamedTuple):
    """A batch that was sent, and is not answered yet."""

    key: Key
    values: range
    pending: Pending


class World:
    """One seed: a machine, and what its clients know."""

    def __init__(self, seed: int, *, flushing: bool) -> None:
        self.random, self.flushing = Random(seed), flushing
        self.machine = Machine({"offsets.topic.num.partitions": 2, **(FLUSHING if flushing else {})}, "a", "b")
        self.count = Counter[str]()
        self.next_value = 0
        self.sent: dict[int, Key] = {}  # every value, and the partition it was sent to
        self.under_way: list[Sent] = []
        self.acknowledged: dict[Key, dict[int, int]] = {}  # value by offset
        # Every record that was ever in the log of a topic that still exists.
        self.ever: dict[Key, set[Kept]] = {}
        self.commits: list[tuple[Committer, int, Pending]] = []
        # The offsets that are allowed: the last that was acknowledged, and later ones.
        self.committed: dict[Committer, list[int]] = {}
        self.producer_ids: set[int] = set()

    def run(self) -> None:
        """Plays some runs of the node."""
        for _ in range(self.random.randint(2, 4)):
            for _ in range(self.random.randint(1, 40)):
                self.random.choices(list(DEEDS), list(DEEDS.values()))[0](self)
                self.hear()
            self.end_of_life()
            self.check()

    def topics(self) -> list[str]:
        return [topic for topic in TOPICS if self.machine.image.topic_named(topic) is not None]

    def keys(self) -> Iterator[Key]:
        return ((topic, index) for topic in self.topics() for index in range(PARTITIONS))

    def create(self) -> None:
        topic = self.random.choice(TOPICS)
        if topic not in self.topics():
            self.machine.create(topic, partitions=PARTITIONS, configs={"segment.bytes": "1048576"})

    def produce(self) -> None:
        keys = list(self.keys())
        if not keys:
            return
        key, large = self.random.choice(keys), self.random.random() < 0.04
        values = range(self.next_value, self.next_value + (1 if large else self.random.randint(1, 4)))
        self.next_value = values.stop
        self.sent.update(dict.fromkeys(values, key))
        padding = b" " * (LARGE if large else self.random.choice((0, 10, 700)))
        request = produce_request(
            key[0], *(b"%d" % value + padding for value in values), acks=self.random.choice((1, -1)), index=key[1]
        )
        self.under_way.append(Sent(key, values, self.machine.begin(request, 9)))

    def commit(self) -> None:
        if not self.topics():
            return
        group, topic, offset = self.random.choice(GROUPS), self.random.choice(self.topics()), self.next_value
        self.machine.node.controller.create_internal_topic("__consumer_offsets")
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        asked = OffsetCommitRequest.OffsetCommitRequestTopic(name=topic, partitions=[partition])
        pending = self.machine.begin(OffsetCommitRequest(group_id=group, topics=[asked]), 8)
        self.committed.setdefault((group, topic), [NO_OFFSET]).append(offset)
        self.commits.append(((group, topic), offset, pending))

    def read(self) -> None:
        """Every record that a consumer reads counts as acknowledged."""
        for key in self.keys():
            seen = {kept.offset: kept.value for kept in self.fetched(key)}
            self.acknowledged.setdefault(key, {}).update(seen)

    def take_producer_id(self) -> None:
        response = self.machine.submit(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 4)
        assert response.error_code == 0
        assert response.producer_id not in self.producer_ids, f"producer id {response.producer_id} is given again"
        self.producer_ids.add(response.producer_id)

    def elect(self) -> None:
        for key in list(self.keys())[:1]:
            leadership.elect(self.machine.node, self.machine.partition(*key))
            self.machine.tick(0)

    def hear(self) -> None:
        """Handles the answers that have arrived."""
        for one in [one for one in self.under_way if one.pending.done]:
            self.under_way.remove(one)
            code, base = produced(one.pending)
            assert code in (error_codes.NONE, error_codes.REQUEST_TIMED_OUT), code
            if code == error_codes.NONE:
                self.count["acknowledged"] += len(one.values)
                self.acknowledged.setdefault(one.key, {}).update(enumerate(one.values, base))
        for commit in [commit for commit in self.commits if commit[2].done]:
            self.commits.remove(commit)
            committer, offset, pending = commit
            if pending.response.topics[0].partitions[0].error_code == error_codes.NONE:
                self.committed[committer] = [each for each in self.committed[committer] if each >= offset]

    def end_of_life(self) -> None:
        before = {key: self.in_log(key) for key in self.keys()}
        for key, found in before.items():
            self.ever.setdefault(key, set()).update(found)
        how = self.random.choices(("power", "kill", "stop"), (6, 2, 1))[0]
        self.count[how] += 1
        if how == "power":
            self.machine.lose_power(self.random)
        elif how == "kill":
            self.machine.kill()
        else:
            self.machine.restart()
        self.under_way, self.commits = [], []
        self._forget_lost_topics(lost=how == "power")
        for key in self.keys():
            after = self.in_log(key)
            assert after == before[key][: len(after)], f"{key}: not the beginning of what was there"
            assert how == "power" or after == before[key], f"{key}: {how} lost records"
            self.count["lost"] += len(before[key]) - len(after)
        lost = how == "power" and not self.flushing
        # The topic may be lost as a whole.
        self.machine.node.controller.create_internal_topic("__consumer_offsets")
        for group, topic in list(self.committed):
            due = self.committed.pop((group, topic))
            fetched_topic = OffsetFetchRequest.OffsetFetchRequestTopic(name=topic, partition_indexes=[0])
            answer = self.machine.submit(OffsetFetchRequest(group_id=group, topics=[fetched_topic]), 5)
            committed_offset = answer.topics[0].partitions[0].committed_offset
            assert lost or committed_offset in due, f"group {group}: {committed_offset}, where {due} may be"
            self.committed[group, topic] = [committed_offset]

    def _forget_lost_topics(self, *, lost: bool) -> None:
        """Without the flushing a topic may be lost as a whole; with it, the check of acknowledged
        records finds that."""
        for key in [key for key in self.ever if key[0] not in self.topics()]:
            assert lost, f"{key} is gone"
            assert not self.flushing, f"{key} was acknowledged, and is gone"
            self.count["lost"] += len(self.ever.pop(key))
            self.acknowledged.pop(key, None)
            self.sent = {value: of for value, of in self.sent.items() if of != key}

    def in_log(self, key: Key) -> list[Kept]:
        """All records of the log, committed or not."""
        log = self.machine.partition(*key).log
        return [kept for batch in log.batches(log.log_start_offset) for kept in _kept(batch)]

    def check(self) -> None:
        """Sends the requests of a client, and checks the answers."""
        for key in self.keys():
            found = self.fetched(key)
            values = [kept.value for kept in found]
            assert all(self.sent.get(value) == key for value in values), f"{key}: something was invented"
            assert values == sorted(set(values)), f"{key}: out of order, or twice"
            there = {kept.offset: kept.value for kept in found}
            lost = {at: value for at, value in self.acknowledged.get(key, {}).items() if there.get(at) != value}
            assert not (self.flushing and lost), f"{key}: acknowledged, and lost: {lost}"
            for at in lost:
                del self.acknowledged[key][at]
            assert found == self.in_log(key), f"{key}: it is not all to be read"
            self._check_epochs(key, set(found))

    def fetched(self, key: Key) -> list[Kept]:
        found: list[Kept] = []
        while True:
            request = fetch_request(key[0], found[-1].offset + 1 if found else 0, key[1])
            data = self.machine.submit(request, 11).responses[0].partitions[0]
            assert data.error_code == 0
            if not data.records:
                return found
            found += _kept(data.records)

    def _check_epochs(self, key: Key, there: set[Kept]) -> None:
        """A client that has read a record can find out whether it is still the one at its
        offset."""
        ends = {epoch: self._end_of(key, epoch) for epoch in {kept.epoch for kept in self.ever.get(key, ())}}
        for kept in self.ever.get(key, ()):
            says = ends[kept.epoch] > kept.offset
            assert says == (kept in there), f"{key}: {kept}, of which epoch {kept.epoch} ends at {ends[kept.epoch]}"

    def _end_of(self, key: Key, epoch: int) -> int:
        asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=key[1], leader_epoch=epoch)
        topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=key[0], partitions=[asked])
        answer = self.machine.submit(OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]), 4)
        return int(answer.topics[0].partitions[0].end_offset)


def _kept(records: bytes | memoryview) -> list[Kept]:
    return [
        Kept(record.offset, header.partition_leader_epoch, int(record.value or b"-1"))
        for position, header in iter_batches(records)
        for record in records_of(records, position, header)
    ]


DEEDS: dict[Callable[[World], None], int] = {
    World.create: 2,
    World.produce: 20,
    World.commit: 4,
    World.read: 2,
    World.take_producer_id: 1,
    World.elect: 1,
    lambda world: world.machine.begin_flush(): 5,
    lambda world: world.machine.end_flush(): 5,
    lambda world: world.machine.flush(): 2,
    lambda world: world.machine.tick(world.random.choice((1, 500, 61_000))): 2,
}


def run(seed: int) -> Counter[str]:
    """Plays one seed, with the flushing and without; returns counts. AssertionError, with the seed,
    when a rule is broken."""
    happened = Counter[str]()
    for flushing in (True, False):
        world = World(seed, flushing=flushing)
        try:
            world.run()
        except Exception as problem:
            way = "with" if flushing else "without"
            raise AssertionError(f"seed {seed}, {way} the flushing: {problem}") from problem
        happened.update({f"{what}{'' if flushing else ', not flushed'}": many for what, many in world.count.items()})
    return happened


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    logging.getLogger("kafkadouble").setLevel(logging.CRITICAL)  # recovery reports each loss
    happened = Counter[str]()
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        happened.update(run(seed))
    print(f"{arguments.seeds} seeds hold: " + ", ".join(f"{many} {what}" for what, many in sorted(happened.items())))


if __name__ == "__main__":
    main()
