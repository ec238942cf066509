"""Replays a session of real clients, which kafkadouble recorded, to the broker. The answers must be
the same, except for ApiVersions.

    pytest interop/test_replay.py --broker local
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from interop.brokers import Broker
from interop.secured_servers import ADMIN, PASSWORDS, SECURE, password_of, secured_server
from interop.support import unique
from kafkadouble.replay.replay_run import ReplayOptions
from kafkadouble.replay.replaying import replay
from kafkadouble.replay.target import parsed
from kafkadouble.replay.target_security import TargetSecurity
from tests.support.recorded_sessions import PROGRAMS, recorded

DIFFERENT_APIS = {"ApiVersions"}
"""The APIs whose answers may differ: each server lists its own APIs and features."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_replayed_session_gets_the_same_answers(broker: Broker, name: str, tmp_path: Path) -> None:
    program = partial(PROGRAMS[name], prefix=unique("replay"))
    recording = recorded(tmp_path / "session.parquet", program)
    target = parsed(broker.bootstrap.split(",")[0])
    report = asyncio.run(replay(recording, target, ReplayOptions(patience=30)))
    other = [difference for difference in report.differences if difference.exchange.api not in DIFFERENT_APIS]
    assert not other, "\n".join(report.lines())
    assert report.compared > 20


@pytest.mark.usefixtures("local_jars")
def test_replayed_session_over_tls_and_sasl_gets_the_same_answers(tmp_path: Path) -> None:
    with secured_server("local", tmp_path) as server:
        for mechanism in PASSWORDS:
            recording = recorded(tmp_path / f"{mechanism}.parquet", partial(PROGRAMS["kafka-python"], prefix=mechanism))
            given = {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": mechanism,
                "sasl.username": ADMIN,
                "sasl.password": password_of(ADMIN),
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(server.certificates.authority_file),
            }
            target = server.addresses[SECURE]
            options = ReplayOptions(patience=30, security=TargetSecurity.of(target, given))
            report = asyncio.run(replay(recording, parsed(target), options))
            other = [difference for difference in report.differences if difference.exchange.api not in DIFFERENT_APIS]
            assert not other, "\n".join(report.lines())
            assert report.compared > 20
