"""Hostile frames at the listeners of three controllers, of which one leads (KIP-595, KIP-853,
KIP-631).

`KAFKADOUBLE_FUZZ_FRAMES` sets another number of frames, `KAFKADOUBLE_FUZZ_SEED` another seed; there
is one frame for ten at the brokers' listener. A failure names its seed, the number of the frame and
its bytes; the same seed repeats it.
"""

from __future__ import annotations

import gc
import os
from random import Random

import pytest

from tests.hostile.fuzzing import FRAMES, MB, SEED, resident

from .control_requests import ControlRequests
from .mutations import MUTATIONS, slices
from .quorum_stage import QuorumStage
from .stage import Log, logged

CONNECTIONS = 8
CORPUS = 400
CHECK_EVERY, TIDY_EVERY, BEGIN_EVERY = 100, 1000, 5000
PARTS = ("static", "dynamic")


class Campaign:
    """Frames from one seed, and the connections over which they are sent."""

    def __init__(self, log: Log, seed: str, dynamic: bool) -> None:
        self.dice = Random(seed)
        self.stage = QuorumStage(log, dynamic)
        self.requests = ControlRequests(seed, self.stage.nodes)
        kinds = self.requests.kinds
        self.corpus = [self.requests.frame(*kinds[number % len(kinds)]) for number in range(CORPUS)]
        self.hostile = [self.stage.hostile(self.dice) for _ in range(CONNECTIONS)]
        self.seed, self.made, self.closed, self.begun = seed, 0, 0, 0

    def frame(self) -> bytes:
        dice, corpus = self.dice, self.corpus
        if dice.random() < 0.5:
            at = dice.randrange(CORPUS)
            corpus[at] = self.requests.frame(*dice.choice(self.requests.kinds))
            return corpus[at]
        good = bytearray(dice.choice(corpus))
        if dice.random() < 0.6:
            return bytes(good)
        return dice.choice(MUTATIONS)(dice, good, dice.choice(corpus))

    def step(self) -> None:
        """Sends one frame; then perhaps closes a connection that waits, and lets time pass."""
        frame, dice = self.frame(), self.dice
        self.made += 1
        at = dice.randrange(CONNECTIONS)
        try:
            is_open = all(self.hostile[at].send(piece) for piece in slices(dice, frame))
            self.closed += not is_open
            if not is_open or len(self.hostile[at].connection.backlog) > 5 or dice.random() < 0.02:
                self._replace(at)
            if dice.random() < 0.1:
                self.stage.pass_time(dice.choice((5, 5, 20, 100, 500)))
            if self.made % CHECK_EVERY == 0:
                self._check()
        except BaseException as problem:
            problem.add_note(f"seed {self.seed!r}, frame {self.made}: {frame[:2000].hex()}")
            raise

    def _replace(self, at: int) -> None:
        self.hostile[at].connection.lost()
        self.hostile[at] = self.stage.hostile(self.dice)

    def _check(self) -> None:
        if self.made % TIDY_EVERY == 0:
            self.stage.tidy()
        if not self.stage.works() or self.made % BEGIN_EVERY == 0:
            self.begun += 1
            self.stage.begin()
            self.requests.nodes = self.stage.nodes
            self.requests.node = self.stage.nodes[1]
            for at in range(CONNECTIONS):
                self._replace(at)


@pytest.mark.timeout(120 + FRAMES // 100)
@pytest.mark.parametrize("part", PARTS)
def test_hostile_frames_break_no_quorum(part: str) -> None:
    seed = f"{SEED} {part}"
    print(f"seed {seed!r}")
    frames = int(os.environ.get("KAFKADOUBLE_FUZZ_CONTROLLER_FRAMES", FRAMES // 20))
    usage: list[int] = []
    with logged() as log:
        campaign = Campaign(log, seed, part == "dynamic")
        while campaign.made < frames:
            campaign.step()
            if campaign.made % BEGIN_EVERY == 0:
                gc.collect()
                usage.append(resident())
    print(f"{campaign.made} frames, {campaign.closed} connections closed, {campaign.begun} times a new cluster")
    if usage:
        assert max(usage) - usage[0] < 200 * MB, [used // MB for used in usage]
    assert frames // 20 < campaign.closed < frames * 4 // 5
    assert campaign.begun <= 2 + frames // 500
