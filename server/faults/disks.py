"""The fault rules for the disk of one log directory, called before each operation on the records of
a partition.

Rules. Only the files of records (`.log`) count, those of the cluster's metadata only for a rule
that names their topic. A rule fails an operation with the error of the system, and the same follows
as from an error of the system: the directory goes offline (KIP-112). Everything here is called on
the loop's thread; a flush is decided when it is handed out.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from ..log.formats.names import LOG, parse_partition_folder
from ..logs.flushing import FlushQueue
from ..metadata.internal_topics import METADATA_TOPIC
from .disk_actions import APPEND, FLUSH, READ, DiskError, DiskFull, DiskSlow, LoseFlushes

if TYPE_CHECKING:
    from .armed import Armed
    from .match import Match


class DiskHost(Protocol):
    """The node whose disk it is. Times are in ms."""

    @property
    def id(self) -> int: ...

    @property
    def now(self) -> int: ...

    @property
    def flushing(self) -> FlushQueue: ...


class DiskFaults:
    """The rules for the log directory `root` of a node. `rules` are those in force, oldest
    first."""

    def __init__(self, root: str, rules: Sequence[Armed], node: DiskHost) -> None:
        self._root, self._rules, self.node = root, rules, node
        # Sizes of files before the first append since a rule loses flushes, or since a flush.
        self._flushed: dict[str, int] = {}
        self.lost: dict[str, int] = {}
        """The files whose flush was lost, and what was flushed of them before (bytes)."""

    @property
    def is_over(self) -> bool:
        """Whether no rule is left, and no flush was lost."""
        return not (self._rules or self.lost)

    def take_lost(self) -> dict[str, int]:
        """The data that a kill loses now: the files by their paths relative to the directory, and
        what was flushed of each (bytes)."""
        lost = {os.path.relpath(path, self._root).replace(os.sep, "/"): size for path, size in self.lost.items()}
        self.lost.clear()
        self._flushed.clear()
        return lost

    def append(self, path: str, size: int) -> None:
        """Bytes are to be appended to a file of this size. OSError if that fails."""
        for armed in self._concerned(path):
            action = armed.rule.action
            if isinstance(action, LoseFlushes):
                self._flushed.setdefault(path, size)
            elif isinstance(action, DiskFull) and armed.applies(self.node.now):
                raise _failure(errno.ENOSPC)
            elif action == DiskError(APPEND) and armed.applies(self.node.now):
                raise _failure(errno.EIO)

    def read(self, path: str) -> None:
        """A file is to be read. OSError if that fails."""
        for armed in self._concerned(path):
            if armed.rule.action == DiskError(READ) and armed.applies(self.node.now):
                raise _failure(errno.EIO)

    def flush(self, path: str, size: int) -> bool:
        """Whether a file of this size is to be flushed really. OSError if that fails."""
        is_lost, slow_ms = False, 0
        for armed in self._concerned(path):
            action = armed.rule.action
            if action == DiskError(FLUSH) and armed.applies(self.node.now):
                raise _failure(errno.EIO)
            if isinstance(action, DiskSlow) and armed.applies(self.node.now):
                slow_ms += round(action.seconds * 1000)
            if isinstance(action, LoseFlushes) and armed.applies(self.node.now):
                is_lost = True
        self.node.flushing.slow_ms = max(self.node.flushing.slow_ms, slow_ms)
        if is_lost:
            self.lost[path] = min(self._flushed.get(path, size), size)
        else:
            self._flushed.pop(path, None)
            self.lost.pop(path, None)
        return not is_lost

    def _concerned(self, path: str) -> Iterator[Armed]:
        """The rules that are about this file."""
        folder, _, name = os.path.relpath(path, self._root).replace(os.sep, "/").rpartition("/")
        key = parse_partition_folder(folder) if name.endswith(LOG) else None
        if key is None:
            return
        for armed in list(self._rules):
            if self._is_about(armed.rule.match, *key):
                yield armed

    def _is_about(self, match: Match, topic: str, partition: int) -> bool:
        is_topic = topic != METADATA_TOPIC if match.topic is None else topic == match.topic
        return (
            is_topic
            and match.partition in (None, partition)
            and match.broker in (None, self.node.id)
            and (match.log_dir is None or is_in(self._root, match.log_dir))
        )

    def __repr__(self) -> str:
        return f"{len(self._rules)} rules for {self._root}"


def _failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def is_in(path: str, folder: str) -> bool:
    """Whether a path is this folder, or lies in it."""
    path, folder = os.path.abspath(path), os.path.abspath(folder)
    return os.path.commonpath([path, folder]) == folder
