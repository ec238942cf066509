"""What answers at the URL is no control plane: ctl says so, and ends with 3."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafkadouble.cli import ctl
from kafkadouble.control import client


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """The URL of a server that answers one connection with these bytes, and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                # All of the request: a close with unread bytes would reset the connection.
                request = b""
                while not request.endswith(b"{}" if request.startswith(b"POST") else b"\r\n\r\n"):
                    request += connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def http(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"", "Remote end closed connection"),
        (b"\x00\x01\x02\x03\r\n", "\x00\x01\x02\x03"),
        (http(b"<html>"), "the answer is no JSON"),
        (http(b"[]"), "the answer is no object of JSON"),
        (http(b"{}"), "the answer has no result"),
        (http(b"[" * 100_000), "the answer is no JSON"),
        (http(b"{}", "404 Not Found"), "the answer names no error"),
        (http(b'{"error": 5}', "400 Bad Request"), "the answer names no error"),
        (http(b"nginx", "502 Bad Gateway"), "the answer is no JSON"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "the answer is no JSON"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000 + b"\r\n{}", "got more than 100 headers"),
    ],
)
def test_ctl_reports_a_server_that_is_no_control_plane(
    answer: bytes, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(answer) as url:
        assert ctl.main(["--url", url, "topics"]) == 3
    shown = capsys.readouterr().err
    assert shown.startswith(f"kafkadouble: no control plane answers at {url}: ")
    assert problem in shown


def test_ctl_refuses_a_response_that_is_too_large(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_BYTES", 10)
    with answering(http(b'{"result": "0123456789"}')) as url:
        assert ctl.main(["--url", url, "topics"]) == 3
    assert "the answer is larger than 10 bytes" in capsys.readouterr().err


def test_a_stream_of_something_else(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(http(b"data: <html>\n\n")) as url:
        assert ctl.main(["--url", url, "events"]) == 3
    assert "the answer is no JSON" in capsys.readouterr().err


def test_ctl_reports_that_no_server_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    assert ctl.main(["--url", url, "topics"]) == 3
    assert "Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    "url", ["127.0.0.1:9099", "https://127.0.0.1:9099", "http://127.0.0.1", "http://:1", "http://a:x", ""]
)
def test_ctl_refuses_a_malformed_url(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ctl.main(["--url", url or "x", "topics"]) == 2
    assert "the URL of a control plane is http://HOST:PORT" in capsys.readouterr().err
