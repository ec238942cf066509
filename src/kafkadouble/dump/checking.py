"""Checks a file, the folder of a partition or a log directory: the one function behind `kafkadouble
check`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kafkadouble.server.log.formats import BadFile, names

from . import dumping
from .checks.check_directory import check_directory
from .checks.check_partition import check_partition, check_producers, is_compacted, segment
from .checks.check_snapshot import check_snapshot
from .checks.verdict import Rules, Tally, Verdict
from .contents.kinds import Kind, base_offset_of

DEFAULT = Rules()


def check(path: Path, rules: Rules = DEFAULT) -> Verdict:
    """Checks everything up to the first corruption. Raises UsageError for a path without any file
    of Kafka, and OSError as the system does."""
    tally = Tally()
    try:
        _checker(path)(path, rules, tally)
    except BadFile as problem:
        return Verdict(problem, tally.torn, dict(tally.counts))
    return Verdict(None, tally.torn, dict(tally.counts))


def _checker(path: Path) -> Callable[[Path, Rules, Tally], object]:
    if not path.is_dir():
        return _file
    is_partition = any(names.parse_file(each.name) for each in path.iterdir())
    return check_partition if is_partition else check_directory


def _file(path: Path, rules: Rules, tally: Tally) -> None:
    kind, base_offset = dumping.known_kind(path), base_offset_of(path)
    if kind in _OF_SEGMENTS and base_offset is not None:
        _segment(path, base_offset, rules, tally)
    elif kind is Kind.CHECKPOINT:
        check_snapshot(path, tally)
    elif kind is Kind.SNAPSHOT and base_offset is not None:
        check_producers(path, base_offset, tally)
    else:
        _read(path)


_OF_SEGMENTS = (Kind.LOG, Kind.INDEX, Kind.TIME_INDEX, Kind.TXN_INDEX)


def _segment(path: Path, base_offset: int, rules: Rules, tally: Tally) -> None:
    """Checks a segment and the files beside it. An index is checked with its segment, if there is
    one."""
    folder = path.absolute().parent
    found = [names.parse_file(file.name) for file in folder.iterdir()]
    later = any(each is not None and each[1] == names.LOG and each[0] > base_offset for each in found)
    rules = rules._replace(gaps=rules.gaps or is_compacted(folder))
    checked = segment(path.parent, base_offset, rules, last=not later)
    if checked.path(names.LOG).exists():
        checked.check(tally)
    else:
        _read(path)


def _read(path: Path) -> None:
    """Reads a file as `dump` does. Raises the first problem in it."""
    for item in dumping.items(path):
        if item.problem is not None:
            raise item.problem
