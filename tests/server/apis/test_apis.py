"""The rows of the APIs: every fact of each was decided, and agrees with the message specs."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.message import Struct
from kafkadouble.server.apis.row import (
    BODIES,
    BOTH,
    CONFIG_VALUES,
    FIRST,
    HANDLER,
    IN_ORDER,
    LAST,
    NONE,
    RIGHT,
    ROW,
    ApiRow,
    ServedApi,
)
from kafkadouble.server.apis.rows import read_rows
from kafkadouble.server.apis.served import CONTROLLER_TABLE, ROWS, TABLE
from kafkadouble.server.security.acls import OPERATIONS, RESOURCE_TYPES

EVERY = pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])

FACTS = ("forwarded", "parts", "right", "part_right", "guard", "secrets")
RESOURCES = {*(name.lower() for name in RESOURCE_TYPES), "resource", "coordinator"}
CREDENTIALS = {"hmac", "salt", "salted_password", "auth_bytes", "request_data"}
"""Fields whose content is a credential, or may hold one."""


def test_row_of_an_api_has_no_default_for_a_fact() -> None:
    parameters = inspect.signature(ApiRow).parameters
    assert [name for name in FACTS if parameters[name].default is not inspect.Parameter.empty] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Heartbeat  local  READ group  none  row", "not enough values"),
        ("Heartbeat  here  READ group  none  row  none", "Heartbeat is forwarded or local, not 'here'"),
        ("Heartbeat  local  READ group  none  row  none  parts_once", "'parts_once' is no fact of an API"),
    ],
)
def test_api_row_with_a_missing_or_unknown_fact_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        list(read_rows(text))


@EVERY
def test_row_of_an_api_decides_every_fact(row: ApiRow) -> None:
    assert row.secrets in (NONE, BODIES, CONFIG_VALUES)
    assert row.refused_parts in (FIRST, LAST, IN_ORDER)
    assert row.paths or (row.refused_parts, row.counts_parts_once) == (LAST, False)
    for right in (row.right, row.part_right, row.controller_right):
        for each in [] if right == NONE else right.split(" + "):
            operations, _, resource = each.partition(" ")
            assert set(operations.split("|")) <= set(OPERATIONS), right
            assert resource in RESOURCES, right
    assert row.part_right == NONE or row.paths or not row.right_or_parts or row.name == "ListGroups"
    assert not row.right_or_parts or NONE not in (row.right, row.part_right)
    assert not row.reason or row.advertised_from is not None


@EVERY
def test_api_is_served_on_the_listeners_of_its_spec(row: ApiRow) -> None:
    at = [(TABLE, "broker"), (CONTROLLER_TABLE, "controller")]
    found = [kind for table, kind in at if row.name in {served.name for served in table}]
    assert found == [kind for kind in ("broker", "controller") if kind in row.api.listeners]


@pytest.mark.parametrize("served", [*TABLE, *CONTROLLER_TABLE], ids=lambda served: served.name)
def test_handler_of_an_api_answers_and_refuses(served: ServedApi) -> None:
    assert callable(served.handler.answer)
    assert callable(served.refuse)


@EVERY
def test_field_that_proves_an_identity_is_a_secret(row: ApiRow) -> None:
    found = names(row.api.request) | names(row.api.response)
    assert (row.secrets == BODIES) >= bool(found & CREDENTIALS)
    if "configs" in names(row.api.request):
        assert row.secrets == CONFIG_VALUES


def names(cls: type[Struct]) -> set[str]:
    found: set[str] = set()
    for field in fields_of(cls):
        found |= {field.name} | (names(field.struct) if field.struct is not None else set())
    return found


def test_every_handler_module_has_a_row() -> None:
    handlers = import_module("kafkadouble.server.handlers")
    modules = {path.stem for root in handlers.__path__ for path in Path(root).glob("*.py")}
    assert modules - {"__init__"} == {name for row in ROWS for name in (row.module, row.controller_module)}


def test_no_row_is_of_a_retired_api() -> None:
    assert not any(registry.api_named(row.name).retired for row in ROWS)


GUARDED = "client_rights", "may_read_topics", "request_authorization import may", "described_groups"
"""Words of an import by which a handler checks rights."""
UNGUARDED = {
    *("ApiVersions", "SaslHandshake", "SaslAuthenticate"),
    *("RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken"),
    *("GetTelemetrySubscriptions", "PushTelemetry"),
}
"""The APIs for which a client needs no right: those before it has a principal; and tokens have
owners; and any client may push its metrics (KIP-714)."""


@EVERY
def test_right_of_an_api_has_a_guard(row: ApiRow) -> None:
    assert row.guard in (NONE, ROW, BOTH, RIGHT, HANDLER)
    if row.name in UNGUARDED:
        return
    needs = {row.right, row.part_right, row.controller_right} - {NONE}
    assert needs or row.guard == HANDLER, f"no right is needed for {row.name}"
    assert row.guard != NONE
    if row.guard in (BOTH, RIGHT, HANDLER):
        source = inspect.getsource(import_module(f"kafkadouble.server.handlers.{row.module}"))
        assert any(each in source for each in GUARDED), f"the handler of {row.name} checks no right"
    if row.guard in (ROW, BOTH) and row.part_right != NONE:
        assert row.paths, f"{row.name} has no parts to refuse"


@EVERY
def test_parts_of_an_api_are_guarded(row: ApiRow) -> None:
    """By a right to the part, or by one to the group, the transactional id or the cluster."""
    if not row.paths or row.guard == HANDLER or row.name in UNGUARDED:
        return
    assert row.part_right != NONE or row.right.endswith((" cluster", " group")), row
