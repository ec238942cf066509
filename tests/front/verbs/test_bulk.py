"""Many records at once: `produce_all` and `produce_file`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble, KafkaError, UsageError


def values(kafka: KafkaDouble, partition: int | None = None) -> list[bytes | None]:
    return [record.value for record in kafka.records("t", partition)]


def test_records_of_every_form(kafka: KafkaDouble) -> None:
    records = [
        "text",
        b"\xff",
        None,
        {"value": "v", "key": "k", "headers": {"h": b"x"}, "partition": 1, "timestamp": 5},
        {"key": b"only a key", "partition": 1},
    ]
    assert kafka.produce_all("t", iter(records), partition=0) == 5
    assert values(kafka, 0) == [b"text", b"\xff", None]
    first, second = kafka.records("t", 1)
    assert (first.key, first.value, first.headers, first.timestamp) == (b"k", b"v", (("h", b"x"),), 5)
    assert (second.key, second.value) == (b"only a key", None)
    assert kafka.produce_all("t", kafka.records("t", 1)) == 2
    assert [record.timestamp for record in kafka.records("t") if record.value == b"v"] == [5, 5]
    assert kafka.produce_all("t", []) == 0


def test_partitions_are_chosen_as_by_produce(kafka: KafkaDouble) -> None:
    keys = [f"key {number}" for number in range(20)]
    for key in keys:
        kafka.produce("t", "single", key=key)
    kafka.produce_all("t", [{"key": key, "value": "bulk"} for key in keys])
    for partition in (0, 1):
        records = kafka.records("t", partition)
        assert [record.key for record in records if record.value == b"bulk"] == [
            record.key for record in records if record.value == b"single"
        ]
    kafka.create_topic("turns", 2)
    assert kafka.produce_all("turns", ["a", "b", "c", "d"]) == 4
    assert kafka.end_offsets("turns") == {0: 2, 1: 2}


def test_a_topic_is_created() -> None:
    with KafkaDouble() as kafka:
        assert kafka.produce_all("new", ["a"]) == 1
        assert kafka.end_offsets("new") == {0: 1}


def test_a_hundred_thousand_records_reach_a_client() -> None:
    with KafkaDouble() as kafka:
        assert kafka.produce_all("t", (f"{number}" for number in range(100_000))) == 100_000
        assert kafka.end_offsets("t") == {0: 100_000}
        assert len(kafka.requests.of("Produce")) == 0
        consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g"})
        consumer.assign([TopicPartition("t", 0, 99_999)])
        message = consumer.poll(20)
        assert message is not None
        assert message.value() == b"99999"
        consumer.close()


def test_batches_fit_the_topic() -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("t", config={"max.message.bytes": 1000})
        assert kafka.produce_all("t", ["x" * 300] * 50) == 50
        with pytest.raises(KafkaError, match=r"MESSAGE_TOO_LARGE: record 3: "):
            kafka.produce_all("t", ["a", "b", "c" * 2000, "d"])
        assert values(kafka)[50:] == [b"a", b"b"]


WRONG: Mapping[str, tuple[Any, str]] = {
    "a number": (5, "record 3: a record is a value or a mapping with value, key, headers, partition, timestamp, not 5"),
    "a misspelt field": (
        {"valeu": "a"},
        r"record 3: a record has no field 'valeu'; did you mean 'value'\?; it has value",
    ),
    "a value": ({"value": 5}, "record 3: a key or a value is bytes, a text or None, not 5"),
    "headers": ({"headers": 5}, "record 3: headers are pairs of a name and a value, not 5"),
    "a partition": ({"partition": "0"}, "record 3: partition is an index from 0, not '0'"),
    "a timestamp": ({"timestamp": 2**63}, "record 3: timestamp is an integer, milliseconds since the epoch, not 9223"),
}


@pytest.mark.parametrize(("record", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_record_is_named_by_its_number(record: Any, message: str) -> None:
    with KafkaDouble(stepped=True) as kafka:
        with pytest.raises(UsageError, match=message):
            kafka.produce_all("t", ["a", "b", record, "c"])
        assert values(kafka) == [b"a", b"b"], "the records before it are appended"


def test_invalid_source_of_records_is_refused() -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("t")
        wrong: list[Any] = ["text", b"bytes", 5, {"value": "x"}]
        for each in wrong:
            with pytest.raises(UsageError, match="records is an iterable of records, not"):
                kafka.produce_all("t", each)
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-7"):
            kafka.produce_all("t", ["a"], partition=7)
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: record 2: there is no t-7"):
            kafka.produce_all("t", ["a", {"partition": 7}])
        with pytest.raises(UsageError, match="partition is an index from 0, not -1"):
            kafka.produce_all("t", ["a"], partition=-1)


def test_a_refused_record_is_named() -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("t", config={"cleanup.policy": "compact"})
        with pytest.raises(KafkaError, match="INVALID_RECORD: record 2: "):
            kafka.produce_all("t", [{"key": "k"}, "no key"])


def test_produce_many_raises_the_error_of_its_records() -> None:
    def records() -> Iterator[str]:
        yield "a"
        raise OSError("the source failed")

    with KafkaDouble(stepped=True) as kafka, pytest.raises(OSError, match="the source failed"):
        kafka.produce_all("t", records())


def test_produce_file_reads_lines_of_json(kafka: KafkaDouble, tmp_path: Path) -> None:
    lines = [
        {"value": "a", "key": "k", "headers": {"h": "x"}, "partition": 1, "timestamp": 5},
        {"value": {"base64": base64.b64encode(b"\xff\x00").decode()}, "headers": [["h", None]], "partition": 1},
        {"value": None, "key": "gone", "partition": 1},
    ]
    path = tmp_path / "seeds.jsonl"
    path.write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    assert kafka.produce_file("t", path) == 3
    records = kafka.records("t", 1)
    assert [(record.key, record.value, record.headers) for record in records] == [
        (b"k", b"a", (("h", b"x"),)),
        (None, b"\xff\x00", (("h", None),)),
        (b"gone", None, ()),
    ]
    assert records[0].timestamp == 5


def test_produce_file_reads_lines_of_text(kafka: KafkaDouble, tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(b'first\r\n\n{"value": "as it is"}\nlast')
    assert kafka.produce_file("t", str(path), partition=0) == 4
    assert values(kafka, 0) == [b"first", b"", b'{"value": "as it is"}', b"last"]
    path.rename(tmp_path / "seeds.json")
    assert kafka.produce_file("t", tmp_path / "seeds.json", format="text", partition=1) == 4


BAD_LINES = {
    "no JSON": ("{", "line 3: this is no JSON: "),
    "no object": ("[1]", "line 3: a line is a JSON object with value, key, headers, partition, timestamp, not \\[1\\]"),
    "a field": ('{"topic": "t"}', "line 3: a record has no field 'topic'"),
    "a value": ('{"value": {"id": 1}}', "line 3: a key or a value is bytes, a text or None, not {'id': 1}"),
    "base64": (
        '{"value": {"base64": "?"}}',
        "line 3: a key or a value is bytes, a text or None, not {'base64': '\\?'}",
    ),
    "bytes that are no text": ("\udcff", "line 3: this is no JSON: "),
}


@pytest.mark.parametrize(("line", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_wrong_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "seeds.jsonl"
    path.write_bytes(b'{"value": "a"}\n\n' + line.encode(errors="surrogateescape") + b"\n")
    with KafkaDouble(stepped=True) as kafka:
        with pytest.raises(UsageError, match=f"seeds.jsonl, {message}"):
            kafka.produce_file("t", path)
        assert values(kafka) == [b"a"]
        with pytest.raises(UsageError, match="format is json or text, not 'csv'"):
            kafka.produce_file("t", path, format="csv")  # type: ignore[arg-type]
        with pytest.raises(FileNotFoundError):
            kafka.produce_file("t", tmp_path / "missing")
