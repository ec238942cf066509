"""Tests of the log are run twice: with its storage in memory, and in files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.log import PartitionLog

from .batches import NOW, makes

OF_ANY_STORAGE = (
    "test_log",
    "test_lookup",
    "test_producers",
    "test_retention",
    "test_expected_offset",
    "test_cleaner",
    "test_aborted_in_fetch",
)
OF_MEMORY = ("test_log_has_a_repr", "test_deleting_records_gives_memory_back_but_not_the_size")
"""Tests in them that look into the memory."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.rpartition(".")[2] in OF_ANY_STORAGE and metafunc.definition.name not in OF_MEMORY:
        metafunc.parametrize("storage", ["memory", "files"], indirect=True)


@pytest.fixture(autouse=True)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where logs of this test are kept."""
    if getattr(request, "param", "memory") == "memory":
        yield "memory"
        return
    disk, numbers = RealDisk(str(tmp_path)), count()

    def in_files(config: LogConfig) -> PartitionLog:
        folder = f"orders-{next(numbers)}"
        return open_log(disk, folder, "orders", 0, config, clean=True, recovery_point=0, log_start_offset=0, now=NOW)

    makes.append(in_files)
    yield "files"
    makes.remove(in_files)
