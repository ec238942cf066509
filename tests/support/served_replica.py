"""A replica of the metadata log that listens on a socket, and sends requests to its peers' sockets:
a controller that has only the quorum.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from random import Random
from typing import Any, NamedTuple

from kafkadouble.messages import framed, headers, registry
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.generated.describe_cluster import DescribeClusterResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.network.clock import Clock, SystemClock
from kafkadouble.server.network.peers import Peers
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.quorum_state import MemoryQuorumStateStore
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.snapshots.validation import create
from kafkadouble.server.raft.voters import VoterEndpoint, VoterSet
from kafkadouble.server.requests.waiting import Waiting
from kafkadouble.wire.frame import Frames
from tests.support.scripted_peer import close_server

SETTINGS = QuorumSettings(
    append_linger_ms=0, election_timeout_ms=300, fetch_timeout_ms=600, election_backoff_max_ms=100
)
"""The shortest timeouts that work on a busy machine."""

CLUSTER = "lkc-Jx0x7dTBSuGFgh9n_EoNow"
SERVED = (1, 18, 52, 53, 54, 55, 59, 60)


class _Request(NamedTuple):
    api_key: int
    version: int
    body: Any


class ServedReplica:
    """One replica. `versions` are its highest versions of APIs where they are below the newest."""

    def __init__(
        self, id: int, sock: socket.socket, voters: VoterSet, clock: Clock, versions: Mapping[int, int] | None = None
    ) -> None:
        self.id, self.clock, self.versions = id, clock, versions or {}
        self.endpoint = VoterEndpoint(*sock.getsockname()[:2])
        self.snapshots, self.driver = MemorySnapshotStore(), Waiting()
        self.requested: list[_Request] = []
        self.replica = KafkaRaftClient(
            SETTINGS,
            ReplicaKey(id),
            RaftLog(PartitionLog("__cluster_metadata", 0), voters, self.snapshots),
            MemoryQuorumStateStore(),
            Random(id),
            cluster_id=CLUSTER,
            endpoints={"CONTROLLER": self.endpoint},
            snapshots=FetchSnapshotService(self.snapshots),
            now=clock.now(),
        )
        self.peers = Peers(self, clock, client_id=f"raft-client-{id}", timeout_ms=2000)
        self._socket, self._serving = sock, set[asyncio.Task[Any]]()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, sock=self._socket)
        self.peers.start()

    async def stop(self) -> None:
        await close_server(self._server, self._socket)
        await self.peers.stop()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def leads(self) -> bool:
        return isinstance(self.replica.state, LeaderState)

    def append(self, *records: Message) -> None:
        """Appends one batch as the leader, with each record in its newest version."""
        values = [framed.encode_record(record, type(record).versions[1]) for record in records]
        self.replica.append(values, self.clock.now())
        self._after()
        self.peers.pump()

    def snapshot(self, values: Sequence[bytes]) -> OffsetAndEpoch:
        """Writes a snapshot of these records up to the high watermark; the log keeps its
        records."""
        id = OffsetAndEpoch(self.replica.log.high_watermark, self.replica.epoch)
        part = create(self.replica.log, self.snapshots, id)
        assert part is not None
        write_at_once(part, SnapshotHeader(self.clock.now()), values, self.clock.now())
        return id

    # What `Peers` calls.

    def take_outgoing(self) -> list[OutboundRequest]:
        return self.replica.take_outgoing()

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        self.replica.answered(token, response, now)
        self._after()

    def tick(self, now: int) -> None:
        self.replica.tick(now)
        self._after()

    def next_deadline(self) -> int | None:
        found = (self.replica.next_deadline(), self.driver.timers.next_deadline())
        return min((each for each in found if each is not None), default=None)

    def _after(self) -> None:
        self.driver.run(self.clock.now())

    # Requests of other nodes.

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        frames = Frames()
        try:
            while data := await reader.read(1 << 16):
                for frame in frames.feed(data):
                    await self._answer(frame, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._serving.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, frame: bytes, writer: asyncio.StreamWriter) -> None:
        head = headers.read_request_header(frame)
        key, version = head.api_key, head.api_version
        body = registry.api(key).request.decode(frame, version, head.body_offset)
        request = _Request(key, version, body)
        self.requested.append(request)
        answer = _OTHERS[key](self) if key in _OTHERS else await self._of_quorum(request)
        writer.writelines(headers.write_response(answer, head.correlation_id, key, version))
        await writer.drain()

    async def _of_quorum(self, request: _Request) -> Message:
        found = self.replica.handle(request, self.clock.now())
        done: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        if isinstance(found, Message):
            done.set_result(found)
        else:
            task = self.driver.start(found, done.set_result, done.set_exception)
            done.add_done_callback(lambda _: task.close())
        self._after()
        self.peers.pump()
        return await done

    def _versions(self) -> Message:
        of = ApiVersionsResponse.ApiVersion
        rows = [
            of(api_key=key, min_version=low, max_version=min(high, self.versions.get(key, high)))
            for key in SERVED
            for low, high in [registry.api(key).request.versions]
        ]
        return ApiVersionsResponse(api_keys=rows)

    def _cluster(self) -> Message:
        return DescribeClusterResponse(endpoint_type=2, cluster_id=CLUSTER)


_OTHERS: dict[int, Any] = {18: ServedReplica._versions, 60: ServedReplica._cluster}


@asynccontextmanager
async def served(
    count: int = 1, clock: Clock | None = None, versions: Mapping[int, int] | None = None
) -> AsyncIterator[list[ServedReplica]]:
    """Starts a quorum of `count` replicas with ids from 1."""
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    text = ",".join(f"{at}@127.0.0.1:{sock.getsockname()[1]}" for at, sock in enumerate(socks, 1))
    async with AsyncExitStack() as stack:
        found = []
        for at, sock in enumerate(socks, 1):
            replica = ServedReplica(at, sock, VoterSet.from_static(text), clock or SystemClock(), versions)
            await replica.start()
            stack.push_async_callback(replica.stop)
            found.append(replica)
        yield found


async def leader_of(members: Sequence[ServedReplica]) -> ServedReplica:
    """Waits for a leader that has committed a record of its epoch."""
    while True:
        for member in members:
            state = member.replica.state
            if isinstance(state, LeaderState) and state.high_watermark is not None:
                return member
        await asyncio.sleep(0.005)
