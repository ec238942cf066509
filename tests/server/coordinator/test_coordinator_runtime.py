"""Shards come with leadership, loaded to the end, and go with it."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.coordinator import coordinator_loader
from kafkadouble.server.coordinator.coordinator_loader import load
from kafkadouble.server.coordinator.coordinator_runtime import CoordinatorRuntime, partition_for
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from kafkadouble.server.requests.request import Refusal
from kafkadouble.wire.batch import ABORT, COMMIT, LEADER_CHANGE, encode_batch, encode_control_batch
from kafkadouble.wire.record import Record
from tests.server.coordinator.stub import Notes, led, record, shard
from tests.server.harness import Harness


@pytest.fixture
def harness() -> Harness:
    return Harness()


@pytest.fixture
def runtime(harness: Harness) -> CoordinatorRuntime[Notes]:
    made = CoordinatorRuntime(harness.node, CONSUMER_OFFSETS, "offsets.topic.num.partitions", Notes)
    harness.node.partitions.listeners.append(made)
    return made


def test_a_shard_is_loaded_when_its_partition_is_led(harness: Harness, runtime: CoordinatorRuntime[Notes]) -> None:
    partition = led(harness, 3)
    assert len(list(runtime)) == 50
    Notes(harness.node, partition).write([record("a", 1), record("b", None)])
    runtime.on_election(partition)
    (notes,) = [each for each in runtime if each.partition.index == 3]
    assert notes.is_loaded
    assert notes.folded == [(0, -1, "a", 1), (1, -1, "b", None)]
    assert notes.last_written_offset == 2


def test_a_shard_is_closed_when_leadership_is_lost(harness: Harness, runtime: CoordinatorRuntime[Notes]) -> None:
    partition = led(harness)
    (notes,) = [each for each in runtime if each.partition is partition]
    runtime.on_resignation(partition)
    assert notes.closed
    assert notes.is_unloaded
    assert notes not in list(runtime)
    runtime.on_resignation(partition)


def test_coordinator_loads_its_partition_again_after_an_election(
    harness: Harness, runtime: CoordinatorRuntime[Notes]
) -> None:
    partition = led(harness, 7)
    before = runtime._shards[7]
    runtime.on_election(partition)
    assert before.closed
    assert runtime._shards[7] is not before


def test_other_topics_are_of_no_concern(harness: Harness, runtime: CoordinatorRuntime[Notes]) -> None:
    harness.create("other")
    assert list(runtime) == []
    runtime.on_resignation(harness.partition("other"))


def test_a_key_is_looked_for_where_it_hashes_to(harness: Harness, runtime: CoordinatorRuntime[Notes]) -> None:
    index = runtime.partition_of("hello")
    assert index == 99162322 % 50, "as many as the topic will have"
    with pytest.raises(Refusal) as refusal:
        runtime.shard("hello")
    assert refusal.value.code == codes.NOT_COORDINATOR
    led(harness)
    assert runtime.shard("hello").partition.index == index


def test_a_log_that_cannot_be_read_has_no_shard(harness: Harness, runtime: CoordinatorRuntime[Notes]) -> None:
    partition = led(harness, 7)
    partition.append_own(encode_batch([Record(0, 0, b"\0\1", b"\0\4")]), 0)
    runtime.on_election(partition)
    assert 7 not in runtime._shards


def test_loading_passes_over_what_is_not_a_record_of_ours() -> None:
    notes = shard(lagging=False)
    transaction = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
    batches = [
        encode_batch([Record(0, 0, b"\x03\xe7unknown type", b"?"), Record(1, 0, None, b"no key")]),
        encode_batch([record("a", 1).encoded(0, 0)], base_sequence=0, **transaction),  # type: ignore[arg-type]  # mixed
        encode_control_batch(COMMIT, b"\0\0\0\0\0\0", **transaction),  # type: ignore[arg-type]  # mixed
        encode_batch([record("b", 2).encoded(0, 0)], base_sequence=1, **transaction),  # type: ignore[arg-type]  # mixed
        encode_control_batch(ABORT, b"\0\0\0\0\0\0", **transaction),  # type: ignore[arg-type]  # mixed
        encode_control_batch(LEADER_CHANGE, b""),
        encode_batch([record("c", 3).encoded(0, 0)]),
    ]
    for batch in batches:
        notes.partition.append_own(batch, 0)
    load(notes)
    assert notes.folded == [(2, 7, "a", 1), (4, 7, "b", 2), (7, -1, "c", 3)]
    assert notes.ended == [(7, True), (7, False)]


def test_loading_begins_at_the_start_of_the_log() -> None:
    notes = shard(lagging=False)
    notes.partition.append_own(encode_batch([record("a", 1).encoded(0, 0), record("b", 2).encoded(1, 0)]), 0)
    notes.partition.log.delete_records_before(1)
    load(notes)
    assert notes.folded == [(1, -1, "b", 2)]


def test_coordinator_loading_continues_after_each_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator_loader, "LOAD_BYTES", 1)  # a read then has one batch
    notes = shard(lagging=False)
    for number in range(3):
        pair = [record("a", number).encoded(0, 0), record("b", number).encoded(1, 0)]
        notes.partition.append_own(encode_batch(pair), 0)
    load(notes)
    assert [offset for offset, *_ in notes.folded] == [0, 1, 2, 3, 4, 5]


def test_a_key_has_its_partition() -> None:
    assert partition_for("hello", 50) == 99162322 % 50
    assert partition_for("polygenelubricants", 50) == 0
    assert partition_for("billing", 50) == 109829509 % 50
