"""`kafkadouble.expected_offset`: headers, patched batches, and what is read from a refusal,
whichever client reports it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from aiokafka.errors import UnknownError
from aiokafka.producer.message_accumulator import BatchBuilder
from confluent_kafka import KafkaError as ConfluentError
from confluent_kafka import KafkaException

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble import expected_offset as eo
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.server.log.expected_offset import parsed
from kafkadouble.wire.batch import Record, check_crc, decode_records, encode_batch, read_header

# kafka-python reads its message specifications by a call that Python 3.11 and 3.12 deprecate.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka.errors import InvalidRecordError, MessageSizeTooLargeError
    from kafka.errors import KafkaError as PythonError
    from kafka.record.memory_records import MemoryRecordsBuilder

INVALID_RECORD = error_codes.INVALID_RECORD
CONDITIONAL = {"produce.expected.offset": "optional"}


@pytest.mark.parametrize("offset", [eo.ANY, eo.EMPTY, 1, 2**63 - 1])
def test_a_header_is_what_the_broker_reads(offset: int) -> None:
    name, value = eo.header(offset)
    assert (name, parsed(value)) == ("expected-offset", offset)


@pytest.mark.parametrize("offset", [-2, 2**63, True, "5", 5.0, None])
def test_invalid_expected_offset_is_refused_at_once(offset: Any) -> None:
    batch = encode_batch([Record(0, 0, None, b"v")])
    for attempt in (eo.header, lambda one: eo.patch(batch, one), lambda one: eo.expect(BatchBuilder(100, 0), one)):
        with pytest.raises(UsageError, match="no expected offset"):
            attempt(offset)


@pytest.mark.parametrize("codec", range(5))
def test_a_patched_batch_is_whole(codec: int) -> None:
    batch = bytes(encode_batch([Record(index, 0, None, b"v") for index in range(3)], compression=codec))
    patched = eo.patched(batch, 42)
    check_crc(patched, 0, read_header(patched))
    assert [record.offset for record in decode_records(patched)] == [42, 43, 44]
    assert patched[8:] == batch[8:]


@pytest.mark.parametrize("data", [b"", b"x" * 60, b"\0" * 61])
def test_expected_offset_is_not_set_in_other_bytes_than_batches(data: bytes) -> None:
    with pytest.raises(UsageError, match="no record batch"):
        eo.patched(data, 1)


def test_a_batch_of_aiokafka_is_patched_when_it_is_built() -> None:
    builder = BatchBuilder(1000, 0)
    assert eo.expect(builder, 7) is builder
    builder.append(timestamp=1, key=None, value=b"v")
    builder._set_producer_state(9, 0, 5)
    for _ in range(2):
        header = read_header(bytes(builder._build()))
        assert (header.base_offset, header.producer_id, header.base_sequence) == (7, 9, 5)


def test_a_batch_of_kafka_python_is_closed_and_patched() -> None:
    builder = MemoryRecordsBuilder(2, 1, 1000)
    builder.append(1, None, b"v")
    assert eo.expect(builder, 7) is builder
    assert read_header(bytes(builder.buffer())).base_offset == 7


def test_batch_without_expected_offset_is_unchanged() -> None:
    with pytest.raises(UsageError, match="builds no batch"):
        eo.expect(object(), 7)


MISMATCH = "conditional publish: expected offset 7, actual 42"
CONTRADICTION = "conditional publish: header expected-offset is 6, where the batch's base offset makes it 5"


def of_partition(code: int, message: str | None) -> ProduceResponse.PartitionProduceResponse:
    return ProduceResponse.PartitionProduceResponse(index=0, error_code=code, error_message=message)


@pytest.mark.parametrize(
    "error",
    [
        KafkaError(INVALID_RECORD, MISMATCH),
        InvalidRecordError("expected offset 7, actual 42"),
        of_partition(INVALID_RECORD, MISMATCH),
        ConfluentError(INVALID_RECORD, MISMATCH),
        KafkaException(ConfluentError(INVALID_RECORD, MISMATCH)),
        MISMATCH,
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_mismatch_is_reported_with_both_offsets(error: object) -> None:
    found = eo.refusal(error)
    assert isinstance(found, eo.ExpectedOffsetMismatch)
    assert (found.expected, found.actual, str(found)) == (7, 42, "expected offset 7, actual 42")


@pytest.mark.parametrize(
    "error", [KafkaError(INVALID_RECORD, CONTRADICTION), of_partition(INVALID_RECORD, CONTRADICTION)]
)
def test_expected_offset_below_the_base_is_another_error(error: object) -> None:
    found = eo.refusal(error)
    assert isinstance(found, eo.ExpectationRefused)
    assert str(found) == "header expected-offset is 6, where the batch's base offset makes it 5"


@pytest.mark.parametrize(
    "error",
    [
        UnknownError(),
        ConfluentError(INVALID_RECORD),
        KafkaException(ConfluentError(INVALID_RECORD)),
        of_partition(87, None),
    ],
)
def test_a_library_that_keeps_the_reason_for_itself(error: object) -> None:
    assert isinstance(eo.refusal(error), eo.UntoldRefusal)


@pytest.mark.parametrize(
    "error",
    [
        MessageSizeTooLargeError(),
        KafkaError(error_codes.UNKNOWN_SERVER_ERROR),
        PythonError("part of a batch"),
        ConfluentError(ConfluentError._TIMED_OUT),
        of_partition(0, None),
        ValueError(87),
        None,
    ],
)
def test_errors_of_other_kinds_are_no_refused_offset(error: object) -> None:
    assert eo.refusal(error) is None


def test_every_refusal_of_the_broker_is_read() -> None:
    cases: list[tuple[dict[str, Any], type[eo.ConditionalPublishError]]] = [
        ({"headers": [eo.header(3)]}, eo.ExpectedOffsetMismatch),
        ({"headers": {eo.HEADER: "three"}}, eo.ExpectationRefused),
        ({"headers": {eo.HEADER: None}}, eo.ExpectationRefused),
        ({"headers": [eo.header(eo.ANY)]}, eo.ExpectationRefused),
        ({}, eo.ExpectedOffsetMismatch),
    ]
    with KafkaDouble() as kafka:
        kafka.create_topic("log", config={"produce.expected.offset": "required"})
        assert [kafka.produce("log", "v", headers=[eo.header(offset)]) for offset in range(2)] == [0, 1]
        for how, kind in cases:
            with pytest.raises(KafkaError) as caught:
                kafka.produce("log", "v", **how)
            assert type(eo.refusal(caught.value)) is kind
        assert len(kafka.records("log")) == 2


def test_a_broker_that_comes_back_holds_writers_to_what_it_kept(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path) as kafka:
        kafka.create_topic("log", config={"produce.expected.offset": "required"})
        assert [kafka.produce("log", "v", headers=[eo.header(offset)]) for offset in range(3)] == [0, 1, 2]
    with KafkaDouble(data_dir=tmp_path) as kafka:
        for wrong in (eo.EMPTY, 2, 4, eo.ANY):
            with pytest.raises(KafkaError, match="conditional publish"):
                kafka.produce("log", "v", headers=[eo.header(wrong)])
        assert kafka.produce("log", "v", headers=[eo.header(3)]) == 3
