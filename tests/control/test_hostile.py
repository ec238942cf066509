"""What is no call: bodies that are too large, too slow or no JSON, and bytes that are no HTTP."""

from __future__ import annotations

import socket

import pytest

from kafkadouble.control.http import bodies
from tests.control.http import call, post

JSON_TYPE = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "headers", "status", "problem"),
    [
        (b"{", JSON_TYPE, 400, "the body is no JSON: "),
        (b"[1]", JSON_TYPE, 400, "the body is an object with parameters, not a list"),
        (b'{"timeout": NaN}', JSON_TYPE, 400, "NaN is no number of JSON"),
        (b'{"topic": "a", "topic": "b"}', JSON_TYPE, 400, "the field 'topic' is there twice"),
        (b'{"config": {"a": 1, "b": 2, "b": 2}}', JSON_TYPE, 400, "the field 'b' is there twice"),
        (b"\xff\xfe", JSON_TYPE, 400, "the body is no JSON: "),
        (b"[" * 100_000, JSON_TYPE, 400, "the body is no JSON: "),
        (b'{"a":' * 50_000, JSON_TYPE, 400, "the body is no JSON: "),
        (b"1" * 5000, JSON_TYPE, 400, "the body is no JSON: "),
        (b"{}", {"Content-Type": "text/plain"}, 415, "send Content-Type: application/json, not text/plain"),
        (b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "the body is JSON"),
        (b"", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "the body is JSON"),
        (b"{}", {"Content-Type": ""}, 415, "the body is JSON"),
    ],
)
def test_request_body_that_is_no_object_is_refused(
    url: str, body: bytes, headers: dict[str, str], status: int, problem: str
) -> None:
    answer = call(url, "POST", "/verbs/topics", body, headers)
    assert answer.status == status
    assert problem in answer.error["message"]
    assert post(url, "topics") == {}


def test_request_body_may_be_missing(url: str) -> None:
    assert call(url, "POST", "/verbs/topics").json == {"result": {}}
    assert call(url, "POST", "/verbs/topics", b"{}", {"Content-Type": "application/json; charset=utf-8"}).status == 200


def test_request_body_that_is_too_large_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_BYTES", 1000)
    assert call(url, "POST", "/verbs/produce", {"topic": "t", "value": "x" * 900}).status == 200
    answer = call(url, "POST", "/verbs/produce", {"topic": "t", "value": "x" * 1000})
    assert (answer.status, answer.error["message"]) == (413, "the body is larger than 1000 bytes")


def test_request_body_that_does_not_come_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_S", 0.05)
    head = b"POST /verbs/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    assert _sent(url, head).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "text",
    [
        b"\x00\x01\x02\x03" * 1000 + b"\r\n\r\n",
        b"GET /none HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"GET " + b"/x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /verbs/topics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /verbs/topics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
def test_invalid_http_request_is_refused(url: str, text: bytes) -> None:
    assert _sent(url, text).startswith(b"HTTP/1.1 4")
    assert post(url, "topics") == {}


def _sent(url: str, text: bytes) -> bytes:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as sock:
        sock.sendall(text)
        return sock.recv(65536)


def test_no_header_lets_other_sites_read(url: str) -> None:
    answer = call(url, "GET", "/verbs")
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == ("no-store", "nosniff")
    asked = {"Origin": "http://attacker.example", "Access-Control-Request-Method": "POST"}
    assert call(url, "OPTIONS", "/verbs/reset", headers=asked).status in (403, 405)
