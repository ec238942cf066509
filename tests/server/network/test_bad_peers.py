"""Peers that send a malformed answer, or none: each loses its connection, and nothing else
happens."""

from __future__ import annotations

import asyncio
import logging
import struct

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.server.network import peers
from kafkadouble.server.raft.request_manager import RequestFailure
from tests.support.asking import LOGGER, TIMEOUT_MS, driven, run
from tests.support.scripted_peer import Line, Script, scripted, versions_of


def frame(*parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">i", len(body)) + body


def answers_with(data: bytes, *, agree: bool = True) -> Script:
    async def script(line: Line) -> None:
        if agree:
            await line.agree()
        head, _ = await line.request()
        await line.raw(data.replace(b"\xca\xfe\xba\xbe", struct.pack(">i", head.correlation_id)))
        await line.closed()

    return script


async def another_correlation_id(line: Line) -> None:
    await line.agree()
    head, _ = await line.request()
    await line.answer(head, FetchResponse(), head.correlation_id + 1)
    await line.closed()


async def two_answers(line: Line) -> None:
    await line.agree()
    head, _ = await line.request()
    whole = FetchResponse().encode(head.api_version)
    await line.raw(2 * frame(struct.pack(">i", head.correlation_id), b"\0", whole))
    await line.closed()


async def refuses_versions(line: Line) -> None:
    head, _ = await line.request()
    await line.answer(head, versions_of({}, error_codes.CLUSTER_AUTHORIZATION_FAILED))
    await line.closed()


async def many_elements(line: Line) -> None:
    await line.agree()
    head, _ = await line.request()
    topics = [FetchResponse.FetchableTopicResponse() for _ in range(60_000)]
    await line.answer(head, FetchResponse(responses=topics))
    await line.closed()


async def closes(line: Line) -> None:
    await line.agree()
    await line.request()
    line.peer.ended += 1


async def is_silent(line: Line) -> None:
    await line.agree()
    await line.closed()


async def is_silent_from_the_first(line: Line) -> None:
    await line.closed()


async def drips(line: Line) -> None:
    await line.agree()
    head, _ = await line.request()
    await line.raw(struct.pack(">iib", 1000, head.correlation_id, 0))
    await line.closed()


ID = b"\xca\xfe\xba\xbe"
BAD: dict[str, tuple[Script, str]] = {
    "another protocol": (answers_with(b"HTTP/1.1 400 Bad Request\r\n\r\n", agree=False), "it sends a frame of"),
    "TLS": (answers_with(b"\x15\x03\x03\x00\x02\x02\x46", agree=False), "it sends a frame of"),
    "a negative length": (answers_with(b"\xff\xff\xff\xff"), "it sends a frame of -1 bytes"),
    "a frame that is too large": (answers_with(struct.pack(">i", 1 << 22)), "where 2097152 are allowed"),
    "an empty frame": (answers_with(frame()), "its answer to Fetch version 17 cannot be read"),
    "half an answer": (answers_with(frame(ID, b"\0\0\0\0\0")), "its answer to Fetch version 17 cannot be read"),
    "wrong bytes": (answers_with(frame(ID, b"\0" + b"\xff" * 40)), "its answer to Fetch version 17 cannot be read"),
    "another correlation id": (another_correlation_id, "its answer to Fetch has the correlation id"),
    "more than was asked": (two_answers, "it sends more than it was asked for"),
    "an error for ApiVersions": (refuses_versions, "it answers ApiVersions with CLUSTER_AUTHORIZATION_FAILED"),
    "far too many elements": (many_elements, "more than 50000 elements"),
    "the end": (closes, "it closed the connection"),
    "silence": (is_silent, "no answer within 300 ms"),
    "silence from the first": (is_silent_from_the_first, "no answer within 300 ms"),
    "the beginning of an answer": (drips, "no answer within 300 ms"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_peer_loses_its_connection_and_that_is_one_line(
    what: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, expected = BAD[what]
    monkeypatch.setattr(peers, "BACKOFF_MS", 60_000)
    monkeypatch.setattr(peers, "BACKOFF_MAX_MS", 60_000)
    quick = 300 if "300 ms" in expected else TIMEOUT_MS

    async def test() -> None:
        async with scripted(script) as peer, driven(peer.endpoint, timeout_ms=quick) as it:
            assert await it.ask() is RequestFailure.LOST
            for _ in range(3):
                assert await it.ask() is RequestFailure.LOST  # at once: the peer is in backoff
            assert peer.connections == 1
            assert expected in it.peers.troubles[peer.endpoint]
            while not peer.ended:
                await asyncio.sleep(0)

    with caplog.at_level(logging.INFO, LOGGER):
        run(test())
    assert len(caplog.records) == 1, caplog.messages
    assert expected in caplog.messages[0]
    assert caplog.messages[0].startswith("127.0.0.1:")
