"""A quorum whose voters change, and the requests for it."""

from typing import Any

from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from tests.server.raft.quorum import (
    CLUSTER,
    LISTENER,
    Member,
    Quorum,
    directory,
    endpoint,
)


def add(
    id: int = 4,
    *,
    life: int = 0,
    directory_id: Uuid | None = None,
    listener: str = LISTENER,
    cluster: str | None = CLUSTER,
    committed: bool = True,
) -> AddRaftVoterRequest:
    of, at = AddRaftVoterRequest, endpoint(id & 0x7F)
    return of(
        cluster_id=cluster,
        timeout_ms=1000,
        voter_id=id,
        voter_directory_id=directory(id & 0x7F, life) if directory_id is None else directory_id,
        listeners=[of.Listener(name=listener, host=at.host, port=at.port)],
        ack_when_committed=committed,
    )


def remove(id: int, *, life: int = 0, cluster: str | None = CLUSTER) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(
        cluster_id=cluster, voter_id=id, voter_directory_id=directory(id & 0x7F, life) if life >= 0 else Uuid.ZERO
    )


def update(
    id: int,
    epoch: int,
    *,
    life: int = 0,
    cluster: str | None = CLUSTER,
    listener: str = LISTENER,
    kraft: tuple[int, int] = (0, 1),
    port: int = 1,
) -> UpdateRaftVoterRequest:
    of = UpdateRaftVoterRequest
    return of(
        cluster_id=cluster,
        current_leader_epoch=epoch,
        voter_id=id,
        voter_directory_id=directory(id & 0x7F, life) if life >= 0 else Uuid.ZERO,
        listeners=[of.Listener(name=listener, host="moved", port=port)],
        kraft_version_feature=of.KRaftVersionFeature(min_supported_version=kraft[0], max_supported_version=kraft[1]),
    )


class Changing:
    """Three voters in the log, one of them leading; observers may be added."""

    def __init__(self, ids: tuple[int, ...] = (1, 2, 3), *, dynamic: bool = True, **changed: Any) -> None:
        self.quorum = Quorum(ids, dynamic=dynamic, **changed)
        self.leader: KafkaRaftClient = self.quorum.elect()
        self.id = self.leader.key.id
        self.quorum.run(600)

    def ask(self, body: Any, version: int | None = None) -> list[Any]:
        response = self.quorum.members[self.id].ask(
            body, body.versions[1] if version is None else version, self.quorum.now
        )
        self.quorum.tick()
        return response

    def now(self, body: Any) -> Any:
        """The answer, which must be there at once."""
        (found,) = self.ask(body)
        return found

    def done(self, body: Any, ms: int = 3000) -> Any:
        """The answer, which may take a while."""
        response = self.ask(body)
        self.quorum.run(ms, until=lambda: bool(response))
        return response[0]

    def observer(self, id: int = 4, **how: Any) -> Member:
        member = self.quorum.add(id, **how)
        self.quorum.run(1000)
        return member

    @property
    def state(self) -> LeaderState:
        assert isinstance(self.leader.state, LeaderState)
        return self.leader.state

    @property
    def others(self) -> list[int]:
        return [id for id in self.leader.voters.ids if id != self.id]


def known(low: int, high: int, code: int = 0) -> ApiVersionsResponse:
    of = ApiVersionsResponse
    feature = of.SupportedFeatureKey(name="kraft.version", min_version=low, max_version=high)
    return of(error_code=code, supported_features=[feature] if high else [])
