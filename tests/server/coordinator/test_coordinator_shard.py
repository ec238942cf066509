"""Writing, folding and committing: an answer never shows what may yet be lost."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Refusal
from kafkadouble.wire.batch import decode_all, iter_batches
from tests.server.coordinator.stub import TIMEOUT, Notes, Outcome, record, shard


def tick(notes: Notes, milliseconds: int) -> None:
    node = notes.node
    assert isinstance(node, Node)
    node.tick(notes.now + milliseconds)


def test_a_write_is_one_batch_and_folded_at_once() -> None:
    notes = shard()
    notes.write([record("a", 1), record("b", None)])
    notes.write([record("c", 3)])
    notes.write([])
    assert notes.folded == [(0, -1, "a", 1), (1, -1, "b", None), (2, -1, "c", 3)]
    stored = notes.partition.log.read(0, 1 << 20, upper_bound=3).records
    assert [header.count for _, header in iter_batches(stored)] == [2, 1]
    assert [each.timestamp for each in decode_all(stored)] == [notes.now] * 3


def test_response_of_a_coordinator_with_committed_records_is_sent_at_once() -> None:
    notes = shard(lagging=False)
    assert notes.when_committed("answer") == "answer"
    notes.write([record("a")])
    assert notes.when_committed("answer") == "answer"


def test_response_of_a_coordinator_waits_for_the_commit_of_its_records() -> None:
    notes = shard()
    notes.write([record("a")])
    outcome = Outcome(notes, notes.wait_for_commit("answer"))
    tick(notes, TIMEOUT - 1)
    assert outcome.results == []
    notes.partition.replicate()  # type: ignore[attr-defined]  # it is a Lagging one
    tick(notes, 0)
    assert outcome.results == ["answer"]


@pytest.mark.parametrize("late", [codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR])
def test_response_of_a_coordinator_without_a_commit_times_out(late: int) -> None:
    notes = shard()
    notes.write([record("a")])
    outcome = Outcome(notes, notes.wait_for_commit("answer", timeout_code=late))
    tick(notes, TIMEOUT)
    (refusal,) = outcome.results
    assert isinstance(refusal, Refusal)
    assert refusal.code == late


def test_waiting_requests_are_answered_when_leadership_is_lost() -> None:
    notes = shard()
    notes.write([record("a")])
    outcome = Outcome(notes, notes.wait_for_commit("answer"))
    notes.close()
    tick(notes, 0)
    (refusal,) = outcome.results
    assert refusal.code == codes.NOT_COORDINATOR
    assert notes.is_unloaded


def test_a_note_is_not_folded_and_followed_by_its_commit() -> None:
    notes, seen = shard(), list[int]()
    notes.append_without_replay(record("a"), seen.append)
    assert notes.folded == []
    assert seen == []
    notes.partition.replicate()  # type: ignore[attr-defined]  # it is a Lagging one
    tick(notes, 0)
    assert seen == [0]


def test_a_note_is_followed_at_once_where_nothing_lags() -> None:
    notes, seen = shard(lagging=False), list[int]()
    notes.append_without_replay(record("a"), seen.append)
    assert seen == [0]


@pytest.mark.parametrize(("close", "code"), [(False, codes.COORDINATOR_NOT_AVAILABLE), (True, codes.NOT_COORDINATOR)])
def test_record_that_is_not_committed_is_reported_with_the_error(close: bool, code: int) -> None:
    notes, seen = shard(), list[int]()
    notes.append_without_replay(record("a"), seen.append)
    if close:
        notes.close()
    tick(notes, TIMEOUT)
    assert seen == [code]


def test_coordinator_write_too_large_for_the_log_changes_no_state() -> None:
    notes, seen = shard(message_max_bytes=200), list[int]()
    with pytest.raises(Refusal) as refusal:
        notes.write([record("x" * 200)])
    assert refusal.value.code == codes.UNKNOWN_SERVER_ERROR
    notes.append_without_replay(record("x" * 200), seen.append)
    assert seen == [codes.UNKNOWN_SERVER_ERROR]
    notes.append_without_replay(record("x" * 200))
    assert notes.folded == []
    assert notes.partition.log.log_end_offset == 0


def test_records_that_need_not_hold_together_are_cut_to_fit() -> None:
    notes = shard(message_max_bytes=400)
    groups = [f"group-{number}" for number in range(50)]
    groups.insert(20, "x" * 500)
    notes.write_in_batches([record(group) for group in groups])
    assert [group for _, _, group, _ in notes.folded] == [group for group in groups if len(group) < 100]


def test_many_are_more_than_one_batch() -> None:
    notes = shard()
    notes.write_in_batches([record(str(number)) for number in range(1201)])
    stored = notes.partition.log.read(0, 1 << 20, upper_bound=1201).records
    assert [header.count for _, header in iter_batches(stored)] == [500, 500, 201]
