"""The generated classes as their users see them: names, defaults, equality, and no mutable state
shared by two objects."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kafkadouble.messages
from kafkadouble.messages import (
    ApiVersionsResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    registry,
)
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.message import Message

from .making import every_version


def test_class_attributes() -> None:
    assert (FetchRequest.api_key, FetchRequest.versions, FetchRequest.flexible_from, FetchRequest.kind) == (
        1,
        (4, 18),
        12,
        "request",
    )
    assert FetchRequest.latest_version_unstable is False
    assert FetchResponse.kind == "response"


def test_the_class_agrees_with_the_index() -> None:
    for entry in registry.entries():
        if not entry.retired:
            cls = entry.message
            assert (cls.__name__, cls.kind, cls.api_key) == (entry.name, entry.kind, entry.api_key)
            assert (cls.versions, cls.flexible_from) == (entry.versions, entry.flexible_from)
            assert cls.latest_version_unstable == entry.latest_version_unstable


def test_fields_are_keyword_only_and_known() -> None:
    with pytest.raises(TypeError):
        FetchRequest(1)  # type: ignore[call-arg]  # that is the point
    with pytest.raises(TypeError):
        FetchRequest(replicas=1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        FetchRequest().replicas = 1  # type: ignore[attr-defined]


def test_defaults_of_the_specification() -> None:
    request = FetchRequest()
    assert (request.replica_id, request.max_bytes, request.session_epoch, request.cluster_id) == (
        -1,
        0x7FFFFFFF,
        -1,
        None,
    )
    assert (request.topics, request.rack_id) == ((), "")
    assert (request.replica_state.replica_id, request.replica_state.replica_epoch) == (-1, -1)
    assert MetadataRequest().topics == ()
    assert FetchResponse.PartitionData().records is None


def test_no_two_objects_share_what_can_change() -> None:
    """Setting a field of a default struct changes one object only, in every class."""
    for cls in dict(every_version()):
        one, other = cls(), cls()
        for field in fields_of(cls):
            value = getattr(one, field.name)
            if field.struct and not field.array and value is not None:
                assert value is not getattr(other, field.name)
            assert not isinstance(value, (list, dict, bytearray)), (
                f"{cls.__name__}.{field.name} is shared and can change"
            )


def test_messages_with_equal_fields_are_equal() -> None:
    assert FetchRequest() == FetchRequest()
    assert FetchRequest(min_bytes=1) != FetchRequest()
    assert FetchRequest() != FetchResponse()
    assert FetchRequest() != "FetchRequest()"
    assert MetadataRequest(topics=[]) == MetadataRequest(topics=())
    assert MetadataRequest(topics=None) != MetadataRequest(topics=())
    topic = MetadataRequest.MetadataRequestTopic
    assert MetadataRequest(topics=[topic(name="a")]) == MetadataRequest(topics=(topic(name="a"),))
    assert MetadataRequest(topics=[topic(name="a")]) != MetadataRequest(topics=[topic(name="b")])
    assert MetadataRequest(topics=[topic(name="a")]) != MetadataRequest(topics=[topic(name="a"), topic(name="a")])
    assert FetchRequest(unknown_tagged_fields={}) == FetchRequest()
    assert FetchRequest(unknown_tagged_fields={1: b""}) != FetchRequest()
    records = FetchResponse.PartitionData
    assert records(records=b"a") == records(records=memoryview(b"a"))
    assert records(records=b"") != records(records=None)


def test_objects_that_change_are_no_keys() -> None:
    with pytest.raises(TypeError):
        hash(FetchRequest())


def test_nested_structs_have_full_names() -> None:
    assert FetchResponse.PartitionData.__qualname__ == "FetchResponse.PartitionData"
    assert FetchResponse.PartitionData.__module__ == "kafkadouble.messages.generated.fetch"


def test_names_that_are_taken_step_aside() -> None:
    assert ApiVersionsResponse.ApiVersion(api_key=3).api_key == 3
    assert "unknown_tagged_fields" not in {field.name for field in fields_of(MetadataResponse)}


def test_a_class_by_its_name() -> None:
    from kafkadouble.messages import VoteRequest
    from kafkadouble.messages.generated.vote import VoteRequest as same

    assert VoteRequest is same
    assert issubclass(VoteRequest, Message)
    for name in ("NoSuchRequest", "StopReplicaRequest", "no_such_module", "__wrapped__"):
        with pytest.raises(AttributeError, match=name):
            getattr(kafkadouble.messages, name)


def test_importing_one_message_imports_no_other() -> None:
    loaded = imported_by("from kafkadouble.messages import FetchRequest, registry, headers")
    found = [name.rpartition(".")[2] for name in loaded if ".generated." in name]
    assert found == ["_api_keys", "_index", "fetch"]


def test_the_messages_floor_imports_nothing_heavy() -> None:
    loaded = imported_by(
        "from kafkadouble.messages import FetchRequest, registry, headers, framed, coordinator, error_codes"
    )
    assert not {"typing", "dataclasses", "asyncio", "socket", "json", "base64", "inspect", "re"} & set(loaded)


def imported_by(statement: str) -> list[str]:
    """The modules that a bare interpreter has imported after a statement."""
    code = f"import sys; sys.path[:0] = {sys.path!r}; {statement}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()
