"""The codec benchmark runs and prints one JSON object of the documented shape, and every peer
writes back what it read."""

from __future__ import annotations

import json

import pytest

from benchmarks import codecs
from benchmarks.codec_cases import cases
from benchmarks.codec_peers import PEERS, installed

# Some peers emit deprecation warnings when they are imported.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NAMES = [
    "apiversions v3", "apiversions v2", "metadata v9", "metadata v12", "metadata v5", "fetchreq v12", "fetchreq v11",
    "produce v9", "produce v8", "fetchres v12", "fetchres v11",
]  # fmt: skip


def test_codec_benchmark_has_eleven_fixed_messages() -> None:
    assert [case.name for case in cases()] == NAMES
    assert [case.message.encode(case.version) for case in cases()] == [
        case.message.encode(case.version) for case in cases()
    ]


def test_every_installed_peer_writes_what_it_read() -> None:
    for case in cases():
        codecs.jobs(case, list(installed()))


def test_a_peer_that_writes_something_else_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.codec_peers import Codec

    monkeypatch.setitem(PEERS, "forger", lambda case: Codec(lambda data: data, lambda message: message + b"x"))
    with pytest.raises(ValueError, match="forger writes other bytes than it read: produce v9"):
        codecs.jobs(next(case for case in cases() if case.name == "produce v9"), ["forger"])


def test_the_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(codecs, "BATCH_NS", 10_000)
    assert codecs.main(["--json", "--rounds", "1", "--case", "produce"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"cases", "ours", "peers", "ratios"} <= set(found)
    assert found["cases"] == [f"produce {v} {what}" for v in ("v9", "v8") for what in ("decode", "encode", "parts")]
    assert set(found["ours"]) == set(found["cases"])
    assert set(found["ratios"]) == set(installed())
    for ratios in found["ratios"].values():
        assert set(ratios) <= set(found["cases"])
    assert codecs.main(["--rounds", "1", "--case", "produce v9"]) == 0
    assert "produce v9 decode  ours " in capsys.readouterr().out
