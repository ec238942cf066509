"""Finds what a path names: log directories, partition folders, single files, or several of them by
a pattern.

A log directory is recognized by its `meta.properties` or by partition folders in it, a partition
folder by segments. A folder that contains only log directories means all of them: the replicas of a
cluster. Each partition has the path of its log directory, which distinguishes replicas. Folders
with the suffixes `-delete`, `-future` and `-stray` count only when they are named. Files that
disappear during the search are ignored. This file opens only `log-start-offset-checkpoint`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from typing import NamedTuple

from kafkadouble.server.log.formats import names, offset_checkpoint
from kafkadouble.wire.errors import UsageError

from .options import LogOptions

_SEGMENTS = (names.LOG, names.CHECKPOINT)


class Folder(NamedTuple):
    """A partition folder. `files` are the requested names; None is the whole log, from
    `log_start_offset`. Topic and partition are None when no name contains them."""

    path: str
    replica: str
    topic: str | None
    partition: int | None
    log_start_offset: int = 0
    files: tuple[str, ...] | None = None


def find(paths: Iterable[str | os.PathLike[str]], options: LogOptions) -> list[Folder]:
    """The partitions at these paths, in order. Raises UsageError for a path without Kafka files,
    and for a missing topic."""
    folders: dict[str, Folder] = {}
    for path in _expanded(paths):
        for folder in _at(path, options):
            _add(folders, folder)
    _check_topics(folders.values(), options)
    return [folder for folder in folders.values() if _is_selected(folder, options)]


def _expanded(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    for path in paths:
        text = os.fspath(path).removeprefix("file://").removeprefix("file:")
        matches = sorted(glob(text)) if not os.path.exists(text) else [text]
        if not matches:
            raise UsageError(f"there is nothing at {text}")
        # Patterns match indexes and checkpoints, too.
        yield from (
            Path(each) for each in matches if len(matches) == 1 or os.path.isdir(each) or each.endswith(_SEGMENTS)
        )


def _add(folders: dict[str, Folder], folder: Folder) -> None:
    """A folder that several paths name counts once, with all requested files."""
    key = os.path.realpath(folder.path)
    before = folders.get(key)
    if before is not None and before.files is not None and folder.files is not None:
        folder = folder._replace(files=tuple(dict.fromkeys((*before.files, *folder.files))))
    if before is None or before.files is not None:
        folders[key] = folder


def _at(path: Path, options: LogOptions) -> list[Folder]:
    if not path.is_dir():
        if not path.name.endswith(_SEGMENTS):
            raise UsageError(
                f"{path} is no segment of a log and no snapshot of the metadata: their names end in .log or .checkpoint"
            )
        return [_partition(path.parent)._replace(files=(path.name,), log_start_offset=0)]
    if _has_segments(path):
        return [_partition(path)]
    return list(_directories(path, options))


def _partition(path: Path) -> Folder:
    """A folder that was named: its name and its parent directory give topic, partition and log
    directory."""
    name = path.absolute().name
    parsed = names.parse_partition_folder(name)
    if parsed is None:
        marked = names.parse_marked_folder(name)
        topic, index = (marked.topic, marked.partition) if marked else (None, None)
        return Folder(str(path), str(path), topic, index)
    around = path.absolute().parent if path.parent == path else path.parent
    return Folder(str(path), str(around), *parsed, _log_starts(around).get(parsed, 0))


def _directories(path: Path, options: LogOptions) -> Iterator[Folder]:
    """A log directory, or a folder of log directories."""
    if _is_log_directory(path):
        yield from _partitions(path, options)
        return
    inside = [each for each in sorted(path.iterdir()) if each.is_dir() and _is_log_directory(each)]
    if not inside:
        raise UsageError(f"{path} is no log directory of Kafka, no partition's folder, and has none of them in it")
    for each in inside:
        yield from _partitions(each, options)


def _partitions(directory: Path, options: LogOptions) -> Iterator[Folder]:
    starts = _log_starts(directory)
    for path in sorted(directory.iterdir()):
        parsed, marked = names.parse_partition_folder(path.name), names.parse_marked_folder(path.name)
        if parsed is not None and path.is_dir():
            yield Folder(str(path), str(directory), *parsed, starts.get(parsed, 0))
        elif marked is not None and options.include_marked and path.is_dir():
            yield Folder(str(path), str(path), marked.topic, marked.partition)


def _is_log_directory(path: Path) -> bool:
    named = (each for each in path.iterdir() if names.parse_partition_folder(each.name) and _has_segments(each))
    return (path / names.META_PROPERTIES).exists() or next(named, None) is not None


def _has_segments(path: Path) -> bool:
    """Whether there are segments, or files that belong to segments: then the folder is a partition
    folder."""
    return path.is_dir() and any(_is_of_a_log(each.name) for each in path.iterdir())


def _is_of_a_log(name: str) -> bool:
    return names.parse_file(name) is not None or (name.endswith(_SEGMENTS) and name != names.BOOTSTRAP)


def _log_starts(directory: Path) -> dict[tuple[str, int], int]:
    """The log start offsets that are higher than the base offset of the first segment (KIP-107).
    Raises BadFile for a checkpoint that cannot be read."""
    path = directory / names.LOG_START
    try:
        return offset_checkpoint.read(path.read_bytes(), str(path))
    except FileNotFoundError:
        return {}


def _is_selected(folder: Folder, options: LogOptions) -> bool:
    topic, partition = folder.topic or "", folder.partition
    return (
        options.narrowing.takes(topic, partition)
        and (not options.topics or any(fnmatchcase(topic, each) for each in options.topics))
        and (not options.partitions or any(partition in each for each in options.partitions))
    )


def _check_topics(folders: Iterable[Folder], options: LogOptions) -> None:
    """A missing topic is an error: its name, or the path, is probably wrong."""
    there = {folder.topic for folder in folders if folder.topic is not None}
    named = [topic for topic in options.topics if not set(topic) & set("*?[")]
    for offsets in (options.starting_offsets, options.ending_offsets):
        named += [] if isinstance(offsets, int) else offsets
    for topic in named:
        if topic not in there:
            raise UsageError(f"there is no topic {topic!r} here, only {', '.join(sorted(there)) or 'none'}")
