"""A cluster of nodes that different programs run, in one folder: what `interop.local.cluster` is
for Apache Kafka alone.

with mixed(folder, controller(0, DOUBLE), broker(0, KAFKA)) as cluster:
    print(cluster.bootstrap, cluster.quorum())
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from interop import quorum as rules
from interop.local.node import BROKER, finished
from interop.local.ports import free_ports
from interop.support import eventually

from . import plan
from .node import Node
from .plan import CONTROLS, Member
from .quorum import Quorum, described

TRIES = 12
"""How often a leader is killed until another one is chosen by chance; one of two misses so many
times in 4000 runs once."""

PATIENT = {"controller.quorum.fetch.timeout.ms": "4000"}
"""Of the one that is to lead when the leader is gone. The others are sooner to miss him, and are
refused as long as this one still hopes to hear from him (KIP-996); then this one asks, and nobody
refuses."""


class Mixed:
    """The nodes, by role; all of them run at first."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)
        self.brokers = [node for node in nodes if node.seat.is_a(BROKER)]
        self.controllers = [node for node in nodes if node.seat.is_a(CONTROLS)]
        self.bootstrap = rules.bootstrap([node.seat for node in nodes])
        self.bootstrap_controllers = ",".join(plan.address(node.seat) for node in self.controllers)

    def node(self, id: int) -> Node:
        return next(node for node in self.nodes if node.id == id)

    def quorum(self) -> Quorum | None:
        """What the leader among the running controllers tells of the quorum; None while nobody
        leads."""
        told = (described(node.controls_at) for node in self.controllers if node.running)
        return max(filter(None, told), key=lambda each: each.epoch, default=None)

    def led(self) -> Quorum:
        """The same, once somebody leads, with all of the log that he had then committed."""
        found = eventually(self.quorum, lambda told: told is not None and told.high_watermark >= 0)
        assert found is not None
        return found

    def leader(self) -> Node:
        return self.node(self.led().leader)

    def fail_over(self) -> Node:
        """The leader is killed, another one leads, and the killed one comes back: the new
        leader."""
        old = self.leader()
        old.kill()
        new = self.leader()
        old.start()
        return new

    def led_by(self, ids: Sequence[int]) -> Node:
        """Leaders are killed until one of these leads: who of several wins an election is chance, a
        single one is helped."""
        for _ in range(TRIES):
            leader = self.leader()
            if leader.id in ids:
                return leader
            if len(ids) == 1:
                self._make_patient(self.node(ids[0]))
            self.fail_over()
        raise AssertionError(f"none of {ids} led in {TRIES} elections")

    def _make_patient(self, node: Node) -> None:
        if not node.has(PATIENT):
            node.kill()
            node.configure(**PATIENT)
            node.start()
            self.caught_up()

    def caught_up(self) -> int:
        """Waits until all running controllers hold what the leader holds now; gives where that
        ends."""
        wanted = self.led().high_watermark
        running = {node.id for node in self.controllers if node.running}

        def behind() -> dict[int, int]:
            ends = self.led().ends
            return {id: ends.get(id, -1) for id in running if ends.get(id, -1) < wanted}

        eventually(behind, lambda left: not left)
        return wanted

    def start(self) -> None:
        """What does not run of it."""
        stopped = [node for node in self.nodes if not node.running]
        for node in stopped:
            node.begin()
        for node in stopped:
            node.wait_ready()

    def stop(self) -> None:
        """All of it, without its knowing: who leaves in order waits for others to do so."""
        for node in self.nodes:
            node.kill()


@contextmanager
def mixed(
    folder: Path,
    *members: Member,
    dynamic: bool = False,
    release: str = "",
    overrides: Mapping[str, str] | None = None,
    running: bool = True,
) -> Iterator[Mixed]:
    """A cluster of its own. `dynamic`: the voters stand in the log (KIP-853), and not in every
    node's settings; `release`: whose metadata the cluster has, by default the newest that its
    programs know; `overrides`: settings of all nodes; without `running` they are only formatted.
    Raises Missing."""
    places = plan.seats(members, iter(free_ports(2 * len(members))))
    cluster_id = rules.cluster_id()
    nodes = []
    for member, seat in zip(members, places, strict=True):
        at = folder / f"node-{seat.id}"
        told = {**plan.settings(seat, places, str(at / "data"), dynamic), **(overrides or {}), **member.own}
        nodes.append(Node(seat, member.kind, cluster_id, at, told))
    words = ["--release-version", release] if release else []
    if dynamic:
        words += plan.formatting(places, {seat.id: rules.cluster_id() for seat in places})
    try:
        finished([node.formatting(words) for node in nodes])
        cluster = Mixed(nodes)
        if running:
            cluster.start()
        yield cluster
    except BaseException:
        (folder / "nodes.json").write_text(json.dumps({node.id: node.kind.name for node in nodes}))
        raise
    finally:
        for node in nodes:
            node.kill()
