"""Which record of `__consumer_offsets` changes what of a shard.

The records of consumer, share and streams groups are replayed by the table in `replay.py` of their
package, which is imported on the first such record. A record of any other type belongs to a newer
version, and is ignored, as in Kafka.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from kafkadouble.messages.generated.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kafkadouble.messages.message import Message

from ..classic.group import ClassicGroup
from ..group_coordinator_shard import GroupCoordinatorShard
from ..offset_records import offset_and_metadata_of, offset_key_of


def replay(shard: GroupCoordinatorShard, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
    """Applies one record to the shard."""
    replay_own = REPLAY.get(type(key))
    if replay_own is not None:
        replay_own(shard, offset, producer_id, key, value)
    elif (replay_group := _replay_of_group(type(key))) is not None:
        replay_group(shard, key, value)


def _replay_group_metadata(
    shard: GroupCoordinatorShard, offset: int, producer_id: int, key: GroupMetadataKey, value: GroupMetadataValue | None
) -> None:
    """Replaces or deletes a classic group."""
    if value is None:
        shard.groups.pop(key.group, None)
    else:
        shard.groups[key.group] = ClassicGroup.loaded_from(shard, key.group, value)


def _replay_offset_commit(
    shard: GroupCoordinatorShard, offset: int, producer_id: int, key: OffsetCommitKey, value: OffsetCommitValue | None
) -> None:
    """Sets or deletes an offset. The first offset of an unknown group creates an empty group."""
    if value is None:
        shard.offsets.remove(offset_key_of(key))
        return
    if key.group not in shard.groups:
        shard.groups[key.group] = ClassicGroup(shard, key.group)
    shard.offsets.put(producer_id, offset_key_of(key), offset_and_metadata_of(offset, value))


REPLAY: dict[type[Message], Any] = {
    GroupMetadataKey: _replay_group_metadata,
    OffsetCommitKey: _replay_offset_commit,
}
"""Class of a record's key -> the function that applies the record."""

PACKAGES = {"ConsumerGroup": "consumer", "ShareGroup": "share", "StreamsGroup": "streams"}
"""How the names of a package's records begin -> the package with their `replay.py`."""


def _replay_of_group(key_type: type[Message]) -> Any:
    """Returns the function that replays a record of a newer protocol; None if it is unknown."""
    name = key_type.__name__
    package = next((package for prefix, package in PACKAGES.items() if name.startswith(prefix)), None)
    return None if package is None else _replay_table(package).get(key_type)


@cache
def _replay_table(package: str) -> dict[type[Message], Any]:
    table: dict[type[Message], Any] = import_module(f"..{package}.replay", __package__).REPLAY
    return table
