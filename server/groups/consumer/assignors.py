"""The partition assignors that consumer groups may use, by name (`group.consumer.assignors`)."""

from __future__ import annotations

from ...configs.settings import Settings
from ..assignor.partition_assignor import PartitionAssignor
from ..assignor.range_assignor import RangeAssignor
from ..assignor.uniform_assignor import UniformAssignor

ASSIGNORS: dict[str, PartitionAssignor] = {assignor.name: assignor for assignor in (UniformAssignor(), RangeAssignor())}


def assignor_names(settings: Settings) -> list[str]:
    """Returns the names of the assignors that this broker offers; the first is the default."""
    return [name for name in settings.list("group.consumer.assignors") if name in ASSIGNORS]


def default_assignor_name(settings: Settings) -> str:
    return assignor_names(settings)[0]


def assignor_named(name: str) -> PartitionAssignor:
    return ASSIGNORS[name]
