"""The frames that `benchmarks.hostile_frames` measures are as wide as the limits allow, and are
decoded."""

from __future__ import annotations

import pytest

from benchmarks import widest
from kafkadouble.messages import headers
from kafkadouble.messages.elements import exceed
from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE

MOST = 40


@pytest.mark.parametrize("served", [*TABLE, *CONTROLLER_TABLE], ids=lambda served: served.name)
def test_the_widest_frames_of_an_api_are_within_the_limit(served: ServedApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widest, "MOST", MOST)
    frames = dict(widest.frames(served.request, served.highest))
    for wide, sized in frames.items():
        frame = sized[4:]
        head = headers.read_request_header(frame, 0, MOST)
        served.request.decode(frame, head.api_version, head.body_offset)
        elements = MOST + 9 - head.tags
        assert not exceed(served.request, frame, head.api_version, head.body_offset, elements), wide
    assert any(str(MOST) in wide for wide in frames) or served.api.request_entry.flexible_from is None
