"""The armed rules of all planes, and those that nothing has matched."""

from __future__ import annotations

from kafkadouble.server.faults import CONNECTION, REQUEST
from kafkadouble.server.faults.armed import Armed
from kafkadouble.server.faults.register import MOST_REMEMBERED, RuleRegister
from kafkadouble.server.faults.rule import Rule

REQUESTS, CONNECTIONS = Rule.of("pause", api="Fetch"), Rule.of("half_open")


def test_rules_are_listed_by_plane_and_together() -> None:
    register = RuleRegister()
    armed = [Armed(rule, 1) for rule in (CONNECTIONS, REQUESTS, CONNECTIONS)]
    for each in armed:
        register.add(each)
    assert register.rules == armed
    assert register.by_plane[REQUEST] == [armed[1]]
    assert register.by_plane[CONNECTION] == [armed[0], armed[2]]
    register.remove(armed[0])
    register.remove(armed[0])
    assert (register.rules, register.by_plane[CONNECTION]) == ([armed[1], armed[2]], [armed[2]])


def test_unmatched_requests_are_remembered_up_to_a_bound() -> None:
    register, first = RuleRegister(), Armed(REQUESTS, 1)
    register.add(first)
    used = Armed(CONNECTIONS, 1)
    register.add(used)
    used.applies(0)
    assert register.unused == [REQUESTS]
    for _ in range(3 * MOST_REMEMBERED):
        armed = Armed(CONNECTIONS, 1)
        register.add(armed)
        register.remove(armed)
    assert register.unused == [CONNECTIONS] * MOST_REMEMBERED
    register.forget()
    assert register.unused == []
