"""A follower whose leader's answers are corrupted at random: in the end it has the same log as the
leader, and it never has any other record."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotResponse
from kafkadouble.server.node import Node
from kafkadouble.server.raft.request_manager import OutboundRequest
from kafkadouble.wire.errors import UsageError
from tests.hostile.stage import logged
from tests.server.controller.metadata_changes import SMALL, alter, code, contents
from tests.server.controllers import Controllers
from tests.server.raft.corrupt_messages import spoilt


class Spoiling(Controllers):
    """Corrupts each answer to `victim` with the probability `often`."""

    def __init__(self, random: Random) -> None:
        super().__init__(3, SMALL)
        self.random, self.victim, self.often, self.spoilt = random, 0, 0.0, 0

    def _deliver(self, node: Node, channel: Any, send: OutboundRequest) -> None:
        if node.id != self.victim or channel is not node.quorum or self.random.random() >= self.often:
            super()._deliver(node, channel, send)
            return
        target = next(
            (node for node in self.nodes.values() if (f"node{node.id}", 9093) == tuple(send.to.endpoint)), None
        )
        if target is None:
            super()._deliver(node, channel, send)
            return

        def answered(response: Any) -> None:
            if self.nodes.get(node.id) is node:
                self.spoilt += 1
                channel.answered(send.token, self._spoilt(response, send.version), self.now)

        self.submit(target, send.body, send.version, answered)

    def _spoilt(self, response: Any, version: int) -> Any:
        spoilt(response, self.random)
        for partition in _partitions(response):
            for name in ("records", "unaligned_records"):
                data = bytearray(getattr(partition, name, None) or b"")
                if data and self.random.random() < 0.5:
                    data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
                    end = self.random.choice((len(data), self.random.randint(0, len(data))))
                    setattr(partition, name, bytes(data[:end]))
        try:
            return type(response).decode(response.encode(version), version)
        except UsageError:
            return None


def _partitions(response: Any) -> list[Any]:
    topics = response.responses if isinstance(response, FetchResponse) else getattr(response, "topics", ())
    if not isinstance(response, FetchResponse | FetchSnapshotResponse):
        return []
    return [partition for topic in topics for partition in topic.partitions]


@pytest.mark.parametrize("seed", range(6))
def test_a_follower_has_in_the_end_what_its_leader_has(seed: int) -> None:
    random = Random(seed)
    with logged() as log:
        controllers = Spoiling(random)
        leader = controllers.elect()
        controllers.victim = next(id for id in controllers.ids if id != leader.id)
        for _ in range(8):
            controllers.often = random.choice((0.2, 0.6, 0.9))
            for number in range(15):
                leaders = [node for node in controllers.nodes.values() if node.controller.leads]
                if leaders:
                    controllers.submit(
                        leaders[0], alter("log.retention.ms", str(1000 + number)), 1, lambda answer: None
                    )
                controllers.step(random.choice((5, 50, 700)))
            _go_on(controllers)
            for record in log.taken():
                assert record.exc_info is None, record.getMessage()
    assert controllers.spoilt > 50


def _go_on(controllers: Spoiling) -> None:
    """Ends the corruption, and restarts a node that had to stop, on the files it has."""
    controllers.often = 0.0
    for id, node in list(controllers.nodes.items()):
        if node.halted is not None:
            assert "cannot go on" in node.halted, node.halted
            controllers.kill(id)
            controllers.restart(id)
    leader = controllers.elect()
    assert code(controllers.ask(leader, alter("log.retention.ms", "7"), 1)) == 0
    controllers.elect()
    for node in controllers.nodes.values():
        assert contents(node.controller.image) == contents(leader.controller.image)
        start = max(node.quorum.log.log_start_offset, leader.quorum.log.log_start_offset)
        ours, theirs = (b"".join(bytes(batch) for batch in of.quorum.log.batches(start)) for of in (node, leader))
        assert ours == theirs
