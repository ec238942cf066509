"""The election state in Kafka's file `quorum-state`: version 0 for static voters, version 1 from
`kraft.version` 1 on (KIP-853).

A new file is written beside the old one, flushed and renamed, so that one of them is always
complete. An unreadable file raises BadFile: a replica that guessed its vote could vote twice in one
epoch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.quorum_state_data import QuorumStateData

from ..log.files.disk import Disk
from ..log.formats import quorum_state
from ..log.formats.errors import BadFile
from .quorum_state import ElectionState
from .replica_key import ReplicaKey

NAME = "quorum-state"
_NONE = -1


class FileQuorumStateStore:
    """The file in `folder` of `disk`, the folder of the metadata log."""

    def __init__(self, disk: Disk, folder: str) -> None:
        self._disk, self._folder, self._path = disk, folder, f"{folder}/{NAME}"

    def load(self) -> ElectionState:
        """Returns the election state. Raises BadFile if the file contradicts itself."""
        if not self._disk.exists(self._path):
            return ElectionState()
        data, _ = quorum_state.read(self._disk.read_whole(self._path), self._path)
        if data.leader_epoch < 0 and (data.leader_id >= 0 or data.voted_id >= 0):
            raise BadFile("a leader or a vote without an epoch", file=self._path, offset=0)
        voted = ReplicaKey(data.voted_id, data.voted_directory_id) if data.voted_id >= 0 else None
        return ElectionState(max(0, data.leader_epoch), data.leader_id if data.leader_id >= 0 else None, voted)

    def save(self, state: ElectionState, voter_ids: Sequence[int], kraft_version: int) -> None:
        """Writes the election state. Raises DiskFailure if the file cannot be written."""
        data = QuorumStateData(
            leader_id=_NONE if state.leader_id is None else state.leader_id,
            leader_epoch=state.epoch,
            voted_id=_NONE if state.voted is None else state.voted.id,
        )
        if kraft_version:
            data.voted_directory_id = data.voted_directory_id if state.voted is None else state.voted.directory_id
        else:
            data.current_voters = [QuorumStateData.Voter(voter_id=id) for id in voter_ids]
        self._disk.make_folder(self._folder)
        self._disk.write_whole(self._path, quorum_state.write(data, 1 if kraft_version else 0))

    def __repr__(self) -> str:
        return self._path
