"""Kafka's names in Python's spelling, and the modules that messages live in."""

from __future__ import annotations

import pytest

from codegen import names


@pytest.mark.parametrize(
    ("kafka", "python"),
    [
        ("TopicId", "topic_id"), ("LogAppendTimeMs", "log_append_time_ms"), ("leaderEpoch", "leader_epoch"), ("Isr", "isr"),
        ("KRaftVersion", "kraft_version"), ("ISR", "isr"), ("V3AndBelowTopics", "v3_and_below_topics"), ("group", "group"),
    ],
)  # fmt: skip
def test_snake_case_is_kafkas(kafka: str, python: str) -> None:
    assert names.snake(kafka) == python


@pytest.mark.parametrize(
    ("kafka", "python"),
    [("From", "from_"), ("Class", "class_"), ("Global", "global_"), ("Is", "is_"), ("Name", "name")],
)
def test_words_of_python_step_aside(kafka: str, python: str) -> None:
    assert names.attribute(kafka, names.OURS) == python


def test_our_own_attributes_win() -> None:
    assert names.attribute("UnknownTaggedFields", names.OURS) == "unknown_tagged_fields_"
    assert names.attribute("Encode", names.OURS_OF_MESSAGES) == "encode_"
    assert names.attribute("ApiKey", names.OURS_OF_MESSAGES) == "api_key_"
    assert names.attribute("ApiKey", names.OURS) == "api_key"


@pytest.mark.parametrize(
    ("name", "kind", "module"),
    [
        ("FetchRequest", "request", "fetch"), ("FetchResponse", "response", "fetch"), ("ApiVersionsRequest", "request", "api_versions"),
        ("OffsetCommitKey", "coordinator-key", "offset_commit_record"),
        ("OffsetCommitValue", "coordinator-value", "offset_commit_record"),
        ("LeaderChangeMessage", "data", "leader_change_message"), ("TopicRecord", "metadata", "topic_record"),
        ("RequestHeader", "header", "request_header"),
    ],
)  # fmt: skip
def test_the_module_of_each_name(name: str, kind: str, module: str) -> None:
    assert names.module(name, kind) == module


def test_every_attribute_of_the_classes_is_reserved() -> None:
    """A field cannot have the name of an attribute of the message classes; the list of such names
    is kept by hand."""
    from kafkadouble.messages.message import Message, Struct

    public = {
        name
        for name in {*vars(Message), *Message.__annotations__, *vars(Struct), *Struct.__annotations__}
        if not name.startswith("_")
    }
    assert public == names.OURS_OF_MESSAGES
