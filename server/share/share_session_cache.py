"""The share sessions of one broker (KIP-932).

Rules. There are at most `group.share.max.share.sessions`, of `MAX_SIZE_BYTES` together; a request
that would open one more is refused. A session ends with its final request or with its connection,
never by its age, or when it grows too large. When the last connection with a session of a group has
ended, the group is idle on this broker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from .share_session import ShareSession, ShareSessionKey, TopicIdPartition

MAX_SIZE_BYTES = 64 << 20
"""The most bytes that all sessions take together, by estimate. Their partitions need not exist, and
a connection may open many of them. It is enough for more than 150,000 partitions.
"""


class ShareGroupListener(Protocol):
    """Hears what the end of a connection means."""

    def on_member_leave(self, key: ShareSessionKey) -> None:
        """The connection of the session has ended, and the session is not removed yet."""

    def on_group_empty(self, group_id: str) -> None:
        """The group has no session on this broker."""


class ShareSessionCache:
    """The sessions, by group and member."""

    def __init__(self, max_sessions: int, listener: ShareGroupListener) -> None:
        self._max_sessions, self._listener = max_sessions, listener
        self._sessions: dict[ShareSessionKey, ShareSession] = {}
        self._members: Counter[str] = Counter()
        self.size_bytes = 0
        # connection id -> the session that was opened over it last
        self._by_connection: dict[int, ShareSessionKey] = {}

    def get(self, key: ShareSessionKey) -> ShareSession | None:
        return self._sessions.get(key)

    def open(
        self, key: ShareSessionKey, partitions: Iterable[TopicIdPartition], connection_id: int
    ) -> ShareSession | None:
        """Opens the session of a member, in place of an earlier one; None if there are too many."""
        self.remove(key)
        if len(self._sessions) >= self._max_sessions:
            return None
        session = ShareSession(key, partitions, connection_id)
        if self.size_bytes + session.size_bytes > MAX_SIZE_BYTES:
            return None
        self._sessions[key] = session
        self.size_bytes += session.size_bytes
        self._members[key.group_id] += 1
        self._by_connection[connection_id] = key
        return session

    def update(
        self, session: ShareSession, added: Iterable[TopicIdPartition], forgotten: Iterable[TopicIdPartition]
    ) -> bool:
        """Applies what a request of the session changes. Returns whether the session may stay."""
        before = session.size_bytes
        session.update(added, forgotten)
        growth = session.size_bytes - before
        self.size_bytes += growth
        return growth <= 0 or self.size_bytes <= MAX_SIZE_BYTES

    def remove(self, key: ShareSessionKey) -> ShareSession | None:
        """Removes the session of a member, if there is one."""
        session = self._sessions.pop(key, None)
        if session is not None:
            self.size_bytes -= session.size_bytes
            self._members[key.group_id] -= 1
            if not self._members[key.group_id]:
                del self._members[key.group_id]
        return session

    def on_disconnect(self, connection_id: int) -> None:
        """The connection has ended: so has the session that was opened over it, unless the member
        has opened another one since."""
        key = self._by_connection.pop(connection_id, None)
        if key is None:
            return
        session = self._sessions.get(key)
        if session is not None and session.connection_id == connection_id:
            self._listener.on_member_leave(key)
            self.remove(key)
        if not self._members[key.group_id]:
            self._listener.on_group_empty(key.group_id)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that have sessions."""
        return tuple(self._members)

    def clear(self) -> None:
        """Forgets every session."""
        self._sessions.clear()
        self._members.clear()
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._sessions)
