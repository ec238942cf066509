"""A session of real clients that kafkadouble recorded, replayed against the broker: it answers the
same, but for what ApiVersions lists.

    pytest interop/test_replay.py --broker local
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from interop.brokers import Broker
from interop.support import unique
from kafkadouble.replay.replay_run import ReplayOptions
from kafkadouble.replay.replaying import replay
from kafkadouble.replay.target import parsed
from tests.replay.sessions import PROGRAMS, recorded

OTHERWISE = {"ApiVersions"}
"""Each server lists the APIs and features that it has."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_recorded_session_is_answered_the_same(broker: Broker, name: str, tmp_path: Path) -> None:
    program = partial(PROGRAMS[name], prefix=unique("replay"))
    recording = recorded(tmp_path / "session.parquet", program)
    target = parsed(broker.bootstrap.split(",")[0])
    report = asyncio.run(replay(recording, target, ReplayOptions(patience=30)))
    other = [each for each in report.differences if each.exchange.api not in OTHERWISE]
    assert not other, "\n".join(report.lines())
    assert report.compared > 20
