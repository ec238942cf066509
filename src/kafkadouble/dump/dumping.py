"""Shows everything in one file, item by item: a table with a function for each kind of file.

Only one batch, or a piece of an index, is in memory; checkpoints and producer snapshots are read
whole. A corrupt part is an item too, and reading continues after it where possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from kafkadouble.server.log.formats import BadFile
from kafkadouble.wire.errors import UsageError

from .contents import batch_items, index_items, small_items
from .contents.file import FileBytes
from .contents.item import FILE, Item
from .contents.kinds import Kind, kind_of
from .contents.options import Options

BATCHES = Options()
"""Shows batches without their records."""

_Reader = Callable[[FileBytes, Options], Iterator[Item]]

READERS: dict[Kind, _Reader] = {
    Kind.LOG: batch_items.log,
    Kind.CHECKPOINT: batch_items.log,
    Kind.INDEX: index_items.offsets,
    Kind.TIME_INDEX: index_items.times,
    Kind.TXN_INDEX: index_items.transactions,
    Kind.SNAPSHOT: small_items.producers,
    Kind.LEADER_EPOCH: small_items.epochs,
    Kind.OFFSETS: small_items.offsets,
    Kind.PARTITION_METADATA: small_items.topic_id,
    Kind.META_PROPERTIES: small_items.properties,
    Kind.CLEAN_SHUTDOWN: small_items.clean_shutdown,
    Kind.QUORUM_STATE: small_items.vote,
}


def items(path: Path, options: Options = BATCHES) -> Iterator[Item]:
    """The items in a file. Raises UsageError for a name that is not one of Kafka's, and OSError as
    the system does."""
    kind = known_kind(path)
    with FileBytes(path) as data:
        yield Item(FILE, {"size": len(data)})
        try:
            yield from READERS[kind](data, options)
        except BadFile as problem:
            yield Item(FILE, {}, problem)


def known_kind(path: Path) -> Kind:
    """The kind of an existing file; raises OSError for a missing one. Raises UsageError for a name
    that is not one of Kafka's."""
    path.stat()
    kind = kind_of(path)
    if kind is None:
        raise UsageError(f"{path} has no name that Kafka gives to files: its content is unknown")
    return kind


def files(path: Path) -> Iterator[Path]:
    """The files that can be shown, sorted by name: the file itself, or all files in a folder and
    its subfolders. Raises UsageError and OSError as `items` does."""
    if not path.is_dir():
        known_kind(path)
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no regular file")
        yield path
        return
    found = list(_files_in(path))
    if not found:
        raise UsageError(f"{path} holds no file of a name that Kafka gives to files")
    yield from found


def _files_in(folder: Path) -> Iterator[Path]:
    for found in sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name)):
        if found.is_dir() and not found.is_symlink():
            yield from _files_in(found)
        elif found.is_file() and kind_of(found) is not None:
            yield found
