"""Tracks what of one log must still be flushed, and how far confirmed flushes reach.

    ledger.file_written(name)         something is dirty
    plan = ledger.begin(end, dirty)   the steps of one flush, in order; None when no flush is due
    ledger.confirm(plan.end)          every step of the plan was done
    ledger.cut(end)                   the log was truncated, perhaps while a flush is under way

The ledger is pure: offsets and names go in and come out, and `FileStorage` touches the disk. A plan
that failed, or that was never run, is not confirmed; the ledger needs no word for it.

Invariants:

1. Below the recovery point the log holds only what a confirmed flush covered.
2. The files of a plan stay due until that plan is confirmed: the next plan covers it again.
3. A file that becomes dirty during a flush is due after it: the confirmation leaves it dirty.
4. A confirmation that does not name the end of the plan under way changes nothing.
5. A cut lowers the recovery point to the new end at once. A flush that was under way confirms
   nothing from there on, because other batches may be in the place of those that it covered, and
   it marks no segment as flushed.
6. A cut is on the disk before it is entered here, and it is entered before the next append. So a
   cut itself is never due.
7. The active segment is never marked as flushed: it grows.
8. Segments are flushed first, oldest first; then the checkpoints and snapshots; the folders last,
   so that no name is flushed before the contents that it leads to.
9. One flush is under way at a time. A plan that is begun while another one is not confirmed takes
   over all of it, and the other one is never confirmed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

_NO_CUT = 2**63 - 1


class FlushableSegment(Protocol):
    """A segment, as far as the ledger knows one."""

    durable: bool
    """It is closed, and all of it was flushed."""


S = TypeVar("S", bound=FlushableSegment)


class FlushPlan(NamedTuple, Generic[S]):
    """The steps of one flush, in order: segments, then files of the log's folder, then folders.
    `end` is the recovery point afterwards."""

    end: int
    segments: tuple[S, ...]
    files: tuple[str, ...]
    folders: tuple[str, ...]


class FlushLedger(Generic[S]):
    """The ledger of the log in `folder`. At first `files` are due, and so are the folder and its
    `parent`, which holds the folder's name."""

    __slots__ = (
        "_cut_to",
        "_files",
        "_flush_is_due",
        "_folder",
        "_folders",
        "_parent",
        "_under_way",
        "is_new",
        "recovery_point",
    )

    def __init__(self, folder: str, parent: str, files: Iterable[str]) -> None:
        self.recovery_point = 0
        self.is_new = False
        """Nothing was there when the log was opened, and no flush was begun since."""
        self._folder, self._parent = folder, parent
        self._files, self._folders = dict.fromkeys(files), dict.fromkeys((folder, parent))
        self._flush_is_due = True  # for another reason than new batches
        self._under_way: FlushPlan[S] | None = None
        self._cut_to = _NO_CUT  # the lowest end of the log since the flush began

    def file_written(self, name: str) -> None:
        """A checkpoint or a snapshot was written beside the segments."""
        self._files[name] = None
        self.name_added()

    def name_added(self) -> None:
        """The folder has a new name, without which a file is lost."""
        self._folders[self._folder] = None
        self._flush_is_due = True

    def name_removed(self) -> None:
        """A file was removed or renamed. That alone is no reason to flush: a file that comes back
        does no harm."""
        self._folders[self._folder] = None

    def assume_flushed(self) -> None:
        """The log was closed after a flush: everything that was found is on the disk."""
        self._clear()

    def _clear(self) -> None:
        self._files, self._folders, self._flush_is_due = {}, {}, False

    def begin(self, end: int, dirty: Sequence[S]) -> FlushPlan[S] | None:
        """Begins a flush of everything below `end`; None when no flush is due. `dirty` are the
        segments that are not durable, oldest first; the last one is the active segment."""
        if self.is_new and not end:
            return None
        self.is_new = False
        before = self._under_way
        if end <= self.recovery_point and len(dirty) < 2 and not self._flush_is_due and before is None:
            return None
        files, folders = (before.files, before.folders) if before else ((), ())
        plan = FlushPlan(
            end,
            tuple(dirty),
            tuple(dict.fromkeys((*files, *self._files))),
            tuple(dict.fromkeys((*folders, *self._folders))),
        )
        self._clear()
        self._under_way, self._cut_to = plan, _NO_CUT
        return plan

    def confirm(self, offset: int) -> None:
        """Every step was done of the plan under way, whose end is `offset`."""
        plan = self._under_way
        if plan is None or plan.end != offset:
            return
        self._under_way = None
        self.recovery_point = max(self.recovery_point, min(offset, self._cut_to))
        if self._cut_to == _NO_CUT:
            for segment in plan.segments[:-1]:
                segment.durable = True

    def cut(self, end: int) -> None:
        """The log was truncated, and now ends at `end`."""
        self.recovery_point = min(self.recovery_point, end)
        self._cut_to = min(self._cut_to, end)

    def moved(self, folder: str) -> None:
        """The log is in another folder of the same parent, whose name is not flushed yet. No flush
        is under way."""
        self._folders = {(folder if name == self._folder else name): None for name in (*self._folders, self._parent)}
        self._folder = folder
        self.name_added()

    def restart(self, offset: int) -> None:
        """Everything was deleted. The log is empty and begins at `offset`: below it there is
        nothing that could be lost."""
        self.cut(offset)
        self.recovery_point = offset

    def __repr__(self) -> str:
        state = "a flush under way" if self._under_way else "a flush due" if self._flush_is_due else "no flush due"
        return f"flushed up to {self.recovery_point}, {state}"
