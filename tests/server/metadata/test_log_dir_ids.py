"""Directories that are none, and those that are."""

from __future__ import annotations

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.log_dir_ids import LOST, MIGRATING, UNASSIGNED, is_online
from tests.server.controller.small_clusters import directory

KNOWN, OTHER = directory(1), directory(2)


@pytest.mark.parametrize(
    ("where", "of", "online"),
    [
        (KNOWN, (KNOWN, OTHER), True),
        (KNOWN, (OTHER,), False),
        (KNOWN, (), True),
        (MIGRATING, (OTHER,), True),
        (UNASSIGNED, (OTHER,), True),
        (LOST, (OTHER,), False),
        (LOST, (), False),
    ],
)
def test_replica_is_online_by_its_log_dir_id(where: Uuid, of: tuple[Uuid, ...], online: bool) -> None:
    assert is_online(where, of) is online
