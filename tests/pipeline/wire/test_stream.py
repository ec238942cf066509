"""A streaming query's driver: where it begins, what each micro-batch takes, and what it does when
records or topics are gone."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import Client, NoSuchTopic, OffsetAndEpoch, TopicPartition
from kafkadouble.pipeline.wire.losses import DataLoss
from kafkadouble.pipeline.wire.offsets import Json, Positions, of_json, to_json
from kafkadouble.pipeline.wire.stream import MicroBatchStream

from .making import delete_before, fill, settings, stream_of, values

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def kept(offsets: Json) -> Json:
    """The offsets as a checkpoint returns them."""
    return json.loads(json.dumps(offsets))  # type: ignore[no-any-return]


def at(**offsets: int) -> Json:
    """A checkpoint of Spark's connector: t0=3 is offset 3 of t-0."""
    return to_json(Positions({TopicPartition("t", int(name[1:])): offset for name, offset in offsets.items()}))


def offsets_of(json: Json) -> dict[int, int]:
    return {tp.partition: offset for tp, offset in of_json(json).offsets.items()}


def test_from_the_beginning_in_micro_batches(double: KafkaDouble) -> None:
    fill(double, *"abc")
    stream = stream_of(double)
    start = kept(stream.initial())
    assert offsets_of(start) == {0: 0, 1: 0}
    end = kept(stream.latest(start, everything=True))
    assert values(stream.plan(start, end), settings(double)) == ["a", "b", "c"]
    fill(double, "d", partition=1)
    after = kept(stream.latest(end, everything=True))
    assert values(stream.plan(end, after), settings(double)) == ["d"]


def test_stream_without_new_records_keeps_its_offsets(double: KafkaDouble) -> None:
    fill(double, "a")
    stream = stream_of(double)
    start = at(t0=1, t1=0)
    assert stream.latest(start, everything=True) == start
    double.bump_epoch("t", 0)
    assert stream.latest(start, everything=True) == start


def test_latest_offsets_of_a_stream_are_requested_once(double: KafkaDouble) -> None:
    stream = stream_of(double, startingOffsets="latest")
    first = stream.initial()
    fill(double, "a")
    assert stream.initial() == first


def test_a_first_batch_that_is_repeated_begins_where_it_did(double: KafkaDouble) -> None:
    fill(double, "a")
    stream = stream_of(double, startingOffsets="latest")
    start = stream.initial()
    fill(double, "b", "c")
    end = kept(stream.latest(start, everything=True))
    resumed = stream_of(double, startingOffsets="latest")
    later = kept(resumed.initial())
    assert offsets_of(later) == {0: 3, 1: 0}
    assert values(resumed.plan(later, end), settings(double)) == ["b", "c"]


def test_the_epoch_of_the_last_record_is_kept(double: KafkaDouble) -> None:
    fill(double, "a", "b")
    double.bump_epoch("t", 0)
    stream = stream_of(double)
    assert of_json(stream.latest(at(t0=0, t1=0), everything=True)).epochs == {T0: 0}
    fill(double, "c")
    assert of_json(stream.latest(at(t0=0, t1=0), everything=True)).epochs == {T0: double.leader_epoch("t", 0)}


def test_max_offsets_per_trigger_are_shared_among_partitions(double: KafkaDouble) -> None:
    fill(double, *"abcdefghi")
    fill(double, *"xyz", partition=1)
    stream = stream_of(double, maxOffsetsPerTrigger="4")
    assert offsets_of(stream.latest(at(t0=0, t1=0), everything=False)) == {0: 3, 1: 1}
    assert offsets_of(stream.latest(at(t0=0, t1=0), everything=True)) == {0: 9, 1: 3}


def test_a_micro_batch_waits_for_enough(double: KafkaDouble) -> None:
    fill(double, *"ab")
    stream = stream_of(double, minOffsetsPerTrigger="3", maxTriggerDelay="1h")
    start = kept(stream.latest(at(t0=0, t1=0), everything=False))  # the first does not wait
    fill(double, "c")
    assert stream.latest(start, everything=False) == start
    fill(double, "d", "e")
    assert offsets_of(stream.latest(start, everything=False)) == {0: 5, 1: 0}


def test_available_now_ends_where_the_log_ended_then(double: KafkaDouble) -> None:
    fill(double, *"ab")
    stream = stream_of(double, maxOffsetsPerTrigger="1", minOffsetsPerTrigger="1")
    stream.until_now()
    first = stream.latest(at(t0=0, t1=0), everything=False)
    fill(double, "c")
    second = stream.latest(first, everything=False)
    assert (offsets_of(first)[0], offsets_of(second)[0]) == (1, 2)
    assert stream.latest(second, everything=False) == second
    assert stream.newest() == at(t0=2, t1=0)


def test_a_new_partition_begins_at_its_earliest(double: KafkaDouble) -> None:
    fill(double, "a")
    fill(double, "b", partition=1)
    stream = stream_of(double, startingOffsets="latest")
    end = stream.latest(at(t0=1), everything=True)
    assert values(stream.plan(at(t0=1), end), settings(double)) == ["b"]


def test_topics_that_come_later(double: KafkaDouble) -> None:
    stream = stream_of(double, subscribePattern="^later")
    start = kept(stream.initial())
    assert stream.latest(start, everything=True) == start == {}
    double.create_topic("later.on")
    fill(double, "a", topic="later.on")
    end = kept(stream.latest(start, everything=True))
    assert values(stream.plan(start, end), settings(double)) == ["a"]


def test_a_group_gets_the_offsets_that_are_done(double: KafkaDouble) -> None:
    fill(double, "a")
    stream = stream_of(double, commitToGroup="shown")
    end = kept(stream.latest(stream.initial(), everything=True))
    with Client(settings(double).client) as other:
        assert other.committed("shown", [T0]) == {T0: OffsetAndEpoch(0, -1)}
        assert stream.latest(end, everything=True) == end
        assert other.committed("shown", [T0]) == {T0: OffsetAndEpoch(1, 0)}
        fill(double, "b")
        stream.commit(kept(stream.latest(end, everything=True)))
        assert other.committed("shown", [T0]) == {T0: OffsetAndEpoch(2, 0)}


def test_a_failed_commit_to_the_group_is_a_warning(double: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    double.fail("OffsetCommit", "GROUP_AUTHORIZATION_FAILED")
    with caplog.at_level(logging.WARNING):
        stream_of(double, commitToGroup="shown").commit(at(t0=0))
    assert "the query's offsets were not committed to the group shown" in caplog.text


def loses(stream: MicroBatchStream, start: Json) -> str:
    """The query's error when it plans the next micro-batch; it is one line."""
    with pytest.raises(DataLoss) as found:
        stream.plan(start, stream.latest(start, everything=True))
    assert "\n" not in str(found.value)
    return str(found.value)


def goes_on(double: KafkaDouble, start: Json, log: Any) -> list[str]:
    """The rows of a query with `failOnDataLoss` false."""
    stream = stream_of(double, failOnDataLoss="false")
    with log.at_level(logging.WARNING):
        end = kept(stream.latest(start, everything=True))
        assert end != start
        found = values(stream.plan(start, end), settings(double))
    assert "the query goes on" in log.text
    return found


def checkpoint(double: KafkaDouble) -> Json:
    """The position of a query that has read everything."""
    stream = stream_of(double)
    return kept(stream.latest(stream.initial(), everything=True))


@pytest.mark.parametrize("again", ["DEF", "DE"], ids=["longer", "just as long"])
def test_a_truncation_is_found_though_the_log_grew_again(
    double: KafkaDouble, caplog: pytest.LogCaptureFixture, again: str
) -> None:
    fill(double, *"abcde")
    start = checkpoint(double)
    double.truncate("t", 0, 3)
    fill(double, *again)
    said = loses(stream_of(double), start)
    assert "t-0 was truncated to offset 3: the query had read up to 5 in leader epoch 0" in said
    assert goes_on(double, start, caplog) == [*again]


def test_a_truncation_is_found_while_the_query_runs(double: KafkaDouble) -> None:
    fill(double, *"ab")
    stream = stream_of(double)
    start = kept(stream.latest(stream.initial(), everything=True))
    double.truncate("t", 0, 1)
    fill(double, *"BC")
    assert "t-0 was truncated to offset 1" in loses(stream, start)


def test_stream_without_epochs_notices_an_end_offset_that_went_back(double: KafkaDouble) -> None:
    fill(double, "a")
    assert "t-0 ends at offset 1, and the query is at 5" in loses(stream_of(double), at(t0=5, t1=0))


def test_offsets_that_were_deleted(double: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    fill(double, *"abc")
    delete_before(double, T0, 2)
    assert "the offsets 1 to 1 of t-0 are lost: its log starts at 2" in loses(stream_of(double), at(t0=1, t1=0))
    assert goes_on(double, at(t0=1, t1=0), caplog) == ["c"]


def test_a_new_partition_with_a_deleted_beginning(double: KafkaDouble) -> None:
    fill(double, *"abc", partition=1)
    delete_before(double, T1, 2)
    assert "the partition t-1 is new and begins at offset 2, not at 0" in loses(stream_of(double), at(t0=0))


def test_a_topic_that_was_recreated(double: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    fill(double, "a")
    start = checkpoint(double)
    double.delete_topic("t")
    double.create_topic("t", partitions=2)
    fill(double, *"xyz")
    assert "the topic t was deleted and recreated" in loses(stream_of(double), start)
    assert goes_on(double, start, caplog) == ["x", "y", "z"]


def test_a_topic_that_is_deleted(double: KafkaDouble) -> None:
    fill(double, "a")
    start = checkpoint(double)
    double.delete_topic("t")
    assert "the partition t-0 no longer exists, or is not read any more: the query was at its offset 1" in loses(
        stream_of(double), start
    )
    with pytest.raises(NoSuchTopic, match="no topic 't'"):
        stream_of(double).initial()


def test_a_new_partition_that_is_deleted_before_it_was_read(double: KafkaDouble) -> None:
    double.create_topic("u")
    fill(double, "a", topic="u")
    stream = stream_of(double, subscribePattern="^[tu]$")
    start = at(t0=0, t1=0)
    end = kept(stream.latest(start, everything=True))
    double.delete_topic("u")
    with pytest.raises(
        DataLoss, match="the partition u-0, which this batch must read up to offset 1, no longer exists"
    ):
        stream.plan(start, end)


def test_the_end_of_a_repeated_batch_is_deleted(double: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    fill(double, *"abc")
    end = checkpoint(double)
    double.truncate("t", 0, 1)
    with pytest.raises(DataLoss, match="the offsets 1 to 2 of t-0, which this batch must read, are lost"):
        stream_of(double).plan(at(t0=0, t1=0), end)
    with caplog.at_level(logging.WARNING):
        tasks = stream_of(double, failOnDataLoss="false").plan(at(t0=0, t1=0), end)
    assert values(tasks, settings(double)) == ["a"]
