"""Builds the request that sets a subscription to metrics of clients, as an admin client sends
it."""

from __future__ import annotations

from collections.abc import Mapping

from kafkadouble.arguments.parameters import check
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.configs.alter import AlterConfigOpType, Resource
from kafkadouble.server.configs.client_metrics import CLIENT_METRICS
from kafkadouble.server.configs.settings import as_text


def to_set(name: str, config: Mapping[str, object]) -> IncrementalAlterConfigsRequest:
    """The request that sets what is given, and removes the other configurations."""
    check(name=name, config=config)
    of = IncrementalAlterConfigsRequest
    others = [row.name for row in CLIENT_METRICS if row.name not in config]
    configs = [
        *(
            of.AlterableConfig(name=key, config_operation=AlterConfigOpType.SET, value=as_text(value))
            for key, value in config.items()
        ),
        *(of.AlterableConfig(name=key, config_operation=AlterConfigOpType.DELETE, value=None) for key in others),
    ]
    resource = of.AlterConfigsResource(resource_type=Resource.CLIENT_METRICS, resource_name=name, configs=configs)
    return of(resources=[resource])
