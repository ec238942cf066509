"""What Apache Kafka wrote, and what this leader writes in its place: the same bytes."""

from pathlib import Path

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.voters import Voter, VoterEndpoint, VoterSet
from kafkadouble.wire.batch import iter_batches
from tests.server.raft.asking import SETTINGS
from tests.server.raft.followed import Followed, response
from tests.server.raft.quorum import Member, Snapshots

LOG = Path(__file__).parents[2] / "golden" / "cluster_metadata-0" / "00000000000000000000.log"
"""The first segment of a combined node of Kafka 4.3, formatted with its own voter."""

DIRECTORY = Uuid.parse("Ei82Mu9KTCuSIcrkz0Db1w")
AT = {"CONTROLLER": VoterEndpoint("127.0.0.1", 19093)}


def test_the_first_batch_of_a_leader_is_kafkas_byte_for_byte() -> None:
    theirs = LOG.read_bytes()
    header = next(iter_batches(theirs))[1]
    first = theirs[: header.size]
    voters = VoterSet([Voter(ReplicaKey(1, DIRECTORY), AT, (0, 1))])
    node = Member(
        1,
        VoterSet(),
        SETTINGS,
        header.base_timestamp,
        directory_id=DIRECTORY,
        endpoints=AT,
        snapshot_ids=Snapshots(OffsetAndEpoch(0, 0), voters=voters, kraft_version=1),
    )
    node.replica.tick(header.base_timestamp)
    assert bytes(node.replica.log.read(0, 1).records) == first


def test_a_log_of_kafkas_is_followed_byte_for_byte() -> None:
    theirs = LOG.read_bytes()
    followed = Followed()
    followed.answer(response(theirs[:5000], high_watermark=0))
    half = followed.replica.log.end_offset
    rest = next(position for position, header in iter_batches(theirs) if header.base_offset == half)
    followed.answer(response(theirs[rest:], high_watermark=half))
    ours = b"".join(bytes(batch) for batch in followed.replica.log.log.batches(0))
    assert ours == theirs
    assert followed.replica.kraft_version == 1
    assert followed.replica.voters.get(1) == Voter(ReplicaKey(1, DIRECTORY), AT, (0, 1))
    assert followed.member.listener.offsets == list(range(half))
