"""`repr`: a bounded sentence of what is not at its default, without secrets."""

from __future__ import annotations

import pytest

from kafkadouble.messages import (
    AlterConfigsRequest,
    AlterUserScramCredentialsRequest,
    ConfigRecord,
    CreateDelegationTokenResponse,
    EnvelopeRequest,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    TopicRecord,
    UserScramCredentialRecord,
)
from kafkadouble.messages.message import Struct
from kafkadouble.messages.sentence import LONGEST
from kafkadouble.messages.uuid import Uuid

from .making import Maker, every_version


def test_sentence_prints_only_fields_that_differ_from_the_default() -> None:
    assert repr(FetchRequest()) == "FetchRequest()"
    topic = FetchRequest.FetchTopic(
        topic="orders", partitions=[FetchRequest.FetchPartition(partition=3, fetch_offset=7)]
    )
    assert repr(FetchRequest(max_wait_ms=500, topics=[topic])) == (
        "FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic='orders', partitions=[FetchPartition(partition=3, fetch_offset=7)])])"
    )
    assert repr(MetadataRequest(topics=None)) == "MetadataRequest(topics=None)"
    assert repr(FetchRequest(unknown_tagged_fields={9: b"x"})) == "FetchRequest(unknown_tagged_fields={9: b'x'})"


def test_uuids_speak_kafkas_text() -> None:
    assert (
        repr(TopicRecord(topic_id=Uuid.parse("H3KKO4NTRPaCWtEmm3vW7A")))
        == "TopicRecord(topic_id=Uuid('H3KKO4NTRPaCWtEmm3vW7A'))"
    )


def test_long_values_are_cut() -> None:
    partition = FetchResponse.PartitionData(records=bytes(1000))
    assert repr(partition) == f"PartitionData(records={bytes(24)!r}... (1000 bytes))"
    assert repr(FetchRequest(rack_id="x" * 500)) == f"FetchRequest(rack_id='{'x' * 120}'... (500 characters))"
    forgotten = FetchRequest.ForgottenTopic(partitions=tuple(range(100)))
    assert repr(forgotten) == "ForgottenTopic(partitions=[0, 1, 2, 3, 4, ... 95 more])"
    assert repr(FetchRequest(unknown_tagged_fields=dict.fromkeys(range(20), b""))).endswith("4: b''...})")


def test_no_repr_is_long() -> None:
    partition = MetadataResponse.MetadataResponsePartition(replica_nodes=(1, 2, 3), isr_nodes=(1, 2), error_code=5)
    topics = [MetadataResponse.MetadataResponseTopic(name="t" * 200, partitions=[partition] * 50)] * 50
    assert len(repr(MetadataResponse(topics=topics))) <= LONGEST
    for cls, version in every_version():
        assert len(repr(Maker(version, longest=3).message(cls, version))) <= LONGEST


SECRET = b"hunter2!"


@pytest.mark.parametrize(
    "struct",
    [
        SaslAuthenticateRequest(auth_bytes=SECRET),
        SaslAuthenticateResponse(auth_bytes=SECRET),
        CreateDelegationTokenResponse(hmac=SECRET),
        AlterUserScramCredentialsRequest.ScramCredentialUpsertion(salt=SECRET, salted_password=SECRET),
        UserScramCredentialRecord(salt=SECRET, stored_key=SECRET, server_key=SECRET),
        EnvelopeRequest(request_data=SECRET),
        ConfigRecord(name="ssl.keystore.password", value=SECRET.decode()),
        ConfigRecord(name="listener.name.x.sasl.jaas.config", value=SECRET.decode()),
        AlterConfigsRequest.AlterableConfig(name="SSL.TRUSTSTORE.PASSWORD", value=SECRET.decode()),
    ],
)
def test_secrets_are_hidden(struct: Struct) -> None:
    assert "hunter2" not in repr(struct)
    assert "<hidden>" in repr(struct)


def test_sentence_shows_field_that_is_no_secret() -> None:
    assert repr(ConfigRecord(name="retention.ms", value="5")) == "ConfigRecord(name='retention.ms', value='5')"


def test_values_of_the_wrong_type_can_be_shown() -> None:
    assert (
        repr(FetchRequest(topics=5, rack_id=None, min_bytes="x"))
        == "FetchRequest(min_bytes='x', topics=5, rack_id=None)"
    )
