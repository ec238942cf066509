"""After a leader was killed, another one leads within 1.5 fetch timeouts, also in the slowest case:
see `takeover`, which can be run."""

from __future__ import annotations

import logging

import pytest

from .takeover import FACTOR, FETCH_TIMEOUT, takeovers

SEEDS, PORTION = 50, 10


@pytest.mark.parametrize("first", range(0, SEEDS, PORTION))
def test_another_leads_within_one_and_a_half_fetch_timeouts(first: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    for seed in range(first, first + PORTION):
        took = takeovers(seed)
        assert max(took) <= FACTOR * FETCH_TIMEOUT, f"seed {seed}: {took} ms"
