"""The small text files of a log directory are written and read back as Kafka does; every error is
found at its byte.
"""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.messages import QuorumStateData
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.formats import (
    BadFile,
    clean_shutdown,
    epoch_checkpoint,
    meta_properties,
    offset_checkpoint,
    partition_metadata,
    quorum_state,
)
from kafkadouble.server.log.formats.meta_properties import MetaProperties
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch

from .damage import Reader, every_cut, every_flip, refused

EPOCHS = st.integers(0, 2**31 - 1)
OFFSETS = st.integers(0, 2**63 - 1)
TOPICS = st.from_regex(r"[a-zA-Z0-9._-]{1,40}", fullmatch=True)
UUIDS = st.binary(min_size=16, max_size=16).map(Uuid)
INT32 = st.integers(-(2**31), 2**31 - 1)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=20)


@given(st.lists(st.builds(OffsetAndEpoch, OFFSETS, EPOCHS), max_size=9))
def test_epochs_come_back(entries: list[OffsetAndEpoch]) -> None:
    assert epoch_checkpoint.read(epoch_checkpoint.write(entries)) == entries


@given(st.dictionaries(st.tuples(TOPICS, EPOCHS), OFFSETS, max_size=9))
def test_offsets_come_back(offsets: dict[tuple[str, int], int]) -> None:
    assert offset_checkpoint.read(offset_checkpoint.write(offsets)) == offsets


@given(UUIDS.filter(lambda uuid: uuid != Uuid.ZERO))
def test_a_topic_id_comes_back(topic_id: Uuid) -> None:
    assert partition_metadata.read(partition_metadata.write(topic_id)) == (0, topic_id)


@given(TEXTS, st.integers(0, 2**31 - 1), st.one_of(st.none(), UUIDS), st.sampled_from([0, 1]))
def test_properties_come_back(cluster_id: str, node_id: int, directory_id: Uuid | None, version: int) -> None:
    properties = MetaProperties(cluster_id, node_id, directory_id, version)
    assert meta_properties.read(meta_properties.write(properties)) == properties


@given(st.integers(-1, 2**63 - 1))
def test_a_broker_epoch_comes_back(epoch: int) -> None:
    assert clean_shutdown.read(clean_shutdown.write(epoch)) == epoch


@given(INT32, INT32, INT32, UUIDS, st.lists(INT32, max_size=3), st.sampled_from([0, 1]))
def test_a_vote_comes_back(
    leader: int, epoch: int, voted: int, directory: Uuid, voters: list[int], version: int
) -> None:
    made = QuorumStateData(leader_id=leader, leader_epoch=epoch, voted_id=voted)
    if version:
        made.voted_directory_id = directory
    else:
        made.current_voters = [QuorumStateData.Voter(voter_id=voter) for voter in voters]
    read, its_version = quorum_state.read(quorum_state.write(made, version))
    assert its_version == version
    assert read.encode(version) == made.encode(version)


def test_the_bytes_are_kafkas() -> None:
    assert epoch_checkpoint.write([OffsetAndEpoch(0, 1), OffsetAndEpoch(29, 2)]) == b"0\n2\n1 0\n2 29\n"
    assert offset_checkpoint.write({("a", 0): 5}) == b"0\n1\na 0 5\n"
    assert partition_metadata.write(Uuid.METADATA_TOPIC_ID) == b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
    assert clean_shutdown.write(7) == b'{"version":0,"brokerEpoch":7}'
    vote = QuorumStateData(leader_id=1, leader_epoch=1)
    text = b'{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
    assert quorum_state.write(vote, 1) == text


def test_text_files_of_kafka_are_read() -> None:
    text = b"#\n#Sat Nov 21 01:24:56 UTC 2026\nnode.id=1\ndirectory.id=Ei82Mu9KTCuSIcrkz0Db1w\nversion=1\ncluster.id=U-2bg2rDT0OJgmkICpav1A\n"
    assert meta_properties.read(text) == MetaProperties(
        "U-2bg2rDT0OJgmkICpav1A", 1, Uuid.parse("Ei82Mu9KTCuSIcrkz0Db1w")
    )
    assert meta_properties.read(b"broker.id=3\nversion=0\n") == MetaProperties(None, 3, None, 0)
    assert meta_properties.read(b"") == MetaProperties(None, -1, None, 0)
    assert epoch_checkpoint.read(b"") == []
    assert epoch_checkpoint.read(b"0\n") == []
    assert epoch_checkpoint.read(b"0\r\n1\r\n1 \t 5") == [OffsetAndEpoch(5, 1)]
    assert clean_shutdown.read(b"") is None
    assert clean_shutdown.read(b'{"version":0,"brokerEpoch":5,"more":[]}') == 5


@pytest.mark.parametrize(
    ("read", "data", "offset"),
    [
        (epoch_checkpoint.read, b"1\n0\n", 0),
        (epoch_checkpoint.read, b"0\nx\n", 2),
        (epoch_checkpoint.read, b"0\n2\n1 0\n", 2),
        (epoch_checkpoint.read, b"0\n1\n1 0\n2 3\n", 2),
        (epoch_checkpoint.read, b"0\n1\n1 0 5\n", 4),
        (epoch_checkpoint.read, b"0\n1\n 1 0\n", 4),
        (epoch_checkpoint.read, b"0\n1\n\n", 4),
        (epoch_checkpoint.read, b"0\n1\n1 -4\n", 6),
        (epoch_checkpoint.read, b"0\n1\n2147483648 4\n", 4),
        (epoch_checkpoint.read, b"0\n1\n1 " + b"9" * 5000, 6),
        (epoch_checkpoint.read, b"0\n1\n1 \xff", 6),
        (offset_checkpoint.read, b"0\n2\na 0 5\na 0 6\n", 10),
        (offset_checkpoint.read, b"0\n1\na x 5\n", 6),
        (offset_checkpoint.read, b"0\n1\n\xc3\xa4 0 x\n", 9),
        (partition_metadata.read, b"version: 0\n", 0),
        (partition_metadata.read, b"version: 0\ntopic_id: AAAA", 21),
        (partition_metadata.read, b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", 21),
        (meta_properties.read, b"version=1\nnode.id=1\n", 20),
        (meta_properties.read, b"version=1\ncluster.id=a\n", 0),
        (meta_properties.read, b"version=2\n", 0),
        (meta_properties.read, b"#\r\nversion=1\r\ncluster.id=a\r\nnode.id=one\r\n", 28),
        (meta_properties.read, b"version=1\ncluster.id=a\nnode.id=1\ndirectory.id=x\n", 33),
        (meta_properties.read, b"a=\\u12\n", 0),
        (clean_shutdown.read, b"[]", 0),
        (clean_shutdown.read, b'{"version":0,', 13),
        (clean_shutdown.read, b'{"version":0}', 0),
        (clean_shutdown.read, b'{"version":0,"brokerEpoch":1.5}', 0),
        (clean_shutdown.read, b"[" * 100_000, 0),
        (quorum_state.read, b'{"data_version":2}', 0),
        (quorum_state.read, b"{}", 0),
        (quorum_state.read, b'{"leaderId":"1","data_version":1}', 0),
    ],
)  # fmt: skip
def test_an_error_names_its_byte(read: Callable[[bytes, str], object], data: bytes, offset: int) -> None:
    with pytest.raises(BadFile) as caught:
        read(data, "the-file")
    assert caught.value.offset == offset, caught.value


WHOLE: list[tuple[Reader, bytes]] = [
    (epoch_checkpoint.read, b"0\n2\n1 0\n2 29\n"),
    (offset_checkpoint.read, b"0\n2\na 0 5\nb 1 6\n"),
    (partition_metadata.read, b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"),
    (meta_properties.read, meta_properties.write(MetaProperties("c", 1, Uuid.METADATA_TOPIC_ID))),
    (clean_shutdown.read, clean_shutdown.write(12)),
    (quorum_state.read, quorum_state.write(QuorumStateData(leader_id=1, leader_epoch=1), 1)),
]


@pytest.mark.parametrize(("read", "data"), WHOLE, ids=lambda each: getattr(each, "__module__", "").rpartition(".")[2])
def test_damage_is_read_or_refused_and_nothing_else(read: Reader, data: bytes) -> None:
    assert not refused(read, data)
    flips = [refused(read, damaged) for damaged in every_flip(data)]
    assert flips.count(True) > len(flips) // 4
    assert [refused(read, cut) for cut in every_cut(data)].count(True) > 0


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read, _ in WHOLE:
        refused(read, data)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["version", "brokerEpoch", "data_version", "leaderId", "leaderEpoch", "votedId"]), inner
            ),
        ),
        max_leaves=6,
    )
)
def test_any_json_is_read_or_refused(found: object) -> None:
    data = json.dumps(found).encode()
    refused(clean_shutdown.read, data)
    refused(quorum_state.read, data)
