"""examples/pipeline: a program that is killed, a cluster that loses acknowledged records,
transactions of every outcome, and an audit that finds no errors.

Spark is a cluster, too: a master, two workers and their executors. They are separate processes, and
have only what Spark sends to them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples.pipeline import transactions
from kafkadouble import open_log

ROOT = Path(__file__).resolve().parents[2]
ORDERS = 12_000
"""The default of the example. With a few thousand orders, no total would be written before the
brokers lose records."""
SHARE = ORDERS // 40
"""The orders that are written in each way of using transactions."""
MASTER = "local-cluster[2,1,1024]"


@pytest.mark.timeout(1500)
def test_pipeline_example_counts_every_record_once(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="NOTHING OF SPARK WAS TESTED: pip install 'kafkadouble[spark]'")
    if shutil.which("java") is None:
        pytest.skip("NOTHING OF SPARK WAS TESTED: there is no java on the path; install Java 17")
    done = subprocess.run(
        [sys.executable, "-m", "examples.pipeline", "--out", str(tmp_path), "--master", MASTER],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "orders-0 was truncated to offset" in done.stdout
    audit = json.loads((tmp_path / "results" / "audit.json").read_text())
    assert {name: found["count"] for name, found in audit["findings"].items()} == dict.fromkeys(audit["findings"], 0)
    assert audit["spark"]["master"] == MASTER
    assert audit["orders counted"] == ORDERS + 1
    assert audit["records in the log"] > ORDERS + 1
    assert {row["codec"] for row in audit["codecs"]} == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert audit["replicas that differ"] == []
    each = -(-SHARE // transactions.SIZE)
    # Those of the slow producer and of the zombie's successor are committed, the zombie's is not.
    assert audit["transactions"] == {"commit": each + 2, "abort": each + 1, "open": 1}
    assert audit["orders in committed transactions"] == 3 * SHARE
    # The cancelled orders, those of the zombie, and those of the open transaction.
    assert audit["orders in other transactions"] == 3 * SHARE
    totals = open_log(tmp_path / "kafka" / "broker-2", topics="totals", columns=["leader_epoch"]).to_table()
    assert len(set(totals["leader_epoch"].to_pylist())) > 1, "all totals were written after the loss"
    assert "Nothing is missing, nothing was counted twice." in (tmp_path / "report.html").read_text()
