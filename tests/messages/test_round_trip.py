"""Every message in every version is equal after it was written and read, and is written to the same
bytes again."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafkadouble.messages.fields import fields_of, is_flexible
from kafkadouble.messages.message import Message, Struct

from .making import Maker, every_version

SEED = 20261121


def test_every_version_there_and_back() -> None:
    count = 0
    for cls, version in every_version():
        for turn in range(3):
            sent = Maker((SEED, turn, cls.__name__, version)).message(cls, version)
            wire = sent.encode(version)
            read = cls.decode(wire, version)
            place = f"{cls.__name__} version {version}, turn {turn} of seed {SEED}"
            assert read == sent, place
            assert read.encode(version) == wire, place
            assert b"".join(read.parts(version)) == wire, place
            assert cls.decode(memoryview(wire), version) == sent, place
            assert cls.decode(bytearray(wire), version) == sent, place
            count += 1
    assert count >= 3 * 744


def test_a_message_may_stand_inside_a_longer_frame() -> None:
    for cls, version in every_version():
        wire = Maker((SEED, cls.__name__, version), longest=3).message(cls, version).encode(version)
        read, end = cls.read(b"\xff\xff\xff" + wire + b"\xff\xff", version, 3)
        assert end == 3 + len(wire)
        assert read.encode(version) == wire
        assert cls.decode(b"\xff\xff\xff" + wire, version, offset=3) == read


def test_the_defaults_of_every_version() -> None:
    for cls, version in every_version():
        wire = cls().encode(version)
        assert cls.decode(wire, version) == cls(), f"{cls.__name__} version {version}"


def test_decoded_fields_have_their_declared_types() -> None:
    """Arrays of structs are lists, other arrays are tuples; uuids are Uuids; records are views."""
    seen = set()
    for cls, version in every_version():
        read = cls.decode(Maker((SEED, cls.__name__), longest=3).message(cls, version).encode(version), version)
        seen |= _check_types(read, version)
    assert {"list", "tuple", "Uuid", "memoryview", "bytes", "str", "bool", "float"} <= seen


def _check_types(struct: Struct, version: int) -> set[str]:
    seen = set()
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if not field.present(version) or value is None or (field.is_tagged(version) and field.is_default(value)):
            continue
        name = type(value).__name__
        seen.add(name)
        assert name == _type_name(field), f"{type(struct).__qualname__}.{field.name}"
        if field.struct:
            for element in value if field.array else [value]:
                seen |= _check_types(element, version)
    return seen


def _type_name(field: object) -> str:
    if field.array:  # type: ignore[attr-defined]  # a FieldInfo
        return "list" if field.struct else "tuple"  # type: ignore[attr-defined]
    if field.struct:  # type: ignore[attr-defined]
        return str(field.struct.__name__)  # type: ignore[attr-defined]
    kinds = {
        "bool": "bool",
        "float64": "float",
        "string": "str",
        "bytes": "bytes",
        "records": "memoryview",
        "uuid": "Uuid",
    }
    return kinds.get(field.type, "int")  # type: ignore[attr-defined]


def test_messages_can_be_copied_and_pickled() -> None:
    for cls, version in every_version():
        sent = Maker((SEED, cls.__name__, version), longest=3).message(cls, version)
        assert copy.copy(sent) == sent
        assert copy.deepcopy(sent) == sent
        assert pickle.loads(pickle.dumps(sent)) == sent


def test_any_sequence_and_any_bytes_are_written() -> None:
    for cls, version in every_version():
        sent = Maker((SEED, cls.__name__, version), longest=3).message(cls, version)
        wire = sent.encode(version)
        _loosen(sent)
        assert sent.encode(version) == wire, f"{cls.__name__} version {version}"


def _loosen(struct: Struct) -> None:
    """Replaces tuples by lists, lists by tuples, and bytes by bytearrays and views."""
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if field.struct and value is not None:
            for element in value if field.array else [value]:
                _loosen(element)
        if field.array and value is not None:
            setattr(struct, field.name, list(value) if isinstance(value, tuple) else tuple(value))
        elif field.type in ("bytes", "records") and value is not None:
            setattr(struct, field.name, bytearray(value) if len(value) % 2 else memoryview(value))


def test_large_bytes_go_out_uncopied() -> None:
    from kafkadouble.messages import FetchResponse, ProduceRequest

    records = bytes(100_000)
    data = ProduceRequest.PartitionProduceData(index=1, records=records)
    request = ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[data])])
    parts = request.parts(9)
    assert [part is records for part in parts] == [False, True, False]
    many = [FetchResponse.PartitionData(partition_index=index, records=records) for index in range(3)]
    parts = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="t", partitions=many)]).parts(12)
    assert len(parts) == 7
    assert sum(part is records for part in parts) == 3
    small = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="t")] * 1000)
    assert len(small.parts(12)) == 1


@pytest.mark.parametrize("buffer", [bytes, bytearray])
def test_records_are_read_uncopied(buffer: type[bytes] | type[bytearray]) -> None:
    from kafkadouble.messages import ProduceRequest

    data = ProduceRequest.PartitionProduceData(index=1, records=b"abc")
    body = buffer(
        ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[data])]).encode(9)
    )
    read = ProduceRequest.decode(body, 9).topic_data[0].partition_data[0].records
    assert isinstance(read, memoryview)
    assert read.obj is body
    assert bytes(read) == b"abc"


def test_the_flexible_versions_end_with_a_tag_section() -> None:
    """Kafka rejects a message without the section, and so do we: an empty section still has its
    count."""
    for cls, version in every_version():
        if is_flexible(cls, version):
            assert cls().encode(version).endswith(b"\0")


def test_seeds_are_reproducible() -> None:
    cls: type[Message] = next(every_version())[0]
    assert Maker(5).message(cls, cls.versions[1]) == Maker(5).message(cls, cls.versions[1])
