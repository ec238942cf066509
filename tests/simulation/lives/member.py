"""A node with files: its process may end by itself when a directory is full, and the directory is
repaired before the next life."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.node import Node

from ..brokers.member import Member
from .machine import Disks

if TYPE_CHECKING:
    from .cluster import Cluster


class LivesMember(Member):
    """`how` is the way its last life ended."""

    machine: Disks

    def __init__(self, cluster: Cluster, id: int, machine: Disks, settings: Mapping[str, object]) -> None:
        super().__init__(cluster, id, machine, settings)
        self.how = "stop"

    def start(self) -> None:
        if self.node is None and self.machine.is_full:
            self.machine.killed()
        super().start()

    def kill(self) -> None:
        self.how = "kill"
        super().kill()

    def lose_power(self) -> None:
        self.how = "power"
        super().lose_power()

    def _stopped(self, node: Node) -> None:
        self.how = "full" if self.machine.is_full else "stop"
        super()._stopped(node)

    def _halted(self, node: Node, why: str) -> None:
        if not self.machine.is_full:
            super()._halted(node, why)
        self.world.note("{} ends: {}", self.id, why)
        self.how = "full"
        with suppress(DiskFailure):
            node.close(self.world.now)
        self._forget_node()
