"""The states of a broker, as a table: state, what it wants, how things are, and what comes."""

from __future__ import annotations

import pytest

from kafkadouble.server.controller.broker_control_state import BrokerControlState, BrokerStateRequest, next_state

FENCED, UNFENCED, LEAVING, GONE = (
    BrokerControlState.FENCED,
    BrokerControlState.UNFENCED,
    BrokerControlState.CONTROLLED_SHUTDOWN,
    BrokerControlState.SHUTDOWN_NOW,
)

TABLE = """
state     wants       knows                     next
fenced    -           -                         fenced
fenced    -           caught_up                 unfenced
fenced    fence       caught_up                 fenced
fenced    stop        -                         gone
fenced    stop        caught_up                 gone
fenced    fence,stop  caught_up                 gone
unfenced  -           -                         unfenced
unfenced  -           caught_up                 unfenced
unfenced  fence       caught_up                 fenced
unfenced  fence,stop  caught_up,leads           gone
unfenced  stop        caught_up                 gone
unfenced  stop        caught_up,leads           leaving
unfenced  stop        leads                     leaving
leaving   stop        leads                     leaving
leaving   stop        leads,others_know         leaving
leaving   stop        -                         leaving
leaving   stop        others_know               gone
leaving   -           others_know               gone
leaving   fence       -                         leaving
gone      -           caught_up                 gone
"""

NAMES = {"fenced": FENCED, "unfenced": UNFENCED, "leaving": LEAVING, "gone": GONE}
ROWS = [line.split() for line in TABLE.strip().split("\n")[1:]]


@pytest.mark.parametrize(("before", "wants", "knows", "after"), ROWS)
def test_broker_control_state_after_a_heartbeat(before: str, wants: str, knows: str, after: str) -> None:
    wish = BrokerStateRequest(
        "fence" in wants,
        "stop" in wants,
        "caught_up" in knows,
        lambda: "leads" in knows,
        lambda: "others_know" in knows,
    )
    assert next_state(NAMES[before], wish) is NAMES[after]


def test_broker_control_states_that_count_as_fenced() -> None:
    assert [state.fenced for state in (FENCED, UNFENCED, LEAVING, GONE)] == [True, False, False, True]


@pytest.mark.parametrize("state", [FENCED, UNFENCED])
def test_a_broker_that_goes_on_costs_no_search(state: BrokerControlState) -> None:
    def search() -> bool:
        raise AssertionError("the search was not needed")

    next_state(state, BrokerStateRequest(False, False, True, search, search))
