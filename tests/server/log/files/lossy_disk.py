"""A disk in memory whose power can fail: what was not flushed is then lost, kept, or kept in part.

Of the appends since a file's last flush any subset stays, each of them whole, not at all, cut off,
or with pages of zeros in it; missing bytes in between are zeros. What was appended after a
truncation never stays without the truncation. The changes of names since a folder's last flush (new
files and folders, renamings, removals) stay up to one point in time, as journals keep them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.wire.checksum import Buffer

PAGE = 512


class Contents:
    """What one file holds, whatever it is called."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.durable = bytes(data)
        # Since the flush: bytes appended at a position, or a truncation to it.
        self.changes: list[tuple[int, bytes | None]] = []
        self.flushed = 0  # how many changes were flushed before those

    def append(self, data: bytes) -> None:
        self.changes.append((len(self.data), data))
        self.data += data

    def cut(self, size: int) -> None:
        self.changes.append((size, None))
        del self.data[size:]

    def flush(self, upto: int) -> None:
        """Makes the changes durable that came before the one with this number."""
        count = upto - self.flushed
        if count > 0:
            kept = bytearray(self.durable)
            for position, data in self.changes[:count]:
                _change(kept, position, data)
            self.durable, self.flushed = bytes(kept), upto
            del self.changes[:count]

    def after_loss(self, random: Random) -> bytes:
        """What is left of it."""
        kept = bytearray(self.durable)
        cuts = [number for number, (_, data) in enumerate(self.changes) if data is None]
        # The last truncation that stays; nothing that it cut off does.
        cut = random.choice([-1, *cuts])
        for number, (position, data) in enumerate(self.changes):
            if data is None:
                if number <= cut:
                    del kept[position:]
            elif number < cut or not any(number > each for each in cuts if each > cut):
                _change(kept, position, _torn(data, random))
        return bytes(kept)


def _change(kept: bytearray, position: int, data: bytes | None) -> None:
    if data is None:
        del kept[position:]
    elif data:
        kept.extend(bytes(max(0, position - len(kept))))
        kept[position : position + len(data)] = data


def _torn(data: bytes, random: Random) -> bytes:
    """All of it, nothing, its beginning, or all with pages of zeros."""
    kind = random.randrange(4)
    if kind == 0:
        return data
    if kind == 1:
        return b""
    if kind == 2:
        return data[: random.randrange(len(data) + 1)]
    zeroed = bytearray(data)
    for start in range(0, len(data), PAGE):
        if random.random() < 0.5:
            zeroed[start : start + PAGE] = bytes(len(zeroed[start : start + PAGE]))
    return bytes(zeroed)


class LossyFile:
    def __init__(self, disk: LossyDisk, path: str, contents: Contents) -> None:
        self._disk, self._path, self.contents = disk, path, contents

    @property
    def size(self) -> int:
        return len(self.contents.data)

    def append(self, buffers: Sequence[Buffer]) -> None:
        self._disk.check()
        self.contents.append(b"".join(buffers))

    def read(self, position: int, size: int) -> bytes:
        return bytes(self.contents.data[position : position + size])

    def slice(self, position: int, size: int) -> bytes:
        return self.read(position, size)

    def truncate(self, size: int) -> None:
        self._disk.check()
        if size < self.size:
            self.contents.cut(size)

    def view(self) -> memoryview:
        return memoryview(bytes(self.contents.data))

    def flush(self) -> None:
        self.flushing()()

    def flushing(self) -> Callable[[], None]:
        upto = self.contents.flushed + len(self.contents.changes)

        def run() -> None:
            self._disk.check()
            self.contents.flush(upto)

        return run

    def rename(self, path: str) -> None:
        self._disk.rename(self._path, path)
        self._path = path

    def moved(self, path: str) -> None:
        self._path = path

    def preallocate(self, size: int) -> None:
        """Reserves nothing: a disk in memory has no room to lose."""

    def trim(self) -> None: ...

    def close(self) -> None: ...


UNKNOWN_SPACE = -1, -1

Names = dict[str, Contents]
Renaming = tuple[str, str, Contents | None]
"""A name that is gone ("" for none), a name that is there ("" for none), and of what; a folder is
renamed with all that is in it if both are given, and no contents."""


class LossyDisk:
    """A log directory. `failing` makes every change to it fail, `failing_at` a change of this name
    and all that follow."""

    def __init__(self, names: Names | None = None, folders: set[str] | None = None) -> None:
        self.contents: Names = dict(names or {})
        self._durable: Names = dict(self.contents)
        self._folders = set(folders or {""})
        self._durable_folders = set(self._folders)
        self._renamings: list[Renaming] = []  # since the flush of their folder, in order
        self.failing, self.failing_at = False, ""
        self.failed: DiskFailure | None = None
        self._on_failure: Callable[[DiskFailure], None] | None = None

    def watch(self, on_failure: Callable[[DiskFailure], None]) -> None:
        self._on_failure = on_failure

    def fail(self, why: str) -> None:
        if self.failed is None:
            self.failed = DiskFailure("lossy", why)
            if self._on_failure is not None:
                self._on_failure(self.failed)

    def check(self) -> None:
        if self.failing:
            self.fail("no space left on device")
        if self.failed is not None:
            raise self.failed

    def power_lost(self, random: Random) -> LossyDisk:
        """The disk as it is found when the power is back."""
        names, folders = dict(self._durable), set(self._durable_folders)
        for renaming in self._renamings[: random.randrange(len(self._renamings) + 1)]:
            _rename(names, renaming)
            _rename_folder(folders, renaming)
        left = {path: name for path, name in names.items() if posixpath.dirname(path) in folders}
        return LossyDisk({path: Contents(each.after_loss(random)) for path, each in left.items()}, folders)

    def durable(self) -> dict[str, bytes]:
        """What no loss of power takes, by path: new files and new contents that were flushed."""
        return {p: each.durable for p, each in self._durable.items() if posixpath.dirname(p) in self._durable_folders}

    def copy(self) -> LossyDisk:
        """Another disk with the same on it, all of it durable."""
        return LossyDisk({path: Contents(bytes(each.data)) for path, each in self.contents.items()}, self._folders)

    def _renamed(self, gone: str, there: str, contents: Contents | None) -> None:
        self.failing |= bool(self.failing_at) and self.failing_at in (gone, there)
        self.check()
        self._renamings.append((gone, there, contents))
        _rename(self.contents, self._renamings[-1])

    def space(self) -> tuple[int, int] | None:
        return UNKNOWN_SPACE

    def names(self, folder: str) -> list[str]:
        return [posixpath.basename(path) for path in self.contents if posixpath.dirname(path) == folder]

    def folders(self) -> list[str]:
        return [folder for folder in self._folders if folder]

    def exists(self, path: str) -> bool:
        return path in self.contents

    def open(self, path: str) -> LossyFile:
        if path not in self.contents:
            self._renamed("", path, Contents())
        return LossyFile(self, path, self.contents[path])

    def rename(self, path: str, to: str) -> None:
        if path in self._folders:
            self._renamed(path, to, None)
            _rename_folder(self._folders, self._renamings[-1])
            return
        if path not in self.contents:
            raise DiskFailure("lossy", f"no file {path}")
        self._renamed(path, to, self.contents[path])

    def remove(self, path: str) -> None:
        if path in self.contents:
            self._renamed(path, "", None)

    def make_folder(self, folder: str) -> None:
        self._folders.add(folder)

    def remove_folder(self, folder: str) -> None:
        for name in self.names(folder):
            self.remove(f"{folder}/{name}")
        self._folders.discard(folder)

    def read_whole(self, path: str) -> bytes:
        if path not in self.contents:
            raise DiskFailure("lossy", f"no file {path}")
        return bytes(self.contents[path].data)

    def write_whole(self, path: str, data: Buffer, *, flush: bool = True) -> None:
        contents = Contents()
        contents.append(bytes(data))
        self._renamed("", path + ".tmp", contents)
        if flush:
            contents.flush(1)
        self._renamed(path + ".tmp", path, contents)
        if flush:
            self.flush_folder(posixpath.dirname(path))

    def size(self, path: str) -> int:
        return len(self.read_whole(path))

    def modified(self, path: str) -> int:
        return 0

    def flush_folder(self, folder: str) -> None:
        self.check()
        # Journals keep the new name of a folder with what is in it, and with what has its old name.
        if any(_is_of_folder(renaming) and folder in renaming[:2] for renaming in self._renamings):
            self._flush_names("")
        self._flush_names(folder)

    def _flush_names(self, folder: str) -> None:
        left: list[Renaming] = []
        for renaming in self._renamings:
            if posixpath.dirname(renaming[0] or renaming[1]) == folder:
                _rename(self._durable, renaming)
                if _is_of_folder(renaming):
                    left = [(_moved(gone, renaming), _moved(there, renaming), of) for gone, there, of in left]
            else:
                left.append(renaming)
        self._renamings = left
        if not folder:
            self._durable_folders = set(self._folders)

    def flushing_folder(self, folder: str) -> Callable[[], None]:
        return partial(self.flush_folder, folder)


def _is_of_folder(renaming: Renaming) -> bool:
    return bool(renaming[0] and renaming[1]) and renaming[2] is None


def _moved(name: str, renaming: Renaming) -> str:
    """The name after a folder was renamed."""
    gone, there, _ = renaming
    return there + name[len(gone) :] if name.startswith(f"{gone}/") else name


def _rename_folder(folders: set[str], renaming: Renaming) -> None:
    if _is_of_folder(renaming) and renaming[0] in folders:
        folders.discard(renaming[0])
        folders.add(renaming[1])


def _rename(names: Names, renaming: Renaming) -> None:
    gone, there, contents = renaming
    if _is_of_folder(renaming):
        for name in [name for name in names if name.startswith(f"{gone}/")]:
            names[_moved(name, renaming)] = names.pop(name)
        return
    if gone:
        names.pop(gone, None)
    if there and contents is not None:
        names[there] = contents
