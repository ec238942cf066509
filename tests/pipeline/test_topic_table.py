"""`kafkadouble.fetch`: a topic as an Arrow table, from brokers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

import kafkadouble
from kafkadouble import KafkaDouble, UsageError
from kafkadouble.pipeline.client import NoSuchTopic


@pytest.fixture(scope="module")
def double() -> Iterator[KafkaDouble]:
    """Ten records in each of two partitions, a second apart."""
    with KafkaDouble() as double:
        double.create_topic("orders", partitions=2)
        for number in range(20):
            double.produce(
                "orders", f"value {number}", key=f"key {number}", headers=[("h", b"x")],
                partition=number % 2, timestamp=1000 * number,
            )  # fmt: skip
        yield double


def fetched(double: KafkaDouble, **options: object) -> list[tuple[int, int]]:
    """Partition and offset of the rows."""
    table = kafkadouble.fetch(double.bootstrap_servers, "orders", columns=["partition", "offset"], **options).to_table()  # type: ignore[arg-type]
    return list(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))


def test_a_topic_is_a_table(double: KafkaDouble) -> None:
    fetch = kafkadouble.fetch(double.bootstrap_servers, "orders")
    table = fetch.to_table()
    assert table.schema == fetch.schema
    assert table.num_rows == 20
    row = table.slice(10, 1).to_pylist()[0]
    assert (row["key"], row["value"], row["topic"], row["partition"], row["offset"]) == (
        b"key 1",
        b"value 1",
        "orders",
        1,
        0,
    )
    assert (row["timestamp"].timestamp(), row["headers"], row["leader_epoch"]) == (
        1.0,
        [{"key": "h", "value": b"x"}],
        0,
    )
    assert repr(fetch) == "TopicTable(20 offsets in 2 partitions)"
    assert pa.table(fetch).equals(table)  # by its C interface, as polars and DuckDB take it


def test_only_the_requested_columns_are_read(double: KafkaDouble) -> None:
    table = kafkadouble.fetch(double.bootstrap_servers, "orders", columns=["value"]).to_table()
    assert table.column_names == ["value"]
    assert sorted(table["value"].to_pylist()) == sorted(b"value %d" % number for number in range(20))


def test_topic_table_is_read_between_offsets(double: KafkaDouble) -> None:
    every = [(partition, offset) for partition in (0, 1) for offset in range(10)]
    assert fetched(double) == every
    assert fetched(double, partitions=[1]) == every[10:]
    assert fetched(double, starting_offsets=8) == [(0, 8), (0, 9), (1, 8), (1, 9)]
    assert fetched(double, starting_offsets={0: 9, 1: 10}, ending_offsets={0: 100, 1: "latest"}) == [(0, 9)]
    assert fetched(double, partitions=[0], ending_offsets=2) == [(0, 0), (0, 1)]
    assert fetched(double, starting_offsets="latest") == []
    assert fetched(double, starting_offsets=5, ending_offsets=3) == []
    assert fetched(double, starting_timestamp=17_000) == [(0, 9), (1, 8), (1, 9)]
    assert fetched(double, starting_timestamp=16_500, ending_timestamp=19_000) == [(0, 9), (1, 8)]
    assert fetched(double, starting_timestamp=99_000) == []


def test_topic_table_is_read_again_each_time(double: KafkaDouble) -> None:
    fetch = kafkadouble.fetch(double.bootstrap_servers, "orders", partitions=[0])
    assert [batch.num_rows for batch in fetch] == [batch.num_rows for batch in fetch.to_reader()] == [10]


def test_impossible_options_are_reported(double: KafkaDouble) -> None:
    with pytest.raises(NoSuchTopic, match="no topic 'order'"):
        kafkadouble.fetch(double.bootstrap_servers, "order")
    with pytest.raises(UsageError, match="topic 'orders' has no partition 2: it has 2"):
        fetched(double, partitions=[0, 2])
    with pytest.raises(UsageError, match="starting_offsets: 'first' is no offset for orders-0: give earliest, latest"):
        fetched(double, starting_offsets="first")
    with pytest.raises(UsageError, match="ending_offsets: None is no offset for orders-1"):
        fetched(double, ending_offsets={0: 1})
    with pytest.raises(UsageError, match="ending_timestamp: -5 is no time"):
        fetched(double, ending_timestamp=-5)
    with pytest.raises(UsageError, match="records have no column 'valu'"):
        kafkadouble.fetch(double.bootstrap_servers, "orders", columns=["valu"])
    with pytest.raises(UsageError, match="'some' is no isolation level"):
        fetched(double, isolation="some")


def test_the_isolation_of_the_settings_counts(double: KafkaDouble) -> None:
    double.requests.clear()
    fetched(double, config={"isolation.level": "read_committed"})
    levels = {each.body.isolation_level for api in ("Fetch", "ListOffsets") for each in double.requests.of(api)}
    assert levels == {1}
    fetched(double, config={"isolation.level": "read_committed"}, isolation="read_uncommitted")
    assert {each.body.isolation_level for each in double.requests.of("Fetch")} == {0, 1}
