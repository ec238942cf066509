"""KIP-1219: over 5 Mbit/s a new controller that requests 8 MiB at once never catches up, and with 1
MiB it does."""

from __future__ import annotations

import pytest

from tests.simulation.bandwidth import APIS, KIPS_FIGURE, MIB, OF_THE_KIP, catch_up, least

TIMEOUT = 2
"""Kafka's timeouts of a fetch and of a request, in seconds."""


@pytest.mark.parametrize("api", APIS)
def test_with_8_mib_at_once_it_never_catches_up_and_asks_for_votes_again_and_again(api: str) -> None:
    found = catch_up(api, OF_THE_KIP, 8 * MIB)
    assert found.seconds is None
    assert found.prospective > 20
    assert found.is_undisturbed, "the pre-vote spares the others the elections that the KIP tells of (KIP-996)"


@pytest.mark.parametrize("api", APIS)
def test_follower_catches_up_at_once_with_1_mib_fetches(api: str) -> None:
    found = catch_up(api, OF_THE_KIP, MIB)
    assert found.seconds is not None
    assert found.seconds < 3
    assert (found.prospective, found.is_undisturbed) == (0, True)


@pytest.mark.parametrize("cap", [MIB, MIB // 4])
def test_the_least_bandwidth_carries_one_request_within_one_timeout(cap: int) -> None:
    bound = cap * 8 / TIMEOUT
    assert bound < least("FetchSnapshot", cap, precision=0.05) < 1.1 * bound


def test_the_figure_of_the_kip_is_one_of_bytes() -> None:
    assert catch_up("FetchSnapshot", KIPS_FIGURE * 107 // 100, MIB).seconds is not None
    assert catch_up("FetchSnapshot", KIPS_FIGURE // 8, MIB).seconds is None, "500 kilobits per second are not enough"
