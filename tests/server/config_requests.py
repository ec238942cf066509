"""Requests that alter configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest

SET, APPEND = 0, 2
DELETE = 1, None
RequestedResource = tuple[int, str, Mapping[str, Any]]
"""A type, a name, and for each configuration its value, or (operation, value)."""


def incremental(*requested: RequestedResource, **fields: Any) -> IncrementalAlterConfigsRequest:
    of = IncrementalAlterConfigsRequest

    def change(name: str, wish: Any) -> IncrementalAlterConfigsRequest.AlterableConfig:
        how, value = wish if isinstance(wish, tuple) else (SET, wish)
        return of.AlterableConfig(name=name, config_operation=how, value=value)

    return of(resources=_resources(of.AlterConfigsResource, change, requested), **fields)


def whole(*requested: RequestedResource) -> AlterConfigsRequest:
    of = AlterConfigsRequest
    return of(
        resources=_resources(
            of.AlterConfigsResource, lambda name, value: of.AlterableConfig(name=name, value=value), requested
        )
    )


def _resources(of: Any, change: Any, requested: Sequence[RequestedResource]) -> list[Any]:
    return [
        of(resource_type=kind, resource_name=name, configs=[change(*each) for each in configs.items()])
        for kind, name, configs in requested
    ]
