"""What a replica may never forget: in memory, in Kafka's file, over a loss of power."""

from pathlib import Path
from random import Random

import pytest

from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.raft.quorum_state import ElectionState, MemoryQuorumStateStore, QuorumStateStore
from kafkadouble.server.raft.quorum_state_file import FileQuorumStateStore
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.wire.errors import UsageError
from tests.server.log.files.lossy_disk import LossyDisk
from tests.server.raft.asking import ask, granted, key, member, sole, vote
from tests.server.raft.quorum import START

FOLDER = "__cluster_metadata-0"
VERSION_0 = (
    b'{"clusterId":"","leaderId":3001,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":'
    b'[{"voterId":3000},{"voterId":3001},{"voterId":3002}],"data_version":0}'
)
VERSION_1 = b'{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
"""As Apache Kafka 4.3 wrote them."""


def in_files(path: Path) -> FileQuorumStateStore:
    return FileQuorumStateStore(RealDisk(str(path)), FOLDER)


STATES = [
    ElectionState(),
    ElectionState(3),
    ElectionState(3, 2),
    ElectionState(3, None, ReplicaKey(2)),
    ElectionState(3, 1, ReplicaKey(2)),
    ElectionState(2**31 - 1, 0, ReplicaKey(0)),
]


@pytest.mark.parametrize("state", STATES, ids=repr)
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("kind", ["memory", "files"])
def test_saved_quorum_state_is_loaded(state: ElectionState, version: int, kind: str, tmp_path: Path) -> None:
    store: QuorumStateStore = MemoryQuorumStateStore() if kind == "memory" else in_files(tmp_path)
    assert store.load() == ElectionState()
    store.save(state, [1, 2, 3], version)
    assert (store if kind == "memory" else in_files(tmp_path)).load() == state


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_the_directory_of_a_vote_is_kept_from_kraft_version_1_on(kind: str, tmp_path: Path) -> None:
    store: QuorumStateStore = MemoryQuorumStateStore() if kind == "memory" else in_files(tmp_path)
    state = ElectionState(3, None, key(2))
    store.save(state, [1], 1)
    assert store.load() == state
    store.save(state, [1], 0)
    assert store.load() == ElectionState(3, None, ReplicaKey(2))


@pytest.mark.parametrize(("data", "version"), [(VERSION_0, 0), (VERSION_1, 1)])
def test_kafkas_own_files_are_read_and_written_byte_for_byte(data: bytes, version: int, tmp_path: Path) -> None:
    store = in_files(tmp_path)
    (tmp_path / FOLDER).mkdir()
    file = tmp_path / FOLDER / "quorum-state"
    file.write_bytes(data)
    state = store.load()
    assert state == (ElectionState(1, 1) if version else ElectionState(2, 3001))
    file.unlink()
    store.save(state, [3000, 3001, 3002], version)
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"data_version":7}',
        VERSION_1.replace(b'"leaderEpoch":1', b'"leaderEpoch":-1'),
        VERSION_1.replace(b'"leaderEpoch":1', b'"leaderEpoch":"x"'),
        VERSION_1[:-20],
    ],
)
def test_a_file_that_cannot_be_is_never_guessed_at(data: bytes, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "quorum-state").write_bytes(data)
    with pytest.raises(BadFile):
        in_files(tmp_path).load()


def test_an_epoch_is_not_negative() -> None:
    with pytest.raises(UsageError):
        ElectionState(-1)


@pytest.mark.parametrize("seed", range(30))
def test_a_vote_is_given_to_no_other_candidate_after_a_loss_of_power(seed: int) -> None:
    disk = LossyDisk()
    disk.make_folder(FOLDER)
    disk.flush_folder("")
    voter = member(store=FileQuorumStateStore(disk, FOLDER))
    random = Random(seed)
    given: dict[int, int] = {}
    for epoch in range(1, 8):
        for candidate in random.sample([2, 3, 4], 3):
            if sole(ask(voter, vote(epoch, candidate))).vote_granted:
                assert given.setdefault(epoch, candidate) == candidate
            if random.random() < 0.5:
                disk = disk.power_lost(random)
                voter.store = FileQuorumStateStore(disk, FOLDER)
                voter.start(START)
                assert voter.replica.epoch >= epoch
    assert len(given) >= 5


class Full(MemoryQuorumStateStore):
    def save(self, *_: object) -> None:
        raise DiskFailure("data", "no space left")


def test_a_vote_that_cannot_be_kept_is_not_given() -> None:
    voter = member(store=Full())
    answer = ask(voter, vote(1, 2))
    assert answer.error_code
    assert isinstance(voter.replica.failure, DiskFailure)
    assert voter.replica.epoch == 0
    voter.replica.tick(START + 100_000)
    assert voter.replica.take_outgoing() == []


def test_a_replica_that_cannot_write_its_own_vote_is_no_candidate() -> None:
    two = member(voters=(1, 2), store=Full()).replica
    two.tick(START + 2000)
    [requested] = two.take_outgoing()
    two.answered(requested.token, granted(requested.body), START + 2000)
    assert isinstance(two.failure, DiskFailure)
    assert two.epoch == 0


def test_a_sole_voter_that_cannot_write_its_election_does_not_lead() -> None:
    alone = member(voters=(1,), store=Full()).replica
    alone.tick(START)
    assert isinstance(alone.failure, DiskFailure)
    assert alone.leader_id is None
    assert alone.log.end_offset == 0


def test_a_sole_voter_keeps_once_that_it_leads() -> None:
    store = MemoryQuorumStateStore()
    alone = member(voters=(1,), store=store).replica
    alone.tick(START)
    assert store.saves == 1
    assert store.load() == ElectionState(1, leader_id=1)
