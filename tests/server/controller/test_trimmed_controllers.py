"""Controllers whose metadata log was trimmed are restarted one after the other: by a clean
shutdown, by a kill, and by a loss of power (KIP-630)."""

from __future__ import annotations

from random import Random

import pytest

from kafkadouble.server.node import Node
from tests.server.controller.corrupt_metadata import formatted
from tests.server.controller.metadata_changes import SMALL, busy
from tests.server.controllers import ControllersOnDisks
from tests.server.log.files.lossy_disk import LossyDisk

SEED = 20261122


def starts(controllers: ControllersOnDisks) -> list[int]:
    return [node.quorum.log.log_start_offset for node in controllers.nodes.values()]


def end(controllers: ControllersOnDisks, disks: dict[int, LossyDisk], id: int, how: str, random: Random) -> None:
    node: Node = controllers.nodes[id]
    if how == "clean":
        node.close(controllers.now)
    controllers.wipe(id)  # its disk is kept
    disks[id] = disks[id].power_lost(random) if how == "power" else disks[id].copy()


@pytest.mark.parametrize("how", ["clean", "kill", "power"])
def test_controller_starts_on_a_trimmed_metadata_log(how: str) -> None:
    random, disks = Random(SEED), {id: formatted(id) for id in (1, 2, 3)}
    controllers = ControllersOnDisks(disks, SMALL)
    busy(controllers, controllers.elect(), 60)
    controllers.until(lambda: min(starts(controllers)) > 0, 130_000)
    for round in range(3):
        for id in controllers.ids:
            end(controllers, disks, id, how, random)
            controllers.restart(id)
            busy(controllers, controllers.elect(), 1)
        log = controllers.leader.quorum.log
        assert 0 < log.log_start_offset < log.log_end_offset, round


def files_of(disk: LossyDisk, ending: str) -> set[str]:
    return {path for path in disk.contents if path.startswith("__cluster_metadata-0/") and path.endswith(ending)}


def test_every_replica_deletes_the_segments_before_the_start_of_its_log() -> None:
    """Holds for the leader, its followers, and a broker that only observes: a segment is marked at
    once, and removed after `file.delete.delay.ms`."""
    disks = {id: formatted(id) for id in (1, 2, 3)}
    controllers = ControllersOnDisks(disks, SMALL)
    leader = controllers.elect()
    disks[4] = formatted(4)
    controllers.add_broker(4)
    busy(controllers, leader, 60)
    controllers.until(lambda: min(starts(controllers)) > 0, 130_000)
    for id, node in controllers.nodes.items():
        log = node.quorum.log
        assert log.segments[0].base_offset > 0, id
        assert log.segments[0].next_offset > log.log_start_offset, id
        assert files_of(disks[id], ".log.deleted"), id
    most = max(len(files_of(disk, ".log")) for disk in disks.values())
    deleted = {id: files_of(disk, ".deleted") for id, disk in disks.items()}
    busy(controllers, controllers.leader, 40)
    controllers.step(150_000)  # two checks, one minute apart
    for id, disk in disks.items():
        assert len(files_of(disk, ".log")) <= 2 * most, id
        assert not files_of(disk, ".deleted") & deleted[id], id
