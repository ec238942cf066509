"""The formatted disk of a simulated node, on which the process may die at any change, and a view of
what a loss of power would leave on it."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.formats.names import LOG, parse_checkpoint
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.quorum_state import ElectionState
from kafkadouble.server.raft.quorum_state_file import NAME, FileQuorumStateStore
from kafkadouble.server.raft.raft_log import BOOTSTRAP
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.wire.batch import iter_batches
from kafkadouble.wire.errors import WireError
from tests.server.log.files.lossy_disk import Contents, LossyDisk

FOLDER = "__cluster_metadata-0"
CONFIGS = tuple(
    LogConfig({"segment.bytes": size, "segment.index.bytes": 1200, "retention.ms": -1}) for size in (1 << 20, 2500)
)
"""The size of the one segment, and the sizes of a log that rolls often."""


class Died(BaseException):
    """The process ends here. No handler of the core may catch it."""


class MortalDisk(LossyDisk):
    """A disk whose process dies at one of the next changes: earlier writes stay, unless the power
    fails too."""

    dies_after: int | None = None
    """The number of changes that are still made; None: no limit."""
    is_silent = False
    """Ignores changes: the cleanup of a dead process is not done."""

    def _renamed(self, gone: str, there: str, contents: Contents | None) -> None:
        if not self.is_silent:
            super()._renamed(gone, there, contents)

    def check(self) -> None:
        super().check()
        if self.dies_after is not None:
            if self.dies_after <= 0:
                raise Died
            self.dies_after -= 1

    def mend(self) -> None:
        """Repairs the disk after a failure: writes that succeeded before are there."""
        self.failing, self.failed = False, None

    def after_power_loss(self, random: Random) -> MortalDisk:
        """The disk as it is found when the power is back."""
        left = self.power_lost(random)
        return MortalDisk(left.contents, left._folders)


def formatted(voters: VoterSet | None) -> MortalDisk:
    """A new disk, as `kafkadouble format` leaves it: its folder is durable, and so are the first
    voters, where they are named."""
    disk = MortalDisk()
    disk.make_folder(FOLDER)
    disk.flush_folder("")
    if voters is not None:
        part = FileSnapshotStore(disk, FOLDER).create(BOOTSTRAP)
        assert part is not None
        write_at_once(part, SnapshotHeader(0, 1, voters), (), 0)
    return disk


class Durable:
    """Reads a disk from outside: only what a loss of power would leave for certain."""

    def __init__(self, disk: LossyDisk) -> None:
        self._disk = disk
        self._seen: dict[str, tuple[bytes, dict[int, bytes]]] = {}
        self._election = b"", ElectionState()

    def has(self, batches: dict[int, bytes]) -> bool:
        """Whether these batches of the log, by base offset, are there, or a snapshot that stands
        for them."""
        files = self._disk.durable()
        names = (path.removeprefix(f"{FOLDER}/") for path in files)
        ends = [id.offset for id in map(parse_checkpoint, names) if id is not None]
        covered = max(ends, default=0)
        found: dict[int, bytes] = {}
        for path, data in files.items():
            if path.endswith(LOG):
                found |= self._batches(path, data)
        return all(at < covered or found.get(at) == batch for at, batch in batches.items())

    def snapshots(self) -> list[OffsetAndEpoch]:
        """The complete snapshots that are there."""
        names = (path.removeprefix(f"{FOLDER}/") for path in self._disk.durable())
        return [id for id in map(parse_checkpoint, names) if id is not None]

    def election(self) -> ElectionState:
        data = self._disk.durable().get(f"{FOLDER}/{NAME}", b"")
        if data and data != self._election[0]:
            copy = LossyDisk()
            copy.write_whole(f"{FOLDER}/{NAME}", data)
            self._election = data, FileQuorumStateStore(copy, FOLDER).load()
        return self._election[1]

    def _batches(self, path: str, data: bytes) -> dict[int, bytes]:
        """Reads each byte only once, while the file only grows."""
        before, found = self._seen.get(path, (b"", {}))
        if data is before:
            return found
        start = len(before) if data.startswith(before) else 0
        found = dict(found) if start else {}
        end = start
        # bytes torn by a loss of power, which recovery has truncated since
        with suppress(WireError):
            for position, header in iter_batches(data, start, partial=True):
                end = position + header.size
                found[header.base_offset] = data[position:end]
        self._seen[path] = data[:end] if end < len(data) else data, found
        return found
