"""A KafkaDouble that is never stopped: it stops in good order when the interpreter ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from kafkadouble import KafkaDouble

kafka = KafkaDouble(brokers=int(sys.argv[1]), data_dir=sys.argv[2], config=dict(each.split("=") for each in sys.argv[3:]))
kafka.start()
kafka.create_topic("t", replication_factor=int(sys.argv[1]))
for number in range(3):
    kafka.produce("t", str(number))
"""

FLUSHED = "log.flush.interval.messages=1"


@pytest.mark.parametrize(("brokers", "settings"), [(1, []), (1, [FLUSHED]), (3, []), (3, [FLUSHED])])
def test_a_double_that_is_never_stopped_leaves_clean_directories(
    tmp_path: Path, brokers: int, settings: list[str]
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(brokers), str(tmp_path / "data"), *settings],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    directories = {path.parent for path in tmp_path.rglob("meta.properties")}
    assert len(directories) == (1 if brokers == 1 else brokers + 1)
    assert {path.parent for path in tmp_path.rglob(".kafka_cleanshutdown")} == directories
