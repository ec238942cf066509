"""The arguments of a KafkaDouble that say how it runs, checked: brokers, directories, captures, a
scenario, and the metrics of clients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .common.errors import UsageError

if TYPE_CHECKING:
    from .scenario.scenario import Scenario
    from .seen import capturing
    from .seen.telemetry import TelemetryCollector

PathLike = str | os.PathLike[str]


MOST_BROKERS = 1000
"""In one process. A hundred take a second to begin, and 35 MB."""


def checked_count(brokers: int) -> int:
    """UsageError for a number of brokers that cannot be."""
    if type(brokers) is not int or not 1 <= brokers <= MOST_BROKERS:
        raise UsageError(f"brokers is {brokers!r}: there is one at least, and {MOST_BROKERS} at most")
    return brokers


def paths_of(data_dir: PathLike | Sequence[PathLike] | None) -> list[str]:
    """The paths of one directory, of several, or of none."""
    if data_dir is None:
        return []
    paths = [data_dir] if isinstance(data_dir, str | os.PathLike) else data_dir
    try:
        return [os.fspath(path) for path in paths]
    except TypeError:
        raise UsageError(f"data_dir is a path, or several, not {data_dir!r}") from None


def capture_of(path: PathLike | None, bodies: bool, frames: bool) -> capturing.CaptureOptions | None:
    """The capture options, or None. Raises UsageError for contents without a capture."""
    if path is None:
        if bodies or frames:
            raise UsageError(f"capture_{'bodies' if bodies else 'frames'} without capture: say where they go")
        return None
    from .seen.capturing import CaptureOptions  # with a capture alone

    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"capture is a path, not {path!r}")
    return CaptureOptions(os.fspath(path), bodies, frames)


def check_kept(data_dirs: Sequence[str]) -> None:
    """Raises UsageError for a data directory that was removed."""
    for path in data_dirs:
        if not os.path.isdir(path):
            raise UsageError(f"{path} was removed while the double used it: what it kept there is lost")


def scenario_of(file: PathLike) -> Scenario:
    """The scenario of a file, checked."""
    from .scenario.scenario import load  # with a scenario alone

    return load(file)


def collector_if(telemetry: bool) -> TelemetryCollector | None:
    """The collector of the metrics of clients, or None. UsageError if a library is missing."""
    if not telemetry:
        return None
    from .seen.telemetry import TelemetryCollector  # with telemetry alone

    return TelemetryCollector()
