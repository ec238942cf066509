"""Lies between replicas: false answers of leaders to followers, false requests in their name, false
answers of a controller about in-sync sets (KIP-101, KIP-497).

`KAFKADOUBLE_FUZZ_FRAMES` sets another number of lies, `KAFKADOUBLE_FUZZ_SEED` another seed; there
is one lie for twenty frames at the brokers' listener. A failure names its seed and the number of
the lie; the same seed repeats it.
"""

from __future__ import annotations

import gc
import os
from random import Random
from typing import Any

import pytest

from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from tests.hostile.fuzzing import FRAMES, MB, SEED, resident
from tests.server.replica.replication.liars import BROKERS
from tests.support.listeners import BROKER

from .replica_lies import OF_FETCHES, ends, granted, on_the_wire, requested
from .replica_stage import PARTITIONS, TOPIC, ReplicaStage
from .stage import Log, logged

HEAL_EVERY, BEGIN_EVERY = 50, 1000
FETCH_VERSION = 17
PARTS = ("memory", "disks")
LIES = int(os.environ.get("KAFKADOUBLE_FUZZ_REPLICA_FRAMES", FRAMES // 20))


class Campaign:
    """Lies from one seed."""

    def __init__(self, log: Log, seed: str, on_disks: bool) -> None:
        self.dice, self.seed, self.made = Random(seed), seed, 0
        self.counts: dict[str, int] = {}
        self.stage = ReplicaStage(log, on_disks)
        self._arm()

    def _arm(self) -> None:
        self.stage.cluster.lie, self.stage.cluster.lie_of_controller = self._answer, self._answer

    def _answer(self, request: Message, answer: Any) -> Any:
        """The answer that is delivered; some answers are not changed."""
        dice = self.dice
        if dice.random() < 0.3:
            return answer
        self.made += 1
        if dice.random() < 0.3:
            return self._counted(
                "bytes", on_the_wire(dice, answer, {1: FETCH_VERSION, 2: 9, 56: 3}[request.api_key or 0])
            )
        if isinstance(request, AlterPartitionRequest):
            return self._counted("granted", granted(dice, answer))
        if isinstance(answer, FetchResponse):
            lie = dice.choice(OF_FETCHES)
            return self._counted(lie.__name__, lie(dice, answer))
        return self._counted("ends", ends(dice, answer))

    def _counted(self, kind: str, answer: Any) -> Any:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return answer

    def step(self) -> None:
        """Lets the cluster do something, and lies about it."""
        dice, stage, before = self.dice, self.stage, self.made
        try:
            if dice.random() < 0.3:
                self._ask()
            else:
                stage.write(dice.randrange(PARTITIONS))
            stage.cluster.step(dice.choice((5, 5, 20, 60)))
            stage.look()
            if before // HEAL_EVERY != self.made // HEAL_EVERY:
                self.stage.heal()
                if before // BEGIN_EVERY != self.made // BEGIN_EVERY:
                    self.stage.begin()
                self._arm()
        except BaseException as problem:
            problem.add_note(f"seed {self.seed!r}, lie {self.made}")
            raise

    def _ask(self) -> None:
        """Sends a request in the name of a replica, or of any broker."""
        dice, cluster = self.dice, self.stage.cluster
        topic = cluster.leader.controller.image.topic_named(TOPIC)
        assert topic is not None
        request: Any = requested(dice, topic.id, BROKERS)
        if dice.random() < 0.3:
            request = on_the_wire(dice, request, FETCH_VERSION)
        if isinstance(request, FetchRequest):
            self.made += 1
            self._counted("requested", None)
            cluster.submit(cluster.nodes[dice.choice(BROKERS)], request, FETCH_VERSION, lambda answer: None, BROKER)


@pytest.mark.timeout(180 + LIES // 10)
@pytest.mark.parametrize("part", PARTS)
def test_lies_between_replicas_break_nothing(part: str) -> None:
    seed = f"{SEED} replicas {part}"
    print(f"seed {seed!r}")
    usage: list[int] = []
    with logged() as log:
        campaign = Campaign(log, seed, part == "disks")
        while campaign.made < LIES // len(PARTS):
            begun = campaign.made // BEGIN_EVERY
            campaign.step()
            if begun != campaign.made // BEGIN_EVERY:
                gc.collect()
                usage.append(resident())
        campaign.stage.heal()
    print(f"{campaign.made} lies, {campaign.stage.renewed} times a follower believed one: {campaign.counts}")
    if usage:
        assert max(usage) - usage[0] < 100 * MB, [used // MB for used in usage]
    assert set(campaign.counts) >= {"bytes", "requested", "ends", *(lie.__name__ for lie in OF_FETCHES)}
