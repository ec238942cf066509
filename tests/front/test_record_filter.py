"""The filters of `records` and `wait_for_records`, from Python and in their JSON form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.verbs.registry import VERBS

RECORDS: list[tuple[str, dict[str, str | bytes | None]]] = [
    ("a", {"trace": "7"}),
    ("b", {"trace": "8", "x": None}),
    ("a", {}),
]
"""The keys and headers of the records in each partition."""


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders", partitions=2)
        for number, (key, headers) in enumerate(RECORDS):
            for partition in (0, 1):
                kafka.produce("orders", f"{number} in {partition}", key=key, headers=headers, partition=partition)
        yield kafka


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"key": "b"}, ["1 in 0", "1 in 1"]),
    ({"key": b"a", "partition": 1}, ["0 in 1", "2 in 1"]),
    ({"value": "2 in 1"}, ["2 in 1"]),
    ({"header": "trace"}, ["0 in 0", "1 in 0", "0 in 1", "1 in 1"]),
    ({"header": {"trace": "8", "x": None}}, ["1 in 0", "1 in 1"]),
    ({"header": {"trace": "8", "x": ""}}, []),
    ({"offset": 1}, ["1 in 0", "1 in 1"]),
    ({"since": 2}, ["2 in 0", "2 in 1"]),
    ({"since": {0: 3, 1: 1}}, ["1 in 1", "2 in 1"]),
    ({"since": {1: 1}, "key": "a"}, ["0 in 0", "2 in 0", "2 in 1"]),
    ({"since": []}, ["0 in 0", "1 in 0", "2 in 0", "0 in 1", "1 in 1", "2 in 1"]),
    ({"key": None, "since": None, "offset": 2}, ["2 in 0", "2 in 1"]),
]


@pytest.mark.parametrize(("narrowing", "expected"), FILTERS, ids=[str(each) for each, _ in FILTERS])
def test_filter_accepts_the_same_records_in_both_verbs(
    kafka: KafkaDouble, narrowing: dict[str, Any], expected: list[str]
) -> None:
    assert [record.text() for record in kafka.records("orders", **narrowing)] == expected
    if expected:
        records = kafka.wait_for_records("orders", len(expected), **narrowing)
        assert [record.text() for record in records] == expected


def test_records_since_those_that_were_read_are_the_later_ones_of_each_partition(kafka: KafkaDouble) -> None:
    read = kafka.records("orders")
    assert kafka.records("orders", since=read) == []
    assert [record.text() for record in kafka.records("orders", since=read[1])] == [
        "2 in 0",
        *("0 in 1", "1 in 1", "2 in 1"),
    ]
    kafka.produce("orders", "later", partition=1)
    assert [record.text() for record in kafka.wait_for_records("orders", since=read)] == ["later"]
    assert [record.text() for record in kafka.records("orders", since=read)] == ["later"]


def test_filters_have_a_form_in_json(kafka: KafkaDouble) -> None:
    def read(**given: Any) -> list[str]:
        return [each["value"] for each in VERBS["records"].call_json(kafka, {"topic": "orders", **given})]

    records = VERBS["records"].call_json(kafka, {"topic": "orders"})
    assert read(since=records) == []
    assert read(since=records[4]) == ["0 in 0", "1 in 0", "2 in 0", "2 in 1"]
    assert read(since={"0": 3, "1": 2}) == ["2 in 1"]
    assert read(since=2) == ["2 in 0", "2 in 1"]
    assert read(key={"base64": "Yg=="}) == ["1 in 0", "1 in 1"]
    assert read(header={"trace": {"base64": "Nw=="}}, offset=0) == ["0 in 0", "0 in 1"]
    waited = VERBS["wait_for_records"].call_json(kafka, {"topic": "orders", "since": records[:2], "count": 4})
    assert [each["value"] for each in waited] == ["2 in 0", "0 in 1", "1 in 1", "2 in 1"]


def test_time_out_names_the_filters(kafka: KafkaDouble) -> None:
    message = r"1 record of orders with key 'c', header \{.trace.: .7.\} from the offset 1 on: not within 0 s"
    with pytest.raises(TimeoutError, match=message):
        kafka.wait_for_records("orders", key="c", header={"trace": "7"}, since=1, timeout=0)
    with pytest.raises(TimeoutError, match=r"1 record of orders after the records that were read: .* 0 records"):
        kafka.wait_for_records("orders", since=kafka.records("orders"), timeout=0)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"keys": "a"}, "records have no filter 'keys': since, key, value, header, offset; did you mean 'key'"),
    ({"offset": -1}, "offset is an offset from 0, not -1"),
    ({"since": -1}, "since is an offset from 0, records that were read, or offsets by partition, not -1"),
    ({"since": True}, "since is an offset from 0"),
    ({"since": "earliest"}, "since is an offset from 0"),
    ({"since": {0: -1}}, "since is an offset from 0"),
    ({"key": 7}, "key is bytes, a text or None, not 7"),
    ({"header": 7}, "header is the name of a header, or headers with their values, not 7"),
]


@pytest.mark.parametrize(("narrowing", "message"), WRONG, ids=[message for _, message in WRONG])
def test_filter_that_no_record_can_match_is_refused(
    kafka: KafkaDouble, narrowing: dict[str, Any], message: str
) -> None:
    for read in (kafka.records, kafka.wait_for_records):
        with pytest.raises(UsageError, match=message):
            read("orders", **narrowing)


def test_records_of_another_topic_are_refused(kafka: KafkaDouble) -> None:
    kafka.produce("payments", "3")
    with pytest.raises(UsageError, match="since has a record of payments, not of orders"):
        kafka.records("orders", since=kafka.records("payments"))
