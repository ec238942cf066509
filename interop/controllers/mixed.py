"""A cluster of nodes that different programs run, in one folder. `interop.local.cluster` is the
same for Apache Kafka alone.

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
from tests.support.ports import free_ports
from tests.support.waiting import eventually

from . import plan
from .node import Node
from .plan import CONTROLS, Member
from .quorum import Quorum, described

TRIES = 12
"""How often a leader is killed until the election chooses the expected one. With a chance of one in
two, it fails in one of 4000 runs."""

PATIENT = {"controller.quorum.fetch.timeout.ms": "4000"}
"""Settings of the controller that is to lead next. The others detect the loss of the leader first,
but this one refuses them its pre-vote until its own, longer fetch timeout has passed (KIP-996).
Then this one asks for votes, and no controller refuses."""


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
        """The quorum as the leader among the running controllers describes it; None while there is
        no leader."""
        quorums = (described(node.controls_at) for node in self.controllers if node.running)
        return max(filter(None, quorums), key=lambda each: each.epoch, default=None)

    def led(self) -> Quorum:
        """The quorum once there is a leader that has committed all of its log."""
        found = eventually(self.quorum, lambda quorum: quorum is not None and quorum.high_watermark >= 0)
        assert found is not None
        return found

    def leader(self) -> Node:
        return self.node(self.led().leader)

    def fail_over(self) -> Node:
        """Kills the leader, waits for another one, and restarts the killed one; returns the new
        leader."""
        old = self.leader()
        old.kill()
        new = self.leader()
        old.start()
        return new

    def led_by(self, ids: Sequence[int]) -> Node:
        """Kills leaders until one of these leads. With several candidates, chance decides the
        election; a single candidate gets help."""
        for _ in range(TRIES):
            leader = self.leader()
            if leader.id in ids:
                return leader
            if len(ids) == 1:
                node = self.node(ids[0])
                if not node.has(PATIENT):
                    node.kill()
                    node.configure(**PATIENT)
                    node.start()
                    self.caught_up()
            self.fail_over()
        raise AssertionError(f"none of {ids} led in {TRIES} elections")

    def caught_up(self) -> int:
        """Waits until all running controllers hold what the leader holds now; returns its end
        offset."""
        high_watermark = self.led().high_watermark
        running = {node.id for node in self.controllers if node.running}

        def behind() -> dict[int, int]:
            ends = self.led().ends
            return {id: ends.get(id, -1) for id in running if ends.get(id, -1) < high_watermark}

        eventually(behind, lambda left: not left)
        return high_watermark

    def start(self) -> None:
        """Starts every node that does not run."""
        stopped = [node for node in self.nodes if not node.running]
        for node in stopped:
            node.begin()
        for node in stopped:
            node.wait_ready()

    def stop(self) -> None:
        """Kills all nodes: a clean shutdown would wait for other nodes."""
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
    formatted_with: Sequence[str] = (),
) -> Iterator[Mixed]:
    """A cluster of its own. `dynamic`: the voters are in the log (KIP-853), and not in every node's
    settings. `release`: the metadata version of the cluster, by default the newest that its
    programs know. `overrides`: settings of all nodes. Without `running` the nodes are only
    formatted; `formatted_with` are further words of that command. Raises Missing."""
    places = plan.seats(members, iter(free_ports(2 * len(members))))
    cluster_id = rules.cluster_id()
    nodes = []
    for member, seat in zip(members, places, strict=True):
        at = folder / f"node-{seat.id}"
        settings = {**plan.settings(seat, places, str(at / "data"), dynamic), **(overrides or {}), **member.own}
        nodes.append(Node(seat, member.kind, cluster_id, at, settings))
    words = [*formatted_with, *(["--release-version", release] if release else [])]
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
