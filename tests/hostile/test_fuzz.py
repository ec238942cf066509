"""Forty thousand hostile frames against one node that serves a good client meanwhile.

`KAFKADOUBLE_FUZZ_FRAMES` sets another number of frames, `KAFKADOUBLE_FUZZ_SEED` another seed. A
failure names its seed, the number of the frame and its bytes; the same seed repeats it.
"""

from __future__ import annotations

import gc
from random import Random

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch import FetchRequest
from tests.hostile.fuzzing import FRAMES, MB, SEED, resident

from .mutations import MUTATIONS, slices
from .requests import Requests
from .stage import GOOD, Good, Log, Stage, logged

PARTS = 4
CORPUS = 1000
CONNECTIONS = 8
CHECK_EVERY, TIDY_EVERY = 250, 5000
MOST_BACKLOG = 5
NEVER = FetchRequest(
    max_wait_ms=2**31 - 1,
    min_bytes=2**31 - 1,
    max_bytes=1,
    session_epoch=-1,
    topics=[FetchRequest.FetchTopic(topic=GOOD, partitions=[FetchRequest.FetchPartition(partition_max_bytes=1)])],
)
"""A fetch that waits for the longest possible time."""


class Campaign:
    """Frames from one seed, and the connections over which they are sent."""

    def __init__(self, log: Log, seed: str) -> None:
        self.seed, self.dice = seed, Random(seed)
        self.stage = Stage(log, seed=self.dice.randrange(2**31))
        self.good = Good(self.stage)
        self.requests = Requests(seed, self.stage.node)
        self.hostile = [self.stage.hostile() for _ in range(CONNECTIONS)]
        kinds = self.requests.kinds
        self.corpus = [self.requests.frame(*kinds[number % len(kinds)]) for number in range(CORPUS)]
        self.made = self.closed = self.served = 0

    def frame(self) -> bytes:
        """The next frame; the good requests that it is made of are replaced one by one, since the
        node's state changes."""
        dice, corpus = self.dice, self.corpus
        if dice.random() < 0.3:
            corpus[dice.randrange(CORPUS)] = self.requests.frame(*dice.choice(self.requests.kinds))
        good = bytearray(dice.choice(corpus))
        return dice.choice(MUTATIONS)(dice, good, dice.choice(corpus))

    def step(self) -> None:
        """Sends one frame, split as the network may split it."""
        frame, dice = self.frame(), self.dice
        self.made += 1
        at = dice.randrange(CONNECTIONS)
        try:
            for piece in slices(dice, frame):
                if not self.hostile[at].send(piece):
                    self.hostile[at] = self.stage.hostile()
                    self.closed += 1
                    break
            else:
                self.go_on(at)
        except BaseException as problem:
            problem.add_note(f"seed {self.seed!r}, frame {self.made}: {frame[:2000].hex()}")
            raise

    def go_on(self, at: int) -> None:
        """Now and then closes a connection, perhaps one that waits for an answer, and lets time
        pass."""
        dice, connection = self.dice, self.hostile[at].connection
        if len(connection.backlog) > MOST_BACKLOG or dice.random() < 0.01:
            self.hostile[at].leave()
            self.hostile[at] = self.stage.hostile()
        if dice.random() < 0.3:
            self.stage.pass_time(dice.choice((0, 1, 10, 100, 600)))
            self.look_round()

    def look_round(self) -> None:
        """Replaces the connections that were closed: waiting requests may have been answered, or
        have ended their connections."""
        for at, hostile in enumerate(self.hostile):
            if hostile.line.closed and not hostile.still_open():
                self.hostile[at] = self.stage.hostile()
                self.closed += 1

    def check(self) -> None:
        node = self.stage.node
        self.good.works()
        held = sum(each.connection._held for each in self.hostile)
        assert node.intake.total == held, (node.intake, held)
        assert self.stage.waiting <= {each.connection._task for each in self.hostile}
        assert self.stage.closing.keys() <= {repr(each.peer) for each in self.hostile}
        # A client may give an internal topic thousands of partitions, each with two timers.
        partitions = sum(len(topic.partitions) for topic in node.image.topics.values())
        assert len(node.waiting.timers._heap) < 5000 + 2 * partitions, node.waiting.timers

    def end(self) -> None:
        """Closes all connections while they wait, and checks that no state of them is left."""
        self.hostile += [self.stage.hostile() for _ in range(CONNECTIONS)]
        poll = b"".join(headers.write_request(NEVER, 1, "evil", 11))
        assert all(hostile.send(poll) for hostile in self.hostile[CONNECTIONS:])
        assert len(self.stage.waiting) >= CONNECTIONS
        for hostile in self.hostile:
            hostile.leave()
        assert self.stage.node.intake.total == 0
        assert not self.stage.waiting
        assert not self.stage.node.waiting.ready
        self.good.tidy()
        self.good.works()


@pytest.mark.timeout(60 + FRAMES // 100)
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_frames_break_nothing(part: int) -> None:
    seed = f"{SEED} part {part}"
    print(f"seed {seed!r}")
    with logged() as log:
        campaign = Campaign(log, seed)
        usage: list[int] = []
        while campaign.made < FRAMES // PARTS:
            campaign.step()
            if campaign.made % CHECK_EVERY == 0:
                campaign.check()
            if campaign.made % TIDY_EVERY == 0:
                campaign.good.tidy()
                gc.collect()
                usage.append(resident())
        campaign.end()
    print(
        f"{campaign.made} frames, {campaign.closed} connections closed, resident MB: {[used // MB for used in usage]}"
    )
    if usage:
        assert max(usage) - usage[0] < 150 * MB, [used // MB for used in usage]
    assert campaign.closed > campaign.made // 5
    assert campaign.closed < campaign.made * 4 // 5
