"""The disk of a simulated node, formatted, and what of it would be there if the power failed now."""

from __future__ import annotations

from contextlib import suppress

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.formats.names import LOG
from kafkadouble.server.raft.quorum_state import ElectionState
from kafkadouble.server.raft.quorum_state_file import NAME, FileStore
from kafkadouble.wire.batch import iter_batches
from kafkadouble.wire.errors import WireError
from tests.server.log.files.lossy_disk import LossyDisk

FOLDER = "__cluster_metadata-0"
CONFIGS = tuple(
    LogConfig({"segment.bytes": size, "segment.index.bytes": 1200, "retention.ms": -1}) for size in (1 << 20, 2500)
)
"""One segment for all, and a log that rolls often."""


def formatted() -> LossyDisk:
    """A new disk, as `kafkadouble format` leaves it: its folders are durable."""
    disk = LossyDisk()
    disk.make_folder(FOLDER)
    disk.flush_folder("")
    return disk


class Durable:
    """Looks at a disk from the side: only at what a loss of power would leave for certain."""

    def __init__(self, disk: LossyDisk) -> None:
        self._disk = disk
        self._seen: dict[str, tuple[bytes, dict[int, bytes]]] = {}
        self._election = b"", ElectionState()

    def batch(self, base_offset: int) -> bytes | None:
        """The batch of the log that stands there."""
        for path, data in self._disk.durable().items():
            if path.endswith(LOG) and base_offset in (found := self._batches(path, data)):
                return found[base_offset]
        return None

    def election(self) -> ElectionState:
        """The file of the election state."""
        data = self._disk.durable().get(f"{FOLDER}/{NAME}", b"")
        if data and data != self._election[0]:
            copy = LossyDisk()
            copy.write_whole(f"{FOLDER}/{NAME}", data)
            self._election = data, FileStore(copy, FOLDER).load()
        return self._election[1]

    def _batches(self, path: str, data: bytes) -> dict[int, bytes]:
        """What is read once is not read again while the file only grows."""
        before, found = self._seen.get(path, (b"", {}))
        if data is before:
            return found
        start = len(before) if data.startswith(before) else 0
        found = dict(found) if start else {}
        end = start
        with suppress(WireError):  # what a loss of power tore, and recovery has cut off since
            for position, header in iter_batches(data, start, partial=True):
                end = position + header.size
                found[header.base_offset] = data[position:end]
        self._seen[path] = data[:end] if end < len(data) else data, found
        return found
