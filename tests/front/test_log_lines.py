"""The log of `kafkadouble serve`."""

from __future__ import annotations

import json
import socket
from datetime import datetime

from tests.support.serving import serving


def test_a_log_of_json_has_an_object_in_each_line() -> None:
    with serving("--log-format", "json", "-v") as broker:
        with socket.create_connection(broker.address) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert sock.recv(1) == b""
        _, stderr = broker.end()
    lines = [json.loads(line) for line in stderr.splitlines()]
    assert {"INFO", "WARNING", "DEBUG"} <= {line["level"] for line in lines}
    assert {frozenset(line) for line in lines} == {frozenset(("time", "level", "logger", "message"))}
    assert all(datetime.fromisoformat(line["time"]).tzinfo for line in lines)
