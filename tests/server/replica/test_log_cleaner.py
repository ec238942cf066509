"""The log cleaner in a node: when it runs, what it cleans, and that it delays no request."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.server.log.compaction import cleaner
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import Record, decode_all, encode_batch
from tests.server.harness import Harness
from tests.server.topic_requests import appending

MEBIBYTE = 1 << 20
BACKOFF = 15_000


def cluster(**settings: object) -> Harness:
    return Harness({name.replace("_", "."): value for name, value in settings.items()})


def create(node: Harness, topic: str, policy: str = "compact", **configs: str) -> None:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    node.create(topic, configs={"cleanup.policy": policy, "segment.bytes": str(MEBIBYTE), **given})


def fill(node: Harness, topic: str, mebibytes: int, keys: int = 5) -> None:
    """Records of about 10 KB, so that segments are rolled."""
    for at in range(mebibytes * 100):
        batch = encode_batch([Record(0, node.now, b"k%d" % (at % keys), b"%d" % at * 5000)])
        node.submit(appending(topic, batch, acks=1), 9)


def keys(node: Harness, topic: str) -> list[bytes | None]:
    log = node.partition(topic).log
    closed = log.segments[-1].base_offset
    return [record.key for batch in log.batches(0) for record in decode_all(bytes(batch)) if record.offset < closed]


def let_it_clean(node: Harness) -> None:
    node.tick(BACKOFF)
    for _ in range(2000):
        node.tick(1)


def test_a_compacted_topic_is_cleaned_by_and_by() -> None:
    node = cluster()
    create(node, "t")
    fill(node, "t", 3)
    count = len(keys(node, "t"))
    node.tick(BACKOFF)
    assert len(keys(node, "t")) == count  # the cleaner has only begun
    let_it_clean(node)
    assert len(keys(node, "t")) <= 5 + 1
    assert set(keys(node, "t")) == {b"k%d" % key for key in range(5)}


def test_a_topic_that_is_only_deleted_is_not() -> None:
    node = cluster()
    create(node, "t", "delete")
    fill(node, "t", 3)
    count = len(keys(node, "t"))
    let_it_clean(node)
    assert len(keys(node, "t")) == count


def test_a_topic_that_is_clean_enough_waits() -> None:
    node = cluster()
    create(node, "t", min_cleanable_dirty_ratio="1.0")
    fill(node, "t", 3)
    count = len(keys(node, "t"))
    let_it_clean(node)
    assert len(keys(node, "t")) == count


def test_log_cleaner_can_be_disabled() -> None:
    node = cluster(log_cleaner_enable=False)
    create(node, "t")
    fill(node, "t", 3)
    count = len(keys(node, "t"))
    let_it_clean(node)
    assert len(keys(node, "t")) == count


def test_a_topic_that_is_deleted_meanwhile_is_let_go() -> None:
    node = cluster()
    create(node, "t")
    create(node, "u")
    fill(node, "t", 5)
    fill(node, "u", 3)
    node.tick(BACKOFF)
    node.submit(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    let_it_clean(node)
    let_it_clean(node)
    assert len(keys(node, "u")) <= 5 + 1


def test_dirtiest_log_is_compacted_first() -> None:
    node = cluster()
    create(node, "t", min_cleanable_dirty_ratio="0.1")
    create(node, "u", min_cleanable_dirty_ratio="0.1")
    fill(node, "t", 3)
    let_it_clean(node)
    fill(node, "t", 2, keys=90)
    let_it_clean(node)
    fill(node, "t", 1)
    fill(node, "u", 3)
    node.tick(BACKOFF)
    assert "u-0" in repr(node.node.cleaner)


def test_a_log_that_cannot_be_cleaned_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """This partition is the dirtiest of all, and would block all others."""
    intact = cleaner.clean

    def breaks(log: PartitionLog, now: int, most_keys: int) -> cleaner.Cleaning:
        if log.topic == "t":
            raise RuntimeError("planted")
        return (yield from intact(log, now, most_keys))

    monkeypatch.setattr(cleaner, "clean", breaks)
    node = cluster()
    create(node, "t")
    create(node, "u", min_cleanable_dirty_ratio="0.1")
    fill(node, "t", 3)
    fill(node, "u", 3)
    let_it_clean(node)
    fill(node, "u", 3, keys=100)
    let_it_clean(node)
    let_it_clean(node)
    assert caplog.text.count("Error: planted") == 1
    assert len(keys(node, "u")) <= 100 + 6
