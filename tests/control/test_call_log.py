"""The log has each call of a verb that changes something, with its caller."""

from __future__ import annotations

import logging

import pytest

from kafkadouble.control.calls.call_log import READS
from kafkadouble.verbs.registry import VERBS
from tests.control.http import call


def test_a_call_is_logged_with_its_caller_and_without_values(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kafkadouble.control"):
        assert (
            call(url, "POST", "/verbs/create_topic", {"name": "a-secret"}, {"User-Agent": "shop\x1b/1"}).status == 200
        )
        assert call(url, "POST", "/verbs/topics").status == 200
        assert call(url, "POST", "/verbs/wait_for_topic", {"topic": "a-secret"}).status == 200
        assert call(url, "POST", "/verbs/reset").status == 200
    (first, second) = [record.getMessage() for record in caplog.records]
    assert first.startswith("127.0.0.1:")
    assert first.endswith("(shop\\x1b/1) calls create_topic(name)")
    assert "a-secret" not in first
    assert " calls reset()" in second


def test_only_verbs_are_said_to_read() -> None:
    assert set(VERBS) >= READS
