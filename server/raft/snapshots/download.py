"""Fetches a snapshot from the leader: part by part, then verified, then added to the store
(KIP-595, KIP-630).

    download = SnapshotDownload(store, id, epoch)  # one at a time, from one leader in one epoch
    request = download.request(...)                # the same one after a lost response
    download.take(answer_in(response))             # MORE, DONE (in the store), GIVEN_UP (Fetch)

No response can stop this replica: an error, another id, position or size, too many bytes, none at
all, or an invalid snapshot abandon the download, and the next Fetch starts again. Apache Kafka's
replica stops at another id or position, and checks the bytes only when it loads them. Parts of
another leader are useless: each replica writes its own snapshots, and two with one id may differ.
The caller checks the leader and the epoch first.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.client_log import ClientLog

from ...log.formats.errors import BadFile
from ...log.offset_and_epoch import OffsetAndEpoch
from ..messages import NO_LEADER_ID, PARTITION, TOPIC
from ..replica_key import ReplicaKey
from ..voters import VoterEndpoint
from .snapshot_reader import verify
from .store import SnapshotStore

_LOGGER = ClientLog("kafkadouble.server.raft")


class DownloadProgress(Enum):
    """The result of an answer."""

    MORE = "more to fetch"
    DONE = "the snapshot is complete"
    GIVEN_UP = "abandoned: fetch the log again"


class FetchSnapshotAnswer(NamedTuple):
    """The partition of a response. `code` is its error, or the top-level error; then the other
    fields are unset.
    """

    code: int
    leader_id: int | None = None
    epoch: int = -1
    endpoint: VoterEndpoint | None = None
    id: OffsetAndEpoch | None = None
    size: int = 0
    position: int = 0
    data: Buffer = b""


def answer_in(response: FetchSnapshotResponse) -> FetchSnapshotAnswer | None:
    """The answer for the one partition; None without it."""
    if response.error_code:
        return FetchSnapshotAnswer(response.error_code)
    topics = response.topics
    if len(topics) != 1 or topics[0].name != TOPIC or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    if partition.index != PARTITION:
        return None
    leader = partition.current_leader
    leader_id = None if leader.leader_id == NO_LEADER_ID else leader.leader_id
    endpoints = (endpoint for endpoint in response.node_endpoints if endpoint.node_id == leader_id)
    return FetchSnapshotAnswer(
        partition.error_code,
        leader_id,
        leader.leader_epoch,
        next((VoterEndpoint(endpoint.host, endpoint.port) for endpoint in endpoints), None),
        OffsetAndEpoch(partition.snapshot_id.end_offset, partition.snapshot_id.epoch),
        partition.size,
        partition.position,
        partition.unaligned_records or b"",
    )


class SnapshotDownload:
    """The snapshot `id` of the leader of `epoch`. `max_bytes` is
    `controller.quorum.fetch.snapshot.max.bytes` (KIP-1219).
    """

    def __init__(self, store: SnapshotStore, id: OffsetAndEpoch, epoch: int, max_bytes: int) -> None:
        self.id, self.epoch, self.max_bytes = id, epoch, max_bytes
        self._part = store.create(id)
        self._size = -1  # the total size, once known

    @property
    def position(self) -> int:
        """The number of bytes fetched."""
        return 0 if self._part is None else self._part.size

    @property
    def is_there(self) -> bool:
        """Whether the store had the snapshot before."""
        return self._part is None

    def request(self, key: ReplicaKey, cluster_id: str | None) -> FetchSnapshotRequest:
        """The request for the next part."""
        of = FetchSnapshotRequest
        partition = of.PartitionSnapshot(
            partition=PARTITION,
            current_leader_epoch=self.epoch,
            snapshot_id=of.SnapshotId(end_offset=self.id.offset, epoch=self.id.epoch),
            position=self.position,
            replica_directory_id=key.directory_id,
        )
        topic = of.TopicSnapshot(name=TOPIC, partitions=[partition])
        return of(cluster_id=cluster_id, replica_id=key.id, max_bytes=self.max_bytes, topics=[topic])

    def take(self, answer: FetchSnapshotAnswer | None) -> DownloadProgress:
        """Handles an answer of the leader of `epoch`. Also a DiskFailure abandons the download."""
        part = self._part
        problem = "it is not in progress" if part is None else self._problem(answer)
        if part is None or answer is None or problem is not None:
            return self._given_up(problem or "no answer")
        try:
            part.append(answer.data)
            if part.size < answer.size:
                return DownloadProgress.MORE
            verify(self.id, part)
            part.freeze()
        except BadFile as bad:
            return self._given_up(str(bad))
        except BaseException:
            self.abandon()
            raise
        self._part = None
        return DownloadProgress.DONE

    def _problem(self, answer: FetchSnapshotAnswer | None) -> str | None:
        """The problem of an answer."""
        if answer is None:
            return "the answer is about something else"
        if answer.code:
            return error_codes.name(answer.code)
        if answer.id != self.id:
            return f"the answer is about {answer.id!r}"
        if answer.position != self.position:
            return f"bytes from {answer.position} on, where {self.position} is due"
        if self._size not in (-1, answer.size):
            return f"a size of {answer.size}, which was {self._size}"
        if not 0 < len(answer.data) <= answer.size - answer.position:
            return f"{len(answer.data)} bytes at {answer.position} of {answer.size}"
        self._size = answer.size
        return None

    def _given_up(self, problem: str) -> DownloadProgress:
        _LOGGER.info("%r is given up: %s", self, problem)
        self.abandon()
        return DownloadProgress.GIVEN_UP

    def abandon(self) -> None:
        """Removes all that was fetched."""
        part, self._part = self._part, None
        if part is not None:
            part.abandon()

    def __repr__(self) -> str:
        return f"download of the snapshot up to {self.id!r}, {self.position} bytes of {max(0, self._size) or 'so many'}"
