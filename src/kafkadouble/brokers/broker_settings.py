"""Requests that change settings of one broker while it runs (KIP-226), as an admin client sends
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import raise_for
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.configs.alter import AlterConfigOpType, Resource

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import BrokerApi


def to_set(broker: int, configs: Mapping[str, str]) -> IncrementalAlterConfigsRequest:
    """Sets these settings of a broker."""
    return _request(broker, [(name, AlterConfigOpType.SET, value) for name, value in configs.items()])


def to_delete(broker: int, names: Iterable[str]) -> IncrementalAlterConfigsRequest:
    """Removes the dynamic values, so that the broker uses its own file again."""
    return _request(broker, [(name, AlterConfigOpType.DELETE, None) for name in names])


def check_results(answer: Any) -> None:
    """KafkaError for a setting that was refused."""
    for response in answer.responses:
        raise_for(response.error_code, response.error_message)


def accept_any_certificate(member: BrokerApi) -> None:
    """Makes a broker accept certificates with which brokers cannot connect to one another, which
    Kafka refuses. For the thread of the broker."""
    if member.node.tls is not None:
        member.node.tls.must_connect_peers = False


def _request(broker: int, changes: Iterable[tuple[str, int, str | None]]) -> IncrementalAlterConfigsRequest:
    made = IncrementalAlterConfigsRequest
    configs = [made.AlterableConfig(name=name, config_operation=op, value=value) for name, op, value in changes]
    resource = made.AlterConfigsResource(resource_type=Resource.BROKER, resource_name=str(broker), configs=configs)
    return made(resources=[resource])
