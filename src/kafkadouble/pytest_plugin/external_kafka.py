"""The changes of a test to a real Kafka that are undone after it: topics that it created,
quotas, ACLs and subscriptions to the metrics of clients; in a Kafka that the plugin started, every
topic and group."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from kafkadouble.access import acls
from kafkadouble.common.errors import KafkaError, raise_for
from kafkadouble.external.local.own_kafka import OwnKafka
from kafkadouble.external.real_kafka import remote_of
from kafkadouble.host.host import host_of
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.messages.generated.list_config_resources import ListConfigResourcesRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.metadata.image import CLIENT_METRICS, Acl
from kafkadouble.server.metadata.internal_topics import INTERNAL_TOPICS

from . import metadata_changes
from .metadata_changes import SharedMetadata

if TYPE_CHECKING:
    from kafkadouble.external.real_kafka import RealKafka

T = TypeVar("T")


def check_answers(kafka: RealKafka) -> None:
    """Raises pytest.UsageError if no Kafka answers at its address. Otherwise each call of each test
    would wait for one."""
    try:
        host_of(kafka).ask(MetadataRequest(topics=[]))
    except KafkaError as problem:
        raise pytest.UsageError(
            f"--kafka-broker={kafka.target}: no Kafka answers at {kafka.bootstrap_servers}: {problem.text}"
        ) from None


def shared_metadata(kafka: RealKafka) -> SharedMetadata:
    """The metadata that a test may change besides topics and groups. A part that this client may
    not read, or that this Kafka does not have, is empty."""
    return SharedMetadata(
        _read(_client_metrics, kafka, {}), _read(_quotas, kafka, {}), _read(_acls, kafka, frozenset())
    )


def _read(part: Callable[[RealKafka], T], kafka: RealKafka, nothing: T) -> T:
    with suppress(KafkaError):
        return part(kafka)
    return nothing


def _client_metrics(kafka: RealKafka) -> dict[tuple[int, str], dict[str, str]]:
    listed = host_of(kafka).ask(ListConfigResourcesRequest(resource_types=[CLIENT_METRICS]))
    raise_for(listed.error_code)
    names = [resource.resource_name for resource in listed.config_resources]
    return {(CLIENT_METRICS, name): remote_of(kafka).image.config_overrides(CLIENT_METRICS, name) for name in names}


def _quotas(kafka: RealKafka) -> dict[Any, dict[str, float]]:
    answer = host_of(kafka).ask(DescribeClientQuotasRequest(components=[]))
    raise_for(answer.error_code, answer.error_message)
    return {
        tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)): {
            value.key: value.value for value in entry.values
        }
        for entry in answer.entries or ()
    }


def _acls(kafka: RealKafka) -> frozenset[Acl]:
    answer = host_of(kafka).ask(acls.to_describe())
    raise_for(answer.error_code, answer.error_message)
    return frozenset(
        Acl(
            at.resource_type,
            at.resource_name,
            at.pattern_type,
            one.principal,
            one.host,
            one.operation,
            one.permission_type,
        )
        for at in answer.resources
        for one in at.acls
    )


def clean(kafka: RealKafka, before: SharedMetadata, *, is_own: bool) -> None:
    """Brings back what was before a test, and deletes what it created. `is_own`: nothing else uses
    this Kafka, and everything is deleted."""
    _revive(kafka)
    remote_of(kafka).settle()
    found = set(remote_of(kafka).image.topic_ids) - INTERNAL_TOPICS if is_own else set(kafka.created_topics)
    for name in sorted(found):
        with suppress(KafkaError):
            kafka.delete_topic(name)
    kafka.created_topics.clear()
    if is_own and (ids := [id for id, group in kafka.groups().items() if not group.members]):
        for member in remote_of(kafka).members:
            host_of(kafka).ask(DeleteGroupsRequest(groups_names=ids), cast(Any, member))
    restore(kafka, before)


def restore(kafka: RealKafka, before: SharedMetadata) -> None:
    """Brings back what was before a test, except for topics and groups. A broker that does not run
    is started."""
    _revive(kafka)
    now, double = shared_metadata(kafka), cast(Any, kafka)
    if now != before:
        metadata_changes.undo(double, now, before)


def _revive(kafka: RealKafka) -> None:
    if isinstance(kafka, OwnKafka):
        kafka.brokers[1].resume()
        kafka.up()
