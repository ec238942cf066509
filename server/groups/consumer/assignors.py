"""The partition assignors that consumer groups may use, by name (`group.consumer.assignors`)."""

from __future__ import annotations

from ...configs.settings import Settings
from ..assignor.partition_assignor import PartitionAssignor
from ..assignor.range_assignor import RangeAssignor
from ..assignor.uniform_assignor import UniformAssignor

ASSIGNORS: dict[str, PartitionAssignor] = {assignor.name: assignor for assignor in (UniformAssignor(), RangeAssignor())}


def default_assignor_name(settings: Settings) -> str:
    return next(name for name in settings.list("group.consumer.assignors") if name in ASSIGNORS)


def assignor_named(name: str) -> PartitionAssignor:
    return ASSIGNORS[name]
