"""A broker of ours and one of Apache Kafka's, each with two log directories, report to the
controller the directory of each replica (KIP-858).

    pytest interop/controllers/test_directories.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.server.metadata.metadata_log import decode_batches
from tests.support.waiting import eventually

from . import placed
from .broker_lives import KEPT, directory_id
from .kinds import DOUBLE, Kafka
from .logs import batches
from .mixed import Mixed, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

TOPIC, PARTITIONS = "spread", 6
BOTH = [1, 2]
FOLDERS = ("data", "more")


@pytest.fixture(params=["under-theirs", pytest.param("under-ours", marks=pytest.mark.long)])
def cluster(request: pytest.FixtureRequest, real: Kafka, tmp_path: Path) -> Iterator[Mixed]:
    """Broker 1 is ours, broker 2 is Kafka's."""
    chief = controller(0, DOUBLE if request.param == "under-ours" else real)
    own = {id: {"log_dirs": ",".join(str(place) for place in places(tmp_path, id))} for id in BOTH}
    with mixed(tmp_path, chief, broker(0, DOUBLE, **own[1]), broker(1, real, **own[2]), overrides=KEPT) as running:
        yield running


def places(folder: Path, broker_id: int) -> list[Path]:
    return [folder / f"node-{broker_id}" / name for name in FOLDERS]


def recorded(metadata: Path) -> dict[int, list[str]]:
    """The directories of each partition's replicas, as last written to the controller's log."""
    found: dict[int, list[str]] = {}
    for stored in batches(metadata):
        for read in decode_batches(stored.data):
            for record in read.records:
                if isinstance(record, PartitionRecord | PartitionChangeRecord) and record.directories:
                    found[record.partition_id] = [str(directory) for directory in record.directories]
    return found


def lying(folder: Path) -> dict[int, list[str]]:
    """The directories of each partition's replicas, as found on the disks."""
    return {
        index: [
            directory_id(place)
            for broker_id in BOTH
            for place in places(folder, broker_id)
            if (place / f"{TOPIC}-{index}").is_dir()
        ]
        for index in range(PARTITIONS)
    }


def test_each_replica_is_known_to_lie_where_it_lies(cluster: Mixed, tmp_path: Path) -> None:
    at = cluster.brokers[0].bootstrap
    placed.create(at, TOPIC, [BOTH] * PARTITIONS)
    (chief,) = cluster.controllers
    eventually(lambda: (recorded(chief.metadata), lying(tmp_path)), lambda found: found[0] == found[1])
    used = {directory for directories in lying(tmp_path).values() for directory in directories}
    assert len(used) == len(BOTH) * len(FOLDERS), "all of them are in use"
