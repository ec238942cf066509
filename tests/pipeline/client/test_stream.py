"""Frames from a socket: whole, sliced in any way, and into memory that is reused only if no view of
it is left."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from kafkadouble.pipeline.client.errors import ConnectionLost
from kafkadouble.pipeline.client.names import BrokerEndpoint
from kafkadouble.pipeline.client.stream import STEP, SocketStream

MOST = 8 << 20


@pytest.fixture
def ends() -> Iterator[tuple[SocketStream, socket.socket]]:
    """A stream, and the socket at its other end."""
    near, far = socket.socketpair()
    stream = SocketStream(near, BrokerEndpoint("broker", 9092))
    yield stream, far
    stream.close()
    far.close()


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def test_memory_is_used_again_when_nothing_refers_to_it(ends: tuple[SocketStream, socket.socket]) -> None:
    stream, far = ends
    far.sendall(b"".join(framed(payload) for payload in (b"first", b"other", b"third", b"forth")))
    first = stream.frame(30, MOST)
    stream.give_back(first)
    view = memoryview(first)
    second = stream.frame(30, MOST)
    stream.give_back(second)
    assert second is not first
    third = stream.frame(30, MOST)
    stream.give_back(third)
    assert third is second
    assert (bytes(view), bytes(third)) == (b"first", b"third")
    view.release()
    assert stream.frame(30, MOST) is first
    assert bytes(first) == b"forth"


def test_frames_of_every_size_come_whole(ends: tuple[SocketStream, socket.socket]) -> None:
    stream, far = ends
    sizes = (4, 5, STEP - 1, STEP, STEP + 1, 5 * STEP + 7, 10, 3 * STEP, 4)
    payloads = [bytes([number]) * size for number, size in enumerate(sizes)]
    sending = threading.Thread(target=far.sendall, args=(b"".join(map(framed, payloads)),))
    sending.start()
    for payload in payloads:
        frame = stream.frame(30, MOST)
        assert frame == payload
        stream.give_back(frame)
    sending.join(30)


def test_a_byte_at_a_time(ends: tuple[SocketStream, socket.socket]) -> None:
    stream, far = ends
    sent = framed(b"slowly")

    def slowly() -> None:
        for at in range(len(sent)):
            far.sendall(sent[at : at + 1])

    sending = threading.Thread(target=slowly)
    sending.start()
    assert stream.frame(30, MOST) == b"slowly"
    sending.join(30)


def test_frame_that_ends_early_or_never_comes_is_reported(ends: tuple[SocketStream, socket.socket]) -> None:
    stream, far = ends
    far.sendall(framed(b"whole")[:-1])
    with pytest.raises(ConnectionLost, match=r"broker broker:9092 gives no answer within 0\.1 s"):
        stream.frame(0.1, MOST)
    far.close()
    with pytest.raises(ConnectionLost, match="broker broker:9092 closed the connection"):
        stream.frame(30, MOST)
