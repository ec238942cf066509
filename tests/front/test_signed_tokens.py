"""Clients log in by OAUTHBEARER with signed tokens, and no output has a token."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, UsageError
from tests.support import signed_tokens as made
from tests.support.signed_tokens import jwk_set, signed

LONG_S = 20.0
LISTENERS = {"INTERNAL": 0, "SIGNED": 0}
CONFIG = {
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,SIGNED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}


def settings(tmp_path: Path) -> dict[str, object]:
    return {**CONFIG, **made.settings_of(jwk_set(tmp_path / "keys.json"), "signed")}


def admin(bootstrap: str, token: str) -> AdminClient:
    config: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": lambda _: (token, time.time() + 600),
        "log_level": 0,
    }
    return AdminClient(config)


@pytest.mark.parametrize("refused", ["another key", "expired", "another audience"])
def test_a_signed_token_logs_in_and_no_output_has_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, refused: str
) -> None:
    """The tokens are searched in logs, history, captures, repr and files: each part of them."""
    now = int(time.time())
    wrong = {
        "another key": signed(now, made.STRANGER),
        "expired": signed(now, iat=now - 600, exp=now - 60),
        "another audience": signed(now, aud="others"),
    }[refused]
    right = signed(now)
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "capture.parquet"
    double = KafkaDouble(
        listeners=LISTENERS,
        config=settings(tmp_path),
        acls=["User:ann allow DESCRIBE topic:orders"],
        data_dir=tmp_path / "data",
        capture=path,
        capture_bodies=True,
        capture_frames=True,
    )
    with double as kafka:
        kafka.create_topic("orders")
        address = kafka.bootstrap("SIGNED")
        assert {*admin(address, right).list_topics(timeout=LONG_S).topics} == {"orders"}, "it is User:ann"
        with pytest.raises(KafkaException):
            admin(address, wrong).list_topics(timeout=1)
        assert admin(address, right).list_topics(timeout=LONG_S).brokers
        seen = list(kafka.requests)
        node = kafka._double_host.serving().broker.node
        shown = [repr(each) for each in (double, seen, node, node.settings, node.sasl)]
        shown += [repr([(each.body, each.answer) for each in seen])]
        shown += [repr(node.sasl.enabled("SIGNED"))]
    assert any(each.api == "SaslAuthenticate" for each in seen)
    assert "cannot be authenticated by OAUTHBEARER: the " in caplog.text
    shown += [caplog.text, str(pq.read_table(path).to_pylist())]
    shown += [path.read_bytes().decode("latin-1") for path in (tmp_path / "data").rglob("*") if path.is_file()]
    for part in (*right.split(".")[1:], *wrong.split(".")[1:]):
        assert [text[max(0, text.find(part) - 80) :][:100] for text in shown if part in text] == []


def test_missing_jwks_file_is_refused_at_the_start(tmp_path: Path) -> None:
    given = {**settings(tmp_path)}
    (tmp_path / "keys.json").unlink()
    with pytest.raises(UsageError, match=r"jwks\.endpoint\.url: .*keys\.json cannot be read"):
        KafkaDouble(listeners=LISTENERS, config=given).start()
