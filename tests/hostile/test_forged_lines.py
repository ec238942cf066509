"""Hostile text in every string of every API: no line of the log, of standard output or of `ctl` is
one that a client wrote, and none has an escape sequence."""

from __future__ import annotations

import json
import re
import socket
from contextlib import suppress
from typing import Any
from urllib.request import urlopen

import pytest

from kafkadouble.cli import ctl
from kafkadouble.messages.fields import FieldInfo
from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE
from kafkadouble.wire.client_log import LONGEST, ClientLog, printable
from tests.hostile.sockets import framed
from tests.messages.making import Maker
from tests.support.serving import serving

FORGED = "x\n2026-11-28 00:00:00,000 ERROR forged\r\x1b[2J\x9b\u2028\u202e"
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG|INFO|WARNING|ERROR) .*|  .*")
PATIENCE_S = 20
ROUNDS = 2
WITHOUT_ANSWER = ("Fetch", "ShareFetch", "JoinGroup", "SyncGroup")
"""They may wait long."""


class Forger(Maker):
    """Makes messages whose texts are hostile, and whose arrays have one element."""

    def value(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        element = self.element(field, version, flexible)
        if not field.array:
            return element
        return [element] if field.struct else (element,)

    def scalar(self, kind: str) -> Any:
        if kind == "string":
            return FORGED
        if kind in ("bytes", "records"):
            return FORGED.encode()
        return super().scalar(kind) if kind in ("bool", "float64", "uuid") else self.dice.choice((0, 1))


def send(address: tuple[str, int], frame: bytes, waits: bool) -> None:
    """On a connection of its own, which the server may close."""
    with suppress(ConnectionError), socket.create_connection(address, PATIENCE_S) as sock:
        sock.sendall(frame)
        if not waits:
            sock.recv(4)


@pytest.mark.parametrize("table", [TABLE, CONTROLLER_TABLE], ids=["broker", "controller"])
def test_bytes_of_a_client_forge_no_log_line(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--verbose", "--control-port", "0", "--controller-port", "0", "--topic", "t"]
    with serving(*words) as served:
        stdout = served.process.stdout
        assert stdout is not None
        started = dict(served.startup)
        while "control.url" not in started:
            name, _, value = stdout.readline().strip().partition("=")
            started[name] = value
        url = started["control.url"]
        at = "bootstrap.servers" if table is TABLE else "controller.quorum.bootstrap.servers"
        host, _, port = started[at].rpartition(":")
        for number in range(ROUNDS):
            maker = Forger(f"forged {number}")
            for api in table:
                message = maker.message(api.request, api.highest)
                send((host, int(port)), framed(message, api.highest, FORGED), api.name in WITHOUT_ANSWER)
        for verb in ("requests", "groups", "topics", "rules", "transactions", "acls", "lint"):
            ctl.main(["--url", url, verb])
        shown = capsys.readouterr()
        with urlopen(f"{url}/requests", timeout=PATIENCE_S) as answer:
            assert FORGED in {each["client_id"] for each in json.load(answer)["requests"]}, "HTTP has it as it is"
        code, log = served.end()
        printed = stdout.read()
    assert code == 0
    assert [line for line in log.split("\n")[:-1] if not LINE.fullmatch(line)] == []
    for text in (log, printed, *shown):
        assert all(printable(line) == line for line in text.split("\n"))
        assert not re.search("^2026-11-28 00:00:00,000", text, re.MULTILINE)
    assert "forged" in log, "what was sent is in the log"


def test_logged_text_of_a_client_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    log = ClientLog("kafkadouble.server.hostile")
    log.warning("%s %r %d %.1f", "a" * 10**6, FORGED, 7, 0.25)
    (record,) = caplog.records
    assert record.getMessage() == f"{'a' * (LONGEST - 3)}... {FORGED!r} 7 0.2"
    assert (record.filename, record.funcName) == (
        "test_forged_lines.py",
        "test_logged_text_of_a_client_is_cut",
    )
