"""Every benchmark, one after the other: `python -m benchmarks`. Each can be run alone and with `--json`, e.g. `python -m benchmarks.codecs`."""

import subprocess
import sys

ALL = ("codecs", "batches", "start", "latency", "throughput", "memory", "storage", "files", "kill")

if __name__ == "__main__":
    failed = [
        name for name in ALL if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
    ]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
