"""Faults for every served API: each can be failed, delayed and cut off in every version, and
narrowed to every part that its requests name."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.message import Struct
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.part_lists import PATHS, key_of, kinds_of
from kafkadouble.server.apis.row import PartList, ServedApi
from kafkadouble.server.apis.served import TABLE
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.requests.answer import DISCONNECT
from kafkadouble.server.tracing.history import errors_in
from tests.server.harness import Harness

ERROR = "KAFKA_STORAGE_ERROR"
TARGET, OTHER = "target", "other"
CASES = [(served, version) for served in TABLE for version in range(served.lowest, served.highest + 1)]
EVERY = pytest.mark.parametrize(
    ("served", "version"), CASES, ids=[f"{served.name}-{version}" for served, version in CASES]
)


@pytest.fixture(scope="module")
def cluster() -> Harness:
    cluster = Harness()
    cluster.create(TARGET, OTHER, partitions=2)
    cluster.submit(FindCoordinatorRequest(coordinator_keys=[TARGET, OTHER]), 4)
    return cluster


def filled(
    cls: type[Struct], version: int, path: tuple[PartList, ...], cluster: Harness, name: str = TARGET, index: int = 0
) -> Any:
    """A request, or a part of one, that names two of each thing that it can name in this
    version."""
    struct: Any = cls()
    topic = cluster.topic(name)
    fields = {field.name: field for field in fields_of(cls) if field.present(version)}
    values: dict[str, Any] = {
        "name": name, "topic": name, "topic_name": name, "topic_id": topic.id, "resource_name": name, "resource_type": 2,
        "partition_index": index, "index": index, "partition": index, "group_id": name, "transactional_id": name, "key": name,
        "v3_and_below_transactional_id": name,
    }  # fmt: skip
    for field in fields.keys() & values.keys():
        setattr(struct, field, values[field] if fields[field].type != "uuid" else Uuid(topic.id))
    if path and path[0].requested in fields:
        inner = fields[path[0].requested].struct
        parts = [(TARGET, 0), (OTHER, 1)] if path[0].kind != "partition" else [(name, 0), (name, 1)]
        plain = [index if path[0].kind == "partition" else name for name, index in parts]
        items = plain if inner is None else [filled(inner, version, path[1:], cluster, *part) for part in parts]
        setattr(struct, path[0].requested, items)
    return struct


def request(served: ServedApi, version: int, cluster: Harness) -> Any:
    """A request of an API with as many parts as it can have."""
    request_class = served.api.request
    names = {field.name for field in fields_of(request_class) if field.present(version)}
    path = next((path for path in PATHS.get(served.name, ()) if path[0].requested in names), ())
    made = filled(request_class, version, path, cluster)
    # Parts that no rule can name are included, too, so that the answer has a place for the error.
    if not path:
        for field in fields_of(request_class):
            if field.array and field.struct is not None and field.present(version):
                setattr(made, field.name, [nested(field.struct, version)])
    return made


def nested(cls: type[Struct], version: int) -> Struct:
    """A part that has one part of each kind in turn."""
    struct = cls()
    for field in fields_of(cls):
        if field.array and field.present(version):
            setattr(struct, field.name, [nested(field.struct, version) if field.struct else 0])
    return struct


@EVERY
def test_api_fails_with_the_error_of_a_rule(served: ServedApi, version: int, cluster: Harness) -> None:
    armed = cluster.node.faults.arm(Rule.of(action="fail", api=served.name, error=ERROR))
    answer = cluster.submit(request(served, version, cluster), version)
    assert armed.spent
    if answer is not None and answer is not DISCONNECT:
        assert errors_in(answer) == (ERROR,), answer


@EVERY
def test_a_bare_request_fails(served: ServedApi, version: int, cluster: Harness) -> None:
    armed = cluster.node.faults.arm(Rule.of(action="fail", api=served.name, error=ERROR))
    cluster.submit(served.api.request(), version)
    assert armed.spent


@EVERY
def test_api_fails_for_a_part_that_a_rule_names(served: ServedApi, version: int, cluster: Harness) -> None:
    for kind in sorted(kinds_of(served.name, served.api.request)):
        scope = {kind: 0 if kind == "partition" else TARGET}
        body = request(served, version, cluster)
        if kind in ("group", "transactional_id") and not bool(key_of(body, kind, lambda topic_id: None) == TARGET):
            continue
        armed = cluster.node.faults.arm(Rule.of(action="fail", api=served.name, error=ERROR, **scope))
        pending = cluster.begin(body, version)
        cluster.tick(60_000)
        answer = pending.response
        cluster.node.faults.clear()
        if armed.spent and answer is not None and answer is not DISCONNECT:
            assert ERROR in errors_in(answer), (kind, answer)


@EVERY
def test_api_is_delayed_and_disconnected_by_rules(served: ServedApi, version: int, cluster: Harness) -> None:
    cluster.node.faults.arm(Rule.of(action="delay", api=served.name, seconds=1))
    cluster.node.faults.arm(Rule.of(action="disconnect", api=served.name))
    pending = cluster.begin(request(served, version, cluster), version)
    assert not pending.done
    cluster.tick(1000)
    assert pending.response is DISCONNECT
    assert cluster.node.faults.rules == []
