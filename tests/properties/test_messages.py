"""Properties of the message codecs, with examples that hypothesis makes and shrinks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafkadouble.messages import registry
from kafkadouble.messages.fields import INTEGERS, FieldInfo, fields_of, is_flexible
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotResponse
from kafkadouble.messages.message import Message, Struct
from kafkadouble.messages.trace import trace
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import WireError

MESSAGES = [entry for entry in registry.entries() if not entry.retired]
QUIET = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def messages(draw: st.DrawFn) -> tuple[Message, int]:
    """Any message in any of its versions."""
    entry = draw(st.sampled_from(MESSAGES))
    version = draw(st.integers(*entry.versions))
    return draw(structs(entry.message, version, is_flexible(entry.message, version))), version


@st.composite
def structs(draw: st.DrawFn, cls: type[Struct], version: int, flexible: bool) -> Any:
    made = cls()
    tags = {field.tag for field in fields_of(cls) if field.is_tagged(version)}
    for field in fields_of(cls):
        if field.present(version) and (not field.is_tagged(version) or draw(st.booleans())):
            setattr(made, field.name, draw(values(field, version, flexible)))
    if flexible and draw(st.integers(0, 9)) == 0:
        numbers = st.integers(0, 2**31 - 1).filter(lambda tag: tag not in tags)
        unknown: dict[int, bytes] = draw(st.dictionaries(numbers, st.binary(max_size=8), min_size=1, max_size=3))
        setattr(made, "unknown_tagged_fields", unknown)  # noqa: B010  # a slot of every struct class, not of their base
    return made


def values(field: FieldInfo, version: int, flexible: bool) -> st.SearchStrategy[Any]:
    one = structs(field.struct, version, flexible) if field.struct else SCALARS[field.type]
    if field.array:
        one = st.lists(one, max_size=2 if field.struct else 5)
    return st.none() | one if field.is_nullable(version) else one


SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "string": st.text(max_size=20),
    "bytes": st.binary(max_size=20),
    "records": st.binary(max_size=20),
    "uuid": st.binary(min_size=16, max_size=16).map(Uuid),
} | {kind: st.integers(*bounds) for kind, bounds in INTEGERS.items()}


@given(messages())
@QUIET
def test_message_is_decoded_as_it_was_encoded(example: tuple[Message, int]) -> None:
    message, version = example
    wire = message.encode(version)
    read = type(message).decode(wire, version)
    assert read == message
    assert read.encode(version) == wire
    assert b"".join(message.parts(version)) == wire


def with_an_unknown_tag() -> Message:
    """A tagged struct that is its default but for a tag that JSON does not have."""
    leader = FetchSnapshotResponse.LeaderIdAndEpoch(unknown_tagged_fields={0: b""})
    partition = FetchSnapshotResponse.PartitionSnapshot(current_leader=leader, unaligned_records=b"")
    return FetchSnapshotResponse(topics=[FetchSnapshotResponse.TopicSnapshot(partitions=[partition])])


@example((with_an_unknown_tag(), 1))
@given(messages())
@QUIET
def test_json_there_and_back(example: tuple[Message, int]) -> None:
    message, version = example
    read = type(message).from_json(message.to_json(version), version)
    strip(message)
    assert read.to_json(version) == message.to_json(version)
    assert read == message


def strip(struct: Struct) -> None:
    """Forgets unknown tags: JSON does not have them."""
    setattr(struct, "unknown_tagged_fields", None)  # noqa: B010  # a slot of every struct class, not of their base
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if field.struct and value is not None:
            for element in value if field.array else [value]:
                strip(element)


@given(messages(), st.data())
@QUIET
def test_truncated_message_is_refused_with_its_path(example: tuple[Message, int], data: st.DataObject) -> None:
    message, version = example
    wire = message.encode(version)
    if not wire:
        return
    cut = data.draw(st.integers(0, len(wire) - 1))
    with pytest.raises(WireError) as caught:
        type(message).decode(wire[:cut], version)
    assert caught.value.path.startswith(type(message).__name__)
    assert 0 <= caught.value.offset <= cut


@given(st.sampled_from(MESSAGES), st.data(), st.binary(max_size=60))
@QUIET
def test_any_bytes_are_a_message_or_a_wire_error(
    entry: registry.MessageType, data: st.DataObject, noise: bytes
) -> None:
    version = data.draw(st.integers(*entry.versions))
    slow = trace(entry.message, noise, version)[1]
    if slow is not None:
        with pytest.raises(type(slow)) as caught:
            entry.message.read(noise, version)
        assert (caught.value.offset, caught.value.path) == (slow.offset, slow.path)
        return
    message, end = entry.message.read(noise, version)
    again = message.encode(version)
    assert entry.message.decode(again, version).encode(version) == again
    assert end <= len(noise)


@given(messages())
@QUIET
def test_the_trace_covers_every_byte_once(example: tuple[Message, int]) -> None:
    message, version = example
    wire = message.encode(version)
    spans, error = trace(type(message), wire, version)
    assert error is None
    at = 0
    for span in spans:
        assert span.start == at
        at = span.end
    assert at == len(wire)


@given(messages())
@QUIET
def test_a_repr_is_short(example: tuple[Message, int]) -> None:
    assert len(repr(example[0])) <= 2000
