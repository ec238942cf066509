"""The fetch session that a follower has with one leader: a request names only what is new, and forgets what is not wanted any more (KIP-227).

The leader may have no room for a session, and lose one; then everything is asked for again. The epoch goes on by one with each answer, and
begins anew whenever an answer did not come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid

from .claims import NO_SESSION, wrong_answer

Key = tuple[Uuid, int]
Asked = FetchRequest.FetchPartition

FIRST_EPOCH, NO_EPOCH = 0, -1
LAST_EPOCH = 2**31 - 1


class Round(NamedTuple):
    """What the next request says of its session, which partitions it names, and which it forgets."""

    session_id: int
    epoch: int
    named: Mapping[Key, Asked]
    forgotten: list[Key]


class FetchSessionHandler:
    """One follower's with one leader."""

    def __init__(self) -> None:
        self._id, self._epoch = NO_SESSION, FIRST_EPOCH
        self._known: dict[Key, tuple[int, int, int, int]] = {}  # what the leader remembers of each partition
        self._sent: dict[Key, tuple[int, int, int, int]] = {}

    def next(self, wanted: Mapping[Key, Asked]) -> Round:
        """For a request that is to fetch these."""
        self._sent = {key: _place(asked) for key, asked in wanted.items()}
        if self._epoch == FIRST_EPOCH:
            return Round(self._id, FIRST_EPOCH, wanted, [])
        named = {key: asked for key, asked in wanted.items() if self._known.get(key) != self._sent[key]}
        return Round(self._id, self._epoch, named, [key for key in self._known if key not in wanted])

    def go_on(self, changed: Mapping[Key, Asked], gone: Iterable[Key]) -> Round:
        """The same as `next`, where it `is_current`, and but for these all is wanted as it was."""
        named = {key: asked for key, asked in changed.items() if self._known.get(key) != _place(asked)}
        self._known.update((key, _place(asked)) for key, asked in named.items())
        return Round(self._id, self._epoch, named, [key for key in gone if self._known.pop(key, None) is not None])

    def wrong(self, response: FetchResponse) -> str | None:
        """Why this cannot be the answer to what was sent last; None when it can."""
        return wrong_answer(response, self._sent, self._id, whole=not self.is_open)

    def answered(self, session_id: int) -> None:
        """An answer came, for the session of this id."""
        if session_id == NO_SESSION:
            self.lost()
            self._id = NO_SESSION
            return
        self._id, self._known = session_id, self._sent
        self._epoch = 1 if self._epoch == LAST_EPOCH else self._epoch + 1

    @property
    def is_open(self) -> bool:
        """Whether the leader is thought to remember something."""
        return self._epoch != FIRST_EPOCH

    @property
    def is_current(self) -> bool:
        """Whether the leader is thought to remember what was wanted last."""
        return self.is_open and self._sent is self._known

    def lost(self) -> None:
        """None came, or an error: begin anew, and have the leader forget what it had of this one."""
        self._epoch = FIRST_EPOCH
        self._known = {}

    def __repr__(self) -> str:
        return f"fetch session {self._id}, epoch {self._epoch}, {len(self._known)} partitions"


def _place(asked: Asked) -> tuple[int, int, int, int]:
    return asked.fetch_offset, asked.current_leader_epoch, asked.last_fetched_epoch, asked.log_start_offset
