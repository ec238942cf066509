"""Changes of a test to the metadata of a cluster besides topics and groups: configs of brokers
and of client metrics, quotas, and ACLs. Undone by the requests of an admin client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.access import acls as acl_requests
from kafkadouble.brokers import broker_settings, quota_requests
from kafkadouble.host.host import host_of
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.configs.alter import AlterConfigOpType
from kafkadouble.server.metadata.image import BROKER, GROUP, TOPIC, Acl, Image, QuotaEntity

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble
    from kafkadouble.engine.cluster_api import BrokerApi

ConfigResource = tuple[int, str]


class SharedMetadata(NamedTuple):
    """The part of the metadata that is not of one topic or group: `configs` by type and name of the
    resource, `quotas` by entity."""

    configs: Mapping[ConfigResource, Mapping[str, str]]
    quotas: Mapping[QuotaEntity, Mapping[str, float]]
    acls: frozenset[Acl]


def shared(image: Image) -> SharedMetadata:
    """The part of an image that a test may change besides topics and groups."""
    configs = {at: values for at, values in image.configs.items() if at[0] not in (TOPIC, GROUP)}
    return SharedMetadata(configs, image.quotas, frozenset(image.acls.values()))


def undo(double: KafkaDouble, now: SharedMetadata, before: SharedMetadata) -> None:
    """Brings back what was before. Raises KafkaError."""
    for resource, changes in _changes(now.configs, before.configs):
        _alter_configs(double, resource, changes)
    for entity, quotas in _changes(now.quotas, before.quotas):
        made = AlterClientQuotasRequest
        of = [made.EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        ops = [made.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in sorted(quotas.items())]
        quota_requests.check_entries(host_of(double).ask(made(entries=[made.EntryData(entity=of, ops=ops)])).entries)
    if added := now.acls - before.acls:
        acl_requests.deleted(host_of(double).ask(acl_requests.to_delete([_creation(each) for each in added])))
    if missing := [_creation(each) for each in before.acls - now.acls]:
        acl_requests.check_creations(missing, host_of(double).ask(acl_requests.to_create(missing)))


def _changes(now: Mapping[Any, Mapping[str, Any]], before: Mapping[Any, Mapping[str, Any]]) -> Iterator[Any]:
    """The changes that restore `before`: for each resource the values by name, None to remove
    one."""
    for each in sorted({*now, *before}, key=repr):
        old, new = before.get(each, {}), now.get(each, {})
        changes = {name: old.get(name) for name in {*old, *new} if old.get(name) != new.get(name)}
        if changes:
            yield each, changes


def _alter_configs(double: KafkaDouble, resource: ConfigResource, changes: Mapping[str, str | None]) -> None:
    """Sent to the broker that it is about, as by an admin client; one that does not run keeps
    them."""
    kind, name = resource
    host = host_of(double)
    at: BrokerApi | None = None
    if kind == BROKER and name:
        at = host.call(
            lambda: next((member for member in host.serving().broker.members if str(member.node.id) == name), None)
        )
        if at is None:
            return
        host.call(broker_settings.accept_any_certificate, at)
    broker_settings.check_results(host_of(double).ask(_to_alter_configs(kind, name, changes), at))


def _to_alter_configs(kind: int, name: str, changes: Mapping[str, str | None]) -> IncrementalAlterConfigsRequest:
    made = IncrementalAlterConfigsRequest
    configs = [
        made.AlterableConfig(
            name=each,
            config_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
            value=value,
        )
        for each, value in sorted(changes.items())
    ]
    resource = made.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return made(resources=[resource])


def _creation(acl: Acl) -> CreateAclsRequest.AclCreation:
    return CreateAclsRequest.AclCreation(
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        resource_pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )
