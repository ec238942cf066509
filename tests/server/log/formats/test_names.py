"""Names of files and folders: made and read back, and nothing else taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.formats import names
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch

TOPICS = st.from_regex(r"[a-zA-Z0-9._-]{1,249}", fullmatch=True)
PARTITIONS = st.integers(0, 2**31 - 1)
OFFSETS = st.integers(0, 2**63 - 1)
UUID = "0123456789abcdef0123456789abcdef"


@given(OFFSETS, st.sampled_from(names.KINDS), st.sampled_from(["", names.DELETED, names.CLEANED, names.SWAP]))
def test_a_segments_file_comes_back(offset: int, kind: str, mark: str) -> None:
    name = names.segment_name(offset) + kind + mark
    assert len(name) == 20 + len(kind) + len(mark)
    assert names.parse_file(name) == (offset, kind + mark)


@given(OFFSETS, st.integers(0, 2**31 - 1))
def test_a_snapshots_name_comes_back(offset: int, epoch: int) -> None:
    snapshot_id = OffsetAndEpoch(offset, epoch)
    assert names.parse_checkpoint(names.checkpoint_name(snapshot_id)) == snapshot_id


@given(TOPICS, PARTITIONS)
def test_a_partitions_folder_comes_back(topic: str, partition: int) -> None:
    assert names.parse_partition_folder(names.partition_folder(topic, partition)) == (topic, partition)


@given(TOPICS, PARTITIONS)
def test_a_marked_folder_is_no_partition_and_no_longer_than_a_name_may_be(topic: str, partition: int) -> None:
    made = names.deleted_folder(topic, partition, UUID), names.stray_folder(topic, partition, UUID)
    for name, is_marked, mark in zip(made, (names.is_deleted, names.is_stray), ("delete", "stray"), strict=True):
        found = names.parse_marked_folder(name)
        assert found is not None
        assert (found.partition, found.uuid, found.mark) == (partition, UUID, mark)
        assert topic.startswith(found.topic)
        assert found.topic == topic or len(name) == names.LONGEST_NAME
        assert is_marked(name)
        assert names.parse_partition_folder(name) is None


def test_a_future_folder() -> None:
    name = names.future_folder("a.b-c", 7, UUID)
    assert name == f"a.b-c-7.{UUID}-future"
    assert names.is_future(name)
    assert not names.is_deleted(name)
    assert names.parse_partition_folder(name) is None


@pytest.mark.parametrize(
    "name",
    ["", "1.log", "0" * 19 + ".log", "0" * 21 + ".log", "9" * 20 + ".log", "0" * 20, "0" * 20 + ".txt",
     "0" * 20 + ".log.bak", "0" * 20 + ".log.deleted.deleted", "0" * 20 + ".logs", "x" * 20 + ".log", "0" * 20 + ".log\n",
     "٠" * 20 + ".log"],
)  # fmt: skip
def test_no_file_of_a_segment(name: str) -> None:
    assert names.parse_file(name) is None


@pytest.mark.parametrize(
    "name",
    ["orders", "orders-", "-1", "orders-01", "orders--", "orders-2147483648", "orders-x", "or ders-1", "lost+found", "orders-1\n"],
)  # fmt: skip
def test_no_folder_of_a_partition(name: str) -> None:
    assert names.parse_partition_folder(name) is None


@pytest.mark.parametrize("name", ["orders-1-delete", "orders-1.-delete", "orders.x-delete", "orders-1.x-gone"])
def test_no_marked_folder(name: str) -> None:
    assert names.parse_marked_folder(name) is None


@pytest.mark.parametrize("name", ["bootstrap.checkpoint", "0-0.checkpoint", names.segment_name(0) + ".checkpoint"])
def test_no_snapshot_of_metadata(name: str) -> None:
    assert names.parse_checkpoint(name) is None


def test_kafkas_own_names() -> None:
    assert names.segment_name(0) == "00000000000000000000"
    assert names.checkpoint_name(OffsetAndEpoch(34, 1)) == "00000000000000000034-0000000001.checkpoint"
    assert names.parse_partition_folder("__consumer_offsets-49") == ("__consumer_offsets", 49)
