"""Random broker lifecycles, compared with a witness that is built as Kafka is: the same states,
sessions and expiries at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.broker_changes import handle_broker_unregistered, leads_partitions
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.broker_life import SESSION, Office, incarnation, request
from tests.server.controller.heartbeat_witness import LEAVING, Heartbeat, Witness
from tests.server.controller.small_clusters import cluster, directory, partition, with_topic

BROKERS = (1, 2, 3, 4)
STEPS = 400


class ManagerAndWitness:
    """The heartbeat manager and its witness, and the events that both get."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        image = with_topic(
            cluster(1, 2, 3, directories=2), "t", partition([1, 2, 3]), partition([2, 3, 1]), partition([3])
        )
        self.office = Office(image)
        self.witness = self._new_witness()
        self.lives = dict.fromkeys(BROKERS, 0)
        self.seen: set[str] = set()

    def _new_witness(self) -> Witness:
        return Witness(self.office.image, SESSION, self.office.now)

    def step(self) -> None:
        deeds = (
            (self.beat,) * 6
            + (self.leave,) * 2
            + (self.wait,) * 3
            + (self.register,) * 2
            + (self.unregister, self.lead_again, self.make_topic)
        )
        self.chance.choice(deeds)()

    def written(self, before: Any, count: int) -> None:
        """Replays the last `count` records at the witness, one by one."""
        image, offset = before, before.end.offset
        for record in self.office.written[len(self.office.written) - count :]:
            image = replay(image, record)
            self.witness.replay(record, offset, image)
            offset += 1

    def beat(self) -> None:
        office, dice = self.office, self.chance
        broker = dice.choice(BROKERS)
        known = office.image.brokers.get(broker)
        if known is None:
            with pytest.raises(Refusal):
                office.beat(broker)
            return
        end = office.image.end.offset
        registered = self.witness.registered_at[broker]
        offset = dice.choice((end - 1, end - 1, end - 1, registered, registered - 1, 0))
        heartbeat = Heartbeat(broker, known.epoch, offset, dice.random() < 0.2, dice.random() < 0.4)
        lost = [directory(broker, 1)] if dice.random() < 0.05 else []
        cordoned = dice.choice(((), (directory(broker),))) if dice.random() < 0.1 else None
        self.say(heartbeat, lost, cordoned)

    def say(self, heartbeat: Heartbeat, lost: Sequence[Uuid] = (), cordoned: Sequence[Uuid] | None = None) -> None:
        """A heartbeat of a broker that is registered."""
        office, before = self.office, self.office.image
        self.witness.contact(heartbeat.broker, heartbeat.epoch, office.now)
        expected = (
            self.witness.next(heartbeat, leads_partitions(before, heartbeat.broker)),
            self.witness.caught_up(heartbeat),
        )
        done = office.beat(
            heartbeat.broker,
            offset=heartbeat.offset,
            fence=heartbeat.fence,
            stop=heartbeat.stop,
            offline=lost,
            cordoned=cordoned,
        )
        assert (done.state.name, done.caught_up) == expected
        self.seen.add(done.state.name)
        self.witness.touch(heartbeat.broker, done.state.fenced, heartbeat.offset)
        self.written(before, len(done.records))
        if expected[0] == LEAVING:
            self.witness.left_at(heartbeat.broker, office.image.end.offset - 1)

    def leave(self) -> None:
        """A broker shuts down, and the remaining brokers read that, some later than others."""
        image, dice = self.office.image, self.chance
        unfenced = [broker for broker in image.brokers.values() if not broker.fenced]
        for leaving in dice.sample(unfenced, min(1, len(unfenced))):
            self.say(Heartbeat(leaving.id, leaving.epoch, image.end.offset - 1, False, True))
            for other in dice.sample(unfenced, len(unfenced)):
                if other is not leaving:
                    late = dice.choice((1, 1, 1, 2))
                    self.say(Heartbeat(other.id, other.epoch, self.office.image.end.offset - late, False, False))
            self.say(Heartbeat(leaving.id, leaving.epoch, self.office.image.end.offset - 1, False, True))

    def wait(self) -> None:
        office, before, count = self.office, self.office.image, len(self.office.written)
        office.now += self.chance.choice((1, 500, 2000, 2000, SESSION, SESSION + 1))
        expected = self.witness.expired(before, office.now)
        assert set(office.wait(0)) == expected
        self.written(before, len(office.written) - count)
        self.seen |= {"silent"} if expected else set()

    def register(self) -> None:
        office, dice, before = self.office, self.chance, self.office.image
        broker = dice.choice(BROKERS)
        life = self.lives[broker] = self.lives[broker] + (dice.random() < 0.6)
        known = before.brokers.get(broker)
        refused = (
            known is not None
            and known.incarnation_id != incarnation(life + 100)
            and self.witness.has_session(broker, known.epoch, office.now)
        )
        dirs = [directory(broker), directory(broker, 1)]
        previous = known.epoch if known is not None and dice.random() < 0.5 else -1
        body = request(broker, life=life + 100, log_dirs=dirs, previous_broker_epoch=previous)
        if refused:
            with pytest.raises(Refusal) as problem:
                office.register(body)
            assert problem.value.code == error_codes.DUPLICATE_BROKER_REGISTRATION
            self.seen.add("duplicate")
            return
        done = office.register(body)
        self.written(before, len(done.records))
        self.seen.add("amended" if known is not None and known.epoch == done.epoch else "registered")

    def unregister(self) -> None:
        office, before, broker = self.office, self.office.image, self.chance.choice(BROKERS)
        if broker in before.brokers and self.chance.random() < 0.2:
            records = handle_broker_unregistered(before, broker, office.settings)
            office.write(records)
            self.written(before, len(records))

    def lead_again(self) -> None:
        if self.chance.random() < 0.1:
            self.office.new_leader()
            self.witness = self._new_witness()

    def make_topic(self) -> None:
        """A partition gets a leader again."""
        office = self.office
        active = [broker.id for broker in office.image.brokers.values() if broker.active]
        if active and self.chance.random() < 0.5:
            replicas = self.chance.sample(active, self.chance.randint(1, len(active)))
            name = f"t{len(office.image.topics)}"
            where = [directory(broker) for broker in replicas]
            made = with_topic(office.image, name, partition(replicas, directories=where))
            office.image = made._replace(end=OffsetAndEpoch(made.end.offset + 2, made.end.epoch))


@pytest.mark.parametrize("seed", range(25))
def test_the_witness_agrees(seed: int) -> None:
    lives = ManagerAndWitness(seed)
    for step in range(STEPS):
        try:
            lives.step()
        except BaseException as problem:
            problem.add_note(f"seed {seed}, step {step}")
            raise
    assert lives.seen >= {"UNFENCED", "FENCED", "SHUTDOWN_NOW", "silent", "registered"}


def test_random_lives_of_controllers_cover_every_event() -> None:
    seen: set[str] = set()
    for seed in range(25):
        lives = ManagerAndWitness(seed)
        for _ in range(100):
            lives.step()
        seen |= lives.seen
    assert seen == {
        "UNFENCED",
        "FENCED",
        "CONTROLLED_SHUTDOWN",
        "SHUTDOWN_NOW",
        "silent",
        "registered",
        "amended",
        "duplicate",
    }
