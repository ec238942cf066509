"""No style of `show` contains secrets, for a whole message, a truncated message, or a batch of
metadata records."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from kafkadouble.messages import (
    AlterConfigsRequest,
    AlterUserScramCredentialsRequest,
    ConfigRecord,
    CreateDelegationTokenResponse,
    DelegationTokenRecord,
    EnvelopeRequest,
    IncrementalAlterConfigsRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    UserScramCredentialRecord,
    show,
)
from kafkadouble.messages.framed import encode_record
from kafkadouble.messages.headers import write_request
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, encode_batch

WORD = "hunter2-hunter2-hunter2"
SECRET = WORD.encode()
JAAS = "sasl.jaas.config"

Configs = IncrementalAlterConfigsRequest
Scram = AlterUserScramCredentialsRequest
REQUESTS: list[Message] = [
    SaslAuthenticateRequest(auth_bytes=SECRET),
    SaslAuthenticateResponse(auth_bytes=SECRET),
    CreateDelegationTokenResponse(hmac=SECRET),
    EnvelopeRequest(request_data=SECRET),
    Configs(resources=[Configs.AlterConfigsResource(configs=[Configs.AlterableConfig(name=JAAS, value=WORD)])]),
    AlterConfigsRequest(
        resources=[
            AlterConfigsRequest.AlterConfigsResource(
                configs=[AlterConfigsRequest.AlterableConfig(name="ssl.key.password", value=WORD)]
            )
        ]
    ),
    Scram(upsertions=[Scram.ScramCredentialUpsertion(name="u", salt=SECRET, salted_password=SECRET)]),
]
RECORDS: list[Message] = [
    ConfigRecord(resource_type=4, name=JAAS, value=WORD),
    UserScramCredentialRecord(name="u", salt=SECRET, stored_key=SECRET, server_key=SECRET),
]


def texts_of(shown: show.Shown) -> Iterator[str]:
    """The text of a message in every style."""
    yield shown.line()
    yield shown.tree()
    yield shown.hexdump()
    yield "\n".join(show.render(shown.rows(), show.FULL))
    yield json.dumps(shown.json())
    yield repr(list(shown.rows()))


def assert_silent(shown: show.Shown) -> None:
    for text in texts_of(shown):
        for leak in ("hunter", SECRET[:6].hex(" "), SECRET[:6].hex(), base64.b64encode(SECRET[:6]).decode()[:7]):
            assert leak not in text, text


@pytest.mark.parametrize("message", REQUESTS + RECORDS, ids=lambda message: type(message).__name__)
def test_show_hides_secrets_of_whole_and_truncated_messages(message: Message) -> None:
    version = message.versions[1]
    data = message.encode(version)
    assert SECRET in data
    shown = show.message(data, type(message), version)
    assert_silent(shown)
    assert "<hidden>" in shown.tree()
    assert "<hidden>" in shown.hexdump()
    assert "hunter" not in show.line(message) + show.tree(message) + show.tree(message, version)
    assert any(SECRET in row.bytes for row in shown.rows())  # the rows still hold all of the bytes
    for end in range(len(data)):
        assert_silent(show.message(data[:end], type(message), version))
    assert_silent(show.message(data + SECRET, type(message), version))
    assert_silent(show.message(data, type(message), 99))


def test_show_hides_secrets_of_a_frame_with_unknown_version() -> None:
    data = bytearray(b"".join(write_request(REQUESTS[0], 1, "me", 2)))
    data[7] = 99
    assert_silent(show.frame(bytes(data)))


@pytest.mark.parametrize("message", RECORDS, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("codec", [0, 4])
def test_show_hides_secrets_of_metadata_records(message: Message, codec: int) -> None:
    value = encode_record(message, message.versions[1])
    assert_silent(show.batch(encode_batch([Record(0, 5, None, value)], compression=codec), records="metadata"))
    assert_silent(show.batch(encode_batch([Record(0, 5, None, value[:-9])], compression=codec), records="metadata"))


def test_shown_message_has_fields_that_are_no_secret() -> None:
    shown = Configs.AlterableConfig(name="retention.ms", value="1000")
    message = Configs(resources=[Configs.AlterConfigsResource(configs=[shown])])
    assert "Value: '1000'" in show.tree(message)
    assert "value = '1000'" in show.message(message.encode(1), Configs, 1).hexdump()
    assert "hidden" not in show.tree(DelegationTokenRecord(token_id="t"))
