"""Everything that was ever committed: the batches, the state at each offset, and the voters that
they name."""

from __future__ import annotations

from kafkadouble.server.raft.control_records import read_control_records
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.wire.batch import iter_batches

from .state import State
from .world import Broken


class Committed:
    """It only grows. `batches` are by base offset; `epochs`, `states`, `voters` and
    `kraft_versions` by the offset after a batch."""

    def __init__(self, static: VoterSet) -> None:
        self.batches: dict[int, bytes] = {}
        self.end = 0
        self.epochs = {0: 0}
        self.states = {0: State()}
        self.voters = {0: static}
        self.kraft_versions = {0: 0}

    @property
    def state(self) -> State:
        return self.states[self.end]

    def take(self, batches: bytes, *, new: bool, name: str) -> dict[int, bytes]:
        """A node takes this batch for committed: it must be the one committed before, or continue
        the log. Returns what is new."""
        fresh: dict[int, bytes] = {}
        for position, header in iter_batches(batches):
            batch = batches[position : position + header.size]
            if header.base_offset < self.end:
                known = self.batches.get(header.base_offset)
                if known != batch:
                    raise Broken(f"{name}: at offset {header.base_offset} another batch was committed")
            elif not new:
                raise Broken(f"{name}: takes offset {header.base_offset} for committed, and no leader has committed it")
            elif header.base_offset != self.end:
                raise Broken(f"{name}: commits offset {header.base_offset} after {self.end}")
            else:
                fresh[header.base_offset] = batch
                self._add(batch, header.base_offset, header.next_offset, header.partition_leader_epoch)
        return fresh

    def _add(self, batch: bytes, offset: int, end: int, epoch: int) -> None:
        state, voters, version = self.state.copy(), self.voters[self.end], self.kraft_versions[self.end]
        state.apply_batch(batch)
        for record in read_control_records(batch):
            voters = voters if record.voters is None else record.voters
            version = version if record.kraft_version is None else record.kraft_version
        self.batches[offset], self.end = batch, end
        self.epochs[end], self.states[end], self.voters[end], self.kraft_versions[end] = epoch, state, voters, version
