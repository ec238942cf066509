"""The connections of the control port: how many there are, and how long a client may take."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control import app
from kafkadouble.control.http import http_server
from kafkadouble.control.server import ControlServer
from kafkadouble.server.network import descriptors
from tests.control.floods import flood
from tests.control.http import call, post

HALVES = {
    "nothing": b"",
    "half_a_head": b"GET /health HTTP/1.1\r\nHost: ",
    "half_a_body": b"POST /verbs/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    "nothing_after_an_answer": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
"""What a client sends before it does nothing."""

ANSWERED = {"nothing_after_an_answer"}


@pytest.fixture
def opened(url: str) -> Iterator[Callable[..., socket.socket]]:
    """Opens a connection, and sends something."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    with ExitStack() as stack:

        def connect(text: bytes = b"") -> socket.socket:
            sock = stack.enter_context(socket.create_connection((host, int(port)), 30))
            sock.sendall(text)
            return sock

        yield connect


@pytest.mark.parametrize("half", HALVES)
def test_connections_that_wait_for_their_client_leave_room_for_others(
    url: str, opened: Callable[..., socket.socket], half: str
) -> None:
    held = []
    for _ in range(http_server.MOST_CONNECTIONS + 50):
        held.append(opened(HALVES[half]))
        if half in ANSWERED:
            assert held[-1].recv(1 << 16).startswith(b"HTTP/1.1 200")
    assert call(url, "GET", "/health").status == 200
    assert post(url, "topics") == {}
    assert [_is_closed(each) for each in held[:40]] == [True] * 40


def _is_closed(sock: socket.socket) -> bool:
    """Waits until the server closes it."""
    try:
        while sock.recv(1 << 16):  # the rest of an answer
            pass
        return True
    except ConnectionResetError:
        return True


def test_connections_with_a_running_call_are_kept_and_one_more_is_refused(
    kafka: KafkaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MOST_CONNECTIONS", 3)
    with ControlServer(kafka) as control, ExitStack() as stack:
        host, _, port = control.url.removeprefix("http://").rpartition(":")
        held = [stack.enter_context(socket.create_connection((host, int(port)), 30)) for _ in range(2)]
        for each in held:
            each.sendall(b"GET /views HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert each.recv(12) == b"HTTP/1.1 200"
        assert call(control.url, "GET", "/health").status == 503
        held[0].close()
        while call(control.url, "GET", "/health").status == 503:
            pass


def test_the_log_says_once_that_the_control_port_is_crowded(
    opened: Callable[..., socket.socket], url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "kafkadouble.control"):
        for _ in range(http_server.MOST_CONNECTIONS + 100):
            opened()
        assert call(url, "GET", "/health").status == 200
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("kafkadouble")]
    assert lines == ["the control port is full: those of its 256 connections that wait longest are closed"]


@pytest.mark.parametrize("half", ["nothing", "half_a_head"])
def test_connection_without_a_request_head_is_closed(
    opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    monkeypatch.setattr(http_server, "HEAD_S", 0.05)
    assert _is_closed(opened(HALVES[half]))


def test_connection_without_a_second_request_head_is_closed(
    opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "HEAD_S", 0.05)
    sock = opened(HALVES["nothing_after_an_answer"])
    assert sock.recv(1 << 16).startswith(b"HTTP/1.1 200")
    sock.sendall(HALVES["half_a_head"])
    assert _is_closed(sock)


def test_a_body_that_comes_after_its_answer_does_not_keep_a_connection(
    opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "HEAD_S", 0.05)
    sock = opened(b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n")
    assert sock.recv(1 << 16).startswith(b"HTTP/1.1 200")
    sock.sendall(b"x")
    assert _is_closed(sock)


def test_streams_that_are_not_read_end(
    url: str, kafka: KafkaDouble, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "READ_S", 0.05)
    opened(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    watches = kafka._double_host.serving().broker.watches
    while not watches.checks:
        pass
    for _ in range(200):
        flood(kafka, 500)
        if not watches.checks:
            break
    assert not watches.checks


def test_streams_that_begin_at_once_do_not_pass_their_limit(
    kafka: KafkaDouble, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MOST_STREAMS", 5)
    held = [opened() for _ in range(100)]
    for each in held:
        each.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    found = [each.recv(12) for each in held]
    assert (found.count(b"HTTP/1.1 200"), found.count(b"HTTP/1.1 503")) == (5, 95)


@pytest.mark.parametrize("path", ["/events", "/views"])
def test_head_of_a_stream_is_answered_and_begins_none(
    opened: Callable[..., socket.socket], kafka: KafkaDouble, path: str
) -> None:
    sock = opened(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() + HALVES["nothing_after_an_answer"])
    read = b""
    while b"running" not in read:  # the next request is answered, so the first one has ended
        read += sock.recv(1 << 16)
    assert read.count(b"HTTP/1.1 200") == 2
    assert not kafka._double_host.serving().broker.watches.checks


def test_requests_that_are_no_http_write_nothing_to_the_log(
    opened: Callable[..., socket.socket], caplog: pytest.LogCaptureFixture
) -> None:
    for text in (b"\x00\r\n\r\n", b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"):
        assert opened(text).recv(12).startswith(b"HTTP/1.1 ")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_the_control_port_has_a_share_of_the_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, share in ((1024, 256), (1 << 20, 256), (200, 50), (3, 1), (None, 256)):
        monkeypatch.setattr(descriptors, "most", lambda most=most: most)
        assert descriptors.share(256) == share


def test_connections_wait_while_the_last_descriptors_are_left_to_files(
    url: str, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = opened(HALVES["nothing_after_an_answer"])
    assert idle.recv(1 << 16).startswith(b"HTTP/1.1 200")
    with monkeypatch.context() as patch:
        patch.setattr(descriptors, "is_reserved", lambda descriptor: True)
        waits = opened(HALVES["nothing_after_an_answer"])
        assert _is_closed(idle)  # it waited, and its descriptor is free
    assert waits.recv(12) == b"HTTP/1.1 200"
