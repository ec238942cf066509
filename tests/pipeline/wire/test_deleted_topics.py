"""Topics that are deleted and created again with the same name, at every moment of a stream whose
driver caches its metadata."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import partial

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import TopicPartition, metadata
from kafkadouble.pipeline.wire.losses import DataLoss
from kafkadouble.pipeline.wire.offsets import Json, Positions, of_json, to_json
from kafkadouble.pipeline.wire.options import QueryOptions
from kafkadouble.pipeline.wire.stream import MicroBatchStream

from .making import fill, settings, stream_of, values

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
OLD = ["old 0", "old 1", "old 2"]
CACHED = {"kafka_metadata_max_age_ms": "300000"}
"""The driver does not refresh its metadata by itself."""
ON = CACHED | {"failOnDataLoss": "false"}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver accepts that a topic is missing after 20 ms, not only after a second."""
    monkeypatch.setattr(metadata, "NEW_TOPIC_S", 0.02)


class Query:
    """A stream that advances by micro-batches; `happens` is called at one moment of a
    micro-batch."""

    def __init__(self, stream: MicroBatchStream, chosen: QueryOptions, start: Json | None = None) -> None:
        self.stream, self.chosen = stream, chosen
        self.at = self.stream.initial() if start is None else start

    def batch(self, happens: Callable[[], object] = lambda: None, moment: str = "") -> list[str]:
        """The rows of the next micro-batch."""
        if moment == "before it":
            happens()
        end: Json = json.loads(json.dumps(self.stream.latest(self.at, everything=False)))
        if moment == "before it is planned":
            happens()
        tasks = self.stream.plan(self.at, end) if end != self.at else []
        if moment == "before it is read":
            happens()
        self.at = end
        return values(tasks, self.chosen)

    def rest(self) -> list[str]:
        """The rows of all further micro-batches, until there are no more rows."""
        found: list[str] = []
        for _ in range(5):
            before = self.at
            self.stream._client.forget(["t"])
            found += self.batch()
            if self.at == before:
                return found
        raise AssertionError("the stream does not come to rest")


def query(double: KafkaDouble, **given: str) -> Query:
    """A query that has read the old rows."""
    fill(double, *OLD)
    found = Query(stream_of(double, **given), settings(double, **given))
    assert found.batch() == OLD
    return found


def recreate(double: KafkaDouble, count: int, partitions: int = 2) -> list[str]:
    double.delete_topic("t")
    double.create_topic("t", partitions=partitions)
    texts = [f"new {number}" for number in range(count)]
    fill(double, *texts)
    return texts


MOMENTS = ("before it", "before it is planned", "before it is read")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("partitions", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_a_topic_is_created_again(double: KafkaDouble, moment: str, count: int, partitions: int) -> None:
    """Each row of the new topic comes once. Rows of the old topic are missing only if no task had
    read them."""
    found = query(double, **ON)
    fill(double, "old 3")
    new: list[str] = []
    rows = found.batch(lambda: new.extend(recreate(double, count, partitions)), moment)
    rows += found.rest()
    assert [row for row in rows if row.startswith("new")] == new
    assert set(rows) - set(new) <= {"old 3"}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("count", [0, 3, 9])
def test_a_topic_that_is_created_again_is_named(double: KafkaDouble, moment: str, count: int) -> None:
    found = query(double, **CACHED)
    fill(double, "old 3")
    happens = partial(recreate, double, count)
    with pytest.raises(DataLoss, match="recreated"):
        assert found.batch(happens, moment) + found.rest() == []


def test_loss_of_a_deleted_topic_is_reported_once(double: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    found = query(double, **ON)
    recreate(double, 9)
    with caplog.at_level(logging.WARNING):
        found.rest()
    assert [text.split(" (")[0] for text in caplog.messages] == ["the topic t was deleted and recreated"] * 2


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_topic_that_is_deleted_is_waited_for(double: KafkaDouble, moment: str) -> None:
    found = query(double, **ON)
    fill(double, "old 3")
    found.batch(lambda: double.delete_topic("t"), moment)
    assert found.rest() == []
    assert of_json(found.at).offsets == {}
    double.create_topic("t", partitions=2)
    fill(double, "new")
    assert found.rest() == ["new"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_topic_that_is_deleted_is_named(double: KafkaDouble, moment: str) -> None:
    found = query(double, **CACHED)
    fill(double, "old 3")
    with pytest.raises(
        DataLoss, match=r"the partition t-0 no longer exists|the partition t-0, which .* no longer exists|no topic 't'"
    ):
        found.batch(lambda: double.delete_topic("t"), moment)


def test_assigned_partitions_are_waited_for(double: KafkaDouble) -> None:
    found = query(double, **ON, assign='{"t":[0,1]}')
    assert recreate(double, 1, partitions=1) == ["new 0"]
    assert found.rest() == ["new 0"]
    double.delete_topic("t")
    assert found.rest() == []


def test_deleted_topic_beside_another_topic(double: KafkaDouble) -> None:
    double.create_topic("u")
    found = query(double, **ON, subscribePattern="^[tu]$")
    double.delete_topic("t")
    fill(double, "u 0", topic="u")
    assert found.batch() == ["u 0"]
    assert list(of_json(found.at).offsets) == [TopicPartition("u", 0)]


def test_a_checkpoint_of_the_connector_has_no_ids(double: KafkaDouble) -> None:
    """The topic ids that the driver saw first count, for as long as the query runs."""
    fill(double, *OLD)
    chosen = settings(double, **ON)
    query = Query(stream_of(double, **ON), chosen, to_json(Positions({T0: 3, T1: 0})))
    assert query.batch() == []
    new = recreate(double, 9)
    assert query.rest() == new


def test_a_query_that_ends_with_the_old_topic_reads_nothing_of_the_new_one(double: KafkaDouble) -> None:
    """Trigger.AvailableNow: the rows that the query found at its start are deleted. The next run
    begins with the new topic."""
    fill(double, *OLD)
    arguments = ON | {"maxOffsetsPerTrigger": "1"}
    query = Query(stream_of(double, **arguments), settings(double, **arguments))
    query.stream.until_now()
    assert query.batch() == OLD[:1]
    new = recreate(double, 9)
    assert query.rest() == []
    again = Query(stream_of(double, **arguments), settings(double, **arguments), query.at)
    assert again.batch() == new[:1]


def test_a_limit_counts_from_where_the_new_topic_begins(double: KafkaDouble) -> None:
    found = query(double, **ON, maxOffsetsPerTrigger="3")
    new = recreate(double, 9)
    found.stream._client.forget(["t"])
    assert found.batch() == new[:3]
    assert found.batch() == new[3:6]


def test_epochs_of_the_old_topic_are_not_those_of_the_new_one(double: KafkaDouble) -> None:
    """Epoch 0 ended at offset 3 in the old topic, and ends at 1 in the new one: that is no
    truncation."""
    found = query(double, **ON, maxOffsetsPerTrigger="4")
    double.bump_epoch("t", 0)
    fill(double, "old 3")
    assert found.rest() == ["old 3"]
    new = recreate(double, 1)
    double.bump_epoch("t", 0)
    fill(double, *(more := [f"new {number}" for number in range(1, 9)]))
    found.stream._settings.values["maxOffsetsPerTrigger"] = 2  # type: ignore[index]
    found.stream._client.forget(["t"])
    assert found.batch() == new + more[:1]
    double.bump_epoch("t", 0)
    assert found.rest() == more[1:]
