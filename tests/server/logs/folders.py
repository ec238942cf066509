"""Log directories for tests."""

from __future__ import annotations

from pathlib import Path
from random import Random

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from tests.server.harness import NOW, SEED

_IDS = Random(SEED)


def new_id() -> Uuid:
    return Uuid.random(_IDS.randbytes)


def formatted(
    *paths: Path, cluster: str = "a-cluster", node: int = 1, beginning: BootstrapMetadata | None = None
) -> None:
    """Makes these the log directories of a node, the first that of the metadata."""
    for path in paths:
        first = beginning if path == paths[0] else None
        format_directory(RealDisk(str(path)), str(path), cluster, node, new_id(), NOW, first)


def logs_in(*paths: Path, node: int = 1) -> FileLogs:
    """What lies in formatted directories."""
    return FileLogs(opened({str(path): RealDisk(str(path)) for path in paths}, node), new_id)
