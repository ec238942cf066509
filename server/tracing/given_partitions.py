"""Which member of a group was given which partition, and when: the assignments in the answers of
coordinators.

Rules. Times are numbers: each later event has a larger one. An assignment of the classic protocol
gives every partition again, because a member may have lost its positions; so does the first
assignment after a member of another protocol joined. Otherwise, a partition that a member keeps
keeps its number. A partition that no member has any more keeps its entry, so that a client that
gets it again is known. The groups that were assigned longest ago are removed
beyond `MAX_BYTES`; their members count as if they had always had their partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid

from ..requests.kept_bytes import text_bytes

MAX_BYTES = 4 * 1024 * 1024
"""The bound of all groups together, by estimate. It is enough for 5,000 partitions."""

ENTRY_BYTES = 700
"""The memory of a partition of a group without its texts."""

MOST_CLIENTS = 4
"""So many clients that had a partition are known, the latest ones."""

GROUP_BYTES = 500

Place = tuple[str | Uuid, int]
"""A partition: the name or the id of its topic, or the id of a subtopology, and its index."""

Key = tuple[str | Uuid, int, str]
"""A partition of a group: the last is the member in a share group, whose members have partitions
together, and empty in other groups."""


class MemberClient(NamedTuple):
    """The client of a member: the number of the connection on which it speaks for its group, its
    client id and its host."""

    connection: int
    client_id: str
    host: str


class Given(NamedTuple):
    """Which member has a partition. `latest` is the number of the last assignment that gave it,
    maybe again. `firsts` has, by connection, when clients got the partition for the first time.
    `is_current` is False when the member has it no more, and no other one got it."""

    member_id: str
    client: MemberClient
    latest: int
    firsts: Mapping[int, int]
    is_current: bool = True

    @property
    def first(self) -> int:
        """When the client of the member got it for the first time."""
        return self.firsts.get(self.client.connection, 0)


class _GroupPartitions:
    """The partitions of one group, and the members that joined and wait for their assignment."""

    __slots__ = ("by_key", "by_member", "joining", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.by_key: dict[Key, Given] = {}
        self.by_member: dict[str, list[Key]] = {}
        self.joining: set[str] = set()
        self.size_bytes = size_bytes

    def give(self, member_id: str, client: MemberClient, keys: Iterable[Key], number: int, *, again: bool) -> int:
        """A member has these partitions, and no others; returns by how many bytes the group
        grew."""
        size = self.size_bytes
        new = {key: _given(self.by_key.get(key), member_id, client, number, again) for key in keys}
        self.take(member_id)
        for key, given in new.items():
            if key not in self.by_key:
                self.size_bytes += ENTRY_BYTES + text_bytes(str(key[0])) + text_bytes(client.client_id)
            self.by_key[key] = given
        self.by_member[member_id] = [*new]
        self.size_bytes += text_bytes(member_id)
        return self.size_bytes - size

    def take(self, member_id: str) -> None:
        """The member has no partitions any more, and waits for none."""
        if member_id in self.joining:
            self.joining.remove(member_id)
            self.size_bytes -= text_bytes(member_id)
        if (keys := self.by_member.pop(member_id, None)) is not None:
            self.size_bytes -= text_bytes(member_id)
            for key in keys:
                if self.by_key[key].member_id == member_id:
                    self.by_key[key] = self.by_key[key]._replace(is_current=False)


def _given(before: Given | None, member_id: str, client: MemberClient, number: int, again: bool) -> Given:
    if before is None:
        return Given(member_id, client, number, {client.connection: number})
    is_same_member = before.member_id == member_id
    first = before.firsts.get(client.connection, before.first if is_same_member else number)
    others = [each for each in before.firsts.items() if each[0] != client.connection]
    firsts = {**dict(others[1 - MOST_CLIENTS :]), client.connection: first}
    is_kept = is_same_member and before.is_current and not again
    return Given(member_id, client, before.latest if is_kept else number, firsts)


class GivenPartitions:
    """The partitions of members, by group."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes, self._size_bytes = max_bytes, 0
        self._groups: dict[str, _GroupPartitions] = {}  # the one that was assigned last is last

    def give(
        self, group: str, member_id: str, client: MemberClient, keys: Iterable[Key], number: int, *, again: bool
    ) -> None:
        """A member has these partitions, and no others. `again`: it may have lost its positions."""
        found = self._group(group)
        self._size_bytes += found.give(member_id, client, keys, number, again=again)
        self._groups[group] = self._groups.pop(group)
        self._make_room()

    def joined(self, group: str, member_id: str) -> None:
        """A member of a classic group waits for its assignment."""
        found = self._group(group)
        if member_id not in found.joining:
            found.joining.add(member_id)
            found.size_bytes += text_bytes(member_id)
            self._size_bytes += text_bytes(member_id)
            self._make_room()

    def left(self, group: str, member_id: str) -> None:
        """A member has left its group."""
        found = self._groups.get(group)
        if found is not None:
            self._size_bytes -= found.size_bytes
            found.take(member_id)
            self._size_bytes += found.size_bytes

    def is_joining(self, group: str, member_id: str) -> bool:
        """Whether the member waits for its assignment."""
        return group in self._groups and member_id in self._groups[group].joining

    def of(self, group: str, keys: Iterable[Key]) -> Given | None:
        """The member that has a partition, which may be known by several keys."""
        found = self._groups.get(group)
        return None if found is None else next((found.by_key[key] for key in keys if key in found.by_key), None)

    def in_other_groups(self, group: str, keys: Iterable[Key]) -> Iterator[Given]:
        """The members that have the same partition in other groups."""
        for id, found in self._groups.items():
            if id != group:
                yield from (each for key in keys if (each := found.by_key.get(key)) is not None and each.is_current)

    def clear(self) -> None:
        """Forgets every group."""
        self._groups.clear()
        self._size_bytes = 0

    def _group(self, group: str) -> _GroupPartitions:
        if group not in self._groups:
            self._groups[group] = _GroupPartitions(GROUP_BYTES + text_bytes(group))
            self._size_bytes += self._groups[group].size_bytes
        return self._groups[group]

    def _make_room(self) -> None:
        while self._size_bytes > self._max_bytes:
            self._size_bytes -= self._groups.pop(next(iter(self._groups))).size_bytes

    def __repr__(self) -> str:
        return f"the assignments of {len(self._groups)} groups"
