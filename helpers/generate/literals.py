"""The names that parameters and results are limited to: APIs, errors, states, from the tables of
the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.brokers.cluster_description import ISOLATED, PAUSED, RUNNING, STOPPED
from kafkadouble.clients.client_config import CLIENTS
from kafkadouble.coordinators.groups import _DESCRIBE
from kafkadouble.lint.rules import BY_NAME
from kafkadouble.messages import error_codes, registry
from kafkadouble.scenario.steps import DONE, FAILED, PENDING
from kafkadouble.server.faults.actions import ACTIONS
from kafkadouble.server.tracing.trace import ABANDONED, ANSWERED, DISCONNECTED, UNANSWERED, WAITING
from kafkadouble.waits.coordinator_conditions import GROUP_STATES, TRANSACTION_STATES

LITERALS: Mapping[str, tuple[str, ...]] = {
    "ApiName": tuple(api.name for api in registry.apis() if not api.retired),
    "ErrorName": tuple(name for code, name in error_codes.NAMES.items() if code),
    "GroupState": GROUP_STATES,
    "GroupType": tuple(_DESCRIBE),
    "TransactionState": TRANSACTION_STATES,
    "BrokerState": (RUNNING, PAUSED, ISOLATED, STOPPED),
    "RequestOutcome": (WAITING, ANSWERED, UNANSWERED, DISCONNECTED, ABANDONED),
    "StepState": (PENDING, DONE, FAILED),
    "RuleAction": tuple(ACTIONS),
    "LintRule": tuple(BY_NAME),
    "ClientLibrary": tuple(CLIENTS),
}
"""Name of a set -> its words."""

OF_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "api": ("ApiName",),
    "apis": ("ApiName",),
    "error": ("ErrorName",),
    "ignore": ("LintRule",),
    "client": ("ClientLibrary",),
    "wait_for_group.state": ("GroupState",),
    "wait_for_transaction.state": ("TransactionState",),
}
"""A parameter, or one of a verb -> the sets that its texts are from."""


def words_of(verb: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """What the texts of a parameter may be: names of sets, and words in quotes. Empty for any
    text."""
    name, allowed = given["name"], given["allowed"]
    sets = OF_PARAMETERS.get(f"{verb}.{name}") or OF_PARAMETERS.get(name, ())
    schema = given["schema"]
    enum = next((each["enum"] for each in (schema, *schema.get("anyOf", ())) if "enum" in each), ())
    every = ("'*'",) if allowed.endswith(", or *") else ()
    return (*sets, *every, *(f"'{each}'" for each in enum))
