"""Runs every benchmark except `spark`, which needs Java: `python -m benchmarks`.

Each benchmark can be run alone and with `--json`, for example `python -m benchmarks.codecs --json`.
"""

import subprocess
import sys

ALL = (
    "codecs",
    "batches",
    "zstd_libraries",
    "columns",
    "start",
    "suite",
    "latency",
    "fault_rules",
    "authorizer",
    "capture",
    "throughput",
    "tls",
    "transactions",
    "groups",
    "share",
    "transaction_loading",
    "read_committed",
    "memory",
    "storage",
    "files",
    "image",
    "fetch_snapshot",
    "quorum",
    "replication",
    "kill",
    "hostile_frames",
    "attacks",
)

if __name__ == "__main__":
    failed = [
        name for name in ALL if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
    ]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
