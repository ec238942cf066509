"""Acknowledged records survive the kill of their broker, however often it is killed: `python -m
benchmarks.kill` kills it 500 times."""

from __future__ import annotations

import pytest

from benchmarks.kill import Broken, kill_again_and_again

SEED = 20261121


@pytest.mark.parametrize(
    ("kills", "settings"), [(12, []), (4, ["log.flush.interval.messages=1"])], ids=["written", "flushed"]
)
@pytest.mark.timeout(900)
def test_acknowledged_records_survive_kills(kills: int, settings: list[str]) -> None:
    figures = kill_again_and_again(kills, SEED, settings)
    assert figures.acknowledged > 10 * kills


def test_a_broker_that_forgets_is_found_out() -> None:
    # By the first kill that comes after an acknowledgement.
    with pytest.raises(Broken):
        kill_again_and_again(20, SEED, kept=False)
