"""The disk of a controller after its end, with flipped bits, and the start from that disk."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from kafkadouble.server.metadata.features import new_cluster_features
from kafkadouble.server.node import Node
from kafkadouble.wire.errors import UsageError, WireError
from tests.server.controller.metadata_changes import SMALL, busy
from tests.server.controllers import ControllersOnDisks, address
from tests.server.harness import NOW
from tests.server.log.files.lossy_disk import LossyDisk
from tests.support.listeners import listeners_of

VOTERS = ",".join("{}@{}:{}".format(id, *address(id)) for id in (1, 2, 3))
FOLDER = "__cluster_metadata-0/"
SEED = 20261121


class Left(NamedTuple):
    """The state of a controller after its end: its disk, its log, its vote and its snapshots."""

    disk: LossyDisk
    start: int
    log: bytes
    election: Any
    snapshots: list[OffsetAndEpoch]


def formatted(id: int) -> LossyDisk:
    disk = LossyDisk()
    beginning = BootstrapMetadata(format_records(new_cluster_features()))
    format_directory(disk, f"disk{id}", "a-cluster", id, Uuid(bytes([id]) * 16), NOW, beginning)
    return disk


@cache
def left_by(clean: bool) -> Left:
    """A disk with three segments of a log, a snapshot, and several epochs."""
    disks = {id: formatted(id) for id in (1, 2, 3)}
    controllers = ControllersOnDisks(disks, {**SMALL, "metadata.log.max.record.bytes.between.snapshots": 4000})
    for _ in range(3):
        leader = controllers.elect()
        busy(controllers, leader, 20)
        controllers.kill(leader.id)
        controllers.until(lambda: any(node.controller.leads for node in controllers.nodes.values()))
        controllers.restart(leader.id)
    controllers.elect()
    controllers.step(1000)
    node = controllers.nodes[1]
    if clean:
        node.close(controllers.now)
    return seen(disks[1].copy(), node)


def seen(disk: LossyDisk, node: Node) -> Left:
    log = node.quorum.log
    kept = b"".join(bytes(batch) for batch in log.batches(log.log_start_offset))
    return Left(disk, log.log_start_offset, kept, node.logs.elections.load(), list(node.quorum.snapshots.ids()))


def started(disk: LossyDisk) -> Node:
    settings = Settings(
        {
            **SMALL,
            "node.id": 1,
            "process.roles": "controller",
            "controller.quorum.voters": VOTERS,
            "listeners": "CONTROLLER://:9093",
        }
    )
    logs = FileLogs(opened({"disk1": disk}, 1), lambda: Uuid.ZERO)
    return Node(settings, listeners=listeners_of(settings, address(1), address(1)), now=NOW, seed=SEED, logs=logs)


@cache
def files() -> list[str]:
    """The paths that a clean and an unclean stop leave."""
    return sorted({path for clean in (False, True) for path in left_by(clean).disk.contents})


def spoilt(left: Left, path: str, at: int, bit: int) -> LossyDisk:
    disk = left.disk.copy()
    disk.contents[path].data[at] ^= 1 << bit
    return disk


def start_of(disk: LossyDisk) -> Left | str:
    """The state of a node that started from this disk, or the error. It has sent no request yet."""
    try:
        node = started(disk)
    except (UsageError, WireError, DiskFailure) as problem:
        return str(problem)
    assert node.halted is None
    assert not node.controller.leads
    return seen(disk, node)
